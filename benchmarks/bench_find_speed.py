"""How long does `find` take by default on 192,132 abstracts? Titles, two words, and words that are misspelt.

``python -m benchmarks.run find_speed [--folder big.topiary] [--draws 400]``. Queries are made of the collection's own
documents. Told is the processor's time of ``Search(collection, query).page(10)``: hits with their snippets, places and
suggestions, as they are shown. Without a folder, a collection is grown and kept (half an hour on two cores). Three
voices have vectors of chance, 384 dimensions in half precision, and queries encoded by ``topiarist[encoder]``.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks import data
from benchmarks.bars import SEARCH_MILLISECONDS
from benchmarks.findings import Findings
from benchmarks.paths import CACHE
from benchmarks.settings import Settings
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.search import vector_scores
from topiarist.collection.search.search import Search
from topiarist.counts.embeddings import encoder
from topiarist.text.documents import Document

NAME, TOPICS, KEPT = "arxiv-2011-2013", 8, CACHE / "find-speed.topiary"
QUERIES, HITS, LONG_WORD = 200, 10, 5
KINDS = ("titles", "two words", "one word, misspelt", "two words, one misspelt", "titles, one word misspelt")
VOICES = ", three voices"
KINDS_WITH_VECTORS = tuple(f"{kind}{VOICES}" for kind in KINDS[:2])


def pieces(settings: Settings) -> list[tuple]:
    """A folder, a kind of query, and how many of them; measured one after the other."""
    kinds = (*KINDS, *(KINDS_WITH_VECTORS if encoder.is_installed() else ()))
    return [(settings.folder or str(KEPT), kind, settings.draws or QUERIES) for kind in kinds]


def measure(piece: tuple) -> dict:
    """Ask, after a few queries that do not count."""
    folder, kind, number = piece
    collection = opened(folder)
    queries = asked(collection, kind.removesuffix(VOICES), number)
    times, suggested = [], 0
    with vectors_of_chance(collection) if kind.endswith(VOICES) else nullcontext():
        for query in queries[:3]:
            Search(collection, query).page(HITS)
        for query in queries:
            start = time.process_time()
            found = Search(collection, query).page(HITS)
            times.append(time.process_time() - start)
            suggested += bool(found.suggestions)
    slowest = int(np.argmax(times))
    return {
        "documents": len(collection), "milliseconds": [1000 * one for one in times], "suggested": suggested,
        "slowest": queries[slowest],
    }  # fmt: skip


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """A row for each kind of query, and the bars."""
    found = Findings(
        f"Processor time of `find` by default, {measured[0][1]['documents']:,} documents, {HITS} hits with all that is"
        " shown of them; queries made of the collection's own titles."
    )
    table = []
    for (_, kind, _), figures in measured:
        times = np.array(figures["milliseconds"])
        quantiles = np.quantile(times, (0.5, 0.9, 0.99, 1))
        table.append(
            [kind, len(times), *(f"{one:.0f} ms" for one in quantiles), figures["suggested"], figures["slowest"]]
        )
        found.bar(f"{kind}: p99, ms of the processor", float(quantiles[2]), SEARCH_MILLISECONDS, form=".1f")
        found.values[kind] = quantiles.tolist()
    found.table(["queries", "", "p50", "p90", "p99", "longest", "with suggestions", "the slowest"], table)
    return found.result()


@contextmanager
def vectors_of_chance(collection: Collection) -> Iterator[None]:
    """The collection as if it had been grown with the encoder: as many numbers are read, whatever they say."""
    path, n_docs = CACHE / "vectors" / f"chance-{len(collection)}.npy", len(collection)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = np.lib.format.open_memmap(path, "w+", np.float16, (n_docs, encoder.DIMENSIONS))
        for start in range(0, n_docs, 1 << 14):
            some = np.random.default_rng(start).standard_normal((min(1 << 14, n_docs - start), encoder.DIMENSIONS))
            rows[start : start + len(some)] = some / np.linalg.norm(some, axis=1, keepdims=True)
        rows.flush()
    here = encoder.Encoder.create()
    with (
        patch.dict(vars(collection), {"vectors": np.load(path, mmap_mode="r")}),
        patch.object(vector_scores, "find_encoder", lambda _: here),
    ):
        yield


@cache
def opened(folder: str) -> Collection:
    """The collection; grown once, if it is the benchmark's own."""
    if folder == str(KEPT) and not (KEPT / "manifest.json").exists():
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        documents = (Document(str(number), text, text.split("\n")[0]) for number, text in enumerate(data.texts(NAME)))
        Collection.grow(documents, KEPT, Recipe(topics=TOPICS)).close()
    return Collection.open(Path(folder))


def asked(collection: Collection, kind: str, number: int) -> list[str]:
    """Queries of a kind, of documents that lie evenly over the collection; the same in every run."""
    rng = random.Random(json.dumps([kind, number]))
    rows = np.unique(np.linspace(0, len(collection) - 1, min(2 * number, len(collection))).astype(int))
    found = []
    for document in collection.documents.load_many(rows.tolist()):
        words = (document.title or document.text.split("\n")[0]).split()
        long = [word for word in words if word.isalpha() and len(word) > LONG_WORD]
        if len(long) < 2:
            continue
        if kind == "two words":
            words = long[:2]
        elif kind == "one word, misspelt":
            words = [misspelt(long[0].lower(), rng)]
        elif kind == "two words, one misspelt":
            words = [misspelt(long[0].lower(), rng), long[1]]
        elif kind != "titles":
            words = [misspelt(word, rng) if word == long[0] else word for word in words]
        found.append(" ".join(words))
    return found[:number]


def misspelt(word: str, rng: random.Random) -> str:
    """A letter left out, swapped with the next, or one too many."""
    at, kind = rng.randrange(1, len(word) - 1), rng.randrange(3)
    if kind == 0:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + rng.choice("aeiorst") + word[at:]
