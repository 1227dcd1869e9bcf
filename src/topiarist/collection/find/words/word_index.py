"""All words of a collection: kept in a folder, added to, and asked by stems.

about.json       format, language, whether tokens without letters are words, the names of the segments
space/           the directions of stems
cells/           documents by where they lie, where they are very many
segment-1/ …     documents in their order; small segments become one when others are added
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.index.ranking import nth_largest
from topiarist.collection.find.index.segments import K1, B, n_staying
from topiarist.collection.find.words import posting_lists, word_space
from topiarist.collection.find.words.cells import LEAST_SEEN, Cells, write_cells
from topiarist.collection.find.words.near_spellings import suggested
from topiarist.collection.find.words.posting_lists import PostingLists, vars_of
from topiarist.collection.find.words.word_space import WordSpace
from topiarist.counts.workers import Jobs
from topiarist.errors import DamagedError
from topiarist.scale.threads import Threads
from topiarist.store.sealed_folder import new_folder, write_json
from topiarist.text.stop_words import function_words
from topiarist.text.tokens import Tokenizer

ABOUT, SPACE, SEGMENT, CELLS = "about.json", "space", "segment-{}", "cells"
BLOCK = 1 << 15  # documents that a thread compares before it takes others
LOOKED_UP = 256  # documents that a thread looks up before it takes others
FORMAT, VERSION = "topiarist-words", 1


@dataclass(frozen=True, eq=False)
class WordIndex:
    """Documents by all their words. ``tokenizer`` and ``language`` say how texts and queries become words and stems."""

    segments: tuple[PostingLists, ...]
    space: WordSpace
    tokenizer: Tokenizer
    language: str = ""
    cells: Cells | None = None  # of the first segment, where it is very large

    def __len__(self) -> int:
        return self._size

    @cached_property
    def _size(self) -> int:
        return sum(map(len, self.segments))

    @property
    def coordinates(self) -> Array:
        """Where every document lies in the space of words, in steps of its scales."""
        return np.concatenate([one.space for one in self.segments])

    @classmethod
    def build(cls, texts: Iterable[str], tokenizer: Tokenizer, language: str = "", n_jobs: Jobs = 1) -> WordIndex:
        """Index texts."""
        lists = posting_lists.counted(texts, tokenizer, language, n_jobs)
        space = word_space.learned([lists])
        return cls((PostingLists(**{**vars_of(lists), "space": space.placed(lists)}),), space, tokenizer, language)

    @classmethod
    def write(
        cls, folder: Path, texts: Iterable[str], tokenizer: Tokenizer, language: str = "", n_jobs: Jobs = 1
    ) -> None:
        """Index texts in an empty folder, as ``build`` and ``save`` do; a run of them is in memory at a time."""
        with posting_lists.counted_runs(texts, tokenizer, language, folder, n_jobs) as runs:
            space = word_space.learned(runs)
            posting_lists.write_joined(runs, space.placed, new_folder(folder / SEGMENT.format(1)))
        space.save(new_folder(folder / SPACE))
        cls((), space, tokenizer, language)._write_about(folder, 1)
        _write_cells(folder, space, PostingLists.open(folder / SEGMENT.format(1)))

    def added(self, texts: Iterable[str]) -> tuple[WordIndex, int]:
        """The index with more texts, and how many of its segments stayed as they were."""
        lists = posting_lists.counted(texts, self.tokenizer, self.language)
        lists = PostingLists(**{**vars_of(lists), "space": self.space.placed(lists)})
        stay = n_staying([len(one) for one in self.segments], len(lists))
        tail = posting_lists.joined([*self.segments[stay:], lists])
        return replace(self, segments=(*self.segments[:stay], tail), cells=self.cells if stay else None), stay

    def among(self, keep: Array) -> WordIndex:
        """The index of some of the texts; ``keep`` says for each row whether it stays. The space is as it was."""
        ends = np.cumsum([0, *map(len, self.segments)])
        parts = [
            posting_lists.kept(one, keep[start:end])
            for one, start, end in zip(self.segments, ends, ends[1:], strict=False)
        ]
        return replace(self, segments=tuple(one for one in parts if len(one)) or (parts[0],), cells=None)

    @cached_property
    def average(self) -> float:
        """Words of a document."""
        return max(sum(float(one.lengths.sum()) for one in self.segments) / max(1, len(self)), 1e-300)

    @cached_property
    def norms(self) -> tuple[Floats, ...]:
        """What BM25 divides by beside the count, for the documents of each segment."""
        return tuple((K1 * (1 - B + B * one.lengths / self.average)).astype(np.float32) for one in self.segments)

    @cached_property
    def unsaid(self) -> frozenset[str]:
        """Words of the language that ask for nothing by themselves."""
        return function_words(self.language)

    def keys(self, words: Iterable[str]) -> list[str]:
        """The stems of words."""
        return posting_lists.keys(list(words), self.language)

    def n_documents(self, stem: str) -> int:
        """How many documents have a stem."""
        return sum(one.n_documents(stem) for one in self.segments)

    def worth(self, stem: str) -> float:
        """What a stem tells: log(1 + (N − n + ½)/(n + ½))."""
        return float(self.worths([self.n_documents(stem)])[0])

    def worths(self, numbers: Sequence[int]) -> Array:
        """What stems tell that are in so many documents."""
        often = np.array(numbers, np.float64)
        found: Array = np.log1p((len(self) - often + 0.5) / (often + 0.5))
        return found

    def suggest(self, word: str, limit: int = 3) -> list[str]:
        """Words of the documents that are spelt nearly so."""
        return suggested(word, (one.spellings for one in self.segments), limit)

    def near(self, times: Mapping[str, float]) -> Floats | None:
        """The cosine of every document with a query in the space of words; None where it has no place there."""
        direction = self.space.direction(times)
        return None if direction is None else np.concatenate([self.space.near(one, direction) for one in self.segments])

    def places_of(self, rows: Array, threads: Threads) -> Array:
        """The coordinates of some documents, by their rising rows, which threads look up."""
        parts = [
            (one.space, some)
            for one, own in zip(self.segments, self._by_segment(rows), strict=True)
            for some in np.array_split(own, max(1, len(own) // LOOKED_UP))
        ]
        return np.concatenate(threads.map(lambda part: part[0].take(part[1], axis=0), parts))

    def around(self, direction: Floats, threads: Threads) -> list[tuple[Array, Floats]]:
        """For each segment the documents that may lie nearest to a direction, and their cosines with it.

        Where documents lie in cells, some that are as near may be missing.
        """
        found, start = [], 0
        for number, lists in enumerate(self.segments):
            if number == 0 and self.cells is not None:
                found.append(self.cells.near(self.space, direction, threads))
            else:
                found.append((np.arange(start, start + len(lists)), self._all_near(lists, direction, threads)))
            start += len(lists)
        return found

    def _all_near(self, lists: PostingLists, direction: Floats, threads: Threads) -> Floats:
        blocks = [lists.space[start : start + BLOCK] for start in range(0, len(lists), BLOCK)]
        return np.concatenate([np.empty(0, np.float32), *threads.map(
            lambda block: self.space.cosines(block, direction), blocks
        )])  # fmt: skip

    def _by_segment(self, rows: Array) -> list[Array]:
        """Rising rows of all documents as those of each segment."""
        ends = np.cumsum([0, *map(len, self.segments)])
        cuts = np.searchsorted(rows, ends)
        return [rows[a:b] - start for a, b, start in zip(cuts, cuts[1:], ends, strict=False)]

    def located(self, row: int) -> tuple[int, int]:
        """The segment of a document, and its row there."""
        for number, one in enumerate(self.segments):
            if row < len(one):
                return number, row
            row -= len(one)
        raise IndexError(row)

    def save(self, folder: Path) -> None:
        """Write all of it to an empty folder."""
        self.space.save(new_folder(folder / SPACE))
        self._save_segments(folder, 0)
        _write_cells(folder, self.space, self.segments[0])

    def save_after(self, folder: Path, stay: int, before: int) -> None:
        """Write what is new to a folder that holds ``before`` segments, of which ``stay`` are still good."""
        for number in range(stay, before):
            shutil.rmtree(folder / SEGMENT.format(number + 1))
        if not stay:
            shutil.rmtree(folder / CELLS, ignore_errors=True)
            _write_cells(folder, self.space, self.segments[0])
        (folder / ABOUT).unlink()
        self._save_segments(folder, stay)

    def _save_segments(self, folder: Path, start: int) -> None:
        for number in range(start, len(self.segments)):
            self.segments[number].save(new_folder(folder / SEGMENT.format(number + 1)))
        self._write_about(folder, len(self.segments))

    def _write_about(self, folder: Path, segments: int) -> None:
        about: dict[str, Any] = {
            "format": FORMAT, "version": VERSION, "language": self.language, "numbers": self.tokenizer.numbers,
            "segments": segments, "segmenter": self.tokenizer.words,
        }  # fmt: skip
        write_json(folder / ABOUT, about)

    @classmethod
    def open(cls, folder: Path, shown: str = "") -> WordIndex:
        """Read an index that was saved; its files are those of a part, and were looked at before."""
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        if about.get("format") != FORMAT or about.get("version") != VERSION:
            raise DamagedError(
                f"the words of {shown or folder} are of format {about.get('version')!r}; this reads {VERSION}",
                hint="pip install -U topiarist",
            )
        segments = [PostingLists.open(folder / SEGMENT.format(number + 1)) for number in range(about["segments"])]
        tokenizer = Tokenizer(numbers=about["numbers"], words=about.get("segmenter", ""))
        space, there = WordSpace.open(folder / SPACE), (folder / CELLS).is_dir()
        if any(one.space.shape[1] != len(space.scales) for one in segments):
            raise ValueError("documents lie in another space than that of their words")
        cells = Cells.open(folder / CELLS, segments[0]) if there else None
        return cls(tuple(segments), space, tokenizer, about["language"], cells)


def nearest(around: Sequence[tuple[Array, Floats]], n: int, allowed: Array | None) -> Array:
    """The rows of about ``n`` documents of each segment that lie nearest, of those that are allowed; they rise."""
    found = []
    for rows, cosines in around:
        if allowed is not None:
            kept = np.flatnonzero(allowed[rows])
            rows, cosines = rows[kept], cosines[kept]
        found.append(rows if len(rows) <= n else rows[cosines >= nth_largest(cosines, n)])
    return np.sort(np.concatenate(found))


def _write_cells(folder: Path, space: WordSpace, lists: PostingLists) -> None:
    """The cells of very many documents; none of fewer."""
    if len(lists) > LEAST_SEEN and lists.space.shape[1]:
        write_cells(new_folder(folder / CELLS), space, lists)
