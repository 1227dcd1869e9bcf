"""Edited tree of a collection as one frozen value that is stored in the edit log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar

from topiarist.errors import MissingError, UsageError, reading
from topiarist.text.characters import clean_name
from topiarist.text.query import UNSORTED
from topiarist.text.spelling import format_proposals
from topiarist.trees.edits import Edit
from topiarist.trees.tree import Tree
from topiarist.trees.tree_text import JOINT

MAX_SHOWN = 5  # topics in a message
STORED_NAMES = {"merged_topics": "held", "added_topics": "grafted", "heading_topics": "gathered"}  # in the edit log
T = TypeVar("T")


@dataclass(frozen=True)
class TreeState:
    """Edited tree whose nodes are *topics* with permanent numbers.

    The model has classes and nodes in the tree that it was fitted to. ``class_topics`` and ``node_topics`` map them to
    their present topics (−1: a removed node), so that every edit takes effect at once. ``pending`` is true if the
    model must be fitted again.
    """

    tree: Tree  # names of topics by users, or else their words
    topics: tuple[int, ...]  # of each node
    class_topics: tuple[int, ...]  # of each class of the model
    node_topics: tuple[int, ...]  # of each node of the model
    titles: Mapping[int, str] = field(default_factory=dict)  # names by users
    notes: Mapping[int, str] = field(default_factory=dict)
    pins: Mapping[str, int] = field(default_factory=dict)  # topic of each pinned document, by id
    merged_topics: frozenset[int] = frozenset()  # topics that users merged; their documents stay there
    added_topics: frozenset[int] = frozenset()  # topics added since the last fit, without a model node
    heading_topics: frozenset[int] = frozenset()  # headings that users created for topics
    seeds: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # seed words of topics
    ignored: tuple[str, ...] = ()  # words excluded from the model
    united: Mapping[str, str] = field(default_factory=dict)  # word that each united spelling counts as
    former_names: Mapping[str, int] = field(default_factory=dict)  # topic that last had a name, in small letters
    next_topic: int = 0
    pending: bool = False

    @classmethod
    def from_tree(cls, tree: Tree, class_nodes: Sequence[int]) -> TreeState:
        """Return the state of an unedited tree; topics have the numbers of nodes."""
        topics = tuple(range(len(tree)))
        return cls(tree, topics, tuple(class_nodes), topics, next_topic=len(tree))

    @classmethod
    def from_edit(cls, edit: Edit, n_nodes: int, class_nodes: Sequence[int]) -> TreeState:
        """Return the shape of an edited tree over a model with the tree before the edit, of ``n_nodes`` nodes."""
        topic_of = {node: topic for topic, node in enumerate(edit.origin)}
        shape = cls.from_tree(edit.tree, [topic_of[node] for node in class_nodes])
        return replace(shape, node_topics=tuple(topic_of.get(node, -1) for node in range(n_nodes)))

    @cached_property
    def node_of(self) -> Mapping[int, int]:
        """Node of each topic."""
        return {topic: node for node, topic in enumerate(self.topics)}

    @property
    def class_nodes(self) -> tuple[int, ...]:
        """Present node of each class of the model."""
        return tuple(self.node_of[topic] for topic in self.class_topics)

    @property
    def root(self) -> int:
        """Topic of all documents."""
        return self.topics[self.tree.root]

    def node(self, topic: int) -> int:
        """Return the node of a topic; raise UsageError for an unknown topic."""
        if topic not in self.node_of:
            hint = f"Use one of {len(self.topics)} topics: {_join_topics(self.topics)}."
            raise MissingError(f"there is no topic {topic}", hint=hint, kind="topic", topic=topic)
        return self.node_of[topic]

    def model_nodes(self, topic: int) -> tuple[int, ...]:
        """Return the model nodes of a topic, or of the topics below a heading without model nodes."""
        nodes, stack = list[int](), [self.node(topic)]
        while stack:
            node = stack.pop()
            topic_nodes = self._own_nodes.get(self.topics[node], ())
            nodes.extend(topic_nodes)
            stack.extend(() if topic_nodes else self.tree.children(node))
        return tuple(sorted(nodes))

    @cached_property
    def _own_nodes(self) -> Mapping[int, Sequence[int]]:
        nodes_by_topic: dict[int, list[int]] = {}
        for node, topic in enumerate(self.node_topics):
            nodes_by_topic.setdefault(topic, []).append(node)
        return nodes_by_topic

    def children(self, topic: int) -> list[int]:
        """Return the topics directly below a topic."""
        return [self.topics[child] for child in self.tree.children(self.node(topic))]

    def siblings(self, topic: int) -> list[int]:
        """Return the other topics directly below the parent of a topic."""
        parent = self.tree.parents[self.node(topic)]
        return [] if parent < 0 else [other for other in self.children(self.topics[parent]) if other != topic]

    def without_texts(self, topic: int, heir: int) -> TreeState:
        """Return the state without user edits of a topic: texts, seeds, merged, added and heading marks.

        Pins of the topic go to ``heir``; the topic itself stays in the tree.
        """
        return replace(
            self,
            titles=without_key(self.titles, topic),
            notes=without_key(self.notes, topic),
            seeds=without_key(self.seeds, topic),
            pins={id: heir if pinned_topic == topic else pinned_topic for id, pinned_topic in self.pins.items()},
            merged_topics=self.merged_topics - {topic},
            added_topics=self.added_topics - {topic},
            heading_topics=self.heading_topics - {topic},
        )

    def word(self, spelling: str) -> str:
        """Return the word that a spelling counts as."""
        return self.united.get(spelling, spelling)

    def name(self, topic: int) -> str:
        """Return the name of a topic."""
        return self.tree.names[self.node(topic)]

    def path(self, topic: int) -> str:
        """Return the names from below the root down to a topic."""
        return " ▸ ".join(self.tree.path_names(self.node(topic))[1:]) or self.name(topic)

    def find(self, text: str | int) -> int:
        """Return the topic of a number, name, path or words in only one name; raise an error for none or several."""
        if isinstance(text, int):
            return self.topics[self.node(text)]
        name = clean_name(str(text))
        if re.fullmatch(r"#?\d+", name) and int(name.lstrip("#")) in self.node_of:
            return int(name.lstrip("#"))
        for match in (self._find_by_name, self._find_by_path, self._find_by_words):
            topics = match(name.casefold())
            if len(topics) == 1:
                return topics[0]
            if topics:
                paths = "; ".join(f"#{topic} {self.path(topic)}" for topic in topics[:MAX_SHOWN])
                raise UsageError(
                    f"{len(topics)} topics are called {name!r}: {paths}",
                    hint=f"Use the number of the topic, such as #{topics[0]}.",
                )
        hint = format_proposals(name, list(self.tree.names))
        raise MissingError(f"no topic is called {name!r}", hint=hint, kind="topic")

    def is_unsorted(self, text: str) -> bool:
        """Return whether a text stands for the documents without a topic; a topic with that name comes first."""
        return text.casefold() == UNSORTED and not self._find_by_name(UNSORTED)

    def _find_by_name(self, text: str) -> list[int]:
        return [topic for topic, name in zip(self.topics, self.tree.names, strict=True) if name.casefold() == text]

    def _find_by_path(self, text: str) -> list[int]:
        """Return the topics whose path ends with the names in ``text``; empty for a single name."""
        steps = [step.strip() for step in re.split(r"[/▸>]", text)]
        if len(steps) < 2:
            return []
        names = {
            topic: [name.casefold() for name in self.tree.path_names(self.node_of[topic])] for topic in self.topics
        }
        return [topic for topic, path in names.items() if path[-len(steps) :] == steps]

    def _find_by_words(self, text: str) -> list[int]:
        """Return the topics whose names have all words of ``text``."""
        words = set(re.findall(r"\w+", text))
        nodes = [
            node for node, name in enumerate(self.tree.names)
            if words and words <= set(re.findall(r"\w+", name.casefold()))
        ]  # fmt: skip
        ancestors = {ancestor for node in nodes for ancestor in self.tree.ancestors(node)[1:]}
        return [  # a heading named after its subtopics does not match a word of one of their names
            self.topics[node] for node in nodes if not (node in ancestors and JOINT in self.tree.names[node])
        ]

    def rename_unnamed(self, labels: Mapping[int, str]) -> TreeState:
        """Return the state with ``labels`` for topics without a user's name; repeated sibling names get a number."""
        pairs = zip(self.topics, self.tree.names, strict=True)
        names = [self.titles.get(topic, labels.get(topic, name)) for topic, name in pairs]
        for node in range(len(self.tree)):
            number_names(names, self.tree.children(node))
        return replace(self, tree=Tree(self.tree.parents, tuple(names)))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain JSON data."""
        values = {STORED_NAMES.get(entry.name, entry.name): getattr(self, entry.name) for entry in fields(self)}
        return {name: _encode(value) for name, value in values.items()} | {"tree": self.tree.to_dict()}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> TreeState:
        """Return the state that ``to_dict`` wrote."""
        with reading("the shape of this tree"):
            return cls(
                tree=Tree.from_dict(body["tree"]),
                topics=tuple(map(int, body["topics"])),
                class_topics=tuple(map(int, body["class_topics"])),
                node_topics=tuple(map(int, body["node_topics"])),
                titles={int(topic): str(title) for topic, title in body["titles"].items()},
                notes={int(topic): str(note) for topic, note in body["notes"].items()},
                pins={str(document): int(topic) for document, topic in body["pins"].items()},
                merged_topics=frozenset(map(int, body["held"])),
                added_topics=frozenset(map(int, body["grafted"])),
                heading_topics=frozenset(map(int, body["gathered"])),
                seeds={int(topic): tuple(map(str, words)) for topic, words in body["seeds"].items()},
                ignored=tuple(map(str, body["ignored"])),
                united={str(spelling): str(word) for spelling, word in body["united"].items()},
                former_names={str(name): int(topic) for name, topic in body["former_names"].items()},
                next_topic=int(body["next_topic"]),
                pending=bool(body["pending"]),
            )


def _encode(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _encode(item) for key, item in value.items()}
    return sorted(value) if isinstance(value, frozenset) else value


def without_key(mapping: Mapping[Any, T], key: Any) -> dict[Any, T]:
    return {other: value for other, value in mapping.items() if other != key}


def number_names(names: list[str], nodes: Iterable[int], taken_names: Iterable[str] = ()) -> None:
    """Append a number to the names of siblings that are taken, in place."""
    taken = set(taken_names)
    for node in nodes:
        names[node] = make_unique(names[node], taken)
        taken.add(names[node])


def make_unique(name: str, other_names: Iterable[str]) -> str:
    """Return the name, with a number appended if it is taken."""
    others, number, unique_name = set(other_names), 2, name
    while unique_name in others:
        unique_name, number = f"{name} ({number})", number + 1
    return unique_name


def _join_topics(topics: Sequence[int]) -> str:
    return ", ".join(map(str, topics[:MAX_SHOWN])) + (", …" if len(topics) > MAX_SHOWN else "")


def check_length(noun: str, text: str, max_length: int) -> None:
    """Raise UsageError for a name or note that is too long."""
    if len(text) > max_length:
        raise UsageError(f"a {noun} has at most {max_length:,} characters, got {len(text):,}")
