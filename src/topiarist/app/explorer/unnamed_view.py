"""A collection without anything that people wrote about it: topics are called by the words that the model gave them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from topiarist.app.explorer.view import View
from topiarist.collection.collection import Collection
from topiarist.collection.grow.fit_description import labelled


class Nameless(View):
    """A view for those who may know what is spoken of, and not by whom: given names may be labels, or say too much."""

    def __init__(self, collection: Collection) -> None:
        super().__init__(collection)
        self.shape = labelled(replace(self.shape, titles={}, notes={}, pins={}), collection.description)
        self.tree = self.shape.tree

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The words of topics; one that has none yet is called nothing, whatever people call it."""
        nodes = self.collection.tree.nodes
        return tuple(
            "Everything" if node == self.tree.root else name if nodes[node].words else "no words of its own"
            for node, name in enumerate(self.tree.names)
        )
