"""Words that describe nodes by documents instead of tokens.

With p the share of a node's documents that have a word and q its share among all other documents, a word describes a
node by p · log(p/q): one long document full of a word does not count for more than one document. A word of a heading
must be telling for what is below it, not for one child: its p is the mean of roots over the children, squared, which a
word of one child does not get far with. What stands at a node is not said again below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.counts.room import row_runs
from topiarist.counts.validation import column_totals
from topiarist.hierarchy.growth.headings import outside
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.words import STEM, is_variant
from topiarist.models.word_meetings import WordMeetings

RIVALS = 3  # words looked at for each that describes a node
ALL = slice(None)  # of the words
BLOCK = 1 << 18  # documents whose words are in memory together
AGREEMENT = 2.0  # how much words that occur in the same documents are preferred


@dataclass(frozen=True, eq=False)
class Presence:
    """How many of each node's documents have each word, both expected: a document counts by its share in the node."""

    tree: Tree
    have: Array  # (n_nodes, n_words)
    documents: Array  # (n_nodes,)

    def words(self, node: int) -> Array:
        """The columns of the words that a document of the node has: of no other anything can be told there."""
        columns: Array = np.flatnonzero(self.have[node])
        return columns

    def shares(self, node: int, columns: Any = ALL) -> Array:
        """The share of the documents of a node that have each word; for a heading the root mean of its children's."""
        below = list(self.tree.children(node))
        if not below:
            return self.plain_shares(node, columns)
        weight = self.documents[below] / max(float(self.documents[below].sum()), 1e-12)
        each = np.stack([self.have[child][columns] for child in below])
        each = each / np.maximum(self.documents[below], 1e-12)[:, None]
        mean: Array = (weight @ np.sqrt(each)) ** 2
        return mean

    def plain_shares(self, node: int, columns: Any = ALL) -> Array:
        """The share of the documents at or under a node that have each word."""
        share: Array = self.have[node][columns] / max(float(self.documents[node]), 1e-12)
        return share

    def elsewhere(self, node: int, columns: Any = ALL) -> Array:
        """The share of the other documents that have each word."""
        have, documents, root = self.have, self.documents, self.tree.root
        return outside(have[root][columns], float(documents[root]), have[node][columns], float(documents[node]))


def presence_of(tree: Tree, class_nodes: Sequence[int], shares: Any, counts: Any) -> Presence:
    """From the shares of documents in classes (documents × classes) and their counts (documents × words)."""
    shares, counts = csr_array(shares), csr_array(counts)
    by_class: Array = np.zeros((shares.shape[1], counts.shape[1]), np.float32)
    for here, some in row_runs(counts, BLOCK):
        has = csr_array((np.ones(len(some.data), np.float32), some.indices, some.indptr), shape=some.shape)
        by_class += csr_array(shares[here].T).astype(np.float32) @ has
    mask = tree.path_mask(class_nodes).astype(np.float32)
    sizes = column_totals(shares)
    return Presence(tree, mask.T @ by_class, mask.T.astype(np.float64) @ sizes)


def describing_words(
    presence: Presence,
    n_words: int = 10,
    *,
    counts: Any = None,
    words: Sequence[str] | None = None,
    empty: Any = None,
    first: Mapping[int, Sequence[int]] | None = None,
) -> list[Array]:
    """The columns of the words that describe each node, the most telling first; the root's are the most
    frequent of all others.

    Words of ancestors are left out, and so are variants of words already there if ``words`` are given, and words
    marked as ``empty``. With the ``counts`` of the documents, of the 3 × ``n_words`` most telling words those are
    taken that occur in the same documents as the ones before them: a word's score is multiplied by the exponential of
    twice its mean normalised mutual information with these. Columns that are to come ``first`` at a node do, if any of
    its documents has them.
    """
    tree = presence.tree
    meetings = None if counts is None else WordMeetings.of(csr_array(counts))
    chosen: list[Array] = [np.empty(0, np.int64)] * len(tree)
    above: list[list[int]] = [[] for _ in range(len(tree))]
    for node in tree.depth_first():
        if node == tree.root:
            continue
        parent = tree.parents[node]
        columns = presence.words(node)
        own = telling(presence.shares(node, columns), presence.elsewhere(node, columns)).astype(np.float32)
        if empty is not None:
            own[empty[columns]] = 0.0
        said = [words[column].split() for column in above[parent]] if words is not None else []
        wanted = [column for column in (first or {}).get(node, ()) if presence.have[node, column] > 0][:n_words]
        own[np.isin(columns, [*above[parent], *wanted])] = 0.0
        said += [words[column].split() for column in wanted] if words is not None else []
        others = _best(columns, own, n_words - len(wanted), words, said, meetings) if len(wanted) < n_words else []
        chosen[node] = np.array([*wanted, *others], np.int64)
        above[node] = [*above[parent], *chosen[node].tolist()]
    frequent = np.array(presence.have[tree.root])
    if len(tree) > 1:  # what tells of a node below is not for all
        frequent[np.concatenate([chosen[node] for node in range(len(tree)) if node != tree.root])] = 0.0
    chosen[tree.root] = np.array(highest(frequent, n_words), np.int64)
    return chosen


def rival_words(presence: Presence, n_words: int) -> Array:
    """The columns of all words that ``describing_words`` may choose from."""
    found = np.zeros(presence.have.shape[1], bool)
    for node in range(len(presence.tree)):
        if node != presence.tree.root:
            here = presence.words(node)
            scores = telling(presence.shares(node, here), presence.elsewhere(node, here))
            found[here[highest(scores, 2 * RIVALS * n_words)]] = True
    columns: Array = np.flatnonzero(found)
    return columns


def _agreement(meetings: WordMeetings, columns: list[int]) -> Array:
    """Normalised pointwise mutual information of some words, by documents."""
    both = meetings.among(columns) / max(meetings.n_docs, 1)
    alone = np.maximum(np.diag(both), 1e-300)
    safe = np.clip(both, 1e-300, 1 - 1e-12)
    npmi: Array = np.where(both > 0, np.log(safe / alone / alone[:, None]) / -np.log(safe), -1.0)
    return npmi


def telling(share: Array, elsewhere: Array, power: float = 1.0) -> Array:
    """p^power · log(p/q), 0 where a word is rarer than elsewhere."""
    share = np.asarray(share, np.float64)
    scores: Array = share**power * np.log(np.maximum(share, 1e-300) / elsewhere)
    return np.maximum(scores, 0.0)


def _best(
    columns: Array, scores: Array, number: int, words: Sequence[str] | None, said: list[list[str]], meetings: Any
) -> list[int]:
    """The columns of the highest scores; a score counts more if its word goes together with those picked before."""
    places = highest(scores, RIVALS * number + len(said))
    if not places:
        return []
    columns, own = columns[places], scores[places].astype(np.float64)
    rivals: list[int] = columns.tolist()
    npmi = _agreement(meetings, rivals) if meetings is not None else np.zeros((len(rivals), len(rivals)))
    picked, together, waiting = list[int](), np.zeros(len(rivals)), np.ones(len(rivals), bool)
    begun = {part[:STEM] for other in said for part in other}  # variants begin alike
    while waiting.any() and len(picked) < number:
        value = np.where(waiting, own * np.exp(AGREEMENT * together / max(len(picked), 1)), -np.inf)
        best = np.flatnonzero(value == value.max())
        place = int(best[columns[best].argmin()])
        waiting[place] = False
        if words is not None:
            parts = words[rivals[place]].split()
            if parts[0][:STEM] in begun and any(is_variant(parts, other) for other in said):
                continue
            said.append(parts)
            begun |= {part[:STEM] for part in parts}
        picked.append(rivals[place])
        together += npmi[place]
    return picked


def highest(scores: Array, most: int) -> list[int]:
    """The columns of the highest positive scores, equal ones in their order."""
    most = min(most, len(scores))
    some = np.argpartition(-scores, most - 1)[:most] if most < len(scores) else np.arange(len(scores))
    least = scores[some].min() if len(some) else 0.0
    columns = np.flatnonzero((scores >= least) & (scores > 0))
    ranked: list[int] = columns[np.lexsort((columns, -scores[columns]))][:most].tolist()
    return ranked
