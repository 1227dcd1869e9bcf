"""Export of a collection: rows of documents, topics and words, and the tree as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import tee
from types import MappingProxyType
from typing import Any, NamedTuple

from topiarist.collection.collection import Collection
from topiarist.collection.describe import tables
from topiarist.collection.describe.topic_tree import assign_documents
from topiarist.collection.passages import describe_place, has_passages, list_parent_documents, sum_parent_shares
from topiarist.collection.search.saved_searches import find_search_topic, list_saved_searches
from topiarist.collection.shape.tree_state import make_unique
from topiarist.text.documents import Document
from topiarist.text.fields import NUMBER
from topiarist.text.query import COLUMN
from topiarist.trees import exchange, thesaurus
from topiarist.trees.edits import Edit, collapse
from topiarist.trees.tree import Tree

TREE_FORMATS = ("json", "paths", *thesaurus.FORMATS)
MARKS = ("tags", "read", "date_given", "passage_notes")  # after the standard fields of documents, before their columns
RESERVED_NAMES = frozenset(
    ("title", "source", "date", "text", "topic", "whole", "passage", *tables.DOCUMENT_FIELDS, *MARKS)
)
PARENT_DOCUMENTS = "wholes"  # kind of table: parent documents of a collection of passages
SEARCHES, SEARCH_FIELDS = "searches", ("name", "query", "by", "topic", "matching")
EXPLANATIONS, EXPLANATION_FIELDS = "columns", ("table", "column", "meaning")  # kind of table: what columns mean
_PLACE = {
    "path": "most probable topic, with the topics above it",
    "leaf": "name of the most probable topic",
    "share": "part of the document in this topic, 0 to 1",
    "level": "depth of the topic in `certain`, 0 for the root",
    "certain": "deepest topic with a probability above --rho, with the topics above it",
    "labels": "labels of the document",
    "topics": "topics with the largest parts of the document",
}
_SOURCE = {
    "id": "id in the collection, as `show` and `find` take it",
    "title": "title, or the first words of the text",
    "source": "file, row or message from which it was read",
    "date": "date in ISO 8601, empty without one",
}
_NODE = {
    "path": "names of the topics from the first level down to this one",
    "name": "name of the topic or heading",
    "level": "depth in the tree, 0 for the root",
    "size": "documents in and under the topic",
    "share": "part of all documents, 0 to 1",
    "words": "characteristic words, the best first",
    "named_by": "`person` for a name by a user, `words` for a name from words",
    "note": "note of a user",
}
MEANINGS: dict[str, dict[str, str]] = {
    "documents": {
        **_SOURCE,
        "whole": "id of the document that contains the passage",
        "passage": "position of the passage in this document",
        "text": "full text, with --texts",
        **_PLACE,
        "tags": "tags that users gave",
        "read": "whether a user marked it as read",
        "date_given": "date in the form of the source, if not in ISO 8601",
        "passage_notes": "notes of users on parts of the text",
    },
    PARENT_DOCUMENTS: {**_SOURCE, **_PLACE, "passages": "number of its passages"},
    "topics": {"id": "number of the topic", "parent": "number of the topic above, empty for the root", **_NODE},
    "words": {
        "topic": "number of the topic",
        "path": _NODE["path"],
        "rank": "place of the word in the topic, 1 for the most probable",
        "word": "word or phrase",
        "probability": "probability of the word in the topic, 0 to 1",
    },
    SEARCHES: {
        "name": "name of the saved search",
        "query": "text of the saved query",
        "by": "`both`, `words` or `meaning`",
        "topic": "topic to which the search is restricted",
        "matching": "number of matching documents, empty for a search by meaning",
    },
}
MAX_TOPICS = 12  # topics listed for a parent document
BLOCK = 2_000  # documents in memory at once


class ExportedTable(NamedTuple):
    """Rows of a table with its minimum set of columns."""

    rows: Iterator[dict[str, Any]]
    fields: tuple[str, ...]
    types: Mapping[str, str] = MappingProxyType({})  # types of columns whose first rows can be empty


def make_table(collection: Collection, kind: str, *, n_words: int, texts: bool, rho: float) -> ExportedTable:
    """Return the documents, parent documents, topics, words or saved searches of a collection as a table."""
    outline = collection.outline
    if kind == "documents":
        return _make_document_table(collection, texts=texts, rho=rho)
    if kind == PARENT_DOCUMENTS:
        return _make_parent_table(collection, rho)
    if kind == SEARCHES:
        return ExportedTable(_iter_search_rows(collection), SEARCH_FIELDS, dict.fromkeys(SEARCH_FIELDS[:4], "text"))
    if kind == EXPLANATIONS:
        return ExportedTable(_iter_meanings(collection), EXPLANATION_FIELDS)
    if kind == "topics":
        rows = _replace_node_numbers(_iter_topic_rows(collection, n_words), outline.topics, ("id", "parent"))
        return ExportedTable(rows, tables.TOPIC_FIELDS)
    fitted, vocabulary, visible = collection.tree_model, collection.counting.vocabulary, _make_fitted_tree(collection)
    word_given_node = fitted.word_given_node[list(visible.origin)]
    rows = tables.iter_word_rows(visible.tree, word_given_node, vocabulary.words, n_words=n_words)
    topics = [outline.node_topics[node] for node in visible.origin]
    return ExportedTable(_replace_node_numbers(rows, topics, ("topic",)), tables.WORD_FIELDS)


def _make_document_table(collection: Collection, *, texts: bool, rho: float) -> ExportedTable:
    """Return a lazy table with a row for each stored document or passage."""
    blocks = [range(start, min(start + BLOCK, len(collection))) for start in range(0, len(collection), BLOCK)]
    load = collection.documents.load_many
    first, second = tee(document for rows in blocks for document in load(rows, texts=texts))
    names, types = _name_table_columns(collection)
    rows = tables.iter_document_rows(
        collection.assignments,
        (document.labels for document in first),
        _iter_document_facts(collection, second, texts=texts),
        rho=rho,
        further_facts=(row_facts for rows in blocks for row_facts in iter_row_facts(collection, rows, names)),
    )
    return ExportedTable(rows, (*tables.DOCUMENT_FIELDS, *MARKS, *names.values()), types)


def _iter_meanings(collection: Collection) -> Iterator[dict[str, Any]]:
    """Yield the meaning of each column of each table."""
    own_columns = dict.fromkeys(name_columns(collection).values(), "column of the source")
    for table, meanings in MEANINGS.items():
        for column, meaning in (meanings | (own_columns if table == "documents" else {})).items():
            yield {"table": table, "column": column, "meaning": meaning}


def _iter_search_rows(collection: Collection) -> Iterator[dict[str, Any]]:
    """Yield the saved searches with the number of matching documents; None for searches by meaning."""
    from topiarist.collection.search.search import Search

    for saved in list_saved_searches(collection):
        search = Search(collection, saved.query, saved.by)
        topic, is_removed = find_search_topic(collection, saved)
        number = None if search.ranks_all_documents or is_removed else len(search.rows(topic))
        yield {"name": saved.name, "query": saved.query, "by": saved.by, "topic": saved.topic, "matching": number}


def _make_parent_table(collection: Collection, rho: float) -> ExportedTable:
    """Return a lazy table with a row for each parent document, by its mean shares."""
    documents = list_parent_documents(collection)
    first = collection.documents.load_many([parent.rows[0] for parent in documents], texts=False)
    facts = (
        {"title": parent.title, "source": passage.source, "date": passage.date}
        for parent, passage in zip(documents, first, strict=True)
    )
    ids, shares = [parent.id for parent in documents], sum_parent_shares(collection, documents)
    rows = tables.iter_document_rows(
        assign_documents(collection.outline, shares, ids, collection.tree.words),
        (passage.labels for passage in first), facts, rho=rho, n_topics=MAX_TOPICS,
        further_facts=({"passages": len(parent.rows)} for parent in documents),
    )  # fmt: skip
    return ExportedTable(rows, (*tables.DOCUMENT_FIELDS, "passages"))


def format_tree(collection: Collection, format: str, n_words: int) -> str:
    """Return the tree as text in a format of ``TREE_FORMATS``."""
    tree, sizes = collection.outline.tree, collection.tree.sizes
    words = [node_words[:n_words] for node_words in collection.tree.words]
    if format == "json":
        return _use_topic_numbers(collection, exchange.to_json(tree, words, sizes))
    if format in thesaurus.FORMATS:
        return thesaurus.to_skos(tree, words, sizes, collection.outline.topics, format)
    return exchange.to_paths(tree)


def _make_fitted_tree(collection: Collection) -> Edit:
    """Return the fitted tree with current names, without removed headings; other edits wait for the next fit."""
    outline, fitted = collection.outline, collection.tree_model.tree
    removed_nodes = [node for node in range(len(fitted)) if outline.node_topics[node] < 0 and not fitted.is_leaf(node)]
    edit = collapse(fitted, removed_nodes)
    tree, topics = edit.tree, [outline.node_topics[node] for node in edit.origin]
    names = list(tree.names)
    for node in range(len(tree)):
        sibling_names: set[str] = set()
        for child in tree.children(node):
            topic = topics[child]
            names[child] = make_unique(outline.name(topic) if topic >= 0 else names[child], sibling_names)
            sibling_names.add(names[child])
    names[tree.root] = outline.name(outline.root)
    return Edit(Tree(tree.parents, tuple(names)), edit.origin)


def _iter_topic_rows(collection: Collection, n_words: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each topic with its words, note, and whether a user named it."""
    outline = collection.outline
    words = [node_words[:n_words] for node_words in collection.tree.words]
    for row in exchange.iter_rows(outline.tree, words, collection.tree.sizes):
        topic = outline.topics[row["id"]]
        yield row | {"named_by": "person" if topic in outline.titles else "words", "note": outline.notes.get(topic, "")}


def _replace_node_numbers(rows: Iterator[Any], topics: Sequence[int], names: tuple[str, ...]) -> Iterator[Any]:
    for row in rows:
        for name in names:
            row[name] = None if row[name] is None else topics[row[name]]
        yield row


def _iter_document_facts(
    collection: Collection, documents: Iterable[Document], *, texts: bool
) -> Iterator[dict[str, Any]]:
    """Yield title, source and date of documents; with ``texts`` their text as well."""
    is_cut = has_passages(collection)
    for document in documents:
        facts = {"title": document.title, "source": document.source, "date": document.date}
        if is_cut:
            facts |= dict(zip(("whole", "passage"), describe_place(document), strict=True))
        yield facts | ({"text": document.text} if texts else {})


def _name_table_columns(collection: Collection) -> tuple[dict[str, str], dict[str, str]]:
    """Return the exported name of each column, and the table type of each exported name."""
    multiple_columns = collection.columns.list_multivalued()
    names, types = name_columns(collection), {"tags": "texts", "date_given": "text", "passage_notes": "texts"}
    for field in collection.fields:
        types[names[field.name]] = ("number" if field.kind == NUMBER else "text") + "s" * (
            field.name in multiple_columns
        )
    return names, types


def name_columns(collection: Collection) -> dict[str, str]:
    """Return the table names of document columns; names of standard fields get a prefix."""
    return {
        field.name: f"{COLUMN}{field.name}" if field.name in RESERVED_NAMES else field.name
        for field in collection.fields
    }


def iter_row_facts(collection: Collection, rows: Sequence[int], names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the tags, read mark, given date, notes and columns of documents."""
    multiple_columns = collection.columns.list_multivalued()
    tags, read = collection.marks.tags_of(rows), collection.marks.read_among(rows)
    given_dates, cells = collection.dates.load_originals(rows), collection.columns.typed(rows)
    notes = collection.passage_notes.of(rows)
    for row, row_tags in zip(rows, tags, strict=True):
        facts = {"tags": list(row_tags), "read": row in read, "date_given": given_dates.get(row, "")}
        facts["passage_notes"] = [str(note) for note in notes.get(row, ())]
        for name, column_name in names.items():
            values = [value for value in cells.get(row, {}).get(name, []) if value is not None]
            facts[column_name] = values if name in multiple_columns else values[0] if values else None
        yield facts


def _use_topic_numbers(collection: Collection, text: str) -> str:
    """Return a tree in JSON with topic numbers in place of node numbers."""
    root = json.loads(text)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node["id"] = collection.outline.topics[node["id"]]
        waiting.extend(node["children"])
    return json.dumps(root, ensure_ascii=False, indent=1) + "\n"
