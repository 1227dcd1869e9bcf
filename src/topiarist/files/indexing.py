"""The index by meaning as a part of a collection. What it has in common with the part before lies on the disk once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from topiarist.counts.corpus import Corpus
from topiarist.files.generation import Generation
from topiarist.files.parts import LIST, Part, new_part, open_part
from topiarist.files.state import SEARCH
from topiarist.tasks.fisher import FisherKernel
from topiarist.tasks.search import SearchIndex
from topiarist.text.documents import Document

INDEX = "index"


def write_index(generation: Generation, model: Any, corpus: Corpus, n_threads: int | None = None) -> Part:
    """Index a corpus by the Fisher kernel of the tree's own model, so that reasons are told in its topics."""
    index = SearchIndex.build(FisherKernel(models=(model,)), corpus, n_threads=n_threads)
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
        shutil.copytree(old, part.folder, copy_function=_linked, dirs_exist_ok=True)
        (part.folder / LIST).unlink(missing_ok=True)
        SearchIndex.open(part.folder / INDEX, check=False).add(documents)
    return part.part


def _linked(source: str, target: str) -> Any:
    """A second name for a file, which nobody will change, or a copy where the system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        return shutil.copy2(source, target)
    return Path(target)
