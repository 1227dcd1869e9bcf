"""Counter for streams of documents, whose vocabulary only grows, so that columns keep their places."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Integers
from topiarist.counts.chunks import count_texts
from topiarist.counts.corpus import build_counted_text
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import compute_document_frequency
from topiarist.errors import InputError, UsageError
from topiarist.text.documents import Document
from topiarist.text.stems import find_stems
from topiarist.text.stop_words import resolve_stop_words

MAX_WAITING = 1_000_000  # words without a column


class StreamCounter:
    """Counter of batches of texts or documents that adds columns for words in enough documents.

    A word gets a column in the batch in which it reaches ``settings.min_documents`` documents. Earlier occurrences
    are not counted. Columns are never removed or moved, so later batches have at least as many columns. ``settings``
    determine stop words, stems, numbers, titles and ``max_words``. ``phrases`` and ``max_document_share`` need a
    complete collection and are refused; ``min_document_share`` is ignored.

    Words that wait for a column take memory. If more than a million wait, the words in fewest documents are dropped,
    and are counted from zero if they occur again.
    """

    def __init__(self, settings: CountSettings | None = None) -> None:
        self.settings = settings or CountSettings()
        for name, plain in (("phrases", None), ("max_document_share", 1.0)):
            if getattr(self.settings, name) != plain:
                raise UsageError(
                    f"{name}={getattr(self.settings, name)!r} needs a complete collection, but a stream has no end",
                    hint=f"Use CountSettings({name}={plain!r}). The root represents general words.",
                )
        self.words: list[str] = []  # of the columns, in order of their addition
        self.left_out = 0.0  # share of the tokens of the last batch without a column
        self._columns: dict[str, int] = {}  # of words, or of stems
        self._waiting: dict[str, int] = {}  # number of documents with each word
        self._stop_words = resolve_stop_words(self.settings.stop_words)

    def __len__(self) -> int:
        return len(self.words)

    def count(self, documents: Iterable[str | Document]) -> Csr:
        """Add the words of a batch; return its counts (documents × words, int32, canonical)."""
        if isinstance(documents, str | Document):
            raise InputError("expected an iterable of texts, got a single one", hint="Pass [text].")
        texts = [
            text if isinstance(text, str) else build_counted_text(text, self.settings.titles) for text in documents
        ]
        counts, keys, displayed_words = self._count_batch(texts)
        self._grow(keys, displayed_words, compute_document_frequency(counts))
        places = np.fromiter((self._columns.get(key, -1) for key in keys), np.int64, len(keys))
        is_kept = places[counts.indices] >= 0
        tokens = int(counts.data.sum())
        self.left_out = float(counts.data[~is_kept].sum()) / tokens if tokens else 0.0
        ends = np.concatenate([[0], np.cumsum(is_kept)])[counts.indptr]
        batch: Csr = csr_array(
            (counts.data[is_kept], places[counts.indices[is_kept]].astype(np.int32), ends.astype(np.int32)),
            shape=(len(texts), len(self.words)),
        )
        batch.sort_indices()
        return batch

    def _count_batch(self, texts: list[str]) -> tuple[Csr, list[str], dict[str, str]]:
        """Return counts over the words or stems of the batch, without stop words, and the displayed word of each stem."""
        chunk = count_texts(texts, self.settings.tokenizer)
        ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
        counts: Csr = csr_array((chunk.data, chunk.indices, ends), shape=(len(texts), len(chunk.words)))
        kept_columns = [place for place, word in enumerate(chunk.words) if word not in self._stop_words]
        counts, words = counts[:, kept_columns], [chunk.words[place] for place in kept_columns]
        if self.settings.stem is None:
            return counts, words, {}
        keys = find_stems(words, self.settings.stem)
        totals = np.asarray(counts.sum(axis=0)).ravel()
        displayed_words: dict[str, str] = {}
        for place in np.argsort(-totals, kind="stable").tolist():
            displayed_words.setdefault(keys[place], words[place])
        distinct = sorted(displayed_words)
        number = {key: place for place, key in enumerate(distinct)}
        columns = np.fromiter((number[key] for key in keys), np.int32, len(keys))
        merged: Csr = csr_array(
            (counts.data, columns[counts.indices], counts.indptr), shape=(len(texts), len(distinct))
        )
        merged.sum_duplicates()
        return merged, distinct, displayed_words

    def _grow(self, keys: list[str], displayed_words: dict[str, str], frequency: Integers) -> None:
        """Add columns for words in enough documents, sorted within a batch."""
        max_words = self.settings.max_words
        for key, documents in zip(keys, frequency.tolist(), strict=True):
            if key in self._columns or not documents:
                continue
            n_documents = self._waiting.pop(key, 0) + documents
            if n_documents < self.settings.min_documents or (max_words is not None and len(self.words) >= max_words):
                self._waiting[key] = n_documents
            else:
                self._columns[key] = len(self.words)
                self.words.append(displayed_words.get(key, key))
        if len(self._waiting) > MAX_WAITING:
            ranked = sorted(self._waiting.items(), key=lambda entry: (-entry[1], entry[0]))
            self._waiting = dict(ranked[: MAX_WAITING // 2])
