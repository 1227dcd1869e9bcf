"""Names and numbers that topics keep when a tree changes, and a list of all changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topiarist.collection.shape.tree_state import TreeState

MAX_LISTED = 20  # topics in a sentence
RENAMED, GONE, NEW = "renamed", "gone", "new"  # fields of the log


@dataclass(frozen=True)
class NameChanges:
    """Renamed topics, gone topics and new topics, by number."""

    renamed: tuple[tuple[int, str, str], ...] = ()
    gone: tuple[tuple[int, str], ...] = ()
    new: tuple[tuple[int, str], ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences that list the changes; none without changes."""
        lists = {
            "Renamed": [f"#{topic} {old} → {new}" for topic, old, new in self.renamed],
            "Gone": [f"#{topic} {name}" for topic, name in self.gone],
            "New": [f"#{topic} {name}" for topic, name in self.new],
        }
        return tuple(f"{word} ({len(items):,}): {_join_items(items)}" for word, items in lists.items() if items)

    def to_dict(self) -> dict[str, Any]:
        """Return the changes as JSON data, without empty lists."""
        lists = {RENAMED: self.renamed, GONE: self.gone, NEW: self.new}
        return {name: [list(item) for item in items] for name, items in lists.items() if items}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> NameChanges:
        """Return the changes that ``to_dict`` wrote."""
        return cls(*(tuple(tuple(item) for item in body.get(name, ())) for name in (RENAMED, GONE, NEW)))


def find_name_changes(old: TreeState, new: TreeState) -> NameChanges:
    """Return what differs between the names and numbers of two states; names that users gave are left out."""
    old_names = dict(zip(old.topics, old.tree.names, strict=True))
    new_names = dict(zip(new.topics, new.tree.names, strict=True))
    return NameChanges(
        tuple(
            (topic, name, new_names[topic])
            for topic, name in old_names.items()
            if topic in new_names and new_names[topic] not in (name, new.titles.get(topic))
        ),
        tuple((topic, name) for topic, name in old_names.items() if topic not in new_names),
        tuple((topic, name) for topic, name in new_names.items() if topic not in old_names),
    )


def retire_names(old: TreeState, new: TreeState) -> TreeState:
    """Return the new state, which remembers the former names of its topics."""
    names = dict(zip(new.topics, new.tree.names, strict=True))
    present = {name.casefold() for name in names.values()}
    former = {**new.former_names, **old.former_names}
    for topic, name in zip(old.topics, old.tree.names, strict=True):
        if names.get(topic) != name:
            former[name.casefold()] = topic
    return replace(new, former_names={name: topic for name, topic in former.items() if name not in present})


def renumber_topics(shape: TreeState, old_numbers: Mapping[int, int], next_topic: int) -> TreeState:
    """Return the state with old numbers for some topics, and new numbers from ``next_topic`` for all others."""
    numbers = dict(old_numbers)
    next_topic = max(next_topic, 1 + max(numbers.values(), default=-1))
    for topic in shape.topics:
        if topic not in numbers:
            numbers[topic], next_topic = next_topic, next_topic + 1
    return replace(
        shape,
        topics=tuple(numbers[topic] for topic in shape.topics),
        class_topics=tuple(numbers[topic] for topic in shape.class_topics),
        node_topics=tuple(numbers.get(topic, -1) for topic in shape.node_topics),
        titles={numbers[topic]: title for topic, title in shape.titles.items()},
        notes={numbers[topic]: note for topic, note in shape.notes.items()},
        pins={document: numbers[topic] for document, topic in shape.pins.items()},
        merged_topics=frozenset(numbers[topic] for topic in shape.merged_topics),
        added_topics=frozenset(numbers[topic] for topic in shape.added_topics),
        heading_topics=frozenset(numbers[topic] for topic in shape.heading_topics),
        seeds={numbers[topic]: words for topic, words in shape.seeds.items()},
        next_topic=next_topic,
    )


def _join_items(items: Sequence[str]) -> str:
    rest = f" and {len(items) - MAX_LISTED:,} more" if len(items) > MAX_LISTED else ""
    return ", ".join(items[:MAX_LISTED]) + rest
