"""Command ``topiarist review``: find all relevant documents, the most promising first."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

from topiarist.cli.options import ALL_OPTIONS, WritingOptions, examples, option
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_noun, join_path, one_line
from topiarist.display.review_sentences import (
    describe_kept_label,
    describe_progress,
    describe_selection,
    describe_stopping,
)
from topiarist.errors import InputError
from topiarist.text.query import format_phrase

if TYPE_CHECKING:
    from topiarist.collection.review.review import Review

EPILOG = examples(
    "topiarist review mail.topiary --label relevant --query 'bail hearing'",
    "topiarist review mail.topiary --label relevant --judgements judged.csv --json",
)
WRITES = ALL_OPTIONS
YES, NO, SKIP = "y", "n", "skip"  # as a Review has them, which is not loaded for --help
UNDO, QUIT = "u", "q"
KEYS = {"y": YES, "n": NO, "s": SKIP, UNDO: UNDO, QUIT: QUIT, "\x03": QUIT, "\x04": QUIT, "": QUIT}
HELP = "y relevant   n not   s skip   u undo   q quit"
WORDS = {
    YES: ("y", "yes", "1", "true", "relevant"), NO: ("n", "no", "0", "false", "irrelevant"),
    SKIP: ("s", "skip", "?"),
}  # fmt: skip
ANSWERS = {word: answer for answer, words in WORDS.items() for word in words}
LEAD = 1_500  # characters of a text


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Judge documents, the most promising first, until enough relevant ones are found.

    Keys: y relevant, n not relevant, s skip, u undo, q quit. Judgements are saved at once. The next review continues.
    """

    label: str = option("relevant", "Label of the relevant documents.", metavar="NAME")
    query: str = option("", "Query that orders the first documents.", metavar="QUERY")
    judgements: str | None = option(None, "Table of answers: id and label (y or n).", metavar="FILE")
    skipped: bool = option(False, "Begin with the skipped documents.")
    target: float = option(0.95, "Recall at which to stop.", min=0.5, max=0.999)
    confidence: float = option(0.95, "Confidence of this recall. Choose both before the review.", min=0.5, max=0.999)


def run(options: Options) -> None:
    """Propose documents and store judgements until the user quits or the file ends; then print the progress."""
    from topiarist.collection.review.review import Review

    with open_collection(options) as (screen, collection):
        review = Review(
            collection, options.label, query=options.query, target=options.target, confidence=options.confidence
        )
        if options.query and not review.starts_from_query:
            screen.say(f"Nothing is found by {options.query!r}: the review begins at random.")
        n_applied, unused = 0, 0
        if options.judgements is not None:
            n_applied, unused = _read_answers(review, options.judgements)
        elif not options.json:
            _ask_answers(screen, review, options)
        _print_report(screen, review, n_applied, unused)


def _read_answers(review: Review, path: str) -> tuple[int, int]:
    """Answer proposals from a file until enough is found; return the number of answers used and left."""
    from topiarist.collection.classify.label_sources import read_labels

    documents, answers = review.collection.documents, {}
    for id, labels in read_labels(path).items():
        answer = ANSWERS.get(labels[0].lower())
        if answer is None or len(labels) > 1:
            raise InputError(
                f"{path} has {'|'.join(labels)[:60]!r} for {id!r}: expected y, n or skip",
                hint="Write y, n or skip in the column of answers.",
            )
        row = documents.row_of(id)
        if row not in review.order.answers:
            answers[row] = answer
    n_before = len(answers)
    with review.hold_lock():
        while answers and not review.progress.enough:
            proposal = review.next()
            row, draw = proposal if proposal is not None else (-1, "given")
            if row not in answers:
                row, draw = next(iter(answers)), "given"
            review.answer(row, answers.pop(row), draw)
    return n_before - len(answers), len(answers)


def _ask_answers(screen: Screen, review: Review, options: Options) -> None:
    """Print documents and store the pressed answers until the user quits or no document is left."""
    screen.say(HELP)
    waiting = [(row, "given") for row in (review.skipped() if options.skipped else ())]
    is_enough = review.progress.enough
    while (proposal := waiting[0] if waiting else review.next()) is not None:
        _print_document(screen, review, *proposal)
        key = KEYS.get(_read_key(screen))
        if key is None:
            screen.say(HELP)
        elif key == QUIT:
            return
        elif key == UNDO:
            undo_result = review.undo()
            if undo_result is None:
                screen.say("There is nothing to take back.")
            elif review.has_label(undo_result):
                screen.say(describe_kept_label(one_line(review.label)))
        else:
            review.answer(proposal[0], key, proposal[1])
            waiting = waiting[1:]
        if review.progress.enough and not is_enough:
            screen.print((describe_stopping(review.progress), "bold green"), " Go on, or q.")
        is_enough = review.progress.enough


def _read_key(screen: Screen) -> str:
    """Return the pressed key; without a terminal the first letter of a line, empty at the end."""
    if sys.stdin.isatty():
        return typer.getchar().lower()
    line = sys.stdin.readline()
    return line.strip().lower()[:1] or "?" if line else ""


def _print_document(screen: Screen, review: Review, row: int, draw: str) -> None:
    """Print the document to judge: title, topic, first text and progress."""
    from topiarist.collection.search.hits import find_places

    collection = review.collection
    document = collection.documents.get(row)
    place = find_places(collection, [row])[0]
    screen.print()
    screen.cut((one_line(document.title or document.id), "bold"))
    screen.cut((f"{join_path(place.path)}  {one_line(document.id)}  ({describe_selection(draw)})", "dim"))
    text = " ".join(document.text.split())
    screen.print(text if len(text) <= LEAD else f"{text[:LEAD].rsplit(' ', 1)[0]} …", indent=2)
    screen.cut((describe_progress(review.progress), "dim"))


def _print_report(screen: Screen, review: Review, n_applied: int, unused: int) -> None:
    """Print the progress, the advice to stop and the next commands, or all as JSON."""
    progress = review.progress
    if screen.options.json:
        screen.json(_build_body(review, n_applied, unused))
        return
    screen.print(describe_progress(progress))
    screen.print((describe_stopping(progress), "bold"))
    if unused:
        screen.print(f"{count_noun(unused, 'judgement')} of the file {'was' if unused == 1 else 'were'} not asked for.")
    screen.print_next(
        ("review FOLDER --label {}", review.label), ("find FOLDER {}", f"label:{format_phrase(review.label)}")
    )


def _build_body(review: Review, n_applied: int, unused: int) -> dict[str, Any]:
    """Return the progress and the next document of a review as JSON data."""
    progress, proposal = review.progress, review.next()
    following = None
    if proposal is not None:
        document = review.collection.documents.load_many([proposal[0]], texts=False)[0]
        following = {"id": document.id, "title": document.title, "drawn": proposal[1]}
    return {
        "label": review.label, **asdict(progress), "enough": progress.enough, "applied": n_applied, "unused": unused,
        "next": following,
    }  # fmt: skip
