"""The folder of a block store: its manifest, and how documents and counts are written into blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import vstack

from topiarist.arrays import Csr
from topiarist.counts.corpus import text_of
from topiarist.counts.counting import count_in
from topiarist.counts.merging import vocabulary_of_texts
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.kernels.shard import Side, Tiles
from topiarist.store.array_files import save
from topiarist.store.sealed_folder import (
    Format,
    checked_files,
    folder_beside,
    new_sealed_folder,
    plain,
    read_manifest,
    seal,
    write_json,
    write_manifest,
)
from topiarist.store.vocabulary_file import VOCABULARY, write_vocabulary
from topiarist.text.documents import Document

TILE = 1 << 14  # documents: 8 MB of factors for 128 components in single precision
LARGEST_EXACT = 2**24  # a whole number up to here is itself in single precision

PARTS = ("indptr", "indices", "data", "word_ends", "tile_starts", "places", "word_data")  # arrays of a block

BLOCKS = Format(
    name="topiarist-blocks",
    versions=(1,),
    what="a folder of blocks",
    hint="the folder that BlockStore.write was given; a store that was never finished has no manifest",
)
Blocks = Iterable[tuple[Csr, list[str] | None]]  # counts, and the ids of their documents
Files = Mapping[str, Mapping[str, Any]]  # size and checksum by name


@dataclass(frozen=True)
class BlockEntry:
    """A block in numbers, and its files."""

    name: str
    documents: int
    filled: int  # documents with any word
    nonzeros: int
    tokens: float
    largest: float  # count
    files: Files = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """The whole store."""

    n_words: int
    dtype: str
    blocks: tuple[BlockEntry, ...]
    files: Files = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write it, with a checksum of its own."""
        write_manifest(folder, BLOCKS, asdict(self))

    @classmethod
    def read(cls, folder: Path, *, check: bool) -> Manifest:
        """Read it and look after the files it names: that they are there in full and, if asked, unchanged."""
        body = read_manifest(folder, BLOCKS)[0]
        try:
            blocks = tuple(BlockEntry(**{**block, "name": plain(block["name"])}) for block in body["blocks"])
            known = cls(int(body["n_words"]), str(body["dtype"]), blocks, body["files"])
            for where, files in ((folder, known.files), *((folder / block.name, block.files) for block in blocks)):
                checked_files(where, files, BLOCKS, contents=check)
            for block in blocks:
                if missing := {f"{part}.npy" for part in PARTS} - set(block.files):
                    raise ValueError(f"a block without {sorted(missing)}")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, BLOCKS.error):  # of a file that is named
                raise
            raise BLOCKS.damaged(folder / BLOCKS.manifest, error) from error
        return known


def write(folder: str | Path, blocks: Blocks, dtype: str, vocabulary: Vocabulary | None) -> None:
    """Write a store from its blocks, one at a time."""
    if dtype not in ("float32", "float64"):
        raise UsageError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    n_words = -1 if vocabulary is None else len(vocabulary)
    entries: list[BlockEntry] = []
    with new_sealed_folder(folder) as partial:
        for counts, ids in blocks:
            n_words = counts.shape[1] if n_words < 0 else n_words
            if counts.shape[1] != n_words:
                raise InputError(f"expected counts with {n_words} columns (words), got {counts.shape[1]}")
            if counts.shape[0]:
                entries.append(write_block(partial, len(entries), counts, np.dtype(dtype), ids))
        if not entries:
            raise no_documents()
        Manifest(n_words, dtype, tuple(entries), sealed_vocabulary(partial, vocabulary)).write(partial)


def write_documents(
    folder: str | Path, documents: Iterable[Document], settings: CountSettings, block_size: int, n_jobs: int | None
) -> None:
    """Two readings: for the vocabulary, and for the counts."""
    if isinstance(documents, Iterator):
        raise UsageError(
            "the documents are read twice, and a generator can be read only once",
            hint="topiarist.text.readers.read(...), or a list",
        )
    texts = (text_of(document, settings.titles) for document in documents)
    vocabulary, n_docs = vocabulary_of_texts(texts, settings, n_jobs=n_jobs)
    write(folder, counted(documents, n_docs, vocabulary, settings, block_size, n_jobs), "float32", vocabulary)


def cut(chunks: Iterable[Csr], size: int) -> Iterator[Csr]:
    """The same rows in blocks of ``size``."""
    if size < 1:
        raise UsageError(f"block_size must be at least 1, or None, got {size}")
    held: list[Csr] = []
    filled = 0
    for chunk in chunks:
        start = 0
        while start < chunk.shape[0]:
            held.append(chunk[start : start + size - filled])
            start, filled = start + held[-1].shape[0], filled + held[-1].shape[0]
            if filled == size:
                yield _stacked(held)
                held, filled = [], 0
    if held:
        yield _stacked(held)


def _stacked(parts: list[Csr]) -> Csr:
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise InputError(f"expected counts with one number of columns (words), got {sorted(widths)}")
    whole: Csr = parts[0] if len(parts) == 1 else vstack(parts, format="csr")
    return whole


def counted(
    documents: Iterable[Document],
    n_docs: int,
    vocabulary: Vocabulary,
    settings: CountSettings,
    size: int,
    n_jobs: int | None,
) -> Iterator[tuple[Csr, list[str]]]:
    """The counts of ``size`` documents at a time, and their ids."""
    stream = iter(documents)
    seen = 0
    while True:
        ids: list[str] = []

        def texts(ids: list[str] = ids) -> Iterator[str]:
            for document in islice(stream, size):
                ids.append(document.id)
                yield text_of(document, settings.titles)

        counts = count_in(texts(), vocabulary, settings, n_jobs=n_jobs)
        seen += len(ids)
        if not ids:
            break
        yield check_counts(counts, name="counts", min_docs=0), ids
    if seen != n_docs:
        raise InputError(
            f"{n_docs:,} documents came at the first reading, {seen:,} at the second",
            hint="read from files that do not change meanwhile",
        )


def sealed_vocabulary(folder: Path, vocabulary: Vocabulary | None) -> Files:
    """Write the words of a store, if they are known; the entry of their file."""
    if vocabulary is None:
        return {}
    write_vocabulary(folder, vocabulary)
    return seal(folder, VOCABULARY)


def no_documents() -> InputError:
    """A store without any document is none."""
    return InputError("no documents to write", hint="at least one document, or one matrix of counts with a row")


def write_block(folder: Path, number: int, counts: Csr, dtype: np.dtype[Any], ids: list[str] | None) -> BlockEntry:
    """Write a block, beside its place first: it may be written twice, as after the death of a worker, or at once."""
    largest = float(counts.data.max(initial=0))
    if dtype == np.float32 and largest > LARGEST_EXACT:
        raise InputError(
            f"single precision holds counts up to {LARGEST_EXACT:,} exactly, got {largest:,.0f}",
            hint="dtype='float64'",
        )
    if counts.nnz > np.iinfo(np.int32).max:
        raise InputError(f"a block may hold 2**31 counts at most, got {counts.nnz:,}", hint="a smaller block_size")
    rows = Side.of(counts, dtype)
    tiles = Tiles.of(rows, int(counts.shape[1]), TILE)
    parts = {
        "indptr": rows.indptr.astype(np.int32, copy=False),
        "indices": rows.indices.astype(np.int32, copy=False),
        "data": rows.data,
        "word_ends": tiles.indptr,
        "tile_starts": tiles.starts,
        "places": tiles.indices,
        "word_data": tiles.data,
    }
    name = f"block-{number:06}"
    with folder_beside(folder / name, same=True) as partial:
        for part, array in parts.items():
            save(partial / f"{part}.npy", array)
        if ids is not None:
            write_json(partial / "ids.json", ids)
        files = seal(partial)
    filled, tokens = int(np.count_nonzero(np.diff(rows.indptr))), float(rows.data.sum(dtype=np.float64))
    return BlockEntry(name, counts.shape[0], filled, counts.nnz, tokens, largest, files)
