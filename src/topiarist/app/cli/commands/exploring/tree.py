"""``topiarist tree``: what is in here?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from topiarist import collection as door
from topiarist.app.cli.options import UNDER, FolderOptions, examples, printing
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import DOT, PENDING, counted, hard_to_place, named_by, one_line
from topiarist.errors import UsageError
from topiarist.store import facts

if TYPE_CHECKING:
    from topiarist.hierarchy.tree import Tree

EPILOG = examples(
    "topiarist tree mail.topiary",
    "topiarist tree mail.topiary --detail fine",
    "topiarist tree mail.topiary --topics 12",
    "topiarist tree mail.topiary --depth 1 --documents 2",
    "topiarist tree mail.topiary --topic court --json",
)
WRITES = ()
MARK = "x"  # in place of a label, to see the branches alone


class Detail(StrEnum):
    """How much of a tree is opened."""

    COARSE = "coarse"
    NORMAL = "normal"
    FINE = "fine"
    ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Print the tree of topics: words, documents under each, numbers to name a topic by."""

    detail: Annotated[
        Detail | None, printing("How much to open: about 6, 20 (as without it) or 50 topics, or all.")
    ] = None
    topics: Annotated[
        int | None,
        printing("At most so many topics of the same tree, instead of --detail.", metavar="N", min=1),
    ] = None
    depth: Annotated[int | None, printing("Levels below the root, or below --topic, instead of --detail.", min=0)] = (
        None
    )
    words: Annotated[int, printing("Words of each topic.", min=0, max=20)] = 5
    documents: Annotated[int, printing("Typical documents of each topic.", min=0, max=10)] = 0
    topic: Annotated[str | None, UNDER] = None


def run(options: Options) -> None:
    """Open, print, say what to type next."""
    screen = Screen(options)
    _check(options)
    with door.Collection.open(options.folder) as collection:
        top = collection.outline.root if options.topic is None else collection.topic(options.topic)
        if options.json:
            screen.json(tree_body(collection, top, options))
            return
        _sentence(screen, collection)
        screen.print()
        show(screen, collection, top, options)
        _notes(screen, collection)
        screen.next(f"show FOLDER {_some_topic(collection)}", "find FOLDER WORDS", "shape FOLDER rename TOPIC NAME")


def _check(options: Options) -> None:
    """One way to say how much is opened."""
    ways = {"--topics": options.topics, "--detail": options.detail, "--depth": options.depth}
    chosen = [way for way, given in ways.items() if given is not None]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} both say how much to open", hint=f"{chosen[0]} alone")


def seen_of(collection: door.Collection, top: int, options: Options, usual: Detail) -> frozenset[int]:
    """The nodes of the tree that are shown, from a topic down; those above them included."""
    outline, first = collection.outline, collection.outline.node(top)
    if options.depth is not None:
        deepest = outline.tree.depths[first] + options.depth
        below = (first, *outline.tree.descendants(first))
        return frozenset(node for node in below if outline.tree.depths[node] <= deepest)
    detail = options.topics or (options.detail or usual).value
    above = outline.tree.path(first)[:-1]
    return frozenset(
        step for node in collection.tree.view(detail, first) for step in outline.tree.path(node) if step not in above
    )


def tree_body(collection: door.Collection, top: int, options: Options) -> dict[str, Any]:
    """What is known of the collection, and of each topic."""
    outline, found = collection.outline, collection.tree
    known = collection.settings
    nodes = [outline.node(top), *outline.tree.descendants(outline.node(top))]
    first, last = collection.documents.span()
    seen = seen_of(collection, top, options, Detail.ALL)
    return {
        "folder": collection.folder.shown,
        "documents": len(collection),
        "whole_documents": door.n_wholes(collection),
        "dates": {"first": first, "last": last} if first else None,
        "language": known.get("language"),
        "model": collection.state.model,
        "leaves": len(outline.tree.leaves),
        "depth": outline.tree.depth,
        "words": found.n_words,
        "tokens": found.n_tokens,
        "general_words": list(found.general_words),
        "hard_to_place": int(collection.hard_to_place.sum()),
        "pending": outline.pending,
        "pinned": len(outline.pins),
        "categories": collection.state.parts.get("categories") is not None,
        "left_out": facts.n_problems(collection.generation.database),
        "reason": found.reason,
        "topics": [_topic(collection, node, options) for node in nodes if node in seen],
    }


def _topic(collection: door.Collection, node: int, options: Options) -> dict[str, Any]:
    outline, summary = collection.outline, collection.tree.nodes[node]
    topic, parent = outline.topics[node], outline.tree.parents[node]
    return {
        "id": topic,
        "parent": None if parent < 0 else outline.topics[parent],
        "name": outline.tree.names[node],
        "named_by": named_by(topic in outline.titles),
        "path": list(outline.tree.path_names(node)),
        "level": outline.tree.depths[node],
        "documents": collection.tree.sizes[node],
        "share": round(summary.share, 6),
        "words": list(summary.words[: options.words]),
        "note": outline.notes.get(topic, ""),
        "pinned": sum(pinned == topic for pinned in outline.pins.values()),
        "typical": typical(collection, node, options.documents),
    }


def typical(collection: door.Collection, node: int, number: int) -> list[dict[str, str]]:
    """Documents that speak most from a topic, by id and title."""
    rows = [row for row in collection.tree.nodes[node].rows if row < len(collection)][:number]
    found = collection.documents.many(rows, texts=False)
    return [{"id": document.id, "title": document.title or document.id} for document in found]


def _sentence(screen: Screen, collection: door.Collection) -> None:
    tree = collection.outline.tree
    first, last = (date[:4] for date in collection.documents.span())
    when = "" if not first else f" from {first}" if first == last else f" from {first} to {last}"
    below = counted(len(tree.children(tree.root)), "heading")
    leaves = counted(len(tree.leaves), "topic")
    where = f"{leaves} under {below}" if tree.depth > 1 else leaves
    screen.print((one_line(collection.folder.shown), "bold"), f": {door.documents_said(collection)}{when}, {where}")


def show(screen: Screen, collection: door.Collection, top: int, options: Options) -> None:
    """The tree from a topic down, a line for each: words or name, documents, number."""
    from topiarist.hierarchy.edits import cut
    from topiarist.hierarchy.tree_text import columns, drawn_nodes, plain, printable, shortened

    outline, found = collection.outline, collection.tree
    tree, nodes = _below(outline.tree, outline.node(top))
    if options.depth is None:
        seen = seen_of(collection, top, options, Detail.NORMAL)
        ends = [
            place for place, node in enumerate(nodes) if node in seen and seen.isdisjoint(outline.tree.children(node))
        ]
        edit = cut(tree, ends)
        tree, nodes = edit.tree, [nodes[place] for place in edit.origin]
    closed = [node for place, node in enumerate(nodes) if tree.is_leaf(place) and not outline.tree.is_leaf(node)]
    more = {node: f"+{len(outline.tree.descendants(node)):,}" for node in closed}
    sizes = [f"{found.sizes[node]:,}" for node in nodes]
    numbers = [str(outline.topics[node]) for node in nodes]
    wide, id_wide = max(len("documents"), *map(len, sizes)), max(len("id"), *map(len, numbers))
    edge = (screen.width or 100) - wide - id_wide - 4 - max((len(one) + 2 for one in more.values()), default=0)
    lines = tree.render(lambda _: MARK, depth=options.depth, ascii=screen.ascii).split("\n")
    head = f"{'documents':>{wide}}  {'id':>{id_wide}}"
    screen.cut((" " * edge + "  " + head, "dim"))
    for node, line in zip(drawn_nodes(tree, options.depth), lines, strict=True):
        if node is None:
            screen.cut((line, "dim"))
            continue
        branch, whole = line.removesuffix(MARK), nodes[node]
        first, style, rest, joint = _label(collection, whole, options.words)
        room = edge - columns(branch)
        first = shortened(plain(first) if screen.ascii else printable(first), room, "…")
        told_words = _words_within(rest, joint, room - columns(first), screen.ascii)
        gap = " " * max(0, edge - columns(branch + first + told_words))
        tail = f"  {sizes[node]:>{wide}}  {numbers[node]:>{id_wide}}  {more.get(whole, '')}".rstrip()
        screen.cut((branch, "dim"), (first, style), told_words, gap, (tail, "dim"))
        under = branch.replace("├─ ", "│  ").replace("└─ ", "   ").replace("|- ", "|  ").replace("`- ", "   ")
        if note := outline.notes.get(outline.topics[whole]):
            screen.cut((under, "dim"), (f"   {one_line(note)}", "italic"))
        for document in typical(collection, whole, options.documents):
            screen.cut((under, "dim"), (f"   “{one_line(document['title'])}”", "dim"))


def _label(collection: door.Collection, node: int, n_words: int) -> tuple[str, str, list[str], str]:
    """A topic's name, how it is printed, its words beside the name, and what stands before these."""
    outline = collection.outline
    topic, name = outline.topics[node], outline.tree.names[node]
    words = list(collection.tree.nodes[node].words[:n_words])
    if topic in outline.titles:
        return name, "bold underline", words, ": "
    if node == outline.tree.root or not words or not name.startswith(words[0]):
        return name, "bold", words, ": "
    head = name.split(DOT)
    return name, "bold", [word for word in words if word not in head], DOT


def _words_within(words: list[str], joint: str, room: int, ascii: bool) -> str:
    """As many words as there is room for."""
    from topiarist.hierarchy.tree_text import columns, plain, printable

    text = ""
    for number, word in enumerate(words):
        more = DOT if number else joint
        shown = (", " if ascii and more == DOT else more) + (plain(word) if ascii else printable(word))
        if columns(text + shown) > room:
            break
        text += shown
    return text


def _notes(screen: Screen, collection: door.Collection) -> None:
    """What a reader should know beside the tree."""
    outline, hard = collection.outline, int(collection.hard_to_place.sum())
    if outline.titles or hard or outline.pins or outline.pending:
        screen.print()
    if outline.titles:
        screen.print(("Underlined names were given by people; the others are words of the topics.", "dim"))
    if hard:
        screen.print(f"{hard_to_place(hard)}: no topic has more than half of {'it' if hard == 1 else 'them'}.")
    if outline.pins:
        screen.print(f"{counted(len(outline.pins), 'document')} pinned to topics by people.")
    if outline.pending:
        screen.print((f"{PENDING}: {screen.typed('shape FOLDER --refit')}", "yellow"))


def _some_topic(collection: door.Collection) -> int:
    """The largest topic below the root, to be named in an example."""
    tree, sizes = collection.outline.tree, collection.tree.sizes
    below = tree.children(tree.root) or (tree.root,)
    return collection.outline.topics[max(below, key=lambda node: sizes[node])]


def _below(tree: Tree, top: int) -> tuple[Tree, list[int]]:
    """The tree from a node down, and which node of the whole each of its nodes is."""
    from topiarist.hierarchy.tree import Tree

    nodes = [top, *tree.descendants(top)]
    number = {old: new for new, old in enumerate(nodes)}
    parents = (-1, *(number[tree.parents[node]] for node in nodes[1:]))
    return Tree(parents, tuple(tree.names[node] for node in nodes)), nodes
