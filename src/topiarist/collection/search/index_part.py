"""Search index as a part of a collection; parts share unchanged files.

Estimators are imported only for fitting: a search needs none of them.
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
from topiarist.collection.search.index import SearchIndex
from topiarist.collection.search.index.index_folder import WrittenSegment, append_segment, remove_unlisted_segments
from topiarist.collection.search.words.posting_lists import build_posting_lists
from topiarist.collection.search.words.word_index import WordIndex
from topiarist.collection.state import FLAT, SEARCH
from topiarist.counts.corpus import Corpus, build_counted_text
from topiarist.counts.scratch import select_rows
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import sum_columns
from topiarist.counts.workers import Jobs, RemoteWorkers
from topiarist.errors import reading
from topiarist.storage import facts
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import LIST, Generation, Part, new_part, open_part
from topiarist.storage.sealed_folder import new_folder
from topiarist.storage.succession import link_tree
from topiarist.text.documents import Document
from topiarist.text.language import find_language_code

INDEX, MODEL, WORDS = "index", "model", "words"
PARTS = ("topical", "lexical")  # of the kernel: words alone are a model of one topic
FLAT_TOPICS, MIN_TOPIC_DOCUMENTS = 64, 20  # topics of a model without a tree, and documents for each of them at least
TREE_CLASSES = 64  # of the tree: a document is compared with a query in each of them


def write_flat(generation: Generation, corpus: Corpus, n_threads: int | None = None, rows: Array | None = None) -> Part:
    """Fit topics without a tree, and write them as a part: a document has a mixture of them.

    ``rows`` are the documents of the fit; None: all. Of very many, a sample of the size for a tree is used.
    """
    from topiarist.estimators.flat.plsa import PLSA
    from topiarist.estimators.model_folder import save_model
    from topiarist.estimators.tree.growth_sample import draw_sample

    filled = np.diff(corpus.counts.indptr) > 0
    number = max(
        1, min(FLAT_TOPICS, int(np.count_nonzero(filled if rows is None else filled[rows])) // MIN_TOPIC_DOCUMENTS)
    )
    sampled_rows = draw_sample(corpus.n_docs if rows is None else len(rows), 0)
    sampled_rows = rows if sampled_rows is None else sampled_rows if rows is None else rows[sampled_rows]
    flat = PLSA(
        number, inverse_temperature=0.8, word_smoothing=0.5, max_iter=40, tol=1e-3, random_state=0, n_threads=n_threads
    ).fit(corpus.counts if sampled_rows is None else select_rows(corpus.counts, sampled_rows))
    del flat.component_given_doc_
    with new_part(generation, FLAT) as part:
        save_model(flat, part.folder / MODEL)
    return part.part


@dataclass(frozen=True)
class ClusterIndexer:
    """Cluster workers that index documents, and the folder with the counts of all documents."""

    helpers: RemoteWorkers
    counts: Path

    def segments(self, index: Path, rows: Iterable[slice]) -> Iterator[WrittenSegment]:
        """Let the workers write the segments of documents into the folder of an index."""
        return self.helpers.stream(partial(_index_run, index=str(index), counts=str(self.counts)), rows)


def _index_run(rows: slice, index: str, counts: str) -> WrittenSegment:
    """Index a run of documents on a worker; no file stays open, since the next grow may reuse the names."""
    search_index = SearchIndex.open(index, check=False, n_threads=1)
    return search_index.write_run(contents.load_some_rows(Path(counts), rows))


def write_index(
    generation: Generation, model: Any, flat: Path, corpus: Corpus, n_threads: int | None = None,
    *, previous: Path | None = None, indexer: ClusterIndexer | None = None,
) -> Part:  # fmt: skip
    """Index a corpus by the Fisher kernel of three models: words alone, the tree, and topics without a tree.

    On collections with judged queries all three find better than any two of them. Explanations use the topics of the
    tree, merged to ``TREE_CLASSES``. ``flat`` is the folder of a checked part. The index of all words is built as well,
    or linked from the part ``previous``. ``indexer`` lets cluster workers do the work, with the same bits.
    """
    from topiarist.estimators.flat.plsa import PLSA
    from topiarist.estimators.model_folder import load_model
    from topiarist.estimators.similarity.fisher_kernel import FisherKernel
    from topiarist.estimators.similarity.lenses import make_coarse_model

    words = PLSA(1, random_state=0, n_threads=n_threads).fit(csr_array(sum_columns(corpus.counts)[None, :]))
    kernel = FisherKernel(models=(words, make_coarse_model(model, TREE_CLASSES), load_model(flat / MODEL)), parts=PARTS)
    with new_part(generation, SEARCH) as part:
        folder = part.folder / INDEX
        indexer_segments = None if indexer is None else partial(indexer.segments, folder)
        SearchIndex.write(kernel, corpus, folder, n_threads=n_threads, indexer=indexer_segments)
        if previous is not None:
            link_tree(previous / WORDS, part.folder / WORDS)
        else:
            jobs = n_threads if indexer is None else indexer.helpers
            _write_words(generation, part.folder, corpus.settings, jobs)
        if indexer is not None:
            remove_unlisted_segments(folder)
    return part.part


def _write_words(generation: Generation, folder: Path, settings: CountSettings, n_jobs: Jobs = None) -> None:
    """Index the words of all documents of a generation in a new folder."""
    documents = Documents(generation.database)
    texts = (build_counted_text(document, settings.titles) for document in documents.iterate())
    language = find_language_code(facts.settings(generation.database).get("language") or "")
    tokenizer = replace(settings.tokenizer, numbers=True)
    WordIndex.write(new_folder(folder / WORDS), texts, tokenizer, language, n_jobs)


def all_words(documents: Documents, settings: CountSettings) -> frozenset[str]:
    """Return all forms of the words of documents."""
    texts = (build_counted_text(document, settings.titles) for document in documents.iterate())
    return frozenset(build_posting_lists(texts, replace(settings.tokenizer, numbers=True), "").forms)


def open_words(generation: Generation, name: str) -> WordIndex:
    """Return the word index of a part."""
    return WordIndex.open(open_part(generation, name) / WORDS, generation.display_path)


def open_index(generation: Generation, name: str) -> SearchIndex:
    """Return the index of a part, memory-mapped."""
    return SearchIndex.open(open_part(generation, name) / INDEX, check=False)


def add_to_index(generation: Generation, name: str, documents: list[Document]) -> Part:
    """Add documents to a search part; return a new part, which shares unchanged files with the old one."""
    old = open_part(generation, name)
    with new_part(generation, SEARCH) as part:
        link_tree(old, part.folder, excluded_names=(LIST,))
        index = SearchIndex.open(part.folder / INDEX, check=False)
        if documents:
            append_segment(index, index.add(documents))
        with reading(f"the index of words of {generation.display_path}"):
            words = WordIndex.open(part.folder / WORDS, generation.display_path)
        longer, stay = words.added(build_counted_text(document, index.settings.titles) for document in documents)
        longer.replace_segments(part.folder / WORDS, stay, len(words.segments))
    return part.part


def write_without(generation: Generation, index: SearchIndex, words: WordIndex, keep: Array) -> Part:
    """Write a part with the documents of an index in the mask ``keep``."""
    with new_part(generation, SEARCH) as part:
        index.among(keep).save(part.folder / INDEX)
        words.among(keep).save(new_folder(part.folder / WORDS))
    return part.part
