"""Run the peers one after the other and write docs/comparison.md.

    python -m benchmarks.comparison [--documents 1500] [--many 1500] [--only SYSTEM ...] [--page]

Each in a process and an environment of its own, with one thread. Results are kept in
``benchmarks/comparison.json``, row by row: what was run again replaces what was there, and ``--page`` writes the page
from it without running anything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.client import THREAD_VARIABLES
from benchmarks.comparison import page
from benchmarks.comparison.judging import judged
from benchmarks.comparison.piles import ABSTRACTS, BARE, DOCUMENTS, NAMES, Pile, encode, pile
from benchmarks.comparison.systems import EVERY, OWN, SAME, System
from benchmarks.paths import REPOSITORY

LONGEST = 1_200  # seconds of one system


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of each collection")
    parser.add_argument("--many", type=int, default=DOCUMENTS, help="abstracts for documents a second")
    parser.add_argument("--only", nargs="+", default=[], metavar="SYSTEM", help="these systems only")
    parser.add_argument("--on", nargs="+", default=[], metavar="COLLECTION", help="these collections only")
    parser.add_argument("--kinds", nargs="+", default=list(EVERY), choices=EVERY, help="these tables only")
    parser.add_argument("--page", action="store_true", help="write the page from what was found before")
    options = parser.parse_args()
    if not options.page:
        places = [("topics", name, options.documents) for name in NAMES]
        places += [("speed", ABSTRACTS, options.many), ("classes", BARE, options.documents)]
        places += [("several", "reuters21578", options.documents), ("features", ABSTRACTS, options.documents)]
        for kind, name, number in places:
            if kind in options.kinds and (not options.on or name in options.on):
                _compare(kind, name, number, options.only)
    page.write()


def _compare(kind: str, name: str, number: int, only: list[str]) -> None:
    """All systems of a table on one collection, ours first: others take its number of topics."""
    documents = pile(name, number)
    for key, system in EVERY[kind].items():
        if only and key not in only:
            continue
        if system.encodes:
            encode(documents)
        ours = page.results().get(kind, {}).get(name, {}).get("rows", {}).get("ours", {})
        row = _ran(kind, key, system, documents, system.number if system.number != SAME else ours.get("topics", 0))
        found = page.results()
        place = found.setdefault(kind, {}).setdefault(name, {"documents": number, "rows": {}})
        if place["documents"] != number:
            place |= {"documents": number, "rows": {}}
        if system.encodes:
            place["encoding"] = documents.encoding_seconds
        place["rows"][key] = row
        page.keep(found)
        print(f"[comparison] {kind} {name} {key}: {_short(row)}", flush=True)


def _ran(kind: str, key: str, system: System, documents: Pile, number: int) -> dict[str, Any]:
    """The figures of a system, or why there are none."""
    python = sys.executable if system.environment == OWN else str(REPOSITORY / system.environment / "bin" / "python")
    if not os.path.exists(python):
        return {"not run": f"{system.environment} could not be made here"}
    path = os.pathsep.join([str(REPOSITORY), *([str(REPOSITORY / "src")] if system.environment == OWN else [])])
    variables = os.environ | dict.fromkeys(THREAD_VARIABLES, "1") | {"PYTHONPATH": path}
    command = [python, "-m", "benchmarks.comparison.child", kind, key, str(documents.folder), str(number)]
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return {"not run": f"not done after {LONGEST // 60} minutes"}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return {"not run": (said[-1] if said else f"ended with {done.returncode}").replace(f"{REPOSITORY}/", "")}
    return judged(json.loads(lines[-1]), documents)


def _short(row: dict[str, Any]) -> str:
    said = {name: f"{value:.3f}" if isinstance(value, float) else value for name, value in row.items()}
    return ", ".join(f"{name} {value}" for name, value in said.items())


if __name__ == "__main__":
    main()
