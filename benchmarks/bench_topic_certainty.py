"""Is the certainty of a topic right as often as it claims? Halves of documents that are not in the collection.

``python -m benchmarks.bench_topic_certainty [COLLECTION ...]`` grows a collection from some documents and files halves
of others. The topic of one half is right if the other half has the same topic. It prints the mean certainty, the share
of right topics and the expected calibration error in ten bins, first as the model has it, then calibrated.
"""

from __future__ import annotations

import gzip
import json
import random
import sys

import numpy as np

from benchmarks.paths import SHARED_DATA
from topiarist.collection.collection import Collection
from topiarist.counts.split import completion_split
from topiarist.counts.validation import count_tokens
from topiarist.estimators.tree.fitted_tree import compute_posterior
from topiarist.estimators.tree.topic_certainty import calibrate_posterior
from topiarist.text.documents import Document
from topiarist.trees.levels import calibration_error, node_posterior

COLLECTIONS = {  # documents to grow from; as many others are filed, 1,500 at most
    "reuters21578": 2_000, "thucnews-titles": 2_000, "gnad10k": 600, "arxiv-demo": 5_000, "ohsumed23": 3_000,
    "20newsgroups": 4_000, "lingspam": 1_500, "arxiv-learn": 2_400, "med": 600,
}  # fmt: skip
MAX_FILED = 1_500
BAR = 0.05


def measure(name: str, n_grown: int) -> str:
    """Return the figures of one collection in a line."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [text for text in dict.fromkeys(json.loads(line)["text"] for line in file) if text.strip()]
    random.Random(0).shuffle(texts)
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    with Collection.grow(documents[:n_grown]) as collection:
        counts = collection.count_words(documents[n_grown : n_grown + MAX_FILED])
        first, second = completion_split(counts)
        has_words = (count_tokens(first) > 0) & (count_tokens(second) > 0)
        rows, others = (compute_posterior(collection.model, half[has_words]) for half in (first, second))
        tree, nodes, truth = collection.outline.tree, collection.outline.class_nodes, others.argmax(axis=1)
        right = rows.argmax(axis=1) == truth
        certainties = calibrate_posterior(rows, collection.placer.calibration)
        top = [node for node, depth in enumerate(tree.depths) if depth == 1]
        headings, mask = node_posterior(tree, nodes, certainties)[:, top], tree.path_mask(nodes)[:, top]
        heading_right = mask[truth, headings.argmax(axis=1)]
        raw, shown = rows.max(axis=1), certainties.max(axis=1)
        figures = (
            len(nodes), len(rows), raw.mean(), shown.mean(), right.mean(), calibration_error(raw, right, 10),
            calibration_error(shown, right, 10), calibration_error(headings.max(axis=1), heading_right, 10),
        )  # fmt: skip
    return f"{name:16}" + "".join(f"{value:9,}" if isinstance(value, int) else f"{value:9.3f}" for value in figures)


def main(names: list[str]) -> None:
    """Print the figures of the named collections, all by default."""
    heads = ("topics", "halves", "raw", "shown", "right", "ECE raw", "ECE", "ECE top")
    print(" " * 16 + "".join(f"{head:>9}" for head in heads))
    errors = []
    for name in names or COLLECTIONS:
        if (SHARED_DATA / name).exists():
            line = measure(name, COLLECTIONS[name])
            errors.append(float(line.split()[-2]))
            print(line, flush=True)
    print(f"mean calibration error {np.mean(errors):.3f}, largest {max(errors):.3f} (bar {BAR})")


if __name__ == "__main__":
    main(sys.argv[1:])
