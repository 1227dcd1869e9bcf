"""Hierarchical latent classes: words at every level of a tree. Equations (H1)-(H7): docs/models/hplsa.md

Documents *i*, words *j*, classes *α*, topics *ν*: P(j|i) = Σ_α P(α|i) Σ_{ν↑α} P(ν|α) P(j|ν). The model knows no tree,
only a mask of the topics on the path of each class.

**Rows.** As in ``plsa`` the proportions P(α|i) belong to the documents. The P(α)P(i|α) of (H1) is P(i)P(α|i), and the
factor P(i)^β cancels in every posterior (H3), (H4). Only the objective changes: it is that of P(j|i) and differs from
(H2) by Σ n(i) log P(i). ``class_prior`` and ``doc_given_class`` compute (H5) from rows and lengths.

**Cost.** A pass is exactly flat PLSA with Q = Σ_ν P(ν|α)^β P(j|ν)^β in place of P(j|k)^β. The sums over documents are
then distributed to the topics. No array of size non-zeros × classes × depth is formed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from topiarist.arrays import Bools, Floats, Move
from topiarist.execution.blocks import BlockFile
from topiarist.kernels import SMALLEST_MIXTURE, Paths
from topiarist.kernels.counts.reference import extrapolate
from topiarist.kernels.shard import CountsView, Shard, allocate_aligned
from topiarist.models import plsa
from topiarist.models.em import AdditiveStats, State
from topiarist.models.engine.host import Engine, make_paths, slice_rows, weighted_total
from topiarist.models.path_models import PathModel, Seeds, make_uniform_mix, normalise_mix

MAX_NUMBERS = 1 << 20  # non-zeros times classes of a slice

Choose = Callable[[int, Floats, Floats], Floats]


class TokenAssignment(NamedTuple):
    """Counts of assigned tokens by document, topic and class, and the log of the weights they were chosen from."""

    doc_count: Floats  # (n_docs, n_classes)
    topic_word_count: Floats  # (n_nodes, n_words)
    class_topic_count: Floats  # (n_classes, n_nodes)
    log_likelihood: float


def assign_tokens(
    engine: Engine, shard: Shard, doc_factor: Floats, topics: Floats, paths: Paths, seed: int | None
) -> TokenAssignment:
    """Assign every token to one class and one topic: at random with this seed, or to the best pair without one.

    The topic of a token depends on its class and its word alone. So tokens choose classes first, document by document.
    The words of each class then choose among the topics on its path. No array has more than (words or a few documents'
    non-zeros) × (classes or depth) numbers.

    Random numbers depend on the seed and on the parameters, not on earlier steps: a saved and continued loop draws the
    same, on any number of threads. A parameter that becomes zero stays zero; smoothing keeps every topic possible for
    every word. The best pair is a greedy choice that seldom leaves its start, so run a few EM steps first.
    """
    reduce, choose = (
        (np.max, _choose_best) if seed is None else (np.sum, _make_random_choice(seed, doc_factor, topics, shard.rows))
    )
    n_words, n_classes = topics.shape[1], doc_factor.shape[1]
    words = np.empty((n_words, n_classes))
    for number, path in enumerate(_iter_paths(topics, paths)):
        words[:, number] = reduce(path, axis=1)
    slices = list(enumerate(_slice_documents(shard.rows, n_classes)))
    results = engine.threads.map(
        lambda part: _assign_classes(shard.rows, doc_factor, words, reduce, choose, *part), slices
    )
    class_word = np.zeros(n_words * n_classes)
    for _, places, numbers, _ in results:
        np.add.at(class_word, places, numbers)
    topic_count, class_count = _assign_topics(
        topics, paths, class_word.reshape(n_words, n_classes), choose, len(slices)
    )
    doc_count = np.concatenate([docs for docs, *_ in results]).astype(doc_factor.dtype)
    return TokenAssignment(doc_count, topic_count, class_count, sum(likelihood for *_, likelihood in results))


def _slice_documents(side: CountsView, n_classes: int) -> list[slice]:
    """Return slices of documents with about ``MAX_NUMBERS`` numbers; a longer document is its own slice."""
    targets = np.arange(side.indptr[0], side.indptr[-1], max(1, MAX_NUMBERS // n_classes))
    cuts = np.unique(np.append(np.searchsorted(side.indptr, targets), [0, side.n_rows]))
    return [slice(start, stop) for start, stop in pairwise(cuts.tolist())]


def _assign_classes(
    side: CountsView,
    doc_factor: Floats,
    words: Floats,
    reduce: Callable[..., Floats],
    choose: Choose,
    number: int,
    docs: slice,
) -> tuple[Any, Any, Floats, float]:
    """Assign the tokens of some documents to classes; return counts by document, and by word and class."""
    indptr, n_classes = side.indptr[docs.start : docs.stop + 1], doc_factor.shape[1]
    indices, data = side.indices[indptr[0] : indptr[-1]], side.data[indptr[0] : indptr[-1]].astype(np.float64)
    document = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    joint = doc_factor[docs][document] * words[indices]
    value = reduce(joint, axis=1)
    log_likelihood = float(data @ np.log(np.maximum(value, SMALLEST_MIXTURE)))
    counts_by_class = choose(number, np.where(value > SMALLEST_MIXTURE, data, 0.0), joint)
    token, kind = np.nonzero(counts_by_class)
    numbers = counts_by_class[token, kind]
    size = (len(indptr) - 1) * n_classes
    doc_count = np.bincount(document[token] * n_classes + kind, numbers, size).reshape(-1, n_classes)
    return doc_count, indices[token].astype(np.int64) * n_classes + kind, numbers, log_likelihood


def _assign_topics(
    topics: Floats, paths: Paths, class_word: Floats, choose: Choose, first_number: int
) -> tuple[Floats, Floats]:
    """Assign the words of each class to topics; return counts by topic and word, and by class and topic."""
    topic_count, class_count = np.zeros_like(topics), np.zeros((class_word.shape[1], len(topics)))
    for number, path in enumerate(_iter_paths(topics, paths)):
        nodes = paths.nodes[paths.ends[number] : paths.ends[number + 1]]
        used_words = np.flatnonzero(class_word[:, number])
        counts_by_topic = choose(first_number + number, class_word[used_words, number], path[used_words])
        class_count[number, nodes] = counts_by_topic.sum(axis=0)
        topic_count[np.ix_(nodes, used_words)] += counts_by_topic.T
    return topic_count, class_count


def _iter_paths(topics: Floats, paths: Paths) -> Iterator[Floats]:
    """Yield the weight of each node on the path of each class for each word: (n_words, length of the path)."""
    for start, stop in pairwise(paths.ends.tolist()):
        yield topics[paths.nodes[start:stop]].T.astype(np.float64) * paths.weights[start:stop]


def _choose_best(_number: int, counts: Floats, weights: Floats) -> Floats:
    """Assign each count to the largest of its weights; ties go to the first."""
    chosen_counts = np.zeros_like(weights)
    chosen_counts[np.arange(len(weights)), weights.argmax(axis=1)] = counts
    return chosen_counts


def _make_random_choice(seed: int, doc_factor: Floats, topics: Floats, side: CountsView) -> Choose:
    """Return a function that assigns each token at random in proportion to the weights.

    The fractional part of a count is assigned as one token.
    """
    key = 0
    for array in (side.indices, doc_factor, topics):
        key = zlib.crc32(np.ascontiguousarray(array).data, key)

    def choose(number: int, counts: Floats, weights: Floats) -> Floats:
        """Draw how many tokens each class gets; the generator depends on the block number."""
        rng = np.random.default_rng([seed, key, number])
        total = weights.sum(axis=1, keepdims=True)
        shares = weights / np.where(total > 0, total, 1.0)
        floors = np.floor(counts)
        chosen_counts = rng.multinomial(floors.astype(np.int64), shares).astype(np.float64)
        fractional = np.flatnonzero(counts > floors)
        chosen_counts[fractional] += (counts - floors)[fractional, None] * rng.multinomial(1, shares[fractional])
        return chosen_counts

    return choose


TopicMix = Literal["ml", "uniform", "heldout", "fixed"]
Variant = Literal["em", "cem", "sem"]


class Block(NamedTuple):
    """Documents, and held-out tokens to which P(ν|α) is fitted with ``topic_mix="heldout"``."""

    training: Shard
    heldout: Shard | None = None


@dataclass(frozen=True)
class Params:
    """Parameters of words and of the paths of classes."""

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
        """Number of classes."""
        return len(self.topic_given_class)

    def move_arrays(self, move: Move) -> Params:
        """Return the parameters with large arrays moved; small arrays of paths stay."""
        return Params(move(self.word_given_topic), self.topic_given_class)


@dataclass(frozen=True)
class Stats(AdditiveStats):
    """Expected counts of a block, additive over blocks."""

    topic_word_count: Floats  # (n_nodes, n_words)
    class_topic_count: Floats  # (n_classes, n_nodes)
    objective: float  # of the block's training tokens, plus the log-prior of its documents' proportions


@dataclass(frozen=True)
class Hplsa(PathModel):
    """Hierarchical PLSA for the EM loop. A smoothing parameter is a Dirichlet concentration minus one (P4).

    ``topic_mix`` is the source of P(ν|α): "ml" (H6), "uniform" on the path, "heldout" (the same sums over held-out
    tokens, with which the objective of the training tokens can fall), or "fixed".

    ``variant`` is the treatment of a token. "em" divides it among classes and topics. "cem" assigns it to the best
    pair, with the objective Σ n log max_α P(α|i) max_ν P(ν|α)P(j|ν). "sem" draws a pair for each token; its objective,
    that of "em", rises and falls. See ``assign_tokens``.
    """

    engine: Engine
    path_mask: np.ndarray[Any, np.dtype[np.bool_]]  # (n_classes, n_nodes)
    word_smoothing: float = 0.0
    class_smoothing: float = 0.0
    topic_mix: TopicMix = "ml"
    variant: Variant = "em"
    seed: int = 0  # of "sem"
    fixed_mix: Floats | None = None  # P(ν|α) when it is "fixed"
    seeds: Seeds | None = None  # seed words of topics

    def __post_init__(self) -> None:
        self._check_mask()
        if (self.topic_mix == "fixed") != (self.fixed_mix is not None):
            raise ValueError("expected fixed_mix for topic_mix='fixed', and only for it")

    @property
    def is_monotone(self) -> bool:
        """True if no step lowers the objective; otherwise ``Rules.accelerate`` must be false."""
        return self.topic_mix != "heldout" and self.variant != "sem"

    def e_step(
        self, shared: Params, block: Block | Shard, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats]:
        """Compute (H3), (H4) and the document half of (H5)."""
        training, heldout = block if isinstance(block, Block) else Block(block)
        doc_factor = self.engine.power(local, inverse_temperature)
        topics = self.engine.power(shared.word_given_topic, inverse_temperature)
        paths = self._paths(shared, inverse_temperature)
        words = self.engine.sum_along_paths(topics, paths)
        if self.variant == "em":
            doc_count, word_count, log_likelihood = self.engine.expected_counts(training, doc_factor, words)
            topic_count, class_count = self.engine.distribute_along_paths(topics, words, word_count, paths)
        else:
            seed = self.seed if self.variant == "sem" else None
            on_host = (self.engine.to_host(doc_factor), self.engine.to_host(topics))
            assignment = assign_tokens(self.engine, training, *on_host, paths, seed)
            doc_count, topic_count = (
                self.engine.to_device_of(doc_factor, part)
                for part in (assignment.doc_count, assignment.topic_word_count)
            )
            class_count, log_likelihood = assignment.class_topic_count, assignment.log_likelihood
        if self.topic_mix == "heldout":
            if heldout is None:
                raise ValueError("topic_mix='heldout' requires blocks with held-out counts: Block(training, heldout)")
            word_count = self.engine.word_counts(heldout, words, doc_factor)
            class_count = self.engine.path_counts(topics, words, word_count, paths)
        row_prior = self.class_smoothing * self.engine.sum_of_logs(local) if self.class_smoothing else 0.0
        objective = log_likelihood / inverse_temperature + row_prior
        rows = self.engine.normalise_rows(doc_count, self.class_smoothing)
        return Stats(topic_count, class_count, objective), rows

    def m_step(self, stats: Stats) -> Params:
        """Compute (H6) with the prior of (P4) for words; a class without counts is uniform on its path."""
        words = self.engine.normalise_rows(self._add_seeds(stats.topic_word_count), self.word_smoothing)
        if self.fixed_mix is not None:
            return Params(words, self.fixed_mix)
        even = make_uniform_mix(self.path_mask)
        return Params(words, even if self.topic_mix == "uniform" else normalise_mix(stats.class_topic_count, even))

    def log_prior(self, shared: Params) -> float:
        """Return the log-prior (P4) of the word distributions, plus that of the seeds."""
        return self._word_prior(shared.word_given_topic, self.word_smoothing)

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """Extrapolate all parameters along the last step, unless steps can lower the objective."""
        if not self.is_monotone:
            return new
        words = self.engine.extrapolate(old.shared.word_given_topic, new.shared.word_given_topic, stride)
        mix = np.empty_like(new.shared.topic_given_class)
        extrapolate(old.shared.topic_given_class, new.shared.topic_given_class, stride, mix)  # small, so NumPy suffices
        local = tuple(
            self.extrapolate_rows(old_rows, new_rows, stride)
            for old_rows, new_rows in zip(old.local, new.local, strict=True)
        )
        words = self.engine.normalise_rows(words, 0.0)
        return State(Params(words, normalise_mix(mix, new.shared.topic_given_class)), local)

    def extrapolate_rows(self, old_rows: Floats, new_rows: Floats, stride: float) -> Floats:
        """Extrapolate the rows of one block."""
        return self.engine.normalise_rows(self.engine.extrapolate(old_rows, new_rows, stride), 0.0)

    def class_word_table(self, shared: Params, inverse_temperature: float = 1.0) -> Floats:
        """Return Σ_ν P(ν|α)^β P(j|ν)^β, (n_words, n_classes): the flat model of a pass."""
        topics = self.engine.power(shared.word_given_topic, inverse_temperature)
        return self.engine.sum_along_paths(topics, self._paths(shared, inverse_temperature))

    def _paths(self, shared: Params, inverse_temperature: float) -> Paths:
        mix = make_uniform_mix(self.path_mask) if self.topic_mix == "uniform" else shared.topic_given_class
        return make_paths(self.path_mask, mix**inverse_temperature, shared.word_given_topic.dtype)

    def fold_in(self, shared: Params, rows: CountsView, inverse_temperature: float = 1.0) -> Floats:
        """(P5), (H7): return P(α|d) of each document for fixed topics, from a uniform start."""
        words = self.class_word_table(shared, inverse_temperature)
        return plsa.fold_in_rows(self.engine, rows, words, self.class_smoothing, inverse_temperature)

    def evaluate_heldout(
        self, shared: Params, block: Block, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Return P(α|i) of a block unchanged, and the log-likelihood of each document's held-out tokens."""
        if block.heldout is None:
            raise ValueError("evaluation requires held-out counts: Block(training, heldout)")
        return local, self.log_likelihoods(shared, block.heldout.rows, local)

    def stream_stats(self, shared: Params, block: Block | Shard) -> Stats:
        """Return the statistics of a batch, see ``online.Learner``."""
        side = (block.training if isinstance(block, Block) else block).rows
        words = self.class_word_table(shared)
        rows = plsa.fold_in_rows(self.engine, side, words, self.class_smoothing, 1.0, plsa.BATCH_FOLDING)
        return replace(self, class_smoothing=0.0).e_step(shared, block, rows)[0]


def class_prior(rows: Floats, lengths: Floats) -> Floats:
    """(H5): return P(α) from P(α|i) and the numbers of tokens n(i)."""
    count = weighted_total(lengths, rows)
    total = count.sum()
    return count / total if total > 0 else np.full(len(count), 1.0 / len(count))


def doc_given_class(rows: Floats, lengths: Floats) -> Floats:
    """(H5): return P(i|α), (n_classes, n_docs), from P(α|i) and n(i); uniform for an empty class."""
    count: Floats = (rows * np.asarray(lengths, np.float64)[:, None]).T
    return normalise_mix(count, np.full(count.shape, 1.0 / max(1, count.shape[1])))


def create_start(
    blocks: Sequence[Block | Shard | BlockFile], path_mask: Bools, rng: np.random.Generator, word_smoothing: float = 0.0
) -> State:
    """Create a start for a given tree: leaves as in ``plsa.create_start``, shared topics as background.

    A topic on the path of one class alone has half the words of a random document and half those of the collection. A
    topic that classes share has those of the collection. Every word is disturbed. P(ν|α) and P(α|i) are uniform.
    """
    shards = [block.training if isinstance(block, Block) else block for block in blocks]
    dtype = shards[0].rows.data.dtype
    frequency = np.asarray(sum(shard.word_totals() for shard in shards)) + word_smoothing
    words = allocate_aligned((path_mask.shape[1], len(frequency)), dtype)
    words[:] = frequency / frequency.sum()
    lone = np.flatnonzero(np.count_nonzero(path_mask, axis=0) == 1)
    for node, (indices, data) in zip(lone, plsa.draw_documents(shards, len(lone), rng), strict=True):
        words[node, indices] += data / data.sum()
    for rows in slice_rows(words):
        words[rows] *= 0.5 + rng.random(words[rows].shape, dtype=np.float32)
        words[rows] /= words[rows].sum(axis=1, keepdims=True, dtype=np.float64).astype(dtype)
    return State(Params(words, make_uniform_mix(path_mask)), plsa.create_uniform_rows(shards, len(path_mask), dtype))
