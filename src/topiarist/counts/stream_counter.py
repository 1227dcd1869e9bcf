"""Counting a stream: a vocabulary that only grows, so that columns keep their places."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Integers
from topiarist.counts.chunks import count_texts
from topiarist.counts.corpus import text_of
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import document_frequency
from topiarist.errors import InputError, UsageError
from topiarist.text.documents import Document
from topiarist.text.stems import stems
from topiarist.text.stop_words import resolve_stop_words

MOST_WAITING = 1_000_000  # words that have not come often enough yet


class StreamCounter:
    """Batches of texts or documents to counts, with new columns for words that have come often enough.

    A word gets a column in the batch in which it reaches ``settings.min_documents`` documents of the stream; earlier
    ones are not counted again. Columns are never given up or moved: the counts of a later batch have at least as many.
    Stop words, stems, numbers, titles and ``max_words`` are those of the settings. Phrases, and words that are too
    common, can only be known of a whole collection and are refused; ``min_document_share`` says nothing of a stream.

    Words that wait for a column take memory too. Where more than a million wait, those seen in fewest documents are
    forgotten and begin again if they return.
    """

    def __init__(self, settings: CountSettings | None = None) -> None:
        self.settings = settings or CountSettings()
        for name, plain in (("phrases", None), ("max_document_share", 1.0)):
            if getattr(self.settings, name) != plain:
                raise UsageError(
                    f"{name}={getattr(self.settings, name)!r} needs the whole collection, and a stream has no end",
                    hint=f"CountSettings({name}={plain!r}); general words become those of the root",
                )
        self.words: list[str] = []  # of the columns, in the order in which they came
        self.left_out = 0.0  # the share of the last batch's tokens that have no column
        self._columns: dict[str, int] = {}  # of words, or of stems
        self._waiting: dict[str, int] = {}  # documents in which they have come
        self._stop_words = resolve_stop_words(self.settings.stop_words)

    def __len__(self) -> int:
        return len(self.words)

    def count(self, documents: Iterable[str | Document]) -> Csr:
        """The counts of a batch, documents × words (int32, canonical), after the vocabulary has grown by it."""
        if isinstance(documents, str | Document):
            raise InputError("expected an iterable of texts, got a single one", hint="[text]")
        texts = [text if isinstance(text, str) else text_of(text, self.settings.titles) for text in documents]
        counts, keys, shown = self._counted(texts)
        self._grow(keys, shown, document_frequency(counts))
        places = np.fromiter((self._columns.get(key, -1) for key in keys), np.int64, len(keys))
        kept = places[counts.indices] >= 0
        tokens = int(counts.data.sum())
        self.left_out = float(counts.data[~kept].sum()) / tokens if tokens else 0.0
        ends = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
        batch: Csr = csr_array(
            (counts.data[kept], places[counts.indices[kept]].astype(np.int32), ends.astype(np.int32)),
            shape=(len(texts), len(self.words)),
        )
        batch.sort_indices()
        return batch

    def _counted(self, texts: list[str]) -> tuple[Csr, list[str], dict[str, str]]:
        """Counts over the words of the batch (or their stems), without stop words; and the word shown for each."""
        chunk = count_texts(texts, self.settings.tokenizer)
        ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
        counts: Csr = csr_array((chunk.data, chunk.indices, ends), shape=(len(texts), len(chunk.words)))
        kept = [place for place, word in enumerate(chunk.words) if word not in self._stop_words]
        counts, words = counts[:, kept], [chunk.words[place] for place in kept]
        if self.settings.stem is None:
            return counts, words, {}
        keys = stems(words, self.settings.stem)
        totals = np.asarray(counts.sum(axis=0)).ravel()
        shown: dict[str, str] = {}
        for place in np.argsort(-totals, kind="stable").tolist():
            shown.setdefault(keys[place], words[place])
        distinct = sorted(shown)
        number = {key: place for place, key in enumerate(distinct)}
        columns = np.fromiter((number[key] for key in keys), np.int32, len(keys))
        merged: Csr = csr_array(
            (counts.data, columns[counts.indices], counts.indptr), shape=(len(texts), len(distinct))
        )
        merged.sum_duplicates()
        return merged, distinct, shown

    def _grow(self, keys: list[str], shown: dict[str, str], frequency: Integers) -> None:
        """Columns for words that have come in enough documents, in sorted order within a batch."""
        most = self.settings.max_words
        for key, documents in zip(keys, frequency.tolist(), strict=True):
            if key in self._columns or not documents:
                continue
            seen = self._waiting.pop(key, 0) + documents
            if seen < self.settings.min_documents or (most is not None and len(self.words) >= most):
                self._waiting[key] = seen
            else:
                self._columns[key] = len(self.words)
                self.words.append(shown.get(key, key))
        if len(self._waiting) > MOST_WAITING:
            ranked = sorted(self._waiting.items(), key=lambda entry: (-entry[1], entry[0]))
            self._waiting = dict(ranked[: MOST_WAITING // 2])
