"""Where is it?"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages import narrowing
from topiarist.app.explorer.pages.narrowing import Narrowing, SearchAddress
from topiarist.app.explorer.query_limits import LOOKED_AT, Asked, StoppedError, asked, counting, patience
from topiarist.app.explorer.removed_topics import sentence
from topiarist.app.explorer.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    choices,
    link,
    paging,
    path_to,
    titled,
)
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import ENGLISH, Counted, all_worded, language, worded
from topiarist.app.words import STEP
from topiarist.collection import (
    DEFAULT_WAY,
    FEW,
    Explanation,
    Found,
    SavedSearch,
    extent,
    listed_documents,
    saved_searches,
    topic_of_search,
    unit,
)
from topiarist.errors import UsageError
from topiarist.measures.placed_documents import CERTAIN
from topiarist.text.documents import Document
from topiarist.text.query import Query as Parsed

ALSO = 6  # words the model ties to the query's
NOTHING = (
    "Type words, “phrases in quotes”, beginnings*, -not, this OR that; or narrow with topic: tag: label: type: before: "
    "after: date: or a column of the documents, as in price:10..20; like:ID finds more like a document"
)
MATCH = {
    "one": " matches “{words}”", "many": " match “{words}”", "similar": " most similar in meaning to “{words}”",
    "word": " “{words}”", "words": " all words of “{words}”",
}  # fmt: skip
_HAVE = {"document": ("document has", "documents have"), "passage": ("passage has", "passages have")}
NAMES = {"words": "words", "meaning": "meaning", "both": "both"}
EXPORTS = {"csv": "CSV", "jsonl": "JSON lines", "txt": "titles"}
LITTLE = 0.005  # of a similarity: less is no reason


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    q: Annotated[str, Query(max_length=2_000, description="words, phrases in quotes, prefix*, -not, topic:…")] = ""
    by: Annotated[Literal["words", "meaning", "both"], Query(description="by both, by words, or by meaning")] = "both"
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
    like: str = ""  # address of the same search, for more like this one
    unlike: str = ""  # … for others than this one


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
    folded: int  # copies of other hits, which are not listed
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
    saved: tuple[Choice, ...] = ()  # searches that people saved
    savable: bool = False  # whether this is one that can be saved
    removable: bool = False  # whether these are just the documents that match, so that they can be removed together


def load(view: View, ask: Ask) -> SearchPage:
    """Fill the page."""
    with time_for(ask):
        return _filled(view, ask)


def time_for(ask: Ask) -> AbstractContextManager[None]:
    """The time that a search has: more where somebody asked to count all."""
    return counting() if ask.all else nullcontext()


def _filled(view: View, ask: Ask) -> SearchPage:
    search, by = asked(view, ask.q, ask.by), _unless_usual(ask.by)
    address = SearchAddress(search.typed, ask.q, by, ask.topic, ask.tag or None, ask.label or None)
    if ask.topic is not None:
        view.shape.node(ask.topic)
    found, trouble, late = _found(view, ask, search)
    matching = _matching(view, ask, search) if found.total else view.rows_of(0)
    if not found.exact and len(matching):  # counted after all: the topics of the answer are those of all rows
        found = replace(found, total=len(matching), exact=True)
    late = late or not found.exact
    pages = paging(
        found.total - found.folded, ask.page, lambda page: address.address(page=page, all=1 if ask.all else None)
    )
    branches, more = narrowing.branches(view, matching, address)
    few = ask.by == "words" and found.total < FEW and bool(search.query.terms)
    return SearchPage(
        query=ask.q,
        by=ask.by,
        sentence=_sentence(view, ask, search, found, branches, matching),
        read_as=found.read_as,
        message=trouble or found.message,
        notes=search.remarks,
        suggestions=tuple(link(word, address.address(q=word)) for word in found.suggestions),
        without=address.address(q=found.without) if found.without else "",
        meaning=address.address(by="meaning") if few else "",
        total=found.total,
        exact=found.exact,
        stopped=_stopped(found.total) if late else "",
        count_all=address.address(all=1) if late and not ask.all else "",
        folded=found.folded,
        hits=_hits(view, ask, found, pages, address),
        branches=branches,
        more_branches=more,
        within=() if ask.topic is None else path_to(view, view.shape.node(ask.topic)),
        clear=address.address(topic=None),
        chips=narrowing.chips(view, search.query, address),
        narrow=narrowing.narrowings(view, matching, address),
        also=tuple(link(word, addresses.search(word)) for word in _also(view, search.query)),
        ways=choices(all_worded(NAMES), ask.by, lambda way: address.address(by=_unless_usual(way))),
        paging=pages,
        exports=tuple(link(text, addresses.export(kind, **address.parts)) for kind, text in all_worded(EXPORTS).items())
        if found.total
        else (),
        saved=tuple(_saved(view, one) for one in saved_searches(view.collection)),
        savable=bool(ask.q.strip()) and not (ask.tag or ask.label or trouble),
        removable=ask.by == "words" and bool(ask.q.strip() and found.total) and not (ask.tag or ask.label or trouble),
    )


def _saved(view: View, search: SavedSearch) -> Choice:
    """A saved search; where the topic that it keeps to is gone, it says so."""
    topic, gone = topic_of_search(view.collection, search)
    return link(search.name, addresses.search(search.query, by=_unless_usual(search.by), topic=topic), gone)


def _unless_usual(way: str) -> str | None:
    """As an address names a way to search: by both is searched anyway."""
    return None if way == DEFAULT_WAY else way


def _found(view: View, ask: Ask, search: Asked) -> tuple[Found, str, bool]:
    """The answer; what went wrong, in words, since a query never fails; and whether there was no time for it."""
    try:
        if ask.tag or ask.label:
            return _listed(view, _given(view, ask), ask.page), "", False
        return _page(ask, search) if ask.q.strip() else Found((), 0), "", False
    except StoppedError:
        return Found((), 0, exact=False), "", True
    except UsageError as error:  # a topic that is not there, or is called like others
        return Found((), 0), sentence(error.message), False


def _page(ask: Ask, search: Asked) -> Found:
    """The page that was asked for; beyond the end, the last one."""
    near, why = search.nearest, ask.by != "words"
    page = min(ask.page, LOOKED_AT // PER_PAGE) if near else ask.page
    found = search.page(PER_PAGE, (page - 1) * PER_PAGE, topic=ask.topic, why=why)
    if found.total and not found.hits and ask.page > 1:
        last = max(1, -(-(found.total - found.folded) // PER_PAGE))
        found = search.page(PER_PAGE, (last - 1) * PER_PAGE, topic=ask.topic, why=why)
    if near:  # by meaning everything resembles everything a little
        return replace(found, total=min(found.total - found.folded, LOOKED_AT), exact=True, folded=0)
    return found


def _sentence(view: View, ask: Ask, search: Asked, found: Found, branches: tuple[TopicLine, ...], rows: Any) -> str:
    if ask.tag or ask.label:
        return _filtered(_extent(view, rows), ask)
    if not ask.q.strip():
        return worded(NOTHING)
    if not search.query:
        return worded("There is nothing to look for in “{query}”.", query=ask.q)
    if not found.total and not found.exact:
        what = _asked_for(view, search.query, ask.topic, "word")
        return worded("Nothing was found in time for{what}.", what=what)
    if ask.by == DEFAULT_WAY and found.all_words is not None and search.nearest:
        return _by_both(view, search.query, ask.topic, found)
    if search.nearest:
        return _by_meaning(view, search.query, ask.topic, min(found.total, LOOKED_AT))
    said = worded("{documents}", documents=Counted(found.total, unit(view.collection)))
    if found.exact and len(rows) == found.total:
        said = _extent(view, rows)
    return _by_words(view, search.query, ask.topic, found, branches, said)


def _extent(view: View, rows: Any) -> str:
    """How many documents some rows are; of passages English tells too how many whole documents they are of."""
    if language() == ENGLISH:
        return str(extent(view.collection, rows))
    return worded("{documents}", documents=Counted(len(rows), unit(view.collection)))


def _given(view: View, ask: Ask) -> Any:
    """The rows with a tag or a label, and with the words if there are any."""
    search = asked(view, ask.q, ask.by)
    rows = search.rows(ask.topic) if search.query else view.rows_of(view.n_docs)
    if not search.query and ask.topic is not None:
        rows = rows[view.mostly_under(view.shape.node(ask.topic))]
    return kept(view, rows, tag=ask.tag, label=ask.label)


def _hits(view: View, ask: Ask, found: Found, pages: Paging, search: SearchAddress) -> tuple[HitLine, ...]:
    rows = [hit.row for hit in found.hits]
    read, tags = view.collection.marks.read_among(rows), view.collection.marks.tags_of(rows)
    told = []
    for place, hit in enumerate(found.hits):
        at = pages.start + place + 1
        address = addresses.document(hit.id, q=ask.q, by=_unless_usual(ask.by), within=ask.topic, at=at)
        if ask.tag or ask.label:
            address = addresses.document(hit.id)
        node = view.shape.node(hit.place.topic)
        line = DocumentLine(
            id=hit.id,
            title=titled(hit.title, hit.id),
            address=address,
            snippet=hit.snippet,
            date=hit.date[:10],
            share=hit.place.share,
            score=hit.score,
            path=path_to(view, node)[1:],
            labels=hit.labels,
            tags=tags[place],
            read=hit.row in read,
            copies=hit.copies,
            copies_address=addresses.duplicates(id=hit.id) if hit.copies else "",
        )
        ways = ("", "")
        if ask.q.strip() and ask.by != "words" and not (ask.tag or ask.label):
            ways = search.pointing(hit.id)
        told.append(HitLine(line, at, reasons(hit.why), *ways))
    return tuple(told)


def reasons(why: Explanation | None, n: int = 6) -> tuple[Reason, ...]:
    """The largest parts of a similarity: words that both have, topics that both speak of."""
    if why is None:
        return ()
    whole = max(why.score, 1e-300)
    words = [(one.amount, True, one.word) for one in why.words]
    topics = [(one.amount, False, " · ".join(one.words[:4])) for one in why.topics if one.words]
    parts = sorted((one for one in (*words, *topics) if one[0] >= LITTLE * whole), key=lambda part: -part[0])[:n]
    largest = max((amount for amount, _, _ in parts), default=1.0)
    return tuple(
        Reason(
            worded("the word “{word}”", word=said) if is_word else worded("the topic {words}", words=said),
            float(amount), float(amount / largest), float(min(amount / whole, 1.0)),
        )
        for amount, is_word, said in parts
    )  # fmt: skip


def _matching(view: View, ask: Ask, search: Asked) -> Any:
    """The rows of everything that was found; by meaning, of the best."""
    if ask.tag or ask.label:
        return _given(view, ask)
    try:
        return search.rows(ask.topic)
    except StoppedError:
        return view.rows_of(0)


def _by_words(
    view: View, query: Parsed, topic: int | None, found: Found, branches: tuple[TopicLine, ...], said: str
) -> str:
    """What was found by words, and where most of it is."""
    what = _asked_for(view, query, topic, "many" if found.total > 1 else "one")
    if not found.total:
        return worded("No document{what}.", what=what)
    number = said if found.exact else worded("At least {documents}", documents=said)
    most = max(branches, key=lambda line: (line.matching or 0, line.level), default=None)
    mostly = ""
    named = {*([] if topic is None else [topic]), *(view.shape.find(one.value) for one in query.topics)}
    known = {node for one in named for node in view.tree.path(view.shape.node(one))}
    if most is not None and found.total > 1 and (most.matching or 0) > found.total / 2:
        node = view.shape.node(most.id)
        names = [step.name for step in path_to(view, node)[1:]]
        mostly = "" if node in known else worded(", most of them under {names}", names=STEP.join(names))
    return f"{number}{what}{mostly}."


def _by_meaning(view: View, query: Parsed, topic: int | None, some: int) -> str:
    """What was found by meaning."""
    what = _asked_for(view, query, topic, "similar")
    if not some:
        return worded("No document is{what}.", what=what)
    documents = Counted(some, unit(view.collection))
    return worded("The {documents}{what}, the closest first.", documents=documents, what=what)


def _by_both(view: View, query: Parsed, topic: int | None, found: Found) -> str:
    """How many documents have all words, and that others follow."""
    typed = query.meant
    one = len(typed.split()) == 1
    what = _asked_for(view, query, topic, "word" if one else "words")
    number = found.all_words or 0
    others = worded("nothing is close")
    if found.total:
        others = worded("the {number} closest by words and meaning, the best first", number=found.total)
    if not number:
        return worded("No document has{what}; {others}.", what=what, others=others)
    documents = Counted(number, *_HAVE[unit(view.collection)])
    return worded("{documents}{what}; {others}.", documents=documents, what=what, others=others)


def _asked_for(view: View, query: Parsed, topic: int | None, how: str) -> str:
    """A query in words: what it looks for, then its conditions."""
    typed = " ".join(map(str, query.terms))
    where = [] if topic is None else [worded("under {}").format(view.names[view.shape.node(topic)])]
    said = ", ".join([*where, *(name for name, _ in narrowing.conditions(view, query))])
    return f"{all_worded(MATCH)[how].format(words=typed) if typed else ''}{' ' if said else ''}{said}"


def _stopped(total: int) -> str:
    """That there was no time to count all."""
    seconds = f"{patience():g}"
    if not total:
        return worded("Stopped counting after {seconds} s.", seconds=seconds)
    return worded("Stopped counting after {seconds} s: at least {total}.", seconds=seconds, total=total)


def _also(view: View, query: Parsed) -> list[str]:
    """Own words of the topic that the query speaks of, as other words to try."""
    words = query.meant
    counts = view.collection.counted([Document("query", words)]) if words else None
    if counts is None or not counts.nnz:
        return []
    chosen = int(view.collection.placer.homes(counts, CERTAIN)[0])
    if chosen == view.tree.root:
        return []
    said = set(words.casefold().split())
    return [word for word in view.collection.tree.nodes[chosen].words if word not in said][:ALSO]


def kept(view: View, rows: Any, *, tag: str = "", label: str = "") -> Any:
    """Those of some rows that have a tag or a label, whatever signs these hold: a query could not say every one."""
    if tag:
        rows = view.among(rows, view.collection.marks.rows_with(tag))
    return view.among(rows, view.collection.documents.labelled_rows(label)) if label else rows


def _listed(view: View, rows: Any, page: int) -> Found:
    """A page of documents as a search answers; beyond the end, the last one."""
    start = (min(page, max(1, -(-len(rows) // PER_PAGE))) - 1) * PER_PAGE
    some = rows[start : start + PER_PAGE].tolist()
    leads = view.leads(some)
    return Found(listed_documents(view.collection, some, [((leads.get(row, ""), False),) for row in some]), len(rows))


def _filtered(number: str, ask: Ask) -> str:
    """What was found."""
    said = [worded("tagged “{tag}”", tag=ask.tag)] * bool(ask.tag)
    said += [worded("labelled “{label}”", label=ask.label)] * bool(ask.label)
    said += [worded("that match “{query}”", query=ask.q)] * bool(ask.q.strip())
    return f"{number} {', '.join(said)}."
