"""What does it say, and why is it here?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.asking import StoppedError, asked
from topiarist.app.explorer.gone import LeftOutError
from topiarist.app.explorer.originals import changed_since, original_of
from topiarist.app.explorer.pages import topic as topic_page
from topiarist.app.explorer.pages.coloured import MOST_WORDS, Coloured, Level, Listed, Piece, coloured
from topiarist.app.explorer.pages.search import Reason, reasons
from topiarist.app.explorer.rendering import plain
from topiarist.app.explorer.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Pieces,
    Place,
    Step,
    path_to,
    read_among,
    titled,
)  # fmt: skip
from topiarist.app.explorer.view import LEAST, View
from topiarist.collection.find.search import Likeness
from topiarist.errors import UsageError
from topiarist.estimators.tree.abstraction import ghost_words
from topiarist.store import facts
from topiarist.text.highlights import cut, spots
from topiarist.text.query import Query as Parsed
from topiarist.text.readers.making import storable

SIMILAR = 6
GHOSTS = 5


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page: a document, the list that it was opened from, how to colour it."""

    id: Annotated[str, Query(max_length=10_000)] = ""
    topic: Annotated[int | None, Query(description="the topic whose list it was opened from")] = None
    sort: topic_page.Sort = "typical"
    show: topic_page.Show = "all"
    q: Annotated[str, Query(max_length=2_000, description="the search that it was opened from")] = ""
    by: Literal["words", "meaning", "both"] = "words"
    within: Annotated[int | None, Query(description="the topic that the search was narrowed to")] = None
    at: Annotated[int, Query(ge=1, le=10_000_000, description="its place in the search")] = 1
    colour: Annotated[Literal["level", "topic", "none"], Query(description="colour words by this")] = "level"
    level: Annotated[int | None, Query(ge=0, le=1_000, description="only words of this level")] = None
    part: Annotated[int | None, Query(ge=1, le=1_000_000, description="of a long document")] = None
    underline: Annotated[bool, Query(description="say by lines and numbers too what colours say")] = True


@dataclass(frozen=True)
class Ghosts:
    """Words of a level that one would expect and that are not there."""

    name: str
    level: int
    words: tuple[Choice, ...]


@dataclass(frozen=True)
class Similar:
    """A document like this one, and why."""

    document: DocumentLine
    why: tuple[Reason, ...]


@dataclass(frozen=True)
class DocumentPage:
    """A document: its text with the level of every word, its places, others like it."""

    id: str
    title: str
    heading: Pieces  # the title, with what a search has found in it
    query: str  # the search that it was opened from
    by: str
    source: str
    date: str
    words: int
    labels: tuple[Choice, ...]
    tags: tuple[str, ...]
    read: bool
    pinned: tuple[Step, ...]
    places: tuple[Place, ...]
    rest: float  # shares below one in a hundred, together
    hard: bool
    colour: str
    colours: tuple[Choice, ...]
    levels: tuple[Level, ...]
    only: tuple[Choice, ...]
    only_level: int | None
    underline: Choice  # the page with lines and numbers under words, or without; chosen: with
    listed: tuple[Listed, ...]
    pieces: tuple[Piece, ...]
    parts: tuple[Choice, ...]
    ghosts: tuple[Ghosts, ...]
    similar: tuple[Similar, ...]
    original: str  # its text, to keep
    file: str  # the file that it was read from, where that still lies
    file_changed: bool  # it was written since the collection was grown
    previous: str
    next: str
    up: str
    position: str
    language: str
    home: int  # the topic that has most of it


def load(view: View, ask: Ask) -> DocumentPage:
    """Fill the page."""
    collection = view.collection
    row = _row(view, ask.id)
    document = collection.documents.get(row)
    query = Parsed() if ask.by == "meaning" else asked(view, ask.q, ask.by).query
    painted = coloured(
        view, row, document.text, by=ask.colour, only=ask.level, part=ask.part, found=spots(document.text, query)
    )
    title = titled(document.title, document.id, " ".join(document.text[:200].split()))
    places, rest = _places(view, row)
    previous, following, up, position = _around(view, ask, row)
    pinned = view.shape.pins.get(document.id)
    language = collection.settings.get("language", "")
    return DocumentPage(
        document.id, title, cut(plain(title), 0, spots(plain(title), query)), ask.q, ask.by, document.source,
        document.date, int(painted.words),
        tuple(Choice(label, addresses.labelled(label), False) for label in document.labels),
        collection.marks.tags_of([row])[0], bool(read_among(view, [row])),
        () if pinned is None else path_to(view, view.shape.node(pinned))[1:],
        places, rest, bool(view.hard[row]), ask.colour,
        tuple(Choice(name, _here(ask, colour=colour, level=None), colour == ask.colour)
              for colour, name in (("level", "level"), ("topic", "topic"), ("none", "none"))),
        tuple(_leading(ask, painted, level) for level in painted.levels),
        (Choice("all levels", _here(ask, level=None), ask.level is None), *(
            Choice(f"level {level.level}", _here(ask, level=level.level), level.level == ask.level)
            for level in painted.levels)),
        ask.level, Choice("underline", _here(ask, underline="no" if ask.underline else None), ask.underline),
        painted.listed, painted.pieces, _parts(ask, painted), _ghosts(view, row, painted),
        _similar(view, row), addresses.original(document.id, text=1),
        addresses.original(document.id) if original_of(view, row, document.source) else "",
        changed_since(view, row, document.source),
        previous, following, up, position,
        language if language.isalpha() else "", view.shape.topics[int(view.homes[row])],
    )  # fmt: skip


def _row(view: View, id: str) -> int:
    """Where a document is; where its file was left out, why."""
    try:
        return view.collection.documents.row_of(id)
    except UsageError:
        reason = facts.left_out(view.collection.generation.database, storable(id))
        if not reason:
            raise
        said = "This file held no text." if reason == "no text" else f"This file was not read: {reason}."
        raise LeftOutError(said, hint="the list of what was left out, on the page of the model") from None


def _here(ask: Ask, **changed: object) -> str:
    """This page otherwise."""
    usual = Ask()
    known = {name: value for name, value in vars(ask).items() if name != "id" and value != getattr(usual, name)}
    if not ask.underline:
        known["underline"] = "no"
    return addresses.document(ask.id, **{**known, **changed})


def _leading(ask: Ask, painted: Coloured, level: Level) -> Level:
    """A level with the address of the part of a long document that has most of it."""
    return replace(level, densest=_here(ask, part=level.part)) if painted.parts > 1 and level.share else level


def _places(view: View, row: int) -> tuple[tuple[Place, ...], float]:
    shares = view.collection.shares[[row]].toarray()[0].astype(np.float64)
    ends = np.bincount(view.shape.class_nodes, shares, minlength=len(view.tree))
    best = [node for node in np.argsort(-ends, kind="stable").tolist() if ends[node] >= LEAST]
    return (
        tuple(Place(path_to(view, node)[1:] or path_to(view, node), float(ends[node])) for node in best),
        float(max(0.0, 1.0 - sum(ends[node] for node in best))),
    )


def _parts(ask: Ask, painted: Coloured) -> tuple[Choice, ...]:
    if painted.parts < 2:
        return ()
    return tuple(
        Choice(f"part {number}", _here(ask, part=number), number == painted.part, f"{MOST_WORDS:,} words")
        for number in range(1, painted.parts + 1)
    )


def _around(view: View, ask: Ask, row: int) -> tuple[str, str, str, str]:
    """The document before and after in the list that this one was opened from, the list, and where in it we are.

    A list that is not there any more, or takes too long, is no reason not to show the document.
    """
    try:
        return _in_list(view, ask, row)
    except (UsageError, StoppedError):
        return _in_list(view, Ask(ask.id), row)


def _in_list(view: View, ask: Ask, row: int) -> tuple[str, str, str, str]:
    if ask.q.strip():
        start = max(ask.at - 2, 0)
        found = asked(view, ask.q, ask.by).page(3, start, topic=ask.within)
        by = None if ask.by == "words" else ask.by
        near = {start + place + 1: hit.id for place, hit in enumerate(found.hits)}
        links = [
            addresses.document(near[at], q=ask.q, by=by, within=ask.within, at=at) if at in near else ""
            for at in (ask.at - 1, ask.at + 1)
        ]
        page = (ask.at - 1) // PER_PAGE + 1
        up = addresses.search(ask.q, by=by, topic=ask.within, page=page if page > 1 else None)
        return (
            links[0],
            links[1],
            f"{up}#{addresses.anchor(ask.id)}",
            f"{ask.at:,} of {found.total:,} that match “{ask.q}”",
        )
    topic = view.shape.topics[int(view.homes[row])] if ask.topic is None else ask.topic
    node = view.shape.node(topic)
    rows = topic_page.rows_of(view, node, ask.sort, ask.show)
    values = {
        "topic": topic, "sort": None if ask.sort == "typical" else ask.sort,
        "show": None if ask.show == "all" else ask.show,
    }  # fmt: skip
    places = np.flatnonzero(rows == row)
    inside = {name: value for name, value in values.items() if name != "topic"}
    if not len(places):
        return "", "", addresses.topic(topic, **inside), ""
    place = int(places[0])
    wanted = [at if 0 <= at < len(rows) else None for at in (place - 1, place + 1)]
    ids = [
        view.collection.documents.many([int(rows[at])], texts=False)[0].id if at is not None else "" for at in wanted
    ]
    links = [addresses.document(id, **values) if at is not None else "" for id, at in zip(ids, wanted, strict=True)]
    page = place // PER_PAGE + 1
    up = addresses.topic(topic, **inside, page=page if page > 1 else None)
    return (
        links[0],
        links[1],
        f"{up}#{addresses.anchor(ask.id)}",
        f"{place + 1:,} of {len(rows):,} under {view.names[node]}",
    )


def _ghosts(view: View, row: int, painted: Coloured) -> tuple[Ghosts, ...]:
    """Expected but absent, level by level: words that may serve as index terms."""
    collection, depths = view.collection, np.array(view.tree.depths)[view.shown_nodes]
    shares = collection.shares[[row]].toarray()
    chosen, _ = ghost_words(collection.counts[[row]], collection.tree_model, shares, GHOSTS, depths)
    words, names = collection.counting.vocabulary.words, {level.level: level.name for level in painted.levels}
    return tuple(
        Ghosts(names.get(level, ""), level, tuple(
            Choice(words[column], addresses.word(words[column]), False) for column in columns if column >= 0))
        for level, columns in enumerate(chosen[0].tolist()) if level > 0 and any(column >= 0 for column in columns)
    )  # fmt: skip


def _similar(view: View, row: int) -> tuple[Similar, ...]:
    """Documents like this one; how much, as a share of what it has in common with itself."""
    likeness = Likeness(view.collection, row)
    found, whole = likeness.page(SIMILAR, why=True), max(likeness.to_itself(row), 1e-12)
    return tuple(
        Similar(
            DocumentLine(
                hit.id, titled(hit.title, hit.id, "".join(text for text, _ in hit.snippet)),
                addresses.document(hit.id), (), hit.date[:10], hit.place.share, min(hit.score / whole, 1.0),
                path_to(view, view.shape.node(hit.place.topic))[1:], hit.labels,
            ),
            reasons(hit.why),
        )
        for hit in found.hits
    )  # fmt: skip
