"""Counts as files: a collection that need not fit in memory, in blocks that any process can open.

A store is a folder::

    manifest.json           format, shape, sizes and checksums; written last
    vocabulary.json         the words, if they are known
    block-000000/           documents × words, in the two orders of a ``Shard``
        indptr.npy  indices.npy  data.npy                            by document
        word_ends.npy  tile_starts.npy  places.npy  word_data.npy    by word, tile by tile
        ids.json                                                     of the documents, if they are known
    block-000001/ …

Blocks are written once and opened memory-mapped. How the documents are cut into blocks decides the order in which
statistics are added, and nothing else does: the same blocks give the same bits in one process and on a cluster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from topiarist.arrays import Array, Csr
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError
from topiarist.kernels.shard import Shard, Side, Tiles, even_cuts
from topiarist.scale import block_folder, parquet
from topiarist.scale.block_folder import BLOCKS, PARTS, Manifest
from topiarist.store.array_files import HEADER, mapped
from topiarist.store.vocabulary_file import VOCABULARY, read_vocabulary
from topiarist.text.documents import Document
from topiarist.text.readers.columns import Columns

_TYPES = [np.dtype(name) for name in ("int32", "int32", "uint16", "int64", "int64")]
BLOCK_SIZE = 1 << 15  # documents: enough that adding the statistics of blocks is a small part of the work


@dataclass(frozen=True)
class BlockFile:
    """A block as a name: what it holds is opened where it is needed, in the precision that is asked for."""

    folder: str  # the store
    name: str
    shape: tuple[int, int]
    nonzeros: int
    dtype: str

    def load(self) -> Shard:
        """Counts by document and by word, memory-mapped."""
        ends, data = self._part("word_ends"), self._part("word_data").astype(self.dtype, copy=False)
        of_words = (ends - ends[:, :1]).sum(axis=0)
        return Shard(self.rows, Tiles(ends, self._part("tile_starts"), self._part("places"), data, of_words))

    @property
    def rows(self) -> Side:
        """Counts by document alone."""
        indptr, data = self._part("indptr"), self._part("data").astype(self.dtype, copy=False)
        return Side(indptr, self._part("indices"), data, even_cuts(indptr))

    def counts(self) -> Csr:
        """Counts by document as a sparse matrix."""
        matrix: Csr = csr_array((self._part("data"), self._part("indices"), self._part("indptr")), shape=self.shape)
        return matrix

    def word_totals(self) -> Array:
        """How often each word occurs."""
        return self.load().word_totals()

    @property
    def nbytes(self) -> int:
        """Bytes in memory while it is open: its files, and another copy of the counts in another precision."""
        sizes = {part: Path(self.folder, self.name, f"{part}.npy").stat().st_size for part in PARTS}
        wanted = self.nonzeros * np.dtype(self.dtype).itemsize
        return sum(sizes.values()) + (0 if sizes["data"] - HEADER == wanted else 2 * wanted)

    def check(self) -> None:
        """Raise unless the sweeps, which look up places without asking again, can trust the arrays."""
        sides, tiles = self.rows, self.load().words
        n_docs, n_words = self.shape
        ends, starts, places = tiles.indptr, tiles.starts, tiles.indices
        sound = (
            [part.dtype for part in (sides.indptr, sides.indices, places, starts, ends)] == _TYPES
            and sides.indptr.shape == (n_docs + 1,)
            and sides.indices.shape == sides.data.shape == places.shape == tiles.data.shape == (self.nonzeros,)
            and starts.ndim == 1
            and ends.shape == (len(starts) - 1, n_words + 1)
            and _rising(sides.indptr, 0, self.nonzeros)
            and _rising(starts, 0, n_docs)
            and all(_rising(row, *sides.indptr[starts[tile : tile + 2]]) for tile, row in enumerate(ends))
            and _below(sides.indices, n_words)
            and all(_below(places[row[0] : row[-1]], size) for row, size in zip(ends, np.diff(starts), strict=True))
            and min(sides.data.min(initial=0), tiles.data.min(initial=0)) >= 0
            and np.isfinite([sides.data.sum(dtype=np.float64), tiles.data.sum(dtype=np.float64)]).all()
        )
        if not sound:
            raise InputError(f"{Path(self.folder, self.name)} holds arrays that are not counts", hint=BLOCKS.again)

    def expect(self, parts: Iterable[str] = PARTS) -> None:
        """Ask the system to read the files ahead, where it can be asked."""
        if not hasattr(os, "posix_fadvise"):
            return
        for part in parts:
            with open(Path(self.folder, self.name, f"{part}.npy"), "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)

    def _part(self, part: str) -> Array:
        return mapped(Path(self.folder, self.name, f"{part}.npy"))


@dataclass(frozen=True)
class BlockStore:
    """A folder of blocks of counts. Made by ``write``, ``from_documents`` or ``from_parquet``, opened by ``open``."""

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: str | Path, *, check: bool = True) -> BlockStore:
        """Open a store. ``check=False`` does not read all of it to look for damage: for files that you trust."""
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

        ``chunks`` is a matrix of counts, or an iterable of such matrices with the same words, which are held one at a
        time. They are cut into blocks of ``block_size`` documents (None: each chunk is a block). ``dtype="float64"``
        keeps counts beyond 2**24 and weights in double precision.
        """
        pieces: Iterable[Any] = [chunks] if issparse(chunks) or isinstance(chunks, np.ndarray) else chunks
        checked = (check_counts(piece, name="a chunk of counts", min_docs=0) for piece in pieces)
        parts = checked if block_size is None else block_folder.cut(checked, block_size)
        block_folder.write(folder, ((part, None) for part in parts), dtype, vocabulary)
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
        """Count documents into a new folder, without ever holding more than a block of them.

        They are read twice, for the vocabulary and for the counts: ``documents`` must be something that can be
        iterated again, such as ``topiarist.text.readers.read(...)``. Words and counts are those of
        ``Corpus.from_documents``. Phrases cannot be found in this way.
        """
        block_folder.write_documents(folder, documents, settings or CountSettings(), block_size, n_jobs)
        return cls.open(folder, check=False)

    @classmethod
    def from_parquet(
        cls,
        addresses: Any,
        folder: str | Path,
        settings: CountSettings | None = None,
        *,
        text: str | Columns | None = "text",
        id: str | None = None,
        block_size: int = BLOCK_SIZE,
        n_jobs: int | None = 1,
        client: Any = None,
    ) -> BlockStore:
        """Count the documents of Parquet files into a new folder, row groups side by side.

        Parameters
        ----------
        addresses : str, path or several
            Files, patterns (``parts/*.parquet``), folders, or addresses of any file system that fsspec opens
            (``s3://bucket/parts/*.parquet``). Keys for it are taken from where fsspec finds them, on every machine.
        folder : path
            The new store. With a client: a folder that all workers see under the same name.
        settings : CountSettings
            As for ``from_documents``. Words and counts are those of ``Corpus.from_documents``.
        text, id : str
            The columns of texts and ids. ``text=None``: the reader's choice, as for ``topiarist.text.readers.read``; a
            ``Columns``: that and more, such as the title. ``id=None``: the column ``id``, or else file and row.
            The second document that is called ``a`` becomes ``a#2``, as in ``read``, wherever it is.
            Titles are found by their usual names, and counted unless ``settings`` says otherwise.
        block_size : int
            Documents in a block at most. Neighbouring row groups share one as long as they fit.
        n_jobs : int or None
            Processes, without a client; -1 or None: one per core.
        client : distributed.Client
            Workers that read the files and write the blocks. The store is the same, byte for byte.
        """
        columns = text if isinstance(text, Columns) else Columns(text=text)
        place: parquet.Place = parquet.Here(n_jobs)
        if client is not None:
            from topiarist.scale.dask import Cluster

            place = Cluster.of(client)
        columns = columns if id is None else replace(columns, id=id)
        parquet.write_parquet(folder, addresses, columns, settings or CountSettings(), block_size, place)
        return cls.open(folder, check=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return sum(block.documents for block in self.manifest.blocks), self.manifest.n_words

    @property
    def nnz(self) -> int:
        """Stored counts."""
        return sum(block.nonzeros for block in self.manifest.blocks)

    @property
    def n_tokens(self) -> float:
        """The sum of all counts."""
        return float(sum(block.tokens for block in self.manifest.blocks))

    @property
    def n_filled(self) -> int:
        """Documents with any word."""
        return sum(block.filled for block in self.manifest.blocks)

    @property
    def largest(self) -> float:
        """The largest count."""
        return max((block.largest for block in self.manifest.blocks), default=0.0)

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self, dtype: Any = None) -> list[BlockFile]:
        """The blocks as handles, which open in this precision (as stored, unless told)."""
        n_words, dtype = self.manifest.n_words, np.dtype(dtype or self.manifest.dtype).name
        return [
            BlockFile(str(self.folder), block.name, (block.documents, n_words), block.nonzeros, dtype)
            for block in self.manifest.blocks
        ]

    def sample(self, n_docs: int, seed: int = 0) -> Csr:
        """The counts of so many documents (or all, if there are fewer) in memory, drawn at random, in their order."""
        return self.rows(np.sort(np.random.default_rng(seed).choice(len(self), min(n_docs, len(self)), replace=False)))

    def rows(self, chosen: Array) -> Csr:
        """The counts of these documents in memory; ``chosen`` are their numbers, which rise."""
        ends = np.cumsum([block.documents for block in self.manifest.blocks])
        parts = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
        starts = np.concatenate([[0], ends])
        drawn: Csr = vstack(
            [block.counts()[part - start] for block, part, start in zip(self.blocks(), parts, starts, strict=False)],
            format="csr",
        )
        return drawn

    def ids(self) -> Iterator[str]:
        """The ids of all documents in order, if they are known."""
        for block in self.manifest.blocks:
            if "ids.json" in block.files:
                yield from json.loads((self.folder / block.name / "ids.json").read_text(encoding="utf-8"))

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The words, if they are known."""
        return read_vocabulary(self.folder) if VOCABULARY in self.manifest.files else None


def _rising(ends: Array, first: int, last: int) -> bool:
    """True when the numbers go from first to last and never down."""
    return len(ends) > 0 and ends[0] == first and ends[-1] == last and bool((np.diff(ends) >= 0).all())


def _below(numbers: Array, limit: int) -> bool:
    return not len(numbers) or (numbers.min() >= 0 and bool(numbers.max() < limit))
