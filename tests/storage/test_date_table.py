"""Dates as they are kept: in ISO 8601, decided by the column, with what was given beside; of older collections too."""

import pytest

from topiarist.collection.describe.collection_facts import describe_dates
from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.storage.database import Database
from topiarist.storage.date_table import Dates
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.text.documents import Document


def kept(path, given, source="a.csv", **options):
    """A database with documents of these dates."""
    database = Database.create(path / "d.sqlite")
    found = (Document(str(place), "some text", source=source, date=date) for place, date in enumerate(given))
    Documents(database).load(found, **options)
    return database


def dates_of(database):
    return [document.date for document in Documents(database).iterate()]


def test_dates_settle_order_and_keep_source_texts(tmp_path):
    database = kept(tmp_path, ["22/01/2025", "05/06/2026", "", "soon", "3 May 2024"])
    assert dates_of(database) == ["2025-01-22", "2026-06-05", "", "", "2024-05-03"]
    assert Dates(database).load_originals(range(5)) == {0: "22/01/2025", 1: "05/06/2026", 3: "soon", 4: "3 May 2024"}
    assert Dates(database).count_undated() == (2, 1)
    assert Dates(database).account.orders == {"a.csv": "day-first, decided by 1 of 2 dates"}
    assert [problem.reason for problem in facts.problems(database)] == ["not a date that can be read: “soon”"]
    assert not list(Documents(database).find_changed_texts())  # the checksums follow
    assert Index(database).rows("since:2026-01-01") == [1]
    assert Index(database).rows("before:2026") == [0, 4]
    assert Index(database).rows("date:2024..2025") == [0, 4]
    assert Index(database).rows("date:>2025") == [1]
    assert Dates(database).span() == ("2024-05-03", "2026-06-05")


def test_undecided_dates_raise_error(tmp_path):
    with pytest.raises(UsageError, match=r"None of the 2 dates of a\.csv \(such as 05/06/2025\)") as told:
        kept(tmp_path, ["05/06/2025", "07/08/2025"])
    assert told.value.hint == "Set the order of dates to day-first or month-first (--dates)."


@pytest.mark.parametrize(("order", "meant"), [("day-first", "2025-06-05"), ("month-first", "2025-05-06")])
def test_requested_date_order_used(tmp_path, order, meant):
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


def test_date_order_by_source(tmp_path):
    database = loaded(tmp_path, BRITISH + AMERICAN)
    assert dates_of(database) == ["2025-01-22", "2025-06-05", "2025-01-22", "2025-05-06"]
    assert Dates(database).account.orders == {
        "uk.csv": "day-first, decided by 1 of 2 dates", "us.csv": "month-first, decided by 1 of 2 dates"
    }  # fmt: skip


def test_date_order_ignores_other_sources(tmp_path):
    with pytest.raises(UsageError, match=r"None of the 2 dates of new\.csv .*The other sources are day-first") as told:
        loaded(tmp_path, [*BRITISH, ("new.csv", "01/02/2026"), ("new.csv", "03/04/2026")])
    assert told.value.hint == "Set the order of dates to day-first or month-first (--dates)."


def test_requested_order_for_undecided_sources_only(tmp_path):
    given = [*BRITISH, *AMERICAN, ("new.csv", "01/02/2026")]
    database = loaded(tmp_path, given, dates="month-first")
    assert dates_of(database) == ["2025-01-22", "2025-06-05", "2025-01-22", "2025-05-06", "2026-01-02"]
    assert Dates(database).account.orders == {
        "uk.csv": "day-first, decided by 1 of 2 dates, though month-first was asked",
        "us.csv": "month-first, as was asked", "new.csv": "month-first, as was asked",
    }  # fmt: skip
    assert describe_dates(database) == [
        "Dates: day-first in 1 source, uk.csv among them",
        "Dates: month-first, as was asked, in 2 sources, us.csv among them",
    ]


def test_added_dates_follow_order_of_source(tmp_path):
    database = kept(tmp_path, ["22/01/2025"])
    with pytest.raises(UsageError, match="does not tell whether the day"):
        Documents(database).append([Document("x", "text", source="new.csv", date="01/02/2026")])
    Documents(database).append([Document("x", "text", source="a.csv", date="01/02/2026")])
    Documents(database).append([Document("y", "text", source="new.csv", date="01/02/2026")], "month-first")
    assert dates_of(database)[-2:] == ["2026-02-01", "2026-01-02"]


def test_mixed_orders_skip_ambiguous_dates(tmp_path):
    database = kept(tmp_path, ["22/01/2025", "1/22/2025", "05/06/2025"])
    assert dates_of(database) == ["2025-01-22", "2025-01-22", ""]
    assert Dates(database).account.undecided == 1


def test_unread_dates_shortened(tmp_path):
    texts = [f"{number} {'soon ' * 40}" for number in range(5)]
    database = kept(tmp_path, ["22/01/2025", *texts])
    assert Dates(database).account.unread == 5
    assert Dates(database).account.examples == tuple(text[:80] for text in texts[:3])


def test_unread_date_examples_distinct(tmp_path):
    database = kept(tmp_path, ["soon", "soon", "late", "never", "maybe", "2024-01-02"])
    assert Dates(database).account.unread == 5
    assert Dates(database).account.examples == ("soon", "late", "never")
    database.run("DELETE FROM given_dates WHERE row = 0")
    Dates(database).count_again()
    assert (Dates(database).account.unread, Dates(database).account.examples) == (4, ("soon", "late", "never"))
