"""``topiarist check``: is the collection whole?"""

from __future__ import annotations

from dataclasses import asdict

from topiarist.app.cli.terminal.printing import counted, one_line
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.cli.using_options import CheckOptions
from topiarist.collection.check import REPAIR, Finding, check, repair
from topiarist.errors import DamagedError

STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def run(options: CheckOptions) -> None:
    """Look at everything; leave with 4 if something is damaged."""
    screen = Screen(options)
    with screen.waiting("Repairing" if options.repair else "Checking"):
        found = repair(options.folder) if options.repair else check(options.folder)
    damaged = any(one.severity == "error" for one in found)
    if options.json:
        screen.json({"whole": not damaged, "findings": [asdict(one) for one in found]})
    else:
        _show(screen, options, found, damaged)
    if damaged:
        raise SystemExit(DamagedError.exit_code)


def _show(screen: Screen, options: CheckOptions, found: list[Finding], damaged: bool) -> None:
    folder = one_line(options.folder)
    if damaged:
        screen.print((f"{folder} is damaged.", "bold"))
    else:
        remarks = f" {counted(len(found), 'remark')}:" if found else ""
        screen.print(f"{folder} is whole: checksums, documents, tree and indexes fit each other.{remarks}")
    for one in found:
        screen.print((f"{one.severity}: ", STYLES[one.severity]), one_line(one.what), (f"  ({one.where})", "dim"))
        screen.print((f"Try: {one.advice}", "dim"), indent=2)
    if any(one.advice == REPAIR for one in found) and not options.repair:
        screen.next("check FOLDER --repair")
    elif not damaged:
        screen.next("tree FOLDER")
