"""Scripts without spaces: do words make better topics than pairs of letters, and is found what grep finds?

``python -m benchmarks.bench_unspaced`` prints, for 10,000 Chinese titles of ten classes, how far the leaves of a tree
agree with the classes (normalised mutual information, three seeds) when words are counted and when overlapping pairs
of letters are; the same for German news, whose words have spaces; and for queries of 2, 3 and 4 letters that were
drawn from the titles, typed as they are, in how many of them the search by words finds just the titles that grep finds.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.paths import SHARED_DATA
from topiarist.collection.describe.flat_topics import set_general_words_aside
from topiarist.counts.corpus import Corpus
from topiarist.counts.settings import CountSettings
from topiarist.estimators.tree.cam import CAM
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.text.documents import Document

CHINESE, GERMAN = "thucnews-titles", "gnad10k"
SEEDS, QUERIES, LENGTHS = (0, 1, 2), 300, (2, 3, 4)
FOUND = 0.99  # of the queries: the bar
_HAN = re.compile(r"[\u4e00-\u9fff]+")


def rows_of(name: str) -> list[dict[str, Any]]:
    """The documents of a collection, each with its label."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def in_pairs(text: str) -> str:
    """A text with spaces as a script without them is counted: every word as its overlapping pairs of letters."""
    words = re.findall(r"\w+", text)
    return " ".join(pair for word in words for pair in (word[at : at + 2] for at in range(max(1, len(word) - 1))))


def agreement(texts: list[str], labels: list[str], settings: CountSettings) -> tuple[list[float], float]:
    """How far leaves agree with labels, for each seed, with as many leaves as there are labels; and seconds of all."""
    begun = time.perf_counter()
    corpus = Corpus.from_documents([Document(str(row), text) for row, text in enumerate(texts)], settings)
    special, _ = set_general_words_aside(corpus, None)
    found = []
    for seed in SEEDS:
        model = CAM(len(set(labels)), random_state=seed, headings=False, n_threads=1).fit(special.counts)
        found.append(float(normalized_mutual_info_score(labels, model.labels_)))
    return found, time.perf_counter() - begun


def searched(texts: list[str], folder: Path) -> Iterator[tuple[int, int, int, int]]:
    """For each length: queries, those that find just what grep finds, and documents missed and found beside."""
    database = Database.create(folder / "documents.sqlite")
    Documents(database).load(Document(str(row), text) for row, text in enumerate(texts))
    index, chance = Index(database), random.Random(0)
    for length in LENGTHS:
        runs = [run for text in texts for run in _HAN.findall(text) if len(run) >= length]
        right = missed = beside = 0
        for _ in range(QUERIES):
            run = chance.choice(runs)
            start = chance.randrange(len(run) - length + 1)
            query = run[start : start + length]
            found = set(index.rows(query))
            grep = {row for row, text in enumerate(texts) if query in text}
            right += found == grep
            missed += len(grep - found)
            beside += len(found - grep)
        yield length, right, missed, beside
    database.close()


def main() -> Iterator[str]:
    """The lines of the table."""
    for name in (CHINESE, GERMAN):
        rows = rows_of(name)
        texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]
        ways = {"words": (texts, CountSettings(segmenter="chinese")), "pairs": (texts, CountSettings())}
        if name == GERMAN:
            ways = {"words": (texts, CountSettings()), "pairs": ([in_pairs(text) for text in texts], CountSettings())}
        means = {}
        for way, (counted, settings) in ways.items():
            found, seconds = agreement(counted, labels, settings)
            means[way] = float(np.mean(found))
            each = ", ".join(f"{one:.3f}" for one in found)
            yield f"{name:<16} {way:<6} NMI {means[way]:.3f}  ({each})  {seconds:5.0f} s"
        yield f"{name:<16} words ≥ pairs of letters: {'holds' if means['words'] >= means['pairs'] else 'MISSED'}"
    with tempfile.TemporaryDirectory() as folder:
        for length, right, missed, beside in searched([row["text"] for row in rows_of(CHINESE)], Path(folder)):
            verdict = "holds" if right >= FOUND * QUERIES else "MISSED"
            yield (
                f"{CHINESE:<16} {length} letters: {right / QUERIES:6.1%} of {QUERIES} queries as grep"
                f" ({missed:,} documents missed, {beside:,} beside)  ≥ {FOUND:.0%} {verdict}"
            )


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
