"""How a grow ends: the sentence of facts, the tree, what was left out, what to type next, the exit code."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from topiarist.app.cli.estimates import duration
from topiarist.app.cli.options import Common
from topiarist.app.cli.source_stream import Stream
from topiarist.app.cli.terminal import figures
from topiarist.app.cli.terminal.console import Console
from topiarist.app.cli.terminal.failures import INTERRUPTED
from topiarist.app.cli.terminal.printing import (
    available_commands,
    counted,
    one_line,
    print_tree,
    speaks_unicode,
    typed_command,
)
from topiarist.collection.collection import Collection
from topiarist.collection.describe.spreadsheet import write_csv
from topiarist.collection.describe.topic_tree import FEWEST_TO_JUDGE, TopicTree
from topiarist.errors import TopiaristError
from topiarist.text.documents import Problem
from topiarist.text.readers.messages import UNKNOWN_TYPE

if TYPE_CHECKING:
    from topiarist.app.cli.commands.grow import Printing

HARD = 0.5  # the largest share of a document that is hard to place is smaller
PROBLEMS = "problems.csv"
SHOWN = 5
GAP = 8  # columns between two things on the last line


@dataclass
class Grown:
    """A collection that has just grown, and what is known of how it did."""

    collection: Collection
    folder: str
    stream: Stream | None = None
    seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)

    @cached_property
    def tree(self) -> TopicTree:
        """The tree."""
        return self.collection.tree

    @cached_property
    def n_hard(self) -> int:
        """Documents of which no topic has half."""
        shares = self.collection.shares
        most = np.asarray(shares.max(axis=1).todense()).ravel() if shares.shape[0] else np.zeros(0)
        return int((most < HARD).sum())

    @property
    def perplexity(self) -> float | None:
        """Of held-out words; None where there is none, or too few documents to tell."""
        curve = self.tree.curve
        return None if curve is None or self.tree.n_docs < FEWEST_TO_JUDGE else float(curve.perplexity[curve.place])

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, or not whole."""
        return self.stream.problems if self.stream is not None else []


def tell(grown: Grown, common: Common, printing: Printing, *, stopped: bool) -> None:
    """Print everything and leave with the exit code that says the same."""
    listed = write_problems(grown)
    if common.json:
        print_summary(grown, n_words=printing.words)
    else:
        _print(grown, Console(highlight=False), printing)
    if not common.quiet and not common.json:
        _warn_repeated(grown)
    _draw(grown, printing, common)
    console = Console(highlight=False)
    if not common.json:
        following = f"Next:  {_next(grown, common)}"
        together = not console.is_terminal or len(following) + len(listed) + GAP < console.width
        listed = listed and (" " * GAP if together else "\n") + listed
        console.print(Text(f"\n{following}{listed}"), soft_wrap=not console.is_terminal)
    code = _exit_code(grown, common)
    if stopped:
        _note("Stopped before the end: this is the best tree so far, and it is kept.", common)
        code = INTERRUPTED
    if code:
        raise SystemExit(code)


def facts(grown: Grown) -> str:
    """The sentence of facts."""
    tree = grown.tree
    said = [grown.folder, counted(tree.n_docs, "document"), counted(len(tree.tree.leaves), "topic")]
    if grown.perplexity is not None:
        said.append(f"held-out perplexity {grown.perplexity:,.0f}")
    if tree.agreement is not None:
        said.append(f"agreement with the labels (NMI) {tree.agreement:.2f}")
    return " · ".join([*said, duration(grown.seconds)])


def print_summary(grown: Grown, *, n_words: int = 8, up_to_date: bool = False) -> None:
    """One JSON document."""
    tree = grown.tree
    nodes = tuple(replace(node, words=node.words[:n_words], prototypes=node.prototypes[:3]) for node in tree.nodes)
    body = replace(tree, nodes=nodes).to_dict()
    body |= {
        "folder": grown.folder, "up_to_date": up_to_date, "perplexity": grown.perplexity,
        "n_hard_to_place": grown.n_hard, "seconds": round(grown.seconds, 3), "phases": grown.phases,
    }  # fmt: skip
    if grown.stream is not None and grown.stream.counts is not None:
        body["reading"] = asdict(grown.stream.counts)
    print_json(body)


def print_json(body: dict[str, Any]) -> None:
    """One JSON document on standard output."""
    print(json.dumps(body, indent=2, ensure_ascii=not speaks_unicode()))


def write_problems(grown: Grown) -> str:
    """What was left out, as a table in the folder; a sentence about it, or nothing."""
    path, problems = Path(grown.folder) / PROBLEMS, grown.problems
    if grown.stream is None:
        return ""
    if not problems:
        path.unlink(missing_ok=True)
        return ""
    new = path.with_name(f"{PROBLEMS}.new")
    with open(new, "w", encoding="utf-8", newline="") as file:
        write_csv(file, ("source", "reason"), ((problem.source, problem.reason) for problem in problems))
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
    counts = grown.stream.counts
    failed = 0 if counts is None else counts.failed
    what = f"{counted(failed, 'file or row', 'files or rows')} failed" if failed else f"{len(problems):,} left out"
    return f"{what}: {grown.folder}/{PROBLEMS}"


def with_problems(error: TopiaristError, problems: Sequence[Problem]) -> TopiaristError:
    """An error that follows on files that failed says which: perhaps they are why."""
    problems = [problem for problem in problems if not problem.reason.startswith(UNKNOWN_TYPE)]
    if not problems or any(problem.source in str(error) for problem in problems):
        return error
    shown = [f"\n  Left out: {one_line(one.source)}: {one_line(one.reason)}" for one in problems[:SHOWN]]
    more = f"\n  and {len(problems) - SHOWN:,} more" if len(problems) > SHOWN else ""
    return type(error)(error.message + "".join(shown) + more, hint=error.hint)


def _print(grown: Grown, console: Console, printing: Printing) -> None:
    tree = grown.tree
    console.print(Text(f"\n{facts(grown)}\n"), soft_wrap=not console.is_terminal)
    print_tree(console, tree, printing.words, printing.depth)
    if grown.n_hard:
        verb = "document is" if grown.n_hard == 1 else "documents are"
        console.print(Text(f"({grown.n_hard:,} {verb} hard to place)", style="dim"))
    console.print(Text(f"\n{in_topics(tree.reason)}"), soft_wrap=not console.is_terminal)
    if tree.n_docs < FEWEST_TO_JUDGE:
        few = f"{counted(tree.n_docs, 'document')} are too few to judge a tree by words it has not seen."
        console.print(Text(few), soft_wrap=not console.is_terminal)
    elif len(tree.tree.leaves) == 1:
        console.print(Text("No structure found that holds up on unseen documents."))


def in_topics(reason: str) -> str:
    """Why there are so many leaves, in the word that people see everywhere else."""
    return re.sub(r"\b([\d,]+) lea(f|ves)\b", lambda found: f"{found[1]} topic{'' if found[2] == 'f' else 's'}", reason)


def _next(grown: Grown, common: Common) -> str:
    """What to type next: something that can be typed."""
    there, command, tree = available_commands(), typed_command(), grown.tree
    if len(tree.tree.leaves) == 1:
        number = max(2, min(8, tree.n_docs // 10))
        return f"more documents, or --topics {number} --force to have them divided anyway"
    folder = shlex.quote(one_line(grown.folder))
    if "explore" in there:
        return f"{command} explore {folder}"
    if "find" in there:
        words = next((node.words[0] for node in tree.nodes[1:] if node.words), "WORDS")
        return f"{command} find {folder} {words}"
    if "tree" in there:
        return f"{command} tree {folder}"
    return f"{command} grow YOUR-FOLDER" if common.reading.is_demo else f"{command} grow --help"


def _draw(grown: Grown, printing: Printing, common: Common) -> None:
    if printing.figure:
        figures.save(grown.tree.draw, printing.figure)
        _note(f"The tree is drawn in {printing.figure}", common)
    if printing.curve and grown.tree.curve is not None:
        figures.save(grown.tree.curve.plot, printing.curve)
        _note(f"The curve is drawn in {printing.curve}", common)


def _warn_repeated(grown: Grown) -> None:
    if grown.stream is None:
        return
    notes = Console(stderr=True, highlight=False)
    if grown.stream.n_stripped:
        notes.print(f"Repeated last lines were taken out of {counted(grown.stream.n_stripped, 'document')}.")
        return
    found = grown.stream.endings.repeated()
    if found.n_documents:
        notes.print(
            f"Warning: {found.n_documents:,} of {grown.tree.n_docs:,} documents share one footer of "
            f"{found.n_words:,} words; it shapes the tree.\n  Try: --strip-repeated",
            soft_wrap=not notes.is_terminal,
        )


def _exit_code(grown: Grown, common: Common) -> int:
    counts = grown.stream.counts if grown.stream is not None else None
    if counts is None:
        return 0
    tried, most = counts.failed + counts.read, common.reading.max_failures
    if counts.failed <= most / 100 * max(1, tried):
        return 0
    notes = Console(stderr=True, highlight=False)
    notes.print(
        Text(
            f"Warning: {counts.failed:,} of {tried:,} could not be read ({counts.failed / tried:.0%}; "
            f"--max-failures allows {most:g} %)"
        ),
        soft_wrap=not notes.is_terminal,
    )
    for problem in grown.problems[:SHOWN]:
        notes.print(Text(f"  {one_line(problem.source)}: {one_line(problem.reason)}"), soft_wrap=True)
    if len(grown.problems) > SHOWN:
        notes.print(f"  and {len(grown.problems) - SHOWN:,} more ({PROBLEMS})")
    return 1


def _note(text: str, common: Common) -> None:
    if not common.quiet:
        Console(stderr=True, highlight=False).print(Text(text), soft_wrap=True)
