"""Collection: documents, their topic tree, and all queries and edits of both."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Floats
from topiarist.collection import contents
from topiarist.collection.classify.predictions import Categories
from topiarist.collection.contents import Counting, Description
from topiarist.collection.describe.topic_tree import (
    TopicTree,
    assign_documents,
    build_topic_tree,
    remove_words,
    sum_shares_by_topic,
)
from topiarist.collection.shape.tree_state import TreeState
from topiarist.collection.state import CATEGORIES, COUNTS, MINIMA, SEARCH, SHARES, TREE, VECTORS, State
from topiarist.collection.state_cache import PARTS, STATE, StateCache, cached
from topiarist.counts.column_map import ColumnMap
from topiarist.errors import DamagedError, ResourceError, reading
from topiarist.metrics.placed_documents import MIN_CERTAINTY, DocumentAssignments, find_unassigned
from topiarist.storage import edit_log, facts
from topiarist.storage.collection_folder import Folder
from topiarist.storage.column_table import ColumnTable
from topiarist.storage.date_table import Dates
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation, open_part
from topiarist.storage.marks import Marks, PassageNotes
from topiarist.text.documents import Document
from topiarist.text.fields import Field

if TYPE_CHECKING:
    from topiarist.collection.classify.learning import Quality
    from topiarist.collection.describe.tables import Tables
    from topiarist.collection.document_vectors import OutlierThreshold
    from topiarist.collection.file.arrivals import FiledDocument
    from topiarist.collection.file.placer import Placer
    from topiarist.collection.grow.recipe import Recipe
    from topiarist.collection.remove.removal import Removal
    from topiarist.collection.search.index import SearchIndex
    from topiarist.collection.search.results import SearchResult
    from topiarist.collection.search.words.word_index import WordIndex
    from topiarist.collection.shape.edits import Edit
    from topiarist.collection.trends.by_group import ByGroup
    from topiarist.collection.trends.newer import RecentChanges
    from topiarist.collection.trends.over_time import OverTime
    from topiarist.counts.counting import CountedTexts
    from topiarist.counts.duplicates import Duplicates
    from topiarist.counts.embeddings.word_encoder import WordEncoder
    from topiarist.text.readers import Columns
    from topiarist.trees.tree_model import TreeModel


class Collection:
    """Folder made by ``grow``, open for reading; a write takes the lock only as long as it lasts.

    Values are loaded on first use and arrays are mapped, so that a collection of 200,000 documents opens at once.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._temporary: weakref.finalize[Any, Any] | None = None  # removes a temporary folder
        self._read_state()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Collection:
        """Open the collection in a folder."""
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
        """Grow a collection in a folder; without one, in a temporary folder until the collection is closed.

        ``source``: a file or a folder, a list of paths; a list of strings, a series, documents; or a data frame
        (pandas, polars, Arrow). ``columns`` names columns of tables and frames, ``{"text": "body", "date": "sent"}``;
        others are chosen by their names and lengths. ``force`` replaces an existing collection; ``resume`` continues
        an interrupted grow. ``vectors``: embeddings of any encoder, a row for each document in their order, or by
        their ids; or a source, such as ``Encoder()``. ``client``, a ``distributed.Client``: its workers, with access
        to the folder, compute the tree from blocks in files; ``memory``: this process does, with at most this many
        bytes. ``verbose`` reports progress; by default only in a notebook.
        """
        from topiarist.cards import is_notebook
        from topiarist.collection.grow.block_growth import BlockGrowth
        from topiarist.collection.grow.data_frames import open_documents
        from topiarist.collection.grow.pipeline import grow_collection
        from topiarist.collection.grow.recipe import Recipe
        from topiarist.collection.grow.state import GrowOptions
        from topiarist.progress import report_in_notebook
        from topiarist.text.readers import ReadingSettings

        documents = open_documents(source, ReadingSettings(_make_columns(columns)))
        place = os.path.join(tempfile.mkdtemp(prefix="topiarist-"), "memory.topiary") if folder is None else folder
        blocks = None if client is None and memory is None else BlockGrowth(client, memory)
        try:
            with report_in_notebook("Growing a collection", verbose) as reporter:
                is_verbose = bool(verbose) and not is_notebook()
                options = GrowOptions(
                    n_threads=n_threads, verbose=is_verbose, reporter=reporter, vectors=vectors, blocks=blocks
                )
                collection = grow_collection(documents, place, recipe or Recipe(), options, force=force, resume=resume)
        except BaseException:
            if folder is None:
                shutil.rmtree(os.path.dirname(place), ignore_errors=True)
            raise
        if folder is None:
            collection._temporary = weakref.finalize(
                collection, shutil.rmtree, os.path.dirname(place), ignore_errors=True
            )
        return collection

    def _read_state(self) -> None:
        """Read the current state and forget cached values of an earlier one; raise DamagedError without a state."""
        current = edit_log.current(self.generation.database)
        if current is None:
            raise DamagedError(
                f"{self.folder.display_path} has no tree", hint=f"Run topiarist check {self.folder.display_path}."
            )
        number, body = current
        self._generation_folder = self.generation.folder
        with reading(f"state {number} of {self.folder.display_path}"):
            self.show_state(number, State.from_dict(body))

    def show_state(self, number: int, state: State) -> None:
        """Show a state of the edit log, with a new cache."""
        self.number, self.state, self.cache = number, state, StateCache()

    def refresh(self) -> bool:
        """Read the current state if it has changed, and return whether it has."""
        self.folder.refresh()
        if (
            self._generation_folder == self.generation.folder
            and edit_log.latest(self.generation.database) == self.number
        ):
            return False
        self._read_state()
        return True

    def close(self) -> None:
        """Close the database, and delete a temporary folder."""
        self.folder.close()
        if self._temporary is not None:
            self._temporary()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.state.n_docs

    def __repr__(self) -> str:
        return f"<Collection {self.folder.display_path!r}: {len(self):,} documents, {len(self.outline.tree.leaves)} topics>"

    def _reading(self, part: str) -> AbstractContextManager[None]:
        """Report any error of reading a part as damage of the collection."""
        return reading(f"{part} of {self.folder.display_path}", f"topiarist check {self.folder.display_path}")

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import collection_card

        return collection_card(self)

    @property
    def generation(self) -> Generation:
        """Generation with the documents and parts."""
        return self.folder.generation

    @property
    def outline(self) -> TreeState:
        """Edited tree, as users see it."""
        return self.state.shape

    @property
    def documents(self) -> Documents:
        """Table of the documents."""
        return Documents(self.generation.database)

    @property
    def tables(self) -> Tables:
        """Documents, topics, words, shares, and both over time and by group, as Arrow, pandas or polars tables."""
        from topiarist.collection.describe.tables import Tables

        return Tables(self)

    @property
    def marks(self) -> Marks:
        """Tags and read marks of documents."""
        return Marks(self.generation.database)

    @property
    def passage_notes(self) -> PassageNotes:
        """Notes of users on passages of texts."""
        return PassageNotes(self.generation.database)

    def tag(self, rows: Iterable[int], tag: str) -> None:
        """Give documents a tag."""
        with self.folder.writing() as generation:
            Marks(generation.database).tag(rows, tag)

    @property
    def columns(self) -> ColumnTable:
        """Table of the columns of the documents."""
        return ColumnTable(self.generation.database)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns of the documents: names, kinds and distributions of values."""
        database = self.generation.database
        return database.get_cached("fields", lambda: ColumnTable(database).fields())

    @property
    def dates(self) -> Dates:
        """Table of the dates of the documents and how they were parsed."""
        return Dates(self.generation.database)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings and facts of the grow."""
        return facts.settings(self.generation.database)

    @cached(PARTS)
    def counting(self) -> Counting:
        """Rules for counting texts."""
        return self.counting_of(self.outline)

    def counting_of(self, outline: TreeState) -> Counting:
        """Return the rules for counting texts for another state of the tree."""
        with self._reading("the vocabulary"):
            counting = contents.read_counting(self.part(self.state.pieces(COUNTS)[0]))
        return replace(counting, map=ColumnMap.of(counting.vocabulary, outline.ignored, outline.united))

    @cached(PARTS)
    def counts(self) -> Csr:
        """Documents × words as the model counts them, without ignored words and with united spellings in one column."""
        return self.counting.apply_word_edits(self.all_counts)

    @cached(STATE)
    def all_counts(self) -> Csr:
        """Documents × words of the texts, before edits of words."""
        counts: Csr = self._read_pieces(COUNTS)
        return counts

    @cached(PARTS)
    def shares(self) -> Csr:
        """Documents × classes of the model: P(class|document)."""
        shares: Csr = self._read_pieces(SHARES)
        return shares

    @property
    def minima(self) -> Array:
        """Signatures of the documents, by which duplicates are found."""
        minima: Array = self._read_pieces(MINIMA)
        return minima

    @cached(STATE)
    def vectors(self) -> Floats | None:
        """Embeddings, documents × dimensions, mapped; None without embeddings."""
        return self._read_pieces(VECTORS) if self.state.pieces(VECTORS) else None

    @property
    def encoder_vectors(self) -> Floats | None:
        """Embeddings for search and learning: ``vectors`` unless they come from the bundled word vectors."""
        from topiarist.collection.document_vectors import has_word_vectors

        return None if has_word_vectors(self) else self.vectors

    @cached(STATE)
    def word_encoder(self) -> WordEncoder:
        """Encoder of new documents by the bundled word vectors, adapted to the documents of the collection."""
        from topiarist.collection.document_vectors import restore_word_encoder

        return restore_word_encoder(self)

    @cached(STATE)
    def outlier_threshold(self) -> OutlierThreshold | None:
        """Cosine below which a document is an outlier; None without directions of topics."""
        from topiarist.collection.document_vectors import find_outlier_threshold

        return find_outlier_threshold(self)

    @cached(PARTS)
    def model(self) -> Any:
        """The fitted model of the tree."""
        with self._reading("the model"):
            return contents.read_tree_model(self.part(self.state.parts[TREE]))

    @cached(PARTS)
    def tree_model(self) -> TreeModel:
        """Tree of the model, with its parameters."""
        from topiarist.estimators.tree.fitted_tree import get_description_model

        return get_description_model(self.model)

    @cached(PARTS)
    def description(self) -> Description:
        """Descriptions of the nodes of the model."""
        with self._reading("the description of topics"):
            return contents.read_description(self.part(self.state.parts[TREE]))

    @cached(STATE)
    def copies(self) -> Duplicates:
        """Duplicates among the documents."""
        from topiarist.collection.copies import load_duplicates

        return load_duplicates(self.generation.database)

    @cached(PARTS)
    def index(self) -> SearchIndex:
        """Similarity index; in a very large collection a query compares only some documents."""
        from topiarist.collection.search.index_part import open_index
        from topiarist.collection.search.shortlist import attach_shortlist

        with self._reading("the index by meaning"):
            index = open_index(self.generation, self.state.parts[SEARCH])
        return attach_shortlist(index, lambda: self.words)

    @cached(STATE)
    def words(self) -> WordIndex:
        """Index of all words of the documents, by stems."""
        from topiarist.collection.search.index_part import open_words

        with self._reading("the index of words"):
            return open_words(self.generation, self.state.parts[SEARCH])

    @cached(STATE)
    def placer(self) -> Placer:
        """Assignment of new documents to the edited tree."""
        from topiarist.collection.file.placer import Placer
        from topiarist.estimators.category.calibration import Calibration

        values = self.description.facts.get("certainty")
        with self._reading("the calibration of certainties"):
            calibration = None if values is None else Calibration(*map(float, values))
        return Placer(self.model, self.outline.tree, self.outline.class_nodes, calibration=calibration)

    def certainties(self, rows: Sequence[int]) -> Floats:
        """Return the certainty of each class for documents, (rows, classes); a pinned document is at its class."""
        from topiarist.estimators.tree.fitted_tree import compute_posterior
        from topiarist.estimators.tree.topic_certainty import MAX_CERTAINTY, calibrate_posterior

        certainties: Floats = self.shares[list(rows)].toarray().astype(np.float64)
        calibration = self.placer.calibration
        if calibration is not None and len(rows):
            pinned = {self.documents.row_of(name) for name in self.outline.pins}
            free = np.array([row not in pinned for row in rows])
            free &= certainties.any(axis=1)  # unsorted documents belong to no class
            if free.any():
                originals = self.copies.find_originals(len(self))[list(rows)][free]
                vectors = None if self.vectors is None else self.vectors[originals]
                calibrated = calibrate_posterior(
                    compute_posterior(self.model, self.counts[originals], vectors), calibration
                )
                is_moved = calibrated.argmax(axis=1) != certainties[free].argmax(axis=1)  # such as by its language
                certainties[free] = np.where(is_moved[:, None], certainties[free], calibrated)
        return np.minimum(certainties, MAX_CERTAINTY)

    @cached(PARTS)
    def categories(self) -> Categories | None:
        """Classifier of labels, or None if none was learned."""
        name = self.state.parts.get(CATEGORIES)
        with self._reading("the model of categories"):
            return None if name is None else contents.read_categories(self.part(name))

    @cached(STATE)
    def tree(self) -> TopicTree:
        """Edited tree with the words and sizes of its topics."""
        description, shares, general, settings = self.description, self.shares, self.counting.general, self.settings
        with self._reading("the tree"):
            return build_topic_tree(
                self.outline, remove_words(description, self.outline.ignored), shares, general, settings
            )

    @property
    def assignments(self) -> DocumentAssignments:
        """Assignments of the documents to topics, for comparison, evaluation and export."""
        return assign_documents(self.outline, self.shares, self.documents.ids()[: len(self)], self.tree.words)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the source documents, the most frequent first; empty if they were not detected."""
        return tuple(self.settings.get("languages", {}))

    @cached(STATE)
    def hard_to_place(self) -> Bools:
        """Return for each document whether no topic alone holds more than half of it."""
        return find_unassigned(sum_shares_by_topic(self.outline, self.shares)[1])

    def count_words(self, documents: Iterable[Document]) -> Csr:
        """Return the counts of new documents by the rules of the collection."""
        return self.counting.apply_word_edits(self.count_with_coverage(documents).counts)

    def count_with_coverage(self, documents: Iterable[Document]) -> CountedTexts:
        """Return the counts of new documents, with the share of known words of each."""
        from topiarist.counts.counting import count_with_coverage

        counting = self.counting
        return count_with_coverage(
            map(counting.text_of, documents), counting.vocabulary, counting.settings, counting.general
        )

    def topic(self, name: str | int) -> int:
        """Return the number of a topic by its name, or by a word of its name."""
        return self.outline.find(name)

    def shares_under(self, topic: int) -> Any:
        """Return the share of each document under a topic with its subtopics; ``topic`` is a number, not a node."""
        is_under = self.outline.tree.path_mask(self.outline.class_nodes)[:, self.outline.node(topic)]
        return self.shares @ is_under.astype(np.float64)

    def search(
        self, text: str, n: int = 10, *, by: str = "both", topic: str | int | None = None, why: bool = False
    ) -> SearchResult:
        """Return the documents that match a query, best first; with explanations if ``why`` is true.

        By "both", a document matches if it has all words, in any form; if no document has all, enough of them. Phrases
        in quotes and other operators are required. At most 20 related documents follow the last match. They are marked
        as ``related`` and are not in ``total``. By "words" all words are required as typed. By "meaning" only the
        models of the tree decide. ``topic`` restricts the result to a topic. ``text.query`` describes the syntax.
        """
        from topiarist.collection.search.search import Search

        return Search(self, text, by).page(n, topic=topic, why=why)

    def over_time(self, by: str = "auto", *, topic: str | int | None = None, detail: str | int = "normal") -> OverTime:
        """Return the share of each topic by day, week, month or year, with intervals and bursts.

        ``by``: "day", "week", "month", "year", or "auto", which depends on the dates. ``topic``: count only under this
        topic. ``detail``: topics shown first, as in ``TopicTree.view``; the table has all topics.
        """
        from topiarist.collection.describe.statistics import Figures
        from topiarist.collection.trends.over_time import find_topics_over_time

        top = None if topic is None else self.topic(topic)
        return find_topics_over_time(Figures(self), by, topic=top, detail=detail)

    def by_group(self, column: str, *, between: tuple[str, str] | None = None, detail: str | int = "normal") -> ByGroup:
        """Return the topics that are more frequent in each group of documents, with intervals.

        ``column``: a column of the documents, or "label", "tag", "type". Each share has its documents. ``between``
        names two groups to compare with each other instead.
        """
        from topiarist.collection.describe.statistics import Figures
        from topiarist.collection.trends.by_group import find_topics_by_group

        return find_topics_by_group(Figures(self), column, compared_groups=between or (), detail=detail)

    def new_since(self, since: str, until: str = "") -> RecentChanges:
        """Return the topics and words that are more frequent since a date (until another) than before it."""
        from topiarist.collection.describe.statistics import Figures
        from topiarist.collection.trends.newer import find_changes_since

        return find_changes_since(Figures(self), since, until)

    def similar(
        self,
        document: str | Sequence[str],
        n: int = 10,
        *,
        unlike: Sequence[str] = (),
        topic: str | int | None = None,
        why: bool = False,
    ) -> SearchResult:
        """Return the documents most similar to documents given by id, and not similar to ``unlike``."""
        from topiarist.collection.passages import rows_of
        from topiarist.collection.search.search import Search

        like_ids = [document] if isinstance(document, str) else document
        like_rows, unlike_rows = ([row for id in ids for row in rows_of(self, id)] for ids in (like_ids, unlike))
        return Search.from_examples(self, like_rows, unlike_rows).page(n, topic=topic, why=why)

    def file(
        self,
        documents: Any,
        rho: float = MIN_CERTAINTY,
        *,
        columns: Columns | Mapping[str, str] | None = None,
        vectors: Any = None,
    ) -> Iterator[FiledDocument]:
        """Assign new documents to topics: the deepest topic with a certainty above ``rho``. Nothing is stored.

        ``documents``: any source that ``grow`` accepts. Its columns are read as for the collection; ``columns`` names
        others. ``vectors``: as for ``grow``. Without them, or in a collection without embeddings, only words decide.
        """
        from topiarist.collection.file import arrivals

        return arrivals.file_documents(self, self._read_as_grown(documents, columns), rho, vectors=vectors)

    def add(
        self,
        documents: Any,
        rho: float = MIN_CERTAINTY,
        *,
        columns: Columns | Mapping[str, str] | None = None,
        learn: bool = True,
        dates: str | None = None,
        vectors: Any = None,
    ) -> list[FiledDocument]:
        """File documents and store them, all or none; with ``learn`` the model learns from them if it can.

        ``documents`` and ``columns``: as for ``file``. ``dates``: "day-first" or "month-first" for sources with
        ambiguous dates; None: as the collection was grown.
        """
        from topiarist.collection.file.arrivals import add_documents

        new = self._read_as_grown(documents, columns, first=len(self) + 1)
        return list(add_documents(self, new, rho, learn=learn, dates=dates, vectors=vectors))

    def _read_as_grown(self, source: Any, columns: Columns | Mapping[str, str] | None, first: int = 1) -> Any:
        """Open documents of a source with the reading settings of the collection."""
        from topiarist.collection.grow.data_frames import open_documents
        from topiarist.collection.grow.read_as_grown import load_reading_settings
        from topiarist.text.readers import ReadingSettings

        return open_documents(source, load_reading_settings(self, ReadingSettings(_make_columns(columns))), first)

    def remove(self, ids: Iterable[str] = (), *, query: str = "", forget: bool = False) -> Removal:
        """Remove documents by their ids, or all that match a query by words; ``undo`` restores them.

        With ``forget`` they are erased permanently from every byte of the folder, and the tree is fitted without them.
        Documents that were removed earlier can be erased by their ids.
        """
        from topiarist.collection.remove.removal import choose_documents, preview_removal, remove_documents

        if forget:
            from topiarist.collection.remove.erasure import forget_documents as forget_for_good
            from topiarist.collection.remove.erasure import preview_forgetting

            removal, earlier = preview_forgetting(self, ids, query)
            return forget_for_good(self, [*removal.ids, *earlier.ids]).removal
        return remove_documents(self, preview_removal(self, choose_documents(self, ids, query)).ids)

    def shape(
        self, edits: Iterable[Edit | Mapping[str, Any] | str], *, refit: bool = True, verbose: bool = False
    ) -> None:
        """Edit the tree, all edits or none, and refit it if an edit requires it.

        An edit is a value such as ``Rename("oil", "Energy")``, an entry of a file of edits, ``{"rename": {"topic":
        "oil", "name": "Energy"}}``, or a line of words, ``"rename oil Energy"``.
        """
        from topiarist.collection.shape import history
        from topiarist.collection.shape.edit_language import parse_edits

        history.apply_edits(self, parse_edits(edits), refit=refit, verbose=verbose)

    def learn(
        self,
        labels: Mapping[str, Sequence[str]] | None = None,
        *,
        column: str = "",
        several: bool | None = None,
        holdout: float = 0.2,
    ) -> Quality:
        """Learn categories from labels by document id, from a column, or from the labels of the documents.

        ``column``: any column that ``by_group`` accepts. Without labels, the only column named label, labels,
        category, categories, class, tags or subject is used. Filing predicts the categories from then on. ``holdout``
        is the share of documents that evaluates them.
        """
        from topiarist.collection.classify import learning

        return learning.learn_categories(self, labels, column=column, several=several, holdout=holdout)

    def undo(self) -> str:
        """Undo the last edit, fit, learning or removal exactly, and return its description."""
        from topiarist.collection.shape import history

        return history.undo_last_step(self)

    def part(self, name: str) -> Path:
        """Return the folder of a part; raise ResourceError if the collection has changed since it was opened."""
        try:
            return open_part(self.generation, name)
        except DamagedError:
            if self.folder.was_replaced or edit_log.latest(self.generation.database) != self.number:
                change = "grown anew" if self.folder.was_replaced else "changed"
                raise ResourceError(
                    f"{self.folder.display_path} was {change} during this call", hint="Open the collection again."
                ) from None
            raise

    def _read_pieces(self, role: str) -> Any:
        with self._reading(role):
            return contents.read_pieces([self.part(name) for name in self.state.pieces(role)], len(self), role)


def _make_columns(named: Columns | Mapping[str, str] | None) -> Columns:
    """Return the columns as ``Columns``: empty for None, converted from a mapping."""
    from topiarist.text.readers import Columns

    if named is None:
        return Columns()
    return named if isinstance(named, Columns) else Columns(**dict[str, Any](named))
