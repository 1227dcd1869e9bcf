"""Topics before and after: which are new, gone, elsewhere, called otherwise, or of another size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from topiarist.collection.collection import Collection
from topiarist.collection.describe.topic_tree import class_sizes
from topiarist.collection.shape.shape import Shape

NOTICEABLE, CHANGED = 1.0, 0.01  # documents, and share of them: less is no change of a size


class Seen(NamedTuple):
    """A topic at one moment."""

    name: str
    path: str
    parent: int
    documents: float
    named: bool  # by a person


Snapshot = dict[int, Seen]


@dataclass(frozen=True)
class TopicChange:
    """A topic before and after; None where it is not."""

    topic: int
    before: Seen | None
    after: Seen | None

    @property
    def size(self) -> float:
        """By how many documents it changed."""
        return abs((self.after.documents if self.after else 0.0) - (self.before.documents if self.before else 0.0))

    @property
    def nothing(self) -> bool:
        """Whether nothing worth a line changed."""
        return self._in_place and self.before is not None and self.before.name == (self.after or self.before).name

    @property
    def only_words(self) -> bool:
        """Whether nothing changed but the words that it is called by."""
        if self.before is None or self.after is None:
            return False
        return self._in_place and not (self.before.named or self.after.named)

    @property
    def _in_place(self) -> bool:
        if self.before is None or self.after is None:
            return False
        least = max(NOTICEABLE, CHANGED * self.before.documents)
        return self.before.parent == self.after.parent and self.size < least

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        plain = {
            name: None
            if side is None
            else {"name": side.name, "path": side.path, "documents": round(side.documents, 1)}
            for name, side in (("before", self.before), ("after", self.after))
        }
        return {"topic": self.topic, **plain}


def topic_snapshot(outline: Shape, collection: Collection) -> Snapshot:
    """What each topic is called, where it hangs, and the documents under it."""
    tree, sizes = outline.tree, class_sizes(collection.shares) @ outline.tree.path_mask(outline.class_nodes)
    above = [outline.topics[parent] if parent >= 0 else -1 for parent in tree.parents]
    return {
        topic: Seen(tree.names[node], outline.path(topic), above[node], float(sizes[node]), topic in outline.titles)
        for node, topic in enumerate(outline.topics)
    }


def topic_changes(before: Snapshot, after: Snapshot) -> list[TopicChange]:
    """Topics that are new, gone, elsewhere, called otherwise or of another size: new and gone ones first."""
    every = [TopicChange(topic, before.get(topic), after.get(topic)) for topic in {**before, **after}]
    found = [one for one in every if not one.nothing]
    return sorted(found, key=lambda one: (one.before is not None and one.after is not None, -one.size))
