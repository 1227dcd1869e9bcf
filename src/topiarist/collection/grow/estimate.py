"""What a grow will take: memory before it grows; for a dry run files, documents, time and memory."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from topiarist.counts.corpus import Corpus
from topiarist.scale.threads import available_cores
from topiarist.text.documents import Document, Problem
from topiarist.text.readers.items import File
from topiarist.text.readers.kinds import suffix_of

MOST_OF_FREE = 0.8
BASE, SCRATCH = 400e6, 250e6  # bytes of the program with its libraries, and of what is computed block by block
DOCUMENTS_OF_LEAF, MOST_LEAVES = 40, 512  # about what held-out words choose: a leaf for so many, and so many at most
SAMPLE, SAMPLE_SECONDS = 400, 5.0  # documents, and seconds, that a dry run reads
PACKED = 2.6  # times as long as it looks is a compressed text
WORDS_KEPT = 0.6  # different words of a document in a token, roughly
GROWING, INDEXING = 2.5e-7, 3e-6  # seconds of a core for a non-zero and a topic, and for a non-zero; both measured
STANDARD_INPUT = "standard input"


class Shortage(NamedTuple):
    """Bytes that growing needs, bytes that are free, and how many documents would fit."""

    needed: float
    free: float
    documents_that_fit: int


def memory_shortage(corpus: Corpus, leaves: int | None) -> Shortage | None:
    """Whether growing would need more memory than there is; None where it fits, or where nobody knows."""
    needed, free = needed_memory(corpus.n_docs, corpus.n_words, corpus.counts.nnz, leaves), free_memory()
    if free is None or needed <= MOST_OF_FREE * free:
        return None
    return Shortage(needed, free, max(1_000, int(corpus.n_docs * 0.6 * free / needed) // 1_000 * 1_000))


def expected_leaves(n_docs: int) -> int:
    """How many leaves held-out words choose, about: 233 of 7,400 abstracts, 187 of 12,000, 512 of 18,846 messages."""
    return max(1, min(n_docs // DOCUMENTS_OF_LEAF, MOST_LEAVES))


def needed_memory(n_docs: int, n_words: int, n_nonzeros: int, leaves: int | None = None) -> float:
    """Bytes at the peak of a grow: counts several times over, documents in space, shares, words of all nodes."""
    topics = leaves or expected_leaves(n_docs)
    counts = 45.0 * n_nonzeros  # training and held-out tokens, by rows and by columns, and the tf-idf of LSI
    documents = n_docs * (400.0 + 8.0 * min(topics, 512) + 4 * 50 * 3)
    nodes = 3 * 8.0 * 1.5 * topics * n_words
    return BASE + min(SCRATCH, 400.0 * n_nonzeros) + counts + documents + nodes


def free_memory() -> float | None:
    """Bytes that are free here: of the machine, or of the group of processes that has a limit. None: not known."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        most = (group / "memory.max").read_text().strip()
        if most != "max":
            found.append(float(most) - float((group / "memory.current").read_text()))
    except (OSError, ValueError, IndexError):
        pass
    return min(found) if found else None


def dry_run(
    files: Iterable[File | Problem],
    documents: Iterable[Document],
    *,
    files_read: Callable[[], int | None],
    leaves: int | None,
    limit: int | None,
) -> dict[str, Any]:
    """Files by type and size, and about how much time and memory growing would take; nothing is written.

    ``files_read``: how many files were opened so far; None for the bundled collection.
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
            total += n_bytes * (PACKED if entry.packing else 1)
    found = {
        "files": {kind: {"number": number, "bytes": sizes[kind]} for kind, number in numbers.most_common()},
        "left_out": left_out,
        "bytes": sizes.total(),
    }
    if STANDARD_INPUT in numbers:
        return found
    sample = _sampled(documents)
    if not sample.documents:
        return found
    n_docs = _expected_documents(sample, files_read(), numbers.total(), total)
    n_docs = min(max(n_docs, sample.documents), limit or n_docs)
    n_nonzeros = round(n_docs * sample.tokens / sample.documents * WORDS_KEPT)
    n_words = round(sample.words * (n_docs / sample.documents) ** 0.5)  # Heaps
    growing = (GROWING * (leaves or expected_leaves(n_docs)) + INDEXING) * n_nonzeros / available_cores()
    return found | {
        "documents": n_docs,
        "seconds": round(sample.seconds * n_docs / sample.documents + growing + 3),
        "memory": round(needed_memory(n_docs, n_words, n_nonzeros, leaves)),
        "free": free_memory(),
    }


class _Sample(NamedTuple):
    """The first documents: how many, how long they are, their different words, and how long reading them took."""

    documents: int
    tokens: int
    characters: int
    words: int
    seconds: float


def _sampled(documents: Iterable[Document]) -> _Sample:
    began, number, tokens, characters = time.perf_counter(), 0, 0, 0
    words: set[str] = set()
    for document in islice(documents, SAMPLE):
        number += 1
        own = document.text.split()
        tokens += len(own)
        characters += len(document.text)
        words.update(own)
        if time.perf_counter() - began > SAMPLE_SECONDS:
            break
    return _Sample(number, tokens, characters, len(words), time.perf_counter() - began)


def _expected_documents(sample: _Sample, files_read: int | None, n_files: int, n_bytes: float) -> int:
    """From the first documents to all: by files where a file is a document, by bytes where a table is many."""
    if files_read is None:
        return 12_000
    if files_read > 3:
        return round(n_files * sample.documents / files_read)
    return round(n_bytes / (sample.characters / sample.documents))
