"""Where is it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.asking import StoppedError, in_time, patience, understood
from topiarist.app.explorer.pages import filtered
from topiarist.app.explorer.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    counted,
    name_of,
    paging,
    path_to,
    read_among,
    titled,
    topic_line,
)  # fmt: skip
from topiarist.app.explorer.view import CERTAIN, View
from topiarist.errors import UsageError
from topiarist.files import finding
from topiarist.files.fulltext import Index
from topiarist.files.queries import Query as Parsed
from topiarist.tasks.search import Explanation
from topiarist.text.documents import Document

LOOKED_AT = 200  # hits by meaning that tell where in the tree the answer is
BRANCHES = 8  # topics of the answer
ALSO = 6  # words the model ties to the query's


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    q: Annotated[str, Query(max_length=2_000, description="words, phrases in quotes, prefix*, -not, topic:…")] = ""
    by: Annotated[Literal["words", "meaning", "both"], Query(description="by words, by meaning, or both")] = "words"
    topic: Annotated[int | None, Query(description="only under this topic")] = None
    tag: Annotated[str, Query(max_length=200, description="only with this tag")] = ""
    label: Annotated[str, Query(max_length=10_000, description="only with this label")] = ""
    page: Annotated[int, Query(ge=1, le=100_000)] = 1


@dataclass(frozen=True)
class Reason:
    """Something that two texts share, and how much of the similarity that is."""

    text: str
    amount: float
    bar: float


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
    suggestions: tuple[Choice, ...]
    meaning: str  # address of the same by meaning, where words find little
    total: int
    exact: bool
    hits: tuple[HitLine, ...]
    branches: tuple[TopicLine, ...]
    more_branches: int
    within: tuple[Step, ...]
    clear: str  # the address without the filter
    also: tuple[Choice, ...]
    ways: tuple[Choice, ...]
    paging: Paging
    exports: tuple[Choice, ...]


def load(view: View, ask: Ask) -> SearchPage:
    """Fill the page."""
    only = {"tag": ask.tag or None, "label": ask.label or None}
    here = {"by": None if ask.by == "words" else ask.by, "topic": ask.topic, **only}
    if ask.topic is not None:
        view.shape.node(ask.topic)
    found, trouble = _found(view, ask)
    pages = paging(found.total, ask.page, lambda page: addresses.search(ask.q, **here, page=page))
    matching = _matching(view, ask, found)
    branches, more = _branches(view, matching, ask)
    few = ask.by == "words" and found.total < finding.FEW and bool(understood(ask.q).terms)
    node = None if ask.topic is None else view.shape.node(ask.topic)
    return SearchPage(
        ask.q, ask.by, _sentence(view, ask, found, branches), found.read_as, trouble or found.message,
        tuple(Choice(word, addresses.search(word, **here), False) for word in found.suggestions),
        addresses.search(ask.q, by="meaning", topic=ask.topic, **only) if few else "",
        found.total, found.exact, _hits(view, ask, found, pages), branches, more,
        () if node is None else path_to(view, node), addresses.search(ask.q, **here | {"topic": None}),
        tuple(Choice(word, addresses.search(word), False) for word in _also(view, ask.q)),
        tuple(Choice(way, addresses.search(ask.q, **here | {"by": None if way == "words" else way}), way == ask.by)
              for way in ("words", "meaning", "both")),
        pages,
        tuple(Choice(text, addresses.export(kind, q=ask.q, **here), False)
              for kind, text in (("csv", "CSV"), ("jsonl", "JSON lines"), ("txt", "titles"))) if found.total else (),
    )  # fmt: skip


def _found(view: View, ask: Ask) -> tuple[finding.Found, str]:
    """The answer, and what went wrong, in words: a query never fails."""
    if ask.tag or ask.label:
        try:
            return filtered.found(view, _given(view, ask), ask.page), ""
        except (UsageError, StoppedError) as error:
            return finding.Found((), 0), f"{error.message[:1].upper()}{error.message[1:]}."
    if not ask.q.strip():
        return finding.Found((), 0), ""
    query = understood(ask.q)
    try:
        near = ask.by != "words" and bool(query.terms)
        found = _page(view, ask, str(query), min(ask.page, LOOKED_AT // PER_PAGE) if near else ask.page)
        if found.total and not found.hits and ask.page > 1:  # beyond the end: the last page
            found = _page(view, ask, str(query), max(1, -(-found.total // PER_PAGE)))
        if near:  # by meaning everything resembles everything a little
            found = replace(found, total=min(found.total, LOOKED_AT), exact=True)
        return replace(found, read_as=query.read_as), ""
    except (UsageError, StoppedError) as error:  # a topic that is not there, or is called like others
        return finding.Found((), 0), f"{error.message[:1].upper()}{error.message[1:]}."


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
            view.collection, query, PER_PAGE, offset=(page - 1) * PER_PAGE, by=ask.by, topic=ask.topic,
            why=ask.by != "words",
        )  # fmt: skip


def _hits(view: View, ask: Ask, found: finding.Found, pages: Paging) -> tuple[HitLine, ...]:
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
    parts = sorted((part for part in parts if part[1] > 0), key=lambda part: -part[1])[:n]
    largest = max((amount for _, amount in parts), default=1.0)
    return tuple(Reason(text, float(amount), float(amount / largest)) for text, amount in parts)


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
    return _near(view, str(query), ask.by, ask.topic)


def _near(view: View, query: str, by: str, topic: int | None) -> Any:
    """The documents nearest in meaning."""
    return np.array(finding.matching(view.collection, query, by=by, topic=topic, near=LOOKED_AT), np.int64)


def word_rows(view: View, query: Parsed, topic: int | None) -> Any:
    """All documents that a query finds by its words."""

    def found() -> Any:
        try:
            with in_time(view):
                return np.array(Index(view.collection.generation.database).rows(query), np.int64)
        except StoppedError as error:
            return error  # remembered too: it would take as long again

    marked = any(one.kind in ("tag", "label") for one in query.filters)  # these change while the tree stays
    database = view.collection.generation.database
    rows = database.kept(f"rows {query}", found) if marked else view.numbers(("rows", str(query), patience()), found)
    if isinstance(rows, StoppedError):
        raise rows
    conditions = [(view.shape.find(one.value), one.exclude) for one in query.topics]
    for wanted, exclude in [*conditions, *([(topic, False)] if topic is not None else [])]:
        there = view.shares_under(view.shape.node(wanted))[rows] >= CERTAIN
        rows = rows[~there if exclude else there]
    return rows


def counts_under(view: View, rows: Any) -> Any:
    """How many of some documents lie mostly under each node."""
    at = np.bincount(view.homes[rows], minlength=len(view.tree))
    return at @ view.tree.path_mask(range(len(view.tree)))


def _branches(view: View, rows: Any, ask: Ask) -> tuple[tuple[TopicLine, ...], int]:
    """The topics with most of the answer, in the order of the tree; each a way to narrow it."""
    if not len(rows):
        return (), 0
    under = counts_under(view, rows)
    some = [node for node in range(len(view.tree)) if under[node] and node != view.tree.root]
    best = set(sorted(some, key=lambda node: (-under[node], node))[:BRANCHES])
    ordered, waiting = [], [view.tree.root]
    while waiting:
        node = waiting.pop()
        ordered += [node] if node in best else []
        waiting += sorted(view.tree.children(node), key=lambda child: (under[child], -child))
    by = None if ask.by == "words" else ask.by
    lines = []
    for node in ordered:
        line = topic_line(view, node, int(under[node]))
        narrowed = addresses.search(ask.q, by=by, topic=line.id, tag=ask.tag, label=ask.label)
        lines.append(TopicLine(**{**vars(line), "address": narrowed}))
    return tuple(lines), len(some) - len(best)


def _also(view: View, text: str) -> list[str]:
    """Own words of the topic that the query speaks of, as other words to try."""
    query = understood(text)
    words = " ".join(term.words for term in query.terms if not term.exclude)
    counts = view.collection.counted([Document("query", words)]) if words else None
    if counts is None or not counts.nnz:
        return []
    chosen = int(view.collection.placer.place(counts, CERTAIN).nodes[0])
    if chosen == view.tree.root:
        return []
    said = set(words.casefold().split())
    return [word for word in view.collection.tree.nodes[chosen].words if word not in said][:ALSO]


def _sentence(view: View, ask: Ask, found: finding.Found, branches: tuple[TopicLine, ...]) -> str:
    if ask.tag or ask.label:
        return filtered.sentence(found.total, ask.q, ask.tag, ask.label)
    if not ask.q.strip():
        return "Type words, “phrases in quotes”, beginnings*, -not; or narrow with topic: tag: label: before: after:"
    where = ""
    if ask.topic is not None:
        where = f" under {name_of(view, view.shape.node(ask.topic))}"
    if ask.by != "words":
        some = min(found.total, LOOKED_AT)
        return f"The {counted(some, 'document')} most similar to “{ask.q}” in meaning{where}, the closest first."
    number = f"{'' if found.exact else 'At least '}{counted(found.total, 'document')}"
    most = max(branches, key=lambda line: (line.matching or 0, line.level), default=None)
    mostly = ""
    if most is not None and found.total > 1 and (most.matching or 0) > found.total / 2:
        names = [step.name for step in path_to(view, view.shape.node(most.id))[1:]]
        mostly = f", most of them under {' ▸ '.join(names)}"
    return f"{number} match{'es' if found.total == 1 else ''} “{ask.q}”{where}{mostly}."
