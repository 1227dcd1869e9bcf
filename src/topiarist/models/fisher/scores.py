"""Fisher scores: derivatives of a document's likelihood in a fitted model. Equations (F1)-(F7): docs/models/fisher.md

Two documents are similar if they change the parameters of a model in the same direction. Documents *d*, words *j*,
classes *α*, topics *ν*; a flat model has one topic for each class. The model is a ``KernelView``. Documents are counts,
with the rows P(α|d) that the view computes. Parts of the scores:

- *topical*: P(α|d)/√P(α), from the parameters P(α);
- *lexical*: p̂(j|d) P(ν|d,j)/√P(j|ν), from P(j|ν): a number for each word and topic;
- *levels*: from P(ν|α), in trees only.

**Two kinds of models.** If each token has a class (PLSA, HPLSA) P(ν|d,j) ∝ Σ_α P(α|d)P(ν|α) P(j|ν). If each document
has one class (CAM, hierarchical mixtures) P(ν|d,j) = Σ_α P(α|d) P(ν|α)P(j|ν)/P(j|α).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import TINY, Csr, Floats, Integers
from topiarist.counts.validation import count_tokens
from topiarist.counts.weighting import scale_rows, shorten_documents
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.shard import CountsView
from topiarist.models import categorisers, plsa
from topiarist.models.engine.host import Engine

CELLS = 1 << 22  # numbers in a block of tokens × topics
MIN_TOKENS = 1e-150  # of a non-empty document; its square does not underflow


@dataclass(frozen=True)
class KernelView:
    """Fitted model in the form that a Fisher kernel needs.

    ``inverse_temperature``, ``smoothing``, ``effective_length`` and ``class_tokens`` determine the rows of a new
    document: it is folded in, or, with counted tokens of given classes, classified by (K2) of docs/models/hplc.md. The
    posterior P(ν|d,j) of a token is always untempered. The information is that of (F6), or None: then the parameters
    replace it, as in the kernel of the paper. With ``row_scores`` and information, the topical score is P(α|d) itself,
    and not its update by the tokens.
    """

    by_word: Floats  # P(j|ν)  (n_words, n_topics), C-contiguous
    mix: Floats | None  # P(ν|α)  (n_classes, n_topics); None: class k has topic k alone
    class_prior: Floats  # P(α)
    one_class: bool = False
    smoothing: float = 0.0
    inverse_temperature: float = 1.0
    effective_length: float | None = None
    class_tokens: Floats | None = None  # #α
    word_information: Floats | None = None  # (n_words, n_topics)
    class_information: Floats | None = None  # (n_classes,)
    row_scores: bool = False

    def __post_init__(self) -> None:
        n_topics = self.by_word.shape[1]
        shape = (len(self.class_prior), n_topics) if self.mix is None else self.mix.shape
        if shape != (len(self.class_prior), n_topics) or (self.mix is None and len(self.class_prior) != n_topics):
            raise ValueError(
                f"expected a mix of {len(self.class_prior)} classes and {n_topics} topics, got shape {shape}"
            )
        if self.class_tokens is not None and self.class_tokens.shape != self.class_prior.shape:
            raise ValueError(f"expected tokens of {len(self.class_prior)} classes, got {len(self.class_tokens)}")
        if self.one_class and self.mix is None:
            raise ValueError("a view with one class per document requires mix, P(topic|class)")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_prior)

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return int(self.by_word.shape[1])

    def select_words(self, columns: Integers) -> KernelView:
        """Return the view of some words, in double precision: all that a single query needs."""
        information = None if self.word_information is None else self.word_information[columns]
        by_word = np.ascontiguousarray(self.by_word[columns], np.float64)
        return replace(self, by_word=by_word, word_information=information)

    def class_word_table(self, exponent: float = 1.0) -> Floats:
        """Return Σ_ν P(ν|α)^β P(j|ν)^β, (n_words, n_classes)."""
        words = self.by_word if exponent == 1.0 else self.by_word**exponent
        if self.mix is None:
            return words
        return np.ascontiguousarray(words @ (self.mix**exponent).astype(words.dtype).T)

    def word_scale(self, columns: Integers) -> Floats:
        """Return the divisor of squared lexical scores: P(j|ν), or the information."""
        return (self.by_word if self.word_information is None else self.word_information)[columns]


def read_rows(engine: Engine, view: KernelView, counts: Csr) -> Floats:
    """Return P(α|d) of each document, independent of the others, as the model's ``transform`` does."""
    used = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]))
    if len(used) < counts.shape[1]:
        view = replace(view, by_word=np.ascontiguousarray(view.by_word[used]), word_information=None)
        places = np.zeros(counts.shape[1], np.int32)
        places[used] = np.arange(len(used), dtype=np.int32)
        counts = csr_array((counts.data, places[counts.indices], counts.indptr), shape=(counts.shape[0], len(used)))
    side = CountsView.from_matrix(shorten_documents(counts, view.effective_length), view.by_word.dtype)
    beta = view.inverse_temperature
    if view.class_tokens is not None:
        words = np.ascontiguousarray(view.class_word_table())
        folding = categorisers.choose_folding(
            0, words.dtype
        )  # independent of the number of words, so a row does not depend on other documents
        return categorisers.compute_share_posterior(engine, side, words, view.class_tokens, folding)
    if not view.one_class:
        words = np.ascontiguousarray(view.class_word_table(beta))
        return plsa.fold_in_rows(engine, side, words, view.smoothing, beta)
    scores = engine.row_products(side, engine.logarithms(np.ascontiguousarray(view.class_word_table())))
    return engine.posteriors(scores, np.log(np.maximum(view.class_prior, TINY)), beta)[0]


def compute_token_shares(counts: Csr) -> Csr:
    """Return p̂(j|d): counts scaled to sum one in each document, in double precision."""
    return scale_rows(counts.astype(np.float64), 1.0 / np.maximum(count_tokens(counts), TINY))


def token_posteriors(view: KernelView, rows: Floats, columns: Integers) -> Floats:
    """Return P(ν|d,j) of tokens, (tokens, topics); ``rows`` has P(α|d) and ``columns`` the word of each token.

    A word that the model cannot produce in a document has no topic: zeros.
    """
    token_topics = view.by_word[columns].astype(np.float64)
    rows = rows.astype(np.float64)
    if view.one_class and view.mix is not None:
        return np.asarray(token_topics * (divide(rows, token_topics @ view.mix.T) @ view.mix))
    joint = token_topics * (rows if view.mix is None else rows @ view.mix)
    return divide(joint, joint.sum(axis=1, keepdims=True))


def score_topics(engine: Engine, view: KernelView, counts: Csr, rows: Floats) -> Floats:
    """(F1), (F6): return the scores of P(α), (documents, classes)."""
    if view.class_information is None:
        return divide_by_root(rows.astype(np.float64), np.asarray(view.class_prior, np.float64))
    scores = rows.astype(np.float64) if view.row_scores else compute_expected_rows(engine, view, counts, rows)
    return divide_by_root(scores, view.class_information)


def compute_expected_rows(engine: Engine, view: KernelView, counts: Csr, rows: Floats) -> Floats:
    """Return Σ_j p̂(j|d) P(α|d,j): P(α|d) after one more step of EM."""
    rows = np.ascontiguousarray(rows, np.float64)
    if view.one_class:
        return rows
    side, out, unused = (
        CountsView.from_matrix(compute_token_shares(counts), np.float64),
        np.empty_like(rows),
        np.empty(counts.nnz),
    )
    words = np.ascontiguousarray(view.class_word_table(), np.float64)
    engine.kernels.document_counts(side.indptr, side.indices, side.data, rows, words, out, unused)
    return out


def score_levels(view: KernelView, counts: Csr, rows: Floats) -> Floats:
    """(F5): return the scores of P(ν|α); empty for a flat model, (documents, 0).

    If each token has a class they are P(α|d), because the sum over a path is one. If each document has one class they
    are P(α|d) √P(ν|α) Σ_j p̂(j|d) P(j|ν)/P(j|α), a number for each class and node of its path.
    """
    if view.mix is None:
        return np.zeros((len(rows), 0))
    rows = rows.astype(np.float64)
    if not view.one_class:
        return rows
    words, classes = view.by_word.astype(np.float64), np.asarray(view.class_word_table(), np.float64)
    p_hat, parts = compute_token_shares(counts), []
    for number, weights in enumerate(view.mix):
        path = np.flatnonzero(weights)
        ratio = divide(words[:, path], classes[:, [number]])
        parts.append(rows[:, [number]] * np.sqrt(weights[path]) * np.asarray(p_hat @ ratio))
    return np.hstack(parts)


def score_words(view: KernelView, counts: Csr, rows: Floats) -> Csr:
    """(F2), (F3): return the scores of P(j|ν), (documents, words · topics), sparse."""
    n_topics, p_hat = view.n_topics, compute_token_shares(counts)
    values = np.empty((counts.nnz, n_topics))
    for span, docs in iter_blocks(counts, n_topics):
        columns = counts.indices[span]
        scores = divide_by_root(token_posteriors(view, rows[docs], columns), view.word_scale(columns))
        values[span] = p_hat.data[span, None] * scores
    places = counts.indices.astype(np.int64)[:, None] * n_topics + np.arange(n_topics)
    shape = (counts.shape[0], counts.shape[1] * n_topics)
    features: Csr = csr_array((values.ravel(), places.ravel(), counts.indptr.astype(np.int64) * n_topics), shape=shape)
    features.eliminate_zeros()
    return features


def compute_lexical_lengths(engine: Engine, view: KernelView, counts: Csr, rows: Floats) -> Floats:
    """Return the squared length of each document's lexical part, without forming it."""
    out = np.zeros(counts.shape[0])
    mixed = None if view.one_class else view.mix
    topic_rows = np.ascontiguousarray(rows if mixed is None else rows @ mixed.astype(rows.dtype))
    words = np.ascontiguousarray(view.by_word, topic_rows.dtype)
    squares = (
        words if view.word_information is None else divide(words**2, view.word_information).astype(topic_rows.dtype)
    )
    side = CountsView.from_matrix(counts, topic_rows.dtype)
    classes = np.ascontiguousarray(view.class_word_table(), topic_rows.dtype) if view.one_class else words
    mix = (
        np.array(view.mix, topic_rows.dtype) if view.one_class else None
    )  # a copy: the kernel is compiled for writable arrays

    def compute_slice(part: slice) -> None:
        """Write the squared lengths of some documents' lexical scores into ``out``."""
        arguments = *side.part(part), topic_rows[part], classes
        if mix is not None:
            engine.kernels.path_lengths(*arguments, mix, squares, out[part])
        else:
            engine.kernels.lexical_lengths(*arguments, squares, out[part])

    engine.threads.map(compute_slice, side.slices)
    return np.asarray(out / np.maximum(count_tokens(counts), MIN_TOKENS) ** 2)


def compute_query_vectors(view: KernelView, columns: Integers, rows: Floats) -> tuple[Floats, Floats]:
    """Return the query vectors of words, see ``kernels.search``; ``rows`` has P(α|q) for each word."""
    posterior = token_posteriors(view, rows, columns)
    word_topics = view.by_word[columns].astype(np.float64)
    meet = posterior if view.word_information is None else posterior * divide(word_topics, view.word_scale(columns))
    if view.mix is not None:
        meet = meet @ view.mix.T
    classes = word_topics if view.mix is None else word_topics @ view.mix.T
    if not view.one_class:
        return meet, classes
    return divide(meet, classes), np.ones_like(classes)


def iter_blocks(counts: Csr, n_topics: int) -> Iterator[tuple[slice, Any]]:
    """Yield the non-zeros in runs of whole documents, and the document of each."""
    size = max(1, CELLS // max(1, n_topics))
    first = 0
    while first < counts.shape[0]:
        last = int(np.searchsorted(counts.indptr, counts.indptr[first] + size, side="right")) - 1
        last = min(max(last, first + 1), counts.shape[0])
        docs = np.repeat(np.arange(first, last), np.diff(counts.indptr[first : last + 1]))
        yield slice(int(counts.indptr[first]), int(counts.indptr[last])), docs
        first = last


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, and zero where the kernels treat the denominator as impossible."""
    denominator = np.broadcast_to(denominator, numerator.shape)
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator > SMALLEST_MIXTURE)


def divide_by_root(numerator: Floats, scale: Floats) -> Floats:
    """Return numerator / √scale; zero if ``scale`` is at most ``SMALLEST_MIXTURE``."""
    scale = np.broadcast_to(scale, numerator.shape)
    return np.divide(numerator, np.sqrt(scale), out=np.zeros(numerator.shape), where=scale > SMALLEST_MIXTURE)


KINDS = ("identity", "diagonal", "hofmann")
PRIOR_WEIGHT = 0.1  # weight of the model's information against that of documents


def add_information(view: KernelView, counts: Csr, rows: Floats, kind: str = "diagonal") -> KernelView:
    """(F6): return the view with the diagonal of the information of these documents.

    "diagonal" is the mean over tokens if each token has a class, and over documents if a document has one. "hofmann" is
    the mean over documents of the scores of the paper, for any model.
    """
    if kind == "identity":
        return view
    by_documents = view.one_class or kind == "hofmann"
    words, classes = (
        _average_over_documents(view, counts, rows) if by_documents else _average_over_tokens(view, counts, rows)
    )
    prior = np.asarray(view.class_prior, np.float64)
    topic_prior = prior if view.mix is None else prior @ view.mix
    return replace(
        view,
        word_information=blend_information(words, _compute_prior_information(view.by_word, topic_prior)),
        class_information=blend_information(classes, prior),
        row_scores=by_documents,
    )


def blend_information(observed: Floats, expected: Floats) -> Floats:
    """Return the observed information with a tenth of the model's, scaled to the same total."""
    size = float(observed.sum()) / max(float(expected.sum()), TINY)
    return np.asarray((1 - PRIOR_WEIGHT) * observed + PRIOR_WEIGHT * (size or 1.0) * expected)


def _compute_prior_information(by_word: Floats, topic_prior: Floats) -> Floats:
    """Return the mean of P(ν)P(j|ν) and P(ν)P(j), (words, topics)."""
    joint = by_word * topic_prior
    return np.asarray((joint + np.outer(joint.sum(axis=1), topic_prior)) / 2)


def _average_over_tokens(view: KernelView, counts: Csr, rows: Floats) -> tuple[Floats, Floats]:
    """Return the means of P(ν|d,j)² and P(α|d,j)² over all tokens."""
    words, classes = np.zeros(view.by_word.shape), np.zeros(view.n_classes)
    total = max(float(count_tokens(counts).sum()), TINY)
    flat = replace(view, by_word=np.asarray(view.class_word_table(), np.float64), mix=None, word_information=None)
    for span, docs in iter_blocks(counts, max(view.n_topics, view.n_classes)):
        columns, weights = counts.indices[span], counts.data[span].astype(np.float64) / total
        words += _make_word_sums(columns, weights, len(words)) @ token_posteriors(view, rows[docs], columns) ** 2
        classes += weights @ token_posteriors(flat, rows[docs], columns) ** 2
    return words, classes


def _average_over_documents(view: KernelView, counts: Csr, rows: Floats) -> tuple[Floats, Floats]:
    """Return the means of (p̂(j|d) P(ν|d,j))² and P(α|d)² over all non-empty documents."""
    words = np.zeros(view.by_word.shape)
    filled, p_hat = np.flatnonzero(count_tokens(counts)), compute_token_shares(counts)
    number = max(1, len(filled))
    for span, docs in iter_blocks(counts, view.n_topics):
        columns = counts.indices[span]
        weights = p_hat.data[span] ** 2 / number
        words += _make_word_sums(columns, weights, len(words)) @ token_posteriors(view, rows[docs], columns) ** 2
    return words, (rows[filled].astype(np.float64) ** 2).sum(axis=0) / number


def _make_word_sums(columns: Integers, weights: Floats, n_words: int) -> Csr:
    """Return a sparse matrix that adds tokens by their words."""
    tokens = csr_array((weights, columns, np.arange(len(columns) + 1)), shape=(len(columns), n_words))
    return csr_array(tokens.T)
