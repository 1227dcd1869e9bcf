"""Folder of a block store: its manifest, and the functions that write documents and counts as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import vstack

from topiarist.arrays import Csr
from topiarist.counts.validation import EXACT_IN_FLOAT32
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.kernels.shard import CountsView, Tiles
from topiarist.storage.array_files import save
from topiarist.storage.sealed_folder import (
    Format,
    check_file_name,
    check_files,
    new_sealed_folder,
    read_manifest,
    replace_folder,
    seal_files,
    write_json,
    write_manifest,
)
from topiarist.storage.vocabulary_file import VOCABULARY, write_vocabulary

TILE_DOCUMENTS = 1 << 14  # 8 MB of factors for 128 components in single precision

PARTS = ("indptr", "indices", "data", "word_ends", "tile_starts", "places", "word_data")  # arrays of a block

BLOCKS = Format(
    name="topiarist-blocks",
    version=1,
    label="a folder of blocks",
    hint="Pass the folder that BlockStore.write has written. An unfinished store has no manifest.",
)
Blocks = Iterable[tuple[Csr, list[str] | None]]  # counts, and the ids of their documents
Files = Mapping[str, Mapping[str, Any]]  # size and checksum by name


@dataclass(frozen=True)
class BlockEntry:
    """Sizes of a block and the entries of its files."""

    name: str
    documents: int
    filled: int  # documents with any word
    nonzeros: int
    tokens: float
    largest: float  # count
    files: Files = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """Description of all blocks of a store."""

    n_words: int
    dtype: str
    blocks: tuple[BlockEntry, ...]
    files: Files = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the manifest with its own checksum."""
        write_manifest(folder, BLOCKS, asdict(self))

    @classmethod
    def read(cls, folder: Path, *, check: bool) -> Manifest:
        """Read the manifest and check that its files exist with their sizes; verify checksums if ``check`` is true."""
        body = read_manifest(folder, BLOCKS)[0]
        try:
            blocks = tuple(BlockEntry(**{**block, "name": check_file_name(block["name"])}) for block in body["blocks"])
            manifest = cls(int(body["n_words"]), str(body["dtype"]), blocks, body["files"])
            for where, files in ((folder, manifest.files), *((folder / block.name, block.files) for block in blocks)):
                check_files(where, files, BLOCKS, contents=check)
            for block in blocks:
                if missing := {f"{part}.npy" for part in PARTS} - set(block.files):
                    raise ValueError(f"a block lacks {sorted(missing)}")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, BLOCKS.error):  # it names its file already
                raise
            raise BLOCKS.create_damaged_error(folder / BLOCKS.manifest, error) from error
        return manifest


def write_store(folder: str | Path, blocks: Blocks, dtype: str, vocabulary: Vocabulary | None) -> None:
    """Write a store, holding one block in memory at a time."""
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
            raise InputError("no documents to write", hint="Pass at least one document or one row of counts.")
        Manifest(n_words, dtype, tuple(entries), seal_vocabulary(partial, vocabulary)).write(partial)


def split_rows(chunks: Iterable[Csr], size: int) -> Iterator[Csr]:
    """Split matrices into matrices of ``size`` rows; the last one can be smaller."""
    if size < 1:
        raise UsageError(f"block_size must be at least 1, or None, got {size}")
    parts: list[Csr] = []
    n_rows = 0
    for chunk in chunks:
        start = 0
        while start < chunk.shape[0]:
            parts.append(chunk[start : start + size - n_rows])
            start, n_rows = start + parts[-1].shape[0], n_rows + parts[-1].shape[0]
            if n_rows == size:
                yield _stack_parts(parts)
                parts, n_rows = [], 0
    if parts:
        yield _stack_parts(parts)


def _stack_parts(parts: list[Csr]) -> Csr:
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise InputError(f"expected counts with one number of columns (words), got {sorted(widths)}")
    matrix: Csr = parts[0] if len(parts) == 1 else vstack(parts, format="csr")
    return matrix


def seal_vocabulary(folder: Path, vocabulary: Vocabulary | None) -> Files:
    """Write the vocabulary of a store and return the entry of its file; nothing without a vocabulary."""
    if vocabulary is None:
        return {}
    write_vocabulary(folder, vocabulary)
    return seal_files(folder, VOCABULARY)


def write_block(folder: Path, number: int, counts: Csr, dtype: np.dtype[Any], ids: list[str] | None) -> BlockEntry:
    """Write a block into a temporary folder, then move it to its place.

    Two workers may write the same block, one after another or at once: a task is repeated when its worker dies.
    """
    largest = float(counts.data.max(initial=0))
    if dtype == np.float32 and largest > EXACT_IN_FLOAT32:
        raise InputError(
            f"float32 holds counts up to {EXACT_IN_FLOAT32:,} exactly, got {largest:,.0f}",
            hint="Pass dtype='float64'.",
        )
    if counts.nnz > np.iinfo(np.int32).max:
        raise InputError(f"expected at most 2**31 counts in a block, got {counts.nnz:,}", hint="Reduce block_size.")
    rows = CountsView.from_matrix(counts, dtype)
    tiles = Tiles.from_rows(rows, int(counts.shape[1]), TILE_DOCUMENTS)
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
    with replace_folder(folder / name, allow_existing=True) as partial:
        for part, array in parts.items():
            save(partial / f"{part}.npy", array)
        if ids is not None:
            write_json(partial / "ids.json", ids)
        files = seal_files(partial)
    filled, tokens = int(np.count_nonzero(np.diff(rows.indptr))), float(rows.data.sum(dtype=np.float64))
    return BlockEntry(name, counts.shape[0], filled, counts.nnz, tokens, largest, files)
