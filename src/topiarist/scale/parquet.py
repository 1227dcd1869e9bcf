"""From Parquet to a store in two maps, on one machine or many: the words of each partition, then its counts.

A partition is a run of row groups of one or several files with about as many rows as a block has documents. Whoever is
given one reads it from its address, twice: first to summarise its words; then, when all summaries have been merged to
the vocabulary, to count them and to write the blocks into the new store. What travels is addresses, summaries, eight
bytes for each id and the manifest's entries. Partitions, and the numbers of their blocks, depend on the files alone:
the store is the same, byte for byte, whoever made it.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from topiarist.counts.corpus import text_of
from topiarist.counts.merging import Summary, check_settings, summarise_texts, vocabulary_of_summary
from topiarist.counts.settings import CountSettings
from topiarist.counts.workers import map_items
from topiarist.errors import InputError, UsageError
from topiarist.scale.block_folder import BlockEntry, Manifest, counted, no_documents, sealed_vocabulary, write_block
from topiarist.store.sealed_folder import new_sealed_folder
from topiarist.store.vocabulary_file import read_vocabulary
from topiarist.text.documents import Document
from topiarist.text.readers.addresses import Part, documents_of, expand, names_of, survey
from topiarist.text.readers.columns import Columns

DTYPE = np.dtype(np.float32)
MERGED_AT_ONCE = 8

Partition = tuple[Part, ...]  # what one task reads


class Place(Protocol):
    """Where partitions are worked on: ``Here``, or a ``dask.Cluster``."""

    def map(self, task: Callable[..., Any], items: Iterable[Any], *arguments: Any) -> Iterator[Any]:
        """``task(item, *arguments)`` for each item, in their order."""

    def reduce(self, task: Callable[..., Any], merge: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
        """The same, merged."""


@dataclass(frozen=True)
class Here:
    """So many processes of this machine."""

    n_jobs: int | None = 1

    def map(self, task: Callable[..., Any], items: Iterable[Any], *arguments: Any) -> Iterator[Any]:
        """See ``Place``."""
        return map_items(partial(_called, task=task, arguments=arguments), items, self.n_jobs)

    def reduce(self, task: Callable[..., Any], merge: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
        """See ``Place``."""
        results = self.map(task, items, *arguments)
        total = next(results)
        while batch := list(islice(results, MERGED_AT_ONCE)):
            total = merge(total, *batch)
        return total


def _called(item: Any, task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return task(item, *arguments)


@dataclass(frozen=True)
class Seen:
    """A partition as it was at the first reading."""

    n_docs: int
    digests: tuple[str, ...]  # of its parts
    ids: bytes  # eight of each document's id, digested


@dataclass(frozen=True)
class Words:
    """The words of neighbouring partitions."""

    summary: Summary
    seen: tuple[Seen, ...]


@dataclass(frozen=True)
class Job:
    """What a partition needs to know to be counted, besides the vocabulary, which lies in the folder."""

    partition: Partition
    seen: Seen
    first: int  # number of its first block
    again: Mapping[int, int]  # documents whose id has come before, by place: for which time it comes


def write_parquet(
    folder: str | Path, addresses: Any, columns: Columns, settings: CountSettings, block_size: int, place: Place
) -> None:
    """Make a store of Parquet files."""
    check_settings(settings)
    if block_size < 1:
        raise UsageError(f"block_size must be at least 1, got {block_size}")
    with new_sealed_folder(folder) as store:
        partitions = plan(_parts(addresses, columns, place), block_size)
        if not partitions:
            raise no_documents()
        words: Words = place.reduce(summarise, merge, partitions, settings)
        if not words.summary.n_docs:
            raise no_documents()
        vocabulary = vocabulary_of_summary(words.summary, settings)
        files = sealed_vocabulary(store, vocabulary)
        sizes = [-(-seen.n_docs // block_size) for seen in words.seen]
        firsts = accumulate(sizes[:-1], initial=0)
        again = repeated([seen.ids for seen in words.seen])
        jobs = [Job(*job) for job in zip(partitions, words.seen, firsts, again, strict=True) if job[1].n_docs]
        entries = [entry for blocks in place.map(count, jobs, str(store), settings, block_size) for entry in blocks]
        for left in store.glob(".block-*"):  # of tasks that were given up, and done by others
            shutil.rmtree(left, ignore_errors=True)
        Manifest(len(vocabulary), DTYPE.name, tuple(entries), files).write(store)


def plan(parts: Iterable[Part], block_size: int) -> list[Partition]:
    """Neighbouring row groups together, as long as they have no more rows than a block has documents."""
    runs: list[list[Part]] = [[]]
    rows = 0
    for part in parts:
        if rows and rows + sum(part.rows) > block_size:
            runs.append([])
            rows = 0
        rows += sum(part.rows)
        last = runs[-1][-1] if runs[-1] else None
        if last is not None and last.address == part.address:
            runs[-1][-1] = replace(last, rows=last.rows + part.rows)
        else:
            runs[-1].append(part)
    return [tuple(run) for run in runs if any(any(part.rows) for part in run)]


def _parts(addresses: Any, columns: Columns, place: Place) -> Iterator[Part]:
    """The row groups of all files in order. The first file settles which column is the text."""
    files = expand(addresses)
    named = list(zip(files, names_of(files), strict=True))
    first = survey(named[0], columns)
    yield from first
    if first:
        columns = replace(columns, text=first[0].chosen.text)
    for parts in place.map(survey, named[1:], columns):
        yield from parts


def summarise(partition: Partition, settings: CountSettings) -> Words:
    """A task, the first map: the words of a partition."""
    reading = _Reading(partition)
    texts = (text_of(document, settings.titles) for document in reading)
    summary = summarise_texts(texts, settings)
    return Words(summary, (Seen(summary.n_docs, tuple(reading.digests), b"".join(reading.ids)),))


def merge(*words: Words) -> Words:
    """A task: the words of neighbours. None of them is changed: a task may run again."""
    total = reduce(Summary.add, (part.summary for part in words), Summary())
    return Words(total, tuple(seen for part in words for seen in part.seen))


def repeated(ids: Sequence[bytes]) -> list[dict[int, int]]:
    """For each partition the documents whose id has come before, by their place, and for which time it comes."""
    numbers = np.frombuffer(b"".join(ids), np.uint64)
    order = np.argsort(numbers, kind="stable")
    same = np.append(False, numbers[order[1:]] == numbers[order[:-1]])
    starts = np.cumsum([0, *map(len, ids)]) // numbers.itemsize
    found: list[dict[int, int]] = [{} for _ in ids]
    first = 0
    for rank in np.flatnonzero(same).tolist():
        first = first if same[rank - 1] else rank - 1
        partition = int(np.searchsorted(starts, order[rank], side="right")) - 1
        found[partition][int(order[rank] - starts[partition])] = rank - first + 1
    return found


def _renamed(documents: Iterable[Document], again: Mapping[int, int]) -> Iterator[Document]:
    """The documents with ids that are unique, as ``read`` makes them: the second that is called a becomes a#2."""
    for place, document in enumerate(documents):
        yield replace(document, id=f"{document.id}#{again[place]}") if place in again else document


def count(job: Job, folder: str, settings: CountSettings, block_size: int) -> list[BlockEntry]:
    """A task, the second map: the counts of a partition, written as blocks."""
    reading = _Reading(job.partition)
    documents = _renamed(reading, job.again)
    blocks = counted(documents, job.seen.n_docs, _vocabulary(folder), settings, block_size, 1)
    entries = [
        write_block(Path(folder), job.first + number, counts, DTYPE, ids) for number, (counts, ids) in enumerate(blocks)
    ]
    reading.check(job.seen)
    return entries


class _Reading:
    """The documents of a partition, with a digest of each part that has passed, and of each id."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self.digests: list[str] = []
        self.ids: list[bytes] = []

    def __iter__(self) -> Iterator[Document]:
        for part in self._partition:
            digest = hashlib.blake2b(digest_size=16)
            for document in documents_of(part):
                for piece in (document.id, document.title, document.text):
                    data = piece.encode()
                    digest.update(len(data).to_bytes(8))
                    digest.update(data)
                self.ids.append(hashlib.blake2b(document.id.encode(), digest_size=8).digest())
                yield document
            self.digests.append(digest.hexdigest())

    def check(self, seen: Seen) -> None:
        """Raise unless the same documents came at the first reading."""
        for part, before, now in zip(self._partition, seen.digests, self.digests, strict=True):
            if before != now:
                raise InputError(
                    f"{part.address} has changed between the first and the second reading",
                    hint="read from files that do not change meanwhile",
                )


@lru_cache(maxsize=1)
def _vocabulary(folder: str) -> Any:
    """Read once by each process; the folder's name is new for each store."""
    return read_vocabulary(Path(folder))
