"""Review of relevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query

from topiarist.collection.review.reading_order import ReviewProgress
from topiarist.collection.review.review import Review, list_started_reviews
from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.display.review_sentences import (
    describe_kept_label_of,
    describe_progress,
    describe_selection,
    describe_stopping,
    format_lower_bound,
)
from topiarist.errors import UsageError
from topiarist.text.highlights import split_at_spans
from topiarist.web import addresses
from topiarist.web.query_limits import StoppedError, run_timed_search
from topiarist.web.reviews import ReviewRequest
from topiarist.web.values import Choice, Pieces, Step, display_title, link, list_path
from topiarist.web.view import View

LETTERS = 20_000  # of a text that are shown; the rest is on the page of the document
SKIPPED = 20  # documents that were skipped, in the list of them
ENOUGH = 0.95  # by default: the share that is to be found, and the confidence
USUAL = (0.8, 0.9, ENOUGH, 0.98, 0.99)
SAID = {"y": "relevant", "n": "not relevant", "skip": "skipped"}
OPENED = "chosen by you"


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    label: Annotated[str, Query(max_length=1_000, description="the label that relevant documents get")] = ""
    query: Annotated[str, Query(max_length=2_000, description="query that orders the first documents")] = ""
    target: Annotated[float, Query(ge=0.5, le=0.999, description="the share that is to be found")] = ENOUGH
    confidence: Annotated[float, Query(ge=0.5, le=0.999, description="how sure that is to be")] = ENOUGH
    id: Annotated[str, Query(max_length=10_000, description="this document next: one that was skipped, perhaps")] = ""
    undone: Annotated[str, Query(max_length=10_000, description="the document whose answer was taken back")] = ""


@dataclass(frozen=True)
class Line:
    """Link to a started review."""

    label: str
    said: str
    address: str


@dataclass(frozen=True, kw_only=True)
class NextDocument:
    """Document that is judged next."""

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
    """Progress of a review with the next document, or the list of reviews."""

    label: str
    query: str
    target: float
    confidence: float
    begun: tuple[Line, ...] = ()
    usual: tuple[float, ...] = ()
    number: int = 0  # of the answer that was made last
    progress: ReviewProgress | None = None
    sentence: str = ""
    stop: str = ""
    enough: bool = False
    found: str = ""  # of all that is relevant, at least
    notes: tuple[str, ...] = ()
    stays: str = ""  # that a document whose answer was taken back has the label all the same
    next: NextDocument | None = None
    last: Choice | None = None  # the document that was judged last, and what was said of it
    last_said: str = ""
    skipped: tuple[Choice, ...] = ()
    more_skipped: int = 0
    relevant: str = ""  # the address of what was found


def load(view: View, ask: Ask) -> ReviewPage:
    """Return a review with its next document; without a label, the list of reviews."""
    label = " ".join(ask.label.split())
    if not label:
        return _build_first_page(view, ask)
    review_request = ReviewRequest(label, ask.query.strip(), ask.target, ask.confidence)
    with view.reviews.acquire(review_request) as review:
        progress, last, skipped = review.progress, review.last, review.skipped()
        shown_documents = view.collection.documents.load_many(
            [*skipped[:SKIPPED], *([last[0]] if last else ())], texts=False
        )
        names = [link(display_title(item.title, item.id), addresses.document(item.id)) for item in shown_documents]
        row, draw, notes = _choose_next(view, ask, review)
        return ReviewPage(
            label=label,
            query=ask.query,
            target=ask.target,
            confidence=ask.confidence,
            number=review.number,
            progress=progress,
            sentence=describe_progress(progress),
            stop=describe_stopping(progress),
            enough=progress.enough,
            found=format_lower_bound(progress.recall_least),
            notes=(*notes, *_list_notes(ask, review)),
            stays=_describe_kept_label(view, ask, review),
            next=None if row is None else _describe_document(view, ask, row, draw),
            last=names[-1] if last else None,
            last_said=translate(SAID[last[1]]) if last else "",
            skipped=tuple(
                link(name.name, format_address(review_request, id=item.id))
                for item, name in zip(shown_documents, names[: len(skipped)], strict=False)
            ),
            more_skipped=max(len(skipped) - SKIPPED, 0),
            relevant=addresses.labelled_documents(label),
        )


def _build_first_page(view: View, ask: Ask) -> ReviewPage:
    """Return the list of started reviews."""
    lines = tuple(
        Line(
            item.label,
            translate(
                "{documents} judged, {found} relevant", documents=CountedNoun(item.judged, "document"), found=item.found
            )
            + (translate(", {number} skipped", number=item.skipped) if item.skipped else ""),
            addresses.review(item.label),
        )
        for item in list_started_reviews(view.collection)
    )
    return ReviewPage(label="", query=ask.query, target=ask.target, confidence=ask.confidence, begun=lines, usual=USUAL)


def format_address(review_request: ReviewRequest, **values: object) -> str:
    """Return the address of a review without default values."""
    defaults = vars(ReviewRequest("", "", ENOUGH, ENOUGH))
    fields = {
        name: value for name, value in vars(review_request).items() if name != "label" and value != defaults[name]
    }
    return addresses.review(review_request.label, **fields, **values)


def _choose_next(view: View, ask: Ask, review: Review) -> tuple[int | None, str, tuple[str, ...]]:
    """Return row and selection of the next document, with notes; no row if all are judged."""
    notes: tuple[str, ...] = ()
    if ask.id:
        row = view.collection.documents.row_of(ask.id)
        if row not in review.order.answers:
            return row, describe_selection("given") if row in review.order.skipped else translate(OPENED), notes
        notes = (translate("The requested document is already judged. This is the next one."),)
    proposal = review.next()
    return (None, "", notes) if proposal is None else (proposal[0], describe_selection(proposal[1]), notes)


def _describe_kept_label(view: View, ask: Ask, review: Review) -> str:
    """Return a note if the document keeps its label after an undo; empty otherwise."""
    documents = view.collection.documents
    row = documents.row_of(ask.undone) if ask.undone and ask.undone in documents else None
    if row is None or row in review.order.answers or not review.has_label(row):
        return ""
    item = documents.load_many([row], texts=False)[0]
    return describe_kept_label_of(display_title(item.title, item.id), review.label)


def _list_notes(ask: Ask, review: Review) -> tuple[str, ...]:
    """Return notes on a query without hits and on skipped documents."""
    result, progress = [], review.progress
    if ask.query.strip() and not progress.found and not review.starts_from_query:
        result.append(
            translate("No hits for “{query}”. The review starts with random documents.", query=ask.query.strip())
        )
    if progress.skipped:
        skipped = CountedNoun(progress.skipped, "document was", "documents were")
        result.append(translate("{documents} skipped and counted as missing.", documents=skipped))
    return tuple(result)


def _describe_document(view: View, ask: Ask, row: int, draw: str) -> NextDocument:
    """Return the next document with its first text, query words marked."""
    document = view.collection.documents.get(row)
    text = document.text[:LETTERS]
    return NextDocument(
        id=document.id,
        title=display_title(document.title, document.id),
        address=addresses.document(document.id),
        drawn=draw,
        date=document.date[:10],
        path=list_path(view, int(view.assigned_nodes[row]))[1:],
        text=_mark_pieces(view, ask.query, text),
        more=len(document.text) - len(text),
    )


def _mark_pieces(view: View, query: str, text: str) -> Pieces:
    """Return a text in pieces with query words marked; unmarked if the search fails."""
    try:
        matches = run_timed_search(view, query, "both").mark(text) if query.strip() else ()
    except (UsageError, StoppedError):
        matches = ()
    return split_at_spans(text, 0, matches) if matches else ((text, False),)
