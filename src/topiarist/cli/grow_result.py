"""Output at the end of a grow: facts, tree, skipped files, next commands and exit code."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

from rich.text import Text

from topiarist.cli.commands.grow import Options
from topiarist.cli.source_stream import Stream
from topiarist.cli.terminal.console import Console, print_json, speaks_unicode, typed_command
from topiarist.cli.terminal.failures import INTERRUPTED_EXIT
from topiarist.cli.terminal.targets import save_figure
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import PROBLEMS, find_short_texts, write_problem_list
from topiarist.collection.describe.collection_facts import load_facts
from topiarist.collection.describe.provenance import find_growth
from topiarist.collection.describe.topic_tree import MIN_DOCUMENTS_TO_EVALUATE, TopicTree
from topiarist.collection.grow.exclusions import find_exclusions
from topiarist.collection.passages import count_documents
from topiarist.collection.shape.kept_names import NameChanges
from topiarist.display.first_sentence import first_sentence
from topiarist.display.formats import (
    DOT,
    and_more,
    count_noun,
    describe_unassigned,
    duration,
    one_line,
    whole_percent,
)
from topiarist.errors import TopiaristError
from topiarist.storage import facts as facts_of
from topiarist.text.documents import Problem
from topiarist.text.readers.account import UNKNOWN_TYPE

MAX_LISTED = 5
GAP = 8  # columns between two things on the last line
NARROWEST = 32


@dataclass
class GrowResult:
    """A collection that has just grown, and what is known of how it did."""

    collection: Collection
    folder: str
    stream: Stream | None = None
    seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)

    @cached_property
    def tree(self) -> TopicTree:
        return self.collection.tree

    @cached_property
    def n_hard(self) -> int:
        return int(self.collection.hard_to_place.sum())

    @property
    def perplexity(self) -> float | None:
        """Held-out perplexity; None without held-out words or with too few documents."""
        curve, is_known = self.tree.curve, self.tree.n_docs >= MIN_DOCUMENTS_TO_EVALUATE
        return float(curve.perplexity[curve.place]) if curve is not None and is_known else None

    @property
    def name_changes(self) -> NameChanges:
        """Topics that were renamed, are gone or are new, if a collection was replaced."""
        entry = find_growth(self.collection)
        return NameChanges() if entry is None else NameChanges.from_dict(entry.body)

    @property
    def problems(self) -> list[Problem]:
        """Skipped files and unread dates and columns, as the collection stores them."""
        return facts_of.problems(self.collection.generation.database) if self.stream is not None else []


def print_result(result: GrowResult, options: Options, *, stopped: bool) -> None:
    """Print the result of a grow and write its figure and problem list. Exit if the code is not 0."""
    words, console, notes = write_problems(result), Console(highlight=False), Console(stderr=True, highlight=False)
    notes.quiet = options.quiet
    if options.json:
        print_summary(result, n_words=options.words)
    else:
        _print_growth(result, console, options)
        _print_left_out(result, notes)
    if options.figure:
        save_figure(result.tree.draw, options.figure)
        _say(notes, f"The tree is drawn in {options.figure}")
    if not options.json:
        following = f"Next:  {_suggest_next_command(result)}"
        is_inline = not console.is_terminal or len(following) + len(words) + GAP < console.width
        words = words and (" " * GAP if is_inline else "\n") + words
        _say(console, f"\n{following}{words}")
    code = _choose_exit_code(result)
    if stopped:
        _say(notes, "Stopped before the end: this is the best tree so far, and it is kept.")
        code = INTERRUPTED_EXIT
    if code:
        raise SystemExit(code)


def _say(console: Console, text: str, style: str = "") -> None:
    """Print a paragraph: wrapped at words on a terminal, one line elsewhere."""
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def format_facts(result: GrowResult) -> str:
    """Return folder, documents, topics, quality and time in one line."""
    tree = result.tree
    parts = [result.folder, str(count_documents(result.collection)), count_noun(len(tree.tree.leaves), "topic")]
    parts += [count_noun(len(tree.tree.headings), "heading")] * bool(tree.tree.headings)
    if result.perplexity is not None:
        parts.append(f"held-out perplexity {result.perplexity:,.0f}")
    if tree.agreement is not None:
        parts.append(f"agreement with the labels (NMI) {tree.agreement:.2f}")
    return DOT.join([*parts, duration(result.seconds)])


def print_summary(result: GrowResult, *, n_words: int = 8, up_to_date: bool = False) -> None:
    """Print the tree and the facts of a grow as JSON."""
    tree, collection = result.tree, result.collection
    nodes = tuple(replace(node, words=node.words[:n_words], prototypes=node.prototypes[:3]) for node in tree.nodes)
    facts, repeated = load_facts(collection), collection.settings.get("repeated") or {}
    body = replace(tree, nodes=nodes).to_dict() | {
        "folder": result.folder,
        "sentence": first_sentence(facts),
        "facts": facts.to_dict(),
        "up_to_date": up_to_date,
        "perplexity": result.perplexity,
        "n_hard_to_place": result.n_hard,
        "seconds": round(result.seconds, 3),
        "phases": result.phases,
        "repeated": {name: repeated[name] for name in ("lines", "documents", "words", "kept") if name in repeated},
        "name_changes": result.name_changes.to_dict(),
        "copies": {"copies": len(collection.copies), "originals": collection.copies.n_originals},
    }
    if result.stream is not None and result.stream.counts is not None:
        body["reading"] = asdict(result.stream.counts)
    print_json(body, allow_nan=True)


def write_problems(result: GrowResult) -> str:
    """Write the table of skipped files. Return a sentence about it; empty without any."""
    if result.stream is None:
        return ""
    write_problem_list(result.collection)
    problems, counts = result.problems, result.stream.counts
    failed, unread = 0 if counts is None else counts.failed, len(result.stream.problems)
    skipped = f"{count_noun(failed, 'file or row', 'files or rows')} failed" if failed else f"{unread:,} left out"
    remarks = f"{len(problems) - unread:,} remarks on dates and columns"
    parts = [skipped] * bool(unread) + [remarks] * (len(problems) > unread)
    return f"{', '.join(parts)}: {result.folder}/{PROBLEMS}" if problems else ""


def add_problems(error: TopiaristError, problems: Sequence[Problem]) -> TopiaristError:
    """Return an error with the skipped files in its message."""
    problems = [problem for problem in problems if not problem.reason.startswith(UNKNOWN_TYPE)]
    if not problems or any(problem.source in str(error) for problem in problems):
        return error
    listed = [f"Left out: {one_line(item.source)}: {one_line(item.reason)}" for item in problems[:MAX_LISTED]]
    lines = [error.message, *listed, and_more(problems, MAX_LISTED)]
    return type(error)("\n  ".join(filter(None, lines)), hint=error.hint)


def _print_growth(result: GrowResult, console: Console, options: Options) -> None:
    """Print the sentence, the facts, the tree and notes of a grow."""
    tree = result.tree
    _say(console, f"\n{first_sentence(load_facts(result.collection))}")
    _say(console, f"{format_facts(result)}\n")
    print_tree(console, tree, options.words, options.depth)
    if result.n_hard:
        _say(console, f"({describe_unassigned(result.n_hard)}: topiarist tree {result.folder})", "dim")
    for sentence in result.name_changes.sentences:
        _say(console, one_line(sentence))
    _say(console, f"\n{tree.reason}")
    if tree.n_docs < MIN_DOCUMENTS_TO_EVALUATE:
        _say(console, f"{count_noun(tree.n_docs, 'document')} are too few to judge a tree by words it has not seen.")
    elif len(tree.tree.leaves) == 1:
        _say(console, "No structure found that holds up on unseen documents.")
    if (short := find_short_texts(result.collection)) is not None:
        _say(console, f"{short.sentence}.")


def print_tree(console: Console, tree: TopicTree, n_words: int | None = None, depth: int | None = None) -> None:
    """Print a tree with words and sizes, fitted to the terminal; all words in a pipe."""
    width = max(NARROWEST, console.width) if console.is_terminal else None
    detail = "normal" if depth is None else "all"
    for line in tree.lines(width, n_words, depth, ascii=not speaks_unicode(), detail=detail):
        parts = ((line.branch, "dim"), (line.first, "bold"), line.rest, line.space, (line.size, "dim"))
        console.print(Text.assemble(*parts), soft_wrap=True)


def _suggest_next_command(result: GrowResult) -> str:
    """Return the next command; for a tree of one topic, advice to get more topics."""
    if len(result.tree.tree.leaves) == 1:
        number = max(2, min(8, result.tree.n_docs // 10))
        return f"more documents, or --topics {number} --force to have them divided anyway"
    return f"{typed_command()} explore {shlex.quote(one_line(result.folder))}"


def _print_left_out(result: GrowResult, notes: Console) -> None:
    """Print repeated lines and copies that were not counted."""
    exclusions = find_exclusions(result.collection)
    if exclusions.repeated_said:
        advice = f": see {PROBLEMS}; the setting keep-repeated counts them" if exclusions.lines else ""
        _say(notes, f"{exclusions.repeated_said}{advice}")
    if exclusions.copies_said:
        command = f"{typed_command()} duplicates {one_line(result.folder)}"
        _say(notes, f"{exclusions.copies_said}: counted once, listed by {command}")


def _choose_exit_code(result: GrowResult) -> int:
    """Return 1 if more files failed than allowed, and print them; else 0."""
    if result.stream is None or result.stream.n_failed_of is None:
        return 0
    failed, n_tried = result.stream.n_failed_of
    notes = Console(stderr=True, highlight=False)
    allowed = f"max-failures allows {result.stream.options.max_failures:g}%"
    share = whole_percent(failed / n_tried)
    _say(notes, f"Warning: {failed:,} of {n_tried:,} could not be read ({share}; {allowed})")
    problems = result.stream.problems
    for problem in problems[:MAX_LISTED]:
        notes.print(Text(f"  {one_line(problem.source)}: {one_line(problem.reason)}"), soft_wrap=True)
    if len(problems) > MAX_LISTED:
        notes.print(f"  {and_more(problems, MAX_LISTED)} ({PROBLEMS})")
    return 1
