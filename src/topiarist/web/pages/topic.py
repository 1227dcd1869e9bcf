"""Topic with its words, subtopics and documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.collection.copies import fold_copies
from topiarist.collection.describe.statistics import MAX_RANKED, MIN_SHARE
from topiarist.collection.grow.regrowth import load_stability
from topiarist.display.locale.catalogues import CountedNoun, Share, translate, translate_table
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.text.query import format_phrase
from topiarist.web import addresses
from topiarist.web.pages.overview import LEVELS, Block, build_branch_icicle
from topiarist.web.values import (
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    build_document_lines,
    build_excerpt,
    build_paging,
    build_topic_line,
    choices,
    export_links,
    list_path,
)
from topiarist.web.view import View

TYPICAL, NEIGHBOURS = 3, 6  # documents with an excerpt; topics that are alike
TELLING = 25  # own words of a topic that are marked in an excerpt
DEEPEST = 8  # levels of the strip that says where one is
Sort = Literal["typical", "newest", "longest", "name"]
Show = Literal["all", "here", "hard", "unread", "tagged"]
SORTS = {"typical": "most typical", "newest": "newest", "longest": "longest", "name": "by name"}
SHOWS = {
    "all": "all",
    "here": "mostly here (50% or more)",
    "hard": "unsorted",
    "unread": "unread",
    "tagged": "tagged",
}

KINDS = {"own": "characteristic words", "below": "all words under this topic"}
DEFAULTS = {"special": None, "n": 12, "words": "own", "sort": "typical", "show": "all", "page": 1}


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    topic: int
    special: Annotated[float | None, Query(ge=0, le=1, description="words: 0 frequent here, 1 only here")] = None
    n: Annotated[int, Query(ge=5, le=100, description="words to show")] = 12
    words: Annotated[Literal["own", "below"], Query(description="its own, or all words below it")] = "own"
    sort: Sort = "typical"
    show: Show = "all"
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True, kw_only=True)
class TopicWordLine:
    """Word of a topic, with its probability and documents."""

    word: str
    probability: float
    bar: float  # of the largest in this list
    documents: int  # mostly under the topic, with the word
    search: str  # documents here with this word
    address: str  # where else it is at home


@dataclass(frozen=True, kw_only=True)
class TopicPage:
    """Topic with its path, words, subtopics and documents."""

    topic: TopicLine
    state: str  # of the collection, for edits
    path: tuple[Step, ...]
    whereabouts: tuple[Block, ...]  # the whole tree as a strip, with the way to this topic
    sentence: str
    steadiness: str  # how sure this topic is, where somebody has asked
    note: str
    edits: tuple[str, ...]  # of merge, group and split, those that are possible
    seeds: tuple[str, ...]  # words that people said belong here
    words: tuple[TopicWordLine, ...]
    words_kind: str
    special: float | None
    kinds: tuple[Choice, ...]
    subtopics: tuple[TopicLine, ...]
    neighbours: tuple[TopicLine, ...]  # topics that speak of something alike, wherever they lie
    hard_to_place: int
    pinned: int
    documents: tuple[DocumentLine, ...]
    typical: tuple[DocumentLine, ...]  # the first of them with a telling part of their texts, where a list begins
    candidates: tuple[str, ...]  # names that it could have
    why: bool  # whether numbers of words were asked for
    heading: str
    how_counted: str
    read: int
    sort: str
    show: str
    sorts: tuple[Choice, ...]
    shows: tuple[Choice, ...]
    paging: Paging
    total: int  # documents of the list, with copies that are folded in it
    exports: tuple[Choice, ...]
    pending: bool


def load(view: View, ask: Ask) -> TopicPage:
    """Return the page of a topic with its words, subtopics and one page of documents."""
    node = view.shape.node(ask.topic)
    line, parameters = build_topic_line(view, node), _build_parameters(ask)
    all_rows = select_rows(view, node, ask.sort, ask.show)
    rows = fold_duplicates(view, all_rows)
    pages = build_paging(len(rows), ask.page, lambda page: addresses.topic(ask.topic, **parameters | {"page": page}))
    page_rows = rows[pages.start : pages.last]
    pairs = view.own_words(node, ask.n, ask.special) if ask.words == "own" else view.words_below(node, ask.n)
    own_words = build_word_lines(view, node, pairs)
    inside = {"topic": ask.topic, "sort": parameters["sort"], "show": parameters["show"]}
    lines = build_document_lines(
        view,
        page_rows.tolist(),
        lambda id, _: addresses.document(id, **inside),
        [word.word for word in own_words],
        node,
    )
    return TopicPage(
        topic=line,
        state=view.mark,
        path=list_path(view, node),
        whereabouts=_compute_position_strip(view, node),
        sentence=_write_sentence(view, node, own_words),
        steadiness=_describe_stability(view, ask.topic),
        note=view.shape.notes.get(ask.topic, ""),
        edits=_list_edits(view, node),
        seeds=view.shape.seeds.get(ask.topic, ()),
        words=own_words,
        words_kind=ask.words,
        special=ask.special,
        kinds=choices(
            translate_table(KINDS),
            ask.words,
            lambda words: addresses.topic(ask.topic, **_build_parameters(ask, words=words)),
        ),
        subtopics=tuple(build_topic_line(view, child) for child in view.children(node)),
        neighbours=tuple(build_topic_line(view, neighbour) for neighbour in view.nearest_topics(node, NEIGHBOURS)),
        hard_to_place=view.hard_sizes[node],
        pinned=sum(topic == ask.topic for topic in view.shape.pins.values()),
        documents=lines,
        typical=_mark_typical(view, page_rows.tolist()[:TYPICAL], lines)
        if not pages.start and ask.sort == "typical"
        else (),
        candidates=view.collection.tree.nodes[node].names if node != view.tree.root else (),
        why=(ask.special, ask.n, ask.words) != (None, DEFAULTS["n"], DEFAULTS["words"]),
        heading=_write_heading(view, node, ask, len(all_rows)) + _describe_folded(len(all_rows) - len(rows)),
        how_counted=_explain_count(view, node),
        read=int(view.is_among(all_rows, view.collection.marks.read_rows()).sum()),
        sort=ask.sort,
        show=ask.show,
        sorts=_list_orders(ask, "sort", translate_table(SORTS)),
        shows=_list_orders(ask, "show", translate_table(SHOWS)),
        paging=pages,
        total=len(all_rows),
        exports=export_links(topic=ask.topic, show=parameters["show"], sort=parameters["sort"]),
        pending=view.shape.pending,
    )


def _mark_typical(view: View, rows: list[int], lines: tuple[DocumentLine, ...]) -> tuple[DocumentLine, ...]:
    """Read the texts and return documents with their most typical excerpt."""
    result = []
    for row, line, document in zip(rows, lines, view.collection.documents.load_many(rows), strict=False):
        words = [
            word
            for node in view.tree.path(int(view.assigned_nodes[row]))[1:]
            for word, _ in view.own_words(node, TELLING)
        ]
        result.append(replace(line, snippet=build_excerpt(document.text, words)))
    return tuple(result)


def _compute_position_strip(view: View, node: int) -> tuple[Block, ...]:
    """Return the icicle down to one level below a topic, its path marked; empty for a lone root."""
    if len(view.tree) < 2:
        return ()
    return build_branch_icicle(view, view.tree.root, min(max(view.tree.depths[node] + 2, LEVELS), DEEPEST), node)


def select_rows(view: View, node: int, sort: str, show: str) -> Any:
    """Return the sorted rows of a topic, filtered by certainty, read mark or tag."""
    if show not in ("unread", "tagged"):
        return view.list_rows(node, sort, show)
    rows, marks = view.list_rows(node, sort, "all"), view.collection.marks
    return (
        rows[~view.is_among(rows, marks.read_rows())]
        if show == "unread"
        else rows[view.is_among(rows, marks.tagged_rows())]
    )


def fold_duplicates(view: View, rows: Any) -> Any:
    """Return rows without duplicates."""
    copies = view.collection.copies
    return rows[fold_copies(copies, rows, view.n_docs)] if len(copies) else rows


def _describe_folded(number: int) -> str:
    return translate("; {copies} not listed", copies=CountedNoun(number, "duplicate", "duplicates")) if number else ""


def build_word_lines(view: View, node: int, pairs: list[tuple[str, float | None]]) -> tuple[TopicWordLine, ...]:
    """Return words with probability, documents and links."""
    largest = max((share for _, share in pairs if share), default=1.0)
    topic = None if node == view.tree.root else view.shape.topics[node]
    columns = [view.columns[word] for word, _ in pairs if word in view.columns]
    documents = dict(zip(columns, view.document_counts(node, columns), strict=True))
    return tuple(
        TopicWordLine(
            word=word,
            probability=share or 0.0,
            bar=(share or 0.0) / largest,
            documents=documents[view.columns[word]] if word in view.columns else 0,
            search=addresses.search(format_phrase(word), topic=topic),
            address=addresses.word(word),
        )
        for word, share in pairs
    )


def _build_parameters(ask: Ask, **changes: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults; other parameters begin at page 1."""
    parameters = {name: getattr(ask, name) for name in DEFAULTS} | ({"page": 1} if changes else {}) | changes
    return {name: None if value == DEFAULTS[name] else value for name, value in parameters.items()}


def _list_orders(ask: Ask, name: str, texts: dict[str, str]) -> tuple[Choice, ...]:
    """Return links to this page with other values of one parameter."""
    return tuple(
        Choice(
            text,
            addresses.topic(ask.topic, **_build_parameters(ask, **{name: value})),
            value == getattr(ask, name),
            value,
        )
        for value, text in texts.items()
    )


def _write_sentence(view: View, node: int, own_words: tuple[TopicWordLine, ...]) -> str:
    """Return the size, words and subtopics of a topic in words."""
    size, n_subtopics = view.sizes[node], len(view.tree.children(node))
    text = _describe_topic(view, node, [view.format_word(word.word) for word in own_words[:3]], n_subtopics)
    if view.shape.pending and not size and not view.model_nodes(node):
        return translate("New: filled at the next fit.") + text
    documents = CountedNoun(size, "document")
    if node == view.tree.root:
        return translate("{documents}.", documents=documents) + text
    share = Share(size / max(view.n_docs, 1), 1)
    return translate("{documents} ({share} of the collection).", documents=documents, share=share) + text


def _describe_topic(view: View, node: int, words: list[str], n_subtopics: int) -> str:
    """Return typical words and the number of subtopics in words."""
    parts = CountedNoun(n_subtopics, "subtopic")
    if not words:
        return translate(" {parts}.", parts=parts) if n_subtopics else ""
    word_list = (
        translate("{first} and {last}", first=", ".join(words[:-1]), last=words[-1]) if len(words) > 1 else words[0]
    )
    if node == view.tree.root:
        text = translate(" General words: {words}", words=word_list)
    else:
        text = translate(" Typical words: {words}", words=word_list)
    return text + (translate(". {parts}.", parts=parts) if n_subtopics else ".")


def _list_edits(view: View, node: int) -> tuple[str, ...]:
    """Return which of merge, group and split are possible for a topic."""
    related_nodes = {*view.tree.path(node), *view.tree.descendants(node)}
    joining = ("merge", "group") if len(related_nodes) < len(view.tree) else ()
    return (*joining, "split") if view.tree.is_leaf(node) and view.sizes[node] >= 2 else joining


def _describe_stability(view: View, topic: int) -> str:
    stability = load_stability(view.collection)
    text = "" if stability is None else stability.describe(topic)
    return translate("Topic stability: {said}.", said=text[:1].upper() + text[1:]) if text else ""


def _write_heading(view: View, node: int, ask: Ask, total: int) -> str:
    """Return the heading of the document list, by the documents that it shows."""
    name, number = view.names[node], CountedNoun(total, "document")
    if ask.show == "all":
        return translate("Documents under {name}", name=name)
    if ask.show == "here":
        return translate(
            "{documents} with at least {share} under {name}", documents=number, share=Share(MIN_CERTAINTY), name=name
        )
    if ask.show == "hard":
        return translate("{documents} under {name} without an assignment", documents=number, name=name)
    if ask.show == "unread":
        return translate("{documents} under {name}", documents=CountedNoun(total, "unread document"), name=name)
    return translate("{documents} under {name}", documents=CountedNoun(total, "tagged document"), name=name)


def _explain_count(view: View, node: int) -> str:
    """Return how documents count for a topic in words."""
    n_partly_here, n_mostly_here = view.n_listed(node, "all"), view.n_listed(node, "here")
    text = translate(
        "Documents count with their shares: {documents} at least {least} here, {most} at least half. All shares "
        "add up to {size}.",
        documents=CountedNoun(n_partly_here, "document has", "documents have"),
        least=Share(MIN_SHARE),
        most=n_mostly_here,
        size=view.sizes[node],
    )
    if n_partly_here <= MAX_RANKED:
        return text
    return text + translate(
        " Typical documents are selected among the {number} largest shares.",
        number=f"{MAX_RANKED:,}",
    )
