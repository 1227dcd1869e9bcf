"""What stands for the Fisher information: its diagonal, as documents show it. (F6): docs/models/fisher.md

The diagonal is the mean of the squared scores, over tokens or over documents. It is an estimate, and a bad one where
the documents of the fit have next to nothing of a parameter: a new document that has some would be sent to infinity by
a division by almost nothing. So it is drawn towards what the model expects, up to a factor: P(α) for classes, and for
words the mean of P(ν)P(j|ν) and P(ν)P(j), because a word may come in a sense that it never had.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats
from topiarist.counts.validation import token_counts
from topiarist.models.engine.host import TINY
from topiarist.models.fisher import scores
from topiarist.models.fisher.scores import Lens

KINDS = ("identity", "diagonal", "hofmann")
EXPECTED = 0.1  # weight of what the model expects against what the documents show


def informed(lens: Lens, counts: Csr, rows: Floats, kind: str = "diagonal") -> Lens:
    """(F6): the lens with the diagonal of the information that these documents show.

    "diagonal" takes the mean over tokens where each token has its class, and over documents where a document has one;
    "hofmann" the mean over documents of the scores of the paper, in any model.
    """
    if kind == "identity":
        return lens
    by_documents = lens.one_class or kind == "hofmann"
    words, classes = _over_documents(lens, counts, rows) if by_documents else _over_tokens(lens, counts, rows)
    prior = np.asarray(lens.class_prior, np.float64)
    topic_prior = prior if lens.mix is None else prior @ lens.mix
    return replace(
        lens,
        word_information=steadied(words, _expected(lens.by_word, topic_prior)),
        class_information=steadied(classes, prior),
        row_scores=by_documents,
    )


def steadied(shown: Floats, expected: Floats) -> Floats:
    """What documents show, with a tenth of what the model expects, brought to the same total."""
    size = float(shown.sum()) / max(float(expected.sum()), TINY)
    return np.asarray((1 - EXPECTED) * shown + EXPECTED * (size or 1.0) * expected)


def _expected(by_word: Floats, topic_prior: Floats) -> Floats:
    """The mean of P(ν)P(j|ν) and P(ν)P(j), (words, topics)."""
    joint = by_word * topic_prior
    return np.asarray((joint + np.outer(joint.sum(axis=1), topic_prior)) / 2)


def _over_tokens(lens: Lens, counts: Csr, rows: Floats) -> tuple[Floats, Floats]:
    """The means of P(ν|d,j)² and P(α|d,j)² over all tokens."""
    words, classes = np.zeros(lens.by_word.shape), np.zeros(lens.n_classes)
    total = max(float(token_counts(counts).sum()), TINY)
    flat = replace(lens, by_word=np.asarray(lens.class_word_table(), np.float64), mix=None, word_information=None)
    for here, docs in scores.blocks(counts, max(lens.n_topics, lens.n_classes)):
        columns, weights = counts.indices[here], counts.data[here].astype(np.float64) / total
        words += _gathered(columns, weights, len(words)) @ scores.token_posteriors(lens, rows[docs], columns) ** 2
        classes += weights @ scores.token_posteriors(flat, rows[docs], columns) ** 2
    return words, classes


def _over_documents(lens: Lens, counts: Csr, rows: Floats) -> tuple[Floats, Floats]:
    """The means of (p̂(j|d) P(ν|d,j))² and P(α|d)² over all documents that hold anything."""
    words = np.zeros(lens.by_word.shape)
    filled, p_hat = np.flatnonzero(token_counts(counts)), scores.shares(counts)
    number = max(1, len(filled))
    for here, docs in scores.blocks(counts, lens.n_topics):
        columns = counts.indices[here]
        weights = p_hat.data[here] ** 2 / number
        words += _gathered(columns, weights, len(words)) @ scores.token_posteriors(lens, rows[docs], columns) ** 2
    return words, (rows[filled].astype(np.float64) ** 2).sum(axis=0) / number


def _gathered(columns: Any, weights: Floats, n_words: int) -> Csr:
    """A matrix that adds tokens up by their words."""
    each = csr_array((weights, columns, np.arange(len(columns) + 1)), shape=(len(columns), n_words))
    return csr_array(each.T)
