"""Reading settings of a collection, which later sources inherit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from topiarist.collection.describe.collection_facts import TABLE_COLUMNS, describe_text_column, summarise_tables
from topiarist.errors import reading
from topiarist.text.dates import AUTO
from topiarist.text.readers import Columns, ReadingSettings
from topiarist.text.readers.columns import ROLES, TableColumns

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

READ_WITH = "read_with"  # setting: reading settings of the grow
MAX_TABLES = 3  # kinds of tables whose columns are named


def get_reading_settings(documents: Any) -> ReadingSettings:
    """Return the reading settings of documents; the defaults for documents made in Python."""
    settings = getattr(documents, "settings", None)
    return settings if isinstance(settings, ReadingSettings) else ReadingSettings()


def load_reading_settings(collection: Collection, override: ReadingSettings | None = None) -> ReadingSettings:
    """Return the reading settings of a collection, with the settings that ``override`` names.

    A column that was named for the grow must be in every later table. A column that was chosen by its name or length is
    chosen again in tables that have it.
    """
    stored = collection.settings
    with reading(f"how {collection.folder.display_path} was read"):
        settings = ReadingSettings.from_dict(stored[READ_WITH]) if READ_WITH in stored else ReadingSettings()
        tables = tuple(
            TableColumns(**{role: str(entry.get(role, "")) for role in ROLES})
            for entry in stored.get(TABLE_COLUMNS, ())
        )
    settings = settings.override(ReadingSettings(Columns(preferred=tables)))
    return settings if override is None else settings.override(override)


def get_date_order(collection: Collection, order: str | None = None) -> str:
    """Return the order of day and month for later sources: ``order``, or that of the grow."""
    return str((collection.settings.get("recipe") or {}).get("dates", AUTO)) if order is None else order


def describe_columns(tables: Mapping[TableColumns, int]) -> list[str]:
    """Return a sentence on the columns of each kind of table."""
    return [describe_text_column(table) for table in summarise_tables(tables)[:MAX_TABLES]]


def find_missing_columns(collection: Collection, tables: Mapping[TableColumns, int]) -> dict[str, str]:
    """Return the roles that some later tables lack, each with its column in the collection."""
    earlier = (collection.settings.get(TABLE_COLUMNS) or [{}])[0]
    return {
        role: str(earlier[role])
        for role in ROLES
        if earlier.get(role) and any(not getattr(table, role) for table in tables)
    }
