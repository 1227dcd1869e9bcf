"""What is relevant here, is all of it found, and when may I stop?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.query_limits import StoppedError, asked
from topiarist.app.explorer.reviews import Wanted
from topiarist.app.explorer.values import Choice, Pieces, Step, link, path_to, titled
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.app.review_words import at_least, how_drawn, label_stays_at, progress_sentence, stop_sentence
from topiarist.collection import Review, ReviewProgress, begun_reviews
from topiarist.errors import UsageError
from topiarist.text.highlights import cut

LETTERS = 20_000  # of a text that are shown; the rest is on the page of the document
SKIPPED = 20  # documents that were skipped, in the list of them
ENOUGH = 0.95  # by default: the share that is to be found, and the confidence
USUAL = (0.8, 0.9, ENOUGH, 0.98, 0.99)
SAID = {"y": "relevant", "n": "not relevant", "skip": "skipped"}
OPENED = "chosen by you"


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    label: Annotated[str, Query(max_length=1_000, description="the label that relevant documents get")] = ""
    query: Annotated[str, Query(max_length=2_000, description="where to begin while nothing is found")] = ""
    target: Annotated[float, Query(ge=0.5, le=0.999, description="the share that is to be found")] = ENOUGH
    confidence: Annotated[float, Query(ge=0.5, le=0.999, description="how sure that is to be")] = ENOUGH
    id: Annotated[str, Query(max_length=10_000, description="this document next: one that was skipped, perhaps")] = ""
    undone: Annotated[str, Query(max_length=10_000, description="the document whose answer was taken back")] = ""


@dataclass(frozen=True)
class Line:
    """A review that has begun."""

    label: str
    said: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """The document to judge next."""

    id: str
    title: str
    address: str
    drawn: str
    date: str
    path: tuple[Step, ...]
    text: Pieces
    more: int  # letters that are not shown


@dataclass(frozen=True, kw_only=True)
class ReviewPage:
    """A review: the next document and what is known so far; or where to begin one."""

    label: str
    query: str
    target: float
    confidence: float
    begun: tuple[Line, ...]
    usual: tuple[float, ...]
    number: int  # of the answer that was made last
    progress: ReviewProgress | None
    sentence: str
    stop: str
    enough: bool
    found: str  # of all that is relevant, at least
    notes: tuple[str, ...]
    stays: str  # that a document whose answer was taken back has the label all the same
    next: Proposed | None
    last: Choice | None  # the document that was judged last, and what was said of it
    last_said: str
    skipped: tuple[Choice, ...]
    more_skipped: int
    relevant: str  # the address of what was found


def load(view: View, ask: Ask) -> ReviewPage:
    """Fill the page."""
    label = " ".join(ask.label.split())
    if not label:
        return _beginning(view, ask)
    wanted = Wanted(label, ask.query.strip(), ask.target, ask.confidence)
    with view.reviews.taken(wanted) as review:
        progress, last, skipped = review.progress, review.last, review.skipped()
        shown = view.collection.documents.many([*skipped[:SKIPPED], *([last[0]] if last else ())], texts=False)
        names = [link(titled(one.title, one.id), addresses.document(one.id)) for one in shown]
        row, drawn, notes = _next(view, ask, review)
        return ReviewPage(
            label=label,
            query=ask.query,
            target=ask.target,
            confidence=ask.confidence,
            begun=(),
            usual=(),
            number=review.number,
            progress=progress,
            sentence=progress_sentence(progress),
            stop=stop_sentence(progress),
            enough=progress.enough,
            found=at_least(progress.recall_least),
            notes=(*notes, *_notes(ask, review)),
            stays=_stays(view, ask, review),
            next=None if row is None else _proposed(view, ask, row, drawn),
            last=names[-1] if last else None,
            last_said=worded(SAID[last[1]]) if last else "",
            skipped=tuple(
                link(name.name, address_of(wanted, id=one.id))
                for one, name in zip(shown, names[: len(skipped)], strict=False)
            ),
            more_skipped=max(len(skipped) - SKIPPED, 0),
            relevant=addresses.labelled(label),
        )


def _beginning(view: View, ask: Ask) -> ReviewPage:
    lines = tuple(
        Line(
            one.label,
            worded("{documents} judged, {found} relevant", documents=Counted(one.judged, "document"), found=one.found)
            + (worded(", {number} skipped", number=one.skipped) if one.skipped else ""),
            addresses.review(one.label),
        )
        for one in begun_reviews(view.collection)
    )
    return ReviewPage(
        label="",
        query=ask.query,
        target=ask.target,
        confidence=ask.confidence,
        begun=lines,
        usual=USUAL,
        number=0,
        progress=None,
        sentence="",
        stop="",
        enough=False,
        found="",
        notes=(),
        stays="",
        next=None,
        last=None,
        last_said="",
        skipped=(),
        more_skipped=0,
        relevant="",
    )


def address_of(wanted: Wanted, **values: object) -> str:
    """A review, with what is not as usual."""
    known = vars(Wanted("", "", ENOUGH, ENOUGH))
    told = {name: value for name, value in vars(wanted).items() if name != "label" and value != known[name]}
    return addresses.review(wanted.label, **told, **values)


def _next(view: View, ask: Ask, review: Review) -> tuple[int | None, str, tuple[str, ...]]:
    """The document that was asked for, or the one that is proposed; and what is to be said of that."""
    notes: tuple[str, ...] = ()
    if ask.id:
        row = view.collection.documents.row_of(ask.id)
        if row not in review.order.answers:
            return row, how_drawn("given") if row in review.order.skipped else worded(OPENED), notes
        notes = (worded("The document that was asked for is judged already; this is the next one."),)
    proposed = review.next()
    return (None, "", notes) if proposed is None else (proposed[0], how_drawn(proposed[1]), notes)


def _stays(view: View, ask: Ask, review: Review) -> str:
    """What is to be said after an answer was taken back: its document may have the label all the same."""
    documents = view.collection.documents
    row = documents.row_of(ask.undone) if ask.undone and documents.has(ask.undone) else None
    if row is None or row in review.order.answers or not review.labelled(row):
        return ""
    one = documents.many([row], texts=False)[0]
    return label_stays_at(titled(one.title, one.id), review.label)


def _notes(ask: Ask, review: Review) -> tuple[str, ...]:
    found, progress = [], review.progress
    if ask.query.strip() and not progress.found and not review.starts_from_query:
        found.append(worded("Nothing is found by “{query}”: the review begins at random.", query=ask.query.strip()))
    if progress.skipped:
        skipped = Counted(progress.skipped, "document was", "documents were")
        found.append(worded("{documents} skipped: until judged, it counts as unfound.", documents=skipped))
    return tuple(found)


def _proposed(view: View, ask: Ask, row: int, drawn: str) -> Proposed:
    document = view.collection.documents.get(row)
    text = document.text[:LETTERS]
    return Proposed(
        id=document.id,
        title=titled(document.title, document.id),
        address=addresses.document(document.id),
        drawn=drawn,
        date=document.date[:10],
        path=path_to(view, int(view.homes[row]))[1:],
        text=_pieces(view, ask.query, text),
        more=len(document.text) - len(text),
    )


def _pieces(view: View, query: str, text: str) -> Pieces:
    """The text, with what the query means marked; plain, where the query cannot be asked."""
    try:
        marked = asked(view, query, "both").marked(text) if query.strip() else ()
    except (UsageError, StoppedError):
        marked = ()
    return cut(text, 0, marked) if marked else ((text, False),)
