"""What a benchmark of trees found: sentences, tables and bars, kept as JSON and told as Markdown."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.paths import RESULTS

WIDTH = 118  # columns of a page


@dataclass
class Findings:
    """Collected while a benchmark runs. ``values`` are the bare numbers, for whoever wants to compute with them."""

    intro: str
    parts: list[str] = field(default_factory=list)
    bars: list[dict] = field(default_factory=list)
    values: dict = field(default_factory=dict)
    rows: dict = field(default_factory=dict)  # systems with their versions, as the other benchmarks keep them

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(text)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table."""
        self.parts.append(table(head, rows))

    def bar(self, what: str, found: float, limit: float, *, least: bool = False, form: str = ".3f") -> None:
        """Add a number that must not exceed a limit, or must reach it."""
        met = found >= limit if least else found <= limit
        self.verdict(what, format(found, form), f"{'≥' if least else '≤'} {limit:g}", met=bool(met))

    def share(self, what: str, found: int, limit: int, of: int) -> None:
        """Add a number of cases of which some must hold."""
        self.verdict(what, f"{found} of {of}", f"≥ {limit} of {of}", met=found >= limit)

    def verdict(self, what: str, found: str, bar: str, *, met: bool) -> None:
        """Add a bar in words."""
        self.bars.append({"what": what, "found": found, "bar": bar, "met": bool(met)})

    def result(self) -> dict:
        """Return all of it as plain JSON data."""
        return {name: getattr(self, name) for name in ("intro", "parts", "bars", "values", "rows")}


def render(result: dict) -> str:
    """Return the findings as Markdown, the bars last."""
    if "skipped" in result:
        return f"Not run: {result['skipped']}."
    bars = [[bar["what"], bar["found"], bar["bar"], "yes" if bar["met"] else "**no**"] for bar in result["bars"]]
    judged = [table(["what is asked", "found", "bar", "met"], bars)] if bars else []
    return "\n\n".join([result["intro"], *result["parts"], *judged])


def skipped(reason: str) -> dict:
    """Return the result of a benchmark that could not run here."""
    return {"skipped": reason}


def store(name: str, result: dict) -> None:
    """Keep a result where the report finds it."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Return mean and standard deviation."""
    return f"{np.mean(values):,.{digits}f} ± {np.std(values):.{digits}f}"


def wrap_paragraphs(page: str) -> str:
    """Wrap the long lines of paragraphs and list items; tables, pictures and code stay as they are."""
    lines: list[str] = []
    for line in page.split("\n"):
        indent = " " * (len(line) - len(line.lstrip(" ")) + 2 * line.lstrip().startswith("- "))
        if len(line) <= WIDTH or line.startswith(("|", "!", "#", "    ")):
            lines.append(line)
        else:
            lines += textwrap.wrap(
                line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
            )
    return "\n".join(lines)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
