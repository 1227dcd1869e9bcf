"""Overview of the collection."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Literal

from fastapi import Query

from topiarist.collection.describe.collection_facts import load_facts
from topiarist.display.first_sentence import first_sentence
from topiarist.display.locale.catalogues import CountedNoun, translate, translate_table
from topiarist.web import addresses
from topiarist.web.frame import DEFAULT_DETAIL, Detail, Row, build_branch, list_detail_links, list_open_nodes
from topiarist.web.pictures.tree_picture import DEEPEST
from topiarist.web.values import Choice, DocumentLine, TopicLine, build_document_lines, build_topic_line, choices, link
from topiarist.web.view import View

FEW = 50  # documents: below, a drawing shows structure that is not there
TYPICAL = 3
LEVELS = 3  # of the icicle, with the root
MOST = 2_000  # rectangles
LEAST = 0.02  # of the width; narrower siblings are put together
MAX_GENERAL_WORDS = 12


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    view: Annotated[Literal["tree", "icicle", "list"], Query(description="as a tree, an icicle, or a list")] = "tree"
    detail: Annotated[Detail, Query(description="detail of the tree")] = DEFAULT_DETAIL
    turned: Annotated[
        str, Query(max_length=2_000, pattern=r"^(\d+(-\d+)*)?$", description="topics opened or closed in addition")
    ] = ""


VIEWS = {"tree": "tree", "icicle": "icicle", "list": "list"}
EXPORTS = {"csv": "documents (CSV)", "jsonl": "documents (JSON lines)", "txt": "titles"}


@dataclass(frozen=True)
class Heading:
    """Topic below the root, with typical documents."""

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
    """Summary of the collection, with its headings and general words."""

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
        """Return the address of the page with a topic opened, or closed if it is open."""
        now = tuple(item for item in self.turned if item != topic)
        turned = now if topic in self.turned else (*now, topic)
        detail = None if self.detail == DEFAULT_DETAIL else self.detail
        return f"{addresses.overview(None, detail, turned)}#n{topic}"


def load(view: View, ask: Ask) -> OverviewPage:
    """Return the overview; a small collection has a list of documents in place of the picture."""
    tree, n_leaves = view.tree, len(view.tree.leaves)
    root = tree.root
    headings = tuple(_describe_heading(view, node) for node in view.children(root))
    few = view.n_docs < FEW
    notice = ""
    if few:
        notice = translate(
            "Too few for a reliable tree: {documents}.",
            documents=CountedNoun(view.n_docs, "document"),
        )
    elif n_leaves == 1:
        notice = translate(
            "No split predicts held-out words better. Add documents, or set a number with topiarist grow … --topics N."
        )
    icicle = not few and n_leaves > 1
    return OverviewPage(
        sentence=write_sentence(view),
        notice=notice,
        view=ask.view,
        documents=view.n_docs,
        topics=n_leaves,
        headings=headings,
        blocks=build_branch_icicle(view, root, LEVELS) if icicle else (),
        hard_to_place=view.hard_sizes[root],
        hard_address=addresses.topic(view.shape.topics[root], show="hard"),
        general_words=view.collection.tree.general_words[:MAX_GENERAL_WORDS],
        views=(
            *choices(translate_table(VIEWS), ask.view, lambda one: addresses.overview(None if one == "tree" else one)),
        )
        if icicle
        else (),
        listed=list_documents(view, FEW) if few or n_leaves == 1 else (),
        detail=ask.detail,
        details=list_detail_links(
            view, ask.detail, lambda detail: addresses.overview(None if ask.view == "tree" else ask.view, detail)
        )
        if icicle
        else (),
        shown=build_open_icicle(view, ask.detail, 0.0) if icicle else (),
        drawn=build_open_icicle(view, ask.detail) if icicle else (),
        picture=build_branch(view, root, _list_opened(view, ask)) if icicle else None,
        turned=_parse_turned(ask),
        exports=(
            link(translate("report (HTML)"), addresses.REPORT),
            *(
                link(text, addresses.export(kind, topic=view.shape.topics[root]))
                for kind, text in translate_table(EXPORTS).items()
            ),
        ),
    )


def _parse_turned(ask: Ask) -> tuple[int, ...]:
    """Return the topics that the user opened or closed."""
    return tuple(dict.fromkeys(int(topic) for topic in ask.turned.split("-") if topic))


def _list_opened(view: View, ask: Ask) -> frozenset[int]:
    """Return the open nodes of the detail, after opening or closing the chosen topics."""
    turned = {view.shape.node_of[topic] for topic in _parse_turned(ask) if topic in view.shape.node_of}
    asked = (list_open_nodes(view, ask.detail) | {view.tree.root}) ^ (turned - {view.tree.root})
    return frozenset(node for node in asked if view.tree.depths[node] <= DEEPEST)


def list_documents(view: View, n: int) -> tuple[DocumentLine, ...]:
    """Return the most typical documents of the collection."""
    rows = view.list_rows(view.tree.root, "typical", "all")[:n].tolist()
    return build_document_lines(view, rows, lambda id, _: addresses.document(id))


def write_sentence(view: View) -> str:
    return first_sentence(view.remembered("facts", lambda: load_facts(view.collection)))


def _describe_heading(view: View, node: int) -> Heading:
    """Return a topic with its first typical documents."""
    rows = view.collection.tree.nodes[node].rows[:TYPICAL]
    topic = view.shape.topics[node]
    return Heading(
        build_topic_line(view, node),
        build_document_lines(view, rows, lambda id, _: addresses.document(id, topic=topic)),
    )


def build_branch_icicle(view: View, root: int, levels: int, at: int = -1) -> tuple[Block, ...]:
    """Return the icicle below a topic; narrow siblings are joined, except on the path to ``at``."""
    top = view.tree.depths[root]
    below = {node for node in (root, *view.tree.descendants(root)) if view.tree.depths[node] - top + 1 < levels}
    return _build_icicle(view, root, below, LEAST, at)


def build_open_icicle(view: View, detail: Detail, least: float = LEAST) -> tuple[Block, ...]:
    """Return the icicle of a detail. A topic stays closed if all its subtopics are below ``least``."""
    root = view.tree.root
    wide = least * max(view.sizes[root], 1)
    below = {
        node
        for node in list_open_nodes(view, detail)
        if node == root or any(view.sizes[child] >= wide for child in view.tree.children(node))
    }
    return _build_icicle(view, root, below, least)


def _build_icicle(view: View, root: int, opened: Set[int], least: float, at: int = -1) -> tuple[Block, ...]:
    """Return the blocks of open nodes and their children; siblings narrower than ``least`` are one block."""
    total, path = max(view.sizes[root], 1), view.tree.path(at) if at >= 0 else ()

    def drawn(node: int, level: int, left: float) -> Iterator[Block]:
        place = "" if node not in path else "here" if node == at else "path"
        block = _create_block(view, node, level, left, view.sizes[node] / total, place)
        yield block if node in opened else replace(block, below=view.tree.count_leaves_below(node))
        children = view.children(node) if node in opened else []
        small = {child for child in children if view.sizes[child] / total < least and child not in path}
        for child in children:
            if child not in small:
                yield from drawn(child, level + 1, left)
                left += view.sizes[child] / total
        documents = sum(view.sizes[child] for child in small)
        if documents:
            name = translate("… {topics}", topics=CountedNoun(len(small), "smaller topic"))
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


def _create_block(view: View, node: int, level: int, left: float, width: float, place: str) -> Block:
    """Return the block of a topic at a position in the icicle."""
    line = build_topic_line(view, node)
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
