"""Fisher scores: what a document would teach a fitted model. Equations (F1)-(F7): docs/models/fisher.md

Two documents are alike when they pull the parameters of a model the same way. Documents *d*, words *j*, classes *α*,
topics *ν*; a flat model has one topic for each class. The model comes as a ``Lens``, documents as counts and as the
rows P(α|d) that the lens reads in them. Parts of the scores:

- *topical*: P(α|d)/√P(α), from the parameters P(α);
- *lexical*: p̂(j|d) P(ν|d,j)/√P(j|ν), from P(j|ν): words in their sense, a number for each word and topic;
- *levels*: from P(ν|α), in trees only.

**Two kinds of models.** Where each token has its class (PLSA, HPLSA) P(ν|d,j) ∝ Σ_α P(α|d)P(ν|α) P(j|ν). Where a
document has one class (CAM, hierarchical mixtures) P(ν|d,j) = Σ_α P(α|d) P(ν|α)P(j|ν)/P(j|α).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats, Integers
from topiarist.counts.validation import token_counts
from topiarist.counts.weighting import scale_rows, shortened
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.search import SearchKernels
from topiarist.kernels.shard import Side
from topiarist.models import categorisers, plsa
from topiarist.models.engine.host import TINY, Engine

CELLS = 1 << 22  # numbers in a block of tokens × topics
FEWEST_TOKENS = 1e-150  # of a document that has any: its square is still a number


@dataclass(frozen=True)
class Lens:
    """A fitted model as a Fisher kernel needs it.

    ``inverse_temperature``, ``smoothing``, ``effective_length`` and ``class_tokens`` say how the model reads a new
    document: folded in, or, where tokens of given classes were counted, by (K2) of docs/models/hplc.md. The posterior
    P(ν|d,j) of a token is always the untempered one. The information is that of (F6), or None: then the parameters
    themselves stand for it, which is the kernel of the paper. ``row_scores``: with information too, the topical score
    is P(α|d) itself, and not what the tokens make of it.
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
        wanted = (len(self.class_prior), n_topics) if self.mix is None else self.mix.shape
        if wanted != (len(self.class_prior), n_topics) or (self.mix is None and len(self.class_prior) != n_topics):
            raise ValueError(f"{n_topics} topics do not go with {len(self.class_prior)} classes and a mix of {wanted}")
        if self.class_tokens is not None and self.class_tokens.shape != self.class_prior.shape:
            raise ValueError(f"{len(self.class_tokens)} classes were counted, the model has {len(self.class_prior)}")
        if self.one_class and self.mix is None:
            raise ValueError("where a document has one class, P(topic|class) must be told")

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_prior)

    @property
    def n_topics(self) -> int:
        """How many topics there are."""
        return int(self.by_word.shape[1])

    def narrowed(self, columns: Integers) -> Lens:
        """The same model of some words only, in double precision: all that a single query needs."""
        information = None if self.word_information is None else self.word_information[columns]
        own = np.ascontiguousarray(self.by_word[columns], np.float64)
        return replace(self, by_word=own, word_information=information)

    def class_word_table(self, exponent: float = 1.0) -> Floats:
        """Σ_ν P(ν|α)^β P(j|ν)^β, (n_words, n_classes)."""
        words = self.by_word if exponent == 1.0 else self.by_word**exponent
        if self.mix is None:
            return words
        return np.ascontiguousarray(words @ (self.mix**exponent).astype(words.dtype).T)

    def word_scale(self, columns: Integers) -> Floats:
        """What the squares of lexical scores are divided by: P(j|ν), or the information."""
        return (self.by_word if self.word_information is None else self.word_information)[columns]


def read(engine: Engine, lens: Lens, counts: Csr) -> Floats:
    """P(α|d) of each document, each by itself, as the model's ``transform`` gives it."""
    used = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]))
    if len(used) < counts.shape[1]:
        lens = replace(lens, by_word=np.ascontiguousarray(lens.by_word[used]), word_information=None)
        places = np.zeros(counts.shape[1], np.int32)
        places[used] = np.arange(len(used), dtype=np.int32)
        counts = csr_array((counts.data, places[counts.indices], counts.indptr), shape=(counts.shape[0], len(used)))
    side = Side.of(shortened(counts, lens.effective_length), lens.by_word.dtype)
    beta = lens.inverse_temperature
    if lens.class_tokens is not None:
        words = np.ascontiguousarray(lens.class_word_table())
        folding = categorisers.patience(0, words.dtype)  # the same for any number of words: one answer in any company
        return categorisers.posterior_of_shares(engine, side, words, lens.class_tokens, folding)
    if not lens.one_class:
        words = np.ascontiguousarray(lens.class_word_table(beta))
        return plsa.folded_in(engine, side, words, lens.smoothing, beta)
    scores = engine.row_products(side, engine.logarithms(np.ascontiguousarray(lens.class_word_table())))
    return engine.posteriors(scores, np.log(np.maximum(lens.class_prior, TINY)), beta)[0]


def shares(counts: Csr) -> Csr:
    """p̂(j|d): counts to sum one in each document, in double precision."""
    return scale_rows(counts.astype(np.float64), 1.0 / np.maximum(token_counts(counts), TINY))


def token_posteriors(lens: Lens, rows: Floats, columns: Integers) -> Floats:
    """P(ν|d,j) of tokens, (tokens, topics): ``rows`` has P(α|d) and ``columns`` the word of each token.

    A word that the model cannot produce in a document has no topic: zeros.
    """
    own = lens.by_word[columns].astype(np.float64)
    rows = rows.astype(np.float64)
    if lens.one_class and lens.mix is not None:
        return np.asarray(own * (divided(rows, own @ lens.mix.T) @ lens.mix))
    joint = own * (rows if lens.mix is None else rows @ lens.mix)
    return divided(joint, joint.sum(axis=1, keepdims=True))


def topical(engine: Engine, lens: Lens, counts: Csr, rows: Floats) -> Floats:
    """(F1), (F6): the scores of P(α), (documents, classes)."""
    if lens.class_information is None:
        return per_root(rows.astype(np.float64), np.asarray(lens.class_prior, np.float64))
    scores = rows.astype(np.float64) if lens.row_scores else expected(engine, lens, counts, rows)
    return per_root(scores, lens.class_information)


def expected(engine: Engine, lens: Lens, counts: Csr, rows: Floats) -> Floats:
    """Σ_j p̂(j|d) P(α|d,j): what one more step of EM makes of P(α|d)."""
    rows = np.ascontiguousarray(rows, np.float64)
    if lens.one_class:
        return rows
    side, out, unused = Side.of(shares(counts), np.float64), np.empty_like(rows), np.empty(counts.nnz)
    words = np.ascontiguousarray(lens.class_word_table(), np.float64)
    engine.kernels.document_counts(side.indptr, side.indices, side.data, rows, words, out, unused)
    return out


def levels(lens: Lens, counts: Csr, rows: Floats) -> Floats:
    """(F5): the scores of P(ν|α); nothing for a flat model, (documents, 0).

    Where each token has its class they are P(α|d), because the sum over a path is one; where a document has one, they
    are P(α|d) √P(ν|α) Σ_j p̂(j|d) P(j|ν)/P(j|α), a number for each class and node of its path.
    """
    if lens.mix is None:
        return np.zeros((len(rows), 0))
    rows = rows.astype(np.float64)
    if not lens.one_class:
        return rows
    words, classes = lens.by_word.astype(np.float64), np.asarray(lens.class_word_table(), np.float64)
    p_hat, parts = shares(counts), []
    for number, weights in enumerate(lens.mix):
        path = np.flatnonzero(weights)
        ratio = divided(words[:, path], classes[:, [number]])
        parts.append(rows[:, [number]] * np.sqrt(weights[path]) * np.asarray(p_hat @ ratio))
    return np.hstack(parts)


def lexical(lens: Lens, counts: Csr, rows: Floats) -> Csr:
    """(F2), (F3): the scores of P(j|ν), (documents, words · topics), sparse."""
    n_topics, p_hat = lens.n_topics, shares(counts)
    values = np.empty((counts.nnz, n_topics))
    for here, docs in blocks(counts, n_topics):
        columns = counts.indices[here]
        scores = per_root(token_posteriors(lens, rows[docs], columns), lens.word_scale(columns))
        values[here] = p_hat.data[here, None] * scores
    places = counts.indices.astype(np.int64)[:, None] * n_topics + np.arange(n_topics)
    shape = (counts.shape[0], counts.shape[1] * n_topics)
    features: Csr = csr_array((values.ravel(), places.ravel(), counts.indptr.astype(np.int64) * n_topics), shape=shape)
    features.eliminate_zeros()
    return features


def lexical_lengths(engine: Engine, kernels: SearchKernels, lens: Lens, counts: Csr, rows: Floats) -> Floats:
    """The squared length of each document's lexical part, without forming it."""
    out = np.zeros(counts.shape[0])
    mixed = None if lens.one_class else lens.mix
    own = np.ascontiguousarray(rows if mixed is None else rows @ mixed.astype(rows.dtype))
    words = np.ascontiguousarray(lens.by_word, own.dtype)
    squares = words if lens.word_information is None else divided(words**2, lens.word_information).astype(own.dtype)
    side = Side.of(counts, own.dtype)
    classes = np.ascontiguousarray(lens.class_word_table(), own.dtype) if lens.one_class else words
    mix = np.array(lens.mix, own.dtype) if lens.one_class else None  # its own: the kernel is compiled for such

    def piece(part: slice) -> None:
        indptr = side.indptr[part.start : part.stop + 1]
        given = indptr, side.indices, side.data, own[part], classes
        if mix is not None:
            kernels.path_lengths(*given, mix, squares, out[part])
        else:
            kernels.lexical_lengths(*given, squares, out[part])

    engine.threads.map(piece, side.pieces)
    return np.asarray(out / np.maximum(token_counts(counts), FEWEST_TOKENS) ** 2)


def meeting(lens: Lens, columns: Integers, rows: Floats) -> tuple[Floats, Floats]:
    """How words of queries meet documents, see ``kernels.search``; ``rows`` has P(α|q) for each of the words."""
    posterior = token_posteriors(lens, rows, columns)
    own = lens.by_word[columns].astype(np.float64)
    meet = posterior if lens.word_information is None else posterior * divided(own, lens.word_scale(columns))
    if lens.mix is not None:
        meet = meet @ lens.mix.T
    classes = own if lens.mix is None else own @ lens.mix.T
    if not lens.one_class:
        return meet, classes
    return divided(meet, classes), np.ones_like(classes)


def blocks(counts: Csr, n_topics: int) -> Iterator[tuple[slice, Any]]:
    """The non-zeros in runs of whole documents, and the document of each."""
    size = max(1, CELLS // max(1, n_topics))
    first = 0
    while first < counts.shape[0]:
        last = int(np.searchsorted(counts.indptr, counts.indptr[first] + size, side="right")) - 1
        last = min(max(last, first + 1), counts.shape[0])
        docs = np.repeat(np.arange(first, last), np.diff(counts.indptr[first : last + 1]))
        yield slice(int(counts.indptr[first]), int(counts.indptr[last])), docs
        first = last


def divided(above: Floats, below: Floats) -> Floats:
    """above / below, and nothing where there is nothing to divide by: less than the kernels take for possible."""
    below = np.broadcast_to(below, above.shape)
    return np.divide(above, below, out=np.zeros(above.shape), where=below > SMALLEST_MIXTURE)


def per_root(above: Floats, scale: Floats) -> Floats:
    """above / √scale, guarded by the scale itself: features then leave out what their products leave out."""
    scale = np.broadcast_to(scale, above.shape)
    return np.divide(above, np.sqrt(scale), out=np.zeros(above.shape), where=scale > SMALLEST_MIXTURE)


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
    for here, docs in blocks(counts, max(lens.n_topics, lens.n_classes)):
        columns, weights = counts.indices[here], counts.data[here].astype(np.float64) / total
        words += _gathered(columns, weights, len(words)) @ token_posteriors(lens, rows[docs], columns) ** 2
        classes += weights @ token_posteriors(flat, rows[docs], columns) ** 2
    return words, classes


def _over_documents(lens: Lens, counts: Csr, rows: Floats) -> tuple[Floats, Floats]:
    """The means of (p̂(j|d) P(ν|d,j))² and P(α|d)² over all documents that hold anything."""
    words = np.zeros(lens.by_word.shape)
    filled, p_hat = np.flatnonzero(token_counts(counts)), shares(counts)
    number = max(1, len(filled))
    for here, docs in blocks(counts, lens.n_topics):
        columns = counts.indices[here]
        weights = p_hat.data[here] ** 2 / number
        words += _gathered(columns, weights, len(words)) @ token_posteriors(lens, rows[docs], columns) ** 2
    return words, (rows[filled].astype(np.float64) ** 2).sum(axis=0) / number


def _gathered(columns: Integers, weights: Floats, n_words: int) -> Csr:
    """A matrix that adds tokens up by their words."""
    each = csr_array((weights, columns, np.arange(len(columns) + 1)), shape=(len(columns), n_words))
    return csr_array(each.T)
