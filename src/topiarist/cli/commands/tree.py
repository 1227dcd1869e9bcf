"""Command ``topiarist tree``: print the topic tree of a collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topiarist.cli.options import OUTPUT, FolderOptions, choice_option, examples, printing, topic_option
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.first_sentence import describe_reason, first_sentence
from topiarist.display.formats import DOT, PENDING, count_noun, describe_naming, describe_unassigned, one_line
from topiarist.errors import UsageError
from topiarist.storage.facts import n_problems

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.trees.tree import Tree

EPILOG = examples(
    "topiarist tree mail.topiary",
    "topiarist tree mail.topiary --detail fine",
    "topiarist tree mail.topiary --topics 12",
    "topiarist tree mail.topiary --depth 1 --documents 2",
    "topiarist tree mail.topiary --topic court --json",
)
WRITES = ()
DETAILS = ("coarse", "normal", "fine", "all")
UNSORTED_SHOWN = 5  # documents that are listed


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Print the topic tree: words, number of documents and id of each topic."""

    detail: str | None = choice_option(
        None, "First level, about 20 topics (default), about 50, or all.", *DETAILS, panel=OUTPUT
    )
    topics: int | None = printing(None, "Number of topics and headings to show, side by side.", metavar="N", min=1)
    depth: int | None = printing(None, "Number of levels below the root or --topic. Replaces --detail.", min=0)
    words: int = printing(5, "Words of each topic.", min=0, max=20)
    documents: int = printing(0, "Typical documents of each topic.", min=0, max=10)
    topic: str | None = topic_option()


def run(options: Options) -> None:
    """Print the tree with notes and next commands, or as JSON."""
    from topiarist.collection.describe.collection_facts import load_facts

    _check_options(options)
    with open_collection(options) as (screen, collection):
        top = collection.outline.root if options.topic is None else collection.topic(options.topic)
        if options.json:
            screen.json(describe_tree(collection, top, options))
            return
        sentence = first_sentence(load_facts(collection))
        screen.print((one_line(collection.folder.display_path), "bold"), f": {sentence}")
        screen.print()
        show(screen, collection, top, options)
        _print_number_note(screen, collection, top, options)
        _print_notes(screen, collection)
        tree, sizes = collection.outline.tree, collection.tree.sizes
        largest = max(tree.children(tree.root) or (tree.root,), key=lambda node: sizes[node])
        topic = collection.outline.topics[largest]
        screen.print_next(f"show FOLDER {topic}", "find FOLDER WORDS", "shape FOLDER rename TOPIC NAME")


def _check_options(options: Options) -> None:
    """Raise UsageError if several options set the detail."""
    ways = {"--topics": options.topics, "--detail": options.detail, "--depth": options.depth}
    ways_set = [way for way, value in ways.items() if value is not None]
    if len(ways_set) > 1:
        raise UsageError(f"{' and '.join(ways_set)} both set the detail", hint=f"Use {ways_set[0]} alone.")


def select_visible(collection: Collection, top: int, options: Options, default_detail: str) -> frozenset[int]:
    """Return the visible nodes below a topic, and their ancestors."""
    tree, first = collection.outline.tree, collection.outline.node(top)
    if options.depth is not None:
        branch, deepest = (first, *tree.descendants(first)), tree.depths[first] + options.depth
        return frozenset(node for node in branch if tree.depths[node] <= deepest)
    if options.topics is not None:
        return frozenset((first, *select_level(collection, top, options.topics)))
    view = collection.tree.view(options.detail or default_detail, first)
    return frozenset(step for node in view for step in tree.path(node)) - {*tree.path(first)[:-1]}


def select_level(collection: Collection, top: int, number: int) -> tuple[int, ...]:
    """Return the nodes below a topic that ``--topics`` shows as siblings."""
    from topiarist.trees.views import select_siblings

    outline = collection.outline
    return select_siblings(outline.tree, collection.tree.sizes, number, outline.node(top))


def describe_tree(
    collection: Collection, top: int, options: Options, visible: frozenset[int] | None = None
) -> dict[str, Any]:
    """Return the collection and its visible topics as JSON data."""
    from topiarist.collection.describe.collection_facts import load_facts
    from topiarist.collection.unsorted import list_unsorted

    outline, tree = collection.outline, collection.tree
    nodes = [outline.node(top), *outline.tree.descendants(outline.node(top))]
    facts = load_facts(collection)
    visible = select_visible(collection, top, options, DETAILS[-1]) if visible is None else visible
    return {
        "folder": collection.folder.display_path,
        "sentence": first_sentence(facts),
        "facts": facts.to_dict(),
        "documents": len(collection),
        "whole_documents": facts.documents,
        "dates": {"first": facts.first, "last": facts.last} if facts.first else None,
        "language": collection.settings.get("language"),
        "model": collection.state.model,
        "leaves": facts.topics,
        "headings": facts.headings,
        "depth": outline.tree.depth,
        "words": tree.n_words,
        "tokens": tree.n_tokens,
        "general_words": list(tree.general_words),
        "hard_to_place": facts.unsorted,
        "unsorted": [
            {"id": document.id, "title": document.title, "reason": describe_reason(reason)}
            for document, reason in list_unsorted(collection, UNSORTED_SHOWN)
        ],
        "pending": outline.pending,
        "pinned": len(outline.pins),
        "categories": collection.state.parts.get("categories") is not None,
        "left_out": n_problems(collection.generation.database),
        "reason": tree.reason,
        "topics": [_describe_topic(collection, node, options) for node in nodes if node in visible],
    }


def _describe_topic(collection: Collection, node: int, options: Options) -> dict[str, Any]:
    """Return a topic as an item of the flat JSON list; its subtopics are items that name it as their parent."""
    outline, summary = collection.outline, collection.tree.nodes[node]
    topic, parent = outline.topics[node], outline.tree.parents[node]
    return {
        "id": topic,
        "parent": None if parent < 0 else outline.topics[parent],
        "name": outline.tree.names[node],
        "named_by": describe_naming(topic in outline.titles),
        "path": list(outline.tree.path_names(node)),
        "level": outline.tree.depths[node],
        "documents": collection.tree.sizes[node],
        "share": round(summary.share, 6),
        "words": list(summary.words[: options.words]),
        "note": outline.notes.get(topic, ""),
        "pinned": sum(pin == topic for pin in outline.pins.values()),
        "typical": list_typical_documents(collection, node, options.documents),
    }


def list_typical_documents(collection: Collection, node: int, number: int) -> list[dict[str, str]]:
    """Return the typical documents of a topic by id and title."""
    rows = [row for row in collection.tree.nodes[node].rows if row < len(collection)][:number]
    documents = collection.documents.load_many(rows, texts=False)
    return [{"id": document.id, "title": document.title or document.id} for document in documents]


def show(screen: Screen, collection: Collection, top: int, options: Options) -> None:
    """Print the tree below a topic, one line a topic: name, words, documents and id."""
    from topiarist.trees.tree_text import count_columns, iter_branches, shorten, to_ascii, to_printable

    outline, topic_sizes = collection.outline, collection.tree.sizes
    tree, nodes = _select_drawn(collection, top, options)
    closed = [node for place, node in enumerate(nodes) if tree.is_leaf(place) and not outline.tree.is_leaf(node)]
    hidden_counts = {node: f"+{outline.tree.count_leaves_below(node):,}" for node in closed}
    sizes, numbers = [f"{topic_sizes[node]:,}" for node in nodes], [str(outline.topics[node]) for node in nodes]
    wide, id_wide = max(map(len, ("documents", *sizes))), max(map(len, ("id", *numbers)))
    longest_count = max((len(text) + 2 for text in hidden_counts.values()), default=0)
    edge = (screen.width or 100) - wide - id_wide - 4 - longest_count
    screen.cut((f"{' ' * edge}  {'documents':>{wide}}  {'id':>{id_wide}}", "dim"))
    for place, branch in iter_branches(tree, options.depth, ascii=screen.ascii):
        if place is None:
            screen.cut((branch, "dim"))
            continue
        node = nodes[place]
        first, style, rest, joint = _describe_label(collection, node, options.words)
        room = edge - count_columns(branch)
        first = shorten(to_ascii(first) if screen.ascii else to_printable(first), room, "…")
        words = _join_words(rest, joint, room - count_columns(first), screen.ascii)
        gap = " " * max(0, edge - count_columns(branch + first + words))
        tail = f"  {sizes[place]:>{wide}}  {numbers[place]:>{id_wide}}  {hidden_counts.get(node, '')}".rstrip()
        screen.cut((branch, "dim"), (first, style), words, gap, (tail, "dim"))
        under = branch.replace("├─ ", "│  ").replace("└─ ", "   ").replace("|- ", "|  ").replace("`- ", "   ")
        if note := outline.notes.get(outline.topics[node]):
            screen.cut((under, "dim"), (f"   {one_line(note)}", "italic"))
        for document in list_typical_documents(collection, node, options.documents):
            screen.cut((under, "dim"), (f"   “{one_line(document['title'])}”", "dim"))


def _select_drawn(collection: Collection, top: int, options: Options) -> tuple[Tree, list[int]]:
    """Return the tree to draw, and the node of the complete tree for each of its nodes."""
    from topiarist.trees.edits import cut
    from topiarist.trees.tree import Tree

    whole, first = collection.outline.tree, collection.outline.node(top)
    if options.topics is not None:
        siblings = [node for node in select_level(collection, top, options.topics) if node != first]
        nodes = [first, *siblings]
        return Tree((-1, *([0] * len(siblings))), tuple(whole.names[node] for node in nodes)), nodes
    nodes = [first, *whole.descendants(first)]
    places = {node: place for place, node in enumerate(nodes)}
    parents = (-1, *(places[whole.parents[node]] for node in nodes[1:]))
    tree = Tree(parents, tuple(whole.names[node] for node in nodes))
    if options.depth is not None:
        return tree, nodes
    visible = select_visible(collection, top, options, DETAILS[1])
    edit = cut(tree, [places[node] for node in nodes if node in visible and visible.isdisjoint(whole.children(node))])
    return edit.tree, [nodes[place] for place in edit.origin]


def _describe_label(collection: Collection, node: int, n_words: int) -> tuple[str, str, list[str], str]:
    """Return the name of a topic, its style, its other words, and the text between name and words."""
    outline = collection.outline
    name, words = outline.tree.names[node], list(collection.tree.nodes[node].words[:n_words])
    is_title = outline.topics[node] in outline.titles
    if is_title or node == outline.tree.root or not words or name.split(DOT)[0] != words[0]:
        return name, "bold underline" if is_title else "bold", words, ": "
    return name, "bold", [word for word in words if word not in name.split(DOT)], DOT


def _join_words(words: list[str], joint: str, room: int, ascii: bool) -> str:
    """Return as many words as fit into ``room`` columns, after the joint."""
    from topiarist.trees.tree_text import count_columns, to_ascii, to_printable

    text = ""
    for number, word in enumerate(words):
        separator = DOT if number else joint
        part = (", " if ascii and separator == DOT else separator) + (to_ascii(word) if ascii else to_printable(word))
        if count_columns(text + part) > room:
            break
        text += part
    return text


def _print_number_note(screen: Screen, collection: Collection, top: int, options: Options) -> None:
    """Print a reason if the number of siblings differs from ``--topics``."""
    if options.topics is None:
        return
    n_shown = len(select_level(collection, top, options.topics))
    n_topics = len(collection.outline.tree.leaves_under(collection.outline.node(top)))
    if n_shown == options.topics:
        return
    if n_shown > options.topics:
        command = screen.format_command("shape FOLDER group TOPIC TOPIC as NAME")
        reason = f"{options.topics} need a new heading over some siblings. Try: {command}"
    elif n_topics < options.topics:
        reason = f"there are no more than {count_noun(n_topics, 'topic')}."
    else:
        reason = f"no way to open headings gives {options.topics:,}."
    screen.print()
    screen.print(f"{n_shown:,} siblings: {reason}")


def _print_notes(screen: Screen, collection: Collection) -> None:
    """Print notes on names by users, unsorted documents, pins and a pending fit."""
    from topiarist.collection.unsorted import list_unsorted

    outline, hard = collection.outline, int(collection.hard_to_place.sum())
    if outline.titles or hard or outline.pins or outline.pending:
        screen.print()
    if outline.titles:
        screen.print(("Underlined names were given by users.", "dim"))
    if hard:
        screen.print(f"{describe_unassigned(hard)}: no topic holds more than half of {'it' if hard == 1 else 'any'}.")
        for document, reason in list_unsorted(collection, UNSORTED_SHOWN):
            screen.print_titled(f"  {describe_reason(reason)}  ", one_line(document.title or document.id), document.id)
        if hard > UNSORTED_SHOWN:
            screen.print(
                (f"  {hard - UNSORTED_SHOWN:,} more: {screen.format_command('find FOLDER topic:unsorted')}", "dim")
            )
        screen.print(f"To grow them: {screen.format_command('shape FOLDER branch NAME under 0 with unsorted')}")
    if outline.pins:
        screen.print(f"{count_noun(len(outline.pins), 'document')} pinned to topics by people.")
    if outline.pending:
        screen.print((f"{PENDING}: {screen.format_command('shape FOLDER --refit')}", "yellow"))
