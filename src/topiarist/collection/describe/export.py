"""What a collection hands to other programs: rows of documents, topics and words, the tree as text, the model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from topiarist.collection.collection import Collection
from topiarist.collection.describe import tables
from topiarist.collection.describe.topic_tree import placed
from topiarist.collection.find.saved_searches import saved_searches, topic_of
from topiarist.collection.passages import is_cut, summed_up, wholes
from topiarist.collection.shape.shape import unlike
from topiarist.estimators.model_folder import save_model
from topiarist.hierarchy import exchange, thesaurus
from topiarist.hierarchy.tree import Tree
from topiarist.text.documents import Document
from topiarist.text.fields import NUMBER
from topiarist.text.passages import is_passage, part_of
from topiarist.text.query import COLUMN

TREE_FORMATS = ("json", "graphml", "newick", "paths", *thesaurus.FORMATS)
MARKS = ("tags", "read", "date_given", "passage_notes")  # at the end of the table of documents, before their columns
TAKEN = frozenset(("title", "source", "date", "text", "topic", "whole", "passage", *tables.DOCUMENT_FIELDS, *MARKS))
WHOLES = "wholes"  # what may be asked for: whole documents, of a collection that was grown on passages
SEARCHES, SEARCH_FIELDS = "searches", ("name", "query", "by", "topic", "matching")
MOST_TOPICS = 12  # of a whole document
BLOCK = 2_000  # documents that are read at once


class ExportedTable(NamedTuple):
    """Rows, and the columns that they have at least."""

    rows: Iterator[dict[str, Any]]
    fields: tuple[str, ...]
    types: Mapping[str, str] = MappingProxyType({})  # of columns whose first rows may not tell


def exported_table(collection: Collection, what: str, *, n_words: int, texts: bool, rho: float) -> ExportedTable:
    """Documents, whole documents, topics (by their lasting numbers), words or saved searches of a collection."""
    outline = collection.outline
    if what == "documents":
        labels = (document.labels for document in _documents(collection, texts=False))
        names, types = _column_names(collection)
        rows = tables.documents(
            collection.placed, labels, _facts(collection, texts=texts), rho=rho, further=_further(collection, names)
        )
        return ExportedTable(rows, (*tables.DOCUMENT_FIELDS, *MARKS, *names.values()), types)
    if what == WHOLES:
        return _wholes(collection, rho)
    if what == SEARCHES:
        return ExportedTable(_searches(collection), SEARCH_FIELDS, dict.fromkeys(SEARCH_FIELDS[:4], "text"))
    if what == "topics":
        return ExportedTable(
            _numbered(_topics(collection, n_words), outline.topics, ("id", "parent")), tables.TOPIC_FIELDS
        )
    fitted, vocabulary = collection.tree_model, collection.counting.vocabulary
    rows = tables.words(_fitted_tree(collection), fitted.word_given_node, vocabulary.words, n_words=n_words)
    return ExportedTable(_numbered(rows, outline.node_topics, ("topic",)), tables.WORD_FIELDS)


def _searches(collection: Collection) -> Iterator[dict[str, Any]]:
    """The saved searches, and how many documents match each; by meaning none matches, and all resemble."""
    from topiarist.collection.find.search import Search

    for one in saved_searches(collection):
        search = Search(collection, one.query, one.by)
        topic, gone = topic_of(collection, one)
        number = None if search.nearest or gone else len(search.rows(topic))
        yield {"name": one.name, "query": one.query, "by": one.by, "topic": one.topic, "matching": number}


def _wholes(collection: Collection, rho: float) -> ExportedTable:
    """Whole documents, whose topics are those of their passages; those that were not cut as they are."""
    documents = wholes(collection)
    first = collection.documents.many([one.rows[0] for one in documents], texts=False)
    facts = (
        {"title": one.title, "source": own.source, "date": own.date} for one, own in zip(documents, first, strict=True)
    )
    further = ({"passages": len(one.rows)} for one in documents)
    known = placed(
        collection.outline, summed_up(collection, documents), [one.id for one in documents], collection.tree.words
    )
    rows = tables.documents(known, (own.labels for own in first), facts, rho=rho, n_topics=MOST_TOPICS, further=further)
    return ExportedTable(rows, (*tables.DOCUMENT_FIELDS, "passages"))


def tree_text(collection: Collection, format: str, n_words: int) -> str:
    """The tree in one of the formats that other programs read."""
    tree, sizes = collection.outline.tree, collection.tree.sizes
    words = [own[:n_words] for own in collection.tree.words]
    if format == "json":
        return _with_topic_numbers(collection, exchange.to_json(tree, words, sizes))
    if format == "graphml":
        return exchange.to_graphml(tree, words, sizes)
    if format in thesaurus.FORMATS:
        return thesaurus.to_skos(tree, words, sizes, collection.outline.topics, format)
    return exchange.to_newick(tree) if format == "newick" else exchange.to_paths(tree)


def save_tree_model(collection: Collection, place: Path) -> None:
    """The fitted model as ``load_model`` reads it, in a folder with the words of its columns."""
    save_model(collection.model, place, vocabulary=collection.counting.vocabulary)


def _fitted_tree(collection: Collection) -> Tree:
    """The tree that the model was fitted to, with today's names: edits that wait for a fit are not in it yet."""
    outline, tree = collection.outline, collection.tree_model.tree
    names = list(tree.names)
    for node in range(len(tree)):
        taken: set[str] = set()
        for child in tree.children(node):
            topic = outline.node_topics[child]
            names[child] = unlike(outline.name(topic) if topic >= 0 else names[child], taken)
            taken.add(names[child])
    names[tree.root] = outline.name(outline.root)
    return Tree(tree.parents, tuple(names))


def _topics(collection: Collection, n_words: int) -> Iterator[dict[str, Any]]:
    """The topics, with what people said of them."""
    outline = collection.outline
    words = [own[:n_words] for own in collection.tree.words]
    for row in tables.topics(outline.tree, words, collection.tree.sizes):
        topic = outline.topics[row["id"]]
        yield row | {"named_by": "person" if topic in outline.titles else "words", "note": outline.notes.get(topic, "")}


def _numbered(rows: Iterator[Any], topics: Sequence[int], names: tuple[str, ...]) -> Iterator[Any]:
    """Rows in which nodes are called by their topics' lasting numbers."""
    for row in rows:
        for name in names:
            row[name] = None if row[name] is None else topics[row[name]]
        yield row


def _documents(collection: Collection, *, texts: bool) -> Iterator[Document]:
    for start in range(0, len(collection), BLOCK):
        yield from collection.documents.many(range(start, min(start + BLOCK, len(collection))), texts=texts)


def _facts(collection: Collection, *, texts: bool) -> Iterator[dict[str, Any]]:
    """What is known of each document beside its place; of a passage, which part of which document it is."""
    cut = is_cut(collection)
    for document in _documents(collection, texts=texts):
        known = {"title": document.title, "source": document.source, "date": document.date}
        if cut:
            part = part_of(document.id) if is_passage(document) else None
            known |= {"whole": part.whole if part else document.id, "passage": part.label if part else ""}
        yield known | ({"text": document.text} if texts else {})


def _column_names(collection: Collection) -> tuple[dict[str, str], dict[str, str]]:
    """What the columns are called in a table that has columns of its own, and of which types they are."""
    several = collection.columns.several()
    names, types = exported_columns(collection), {"tags": "texts", "date_given": "text", "passage_notes": "texts"}
    for one in collection.fields:
        types[names[one.name]] = ("number" if one.kind == NUMBER else "text") + "s" * (one.name in several)
    return names, types


def exported_columns(collection: Collection) -> dict[str, str]:
    """What the columns of the documents are called in tables that have columns of their own."""
    return {one.name: f"{COLUMN}{one.name}" if one.name in TAKEN else one.name for one in collection.fields}


def _further(collection: Collection, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Tags, whether it was read, its date as given, notes, and the columns of each document: numbers as numbers."""
    for start in range(0, len(collection), BLOCK):
        rows = range(start, min(start + BLOCK, len(collection)))
        yield from further_facts(collection, rows, names)


def further_facts(collection: Collection, rows: Sequence[int], names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What stands at the end of a row of a document, for some of them."""
    several = collection.columns.several()
    tags, read = collection.marks.tags_of(rows), collection.marks.read_among(rows)
    given, cells = collection.dates.given(rows), collection.columns.typed(rows)
    notes = collection.passage_notes.of(rows)
    for row, own in zip(rows, tags, strict=True):
        values = cells.get(row, {})
        known = {"tags": list(own), "read": row in read, "date_given": given.get(row, "")}
        yield (
            known
            | {"passage_notes": [str(one) for one in notes.get(row, ())]}
            | {shown: _cell(values.get(name, []), name in several) for name, shown in names.items()}
        )


def _cell(values: list[Any], several: bool) -> Any:
    known = [value for value in values if value is not None]
    return known if several else known[0] if known else None


def _with_topic_numbers(collection: Collection, text: str) -> str:
    """Nested JSON in which topics have their lasting numbers."""
    root = json.loads(text)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node["id"] = collection.outline.topics[node["id"]]
        waiting.extend(node["children"])
    return json.dumps(root, ensure_ascii=False, indent=1) + "\n"
