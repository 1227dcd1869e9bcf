"""Ours, by default and with a given number of leaves; and from raw texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.comparison.answers import N_WORDS, Fit, of_tree
from benchmarks.comparison.piles import Pile


def tree(pile: Pile, number: int) -> Fit:
    """A tree of so many leaves, or of as many as held-out words choose (0)."""
    from benchmarks.ours_trees import warm_up
    from topiarist import CAM

    counts, words = pile.counts, pile.words
    warm_up(1)

    def fit() -> dict[str, Any]:
        model = CAM(number or None, random_state=0, n_threads=1).fit(counts)
        return _told(model, counts, words)

    return fit


def tree_with_vectors(pile: Pile, number: int) -> Fit:
    """By default, of words and the vectors that the peers have."""
    from benchmarks.ours_trees import warm_up
    from topiarist import CAM

    counts, words, vectors = pile.counts, pile.words, pile.vectors
    warm_up(1)

    def fit() -> dict[str, Any]:
        model = CAM(random_state=0, n_threads=1).fit(counts, vectors=vectors)
        return _told(model, counts, words)

    return fit


def from_texts(pile: Pile, number: int) -> Fit:
    """Count, set general words aside, grow, find the words of all nodes."""
    from benchmarks.ours_trees import warm_up
    from topiarist import CAM, Corpus, set_general_words_aside
    from topiarist.counts import CountSettings
    from topiarist.text.documents import Document

    texts = pile.texts
    warm_up(1)

    def fit() -> dict[str, Any]:
        documents = [Document(str(row), text) for row, text in enumerate(texts)]
        corpus, _ = set_general_words_aside(Corpus.from_documents(documents, CountSettings()))
        model = CAM(random_state=0, n_threads=1).fit(corpus.counts)
        return _told(model, corpus.counts, corpus.vocabulary.words) | {"topics": []}

    return fit


def _told(model: Any, counts: Any, words: Any) -> dict[str, Any]:
    """Words as the program shows them."""
    from topiarist.estimators.tree.fitted_tree import compute_shares
    from topiarist.trees.naming.presence import compute_presence, select_describing_words

    grown = model.tree_
    presence = compute_presence(grown, grown.leaves, compute_shares(model, counts), counts)
    columns = select_describing_words(presence, N_WORDS, counts=counts, words=words)
    below = [[int(one) for one in columns[node]] for node in range(len(grown)) if node != grown.root]
    return of_tree(grown.parents, np.array(grown.leaves)[model.labels_], below)
