"""Do levels of single documents, P(a|c,d), predict words better than those of their cluster, P(a|c)?

``python -m benchmarks.bench_document_levels [NAME ...]`` fits a `CAM` to four fifths of at most 4,000 documents of each
collection and prints the perplexity of the others by document completion: of flat clusters, of P(a|c), and of P(a|c,d)
with several prior weights. The tree is the same for all but the flat clusters.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import replace

import numpy as np

from benchmarks.paths import SHARED_DATA
from topiarist import CAM, Corpus, set_general_words_aside
from topiarist.estimators.tree.document_levels import LEVEL_TOKENS, compute_perplexity
from topiarist.metrics.topic_quality import keep_known_words
from topiarist.text.documents import Document

COLLECTIONS = ("arxiv-learn", "20newsgroups", "ohsumed23", "reuters21578", "gnad10k", "cran")
MAX_DOCUMENTS = 4_000
PRIORS = (5.0, 10.0, 20.0, 50.0, 100.0)  # tokens


def load_counts(name: str):
    """Return the counts of a sample without general words."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    rows = np.random.default_rng(0).permutation(len(texts))[:MAX_DOCUMENTS]
    corpus = Corpus.from_documents([Document(str(row), texts[row]) for row in rows], keep_texts=False)
    return set_general_words_aside(corpus)[0].counts


def measure(name: str) -> tuple[int, float, float, list[float]]:
    """Return the number of leaves and the perplexities: flat, P(a|c), and P(a|c,d) with each prior."""
    counts = load_counts(name)
    train, test = counts[: counts.shape[0] * 4 // 5], counts[counts.shape[0] * 4 // 5 :]
    model = CAM(random_state=0).fit(train)
    n_leaves = len(model.tree_.leaves)
    flat = CAM(n_leaves, levels=False, random_state=0).fit(train).perplexity(test)
    known = keep_known_words(model.components_, test)
    own = [
        compute_perplexity(known, replace(model.tree_model_, level_tokens=tokens), model.transform) for tokens in PRIORS
    ]
    return n_leaves, flat, model.perplexity(test), own


def main(names: list[str]) -> None:
    """Print a row for each collection."""
    print(
        "| collection | leaves | flat | P(a\\|c) |",
        *(f" P(a\\|c,d), {tokens:g} tokens |" for tokens in PRIORS),
        "gain |",
    )
    print("|---" * (len(PRIORS) + 5) + "|")
    for name in names or COLLECTIONS:
        n_leaves, flat, shared, own = measure(name)
        gain = 100 * (1 - own[PRIORS.index(LEVEL_TOKENS)] / shared)
        values = " | ".join(f"{value:,.1f}" for value in (flat, shared, *own))
        print(f"| {name} | {n_leaves} | {values} | {gain:.1f}% |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
