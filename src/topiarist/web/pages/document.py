"""Document with its levels, topics and similar documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import Query

from topiarist.collection.classify.word_labels import find_word_labels
from topiarist.collection.copies import copies_of
from topiarist.collection.describe.documents import EvidenceComparison, compare_evidence, load_parent_details
from topiarist.collection.passages import rows_of
from topiarist.collection.search.results import SearchResult
from topiarist.collection.search.search import DEFAULT_METHOD, Search
from topiarist.collection.unsorted import explain_unsorted
from topiarist.display.first_sentence import describe_reason
from topiarist.display.locale.catalogues import translate, translate_table
from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.storage.marks import PassageNote
from topiarist.text.characters import to_storable
from topiarist.text.fields import Field
from topiarist.text.highlights import split_at_spans
from topiarist.text.query import Filter, field_key, parse
from topiarist.web import addresses
from topiarist.web.coloured_text import MAX_WORDS, ColouredText, Decision, Level, Listed, Piece, colour_text
from topiarist.web.pages import topic as topic_page
from topiarist.web.pages.search import Reason, list_reasons
from topiarist.web.query_limits import LOOKED_AT, StoppedError, run_timed_search
from topiarist.web.removed_topics import LeftOutError
from topiarist.web.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Pieces,
    Place,
    Step,
    build_hit_line,
    choices,
    display_title,
    link,
    list_path,
    plain,
)
from topiarist.web.view import View

SIMILAR = 6
GHOSTS = 5
PLAIN = {"why": None, "colour": None, "level": None, "underline": None}  # an address that asks for none of it
PASSAGES = 60  # of a whole document that are listed
COLOURS = {"decided": "deciding words", "level": "level", "topic": "topic", "label": "label", "none": "none"}


@dataclass(frozen=True)
class Ask:
    """Query parameters: a document, the list that it was opened from, and the colours of its words."""

    id: Annotated[str, Query(max_length=10_000)] = ""
    topic: Annotated[int | None, Query(description="the topic whose list it was opened from")] = None
    sort: topic_page.Sort = "typical"
    show: topic_page.Show = "all"
    q: Annotated[str, Query(max_length=2_000, description="the search that it was opened from")] = ""
    by: Literal["words", "meaning", "both"] = "both"
    within: Annotated[int | None, Query(description="the topic that the search was narrowed to")] = None
    at: Annotated[int, Query(ge=1, le=10_000_000, description="its place in the search")] = 1
    colour: Annotated[
        Literal["decided", "level", "topic", "label", "none"],
        Query(description="colour words by this; decided: only the words that decided, in the levels of all"),
    ] = "decided"
    level: Annotated[int | None, Query(ge=0, le=1_000, description="only words of this level")] = None
    part: Annotated[int | None, Query(ge=1, le=1_000_000, description="of a long document")] = None
    underline: Annotated[bool, Query(description="show levels by lines and numbers as well as by colours")] = True
    note: Annotated[int | None, Query(ge=1, description="a note: the part of a long document that has it")] = None
    why: Annotated[bool, Query(description="show why it is here: levels, shares, words that are missing")] = False


@dataclass(frozen=True)
class AbsentWords:
    """Absent words of one level."""

    name: str
    level: int
    words: tuple[Choice, ...]


@dataclass(frozen=True)
class Column:
    """Column of a document; each value links to the documents with the same value."""

    name: str
    values: tuple[Choice, ...]


@dataclass(frozen=True, kw_only=True)
class LinkedNote(PassageNote):
    """A note on a passage of the text, with the address of the part of the text."""

    address: str


@dataclass(frozen=True)
class Similar:
    """Similar document with an explanation."""

    document: DocumentLine
    why: tuple[Reason, ...]


@dataclass(frozen=True)
class WholeTopic:
    """Topic of a parent document, with its share and number of passages."""

    path: tuple[Step, ...]
    share: float
    passages: int


@dataclass(frozen=True)
class WholeDocument:
    """Parent document of a passage, with its topics and passages."""

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
    """Document with its coloured text, topics and similar documents."""

    id: str
    title: str
    heading: Pieces  # the title, with what a search has found in it
    query: str  # the search that it was opened from
    by: str
    source: str
    date: str
    given_date: str  # as it was given, where it is written otherwise
    has_file_date: bool  # the date is that of the file
    columns: tuple[Column, ...]
    words: int
    labels: tuple[Choice, ...]
    tags: tuple[str, ...]
    read: bool
    notes: tuple[LinkedNote, ...]  # on passages, in the order of the text
    last_note: int  # the newest change of them, which can be undone; 0 for none
    pinned: tuple[Step, ...]
    places: tuple[Place, ...]
    rest: float  # shares below one in a hundred, together
    hard: bool
    unsorted: str  # reason why it is unsorted
    voices: EvidenceComparison | None  # which of words and vector decided, where it has both
    colour: str
    colours: tuple[Choice, ...]
    levels: tuple[Level, ...]
    only: tuple[Choice, ...]
    only_level: int | None
    why: Choice  # the page with what says why it is here, or without; chosen: with
    underline: Choice  # the page with lines and numbers under words, or without; chosen: with
    decision: Decision | None  # the words that decided between the two best topics
    listed: tuple[Listed, ...]
    pieces: tuple[Piece, ...]
    pieces_from: int  # where in the text they begin: a long one is shown in parts
    parts: tuple[Choice, ...]
    ghosts: tuple[AbsentWords, ...]
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
    """Return the page of a document. Raise an error if the id does not exist or the file was not read."""
    collection = view.collection
    row = _find_row(view, ask.id)
    document = collection.documents.get(row)
    search = run_timed_search(view, "" if ask.by == "meaning" else ask.q, ask.by)
    result = search.mark(document.text)
    notes = collection.passage_notes.of([row]).get(row, ())
    at = [item.start for item in notes if item.passage == ask.note]
    word_labels = find_word_labels(collection, row) if _asks_why(ask) else None
    if ask.colour == "label" and not word_labels:
        ask = replace(ask, colour="decided", why=True)
    coloured_text = colour_text(
        view,
        row,
        document.text,
        by="level" if ask.colour == "decided" else ask.colour,
        word_labels=word_labels if ask.colour == "label" else None,
        selected_level=ask.level,
        part=ask.part,
        matches=result,
        notes=notes,
        at=at,
    )
    title, copies = display_title(document.title, document.id), copies_of(collection, row)
    ends, original = view.ends(row), view.original_of(row, document.source)
    previous, following, up, position = _link_neighbours(view, ask, row)
    pinned_topic = view.shape.pins.get(document.id)
    language = collection.settings.get("language", "")
    levels: dict[int | None, str] = {None: translate("all levels")}
    levels |= {item.level: translate("level {level}", level=item.level) for item in coloured_text.levels}
    return DocumentPage(
        id=document.id,
        title=title,
        heading=split_at_spans(plain(title), 0, search.mark(plain(title))),
        query=ask.q,
        by=ask.by,
        source=document.source,
        date=document.date,
        given_date=collection.dates.load_originals([row]).get(row, ""),
        has_file_date=collection.dates.has_file_date(row),
        columns=_list_columns(view, row),
        words=int(coloured_text.words),
        labels=tuple(link(label, addresses.labelled_documents(label)) for label in document.labels),
        tags=collection.marks.tags_of([row])[0],
        read=bool(view.collection.marks.read_among([row])),
        notes=tuple(_link_note(ask, coloured_text, item) for item in notes),
        last_note=collection.passage_notes.last(row),
        pinned=() if pinned_topic is None else list_path(view, view.shape.node(pinned_topic))[1:],
        places=tuple(Place(list_path(view, node)[1:] or list_path(view, node), float(ends[node])) for node in ends),
        rest=float(max(0.0, 1.0 - sum(ends.values()))),
        hard=bool(view.hard[row]),
        unsorted=describe_reason(explain_unsorted(collection, [row])[0]) if view.hard[row] else "",
        voices=compare_evidence(view.collection, row),
        colour=ask.colour,
        colours=choices(
            {name: text for name, text in translate_table(COLOURS).items() if word_labels or name != "label"},
            ask.colour,
            lambda colour: _create_page_address(ask, colour=colour, level=None),
        ),
        levels=tuple(_link_level(ask, coloured_text, level) for level in coloured_text.levels),
        only=choices(levels, ask.level, lambda level: _create_page_address(ask, level=level, colour="level")),
        only_level=ask.level,
        why=Choice(
            "why here?",
            _create_page_address(ask, **PLAIN) if _asks_why(ask) else _create_page_address(ask, why=1),
            _asks_why(ask),
        ),
        underline=Choice(
            "underline", _create_page_address(ask, underline="no" if ask.underline else None), ask.underline
        ),
        decision=coloured_text.decision,
        listed=coloured_text.listed,
        pieces=coloured_text.pieces,
        pieces_from=(0, *coloured_text.starts)[coloured_text.part - 1],
        parts=_list_parts(ask, coloured_text),
        ghosts=_list_absent_words(view, row, coloured_text),
        similar=_list_similar(view, row),
        original=addresses.original(document.id, text=1),
        file="" if original is None else addresses.original(document.id),
        file_changed=view.is_changed(original),
        previous=previous,
        next=following,
        up=up,
        position=position,
        language=language if language.isalpha() else "",
        uncounted=coloured_text.uncounted,
        copy_of=next(
            (
                link(display_title(item.title, item.id), addresses.document(item.id))
                for item in copies
                if item.row != row
            ),
            None,
        ),
        copies=sum(len(item.copies) for item in copies),
        copies_address=addresses.duplicates(id=document.id) if copies else "",
        home=view.shape.topics[int(view.assigned_nodes[row])],
        whole=_load_parent(view, row, document.id),
    )


def _load_parent(view: View, row: int, id: str) -> WholeDocument | None:
    """Return the parent document of a passage with the near passages; None for an uncut document."""
    result = load_parent_details(view.collection, id)
    if result is None:
        return None
    passages, place = result.parent.passages, result.parent.rows.index(row)
    start = max(0, min(place - PASSAGES // 2, len(passages) - PASSAGES))
    shown_places = range(start, min(start + PASSAGES, len(passages)))
    neighbours = [
        addresses.document(passages[at].id) if 0 <= at < len(passages) else "" for at in (place - 1, place + 1)
    ]
    return WholeDocument(
        id=result.document.id,
        title=result.document.title,
        label=passages[place].label,
        previous=neighbours[0],
        next=neighbours[1],
        n_passages=len(passages),
        topics=tuple(
            WholeTopic(list_path(view, view.shape.node(item.topic))[1:], item.share, result.passages_under(item.topic))
            for item in result.places
        ),
        passages=tuple(
            (
                Choice(passages[at].label, addresses.document(passages[at].id), at == place),
                list_path(view, view.shape.node(result.places_of_passages[at].topic))[1:],
            )
            for at in shown_places
        ),
        more=len(passages) - len(shown_places),
    )


def _list_columns(view: View, row: int) -> tuple[Column, ...]:
    """Return the columns of a document; each value links to its documents."""
    values = view.collection.columns.of([row]).get(row, {})
    return tuple(
        Column(item.name, tuple(link(value, _link_value(view, item, value)) for value in values[item.name]))
        for item in view.collection.fields
        if item.name in values
    )


def _link_value(view: View, field: Field, value: str) -> str:
    """Return the search for a value of a column; empty if it cannot be typed."""
    condition = Filter(field_key(field), value, column=field.name, of=field.kind)
    fits = parse(str(condition), view.collection.fields).items == (condition,)
    return addresses.search(str(condition)) if fits else ""


def _find_row(view: View, id: str) -> int:
    """Return the row of an id, or of its first passage. Raise LeftOutError for a skipped file."""
    try:
        return rows_of(view.collection, id)[0]  # of a whole document, its first passage
    except UsageError:
        reason = facts.left_out(view.collection.generation.database, to_storable(id))
        if not reason:
            raise
        text = translate("No text in this file.")
        if reason != "no text":
            text = translate("This file was not read: {reason}.", reason=reason)
        raise LeftOutError(text, hint=translate("list of skipped files")) from None


def _create_page_address(ask: Ask, **changes: object) -> str:
    """Return the address of this page with other parameters."""
    defaults = Ask()
    parameters = {name: value for name, value in vars(ask).items() if name != "id" and value != getattr(defaults, name)}
    if not ask.underline:
        parameters["underline"] = "no"
    if ask.why:
        parameters["why"] = 1
    return addresses.document(ask.id, **{**parameters, **changes})


def _asks_why(ask: Ask) -> bool:
    return ask.why or ask.colour != "decided" or ask.level is not None or not ask.underline


def _get_why(ask: Ask) -> int | None:
    return 1 if ask.why else None


def _link_level(ask: Ask, coloured_text: ColouredText, level: Level) -> Level:
    """Return a level with the address of the section with most of its words; unchanged in a short text."""
    return (
        replace(level, densest=_create_page_address(ask, part=level.part))
        if coloured_text.parts > 1 and level.share
        else level
    )


def _link_note(ask: Ask, coloured_text: ColouredText, note: PassageNote) -> LinkedNote:
    part = coloured_text.part_of(note.start) if coloured_text.parts > 1 else None
    address = f"{_create_page_address(ask, part=part)}#{addresses.passage(note.passage)}"
    return LinkedNote(**vars(note), address=address)


def _list_parts(ask: Ask, coloured_text: ColouredText) -> tuple[Choice, ...]:
    """Return links to the sections of a long text; none for a short one."""
    if coloured_text.parts < 2:
        return ()
    return tuple(
        Choice(
            translate("part {number}", number=number),
            _create_page_address(ask, part=number),
            number == coloured_text.part,
            f"{MAX_WORDS:,} words",
        )
        for number in range(1, coloured_text.parts + 1)
    )


def _link_neighbours(view: View, ask: Ask, row: int) -> tuple[str, str, str, str]:
    """Return the addresses of the previous and next document and of the list, and the position in it.

    A missing list or a search that takes too long is no reason to hide the document.
    """
    try:
        return _link_list_neighbours(view, ask, row)
    except (UsageError, StoppedError):
        return _link_list_neighbours(view, Ask(ask.id), row)


def _describe_position(ask: Ask, by_similarity: bool, result: SearchResult, total: int) -> str:
    """Return the position in a search result in words."""
    if by_similarity:
        n_listed = min(result.total - result.folded, LOOKED_AT)
        return translate("{at} of the {total} most similar to “{query}”", at=ask.at, total=n_listed, query=ask.q)
    if ask.at > total:
        return translate("related to “{query}”", query=ask.q)
    return translate("{at} of {total} that match “{query}”", at=ask.at, total=total, query=ask.q)


def _link_list_neighbours(view: View, ask: Ask, row: int) -> tuple[str, str, str, str]:
    """Return the same as ``_link_neighbours``; raise the errors of the list or its search."""
    if ask.q.strip():
        start = max(ask.at - 2, 0)
        search = run_timed_search(view, ask.q, ask.by)
        result = search.page(3, start, topic=ask.within)
        by = None if ask.by == DEFAULT_METHOD else ask.by
        id_by_place = {start + place + 1: hit.id for place, hit in enumerate(result.hits)}
        links = [
            addresses.document(id_by_place[at], q=ask.q, by=by, within=ask.within, at=at, why=_get_why(ask))
            if at in id_by_place
            else ""
            for at in (ask.at - 1, ask.at + 1)
        ]
        total = result.total - result.folded
        at = ask.at if search.ranks_all_documents else max(1, min(ask.at, total))  # related ones follow the last match
        page = (at - 1) // PER_PAGE + 1
        up = addresses.search(ask.q, by=by, topic=ask.within, page=page if page > 1 else None)
        return (
            links[0],
            links[1],
            f"{up}#{addresses.anchor(ask.id)}",
            _describe_position(ask, search.ranks_all_documents, result, total),
        )
    topic = view.shape.topics[int(view.assigned_nodes[row])] if ask.topic is None else ask.topic
    node = view.shape.node(topic)
    rows = topic_page.fold_duplicates(view, topic_page.select_rows(view, node, ask.sort, ask.show))
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
    neighbour_places = [at if 0 <= at < len(rows) else None for at in (place - 1, place + 1)]
    ids = [
        view.collection.documents.load_many([int(rows[at])], texts=False)[0].id if at is not None else ""
        for at in neighbour_places
    ]
    values["why"] = _get_why(ask)
    links = [
        addresses.document(id, **values) if at is not None else "" for id, at in zip(ids, neighbour_places, strict=True)
    ]
    page = place // PER_PAGE + 1
    up = addresses.topic(topic, **inside, page=page if page > 1 else None)
    return (
        links[0],
        links[1],
        f"{up}#{addresses.anchor(ask.id)}",
        translate("{at} of {total} under {name}", at=place + 1, total=len(rows), name=view.names[node]),
    )


def _list_absent_words(view: View, row: int, coloured_text: ColouredText) -> tuple[AbsentWords, ...]:
    """Return frequent words of each topic on the path that the document lacks."""
    names = {level.level: level.name for level in coloured_text.levels}
    return tuple(
        AbsentWords(names.get(level, ""), level, tuple(link(word, addresses.word(word)) for word in words))
        for level, words in enumerate(view.absent_words(row, GHOSTS))
        if level > 0 and words
    )


def _list_similar(view: View, row: int) -> tuple[Similar, ...]:
    """Return similar documents; scores are relative to the score of the document itself."""
    search = Search.from_examples(view.collection, row)
    result, max_score = search.page(SIMILAR, why=True), max(search.scorer.explain(row).score, 1e-12)
    return tuple(
        Similar(
            build_hit_line(view, hit, snippet=(), score=min(hit.score / max_score, 1.0)),
            list_reasons(hit.why),
        )
        for hit in result.hits
    )
