"""What people see and say of a tree, as one frozen value that can be written down and come back to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from topiarist.errors import DamagedError, UsageError, in_words
from topiarist.hierarchy.tree import Tree
from topiarist.text.spelling import proposed

SHOWN = 5  # topics that a word may mean, in a message


@dataclass(frozen=True)
class Shape:
    """A tree whose nodes are *topics*: they keep their numbers whatever happens to the tree around them.

    The model behind it has classes and nodes of its own, of the tree that it was fitted to. ``class_topics`` and
    ``node_topics`` tell under which topic they are now (−1: a node that is gone), so that every edit shows at once, and
    ``pending`` says whether the model should be fitted again.
    """

    tree: Tree  # names: what people called a topic, or else its words
    topics: tuple[int, ...]  # of each node
    class_topics: tuple[int, ...]  # of each class of the model
    node_topics: tuple[int, ...]  # of each node of the model
    titles: Mapping[int, str] = field(default_factory=dict)  # topics that people have named
    notes: Mapping[int, str] = field(default_factory=dict)
    pins: Mapping[str, int] = field(default_factory=dict)  # documents, by id, that belong to a topic
    held: frozenset[int] = frozenset()  # topics that people made of several: their documents stay there
    grafted: frozenset[int] = frozenset()  # topics that people added since the last fit: the model has no node of them
    gathered: frozenset[int] = frozenset()  # headings that people put topics under
    seeds: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # words that people want at topics
    ignored: tuple[str, ...] = ()  # words that the tree must not see
    united: Mapping[str, str] = field(default_factory=dict)  # spellings, and the word that each of them counts for
    next_topic: int = 0
    pending: bool = False

    @classmethod
    def of(cls, tree: Tree, class_nodes: Sequence[int]) -> Shape:
        """The shape of a tree that nobody has touched: topics are numbered as nodes are."""
        topics = tuple(range(len(tree)))
        return cls(tree, topics, tuple(class_nodes), topics, next_topic=len(tree))

    @cached_property
    def node_of(self) -> Mapping[int, int]:
        """The node of each topic."""
        return {topic: node for node, topic in enumerate(self.topics)}

    @property
    def class_nodes(self) -> tuple[int, ...]:
        """The node at which each class of the model is now."""
        return tuple(self.node_of[topic] for topic in self.class_topics)

    @property
    def root(self) -> int:
        """The topic above all others."""
        return self.topics[self.tree.root]

    def node(self, topic: int) -> int:
        """The node of a topic, or an error that says which topics there are."""
        if topic not in self.node_of:
            raise UsageError(f"there is no topic {topic}", hint=f"one of {len(self.topics)}: {_shown(self.topics)}")
        return self.node_of[topic]

    def model_nodes(self, topic: int) -> tuple[int, ...]:
        """The nodes of the model in a topic: several where topics were merged, none in one that waits for the fit.

        A heading that the model does not know yet is made of the topics below it.
        """
        found, asked = list[int](), [self.node(topic)]
        while asked:
            node = asked.pop()
            own = self._own_nodes.get(self.topics[node], ())
            found.extend(own)
            asked.extend(() if own else self.tree.children(node))
        return tuple(sorted(found))

    @cached_property
    def _own_nodes(self) -> Mapping[int, Sequence[int]]:
        """The nodes of the model that are in each topic itself."""
        found: dict[int, list[int]] = {}
        for node, topic in enumerate(self.node_topics):
            found.setdefault(topic, []).append(node)
        return found

    def word(self, spelling: str) -> str:
        """The word that a spelling counts for."""
        return self.united.get(spelling, spelling)

    def name(self, topic: int) -> str:
        """What a topic is called."""
        return self.tree.names[self.node(topic)]

    def path(self, topic: int) -> str:
        """The names from below the root down to a topic."""
        return " ▸ ".join(self.tree.path_names(self.node(topic))[1:]) or self.name(topic)

    def find(self, text: str | int) -> int:
        """The topic that somebody means: its number, its name, the path to it, or a word that only its name has."""
        if isinstance(text, int):
            return self.topics[self.node(text)]
        wanted = " ".join(str(text).split())
        if re.fullmatch(r"#?\d+", wanted) and int(wanted.lstrip("#")) in self.node_of:
            return int(wanted.lstrip("#"))
        for same in (self._called, self._at_path, self._with_words):
            found = same(wanted.casefold())
            if len(found) == 1:
                return found[0]
            if found:
                paths = "; ".join(f"#{topic} {self.path(topic)}" for topic in found[:SHOWN])
                raise UsageError(f"{len(found)} topics are called {wanted!r}: {paths}", hint=f"#{found[0]}, its number")
        raise UsageError(f"no topic is called {wanted!r}", hint=proposed(wanted, list(self.tree.names)))

    def _called(self, text: str) -> list[int]:
        return [topic for topic, name in zip(self.topics, self.tree.names, strict=True) if name.casefold() == text]

    def _at_path(self, text: str) -> list[int]:
        steps = [step.strip() for step in re.split(r"[/▸>]", text)]
        if len(steps) < 2:
            return []
        names = {
            topic: [name.casefold() for name in self.tree.path_names(self.node_of[topic])] for topic in self.topics
        }
        return [topic for topic, path in names.items() if path[-len(steps) :] == steps]

    def _with_words(self, text: str) -> list[int]:
        wanted = set(re.findall(r"\w+", text))
        found = zip(self.topics, self.tree.names, strict=True)
        return [topic for topic, name in found if wanted and wanted <= set(re.findall(r"\w+", name.casefold()))]

    def renamed(self, labels: Mapping[int, str]) -> Shape:
        """With other names for topics that nobody has named; a name that a sibling has gets a number behind it."""
        names = [self.titles.get(topic, labels.get(topic, name)) for topic, name in self._named()]
        for node in range(len(self.tree)):
            taken: set[str] = set()
            for child in self.tree.children(node):
                names[child] = unlike(names[child], taken)
                taken.add(names[child])
        return replace(self, tree=Tree(self.tree.parents, tuple(names)))

    def _named(self) -> Iterable[tuple[int, str]]:
        return zip(self.topics, self.tree.names, strict=True)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "tree": self.tree.to_dict(),
            "topics": self.topics,
            "class_topics": self.class_topics,
            "node_topics": self.node_topics,
            "titles": {str(topic): title for topic, title in self.titles.items()},
            "notes": {str(topic): note for topic, note in self.notes.items()},
            "pins": dict(self.pins),
            "held": sorted(self.held),
            "grafted": sorted(self.grafted),
            "gathered": sorted(self.gathered),
            "seeds": {str(topic): list(words) for topic, words in self.seeds.items()},
            "ignored": list(self.ignored),
            "united": dict(self.united),
            "next_topic": self.next_topic,
            "pending": self.pending,
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Shape:
        """What ``to_dict`` has written."""
        try:
            return cls(
                tree=Tree.from_dict(body["tree"]),
                topics=tuple(map(int, body["topics"])),
                class_topics=tuple(map(int, body["class_topics"])),
                node_topics=tuple(map(int, body["node_topics"])),
                titles={int(topic): str(title) for topic, title in body["titles"].items()},
                notes={int(topic): str(note) for topic, note in body["notes"].items()},
                pins={str(document): int(topic) for document, topic in body["pins"].items()},
                held=frozenset(map(int, body["held"])),
                grafted=frozenset(map(int, body["grafted"])),
                gathered=frozenset(map(int, body.get("gathered", ()))),  # states of old have none
                seeds={int(topic): tuple(map(str, words)) for topic, words in body.get("seeds", {}).items()},
                ignored=tuple(map(str, body.get("ignored", ()))),
                united={str(spelling): str(word) for spelling, word in body.get("united", {}).items()},
                next_topic=int(body["next_topic"]),
                pending=bool(body["pending"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedError(
                f"the shape of this tree cannot be read: {in_words(error)}", hint="topiarist check"
            ) from error


def unlike(name: str, taken: Iterable[str]) -> str:
    """The name, or with a number behind it where it is taken."""
    others, number, found = set(taken), 2, name
    while found in others:
        found, number = f"{name} ({number})", number + 1
    return found


def _shown(topics: Sequence[int]) -> str:
    return ", ".join(map(str, topics[:SHOWN])) + (", …" if len(topics) > SHOWN else "")


def check_length(what: str, text: str, most: int) -> None:
    """Refuse a name or a note that is too long to be read."""
    if len(text) > most:
        raise UsageError(f"a {what} has at most {most:,} characters, got {len(text):,}")
