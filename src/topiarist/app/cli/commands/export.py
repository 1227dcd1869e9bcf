"""``topiarist export``: how do I hand this to others, and to other programs?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from topiarist.app.cli.terminal.console import binary_output
from topiarist.app.cli.terminal.printing import counted
from topiarist.app.cli.terminal.screen import Screen, opened
from topiarist.app.cli.terminal.targets import check_file, check_model, replace_model
from topiarist.app.cli.using_options import ExportOptions
from topiarist.collection.collection import Collection
from topiarist.collection.describe import tables
from topiarist.collection.shape.shape import unlike
from topiarist.errors import UsageError
from topiarist.hierarchy import exchange
from topiarist.hierarchy.node_lookup import nearest
from topiarist.hierarchy.tree import Tree
from topiarist.store.array_files import new_file
from topiarist.store.model_folder import save_model

WHAT = ("documents", "topics", "words", "tree", "model")
TREES = ("json", "graphml", "newick", "paths")
SUFFIXES = {
    "csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "json": "json", "graphml": "graphml",
    "nwk": "newick", "newick": "newick", "tree": "newick", "paths": "paths", "txt": "paths",
}  # fmt: skip
STANDARD_OUTPUT = "-"
BLOCK = 2_000


def run(options: ExportOptions) -> None:
    """Settle what and how, write, say so."""
    screen = Screen(options)
    kind, what = _settled(options)
    target = options.output
    if options.json and target == STANDARD_OUTPUT:
        raise UsageError("--json tells about a file, and standard output holds the rows", hint="--format jsonl -o -")
    if what == "model":
        check_model(target, force=options.force)
    elif target != STANDARD_OUTPUT:
        check_file(target, force=options.force)
    with opened(options) as collection:
        if what == "model":
            number, things = _model(collection, target), "file"
        elif kind in TREES:
            _tree(collection, kind, target, options)
            number, things = len(collection.outline.topics), "topic"
        else:
            rows, fields, things = _rows(collection, what, options)
            number = tables.write(rows, binary_output() if target == STANDARD_OUTPUT else target, kind, fields)
    if options.json:
        if target != STANDARD_OUTPUT:
            screen.json({"output": target, "what": what, "format": kind, things + "s": number})
        return
    if target != STANDARD_OUTPUT:
        screen.say(f"{counted(number, things)} written to {target}")
        screen.next("tree FOLDER" if what != "model" else "check FOLDER")


def _settled(options: ExportOptions) -> tuple[str, str]:
    """The format and what to write, one from the other where only one is said."""
    what, kind = options.what, options.format
    known = (*tables.FORMATS, *TREES, "model")
    if kind is not None and kind not in known:
        raise UsageError(f"there is no format {kind!r}", hint=nearest(kind, known).replace("'", ""))
    if what is not None and what not in WHAT:
        raise UsageError(f"there is no {what!r} to export", hint=nearest(what, WHAT).replace("'", ""))
    if what == "model" or kind == "model":
        if options.output == STANDARD_OUTPUT:
            raise UsageError("a model is a folder of files, which does not go to standard output", hint="-o model")
        return "model", "model"
    if kind is None:
        kind = SUFFIXES.get(PurePath(options.output).suffix.lower().removeprefix("."))
    if kind is None:
        kind = "json" if what == "tree" else "csv" if options.output == STANDARD_OUTPUT else None
    if kind is None:
        raise UsageError(f"which format should {options.output} have?", hint=f"--format {', '.join(known)}")
    what = what or ("tree" if kind in TREES else "documents")
    if what == "tree" and kind in tables.FORMATS:
        what = "topics"
    if (what == "tree") != (kind in TREES):
        raise UsageError(
            f"{what} cannot be written as {kind}", hint=", ".join(TREES if what == "tree" else tables.FORMATS)
        )
    if kind == "parquet" and options.output == STANDARD_OUTPUT:
        raise UsageError("Parquet needs a file", hint="-o documents.parquet")
    return kind, what


def _rows(collection: Collection, what: str, options: ExportOptions) -> tuple[Iterator[Any], tuple[str, ...], str]:
    outline, found = collection.outline, collection.tree
    if what == "documents":
        placed = collection.placed
        labels = (document.labels for document in _documents(collection, texts=False))
        rows = tables.documents(placed, labels, _facts(collection, texts=options.texts), rho=options.rho)
        return rows, tables.DOCUMENT_FIELDS, "document"
    if what == "topics":
        words = [own[: options.words] for own in found.words]
        return _numbered(outline.topics, _noted(collection, words)), tables.TOPIC_FIELDS, "topic"
    crown, known = collection.crown, collection.counting.vocabulary
    rows = tables.words(_own_tree(collection), crown.word_given_node, known.words, n_words=options.words)
    return _numbered(outline.node_topics, rows, "topic"), tables.WORD_FIELDS, "word"


def _own_tree(collection: Collection) -> Tree:
    """The tree that the model was fitted to, with today's names: edits that wait for a fit are not in it yet."""
    outline, tree = collection.outline, collection.crown.tree
    names = list(tree.names)
    for node in range(len(tree)):
        taken: set[str] = set()
        for child in tree.children(node):
            topic = outline.node_topics[child]
            names[child] = unlike(outline.name(topic) if topic >= 0 else names[child], taken)
            taken.add(names[child])
    names[tree.root] = outline.name(outline.root)
    return Tree(tree.parents, tuple(names))


def _noted(collection: Collection, words: list[tuple[str, ...]]) -> Iterator[Any]:
    """The topics, with what people said of them."""
    outline = collection.outline
    for row in tables.topics(outline.tree, words, collection.tree.sizes):
        topic = outline.topics[row["id"]]
        yield row | {"named_by": "person" if topic in outline.titles else "words", "note": outline.notes.get(topic, "")}


def _numbered(topics: tuple[int, ...], rows: Iterator[Any], *names: str) -> Iterator[Any]:
    """Rows in which nodes are called by their topics' lasting numbers."""
    for row in rows:
        for name in names or ("id", "parent"):
            row[name] = None if row[name] is None else topics[row[name]]
        yield row


def _documents(collection: Collection, *, texts: bool) -> Iterator[Any]:
    for start in range(0, len(collection), BLOCK):
        yield from collection.documents.many(range(start, min(start + BLOCK, len(collection))), texts=texts)


def _facts(collection: Collection, *, texts: bool) -> Iterator[dict[str, Any]]:
    """What is known of each document beside its place."""
    for document in _documents(collection, texts=texts):
        known = {"title": document.title, "source": document.source, "date": document.date}
        yield known | ({"text": document.text} if texts else {})


def _tree(collection: Collection, kind: str, target: str, options: ExportOptions) -> None:
    tree, sizes = collection.outline.tree, collection.tree.sizes
    words = [own[: options.words] for own in collection.tree.words]
    writers: dict[str, Callable[[], str]] = {
        "json": lambda: _nested(collection, exchange.to_json(tree, words, sizes)),
        "graphml": lambda: exchange.to_graphml(tree, words, sizes),
        "newick": lambda: exchange.to_newick(tree),
        "paths": lambda: exchange.to_paths(tree),
    }
    text = writers[kind]().encode("utf-8", "replace")
    if target == STANDARD_OUTPUT:
        output = binary_output()
        output.write(text)
        output.flush()
        return
    with new_file(target) as file:
        file.write(text)


def _nested(collection: Collection, text: str) -> str:
    """Nested JSON in which topics have their lasting numbers."""
    found = json.loads(text)
    waiting = [found]
    while waiting:
        node = waiting.pop()
        node["id"] = collection.outline.topics[node["id"]]
        waiting.extend(node["children"])
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _model(collection: Collection, target: str) -> int:
    """The fitted model as ``load_model`` reads it, in a folder with the words of its columns."""
    known = collection.counting.vocabulary
    return replace_model(lambda place: save_model(collection.model, place, vocabulary=known), target)
