"""Columns: typed by their values, found by value and range, kept as they were given, and limited."""

import pytest

from topiarist.errors import UsageError
from topiarist.store import facts
from topiarist.store.column_table import ColumnTable
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.store.fulltext import Index
from topiarist.text.documents import Document
from topiarist.text.fields import LONGEST_VALUE, MOST
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


def test_kinds_are_judged_by_values(database):
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
def test_what_queries_find(database, query, rows):
    assert Index(database).rows(query) == rows


def test_documents_without_a_number_are_found_although_the_word_stands_in_another(tmp_path):
    rows = [[("price", str(place))] for place in range(40)] + [[("price", "none")], []]
    database = kept(tmp_path, rows)
    assert ColumnTable(database).fields()[0].kind == "number"
    assert 41 in Index(database).rows("price:none")


def test_documents_without_a_category_are_those_that_say_so_where_any_does(tmp_path):
    rows = [[("city", CITIES[place % 2])] for place in range(10)] + [[]]
    assert Index(kept(tmp_path, rows)).rows("city:none") == [10]
    (tmp_path / "said").mkdir()
    assert Index(kept(tmp_path / "said", [*rows, [("city", "None")]])).rows("city:none") == [11]


def test_what_is_no_number_and_no_date_finds_nothing(database):
    assert Index(database).rows("unit_price:cheap") == []
    assert Index(database).rows("closed:soon") == []


def test_a_column_that_was_found_out_stands_beside_those_that_documents_bring(database):
    table = ColumnTable(database)
    assert not table.add_category("UNIT  price", [(0, "dear")])
    assert table.add_category("mood", [(0, "Good"), (2, "bad")])
    mood = table.fields()[-1]
    assert (mood.name, mood.kind, mood.documents, mood.first, mood.last) == ("mood", "category", 2, "", "")
    assert Index(database).rows("mood:good") == [0]
    for number in range(len(table.fields()), MOST):
        assert table.add_category(f"further {number}", [(0, "x")])
    assert not table.add_category("one too many", [(0, "x")])
    assert len(table.fields()) == MOST


def test_what_is_no_column_or_no_number_is_said(database):
    fields = ColumnTable(database).fields()
    assert "Did you mean city:?" in parse("citty:bern", fields).notes[0]
    assert parse("unit_price:cheap", fields).notes == (
        "“cheap” is no number: unit_price: takes 10, 10..20, >=10 or <20.",
    )
    assert parse("closed:soon", fields).notes[0].startswith("“soon” is no date: closed: takes 2004")
    assert not parse("http://x.org city:bern unit_price:10..20", fields).notes


def test_queries_are_written_as_they_are_read(database):
    fields = ColumnTable(database).fields()
    for text in ("city:Bern -unit_price:10..20", 'city:"New York" closed:2025', "column.type:a"):
        assert str(parse(text, fields)) == text
        assert parse(str(parse(text, fields)), fields).items == parse(text, fields).items


def test_values_come_back_as_they_were_given(database):
    assert ColumnTable(database).of([3])[3]["to"] == ["a3@x", "all@x"]
    assert ColumnTable(database).of([3])[3]["Unit price"] == ["30"]
    assert ColumnTable(database).typed([3])[3]["Unit price"] == [30.0]
    assert ColumnTable(database).typed([3])[3]["closed"] == ["2025-02-16"]
    assert ColumnTable(database).several() == {"to"}


def test_columns_are_left_out(tmp_path):
    rows = [[("a", "1"), ("b", "x"), ("c d", "y")]] * 3
    database = kept(tmp_path, rows, columns="a, c_d")
    assert [field.name for field in ColumnTable(database).fields()] == ["a", "c d"]
    (tmp_path / "none").mkdir()
    assert ColumnTable(kept(tmp_path / "none", rows, columns="none")).fields() == ()
    (tmp_path / "wrong").mkdir()
    with pytest.raises(UsageError, match="no column pirce was read") as told:
        kept(tmp_path / "wrong", [[("price", "1")]], columns="pirce")
    assert told.value.hint == "--columns price"


def test_hostile_columns_are_limited_and_that_is_told(tmp_path):
    rows = [[(f"key {place} {n}", "v") for n in range(9)] for place in range(30)]
    rows.append([("key 0 0", "x" * 5_000), *[("key 0 1", str(n)) for n in range(200)]])
    database = kept(tmp_path, rows)
    assert len(ColumnTable(database).fields()) == MOST
    cells = ColumnTable(database).of(range(31))
    longest = max(len(text) for row in cells.values() for texts in row.values() for text in texts)
    assert longest == LONGEST_VALUE
    told = [problem.reason for problem in facts.problems(database)]
    assert any("more than 100 columns" in reason for reason in told)
    assert sum(" cut: 1,000" in reason for reason in told) == 2


def test_a_column_of_dates_that_nothing_decides_stays_text_and_that_is_told(tmp_path):
    database = kept(tmp_path, [[("due", "05/06/2025")], [("due", "07/08/2025")]])
    assert ColumnTable(database).fields()[0].kind == "text"
    assert "--dates day-first or month-first" in facts.problems(database)[0].reason
    (tmp_path / "asked").mkdir()
    asked = kept(tmp_path / "asked", [[("due", "05/06/2025")], [("due", "07/08/2025")]], dates="day-first")
    assert Index(asked).rows("due:2025-06") == [0]


def test_values_that_are_no_number_among_numbers_are_told(tmp_path):
    database = kept(tmp_path, [[("n", str(place) if place else "many")] for place in range(50)])
    assert ColumnTable(database).fields()[0].unread == 1
    assert facts.problems(database)[0].reason == "1 value is no number"
    assert len(Index(database).rows("n:>=0")) == 49


def test_new_documents_bring_values_and_columns(database):
    Documents(database).append([Document("new", "text", columns=(("unit price", "55.5"), ("colour", "red")))])
    assert Index(database).rows("unit_price:55..56") == [40]
    assert Index(database).rows("colour:red") == [40]
    assert ColumnTable(database).counts_among(range(3))["city"] == [("Bern", 1), ("Zürich", 2)]


def test_a_collection_without_such_tables_has_no_columns(tmp_path):
    database = Database.create(tmp_path / "old.sqlite")
    assert ColumnTable(database).fields() == ()
    assert ColumnTable(database).of([1]) == {}
    assert ColumnTable(database).counts_among([1]) == {}


def test_a_column_of_dates_is_read_by_each_source_as_its_own_dates_tell(tmp_path):
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
