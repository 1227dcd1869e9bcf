"""Does tempering guard PLSA against over-fitting? Perplexity of unseen documents against the number of components.

The claim of the literature (Hofmann, UAI and SIGIR 1999): plain EM over-fits as components are added, early stopping
helps a little, tempered EM keeps improving. Beside it: what smoothing (MAP) does for the same collection.
MED when ``../shared/data`` is there (the smallest of the collections the claim was made on), else bundled abstracts.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np

from topiarist import PLSA, Corpus
from topiarist.counts import CountSettings
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document

MED = Path(__file__).parents[3] / "shared" / "data" / "med" / "docs.jsonl.gz"
SIZES = (8, 16, 32, 64, 128)
SEEDS = (0, 1, 2)
WAYS = {
    "plain EM": {},
    "early stopping": {"heldout_fraction": 0.1},
    "tempered EM": {"inverse_temperature": "heldout"},
    "smoothed": {"word_smoothing": 0.01, "component_smoothing": 0.05},
}


def collection() -> tuple[str, Corpus]:
    """Return the name and the counts of the collection."""
    settings = CountSettings(min_documents=2, stop_words="en")
    if MED.exists():
        with gzip.open(MED, "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        documents = [Document(str(record["id"]), record["text"]) for record in records]
        return "MED, 1,033 abstracts of medicine", Corpus.from_documents(documents, settings)
    first = [document for _, document in zip(range(1500), demo_documents(), strict=False)]
    return "1,500 bundled abstracts", Corpus.from_documents(first, settings)


def main() -> None:
    """Print mean perplexity by document completion over the seeds, and its deviation."""
    name, corpus = collection()
    test = np.random.default_rng(0).random(corpus.n_docs) < 0.2
    train = corpus.counts[~test]
    print(f"{name}; {train.shape[0]} to learn from, {int(test.sum())} to predict, {corpus.n_words:,} words")
    unigram = PLSA(1, word_smoothing=0.05).fit(train).perplexity(corpus.counts[test])
    print(f"one component: {unigram:,.0f}\n")
    print(f"{'components':>12}" + "".join(f"{way:>20}" for way in WAYS))
    for size in SIZES:
        cells = []
        for way, options in WAYS.items():
            print(f"\r{size:>12} {way:<20}", end="", file=sys.stderr, flush=True)
            # a little smoothing of words everywhere: without it a word new to a topic makes perplexity infinite
            settings = {"word_smoothing": 0.001, **options}
            values = [
                PLSA(size, random_state=seed, max_iter=300, **settings).fit(train).perplexity(corpus.counts[test])
                for seed in SEEDS
            ]
            cells.append(f"{np.mean(values):,.0f} ± {np.std(values):.0f}")
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
        print(f"{size:>12}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
