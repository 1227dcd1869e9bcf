"""What was measured, as tables: from results of runs made here, else from ``benchmarks/RESULTS.md``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from benchmarks.findings import render
from benchmarks.paths import REPORT, RESULTS

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Table:
    """A table of a section, with the paragraph above it."""

    above: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def is_verdict(self) -> bool:
        """Whether it lists bars."""
        return self.head[0] == "what is asked"

    def without(self, *parts: str) -> Table:
        """The same without rows in which one of these occurs."""
        return Table(
            self.above, self.head, tuple(row for row in self.rows if not any(p in "|".join(row) for p in parts))
        )

    def row(self, *cells: str) -> tuple[str, ...]:
        """The row that begins so."""
        return next(row for row in self.rows if row[: len(cells)] == cells)

    def __str__(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def section(name: str) -> str:
    """The text of a section: of a run that was made here, or as it was last recorded."""
    path = RESULTS / f"{name}.json"
    if path.exists():
        return render(json.loads(path.read_text(encoding="utf-8")))
    parts = re.split(r"^## ", REPORT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return next(part.partition("\n")[2].strip() for part in parts if part.partition("\n")[0] == name)


def tables(name: str) -> list[Table]:
    """The tables of a section but the list of bars, in their order."""
    found, above = [], ""
    for block in section(name).split("\n\n"):
        if not block.startswith("|"):
            above = block
            continue
        lines = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in block.splitlines()]
        found.append(Table(above, lines[0], tuple(lines[2:])))
    return [one for one in found if not one.is_verdict]


def missed(name: str) -> list[tuple[str, str, str]]:
    """What a section asks, finds and does not meet."""
    found = []
    for line in section(name).splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[3] == "**no**":
            found.append((cells[0], cells[1], cells[2]))
    return found


def numbers(cell: str) -> list[float]:
    """The numbers of a cell: a mean, its deviation, what the paper has."""
    return [float(one) for one in _NUMBER.findall(cell)]
