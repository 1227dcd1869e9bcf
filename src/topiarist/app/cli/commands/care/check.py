"""``topiarist check``: is the collection whole?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import WritingOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, one_line
from topiarist.errors import DamagedError

EPILOG = examples("topiarist check mail.topiary", "topiarist check mail.topiary --repair")
WRITES = ("repair",)
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Is the collection whole? Every checksum, every table, every part that another one refers to."""

    repair: Annotated[bool, option("Make the full-text index anew and remove leftovers.", "--repair")] = False


def run(options: Options) -> None:
    """Look at everything; leave with 4 if something is damaged."""
    screen = Screen(options)
    with screen.waiting("Repairing" if options.repair else "Checking"):
        findings = door.repair_folder(options.folder) if options.repair else door.check_folder(options.folder)
    damaged = any(finding.severity == "error" for finding in findings)
    if options.json:
        screen.json({"whole": not damaged, "findings": [asdict(finding) for finding in findings]})
    else:
        _show(screen, options, findings, damaged)
    if damaged:
        raise SystemExit(DamagedError.exit_code)


def _show(screen: Screen, options: Options, findings: list[door.Finding], damaged: bool) -> None:
    folder = one_line(options.folder)
    if damaged:
        screen.print((f"{folder} is damaged.", "bold"))
    else:
        remarks = f" {counted(len(findings), 'remark')}:" if findings else ""
        screen.print(f"{folder} is whole: checksums, documents, tree and indexes fit each other.{remarks}")
    for one in findings:
        screen.print((f"{one.severity}: ", STYLES[one.severity]), one_line(one.what), (f"  ({one.where})", "dim"))
        screen.print((f"Try: {one.advice}", "dim"), indent=2)
    if any(one.advice == door.REPAIR for one in findings) and not options.repair:
        screen.next("check FOLDER --repair")
    elif not damaged:
        screen.next("tree FOLDER")
