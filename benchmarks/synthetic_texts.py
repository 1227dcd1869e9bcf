"""Texts by the million: words drawn from the topics of a fitted tree, among the small words of English.

    python -m benchmarks.synthetic_texts 1000000 million.jsonl

Nobody can read them. A collection of them is as large as one of so many abstracts: as many tokens and different words a
document, a title, a date and a source each; and the topic that a document was drawn from is its label.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SMALL = ("the", "of", "and", "in", "to", "a", "we", "is", "for", "that", "with", "are", "this", "on", "by", "as", "be")
SHARE = 0.3  # of the tokens that are small words
RARE, RARE_WORDS = 0.02, 400_000  # share of the tokens that are rare: names, numbers, slips of the pen
BLOCK, TITLE = 4_096, 8  # documents drawn at a time, words of a title


def write(path: Path, n_docs: int, first: int = 0) -> None:
    """So many documents of an endless collection as JSON lines, from one on; it is the first of a block."""
    from benchmarks.bench_ten_million import topics_and_words
    from benchmarks.synthetic import World

    topics, words = topics_and_words()
    world = World.of_topics(topics)
    with path.open("w", encoding="utf-8") as file:
        for start in range(first, first + n_docs, BLOCK):
            counts, leaves = world.block(start, min(BLOCK, first + n_docs - start), second=0.1)
            for line in _lines(counts, leaves, words, start):
                file.write(line)


def _lines(counts: Any, leaves: Any, words: list[str], first: int) -> Any:
    rng = np.random.default_rng(first)
    for row, leaf in enumerate(leaves.tolist()):
        own = slice(counts.indptr[row], counts.indptr[row + 1])
        columns = np.repeat(counts.indices[own], counts.data[own].astype(np.int64))
        said = [words[column] for column in rng.permutation(columns).tolist()]
        for place in np.flatnonzero(rng.random(len(said)) < RARE).tolist():
            said[place] = f"x{int(RARE_WORDS * rng.random() ** 3)}q"
        drawn, small = rng.random(len(said)), rng.integers(len(SMALL), size=len(said)).tolist()
        every = zip(said, drawn, small, strict=True)
        text = " ".join(f"{SMALL[one]} {word}" if share < SHARE else word for word, share, one in every)
        document = {
            "id": f"s{first + row}", "title": " ".join(said[:TITLE]), "text": text,
            "date": f"{2000 + int(rng.integers(20))}-{1 + int(rng.integers(12)):02}-{1 + int(rng.integers(28)):02}",
            "source": f"journal {int(rng.integers(30))}", "label": f"t{leaf}",
        }  # fmt: skip
        yield json.dumps(document, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[1]), *map(int, sys.argv[3:]))
