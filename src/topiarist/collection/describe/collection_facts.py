"""Facts of a collection: number of documents, languages, dates, topics and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from topiarist.collection.passages import PASSAGES, count_documents, describe_passages
from topiarist.storage import facts
from topiarist.storage.column_table import ColumnTable
from topiarist.storage.database import Database
from topiarist.storage.date_table import MAX_SOURCES as MOST_SOURCES
from topiarist.storage.date_table import Dates
from topiarist.text.date_orders import summarise_orders
from topiarist.text.fields import CATEGORY, DATE, NUMBER
from topiarist.text.language import LANGUAGE, LANGUAGE_COLUMN, language_name
from topiarist.text.query import field_key

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.text.readers.columns import TableColumns


@dataclass(frozen=True)
class LanguageShare:
    """Language of a collection with the number and share of its documents, or passages."""

    name: str
    documents: int
    share: float


@dataclass(frozen=True)
class CollectionFacts:
    """Documents of a collection with their languages and dates, and the number of its topics."""

    documents: int
    passages: int  # rows of the collection: as many as documents if none is cut
    languages: tuple[LanguageShare, ...]  # the most frequent first
    undetected: int  # rows whose language could not be detected
    dated: int  # documents with a date other than the date of their file
    file_dated: int  # documents with the date of their file only
    undated: int
    first: str  # date, and the last one; without dates of files
    last: str
    topics: int
    headings: int
    first_level: int  # topics and headings of the first level
    topics_without_heading: int
    unsorted: int = 0  # rows of which no topic holds more than half

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def load_facts(collection: Collection) -> CollectionFacts:
    """Return the facts of a collection in its current state."""
    sizes, n_undetected = language_sizes(collection)
    documents, tree, dates = count_documents(collection).documents, collection.outline.tree, collection.dates
    file_dated = count_documents(collection, dates.file_dated_rows()).documents
    n_undated = dates.count_undated()[0]
    if n_undated and documents < len(collection):
        n_undated = count_documents(collection, collection.documents.undated_rows()).documents
    first, last = dates.span()
    first_level = tree.children(tree.root)
    total = max(1, len(collection))
    return CollectionFacts(
        documents=documents,
        passages=len(collection),
        languages=tuple(LanguageShare(name, number, number / total) for name, number in sizes.items()),
        undetected=n_undetected,
        dated=documents - n_undated - file_dated,
        file_dated=file_dated,
        undated=n_undated,
        first=first[:10],
        last=last[:10],
        topics=len(tree.leaves),
        headings=len(tree.headings),
        first_level=len(first_level),
        topics_without_heading=sum(tree.is_leaf(node) for node in first_level),
        unsorted=int(collection.hard_to_place.sum()),
    )


def language_sizes(collection: Collection) -> tuple[dict[str, int], int]:
    """Return the number of rows of each language, the largest first, and without one; a language column decides."""
    if collection.settings.get(LANGUAGE_COLUMN):
        sizes = collection.columns.sizes(LANGUAGE)
        n_undetected = len(collection) - sum(sizes.values())
    else:
        codes = facts.languages(collection.generation.database)
        n_undetected = codes.pop("", 0)
        sizes = {language_name(code): number for code, number in codes.items()}
    return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0]))), n_undetected


TABLE_COLUMNS = "tables"  # setting: the columns of tables that hold text, title, id, label and date
MAX_COLUMNS = 12  # columns in a sentence


def summarise_tables(table_counts: Mapping[TableColumns, int]) -> list[dict[str, Any]]:
    """Return the roles of columns in the tables that were read, the most frequent first, as JSON data."""
    from topiarist.text.readers.columns import ROLES

    largest = sorted(table_counts.items(), key=lambda item: -item[1])[:MAX_COLUMNS]
    return [{role: getattr(columns, role) for role in ROLES} | {"tables": number} for columns, number in largest]


def summarise_columns(collection: Collection) -> dict[str, Any]:
    """Return the columns and dates of a collection as JSON data; ``field`` has all facts of a column."""
    database, account = collection.generation.database, collection.dates.account
    n_undated, n_unread = collection.dates.count_undated()
    tables, passages_note = (
        collection.settings.get(TABLE_COLUMNS, []), describe_passages(collection.settings.get(PASSAGES) or {})
    )  # fmt: skip
    first, last = collection.dates.span()
    return {
        "folder": collection.folder.display_path,
        "documents": len(collection),
        "whole_documents": count_documents(collection).documents,
        "tables": tables,
        "said": [*filter(None, [passages_note]), *describe_columns(database, tables, fields=False)],
        "dates": {
            "first": first, "last": last, "undated": n_undated, "unread": n_unread,
            "file_dated": len(collection.dates.file_dated_rows()), "undecided": account.undecided,
            "orders": account.orders,
        },
        "columns": [{"query": field_key(field), "field": asdict(field)} for field in collection.fields],
        "left_out": facts.n_problems(database),
    }  # fmt: skip


def describe_documents(database: Database, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return sentences about passages, columns and dates of the documents."""
    sentences = (
        describe_passages(settings.get(PASSAGES) or {}),
        *describe_columns(database, settings.get(TABLE_COLUMNS, [])),
    )
    return tuple(f"{sentence}." for sentence in sentences if sentence)


def describe_columns(
    database: Database, table_columns: Sequence[Mapping[str, Any]], *, fields: bool = True
) -> list[str]:
    """Return sentences about columns and dates."""
    sentences = [describe_text_column(column) for column in table_columns[:3]]
    if fields and (columns := ColumnTable(database).fields()):
        descriptions = [f"{column.name} ({describe_field(asdict(column))})" for column in columns]
        listed = ", ".join(descriptions[:MAX_COLUMNS])
        more = f" and {len(descriptions) - MAX_COLUMNS:,} more" if len(descriptions) > MAX_COLUMNS else ""
        sentences.append(f"Columns: {listed}{more}")
    return [*sentences, *describe_dates(database)]


def describe_text_column(columns: Mapping[str, Any]) -> str:
    """Describe the columns of a table that hold the text and other parts of a document."""
    from topiarist.text.readers.columns import ROLES

    other_roles = [f"{role} from {columns[role]}" for role in ROLES[1:] if columns.get(role)]
    tables = f" (in {columns['tables']:,} tables)" if columns.get("tables", 1) > 1 else ""
    return f"Text from column {columns['text']}{tables}{'; ' + ', '.join(other_roles) if other_roles else ''}"


def describe_field(field: Mapping[str, Any]) -> str:
    """Describe the kind and range of the values of a column."""
    if field["kind"] == CATEGORY:
        return f"{CATEGORY}, {field['different']:,} different"
    if field["kind"] not in (NUMBER, DATE) or not field["first"]:
        return str(field["kind"])
    first, last = field["first"][:10], field["last"][:10]
    spread = first if first == last else f"{first} to {last}"
    unread = f"{field['unread']:,} not read" if field["unread"] else ""
    return ", ".join(filter(None, (field["kind"], spread, unread, field["note"])))


def describe_dates(database: Database) -> list[str]:
    """Return sentences about the order of day and month, and documents without a date; empty without any date."""
    dates = Dates(database)
    account, (n_undated, n_unread) = dates.account, dates.count_undated()
    is_partial = len(account.orders) == MOST_SOURCES
    orders = summarise_orders(account.orders.items(), partial=is_partial) if account.orders else []
    sentences = [f"Dates{' ' if order.startswith('of ') else ': '}{order}" for order in orders]
    if n_unread:
        examples = ", ".join(f"“{text}”" for text in account.examples)
        such_as = f" (such as {examples})" if examples else ""
        sentences.append(f"{_format_documents(n_unread)} a date that could not be read{such_as}")
    if n_undated > n_unread and dates.any():
        sentences.append(f"{_format_documents(n_undated - n_unread)} no date")
    return sentences


def describe_undated(database: Database) -> str:
    """Return a sentence about the documents that no filter by date finds; empty if all have a date."""
    n_undated, n_unread = Dates(database).count_undated()
    if not n_undated:
        return ""
    unread_note = f" (including {n_unread:,} with an unreadable date)" if n_unread else ""
    pronoun = "it" if n_undated == 1 else "them"
    return f"{_format_documents(n_undated)} no date{unread_note}: no filter by date finds {pronoun}."


def _format_documents(number: int) -> str:
    return f"{number:,} document{' has' if number == 1 else 's have'}"
