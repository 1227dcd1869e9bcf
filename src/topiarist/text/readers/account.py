"""Counts and problems of a reading, and its error if no document was read."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.text.documents import Problem
from topiarist.text.readers.columns import TableColumns, list_names
from topiarist.text.readers.items import File
from topiarist.text.readers.kinds import ADVICE, LOOKED_FOR, suffix_of
from topiarist.text.readers.sources import SourceCounts

_EXAMPLE = ".log"


def create_empty_error(
    sources: Sequence[str], counts: SourceCounts, problems: Sequence[Problem], summary: str
) -> TopiaristError:
    """Return the error for a reading without documents; ``summary`` is the counts in one line."""
    reasons = {problem.source: problem.reason for problem in problems}
    if len(sources) == 1 and (reason := reasons.get(sources[0])) and counts.folders == 1:
        return UsageError(
            f"cannot open the folder {sources[0]}: {reason}",
            hint=f"Check the permissions with ls -ld {sources[0]}.",
        )
    shown_sources = list_names(sources)
    if len(problems) > counts.unknown.total():
        first_problem = next(p for p in problems if not p.reason.startswith(UNKNOWN_TYPE))
        return InputError(
            f"no usable text in {shown_sources}\n"
            f"  {summary}. The first: {first_problem.source}: {first_problem.reason}",
            hint=next(_find_install_commands(problems), "Open one of the files and check that it holds text."),
        )
    folders = f" in {counts.folders:,} folder{'s' if counts.folders != 1 else ''}" if counts.folders else ""
    return InputError(
        f"nothing to read in {shown_sources}\n  Looked for {LOOKED_FOR}{folders}; {_describe_found(counts)}.",
        hint=_suggest_source(counts),
    )


UNKNOWN_TYPE = "not a known type"
_INSTALL = "pip install"


def _find_install_commands(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield the commands that install the packages for these files."""
    return (
        f"Run {_INSTALL}{problem.reason.partition(_INSTALL)[2]}." for problem in problems if _INSTALL in problem.reason
    )


def explain_unknown_type(suffix: str) -> str:
    """Return the reason for skipping a file whose type has no reader."""
    advice = ADVICE.get(suffix, "").replace("them", "it")
    return f"{UNKNOWN_TYPE} ({suffix or 'no suffix'})" + (f"; {advice}" if advice else "")


def _describe_found(counts: SourceCounts) -> str:
    """Return which kinds of files were found, for a message about a source without documents."""
    kinds = [
        f"{number:,} {suffix or 'suffixless'} file{'s' if number != 1 else ''}"
        for suffix, number in sorted(counts.unknown.items(), key=lambda item: (-item[1], item[0]))
    ]
    if counts.excluded:
        kinds.append(f"{counts.excluded:,} excluded by --include and --exclude")
    return f"found {list_names(kinds)}" if kinds else "found no files"


def _suggest_source(counts: SourceCounts) -> str:
    """Return a hint for a source without documents: other patterns, another folder or --include."""
    if counts.excluded:
        return "Change the patterns of --include and --exclude."
    if not counts.unknown:
        return "Choose another folder."
    suffix = min(counts.unknown, key=lambda suffix: (-counts.unknown[suffix], suffix))
    if suffix in ADVICE:
        advice = ADVICE[suffix]
        return f"{advice[0].upper()}{advice[1:]}, or name the files with --include '*{_EXAMPLE}'."
    return f"Name the files with --include '*{suffix}', if they hold plain text."


_MAX_PROBLEMS = 100  # problems of one file, then a count: a broken table must not fill the memory


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of files and documents of a reading. Rows, lines and messages count as documents."""

    files: int = 0  # opened files
    read: int = 0  # documents with text
    empty: int = 0  # documents without text
    unknown: int = 0  # files of a type that has no reader
    failed: int = 0  # files, folders, lines, rows or messages that could not be read
    partial: int = 0  # documents with a missing part: too long, or damaged
    renamed: int = 0  # documents whose id was already used
    no_answer: int = 0  # empty documents with a word for a missing value, such as n/a, none or -

    def __str__(self) -> str:
        skipped = {"empty": self.empty, "not a known type": self.unknown, "failed": self.failed}
        answers = {f"empty ({self.no_answer:,} of them n/a, none, - or the like)": self.empty} if self.no_answer else {}
        skipped = {**answers, **{kind: number for kind, number in skipped.items() if kind != "empty" or not answers}}
        parts = [f"{self.read:,} read", *(f"{number:,} {kind}" for kind, number in skipped.items() if number)]
        return f"{self.files:,} file{'s' if self.files != 1 else ''}: {' · '.join(parts)}"


class Account:
    """Counts and problems of one pass over the sources."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.source_counts = SourceCounts()
        self.chosen: Counter[TableColumns] = Counter()  # columns of the tables, and the number of tables
        self.errors: list[TopiaristError] = []  # raised at the end of a reading without documents
        self._tally: Counter[str] = Counter()
        self._file, self._opened = "", 0.0
        self._n_unreported = 0
        self._n_reported = 0

    @property
    def counts(self) -> Counts:
        return Counts(**self._tally)

    def open(self, file: File) -> None:
        """Start a file."""
        self._file, self._n_reported, self._n_unreported = file.name, 0, 0
        self._opened = time.monotonic()
        self._tally["files"] += 1

    def close(self) -> None:
        """End a file and report the number of its further problems."""
        if self._n_unreported:
            self.problems.append(Problem(self._file, f"{self._n_unreported:,} more like these in this file"))
        self._n_reported = self._n_unreported = 0
        self._file = ""

    @property
    def current_file(self) -> tuple[str, float]:
        """Name of the file that is read now and seconds since it was opened; an empty name between files."""
        return self._file, time.monotonic() - self._opened

    def count(self, kind: str) -> None:
        """Count a document of a kind that `Counts` names."""
        self._tally[kind] += 1

    def skip(self, kind: str, reason: str, place: str = "") -> None:
        """Count and report a missing part of the current file, whose name gets ``place`` appended."""
        self._tally[kind] += 1
        self.add_note(reason, place)

    def add_note(self, reason: str, place: str = "") -> None:
        """Report a note on the current file; one on the whole file is reported in any case."""
        if place and self._n_reported >= _MAX_PROBLEMS:
            self._n_unreported += 1
            return
        self._n_reported += 1
        self.problems.append(Problem(self._file + place, reason))

    def unknown(self, name: str) -> None:
        """Skip the current file, or a file in it, because its type has no reader."""
        suffix = suffix_of(name)
        self.source_counts.unknown[suffix] += 1
        self.skip("unknown", explain_unknown_type(suffix), name.removeprefix(self._file))

    def add_unreachable(self, problem: Problem) -> None:
        """Report a folder or file that could not be opened."""
        self._tally["failed"] += 1
        self.problems.append(problem)
