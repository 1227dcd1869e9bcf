"""Counts in files: blocks of a collection that need not fit in memory and that any process can open.

A store is a folder::

    manifest.json           format, shape, sizes and checksums; written last
    vocabulary.json         the words, if they are known
    block-000000/           documents × words, in the two orders of a ``Shard``
        indptr.npy  indices.npy  data.npy                            by document
        word_ends.npy  tile_starts.npy  places.npy  word_data.npy    by word, tile by tile
        ids.json                                                     of the documents, if they are known
    block-000001/ …

Blocks are written once and opened memory-mapped. The division into blocks alone decides the order in which statistics
are added. The same blocks give the same bits in one process and on a cluster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from topiarist.arrays import Array, Csr
from topiarist.counts.corpus import build_counted_text
from topiarist.counts.counting import count
from topiarist.counts.scratch import ScratchSpace, split_range
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError
from topiarist.execution import block_folder
from topiarist.execution.block_folder import BLOCKS, PARTS, Manifest
from topiarist.kernels.shard import CountsView, Shard, Tiles, cut_evenly
from topiarist.storage.array_files import HEADER_BYTES, map_array
from topiarist.storage.sealed_folder import prepare_target
from topiarist.storage.vocabulary_file import VOCABULARY, read_vocabulary
from topiarist.text.documents import Document

_DTYPES = [np.dtype(name) for name in ("int32", "int32", "uint16", "int64", "int64")]
BLOCK_SIZE = 1 << 15  # documents: large enough that adding the statistics of blocks is a small part of the work


@dataclass(frozen=True)
class BlockFile:
    """Reference to a stored block that opens its files on demand, with counts of type ``dtype``."""

    folder: str  # the store
    name: str
    shape: tuple[int, int]
    nonzeros: int
    dtype: str

    def load(self) -> Shard:
        """Return the counts by document and by word, memory-mapped."""
        ends, data = self._part("word_ends"), self._part("word_data").astype(self.dtype, copy=False)
        of_words = (ends - ends[:, :1]).sum(axis=0)
        return Shard(self.rows, Tiles(ends, self._part("tile_starts"), self._part("places"), data, of_words))

    @property
    def rows(self) -> CountsView:
        """Counts by document, memory-mapped."""
        indptr, data = self._part("indptr"), self._part("data").astype(self.dtype, copy=False)
        return CountsView(indptr, self._part("indices"), data, cut_evenly(indptr))

    def counts(self) -> Csr:
        """Return the counts by document as a sparse matrix."""
        matrix: Csr = csr_array((self._part("data"), self._part("indices"), self._part("indptr")), shape=self.shape)
        return matrix

    def word_totals(self) -> Array:
        """Return the total count of each word."""
        return self.load().word_totals()

    @property
    def nbytes(self) -> int:
        """Bytes of the open block: its files, plus the converted counts if ``dtype`` is not the stored type."""
        sizes = {part: Path(self.folder, self.name, f"{part}.npy").stat().st_size for part in PARTS}
        n_bytes = self.nonzeros * np.dtype(self.dtype).itemsize
        return sum(sizes.values()) + (0 if sizes["data"] - HEADER_BYTES == n_bytes else 2 * n_bytes)

    def check(self) -> None:
        """Raise ``InputError`` if the arrays are not valid counts; kernels index with them without checks."""
        sides, tiles = self.rows, self.load().words
        n_docs, n_words = self.shape
        ends, starts, places = tiles.indptr, tiles.starts, tiles.indices
        sound = (
            [part.dtype for part in (sides.indptr, sides.indices, places, starts, ends)] == _DTYPES
            and sides.indptr.shape == (n_docs + 1,)
            and sides.indices.shape == sides.data.shape == places.shape == tiles.data.shape == (self.nonzeros,)
            and starts.ndim == 1
            and ends.shape == (len(starts) - 1, n_words + 1)
            and _is_rising(sides.indptr, 0, self.nonzeros)
            and _is_rising(starts, 0, n_docs)
            and all(_is_rising(row, *sides.indptr[starts[tile : tile + 2]]) for tile, row in enumerate(ends))
            and _is_below(sides.indices, n_words)
            and all(_is_below(places[row[0] : row[-1]], size) for row, size in zip(ends, np.diff(starts), strict=True))
            and min(sides.data.min(initial=0), tiles.data.min(initial=0)) >= 0
            and np.isfinite([sides.data.sum(dtype=np.float64), tiles.data.sum(dtype=np.float64)]).all()
        )
        if not sound:
            raise InputError(f"{Path(self.folder, self.name)} holds arrays that are not counts", hint=BLOCKS.remedy)

    def prefetch(self, parts: Iterable[str] = PARTS) -> None:
        """Ask the operating system to read the files of the parts ahead of time, if it supports that."""
        if not hasattr(os, "posix_fadvise"):
            return
        for part in parts:
            with open(Path(self.folder, self.name, f"{part}.npy"), "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)

    def _part(self, part: str) -> Array:
        return map_array(Path(self.folder, self.name, f"{part}.npy"))


@dataclass(frozen=True)
class BlockStore:
    """Folder of blocks of counts. ``write`` and ``from_documents`` create a store, ``open`` opens one."""

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: str | Path, *, check: bool = True) -> BlockStore:
        """Open a store. Pass ``check=False`` only for files that you trust: it skips the search for damage."""
        folder = Path(folder).resolve()
        store = cls(folder, Manifest.read(folder, check=check))
        for block in store.blocks() if check else ():
            block.check()
        return store

    @classmethod
    def write(
        cls,
        folder: str | Path,
        chunks: Any,
        *,
        block_size: int | None = BLOCK_SIZE,
        dtype: str = "float32",
        vocabulary: Vocabulary | None = None,
    ) -> BlockStore:
        """Write counts into a new folder.

        Parameters
        ----------
        folder : path
            Folder to create.
        chunks : matrix of counts, or iterable of matrices
            Counts with the same words (columns). One matrix is held in memory at a time.
        block_size : int or None, default 32,768
            Documents of a block. None: each matrix becomes a block.
        dtype : str, default "float32"
            Type of the stored counts. "float64" keeps counts beyond 2**24, and weights in double precision.
        vocabulary : Vocabulary, optional
            Words of the columns.
        """
        pieces: Iterable[Any] = [chunks] if issparse(chunks) or isinstance(chunks, np.ndarray) else chunks
        checked = (check_counts(piece, name="a chunk of counts", min_docs=0) for piece in pieces)
        parts = checked if block_size is None else block_folder.split_rows(checked, block_size)
        block_folder.write_store(folder, ((part, None) for part in parts), dtype, vocabulary)
        return cls.open(folder, check=False)

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        folder: str | Path,
        settings: CountSettings | None = None,
        *,
        block_size: int = BLOCK_SIZE,
        n_jobs: int | None = 1,
    ) -> BlockStore:
        """Count documents into a new folder, with the words and counts of ``Corpus.from_documents``.

        Large counts are kept in temporary files. Phrases need the tokens of all documents in memory.
        """
        settings, folder = settings or CountSettings(), prepare_target(folder)
        ids: list[str] = []

        def read_texts() -> Iterator[str]:
            for document in documents:
                ids.append(document.id)
                yield build_counted_text(document, settings.titles)

        counts, vocabulary = count(
            read_texts(), settings, n_jobs=n_jobs, scratch=ScratchSpace(folder.parent), dtype=np.float32
        )
        slices = split_range(len(ids), block_size)
        block_folder.write_store(folder, ((counts[rows], ids[rows]) for rows in slices), "float32", vocabulary)
        return cls.open(folder, check=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and words."""
        return sum(block.documents for block in self.manifest.blocks), self.manifest.n_words

    @property
    def nnz(self) -> int:
        """Number of stored counts."""
        return sum(block.nonzeros for block in self.manifest.blocks)

    @property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return float(sum(block.tokens for block in self.manifest.blocks))

    @property
    def n_filled(self) -> int:
        """Number of documents with at least one word."""
        return sum(block.filled for block in self.manifest.blocks)

    @property
    def largest(self) -> float:
        """Largest count of the store."""
        return max((block.largest for block in self.manifest.blocks), default=0.0)

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self, dtype: Any = None) -> list[BlockFile]:
        """Return references to the blocks, which open with counts of type ``dtype`` (default: as stored)."""
        n_words, dtype = self.manifest.n_words, np.dtype(dtype or self.manifest.dtype).name
        return [
            BlockFile(str(self.folder), block.name, (block.documents, n_words), block.nonzeros, dtype)
            for block in self.manifest.blocks
        ]

    def sample(self, n_docs: int, seed: int = 0) -> Csr:
        """Return the counts of at most ``n_docs`` documents, drawn at random and kept in their order."""
        return self.rows(np.sort(np.random.default_rng(seed).choice(len(self), min(n_docs, len(self)), replace=False)))

    def rows(self, row_numbers: Array) -> Csr:
        """Return the counts of the documents with these rising row numbers, in memory."""
        ends = np.cumsum([block.documents for block in self.manifest.blocks])
        parts = np.split(row_numbers, np.searchsorted(row_numbers, ends[:-1]))
        starts = np.concatenate([[0], ends])
        matrix: Csr = vstack(
            [block.counts()[part - start] for block, part, start in zip(self.blocks(), parts, starts, strict=False)],
            format="csr",
        )
        return matrix

    def ids(self) -> Iterator[str]:
        """Iterate over the ids of all documents in order; nothing if the ids are unknown."""
        for block in self.manifest.blocks:
            if "ids.json" in block.files:
                yield from json.loads((self.folder / block.name / "ids.json").read_text(encoding="utf-8"))

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Words of the store; None if they are unknown."""
        return read_vocabulary(self.folder) if VOCABULARY in self.manifest.files else None


def _is_rising(ends: Array, first: int, last: int) -> bool:
    return len(ends) > 0 and ends[0] == first and ends[-1] == last and bool((np.diff(ends) >= 0).all())


def _is_below(numbers: Array, limit: int) -> bool:
    return not len(numbers) or (numbers.min() >= 0 and bool(numbers.max() < limit))
