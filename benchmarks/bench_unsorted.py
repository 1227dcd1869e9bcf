"""Are documents unsorted that no topic explains, and no others? A planted pile, and collections as they are.

``python -m benchmarks.bench_unsorted [COLLECTION ...]`` grows a pile of German news, English reports, medical abstracts,
Chinese headlines and random strings. It prints how many of each kind are unsorted, and how many are in a first-level
topic of which most documents are of another kind. Then it prints the share of unsorted documents of collections.
"""

from __future__ import annotations

import gzip
import json
import random
import string
import sys
from collections import Counter

import numpy as np

from benchmarks.paths import SHARED_DATA
from topiarist.collection.collection import Collection
from topiarist.text.documents import Document

PILE = {"gnad10k": 400, "reuters21578": 550, "med": 230, "thucnews-titles": 120}
N_RANDOM = 100
COLLECTIONS = {
    "20newsgroups": 4_000, "reuters21578": 4_000, "gnad10k": 1_028, "thucnews-titles": 3_000, "arxiv-demo": 4_000,
    "ohsumed23": 3_000, "lingspam": 2_893, "arxiv-learn": 3_877, "med": 1_033, "cran": 1_400,
}  # fmt: skip


def load(name: str, number: int) -> list[Document]:
    """Return some documents of a collection, without empty and very short ones."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [text for text in dict.fromkeys(json.loads(line)["text"] for line in file) if len(text.strip()) > 9]
    random.Random(0).shuffle(texts)
    return [Document(f"{name}/{place}", text) for place, text in enumerate(texts[:number])]


def random_strings(number: int) -> list[Document]:
    """Return texts of 5 to 60 random words of 2 to 11 letters."""
    rng = random.Random(0)
    words = [
        ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 11))) for _ in range(rng.randint(5, 60))]
        for _ in range(number)
    ]
    return [Document(f"random/{place}", " ".join(text)) for place, text in enumerate(words)]


def measure_pile() -> None:
    """Print the kinds of the pile: unsorted documents, and documents among those of another kind."""
    documents = [*(one for name, number in PILE.items() for one in load(name, number)), *random_strings(N_RANDOM)]
    random.Random(1).shuffle(documents)
    with Collection.grow(documents) as collection:
        kinds = np.array([document.id.split("/")[0] for document in documents])
        tree, unsorted = collection.outline.tree, collection.hard_to_place
        paths = [tree.path(node) for node in collection.assignments.assigned_nodes.tolist()]
        tops = np.array([path[1] if len(path) > 1 else -1 for path in paths])
        main = {
            top: Counter(kinds[(tops == top) & ~unsorted]).most_common(1)[0][0] for top in set(tops[~unsorted].tolist())
        }
        for kind in dict.fromkeys(kinds.tolist()):
            mine = kinds == kind
            wrong = sum(main[top] != kind for top in tops[mine & ~unsorted].tolist())
            print(
                f"{kind:16} {mine.sum():6,} documents {unsorted[mine].sum():6,} unsorted {wrong:6,} under another kind"
            )


def main(names: list[str]) -> None:
    """Print the figures of the pile and of collections, or of the named collections."""
    if not names:
        measure_pile()
    for name in names or COLLECTIONS:
        with Collection.grow(load(name, COLLECTIONS[name])) as collection:
            share = float(collection.hard_to_place.mean())
            print(f"{name:16} {len(collection):6,} documents {share:7.1%} unsorted", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
