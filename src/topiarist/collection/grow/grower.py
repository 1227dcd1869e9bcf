"""Growing a collection: read, count, grow, describe, index, publish; each phase can be taken up again.

What a phase has finished lies in the folder ``growing`` of the collection, and a grow that was killed goes on after it:
documents and counts once they are all read, the tree from its last checkpoint. Nobody sees any of it before the end.
"""

from __future__ import annotations

import os
import queue
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Floats, Ints
from topiarist.collection import contents
from topiarist.collection.collection import Collection
from topiarist.collection.contents import Counting
from topiarist.collection.copies import counted_texts, fitted_rows, keep_copies, kept_copies
from topiarist.collection.describe.account import READING
from topiarist.collection.describe.columns import CHOSEN, chosen_columns, columns_said
from topiarist.collection.describe.flat_topics import check_documents, set_general_words_aside
from topiarist.collection.describe.nodes import named
from topiarist.collection.document_vectors import brought, with_vectors
from topiarist.collection.find import index_part
from topiarist.collection.grow import granted, inheritance, language_trees
from topiarist.collection.grow.block_growth import InBlocks
from topiarist.collection.grow.fit_description import corpus_of, familiar, keep_fit
from topiarist.collection.grow.journal import KIND as CHECKPOINT
from topiarist.collection.grow.journal import PartJournal, Teller
from topiarist.collection.grow.language_trees import Branch, Joined
from topiarist.collection.grow.left_out import COPIES, REPEATED, LeftOut, OtherLanguages, told_copies
from topiarist.collection.grow.made_with import (
    BEGUN,
    IN_BLOCKS,
    MADE_WITH,
    STAGES,
    TextDigest,
    circumstances,
    differences,
    stages,
)
from topiarist.collection.grow.one_language import waiting, with_languages
from topiarist.collection.grow.recipe import JOINED, ONE, Recipe, identity
from topiarist.collection.passages import PASSAGES, cut_said
from topiarist.collection.shape.shape import Shape
from topiarist.collection.shape.word_use import column_map
from topiarist.collection.state import COUNTS, FLAT, MINIMA, SEARCH, TREE, State
from topiarist.counts.copies import N_HASHES, Copies, find_copies
from topiarist.counts.corpus import ByRow, Corpus, text_of
from topiarist.counts.counting import count
from topiarist.counts.languages import Languages, languages_of
from topiarist.counts.room import NewArray, Room
from topiarist.counts.settings import CountSettings
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.estimators.category.categorisers import HPLC
from topiarist.estimators.category.given_labels import NamedColumns
from topiarist.estimators.common.options import working_dtype
from topiarist.estimators.tree.fitted_tree import learn_directions, tree_model
from topiarist.estimators.tree.preparation import TILE_COLUMNS
from topiarist.estimators.tree_models import TREE_MODELS
from topiarist.hierarchy.edits import rename
from topiarist.hierarchy.growth.loop import Journal
from topiarist.hierarchy.tree import Tree
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.store import edit_log, facts
from topiarist.store.collection_folder import Growing, begin, sweep_parts
from topiarist.store.column_table import ColumnTable
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation, Part, new_part, open_part
from topiarist.text.dates import AUTO as DATES_AUTO
from topiarist.text.documents import Document, as_documents
from topiarist.text.fields import ALL
from topiarist.text.language import (
    AUTO,
    LANGUAGE,
    LANGUAGE_COLUMN,
    SAMPLE,
    Language,
    detect_language,
    language_name,
    language_of,
    languages_in_words,
)
from topiarist.text.passages import Cutter
from topiarist.text.readers import Reading, read
from topiarist.text.readers.file_systems import is_address, without_secret
from topiarist.text.repeated import LineCounts, Repeated, look_again, without
from topiarist.text.segmenters import extra_of
from topiarist.text.titles import titled

MADE_FROM = "made_from"  # a digest of sources and settings: the same one, the same collection
KERNELS = ("paths", "classes", "search")  # that growing and indexing need
PLACES = "places"  # where the sources were, in full: there originals can be found again
STOPPED, INTERRUPTED = "stopped", "interrupted"  # why growing ended, if somebody ended it
WORDS = "words"  # what people said of words before the tree was grown anew
READ, READ_MINIMA = "read", "read_minima"  # the settings have them when all documents and counts are there
WAITING = 4_000  # documents between the two, at most
CONCENTRATION = 40.0  # of vectors, in trees that were grown from words alone
GROWN_ON, BATCH = 20_000, 10_000  # documents that a tree grows on, and that it then learns from at a time, online


@dataclass(frozen=True)
class Grower:
    """Grows collections by one recipe."""

    recipe: Recipe
    n_threads: int | None = None
    device: str = "cpu"
    verbose: bool = False
    take_removed: bool = False  # read documents again that people removed
    tell: Teller = field(default_factory=Teller)
    vectors: Any = None  # where the vectors of documents come from; see ``counts.embeddings.given.VectorSource``
    place: InBlocks | None = None  # who computes blocks in files; None: the tree grows in memory

    def grow(
        self,
        source: str | os.PathLike[str] | Iterable[Document | str],
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        resume: bool = False,
        told: dict[str, Any] | None = None,
    ) -> Collection:
        """From documents to a collection in a folder. ``told`` are settings to keep with it."""
        if self.place is not None:
            self.place.check(self.recipe, self.vectors)
        settings = {"recipe": self.recipe.to_dict(), **_named(source), **(told or {})}
        settings[MADE_WITH] = self._circumstances
        settings |= {WORDS: words} if (words := inheritance.words_of(os.fspath(folder))) else {}
        with begin(folder, force=force, resume=resume) as growing:
            database = growing.generation.database
            known = facts.settings(database)
            same = known.get(MADE_FROM) == settings.get(MADE_FROM)
            if known.get(READ) and not (same and identity(known.get("recipe") or {}) == self.recipe.identity):
                raise UsageError(
                    f"the unfinished grow at {growing.shown} was begun with other settings or files",
                    hint="the same options as then, or --force to begin anew",
                )
            try:
                if known.get(READ):
                    self.tell.said("Taking up what was read before")
                    self._taken_up(growing, known)
                else:
                    self._read(source, growing, settings)
                state, parts = self._finished(growing)
            except (InputError, UsageError):  # it would fail again: nothing to resume
                growing.discard()
                raise
            if edit_log.current(database) is None:
                with database.transaction():
                    carried = self._carried(growing, state)
                    body = {"model": state.model, "carried": carried.shape != state.shape}
                    body |= self._ended(growing, state)
                    body |= {} if self.place is None else {IN_BLOCKS: self._circumstances[IN_BLOCKS]}
                    edit_log.record(database, "grow", body, carried.to_dict(), parts=parts)
            edit_log.drop(database, [name for name in edit_log.parts(database) if name.startswith(f"{CHECKPOINT}-")])
            sweep_parts(growing.generation)
            published = growing.publish()
            granted.grant(published.path, settings.get(PLACES, ()))
            return Collection(published)

    @property
    def _circumstances(self) -> dict[str, Any]:
        """What may change the last bits of the tree that is grown here."""
        return circumstances(self.device) | {IN_BLOCKS: None if self.place is None else self.place.to_dict()}

    def _taken_up(self, growing: Growing, known: dict[str, Any]) -> None:
        """Write down and tell that this stage does not run on what the one before it ran on."""
        database = growing.generation.database
        if edit_log.current(database) is not None:  # all is grown, only nobody sees it yet
            return
        now, before = self._circumstances, stages(known)
        if not before or not (changed := differences(before[-1], now)):
            return
        begun = any(name.startswith(f"{CHECKPOINT}-") for name in edit_log.parts(database))
        facts.change_settings(database, {STAGES: [*before[1:], {**now, BEGUN: begun}]})
        if told := [name.replace(IN_BLOCKS, "allowance of memory") for name in changed if begun or name != IN_BLOCKS]:
            self.tell.said(f"Taken up with another {', '.join(told)}: one run might have given another tree")

    def _ended(self, growing: Growing, state: State) -> dict[str, Any]:
        """That somebody stopped the growth, where they did: nobody can find that moment again."""
        known = contents.read_description(growing.generation.folder / state.parts[TREE]).facts
        return {STOPPED: INTERRUPTED} if known.get(STOPPED) == INTERRUPTED else {}

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
        kept = Documents(generation.database)
        kept.clear()  # those of a grow that was killed before it knew its counts
        room, lines, read_texts = Room(generation.folder), LineCounts(), TextDigest()
        minima = NewArray(room, np.uint32, (N_HASHES,))
        self.tell.phase("Reading")
        others = OtherLanguages()
        how = {"dates": self.recipe.dates, "columns": self.recipe.columns}
        with _opened(source) as documents, ExitStack() as stack:
            cutter = Cutter()
            cut = cutter.cut if self.recipe.passages else iter
            language, coming = self._language(documents, generation, others, stack)
            passing = stack.enter_context(loading(kept, **how))
            arriving = inheritance.Arriving(cut(coming), os.fspath(growing.path), cut, self.take_removed)
            stream = _counted(passing(map(titled, arriving)), self.tell.reading)
            settled = self.recipe.counting(language)
            corpus = self._counts(read_texts.passing(_seen(stream, lines)), settled, room, minima)
        if language.code != (known := self._known_language(kept, language)).code:
            settled, language = self.recipe.counting(known), known
            minima.clear()
            corpus = self._counts(kept.iterate(), settled, room, minima)
        problems, counts = getattr(documents, "problems", []), getattr(documents, "counts", None)
        self.tell.said(str(counts) if counts is not None else f"{corpus.n_docs:,} documents")
        for sentence in filter(None, (others.said(language.code), cut_said(cutter.facts), *arriving.told)):
            self.tell.said(sentence)
        self.tell.doing("lines that many documents share")
        repeated = look_again(lines, (document.text for document in kept.iterate()))
        left = LeftOut(kept=self.recipe.keep_repeated)
        if repeated.lines and left.kept:
            left.look(kept, repeated)
            repeated = Repeated()
        elif repeated.lines:
            minima.clear()
            corpus = self._counts(left.passing(kept, repeated), settled, room, minima)
        unit = "passage" if cutter.passages else "document"
        if repeated_said := left.told(unit):
            self.tell.said(repeated_said)
        chosen = chosen_columns(getattr(documents, "chosen", {}))
        for sentence in columns_said(generation.database, chosen):
            self.tell.said(sentence)
        self.tell.doing("languages")
        languages = self._languages(kept, corpus, repeated, room)
        self._said_words(corpus, language, languages)
        n_docs, n_tokens, n_words = corpus.n_docs, corpus.n_tokens, corpus.n_words
        several = language_trees.telling_words(corpus.counts, languages)
        self.tell.doing("writing the counts")
        special, general = set_general_words_aside(corpus, several if several.any() else None, room)
        counting = Counting(special.vocabulary, special.settings, general, repeated)
        with new_part(generation, COUNTS) as part:
            contents.write_matrix(part.folder, special.counts)
            contents.write_counting(part.folder, counting)
            contents.write_languages(part.folder, languages)
        del special, corpus  # from here on counts are mapped
        with new_part(generation, MINIMA) as marks:
            contents.write_minima(marks.folder, minima.array())
        self.tell.doing("copies, and texts that are nearly the same")
        copies = find_copies(contents.read_minima(marks.folder), counted_texts(kept, counting))
        if len(copies):
            self.tell.said(told_copies(copies, unit))
        found: dict[str, Any] = {"language": language.code, "n_tokens": n_tokens, "n_words": n_words}
        found |= {
            CHOSEN: chosen,
            "languages": dict(zip(languages.codes, languages.sizes, strict=True)),
            "languages_unknown": languages.n_unknown,
            **({"languages_left_out": dict(others.left_out)} if others.left_out else {}),
            inheritance.GROWN: arriving.n_sources,
            MADE_WITH: {**settings[MADE_WITH], "texts": read_texts.text(), "documents": n_docs},
        }
        found |= {PASSAGES: cutter.facts} if self.recipe.passages else {}
        if is_dataclass(counts) and not isinstance(counts, type):
            found[READING] = asdict(counts)
        found |= {REPEATED: left.facts, COPIES: {"copies": len(copies), "originals": copies.n_originals}}
        self.tell.doing(f"{n_docs:,} documents")
        with generation.database.transaction():
            keep_copies(generation.database, copies)
            facts.add_languages(generation.database, ((row, languages.of(row)) for row in range(n_docs)))
            found[LANGUAGE_COLUMN] = self._kept_languages(generation, languages)
            edit_log.keep(generation.database, [part.part, marks.part])
            facts.add_problems(generation.database, [*problems, *others.problems])
            if arriving.removed:
                facts.add_removed_digests(generation.database, arriving.removed)
            facts.change_settings(generation.database, {**settings, **found, READ: part.name, READ_MINIMA: marks.name})

    def _language(
        self, documents: Iterable[Document], generation: Generation, others: OtherLanguages, stack: ExitStack
    ) -> tuple[Language, Iterator[Document]]:
        """The language by which words are counted, and the documents; those of ``others`` are left out if asked for."""
        if self.recipe.languages != ONE:
            return language_of(iter(documents), self.recipe.language)
        if self.recipe.language != AUTO:
            language, coming = language_of(iter(documents), self.recipe.language)
            return language, others.without(with_languages(coming), language.code)
        every = stack.enter_context(waiting(documents, generation.folder))
        others.undecided = every.undecided
        return every.language, others.without(every, every.language.code)

    def _known_language(self, kept: Documents, language: Language) -> Language:
        """The language by which words are counted, now that all documents are there: the first ones may be unlike."""
        if self.recipe.language != AUTO or self.recipe.languages == ONE or len(kept) <= SAMPLE:
            return language
        rows = range(0, len(kept), -(-len(kept) // SAMPLE))
        found = detect_language([one.text for one in kept.many(rows)])
        if found.code and found.code != language.code:
            first = language_name(language.code) or "of no language that can be told"
            self.tell.said(f"Counted as {language_name(found.code)}: the first documents are {first}, most are not")
            return found
        return language

    def _languages(self, kept: Documents, corpus: Corpus, repeated: Repeated, room: Room) -> Languages:
        """The language of each document by its function words; where a stop list took them out, by counting them."""
        if corpus.settings.stop_words is not None:
            texts = (replace(one, text=without(one.text, repeated.forms)) for one in kept.iterate())
            corpus = self._counts(texts, replace(corpus.settings, stop_words=None, phrases=None), room)
        return languages_of(corpus.counts, corpus.vocabulary.words)

    def _kept_languages(self, generation: Generation, languages: Languages) -> bool:
        """The language of each document as a column, where there are several; whether it is there."""
        if len(languages.codes) < 2 or self.recipe.columns != ALL:
            return False
        names = [language_name(code) for code in languages.codes]
        known = ((row, names[place]) for row, place in enumerate(languages.places.tolist()) if place >= 0)
        return ColumnTable(generation.database).add_category(LANGUAGE, known)

    def _counts(
        self, documents: Iterable[Document], settings: CountSettings, room: Room, minima: NewArray | None = None
    ) -> Corpus:
        """Counts alone: what else is known of documents lies in the database."""
        texts = (text_of(document, settings.titles) for document in documents)
        jobs = self.n_threads if self.place is None else self.place.jobs(self.n_threads)
        counts, vocabulary = count(texts, settings, n_jobs=jobs, minima=minima, room=room, dtype=np.float32)
        return Corpus(ByRow.numbers(counts.shape[0]), counts, vocabulary, settings=settings)

    def _said_words(self, corpus: Corpus, language: Language, languages: Languages) -> None:
        """Which languages there are, each with its documents, and how many words."""
        told = "" if self.recipe.language == AUTO else f"Taken as {language.name.title()}, as asked for. "
        if languages.codes:
            told += f"{languages_in_words(languages.codes, languages.sizes, languages.n_unknown)}. "
        fewest = corpus.settings.fewest(corpus.n_docs)
        rare = f", those of at least {fewest:,} documents" if fewest > corpus.settings.min_documents else ""
        self.tell.said(f"{told}{corpus.n_tokens:,} words, {corpus.n_words:,} different ones kept{rare}")
        extra = extra_of(language.code)
        if extra and not corpus.settings.segmenter:
            self.tell.said(
                f"{language.name.title()} has no spaces between words: pairs of letters are counted in their place;"
                f" pip install 'topiarist[{extra}]' and grow again to have words"
            )

    def _grow(self, growing: Growing) -> tuple[State, list[Part]]:
        generation = growing.generation
        whole, counting = kept_corpus(generation)
        said = inheritance.with_words(Shape.of(Tree.single(), ()), facts.settings(generation.database).get(WORDS, {}))
        seen = column_map(said, whole.vocabulary)
        corpus = replace(whole, counts=seen.applied(whole.counts, Room(generation.folder)))
        rows = fitted_rows(kept_copies(generation.database), corpus.n_docs)
        n_once = corpus.n_docs if rows is None else len(rows)
        place = self.place or InBlocks.of_many(self.recipe, self.vectors, n_once)
        self.tell.counted(corpus, in_blocks=place is not None)
        if self.vectors is not None:
            self.tell.phase("Bringing vectors")
        vectors = brought(generation, self.vectors, corpus.n_docs, self.tell.said)
        kind = working_dtype(None, corpus.counts, TILE_COLUMNS)
        prepare_kernels(kind, *KERNELS, notice=self.tell.phase, device=self.device)
        self.tell.phase("Growing the tree")
        journal, unseen = PartJournal(generation, self.tell), np.flatnonzero(seen.moved).tolist()
        languages = contents.read_languages(open_part(generation, facts.settings(generation.database)[READ]))
        some = vectors if rows is None or vectors is None else vectors[rows]
        alone = replace(self, place=None if place is None else replace(place, folder=generation.folder))
        joined = alone._joined(corpus, languages, rows, journal, unseen)
        model = alone.fitted(corpus, journal, unseen, some, rows) if joined is None else joined.model
        if joined is not None and some is not None:  # by words so far
            learn_directions(model, _once(corpus, rows).counts, some, CONCENTRATION)
        if vectors is not None:
            self.tell.said(_weight_said(model))
        self.tell.phase("Describing the topics")
        state, parts = alone._kept(generation, model, corpus, counting, said, joined, vectors)
        self.tell.phase("Indexing")
        self.tell.doing("the words of all texts")
        Documents(generation.database).index()
        self.tell.doing("topics in fine, for a search by meaning")
        flat = index_part.write_flat(generation, whole, self.n_threads, rows)  # who searches may use any word
        self.tell.doing(f"{whole.n_docs:,} documents by meaning")
        known = facts.settings(generation.database)
        elsewhere = None if place is None else place.elsewhere(open_part(generation, known[READ]))
        search = index_part.write_index(
            generation, model, generation.folder / flat.name, whole, self.n_threads, elsewhere=elsewhere
        )
        self.tell.doing(f"{whole.n_docs:,} documents, by words and by meaning")
        parts, state = [*parts, flat, search], state.with_part(FLAT, flat.name)
        state = state.with_pieces(COUNTS, [known[READ]]).with_pieces(MINIMA, [known[READ_MINIMA]])
        return with_vectors(generation, state).with_part(SEARCH, search.name), parts

    def _joined(
        self, corpus: Corpus, languages: Languages | None, rows: Ints | None, journal: Journal, unseen: Sequence[int]
    ) -> Joined | None:
        """The trees of several languages, each grown on its own, as one; None where there is one language."""
        parts = [] if languages is None else language_trees.rows_by_language(languages, rows)
        if languages is not None and self.recipe.hierarchy is None and (few := language_trees.few_said(languages)):
            self.tell.said(few)
        if len(parts) < 2 or self.recipe.hierarchy is not None:
            return None
        if self.recipe.model != JOINED or self.recipe.online:
            self.tell.said("Languages divide this tree first: only the model cam, and not online, grows them together")
            return None
        corpus = _once(corpus, rows)
        wanted = language_trees.numbers_of_topics(self.recipe.topics, [len(own) for _, own in parts])
        branches = list[Branch]()
        for (code, own), number in zip(parts, wanted, strict=True):
            self.tell.said(f"Growing {language_name(code)}: {len(own):,} documents")
            alone = replace(self, recipe=replace(self.recipe, topics=number))
            model = alone.fitted(corpus.subset(own), None if branches else journal, unseen, placed=True)
            branches.append(Branch(code, own, model))
        whole = self._unfitted(unseen)
        found = language_trees.joined(self.recipe.languages, whole, branches, corpus.counts, corpus.vocabulary.words)
        self.tell.said(found.said)
        return found

    def fitted(
        self,
        corpus: Corpus,
        journal: Journal | None = None,
        unseen: Sequence[int] = (),
        vectors: Floats | None = None,
        rows: Ints | None = None,
        *,
        placed: bool = False,
    ) -> Any:
        """The fitted model of a corpus without general words; ``unseen`` are the columns that it must not see.

        ``rows``: the documents that it is fitted to, one of each kind; None: all. ``vectors`` are those of these. From
        blocks it grows without placing documents, unless that is asked for: who keeps it does so.
        """
        if self.place is None:
            corpus, rows = _once(corpus, rows), None
        check_documents(corpus, self.recipe.topics, "topics")
        if self.recipe.hierarchy is not None:
            return _pointed(_with_labels(corpus, self.recipe.hierarchy, self._common), corpus, vectors)
        kind = TREE_MODELS[self.recipe.model]
        given = {"vectors": vectors} if kind.joins else {}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "n_cl(usters|asses)=", UserWarning)  # ``facts_of`` says it
            model = self._unfitted(unseen)
            if self.recipe.online:
                return _pointed(_online(model, corpus, given), corpus, vectors)
            if self.place is not None:
                with self.place.blocks(corpus.counts, rows) as store:
                    self.tell.said(self.place.said(store))
                    with warnings.catch_warnings(record=True) as heard:
                        model.set_params(executor=self.place.executor(store)).fit(store, journal=journal, placed=placed)
                    for one in heard:
                        self.tell.said(str(one.message))
                return model.set_params(executor=None)
            fitted = model.fit(corpus.counts, **given, **({"journal": journal} if kind.resumes else {}))
            return _pointed(fitted, corpus, vectors)

    @property
    def _common(self) -> dict[str, Any]:
        return {"random_state": self.recipe.seed, "n_threads": self.n_threads, "verbose": int(self.verbose)}

    def _unfitted(self, unseen: Sequence[int]) -> Any:
        """The estimator by the recipe."""
        kind, common = TREE_MODELS[self.recipe.model], self._common
        if len(kind.devices) > 1:
            common["device"] = self.device
        if kind.headings:
            common["headings"] = self.recipe.headings
        if kind.chooses and unseen:
            common["ignore_words"] = list(unseen)
        return kind.load()(self.recipe.topics, **common)

    def _kept(
        self,
        generation: Generation,
        model: Any,
        corpus: Corpus,
        counting: Counting,
        said: Shape,
        joined: Joined | None = None,
        vectors: Floats | None = None,
    ) -> tuple[State, list[Part]]:
        """A fitted model as parts of a collection, in the state that they make."""
        known: dict[str, Any] = {"familiar": familiar(generation, counting)}
        if joined is not None:
            known["reason"] = f"{len(model.tree_.leaves):,} leaves: {joined.said}"
        copies = kept_copies(generation.database)
        fit = keep_fit(
            generation, model, corpus, counting, known,
            copies=copies, training=self._known_documents(copies, corpus.n_docs, vectors, joined),
            n_threads=self.n_threads, shape=said, vectors=vectors,
        )  # fmt: skip
        fitted = tree_model(model)
        nodes = fit.description.nodes
        called = named(fitted.tree, [node.words for node in nodes], names=[node.names for node in nodes])
        shape = replace(Shape.of(called, fitted.class_nodes), ignored=said.ignored, united=said.united)
        for node, name in (joined.names if joined is not None else {}).items():
            shape = replace(
                shape, tree=rename(shape.tree, node, name).tree, titles={**shape.titles, shape.topics[node]: name}
            )
        return fit.in_state(State(shape, {}, corpus.n_docs, self.recipe.model)), list(fit.parts)

    def _known_documents(
        self, copies: Copies, n_docs: int, vectors: Floats | None, joined: Joined | None
    ) -> Ints | None:
        """The rows of the documents that the model has folded in as they are; None where it knows none."""
        if self.place is not None:
            return None
        by_words = self.recipe.hierarchy is not None or joined is not None or not TREE_MODELS[self.recipe.model].joins
        if self.recipe.online or (vectors is not None and by_words):
            return None
        rows = fitted_rows(copies, n_docs)
        return np.arange(n_docs) if rows is None else rows


def _once(corpus: Corpus, rows: Ints | None) -> Corpus:
    """The documents of a corpus that a model is fitted to; None: all of them."""
    return corpus if rows is None else corpus.subset(rows)


def _pointed(model: Any, corpus: Corpus, vectors: Floats | None) -> Any:
    """A model with the directions of its classes, where documents have vectors and it has not learned from them."""
    if vectors is not None and not hasattr(model, "directions_"):
        learn_directions(model, corpus.counts, vectors, CONCENTRATION)
    return model


def _weight_said(model: Any) -> str:
    """What became of the vectors."""
    if getattr(model, "directions_", None) is None:
        return "The vectors are left aside: held-out words are more likely without them"
    return f"Vectors decide beside words: agreeing with a topic counts up to {model.concentration_:g} nats"


def kept_corpus(generation: Generation) -> tuple[Corpus, Counting]:
    """The corpus of a grow that has read everything: counts mapped, and what is known of documents."""
    folder = open_part(generation, facts.settings(generation.database)[READ])
    counting = contents.read_counting(folder)
    return corpus_of(generation, contents.read_matrix(folder), counting), counting


def _named(source: Any) -> dict[str, Any]:
    """The folder or file that documents come from, as it was named and in full."""
    if not isinstance(source, str | os.PathLike):
        return {}
    name = os.fspath(source)
    return {"sources": [without_secret(name)], PLACES: ["" if is_address(name) else os.path.abspath(name)]}


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
        yield as_documents(source) if not hasattr(source, "problems") else source


def _counted(documents: Iterable[Document], tell: Callable[[int], None]) -> Iterator[Document]:
    number = 0
    for number, document in enumerate(documents, 1):
        if number % 200 == 0:
            tell(number)
        yield document
    if not number:
        raise InputError("there are no documents", hint="a folder or a file with text")
    tell(number)


def _seen(documents: Iterable[Document], lines: LineCounts) -> Iterator[Document]:
    """The documents, their lines being counted."""
    for document in documents:
        lines.see(document.text)
        yield document


class _StoppedError(Exception):
    """The reader has given up."""


@contextmanager
def loading(
    documents: Documents, *, dates: str = DATES_AUTO, columns: str = ALL
) -> Iterator[Callable[[Iterable[Document]], Iterator[Document]]]:
    """A function that passes documents on, and has each of them written beside; all are on the disk when this ends.

    If anything fails, on either side, none of them is kept. The full-text index is not made yet.
    """
    waiting: queue.Queue[Document | BaseException | None] = queue.Queue(WAITING)
    failed: list[BaseException] = []

    def arriving() -> Iterator[Document]:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
        done.set()  # nobody will bring more

    def write() -> None:
        try:
            documents.load(arriving(), index=False, dates=dates, columns=columns)
        except BaseException as error:
            failed.append(error)
            while not done.is_set():  # nobody must wait for a place in the queue
                with suppress(queue.Empty):
                    if waiting.get(timeout=0.05) is None:  # the end: whoever brought them waits for this thread
                        return

    def passing(stream: Iterable[Document]) -> Iterator[Document]:
        for document in stream:
            if failed:
                raise failed[0]
            waiting.put(document)
            yield document

    done = threading.Event()
    writer = threading.Thread(target=write, name="documents", daemon=True)
    writer.start()
    try:
        yield passing
        waiting.put(None)
        done.set()  # nobody puts anything any more, whatever is found out at the end
        writer.join()
    except BaseException:
        waiting.put(_StoppedError())
        done.set()
        writer.join()
        raise
    finally:
        done.set()
    if failed:
        raise failed[0]


def _online(model: Any, corpus: Corpus, given: dict[str, Any]) -> Any:
    """A tree that grows on a sample and then learns from all documents, batch by batch, in an order of chance."""
    order = np.random.default_rng(0).permutation(corpus.n_docs)
    first = np.sort(order[:GROWN_ON])
    model.fit(corpus.counts[first], **{name: None if one is None else one[first] for name, one in given.items()})
    for start in range(GROWN_ON, corpus.n_docs, BATCH):
        model.partial_fit(corpus.counts[np.sort(order[start : start + BATCH])])
    return model


def _with_labels(corpus: Corpus, tree: Tree, common: dict[str, Any]) -> HPLC:
    """A given hierarchy, learned from the documents that have one of its names as their label."""
    names = set(tree.names)
    found = [[label for label in labels if label in names or "/" in label] for labels in corpus.labels]
    if not any(found):
        known = sorted({label for labels in corpus.labels for label in labels})[:5]
        raise InputError(
            "no document has a label that is a name of the hierarchy",
            hint=f"--label-column; labels are {', '.join(known)}" if known else "--label-column, or --labels FILE",
        )
    if max(map(len, found)) < 2:
        y: Any = [labels[0] if labels else None for labels in found]
    else:
        from sklearn.preprocessing import MultiLabelBinarizer

        binary = MultiLabelBinarizer()
        y = NamedColumns(binary.fit_transform(found), tuple(binary.classes_))
    model: HPLC = HPLC(tree, **common).fit(corpus.counts, y)
    return model
