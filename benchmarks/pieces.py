"""Benchmarks made of pieces that know nothing of each other: a choice of them, in several processes, told together.

Such a module has three functions: ``pieces(settings)`` lists what there is to measure, ``measure(piece)`` measures one,
and ``told(measured)`` makes the findings of as many as there are. What was measured is kept line by line as it comes,
so that a run that is ended early has lost only what it was at, and goes on where it stopped.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.paths import RESULTS
from benchmarks.settings import Settings


def kept_at(name: str) -> Path:
    """Where the pieces of a benchmark are kept."""
    return RESULTS / "pieces" / f"{name}.jsonl"


def kept(name: str) -> list[dict]:
    """The pieces that were measured before, the newest of each."""
    path = kept_at(name)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = {json.dumps(one["piece"]): one for one in map(json.loads, lines)}
    return [found[place] for place in sorted(found, key=lambda piece: str(json.loads(piece)))]


def run(address: str, name: str, settings: Settings) -> dict:
    """Measure the pieces that are wanted, and tell them; going on, with all that were kept."""
    module = import_module(address)
    wanted = [list(piece) for piece in module.pieces(settings)]
    before = kept(name) if settings.go_on else []
    done = [one["piece"] for one in before]
    path = kept_at(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    found = list(before)
    with path.open("a" if settings.go_on else "w", encoding="utf-8") as lines:
        for one in _measured(address, [piece for piece in wanted if piece not in done], settings.processes):
            lines.write(json.dumps(one) + "\n")
            lines.flush()
            found.append(one)
            print(f"[{name}]", *one["piece"], json.dumps(one["measured"]), flush=True)
    return module.told([(tuple(one["piece"]), one["measured"]) for one in found])


def _measured(address: str, wanted: list[list], processes: int) -> Iterator[dict]:
    if processes <= 1:
        yield from (_one((address, piece)) for piece in wanted)
        return
    with multiprocessing.get_context("spawn").Pool(min(processes, max(1, len(wanted)))) as pool:
        yield from pool.imap_unordered(_one, [(address, piece) for piece in wanted])


def _one(asked: tuple[str, list[Any]]) -> dict:
    address, piece = asked
    return {"piece": piece, "measured": import_module(address).measure(tuple(piece))}
