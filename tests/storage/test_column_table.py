"""Columns: typed by their values, found by value and range, kept as they were given, and limited."""

import pytest

from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.storage.column_table import ColumnTable
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.text.documents import Document
from topiarist.text.fields import MAX_COLUMNS, MAX_VALUE_LENGTH, Field
from topiarist.text.query import parse

CITIES = ("Zürich", "Bern", "zürich", "Basel")


def kept(path, rows, **options):
    """A database with documents of these columns."""
    database = Database.create(path / "d.sqlite")
    Documents(database).load(
        (Document(str(place), f"text {place}", columns=tuple(row)) for place, row in enumerate(rows)), **options
    )
    return database


@pytest.fixture
def database(tmp_path):
    return kept(
        tmp_path,
        (
            [("Unit price", str(10 * place)), ("city", CITIES[place % 4]), ("closed", f"{13 + place % 9}/02/2025"),
             ("note", f"Called the café {place} times"), ("zip", f"0{place:04}"), ("type", "ab"[place % 2]),
             ("to", f"a{place}@x"), ("to", "all@x")]
            for place in range(40)
        ),
    )  # fmt: skip


def test_column_kinds_follow_values(database):
    kinds = {field.name: field.kind for field in ColumnTable(database).fields()}
    assert kinds == {
        "Unit price": "number", "city": "category", "closed": "date", "note": "text", "zip": "text",
        "type": "category", "to": "text",
    }  # fmt: skip
    price, city, closed = ColumnTable(database).fields()[:3]
    assert (price.first, price.last, price.documents) == ("0", "390", 40)
    assert city.different == 4
    assert (closed.first, closed.note) == ("2025-02-13", "day-first, decided by 40 of 40 dates")


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("unit_price:10..30", [1, 2, 3]),
        ("unit_price:>=380", [38, 39]),
        ("unit_price:<20", [0, 1]),
        ("unit_price:..10", [0, 1]),
        ("unit_price:>370", [38, 39]),
        ("unit_price:<=10", [0, 1]),
        ("unit_price:20", [2]),
        ("unit_price:..30 -unit_price:10", [0, 2, 3]),
        ("city:ZURICH unit_price:<50", [0, 2, 4]),
        ("city:be* unit_price:<60", [1, 5]),
        ("city:ase unit_price:<60", [3]),  # no city is called so: those that contain it
        ("closed:2025-02-13 unit_price:<100", [0, 9]),
        ("closed:2024", []),
        ('note:"cafe 3 times"', [3]),
        ("column.type:b unit_price:<30", [1]),
        ("to:a3", [3, *range(30, 40)]),
        ("zip:00007", [7]),
    ],
)
def test_queries_on_columns(database, query, rows):
    assert Index(database).rows(query) == rows


def test_none_matches_missing_numbers(tmp_path):
    rows = [[("price", str(place))] for place in range(40)] + [[("price", "none")], []]
    database = kept(tmp_path, rows)
    assert ColumnTable(database).fields()[0].kind == "number"
    assert 41 in Index(database).rows("price:none")


def test_none_prefers_category_named_none(tmp_path):
    rows = [[("city", CITIES[place % 2])] for place in range(10)] + [[]]
    assert Index(kept(tmp_path, rows)).rows("city:none") == [10]
    (tmp_path / "said").mkdir()
    assert Index(kept(tmp_path / "said", [*rows, [("city", "None")]])).rows("city:none") == [11]


def test_invalid_numbers_and_dates_match_nothing(database):
    assert Index(database).rows("unit_price:cheap") == []
    assert Index(database).rows("closed:soon") == []


def test_add_category_beside_document_columns(database):
    table = ColumnTable(database)
    assert not table.add_category("UNIT  price", [(0, "dear")])
    assert table.add_category("mood", [(0, "Good"), (2, "bad")])
    mood = table.fields()[-1]
    assert (mood.name, mood.kind, mood.documents, mood.first, mood.last) == ("mood", "category", 2, "", "")
    assert Index(database).rows("mood:good") == [0]
    for number in range(len(table.fields()), MAX_COLUMNS):
        assert table.add_category(f"further {number}", [(0, "x")])
    assert not table.add_category("one too many", [(0, "x")])
    assert len(table.fields()) == MAX_COLUMNS


def test_query_notes_unknown_columns_and_values(database):
    fields = ColumnTable(database).fields()
    assert "Did you mean city:?" in parse("citty:bern", fields).notes[0]
    assert parse("unit_price:cheap", fields).notes == (
        "“cheap” is no number: unit_price: takes 10, 10..20, >=10 or <20.",
    )
    assert parse("closed:soon", fields).notes[0].startswith("“soon” is no date: closed: takes 2004")
    assert not parse("http://x.org city:bern unit_price:10..20", fields).notes


def test_column_queries_round_trip(database):
    fields = ColumnTable(database).fields()
    for text in ("city:Bern -unit_price:10..20", 'city:"New York" closed:2025', "column.type:a"):
        assert str(parse(text, fields)) == text
        assert parse(str(parse(text, fields)), fields).items == parse(text, fields).items


def test_column_values_unchanged(database):
    assert ColumnTable(database).of([3])[3]["to"] == ["a3@x", "all@x"]
    assert ColumnTable(database).of([3])[3]["Unit price"] == ["30"]
    assert ColumnTable(database).typed([3])[3]["Unit price"] == [30.0]
    assert ColumnTable(database).typed([3])[3]["closed"] == ["2025-02-16"]
    assert ColumnTable(database).list_multivalued() == {"to"}


def test_columns_setting_selects_columns(tmp_path):
    rows = [[("a", "1"), ("b", "x"), ("c d", "y")]] * 3
    database = kept(tmp_path, rows, columns="a, c_d")
    assert [field.name for field in ColumnTable(database).fields()] == ["a", "c d"]
    (tmp_path / "none").mkdir()
    assert ColumnTable(kept(tmp_path / "none", rows, columns="none")).fields() == ()
    (tmp_path / "wrong").mkdir()
    with pytest.raises(UsageError, match="no column pirce was read") as told:
        kept(tmp_path / "wrong", [[("price", "1")]], columns="pirce")
    assert told.value.hint == 'Set columns = "price".'


def test_column_limits_reported(tmp_path):
    rows = [[(f"key {place} {n}", "v") for n in range(9)] for place in range(30)]
    rows.append([("key 0 0", "x" * 5_000), *[("key 0 1", str(n)) for n in range(200)]])
    database = kept(tmp_path, rows)
    assert len(ColumnTable(database).fields()) == MAX_COLUMNS
    cells = ColumnTable(database).of(range(31))
    longest = max(len(text) for row in cells.values() for texts in row.values() for text in texts)
    assert longest == MAX_VALUE_LENGTH
    told = [problem.reason for problem in facts.problems(database)]
    assert any("more than 100 columns" in reason for reason in told)
    assert sum(" cut: 1,000" in reason for reason in told) == 2


def test_ambiguous_date_column_stays_text(tmp_path):
    database = kept(tmp_path, [[("due", "05/06/2025")], [("due", "07/08/2025")]])
    assert ColumnTable(database).fields()[0].kind == "text"
    assert "--dates day-first or month-first" in facts.problems(database)[0].reason
    (tmp_path / "asked").mkdir()
    asked = kept(tmp_path / "asked", [[("due", "05/06/2025")], [("due", "07/08/2025")]], dates="day-first")
    assert Index(asked).rows("due:2025-06") == [0]


def test_unread_numbers_reported(tmp_path):
    database = kept(tmp_path, [[("n", str(place) if place else "many")] for place in range(50)])
    assert ColumnTable(database).fields()[0].unread == 1
    assert facts.problems(database)[0].reason == "1 value is no number"
    assert len(Index(database).rows("n:>=0")) == 49


def test_append_adds_values_and_columns(database):
    Documents(database).append([Document("new", "text", columns=(("unit price", "55.5"), ("colour", "red")))])
    assert Index(database).rows("unit_price:55..56") == [40]
    assert Index(database).rows("colour:red") == [40]
    assert ColumnTable(database).counts_among(range(3))["city"] == [("Bern", 1), ("Zürich", 2)]


def test_collection_without_columns(tmp_path):
    database = Database.create(tmp_path / "old.sqlite")
    assert ColumnTable(database).fields() == ()
    assert ColumnTable(database).of([1]) == {}
    assert ColumnTable(database).counts_among([1]) == {}


def test_date_column_order_by_source(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    given = [("uk.csv", "22/01/2025"), ("uk.csv", "05/06/2025"), ("us.csv", "1/22/2025"), ("us.csv", "5/6/2025")]
    given += [("new.csv", "07/08/2025"), ("new.csv", "2025-09-01")]
    Documents(database).load(
        Document(str(n), "text", source=source, columns=(("closed", date),)) for n, (source, date) in enumerate(given)
    )
    assert Index(database).rows("closed:2025-06") == [1]
    assert Index(database).rows("closed:2025-05") == [3]
    assert Index(database).rows("closed:2025-07..2025-08") == []
    (closed,) = ColumnTable(database).fields()
    assert closed.unread == 1
    assert "day-first in 1 source, uk.csv among them; month-first in 1 source" in closed.note
    undecided = "1 date of new.csv, such as 07/08/2025, is not read, for day and month may be either: --dates day-first"
    assert undecided in closed.note
    assert any(undecided in one.reason for one in facts.problems(database))
    added = [Document("a", "text", source="later.csv", columns=(("closed", "03/04/2026"),))]
    Documents(database).append(added)
    assert Index(database).rows("closed:2026") == []
    assert "1 date of later.csv" in facts.problems(database)[-2].reason
    Documents(database).append([Document("b", "t", source="us.csv", columns=(("closed", "03/04/2026"),))])
    assert Index(database).rows("closed:2026-03") == [7]


def test_column_named_like_date_filter_noted():
    fields = (Field("since", "word"), Field("Until", "word"))
    said = "since: is a condition on dates: for the column write column.since:."
    assert parse("since:2004", fields).notes == (said,)
    assert parse("since:soon", fields).notes[1:] == (said,)
    assert "write column.until:" in parse("until:2004", fields).notes[0]
    assert parse("column.since:2004", fields).notes == parse("since:2004").notes == ()
