"""Is language the first split? German news and English posts in one tree, as one language and as several.

``python -m benchmarks.bench_languages`` prints how far the first headings are languages (normalised mutual information:
1 is nothing but language), how far leaves agree with the labels in each language, and which documents each heading has.
"""

from __future__ import annotations

import gzip
import json
import random
import time
from collections import Counter
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.paths import SHARED_DATA
from topiarist.collection.describe.flat_topics import set_general_words_aside
from topiarist.collection.grow import language_trees
from topiarist.counts.corpus import Corpus
from topiarist.counts.languages import detect_languages
from topiarist.estimators.tree.cam import CAM
from topiarist.text.documents import Document

ENGLISH = 2_000


def documents() -> list[Document]:
    """1,028 German news and some English posts."""
    found = []
    for name in ("gnad10k", "20newsgroups"):
        with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
            found.append([json.loads(line) for line in file])
    german, english = found
    some = random.Random(0).sample(english, ENGLISH)
    rows = [("de", one) for one in german] + [("en", one) for one in some]
    return [Document(f"{code}{one['id']}", one["text"], labels=(one["label"],)) for code, one in rows]


def told(way: str, model: Any, rows: list[Document], seconds: float) -> None:
    """Print what became of a tree."""
    tree, labels = model.tree_, np.array([one.labels[0] for one in rows])
    german = np.array([one.id.startswith("de") for one in rows])
    children = list(tree.children(tree.root))
    under = (model.cluster_given_doc_ @ tree.path_mask(tree.leaves)[:, children]).argmax(axis=1)
    nmi = normalized_mutual_info_score
    agree = [nmi(labels[one], model.labels_[one]) for one in (german, ~german)]
    print(
        f"{way:<10} {len(tree.leaves):>4} leaves, {seconds:4.0f} s"
        f"   first headings and language {nmi(german, under):.3f}"
        f"   leaves and labels German {agree[0]:.3f} English {agree[1]:.3f}"
    )
    for place in range(len(children)):
        own = np.flatnonzero(under == place)
        common = ", ".join(f"{label} {times}" for label, times in Counter(labels[own]).most_common(5))
        print(f"    {len(own):>5} documents, {german[own].mean():4.0%} German: {common}")


def main() -> None:
    """Grow three trees."""
    rows = documents()
    corpus = Corpus.from_documents(rows)
    languages = detect_languages(corpus.counts, corpus.vocabulary.words)
    began = time.perf_counter()
    plain = CAM(random_state=0).fit(set_general_words_aside(corpus)[0].counts)
    told("unaware", plain, rows, time.perf_counter() - began)
    special, _ = set_general_words_aside(corpus, language_trees.find_language_words(corpus.counts, languages))
    began = time.perf_counter()
    branches = [
        language_trees.Branch(code, own, CAM(random_state=0).fit(special.counts[own]))
        for code, own in language_trees.group_rows(languages, None)
    ]
    for way in ("together", "apart"):
        found = language_trees.join_trees(way, CAM(random_state=0), branches, special.counts, special.vocabulary.words)
        print(found.said)
        told(way, found.model, rows, time.perf_counter() - began)


if __name__ == "__main__":
    main()
