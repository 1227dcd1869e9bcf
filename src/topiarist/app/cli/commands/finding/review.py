"""``topiarist review``: what is relevant here, is all of it found, and when may I stop?"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from topiarist import collection as door
from topiarist.app.cli.options import ALWAYS, WritingOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.review_words import how_drawn, label_stays, progress_sentence, stop_sentence
from topiarist.app.words import counted, one_line, path_of
from topiarist.errors import InputError
from topiarist.text.query import phrase

EPILOG = examples(
    "topiarist review mail.topiary --label relevant --query 'bail hearing'",
    "topiarist review mail.topiary --label relevant --judgements judged.csv --json",
)
WRITES = ALWAYS
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
    """Read a collection for what is relevant, the most promising document first, until enough is found for sure. Keys:
    y relevant, n not, s skip, u undo, q quit. Every judgement is kept at once; the review goes on where it ended.
    """

    label: Annotated[str, option("The label that relevant documents get.", "--label", metavar="NAME")] = "relevant"
    query: Annotated[str, option("Where to begin while nothing is found yet.", "--query", metavar="QUERY")] = ""
    judgements: Annotated[
        str | None,
        option("A table with the columns id and label (y or n): answers from there.", "--judgements", metavar="FILE"),
    ] = None
    skipped: Annotated[bool, option("Begin with what was skipped.", "--skipped")] = False
    target: Annotated[float, option("Stop when so much is found …", "--target", min=0.5, max=0.999)] = 0.95
    confidence: Annotated[
        float, option("… with this confidence: chosen before the review begins.", "--confidence", min=0.5, max=0.999)
    ] = 0.95


def run(options: Options) -> None:
    """Propose and keep, until somebody quits or the file has no more answers; then say how far it is."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        review = door.Review(
            collection, options.label, query=options.query, target=options.target, confidence=options.confidence
        )
        if options.query and not review.starts_from_query:
            screen.say(f"Nothing is found by {options.query!r}: the review begins at random.")
        applied, unused = 0, 0
        if options.judgements is not None:
            applied, unused = _from_file(review, options.judgements)
        elif not options.json:
            _from_keys(screen, review, options)
        _report(screen, review, applied, unused)


def _from_file(review: door.Review, path: str) -> tuple[int, int]:
    """Answer what is proposed as long as the file knows it and it is not enough; how many, and how many are left.

    Where the file does not know what is proposed next, the rest of it is kept as well: given, not drawn.
    """
    documents, answers = review.collection.documents, {}
    for id, labels in door.read_labels(path).items():
        answer = ANSWERS.get(labels[0].lower())
        if answer is None or len(labels) > 1:
            raise InputError(f"{path} has {'|'.join(labels)[:60]!r} for {id!r}: expected y, n or skip", hint="y")
        row = documents.row_of(id)
        if row not in review.order.answers:
            answers[row] = answer
    before = len(answers)
    with review.together():
        while answers and not review.progress.enough:
            proposed = review.next()
            row, drawn = proposed if proposed is not None else (-1, "given")
            if row not in answers:
                row, drawn = next(iter(answers)), "given"
            review.answer(row, answers.pop(row), drawn)
    return before - len(answers), len(answers)


def _from_keys(screen: Screen, review: door.Review, options: Options) -> None:
    """Show a document, wait for a key, and so on."""
    screen.say(HELP)
    waiting = [(row, "given") for row in (review.skipped() if options.skipped else ())]
    enough = review.progress.enough
    while (proposed := waiting[0] if waiting else review.next()) is not None:
        _show(screen, review, *proposed)
        key = KEYS.get(_key(screen))
        if key is None:
            screen.say(HELP)
        elif key == QUIT:
            return
        elif key == UNDO:
            undone = review.undo()
            if undone is None:
                screen.say("There is nothing to take back.")
            elif review.labelled(undone):
                screen.say(label_stays(one_line(review.label)))
        else:
            review.answer(proposed[0], key, proposed[1])
            waiting = waiting[1:]
        if review.progress.enough and not enough:
            screen.print((stop_sentence(review.progress), "bold green"), " Go on, or q.")
        enough = review.progress.enough


def _key(screen: Screen) -> str:
    """What was pressed; a line where there is no terminal, nothing at its end."""
    if sys.stdin.isatty():
        return typer.getchar().lower()
    line = sys.stdin.readline()
    return line.strip().lower()[:1] or "?" if line else ""


def _show(screen: Screen, review: door.Review, row: int, drawn: str) -> None:
    collection = review.collection
    document = collection.documents.get(row)
    place = door.places_of(collection, [row])[0]
    screen.print()
    screen.cut((one_line(document.title or document.id), "bold"))
    screen.cut((f"{path_of(place.path)}  {one_line(document.id)}  ({how_drawn(drawn)})", "dim"))
    text = " ".join(document.text.split())
    screen.print(text if len(text) <= LEAD else f"{text[:LEAD].rsplit(' ', 1)[0]} …", indent=2)
    screen.cut((progress_sentence(review.progress), "dim"))


def _report(screen: Screen, review: door.Review, applied: int, unused: int) -> None:
    progress = review.progress
    if screen.options.json:
        screen.json(_body(review, applied, unused))
        return
    screen.print(progress_sentence(progress))
    screen.print((stop_sentence(progress), "bold"))
    if unused:
        screen.print(f"{counted(unused, 'judgement')} of the file {'was' if unused == 1 else 'were'} not asked for.")
    screen.next(("review FOLDER --label {}", review.label), ("find FOLDER {}", f"label:{phrase(review.label)}"))


def _body(review: door.Review, applied: int, unused: int) -> dict[str, Any]:
    progress, proposed = review.progress, review.next()
    following = None
    if proposed is not None:
        document = review.collection.documents.many([proposed[0]], texts=False)[0]
        following = {"id": document.id, "title": document.title, "drawn": proposed[1]}
    return {
        "label": review.label, **asdict(progress), "enough": progress.enough, "applied": applied, "unused": unused,
        "next": following,
    }  # fmt: skip
