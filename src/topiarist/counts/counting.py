"""From texts to counts: tokens, phrases, stop words, stems, pruning, in this order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from topiarist.counts.chunks import CountChunk, TokenChunk, count_texts, merged, stacked, tally, tokenise
from topiarist.counts.phrases import find_phrases, join_phrases
from topiarist.counts.pruning import merge_stems, prune, vocabulary_of, without_stop_words
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import Csr
from topiarist.counts.vocabulary import Vocabulary
from topiarist.counts.workers import map_chunks
from topiarist.text.stems import stems
from topiarist.text.stop_words import resolve_stop_words
from topiarist.text.tokens import Tokenizer

Floats = np.ndarray[Any, np.dtype[np.float64]]


def count(
    texts: Iterable[str],
    settings: CountSettings | None = None,
    *,
    n_jobs: int | None = 1,
    chunk: int | None = None,
) -> tuple[Csr, Vocabulary]:
    """Return the counts (documents × words, int32, canonical) and the vocabulary of texts.

    ``texts`` may be a generator: only a few chunks of it are held at a time. The result is the same for any
    ``n_jobs`` (processes; -1 or None: one per core) and any ``chunk`` (characters of text per piece of work).
    """
    settings = settings or CountSettings()
    stop_words = resolve_stop_words(settings.stop_words)
    if settings.phrases is None:
        phrases: tuple[str, ...] = ()
        chunks = list(map_chunks(partial(count_texts, tokenizer=settings.tokenizer), texts, n_jobs, chunk))
    else:
        tokenised = list(map_chunks(partial(tokenise, tokenizer=settings.tokenizer), texts, n_jobs, chunk))
        keeps = settings.tokenizer.keeps
        phrases = find_phrases(tokenised, settings.phrases, lambda word: keeps(word) and word not in stop_words)
        chunks = [tally(join_phrases(part, phrases), _keeps_phrases(settings.tokenizer)) for part in tokenised]
        del tokenised
    counts, words = merged(chunks)
    vocabulary = vocabulary_of(counts, words, phrases=phrases)
    if stop_words:
        counts, vocabulary = without_stop_words(counts, vocabulary, stop_words)
    if settings.stem is not None:
        counts, vocabulary = merge_stems(counts, vocabulary, settings.stem)
    return prune(counts, vocabulary, settings)


class Heard(NamedTuple):
    """Counts of texts over a known vocabulary, and how much of each text it knows."""

    counts: Csr
    known: Floats  # tokens that are in the vocabulary, or among the words that were set aside
    tokens: Floats  # all of them, without stop words

    @property
    def share(self) -> Floats:
        """The share of known tokens; not a number for a text without any token."""
        share: Floats = np.where(self.tokens > 0, self.known / np.maximum(self.tokens, 1.0), np.nan)
        return share


def hear(
    texts: Iterable[str], vocabulary: Vocabulary, settings: CountSettings, aside: Collection[str] = (), least: int = 0
) -> Heard:
    """Count new texts as ``count_in`` does, and tell how many of their tokens are known at all.

    ``aside`` are words that were set aside as too general: they are known too. Words of fewer documents than ``least``
    do not count as known, so that a text of the collection is heard as if it came from outside.
    """
    work = partial(_count_joined, tokenizer=settings.tokenizer, phrases=vocabulary.phrases)
    chunks = list(map_chunks(work, texts, 1))
    columns = _columns(chunks, vocabulary, settings)
    counts = stacked(chunks, columns, len(vocabulary))
    counts.sum_duplicates()
    stop_words, general = resolve_stop_words(settings.stop_words), _forms_of(aside, chunks, settings)
    frequency = vocabulary.document_frequency

    def usual(word: str) -> bool:
        column = columns.get(word)
        return word in general if column is None else bool(frequency[column] >= least) or word in general

    known = [_tokens_of(chunk, usual) for chunk in chunks]
    tokens = [_tokens_of(chunk, lambda word: word not in stop_words) for chunk in chunks]
    return Heard(counts, np.concatenate([np.empty(0), *known]), np.concatenate([np.empty(0), *tokens]))


def _tokens_of(chunk: CountChunk, counted: Callable[[str], bool]) -> Floats:
    """How many tokens of each text are of words that count."""
    weight = np.fromiter(map(counted, chunk.words), np.float64, len(chunk.words))
    ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
    tokens: Floats = np.diff(np.concatenate([[0.0], np.cumsum(weight[chunk.indices] * chunk.data)])[ends])
    return tokens


def _forms_of(words: Collection[str], chunks: Sequence[CountChunk], settings: CountSettings) -> set[str]:
    """Words, and where stems are counted all other forms of them in the chunks."""
    if settings.stem is None or not words:
        return set(words)
    known = set(stems(sorted(words), settings.stem))
    every = sorted({word for chunk in chunks for word in chunk.words})
    return {word for word, stem in zip(every, stems(every, settings.stem), strict=True) if stem in known}


def count_in(
    texts: Iterable[str],
    vocabulary: Vocabulary,
    settings: CountSettings | None = None,
    *,
    n_jobs: int | None = 1,
) -> Csr:
    """Return the counts of new texts over a known vocabulary; words it does not hold are left out.

    With the settings the vocabulary was made with, the counts of the same texts are the same.
    """
    settings = settings or CountSettings()
    work = partial(_count_joined, tokenizer=settings.tokenizer, phrases=vocabulary.phrases)
    chunks = list(map_chunks(work, texts, n_jobs))
    columns = _columns(chunks, vocabulary, settings)
    counts = stacked(chunks, columns, len(vocabulary))
    counts.sum_duplicates()
    return counts


def _count_joined(texts: Sequence[str], tokenizer: Tokenizer, phrases: Sequence[str]) -> CountChunk:
    """Return the counts of texts in which known phrases are joined."""
    part: TokenChunk = tokenise(texts, tokenizer)
    return tally(join_phrases(part, phrases), _keeps_phrases(tokenizer))


def _keeps_phrases(tokenizer: Tokenizer) -> Callable[[str], bool]:
    """Return the tokeniser's choice of words, which also lets phrases pass."""
    return lambda word: " " in word or tokenizer.keeps(word)


def _columns(chunks: Sequence[CountChunk], vocabulary: Vocabulary, settings: CountSettings) -> Mapping[str, int]:
    """Return the column of every known word in the chunks."""
    return vocabulary.columns if settings.stem is None else _stem_columns(chunks, vocabulary, settings)


def _stem_columns(chunks: Sequence[CountChunk], vocabulary: Vocabulary, settings: CountSettings) -> dict[str, int]:
    """Return the column of every word in the chunks by its stem: unseen forms of known words count too."""
    language = settings.stem or ""
    by_stem = {stem: column for column, stem in enumerate(stems(vocabulary.words, language))}
    stop_words = resolve_stop_words(settings.stop_words)
    words = sorted({word for chunk in chunks for word in chunk.words} - stop_words)
    found = zip(words, stems(words, language), strict=True)
    return {word: by_stem[stem] for word, stem in found if stem in by_stem}
