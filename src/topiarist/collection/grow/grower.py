"""Growing a collection: read, count, grow, describe, index, publish; each phase can be taken up again.

What a phase has finished lies in the folder ``growing`` of the collection, and a grow that was killed goes on after it:
documents and counts once they are all read, the tree from its last checkpoint. Nobody sees any of it before the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from topiarist.collection import contents
from topiarist.collection.collection import Collection
from topiarist.collection.contents import Counting
from topiarist.collection.describe.flat_topics import set_general_words_aside
from topiarist.collection.describe.nodes import named
from topiarist.collection.find import meaning_index
from topiarist.collection.grow import inheritance
from topiarist.collection.grow.checkpoints import KIND as CHECKPOINT
from topiarist.collection.grow.checkpoints import PartJournal
from topiarist.collection.grow.fit_description import corpus_of, description_of, familiar
from topiarist.collection.grow.ingest import loading
from topiarist.collection.grow.model import grown_model
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.shape import Shape
from topiarist.collection.state import COUNTS, FLAT, SEARCH, SHARES, TREE, State
from topiarist.counts.corpus import Corpus
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.estimators.common.options import working_dtype
from topiarist.estimators.tree.fitted_tree import crown_of, shares_of
from topiarist.estimators.tree.preparation import TILE_COLUMNS
from topiarist.hierarchy.growth.loop import Checkpoint, Record
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.store import edit_log, facts
from topiarist.store.collection_folder import Growing, begin
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation
from topiarist.store.parts import Part, new_part, open_part
from topiarist.store.sweep import sweep_parts
from topiarist.text.documents import Document
from topiarist.text.language import Language, language_of
from topiarist.text.readers import Reading, read

MADE_FROM = "made_from"  # a digest of sources and settings: the same one, the same collection
KERNELS = ("paths", "classes", "search")  # that growing and indexing need
PLACES = "places"  # where the sources were, in full: there originals can be found again
READ = "read"  # the settings have it when all documents and counts are there


class Teller:
    """What a grow says on the way; nothing, unless somebody listens."""

    def phase(self, text: str) -> None:
        """A new phase begins."""

    def reading(self, number: int) -> None:
        """So many documents have been read."""

    def said(self, text: str) -> None:
        """A finding of the phase."""

    def counted(self, corpus: Corpus) -> None:
        """All is counted, nothing has grown yet; whoever sees that it cannot grow here may raise."""

    def grown(self, record: Record) -> None:
        """The tree has grown a little: what was seen so far."""


class _TellingJournal(PartJournal):
    """A journal that also tells how far a tree has grown."""

    def __init__(self, generation: Generation, tell: Teller) -> None:
        super().__init__(generation)
        self.tell = tell

    def recall(self) -> Checkpoint | None:
        """The newest checkpoint."""
        found = super().recall()
        if found is not None:
            self.tell.said(f"Taking up a tree of {found.record.n_leaves[-1]:,} topics")
        return found

    def note(self, checkpoint: Callable[[], Checkpoint]) -> None:
        """See ``growth.Journal``."""
        made = checkpoint()  # only names what is there already
        self.tell.grown(made.record)
        super().note(lambda: made)


@dataclass(frozen=True)
class Grower:
    """Grows collections by one recipe."""

    recipe: Recipe
    n_threads: int | None = None
    device: str = "cpu"
    verbose: bool = False
    tell: Teller = field(default_factory=Teller)

    def grow(
        self,
        source: str | os.PathLike[str] | Iterable[Document],
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        resume: bool = False,
        told: dict[str, Any] | None = None,
    ) -> Collection:
        """From documents to a collection in a folder. ``told`` are settings to keep with it."""
        settings = {"recipe": self.recipe.to_dict(), **_named(source), **(told or {})}
        with begin(folder, force=force, resume=resume) as growing:
            database = growing.generation.database
            known = facts.settings(database)
            if known.get(READ) and any(known.get(name) != settings.get(name) for name in ("recipe", MADE_FROM)):
                raise UsageError(
                    f"the unfinished grow at {growing.shown} was begun with other settings or files",
                    hint="the same options as then, or --force to begin anew",
                )
            try:
                if known.get(READ):
                    self.tell.said("Taking up what was read before")
                else:
                    self._read(source, growing, settings)
                state, parts = self._finished(growing)
            except (InputError, UsageError):  # it would fail again: nothing to resume
                growing.discard()
                raise
            if edit_log.current(database) is None:
                with database.transaction():
                    state = self._carried(growing, state)
                    edit_log.record(database, "grow", {"model": state.model}, state.to_dict(), parts=parts)
            edit_log.drop(database, [name for name in edit_log.parts(database) if name.startswith(f"{CHECKPOINT}-")])
            sweep_parts(growing.generation)
            return Collection(growing.publish())

    def _carried(self, growing: Growing, state: State) -> State:
        """With what people did to the collection that this one replaces."""
        old = inheritance.before(os.fspath(growing.path))
        if old is None:
            return state
        try:
            state, told = inheritance.carried(old, growing.generation, state)
        except DamagedError:
            told = ("What was done to the collection before cannot be read, and is not carried over",)
        finally:
            old.close()
        for sentence in told:
            self.tell.said(sentence)
        return state

    def _finished(self, growing: Growing) -> tuple[State, list[Part]]:
        """The tree with everything that belongs to it; all of it may be there from a grow that was stopped."""
        found = edit_log.current(growing.generation.database)
        return self._grow(growing) if found is None else (State.from_dict(found[1]), [])

    def _read(self, source: Any, growing: Growing, settings: dict[str, Any]) -> None:
        """Read and count; on the disk all at once."""
        generation = growing.generation
        Documents(generation.database).clear()  # those of a grow that was killed before it knew its counts
        self.tell.phase("Reading")
        with _opened(source) as documents, loading(Documents(generation.database)) as passing:
            stream = _counted(passing(documents), self.tell.reading)
            language, stream = language_of(stream, self.recipe.language)
            corpus = Corpus.from_documents(
                stream, self.recipe.counting(language), keep_texts=False, n_jobs=self.n_threads
            )
        problems, counts = getattr(documents, "problems", []), getattr(documents, "counts", None)
        self.tell.said(str(counts) if counts is not None else f"{corpus.n_docs:,} documents")
        self._said_words(corpus, language)
        special, general = set_general_words_aside(corpus)
        with new_part(generation, COUNTS) as part:
            contents.write_matrix(part.folder, special.counts)
            contents.write_counting(part.folder, Counting(special.vocabulary, special.settings, general))
        found = {"language": language.code, "n_tokens": corpus.n_tokens, "n_words": corpus.n_words}
        with generation.database.transaction():
            edit_log.keep(generation.database, [part.part])
            facts.add_problems(generation.database, problems)
            facts.change_settings(generation.database, {**settings, **found, READ: part.name})

    def _said_words(self, corpus: Corpus, language: Language) -> None:
        told = (
            f"{language.name.title()} ({language.share:.0%} of {language.judged} looked at). "
            if language.judged
            else ""
        )
        self.tell.said(f"{told}{corpus.n_tokens:,} words, {corpus.n_words:,} different ones kept")

    def _grow(self, growing: Growing) -> tuple[State, list[Part]]:
        generation = growing.generation
        corpus, general = kept_corpus(generation)
        self.tell.counted(corpus)
        kind = working_dtype(None, corpus.counts, TILE_COLUMNS)
        prepare_kernels(kind, *KERNELS, notice=self.tell.phase, device=self.device)
        self.tell.phase("Growing the tree")
        journal = _TellingJournal(generation, self.tell)
        model = grown_model(corpus, self.recipe, journal, self.n_threads, self.device, self.verbose)
        self.tell.phase("Describing the topics")
        state, parts = kept_tree(generation, model, corpus, general, self.recipe.model, self.n_threads)
        self.tell.phase("Indexing")
        Documents(generation.database).index()
        flat = meaning_index.write_flat(generation, corpus, self.n_threads)
        search = meaning_index.write_index(generation, model, generation.folder / flat.name, corpus, self.n_threads)
        parts, state = [*parts, flat, search], state.with_part(FLAT, flat.name)
        pieces = [facts.settings(generation.database)[READ]]
        return state.with_pieces(COUNTS, pieces).with_part(SEARCH, search.name), parts


def kept_corpus(generation: Generation) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus of a grow that has read everything: counts mapped, and what is known of documents."""
    folder = open_part(generation, facts.settings(generation.database)[READ])
    counting = contents.read_counting(folder)
    return corpus_of(generation, contents.read_matrix(folder), counting), counting.general


def kept_tree(
    generation: Generation, model: Any, corpus: Corpus, general: tuple[str, ...], kind: str, n_threads: int | None
) -> tuple[State, list[Part]]:
    """A fitted model as parts of a collection: itself, its nodes in words, the shares of the documents."""
    crown, shares = crown_of(model), shares_of(model, corpus.counts)
    language = facts.settings(generation.database).get("language", "")
    known = {"familiar": familiar(generation, Counting(corpus.vocabulary, corpus.settings, general))}
    description = description_of(model, corpus, shares, general, known, n_threads, language)
    with new_part(generation, TREE) as tree:
        contents.write_tree(tree.folder, model, description)
    with new_part(generation, SHARES) as rows:
        contents.write_matrix(rows.folder, shares)
    shape = Shape.of(named(crown.tree, [node.words for node in description.nodes]), crown.class_nodes)
    state = State(shape, {TREE: tree.name, f"{SHARES}.0": rows.name}, corpus.n_docs, kind)
    return state, [tree.part, rows.part]


def _named(source: Any) -> dict[str, Any]:
    """The folder or file that documents come from, as it was named and in full."""
    if not isinstance(source, str | os.PathLike):
        return {}
    return {"sources": [os.fspath(source)], PLACES: [os.path.abspath(source)]}


@contextmanager
def _opened(source: Any) -> Iterator[Any]:
    """Documents from wherever they come."""
    if isinstance(source, Reading):
        with source as documents:
            yield documents
    elif isinstance(source, str | os.PathLike):
        with read([os.fspath(source)]) as documents:
            yield documents
    else:
        yield source


def _counted(documents: Iterable[Document], tell: Callable[[int], None]) -> Iterator[Document]:
    number = 0
    for number, document in enumerate(documents, 1):
        if number % 200 == 0:
            tell(number)
        yield document
    if not number:
        raise InputError("there are no documents", hint="a folder or a file with text")
    tell(number)
