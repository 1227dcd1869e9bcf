"""Dates of documents in ISO 8601, with the text of the source, and the order of day and month of each source.

``documents.date`` holds ISO 8601 or nothing; ``given_dates`` the text of the source if it differs. ``file_dates`` holds
the rows of documents with the date of their file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.storage.database import Database, encode_list
from topiarist.storage.document_table import checksum
from topiarist.text.date_orders import DateOrders
from topiarist.text.dates import AUTO, ORDERS, explain_unread_date, read_date
from topiarist.text.documents import Document, Problem
from topiarist.text.fields import is_missing

SETTING = "dates"  # name of the account in the settings
MAX_PROBLEMS = 100  # unread dates that are listed one by one
MAX_SOURCES = 10  # sources whose order is stored
_AS_GIVEN = (
    "SELECT row, source, date FROM documents WHERE date <> '' AND row IN (SELECT value FROM json_each(?)) ORDER BY row"
)
_EARLIER = (  # dates of all documents of some sources
    "SELECT source, text FROM given_dates JOIN documents USING (row) WHERE source IN (SELECT value FROM json_each(?))"
)


@dataclass(frozen=True)
class DateAccount:
    """Summary of the dates of a collection: the orders of sources, and unread dates."""

    orders: dict[str, str] = field(default_factory=dict)  # by source, in words
    unread: int = 0  # dates that could not be read
    undecided: int = 0  # of these: order of day and month not decided
    examples: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, body: Mapping[str, object]) -> DateAccount:
        """Return the account from the settings."""
        fields_found = {name: body[name] for name in cls.__dataclass_fields__ if name in body}
        return cls(**{**fields_found, "examples": tuple(fields_found.get("examples", ()))})  # type: ignore[arg-type]


class Dates:
    """Dates in the database of a collection."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def store_given_dates(self, batch: Iterable[tuple[int, Document]]) -> list[int]:
        """Store the texts of dates that differ from ISO 8601; return the rows whose order is not decided."""
        given_dates, file_dates, unparsed_rows = [], [], []
        for row, document in batch:
            if document.has_file_date:
                file_dates.append((row,))
            if document.given_date:
                given_dates.append((row, document.given_date))
            if document.date and read_date(document.date).iso != document.date:
                unparsed_rows.append(row)
        self.database.run_many("INSERT INTO given_dates VALUES (?, ?)", given_dates)
        self.database.run_many("INSERT INTO file_dates VALUES (?)", file_dates)
        return unparsed_rows

    def settle(self, rows: Iterable[int], order: str = AUTO) -> list[Problem]:
        """Write the dates of documents in ISO 8601 and return problems with unread dates.

        All dates of a source decide its order of day and month, including earlier documents, and never those of another
        source. An undecided order is an error that names the option.
        """
        previous, orders = self.account, DateOrders(order)
        dates = self.database.all(_AS_GIVEN, (encode_list(rows),))
        for _, source, text in dates:
            orders.add(source, read_date(text), text)
        for source, text in self.database.all(_EARLIER, (json.dumps(list(filter(None, orders.undecided_sources))),)):
            orders.add(source, read_date(text), text)
        if orders.ambiguous_sources:
            raise _create_order_error(orders)
        descriptions = {source: orders.describe_order(source) for source in orders.evidence}
        problems: list[Problem] = []
        examples, n_ambiguous, n_unread = list(previous.examples), 0, 0
        for row, source, text in dates:
            read = read_date(text)
            iso = read.resolve(orders.get_order(source))
            self._write(row, iso, text)
            if not iso and not is_missing(text):
                n_unread, n_ambiguous = n_unread + 1, n_ambiguous + bool(read)
                if len(problems) < MAX_PROBLEMS:
                    problems.append(Problem(source, f"{explain_unread_date(text)}: “{text[:80]}”"))
                examples += [text[:80]] if len(examples) < 3 and text[:80] not in examples else []
        if n_unread > MAX_PROBLEMS:
            problems.append(Problem("dates", f"{n_unread - MAX_PROBLEMS:,} more dates like these"))
        orders_shown = dict(list({**previous.orders, **descriptions}.items())[:MAX_SOURCES])
        account = DateAccount(
            orders_shown, previous.unread + n_unread, previous.undecided + n_ambiguous, tuple(examples)
        )
        facts.change_settings(self.database, {SETTING: asdict(account)})
        return problems

    @property
    def account(self) -> DateAccount:
        """Summary of the dates."""
        return DateAccount.from_dict(facts.settings(self.database).get(SETTING) or {})

    def load_originals(self, rows: Iterable[int]) -> dict[int, str]:
        """Return the source texts of dates that differ from ISO 8601, by row."""
        sql = "SELECT row, text FROM given_dates WHERE row IN (SELECT value FROM json_each(?))"
        return dict(self.database.all(sql, (encode_list(rows),)))

    def only_of(self, rows: Iterable[int]) -> dict[int, str]:
        """Return the source texts of dates that no other document has, by row."""
        sql = (
            "SELECT row, text FROM given_dates WHERE row IN (SELECT value FROM json_each(?1)) AND text NOT IN "
            "(SELECT text FROM given_dates WHERE row NOT IN (SELECT value FROM json_each(?1)))"
        )
        return dict(self.database.all(sql, (encode_list(rows),)))

    def count_again(self) -> None:
        """Update the summary for the present documents."""
        previous = self.account
        sql = "SELECT text FROM given_dates JOIN documents USING (row) WHERE date = '' ORDER BY row"
        unread_texts = [text for (text,) in self.database.all(sql) if not is_missing(text)]
        sources = {source for (source,) in self.database.all("SELECT DISTINCT source FROM documents")}
        orders = {source: description for source, description in previous.orders.items() if source in sources}
        examples = tuple(dict.fromkeys(text[:80] for text in unread_texts))[:3]
        account = DateAccount(orders, len(unread_texts), sum(bool(read_date(text)) for text in unread_texts), examples)
        facts.change_settings(self.database, {SETTING: asdict(account)})

    def any(self) -> bool:
        """Return whether any document has a date."""
        return self.database.fetch_one("SELECT 1 FROM documents WHERE date <> '' LIMIT 1") is not None

    def count_undated(self) -> tuple[int, int]:
        """Return the number of documents without a date, and the number with an unread date."""
        sql = "SELECT count(*) FROM given_dates JOIN documents USING (row) WHERE date = ''"
        undated = self.database.number("SELECT count(*) FROM documents WHERE date = ''")
        return undated or 0, self.database.number(sql) or 0

    def file_dated_rows(self) -> list[int]:
        sql = "SELECT row FROM file_dates JOIN documents USING (row) WHERE date <> '' ORDER BY row"
        return [row for (row,) in self.database.all(sql)]

    def has_file_date(self, row: int) -> bool:
        sql = "SELECT 1 FROM file_dates JOIN documents USING (row) WHERE row = ? AND date <> ''"
        return self.database.fetch_one(sql, (row,)) is not None

    def span(self) -> tuple[str, str]:
        """Return the first and the last date, without dates of files; two empty strings if there is none."""
        sql = "SELECT min(date), max(date) FROM documents WHERE date <> '' AND row NOT IN (SELECT row FROM file_dates)"
        row = self.database.fetch_one(sql)
        return ("", "") if row is None or row[0] is None else (row[0], row[1])

    def _write(self, row: int, iso: str, text: str) -> None:
        """Replace the date of a document by its ISO form, and keep the original text."""
        if iso == text:
            return
        sql = "SELECT id, title, text, source FROM documents JOIN texts USING (row) WHERE row = ?"
        id, title, body, source = self.database.all(sql, (row,))[0]
        self.database.run(
            "UPDATE documents SET date = ?, checksum = ? WHERE row = ?",
            (iso, checksum(id, title, body, source, iso), row),
        )
        self.database.run("INSERT OR IGNORE INTO given_dates VALUES (?, ?)", (row, text))


def _create_order_error(orders: DateOrders) -> UsageError:
    """Create the error for dates whose day and month cannot be distinguished."""
    source, *others = orders.ambiguous_sources
    evidence = orders.evidence[source]
    where = f" of {source}" if source else ""
    subject = f"None of the {evidence.n_ambiguous:,} dates{where}" if evidence.n_ambiguous > 1 else f"The date{where}"
    verb = "tells" if evidence.n_ambiguous > 1 else "does not tell"
    others_note = f", as in {len(others):,} more source{'s' * (len(others) != 1)}" if others else ""
    common = orders.common_order(source)
    common_note = f". The other sources are {common}, which proves nothing of this one" if common and not others else ""
    return UsageError(
        f"{subject} (such as {evidence.example}) {verb} whether the day or the month comes first"
        f"{others_note}{common_note}",
        hint=f"Set the order of dates to {' or '.join(ORDERS)} (--dates).",
    )
