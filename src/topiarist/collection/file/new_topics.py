"""New topics for documents that fit no topic: their common words, and the parent of the topic.

The documents are divided into groups by geometry, two by two, as guided growth divides a leaf. A group becomes a new
leaf if the words of one half of its documents make held-out tokens of the other half more probable. These tokens did
not place any document. So documents without common words propose nothing.

A leaf hangs from the node under which the held-out tokens of its documents are most probable (C4). Each level and each
word of its own costs one nat. Documents that share the words of a branch go under this branch, others under the root.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count as count_from
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.special import logsumexp

from topiarist.arrays import Array, Csr
from topiarist.collection.shape.edits import Branch
from topiarist.counts.counting import count, count_with_coverage
from topiarist.counts.lsi import compute_document_directions
from topiarist.counts.split import completion_split, split_tokens
from topiarist.counts.validation import count_tokens
from topiarist.errors import InputError
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.halves import split_in_two_means
from topiarist.models.misfits import Scores
from topiarist.text.documents import Document
from topiarist.trees.tree import Tree, make_child_name
from topiarist.trees.tree_model import TreeModel
from topiarist.trees.tree_text import DOT
from topiarist.trees.words import select_node_words

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

BY_WORDS, BY_TOPIC = "pays", "near"  # how a group was formed: by held-out words, or by the nearest topic
MIN_DOCUMENTS = 10  # documents of a group that may pay
NAME_WORDS = 2  # words in a name
MIN_SHARING = 2  # documents that must have a word, or a topic, in common
MAX_WORDS = 8  # words of a group
UNSEEN_TOKENS = 0.5  # assumed tokens of a word outside the vocabulary
DIMENSIONS = 20
STEPS = 30  # of EM between a leaf and the nodes above it
PRIOR_TOKENS = 3.0  # of the collection's words in a new leaf
TRAINING = 0.7  # share of tokens for the words of a leaf; the rest decides the levels
SPLIT_GAIN_RATIO = 1.05  # gain of two groups relative to one group, at least
MIN_GAIN = 0.05  # nats a token
MIN_CERTAINTY = 3.0  # standard errors of the gain
MAX_GROUPS = 8  # groups of documents that are tried
SEED = 0  # of the halves of documents and of the groups


@dataclass(frozen=True)
class NewTopic:
    """Topic that could be added to the tree."""

    under: int  # the topic that it would hang from
    name: str
    words: tuple[str, ...]
    documents: tuple[str, ...]  # ids
    how: str  # PAYS or NEAR
    gain: float = 0.0  # nats for each held-out word, where it pays

    @property
    def edit(self) -> Branch:
        """Edit that adds the topic."""
        return Branch(self.under, self.name, self.documents)


def propose_topics(
    collection: Collection, documents: Sequence[Document], topics: Sequence[int]
) -> tuple[NewTopic, ...]:
    """Return groups among documents that fit no topic; ``topics`` are those that they were filed under.

    Groups whose words make each other's held-out words more probable come first. Without any, the documents that were
    filed under the same topic are a group, which need not have a common subject.
    """
    document_words = _DocumentWords.of(collection, documents)
    by_words = _group_by_words(collection, documents, document_words)
    return by_words or _group_by_topic(documents, document_words, topics)


class _DocumentWords(NamedTuple):
    """Counts of documents, in words of the collection and in new words that several of them share."""

    counts: Csr
    words: tuple[str, ...]
    total: Any  # tokens of each word in the collection

    @classmethod
    def of(cls, collection: Collection, documents: Sequence[Document]) -> _DocumentWords:
        """Count documents, including words that are not in the vocabulary."""
        counting = collection.counting
        vocabulary, settings = counting.vocabulary, counting.settings
        texts = [counting.text_of(document) for document in documents]
        counts = counting.apply_word_edits(count_with_coverage(texts, vocabulary, settings).counts)
        try:
            unlimited = replace(settings, min_document_share=0.0, max_words=None, max_document_share=1.0)
            new_counts, new_vocabulary = count(texts, replace(unlimited, min_documents=MIN_SHARING))
        except InputError:  # no word that two of them share
            return cls(counts, vocabulary.words, vocabulary.totals)
        seen_words = count_with_coverage(new_vocabulary.words, vocabulary, settings, counting.general)
        new = np.flatnonzero(seen_words.known_tokens == 0)
        combined = csr_array(hstack([counts, new_counts[:, new]], format="csr"))
        words = (*vocabulary.words, *(new_vocabulary.words[column] for column in new))
        return cls(combined, words, np.concatenate([vocabulary.totals, np.zeros(len(new), np.int64)]))


def _extend_vocabulary(model: TreeModel, document_words: _DocumentWords) -> TreeModel:
    """Return the model with columns for new words, each as rare as a word of half a token."""
    missing = len(document_words.words) - model.word_given_node.shape[1]
    probability = UNSEEN_TOKENS / max(float(document_words.total.sum()), 1.0)
    words = model.word_given_node.astype(np.float64)
    words = np.hstack([words, np.full((len(words), missing), probability)])
    return replace(model, word_given_node=words / words.sum(axis=1, keepdims=True))


def _group_by_words(
    collection: Collection, documents: Sequence[Document], document_words: _DocumentWords
) -> tuple[NewTopic, ...]:
    """Return new topics that explain held-out words better, each document in one topic at most."""
    model, counts = _extend_vocabulary(collection.tree_model, document_words), document_words.counts
    share = len(documents) / max(len(collection) + len(documents), 1)
    proposals = propose_branches(model, counts, _score_hidden_words, share=share, min_documents=MIN_DOCUMENTS)
    used_rows: set[int] = set()
    topics = []
    for proposal in proposals:
        grafted_model = graft_leaf(model, proposal)
        leaf = grafted_model.class_nodes.index(len(model.tree))
        rows = np.flatnonzero(_compute_class_posterior(grafted_model, counts).argmax(axis=1) == leaf)
        leaf_rows = [int(row) for row in rows if int(row) not in used_rows]
        used_rows.update(leaf_rows)
        topic = collection.outline.node_topics[proposal.parent]
        if len(leaf_rows) >= MIN_DOCUMENTS and topic >= 0:
            words = tuple(document_words.words[column] for column in proposal.words)
            ids = tuple(documents[row].id for row in leaf_rows)
            if words:
                topics.append(NewTopic(topic, DOT.join(words[:NAME_WORDS]), words, ids, BY_WORDS, proposal.gain))
    return tuple(topics)


def _group_by_topic(
    documents: Sequence[Document], document_words: _DocumentWords, topics: Sequence[int]
) -> tuple[NewTopic, ...]:
    """Return documents grouped by their topic, the largest group first, without groups that share no word."""
    groups: dict[int, list[int]] = {}
    for row, topic in enumerate(topics):
        groups.setdefault(topic, []).append(row)
    groups_found = []
    for topic, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        if len(rows) < MIN_SHARING:
            continue
        frequency = np.asarray((document_words.counts[rows] > 0).sum(axis=0)).ravel()
        scores = np.where(frequency >= MIN_SHARING, frequency, 0) / np.log(math.e + np.maximum(document_words.total, 1))
        best = [int(column) for column in np.argsort(-scores, kind="stable")[:MAX_WORDS] if scores[column] > 0]
        words = tuple(document_words.words[column] for column in best)
        if words:
            ids = tuple(documents[row].id for row in rows)
            groups_found.append(NewTopic(topic, DOT.join(words[:NAME_WORDS]), words, ids, BY_TOPIC))
    return tuple(groups_found)


def _compute_class_posterior(model: TreeModel, counts: Csr) -> Any:
    """Return P(class|document) by all words of a document."""
    words = np.log(np.maximum(model.class_word_table(), SMALLEST_MIXTURE).astype(np.float64))
    logs = np.asarray(counts @ words) + np.log(np.maximum(model.class_prior, SMALLEST_MIXTURE))
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _score_hidden_words(model: TreeModel, observed: Csr, hidden: Csr) -> Scores:
    """Return the likelihood of hidden words, with documents placed by the observed ones."""
    rows, words = _compute_class_posterior(model, observed), model.class_word_table().astype(np.float64)
    documents = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    mixture = np.einsum("ec,ec->e", rows[documents], words[hidden.indices])
    logs = hidden.data * np.log(np.maximum(mixture, SMALLEST_MIXTURE))
    tokens = count_tokens(hidden)
    total = np.bincount(documents, logs, minlength=hidden.shape[0])
    return Scores(np.where(tokens > 0, total / np.maximum(tokens, 1), np.nan), tokens)


@dataclass(frozen=True, eq=False)
class BranchProposal:
    """Leaf that could be added to the tree, with its words and gain."""

    parent: int
    words: tuple[int, ...]  # columns of its characteristic words, best first
    documents: int  # documents of the group
    share: float  # of all documents
    gain: float  # in log-likelihood for each held-out token of these documents, nats
    error: float  # the standard error of the gain
    word_given_leaf: Array  # P(w|leaf)
    path_weights: Array  # P(a|leaf) from the root down, its own last

    def __repr__(self) -> str:
        return (
            f"<BranchProposal under node {self.parent}: {self.documents} documents, "
            f"gain {self.gain:.3f} ± {self.error:.3f} nats a token>"
        )


Score = Callable[[TreeModel, Csr, Csr], Scores]  # observed tokens place documents, hidden ones are scored


def propose_branches(
    model: TreeModel, counts: Csr, score: Score, *, share: float, min_documents: int
) -> tuple[BranchProposal, ...]:
    """Return leaves for documents that fit no topic, the largest gain first; empty if no group gains.

    ``counts`` are these documents, a ``share`` of all. ``score`` returns their likelihood under a model. A leaf has at
    least ``min_documents`` documents.
    """
    if counts.shape[0] < 2 * min_documents or not model.tree.children(model.tree.root):
        return ()
    observed, hidden = completion_split(counts, seed=SEED)
    scores_before = score(model, observed, hidden)
    document_share = share / counts.shape[0]

    def compute_gain(rows: Array) -> tuple[float, float, float]:
        """Return the gain per token, its standard error, and the total gain; each half tests the other."""
        gain = np.zeros(len(rows))
        for half in (0, 1):
            taught, tried = rows[half::2], rows[1 - half :: 2]
            leaf = _propose_leaf(model, observed[taught], document_share * len(rows))
            after = score(graft_leaf(model, leaf), observed[tried], hidden[tried])
            gain[1 - half :: 2] = (after.log_likelihood - scores_before.log_likelihood[tried]) * after.tokens
        tokens = np.maximum(scores_before.tokens[rows], 0.0)
        gain, total = np.nan_to_num(gain), max(float(tokens.sum()), 1.0)
        mean = float(gain.sum()) / total
        return mean, float(np.sqrt(((gain - mean * tokens) ** 2).sum())) / total, float(gain.sum())

    proposals = []
    for rows, (gain, error, total) in _select_groups(
        compute_document_directions(observed, DIMENSIONS, SEED), compute_gain, min_documents
    ):
        leaf = _propose_leaf(model, counts[rows], document_share * len(rows))
        grafted_model = graft_leaf(model, leaf)
        words = select_node_words(grafted_model.tree, grafted_model.word_given_node, MAX_WORDS)[len(model.tree)]
        proposals.append((total, replace(leaf, words=tuple(words.tolist()), gain=gain, error=error)))
    return tuple(proposal for _, proposal in sorted(proposals, key=lambda entry: -entry[0]))


def graft_leaf(model: TreeModel, branch: BranchProposal, name: str | None = None) -> TreeModel:
    """Return the model with one more leaf, its last node; classes at leaves keep the order of the leaves."""
    tree = model.tree
    parent = tree.check_node(branch.parent)
    if tree.is_leaf(parent):
        raise InputError(
            f"expected a parent that has children, got the leaf {parent}",
            hint="Propose branches again, because the tree changed.",
        )
    siblings = {tree.names[child] for child in tree.children(parent)}
    names = (make_child_name(tree.names[parent], position) for position in count_from(len(siblings) + 1))
    name = name or next(candidate for candidate in names if candidate not in siblings)
    new_tree = Tree((*tree.parents, parent), (*tree.names, name))
    path = [*tree.path(parent), len(tree)]
    mix = np.pad(model.node_given_class, ((0, 1), (0, 1)))
    mix[-1, path] = branch.path_weights
    words = np.concatenate([model.word_given_node, branch.word_given_leaf[None].astype(model.word_given_node.dtype)])
    prior = np.append(model.class_prior * (1.0 - branch.share), branch.share)
    nodes = (*model.class_nodes, len(tree))
    order = list(range(len(nodes)))
    if model.class_nodes == tree.leaves:
        order = [nodes.index(leaf) for leaf in new_tree.leaves]
    class_nodes = tuple(nodes[place] for place in order)
    return replace(
        model, tree=new_tree, class_nodes=class_nodes, word_given_node=words, node_given_class=mix[order],
        class_prior=prior[order],
    )  # fmt: skip


def _propose_leaf(model: TreeModel, counts: Csr, share: float) -> BranchProposal:
    """Return the leaf of documents under its best parent."""
    training, heldout = (
        np.asarray(part.sum(axis=0), np.float64).ravel()
        for part in split_tokens(counts, (TRAINING, 1.0 - TRAINING), seed=SEED)
    )
    columns = np.flatnonzero(training + heldout)
    collection = model.class_prior @ model.node_given_class @ model.word_given_node
    node_words = model.word_given_node[:, columns].astype(np.float64)
    best: tuple[float, int, Array, Array] | None = None
    for node in model.tree.depth_first():
        if model.tree.is_leaf(node):
            continue
        path = list(model.tree.path(node))
        figure, taken, weights = _fit_leaf(node_words[path], collection[columns], training[columns], heldout[columns])
        figure -= len(path) + np.count_nonzero(taken > training[columns] / 2)
        if best is None or figure > best[0]:
            best = (figure, node, taken, weights)
    assert best is not None  # noqa: S101  the root has children
    _, parent, taken, weights = best
    words = PRIOR_TOKENS * collection
    words[columns] += taken
    words /= words.sum()
    dtype = model.word_given_node.dtype
    return BranchProposal(parent, (), counts.shape[0], share, 0.0, 0.0, words.astype(dtype), weights)


def _fit_leaf(path_words: Array, collection: Array, training: Array, heldout: Array) -> tuple[float, Array, Array]:
    """Return the held-out log-likelihood, the training tokens of the leaf, and the weights of the path."""
    words = training + PRIOR_TOKENS * collection
    weights, leaf_tokens = np.full(len(path_words) + 1, 1.0 / (len(path_words) + 1)), training
    figure = 0.0
    for _ in range(STEPS):
        joint = weights[:, None] * np.vstack([path_words, words / words.sum()])
        total = np.maximum(joint.sum(axis=0), 1e-300)
        figure = float(heldout @ np.log(total))
        joint /= total
        leaf_tokens = training * joint[-1]
        words = leaf_tokens + PRIOR_TOKENS * collection
        weights = joint @ heldout + 1e-9
        weights /= weights.sum()
    return figure, leaf_tokens, weights


GroupGain = tuple[float, float, float]


def _select_groups(
    vectors: Array, compute_gain: Callable[[Array], GroupGain], min_documents: int
) -> list[tuple[Array, GroupGain]]:
    """Return the disjoint groups with the largest total gain, each with a significant gain."""
    groups, leaves = [np.arange(len(vectors))], [0]
    splits: dict[int, tuple[int, int]] = {}
    while leaves and len(leaves) + len(splits) < MAX_GROUPS:
        largest = max(leaves, key=lambda place: len(groups[place]))
        leaves.remove(largest)
        side = split_in_two_means(vectors[groups[largest]], SEED, min_documents)[1]
        if side is not None:
            splits[largest] = (len(groups), len(groups) + 1)
            leaves += splits[largest]
            groups += [groups[largest][side], groups[largest][~side]]
    best: dict[int, tuple[float, list[tuple[Array, GroupGain]]]] = {}
    for place in reversed(range(len(groups))):
        gain, error, total = compute_gain(groups[place])
        pays = gain >= MIN_GAIN and gain >= MIN_CERTAINTY * error
        best[place] = (total, [(groups[place], (gain, error, total))]) if pays else (0.0, [])
        if place in splits:
            parts = [best[part] for part in splits[place]]
            joint_gain = sum(part[0] for part in parts)
            if joint_gain > SPLIT_GAIN_RATIO * best[place][0]:
                best[place] = (joint_gain, [entry for part in parts for entry in part[1]])
    return best[0][1]
