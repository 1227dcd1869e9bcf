"""How a grow ends: the sentence of facts, the tree, what was left out, what to type next, the exit code."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

from rich.text import Text

from topiarist.app.cli.commands.growing.grow import Options
from topiarist.app.cli.source_stream import Stream
from topiarist.app.cli.terminal import figures
from topiarist.app.cli.terminal.console import Console, print_json, speaks_unicode, typed_command
from topiarist.app.cli.terminal.failures import INTERRUPTED
from topiarist.app.words import DOT, and_more, counted, duration, hard_to_place, in_topics, one_line, whole_percent
from topiarist.collection import (
    FEWEST_TO_JUDGE,
    PROBLEMS,
    Collection,
    TopicTree,
    documents_said,
    left_out,
    short_texts,
    write_problem_list,
)
from topiarist.errors import TopiaristError, UsageError
from topiarist.store import facts as facts_of
from topiarist.text.documents import Problem
from topiarist.text.readers.nothing_read import UNKNOWN_TYPE

SHOWN = 5
GAP = 8  # columns between two things on the last line
NARROWEST = 32


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
        """Documents that are hard to place."""
        return int(self.collection.hard_to_place.sum())

    @property
    def perplexity(self) -> float | None:
        """Of held-out words; None where there is none, or too few documents to tell."""
        curve = self.tree.curve
        return None if curve is None or self.tree.n_docs < FEWEST_TO_JUDGE else float(curve.perplexity[curve.place])

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, or not whole: of files, dates and columns, as the collection keeps it."""
        return facts_of.problems(self.collection.generation.database) if self.stream is not None else []


def tell(grown: Grown, options: Options, *, stopped: bool) -> None:
    """Print everything and leave with the exit code that says the same."""
    listed = write_problems(grown)
    if options.json:
        print_summary(grown, n_words=options.words)
    else:
        _print(grown, Console(highlight=False), options)
    if not options.quiet and not options.json:
        _tell_left_out(grown)
    if options.check_stability and not stopped:
        _check_stability(grown, options)
    _draw(grown, options)
    console = Console(highlight=False)
    if not options.json:
        following = f"Next:  {_next(grown)}"
        together = not console.is_terminal or len(following) + len(listed) + GAP < console.width
        listed = listed and (" " * GAP if together else "\n") + listed
        console.print(Text(f"\n{following}{listed}"), soft_wrap=not console.is_terminal)
    code = _exit_code(grown)
    if stopped:
        _note("Stopped before the end: this is the best tree so far, and it is kept.", options)
        code = INTERRUPTED
    if code:
        raise SystemExit(code)


def facts(grown: Grown) -> str:
    """The sentence of facts."""
    tree = grown.tree
    said = [grown.folder, documents_said(grown.collection), counted(len(tree.tree.leaves), "topic")]
    if grown.perplexity is not None:
        said.append(f"held-out perplexity {grown.perplexity:,.0f}")
    if tree.agreement is not None:
        said.append(f"agreement with the labels (NMI) {tree.agreement:.2f}")
    return DOT.join([*said, duration(grown.seconds)])


def print_summary(grown: Grown, *, n_words: int = 8, up_to_date: bool = False) -> None:
    """One JSON document."""
    tree = grown.tree
    nodes = tuple(replace(node, words=node.words[:n_words], prototypes=node.prototypes[:3]) for node in tree.nodes)
    body = replace(tree, nodes=nodes).to_dict()
    body |= {
        "folder": grown.folder,
        "up_to_date": up_to_date,
        "perplexity": grown.perplexity,
        "n_hard_to_place": grown.n_hard,
        "seconds": round(grown.seconds, 3),
        "phases": grown.phases,
        "repeated": _counted_lines(grown.collection.settings.get("repeated") or {}),
        "copies": {"copies": len(grown.collection.copies), "originals": grown.collection.copies.n_originals},
    }
    if grown.stream is not None and grown.stream.counts is not None:
        body["reading"] = asdict(grown.stream.counts)
    print_json(body, allow_nan=True)


def write_problems(grown: Grown) -> str:
    """What was left out, as a table in the folder; a sentence about it, or nothing."""
    problems = grown.problems
    if grown.stream is None:
        return ""
    write_problem_list(grown.collection)
    if not problems:
        return ""
    counts = grown.stream.counts
    failed = 0 if counts is None else counts.failed
    unread = len(grown.stream.problems)
    remarks = len(problems) - unread
    what = [f"{counted(failed, 'file or row', 'files or rows')} failed" if failed else f"{unread:,} left out"]
    what = [*what * bool(unread), *[f"{remarks:,} remarks on dates and columns"] * (remarks > 0)]
    return f"{', '.join(what)}: {grown.folder}/{PROBLEMS}"


def with_problems(error: TopiaristError, problems: Sequence[Problem]) -> TopiaristError:
    """An error that follows on files that failed says which: perhaps they are why."""
    problems = [problem for problem in problems if not problem.reason.startswith(UNKNOWN_TYPE)]
    if not problems or any(problem.source in str(error) for problem in problems):
        return error
    shown = [f"Left out: {one_line(one.source)}: {one_line(one.reason)}" for one in problems[:SHOWN]]
    lines = [error.message, *shown, and_more(problems, SHOWN)]
    return type(error)("\n  ".join(filter(None, lines)), hint=error.hint)


def _print(grown: Grown, console: Console, options: Options) -> None:
    tree = grown.tree
    console.print(Text(f"\n{facts(grown)}\n"), soft_wrap=not console.is_terminal)
    print_tree(console, tree, options.words, options.depth)
    if grown.n_hard:
        console.print(Text(f"({hard_to_place(grown.n_hard)})", style="dim"))
    console.print(Text(f"\n{in_topics(tree.reason)}"), soft_wrap=not console.is_terminal)
    if tree.n_docs < FEWEST_TO_JUDGE:
        few = f"{counted(tree.n_docs, 'document')} are too few to judge a tree by words it has not seen."
        console.print(Text(few), soft_wrap=not console.is_terminal)
    elif len(tree.tree.leaves) == 1:
        console.print(Text("No structure found that holds up on unseen documents."))
    if (short := short_texts(grown.collection)) is not None:
        console.print(Text(f"{short.said}."), soft_wrap=not console.is_terminal)


def print_tree(console: Console, found: TopicTree, n_words: int | None = None, depth: int | None = None) -> None:
    """A tree with its words and sizes, as wide as the terminal is; as it is in a pipe."""
    width = max(NARROWEST, console.width) if console.is_terminal else None
    detail = "normal" if depth is None else "all"
    for line in found.lines(width, n_words, depth, ascii=not speaks_unicode(), detail=detail):
        parts = ((line.branch, "dim"), (line.first, "bold"), line.rest, line.space, (line.size, "dim"))
        console.print(Text.assemble(*parts), soft_wrap=True)


def _next(grown: Grown) -> str:
    """What to type next: something that can be typed."""
    if len(grown.tree.tree.leaves) == 1:
        number = max(2, min(8, grown.tree.n_docs // 10))
        return f"more documents, or --topics {number} --force to have them divided anyway"
    return f"{typed_command()} explore {shlex.quote(one_line(grown.folder))}"


def _check_stability(grown: Grown, options: Options) -> None:
    from topiarist.app.cli.terminal import steadiness_lines

    console = Console(highlight=False)
    try:
        found = steadiness_lines.checked(grown.collection, options.threads)
    except UsageError as error:
        _note(f"How sure the topics are cannot be told: {error.message}", options)
        return
    if found is not None and not options.json:
        console.print()
        for line in steadiness_lines.lines(grown.collection, found):
            console.print(Text(line), soft_wrap=not console.is_terminal)


def _draw(grown: Grown, options: Options) -> None:
    if options.figure:
        figures.save(grown.tree.draw, options.figure)
        _note(f"The tree is drawn in {options.figure}", options)
    if options.curve and grown.tree.curve is not None:
        figures.save(grown.tree.curve.plot, options.curve)
        _note(f"The curve is drawn in {options.curve}", options)


def _tell_left_out(grown: Grown) -> None:
    """What was not counted, or only once: lines that many documents share, and copies."""
    notes = Console(stderr=True, highlight=False)
    found = left_out(grown.collection)
    if found.repeated_said:
        advice = f": see {PROBLEMS}; --keep-repeated counts them" if found.lines else ""
        notes.print(Text(f"{found.repeated_said}{advice}"), soft_wrap=True)
    if found.copies_said:
        said = f"{found.copies_said}: counted once, listed by {typed_command()} duplicates {one_line(grown.folder)}"
        notes.print(Text(said), soft_wrap=True)


def _exit_code(grown: Grown) -> int:
    if grown.stream is None or grown.stream.n_failed_of is None:
        return 0
    failed, tried = grown.stream.n_failed_of
    notes = Console(stderr=True, highlight=False)
    allowed = f"--max-failures allows {grown.stream.options.max_failures:g} %"
    share = whole_percent(failed / tried)
    warning = f"Warning: {failed:,} of {tried:,} could not be read ({share}; {allowed})"
    notes.print(Text(warning), soft_wrap=not notes.is_terminal)
    problems = grown.stream.problems
    for problem in problems[:SHOWN]:
        notes.print(Text(f"  {one_line(problem.source)}: {one_line(problem.reason)}"), soft_wrap=True)
    if len(problems) > SHOWN:
        notes.print(f"  {and_more(problems, SHOWN)} ({PROBLEMS})")
    return 1


def _note(text: str, options: Options) -> None:
    if not options.quiet:
        Console(stderr=True, highlight=False).print(Text(text), soft_wrap=True)


def _counted_lines(repeated: Mapping[str, int]) -> dict[str, int]:
    """What is told of repeated lines: numbers, not how they are kept."""
    return {name: repeated[name] for name in ("lines", "documents", "words", "kept") if name in repeated}
