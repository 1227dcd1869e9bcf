"""``topiarist verify``: does the same come out again, to the last bit?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import FolderOptions, examples, flag, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, one_line
from topiarist.errors import DamagedError

EPILOG = examples(
    "topiarist verify mail.topiary",
    "topiarist verify mail.topiary --digest",
    "Exit codes: 0 the bits agree · 1 they differ and another version or machine may be why, or it cannot be grown "
    "again · 4 they differ, and nothing explains it",
)
WRITES = ()


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Does the same come out again? Grows and edits the collection anew from the texts that it keeps, and compares."""

    digest: Annotated[bool, flag("Only print the digest, as a report has it; nothing is grown.", "--digest")] = False
    threads: Annotated[int | None, option("Threads; all cores by default.", metavar="N", min=1)] = None


def run(options: Options) -> None:
    """Grow it again in a folder for the moment; say whether the bits agree."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        if options.digest:
            _digest(screen, collection)
            return
        with screen.waiting("Growing it again from its own texts"):
            verdict = door.verify_collection(collection, tell=_silent, n_threads=options.threads)
    if options.json:
        screen.json(verdict.to_dict())
    else:
        _show(screen, options, verdict)
    if verdict.agrees is False and not verdict.explained:
        raise SystemExit(DamagedError.exit_code)
    if not verdict.agrees:
        raise SystemExit(1)


def _silent(_: str) -> None:
    """The line that turns says enough."""


def _digest(screen: Screen, collection: door.Collection) -> None:
    with screen.waiting("Reading"):
        found = door.collection_digests(collection)
    if screen.options.json:
        screen.json({"digest": found.whole, "digests": found.to_dict()})
    else:
        screen.print(found.whole)


def _show(screen: Screen, options: Options, verdict: door.Verdict) -> None:
    folder = one_line(options.folder)
    again = f"grown again from its own texts, and {counted(verdict.steps, 'step')} of its log done again"
    if verdict.agrees:
        screen.print(f"{folder} agrees to the last bit: {again}.")
    elif verdict.agrees is None:
        screen.print((f"{folder} cannot be verified as a whole.", "bold"))
    else:
        screen.print((f"{folder} does not agree.", "bold"))
    for sentence in verdict.told:
        screen.print(one_line(sentence), indent=2)
    for sentence in verdict.given:
        screen.print((f"Not done again: {one_line(sentence)}", "dim"), indent=2)
    if verdict.reasons and verdict.agrees is False:
        screen.print("Bits may differ though nothing is wrong, because:")
        for sentence in verdict.reasons:
            screen.print(one_line(sentence), indent=2)
    elif verdict.agrees is False:
        screen.print("Versions and processor are the same as then: somebody, or a disk, has changed the folder.")
        screen.next("check FOLDER")
    screen.print(("digest ", "dim"), verdict.digests.whole)
