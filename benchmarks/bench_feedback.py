"""What is gained by pointing at documents that a query has found? Five collections with judged queries.

``python -m benchmarks.run feedback [--collections med cran] [--labels 1 2 5]``. Of the first ten hits somebody points
at so many relevant ones (``like:ID``), and at as many that are not (``-like:ID``); both rankings are judged by the
relevant documents that were not among the ten.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.bench_find_default import COLLECTIONS, DEPTH, judged, ranked
from benchmarks.bench_find_default import measured as of_rows
from benchmarks.findings import Findings, skipped
from benchmarks.paths import SHARED_DATA
from benchmarks.settings import Settings
from topiarist.collection.collection import Collection

FIRST, NUMBERS = 10, (1, 2, 5)
WAYS = ("nothing", "relevant ones", "and others that are not")


def pieces(settings: Settings) -> list[tuple]:
    """A collection, and how many documents somebody points at."""
    names = settings.of_collections(name for name in COLLECTIONS if not settings.quick or name in ("adi", "med"))
    numbers = [number for number in settings.labels if number] or NUMBERS
    return [(name, tuple(numbers)) for name in names if (SHARED_DATA / name).is_dir()]


def measure(piece: tuple) -> dict:
    """Average precision of what was not among the first hits, with and without feedback."""
    name, numbers = piece
    known = judged(name)
    found: dict[str, list] = {str(number): [] for number in numbers}
    with (
        tempfile.TemporaryDirectory() as folder,
        Collection.grow(known.documents, Path(folder) / name, n_threads=1) as collection,
    ):
        ids = collection.documents.ids()
        row = {id: place for place, id in enumerate(ids)}
        for question, relevant in zip(known.queries, known.relevant, strict=True):
            wanted = {row[known.documents[one].id] for one in relevant if known.documents[one].id in row}
            rows = ranked(collection, question, "both")
            shown = rows[:FIRST].tolist()
            like, unlike = [one for one in shown if one in wanted], [one for one in shown if one not in wanted]
            if not like or not wanted - set(shown):
                continue
            for number in numbers:
                yes = "".join(f' like:"{ids[one]}"' for one in like[:number])
                no = "".join(f' -like:"{ids[one]}"' for one in unlike[:number])
                answers = [rows, *(ranked(collection, question + told, "both") for told in (yes, yes + no))]
                found[str(number)].append([_precision(one, shown, wanted) for one in answers])
    return found


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """A row for each collection and number."""
    if not measured:
        return skipped("the collections with judged queries are not here")
    found = Findings(
        f"MAP in percent of the relevant documents that were not among the first {FIRST} hits, the first"
        f" {DEPTH:,} looked at; queries with a relevant document among the first hits and one beyond."
    )
    rows = []
    for name, title in COLLECTIONS.items():
        for piece, figures in measured:
            for number, values in figures.items() if piece[0] == name else ():
                mean = np.mean(values, axis=0) if values else [float("nan")] * len(WAYS)
                rows.append([title, number, len(values), *(f"{one:.1f}" for one in mean)])
                if values:
                    found.bar(f"{title}, {number}: pointing gains, points", mean[1] - mean[0], 0.0, least=True)
                found.values[f"{name} {number}"] = [float(one) for one in mean]
    found.table(["", "documents pointed at", "queries", *WAYS], rows)
    return found.result()


def _precision(rows: np.ndarray, shown: list[int], wanted: set[int]) -> float:
    return of_rows(rows[~np.isin(rows, shown)], wanted - set(shown))[0]
