"""Texts by the million: words drawn from the topics of a fitted tree, among the small words of English.

    python -m benchmarks.synthetic_texts 1000000 million.jsonl

Nobody can read them. A collection of them is as large as one of so many abstracts: as many tokens and different words a
document, a title, a date and a source each; and the topic that a document was drawn from is its label.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SMALL = ("the", "of", "and", "in", "to", "a", "we", "is", "for", "that", "with", "are", "this", "on", "by", "as", "be")
SHARE = 0.3  # of the tokens that come after a small word
RARE, RARE_WORDS = 0.02, 400_000  # share of the tokens that are rare: names, numbers, slips of the pen
BLOCK, TITLE = 4_096, 8  # documents drawn at a time, words of a title


def write(path: Path, n_docs: int, first: int = 0) -> None:
    """So many documents of an endless collection as JSON lines, from one on; it is the first of a block."""
    from benchmarks.bench_ten_million import topics_and_words
    from benchmarks.synthetic import World

    topics, words = topics_and_words()
    world, every = World.of_topics(topics), _vocabulary(words)
    with path.open("w", encoding="utf-8") as file:
        for start in range(first, first + n_docs, BLOCK):
            counts, leaves = world.block(start, min(BLOCK, first + n_docs - start), second=0.1)
            file.writelines(_lines(counts, leaves, every, start))


def _vocabulary(words: list[str]) -> list[str]:
    """The words of topics as JSON writes them, then those that stand after a small word, then the rare ones."""
    own = [json.dumps(word, ensure_ascii=False)[1:-1] for word in words]
    small = [f"{one} {word}" for one in SMALL for word in own]
    return [*own, *small, *(f"x{number}q" for number in range(RARE_WORDS))]


def _lines(counts: Any, leaves: Any, every: list[str], first: int) -> Iterator[str]:
    rng = np.random.default_rng(first)
    n_words, n_docs = counts.shape[1], counts.shape[0]
    times = counts.data.astype(np.int64)
    columns = np.repeat(counts.indices, times).astype(np.int64)
    ends = np.cumsum(np.add.reduceat(times, counts.indptr[:-1]))
    row = np.repeat(np.arange(n_docs), np.diff(ends, prepend=0))
    columns = columns[np.argsort(row + rng.random(len(row)))]  # in any order within a document
    after = rng.random(len(columns)) < SHARE
    columns[after] += n_words * (1 + rng.integers(len(SMALL), size=int(after.sum())))
    rare = rng.random(len(columns)) < RARE
    columns[rare] = n_words * (1 + len(SMALL)) + (RARE_WORDS * rng.random(int(rare.sum())) ** 3).astype(np.int64)
    said = [every[column] for column in columns.tolist()]
    years, months, days, sources = (
        rng.integers(low, high, n_docs).tolist() for low, high in ((2000, 2020), (1, 13), (1, 29), (0, 30))
    )
    start = 0
    for number, (end, leaf) in enumerate(zip(ends.tolist(), leaves.tolist(), strict=True)):
        own, start = said[start:end], end
        yield (
            f'{{"id": "s{first + number}", "title": "{" ".join(own[:TITLE])}", "text": "{" ".join(own)}", "date": '
            f'"{years[number]}-{months[number]:02}-{days[number]:02}", "source": "journal {sources[number]}", '
            f'"label": "t{leaf}"}}\n'
        )


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[1]), *map(int, sys.argv[3:]))
