"""Tokens that go wholly to one class and one topic: the best pair, or one drawn at random.

A token's topic depends on its class and its word alone. So tokens choose classes first, document by document, and what
each class has of each word then chooses among the topics on its path: no array has more than
(words or a few documents' non-zeros) × (classes or depth) numbers.

The numbers drawn depend on the seed and on the parameters that they are drawn at, not on a memory of earlier steps: a
loop that is kept and goes on later draws the same, on any number of threads. What is drawn away to zero stays there:
smoothing keeps every topic open for every word. The best pair is a greedy choice that seldom leaves the start it is
given: let a few steps of EM go before it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from topiarist.kernels import Paths
from topiarist.kernels.ratios import SMALLEST_MIXTURE
from topiarist.kernels.shard import Shard, Side
from topiarist.models.engine.host import Engine, Floats

NUMBERS = 1 << 20  # non-zeros times classes that are looked at together

Choose = Callable[[int, Floats, Floats], Floats]


class Assigned(NamedTuple):
    """Counts of pairs by document, by topic and by class; and the logarithm of the weights they were chosen from."""

    doc_count: Floats  # (n_docs, n_classes)
    topic_word_count: Floats  # (n_nodes, n_words)
    class_topic_count: Floats  # (n_classes, n_nodes)
    log_likelihood: float


def assigned(engine: Engine, shard: Shard, own: Floats, topics: Floats, paths: Paths, seed: int | None) -> Assigned:
    """Every token to one pair: by lot from this seed, or to the best without one."""
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
    side: Side, own: Floats, words: Floats, reduce: Any, choose: Choose, number: int, docs: slice
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
