"""The topics of an index: the words that tell each of them, and the way of a query down the tree.

Coarse to fine: each step shows the branches with one level of look-ahead. P(node|query) is the sum of P(class|query)
over the classes at or below the node, so the numbers of a level never exceed that of the node above.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.describe.flat_topics import distinctive
from topiarist.collection.find.index.answers import Branch, Step
from topiarist.errors import UsageError
from topiarist.hierarchy import Tree
from topiarist.hierarchy.words import node_words
from topiarist.models.fisher.scores import Lens

N_WORDS = 8

Words = tuple[tuple[str, ...], ...]  # of each topic, or of each class


def told(lens: Lens, found: Any, words: Any) -> tuple[Words, Words]:
    """The words of the topics and of the classes of a model; ``found`` is its tree and the nodes of its classes."""
    if found is not None:
        tree, class_nodes = found
        chosen = node_words(tree, np.ascontiguousarray(lens.by_word.T), N_WORDS, words=words)
        of_nodes = tuple(named(words, columns.tolist()) for columns in chosen)
        return of_nodes, tuple(of_nodes[node] for node in class_nodes)
    prior = np.asarray(lens.class_prior, np.float64)
    if lens.mix is None:
        of_topics = _flat(lens.by_word.T, prior, words)
        return of_topics, of_topics
    return _flat(lens.by_word.T, prior @ lens.mix, words), _flat(lens.class_word_table().T, prior, words)


def named(words: Any, columns: Iterable[int]) -> tuple[str, ...]:
    """Words by their columns; the columns themselves where words are not known."""
    return tuple(str(column) if words is None else str(words[column]) for column in columns)


def _flat(probability: Any, prior: Floats, words: Any) -> Words:
    """The words that set each topic apart from the others; the most probable ones where nothing does."""
    probability = np.ascontiguousarray(probability)
    scores = distinctive(probability, prior) if len(probability) > 1 else probability
    return tuple(named(words, np.argsort(-row, kind="stable")[:N_WORDS].tolist()) for row in scores)


@dataclass(frozen=True)
class Shape:
    """The tree of one of the models: the node of each class, and the words of each node."""

    tree: Tree
    class_nodes: tuple[int, ...]
    model: int
    words: tuple[tuple[str, ...], ...]

    def places(self, rows: Any) -> Any:
        """The node of the most probable class of each document."""
        return np.asarray(self.class_nodes, np.int32)[np.asarray(rows).argmax(axis=1)]

    def number(self, node: Any) -> int:
        """A node given by its number, name or path."""
        return self.tree.checked(int(node)) if isinstance(node, int | np.integer) else self.tree.find(node)

    def below(self, node: Any) -> Any:
        """For each node whether it is this one or lies under it."""
        number = self.number(node)
        mask = np.zeros(len(self.tree), bool)
        mask[[number, *self.tree.descendants(number)]] = True
        return mask


def walk(shape: Shape, class_given_query: Any, nodes: Sequence[Any], node: Any = None) -> tuple[Step, ...]:
    """The steps from the root along the most probable branches; only the one at ``node``, if it is given.

    ``nodes`` are those of the documents, by segment.
    """
    tree = shape.tree
    reach = class_given_query @ tree.path_mask(shape.class_nodes)
    held = np.sum([np.bincount(part, minlength=len(tree)) for part in nodes], axis=0)
    documents = held @ tree.path_mask(range(len(tree)))
    if node is not None:
        return (look(shape, reach, documents, shape.number(node)),)
    here, steps = tree.root, []
    while True:
        step = look(shape, reach, documents, here)
        steps.append(step)
        if not step.branches:
            return tuple(steps)
        here = step.branches[0].node


def look(shape: Shape, reach: Any, documents: Any, node: int) -> Step:
    """One step: a node, its branches, and what lies below them."""

    def branch(number: int, ahead: int) -> Branch:
        children = sorted(shape.tree.children(number), key=lambda child: (-reach[child], child)) if ahead else []
        return Branch(
            number, shape.tree.names[number], shape.words[number], float(reach[number]), int(documents[number]),
            tuple(branch(child, ahead - 1) for child in children),
        )  # fmt: skip

    whole = branch(node, 2)
    return Step(branch(node, 0), whole.below)


def no_tree() -> UsageError:
    """What to say where none of the models has a tree."""
    return UsageError("none of the models of this index has a tree", hint="FisherKernel([1, 64, CAM().fit(counts)])")
