"""Coarse-to-fine search: the path of matches down the tree, with one level of look-ahead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topiarist.arrays import Array
from topiarist.collection.search.hits import count_hits_by_node

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

CLEAR_SHARE = 2 / 3  # of a topic's matches in one subtopic: then the words decide the way
N_WORDS = 5


@dataclass(frozen=True)
class Subtopic:
    """Topic with its words and the number of matches that it would keep."""

    topic: int
    name: str
    words: tuple[str, ...]
    documents: int

    def to_dict(self) -> dict[str, Any]:
        return {"topic": self.topic, "name": self.name, "words": list(self.words), "documents": self.documents}


@dataclass(frozen=True)
class Step:
    """Topic on the path, with the subtopics that keep matches, the largest number first."""

    branch: Subtopic
    below: tuple[Subtopic, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**self.branch.to_dict(), "below": [branch.to_dict() for branch in self.below]}


@dataclass(frozen=True)
class Descent:
    """Steps down the tree, from the whole tree or a topic to the last topic that the words decide."""

    steps: tuple[Step, ...]

    @property
    def choices(self) -> tuple[Subtopic, ...]:
        """Subtopics of the last step, among which the user decides; empty at a leaf."""
        return self.steps[-1].below

    def to_dict(self) -> dict[str, Any]:
        return {"steps": [step.to_dict() for step in self.steps], "open": bool(self.choices)}


def descend(collection: Collection, rows: Array, topic: int | str | None = None) -> Descent:
    """Follow the matches ``rows`` down the tree, while one subtopic keeps two thirds of the matches of its parent."""
    outline = collection.outline
    root = outline.tree.root
    node = root if topic is None else outline.node(outline.find(topic))

    def describe(child: int, count: int) -> Subtopic:
        words = () if child == root else collection.tree.nodes[child].words[:N_WORDS]  # the root has general words
        return Subtopic(outline.topics[child], outline.tree.names[child], words, count)

    return follow(
        node,
        outline.tree.children,
        count_hits_by_node(collection, rows),
        describe,
    )


def follow(
    node: int, children: Callable[[int], Any], counts: Array, describe: Callable[[int, int], Subtopic]
) -> Descent:
    """Return the steps from a node down, for the number of matches under each node."""
    steps = []
    while True:
        below = sorted((child for child in children(node) if counts[child]), key=lambda child: -counts[child])
        steps.append(
            Step(describe(node, int(counts[node])), tuple(describe(child, int(counts[child])) for child in below))
        )
        if not below or counts[below[0]] < CLEAR_SHARE * counts[node]:
            return Descent(tuple(steps))
        node = below[0]
