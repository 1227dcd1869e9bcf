"""The dates of documents: in ISO 8601 with what was given beside it, day and month in an order that is decided once.

``documents.date`` holds ISO 8601 or nothing; ``given_dates`` the text as it was given where that is different. A
collection of an earlier version has dates as they were given: whoever reads it sees them read by the same rules, in
tables that last as long as the connection, and the first document that is added writes them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

from topiarist.errors import UsageError
from topiarist.store import facts
from topiarist.store.database import Database
from topiarist.store.document_table import checksum, marks, pieces
from topiarist.text.date_orders import DateOrders
from topiarist.text.dates import AUTO, ORDERS, read_date, unread_because
from topiarist.text.documents import Document, Problem
from topiarist.text.fields import is_missing

SETTING = "dates"  # the settings have it when all dates are in ISO 8601
TOLD = 100  # dates that could not be read and are listed one by one
SHOWN = 10  # sources whose order is told
TABLE = "CREATE TABLE IF NOT EXISTS given_dates (row INTEGER PRIMARY KEY REFERENCES documents, text TEXT NOT NULL)"
_AS_GIVEN = "SELECT row, source, date FROM documents WHERE date <> ''"


@dataclass(frozen=True)
class DateAccount:
    """How the dates of a collection were read: which order was decided, and what could not be read."""

    orders: dict[str, str] = field(default_factory=dict)  # by source, in words
    unread: int = 0  # dates that are none, or not one of these
    undecided: int = 0  # of these: the day and the month may be either
    examples: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, body: Mapping[str, object]) -> DateAccount:
        """What the settings keep."""
        known = {name: body[name] for name in cls.__dataclass_fields__ if name in body}
        return cls(**{**known, "examples": tuple(known.get("examples", ()))})  # type: ignore[arg-type]


class Dates:
    """The dates in a collection's database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def keep_given(self, batch: Iterable[tuple[int, Document]]) -> list[int]:
        """Keep dates as they were given where they are written otherwise; the rows that are not settled yet."""
        given, open_rows = [], []
        for row, document in batch:
            if document.given_date:
                given.append((row, document.given_date))
            if document.date and read_date(document.date).iso != document.date:
                open_rows.append(row)
        self.database.run_many("INSERT INTO given_dates VALUES (?, ?)", given)
        return open_rows

    def settle(self, rows: Iterable[int], order: str = AUTO, *, strict: bool = True) -> list[Problem]:
        """Write the dates of some documents in ISO 8601; what could not be read.

        The order of day and month is decided by all dates of a source, those that it brought before among them, and
        never by those of another. ``strict``: where they do not tell, it is an error that names the option; else such
        dates are not read.
        """
        known = self.account
        found = [one for piece in pieces(sorted(rows)) for one in self._raw(piece)]
        orders = _orders(((source, text) for _, source, text in found), order)
        self._see_before(orders)
        if strict and orders.undecided:
            raise _undecided(orders)
        said = {source: orders.said(source) for source in orders.seen}
        problems: list[Problem] = []
        examples, undecided, unread = list(known.examples), 0, 0
        for piece in pieces(found):
            for row, source, text in piece:
                read = read_date(text)
                iso = read.by(orders.of(source))
                self._write(row, iso, text)
                if not iso and not is_missing(text):
                    unread, undecided = unread + 1, undecided + bool(read)
                    reason = unread_because(text)
                    if len(problems) < TOLD:
                        problems.append(Problem(source, f"{reason}: “{text[:80]}”"))
                    examples += [text[:80]] if len(examples) < 3 and text[:80] not in examples else []
        if unread > TOLD:
            problems.append(Problem("dates", f"{unread - TOLD:,} more dates like these"))
        told = dict(list({**known.orders, **said}.items())[:SHOWN])
        now = DateAccount(told, known.unread + unread, known.undecided + undecided, tuple(examples))
        facts.change_settings(self.database, {SETTING: asdict(now)})
        return problems

    def bring_up_to_date(self) -> None:
        """Write the dates of a collection of an earlier version as this one has them, once."""
        self.database.run(TABLE)
        if SETTING not in facts.settings(self.database):
            known = self.database.all(_AS_GIVEN)
            self.settle([row for row, _, text in known if read_date(text).iso != text], strict=False)

    @property
    def account(self) -> DateAccount:
        """How the dates were read."""
        body = facts.settings(self.database).get(SETTING)
        if body is not None:
            return DateAccount.from_dict(body)
        return DateAccount() if self.database.write else DateAccount.from_dict(json.loads(self._shadowed()))

    def given(self, rows: Iterable[int]) -> dict[int, str]:
        """The dates of some documents as they were given, where they are written otherwise."""
        found: dict[int, str] = {}
        if not self._there:
            return found
        for piece in pieces(sorted({int(row) for row in rows})):
            sql = f"SELECT row, text FROM given_dates WHERE row IN ({marks(piece)})"  # noqa: S608
            found.update(self.database.all(sql, piece))
        return found

    def only_of(self, rows: Iterable[int]) -> dict[int, str]:
        """The dates of some documents as they were given, where no other document has the same."""
        among = json.dumps([int(row) for row in rows])
        sql = (
            "SELECT row, text FROM given_dates WHERE row IN (SELECT value FROM json_each(?1)) AND text NOT IN "
            "(SELECT text FROM given_dates WHERE row NOT IN (SELECT value FROM json_each(?1)))"
        )
        return dict(self.database.all(sql, (among,))) if self._there else {}

    def count_again(self) -> None:
        """Tell what the documents that are here have: what could not be read, and the orders of their sources."""
        if SETTING not in facts.settings(self.database) or not self._there:
            return
        known = self.account
        sql = "SELECT text FROM given_dates JOIN documents USING (row) WHERE date = '' ORDER BY row"
        lost = [text for (text,) in self.database.all(sql) if not is_missing(text)]
        sources = {source for (source,) in self.database.all("SELECT DISTINCT source FROM documents")}
        orders = {source: how for source, how in known.orders.items() if source in sources}
        examples = tuple(dict.fromkeys(text[:80] for text in lost))[:3]
        now = DateAccount(orders, len(lost), sum(bool(read_date(text)) for text in lost), examples)
        facts.change_settings(self.database, {SETTING: asdict(now)})

    def any(self) -> bool:
        """Whether any document has a date."""
        return self.database.one("SELECT 1 FROM documents WHERE date <> '' LIMIT 1") is not None

    def undated(self) -> tuple[int, int]:
        """How many documents have no date, and how many of these have one that could not be read."""
        count = self.database.one("SELECT count(*) FROM documents WHERE date = ''")
        sql = "SELECT count(*) FROM given_dates JOIN documents USING (row) WHERE date = ''"
        unread = self.database.one(sql) if self._there else None
        return int(count[0]) if count else 0, int(unread[0]) if unread else 0

    @property
    def _there(self) -> bool:
        sql = "SELECT 1 FROM {} WHERE type = 'table' AND name = 'given_dates'"
        return any(self.database.one(sql.format(place)) for place in ("sqlite_master", "sqlite_temp_master"))

    def _shadowed(self) -> str:
        sql = "SELECT 1 FROM sqlite_temp_master WHERE name = 'read_account'"
        found = self.database.one("SELECT body FROM read_account") if self.database.one(sql) else None
        return str(found[0]) if found else "{}"

    def _raw(self, rows: Iterable[int]) -> list[tuple[int, str, str]]:
        wanted = list(rows)
        return self.database.all(f"{_AS_GIVEN} AND row IN ({marks(wanted)}) ORDER BY row", wanted)

    def _see_before(self, orders: DateOrders) -> None:
        """The dates that undecided sources have brought already: they are of the same source."""
        before = "SELECT source, text FROM given_dates JOIN documents USING (row) WHERE source IN ({})"
        for piece in pieces([one for one in orders.undecided if one]):
            for source, text in self.database.all(before.format(marks(piece)), piece):
                orders.see(source, read_date(text), text)

    def _write(self, row: int, iso: str, text: str) -> None:
        if iso == text:
            return
        sql = "SELECT id, title, text, source FROM documents JOIN texts USING (row) WHERE row = ?"
        id, title, body, source = self.database.all(sql, (row,))[0]
        self.database.run(
            "UPDATE documents SET date = ?, checksum = ? WHERE row = ?",
            (iso, checksum(id, title, body, source, iso), row),
        )
        self.database.run("INSERT OR IGNORE INTO given_dates VALUES (?, ?)", (row, text))


def _orders(dates: Iterable[tuple[str, str]], asked: str) -> DateOrders:
    """What the dates of each source say."""
    orders = DateOrders(asked)
    for source, text in dates:
        orders.see(source, read_date(text), text)
    return orders


def _undecided(orders: DateOrders) -> UsageError:
    """The dates of a source, or of several, may have either order."""
    source, *others = orders.undecided
    evidence = orders.seen[source]
    where = f" of {source}" if source else ""
    many = f"None of the {evidence.either:,} dates{where}" if evidence.either > 1 else f"The date{where}"
    tells = "tells" if evidence.either > 1 else "does not tell"
    more = f"; nor do those of {len(others):,} more source{'s' * (len(others) != 1)}" if others else ""
    common = orders.common(source)
    like = f". The other sources are {common}, which proves nothing of this one" if common and not others else ""
    return UsageError(
        f"{many} (such as {evidence.example}) {tells} whether the day or the month comes first{more}{like}",
        hint=" or ".join(f"--dates {order}" for order in ORDERS),
    )


def shadow(connection: sqlite3.Connection) -> None:
    """Let whoever reads a collection of an earlier version see its dates read: nothing is written.

    A view of the connection stands before the table. Dates that are in ISO 8601 anyway need none.
    """
    if connection.execute("SELECT 1 FROM settings WHERE name = ?", (SETTING,)).fetchone():
        return
    found = [one for one in connection.execute(_AS_GIVEN) if read_date(one[2]).iso != one[2]]
    if not found:
        return
    orders = _orders(((source, text) for _, source, text in found), AUTO)
    read = [(row, read_date(text).by(orders.of(source)), text) for row, source, text in found]
    said = {source: orders.said(source) for source in orders.seen}
    lost = [text for _, iso, text in read if not iso and not is_missing(text)]
    undecided = sum(bool(read_date(text)) for text in lost)
    account = DateAccount(
        dict(list(said.items())[:SHOWN]), len(lost), undecided, tuple(dict.fromkeys(text[:80] for text in lost))[:3]
    )
    for statement in _shadow_tables():
        connection.execute(statement)
    connection.executemany("INSERT INTO temp.read_dates VALUES (?, ?)", ((row, iso) for row, iso, _ in read))
    connection.executemany("INSERT INTO temp.given_dates VALUES (?, ?)", ((row, text) for row, _, text in read))
    connection.execute("INSERT INTO temp.read_account VALUES (?)", (json.dumps(asdict(account)),))


def _shadow_tables() -> Iterator[str]:
    yield "CREATE TEMP TABLE read_dates (row INTEGER PRIMARY KEY, date TEXT NOT NULL)"
    yield "CREATE TEMP TABLE given_dates (row INTEGER PRIMARY KEY, text TEXT NOT NULL)"
    yield "CREATE TEMP TABLE read_account (body TEXT NOT NULL)"
    yield (
        "CREATE TEMP VIEW documents AS SELECT d.row AS row, d.id AS id, d.title AS title, d.source AS source, "
        "coalesce(r.date, d.date) AS date, d.checksum AS checksum "
        "FROM main.documents AS d LEFT JOIN temp.read_dates AS r ON r.row = d.row"
    )
