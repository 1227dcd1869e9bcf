"""Dates in periods: by their span, number and precision; what has no place is counted."""

import numpy as np
import pytest

from topiarist.collection.trends.periods import divide_dates
from topiarist.errors import UsageError


def days(first, number, step=1, each=1):
    start = np.datetime64(first)
    return [str(start + np.timedelta64(day * step, "D")) for day in range(number) for _ in range(each)]


@pytest.mark.parametrize(
    ("dates", "unit"),
    [
        (days("2014-03-01", 20, each=40), "day"),
        (days("2014-01-01", 180, each=10), "week"),
        (days("2014-01-01", 365, each=10), "month"),
        (days("2001-01-01", 500, step=10, each=10), "year"),
        (days("2014-01-01", 365, step=1), "month"),
        (days("2014-01-01", 60, step=6), "year"),  # too few for months
        (["2014", "2015", "2016"] * 100, "year"),
    ],
)
def test_the_unit_is_chosen_by_the_dates(dates, unit):
    found = divide_dates(dates)
    assert found.unit == unit
    assert found.documents.sum() == len(dates)
    assert len(found.first) == len(found.last) == len(found.names)


def test_periods_have_no_gaps_and_know_their_days():
    found = divide_dates(["2014-01-31", "2014-04-01"], "month")
    assert found.names == ("2014-01", "2014-02", "2014-03", "2014-04")
    assert found.first[1], found.last[1] == ("2014-02-01", "2014-02-28")
    assert found.documents.tolist() == [1, 0, 0, 1]
    assert (found.span(1), found.span(1, 3)) == ("2014-02", "2014-02..2014-04")


def test_weeks_begin_on_monday():
    found = divide_dates(["2014-03-02", "2014-03-03", "2014-03-09"], "week")
    assert found.names == ("2014-02-24", "2014-03-03")
    assert found.of.tolist() == [0, 1, 1]
    assert found.span(1) == "2014-03-03..2014-03-09"


def test_what_has_no_place_is_told():
    dates = ["2014-03-01", "2014-04-01", "2014", "", "", *days("2014-01-01", 100), "1203-01-01"]
    found = divide_dates(dates, "month", n_undated=2, n_unread=1)
    assert (found.n_undated, found.unread, found.coarse, found.outside) == (2, 1, 1, 1)
    assert found.of[[2, 3, 4, -1]].tolist() == [-1, -1, -1, -1]
    assert found.left_out == (
        "2 documents have no date, including 1 with an unreadable date.",
        "1 document has a date without a month.",
        "1 document has a date far away from all others.",
    )


def test_without_dates_there_are_no_periods():
    found = divide_dates(["", ""], n_undated=2)
    assert len(found) == 0
    assert found.left_out == ("2 documents have no date.",)


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(UsageError, match="maximum of 400") as refused:
        divide_dates(["1990-01-01", "2014-01-01"], "day")
    assert refused.value.hint == "Use week."
    with pytest.raises(UsageError, match="date with a month"):
        divide_dates(["2014", "2015"], "month")
