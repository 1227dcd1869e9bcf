"""Posting lists: the documents of each word, by form, with frequencies.

Forms are stored in the order of their stems, so that all forms of a stem are one run of postings. A typed word is found
in every inflection, and the exact form is a part of the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice, pairwise, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from topiarist.arrays import Array, Csr
from topiarist.collection.search.words.line_file import find_line, read_lines, write_lines
from topiarist.collection.search.words.near_spellings import NearSpellings
from topiarist.counts.chunks import count_texts, merge_chunks
from topiarist.counts.scratch import mark_releasable, release_pages
from topiarist.counts.workers import Jobs, map_chunks
from topiarist.storage.array_files import map_array, save, save_parts
from topiarist.storage.sealed_folder import new_folder
from topiarist.text.query import fold_word
from topiarist.text.stems import find_stems, has_stemmer
from topiarist.text.tokens import Tokenizer, is_unspaced

DOCUMENTS_PER_RUN = 1 << 17  # documents whose words are in memory at a time
POSTINGS_PER_BLOCK = 1 << 22  # postings that are put together at a time
MAX_COUNT = 255  # largest count of a word in a document; larger counts hardly change BM25
ARRAYS = ("first", "ends", "docs", "times", "frequency", "lengths", "space")
KINDS = {"first": np.int64, "ends": np.int64, "docs": np.int32, "times": np.uint8, "lengths": np.float32}
STEMS, FORMS = "stems.txt", "forms.txt"


def stem_words(words: Sequence[str], language: str) -> list[str]:
    """Return the keys of words: their stems, if the language has a stemmer, without accents."""
    stemmed = find_stems(words, language) if has_stemmer(language) else list(words)
    return [key if key.isascii() or is_unspaced(key) else fold_word(key) for key in stemmed]


@dataclass(frozen=True, eq=False)
class PostingLists:
    """Documents by the forms of their words; stems are sorted, and forms by stem and form."""

    stems: Sequence[str]
    forms: Sequence[str]
    first: Array  # of each stem its first form, and the number of forms
    ends: Array  # of each form where its postings begin, and the number of postings
    docs: Array
    times: Array
    frequency: Array  # documents with each stem
    lengths: Array  # words of each document
    space: Array  # (documents, dimensions), one byte for each; see ``word_space``

    def __len__(self) -> int:
        return len(self.lengths)

    def place(self, stem: str) -> int | None:
        """Return the place of a stem; None if no document has it."""
        return find_line(stem, self.stems)

    @property
    def rises(self) -> bool:
        """Whether stems, and the forms of each stem, are sorted."""
        return all(pair < next_pair for pair, next_pair in pairwise(self.pairs()))

    @cached_property
    def spellings(self) -> NearSpellings:
        """Forms of words, for near spellings."""
        return NearSpellings.of(self.forms, np.diff(self.ends))

    def places_of(self, stem: str, form: str = "") -> range:
        """Return the indices of all forms of a stem, or of ``form`` only; empty if it is missing or the only form."""
        place = self.place(stem)
        if place is None:
            return range(0)
        start, end = int(self.first[place]), int(self.first[place + 1])
        if not form:
            return range(start, end)
        if end - start == 1 or form not in self.forms[start:end]:
            return range(0)
        position = start + self.forms[start:end].index(form)
        return range(position, position + 1)

    def times_of(self, forms: range, rows: Array) -> Array:
        """Return the counts of forms in documents, by their rows, summed over all ``forms``."""
        totals, sought = np.zeros(len(rows)), rows.astype(self.docs.dtype)  # the cast of each list would take longer
        for form in forms:
            run = slice(int(self.ends[form]), int(self.ends[form + 1]))
            docs = self.docs[run]
            at = np.minimum(np.searchsorted(docs, sought), max(len(docs) - 1, 0))
            matching = np.flatnonzero(docs[at] == sought) if len(docs) else at[:0]
            totals[matching] += self.times[run][at[matching]]
        return totals

    def n_documents(self, stem: str) -> int:
        """Return the document frequency of a stem."""
        place = self.place(stem)
        return 0 if place is None else int(self.frequency[place])

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return the pairs of stem and form, in order."""
        return zip(chain.from_iterable(map(repeat, self.stems, np.diff(self.first).tolist())), self.forms, strict=True)

    @property
    def by_form(self) -> Any:
        """Counts as a matrix of documents and forms."""
        shape = (len(self), len(self.forms))
        return csc_array((self.times, self.docs, self.ends), shape=shape)

    def by_stem(self) -> Csr:
        """Return counts as a matrix of documents and stems."""
        of_form = np.repeat(np.arange(len(self.stems)), np.diff(self.first))
        merge = csr_array(
            (np.ones(len(self.forms), np.float32), (np.arange(len(self.forms)), of_form)),
            shape=(len(self.forms), len(self.stems)),
        )
        by_stem = csr_array(self.by_form.astype(np.float32) @ merge)
        by_stem.sort_indices()
        return by_stem

    def release_pages(self) -> None:
        """Release the pages of mapped lists."""
        release_pages(self.docs, self.times)

    def save(self, folder: Path) -> None:
        """Write the lists to an empty folder."""
        for name in ARRAYS:
            save(folder / f"{name}.npy", np.ascontiguousarray(getattr(self, name)))
        write_lines(folder / STEMS, self.stems)
        write_lines(folder / FORMS, self.forms)

    @classmethod
    def open(cls, folder: Path) -> PostingLists:
        """Open memory-mapped lists after checking that the arrays fit."""
        arrays = {name: mark_releasable(map_array(folder / f"{name}.npy")) for name in ARRAYS}
        if any(arrays[name].ndim != 1 or arrays[name].dtype != kind for name, kind in KINDS.items()):
            raise ValueError(f"the lists of {folder.name} have numbers of another kind")  # kernels look without asking
        lists = cls(read_lines(folder / STEMS), read_lines(folder / FORMS), **arrays)
        for name, ends, number in (("first", len(lists.stems), len(lists.forms)), ("ends", len(lists.forms), -1)):
            places = arrays[name]
            last = len(lists.docs) if number < 0 else number
            fits = places.shape == (ends + 1,) and places[0] == 0 and places[-1] == last
            if not fits or bool((np.diff(places.astype(np.int64)) < 0).any()):
                raise ValueError(f"{name} of {folder.name} points outside of the file")
        if len(lists.times) != len(lists.docs) or len(lists.frequency) != len(lists.stems):
            raise ValueError(f"the lists of {folder.name} are not of the same length")
        if lists.space.ndim != 2 or lists.space.dtype != np.int8 or len(lists.space) != len(lists):
            raise ValueError(f"the documents of {folder.name} have no vectors")
        return lists


def build_posting_lists(texts: Iterable[str], tokenizer: Tokenizer, language: str, n_jobs: Jobs = 1) -> PostingLists:
    """Return posting lists of all words of texts; the space has no dimensions yet."""
    chunks = list(map_chunks(partial(count_texts, tokenizer=tokenizer), texts, n_jobs))
    counts, words = merge_chunks(chunks)
    return arrange_postings(counts, words, stem_words(words, language))


@contextmanager
def build_runs(
    texts: Iterable[str], tokenizer: Tokenizer, language: str, folder: Path, n_jobs: Jobs = 1
) -> Iterator[list[PostingLists]]:
    """Yield posting lists of runs of texts, memory-mapped in a temporary folder."""
    remaining, parts = iter(texts), list[PostingLists]()
    with TemporaryDirectory(dir=folder) as runs:
        while (
            len(lists := build_posting_lists(islice(remaining, DOCUMENTS_PER_RUN), tokenizer, language, n_jobs))
            or not parts
        ):
            lists.save(run_folder := new_folder(Path(runs) / str(len(parts))))
            del lists
            parts.append(PostingLists.open(run_folder))
        yield parts


def write_merged_lists(parts: Sequence[PostingLists], space: Callable[[PostingLists], Array], folder: Path) -> None:
    """Write the documents of several lists as one, with one block in memory at a time.

    ``space`` returns the coordinates of the documents of a list.
    """
    pairs = sorted({pair for part in parts for pair in part.pairs()})
    stems = sorted({stem for stem, _ in pairs})
    number, place = {pair: at for at, pair in enumerate(pairs)}, {stem: at for at, stem in enumerate(stems)}
    part_numbers = [np.fromiter(map(number.__getitem__, part.pairs()), np.int64, len(part.forms)) for part in parts]
    sizes, frequency = np.zeros(len(pairs), np.int64), np.zeros(len(stems), np.int32)
    for part, numbers in zip(parts, part_numbers, strict=True):
        sizes[numbers] += np.diff(part.ends)
        frequency[np.fromiter(map(place.__getitem__, part.stems), np.int64, len(part.stems))] += part.frequency
    ends = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.searchsorted(ends, np.arange(0, ends[-1] + POSTINGS_PER_BLOCK, POSTINGS_PER_BLOCK))
    bounds = np.unique(np.minimum(cuts, len(pairs)))
    starts = np.cumsum([0, *map(len, parts)])

    def pieces(name: str) -> Iterator[Array]:
        """Yield the merged postings of ``name`` block by block, in the order of forms."""
        for low, high in pairwise([0, *bounds[bounds > 0].tolist()]):
            values, forms = [], []
            for part, numbers, start in zip(parts, part_numbers, starts.tolist(), strict=False):
                first, last = np.searchsorted(numbers, (low, high))
                run = slice(int(part.ends[first]), int(part.ends[last]))
                values.append(part.docs[run] + np.int32(start) if name == "docs" else part.times[run])
                forms.append(np.repeat(numbers[first:last], np.diff(part.ends[first : last + 1])))
                part.release_pages()
            yield np.concatenate(values)[np.argsort(np.concatenate(forms), kind="stable")]

    def read_coordinates(part: PostingLists) -> Array:
        coordinates = space(part)
        part.release_pages()
        return coordinates

    first = np.searchsorted([place[stem] for stem, _ in pairs], np.arange(len(stems) + 1)).astype(np.int64)
    lengths = np.concatenate([part.lengths for part in parts])
    for name, array in (("first", first), ("ends", ends), ("frequency", frequency), ("lengths", lengths)):
        save(folder / f"{name}.npy", array)
    for name, kind in (("docs", np.int32), ("times", np.uint8)):
        save_parts(folder / f"{name}.npy", (int(ends[-1]),), kind, pieces(name))
    places = map(read_coordinates, parts)
    begins = next(places)
    save_parts(folder / "space.npy", (len(lengths), begins.shape[1]), np.int8, chain([begins], places))
    write_lines(folder / STEMS, stems)
    write_lines(folder / FORMS, (form for _, form in pairs))


def arrange_postings(counts: Csr, words: Sequence[str], word_stems: Sequence[str], lengths: Any = None) -> PostingLists:
    """Return counts of words as postings; ``word_stems`` has the stem of each word."""
    order = sorted(range(len(words)), key=lambda place: (word_stems[place], words[place]))
    stems = sorted(set(word_stems))
    number = {stem: place for place, stem in enumerate(stems)}
    of_form = np.array([number[word_stems[place]] for place in order], np.int64)
    first = np.searchsorted(of_form, np.arange(len(stems) + 1)).astype(np.int64)
    columns = csc_array(csr_array(counts)[:, order]) if len(order) else csc_array(counts.shape, dtype=np.int32)
    columns.sort_indices()
    lists = PostingLists(
        tuple(stems), tuple(words[place] for place in order), first, columns.indptr.astype(np.int64),
        columns.indices.astype(np.int32), np.minimum(columns.data, MAX_COUNT).astype(np.uint8),
        np.zeros(len(stems), np.int32),
        np.asarray(counts.sum(axis=1)).ravel().astype(np.float32) if lengths is None else lengths,
        np.zeros((counts.shape[0], 0), np.int8),
    )  # fmt: skip
    frequency = np.bincount(lists.by_stem().indices, minlength=len(stems)).astype(np.int32)
    return replace(lists, frequency=frequency)


def merge_lists(parts: Sequence[PostingLists]) -> PostingLists:
    """Return the documents of several lists as one, in their order."""
    if len(parts) == 1:
        return parts[0]
    pairs = sorted({pair for part in parts for pair in part.pairs()})
    column = {pair: at for at, pair in enumerate(pairs)}
    blocks = []
    for part in parts:
        counts, columns = csr_array(part.by_form), np.array([column[pair] for pair in part.pairs()], np.int64)
        shape = len(part), len(pairs)
        blocks.append(csr_array((counts.data, columns[counts.indices], counts.indptr), shape=shape))
    lengths = np.concatenate([part.lengths for part in parts])
    forms, stems = [form for _, form in pairs], [stem for stem, _ in pairs]
    lists = arrange_postings(vstack(blocks, format="csr"), forms, stems, lengths)
    return replace(lists, space=np.concatenate([part.space for part in parts]))


def select_from_lists(lists: PostingLists, keep: Array) -> PostingLists:
    """Return the lists of the documents in the mask ``keep``, without words that are absent then."""
    if keep.all():
        return lists
    counts = csr_array(lists.by_form)[np.flatnonzero(keep)]
    used = np.flatnonzero(np.bincount(counts.indices, minlength=len(lists.forms))).tolist()
    pairs = list(lists.pairs())
    stems, forms = [pairs[place][0] for place in used], [pairs[place][1] for place in used]
    selected = arrange_postings(counts[:, used], forms, stems, np.asarray(lists.lengths[keep]))
    return replace(selected, space=np.asarray(lists.space[keep]))
