"""The index by meaning as a part of a collection. What it has in common with the part before lies on the disk once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from topiarist.collection.find.index import SearchIndex
from topiarist.collection.state import FLAT, SEARCH
from topiarist.counts.corpus import Corpus
from topiarist.estimators.flat.plsa import PLSA
from topiarist.estimators.model_folder import load_model, save_model
from topiarist.estimators.similarity.fisher_kernel import FisherKernel
from topiarist.store.generation import LIST, Generation, Part, new_part, open_part
from topiarist.store.sealed_folder import LOCK
from topiarist.text.documents import Document

INDEX, MODEL = "index", "model"
FLAT_TOPICS, FEWEST = 64, 20  # topics of a model without a tree, and documents for each of them at least


def write_flat(generation: Generation, corpus: Corpus, n_threads: int | None = None) -> Part:
    """Topics without a tree: they see more of what a document mixes than its one place in the tree tells."""
    number = max(1, min(FLAT_TOPICS, (corpus.n_docs - corpus.n_empty) // FEWEST))
    flat = PLSA(
        number, inverse_temperature=0.8, word_smoothing=0.5, max_iter=40, tol=1e-3, random_state=0, n_threads=n_threads
    ).fit(corpus.counts)
    del flat.component_given_doc_
    with new_part(generation, FLAT) as part:
        save_model(flat, part.folder / MODEL)
    return part.part


def write_index(generation: Generation, model: Any, flat: Path, corpus: Corpus, n_threads: int | None = None) -> Part:
    """Index a corpus by the Fisher kernel of three models: words alone, the tree's own, and topics without a tree.

    On collections with judged queries all three find better than any two of them, and reasons are told in the topics
    of the tree. ``flat`` is the folder of a part that was just written, or that ``open_part`` has looked at.
    """
    words = PLSA(1, random_state=0, n_threads=n_threads).fit(corpus.counts)
    models = (words, model, load_model(flat / MODEL))
    index = SearchIndex.build(FisherKernel(models=models), corpus, n_threads=n_threads)
    with new_part(generation, SEARCH) as part:
        index.save(part.folder / INDEX)
    return part.part


def open_index(generation: Generation, name: str, n_threads: int | None = None) -> SearchIndex:
    """The index of a part, mapped."""
    return SearchIndex.open(open_part(generation, name) / INDEX, check=False, n_threads=n_threads)


def add_to_index(generation: Generation, name: str, documents: list[Document]) -> Part:
    """A part with more documents than another; what both have lies on the disk once."""
    old = open_part(generation, name)
    with new_part(generation, SEARCH) as part:
        ignored = shutil.ignore_patterns(LOCK)
        shutil.copytree(old, part.folder, copy_function=_linked, dirs_exist_ok=True, ignore=ignored)
        (part.folder / LIST).unlink(missing_ok=True)
        SearchIndex.open(part.folder / INDEX, check=False).add(documents)
        (part.folder / INDEX / LOCK).unlink(missing_ok=True)  # nobody adds to a part that is complete
    return part.part


def _linked(source: str, target: str) -> Any:
    """A second name for a file, which nobody will change, or a copy where the system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        return shutil.copy2(source, target)
    return Path(target)
