"""Index of all words of a collection, by stems, in a folder that can be extended.

about.json       format, language, whether tokens without letters are words, number of segments
space/           directions of stems
cells/           cells of the documents of a very large collection
segment-1/ …     documents in their order; small segments are merged when documents are added
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
from topiarist.collection.search.index.ranking import compute_information, nth_largest
from topiarist.collection.search.index.segments import K1, B
from topiarist.collection.search.segment_rows import count_unchanged_segments, select_documents, split_rows
from topiarist.collection.search.words import posting_lists, word_space
from topiarist.collection.search.words.cells import MIN_SEARCHED, Cells, write_cells
from topiarist.collection.search.words.near_spellings import suggest_words
from topiarist.collection.search.words.posting_lists import PostingLists
from topiarist.collection.search.words.word_space import WordSpace
from topiarist.counts.workers import Jobs
from topiarist.errors import DamagedError
from topiarist.execution.threads import Threads
from topiarist.storage.sealed_folder import new_folder, write_json
from topiarist.text.stop_words import function_words
from topiarist.text.tokens import Tokenizer

ABOUT, SPACE, SEGMENT, CELLS = "about.json", "space", "segment-{}", "cells"
BLOCK = 1 << 15  # documents that a thread compares at a time
LOOKUP_ROWS = 256  # documents that a thread reads at a time
FORMAT, VERSION = "topiarist-words", 1


@dataclass(frozen=True, eq=False)
class WordIndex:
    """Index of documents by all their words; ``tokenizer`` and ``language`` define words and stems."""

    segments: tuple[PostingLists, ...]
    space: WordSpace
    tokenizer: Tokenizer
    language: str = ""
    cells: Cells | None = None  # of the first segment, if it is very large

    def __len__(self) -> int:
        return self._size

    @cached_property
    def _size(self) -> int:
        return sum(map(len, self.segments))

    @property
    def coordinates(self) -> Array:
        """Coordinates of all documents in the word space, in steps of its scales."""
        return np.concatenate([lists.space for lists in self.segments])

    @classmethod
    def build(cls, texts: Iterable[str], tokenizer: Tokenizer, language: str = "", n_jobs: Jobs = 1) -> WordIndex:
        """Return the index of the words of texts."""
        lists = posting_lists.build_posting_lists(texts, tokenizer, language, n_jobs)
        space = word_space.learn_space([lists])
        return cls((replace(lists, space=space.placed(lists)),), space, tokenizer, language)

    @classmethod
    def write(
        cls, folder: Path, texts: Iterable[str], tokenizer: Tokenizer, language: str = "", n_jobs: Jobs = 1
    ) -> None:
        """Index texts in an empty folder, with one run of texts in memory at a time."""
        with posting_lists.build_runs(texts, tokenizer, language, folder, n_jobs) as runs:
            space = word_space.learn_space(runs)
            posting_lists.write_merged_lists(runs, space.placed, new_folder(folder / SEGMENT.format(1)))
        space.save(new_folder(folder / SPACE))
        cls((), space, tokenizer, language)._write_about(folder, 1)
        _write_cells(folder, space, PostingLists.open(folder / SEGMENT.format(1)))

    def added(self, texts: Iterable[str]) -> tuple[WordIndex, int]:
        """Return the index with more texts, and the number of its unchanged segments."""
        lists = posting_lists.build_posting_lists(texts, self.tokenizer, self.language)
        lists = replace(lists, space=self.space.placed(lists))
        stay = count_unchanged_segments(self.segments, len(lists))
        tail = posting_lists.merge_lists([*self.segments[stay:], lists])
        return replace(self, segments=(*self.segments[:stay], tail), cells=self.cells if stay else None), stay

    def among(self, keep: Array) -> WordIndex:
        """Return the index of the texts in the mask ``keep``, with the same word space."""
        segments = select_documents(self.segments, keep, posting_lists.select_from_lists)
        return replace(self, segments=segments, cells=None)

    @cached_property
    def average(self) -> float:
        """Mean number of words of a document."""
        return max(sum(float(lists.lengths.sum()) for lists in self.segments) / max(1, len(self)), 1e-300)

    @cached_property
    def norms(self) -> tuple[Floats, ...]:
        """Length norms of BM25 for the documents of each segment."""
        return tuple((K1 * (1 - B + B * lists.lengths / self.average)).astype(np.float32) for lists in self.segments)

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Stop words of the index language."""
        return function_words(self.language)

    def keys(self, words: Iterable[str]) -> list[str]:
        """Return the stems of words."""
        return posting_lists.stem_words(list(words), self.language)

    def n_documents(self, stem: str) -> int:
        """Return the document frequency of a stem."""
        return sum(lists.n_documents(stem) for lists in self.segments)

    def inverse_document_frequency(self, stem: str) -> float:
        """Return log(1 + (N − n + ½)/(n + ½)) of a stem in n of N documents."""
        return float(compute_information(len(self), np.array(self.n_documents(stem), np.float64)))

    def suggest(self, word: str, limit: int = 3) -> list[str]:
        """Return words of the documents with near spellings."""
        return suggest_words(word, (lists.spellings for lists in self.segments), limit)

    def near(self, times: Mapping[str, float]) -> Floats | None:
        """Return the cosines of all documents with a query in the word space; None without a known word."""
        direction = self.space.direction(times)
        return (
            None
            if direction is None
            else np.concatenate([self.space.near(lists, direction) for lists in self.segments])
        )

    def places_of(self, rows: Array, threads: Threads) -> Array:
        """Return the int8 coordinates of documents in the word space, by their rising rows (documents × dimensions)."""
        parts = [
            (lists.space, chunk)
            for lists, segment_rows in split_rows(self.segments, rows)
            for chunk in np.array_split(segment_rows, max(1, len(segment_rows) // LOOKUP_ROWS))
        ]
        none = np.empty((0, len(self.space.scales)), np.int8)
        return np.concatenate([none, *threads.map(lambda part: part[0].take(part[1], axis=0), parts)])

    def around(self, direction: Floats, threads: Threads) -> list[tuple[Array, Floats]]:
        """Return for each segment the documents that may be nearest to a direction, and their cosines.

        With cells, equally near documents may be missing.
        """
        segments, start = [], 0
        for number, lists in enumerate(self.segments):
            if number == 0 and self.cells is not None:
                segments.append(self.cells.near(self.space, direction, threads))
            else:
                segments.append(
                    (np.arange(start, start + len(lists)), self._compute_all_cosines(lists, direction, threads))
                )
            start += len(lists)
        return segments

    def _compute_all_cosines(self, lists: PostingLists, direction: Floats, threads: Threads) -> Floats:
        """Return the cosines of all documents of a segment, computed block by block."""
        blocks = [lists.space[start : start + BLOCK] for start in range(0, len(lists), BLOCK)]
        return np.concatenate([np.empty(0, np.float32), *threads.map(
            lambda block: self.space.cosines(block, direction), blocks
        )])  # fmt: skip

    def save(self, folder: Path) -> None:
        """Write all of it to an empty folder."""
        self.space.save(new_folder(folder / SPACE))
        self._save_segments(folder, 0)
        _write_cells(folder, self.space, self.segments[0])

    def replace_segments(self, folder: Path, n_kept: int, n_segments: int) -> None:
        """Write new segments to a folder with ``n_segments`` segments, of which the first ``n_kept`` are unchanged."""
        for number in range(n_kept, n_segments):
            shutil.rmtree(folder / SEGMENT.format(number + 1))
        if not n_kept:
            shutil.rmtree(folder / CELLS, ignore_errors=True)
            _write_cells(folder, self.space, self.segments[0])
        (folder / ABOUT).unlink()
        self._save_segments(folder, n_kept)

    def _save_segments(self, folder: Path, start: int) -> None:
        for number in range(start, len(self.segments)):
            self.segments[number].save(new_folder(folder / SEGMENT.format(number + 1)))
        self._write_about(folder, len(self.segments))

    def _write_about(self, folder: Path, segments: int) -> None:
        """Write the file with format, language and number of segments."""
        about: dict[str, Any] = {
            "format": FORMAT, "version": VERSION, "language": self.language, "numbers": self.tokenizer.numbers,
            "segments": segments, "segmenter": self.tokenizer.words,
        }  # fmt: skip
        write_json(folder / ABOUT, about)

    @classmethod
    def open(cls, folder: Path, display_path: str = "") -> WordIndex:
        """Read a saved index of a part whose files were checked before."""
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        if about.get("format") != FORMAT or about.get("version") != VERSION:
            raise DamagedError(
                f"the words of {display_path or folder} are of format {about.get('version')!r}; this reads {VERSION}",
                hint="Run pip install -U topiarist.",
            )
        segments = [PostingLists.open(folder / SEGMENT.format(number + 1)) for number in range(about["segments"])]
        tokenizer = Tokenizer(numbers=about["numbers"], words=about.get("segmenter", ""))
        space, has_cells = WordSpace.open(folder / SPACE), (folder / CELLS).is_dir()
        if any(segment.space.shape[1] != len(space.scales) for segment in segments):
            raise ValueError("documents and words have different dimensions")
        cells = Cells.open(folder / CELLS, segments[0]) if has_cells else None
        return cls(tuple(segments), space, tokenizer, about["language"], cells)


def select_nearest(nearby: Sequence[tuple[Array, Floats]], n: int, allowed: Array | None) -> Array:
    """Return the rising rows of about ``n`` nearest allowed documents of each segment."""
    rows_by_segment = []
    for rows, cosines in nearby:
        if allowed is not None:
            allowed_places = np.flatnonzero(allowed[rows])
            rows, cosines = rows[allowed_places], cosines[allowed_places]
        rows_by_segment.append(rows if len(rows) <= n else rows[cosines >= nth_largest(cosines, n)])
    return np.sort(np.concatenate(rows_by_segment))


def _write_cells(folder: Path, space: WordSpace, lists: PostingLists) -> None:
    """Write the cells of very many documents; write nothing for fewer."""
    if len(lists) > MIN_SEARCHED and lists.space.shape[1]:
        write_cells(new_folder(folder / CELLS), space, lists)
