"""The account of a reading: how many documents there were, and what was left out, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from topiarist.errors import TopiaristError
from topiarist.text.documents import Problem
from topiarist.text.readers.columns import Chosen
from topiarist.text.readers.items import File
from topiarist.text.readers.kinds import suffix_of
from topiarist.text.readers.nothing_read import unknown_type
from topiarist.text.readers.sources import Survey

_MOST_TOLD = 100  # problems of one file, then a count: a table of rubbish must not fill the memory


@dataclass(frozen=True, slots=True)
class Counts:
    """What a reading has seen so far. Rows, lines and messages count one by one, as files do."""

    files: int = 0  # that were looked at
    read: int = 0  # documents with text
    empty: int = 0  # documents without
    unknown: int = 0  # files of a type that has no reader
    failed: int = 0  # files, folders, lines, rows or messages that could not be read
    partial: int = 0  # documents read of which something is missing: too long, or damaged
    renamed: int = 0  # documents whose id an earlier one had
    no_answer: int = 0  # of the empty ones: a word that stands for none, such as n/a, none or -

    def __str__(self) -> str:
        said = {"empty": self.empty, "not a known type": self.unknown, "failed": self.failed}
        answers = {f"empty ({self.no_answer:,} of them n/a, none, - or the like)": self.empty} if self.no_answer else {}
        said = {**answers, **{what: number for what, number in said.items() if what != "empty" or not answers}}
        told = [f"{self.read:,} read", *(f"{number:,} {what}" for what, number in said.items() if number)]
        return f"{self.files:,} file{'s' if self.files != 1 else ''}: {' · '.join(told)}"


class Account:
    """Keeps the counts and the problems of one pass over the sources."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.survey = Survey()
        self.chosen: Counter[Chosen] = Counter()  # the columns of the tables, and of how many of them
        self.refusals: list[TopiaristError] = []  # raised at the end if nothing else could be read
        self._tally: Counter[str] = Counter()
        self._file = ""
        self._untold = 0
        self._told = 0

    @property
    def counts(self) -> Counts:
        """The counts so far."""
        return Counts(**self._tally)

    def open(self, file: File) -> None:
        """A file begins."""
        self._file, self._told, self._untold = file.name, 0, 0
        self._tally["files"] += 1

    def close(self) -> None:
        """The file ends: say how many problems were not told one by one."""
        if self._untold:
            self.problems.append(Problem(self._file, f"{self._untold:,} more like these in this file"))
        self._told = self._untold = 0

    def count(self, what: str) -> None:
        """One more document of a sort that `Counts` names."""
        self._tally[what] += 1

    def left_out(self, what: str, reason: str, place: str = "") -> None:
        """Something of the file at hand is missing; ``place`` is what to add to its name."""
        self._tally[what] += 1
        self.remark(reason, place)

    def remark(self, reason: str, place: str = "") -> None:
        """Something is said of the file at hand."""
        if self._told >= _MOST_TOLD:
            self._untold += 1
            return
        self._told += 1
        self.problems.append(Problem(self._file + place, reason))

    def unknown(self, name: str) -> None:
        """The file at hand, or a file in it, is of a type that has no reader."""
        suffix = suffix_of(name)
        self.survey.unknown[suffix] += 1
        self.left_out("unknown", unknown_type(suffix), name.removeprefix(self._file))

    def unreachable(self, problem: Problem) -> None:
        """A folder or a file that could not even be looked at."""
        self._tally["failed"] += 1
        self.problems.append(problem)
