"""Do typical documents show what the name of their topic says? Shares of topics whose typical documents have its words.

``python -m benchmarks.bench_typical [COLLECTION ...]`` grows a collection and counts, of the first three typical
documents of each topic and heading, those with a word of the name or a word near its field. It prints the share of
topics with at least two such documents, and with none. The bar is .90 for the first.
"""

from __future__ import annotations

import gzip
import json
import random
import sys

import numpy as np

from benchmarks.paths import SHARED_DATA
from topiarist.collection.collection import Collection
from topiarist.text.documents import Document
from topiarist.trees.naming.fields import find_near_words, load_fields
from topiarist.trees.naming.name_test import split_items

COLLECTIONS = {"arxiv-demo": 3_000, "20newsgroups": 3_000, "reuters21578": 3_000, "ohsumed23": 2_000, "gnad10k": 1_028}
SHOWN, BAR = 3, 0.9


def measure(name: str, n_documents: int) -> tuple[int, float, float]:
    """Return the number of topics, and the shares with two or more and with no typical document that fits."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [text for text in dict.fromkeys(json.loads(line)["text"] for line in file) if text.strip()]
    random.Random(0).shuffle(texts)
    documents = [Document(str(number), text) for number, text in enumerate(texts[:n_documents])]
    with Collection.grow(documents) as collection:
        counts, words = collection.counts, collection.counting.vocabulary.words
        columns = {word: column for column, word in enumerate(words)}
        near = find_near_words(counts, words, load_fields())
        fits = []
        for node, summary in enumerate(collection.tree.nodes):
            if node != collection.tree.tree.root:
                items = split_items(collection.tree.tree.names[node])
                own = {columns[word] for item in items for word in item.lower().split() if word in columns}
                own.update(column for item in items for column in near.get(item.casefold(), ()))
                fits.append(sum(bool(own.intersection(counts[[row]].indices.tolist())) for row in summary.rows[:SHOWN]))
    return len(fits), float(np.mean(np.array(fits) >= 2)), float(np.mean(np.array(fits) == 0))


def main(names: list[str]) -> None:
    """Print the figures of the named collections, all by default."""
    print(f"{'':16}{'topics':>8}{'two or more':>13}{'none':>8}")
    for name in names or COLLECTIONS:
        if (SHARED_DATA / name).exists():
            number, two, none = measure(name, COLLECTIONS[name])
            print(f"{name:16}{number:8,}{two:13.3f}{none:8.3f}", flush=True)
    print(f"bar: two or more in {BAR:.0%} of the topics")


if __name__ == "__main__":
    main(sys.argv[1:])
