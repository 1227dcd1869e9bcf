"""Conversion of texts to counts: tokens, phrases, stop words, stems and pruning, in this order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from topiarist.arrays import Array, Csr, Doubles, DTypeLike, Ints
from topiarist.counts.chunks import CountChunk, TokenChunk, stack_chunks, tally, tokenise
from topiarist.counts.duplicates import compute_signatures
from topiarist.counts.pruning import Entries, find_kept_words, merge_stems, move_columns, prune
from topiarist.counts.scratch import IN_MEMORY, ScratchArray, ScratchSpace
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.counts.validation import EXACT_IN_FLOAT32
from topiarist.counts.vocabulary import Vocabulary
from topiarist.counts.workers import Jobs, map_chunks
from topiarist.text.stems import find_stems
from topiarist.text.stop_words import resolve_stop_words
from topiarist.text.tokens import Tokenizer, is_unspaced

MAX_FORMS = 256  # forms of a stem whose counts are exact in single precision


class SignatureSink(Protocol):
    """List or file that receives signatures of texts."""

    def append(self, minima: Array, /) -> object:
        """Append signatures of more texts."""


def find_phrases(
    chunks: Sequence[TokenChunk], settings: PhraseSettings, keeps: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the phrases of the collection, sorted."""
    words = sorted(set(chain.from_iterable(chunk.numbers for chunk in chunks)))
    columns = {word: column for column, word in enumerate(words)}
    numbers = [_list_columns(chunk, columns) for chunk in chunks]
    totals = np.zeros(len(words), dtype=np.int64)
    for chunk, number in zip(chunks, numbers, strict=True):
        totals[number] += np.bincount(chunk.tokens, minlength=len(number))
    frequent = np.flatnonzero(totals >= settings.min_count)
    usable = [column for column in frequent.tolist() if keeps(words[column]) and not is_unspaced(words[column])]
    if not usable:
        return ()
    rank = np.full(len(words), -1, dtype=np.int64)
    rank[usable] = np.arange(len(usable))
    pairs, times = _count_pairs(chunks, [rank[number] for number in numbers], len(usable))
    is_frequent = times >= settings.min_count
    pairs, times = pairs[is_frequent], times[is_frequent]
    first, second = np.divmod(pairs, len(usable))
    n_tokens = int(totals.sum())
    occurs = totals[usable]
    is_phrase = _compute_npmi(times, occurs[first], occurs[second], n_tokens) >= settings.threshold
    names = [words[column] for column in usable]
    return tuple(sorted(f"{names[a]} {names[b]}" for a, b in zip(first[is_phrase], second[is_phrase], strict=True)))


def _list_columns(chunk: TokenChunk, columns: Mapping[str, int]) -> Ints:
    """Return the column of each word of the chunk, in the order of the chunk's own numbers."""
    return np.fromiter(map(columns.__getitem__, chunk.numbers), np.int64, len(chunk.numbers))


def _compute_npmi(pair_counts: Ints, first_counts: Ints, second_counts: Ints, n_tokens: int) -> Doubles:
    """Return the normalised pointwise mutual information of each word pair, from −1 to 1."""
    if n_tokens == 0 or pair_counts.size == 0:
        return np.zeros(pair_counts.size)
    surprise = np.log(n_tokens / pair_counts)
    information = np.log(pair_counts * (n_tokens / first_counts) / second_counts)
    return np.where(surprise > 0, information / np.where(surprise > 0, surprise, 1.0), 1.0)


def _count_pairs(chunks: Iterable[TokenChunk], ranks: Iterable[Ints], n_usable: int) -> tuple[Ints, Ints]:
    """Return the adjacent pairs of usable words (first · n_usable + second) and how often each occurs."""
    pair_parts: list[Ints] = [np.empty(0, np.int64)]
    times: list[Ints] = [np.empty(0, np.int64)]
    for chunk, rank in zip(chunks, ranks, strict=True):
        inside = _find_followed_tokens(chunk)
        first, second = rank[chunk.tokens[:-1][inside]], rank[chunk.tokens[1:][inside]]
        usable = (first >= 0) & (second >= 0)
        pairs, occur = np.unique(first[usable] * n_usable + second[usable], return_counts=True)
        pair_parts.append(pairs)
        times.append(occur)
    pairs, where = np.unique(np.concatenate(pair_parts), return_inverse=True)
    totals = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(totals, where, np.concatenate(times))
    return pairs, totals


def _find_followed_tokens(chunk: TokenChunk) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for all tokens but the last whether the next token belongs to the same text."""
    inside = np.ones(max(len(chunk.tokens) - 1, 0), dtype=np.bool_)
    ends = np.cumsum(chunk.lengths)[:-1] - 1
    inside[ends[(ends >= 0) & (ends < len(inside))]] = False
    return inside


def join_phrases(chunk: TokenChunk, phrases: Sequence[str]) -> TokenChunk:
    """Return the chunk with each occurrence of a phrase as one token."""
    columns = chunk.numbers
    pairs: dict[int, str] = {}
    for phrase in phrases:
        first, second = map(columns.get, phrase.split(" "))
        if first is not None and second is not None:
            pairs[first * len(columns) + second] = phrase
    if not pairs:
        return chunk
    keys = np.array(sorted(pairs), dtype=np.int64)
    starts, ends = np.zeros(len(columns), np.bool_), np.zeros(len(columns), np.bool_)
    starts[keys // len(columns)] = True
    ends[keys % len(columns)] = True
    tokens = chunk.tokens
    candidates = np.flatnonzero(starts[tokens[:-1]] & ends[tokens[1:]] & _find_followed_tokens(chunk))
    candidate_keys = tokens[candidates].astype(np.int64) * len(columns) + tokens[candidates + 1]
    slot = np.minimum(np.searchsorted(keys, candidate_keys), len(keys) - 1)
    hit = keys[slot] == candidate_keys
    places, slot = _drop_overlaps(candidates[hit], slot[hit])
    joined = tokens.copy()
    joined[places] = len(columns) + slot
    keep = np.ones(len(tokens), np.bool_)
    keep[places + 1] = False
    row = np.repeat(np.arange(len(chunk.lengths)), chunk.lengths)
    lengths = chunk.lengths - np.bincount(row[places], minlength=len(chunk.lengths))
    phrase_numbers = {pairs[key]: number for number, key in enumerate(keys.tolist(), start=len(columns))}
    return TokenChunk(columns | phrase_numbers, joined[keep], lengths)


def _drop_overlaps(places: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of neighbouring words that do not overlap: of a run of pairs, every second one from its first."""
    if places.size == 0:
        return places, slot
    opens = np.concatenate([[True], np.diff(places) > 1])
    run_start = np.maximum.accumulate(np.where(opens, np.arange(len(places)), 0))
    is_first = (np.arange(len(places)) - run_start) % 2 == 0
    return places[is_first], slot[is_first]


class CountBuilder:
    """Counts of texts in memory or in files: a row for each text, a column for each word in order of appearance.

    The words of a chunk and of the vocabulary are sorted. Once all words are known, one pass over the counts moves each
    column to its place, and rows are in order then. The result does not depend on the sizes of the chunks.
    """

    def __init__(self, scratch: ScratchSpace = IN_MEMORY) -> None:
        self.scratch, self.n_docs, self._largest = scratch, 0, 0
        self._columns: dict[str, int] = {}
        self._frequency, self._totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._lengths, self._indices = ScratchArray(IN_MEMORY, np.int32), ScratchArray(scratch, np.int32)
        self._data = ScratchArray(scratch, np.int32)

    def add(self, chunk: CountChunk) -> None:
        """Count the tokens of a chunk of texts, as further documents."""
        column_of = self._columns
        columns = np.fromiter(
            (column_of.setdefault(word, len(column_of)) for word in chunk.words), np.int32, len(chunk.words)
        )
        self._reserve_columns(len(column_of))
        self._frequency[columns] += np.bincount(chunk.indices, minlength=len(columns))
        self._totals[columns] += np.bincount(chunk.indices, chunk.data, minlength=len(columns)).astype(np.int64)
        self._lengths.append(chunk.lengths)
        self._indices.append(columns[chunk.indices])
        self._data.append(chunk.data)
        self.n_docs += len(chunk.lengths)
        self._largest = max(self._largest, int(chunk.data.max(initial=0)))

    def finish(
        self, settings: CountSettings, phrases: tuple[str, ...] = (), dtype: DTypeLike = np.int32
    ) -> tuple[Csr, Vocabulary]:
        """Return counts and vocabulary without stop words, by stems, without rare and too frequent words.

        The builder accepts no more texts, but can be finished again with other settings. ``dtype`` is the type of the
        counts. Double precision replaces single precision that would not be exact.
        """
        limit = EXACT_IN_FLOAT32 if settings.stem is None else EXACT_IN_FLOAT32 // MAX_FORMS
        if np.dtype(dtype) == np.float32 and self._largest > limit:
            dtype = np.float64
        stop_words = resolve_stop_words(settings.stop_words)
        words = sorted(word for word in self._columns if word not in stop_words)
        order = np.fromiter(map(self._columns.__getitem__, words), np.int64, len(words))
        vocabulary = Vocabulary(tuple(words), self._frequency[order], self._totals[order], phrases=phrases)
        if settings.stem is not None:
            counts, vocabulary = merge_stems(self._counts(order, dtype), vocabulary, settings.stem, self.scratch)
            return prune(counts, vocabulary, settings, self.scratch)
        keep = find_kept_words(vocabulary, self.n_docs, settings)
        return self._counts(order[keep], dtype), vocabulary.select(keep)

    @cached_property
    def _entries(self) -> Entries:
        ends = np.concatenate([[0], np.cumsum(self._lengths.array(), dtype=np.int64)])
        return Entries(self._data.array(), self._indices.array(), ends)

    def _counts(self, order: Ints, dtype: DTypeLike) -> Csr:
        """Return the counts with the columns ``order``; tokens of other columns are left out."""
        columns = np.full(len(self._columns), -1, np.int32)
        columns[order] = np.arange(len(order), dtype=np.int32)
        return move_columns(self._entries, columns, len(order), self.scratch, dtype=dtype)

    def _reserve_columns(self, n_words: int) -> None:
        if n_words > len(self._frequency):
            padding = np.zeros(max(n_words, 2 * len(self._frequency)) - len(self._frequency), np.int64)
            self._frequency = np.concatenate([self._frequency, padding])
            self._totals = np.concatenate([self._totals, padding])


class TokenisedTexts:
    """Texts that were tokenised once, to be counted by one or several settings with the same tokeniser.

    Without phrases only counts are kept. Phrases need the tokens of all texts in memory.
    """

    def __init__(self, scratch: ScratchSpace = IN_MEMORY, chunks: Sequence[TokenChunk] | None = None) -> None:
        self.scratch, self.chunks = scratch, chunks
        self._plain = CountBuilder(scratch)

    def add(self, chunk: CountChunk) -> None:
        """Append the counts of a chunk of texts."""
        self._plain.add(chunk)

    def count(self, settings: CountSettings, dtype: DTypeLike = np.int32) -> tuple[Csr, Vocabulary]:
        """Return the counts and the vocabulary of the texts."""
        if self.chunks is None:
            return self._plain.finish(settings, dtype=dtype)
        phrases: tuple[str, ...] = ()
        if settings.phrases is not None:
            keeps, stop_words = settings.tokenizer.is_word, resolve_stop_words(settings.stop_words)
            phrases = find_phrases(self.chunks, settings.phrases, lambda word: keeps(word) and word not in stop_words)
        keeps_phrases = _create_phrase_filter(settings.tokenizer)
        builder = CountBuilder(self.scratch)
        for chunk in self.chunks:
            builder.add(tally(join_phrases(chunk, phrases), keeps_phrases))
        return builder.finish(settings, phrases, dtype)


def tokenise_texts(
    texts: Iterable[str],
    settings: CountSettings,
    *,
    n_jobs: Jobs = 1,
    chunk: int | None = None,
    minima: SignatureSink | None = None,
    scratch: ScratchSpace = IN_MEMORY,
) -> TokenisedTexts:
    """Tokenise texts once; see ``count`` for the parameters."""
    if settings.phrases is None:
        texts_counted = TokenisedTexts(scratch)
        work = partial(_count_texts, tokenizer=settings.tokenizer, signed=minima is not None)
        for counts, signature in map_chunks(work, texts, n_jobs, chunk):
            texts_counted.add(counts)
            if minima is not None and signature is not None:
                minima.append(signature)
        return texts_counted
    chunks = list(map_chunks(partial(tokenise, tokenizer=settings.tokenizer), texts, n_jobs, chunk))
    if minima is not None:
        for tokens in chunks:
            minima.append(compute_signatures(tokens))
    return TokenisedTexts(scratch, chunks)


def count(
    texts: Iterable[str],
    settings: CountSettings | None = None,
    *,
    n_jobs: Jobs = 1,
    chunk: int | None = None,
    minima: SignatureSink | None = None,
    scratch: ScratchSpace = IN_MEMORY,
    dtype: DTypeLike = np.int32,
) -> tuple[Csr, Vocabulary]:
    """Return the counts (documents × words, canonical) and the vocabulary of texts.

    ``texts`` may be a generator: only a few chunks of it are held at a time. The result is the same for any
    ``n_jobs`` (processes; -1 or None: one per core; or a cluster) and any ``chunk`` (characters per piece of work).
    ``minima``: a list or a file that receives the signatures of the texts. ``scratch``: folder of large arrays, which
    are mapped. Tokens for phrases are always in memory.
    """
    settings = settings or CountSettings()
    texts_counted = tokenise_texts(texts, settings, n_jobs=n_jobs, chunk=chunk, minima=minima, scratch=scratch)
    return texts_counted.count(settings, dtype)


def _count_texts(texts: Sequence[str], tokenizer: Tokenizer, signed: bool) -> tuple[CountChunk, Array | None]:
    part = tokenise(texts, tokenizer)
    return tally(part, tokenizer.is_word), compute_signatures(part) if signed else None


class CountedTexts(NamedTuple):
    """Counts over a fixed vocabulary, with the numbers of known and of all tokens of each text."""

    counts: Csr
    known_tokens: Doubles  # tokens of the vocabulary and of general words
    tokens: Doubles  # without stop words

    @property
    def share(self) -> Doubles:
        """The share of known tokens; NaN for a text without tokens."""
        return np.where(self.tokens > 0, self.known_tokens / np.maximum(self.tokens, 1.0), np.nan)


def count_with_coverage(
    texts: Iterable[str],
    vocabulary: Vocabulary,
    settings: CountSettings,
    general_words: Collection[str] = (),
    min_documents: int = 0,
) -> CountedTexts:
    """Return the counts of new texts as ``count_in``, with the number of known tokens of each text.

    General words are known. Words in fewer than ``min_documents`` documents are not, so that texts of the collection
    count like new texts.
    """
    chunks, columns, counts = _count_known_words(texts, vocabulary, settings, 1)
    stop_words, general = resolve_stop_words(settings.stop_words), _find_forms(general_words, chunks, settings)
    frequency = vocabulary.document_frequency

    def is_known(word: str) -> bool:
        column = columns.get(word)
        return word in general if column is None else bool(frequency[column] >= min_documents) or word in general

    known_tokens = [_count_tokens(chunk, is_known) for chunk in chunks]
    tokens = [_count_tokens(chunk, lambda word: word not in stop_words) for chunk in chunks]
    return CountedTexts(counts, np.concatenate([np.empty(0), *known_tokens]), np.concatenate([np.empty(0), *tokens]))


def _count_tokens(chunk: CountChunk, is_counted: Callable[[str], bool]) -> Doubles:
    weight = np.fromiter(map(is_counted, chunk.words), np.float64, len(chunk.words))
    ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
    return np.diff(np.concatenate([[0.0], np.cumsum(weight[chunk.indices] * chunk.data)])[ends])


def _find_forms(words: Collection[str], chunks: Sequence[CountChunk], settings: CountSettings) -> set[str]:
    """Return the words and, with stems, all words of the chunks with the same stems."""
    if settings.stem is None or not words:
        return set(words)
    known_stems = set(find_stems(sorted(words), settings.stem))
    chunk_words = sorted({word for chunk in chunks for word in chunk.words})
    return {
        word
        for word, stem in zip(chunk_words, find_stems(chunk_words, settings.stem), strict=True)
        if stem in known_stems
    }


def count_in(
    texts: Iterable[str],
    vocabulary: Vocabulary,
    settings: CountSettings | None = None,
    *,
    n_jobs: Jobs = 1,
) -> Csr:
    """Return the counts of new texts over a known vocabulary; other words are dropped.

    With the settings of the vocabulary, the same texts have the same counts.
    """
    return _count_known_words(texts, vocabulary, settings or CountSettings(), n_jobs)[2]


def _count_known_words(
    texts: Iterable[str], vocabulary: Vocabulary, settings: CountSettings, n_jobs: Jobs
) -> tuple[list[CountChunk], Mapping[str, int], Csr]:
    """Return the counts of all words by chunk, the column of each known word, and the counts over the vocabulary."""
    work = partial(_count_joined, tokenizer=settings.tokenizer, phrases=vocabulary.phrases)
    chunks = list(map_chunks(work, texts, n_jobs))
    columns = vocabulary.columns if settings.stem is None else _find_stem_columns(chunks, vocabulary, settings)
    counts = stack_chunks(chunks, columns, len(vocabulary))
    counts.sum_duplicates()
    return chunks, columns, counts


def _count_joined(texts: Sequence[str], tokenizer: Tokenizer, phrases: Sequence[str]) -> CountChunk:
    part: TokenChunk = tokenise(texts, tokenizer)
    return tally(join_phrases(part, phrases), _create_phrase_filter(tokenizer))


def _create_phrase_filter(tokenizer: Tokenizer) -> Callable[[str], bool]:
    return lambda word: " " in word or tokenizer.is_word(word)


def _find_stem_columns(chunks: Sequence[CountChunk], vocabulary: Vocabulary, settings: CountSettings) -> dict[str, int]:
    """Return the column of every word in the chunks by its stem: unseen forms of known words count too."""
    language = settings.stem or ""
    by_stem = {stem: column for column, stem in enumerate(find_stems(vocabulary.words, language))}
    stop_words = resolve_stop_words(settings.stop_words)
    words = sorted({word for chunk in chunks for word in chunk.words} - stop_words)
    word_stems = zip(words, find_stems(words, language), strict=True)
    return {word: by_stem[stem] for word, stem in word_stems if stem in by_stem}
