"""Hierarchical latent classes: words at every level of a tree. Equations (H1)-(H7): docs/models/hplsa.md

Documents *i*, words *j*, classes *α*, topics *ν*: P(j|i) = Σ_α P(α|i) Σ_{ν↑α} P(ν|α) P(j|ν). The model knows no tree,
only a mask: which topics are on the path of which class.

**Rows.** As in ``plsa`` the proportions P(α|i) belong to the documents. The P(α)P(i|α) of (H1) is P(i)P(α|i), and the
factor P(i)^β cancels in every posterior (H3), (H4): nothing changes but the objective, which is that of P(j|i) and
differs from (H2) by Σ n(i) log P(i). ``class_prior`` and ``doc_given_class`` give (H5) from rows and lengths.

**The hierarchy is free.** A pass is exactly flat PLSA with Q = Σ_ν P(ν|α)^β P(j|ν)^β in place of P(j|k)^β; the sums
over documents are then handed on to the topics. Nothing of size non-zeros × classes × depth is formed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from topiarist.arrays import Bools, Floats, Move
from topiarist.kernels import SMALLEST_MIXTURE, Paths
from topiarist.kernels.counts.reference import look_ahead
from topiarist.kernels.shard import Shard, Side, aligned_empty
from topiarist.models import plsa
from topiarist.models.em import State
from topiarist.models.engine.host import Engine, paths_of, row_pieces, weighted_total
from topiarist.models.seeds import Seeds
from topiarist.scale.blocks import BlockFile

NUMBERS = 1 << 20  # non-zeros times classes that are looked at together

Choose = Callable[[int, Floats, Floats], Floats]


class Assigned(NamedTuple):
    """Counts of pairs by document, by topic and by class; and the logarithm of the weights they were chosen from."""

    doc_count: Floats  # (n_docs, n_classes)
    topic_word_count: Floats  # (n_nodes, n_words)
    class_topic_count: Floats  # (n_classes, n_nodes)
    log_likelihood: float


def assigned(engine: Engine, shard: Shard, own: Floats, topics: Floats, paths: Paths, seed: int | None) -> Assigned:
    """Every token wholly to one class and one topic: by lot from this seed, or to the best pair without one.

    A token's topic depends on its class and its word alone. So tokens choose classes first, document by document, and
    what each class has of each word then chooses among the topics on its path: no array has more than (words or a few
    documents' non-zeros) × (classes or depth) numbers.

    The numbers drawn depend on the seed and on the parameters that they are drawn at, not on a memory of earlier steps:
    a loop that is kept and goes on later draws the same, on any number of threads. What is drawn away to zero stays
    there: smoothing keeps every topic open for every word. The best pair is a greedy choice that seldom leaves the
    start it is given: let a few steps of EM go before it.
    """
    reduce, choose = (np.max, _best) if seed is None else (np.sum, _lots(seed, own, topics, shard.rows))
    n_words, n_classes = topics.shape[1], own.shape[1]
    words = np.empty((n_words, n_classes))
    for number, path in enumerate(_each_path(topics, paths)):
        words[:, number] = reduce(path, axis=1)
    pieces = list(enumerate(_pieces(shard.rows, n_classes)))
    results = engine.threads.map(lambda piece: _classes(shard.rows, own, words, reduce, choose, *piece), pieces)
    class_word = np.zeros(n_words * n_classes)
    for _, places, numbers, _ in results:
        np.add.at(class_word, places, numbers)
    topic_count, class_count = _topics(topics, paths, class_word.reshape(n_words, n_classes), choose, len(pieces))
    doc_count = np.concatenate([docs for docs, *_ in results]).astype(own.dtype)
    return Assigned(doc_count, topic_count, class_count, sum(likelihood for *_, likelihood in results))


def _pieces(side: Side, n_classes: int) -> list[slice]:
    """Slices of documents with about ``NUMBERS`` numbers to look at; a longer document is one of its own."""
    targets = np.arange(side.indptr[0], side.indptr[-1], max(1, NUMBERS // n_classes))
    cuts = np.unique(np.append(np.searchsorted(side.indptr, targets), [0, side.n_rows]))
    return [slice(start, stop) for start, stop in pairwise(cuts.tolist())]


def _classes(
    side: Side, own: Floats, words: Floats, reduce: Callable[..., Floats], choose: Choose, number: int, docs: slice
) -> tuple[Any, Any, Floats, float]:
    """Classes of the tokens of some documents: counts by document; places by word and class with what goes there."""
    indptr, n_classes = side.indptr[docs.start : docs.stop + 1], own.shape[1]
    indices, data = side.indices[indptr[0] : indptr[-1]], side.data[indptr[0] : indptr[-1]].astype(np.float64)
    document = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    joint = own[docs][document] * words[indices]
    value = reduce(joint, axis=1)
    log_likelihood = float(data @ np.log(np.maximum(value, SMALLEST_MIXTURE)))
    chosen = choose(number, np.where(value > SMALLEST_MIXTURE, data, 0.0), joint)
    token, kind = np.nonzero(chosen)
    numbers = chosen[token, kind]
    size = (len(indptr) - 1) * n_classes
    doc_count = np.bincount(document[token] * n_classes + kind, numbers, size).reshape(-1, n_classes)
    return doc_count, indices[token].astype(np.int64) * n_classes + kind, numbers, log_likelihood


def _topics(
    topics: Floats, paths: Paths, class_word: Floats, choose: Choose, first_number: int
) -> tuple[Floats, Floats]:
    """Topics of what each class has of each word: counts by topic and word, and by class and topic."""
    topic_count, class_count = np.zeros_like(topics), np.zeros((class_word.shape[1], len(topics)))
    for number, path in enumerate(_each_path(topics, paths)):
        nodes = paths.nodes[paths.ends[number] : paths.ends[number + 1]]
        some = np.flatnonzero(class_word[:, number])
        chosen = choose(first_number + number, class_word[some, number], path[some])
        class_count[number, nodes] = chosen.sum(axis=0)
        topic_count[np.ix_(nodes, some)] += chosen.T
    return topic_count, class_count


def _each_path(topics: Floats, paths: Paths) -> Iterator[Floats]:
    """For each class, what each node on its path gives to each word: (n_words, length of the path)."""
    for start, stop in pairwise(paths.ends.tolist()):
        yield topics[paths.nodes[start:stop]].T.astype(np.float64) * paths.weights[start:stop]


def _best(_number: int, counts: Floats, weights: Floats) -> Floats:
    """All of each count to the largest of its weights, the first of equals."""
    chosen = np.zeros_like(weights)
    chosen[np.arange(len(weights)), weights.argmax(axis=1)] = counts
    return chosen


def _lots(seed: int, own: Floats, topics: Floats, side: Side) -> Choose:
    """Each token of each count by lot in proportion to the weights; the fraction of a count goes as one token."""
    key = 0
    for array in (side.indices, own, topics):
        key = zlib.crc32(np.ascontiguousarray(array).data, key)

    def choose(number: int, counts: Floats, weights: Floats) -> Floats:
        rng = np.random.default_rng([seed, key, number])
        total = weights.sum(axis=1, keepdims=True)
        shares = weights / np.where(total > 0, total, 1.0)
        whole = np.floor(counts)
        chosen = rng.multinomial(whole.astype(np.int64), shares).astype(np.float64)
        broken = np.flatnonzero(counts > whole)
        chosen[broken] += (counts - whole)[broken, None] * rng.multinomial(1, shares[broken])
        return chosen

    return choose


TopicMix = Literal["ml", "uniform", "heldout", "fixed"]
Variant = Literal["em", "cem", "sem"]


class Block(NamedTuple):
    """Documents, with tokens of theirs that are held out where P(ν|α) is fitted on such (``topic_mix="heldout"``)."""

    training: Shard
    heldout: Shard | None = None


@dataclass(frozen=True)
class Params:
    """What the model knows about words, and about the paths of its classes."""

    word_given_topic: Floats  # P(j|ν)  (n_nodes, n_words); topic by topic, because paths are added up along words
    topic_given_class: Floats  # P(ν|α)  (n_classes, n_nodes), zero off the path of α

    def __post_init__(self) -> None:
        if self.word_given_topic.ndim != 2 or not self.word_given_topic.flags.c_contiguous:
            raise ValueError("word_given_topic must be a C-contiguous (topics, words) array")
        if self.topic_given_class.ndim != 2 or self.topic_given_class.shape[1] != len(self.word_given_topic):
            raise ValueError(
                f"topic_given_class must be (classes, {len(self.word_given_topic)} topics), "
                f"not {self.topic_given_class.shape}"
            )

    @property
    def n_components(self) -> int:
        """How many classes there are."""
        return len(self.topic_given_class)

    def moved(self, move: Move) -> Params:
        """The same elsewhere: on a device, or back. What belongs to paths is small and stays."""
        return Params(move(self.word_given_topic), self.topic_given_class)


@dataclass(frozen=True)
class Stats:
    """Expected counts of a block, additive over blocks."""

    topic_word_count: Floats  # (n_nodes, n_words)
    class_topic_count: Floats  # (n_classes, n_nodes)
    objective: float  # of the block's training tokens, plus the log-prior of its documents' proportions

    def __add__(self, other: Stats) -> Stats:
        return Stats(
            self.topic_word_count + other.topic_word_count,
            self.class_topic_count + other.class_topic_count,
            self.objective + other.objective,
        )

    def __iadd__(self, other: Stats) -> Stats:
        """The same bits where these ones are."""
        count, mix = self.topic_word_count, self.class_topic_count
        count += other.topic_word_count
        mix += other.class_topic_count
        return Stats(count, mix, self.objective + other.objective)


@dataclass(frozen=True)
class Hplsa:
    """The model as the EM loop sees it. Smoothing is a Dirichlet concentration minus one (P4).

    ``topic_mix`` says where P(ν|α) comes from: "ml" (H6), "uniform" on the path, or "heldout", by the same sums over
    held-out tokens. Then the objective of the training tokens need not rise. "fixed" keeps it as it is.

    ``variant`` says what a token does: "em" shares it among classes and topics; "cem" gives it wholly to the best pair,
    and the objective is that of the pairs, Σ n log max_α P(α|i) max_ν P(ν|α)P(j|ν); "sem" draws a pair for each token,
    and the objective, that of "em", goes up and down. See ``hplsa_variants``.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]  # (n_classes, n_nodes)
    word_smoothing: float = 0.0
    class_smoothing: float = 0.0
    topic_mix: TopicMix = "ml"
    variant: Variant = "em"
    seed: int = 0  # of "sem"
    fixed_mix: Floats | None = None  # P(ν|α) when it is "fixed"
    seeds: Seeds | None = None  # words that people want at topics

    def __post_init__(self) -> None:
        if self.path_mask.ndim != 2 or self.path_mask.dtype != bool or not self.path_mask.any(axis=1).all():
            raise ValueError("path_mask must be a boolean (classes, nodes) array with a node on every path")
        if (self.topic_mix == "fixed") != (self.fixed_mix is not None):
            raise ValueError("topic_mix='fixed' needs fixed_mix, and nothing else does")

    @property
    def monotone(self) -> bool:
        """True when no step lowers the objective; otherwise there must be no looking ahead (``Rules.accelerate``)."""
        return self.topic_mix != "heldout" and self.variant != "sem"

    def e_step(
        self, shared: Params, block: Block | Shard, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats]:
        """(H3), (H4) and the document half of (H5)."""
        training, heldout = block if isinstance(block, Block) else Block(block)
        own = self.engine.power(local, inverse_temperature)
        topics = self.engine.power(shared.word_given_topic, inverse_temperature)
        paths = self._paths(shared, inverse_temperature)
        words = self.engine.climb(topics, paths)
        if self.variant == "em":
            doc_count, word_count, log_likelihood = self.engine.expected_counts(training, own, words)
            topic_count, class_count = self.engine.descend(topics, words, word_count, paths)
        else:
            seed = self.seed if self.variant == "sem" else None
            on_host = (self.engine.to_host(own), self.engine.to_host(topics))
            chosen = assigned(self.engine, training, *on_host, paths, seed)
            doc_count, topic_count = (
                self.engine.beside(own, part) for part in (chosen.doc_count, chosen.topic_word_count)
            )
            class_count, log_likelihood = chosen.class_topic_count, chosen.log_likelihood
        if self.topic_mix == "heldout":
            if heldout is None:
                raise ValueError("topic_mix='heldout' needs blocks with held-out counts: Block(training, heldout)")
            word_count = self.engine.word_counts(heldout, words, own)
            class_count = self.engine.path_counts(topics, words, word_count, paths)
        objective = log_likelihood / inverse_temperature + self._log_prior(local, self.class_smoothing)
        rows = self.engine.normalise_rows(doc_count, self.class_smoothing)
        return Stats(topic_count, class_count, objective), rows

    def m_step(self, stats: Stats) -> Params:
        """(H6), with the prior of (P4) for words; a class without counts spreads evenly over its path."""
        words = stats.topic_word_count
        if self.seeds is not None:
            words = self.seeds.added(self.engine, words)
        words = self.engine.normalise_rows(words, self.word_smoothing)
        if self.fixed_mix is not None:
            return Params(words, self.fixed_mix)
        even = uniform_mix(self.path_mask)
        return Params(words, even if self.topic_mix == "uniform" else _normalised(stats.class_topic_count, even))

    def log_prior(self, shared: Params) -> float:
        """(P4), for the word distributions, and that of the seeds."""
        seeded = self.seeds.log_prior(self.engine, shared.word_given_topic) if self.seeds is not None else 0.0
        return self._log_prior(shared.word_given_topic, self.word_smoothing) + seeded

    def _log_prior(self, array: Floats, smoothing: float) -> float:
        return smoothing * self.engine.sum_of_logs(array) if smoothing else 0.0

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """See ``em``: all parameters go on in the direction of the last step, unless steps may lead down."""
        if not self.monotone:
            return new
        words = self.engine.look_ahead(old.shared.word_given_topic, new.shared.word_given_topic, stride)
        mix = np.empty_like(new.shared.topic_given_class)
        look_ahead(old.shared.topic_given_class, new.shared.topic_given_class, stride, mix)  # small: as it is in NumPy
        local = tuple(self.ahead(before, after, stride) for before, after in zip(old.local, new.local, strict=True))
        words = self.engine.normalise_rows(words, 0.0)
        return State(Params(words, _normalised(mix, new.shared.topic_given_class)), local)

    def ahead(self, before: Floats, after: Floats, stride: float) -> Floats:
        """The same for the rows of one block."""
        return self.engine.normalise_rows(self.engine.look_ahead(before, after, stride), 0.0)

    def class_word_table(self, shared: Params, inverse_temperature: float = 1.0) -> Floats:
        """Σ_ν P(ν|α)^β P(j|ν)^β as the sweeps read it, (n_words, n_classes): the flat model that a pass sees."""
        topics = self.engine.power(shared.word_given_topic, inverse_temperature)
        return self.engine.climb(topics, self._paths(shared, inverse_temperature))

    def _paths(self, shared: Params, inverse_temperature: float) -> Paths:
        mix = uniform_mix(self.path_mask) if self.topic_mix == "uniform" else shared.topic_given_class
        return paths_of(self.path_mask, mix**inverse_temperature, shared.word_given_topic.dtype)

    def fold_in(self, shared: Params, rows: Side, inverse_temperature: float = 1.0) -> Floats:
        """(P5), (H7): P(α|d) of each document for fixed topics, from a uniform start."""
        words = self.class_word_table(shared, inverse_temperature)
        return plsa.folded_in(self.engine, rows, words, self.class_smoothing, inverse_temperature)

    def log_likelihood(self, shared: Params, rows: Side, local: Floats) -> float:
        """Σ n log P(j|i), untempered."""
        return self.engine.log_likelihood(rows, local, self.class_word_table(shared))

    def log_likelihoods(self, shared: Params, rows: Side, local: Floats) -> Floats:
        """The same of each document by itself."""
        return self.engine.log_likelihoods(rows, local, self.class_word_table(shared))

    def judged(
        self, shared: Params, block: Block, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Floats, Floats]:
        """P(α|i) of the documents of a block, as it is; and what each adds to the likelihood of its held-out tokens."""
        if block.heldout is None:
            raise ValueError("nothing can be judged without held-out counts: Block(training, heldout)")
        return local, self.log_likelihoods(shared, block.heldout.rows, local)

    def stream_stats(self, shared: Params, block: Block | Shard) -> Stats:
        """See ``online.Learner``."""
        side = (block.training if isinstance(block, Block) else block).rows
        words = self.class_word_table(shared)
        rows = plsa.folded_in(self.engine, side, words, self.class_smoothing, 1.0, plsa.BRIEF)
        return replace(self, class_smoothing=0.0).e_step(shared, block, rows)[0]


def _normalised(counts: Floats, otherwise: Floats) -> Floats:
    """Rows to sum one; a row of nothing becomes the other one."""
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), otherwise)


def uniform_mix(path_mask: Bools) -> Floats:
    """P(ν|α) that says nothing yet: even over the path."""
    mix: Floats = path_mask / path_mask.sum(axis=1, keepdims=True)
    return mix


def class_prior(rows: Floats, lengths: Floats) -> Floats:
    """(H5): P(α), from P(α|i) and the numbers of tokens n(i)."""
    count = weighted_total(lengths, rows)
    total = count.sum()
    return count / total if total > 0 else np.full(len(count), 1.0 / len(count))


def doc_given_class(rows: Floats, lengths: Floats) -> Floats:
    """(H5): P(i|α), (n_classes, n_docs), from P(α|i) and the numbers of tokens n(i); even for a class of nothing."""
    count: Floats = (rows * np.asarray(lengths, np.float64)[:, None]).T
    return _normalised(count, np.full(count.shape, 1.0 / max(1, count.shape[1])))


def initial(
    blocks: Sequence[Block | Shard | BlockFile], path_mask: Bools, rng: np.random.Generator, word_smoothing: float = 0.0
) -> State:
    """A start for a given tree: leaves as the components of ``plsa.initial``, topics of several classes as background.

    A topic on the path of one class alone has half the words of one document drawn at random and half those of the
    collection; one that classes share has those of the collection. Every word is disturbed. P(ν|α) and P(α|i) are
    uniform.
    """
    shards = [block.training if isinstance(block, Block) else block for block in blocks]
    dtype = shards[0].rows.data.dtype
    frequency = np.asarray(sum(shard.word_totals() for shard in shards)) + word_smoothing
    words = aligned_empty((path_mask.shape[1], len(frequency)), dtype)
    words[:] = frequency / frequency.sum()
    lone = np.flatnonzero(np.count_nonzero(path_mask, axis=0) == 1)
    for node, (indices, data) in zip(lone, plsa.drawn_documents(shards, len(lone), rng), strict=True):
        words[node, indices] += data / data.sum()
    for rows in row_pieces(words):
        words[rows] *= 0.5 + rng.random(words[rows].shape, dtype=np.float32)
        words[rows] /= words[rows].sum(axis=1, keepdims=True, dtype=np.float64).astype(dtype)
    return State(Params(words, uniform_mix(path_mask)), plsa.even_local(shards, len(path_mask), dtype))
