"""Characteristic words of nodes, by documents instead of tokens.

With p the share of a node's documents that have a word and q its share among all other documents, a word describes a
node by p · log(p/q): one long document full of a word does not count for more than one document. A word of a heading
must be characteristic of all children: its p is the squared mean of roots over the children, which is low for a word
of one child. Words of a node are not repeated below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import TINY, Array, Csr
from topiarist.counts.scratch import iterate_rows
from topiarist.counts.validation import sum_columns
from topiarist.models.word_meetings import Cooccurrence
from topiarist.trees.growth.headings import compute_share_outside
from topiarist.trees.naming.text_features import find_largest_classes
from topiarist.trees.tree import Tree
from topiarist.trees.words import MIN_STEM, find_highest, is_variant

CANDIDATES_PER_WORD = 3  # candidates for each describing word
ALL_WORDS = slice(None)  # all columns
BLOCK_DOCUMENTS = 1 << 18  # documents processed at once
N_ERRORS = 1.5  # standard errors by which a share in a name may be too large by chance
AGREEMENT_WEIGHT = 2.0  # weight of words that occur in the same documents


@dataclass(frozen=True, eq=False)
class Presence:
    """Expected number of each node's documents with each word; a document counts by its share in the node."""

    tree: Tree
    have: Array  # (n_nodes, n_words)
    documents: Array  # (n_nodes,)

    def words(self, node: int) -> Array:
        """Return the columns of the words that occur in documents of the node."""
        columns: Array = np.flatnonzero(self.have[node])
        return columns

    def shares(self, node: int, columns: Any = ALL_WORDS) -> Array:
        """Return the share of a node's documents with each word; for a heading the root mean of its children's."""
        children = list(self.tree.children(node))
        if not children:
            return self.compute_shares(node, columns)
        weight = self.documents[children] / max(float(self.documents[children].sum()), 1e-12)
        child_shares = np.stack([self.have[child][columns] for child in children])
        child_shares = child_shares / np.maximum(self.documents[children], 1e-12)[:, None]
        mean: Array = (weight @ np.sqrt(child_shares)) ** 2
        return mean

    def compute_shares(self, node: int, columns: Any = ALL_WORDS) -> Array:
        """Return the share of the documents at or under a node that have each word."""
        share: Array = self.have[node][columns] / max(float(self.documents[node]), 1e-12)
        return share

    def compute_outside_shares(self, node: int, columns: Any = ALL_WORDS) -> Array:
        """Return the share of the other documents that have each word."""
        have, documents, root = self.have, self.documents, self.tree.root
        return compute_share_outside(
            have[root][columns], float(documents[root]), have[node][columns], float(documents[node])
        )

    def list_best_words(self, score: Callable[[int, Array], Array], number: int) -> Array:
        """Return the columns of the words with the best scores at some node below the root."""
        is_best = np.zeros(self.have.shape[1], bool)
        for node in range(len(self.tree)):
            if node != self.tree.root:
                columns_here = self.words(node)
                is_best[columns_here[find_highest(score(node, columns_here), number)]] = True
        columns: Array = np.flatnonzero(is_best)
        return columns


def compute_presence(tree: Tree, class_nodes: Sequence[int], shares: Any, counts: Any) -> Presence:
    """Compute presence from shares of documents in classes (documents × classes) and counts (documents × words)."""
    shares, counts = csr_array(shares), csr_array(counts)
    by_class: Array = np.zeros((shares.shape[1], counts.shape[1]), np.float32)
    for block_rows, block in iterate_rows(counts, BLOCK_DOCUMENTS):
        has = csr_array((np.ones(len(block.data), np.float32), block.indices, block.indptr), shape=block.shape)
        by_class += csr_array(shares[block_rows].T).astype(np.float32) @ has
    mask = tree.path_mask(class_nodes).astype(np.float32)
    sizes = sum_columns(shares)
    return Presence(tree, mask.T @ by_class, mask.T.astype(np.float64) @ sizes)


def compute_halves(
    tree: Tree, class_nodes: Sequence[int], shares: Csr, counts: Csr, columns: Array
) -> tuple[Presence, ...]:
    """Compute the presence of some words in the first half and in the last half of the documents of each class.

    Documents of one thread or source follow each other, and are mostly in one half.
    """
    classes = find_largest_classes(shares)
    order = np.argsort(classes, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - np.searchsorted(classes[order], classes[order])
    is_first = 2 * places < np.bincount(classes + 1)[classes + 1]
    reduced = csr_array(counts[:, columns])
    return tuple(
        compute_presence(tree, class_nodes, csr_array(shares[rows]), reduced[rows])
        for rows in map(np.flatnonzero, (is_first, ~is_first))
    )


def select_describing_words(
    presence: Presence,
    n_words: int = 10,
    *,
    counts: Any = None,
    words: Sequence[str] | None = None,
    empty: Any = None,
    first: Mapping[int, Sequence[int]] | None = None,
) -> list[Array]:
    """Return the columns of the words that describe each node, the best first; the root gets the most frequent others.

    Words of ancestors and words marked as ``empty`` are excluded, and with ``words`` also variants of selected words.
    A node whose words are all words of ancestors has these, because a topic without words says nothing to a reader.
    With the ``counts`` of documents, words that occur in the same documents are preferred: of the 3 × ``n_words``
    best words, each score is multiplied by the exponential of twice its mean normalised mutual information with the
    words already selected. Columns in ``first`` come first at their node if any of its documents has them.
    """
    tree = presence.tree
    meetings = None if counts is None else Cooccurrence.from_counts(csr_array(counts))
    columns_of: list[Array] = [np.empty(0, np.int64)] * len(tree)
    inherited: list[list[int]] = [[] for _ in range(len(tree))]
    for node in tree.depth_first():
        if node == tree.root:
            continue
        parent = tree.parents[node]
        columns = presence.words(node)
        scores = distinctiveness(presence.shares(node, columns), presence.compute_outside_shares(node, columns)).astype(
            np.float32
        )
        if empty is not None:
            scores[empty[columns]] = 0.0
        used_words = [words[column].split() for column in inherited[parent]] if words is not None else []
        first_columns = [column for column in (first or {}).get(node, ()) if presence.have[node, column] > 0][:n_words]
        n_others = n_words - len(first_columns)
        used_words += [words[column].split() for column in first_columns] if words is not None else []
        own_scores = np.where(np.isin(columns, [*inherited[parent], *first_columns]), 0.0, scores)
        others = _pick_best(columns, own_scores, n_others, words, used_words, meetings) if n_others else []
        if not first_columns and not others:  # the headings above have all its words
            others = _pick_best(columns, scores, n_words, words, [], meetings)
        columns_of[node] = np.array([*first_columns, *others], np.int64)
        inherited[node] = [*inherited[parent], *columns_of[node].tolist()]
    frequent = np.array(presence.have[tree.root])
    if len(tree) > 1:  # words of nodes below do not describe the root
        frequent[np.concatenate([columns_of[node] for node in range(len(tree)) if node != tree.root])] = 0.0
    columns_of[tree.root] = np.array(find_highest(frequent, n_words), np.int64)
    return columns_of


def list_candidate_words(presence: Presence, n_words: int) -> Array:
    """Return the columns of all words that ``select_describing_words`` may choose from."""
    return presence.list_best_words(
        lambda node, columns: distinctiveness(
            presence.shares(node, columns), presence.compute_outside_shares(node, columns)
        ),
        2 * CANDIDATES_PER_WORD * n_words,
    )


def _compute_pair_npmi(meetings: Cooccurrence, columns: list[int]) -> Array:
    """Return the normalised pointwise mutual information of each pair of words as a matrix; −1 if they never meet."""
    joint_shares = meetings.count_pairs(columns) / max(meetings.n_docs, 1)
    single_shares = np.maximum(np.diag(joint_shares), TINY)
    safe = np.clip(joint_shares, TINY, 1 - 1e-12)
    npmi: Array = np.where(
        joint_shares > 0, np.log(safe / single_shares / single_shares[:, None]) / -np.log(safe), -1.0
    )
    return npmi


def subtract_error(share: Array, documents: float) -> Array:
    """Return shares of documents less 1.5 standard errors: few documents have many words by chance."""
    error = N_ERRORS * np.sqrt(share * np.maximum(1 - share, 0.0) / max(documents, 1.0))
    certain: Array = np.maximum(share - error, 0.0)
    return certain


def distinctiveness(share: Array, outside_share: Array, power: float = 1.0) -> Array:
    """Return p^power · log(p/q); 0 if a word is rarer than outside."""
    share = np.asarray(share, np.float64)
    scores: Array = share**power * np.log(np.maximum(share, TINY) / outside_share)
    return np.maximum(scores, 0.0)


def _pick_best(
    columns: Array, scores: Array, number: int, words: Sequence[str] | None, used_words: list[list[str]], meetings: Any
) -> list[int]:
    """Choose columns with high scores that occur together; add their words to ``used_words``."""
    places = find_highest(scores, CANDIDATES_PER_WORD * number + len(used_words))
    if not places:
        return []
    columns, candidate_scores = columns[places], scores[places].astype(np.float64)
    rivals: list[int] = columns.tolist()
    npmi = _compute_pair_npmi(meetings, rivals) if meetings is not None else np.zeros((len(rivals), len(rivals)))
    selected, agreement, waiting = list[int](), np.zeros(len(rivals)), np.ones(len(rivals), bool)
    stems = {part[:MIN_STEM] for other in used_words for part in other}  # variants have a common prefix
    while waiting.any() and len(selected) < number:
        value = np.where(
            waiting, candidate_scores * np.exp(AGREEMENT_WEIGHT * agreement / max(len(selected), 1)), -np.inf
        )
        best = np.flatnonzero(value == value.max())
        place = int(best[columns[best].argmin()])
        waiting[place] = False
        if words is not None:
            parts = words[rivals[place]].split()
            if parts[0][:MIN_STEM] in stems and any(is_variant(parts, other) for other in used_words):
                continue
            used_words.append(parts)
            stems |= {part[:MIN_STEM] for part in parts}
        selected.append(rivals[place])
        agreement += npmi[place]
    return selected
