"""New branches for a tree that a stream has outgrown: documents that fit badly, and the leaves that would hold them.

The documents are divided into groups by geometry, two by two, as guided growth divides a leaf. A group is a new leaf if
it pays: the words of one half of its documents must make tokens of the other half's documents more probable, tokens
that placed nobody. So strange documents that have nothing in common propose nothing, however strange they are.

A leaf hangs from the node under which its documents' held-out tokens are most probable (C4), with a nat to pay for each
level and for each word that is the leaf's own: under a branch if they speak the branch's words, else under the root.

A stream goes on with a tree that got a leaf (``Graft``). The documents of the leaf have been counted where they did not
belong. So every count gives the leaf's share away, and the leaf and the nodes above it receive as much, by the weights
of the path: no token is won or lost, and nothing is read off smoothed parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from topiarist.arrays import Array, Csr
from topiarist.counts.lsi import document_directions
from topiarist.counts.split import completion_split, split_tokens
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree, child_name
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.hierarchy.words import node_words
from topiarist.models.halves import two_means
from topiarist.models.misfits import Scores
from topiarist.models.online import wider

DIMENSIONS = 20
STEPS = 30  # of EM between a leaf and the nodes above it
PRIOR_TOKENS = 3.0  # of the collection's words in a new leaf
TRAINING = 0.7  # share of the tokens that tell a leaf's words; the rest tell the levels
CLEARLY = 1.05  # two groups must gain so many times as much as one


@dataclass(frozen=True)
class Wanted:
    """What a group must have to be proposed."""

    documents: int = 20
    gain: float = 0.05  # nats a token
    certainty: float = 3.0  # standard errors
    groups: int = 8  # that are looked at, at most


@dataclass(frozen=True, eq=False)
class BranchProposal:
    """A leaf that the tree might get."""

    parent: int
    words: tuple[int, ...]  # the columns of the words that describe it, the most telling first
    documents: int  # of the sample that fits badly
    share: float  # of the stream's documents
    gain: float  # in log-likelihood for each held-out token of these documents, nats
    error: float  # the standard error of the gain
    word_given_leaf: Array  # P(w|leaf)
    path_weights: Array  # P(a|leaf) from the root down, its own last

    def __repr__(self) -> str:
        return (
            f"<BranchProposal under node {self.parent}: {self.documents} documents, "
            f"gain {self.gain:.3f} ± {self.error:.3f} nats a token>"
        )


Crown = TreeModel  # as it was called until version 0.1
Score = Callable[[TreeModel, Csr, Csr], Scores]  # observed tokens place documents, hidden ones are scored


def propose_branches(
    model: TreeModel,
    counts: Csr,
    score: Score,
    *,
    share: float = 0.01,
    n_words: int = 8,
    wanted: Wanted | None = None,
    seed: int = 0,
) -> tuple[BranchProposal, ...]:
    """Leaves for documents that fit badly, those that gain most first; none where nothing pays.

    ``counts`` are these documents, a ``share`` of all. ``score`` says what they are worth under a model.
    """
    wanted = wanted or Wanted()
    if counts.shape[0] < 2 * wanted.documents or not model.tree.children(model.tree.root):
        return ()
    observed, hidden = completion_split(counts, seed=seed)
    before = score(model, observed, hidden)
    each = share / counts.shape[0]

    def judged(rows: Array) -> tuple[float, float, float]:
        """The gain for each token, its standard error, and the whole gain; half by half."""
        gain = np.zeros(len(rows))
        for half in (0, 1):
            taught, tried = rows[half::2], rows[1 - half :: 2]
            leaf = _leaf(model, observed[taught], each * len(rows), seed)
            after = score(grafted(model, leaf), observed[tried], hidden[tried])
            gain[1 - half :: 2] = (after.log_likelihood - before.log_likelihood[tried]) * after.tokens
        tokens = np.maximum(before.tokens[rows], 0.0)
        gain, total = np.nan_to_num(gain), max(float(tokens.sum()), 1.0)
        mean = float(gain.sum()) / total
        return mean, float(np.sqrt(((gain - mean * tokens) ** 2).sum())) / total, float(gain.sum())

    proposals = []
    for rows, (gain, error, total) in _paying(document_directions(observed, DIMENSIONS, seed), judged, wanted, seed):
        leaf = _leaf(model, counts[rows], each * len(rows), seed)
        grown = grafted(model, leaf)
        words = node_words(grown.tree, grown.word_given_node, n_words)[len(model.tree)]
        proposals.append((total, replace(leaf, words=tuple(words.tolist()), gain=gain, error=error)))
    return tuple(proposal for _, proposal in sorted(proposals, key=lambda entry: -entry[0]))


def grafted(model: TreeModel, branch: BranchProposal, name: str | None = None) -> TreeModel:
    """The model with one more leaf: the last node. Classes at leaves stay in the order of the leaves."""
    tree = model.tree
    parent = tree.checked(branch.parent)
    if tree.is_leaf(parent):
        raise InputError(
            f"expected a parent that has children, got the leaf {parent}",
            hint="propose branches again: the tree changed",
        )
    siblings = {tree.names[child] for child in tree.children(parent)}
    numbered = (child_name(tree.names[parent], position) for position in count(len(siblings) + 1))
    name = name or next(own for own in numbered if own not in siblings)
    grown = Tree((*tree.parents, parent), (*tree.names, name))
    path = [*tree.path(parent), len(tree)]
    mix = np.pad(model.node_given_class, ((0, 1), (0, 1)))
    mix[-1, path] = branch.path_weights
    words = np.concatenate([model.word_given_node, branch.word_given_leaf[None].astype(model.word_given_node.dtype)])
    prior = np.append(model.class_prior * (1.0 - branch.share), branch.share)
    nodes = (*model.class_nodes, len(tree))
    order = list(range(len(nodes)))
    if model.class_nodes == tree.leaves:
        order = [nodes.index(leaf) for leaf in grown.leaves]
    return TreeModel(grown, tuple(nodes[place] for place in order), words, mix[order], prior[order])


def _leaf(model: TreeModel, counts: Csr, share: float, seed: int) -> BranchProposal:
    """The leaf of some documents, under the parent that suits it best."""
    training, heldout = (
        np.asarray(part.sum(axis=0), np.float64).ravel()
        for part in split_tokens(counts, (TRAINING, 1.0 - TRAINING), seed=seed)
    )
    said = np.flatnonzero(training + heldout)
    collection = model.class_prior @ model.node_given_class @ model.word_given_node
    own = model.word_given_node[:, said].astype(np.float64)
    best: tuple[float, int, Array, Array] | None = None
    for node in model.tree.depth_first():
        if model.tree.is_leaf(node):
            continue
        path = list(model.tree.path(node))
        figure, taken, weights = _fitted(own[path], collection[said], training[said], heldout[said])
        figure -= len(path) + np.count_nonzero(taken > training[said] / 2)
        if best is None or figure > best[0]:
            best = (figure, node, taken, weights)
    assert best is not None  # noqa: S101  the root has children
    _, parent, taken, weights = best
    words = PRIOR_TOKENS * collection
    words[said] += taken
    words /= words.sum()
    dtype = model.word_given_node.dtype
    return BranchProposal(parent, (), counts.shape[0], share, 0.0, 0.0, words.astype(dtype), weights)


def _fitted(above: Array, collection: Array, training: Array, heldout: Array) -> tuple[float, Array, Array]:
    """Log-likelihood of the held-out tokens, what the leaf has of the training tokens, and the weights of the path."""
    words = training + PRIOR_TOKENS * collection
    weights, taken = np.full(len(above) + 1, 1.0 / (len(above) + 1)), training
    figure = 0.0
    for _ in range(STEPS):
        joint = weights[:, None] * np.vstack([above, words / words.sum()])
        total = np.maximum(joint.sum(axis=0), 1e-300)
        figure = float(heldout @ np.log(total))
        joint /= total
        taken = training * joint[-1]
        words = taken + PRIOR_TOKENS * collection
        weights = joint @ heldout + 1e-9
        weights /= weights.sum()
    return figure, taken, weights


Verdict = tuple[float, float, float]


def _paying(
    vectors: Array, judged: Callable[[Array], Verdict], wanted: Wanted, seed: int
) -> list[tuple[Array, Verdict]]:
    """The groups, none within another, that gain most together; each of them pays."""
    groups, open_ = [np.arange(len(vectors))], [0]
    splits: dict[int, tuple[int, int]] = {}
    while open_ and len(open_) + len(splits) < wanted.groups:
        largest = max(open_, key=lambda place: len(groups[place]))
        open_.remove(largest)
        side = two_means(vectors[groups[largest]], seed, wanted.documents)[1]
        if side is not None:
            splits[largest] = (len(groups), len(groups) + 1)
            open_ += splits[largest]
            groups += [groups[largest][side], groups[largest][~side]]
    best: dict[int, tuple[float, list[tuple[Array, Verdict]]]] = {}
    for place in reversed(range(len(groups))):
        gain, error, total = judged(groups[place])
        pays = gain >= wanted.gain and gain >= wanted.certainty * error
        best[place] = (total, [(groups[place], (gain, error, total))]) if pays else (0.0, [])
        if place in splits:
            parts = [best[part] for part in splits[place]]
            together = sum(part[0] for part in parts)
            if together > CLEARLY * best[place][0]:
                best[place] = (together, [entry for part in parts for entry in part[1]])
    return best[0][1]


@dataclass(frozen=True, eq=False)
class Graft:
    """The tree before and after."""

    model: TreeModel
    grown: TreeModel
    branch: BranchProposal

    @classmethod
    def of(cls, model: TreeModel, branch: BranchProposal, name: str | None, tokens: float) -> Graft:
        """A leaf of so many tokens; words that came after the proposal begin there as at every node."""
        n_words, own = model.word_given_node.shape[1], branch.word_given_leaf
        if len(own) < n_words:
            own = wider(own[None], np.array([tokens]), n_words)[0]
        return cls(model, grafted(model, replace(branch, word_given_leaf=own), name), branch)

    def words(self, counts: Array) -> Array:
        """Counts of words (nodes, words); the leaf is the last node."""
        share, own = self.branch.share, self.branch.word_given_leaf
        totals = counts.sum(axis=1, dtype=np.float64)
        received = share * totals.sum() * self.branch.path_weights
        kept = np.full(len(counts), 1.0 - share)
        above = list(self.model.tree.path(self.branch.parent))
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
            path = [*self.model.tree.path(self.branch.parent), len(self.model.tree)]
            out[-1, path] = share * total * self.branch.path_weights
        nodes = (*self.model.class_nodes, len(self.model.tree))
        return out[[nodes.index(node) for node in self.grown.class_nodes]]
