"""Placement of new documents in a tree: topics, certainties, deciding words, and whether they fit.

A certainty compares the existing topics only. It says nothing about a text without known words, however high it is.
A document in another language, or with words that the collection does not know, stays at the root with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.counting import CountedTexts
from topiarist.counts.scratch import select_rows
from topiarist.counts.validation import count_all_tokens, count_tokens
from topiarist.estimators.category.calibration import Calibration
from topiarist.estimators.category.explanation import compute_word_lift, find_deciding_words
from topiarist.estimators.tree.fitted_tree import compute_posterior, get_tree_model
from topiarist.estimators.tree.topic_certainty import calibrate_posterior
from topiarist.execution.threads import Threads
from topiarist.models.engine import SMALLEST_MIXTURE, load_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.misfits import LengthLimits, score_tokens
from topiarist.text.documents import Document
from topiarist.text.language import detect_text_language, language_name
from topiarist.trees import levels
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel

SAMPLE = 2_000
MIN_KNOWN_SHARE = 0.5  # share of known words below which a document does not fit
MIN_KEPT_SHARE = 0.1  # share of P(word|node) that remains when documents are removed


@dataclass(frozen=True)
class Places:
    """Topics, certainties and deciding words of documents, row by row."""

    posterior: Floats  # P(class|document)
    class_certainty: Floats  # the same, calibrated
    nodes: Array  # deepest node with a certainty above ``rho``
    likelihood: Floats  # log-likelihood per known word; NaN without one
    words: tuple[tuple[int, ...], ...]  # columns of the deciding words, strongest first
    unusual: Array


class Placer:
    """Model that files documents; arrays derived from it are computed once."""

    def __init__(
        self,
        model: Any,
        tree: Tree,
        class_nodes: Sequence[int],
        n_threads: int | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        """Prepare a model; ``tree`` and ``class_nodes`` are those that users see, with their edits."""
        self.model, self.tree, self.class_nodes, self.calibration = model, tree, tuple(class_nodes), calibration
        self.n_threads = n_threads
        self.by_word = get_tree_model(model).class_word_table()
        prior = get_tree_model(model).class_prior.astype(np.float64)
        self.lift = compute_word_lift(self.by_word, prior)

    def place(
        self,
        counts: Csr,
        rho: float,
        limits: LengthLimits | None = None,
        n_words: int = 5,
        vectors: Floats | None = None,
    ) -> Places:
        """Return the deepest node with a certainty above ``rho`` for each document, by words and vectors, if any.

        The result also has the deciding words, the likelihood and, with ``limits``, which documents are unusual.
        """
        rows = np.ascontiguousarray(compute_posterior(self.model, counts, vectors), self.by_word.dtype)
        certainties = calibrate_posterior(rows, self.calibration)
        nodes = levels.node_posterior(self.tree, self.class_nodes, certainties)
        assigned = levels.deepest_certain(self.tree, nodes, rho)
        likelihood = log_likelihood(counts, rows, self.by_word, self.n_threads)
        tokens = count_tokens(counts)
        unusual = np.zeros(len(rows), bool) if limits is None else limits.is_outlier(likelihood, tokens)
        deciding = find_deciding_words(counts, self.lift, rows.argmax(axis=1), n_words)
        return Places(rows, certainties, assigned, likelihood, deciding, unusual)


def draw_sample(n_docs: int) -> Array:
    """Return the rows of a random sample from which limits are estimated."""
    rows: Array = np.sort(np.random.default_rng(0).permutation(n_docs)[: min(SAMPLE, max(n_docs // 10, 1))])
    return rows


def compute_limits(
    fitted: TreeModel, counts: Csr, sample_rows: Array, rows: Floats, n_threads: int | None = None
) -> LengthLimits:
    """Return the limits of usual documents, from a sample whose own tokens are removed from the model.

    Otherwise a new document would look unusual for every rare word. ``rows`` has P(class|document) of the sample.
    """
    sample = select_rows(counts, sample_rows)
    words = _remove_documents(fitted, sample, rows, count_all_tokens(counts)).class_word_table()
    likelihood = log_likelihood(sample, np.ascontiguousarray(rows, words.dtype), words, n_threads)
    return LengthLimits.from_scores(likelihood, count_tokens(sample))


def _remove_documents(fitted: TreeModel, counts: Csr, rows: Floats, tokens: float) -> TreeModel:
    """Return the model without the tokens of these documents in the words of each node."""
    words = fitted.word_given_node.astype(np.float64)
    node_tokens = fitted.node_weight() * tokens
    words *= np.maximum(node_tokens, 1.0)[:, None]
    for number, mix in enumerate(fitted.node_given_class):
        path = np.flatnonzero(mix)
        path_words = mix[path, None] * fitted.word_given_node[path]
        sample_tokens = counts.T @ rows[:, number].astype(np.float64)
        words[path] -= path_words / np.maximum(path_words.sum(axis=0), SMALLEST_MIXTURE) * sample_tokens
    np.maximum(words, MIN_KEPT_SHARE * fitted.word_given_node, out=words)
    return replace(fitted, word_given_node=words / words.sum(axis=1, keepdims=True))


def log_likelihood(counts: Csr, rows: Floats, words: Floats, n_threads: int | None = None) -> Floats:
    """Return the log-likelihood per word of each document; NaN for a document without words."""
    prepare_kernels(words.dtype)
    with Threads(n_threads) as threads:
        return score_tokens(Engine(load_kernels("compiled"), threads), counts, rows, words).log_likelihood


def explain_misfits(
    documents: Sequence[Document], text_counts: CountedTexts, unusual: Array, languages: Sequence[str]
) -> list[str]:
    """Return the reason why each unusual document does not fit; empty for other documents.

    ``languages`` are the languages of the collection; if empty, only the words are checked.
    """
    return [
        _explain_misfit(document, float(text_counts.known_tokens[row]), float(text_counts.tokens[row]), languages)
        if unusual[row]
        else ""
        for row, document in enumerate(documents)
    ]


def _explain_misfit(document: Document, known_tokens: float, tokens: float, languages: Sequence[str]) -> str:
    """Return why a document does not fit: another language or unknown words; empty otherwise."""
    code = detect_text_language(document.text) if languages else ""
    if code and code not in languages:
        expected = " and ".join(map(language_name, languages[:2]))
        rest = " and others" if len(languages) > 2 else ""
        return f"it is in {language_name(code)}, and this collection in {expected}{rest}"
    if known_tokens < MIN_KNOWN_SHARE * tokens:
        return f"{known_tokens:,.0f} of its {tokens:,.0f} words are known here"
    return ""
