"""A collection at one state, and what pages derive from it, worked out once.

A view never changes: a request that has begun with one ends with it, whatever is edited meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from topiarist.app.explorer.memory import LARGEST, Memory
from topiarist.app.explorer.reviews import OpenReviews
from topiarist.app.languages.catalogues import language, worded
from topiarist.collection import (
    NO_WORDS,
    OF_DOCUMENTS,
    OF_FORM,
    ROOT_NAME,
    Collection,
    Figures,
    LastFit,
    changed_since_grown,
    grown_with,
    last_fit,
    named_by_words,
    original_of,
    state_mark,
)
from topiarist.measures.placed_documents import CERTAIN

T = TypeVar("T")
WARMED = 8  # headings whose lists are made before anybody asks
OF_DOCUMENT = 24  # bytes for each document that numbers may take beyond those of small collections
_OF_PARTS = ("counting", "counts", "shares", "model", "tree_model", "description", "index", "categories")


class View(Figures):
    """Numbers, orders and words of a collection's state, for all pages."""

    def __init__(self, collection: Collection) -> None:
        super().__init__(collection)
        self.number = collection.number
        self.mark = state_mark(collection)  # in forms: an edit is made of the tree that somebody saw, or not at all
        self.beside: tuple[tuple[str, Callable[[], View]], ...] = ()  # other collections to compare with, by name
        self.reviews = OpenReviews(collection)
        self.remembered = Memory()  # while this state lasts
        room = LARGEST + OF_DOCUMENT * len(collection)
        self.numbers = Memory(largest=room)  # what names do not touch: the next state's too, if the tree keeps its form
        self._names: dict[str, tuple[str, ...]] = {}  # by language

    @property
    def names(self) -> tuple[str, ...]:
        """What topics are called; what lies above all of them, in the language of whoever reads."""
        spoken = language()
        if spoken not in self._names:
            own, root = list(self.own_names), self.tree.root
            own[root] = worded("Everything") if own[root] == ROOT_NAME else own[root]
            self._names[spoken] = tuple(own)
        return self._names[spoken]

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """Numbers by their key, as long as there is room."""
        return self.numbers(key, make)

    @classmethod
    def open(cls, folder: str, earlier: View | None = None) -> View:
        """The latest state; what an earlier one has read and that is still the same is not read again."""
        found = cls(Collection.open(folder))
        if earlier is not None:
            found._take_over(earlier)
        return found

    def _take_over(self, earlier: View) -> None:
        """What was read from the same parts; and where the tree has the same form, as after a new name, the rest."""
        own, old = self.collection, earlier.collection
        if own.generation.folder != old.generation.folder or own.state.parts != old.state.parts:
            return
        vars(own).update({name: vars(old)[name] for name in _OF_PARTS if name in vars(old)})
        same = self.form == earlier.form
        self.numbers = earlier.numbers if same else earlier.numbers.part("rank")
        taken = (*OF_DOCUMENTS, *(OF_FORM if same else ()))
        vars(self).update({name: vars(earlier)[name] for name in taken if name in vars(earlier)})

    @cached_property
    def title(self) -> str:
        """The collection as its folder is called."""
        return Path(self.collection.folder.shown).name.removesuffix(".topiary") or "collection"

    @cached_property
    def branches(self) -> tuple[int, ...]:
        """Under which heading each topic lies, from 1, and 0 for the root: colours and signs go by it.

        Headings are numbered in the order in which they came to be: they keep their colours whatever their sizes are.
        """
        root = self.tree.root
        tops = sorted(self.tree.children(root), key=lambda node: self.shape.topics[node])
        numbers = {top: number for number, top in enumerate(tops, 1)}
        return tuple(0 if node == root else numbers[self.tree.path(node)[1]] for node in range(len(self.tree)))

    @cached_property
    def has_dates(self) -> bool:
        """Whether any document has a date."""
        return self.collection.dates.any()

    @cached_property
    def last_fit(self) -> LastFit:
        """When the tree that is shown was fitted, and what was added since."""
        return last_fit(self.collection)

    @cached_property
    def grown_with(self) -> int:
        """How many documents the collection was grown with; those behind were added."""
        return grown_with(self.collection)

    def original_of(self, row: int, source: str) -> Path | None:
        """The file that a document was read from, where it still lies."""
        return original_of(self.collection, source) if row < self.grown_with else None

    def is_changed(self, original: Path | None) -> bool:
        """Whether the file of a document was written after the collection was grown."""
        return changed_since_grown(self.collection, original)

    def warm(self, rest: Callable[[], None] = lambda: None) -> None:
        """Work out what most pages need, so that the first of them is as quick as the others; ``rest`` in between."""
        for name in ("sizes", "hard_sizes", "lengths", "names", "node_weight", "columns", "spelling"):
            rest()
            getattr(self, name)
        for part in ("placer", "index"):
            rest()
            with self._lock:
                getattr(self.collection, part)
        rest()
        self.collection.placer.place(self.collection.counts[:1], CERTAIN)
        for sort in ("newest", "name", "longest"):
            rest()
            self.rank(sort)
        for node in self.children(self.tree.root)[:WARMED]:  # the largest lists take longest
            rest()
            self.listed(node, "typical", "all")


class UnnamedView(View):
    """A view for those who may know what is spoken of, and not by whom: given names may be labels, or say too much.

    Topics are called by the words that the model gave them.
    """

    def __init__(self, collection: Collection) -> None:
        super().__init__(collection)
        self.shape = named_by_words(replace(self.shape, titles={}, notes={}, pins={}), collection.description)
        self.tree = self.shape.tree

    @cached_property
    def own_names(self) -> tuple[str, ...]:
        """The words of topics; one that has none yet is called nothing, whatever people call it."""
        nodes = self.collection.tree.nodes
        return tuple(
            ROOT_NAME if node == self.tree.root else name if nodes[node].words else NO_WORDS
            for node, name in enumerate(self.tree.names)
        )
