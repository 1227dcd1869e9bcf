"""Tests of reading dates of many styles."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiarist.text.date_orders import DateOrders, OrderEvidence
from topiarist.text.dates import AUTO, DAY_FIRST, MIXED, MONTH_FIRST, explain_unread_date, get_next_date, read_date

NAMES = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
EN, DE, FR, ES = (names.split() for names in NAMES.values())
ZONES = [timezone(timedelta(hours=hours)) for hours in (-8, -5, 0, 1, 2)]

# A style writes a moment; what of it the text tells is said by the length of the expected ISO date.
STYLES: dict[str, tuple[Callable[[datetime], str], int]] = {
    "ISO moment": (lambda at: at.isoformat(), 25),
    "mail": (format_datetime, 25),
    "mail of two figures": (lambda at: f"{at:%a, %d %b %y %H:%M:%S} GMT", 19),
    "day first": (lambda at: f"{at:%d/%m/%Y}", 10),
    "month first": (lambda at: f"{at.month}/{at.day}/{at.year} {at:%I:%M %p}", 16),
    "with dots": (lambda at: f"{at.day}.{at.month}.{at.year}", 10),
    "English": (lambda at: f"{EN[at.month - 1]} {at.day}, {at.year}", 10),
    "German": (lambda at: f"{at.day}. {DE[at.month - 1]} {at.year}", 10),
    "French": (lambda at: f"{at.day} {FR[at.month - 1]} {at.year}", 10),
    "Spanish": (lambda at: f"{at.day} de {ES[at.month - 1]} de {at.year}", 10),
    "packed": (lambda at: f"{at:%Y%m%d}", 10),
    "seconds": (lambda at: str(int(at.timestamp())), 0),
}  # fmt: skip


def column_of(style: str, number: int, seed: int) -> list[tuple[str, str]]:
    """Return texts of a style, each with its expected date."""
    write, told = STYLES[style]
    chance, found = random.Random(seed), []
    for _ in range(number):
        at = datetime(1990, 1, 1, tzinfo=chance.choice(ZONES)) + timedelta(seconds=chance.randrange(35 * 365 * 86_400))
        meant = at.astimezone(timezone.utc).isoformat() if not told else at.isoformat()[:told]  # noqa: UP017
        found.append((write(at), meant))
    return found


def test_read_date_reads_twelve_styles() -> None:
    right = wrong = refused = 0
    for place, style in enumerate(STYLES):
        column = column_of(style, 834, place)
        evidence = OrderEvidence()
        for text, _ in column:
            evidence.add(read_date(text), text)
        for text, meant in column:
            found = read_date(text).resolve(evidence.order)
            same = bool(found) and found[: len(meant)] == meant
            right, wrong, refused = right + same, wrong + (bool(found) and not same), refused + (not found)
    assert wrong == 0
    assert right >= 0.999 * 12 * 834
    assert refused <= 0.001 * 12 * 834


@pytest.mark.parametrize("shown", [column[0] for column in (column_of(style, 1, 7) for style in STYLES)])
def test_read_date_rejects_words_around_dates(shown: tuple[str, str]) -> None:
    assert not read_date(f"{shown[0]} or later").iso
    assert not read_date(f"about {shown[0]}").iso


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Tue Apr  5 23:13:00 EDT 1993", "1993-04-05T23:13:00-04:00"),
        ("26-FEB-1987 15:01:01.79", "1987-02-26T15:01:01.790000"),
        ("mar. 5 avr. 2025", "2025-04-05"),
        ("Mar 5, 2025", "2025-03-05"),  # also an abbreviation of mardi
        ("Mar 2025", "2025-03"),
        ("mar. 25/03/2025", ""),
        ("22-Jan-25", "2025-01-22"),
        ("Oct 27, 93", "1993-10-27"),
        ("Mi., 22. Jan. 2025 13:45", "2025-01-22T13:45:00"),
        ("22. Jänner 2025, 14:00 Uhr", "2025-01-22T14:00:00"),
        ("1er janvier 2025", "2025-01-01"),
        ("Wed, 22 Jan 2025 13:45:00 +0100 (CET)", "2025-01-22T13:45:00+01:00"),
        ("2025", "2025"),
        ("January 2025", "2025-01"),
        ("5/5/2025", "2025-05-05"),
        ("1737550000000", "2025-01-22T12:46:40+00:00"),
    ],
)
def test_read_date_reads_single_dates(text: str, meant: str) -> None:
    assert read_date(text).iso == meant


REFUSED = (
    "n/a|250122|202501|93/01/22|2025-13-01|30/02/2025|2025-02-30|May 10|22/01/2025 25:00|2025-W04|2025-022|1.2.3|10.5|"
    "2024.5|2025012213|Q3 2025|12:30|13 May 2025, 12 June 2025|0001-01-01|99999999999999999999|٢٠٢٥"
)


@pytest.mark.parametrize("text", REFUSED.split("|"))
def test_read_date_rejects_ambiguous_texts(text: str) -> None:
    assert not read_date(text)


def test_order_evidence_decided_by_days_above_twelve() -> None:
    def order(*texts: str) -> str:
        evidence = OrderEvidence()
        for text in texts:
            evidence.add(read_date(text), text)
        return evidence.order

    assert order("05/06/2025", "22/01/2025") == DAY_FIRST
    assert order("05/06/2025", "1/22/2025") == MONTH_FIRST
    assert order("05/06/2025") == ""
    assert order("05.06.2025") == DAY_FIRST
    assert order("22/01/2025", "1/22/2025") == MIXED
    assert read_date("22/01/2025").resolve(MIXED) == "2025-01-22"
    assert read_date("05/06/2025").resolve(MIXED) == ""
    assert read_date("05/06/2025").resolve(DAY_FIRST) == "2025-06-05"
    assert read_date("1/22/2025").resolve(DAY_FIRST) == ""


@pytest.mark.parametrize(
    ("texts", "requested", "read", "described"),
    [
        (("27.10.23", "01.02.99"), AUTO, ("2023-10-27", "1999-02-01"), "day-first, decided by 1 of 2 dates"),
        (("27/10/23", "01/02/23"), AUTO, ("", ""), "undecided"),  # can begin with the year
        (("27/10/23", "01/02/23"), DAY_FIRST, ("2023-10-27", "2023-02-01"), "day-first, as was asked"),
        (("27/10/23", "27/10/93"), AUTO, ("2023-10-27", "1993-10-27"), "day-first, decided by 1 of 2 dates"),
        (("10/27/23", "01/02/23"), AUTO, ("2023-10-27", "2023-01-02"), "month-first, decided by 1 of 2 dates"),
        (("27/10/2023", "01/02/23"), AUTO, ("2023-10-27", "2023-02-01"), "day-first, decided by 1 of 2 dates"),
        (("22 Jan 25",), AUTO, ("2025-01-22",), ""),
    ],
)
def test_years_of_two_digits_are_read(texts, requested, read, described):
    orders = DateOrders(requested)
    for text in texts:
        orders.add("table", read_date(text), text)
    assert not orders.ambiguous_sources
    assert tuple(read_date(text).resolve(orders.get_order("table")) for text in texts) == read
    century = "years of two digits read as 1950 to 2049"
    expected = described if described == "undecided" else "; ".join(filter(None, (described, century)))
    assert orders.describe_order("table") == expected
    assert bool(orders.describe_unread()) == (described == "undecided")


def test_years_of_two_digits_need_a_date_column() -> None:
    assert not read_date("27.10.23", figures=False)
    assert explain_unread_date("27/10/23") == "the year has two digits, and the order of day and month is not known"


def test_read_date_accepts_numbers_on_request() -> None:
    assert read_date("2025").iso
    assert not read_date("2025", figures=False)
    assert not read_date("1737550000", figures=False)


@pytest.mark.parametrize(
    ("text", "after"),
    [("2025", "2026"), ("2025-12", "2026-01"), ("2024-02-28", "2024-02-29"), ("2025-12-31", "2026-01-01"),
     ("9999", ""), ("2025-13", ""), ("soon", ""), ("2025-02-30", "")],
)  # fmt: skip
def test_get_next_date_of_partial_dates(text: str, after: str) -> None:
    assert get_next_date(text) == after


@given(st.text(max_size=60))
def test_read_date_result_reads_as_itself(text: str) -> None:
    found = read_date(text)
    for iso in filter(None, (found.iso, found.day_first, found.month_first)):
        assert read_date(iso).iso == iso


@pytest.mark.parametrize("text", ["2568", "2568-01-22", "22/01/2568", "22 Jan 2568", "25680122", "2568-01-22T10:00:00"])
def test_read_date_rejects_years_of_other_eras(text):
    assert not read_date(text)
    assert explain_unread_date(text) == "the year 2568 belongs to another era (2025 if it is the Buddhist era)"
    assert read_date(text, typed=True)  # somebody may ask for it


def test_explain_unread_date_names_reason():
    assert explain_unread_date("05/06/2025") == "day and month may be either"
    assert explain_unread_date("soon") == explain_unread_date("room 2568") == "not a date that can be read"
    assert read_date("2399-12-31").iso == "2399-12-31"
