"""How good the tree of a collection is: by the labels of its documents, by its words, by words that it had to guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topiarist.collection.file.placer import log_likelihood
from topiarist.counts.split import completion_split
from topiarist.estimators.tree.fitted_tree import posterior
from topiarist.measures.evaluation import Evaluation, evaluate

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SAMPLE = 5_000  # documents whose words are guessed


def judged(collection: Collection) -> Evaluation:
    """Everything that can be said of the tree as it is."""
    labels = collection.documents.labels_of(range(len(collection)))
    fitted = collection.tree_model
    return evaluate(
        collection.placed,
        labels if any(labels) else None,
        counts=collection.counts,
        word_given_node=None if collection.outline.pending else fitted.word_given_node,
        perplexity=perplexity(collection),
    )


def perplexity(collection: Collection) -> float | None:
    """By document completion: half of the words of each document place it, the other half are guessed.

    The model has seen these documents; what it makes of others is in the curve by which its leaves were chosen.
    """
    n_docs = len(collection)
    chosen = np.sort(np.random.default_rng(0).permutation(n_docs)[:SAMPLE])
    observed, hidden = completion_split(collection.counts[chosen], seed=0)
    words = collection.tree_model.class_word_table()
    rows = np.ascontiguousarray(posterior(collection.model, observed), words.dtype)
    tokens = np.asarray(hidden.sum(axis=1), np.float64).ravel()
    if not tokens.sum():
        return None
    logs = log_likelihood(hidden, rows, words)
    return float(np.exp(-np.nansum(logs * tokens) / tokens.sum()))
