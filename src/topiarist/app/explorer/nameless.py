"""A collection without anything that people wrote about it: topics are called by the words that the model gave them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from topiarist.app.explorer.view import View
from topiarist.files.collection import Collection


class Nameless(View):
    """A view for those who may know what is spoken of, and not by whom: given names may be labels, or say too much."""

    def __init__(self, collection: Collection) -> None:
        super().__init__(collection)
        self.shape = replace(self.shape, titles={}, notes={}, pins={})

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The words of topics, whatever these are called."""
        return tuple(
            "Everything" if place == self.tree.root else " · ".join(node.words[:3]) or "no words of its own"
            for place, node in enumerate(self.collection.tree.nodes)
        )
