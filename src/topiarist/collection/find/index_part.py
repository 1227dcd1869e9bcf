"""The index by meaning as a part of a collection. What it has in common with the part before lies on the disk once.

Estimators are loaded where they are fitted: a search needs none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.collection import contents
from topiarist.collection.find.index import SearchIndex
from topiarist.collection.find.index.index_folder import Written, sweep
from topiarist.collection.find.words.posting_lists import counted
from topiarist.collection.find.words.word_index import WordIndex
from topiarist.collection.state import FLAT, SEARCH
from topiarist.counts.corpus import Corpus, text_of
from topiarist.counts.room import picked
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import column_totals
from topiarist.counts.workers import Helpers, Jobs
from topiarist.store import facts
from topiarist.store.document_table import Documents
from topiarist.store.generation import LIST, Generation, Part, new_part, open_part
from topiarist.store.sealed_folder import LOCK, new_folder
from topiarist.store.succession import linked_tree
from topiarist.text.documents import Document
from topiarist.text.language import known_code

INDEX, MODEL, WORDS = "index", "model", "words"
PARTS = ("topical", "lexical")  # of the kernel: words alone are a model of one topic
FLAT_TOPICS, FEWEST = 64, 20  # topics of a model without a tree, and documents for each of them at least
TREE_CLASSES = 64  # of the tree: a document is compared with a query in each of them


def write_flat(generation: Generation, corpus: Corpus, n_threads: int | None = None, rows: Array | None = None) -> Part:
    """Topics without a tree: they see more of what a document mixes than its one place in the tree tells.

    ``rows``: the documents that they are learned from; None: all. Of very many as many as a tree grows from.
    """
    from topiarist.estimators.flat.plsa import PLSA
    from topiarist.estimators.model_folder import save_model
    from topiarist.estimators.tree.growth_sample import sampled

    filled = np.diff(corpus.counts.indptr) > 0
    number = max(1, min(FLAT_TOPICS, int(np.count_nonzero(filled if rows is None else filled[rows])) // FEWEST))
    some = sampled(corpus.n_docs if rows is None else len(rows), 0)
    some = rows if some is None else some if rows is None else rows[some]
    flat = PLSA(
        number, inverse_temperature=0.8, word_smoothing=0.5, max_iter=40, tol=1e-3, random_state=0, n_threads=n_threads
    ).fit(corpus.counts if some is None else picked(corpus.counts, some))
    del flat.component_given_doc_
    with new_part(generation, FLAT) as part:
        save_model(flat, part.folder / MODEL)
    return part.part


@dataclass(frozen=True)
class Elsewhere:
    """Others who index documents: who they are, and the folder where they find the counts of all documents."""

    helpers: Helpers
    counts: Path

    def segments(self, index: Path, rows: Iterable[slice]) -> Iterator[Written]:
        """Have them write the segments of documents into the folder of an index."""
        return self.helpers.stream(partial(_index_run, index=str(index), counts=str(self.counts)), rows)


def _index_run(rows: slice, index: str, counts: str) -> Written:
    """A task of somebody else: a run of documents. Nothing stays open: the next grow may have the same names."""
    unfinished = SearchIndex.open(index, check=False, n_threads=1)
    return unfinished.write_run(contents.read_rows(Path(counts), rows))


def write_index(
    generation: Generation, model: Any, flat: Path, corpus: Corpus, n_threads: int | None = None,
    *, before: Path | None = None, elsewhere: Elsewhere | None = None,
) -> Part:  # fmt: skip
    """Index a corpus by the Fisher kernel of three models: words alone, the tree's own, and topics without a tree.

    On collections with judged queries all three find better than any two of them, and reasons are told in the topics
    of the tree, seen from as far away as ``TREE_CLASSES`` say. ``flat`` is the folder of a part that was just written,
    or that ``open_part`` has looked at. All words of the documents are indexed beside; where a part ``before`` has
    them, they are the same. ``elsewhere``: who does the work in the place of this process, with the same bits.
    """
    from topiarist.estimators.flat.plsa import PLSA
    from topiarist.estimators.model_folder import load_model
    from topiarist.estimators.similarity.coarse_model import coarse
    from topiarist.estimators.similarity.fisher_kernel import FisherKernel

    words = PLSA(1, random_state=0, n_threads=n_threads).fit(csr_array(column_totals(corpus.counts)[None, :]))
    kernel = FisherKernel(models=(words, coarse(model, TREE_CLASSES), load_model(flat / MODEL)), parts=PARTS)
    with new_part(generation, SEARCH) as part:
        place = part.folder / INDEX
        by_others = None if elsewhere is None else partial(elsewhere.segments, place)
        SearchIndex.write(kernel, corpus, place, n_threads=n_threads, elsewhere=by_others)
        if before is not None and (before / WORDS).is_dir():
            linked_tree(before / WORDS, part.folder / WORDS)
        else:
            jobs = n_threads if elsewhere is None else elsewhere.helpers
            _write_words(generation, part.folder, corpus.settings, jobs)
        if elsewhere is not None:
            sweep(place)
    return part.part


def _write_words(generation: Generation, folder: Path, settings: CountSettings, n_jobs: Jobs = None) -> None:
    """All words of all documents that the database has."""
    documents = Documents(generation.database)
    texts = (text_of(document, settings.titles) for document in documents.iterate())
    language = known_code(facts.settings(generation.database).get("language") or "")
    tokenizer = replace(settings.tokenizer, numbers=True)
    WordIndex.write(new_folder(folder / WORDS), texts, tokenizer, language, n_jobs)


def all_words(documents: Documents, settings: CountSettings) -> frozenset[str]:
    """All words that documents have, in every form."""
    texts = (text_of(document, settings.titles) for document in documents.iterate())
    return frozenset(counted(texts, replace(settings.tokenizer, numbers=True), "").forms)


def open_words(generation: Generation, name: str) -> WordIndex | None:
    """All words of the documents; None for a part that was written before they were kept."""
    folder = open_part(generation, name) / WORDS
    return WordIndex.open(folder, generation.shown) if folder.is_dir() else None


def open_index(generation: Generation, name: str, n_threads: int | None = None) -> SearchIndex:
    """The index of a part, mapped."""
    return SearchIndex.open(open_part(generation, name) / INDEX, check=False, n_threads=n_threads)


def add_to_index(generation: Generation, name: str, documents: list[Document]) -> Part:
    """A part with more documents than another; what both have lies on the disk once."""
    old = open_part(generation, name)
    with new_part(generation, SEARCH) as part:
        linked_tree(old, part.folder, without=(LIST, LOCK))
        index = SearchIndex.open(part.folder / INDEX, check=False)
        index.add(documents)
        (part.folder / INDEX / LOCK).unlink(missing_ok=True)  # nobody adds to a part that is complete
        if (part.folder / WORDS).is_dir():
            words = WordIndex.open(part.folder / WORDS, generation.shown)
            longer, stay = words.added(text_of(document, index.settings.titles) for document in documents)
            longer.save_after(part.folder / WORDS, stay, len(words.segments))
        else:  # of a version that kept no such thing
            _write_words(generation, part.folder, index.settings)
    return part.part


def write_without(generation: Generation, index: SearchIndex, words: WordIndex | None, keep: Array) -> Part:
    """A part with some of the documents of an index; ``keep`` says for each row whether it stays."""
    with new_part(generation, SEARCH) as part:
        index.among(keep).save(part.folder / INDEX)
        if words is not None:
            words.among(keep).save(new_folder(part.folder / WORDS))
    return part.part
