"""Search in the collection."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.collection.passages import count_documents
from topiarist.collection.search.hits import list_hits
from topiarist.collection.search.results import Explanation, SearchResult
from topiarist.collection.search.saved_searches import SavedSearch, find_search_topic, list_saved_searches
from topiarist.collection.search.search import DEFAULT_METHOD, FEW_MATCHES, MAX_RELATED
from topiarist.display.formats import STEP
from topiarist.display.locale.catalogues import ENGLISH, CountedNoun, current_language, translate, translate_table
from topiarist.errors import UsageError
from topiarist.text.query import Query as Parsed
from topiarist.web import addresses, narrowing
from topiarist.web.narrowing import Narrowing, SearchAddress
from topiarist.web.query_limits import (
    LOOKED_AT,
    StoppedError,
    TimedSearch,
    allow_counting,
    get_time_limit,
    run_timed_search,
)
from topiarist.web.removed_topics import format_sentence
from topiarist.web.values import (
    PER_PAGE,
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    build_hit_line,
    build_paging,
    choices,
    export_links,
    link,
    list_path,
)
from topiarist.web.view import View

HELP_TEXT = (
    "Enter words, “phrases”, prefix*, -word or this OR that. Filters: topic: tag: label: type: before: after: "
    "since: until: date: like:ID or a column such as price:10..20"
)
MATCH = {
    "one": " matches “{words}”", "many": " match “{words}”", "similar": " most similar in meaning to “{words}”",
    "word": " “{words}”",
}  # fmt: skip
NAMES = {"words": "words", "meaning": "meaning", "both": "both"}
MIN_REASON = 0.005  # of a similarity: less is no reason


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    q: Annotated[str, Query(max_length=2_000, description="words, phrases in quotes, prefix*, -not, topic:…")] = ""
    by: Annotated[Literal["words", "meaning", "both"], Query(description="by both, by words, or by meaning")] = "both"
    topic: Annotated[int | None, Query(description="only under this topic")] = None
    tag: Annotated[str, Query(max_length=200, description="only with this tag")] = ""
    label: Annotated[str, Query(max_length=10_000, description="only with this label")] = ""
    page: Annotated[int, Query(ge=1, le=100_000)] = 1
    all: Annotated[bool, Query(description="count all, however long it takes (within half a minute)")] = False


@dataclass(frozen=True)
class Reason:
    """Word or topic that contributes to a similarity."""

    text: str
    amount: float
    bar: float
    share: float  # of the similarity


@dataclass(frozen=True)
class HitLine:
    """Hit of a search with its explanation."""

    document: DocumentLine
    number: int
    why: tuple[Reason, ...] = ()
    like: str = ""  # address of the same search, for more like this one
    unlike: str = ""  # … for others than this one


@dataclass(frozen=True, kw_only=True)
class SearchPage:
    """Search result, with its topics and the ways to narrow it."""

    query: str
    by: str
    sentence: str
    read_as: str
    message: str
    notes: tuple[str, ...]  # what was not understood
    suggestions: tuple[Choice, ...]
    without: str  # the address without the condition that left nothing, if one did
    widened: str  # the address without quotes, if they left nothing
    meaning: str  # address of the same by meaning, where words find little
    total: int
    exact: bool
    stopped: str  # that not all was counted, if so
    count_all: str  # the address that counts all
    folded: int  # copies of other hits, which are not listed
    hits: tuple[HitLine, ...]
    related: tuple[HitLine, ...]  # documents that do not match; with the last match
    branches: tuple[TopicLine, ...]
    more_branches: int
    within: tuple[Step, ...]
    clear: str  # the address without the topic
    chips: tuple[Choice, ...]  # conditions that hold now, each an address without it
    narrow: tuple[Narrowing, ...]
    ways: tuple[Choice, ...]
    paging: Paging
    exports: tuple[Choice, ...]
    saved: tuple[Choice, ...] = ()  # searches that people saved
    savable: bool = False  # whether this is one that can be saved
    removable: bool = False  # whether these are just the documents that match, so that they can be removed together


def load(view: View, ask: Ask) -> SearchPage:
    with limit_search_time(ask):
        return _build_page(view, ask)


def limit_search_time(ask: Ask) -> AbstractContextManager[None]:
    """Return the time limit of a search; counting all documents has more time."""
    return allow_counting() if ask.all else nullcontext()


def _build_page(view: View, ask: Ask) -> SearchPage:
    """Return the result page of a search. Raise an error for an unknown topic."""
    search, by = run_timed_search(view, ask.q, ask.by), _omit_default(ask.by)
    address = SearchAddress(search.typed, ask.q, by, ask.topic, ask.tag or None, ask.label or None)
    if ask.topic is not None:
        view.shape.node(ask.topic)
    result, trouble, late = _run_search(view, ask, search)
    matching = _list_matching_rows(view, ask, search) if result.total else view.all_rows(0)
    pages = build_paging(
        result.total - result.folded, ask.page, lambda page: address.address(page=page, all=1 if ask.all else None)
    )
    branches, n_hidden = narrowing.list_branches(view, matching, address)
    hits = _list_hits(view, ask, result, pages, address)
    has_few_hits = ask.by == "words" and result.total < FEW_MATCHES and bool(search.query.terms)
    return SearchPage(
        query=ask.q,
        by=ask.by,
        sentence=_write_sentence(view, ask, search, result, branches, matching),
        read_as=result.read_as,
        message=trouble or result.message,
        notes=search.remarks,
        suggestions=tuple(link(word, address.address(q=word)) for word in result.suggestions),
        without=address.address(q=result.without) if result.without else "",
        widened=address.address(q=result.widened) if result.widened else "",
        meaning=address.address(by="meaning") if has_few_hits else "",
        total=result.total,
        exact=result.exact,
        stopped=translate("Counting stopped after {seconds} s.", seconds=f"{get_time_limit():g}") if late else "",
        count_all=address.address(all=1) if late and not ask.all else "",
        folded=result.folded,
        hits=tuple(item for item, hit in zip(hits, result.hits, strict=True) if not hit.related),
        related=tuple(item for item, hit in zip(hits, result.hits, strict=True) if hit.related),
        branches=branches,
        more_branches=n_hidden,
        within=() if ask.topic is None else list_path(view, view.shape.node(ask.topic)),
        clear=address.address(topic=None),
        chips=narrowing.list_chips(view, search.query, address),
        narrow=narrowing.list_narrowings(view, matching, address),
        ways=choices(translate_table(NAMES), ask.by, lambda way: address.address(by=_omit_default(way))),
        paging=pages,
        exports=export_links(**address.parts) if result.total else (),
        saved=tuple(_link_saved_search(view, item) for item in list_saved_searches(view.collection)),
        savable=bool(ask.q.strip()) and not (ask.tag or ask.label or trouble),
        removable=ask.by == "words" and bool(ask.q.strip() and result.total) and not (ask.tag or ask.label or trouble),
    )


def _link_saved_search(view: View, search: SavedSearch) -> Choice:
    topic, is_removed = find_search_topic(view.collection, search)
    return link(search.name, addresses.search(search.query, by=_omit_default(search.by), topic=topic), is_removed)


def _omit_default(way: str) -> str | None:
    """Return the search method for an address; None for the default."""
    return None if way == DEFAULT_METHOD else way


def _run_search(view: View, ask: Ask, search: TimedSearch) -> tuple[SearchResult, str, bool]:
    """Return the result, an error message, and whether the time limit stopped the search."""
    try:
        if ask.tag or ask.label:
            return _cut_page(view, _list_rows(view, ask), ask.page), "", False
        return _load_page(ask, search) if ask.q.strip() else SearchResult((), 0), "", False
    except StoppedError:
        return SearchResult((), 0, exact=False), "", True
    except UsageError as error:  # a topic that is not there, or is called like others
        return SearchResult((), 0), format_sentence(error.message), False


def _load_page(ask: Ask, search: TimedSearch) -> SearchResult:
    """Return one page of the result; beyond the end, the last page."""
    is_nearest, with_reasons = search.ranks_all_documents, ask.by != "words"
    page = min(ask.page, LOOKED_AT // PER_PAGE) if is_nearest else ask.page
    result = search.page(PER_PAGE, (page - 1) * PER_PAGE, topic=ask.topic, why=with_reasons, related=MAX_RELATED)
    last = max(1, -(-(result.total - result.folded) // PER_PAGE))
    if page > last and result.exact and not is_nearest:
        result = search.page(PER_PAGE, (last - 1) * PER_PAGE, topic=ask.topic, why=with_reasons, related=MAX_RELATED)
    if is_nearest:  # by meaning everything resembles everything a little
        return replace(result, total=min(result.total - result.folded, LOOKED_AT), exact=True, folded=0)
    return result


def _write_sentence(
    view: View, ask: Ask, search: TimedSearch, result: SearchResult, branches: tuple[TopicLine, ...], rows: Any
) -> str:
    """Return the result, the help text or the reason for no result in words."""
    if ask.tag or ask.label:
        return _describe_filtered(_count_documents(view, rows), ask)
    if not ask.q.strip():
        return translate(HELP_TEXT)
    if not search.query:
        return translate("“{query}” contains no search terms.", query=ask.q)
    if not result.total and not result.exact:
        query_text = _describe_query(view, search.query, ask.topic, "word")
        return translate("The search timed out for{what}.", what=query_text)
    if search.ranks_all_documents:
        return _describe_meaning_search(view, search.query, ask.topic, min(result.total, LOOKED_AT))
    return _describe_word_search(view, search.query, ask.topic, result, branches, _count_documents(view, rows))


def _count_documents(view: View, rows: Any) -> str:
    """Return the number of documents; in English with the number of parent documents."""
    if current_language() == ENGLISH:
        return str(count_documents(view.collection, rows))
    return translate("{documents}", documents=CountedNoun(len(rows), count_documents(view.collection).noun))


def _list_rows(view: View, ask: Ask) -> Any:
    """Return the rows of the query, topic, tag and label together."""
    search = run_timed_search(view, ask.q, ask.by)
    rows = search.rows(ask.topic) if search.query else view.all_rows(view.n_docs)
    if not search.query and ask.topic is not None:
        rows = rows[view.select_assigned_under(view.shape.node(ask.topic))]
    return filter_rows(view, rows, tag=ask.tag, label=ask.label)


def _list_hits(view: View, ask: Ask, result: SearchResult, pages: Paging, search: SearchAddress) -> tuple[HitLine, ...]:
    """Return the hits as lines with reasons and links to similar documents."""
    rows = [hit.row for hit in result.hits]
    read, tags = view.collection.marks.read_among(rows), view.collection.marks.tags_of(rows)
    values = []
    for place, hit in enumerate(result.hits):
        at = min(pages.start, result.total - result.folded) + place + 1
        address = addresses.document(hit.id, q=ask.q, by=_omit_default(ask.by), within=ask.topic, at=at)
        if ask.tag or ask.label:
            address = addresses.document(hit.id)
        line = build_hit_line(
            view,
            hit,
            address=address,
            tags=tags[place],
            read=hit.row in read,
            copies=hit.copies,
            copies_address=addresses.duplicates(id=hit.id) if hit.copies else "",
        )
        ways = ("", "")
        if ask.q.strip() and ask.by != "words" and not (ask.tag or ask.label):
            ways = search.link_like_and_unlike(hit.id)
        values.append(HitLine(line, at, list_reasons(hit.why), *ways))
    return tuple(values)


def list_reasons(explanation: Explanation | None, n: int = 6) -> tuple[Reason, ...]:
    """Return the words and topics with the largest parts of a similarity."""
    if explanation is None:
        return ()
    total = max(explanation.score, 1e-300)
    words = [(item.amount, True, item.word) for item in explanation.words]
    topics = [(item.amount, False, " · ".join(item.words[:4])) for item in explanation.topics if item.words]
    parts = sorted((item for item in (*words, *topics) if item[0] >= MIN_REASON * total), key=lambda part: -part[0])[:n]
    largest = max((amount for amount, _, _ in parts), default=1.0)
    return tuple(
        Reason(
            translate("the word “{word}”", word=text) if is_word else translate("the topic {words}", words=text),
            float(amount), float(amount / largest), float(min(amount / total, 1.0)),
        )
        for amount, is_word, text in parts
    )  # fmt: skip


def _list_matching_rows(view: View, ask: Ask, search: TimedSearch) -> Any:
    """Return the rows of all hits, or of the best by meaning; none after the time limit."""
    if ask.tag or ask.label:
        return _list_rows(view, ask)
    try:
        return search.rows(ask.topic)
    except StoppedError:
        return view.all_rows(0)


def _describe_word_search(
    view: View, query: Parsed, topic: int | None, result: SearchResult, branches: tuple[TopicLine, ...], number: str
) -> str:
    """Return the result of a search by words in words, with the topic of most hits."""
    query_text = _describe_query(view, query, topic, "many" if result.total > 1 else "one")
    if not result.total:
        return translate("No document{what}.", what=query_text)
    largest = max(branches, key=lambda line: (line.matching or 0, line.level), default=None)
    topic_text = ""
    named = {
        *([] if topic is None else [topic]),
        *(view.shape.find(item.value) for item in query.topics if not view.shape.is_unsorted(item.value)),
    }
    named_nodes = {node for item in named for node in view.tree.path(view.shape.node(item))}
    if largest is not None and result.total > 1 and (largest.matching or 0) > result.total / 2:
        node = view.shape.node(largest.id)
        names = [step.name for step in list_path(view, node)[1:]]
        topic_text = "" if node in named_nodes else translate(", most of them under {names}", names=STEP.join(names))
    if result.only_some_words:
        none = translate("No document has all words.")
        if result.limited:
            none = translate("No document with these filters has all words.")
        if result.total == 1:
            return f"{none} {translate('{documents} has some of them.', documents=number)}"
        return f"{none} {translate('{documents} have some of them{mostly}.', documents=number, mostly=topic_text)}"
    if result.all_words and result.all_words < result.total:
        query_text += translate(", {number} of them with all words", number=f"{result.all_words:,}")
    return f"{number}{query_text}{topic_text}."


def _describe_meaning_search(view: View, query: Parsed, topic: int | None, n_documents: int) -> str:
    """Return the result of a search by meaning in words."""
    query_text = _describe_query(view, query, topic, "similar")
    if not n_documents:
        return translate("No document is{what}.", what=query_text)
    documents = CountedNoun(n_documents, count_documents(view.collection).noun)
    return translate("The {documents}{what}, most similar first.", documents=documents, what=query_text)


def _describe_query(view: View, query: Parsed, topic: int | None, form: str) -> str:
    """Return query terms and filters in words; ``form`` is the grammatical form."""
    typed = " ".join(map(str, query.terms))
    where = [] if topic is None else [translate("under {}").format(view.names[view.shape.node(topic)])]
    text = ", ".join([*where, *(name for name, _ in narrowing.describe_conditions(view, query))])
    return f"{translate_table(MATCH)[form].format(words=typed) if typed else ''}{' ' if text else ''}{text}"


def filter_rows(view: View, rows: Any, *, tag: str = "", label: str = "") -> Any:
    """Return those rows that have the tag and the label; an empty one filters nothing."""
    if tag:
        rows = view.intersect_rows(rows, view.collection.marks.rows_with(tag))
    return view.intersect_rows(rows, view.collection.documents.labelled_rows(label)) if label else rows


def _cut_page(view: View, rows: Any, page: int) -> SearchResult:
    """Return a page of rows as a search result; beyond the end, the last page."""
    start = (min(page, max(1, -(-len(rows) // PER_PAGE))) - 1) * PER_PAGE
    page_rows = rows[start : start + PER_PAGE].tolist()
    leads = view.leads(page_rows)
    return SearchResult(
        list_hits(view.collection, page_rows, [((leads.get(row, ""), False),) for row in page_rows]), len(rows)
    )


def _describe_filtered(number: str, ask: Ask) -> str:
    """Return the result of a tag or label filter in words."""
    text = [translate("tagged “{tag}”", tag=ask.tag)] * bool(ask.tag)
    text += [translate("labelled “{label}”", label=ask.label)] * bool(ask.label)
    text += [translate("that match “{query}”", query=ask.q)] * bool(ask.q.strip())
    return f"{number} {', '.join(text)}."
