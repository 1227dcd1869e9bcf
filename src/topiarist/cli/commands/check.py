"""Command ``topiarist check``: test the integrity of a collection."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import WritingOptions, examples, option
from topiarist.cli.terminal.screen import Screen
from topiarist.display.formats import count_noun, one_line
from topiarist.errors import DamagedError

if TYPE_CHECKING:
    from topiarist.collection.check import Finding

EPILOG = examples("topiarist check mail.topiary", "topiarist check mail.topiary --repair")
WRITES = ("repair",)
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Check the integrity of a collection: checksums, tables and references."""

    repair: bool = option(False, "Rebuild the full-text index and remove leftover files.")


def run(options: Options) -> None:
    """Check a collection, or repair it on request, and print the findings. Exit with 4 if it is damaged."""
    from topiarist.collection.check import check_folder, repair_folder

    screen = Screen(options)
    with screen.waiting("Repairing" if options.repair else "Checking"):
        findings = repair_folder(options.folder) if options.repair else check_folder(options.folder)
    is_damaged = any(finding.severity == "error" for finding in findings)
    if options.json:
        screen.json({"whole": not is_damaged, "findings": [asdict(finding) for finding in findings]})
    else:
        _show(screen, options, findings, is_damaged)
    if is_damaged:
        raise SystemExit(DamagedError.exit_code)


def _show(screen: Screen, options: Options, findings: list[Finding], is_damaged: bool) -> None:
    """Print the verdict, each finding with its advice, and the next command."""
    from topiarist.collection.check import REPAIR

    folder = one_line(options.folder)
    if is_damaged:
        screen.print((f"{folder} is damaged.", "bold"))
    else:
        remarks = f" {count_noun(len(findings), 'remark')}:" if findings else ""
        screen.print(f"{folder} is whole: checksums, documents, tree and indexes fit each other.{remarks}")
    for finding in findings:
        screen.print(
            (f"{finding.severity}: ", STYLES[finding.severity]), one_line(finding.what), (f"  ({finding.where})", "dim")
        )
        screen.print((f"Try: {finding.advice}", "dim"), indent=2)
    if any(finding.advice == REPAIR for finding in findings) and not options.repair:
        screen.print_next("check FOLDER --repair")
    elif not is_damaged:
        screen.print_next("tree FOLDER")
