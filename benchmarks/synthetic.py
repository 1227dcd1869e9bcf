"""Synthetic documents of a planted tree, millions of them: blocks of counts as fast as they can be written.

Each node of a balanced tree has words of its own by Zipf's law, the root those of all. A document has one leaf, or two;
a token has a node on the path of one of them, and a word of that node. A node's words lie in a table in which a word
has as many places as it is probable, so that a draw is one look-up. Or the tables are those of a tree that was fitted.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

PLACES = 1 << 16  # of a node's table
OWN_WORDS = 2000  # that a node below the root has
SHORTEST, LONGEST = 50, 150  # tokens
SECOND = 0.2  # share of the documents that have a second leaf, unless told


class World:
    """The planted tree as tables."""

    def __init__(self, depth: int, n_words: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        n_nodes, self.n_leaves = 2 ** (depth + 1) - 1, 2**depth
        self.n_words = n_words
        self.tables = np.empty((n_nodes, PLACES), np.int32)
        for node in range(n_nodes):
            n_own = n_words if node == 0 else min(OWN_WORDS, n_words)
            words = rng.choice(n_words, n_own, replace=False)
            zipf = np.cumsum(1.0 / (np.arange(n_own) + 10.0))
            self.tables[node] = words[np.searchsorted(zipf, (np.arange(PLACES) + 0.5) / PLACES * zipf[-1])]
        leaves = np.arange(self.n_leaves) + self.n_leaves - 1  # nodes in the order of breadth: children 2i + 1, 2i + 2
        paths = [leaves]
        while paths[-1][0]:
            paths.append((paths[-1] - 1) // 2)
        self.paths = np.stack(paths[::-1], axis=1).astype(np.int32)

    @classmethod
    def of_topics(cls, word_given_class: np.ndarray) -> World:
        """Documents of one topic each, whose words are drawn as a fitted tree has them: (classes, words)."""
        world = cls.__new__(cls)
        world.n_leaves, world.n_words = word_given_class.shape
        places = (np.arange(PLACES) + 0.5) / PLACES
        running = np.cumsum(word_given_class.astype(np.float64), axis=1)
        world.tables = np.stack([np.searchsorted(row, places * row[-1]).astype(np.int32) for row in running])
        world.paths = np.arange(world.n_leaves, dtype=np.int32)[:, None]
        return world

    def block(self, first: int, n_docs: int, second: float = SECOND) -> tuple[sparse.csr_array, np.ndarray]:
        """Documents ``first`` to ``first + n_docs`` of the endless collection, and the leaf of each.

        ``second`` is the share of documents that have a second leaf.
        """
        lengths, leaves = np.empty(n_docs, np.int32), np.empty(n_docs, np.int32)
        indices = np.empty(n_docs * LONGEST, np.int32)
        data = np.empty(n_docs * LONGEST, np.float32)
        used = _draw(np.uint64(first), self.tables, self.paths, second, lengths, leaves, indices, data)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        counts = sparse.csr_array((data[:used].copy(), indices[:used].copy(), indptr), shape=(n_docs, self.n_words))
        counts.has_canonical_format = True
        return counts, leaves


@njit(cache=True, inline="always")
def _mixed(state):
    """A number from a state (SplitMix64)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def _draw(first, tables, paths, second, lengths, leaves, indices, data):
    step = np.uint64(0x9E3779B97F4A7C15)
    n_leaves, depth = paths.shape
    place = 0
    buffer = np.empty(LONGEST, np.int32)
    for document in range(len(lengths)):
        state = _mixed((first + np.uint64(document)) * step + np.uint64(1))
        state += step
        number = _mixed(state)
        leaf = np.int64(number % np.uint64(n_leaves))
        other = np.int64((number >> np.uint64(16)) % np.uint64(n_leaves))
        if np.float64((number >> np.uint64(32)) & np.uint64(0xFFFF)) / 65536.0 > second:
            other = leaf
        length = SHORTEST + np.int64((number >> np.uint64(48)) % np.uint64(LONGEST - SHORTEST + 1))
        leaves[document] = leaf
        for token in range(length):
            state += step
            number = _mixed(state)
            here = leaf if number & np.uint64(3) else other  # a quarter of the tokens from the second leaf
            node = paths[here, np.int64((number >> np.uint64(2)) & np.uint64(0xFFFF)) % depth]
            buffer[token] = tables[node, np.int64((number >> np.uint64(20)) % np.uint64(PLACES))]
        words = np.sort(buffer[:length])
        start = place
        for token in range(length):
            if token and words[token] == words[token - 1]:
                data[place - 1] += np.float32(1.0)
            else:
                indices[place] = words[token]
                data[place] = np.float32(1.0)
                place += 1
        lengths[document] = place - start
    return place
