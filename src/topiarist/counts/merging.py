"""The vocabulary of texts that are never all in memory: each chunk is summarised, and summaries are added up.

How often a word occurs, and in how many documents, adds up over chunks, and the merged words are sorted: the vocabulary
is that of ``counting.count``, however the texts were cut and whoever summarised them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.counts.chunks import count_texts
from topiarist.counts.pruning import kept_words
from topiarist.counts.settings import CountSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.counts.workers import map_chunks
from topiarist.errors import UsageError
from topiarist.text.stems import stems
from topiarist.text.stop_words import resolve_stop_words


@dataclass(frozen=True)
class Summary:
    """What a vocabulary needs to know of some texts. ``documents`` goes by stem where words are stemmed."""

    n_docs: int = 0
    totals: Counter[str] = field(default_factory=Counter)  # how often each word occurs
    documents: Counter[str] = field(default_factory=Counter)  # in how many texts each word, or stem, occurs

    def add(self, other: Summary) -> Summary:
        """The summary of both; this one is used up."""
        self.totals.update(other.totals)
        self.documents.update(other.documents)
        return Summary(self.n_docs + other.n_docs, self.totals, self.documents)


def summarise(texts: Sequence[str], settings: CountSettings) -> Summary:
    """The map: what one worker makes of its texts."""
    chunk = count_texts(texts, settings.tokenizer)
    stop_words = resolve_stop_words(settings.stop_words)
    ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
    counts: Csr = csr_array((chunk.data, chunk.indices, ends), shape=(len(chunk.lengths), len(chunk.words)))
    keep = np.array([word not in stop_words for word in chunk.words], np.bool_)
    words = [word for word in chunk.words if word not in stop_words]
    counts = counts[:, keep] if not keep.all() else counts
    totals = np.bincount(counts.indices, counts.data, minlength=len(words)).astype(np.int64)
    groups = words if settings.stem is None else list(stems(words, settings.stem))
    names = sorted(set(groups))
    column = {name: place for place, name in enumerate(names)}
    moved = np.fromiter((column[group] for group in groups), np.int64, len(groups))[counts.indices]
    merged: Csr = csr_array((np.ones(len(moved), np.int32), moved, counts.indptr), shape=(counts.shape[0], len(names)))
    merged.sum_duplicates()
    documents = np.bincount(merged.indices, minlength=len(names))
    return Summary(
        counts.shape[0],
        Counter(dict(zip(words, totals.tolist(), strict=True))),
        Counter(dict(zip(names, documents.tolist(), strict=True))),
    )


def vocabulary_of_texts(
    texts: Iterable[str], settings: CountSettings | None = None, *, n_jobs: int | None = 1, chunk: int | None = None
) -> tuple[Vocabulary, int]:
    """The vocabulary that ``counting.count`` would find, and the number of texts, holding a chunk of them at a time."""
    settings = settings or CountSettings()
    check_settings(settings)
    summary = summarise_texts(texts, settings, n_jobs=n_jobs, chunk=chunk)
    return vocabulary_of_summary(summary, settings), summary.n_docs


def summarise_texts(
    texts: Iterable[str], settings: CountSettings, *, n_jobs: int | None = 1, chunk: int | None = None
) -> Summary:
    """The summary of any number of texts, chunk by chunk."""
    summary = Summary()
    for part in map_chunks(partial(summarise, settings=settings), texts, n_jobs, chunk):
        summary = summary.add(part)
    return summary


def check_settings(settings: CountSettings) -> None:
    """Phrases are found by looking at all tokens of all texts together."""
    if settings.phrases is not None:
        raise UsageError(
            "phrases need all texts in memory: they cannot be found in a collection that is read in parts",
            hint="leave phrases out, or count with Corpus.from_documents and BlockStore.write",
        )


def vocabulary_of_summary(summary: Summary, settings: CountSettings) -> Vocabulary:
    """The merge: sorted, stems named by their most frequent form, rare and too common words left out."""
    if settings.stem is None:
        names = tuple(sorted(summary.totals))
        forms: tuple[tuple[str, ...], ...] = ()
        frequency = [summary.documents[word] for word in names]
        totals = [summary.totals[word] for word in names]
    else:
        groups: defaultdict[str, list[str]] = defaultdict(list)
        every = sorted(summary.totals)
        for word, stem in zip(every, stems(every, settings.stem), strict=True):
            groups[stem].append(word)
        ranked = sorted(
            (tuple(sorted(group, key=lambda word: (-summary.totals[word], word))), stem)
            for stem, group in groups.items()
        )
        forms = tuple(group for group, _ in ranked)
        names = tuple(group[0] for group in forms)
        frequency = [summary.documents[stem] for _, stem in ranked]
        totals = [sum(summary.totals[word] for word in group) for group in forms]
    whole = Vocabulary(names, np.array(frequency, np.int64), np.array(totals, np.int64), forms)
    return whole.select(kept_words(whole, summary.n_docs, settings))
