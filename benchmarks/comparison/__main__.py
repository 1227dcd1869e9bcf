"""Run the peers one after the other and write docs/comparison.md.

    python -m benchmarks.comparison [--documents 3000] [--many 20000] [--only SYSTEM ...] [--go-on] [--page]

Each in a process and an environment of its own, with one thread, two of them at a time. Results are kept in
``benchmarks/comparison.json``, row by row: what was run again replaces what was there, and ``--page`` writes the page
from it without running anything.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from benchmarks.client import THREAD_VARIABLES
from benchmarks.comparison import page
from benchmarks.comparison.judging import judged
from benchmarks.comparison.piles import ABSTRACTS, BARE, DOCUMENTS, FOLDER, MANY, NAMES, YEAR, Pile, encode, pile
from benchmarks.comparison.systems import EVERY, OWN, SAME, System
from benchmarks.paths import REPOSITORY

LONGEST = 1_200  # seconds of one system
AT_ONCE = 2  # systems
WITHOUT_VECTORS = (BARE,)  # to save time: encoding is the dearest step


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of each collection")
    parser.add_argument("--many", type=int, default=MANY, help="abstracts for documents a second")
    parser.add_argument("--only", nargs="+", default=[], metavar="SYSTEM", help="these systems only")
    parser.add_argument("--on", nargs="+", default=[], metavar="COLLECTION", help="these collections only")
    parser.add_argument("--kinds", nargs="+", default=list(EVERY), choices=EVERY, help="these tables only")
    parser.add_argument("--go-on", action="store_true", help="only what an earlier run has not come to")
    parser.add_argument("--page", action="store_true", help="write the page from what was found before")
    options = parser.parse_args()
    if not options.page:
        whole = not (options.only or options.on or options.go_on) and list(options.kinds) == list(EVERY)
        if whole:
            page.keep({})  # nothing of an earlier run stays
        began, kept = time.perf_counter(), _kept_vectors(options.documents)
        places = [("topics", name, options.documents) for name in NAMES]
        places += [("speed", ABSTRACTS, options.documents), ("speed", YEAR, options.many)]
        places += [("classes", BARE, options.documents), ("several", "reuters21578", options.documents)]
        places += [("reviews", name, options.documents) for name in ("reuters21578", "ohsumed23")]
        places += [("features", ABSTRACTS, options.documents)]
        for kind, name, number in places:
            if kind in options.kinds and (not options.on or name in options.on):
                there = page.results().get(kind, {}).get(name, {}).get("rows", {}) if options.go_on else {}
                wanted = {key for key in options.only or EVERY[kind] if key not in there}
                _compare(kind, name, number, wanted)
        if whole:
            page.keep(page.results() | {"whole": _spent(time.perf_counter() - began) | {"kept": kept}})
    page.write()


def _kept_vectors(number: int) -> float:
    """Processor seconds of vectors that are at hand from an earlier run, and are not made again."""
    piles = (Pile(FOLDER / f"{name}-{number}") for name in NAMES)
    return sum(one.encoding_seconds for one in piles if (one.folder / "encoding.json").exists())


def _spent(clock: float) -> dict[str, float]:
    """What the whole run took: processor time of this process and of all that it began."""
    every = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"processor": sum(one.ru_utime + one.ru_stime for one in every), "clock": clock}


def _compare(kind: str, name: str, number: int, keys: set[str]) -> None:
    """All systems of a table on one collection, two at a time; ours first: others take its number of topics."""
    documents = pile(name, number)
    wanted = {key: one for key, one in EVERY[kind].items() if key in keys}
    wanted = {key: one for key, one in wanted.items() if not one.only or name in one.only}
    wanted = {key: one for key, one in wanted.items() if not (one.encodes and name in WITHOUT_VECTORS)}
    plain = [key for key, one in wanted.items() if not one.encodes]
    with_vectors = [key for key, one in wanted.items() if one.encodes]

    def ran(key: str) -> dict[str, Any]:
        ours = page.results().get(kind, {}).get(name, {}).get("rows", {}).get("ours", {})
        system = wanted[key]
        topics = system.number if system.number != SAME else ours.get("topics", 0)
        return _ran(kind, key, system, documents, topics)

    def keep(key: str, row: dict[str, Any]) -> None:
        _keep(kind, name, number, key, row)

    for group in (plain[:1], plain[1:]):
        _side_by_side(group, ran, keep)
    foreseen = _foreseen(page.results(), number) if kind == "speed" and name != ABSTRACTS else 0.0
    if foreseen >= LONGEST:
        said = f"vectors alone would take {foreseen / 60:.0f} minutes, the limit is {LONGEST // 60}"
        for key in with_vectors:
            keep(key, {"not run": said})
    elif with_vectors:
        encode(documents)
        _side_by_side(with_vectors, ran, keep)
        found = page.results()
        found[kind][name]["encoding"] = documents.encoding_seconds
        page.keep(found)


def _side_by_side(
    keys: list[str], ran: Callable[[str], dict[str, Any]], keep: Callable[[str, dict[str, Any]], None]
) -> None:
    """Run systems, some at a time, and keep each row as it comes."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(ran, key): key for key in keys}
        for done in as_completed(running):
            keep(running[done], done.result())


def _keep(kind: str, name: str, number: int, key: str, row: dict[str, Any]) -> None:
    found = page.results()
    place = found.setdefault(kind, {}).setdefault(name, {"documents": number, "rows": {}})
    if place["documents"] != number:
        place |= {"documents": number, "rows": {}}
    place["rows"][key] = row
    page.keep(found)
    print(f"[comparison] {kind} {name} {key}: {_short(row)}", flush=True)


def _foreseen(found: dict[str, Any], number: int) -> float:
    """Processor seconds that the vectors of so many abstracts would take, by those of fewer."""
    fewer = found.get("speed", {}).get(ABSTRACTS, {})
    return number * fewer["encoding"] / fewer["documents"] if "encoding" in fewer else 0.0


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
