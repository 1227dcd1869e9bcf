"""What a grow will take: memory before it grows, and for ``--dry-run`` files, time and memory."""

from __future__ import annotations

import os
import time
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from topiarist.app.cli.source_stream import Stream
from topiarist.app.cli.terminal.printing import counted
from topiarist.counts.corpus import Corpus
from topiarist.errors import ResourceError
from topiarist.scale.threads import available_cores
from topiarist.text.documents import Problem
from topiarist.text.readers.kinds import suffix_of

MOST_OF_FREE = 0.8
BASE, SCRATCH = 400e6, 250e6  # bytes of the program with its libraries, and of what is computed block by block
LEAVES = 32  # expected where held-out words choose
SAMPLE, SAMPLE_SECONDS = 400, 5.0  # documents, and seconds, that a dry run reads
PACKED = 2.6  # times as long as it looks is a compressed text
WORDS_KEPT = 0.6  # different words of a document in a token, roughly
GROWING, INDEXING = 2.5e-7, 3e-6  # seconds of a core for a non-zero and a topic, and for a non-zero; both measured


def needed_memory(n_docs: int, n_words: int, n_nonzeros: int, leaves: int | None = None) -> float:
    """Bytes at the peak of a grow: counts several times over, documents in space, shares, words of all nodes."""
    topics = leaves or LEAVES
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


def check_memory(corpus: Corpus, leaves: int | None) -> None:
    """Refuse to grow what would not fit, rather than to swap."""
    needed, free = needed_memory(corpus.n_docs, corpus.n_words, corpus.counts.nnz, leaves), free_memory()
    if free is None or needed <= MOST_OF_FREE * free:
        return
    fewer = max(1_000, int(corpus.n_docs * 0.6 * free / needed) // 1_000 * 1_000)
    raise ResourceError(
        f"growing this collection needs about {size(needed)} of memory, {size(free)} are free",
        hint=f"--limit {fewer} or --min-documents 10",
    )


def dry_run(stream: Stream, leaves: int | None) -> dict[str, Any]:
    """Files by type and size, and about how much time and memory growing would take; nothing is written."""
    kinds: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    unreadable, total = 0, 0.0
    for entry in stream.files():
        if isinstance(entry, Problem) or entry.kind is None:
            unreadable += 1
            continue
        inner = suffix_of(entry.name[: -len(entry.packing)]) if entry.packing else ""
        kind = "standard input" if entry.stream is not None else inner + suffix_of(entry.name) or "no suffix"
        kinds[kind] += 1
        if entry.stream is None:
            number = os.stat(entry.name).st_size
            sizes[kind] += number
            total += number * (PACKED if entry.packing else 1)
    found: dict[str, Any] = {
        "files": {kind: {"number": number, "bytes": sizes[kind]} for kind, number in kinds.most_common()},
        "left_out": unreadable, "bytes": sizes.total(),
    }  # fmt: skip
    if "standard input" in kinds:
        return found
    return found | _estimated(stream, total, leaves)


def _estimated(stream: Stream, total: float, leaves: int | None) -> dict[str, Any]:
    """From the first documents to all of them, by the bytes of their files."""
    began, number, tokens, characters = time.perf_counter(), 0, 0, 0
    words: set[str] = set()
    for document in islice(stream, SAMPLE):
        number += 1
        own = document.text.split()
        tokens += len(own)
        characters += len(document.text)
        words.update(own)
        if time.perf_counter() - began > SAMPLE_SECONDS:
            break
    seconds = time.perf_counter() - began
    read = stream.counts
    stream.close()
    if not number:
        return {}
    if stream.options.is_demo:
        n_docs = 12_000
    else:
        many = read is not None and read.files > 3  # a file is a document, or a table is many
        files = sum(1 for entry in stream.files() if not isinstance(entry, Problem) and entry.kind is not None)
        n_docs = (
            round(files * number / read.files) if many and read is not None else round(total / (characters / number))
        )
    n_docs = min(max(n_docs, number), stream.options.limit or n_docs)
    n_nonzeros = round(n_docs * tokens / number * WORDS_KEPT)
    n_words = round(len(words) * (n_docs / number) ** 0.5)  # Heaps
    growing = (GROWING * (leaves or LEAVES) + INDEXING) * n_nonzeros / available_cores()
    return {
        "documents": n_docs, "seconds": round(seconds * n_docs / number + growing + 3),
        "memory": round(needed_memory(n_docs, n_words, n_nonzeros, leaves)), "free": free_memory(),
    }  # fmt: skip


def told(found: dict[str, Any]) -> list[str]:
    """A dry run in lines."""
    lines = [
        f"  {known['number']:>9,}  {kind:<16}{size(known['bytes']):>9}" for kind, known in found["files"].items()
    ] or ["  the bundled abstracts"]
    if found["left_out"]:
        lines.append(f"  {found['left_out']:>9,}  not a known type")
    if "documents" in found:
        free = f" ({size(found['free'])} free)" if found["free"] else ""
        lines += [
            f"About {counted(found['documents'], 'document')}; growing takes about {duration(found['seconds'])} "
            f"and {size(found['memory'])} of memory{free}.",
        ]
    return [*lines, "Nothing was written."]


def size(number: float) -> str:
    """Bytes as people say them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:.1f} {unit}" if number < 10 * scale else f"{number / scale:.0f} {unit}"
    return f"{number:.0f} bytes"


def duration(seconds: float) -> str:
    """Seconds as people say them: 8 s, 2 min 31 s."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if seconds >= 10 else f"{seconds:.1f} s"
    hours, rest = divmod(whole, 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{whole // 60} min {whole % 60} s"
