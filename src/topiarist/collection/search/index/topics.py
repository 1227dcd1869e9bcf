"""Topics of an index: their words, and the path of a query down the tree.

Each step shows the branches with one level of look-ahead. P(node|query) is the sum of P(class|query) over the classes
at or below the node, so the numbers of a level never exceed the number of the node above.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.describe.flat_topics import distinctive
from topiarist.models.fisher.scores import KernelView
from topiarist.trees import Tree
from topiarist.trees.words import select_node_words

N_WORDS = 8

Words = tuple[tuple[str, ...], ...]  # of each topic, or of each class


@dataclass(frozen=True)
class Branch:
    """Node that a query may lead to, with its words, probability, documents and children."""

    node: int
    name: str
    words: tuple[str, ...]
    probability: float
    documents: int
    below: tuple[Branch, ...] = ()


@dataclass(frozen=True)
class Step:
    """One level of the path of a query down the tree, with the most probable branch first."""

    branch: Branch
    branches: tuple[Branch, ...]


def list_topic_words(lens: KernelView, model_tree: Any, words: Any) -> tuple[Words, Words]:
    """Return the words of the topics and classes of a model; ``model_tree`` is its tree with class nodes, or None."""
    if model_tree is not None:
        tree, class_nodes = model_tree
        node_columns = select_node_words(tree, np.ascontiguousarray(lens.by_word.T), N_WORDS, words=words)
        of_nodes = tuple(list_words(words, columns.tolist()) for columns in node_columns)
        return of_nodes, tuple(of_nodes[node] for node in class_nodes)
    prior = np.asarray(lens.class_prior, np.float64)
    if lens.mix is None:
        of_topics = _list_distinctive_words(lens.by_word.T, prior, words)
        return of_topics, of_topics
    return _list_distinctive_words(lens.by_word.T, prior @ lens.mix, words), _list_distinctive_words(
        lens.class_word_table().T, prior, words
    )


def list_words(words: Any, columns: Iterable[int]) -> tuple[str, ...]:
    """Return words by their columns; return the columns as texts without a vocabulary."""
    return tuple(str(column) if words is None else str(words[column]) for column in columns)


def _list_distinctive_words(probability: Any, prior: Floats, words: Any) -> Words:
    """Return the most distinctive words of each topic; of a single topic the most probable words."""
    probability = np.ascontiguousarray(probability)
    scores = distinctive(probability, prior) if len(probability) > 1 else probability
    return tuple(list_words(words, np.argsort(-row, kind="stable")[:N_WORDS].tolist()) for row in scores)


@dataclass(frozen=True)
class Shape:
    """Tree of one of the models, with the node of each class and the words of each node."""

    tree: Tree
    class_nodes: tuple[int, ...]
    model: int
    words: tuple[tuple[str, ...], ...]

    def places(self, rows: Any) -> Any:
        """Return the node of the most probable class of each document."""
        return np.asarray(self.class_nodes, np.int32)[np.asarray(rows).argmax(axis=1)]

    def number(self, node: Any) -> int:
        """Return a node by its number, name or path."""
        return self.tree.check_node(int(node)) if isinstance(node, int | np.integer) else self.tree.find(node)


def descend_tree(shape: Shape, class_given_query: Any, nodes: Sequence[Any], node: Any = None) -> tuple[Step, ...]:
    """Return the steps from the root along the most probable branches, or only the step at ``node``.

    ``nodes`` are the nodes of the documents of each segment.
    """
    tree = shape.tree
    reach = class_given_query @ tree.path_mask(shape.class_nodes)
    node_documents = np.sum([np.bincount(part, minlength=len(tree)) for part in nodes], axis=0)
    documents = node_documents @ tree.path_mask(range(len(tree)))
    if node is not None:
        return (build_step(shape, reach, documents, shape.number(node)),)
    current, steps = tree.root, []
    while True:
        step = build_step(shape, reach, documents, current)
        steps.append(step)
        if not step.branches:
            return tuple(steps)
        current = step.branches[0].node


def build_step(shape: Shape, reach: Any, documents: Any, node: int) -> Step:
    """Return the step at a node, its branches and the nodes below these.

    By node, ``reach`` has P(node|query) and ``documents`` the number of documents at or below.
    """

    def branch(number: int, n_levels: int) -> Branch:
        children = sorted(shape.tree.children(number), key=lambda child: (-reach[child], child)) if n_levels else []
        return Branch(
            number, shape.tree.names[number], shape.words[number], float(reach[number]), int(documents[number]),
            tuple(branch(child, n_levels - 1) for child in children),
        )  # fmt: skip

    branch_ahead = branch(node, 2)
    return Step(branch(node, 0), branch_ahead.below)
