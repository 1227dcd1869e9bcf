"""What does it say, and why is it here?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages import topic as topic_page
from topiarist.app.explorer.pages.coloured_text import MOST_WORDS, Coloured, Level, Listed, Piece, coloured
from topiarist.app.explorer.pages.search import Reason, reasons
from topiarist.app.explorer.query_limits import LOOKED_AT, StoppedError, asked
from topiarist.app.explorer.removed_topics import LeftOutError
from topiarist.app.explorer.rendering import plain
from topiarist.app.explorer.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Pieces,
    Place,
    Step,
    choices,
    link,
    path_to,
    titled,
)
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import all_worded, worded
from topiarist.collection import DEFAULT_WAY, Found, Likeness, Voices, copies_of, look_at_whole, rows_of, voices
from topiarist.errors import UsageError
from topiarist.store import facts
from topiarist.store.marks import PassageNote
from topiarist.text.fields import Field
from topiarist.text.highlights import cut
from topiarist.text.query import Filter, field_key, parse
from topiarist.text.readers.making import storable

SIMILAR = 6
GHOSTS = 5
PLAIN = {"why": None, "colour": None, "level": None, "underline": None}  # an address that asks for none of it
PASSAGES = 60  # of a whole document that are listed
COLOURS = {"level": "level", "topic": "topic", "none": "none"}


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page: a document, the list that it was opened from, how to colour it."""

    id: Annotated[str, Query(max_length=10_000)] = ""
    topic: Annotated[int | None, Query(description="the topic whose list it was opened from")] = None
    sort: topic_page.Sort = "typical"
    show: topic_page.Show = "all"
    q: Annotated[str, Query(max_length=2_000, description="the search that it was opened from")] = ""
    by: Literal["words", "meaning", "both"] = "both"
    within: Annotated[int | None, Query(description="the topic that the search was narrowed to")] = None
    at: Annotated[int, Query(ge=1, le=10_000_000, description="its place in the search")] = 1
    colour: Annotated[Literal["level", "topic", "none"], Query(description="colour words by this")] = "level"
    level: Annotated[int | None, Query(ge=0, le=1_000, description="only words of this level")] = None
    part: Annotated[int | None, Query(ge=1, le=1_000_000, description="of a long document")] = None
    underline: Annotated[bool, Query(description="say by lines and numbers too what colours say")] = True
    note: Annotated[int | None, Query(ge=1, description="a note: the part of a long document that has it")] = None
    why: Annotated[bool, Query(description="show why it is here: levels, shares, words that are missing")] = False


@dataclass(frozen=True)
class Ghosts:
    """Words of a level that one would expect and that are not there."""

    name: str
    level: int
    words: tuple[Choice, ...]


@dataclass(frozen=True)
class Column:
    """What else is known of a document: a column, and its values, each an address of documents that have it too."""

    name: str
    values: tuple[Choice, ...]


@dataclass(frozen=True)
class Noted:
    """A note on a passage of the text."""

    passage: int
    number: int  # of its newest entry
    quote: str
    note: str
    time: str
    address: str  # the page with the part of the text that it is on


@dataclass(frozen=True)
class Similar:
    """A document like this one, and why."""

    document: DocumentLine
    why: tuple[Reason, ...]


@dataclass(frozen=True)
class WholeTopic:
    """A topic of a whole document: its share of all passages, and how many lie there."""

    path: tuple[Step, ...]
    share: float
    passages: int


@dataclass(frozen=True)
class WholeDocument:
    """The document that a passage belongs to: its topics over all passages, and the passages with where they lie."""

    id: str
    title: str
    label: str  # which part of it this is
    previous: str  # the passages around it
    next: str
    n_passages: int
    topics: tuple[WholeTopic, ...]
    passages: tuple[tuple[Choice, tuple[Step, ...]], ...]
    more: int  # passages that are not listed


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    """A document: its text with the level of every word, its places, others like it."""

    id: str
    title: str
    heading: Pieces  # the title, with what a search has found in it
    query: str  # the search that it was opened from
    by: str
    source: str
    date: str
    given_date: str  # as it was given, where it is written otherwise
    columns: tuple[Column, ...]
    words: int
    labels: tuple[Choice, ...]
    tags: tuple[str, ...]
    read: bool
    notes: tuple[Noted, ...]  # on passages, in the order of the text
    last_note: int  # the newest change of them, which can be undone; 0 for none
    pinned: tuple[Step, ...]
    places: tuple[Place, ...]
    rest: float  # shares below one in a hundred, together
    hard: bool
    voices: Voices | None  # which of words and vector decided, where it has both
    colour: str
    colours: tuple[Choice, ...]
    levels: tuple[Level, ...]
    only: tuple[Choice, ...]
    only_level: int | None
    why: Choice  # the page with what says why it is here, or without; chosen: with
    underline: Choice  # the page with lines and numbers under words, or without; chosen: with
    listed: tuple[Listed, ...]
    pieces: tuple[Piece, ...]
    pieces_from: int  # where in the text they begin: a long one is shown in parts
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
    uncounted: int  # lines of it that many documents share: they are not counted, and grey
    copy_of: Choice | None  # the first of its kind, where it is not that
    copies: int  # others of its kind
    copies_address: str
    home: int  # the topic that has most of it
    whole: WholeDocument | None  # that it is a passage of


def load(view: View, ask: Ask) -> DocumentPage:
    """Fill the page."""
    collection = view.collection
    row = _row(view, ask.id)
    document = collection.documents.get(row)
    search = asked(view, "" if ask.by == "meaning" else ask.q, ask.by)
    found = search.marked(document.text)
    notes = collection.passage_notes.of([row]).get(row, ())
    at = [one.start for one in notes if one.passage == ask.note]
    painted = coloured(
        view, row, document.text, by=ask.colour, only=ask.level, part=ask.part, found=found, notes=notes, at=at
    )
    title, copies = titled(document.title, document.id), copies_of(collection, row)
    ends, original = view.ends(row), view.original_of(row, document.source)
    previous, following, up, position = _around(view, ask, row)
    pinned = view.shape.pins.get(document.id)
    language = collection.settings.get("language", "")
    levels: dict[int | None, str] = {None: worded("all levels")}
    levels |= {one.level: worded("level {level}", level=one.level) for one in painted.levels}
    return DocumentPage(
        id=document.id,
        title=title,
        heading=cut(plain(title), 0, search.marked(plain(title))),
        query=ask.q,
        by=ask.by,
        source=document.source,
        date=document.date,
        given_date=collection.dates.given([row]).get(row, ""),
        columns=_columns(view, row),
        words=int(painted.words),
        labels=tuple(link(label, addresses.labelled(label)) for label in document.labels),
        tags=collection.marks.tags_of([row])[0],
        read=bool(view.collection.marks.read_among([row])),
        notes=tuple(_noted(ask, painted, one) for one in notes),
        last_note=collection.passage_notes.last(row),
        pinned=() if pinned is None else path_to(view, view.shape.node(pinned))[1:],
        places=tuple(Place(path_to(view, node)[1:] or path_to(view, node), float(ends[node])) for node in ends),
        rest=float(max(0.0, 1.0 - sum(ends.values()))),
        hard=bool(view.hard[row]),
        voices=voices(view.collection, row),
        colour=ask.colour,
        colours=choices(all_worded(COLOURS), ask.colour, lambda colour: _here(ask, colour=colour, level=None)),
        levels=tuple(_leading(ask, painted, level) for level in painted.levels),
        only=choices(levels, ask.level, lambda level: _here(ask, level=level)),
        only_level=ask.level,
        why=Choice("why here?", _here(ask, **PLAIN) if _asks_why(ask) else _here(ask, why=1), _asks_why(ask)),
        underline=Choice("underline", _here(ask, underline="no" if ask.underline else None), ask.underline),
        listed=painted.listed,
        pieces=painted.pieces,
        pieces_from=(0, *painted.starts)[painted.part - 1],
        parts=_parts(ask, painted),
        ghosts=_ghosts(view, row, painted),
        similar=_similar(view, row),
        original=addresses.original(document.id, text=1),
        file="" if original is None else addresses.original(document.id),
        file_changed=view.is_changed(original),
        previous=previous,
        next=following,
        up=up,
        position=position,
        language=language if language.isalpha() else "",
        uncounted=painted.uncounted,
        copy_of=next(
            (link(titled(one.title, one.id), addresses.document(one.id)) for one in copies if one.row != row), None
        ),
        copies=sum(len(one.copies) for one in copies),
        copies_address=addresses.duplicates(id=document.id) if copies else "",
        home=view.shape.topics[int(view.homes[row])],
        whole=_whole(view, row, document.id),
    )


def _whole(view: View, row: int, id: str) -> WholeDocument | None:
    """The whole of a passage; of many passages those around this one are listed."""
    found = look_at_whole(view.collection, id)
    if found is None:
        return None
    passages, place = found.whole.passages, found.whole.rows.index(row)
    start = max(0, min(place - PASSAGES // 2, len(passages) - PASSAGES))
    shown = range(start, min(start + PASSAGES, len(passages)))
    around = [addresses.document(passages[at].id) if 0 <= at < len(passages) else "" for at in (place - 1, place + 1)]
    return WholeDocument(
        id=found.document.id,
        title=found.document.title,
        label=passages[place].label,
        previous=around[0],
        next=around[1],
        n_passages=len(passages),
        topics=tuple(
            WholeTopic(path_to(view, view.shape.node(one.topic))[1:], one.share, found.passages_under(one.topic))
            for one in found.places
        ),
        passages=tuple(
            (
                Choice(passages[at].label, addresses.document(passages[at].id), at == place),
                path_to(view, view.shape.node(found.lying[at].topic))[1:],
            )
            for at in shown
        ),
        more=len(passages) - len(shown),
    )


def _columns(view: View, row: int) -> tuple[Column, ...]:
    """The columns of a document; what can be searched for leads to the documents that have it too."""
    own = view.collection.columns.of([row]).get(row, {})
    return tuple(
        Column(one.name, tuple(link(value, _with_value(view, one, value)) for value in own[one.name]))
        for one in view.collection.fields
        if one.name in own
    )


def _with_value(view: View, field: Field, value: str) -> str:
    """The address of the documents with a value; empty where it cannot be typed."""
    condition = Filter(field_key(field), value, column=field.name, of=field.kind)
    fits = parse(str(condition), view.collection.fields).items == (condition,)
    return addresses.search(str(condition)) if fits else ""


def _row(view: View, id: str) -> int:
    """Where a document is; where its file was left out, why."""
    try:
        return rows_of(view.collection, id)[0]  # of a whole document, its first passage
    except UsageError:
        reason = facts.left_out(view.collection.generation.database, storable(id))
        if not reason:
            raise
        said = worded("This file held no text.")
        if reason != "no text":
            said = worded("This file was not read: {reason}.", reason=reason)
        raise LeftOutError(said, hint=worded("the list of what was left out, on the page of the model")) from None


def _here(ask: Ask, **changed: object) -> str:
    """This page otherwise."""
    usual = Ask()
    known = {name: value for name, value in vars(ask).items() if name != "id" and value != getattr(usual, name)}
    if not ask.underline:
        known["underline"] = "no"
    if ask.why:
        known["why"] = 1
    return addresses.document(ask.id, **{**known, **changed})


def _asks_why(ask: Ask) -> bool:
    """Whether more than reading is wanted: who asks for colours asks for it too."""
    return ask.why or ask.colour != "level" or ask.level is not None or not ask.underline


def _kept_why(ask: Ask) -> int | None:
    """Who reads a list with reasons goes on so."""
    return 1 if ask.why else None


def _leading(ask: Ask, painted: Coloured, level: Level) -> Level:
    """A level with the address of the part of a long document that has most of it."""
    return replace(level, densest=_here(ask, part=level.part)) if painted.parts > 1 and level.share else level


def _noted(ask: Ask, painted: Coloured, one: PassageNote) -> Noted:
    """A note, and where to read its passage."""
    part = painted.part_of(one.start) if painted.parts > 1 else None
    address = f"{_here(ask, part=part)}#{addresses.passage(one.passage)}"
    return Noted(one.passage, one.number, one.quote, one.note, one.time, address)


def _parts(ask: Ask, painted: Coloured) -> tuple[Choice, ...]:
    if painted.parts < 2:
        return ()
    return tuple(
        Choice(
            worded("part {number}", number=number),
            _here(ask, part=number),
            number == painted.part,
            f"{MOST_WORDS:,} words",
        )
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


def _place(ask: Ask, nearest: bool, found: Found) -> str:
    """Where in the list of a search a document is, and how long that is: as the list itself says it."""
    if nearest:
        some = min(found.total - found.folded, LOOKED_AT)
        return worded("{at} of the {total} closest to “{query}”", at=ask.at, total=some, query=ask.q)
    return worded("{at} of {total} that match “{query}”", at=ask.at, total=found.total, query=ask.q)


def _in_list(view: View, ask: Ask, row: int) -> tuple[str, str, str, str]:
    if ask.q.strip():
        start = max(ask.at - 2, 0)
        search = asked(view, ask.q, ask.by)
        found = search.page(3, start, topic=ask.within)
        by = None if ask.by == DEFAULT_WAY else ask.by
        near = {start + place + 1: hit.id for place, hit in enumerate(found.hits)}
        links = [
            addresses.document(near[at], q=ask.q, by=by, within=ask.within, at=at, why=_kept_why(ask))
            if at in near
            else ""
            for at in (ask.at - 1, ask.at + 1)
        ]
        page = (ask.at - 1) // PER_PAGE + 1
        up = addresses.search(ask.q, by=by, topic=ask.within, page=page if page > 1 else None)
        return (
            links[0],
            links[1],
            f"{up}#{addresses.anchor(ask.id)}",
            _place(ask, search.nearest, found),
        )
    topic = view.shape.topics[int(view.homes[row])] if ask.topic is None else ask.topic
    node = view.shape.node(topic)
    rows = topic_page.folded(view, topic_page.rows_of(view, node, ask.sort, ask.show))
    values = {
        "topic": topic,
        "sort": None if ask.sort == "typical" else ask.sort,
        "show": None if ask.show == "all" else ask.show,
    }
    places = (rows == row).nonzero()[0]
    inside = {name: value for name, value in values.items() if name != "topic"}
    if not len(places):
        return "", "", addresses.topic(topic, **inside), ""
    place = int(places[0])
    wanted = [at if 0 <= at < len(rows) else None for at in (place - 1, place + 1)]
    ids = [
        view.collection.documents.many([int(rows[at])], texts=False)[0].id if at is not None else "" for at in wanted
    ]
    values["why"] = _kept_why(ask)
    links = [addresses.document(id, **values) if at is not None else "" for id, at in zip(ids, wanted, strict=True)]
    page = place // PER_PAGE + 1
    up = addresses.topic(topic, **inside, page=page if page > 1 else None)
    return (
        links[0],
        links[1],
        f"{up}#{addresses.anchor(ask.id)}",
        worded("{at} of {total} under {name}", at=place + 1, total=len(rows), name=view.names[node]),
    )


def _ghosts(view: View, row: int, painted: Coloured) -> tuple[Ghosts, ...]:
    """Expected but absent, level by level: words that may serve as index terms."""
    names = {level.level: level.name for level in painted.levels}
    return tuple(
        Ghosts(names.get(level, ""), level, tuple(link(word, addresses.word(word)) for word in words))
        for level, words in enumerate(view.absent_words(row, GHOSTS))
        if level > 0 and words
    )


def _similar(view: View, row: int) -> tuple[Similar, ...]:
    """Documents like this one; how much, as a share of what it has in common with itself."""
    likeness = Likeness(view.collection, row)
    found, whole = likeness.page(SIMILAR, why=True), max(likeness.to_itself(row), 1e-12)
    return tuple(
        Similar(
            DocumentLine(
                id=hit.id,
                title=titled(hit.title, hit.id),
                address=addresses.document(hit.id),
                snippet=(),
                date=hit.date[:10],
                share=hit.place.share,
                score=min(hit.score / whole, 1.0),
                path=path_to(view, view.shape.node(hit.place.topic))[1:],
                labels=hit.labels,
            ),
            reasons(hit.why),
        )
        for hit in found.hits
    )
