"""Dates as they are kept: in ISO 8601, decided by the column, with what was given beside; of older collections too."""

import pytest

from topiarist.collection.describe.columns import dates_said
from topiarist.errors import UsageError
from topiarist.store import facts
from topiarist.store.database import Database
from topiarist.store.date_table import SETTING, Dates
from topiarist.store.document_table import Documents
from topiarist.store.fulltext import Index
from topiarist.text.documents import Document


def kept(path, given, source="a.csv", **options):
    """A database with documents of these dates."""
    database = Database.create(path / "d.sqlite")
    found = (Document(str(place), "some text", source=source, date=date) for place, date in enumerate(given))
    Documents(database).load(found, **options)
    return database


def dates_of(database):
    return [document.date for document in Documents(database).iterate()]


def test_the_column_decides_and_what_was_given_is_kept(tmp_path):
    database = kept(tmp_path, ["22/01/2025", "05/06/2026", "", "soon", "3 May 2024"])
    assert dates_of(database) == ["2025-01-22", "2026-06-05", "", "", "2024-05-03"]
    assert Dates(database).given(range(5)) == {0: "22/01/2025", 1: "05/06/2026", 3: "soon", 4: "3 May 2024"}
    assert Dates(database).undated() == (2, 1)
    assert Dates(database).account.orders == {"a.csv": "day-first, decided by 1 of 2 dates"}
    assert [problem.reason for problem in facts.problems(database)] == ["not a date that can be read: “soon”"]
    assert not list(Documents(database).changed())  # the checksums follow
    assert Index(database).rows("after:2026-01-01") == [1]
    assert Index(database).rows("before:2026") == [0, 4]
    assert Index(database).rows("date:2024..2025") == [0, 4]
    assert Index(database).rows("date:>2025") == [1]
    assert Documents(database).span() == ("2024-05-03", "2026-06-05")


def test_dates_that_nothing_decides_are_an_error_that_names_the_option(tmp_path):
    with pytest.raises(UsageError, match=r"None of the 2 dates of a\.csv \(such as 05/06/2025\)") as told:
        kept(tmp_path, ["05/06/2025", "07/08/2025"])
    assert told.value.hint == "--dates day-first or --dates month-first"


@pytest.mark.parametrize(("order", "meant"), [("day-first", "2025-06-05"), ("month-first", "2025-05-06")])
def test_the_option_decides(tmp_path, order, meant):
    database = kept(tmp_path, ["05/06/2025", "07/07/2025"], dates=order)
    assert dates_of(database) == [meant, "2025-07-07"]
    assert Dates(database).account.orders == {"a.csv": f"{order}, as was asked"}


def loaded(path, given, **options):
    database = Database.create(path / "d.sqlite")
    Documents(database).load(
        (Document(str(n), "text", source=one, date=date) for n, (one, date) in enumerate(given)), **options
    )
    return database


BRITISH = [("uk.csv", "22/01/2025"), ("uk.csv", "05/06/2025")]
AMERICAN = [("us.csv", "1/22/2025"), ("us.csv", "5/6/2025")]


def test_each_source_decides_for_itself(tmp_path):
    database = loaded(tmp_path, BRITISH + AMERICAN)
    assert dates_of(database) == ["2025-01-22", "2025-06-05", "2025-01-22", "2025-05-06"]
    assert Dates(database).account.orders == {
        "uk.csv": "day-first, decided by 1 of 2 dates", "us.csv": "month-first, decided by 1 of 2 dates"
    }  # fmt: skip


def test_no_source_takes_the_order_of_another(tmp_path):
    with pytest.raises(UsageError, match=r"None of the 2 dates of new\.csv .*The other sources are day-first") as told:
        loaded(tmp_path, [*BRITISH, ("new.csv", "01/02/2026"), ("new.csv", "03/04/2026")])
    assert told.value.hint == "--dates day-first or --dates month-first"


def test_the_option_decides_where_the_dates_of_a_source_do_not(tmp_path):
    given = [*BRITISH, *AMERICAN, ("new.csv", "01/02/2026")]
    database = loaded(tmp_path, given, dates="month-first")
    assert dates_of(database) == ["2025-01-22", "2025-06-05", "2025-01-22", "2025-05-06", "2026-01-02"]
    assert Dates(database).account.orders == {
        "uk.csv": "day-first, decided by 1 of 2 dates, though month-first was asked",
        "us.csv": "month-first, as was asked", "new.csv": "month-first, as was asked",
    }  # fmt: skip
    assert dates_said(database) == [
        "Dates: day-first in 1 source, uk.csv among them",
        "Dates: month-first, as was asked, in 2 sources, us.csv among them",
    ]


def test_documents_that_are_added_follow_dates_of_their_own_source_only(tmp_path):
    database = kept(tmp_path, ["22/01/2025"])
    with pytest.raises(UsageError, match="does not tell whether the day"):
        Documents(database).append([Document("x", "text", source="new.csv", date="01/02/2026")])
    Documents(database).append([Document("x", "text", source="a.csv", date="01/02/2026")])
    Documents(database).append([Document("y", "text", source="new.csv", date="01/02/2026")], "month-first")
    assert dates_of(database)[-2:] == ["2026-02-01", "2026-01-02"]


def test_both_orders_in_one_source_leave_out_what_may_be_either(tmp_path):
    database = kept(tmp_path, ["22/01/2025", "1/22/2025", "05/06/2025"])
    assert dates_of(database) == ["2025-01-22", "2025-01-22", ""]
    assert Dates(database).account.undecided == 1


def older(path, dates):
    """A database as version 0.1 wrote it: dates as they were given."""
    database = kept(path, [""] * len(dates))
    for row, date in enumerate(dates):
        database.run("UPDATE documents SET date = ? WHERE row = ?", (date, row))
    database.run("DELETE FROM settings WHERE name = ?", (SETTING,))
    for table in ("given_dates", "cells", "fields"):
        database.run(f"DROP TABLE {table}")
    database.close()
    return path / "d.sqlite"


def test_an_older_collection_is_read_by_the_same_rules_and_not_written(tmp_path):
    path = older(tmp_path, ["22/01/2025", "05/06/2026", "soon", "2024-05-03", ""])
    before = path.read_bytes()
    reader = Database(path)
    assert dates_of(reader) == ["2025-01-22", "2026-06-05", "", "2024-05-03", ""]
    assert Index(reader).rows("after:2026-01-01") == [1]
    assert Dates(reader).undated() == (2, 1)
    assert Dates(reader).given([0, 2]) == {0: "22/01/2025", 2: "soon"}
    assert Dates(reader).account.unread == 1
    assert len(Documents(reader)) == 5
    reader.close()
    assert path.read_bytes() == before


def test_of_dates_that_cannot_be_read_three_are_shown_by_their_beginnings(tmp_path):
    texts = [f"{number} {'soon ' * 40}" for number in range(5)]
    reader = Database(older(tmp_path, ["22/01/2025", *texts]))
    assert Dates(reader).account.unread == 5
    assert Dates(reader).account.examples == tuple(text[:80] for text in texts[:3])


def test_different_dates_that_cannot_be_read_are_examples(tmp_path):
    database = kept(tmp_path, ["soon", "soon", "late", "never", "maybe", "2024-01-02"])
    assert Dates(database).account.unread == 5
    assert Dates(database).account.examples == ("soon", "late", "never")
    database.run("DELETE FROM given_dates WHERE row = 0")
    Dates(database).count_again()
    assert (Dates(database).account.unread, Dates(database).account.examples) == (4, ("soon", "late", "never"))


def test_an_older_collection_whose_dates_nobody_has_read_is_not_counted_again(tmp_path):
    writer = Database(older(tmp_path, ["22/01/2025", "soon"]), write=True)
    Dates(writer).count_again()
    assert SETTING not in facts.settings(writer)


def test_an_older_collection_is_written_anew_with_the_first_document_that_is_added(tmp_path):
    path = older(tmp_path, ["22/01/2025", "05/06/2026", "soon"])
    writer = Database(path, write=True)
    Documents(writer).append([Document("new", "text", source="a.csv", date="07/08/2026", columns=(("price", "10"),))])
    writer.close()
    reader = Database(path)
    assert dates_of(reader) == ["2025-01-22", "2026-06-05", "", "2026-08-07"]
    assert not list(Documents(reader).changed())
    assert Index(reader).rows("price:10") == [3]


def test_dates_of_an_older_collection_that_nothing_decides_are_no_dates(tmp_path):
    reader = Database(older(tmp_path, ["05/06/2025", "07/08/2025"]))
    assert dates_of(reader) == ["", ""]
    assert Dates(reader).account.undecided == 2
