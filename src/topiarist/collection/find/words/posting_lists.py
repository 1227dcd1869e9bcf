"""The words of some documents: which of them have a word, in which form, and how often.

Forms lie in the order of their stems, so that all forms of a stem are one run of postings: what was typed is found in
every inflection, and the exact form is a piece of the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice, pairwise, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from topiarist.arrays import Array, Csr
from topiarist.collection.find.words.line_file import place_of, read_lines, write_lines
from topiarist.collection.find.words.near_spellings import NearSpellings
from topiarist.counts.chunks import count_texts, merged
from topiarist.counts.room import let_go, ours
from topiarist.counts.workers import Jobs, map_chunks
from topiarist.store.array_files import mapped, save, save_parts
from topiarist.store.sealed_folder import new_folder
from topiarist.text.query import folded
from topiarist.text.stems import has_stemmer, stems
from topiarist.text.tokens import Tokenizer, is_unspaced

RUN = 1 << 17  # documents whose words are in memory at a time
PIECE = 1 << 22  # postings that are put together at a time
MOST = 255  # times that a word of a document counts: far beyond what makes a difference to BM25
ARRAYS = ("first", "ends", "docs", "times", "frequency", "lengths", "space")
KINDS = {"first": np.int64, "ends": np.int64, "docs": np.int32, "times": np.uint8, "lengths": np.float32}
STEMS, FORMS = "stems.txt", "forms.txt"


def keys(words: Sequence[str], language: str) -> list[str]:
    """By what words are found: their stems where the language has a stemmer, without accents."""
    found = stems(words, language) if has_stemmer(language) else list(words)
    return [key if key.isascii() or is_unspaced(key) else folded(key) for key in found]


@dataclass(frozen=True, eq=False)
class PostingLists:
    """Documents by the forms of their words; stems and forms rise, and a form lies where its stem does."""

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
        """The place of a stem, if a document has it."""
        return place_of(stem, self.stems)

    @property
    def rises(self) -> bool:
        """Whether stems, and the forms of each, rise: only then they are found."""
        return all(one < other for one, other in pairwise(self.pairs()))

    @cached_property
    def spellings(self) -> NearSpellings:
        """The forms, to be looked through for one that somebody misspelt."""
        return NearSpellings.of(self.forms, np.diff(self.ends))

    def places_of(self, stem: str, form: str = "") -> range:
        """The places of the forms of a stem, or of one of several; none where it is the only one, or there is none."""
        place = self.place(stem)
        if place is None:
            return range(0)
        start, end = int(self.first[place]), int(self.first[place + 1])
        if not form:
            return range(start, end)
        if end - start == 1 or form not in self.forms[start:end]:
            return range(0)
        own = start + self.forms[start:end].index(form)
        return range(own, own + 1)

    def times_of(self, forms: range, rows: Array) -> Array:
        """How often some documents have forms, together."""
        found, wanted = np.zeros(len(rows)), rows.astype(self.docs.dtype)  # or each list would be made wider
        for form in forms:
            run = slice(int(self.ends[form]), int(self.ends[form + 1]))
            docs = self.docs[run]
            at = np.minimum(np.searchsorted(docs, wanted), max(len(docs) - 1, 0))
            there = np.flatnonzero(docs[at] == wanted) if len(docs) else at[:0]
            found[there] += self.times[run][at[there]]
        return found

    def n_documents(self, stem: str) -> int:
        """How many documents have a stem."""
        place = self.place(stem)
        return 0 if place is None else int(self.frequency[place])

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each form, after its stem."""
        return zip(chain.from_iterable(map(repeat, self.stems, np.diff(self.first).tolist())), self.forms, strict=True)

    @property
    def by_form(self) -> Any:
        """The counts again, documents by forms."""
        shape = (len(self), len(self.forms))
        return csc_array((self.times, self.docs, self.ends), shape=shape)

    def by_stem(self, counts: Any = None) -> Csr:
        """Documents by stems."""
        of_form = np.repeat(np.arange(len(self.stems)), np.diff(self.first))
        merge = csr_array(
            (np.ones(len(self.forms), np.float32), (np.arange(len(self.forms)), of_form)),
            shape=(len(self.forms), len(self.stems)),
        )
        found = csr_array((self.by_form if counts is None else counts).astype(np.float32) @ merge)
        found.sort_indices()
        return found

    def let_go(self) -> None:
        """Hand back what was read of lists that are mapped."""
        let_go(self.docs, self.times)

    def save(self, folder: Path) -> None:
        """Write it to an empty folder."""
        for name in ARRAYS:
            save(folder / f"{name}.npy", np.ascontiguousarray(getattr(self, name)))
        write_lines(folder / STEMS, self.stems)
        write_lines(folder / FORMS, self.forms)

    @classmethod
    def open(cls, folder: Path) -> PostingLists:
        """Read it, mapped."""
        arrays = {name: ours(mapped(folder / f"{name}.npy")) for name in ARRAYS}
        if any(arrays[name].ndim != 1 or arrays[name].dtype != kind for name, kind in KINDS.items()):
            raise ValueError(f"the lists of {folder.name} have numbers of another kind")  # kernels look without asking
        found = cls(read_lines(folder / STEMS), read_lines(folder / FORMS), **arrays)
        for name, ends, number in (("first", len(found.stems), len(found.forms)), ("ends", len(found.forms), -1)):
            places = arrays[name]
            last = len(found.docs) if number < 0 else number
            fits = places.shape == (ends + 1,) and places[0] == 0 and places[-1] == last
            if not fits or bool((np.diff(places.astype(np.int64)) < 0).any()):
                raise ValueError(f"{name} of {folder.name} leads nowhere")
        if len(found.times) != len(found.docs) or len(found.frequency) != len(found.stems):
            raise ValueError(f"the lists of {folder.name} are not of the same length")
        if found.space.ndim != 2 or found.space.dtype != np.int8 or len(found.space) != len(found):
            raise ValueError(f"the documents of {folder.name} lie in no space")
        return found


def counted(texts: Iterable[str], tokenizer: Tokenizer, language: str, n_jobs: Jobs = 1) -> PostingLists:
    """All words of some texts; the space has no dimensions yet."""
    chunks = list(map_chunks(partial(count_texts, tokenizer=tokenizer), texts, n_jobs))
    counts, words = merged(chunks)
    return laid_out(counts, words, keys(words, language))


@contextmanager
def counted_runs(
    texts: Iterable[str], tokenizer: Tokenizer, language: str, folder: Path, n_jobs: Jobs = 1
) -> Iterator[list[PostingLists]]:
    """All words of any number of texts, run by run, mapped: in a folder for as long as this lasts."""
    every, parts = iter(texts), list[PostingLists]()
    with TemporaryDirectory(dir=folder) as runs:
        while len(lists := counted(islice(every, RUN), tokenizer, language, n_jobs)) or not parts:
            lists.save(here := new_folder(Path(runs) / str(len(parts))))
            del lists
            parts.append(PostingLists.open(here))
        yield parts


def write_joined(parts: Sequence[PostingLists], space: Callable[[PostingLists], Array], folder: Path) -> None:
    """The documents of several, in their order, as the lists of one; a piece of them is in memory at a time.

    ``space`` has the coordinates of the documents of a part.
    """
    known = sorted({pair for part in parts for pair in part.pairs()})
    stems = sorted({stem for stem, _ in known})
    number, place = {pair: at for at, pair in enumerate(known)}, {stem: at for at, stem in enumerate(stems)}
    of_parts = [np.fromiter(map(number.__getitem__, part.pairs()), np.int64, len(part.forms)) for part in parts]
    sizes, frequency = np.zeros(len(known), np.int64), np.zeros(len(stems), np.int32)
    for part, own in zip(parts, of_parts, strict=True):
        sizes[own] += np.diff(part.ends)
        frequency[np.fromiter(map(place.__getitem__, part.stems), np.int64, len(part.stems))] += part.frequency
    ends = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.searchsorted(ends, np.arange(0, ends[-1] + PIECE, PIECE))
    bounds = np.unique(np.minimum(cuts, len(known)))
    starts = np.cumsum([0, *map(len, parts)])

    def pieces(name: str) -> Iterator[Array]:
        for low, high in pairwise([0, *bounds[bounds > 0].tolist()]):
            values, forms = [], []
            for part, own, start in zip(parts, of_parts, starts.tolist(), strict=False):
                first, last = np.searchsorted(own, (low, high))
                run = slice(int(part.ends[first]), int(part.ends[last]))
                values.append(part.docs[run] + np.int32(start) if name == "docs" else part.times[run])
                forms.append(np.repeat(own[first:last], np.diff(part.ends[first : last + 1])))
                part.let_go()
            yield np.concatenate(values)[np.argsort(np.concatenate(forms), kind="stable")]

    def placed(part: PostingLists) -> Array:
        found = space(part)
        part.let_go()
        return found

    first = np.searchsorted([place[stem] for stem, _ in known], np.arange(len(stems) + 1)).astype(np.int64)
    lengths = np.concatenate([part.lengths for part in parts])
    for name, array in (("first", first), ("ends", ends), ("frequency", frequency), ("lengths", lengths)):
        save(folder / f"{name}.npy", array)
    for name, kind in (("docs", np.int32), ("times", np.uint8)):
        save_parts(folder / f"{name}.npy", (int(ends[-1]),), kind, pieces(name))
    places = map(placed, parts)
    begins = next(places)
    save_parts(folder / "space.npy", (len(lengths), begins.shape[1]), np.int8, chain([begins], places))
    write_lines(folder / STEMS, stems)
    write_lines(folder / FORMS, (form for _, form in known))


def laid_out(counts: Csr, words: Sequence[str], of_words: Sequence[str], lengths: Any = None) -> PostingLists:
    """Counts of words, each with its stem, as postings."""
    order = sorted(range(len(words)), key=lambda place: (of_words[place], words[place]))
    known = sorted(set(of_words))
    number = {stem: place for place, stem in enumerate(known)}
    of_form = np.array([number[of_words[place]] for place in order], np.int64)
    first = np.searchsorted(of_form, np.arange(len(known) + 1)).astype(np.int64)
    columns = csc_array(csr_array(counts)[:, order]) if len(order) else csc_array(counts.shape, dtype=np.int32)
    columns.sort_indices()
    lists = PostingLists(
        tuple(known), tuple(words[place] for place in order), first, columns.indptr.astype(np.int64),
        columns.indices.astype(np.int32), np.minimum(columns.data, MOST).astype(np.uint8),
        np.zeros(len(known), np.int32),
        np.asarray(counts.sum(axis=1)).ravel().astype(np.float32) if lengths is None else lengths,
        np.zeros((counts.shape[0], 0), np.int8),
    )  # fmt: skip
    frequency = np.bincount(lists.by_stem().indices, minlength=len(known)).astype(np.int32)
    return PostingLists(**{**vars_of(lists), "frequency": frequency})


def vars_of(lists: PostingLists) -> dict[str, Any]:
    """The fields of posting lists by their names."""
    return {"stems": lists.stems, "forms": lists.forms, **{name: getattr(lists, name) for name in ARRAYS}}


def joined(parts: Sequence[PostingLists]) -> PostingLists:
    """The documents of several, in their order."""
    if len(parts) == 1:
        return parts[0]
    of_form = {(form, stem) for part in parts for stem, form in part.pairs()}
    known = sorted(of_form)
    column = {form: place for place, (form, _) in enumerate(known)}
    rows, columns, times, start = [], [], [], 0
    for part in parts:
        counts = part.by_form.tocoo()
        place = np.array([column[form] for form in part.forms], np.int64)
        rows.append(counts.row.astype(np.int64) + start)
        columns.append(place[counts.col] if len(place) else counts.col.astype(np.int64))
        times.append(counts.data)
        start += len(part)
    whole = csr_array(
        (np.concatenate(times), (np.concatenate(rows), np.concatenate(columns))), shape=(start, len(known))
    )
    lists = laid_out(
        whole, [form for form, _ in known], [stem for _, stem in known],
        np.concatenate([part.lengths for part in parts]),
    )  # fmt: skip
    return PostingLists(**{**vars_of(lists), "space": np.concatenate([part.space for part in parts])})


def kept(lists: PostingLists, keep: Array) -> PostingLists:
    """The lists of some of the documents, which ``keep`` says for each; words that none of these has are gone."""
    if keep.all():
        return lists
    counts = csr_array(lists.by_form)[np.flatnonzero(keep)]
    used = np.flatnonzero(np.bincount(counts.indices, minlength=len(lists.forms))).tolist()
    of_form = np.repeat(np.arange(len(lists.stems)), np.diff(lists.first))
    found = laid_out(
        counts[:, used], [lists.forms[place] for place in used], [lists.stems[of_form[place]] for place in used],
        np.asarray(lists.lengths[keep]),
    )  # fmt: skip
    return PostingLists(**{**vars_of(found), "space": np.asarray(lists.space[keep])})
