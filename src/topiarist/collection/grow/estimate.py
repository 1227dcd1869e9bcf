"""Estimates of the memory of a grow, and of files, documents and time for a dry run."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from topiarist.execution.threads import count_available_cores
from topiarist.text.documents import Document, Problem
from topiarist.text.readers.items import File
from topiarist.text.readers.kinds import suffix_of

MAX_FREE_SHARE = 0.8
BASE, SCRATCH = 400e6, 250e6  # bytes of the program with its libraries, and of what is computed block by block
DOCUMENTS_OF_LEAF, MAX_LEAVES = 40, 512  # typical documents for each leaf, and maximum number of leaves
SAMPLE, SAMPLE_SECONDS = 400, 5.0  # documents, and seconds, that a dry run reads
COMPRESSION_RATIO = 2.6  # length of a text relative to its compressed size
WORDS_KEPT = 0.6  # different words of a document in a token, roughly
GROWING, INDEXING = 2.5e-7, 3e-6  # seconds of a core for a non-zero and a topic, and for a non-zero; both measured
STANDARD_INPUT = "standard input"


class Shortage(NamedTuple):
    """Bytes that growing needs, free bytes, and the number of documents that would fit."""

    needed: float
    free: float
    documents_that_fit: int


def find_memory_shortage(sizes: Mapping[str, int], leaves: int | None) -> Shortage | None:
    """Return the missing memory for counts of these sizes; None if it suffices or is unknown."""
    n_docs = sizes["documents"]
    needed, free = estimate_memory(n_docs, sizes["words"], sizes["nonzeros"], leaves), measure_free_memory()
    if free is None or needed <= MAX_FREE_SHARE * free:
        return None
    return Shortage(needed, free, max(1_000, int(n_docs * 0.6 * free / needed) // 1_000 * 1_000))


def estimate_leaves(n_docs: int) -> int:
    """Return the expected number of leaves: 233 of 7,400 abstracts, 187 of 12,000, 512 of 18,846 messages."""
    return max(1, min(n_docs // DOCUMENTS_OF_LEAF, MAX_LEAVES))


def estimate_memory(n_docs: int, n_words: int, n_nonzeros: int, leaves: int | None = None) -> float:
    """Return the peak memory of a grow in bytes: counts, documents in space, shares, and words of all nodes."""
    topics = leaves or estimate_leaves(n_docs)
    counts = 45.0 * n_nonzeros  # training and held-out tokens, by rows and by columns, and the tf-idf of LSI
    documents = n_docs * (400.0 + 8.0 * min(topics, 512) + 4 * 50 * 3)
    nodes = 3 * 8.0 * 1.5 * topics * n_words
    return BASE + min(SCRATCH, 400.0 * n_nonzeros) + counts + documents + nodes


def measure_free_memory() -> float | None:
    """Return the free bytes of the machine or of its control group; None if unknown."""
    sizes = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes += [float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            sizes.append(float(limit) - float((group / "memory.current").read_text()))
    except (OSError, ValueError, IndexError):
        pass
    return min(sizes) if sizes else None


def estimate_grow(
    files: Iterable[File | Problem],
    documents: Iterable[Document],
    *,
    files_read: Callable[[], int | None],
    leaves: int | None,
    limit: int | None,
) -> dict[str, Any]:
    """Return files by type and size, and estimates of time and memory; write nothing.

    ``files_read``: number of files opened so far; None for the bundled collection.
    """
    numbers: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    left_out, total = 0, 0.0
    for entry in files:
        if isinstance(entry, Problem) or entry.kind is None:
            left_out += 1
            continue
        inner = suffix_of(entry.name[: -len(entry.packing)]) if entry.packing else ""
        kind = STANDARD_INPUT if entry.stream is not None else inner + suffix_of(entry.name) or "no suffix"
        numbers[kind] += 1
        if entry.stream is None:
            n_bytes = os.stat(entry.name).st_size if entry.remote is None else entry.remote.size
            sizes[kind] += n_bytes
            total += n_bytes * (COMPRESSION_RATIO if entry.packing else 1)
    result = {
        "files": {kind: {"number": number, "bytes": sizes[kind]} for kind, number in numbers.most_common()},
        "left_out": left_out,
        "bytes": sizes.total(),
    }
    if STANDARD_INPUT in numbers:
        return result
    sample = _read_sample(documents)
    if not sample.documents:
        return result
    n_docs = _estimate_documents(sample, files_read(), numbers.total(), total)
    n_docs = min(max(n_docs, sample.documents), limit or n_docs)
    n_nonzeros = round(n_docs * sample.tokens / sample.documents * WORDS_KEPT)
    n_words = round(sample.words * (n_docs / sample.documents) ** 0.5)  # Heaps
    growing = (GROWING * (leaves or estimate_leaves(n_docs)) + INDEXING) * n_nonzeros / count_available_cores()
    return result | {
        "documents": n_docs,
        "seconds": round(sample.seconds * n_docs / sample.documents + growing + 3),
        "memory": round(estimate_memory(n_docs, n_words, n_nonzeros, leaves)),
        "free": measure_free_memory(),
    }


class _Sample(NamedTuple):
    """First documents in numbers: documents, tokens, characters, different words and reading time in seconds."""

    documents: int
    tokens: int
    characters: int
    words: int
    seconds: float


def _read_sample(documents: Iterable[Document]) -> _Sample:
    """Read documents for a limited time, and count their words and characters."""
    began, number, tokens, characters = time.perf_counter(), 0, 0, 0
    words: set[str] = set()
    for document in islice(documents, SAMPLE):
        number += 1
        tokens_of_text = document.text.split()
        tokens += len(tokens_of_text)
        characters += len(document.text)
        words.update(tokens_of_text)
        if time.perf_counter() - began > SAMPLE_SECONDS:
            break
    return _Sample(number, tokens, characters, len(words), time.perf_counter() - began)


def _estimate_documents(sample: _Sample, files_read: int | None, n_files: int, n_bytes: float) -> int:
    """Return the expected number of documents, by files or, for few large tables, by bytes."""
    if files_read is None:
        return 12_000
    if files_read > 3:
        return round(n_files * sample.documents / files_read)
    return round(n_bytes / (sample.characters / sample.documents))
