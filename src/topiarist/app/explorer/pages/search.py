"""Where is it?"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages import answers, filtered, narrowing
from topiarist.app.explorer.pages.narrowing import Narrowing, Search
from topiarist.app.explorer.query_limits import StoppedError, counting, in_time, understood
from topiarist.app.explorer.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    link,
    paging,
    path_to,
    titled,
)
from topiarist.app.explorer.view import View
from topiarist.collection.find import search as finding
from topiarist.collection.find.index import Explanation
from topiarist.errors import UsageError
from topiarist.measures.placed_documents import CERTAIN
from topiarist.store.fulltext import Index
from topiarist.text.query import Query as Parsed

LITTLE = 0.005  # of a similarity: less is no reason
LOOKED_AT = 200  # hits by meaning that tell where in the tree the answer is


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    q: Annotated[str, Query(max_length=2_000, description="words, phrases in quotes, prefix*, -not, topic:…")] = ""
    by: Annotated[Literal["words", "meaning", "both"], Query(description="by words, by meaning, or both")] = "words"
    topic: Annotated[int | None, Query(description="only under this topic")] = None
    tag: Annotated[str, Query(max_length=200, description="only with this tag")] = ""
    label: Annotated[str, Query(max_length=10_000, description="only with this label")] = ""
    page: Annotated[int, Query(ge=1, le=100_000)] = 1
    all: Annotated[bool, Query(description="count all, however long it takes (within half a minute)")] = False


@dataclass(frozen=True)
class Reason:
    """Something that two texts share, and how much of the similarity that is."""

    text: str
    amount: float
    bar: float
    share: float  # of the similarity


@dataclass(frozen=True)
class HitLine:
    """A document that was found, and why."""

    document: DocumentLine
    number: int
    why: tuple[Reason, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SearchPage:
    """What a query finds, and where in the tree that is."""

    query: str
    by: str
    sentence: str
    read_as: str
    message: str
    notes: tuple[str, ...]  # what was not understood
    suggestions: tuple[Choice, ...]
    without: str  # the address without the condition that left nothing, if one did
    meaning: str  # address of the same by meaning, where words find little
    total: int
    exact: bool
    stopped: str  # that not all was counted, if so
    count_all: str  # the address that counts all
    hits: tuple[HitLine, ...]
    branches: tuple[TopicLine, ...]
    more_branches: int
    within: tuple[Step, ...]
    clear: str  # the address without the topic
    chips: tuple[Choice, ...]  # conditions that hold now, each an address without it
    narrow: tuple[Narrowing, ...]
    also: tuple[Choice, ...]
    ways: tuple[Choice, ...]
    paging: Paging
    exports: tuple[Choice, ...]


def load(view: View, ask: Ask) -> SearchPage:
    """Fill the page."""
    with time_for(ask):
        return _filled(view, ask)


def time_for(ask: Ask) -> AbstractContextManager[None]:
    """The time that a search has: more where somebody asked to count all."""
    return counting() if ask.all else nullcontext()


def _filled(view: View, ask: Ask) -> SearchPage:
    search = Search(ask.q, None if ask.by == "words" else ask.by, ask.topic, ask.tag or None, ask.label or None)
    if ask.topic is not None:
        view.shape.node(ask.topic)
    found, trouble, late = _found(view, ask)
    matching = _matching(view, ask, found)
    if not found.exact and len(matching):  # counted after all: the topics of the answer are those of all rows
        found = replace(found, total=len(matching), exact=True)
    late = late or not found.exact
    pages = paging(found.total, ask.page, lambda page: search.address(page=page, all=1 if ask.all else None))
    branches, more = narrowing.branches(view, matching, search)
    few = ask.by == "words" and found.total < finding.FEW and bool(understood(ask.q).terms)
    return SearchPage(
        query=ask.q,
        by=ask.by,
        sentence=_sentence(view, ask, found, branches),
        read_as=found.read_as,
        message=trouble or found.message,
        notes=understood(ask.q).notes,
        suggestions=tuple(link(word, search.address(query=word)) for word in found.suggestions),
        without=search.address(query=found.without) if found.without else "",
        meaning=search.address(by="meaning") if few else "",
        total=found.total,
        exact=found.exact,
        stopped=answers.stopped(found.total) if late else "",
        count_all=search.address(all=1) if late and not ask.all else "",
        hits=_hits(view, ask, found, pages),
        branches=branches,
        more_branches=more,
        within=() if ask.topic is None else path_to(view, view.shape.node(ask.topic)),
        clear=search.address(topic=None),
        chips=narrowing.chips(view, understood(ask.q), search),
        narrow=narrowing.narrowings(view, matching, search),
        also=tuple(link(word, addresses.search(word)) for word in answers.also(view, ask.q)),
        ways=tuple(
            Choice(way, search.address(by=None if way == "words" else way), way == ask.by)
            for way in ("words", "meaning", "both")
        ),
        paging=pages,
        exports=tuple(
            link(
                text,
                addresses.export(
                    kind, **{"q" if name == "query" else name: value for name, value in vars(search).items()}
                ),
            )
            for kind, text in (("csv", "CSV"), ("jsonl", "JSON lines"), ("txt", "titles"))
        )
        if found.total
        else (),
    )


def _found(view: View, ask: Ask) -> tuple[finding.Found, str, bool]:
    """The answer; what went wrong, in words, since a query never fails; and whether there was no time for it."""
    try:
        return _asked(view, ask), "", False
    except StoppedError:
        return finding.Found((), 0, exact=False), "", True
    except UsageError as error:  # a topic that is not there, or is called like others
        return finding.Found((), 0), f"{error.message[:1].upper()}{error.message[1:]}.", False


def _asked(view: View, ask: Ask) -> finding.Found:
    if ask.tag or ask.label:
        return filtered.found(view, _given(view, ask), ask.page)
    if not ask.q.strip():
        return finding.Found((), 0)
    query = understood(ask.q)
    near = ask.by != "words" and bool(query.terms)
    found = _page(view, ask, str(query), min(ask.page, LOOKED_AT // PER_PAGE) if near else ask.page)
    if found.total and not found.hits and ask.page > 1:  # beyond the end: the last page
        found = _page(view, ask, str(query), max(1, -(-found.total // PER_PAGE)))
    if near:  # by meaning everything resembles everything a little
        found = replace(found, total=min(found.total, LOOKED_AT), exact=True)
    return replace(found, read_as=query.read_as)


def _sentence(view: View, ask: Ask, found: finding.Found, branches: tuple[TopicLine, ...]) -> str:
    if ask.tag or ask.label:
        return filtered.sentence(found.total, ask.q, ask.tag, ask.label)
    if not ask.q.strip():
        return answers.NOTHING
    query = understood(ask.q)
    if not query:
        return f"There is nothing to look for in “{ask.q}”."
    if ask.by != "words":
        return answers.near(view, query, ask.topic, min(found.total, LOOKED_AT))
    return answers.sentence(view, query, ask.topic, found, branches)


def _given(view: View, ask: Ask) -> Any:
    """The rows with a tag or a label, and with the words if there are any."""
    query = understood(ask.q)
    rows = word_rows(view, query, ask.topic) if query else np.arange(view.n_docs)
    if not query and ask.topic is not None:
        rows = rows[view.shares_under(view.shape.node(ask.topic)) >= CERTAIN]
    return filtered.kept(view, rows, tag=ask.tag, label=ask.label)


def _page(view: View, ask: Ask, query: str, page: int) -> finding.Found:
    with in_time(view):
        return finding.search(
            view.collection,
            query,
            PER_PAGE,
            offset=(page - 1) * PER_PAGE,
            by=ask.by,
            topic=ask.topic,
            why=ask.by != "words",
        )


def _hits(view: View, ask: Ask, found: finding.Found, pages: Paging) -> tuple[HitLine, ...]:
    rows = [hit.row for hit in found.hits]
    read, tags = view.collection.marks.read_among(rows), view.collection.marks.tags_of(rows)
    told = []
    for place, hit in enumerate(found.hits):
        at = pages.start + place + 1
        address = addresses.document(hit.id, q=ask.q, by=None if ask.by == "words" else ask.by, within=ask.topic, at=at)
        if ask.tag or ask.label:
            address = addresses.document(hit.id)
        node = view.shape.node(hit.place.topic)
        lead = "".join(text for text, _ in hit.snippet)
        line = DocumentLine(
            id=hit.id,
            title=titled(hit.title, hit.id, lead),
            address=address,
            snippet=hit.snippet,
            date=hit.date[:10],
            share=hit.place.share,
            score=hit.score,
            path=path_to(view, node)[1:],
            labels=hit.labels,
            tags=tags[place],
            read=hit.row in read,
        )
        told.append(HitLine(line, at, reasons(hit.why)))
    return tuple(told)


def reasons(why: Explanation | None, n: int = 6) -> tuple[Reason, ...]:
    """The largest parts of a similarity: words that both have, topics that both speak of."""
    if why is None:
        return ()
    parts = [(f"the word “{reason.word}”", reason.amount) for reason in why.words]
    parts += [(f"the topic {' · '.join(reason.words[:4])}", reason.amount) for reason in why.topics if reason.words]
    whole = max(why.score, 1e-300)
    parts = sorted((part for part in parts if part[1] >= LITTLE * whole), key=lambda part: -part[1])[:n]
    largest = max((amount for _, amount in parts), default=1.0)
    return tuple(
        Reason(text, float(amount), float(amount / largest), float(min(amount / whole, 1.0))) for text, amount in parts
    )


def _matching(view: View, ask: Ask, found: finding.Found) -> Any:
    """The rows of everything that was found; by meaning, of the best."""
    if not found.total:
        return np.empty(0, np.int64)
    if ask.tag or ask.label:
        return _given(view, ask)
    query = understood(ask.q)
    if ask.by == "words" or not query.terms:
        try:
            return word_rows(view, query, ask.topic)
        except StoppedError:
            return np.empty(0, np.int64)
    return near_rows(view, str(query), ask.by, ask.topic)


def near_rows(view: View, query: str, by: str, topic: int | None) -> Any:
    """The documents nearest in meaning: asked for by the page, and again by the tree beside it."""

    def found() -> Any:
        return np.array(finding.matching(view.collection, query, by=by, topic=topic, near=LOOKED_AT), np.int64)

    return found() if _marked(understood(query)) else view.numbers(("near", query, by, topic), found)


def _marked(query: Parsed) -> bool:
    """Whether a query asks for what changes while the tree stays."""
    return any(one.kind in ("tag", "label") for one in query.filters)


def word_rows(view: View, query: Parsed, topic: int | None) -> Any:
    """All documents that a query finds by its words."""

    def found() -> Any:
        with in_time(view):
            return np.array(Index(view.collection.generation.database).rows(query), np.int64)

    database = view.collection.generation.database
    rows = database.kept(f"rows {query}", found) if _marked(query) else view.numbers(("rows", str(query)), found)
    conditions = [(view.shape.find(one.value), one.exclude) for one in query.topics]
    for wanted, exclude in [*conditions, *([(topic, False)] if topic is not None else [])]:
        there = view.shares_under(view.shape.node(wanted))[rows] >= CERTAIN
        rows = rows[~there if exclude else there]
    return rows
