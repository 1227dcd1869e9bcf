"""Where is it?"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.asking import LOOKED_AT, Asked, StoppedError, asked, counting
from topiarist.app.explorer.pages import answers, filtered, narrowing
from topiarist.app.explorer.pages.narrowing import Narrowing, SearchAddress
from topiarist.app.explorer.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    paging,
    path_to,
    read_among,
    titled,
)  # fmt: skip
from topiarist.app.explorer.view import CERTAIN, View
from topiarist.collection.find.index import Explanation
from topiarist.collection.find.search import FEW, WAYS, Found
from topiarist.errors import UsageError

LITTLE = 0.005  # of a similarity: less is no reason


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


@dataclass(frozen=True)
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
    search, by = asked(view, ask.q, ask.by), None if ask.by == "words" else ask.by
    address = SearchAddress(search.typed, ask.q, by, ask.topic, ask.tag or None, ask.label or None)
    if ask.topic is not None:
        view.shape.node(ask.topic)
    found, trouble, late = _found(view, ask, search)
    matching = _matching(view, ask, search) if found.total else np.empty(0, np.int64)
    if not found.exact and len(matching):  # counted after all: the topics of the answer are those of all rows
        found = replace(found, total=len(matching), exact=True)
    late = late or not found.exact
    pages = paging(found.total, ask.page, lambda page: address.address(page=page, all=1 if ask.all else None))
    branches, more = narrowing.branches(view, matching, address)
    few = ask.by == "words" and found.total < FEW and bool(search.query.terms)
    return SearchPage(
        ask.q, ask.by, _sentence(view, ask, search, found, branches), found.read_as, trouble or found.message,
        search.query.notes, tuple(Choice(word, address.address(q=word), False) for word in found.suggestions),
        address.address(q=found.without) if found.without else "",
        address.address(by="meaning") if few else "",
        found.total, found.exact, answers.stopped(found.total) if late else "",
        address.address(all=1) if late and not ask.all else "",
        _hits(view, ask, found, pages), branches, more,
        () if ask.topic is None else path_to(view, view.shape.node(ask.topic)), address.address(topic=None),
        narrowing.chips(view, search.query, address), narrowing.narrowings(view, matching, address),
        tuple(Choice(word, addresses.search(word), False) for word in answers.also(view, search.query)),
        tuple(Choice(way, address.address(by=None if way == "words" else way), way == ask.by) for way in WAYS),
        pages,
        tuple(Choice(text, addresses.export(kind, **address.parts), False)
              for kind, text in (("csv", "CSV"), ("jsonl", "JSON lines"), ("txt", "titles"))) if found.total else (),
    )  # fmt: skip


def _found(view: View, ask: Ask, search: Asked) -> tuple[Found, str, bool]:
    """The answer; what went wrong, in words, since a query never fails; and whether there was no time for it."""
    try:
        if ask.tag or ask.label:
            return filtered.found(view, _given(view, ask), ask.page), "", False
        return _page(ask, search) if ask.q.strip() else Found((), 0), "", False
    except StoppedError:
        return Found((), 0, exact=False), "", True
    except UsageError as error:  # a topic that is not there, or is called like others
        return Found((), 0), f"{error.message[:1].upper()}{error.message[1:]}.", False


def _page(ask: Ask, search: Asked) -> Found:
    """The page that was asked for; beyond the end, the last one."""
    near, why = not search.by_words, ask.by != "words"
    page = min(ask.page, LOOKED_AT // PER_PAGE) if near else ask.page
    found = search.page(PER_PAGE, (page - 1) * PER_PAGE, topic=ask.topic, why=why)
    if found.total and not found.hits and ask.page > 1:
        last = max(1, -(-found.total // PER_PAGE))
        found = search.page(PER_PAGE, (last - 1) * PER_PAGE, topic=ask.topic, why=why)
    if near:  # by meaning everything resembles everything a little
        return replace(found, total=min(found.total, LOOKED_AT), exact=True)
    return found


def _sentence(view: View, ask: Ask, search: Asked, found: Found, branches: tuple[TopicLine, ...]) -> str:
    if ask.tag or ask.label:
        return filtered.sentence(found.total, ask.q, ask.tag, ask.label)
    if not ask.q.strip():
        return answers.NOTHING
    if not search.query:
        return f"There is nothing to look for in “{ask.q}”."
    if ask.by != "words":
        return answers.near(view, search.query, ask.topic, min(found.total, LOOKED_AT))
    return answers.sentence(view, search.query, ask.topic, found, branches)


def _given(view: View, ask: Ask) -> Any:
    """The rows with a tag or a label, and with the words if there are any."""
    search = asked(view, ask.q)
    rows = search.rows(ask.topic) if search.query else np.arange(view.n_docs)
    if not search.query and ask.topic is not None:
        rows = rows[view.shares_under(view.shape.node(ask.topic)) >= CERTAIN]
    return filtered.kept(view, rows, tag=ask.tag, label=ask.label)


def _hits(view: View, ask: Ask, found: Found, pages: Paging) -> tuple[HitLine, ...]:
    rows = [hit.row for hit in found.hits]
    read, tags = read_among(view, rows), view.collection.marks.tags_of(rows)
    told = []
    for place, hit in enumerate(found.hits):
        at = pages.start + place + 1
        address = addresses.document(hit.id, q=ask.q, by=None if ask.by == "words" else ask.by, within=ask.topic, at=at)
        if ask.tag or ask.label:
            address = addresses.document(hit.id)
        node = view.shape.node(hit.place.topic)
        lead = "".join(text for text, _ in hit.snippet)
        line = DocumentLine(
            hit.id, titled(hit.title, hit.id, lead), address, hit.snippet, hit.date[:10], hit.place.share, hit.score,
            path_to(view, node)[1:], hit.labels, tags[place], hit.row in read,
        )  # fmt: skip
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


def _matching(view: View, ask: Ask, search: Asked) -> Any:
    """The rows of everything that was found; by meaning, of the best."""
    if ask.tag or ask.label:
        return _given(view, ask)
    try:
        return search.rows(ask.topic)
    except StoppedError:
        return np.empty(0, np.int64)
