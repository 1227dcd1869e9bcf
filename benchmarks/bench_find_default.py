"""What does a user find who types a question and sets nothing? Six collections with judged queries.

``python -m benchmarks.run find_default``. Ours goes through the product: ``Collection.grow`` with no setting, then the
ranking of ``Collection.search``. Beside it stand what a user would pick instead, at their usual best.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds

from benchmarks.bars import FIND_OVER_BM25
from benchmarks.findings import Findings, skipped
from benchmarks.paths import SHARED_DATA
from benchmarks.settings import Settings
from topiarist.collection.collection import Collection
from topiarist.collection.search.search import Search
from topiarist.text.documents import Document
from topiarist.text.query import parse
from topiarist.text.stems import find_stems
from topiarist.text.stop_words import stop_words
from topiarist.text.tokens import Tokenizer

COLLECTIONS = {"med": "MED", "cran": "CRAN", "cacm": "CACM", "npl": "NPL", "adi": "ADI", "cisi": "CISI"}
DEPTH = 1000  # hits that are looked at
K1, B, DIMENSIONS = 1.2, 0.75, 200
OURS, BM25, LSI, SUM = "topiarist, default (both)", "BM25, stems", f"LSI-{DIMENSIONS}, stems", "z-score sum of both"
STOPPED = ", stop list"
WAYS = {"words": "topiarist --by words", "meaning": "topiarist --by meaning"}
BY_SCORE = "topiarist, all documents by score"
_TOKENS = Tokenizer(numbers=True)


class Judged(NamedTuple):
    """Documents, queries as they were written, and the rows that are relevant to each."""

    documents: list[Document]
    queries: list[str]
    relevant: list[set[int]]


def judged(name: str) -> Judged:
    """A collection as it lies in the shared data."""
    documents = [Document(str(one["id"]), one["text"], one.get("title") or "") for one in _lines(name, "docs")]
    row = {document.id: number for number, document in enumerate(documents)}
    relevant: dict[str, set[int]] = {}
    for line in (SHARED_DATA / name / "qrels.tsv").read_text().splitlines():
        query, document = line.split()[:2]
        relevant.setdefault(query, set()).update({row[document]} if document in row else ())
    asked = [one for one in _lines(name, "queries") if relevant.get(str(one["id"]))]
    return Judged(documents, [one["text"] for one in asked], [relevant[str(one["id"])] for one in asked])


def _lines(name: str, what: str) -> Iterator[dict]:
    with gzip.open(SHARED_DATA / name / f"{what}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


class Peers:
    """BM25 over stems of all words, LSI over the same, and the sum of their z-scores; with or without a stop list."""

    def __init__(self, texts: list[str], *, stopped: bool) -> None:
        self.stop = stop_words("en") if stopped else frozenset()
        self.columns: dict[str, int] = {}
        rows = [self._counted(text, new=True) for text in texts]
        ends = np.cumsum([0, *map(len, rows)])
        indices = np.fromiter((column for row in rows for column in row), np.int64, ends[-1])
        times = np.fromiter((often for row in rows for often in row.values()), np.float64, ends[-1])
        counts = csr_array((times, indices, ends), shape=(len(texts), len(self.columns)))
        frequency = np.bincount(indices, minlength=len(self.columns))
        self.worth = np.log1p((len(texts) - frequency + 0.5) / (frequency + 0.5))
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        norms = np.repeat(K1 * (1 - B + B * lengths / lengths.mean()), np.diff(ends))
        self.times, self.ends, self.indices = times, ends, indices
        self.bm25 = csr_array(((K1 + 1) * times / (times + norms) * self.worth[indices], indices, ends), counts.shape)

    @cached_property
    def space(self) -> tuple[Any, Any]:
        """Directions of words and places of documents by LSI; computed only if it is asked for."""
        values = (1 + np.log(self.times)) * self.worth[self.indices]
        weighted = csr_array((values, self.indices, self.ends), self.bm25.shape)
        sizes = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        weighted = csr_array(diags_array(1 / np.where(sizes > 0, sizes, 1)) @ weighted)
        left, values, right = svds(weighted, min(DIMENSIONS, min(weighted.shape) - 1), random_state=0)
        found = left * values
        return right.T, found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)

    def _counted(self, text: str, *, new: bool = False) -> dict[int, int]:
        words = [word for word in _TOKENS(text) if word not in self.stop]
        found: Counter[int] = Counter()
        for stem in find_stems(words, "en"):
            column = self.columns.setdefault(stem, len(self.columns)) if new else self.columns.get(stem)
            if column is not None:
                found[column] += 1
        return found

    def _asked(self, query: str) -> Any:
        counted = self._counted(query)
        asked = np.zeros(len(self.columns))
        asked[list(counted)] = list(counted.values())
        return asked

    def word_scores(self, query: str) -> Any:
        """BM25 of every document."""
        return self.bm25 @ self._asked(query)

    def scores(self, query: str) -> dict[str, Any]:
        """The score of every document by each way."""
        asked, words = self._asked(query), self.word_scores(query)
        directions, places = self.space
        point = (np.log2(1 + asked) * self.worth) @ directions
        space = places @ (point / max(float(np.linalg.norm(point)), 1e-12))
        return {BM25: words, LSI: space, SUM: _z(words) + _z(space)}

    def two_words(self, query: str) -> str:
        """The two words of a query that tell most, as they were written."""
        words = [word for word in _TOKENS(query) if word not in self.stop]
        known = {stem: word for word, stem in zip(words, find_stems(words, "en"), strict=True) if stem in self.columns}
        return " ".join(known[stem] for stem in sorted(known, key=lambda one: -self.worth[self.columns[one]])[:2])


def _z(scores: Any) -> Any:
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else 0 * scores


def ranked(collection: Collection, query: str, by: str) -> Any:
    """Return the rows in the order of their scores, matches or not, for a question without its quotation marks.

    A quoted phrase would be required, and the questions quote as sentences do.
    """
    return Search(collection, parse(query, collection.fields).widened, by).best_rows(DEPTH)


def listed(collection: Collection, query: str) -> Any:
    """Return the rows that a default search lists: the matches, then at most 20 related documents."""
    plain = str(parse(query, collection.fields).widened)
    return np.array([hit.row for hit in collection.search(plain, DEPTH)], np.int64)


def measured(rows: Any, relevant: set[int]) -> tuple[float, float]:
    """Average precision and nDCG at 10, in percent."""
    there = np.isin(rows[:DEPTH], list(relevant))
    hits = np.flatnonzero(there)
    precision = float(((np.arange(len(hits)) + 1) / (hits + 1)).sum()) / len(relevant)
    gains = 1 / np.log2(np.arange(10) + 2)
    return 100 * precision, 100 * float(gains[: len(there[:10])][there[:10]].sum() / gains[: len(relevant)].sum())


def found_in(name: str, *, single: bool) -> dict[str, dict[str, tuple[float, float]]]:
    """Every way, for whole questions and for two words."""
    known = judged(name)
    texts = [document.text for document in known.documents]
    peers = {"": Peers(texts, stopped=False), STOPPED: Peers(texts, stopped=True)}
    with (
        tempfile.TemporaryDirectory() as folder,
        Collection.grow(known.documents, Path(folder) / name, n_threads=1 if single else None) as collection,
    ):
        results: dict[str, dict[str, tuple[float, float]]] = {}
        for kind in ("questions", "two words"):
            rows: dict[str, list[tuple[float, float]]] = {}
            for question, relevant in zip(known.queries, known.relevant, strict=True):
                query = question if kind == "questions" else peers[STOPPED].two_words(question)
                rows.setdefault(OURS, []).append(measured(listed(collection, query), relevant))
                for way, title in {"both": BY_SCORE, **WAYS}.items():
                    rows.setdefault(title, []).append(measured(ranked(collection, query, way), relevant))
                for how, peer in peers.items():
                    for way, scores in peer.scores(query).items():
                        order = np.argsort(-scores, kind="stable")
                        rows.setdefault(f"{way}{how}", []).append(measured(order, relevant))
            results[kind] = {way: tuple(np.mean(values, axis=0)) for way, values in rows.items()}
    return results


def pieces(settings: Settings) -> list[tuple]:
    """The collections that are here."""
    names = settings.of_collections(name for name in COLLECTIONS if not settings.quick or name in ("adi", "med"))
    return [(name,) for name in names if (SHARED_DATA / name).is_dir()]


def measure(piece: tuple) -> dict:
    """Grow, ask, compare."""
    return found_in(*piece, single=True)


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """Every way beside ours, and the bars."""
    if not measured:
        return skipped("the collections with judged queries are not here")
    found = Findings(
        "MAP / nDCG@10 in percent, the best 1,000 hits looked at. Ours by `Collection.grow` and `Collection.search`"
        " with no setting, asked without quotation marks. The default lists matches and at most 20 related documents;"
        " *by score* ranks all documents whether they match or not."
        f" Beside it BM25 (k₁ = {K1}, b = {B}) and LSI of {DIMENSIONS} dimensions over Snowball stems"
        " of all words, and the sum of their z-scores; each also with the English stop list. *Two words* are the two"
        " of a question that are in fewest documents."
    )
    by_name = {piece[0]: figures for piece, figures in measured}
    results = {title: by_name[name] for name, title in COLLECTIONS.items() if name in by_name}
    for kind in ("questions", "two words"):
        ways = list(next(iter(results.values()))[kind])
        found.say(f"**{kind.capitalize()}**")
        mean = {way: np.mean([results[title][kind][way] for title in results], axis=0) for way in ways}
        table = [[way, *(_cell(results[title][kind][way]) for title in results), _cell(mean[way])] for way in ways]
        found.table(["", *results, "mean"], table)
        for place, measure in enumerate(("MAP", "nDCG@10")):
            for title in results:
                here = results[title][kind]
                peers = {way: value[place] for way, value in here.items() if not way.startswith("topiarist")}
                best = max(peers, key=lambda way: peers[way])
                found.verdict(
                    f"{kind}, {title}, {measure}: default ≥ the best of six ({best})", f"{here[OURS][place]:.1f}",
                    f"≥ {peers[best]:.1f}", met=here[OURS][place] >= peers[best] - 0.05,
                )  # fmt: skip
            ratio = mean[OURS][place] / mean[BM25][place]
            found.bar(f"{kind}, mean {measure} in times of BM25 with stems", ratio, FIND_OVER_BM25, least=True)
    found.values = results
    return found.result()


def _cell(values: Any) -> str:
    return " / ".join(f"{value:.1f}" for value in values)
