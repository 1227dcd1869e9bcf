"""View of a collection in one state, with the values that pages derive from it.

A view never changes: a request uses one view until its end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from topiarist.collection.classify.judgements import Judgements
from topiarist.collection.collection import Collection
from topiarist.collection.describe.provenance import (
    LastFit,
    count_documents_at_growth,
    find_last_fit,
    find_original,
    is_changed_since_growth,
)
from topiarist.collection.describe.statistics import NO_WORDS, ROOT_NAME, Figures
from topiarist.collection.grow.fit_description import name_by_words
from topiarist.collection.shape.history import identify_state
from topiarist.collection.state_cache import FORM, PARTS, STATE, cached
from topiarist.display.locale.catalogues import current_language, translate
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.web.memory import LARGEST, PageCache
from topiarist.web.reviews import OpenReviews

T = TypeVar("T")
MAX_WARMED_HEADINGS = 8  # headings whose lists are made before anybody asks
OF_DOCUMENT = 24  # bytes for each document that numbers may take beyond those of small collections


class View(Figures):
    """Statistics of one state of a collection, for all pages."""

    def __init__(self, collection: Collection) -> None:
        """Create the view with empty caches."""
        super().__init__(collection)
        self.number = collection.number
        self.mark = identify_state(collection)  # in forms: an edit is made of the tree that somebody saw, or not at all
        self.reviews = OpenReviews(collection)
        self.remembered = PageCache()  # while this state lasts
        room = LARGEST + OF_DOCUMENT * len(collection)
        self.numbers = PageCache(
            largest=room
        )  # what names do not touch: the next state's too, if the tree keeps its form
        self._names: dict[str, tuple[str, ...]] = {}  # by language

    @property
    def names(self) -> tuple[str, ...]:
        """Names of topics; the root is named in the current language."""
        language = current_language()
        if language not in self._names:
            topic_names, root = list(self.own_names), self.tree.root
            topic_names[root] = translate("Everything") if topic_names[root] == ROOT_NAME else topic_names[root]
            self._names[language] = tuple(topic_names)
        return self._names[language]

    @property
    def judgements(self) -> Judgements:
        return Judgements(self.collection.generation.database)

    def remember_labels(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a value of labels, which is computed again after a judgement."""
        return self.remembered((key, self.judgements.last_number()), make)

    def compute_once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a cached value that depends on the form of the tree."""
        return self.numbers(key, make)

    @classmethod
    def open(cls, folder: str, earlier: View | None = None) -> View:
        """Open the newest state and take over what it shares with an earlier one."""
        result = cls(Collection.open(folder))
        if earlier is not None:
            result._take_over(earlier)
        return result

    def _take_over(self, earlier: View) -> None:
        """Take cached values that another view shares; none of another generation."""
        collection, earlier_collection = self.collection, earlier.collection
        if (
            collection.generation.folder != earlier_collection.generation.folder
            or collection.state.parts != earlier_collection.state.parts
        ):
            return
        collection.cache.inherit(earlier_collection.cache, PARTS)
        is_unchanged = self.form == earlier.form
        self.numbers = earlier.numbers if is_unchanged else earlier.numbers.copy_kinds("rank")
        self.cache.inherit(earlier.cache, PARTS, *((FORM,) if is_unchanged else ()))

    @cached_property
    def title(self) -> str:
        return Path(self.collection.folder.display_path).name.removesuffix(".topiary") or "collection"

    @cached_property
    def branches(self) -> tuple[int, ...]:
        """Return the heading of each topic by its number; 0 for the root.

        Headings are numbered in the order of their creation and keep their colours when sizes change.
        """
        root = self.tree.root
        tops = sorted(self.tree.children(root), key=lambda node: self.shape.topics[node])
        numbers = {top: number for number, top in enumerate(tops, 1)}
        return tuple(0 if node == root else numbers[self.tree.path(node)[1]] for node in range(len(self.tree)))

    @cached_property
    def has_dates(self) -> bool:
        return self.collection.dates.any()

    @cached_property
    def last_fit(self) -> LastFit:
        return find_last_fit(self.collection)

    @cached_property
    def grown_with(self) -> int:
        return count_documents_at_growth(self.collection)

    def original_of(self, row: int, source: str) -> Path | None:
        """Return the source file of a document if it still exists."""
        return find_original(self.collection, source) if row < self.grown_with else None

    def is_changed(self, original: Path | None) -> bool:
        """Return whether the file was written after the collection was grown."""
        return is_changed_since_growth(self.collection, original)

    def warm(self, rest: Callable[[], None] = lambda: None) -> None:
        """Compute what most pages need; ``rest`` is called between steps."""
        for name in ("sizes", "hard_sizes", "lengths", "names", "node_weight", "columns", "spelling"):
            rest()
            getattr(self, name)
        for part in ("placer", "index"):
            rest()
            with self._lock:
                getattr(self.collection, part)
        rest()
        self.collection.placer.place(self.collection.counts[:1], MIN_CERTAINTY)
        for sort in ("newest", "name", "longest"):
            rest()
            self.rank(sort)
        for node in self.children(self.tree.root)[:MAX_WARMED_HEADINGS]:  # the largest lists take longest
            rest()
            self.list_rows(node, "typical", "all")


class UnnamedView(View):
    """A view for those who may know what is spoken of, and not by whom: given names may be labels, or say too much.

    Topics are called by the words that the model gave them.
    """

    def __init__(self, collection: Collection) -> None:
        super().__init__(collection)
        self.shape = name_by_words(replace(self.shape, titles={}, notes={}, pins={}), collection.description)
        self.tree = self.shape.tree

    @cached(STATE)
    def own_names(self) -> tuple[str, ...]:
        """Names of topics made of their words, without names by users."""
        nodes = self.collection.tree.nodes
        return tuple(
            ROOT_NAME if node == self.tree.root else name if nodes[node].words else NO_WORDS
            for node, name in enumerate(self.tree.names)
        )
