"""Columns and dates of a collection in sentences: which there are, of which kind, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from topiarist.collection.passages import PASSAGES, cut_said, n_wholes
from topiarist.store import facts
from topiarist.store.column_table import ColumnTable
from topiarist.store.database import Database
from topiarist.store.date_table import SHOWN as MOST_SOURCES
from topiarist.store.date_table import Dates
from topiarist.text.date_orders import orders_said
from topiarist.text.fields import CATEGORY, DATE, NUMBER, Field
from topiarist.text.query import field_key
from topiarist.text.readers.columns import Chosen

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

CHOSEN = "tables"  # the settings have it: which columns of the tables are text, title, id, label and date
ROLES = ("text", "title", "id", "label", "date")
SHOWN = 12  # columns that are told one by one


def chosen_columns(found: Mapping[Chosen, int]) -> list[dict[str, Any]]:
    """Which columns of the tables that were read hold what, the most frequent first, as plain JSON data."""
    several = sorted(found.items(), key=lambda one: -one[1])
    return [{**{role: getattr(chosen, role) for role in ROLES}, "tables": times} for chosen, times in several[:SHOWN]]


def known_columns(collection: Collection) -> dict[str, Any]:
    """The columns of a collection and how its dates were read, as plain data; ``field`` beside for those who print."""
    database, account = collection.generation.database, collection.dates.account
    undated, unread = collection.dates.undated()
    chosen = collection.settings.get(CHOSEN, [])
    first, last = collection.documents.span()
    return {
        "folder": collection.folder.shown,
        "documents": len(collection),
        "whole_documents": n_wholes(collection),
        "tables": collection.settings.get(CHOSEN, []),
        "said": [*passages_said(collection.settings), *columns_said(database, chosen, fields=False)],
        "dates": {
            "first": first, "last": last, "undated": undated, "unread": unread, "undecided": account.undecided,
            "orders": account.orders,
        },
        "columns": [{"query": field_key(one), "field": asdict(one)} for one in collection.fields],
        "left_out": facts.n_problems(database),
    }  # fmt: skip


def documents_known(database: Database, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What is known of documents beside their texts, a sentence each."""
    said = [*passages_said(settings), *columns_said(database, settings.get(CHOSEN, []))]
    return tuple(f"{one}." for one in said)


def passages_said(settings: Mapping[str, Any]) -> list[str]:
    """What was cut into passages when the collection was grown; nothing where nothing was."""
    said = cut_said(settings.get(PASSAGES) or {})
    return [said] if said else []


def columns_said(database: Database, chosen: Sequence[Mapping[str, Any]], *, fields: bool = True) -> list[str]:
    """What there is to say of columns and dates, a sentence each."""
    said = [text_said(one) for one in chosen[:3]]
    known = ColumnTable(database).fields() if fields else ()
    if known:
        told = [f"{one.name} ({field_said(asdict(one))})" for one in known[:SHOWN]]
        said.append(f"Columns: {', '.join(told)}{_more(known)}")
    return [*said, *dates_said(database)]


def text_said(chosen: Mapping[str, Any]) -> str:
    """Which column of a table is the text, and which are something else."""
    others = [f"{role} from {chosen[role]}" for role in ROLES[1:] if chosen.get(role)]
    tables = f" (in {chosen['tables']:,} tables)" if chosen.get("tables", 1) > 1 else ""
    return f"Text from column {chosen['text']}{tables}{'; ' + ', '.join(others) if others else ''}"


def field_said(field: Mapping[str, Any]) -> str:
    """Of which kind a column is and how its values are spread, in a few words."""
    if field["kind"] == CATEGORY:
        return f"{CATEGORY}, {field['different']:,} different"
    if field["kind"] not in (NUMBER, DATE) or not field["first"]:
        return str(field["kind"])
    first, last = field["first"][:10], field["last"][:10]
    spread = first if first == last else f"{first} to {last}"
    unread = f"{field['unread']:,} not read" if field["unread"] else ""
    return ", ".join(filter(None, (field["kind"], spread, unread, field["note"])))


def dates_said(database: Database) -> list[str]:
    """In which order day and month were read, and how many documents have no date; nothing where none has one."""
    dates = Dates(database)
    account, (undated, unread) = dates.account, dates.undated()
    told = orders_said(account.orders.items(), least=len(account.orders) == MOST_SOURCES) if account.orders else []
    said = [f"Dates{' ' if one.startswith('of ') else ': '}{one}" for one in told]
    if unread:
        examples = ", ".join(f"“{text}”" for text in account.examples)
        said.append(f"{_documents(unread)} a date that could not be read{f' (such as {examples})' if examples else ''}")
    if undated > unread and dates.any():
        said.append(f"{_documents(undated - unread)} no date")
    return said


def undated_said(database: Database) -> str:
    """How many documents a filter by date cannot know of; nothing where each has one."""
    undated, unread = Dates(database).undated()
    if not undated:
        return ""
    why = f" ({unread:,} of them one that could not be read)" if unread else ""
    return f"{_documents(undated)} no date{why}: no filter by date finds {'it' if undated == 1 else 'them'}."


def _documents(number: int) -> str:
    return f"{number:,} document{' has' if number == 1 else 's have'}"


def _more(fields: Iterable[Field]) -> str:
    number = len(list(fields)) - SHOWN
    return f" and {number:,} more" if number > 0 else ""
