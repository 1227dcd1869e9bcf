"""A collection: documents, their tree, and everything that can be asked of both."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Bools, Csr, Floats
from topiarist.collection import contents
from topiarist.collection.contents import Counting, Description
from topiarist.collection.describe.topic_tree import TopicTree, described, placed, shares_by_topic, without_words
from topiarist.collection.file.placer import Placer
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.judge.categories import Categories
from topiarist.collection.shape.shape import Shape
from topiarist.collection.shape.word_use import column_map
from topiarist.collection.state import CATEGORIES, COUNTS, SEARCH, SHARES, TREE, State
from topiarist.counts.counting import Heard, hear
from topiarist.errors import DamagedError, ResourceError, reading
from topiarist.estimators.tree.fitted_tree import tree_model
from topiarist.measures.placed_documents import Placed, hard_to_place
from topiarist.store import edit_log, facts
from topiarist.store.collection_folder import Folder
from topiarist.store.column_table import ColumnTable
from topiarist.store.date_table import Dates
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation, open_part
from topiarist.store.marks import Marks, PassageNotes
from topiarist.text.documents import Document, as_documents
from topiarist.text.fields import Field

if TYPE_CHECKING:
    from topiarist.collection.describe.frames import Tables
    from topiarist.collection.farness import Farness
    from topiarist.collection.file.arrivals import Filed
    from topiarist.collection.find.index import SearchIndex
    from topiarist.collection.find.search import Found
    from topiarist.collection.find.words.word_index import WordIndex
    from topiarist.collection.judge.learner import Quality
    from topiarist.collection.remove.removal import Removal
    from topiarist.collection.shape.edits import Edit
    from topiarist.collection.spread.by_group import ByGroup
    from topiarist.collection.spread.newer import Newer
    from topiarist.collection.spread.over_time import OverTime
    from topiarist.collection.verify.verification import Verdict
    from topiarist.counts.copies import Copies
    from topiarist.hierarchy.tree_model import TreeModel
    from topiarist.text.readers import Columns


class Collection:
    """A folder made by ``grow``, open for reading; what changes it takes the lock for as long as it needs.

    Nothing is loaded before it is asked for, and arrays are mapped: a collection of 200,000 documents opens at once.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._passing: weakref.finalize[Any, Any] | None = None  # what removes a folder that nobody asked for
        self._look()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Collection:
        """Open a folder."""
        return cls(Folder.open(path))

    @classmethod
    def grow(
        cls,
        source: Any,
        folder: str | os.PathLike[str] | None = None,
        recipe: Recipe | None = None,
        *,
        columns: Columns | Mapping[str, str] | None = None,
        force: bool = False,
        resume: bool = False,
        n_threads: int | None = None,
        verbose: bool | None = None,
        vectors: Any = None,
        client: Any = None,
        memory: int | None = None,
    ) -> Collection:
        """Grow a tree, and keep all of it in a folder; without one, as long as the collection is open.

        ``source``: a file or a folder, a list of paths; a list of strings, a series, documents; or a data frame
        (pandas, polars, Arrow), whose ``columns`` hold what is said, ``{"text": "body", "date": "sent"}``, or what
        their names and lengths tell. ``force`` replaces a collection that is there; ``resume`` takes a grow up that was
        interrupted. ``vectors``: of any encoder, a row for each document in their order, or by their ids; or a source,
        such as ``Encoder()``. ``client``, a ``distributed.Client``: its workers, who see the folder, compute the tree
        from blocks in files; ``memory``: this process does, within so many bytes. ``verbose`` says how far it is; by
        default only a notebook does.
        """
        from topiarist.cards import in_notebook
        from topiarist.collection.grow.block_growth import InBlocks
        from topiarist.collection.grow.data_frames import documents_of
        from topiarist.collection.grow.grower import Grower
        from topiarist.collection.grow.notebook_teller import told_in_notebook
        from topiarist.text.readers import Columns

        asked = Columns(**columns) if isinstance(columns, Mapping) else columns
        documents = documents_of(source, asked)
        place = os.path.join(tempfile.mkdtemp(prefix="topiarist-"), "memory.topiary") if folder is None else folder
        blocks = None if client is None and memory is None else InBlocks(client, memory)
        try:
            with told_in_notebook(verbose) as tell:
                found = Grower(
                    recipe or Recipe(),
                    n_threads=n_threads,
                    verbose=bool(verbose) and not in_notebook(),
                    tell=tell,
                    vectors=vectors,
                    place=blocks,
                ).grow(documents, place, force=force, resume=resume)
        except BaseException:
            if folder is None:
                shutil.rmtree(os.path.dirname(place), ignore_errors=True)
            raise
        if folder is None:
            found._passing = weakref.finalize(found, shutil.rmtree, os.path.dirname(place), ignore_errors=True)
        return found

    def _look(self) -> None:
        """Take what is there now; what was read of an earlier state is forgotten."""
        found = edit_log.current(self.generation.database)
        if found is None:
            raise DamagedError(f"{self.folder.shown} holds no tree", hint=f"topiarist check {self.folder.shown}")
        self.number, body = found
        self._seen = self.generation.folder
        with reading(f"state {self.number} of {self.folder.shown}"):
            self.state = State.from_dict(body)
        for name in _OF_STATE:
            vars(self).pop(name, None)

    def refresh(self) -> bool:
        """Look whether somebody has changed the collection; whether it was."""
        self.folder.refresh()
        if self._seen == self.generation.folder and edit_log.latest(self.generation.database) == self.number:
            return False
        self._look()
        return True

    def close(self) -> None:
        """Close the database; a collection without a folder of its own is gone then."""
        self.folder.close()
        if self._passing is not None:
            self._passing()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.state.n_docs

    def __repr__(self) -> str:
        return f"<Collection {self.folder.shown!r}: {len(self):,} documents, {len(self.outline.tree.leaves)} topics>"

    def _reading(self, what: str) -> AbstractContextManager[None]:
        """A part is read within: what cannot be is damage, whatever it looks like from inside."""
        return reading(f"{what} of {self.folder.shown}", f"topiarist check {self.folder.shown}")

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import collection_card

        return collection_card(self)

    @property
    def generation(self) -> Generation:
        """Where documents and parts are."""
        return self.folder.generation

    @property
    def outline(self) -> Shape:
        """The tree as people see it."""
        return self.state.shape

    @property
    def documents(self) -> Documents:
        """The documents."""
        return Documents(self.generation.database)

    @property
    def tables(self) -> Tables:
        """Documents, topics, words, shares, and both over time and by group, as Arrow, pandas or polars."""
        from topiarist.collection.describe.frames import Tables

        return Tables(self)

    @property
    def marks(self) -> Marks:
        """Tags, and what was read."""
        return Marks(self.generation.database)

    @property
    def passage_notes(self) -> PassageNotes:
        """What people noted on passages of texts."""
        return PassageNotes(self.generation.database)

    def tag(self, rows: Iterable[int], tag: str) -> None:
        """Give documents a tag; those that have it keep it."""
        with self.folder.writing() as generation:
            Marks(generation.database).tag(rows, tag)

    @property
    def columns(self) -> ColumnTable:
        """What else is known of the documents, by column."""
        return ColumnTable(self.generation.database)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns: their names, kinds, and how their values are spread."""
        database = self.generation.database
        return database.kept("fields", lambda: ColumnTable(database).fields())

    @property
    def dates(self) -> Dates:
        """How the dates of the documents were read."""
        return Dates(self.generation.database)

    @property
    def settings(self) -> dict[str, Any]:
        """How it was grown, and from what."""
        return facts.settings(self.generation.database)

    @cached_property
    def counting(self) -> Counting:
        """How texts become counts."""
        return self.counting_of(self.outline)

    def counting_of(self, outline: Shape) -> Counting:
        """How texts become counts of a tree that has another shape."""
        with self._reading("the vocabulary"):
            known = contents.read_counting(self.part(self.state.pieces(COUNTS)[0]))
        return replace(known, map=column_map(outline, known.vocabulary))

    @cached_property
    def counts(self) -> Csr:
        """Documents × words, as the tree sees them: without ignored words, and with united ones in one column."""
        return self.counting.heeded(self.all_counts)

    @cached_property
    def all_counts(self) -> Csr:
        """Documents × words, as the texts have them."""
        return self._pieces(COUNTS)

    @cached_property
    def shares(self) -> Csr:
        """Documents × classes of the model: P(class|document)."""
        return self._pieces(SHARES)

    @cached_property
    def vectors(self) -> Floats | None:
        """The vectors that documents came with, documents × dimensions, mapped; None where they came without."""
        from topiarist.collection.document_vectors import vectors_of

        return vectors_of(self)

    @cached_property
    def farness(self) -> Farness | None:
        """How far from all topics documents lie that are unusual by their vectors; None where the tree knows none."""
        from topiarist.collection.farness import farness_of

        return farness_of(self)

    @cached_property
    def model(self) -> Any:
        """The fitted model of the tree."""
        with self._reading("the model"):
            return contents.read_tree_model(self.part(self.state.parts[TREE]))

    @cached_property
    def tree_model(self) -> TreeModel:
        """The model's own tree, with its parameters."""
        return tree_model(self.model)

    @cached_property
    def description(self) -> Description:
        """The nodes of the model in words."""
        with self._reading("the description of topics"):
            return contents.read_description(self.part(self.state.parts[TREE]))

    @cached_property
    def copies(self) -> Copies:
        """Which documents are copies of others; none where an earlier version has not looked."""
        from topiarist.collection.copies import kept_copies

        return kept_copies(self.generation.database)

    @cached_property
    def index(self) -> SearchIndex:
        """The index by meaning; where documents are very many, a question to it looks at some of them."""
        from topiarist.collection.find.index_part import open_index
        from topiarist.collection.find.shortlist import shortlisted

        with self._reading("the index by meaning"):
            found = open_index(self.generation, self.state.parts[SEARCH])
        return shortlisted(found, lambda: self.words)

    @cached_property
    def words(self) -> WordIndex | None:
        """All words of the documents, by stems; None in a collection that was written before they were kept."""
        from topiarist.collection.find.index_part import open_words

        with self._reading("the index of words"):
            return open_words(self.generation, self.state.parts[SEARCH])

    @cached_property
    def placer(self) -> Placer:
        """The model as it files documents into the tree that people see."""
        return Placer(self.model, self.outline.tree, self.outline.class_nodes)

    @cached_property
    def categories(self) -> Categories | None:
        """The model of given labels, if any were learned."""
        name = self.state.parts.get(CATEGORIES)
        with self._reading("the model of categories"):
            return None if name is None else contents.read_categories(self.part(name))

    @cached_property
    def tree(self) -> TopicTree:
        """The tree with the words and sizes of its topics, as people have shaped it."""
        known, shares, general, settings = self.description, self.shares, self.counting.general, self.settings
        with self._reading("the tree"):
            return described(self.outline, without_words(known, self.outline.ignored), shares, general, settings)

    @property
    def placed(self) -> Placed:
        """The documents in the tree, as comparing, judging and exporting want them."""
        return placed(self.outline, self.shares, self.documents.ids()[: len(self)], self.tree.words)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the documents that it was grown from, the most frequent first; none if nobody has looked."""
        return tuple(self.settings.get("languages", {}))

    @cached_property
    def hard_to_place(self) -> Bools:
        """Which documents are hard to place: no topic has more than half of them."""
        return hard_to_place(shares_by_topic(self.outline, self.shares)[1])

    def counted(self, documents: Iterable[Document]) -> Csr:
        """The counts of other documents, as those of the collection were counted, and as the tree sees them."""
        return self.counting.heeded(self.heard(documents).counts)

    def heard(self, documents: Iterable[Document]) -> Heard:
        """The counts of other documents, and how much of each is of words that the collection knows."""
        known = self.counting
        return hear(map(known.text_of, documents), known.vocabulary, known.settings, known.general)

    def topic(self, name: str | int) -> int:
        """The number of a topic that is called so, or has the word."""
        return self.outline.find(name)

    def shares_under(self, topic: int) -> Any:
        """How much of each document lies under a topic."""
        below = self.outline.tree.path_mask(self.outline.class_nodes)[:, self.outline.node(topic)]
        return self.shares @ below.astype(np.float64)

    def search(
        self, text: str, n: int = 10, *, by: str = "both", topic: str | int | None = None, why: bool = False
    ) -> Found:
        """The documents that a query finds, best first; ``why`` says why.

        By "both", words count in every form and for what they tell, none is required, and their meaning counts too;
        phrases in quotes and other operators are exact. By "words" all words must be there as they are typed; by
        "meaning" the tree's models alone decide. ``topic`` keeps to what lies under a topic. What may be typed is in
        ``text.query``.
        """
        from topiarist.collection.find.search import Search

        return Search(self, text, by).page(n, topic=topic, why=why)

    def over_time(self, by: str = "auto", *, topic: str | int | None = None, detail: str | int = "normal") -> OverTime:
        """The share of each topic by day, week, month or year, with intervals and bursts.

        ``by``: "day", "week", "month", "year", or "auto", which chooses by the dates. ``topic``: only what lies under
        it. ``detail``: which topics are shown first, as ``TopicTree.view`` has it; all are in the table.
        """
        from topiarist.collection.describe.figures import Figures
        from topiarist.collection.spread.over_time import over_time

        top = None if topic is None else self.topic(topic)
        return over_time(Figures(self), by, topic=top, detail=detail)

    def by_group(self, column: str, *, between: tuple[str, str] | None = None, detail: str | int = "normal") -> ByGroup:
        """Of which topics each group of documents has more than the others, with intervals.

        ``column``: a column of the documents, or "label", "tag", "type". Each share has its documents behind it.
        ``between`` names two groups that are compared with each other instead.
        """
        from topiarist.collection.describe.figures import Figures
        from topiarist.collection.spread.by_group import by_group

        return by_group(Figures(self), column, between=between or (), detail=detail)

    def new_since(self, since: str, until: str = "") -> Newer:
        """The topics and words of which documents since a date, or until another, have more than those before."""
        from topiarist.collection.describe.figures import Figures
        from topiarist.collection.spread.newer import newer

        return newer(Figures(self), since, until)

    def similar(
        self,
        document: str | Sequence[str],
        n: int = 10,
        *,
        unlike: Sequence[str] = (),
        topic: str | int | None = None,
        why: bool = False,
    ) -> Found:
        """The documents that are most like one, or like several, given by their ids; and not like others."""
        from topiarist.collection.find.search import Likeness
        from topiarist.collection.passages import rows_of

        wanted = [document] if isinstance(document, str) else document
        like, other = ([row for id in ids for row in rows_of(self, id)] for ids in (wanted, unlike))
        return Likeness(self, like, other).page(n, topic=topic, why=why)

    def file(self, documents: Iterable[Document | str], rho: float = 0.9, *, vectors: Any = None) -> Iterator[Filed]:
        """Where new documents belong, at the deepest topic that is more certain than ``rho``; nothing is kept.

        ``vectors``: as for ``grow``. Without them, or where a collection has none, words decide alone.
        """
        from topiarist.collection.file import arrivals

        return arrivals.file(self, as_documents(documents), rho, vectors=vectors)

    def add(
        self,
        documents: Iterable[Document | str],
        rho: float = 0.9,
        *,
        learn: bool = True,
        dates: str = "auto",
        vectors: Any = None,
    ) -> list[Filed]:
        """File documents and keep them, all or none; with ``learn`` the model learns from them where it can.

        ``dates``: "day-first" or "month-first" where the dates of a source do not tell it.
        """
        from topiarist.collection.file.arrivals import add

        return list(add(self, as_documents(documents, len(self) + 1), rho, learn=learn, dates=dates, vectors=vectors))

    def remove(self, ids: Iterable[str] = (), *, query: str = "", forget: bool = False) -> Removal:
        """Take documents out: by their ids, or all that a query finds by its words; ``undo`` brings them back.

        With ``forget`` they are gone for good, from every byte of the folder, and the tree is fitted without them.
        """
        from topiarist.collection.remove.removal import chosen, preview, remove

        removal = preview(self, chosen(self, ids, query))
        if forget:
            from topiarist.collection.remove.forgetting import forget as forget_for_good

            return forget_for_good(self, removal.ids).removal
        return remove(self, removal.ids)

    def verify(self, *, n_threads: int | None = None) -> Verdict:
        """Grow and edit the collection again from the texts that it keeps, elsewhere: do the bits agree?"""
        from topiarist.collection.verify.verification import verify

        return verify(self, n_threads=n_threads)

    def shape(
        self, edits: Iterable[Edit | Mapping[str, Any] | str], *, refit: bool = True, verbose: bool = False
    ) -> None:
        """Change the tree, all edits or none, and fit it again where that is needed.

        An edit is a value such as ``Rename("oil", "Energy")``, what a file of edits has,
        ``{"rename": {"topic": "oil", "name": "Energy"}}``, or a line of words, ``"rename oil Energy"``.
        """
        from topiarist.collection.shape import changes
        from topiarist.collection.shape.edit_language import edits_of

        changes.shape(self, edits_of(edits), refit=refit, verbose=verbose)

    def learn(
        self, labels: Mapping[str, Sequence[str]] | None = None, *, several: bool | None = None, holdout: float = 0.2
    ) -> Quality:
        """Learn categories from labels by document id, or from those that the documents came with.

        Filing tells them from then on; a share of the documents is held out to tell how good they are.
        """
        from topiarist.collection.judge import learner

        return learner.learn(self, labels, several=several, holdout=holdout)

    def report(self, path: str | os.PathLike[str], documents: str = "typical") -> int:
        """Write the collection as one page that loads nothing, to hand on; how many bytes it has.

        ``documents``: "typical", "all" or "none".
        """
        written: int = import_module("topiarist").report(self, path, documents)  # the page is drawn by the app
        return written

    def undo(self) -> str:
        """Take the last edit, fit, learning or removal of documents back, exactly; what it was."""
        from topiarist.collection.shape import changes

        return changes.undo(self)

    def part(self, name: str) -> Path:
        """The folder of a part. It may be gone where somebody has changed the collection since it was opened."""
        try:
            return open_part(self.generation, name)
        except DamagedError:
            if self.folder.grown_anew or edit_log.latest(self.generation.database) != self.number:
                what = "grown anew" if self.folder.grown_anew else "changed"
                raise ResourceError(f"{self.folder.shown} was {what} meanwhile", hint="run it again") from None
            raise

    def _pieces(self, role: str) -> Csr:
        with self._reading(role):
            return contents.read_pieces([self.part(name) for name in self.state.pieces(role)], len(self), role)


_OF_STATE = (
    "copies",
    "counting",
    "counts",
    "all_counts",
    "shares",
    "vectors",
    "farness",
    "model",
    "tree_model",
    "description",
    "tree",
    "index",
    "words",
    "placer",
    "categories",
    "hard_to_place",
)
