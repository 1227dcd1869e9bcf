"""The phrase book: what terminal and pages say of numbers, shares, sizes and times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from topiarist.display import formats as words


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (words.count_noun(1, "leaf", "leaves"), "1 leaf"),
        (words.count_noun(2_000, "leaf", "leaves"), "2,000 leaves"),
        (words.count_noun(0, "document"), "0 documents"),
        (words.and_more(range(12), 5), "and 7 more"),
        (words.and_more(range(5), 5), ""),
        (words.percent(0.123), "12%"),
        (words.percent(0.001), "<1%"),
        (words.percent(0.0), "0%"),
        (words.fine_percent(0.9999), ">99%"),
        (words.fine_percent(1.0), "100%"),
        (words.fine_percent(0.0123), "1.2%"),
        (words.times_between(2.4, 1.9, 3.0), "2.4 times (1.9–3.0)"),
        (words.times_between(99.0, 33.0, 480.0), "99 times (33–480)"),
        (words.times_between(1_675.0, 104.0, 27_059.0), "more than 100 times"),
        (words.times_between(1_675.0, 81.9, 27_059.0), "more than 81 times"),
        (words.times_between(120.0, 9.96, 27_059.0), "more than 9.9 times"),
        (words.times_between(120.0, 4.0, 27_059.0), "more than 4.0 times"),
        (words.times_between(120.0, 1.5, 27_059.0), "more than 1.5 times"),
        (words.times_between(120.0, 1.04, 27_059.0), "120 times (1.0–27,059)"),
        (words.times_between(120.0, 0.4, 27_059.0), "120 times (0.40–27,059)"),
        (words.size(999), "999 bytes"),
        (words.size(2e6), "2.0 MB"),
        (words.size(31e9), "31 GB"),
        (words.size(2_300), "2.3 kB"),
        (words.size(45e6), "45 MB"),
        (words.size(9.1e9), "9.1 GB"),
        (words.duration(8.24), "8.2 s"),
        (words.duration(151), "2 min 31 s"),
        (words.duration(3_900), "1 h 5 min"),
        (words.duration(31), "31 s"),
        (words.duration(7_300), "2 h 1 min"),
        (words.clock(5), "0:05"),
        (words.time_left(0.1), "1 s"),
        (words.time_left(61), "2 min"),
        (words.clock(65), "1:05"),
        (words.clock(7_205), "2:00:05"),
        (words.one_line("two\nlines\x1b[2J"), "two lines [2J"),
        (words.join_path(["Law", "Courts"]), "Law ▸ Courts"),
        (words.join_path([]), "Everything"),
        (words.describe_unassigned(1), "1 document is unsorted"),
        (words.describe_unassigned(3), "3 documents are unsorted"),
    ],
)
def test_phrases_read_as_people_say_them(said: str, expected: str) -> None:
    assert said == expected


def test_a_moment_names_its_year_only_if_it_is_another_one() -> None:
    time, zone = "2026-03-12T14:02:00+00:00", datetime.now(UTC).astimezone().tzinfo
    here = datetime.fromisoformat(time).astimezone()
    assert words.format_time(time, datetime(2026, 8, 1, tzinfo=zone)) == f"{here.day} March, {here:%H:%M}"
    assert words.format_day(time, datetime(2027, 8, 1, tzinfo=zone)) == f"{here.day} March 2026"
    assert words.format_time("long ago") == words.format_day("long ago") == "long ago"
