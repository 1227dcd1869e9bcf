"""What is this topic about, and what is in it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.overview import LEVELS, Block, blocks
from topiarist.app.explorer.values import (
    Choice,
    DocumentLine,
    Paging,
    Step,
    TopicLine,
    choices,
    document_lines,
    excerpt,
    link,
    paging,
    path_to,
    topic_line,
)
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, Share, all_worded, worded
from topiarist.collection import LEAST, RANKED, folded_rows, known_steadiness
from topiarist.measures.placed_documents import CERTAIN
from topiarist.text.query import phrase

TYPICAL, NEIGHBOURS = 3, 6  # documents with an excerpt; topics that are alike
TELLING = 25  # own words of a topic that are marked in an excerpt
DEEPEST = 8  # levels of the strip that says where one is
Sort = Literal["typical", "newest", "longest", "name"]
Show = Literal["all", "here", "hard", "unread", "tagged"]
SORTS = {"typical": "most typical", "newest": "newest", "longest": "longest", "name": "by name"}
SHOWS = {
    "all": "all",
    "here": "mostly here (50 % or more)",
    "hard": "hard to place",
    "unread": "unread",
    "tagged": "tagged",
}

KINDS = {"own": "own words", "below": "all words below this topic"}
EXPORTS = {"csv": "CSV", "jsonl": "JSON lines", "txt": "titles"}
USUAL = {"special": None, "n": 12, "words": "own", "sort": "typical", "show": "all", "page": 1}


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    topic: int
    special: Annotated[float | None, Query(ge=0, le=1, description="words: 0 frequent here, 1 only here")] = None
    n: Annotated[int, Query(ge=5, le=100, description="words to show")] = 12
    words: Annotated[Literal["own", "below"], Query(description="its own, or all words below it")] = "own"
    sort: Sort = "typical"
    show: Show = "all"
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True, kw_only=True)
class OwnWord:
    """A word of a topic: its probability there, how much of the list's largest that is, where it occurs."""

    word: str
    probability: float
    bar: float  # of the largest in this list
    documents: int  # mostly under the topic, with the word
    search: str  # documents here with this word
    address: str  # where else it is at home


@dataclass(frozen=True, kw_only=True)
class TopicPage:
    """A topic: where it hangs, its words, what it splits into, its documents."""

    topic: TopicLine
    state: str  # of the collection, for edits
    path: tuple[Step, ...]
    whereabouts: tuple[Block, ...]  # the whole tree as a strip, with the way to this topic
    sentence: str
    steadiness: str  # how sure this topic is, where somebody has asked
    note: str
    seeds: tuple[str, ...]  # words that people said belong here
    words: tuple[OwnWord, ...]
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
    """Fill the page."""
    node = view.shape.node(ask.topic)
    line, here = topic_line(view, node), _values(ask)
    every = rows_of(view, node, ask.sort, ask.show)
    rows = folded(view, every)
    pages = paging(len(rows), ask.page, lambda page: addresses.topic(ask.topic, **here | {"page": page}))
    chosen = rows[pages.start : pages.last]
    pairs = view.own_words(node, ask.n, ask.special) if ask.words == "own" else view.words_below(node, ask.n)
    own = word_lines(view, node, pairs)
    inside = {"topic": ask.topic, "sort": here["sort"], "show": here["show"]}
    lines = document_lines(
        view, chosen.tolist(), lambda id, _: addresses.document(id, **inside), [word.word for word in own], node
    )
    return TopicPage(
        topic=line,
        state=view.mark,
        path=path_to(view, node),
        whereabouts=_whereabouts(view, node),
        sentence=_sentence(view, node, own),
        steadiness=_steadiness(view, ask.topic),
        note=view.shape.notes.get(ask.topic, ""),
        seeds=view.shape.seeds.get(ask.topic, ()),
        words=own,
        words_kind=ask.words,
        special=ask.special,
        kinds=choices(
            all_worded(KINDS), ask.words, lambda words: addresses.topic(ask.topic, **_values(ask, words=words))
        ),
        subtopics=tuple(topic_line(view, child) for child in view.children(node)),
        neighbours=tuple(topic_line(view, near) for near in view.nearest_topics(node, NEIGHBOURS)),
        hard_to_place=view.hard_sizes[node],
        pinned=sum(topic == ask.topic for topic in view.shape.pins.values()),
        documents=lines,
        typical=_typical(view, chosen.tolist()[:TYPICAL], lines) if not pages.start and ask.sort == "typical" else (),
        candidates=view.collection.tree.nodes[node].names if node != view.tree.root else (),
        why=(ask.special, ask.n, ask.words) != (None, USUAL["n"], USUAL["words"]),
        heading=_heading(view, node, ask, len(every)) + _folded_away(len(every) - len(rows)),
        how_counted=_how_counted(view, node),
        read=int(view.marked(every, view.collection.marks.read_rows()).sum()),
        sort=ask.sort,
        show=ask.show,
        sorts=_ways(ask, "sort", all_worded(SORTS)),
        shows=_ways(ask, "show", all_worded(SHOWS)),
        paging=pages,
        total=len(every),
        exports=tuple(
            link(text, addresses.export(kind, topic=ask.topic, show=here["show"], sort=here["sort"]))
            for kind, text in all_worded(EXPORTS).items()
        ),
        pending=view.shape.pending,
    )


def _typical(view: View, rows: list[int], lines: tuple[DocumentLine, ...]) -> tuple[DocumentLine, ...]:
    """Documents with the part of their texts that speaks most of their topics: of words that set these apart."""
    found = []
    for row, line, document in zip(rows, lines, view.collection.documents.many(rows), strict=False):
        words = [word for node in view.tree.path(int(view.homes[row]))[1:] for word, _ in view.own_words(node, TELLING)]
        found.append(replace(line, snippet=excerpt(document.text, words)))
    return tuple(found)


def _whereabouts(view: View, node: int) -> tuple[Block, ...]:
    """One level more than the way there, so that one sees what comes next; nothing where there is only one topic."""
    if len(view.tree) < 2:
        return ()
    return blocks(view, view.tree.root, min(max(view.tree.depths[node] + 2, LEVELS), DEEPEST), node)


def rows_of(view: View, node: int, sort: str, show: str) -> Any:
    """The rows of the list of a topic."""
    if show not in ("unread", "tagged"):
        return view.listed(node, sort, show)
    rows, marks = view.listed(node, sort, "all"), view.collection.marks
    return (
        rows[~view.marked(rows, marks.read_rows())]
        if show == "unread"
        else rows[view.marked(rows, marks.tagged_rows())]
    )


def folded(view: View, rows: Any) -> Any:
    """Rows as they are listed: of copies the first."""
    copies = view.collection.copies
    return rows[folded_rows(copies, rows, view.n_docs)] if len(copies) else rows


def _folded_away(number: int) -> str:
    return worded("; {copies} folded", copies=Counted(number, "copy is", "copies are")) if number else ""


def word_lines(view: View, node: int, pairs: list[tuple[str, float | None]]) -> tuple[OwnWord, ...]:
    """Words of a topic with their probabilities, as a page has them."""
    largest = max((share for _, share in pairs if share), default=1.0)
    topic = None if node == view.tree.root else view.shape.topics[node]
    columns = [view.columns[word] for word, _ in pairs if word in view.columns]
    documents = dict(zip(columns, view.document_counts(node, columns), strict=True))
    return tuple(
        OwnWord(
            word=word,
            probability=share or 0.0,
            bar=(share or 0.0) / largest,
            documents=documents[view.columns[word]] if word in view.columns else 0,
            search=addresses.search(phrase(word), topic=topic),
            address=addresses.word(word),
        )
        for word, share in pairs
    )


def _values(ask: Ask, **changed: Any) -> dict[str, Any]:
    """What is in the address, as far as it differs from what is shown anyway; of something else the first page."""
    known = {name: getattr(ask, name) for name in USUAL} | ({"page": 1} if changed else {}) | changed
    return {name: None if value == USUAL[name] else value for name, value in known.items()}


def _ways(ask: Ask, name: str, texts: dict[str, str]) -> tuple[Choice, ...]:
    """Other orders of the list, or other parts of it."""
    return tuple(
        Choice(text, addresses.topic(ask.topic, **_values(ask, **{name: value})), value == getattr(ask, name), value)
        for value, text in texts.items()
    )


def _sentence(view: View, node: int, own: tuple[OwnWord, ...]) -> str:
    size, below = view.sizes[node], len(view.tree.children(node))
    said = _about(view, node, [view.written(word.word) for word in own[:3]], below)
    if view.shape.pending and not size and not view.model_nodes(node):
        return worded("New: filled when the tree is fitted.") + said
    documents = Counted(size, "document")
    if node == view.tree.root:
        return worded("{documents}.", documents=documents) + said
    share = Share(size / max(view.n_docs, 1), 1)
    return worded("{documents} ({share} of the collection).", documents=documents, share=share) + said


def _about(view: View, node: int, told: list[str], below: int) -> str:
    """What its words are about, and how it splits."""
    parts = Counted(below, "subtopic")
    if not told:
        return worded(" It splits into {parts}.", parts=parts) if below else ""
    listed = worded("{first} and {last}", first=", ".join(told[:-1]), last=told[-1]) if len(told) > 1 else told[0]
    if node == view.tree.root:
        said = worded(" Its general words are {words}", words=listed)
    else:
        said = worded(" Its own words are about {words}", words=listed)
    return said + (worded("; it splits into {parts}.", parts=parts) if below else ".")


def _steadiness(view: View, topic: int) -> str:
    known = known_steadiness(view.collection)
    said = "" if known is None else known.said(topic)
    return worded("How sure is this topic? {said}.", said=said[:1].upper() + said[1:]) if said else ""


def _heading(view: View, node: int, ask: Ask, total: int) -> str:
    name, number = view.names[node], Counted(total, "document")
    if ask.show == "all":
        return worded("Documents under {name}", name=name)
    if ask.show == "here":
        return worded(
            "{documents} with at least {share} under {name}", documents=number, share=Share(CERTAIN), name=name
        )
    if ask.show == "hard":
        return worded("{documents} under {name} of which no last topic has more than half", documents=number, name=name)
    if ask.show == "unread":
        return worded("{documents} under {name}", documents=Counted(total, "unread document"), name=name)
    return worded("{documents} under {name}", documents=Counted(total, "tagged document"), name=name)


def _how_counted(view: View, node: int) -> str:
    some, most = view.n_listed(node, "all"), view.n_listed(node, "here")
    said = worded(
        "A document counts under each topic with its share, and its shares add up to one: {documents} at least {least} "
        "here, {most} at least half, and all shares together make {size}.",
        documents=Counted(some, "document has", "documents have"),
        least=Share(LEAST),
        most=most,
        size=view.sizes[node],
    )
    if some <= RANKED:
        return said
    return said + worded(
        " The most typical are looked for among {number} of those with the largest shares; the others follow by share.",
        number=f"{RANKED:,}",
    )
