"""A leaf that a stream's tree gets: what becomes of the stream's expected counts.

The documents of the leaf have been counted where they did not belong. So every count gives the leaf's share away, and
the leaf and the nodes above it receive as much, by the weights of the path: no token is won or lost, and nothing is
read off smoothed parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topiarist.hierarchy.branches import Array, BranchProposal, Crown, grafted
from topiarist.models.online import wider


@dataclass(frozen=True, eq=False)
class Graft:
    """The tree before and after."""

    crown: Crown
    grown: Crown
    branch: BranchProposal

    @classmethod
    def of(cls, crown: Crown, branch: BranchProposal, name: str | None, tokens: float) -> Graft:
        """A leaf of so many tokens; words that came after the proposal begin there as at every node."""
        n_words, own = crown.word_given_node.shape[1], branch.word_given_leaf
        if len(own) < n_words:
            own = wider(own[None], np.array([tokens]), n_words)[0]
        return cls(crown, grafted(crown, replace(branch, word_given_leaf=own), name), branch)

    def words(self, counts: Array) -> Array:
        """Counts of words (nodes, words); the leaf is the last node."""
        share, own = self.branch.share, self.branch.word_given_leaf
        totals = counts.sum(axis=1, dtype=np.float64)
        received = share * totals.sum() * self.branch.path_weights
        kept = np.full(len(counts), 1.0 - share)
        above = list(self.crown.tree.path(self.branch.parent))
        kept[above] += received[:-1] / np.where(totals[above] > 0, totals[above], np.inf)
        out = np.zeros((len(counts) + 1, counts.shape[1]), counts.dtype)
        np.multiply(counts, kept.astype(counts.dtype)[:, None], out=out[:-1])
        out[-1, : len(own)] = own * received[-1]
        return out

    def classes(self, counts: Array) -> Array:
        """Counts of classes, (classes,) or (classes, nodes), in the order of the grown tree's."""
        share, total = self.branch.share, counts.sum(dtype=np.float64)
        out = np.pad(counts * (1.0 - share), ((0, 1),) * counts.ndim).astype(counts.dtype)
        if counts.ndim == 1:
            out[-1] = share * total
        else:
            path = [*self.crown.tree.path(self.branch.parent), len(self.crown.tree)]
            out[-1, path] = share * total * self.branch.path_weights
        nodes = (*self.crown.class_nodes, len(self.crown.tree))
        return out[[nodes.index(node) for node in self.grown.class_nodes]]
