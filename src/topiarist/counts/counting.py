"""From texts to counts: tokens, phrases, stop words, stems, pruning, in this order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from topiarist.arrays import Array, Csr, Doubles, DTypeLike, Ints
from topiarist.counts.chunks import CountChunk, TokenChunk, stacked, tally, tokenise
from topiarist.counts.copies import signatures
from topiarist.counts.pruning import Entries, kept_words, merge_stems, moved, prune
from topiarist.counts.room import IN_MEMORY, NewArray, Room
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.counts.validation import EXACT_IN_FLOAT32
from topiarist.counts.vocabulary import Vocabulary
from topiarist.counts.workers import Jobs, map_chunks
from topiarist.text.stems import stems
from topiarist.text.stop_words import resolve_stop_words
from topiarist.text.tokens import Tokenizer, is_unspaced

MEETING = 256  # forms of a stem, at most, in the counts of which single precision is exact


class Minima(Protocol):
    """Something that is given what tells copies of texts: a list, or a file."""

    def append(self, minima: Array, /) -> object:
        """That of some texts more."""


def find_phrases(
    chunks: Sequence[TokenChunk], settings: PhraseSettings, keeps: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the phrases of the collection, sorted."""
    words = sorted(set(chain.from_iterable(chunk.numbers for chunk in chunks)))
    columns = {word: column for column, word in enumerate(words)}
    numbers = [_numbers(chunk, columns) for chunk in chunks]
    totals = np.zeros(len(words), dtype=np.int64)
    for chunk, number in zip(chunks, numbers, strict=True):
        totals[number] += np.bincount(chunk.tokens, minlength=len(number))
    frequent = np.flatnonzero(totals >= settings.min_count)
    usable = [column for column in frequent.tolist() if keeps(words[column]) and not is_unspaced(words[column])]
    if not usable:
        return ()
    rank = np.full(len(words), -1, dtype=np.int64)
    rank[usable] = np.arange(len(usable))
    pairs, times = _pair_counts(chunks, [rank[number] for number in numbers], len(usable))
    often = times >= settings.min_count
    pairs, times = pairs[often], times[often]
    first, second = np.divmod(pairs, len(usable))
    n_tokens = int(totals.sum())
    occurs = totals[usable]
    chosen = _npmi(times, occurs[first], occurs[second], n_tokens) >= settings.threshold
    names = [words[column] for column in usable]
    return tuple(sorted(f"{names[a]} {names[b]}" for a, b in zip(first[chosen], second[chosen], strict=True)))


def _numbers(chunk: TokenChunk, columns: Mapping[str, int]) -> Ints:
    """Return the column of each word of the chunk, in the order of the chunk's own numbers."""
    return np.fromiter(map(columns.__getitem__, chunk.numbers), np.int64, len(chunk.numbers))


def _npmi(both: Ints, first: Ints, second: Ints, n_tokens: int) -> Doubles:
    """Return the normalised pointwise mutual information of pairs."""
    if n_tokens == 0 or both.size == 0:
        return np.zeros(both.size)
    surprise = np.log(n_tokens / both)
    information = np.log(both * (n_tokens / first) / second)
    return np.where(surprise > 0, information / np.where(surprise > 0, surprise, 1.0), 1.0)


def _pair_counts(chunks: Iterable[TokenChunk], ranks: Iterable[Ints], n_usable: int) -> tuple[Ints, Ints]:
    """Return the adjacent pairs of usable words (first · n_usable + second) and how often each occurs."""
    found: list[Ints] = [np.empty(0, np.int64)]
    times: list[Ints] = [np.empty(0, np.int64)]
    for chunk, rank in zip(chunks, ranks, strict=True):
        inside = _followed(chunk)
        first, second = rank[chunk.tokens[:-1][inside]], rank[chunk.tokens[1:][inside]]
        usable = (first >= 0) & (second >= 0)
        pairs, occur = np.unique(first[usable] * n_usable + second[usable], return_counts=True)
        found.append(pairs)
        times.append(occur)
    pairs, where = np.unique(np.concatenate(found), return_inverse=True)
    totals = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(totals, where, np.concatenate(times))
    return pairs, totals


def _followed(chunk: TokenChunk) -> np.ndarray[Any, np.dtype[np.bool_]]:
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
    maybe = np.flatnonzero(starts[tokens[:-1]] & ends[tokens[1:]] & _followed(chunk))
    here = tokens[maybe].astype(np.int64) * len(columns) + tokens[maybe + 1]
    slot = np.minimum(np.searchsorted(keys, here), len(keys) - 1)
    hit = keys[slot] == here
    places, slot = _leftmost(maybe[hit], slot[hit])
    joined = tokens.copy()
    joined[places] = len(columns) + slot
    keep = np.ones(len(tokens), np.bool_)
    keep[places + 1] = False
    row = np.repeat(np.arange(len(chunk.lengths)), chunk.lengths)
    lengths = chunk.lengths - np.bincount(row[places], minlength=len(chunk.lengths))
    phrase_numbers = {pairs[key]: number for number, key in enumerate(keys.tolist(), start=len(columns))}
    return TokenChunk(columns | phrase_numbers, joined[keep], lengths)


def _leftmost(places: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Return the places without those that overlap a place kept before them: every other one of each run."""
    if places.size == 0:
        return places, slot
    opens = np.concatenate([[True], np.diff(places) > 1])
    run_start = np.maximum.accumulate(np.where(opens, np.arange(len(places)), 0))
    kept = (np.arange(len(places)) - run_start) % 2 == 0
    return places[kept], slot[kept]


class Sheet:
    """Counts as they come, in memory or in files: a row for each text, a column for each word in the order of meeting.

    A chunk sorts its words, and so does the vocabulary: once all words are known, one look at the counts puts every
    column at its place, and rows are in order then. How the texts were cut into chunks leaves no trace.
    """

    def __init__(self, room: Room = IN_MEMORY) -> None:
        self.room, self.n_docs, self._largest = room, 0, 0
        self._columns: dict[str, int] = {}
        self._frequency, self._totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._lengths, self._indices = NewArray(IN_MEMORY, np.int32), NewArray(room, np.int32)
        self._data = NewArray(room, np.int32)

    def add(self, chunk: CountChunk) -> None:
        """The texts of a chunk as further rows."""
        known = self._columns
        columns = np.fromiter((known.setdefault(word, len(known)) for word in chunk.words), np.int32, len(chunk.words))
        self._make_room(len(known))
        self._frequency[columns] += np.bincount(chunk.indices, minlength=len(columns))
        self._totals[columns] += np.bincount(chunk.indices, chunk.data, minlength=len(columns)).astype(np.int64)
        self._lengths.append(chunk.lengths)
        self._indices.append(columns[chunk.indices])
        self._data.append(chunk.data)
        self.n_docs += len(chunk.lengths)
        self._largest = max(self._largest, int(chunk.data.max(initial=0)))

    def settled(
        self, settings: CountSettings, phrases: tuple[str, ...] = (), dtype: DTypeLike = np.int32
    ) -> tuple[Csr, Vocabulary]:
        """The counts and the vocabulary without stop words, by stems, without rare and too common words.

        ``dtype``: of the counts; double precision in place of single, where that would not be exact.
        """
        limit = EXACT_IN_FLOAT32 if settings.stem is None else EXACT_IN_FLOAT32 // MEETING
        if np.dtype(dtype) == np.float32 and self._largest > limit:
            dtype = np.float64
        stop_words = resolve_stop_words(settings.stop_words)
        words = sorted(word for word in self._columns if word not in stop_words)
        order = np.fromiter(map(self._columns.__getitem__, words), np.int64, len(words))
        whole = Vocabulary(tuple(words), self._frequency[order], self._totals[order], phrases=phrases)
        if settings.stem is not None:
            counts, whole = merge_stems(self._counts(order, dtype), whole, settings.stem, self.room)
            return prune(counts, whole, settings, self.room)
        keep = kept_words(whole, self.n_docs, settings)
        return self._counts(order[keep], dtype), whole.select(keep)

    def _counts(self, order: Ints, dtype: DTypeLike) -> Csr:
        """The counts over some words, in their order; the sheet is used up."""
        columns = np.full(len(self._columns), -1, np.int32)
        columns[order] = np.arange(len(order), dtype=np.int32)
        ends = np.concatenate([[0], np.cumsum(self._lengths.array(), dtype=np.int64)])
        every = Entries(self._data.array(), self._indices.array(), ends)
        return moved(every, columns, len(order), self.room, dtype=dtype)

    def _make_room(self, n_words: int) -> None:
        """Have numbers for so many words."""
        if n_words > len(self._frequency):
            more = np.zeros(max(n_words, 2 * len(self._frequency)) - len(self._frequency), np.int64)
            self._frequency = np.concatenate([self._frequency, more])
            self._totals = np.concatenate([self._totals, more])


def count(
    texts: Iterable[str],
    settings: CountSettings | None = None,
    *,
    n_jobs: Jobs = 1,
    chunk: int | None = None,
    minima: Minima | None = None,
    room: Room = IN_MEMORY,
    dtype: DTypeLike = np.int32,
) -> tuple[Csr, Vocabulary]:
    """Return the counts (documents × words, canonical) and the vocabulary of texts.

    ``texts`` may be a generator: only a few chunks of it are held at a time. The result is the same for any
    ``n_jobs`` (processes; -1 or None: one per core; or a cluster) and any ``chunk`` (characters per piece of work).
    ``minima``: a list, or a file, that is given what tells copies of the texts (see ``copies``): no second look.
    ``room``: where counts lie; in files, they are mapped. Phrases are found by tokens in memory, wherever that is.
    """
    settings, sheet = settings or CountSettings(), Sheet(room)
    if settings.phrases is None:
        phrases: tuple[str, ...] = ()
        work = partial(_count_texts, tokenizer=settings.tokenizer, signed=minima is not None)
        for part in map_chunks(work, texts, n_jobs, chunk):
            sheet.add(_noted(part, minima))
        return sheet.settled(settings, dtype=dtype)
    tokenised = list(map_chunks(partial(tokenise, tokenizer=settings.tokenizer), texts, n_jobs, chunk))
    if minima is not None:
        for tokens in tokenised:
            minima.append(signatures(tokens))
    keeps, stop_words = settings.tokenizer.keeps, resolve_stop_words(settings.stop_words)
    phrases = find_phrases(tokenised, settings.phrases, lambda word: keeps(word) and word not in stop_words)
    for tokens in tokenised:
        sheet.add(tally(join_phrases(tokens, phrases), _keeps_phrases(settings.tokenizer)))
    return sheet.settled(settings, phrases, dtype)


def _count_texts(texts: Sequence[str], tokenizer: Tokenizer, signed: bool) -> tuple[CountChunk, Array | None]:
    """Return the counts of texts and what tells copies of them, if that is wanted: the whole work of one worker."""
    part = tokenise(texts, tokenizer)
    return tally(part, tokenizer.keeps), signatures(part) if signed else None


def _noted(found: tuple[CountChunk, Array | None], minima: Minima | None) -> CountChunk:
    """Return the counts of a chunk, having noted the rest."""
    counts, own = found
    if minima is not None and own is not None:
        minima.append(own)
    return counts


class Heard(NamedTuple):
    """Counts of texts over a known vocabulary, and how much of each text it knows."""

    counts: Csr
    known: Doubles  # tokens that are in the vocabulary, or among the words that were set aside
    tokens: Doubles  # all of them, without stop words

    @property
    def share(self) -> Doubles:
        """The share of known tokens; not a number for a text without any token."""
        return np.where(self.tokens > 0, self.known / np.maximum(self.tokens, 1.0), np.nan)


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


def _tokens_of(chunk: CountChunk, counted: Callable[[str], bool]) -> Doubles:
    """How many tokens of each text are of words that count."""
    weight = np.fromiter(map(counted, chunk.words), np.float64, len(chunk.words))
    ends = np.concatenate([[0], np.cumsum(chunk.lengths)])
    return np.diff(np.concatenate([[0.0], np.cumsum(weight[chunk.indices] * chunk.data)])[ends])


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
    n_jobs: Jobs = 1,
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
