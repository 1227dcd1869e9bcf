"""What is in here?"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.detail import USUAL, Detail, opened, ways
from topiarist.app.explorer.frame import Row, branch
from topiarist.app.explorer.tree_picture import DEEPEST
from topiarist.app.explorer.values import Choice, DocumentLine, TopicLine, choices, document_lines, link, topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, all_worded, worded
from topiarist.collection import n_wholes

FEW = 50  # documents: below, a drawing shows structure that is not there
TYPICAL = 3
LEVELS = 3  # of the icicle, with the root
MOST = 2_000  # rectangles
LEAST = 0.02  # of the width; narrower siblings are put together
LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "pl": "Polish",
    "sv": "Swedish",
    "da": "Danish",
    "ja": "Japanese",
    "zh": "Chinese",
    "ar": "Arabic",
    "tr": "Turkish",
    "fi": "Finnish",
    "cs": "Czech",
    "ko": "Korean",
}


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    view: Annotated[Literal["tree", "icicle", "list"], Query(description="as a tree, an icicle, or a list")] = "tree"
    detail: Annotated[Detail, Query(description="how much of the tree is opened")] = USUAL
    turned: Annotated[
        str, Query(max_length=2_000, pattern=r"^(\d+(-\d+)*)?$", description="topics opened or closed beside that")
    ] = ""


VIEWS = {"tree": "tree", "icicle": "icicle", "list": "list"}
EXPORTS = {"csv": "all documents as CSV", "jsonl": "as JSON lines", "txt": "titles"}


@dataclass(frozen=True)
class Heading:
    """A topic below the root with documents that speak for it."""

    topic: TopicLine
    typical: tuple[DocumentLine, ...]


@dataclass(frozen=True, kw_only=True)
class Block:
    """A rectangle of the icicle: from where to where in the width of the collection, and at which level.

    ``place``: "here" for the topic that is shown, "path" for those above it, nothing for all others.
    """

    topic: int | None  # none for several small ones together
    name: str
    named: bool
    documents: int
    level: int
    left: float
    width: float
    address: str
    words: tuple[str, ...] = ()
    place: str = ""
    below: int = 0  # topics below it that are not drawn
    branch: int = 0  # the heading that it lies under


@dataclass(frozen=True, kw_only=True)
class OverviewPage:
    """The collection in a sentence, its headings, and the words of its root."""

    sentence: str
    notice: str  # where there is little to see, why, and what to do
    view: str
    documents: int
    topics: int
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    hard_to_place: int
    hard_address: str
    general_words: tuple[str, ...]
    views: tuple[Choice, ...]
    listed: tuple[DocumentLine, ...]  # the documents themselves, where there is no tree to show
    exports: tuple[Choice, ...]
    detail: str
    details: tuple[Choice, ...]
    shown: tuple[Block, ...]  # every topic of this detail; ``blocks`` has the same levels whatever is asked
    drawn: tuple[Block, ...]  # those of them that are wide enough for a drawing
    picture: Row | None  # the tree as it is open now
    turned: tuple[int, ...]  # topics that somebody opened or closed

    def turn(self, topic: int) -> str:
        """The address of the page with one topic opened that is closed, or the other way round."""
        now = tuple(one for one in self.turned if one != topic)
        turned = now if topic in self.turned else (*now, topic)
        detail = None if self.detail == USUAL else self.detail
        return f"{addresses.home(None, detail, turned)}#n{topic}"


def load(view: View, ask: Ask) -> OverviewPage:
    """Fill the page."""
    tree, n_leaves = view.tree, len(view.tree.leaves)
    root = tree.root
    headings = tuple(_heading(view, node) for node in view.children(root))
    few = view.n_docs < FEW
    notice = ""
    if few:
        notice = worded(
            "{documents} are too few for a tree to be trusted; here they are in a list.",
            documents=Counted(view.n_docs, "document"),
        )
    elif n_leaves == 1:
        notice = worded(
            "No structure found that holds up on unseen documents. What may help: more documents, fewer stop words, "
            "or a number of topics of your choice (topiarist grow … --topics N)."
        )
    icicle = not few and n_leaves > 1
    return OverviewPage(
        sentence=sentence(view),
        notice=notice,
        view=ask.view,
        documents=view.n_docs,
        topics=n_leaves,
        headings=headings,
        blocks=blocks(view, root, LEVELS) if icicle else (),
        hard_to_place=view.hard_sizes[root],
        hard_address=addresses.topic(view.shape.topics[root], show="hard"),
        general_words=view.collection.tree.nodes[root].words,
        views=(
            *choices(all_worded(VIEWS), ask.view, lambda one: addresses.home(None if one == "tree" else one)),
            *([link(worded("dendrogram"), addresses.DENDROGRAM)] if view.has_dendrogram else []),
        )
        if icicle
        else (),
        listed=_listed(view) if few or n_leaves == 1 else (),
        detail=ask.detail,
        details=ways(view, ask.detail, lambda one: _home(ask, one)) if icicle else (),
        shown=opened_blocks(view, ask.detail, 0.0) if icicle else (),
        drawn=opened_blocks(view, ask.detail) if icicle else (),
        picture=branch(view, root, _opened(view, ask)) if icicle else None,
        turned=_turned(ask),
        exports=(
            link(worded("one page to send (HTML)"), addresses.REPORT),
            *(
                link(text, addresses.export(kind, topic=view.shape.topics[root]))
                for kind, text in all_worded(EXPORTS).items()
            ),
        ),
    )


def _home(ask: Ask, detail: Detail) -> str:
    return addresses.home(None if ask.view == "tree" else ask.view, detail)


def _turned(ask: Ask) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(topic) for topic in ask.turned.split("-") if topic))


def _opened(view: View, ask: Ask) -> frozenset[int]:
    """The nodes that are open in the picture: those of the detail, but for what somebody has turned."""
    turned = {view.shape.node_of[topic] for topic in _turned(ask) if topic in view.shape.node_of}
    asked = (opened(view, ask.detail) | {view.tree.root}) ^ (turned - {view.tree.root})
    return frozenset(node for node in asked if view.tree.depths[node] <= DEEPEST)


def _listed(view: View) -> tuple[DocumentLine, ...]:
    rows = view.listed(view.tree.root, "typical", "all")[:FEW].tolist()
    return document_lines(view, rows, lambda id, _: addresses.document(id))


def sentence(view: View) -> str:
    """The collection in one sentence."""
    first, last = (date[:4] for date in view.remembered("span", view.collection.documents.span))
    when = worded(" from {first} to {last}", first=first, last=last) if first != last else ""
    when = when or (worded(" of {first}", first=first) if first else "")
    known = all_worded(LANGUAGES).get(view.collection.settings.get("language", ""))
    language = worded(", in {language}", language=known) if known else ""
    leaves, headings = len(view.tree.leaves), len(view.tree.children(view.tree.root))
    sorted_into = worded(", sorted into {topics}", topics=Counted(leaves, "topic")) if leaves > 1 else ""
    under = worded(" under {headings}", headings=Counted(headings, "heading")) if 1 < headings < leaves else ""
    number = view.remembered("wholes", lambda: n_wholes(view.collection))
    said = worded("{documents}", documents=Counted(number, "document"))
    if number != view.n_docs:
        said = worded("{documents} in {passages}", documents=said, passages=Counted(view.n_docs, "passage"))
    return f"{said}{when}{language}{sorted_into}{under}."


def _heading(view: View, node: int) -> Heading:
    rows = view.collection.tree.nodes[node].rows[:TYPICAL]
    topic = view.shape.topics[node]
    return Heading(
        topic_line(view, node), document_lines(view, rows, lambda id, _: addresses.document(id, topic=topic))
    )


def blocks(view: View, root: int, levels: int, at: int = -1) -> tuple[Block, ...]:
    """The icicle below a topic to so many levels, in the order of the tree: as wide as topics have documents.

    Siblings that are too narrow are put together, but never the way to ``at``, the topic that is shown.
    """
    top = view.tree.depths[root]
    below = {node for node in (root, *view.tree.descendants(root)) if view.tree.depths[node] - top + 1 < levels}
    return _icicle(view, root, below, LEAST, at)


def opened_blocks(view: View, detail: Detail, least: float = LEAST) -> tuple[Block, ...]:
    """The icicle of the whole tree in some detail; a topic whose parts are all too narrow stays closed."""
    root = view.tree.root
    wide = least * max(view.sizes[root], 1)
    below = {
        node
        for node in opened(view, detail)
        if node == root or any(view.sizes[child] >= wide for child in view.tree.children(node))
    }
    return _icicle(view, root, below, least)


def _icicle(view: View, root: int, opened: Set[int], least: float, at: int = -1) -> tuple[Block, ...]:
    total, path = max(view.sizes[root], 1), view.tree.path(at) if at >= 0 else ()

    def drawn(node: int, level: int, left: float) -> Iterator[Block]:
        place = "" if node not in path else "here" if node == at else "path"
        block = _block(view, node, level, left, view.sizes[node] / total, place)
        yield block if node in opened else replace(block, below=len(view.tree.descendants(node)))
        children = view.children(node) if node in opened else []
        small = {child for child in children if view.sizes[child] / total < least and child not in path}
        for child in children:
            if child not in small:
                yield from drawn(child, level + 1, left)
                left += view.sizes[child] / total
        documents = sum(view.sizes[child] for child in small)
        if documents:
            name = worded("… {topics}", topics=Counted(len(small), "smaller topic"))
            address = addresses.topic(view.shape.topics[node])
            yield Block(
                topic=None,
                name=name,
                named=False,
                documents=documents,
                level=level + 1,
                left=left,
                width=documents / total,
                address=address,
                branch=view.branches[node],
            )

    return tuple(islice(drawn(root, 0, 0.0), MOST))


def _block(view: View, node: int, level: int, left: float, width: float, place: str) -> Block:
    line = topic_line(view, node)
    return Block(
        topic=line.id,
        name=line.name,
        named=line.named,
        documents=line.documents,
        level=level,
        left=left,
        width=width,
        address=line.address,
        words=line.words,
        place=place,
        branch=line.branch,
    )
