"""Dates as people and programs write them, read as ISO 8601 or not at all: nothing is guessed from one value alone.

    2025-01-22T13:45:00+01:00 · 20250122 · 2025 · 2025-01       as they are
    Wed, 22 Jan 2025 13:45:00 +0100 · 22. Januar 2025           months by name, in seven languages
    22/01/2025 · 1/22/2025 · 05.06.2025                         day or month first: by all values of a column together
    1737550000 · 1737550000000                                  seconds or milliseconds since 1970, in a column of dates

What was written as local time stays so, with its zone: the day is the one that the text says. Years of two digits are
read only where the standard of mail says which century is meant.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache

DAY_FIRST, MONTH_FIRST, MIXED, AUTO = "day-first", "month-first", "mixed", "auto"
ORDERS = (DAY_FIRST, MONTH_FIRST)
LONGEST = 100  # characters of something that may be a date
FIRST_YEAR, LAST_YEAR = 1000, 2999
OTHER_ERA = "2400"  # from this year on a document counts from another beginning: 2568 is 2025 in Thailand
EPOCH = (100_000_000, 1_900_000_000)  # seconds: 1973 to 2030; above, ten digits may be a day and an hour

_MONTHS = (
    "january jan januar jänner jaenner janvier janv enero ene gennaio gen janeiro januari",
    "february feb februar feber février fevrier févr fevr fév fev febrero febbraio fevereiro februari",
    "march mar märz maerz mär mrz mars marzo março marco maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag maio mei",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août aout agosto ago augustus",
    "september sep sept septembre septiembre setiembre set settembre sett setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro",
)
_DAYS = (
    "monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun "
    "montag mo dienstag di mittwoch mi donnerstag do freitag fr samstag sa sonnabend sonntag so "
    "lundi lun mardi mar mercredi mer jeudi jeu vendredi ven samedi sam dimanche dim "
    "lunes martes miércoles miercoles mié mie jueves jue viernes vie sábado sabado sáb sab domingo dom "
    "lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi gio venerdì venerdi sabato domenica "
    "segunda terça quarta quinta sexta feira"
)
_SMALL_WORDS = frozenset(
    [
        "de",
        "del",
        "le",
        "la",
        "den",
        "der",
        "of",
        "the",
        "at",
        "um",
        "à",
        "a",
        "as",
        "las",
        "el",
        "on",
        "am",
        "o",
        "uhr",
        "h",
        "and",
    ]
)
_ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7,
}  # fmt: skip
_UNSURE_ZONES = frozenset(
    [
        "bst",
        "ist",
        "met",
        "mest",
        "cet",
        "cest",
        "wet",
        "west",
        "eet",
        "eest",
        "msk",
        "jst",
        "kst",
        "aest",
        "aedt",
        "acst",
        "awst",
        "hst",
        "akst",
        "akdt",
        "nzst",
        "nzdt",
        "sst",
        "sgt",
        "hkt",
        "ast",
        "adt",
        "nst",
        "ndt",
        "mez",
        "mesz",
        "turkey",
        "eastern",
        "pacific",
        "dst",
    ]
)  # that mean several things, or are not in the standard: the time stays as it was written


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


_MONTH = {_folded(name): number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_DAY = frozenset(_folded(name) for name in _DAYS.split())

_TIME = re.compile(
    r"(?<![\d:.,+-])(?:(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?|(?P<only>\d{1,2})\s?(?P<of>[ap])\.?m\b\.?)(?![\d:])",
    re.IGNORECASE,
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{6})?(?:[+-](?:0\d|1[0-5]):\d\d)?)?", re.ASCII)
_OFFSET = re.compile(r"(?:(?:gmt|utc)\s?)?(?P<sign>[+-])(?P<hours>\d\d?)(?::?(?P<minutes>\d\d))?$", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|[-/](\d{1,2}))?")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_MONTH_YEAR = re.compile(r"(\d{1,2})[/.-](\d{4})")
_PACKED = re.compile(r"(\d{4})(\d\d)(\d\d)(?:[T ]?(\d\d)(\d\d)(\d\d)?)?(Z?)", re.IGNORECASE)
_SECONDS = re.compile(r"(\d{9,10})(?:\.\d+)?|(\d{12,13})(?:\.0+)?")
_COMMENT = re.compile(r"\([^()]*\)")
_PIECE = re.compile(r"\d+|[^\W\d_]+|\S")
_ORDINAL = frozenset(["st", "nd", "rd", "th", "er", "ere", "º", "ª"])


@dataclass(frozen=True, slots=True)
class Read:
    """A date in ISO 8601; or, where day and month may be either, what it is with the day and with the month first.

    One that only one order allows has the other empty. Nothing at all: it is no date that can be read.
    """

    iso: str = ""
    day_first: str = ""
    month_first: str = ""
    dots: bool = False  # between day and month: nobody writes the month first then

    def __bool__(self) -> bool:
        return bool(self.iso or self.day_first or self.month_first)

    def by(self, order: str) -> str:
        """As an order says; empty where it does not allow it, or says nothing of a date that needs it."""
        if self.iso:
            return self.iso
        if order == MIXED:
            return "" if self.day_first and self.month_first else self.day_first or self.month_first
        return {DAY_FIRST: self.day_first, MONTH_FIRST: self.month_first}.get(order, "")


@dataclass
class Evidence:
    """What the values of a column say about the order of day and month."""

    day: int = 0  # values that only a day first allows
    month: int = 0
    either: int = 0
    dotted: int = 0  # of either
    example: str = ""  # of either

    def see(self, read: Read, text: str = "", times: int = 1) -> None:
        """One value more."""
        if read.iso or not read:
            return
        if read.day_first and read.month_first:
            self.either += times
            self.dotted += times * read.dots
            self.example = self.example or text
        elif read.day_first:
            self.day += times
        else:
            self.month += times

    @property
    def order(self) -> str:
        """The order that they decide; empty where none does."""
        if self.day and self.month:
            return MIXED
        if self.day or self.month:
            return DAY_FIRST if self.day else MONTH_FIRST
        return DAY_FIRST if self.either and self.dotted == self.either else ""

    @property
    def needed(self) -> bool:
        """Whether any value has a day and a month in figures."""
        return bool(self.day or self.month or self.either)


def iso_date(text: str, order: str = "") -> str:
    """A date in ISO 8601; empty where it cannot be read, or could be read in two ways."""
    return read_date(text).by(order)


@lru_cache(maxsize=8192)
def read_date(text: str, *, figures: bool = True, typed: bool = False) -> Read:
    """A date as it was written. ``figures``: whether 2025, 20250122 and seconds since 1970 are dates too.

    ``typed``: somebody asks for it, who may mean any year; in a document a late one counts from another beginning.
    """
    found = _read(text, figures)
    if found and not typed and max(found.iso, found.day_first, found.month_first) >= OTHER_ERA:
        return Read()
    return found


def _read(text: str, figures: bool) -> Read:
    if len(text) > LONGEST:
        return Read()
    plain = " ".join(text.split()).strip(" ,;")
    if not plain or not plain.isprintable() or (not plain.isascii() and any(map(_is_other_figure, plain))):
        return Read()  # Thai figures most often count years from another beginning
    try:
        if _ISO.fullmatch(plain) and FIRST_YEAR <= datetime.fromisoformat(plain).year <= LAST_YEAR:
            return Read(plain)
        if plain[0].isdecimal() and plain.isascii() and plain.replace(".", "", 1).isdecimal() and "." not in plain[:5]:
            return Read(_of_figures(plain)) if figures else Read()
        return _written(plain)
    except (ValueError, OverflowError):  # a thirteenth month, a 30th of February
        return Read()


def unread_because(text: str) -> str:
    """Why a date is none, in words."""
    if read_date(text):
        return "day and month may be either"
    late = read_date(text, typed=True)
    if late:
        year = int(max(late.iso, late.day_first, late.month_first)[:4])
        return f"the year {year} counts from another beginning ({year - 543} if that of the Buddhist era)"
    return "not a date that can be read"


def _is_other_figure(sign: str) -> bool:
    return sign.isdecimal() and not sign.isascii()


def following(text: str) -> str:
    """The year, month or day after one; empty for what is none of them, or the last."""
    parts = text.split("-")
    try:
        if not all(part.isascii() and part.isdecimal() for part in parts) or len(parts[0]) != 4:
            return ""
        numbers = [int(part) for part in parts]
        if len(numbers) == 3:
            return (date(*numbers) + timedelta(days=1)).isoformat()
        year, month = (numbers[0] + 1, 1) if len(numbers) == 1 else (numbers[0], numbers[1] + 1)
        if len(numbers) == 2:
            date(numbers[0], numbers[1], 1)
            year, month = (year + 1, 1) if month == 13 else (year, month)
        date(year, month, 1)
    except (ValueError, OverflowError, TypeError):
        return ""
    return f"{year:04}" if len(numbers) == 1 else f"{year:04}-{month:02}"


def _of_figures(text: str) -> str:
    """A number in a column of dates: a year, a day, or a time since 1970. Six figures may be too many things."""
    if len(text) == 4:
        return _day(text)
    if found := _PACKED.fullmatch(text):
        year, month, day, hour, minute, second, _ = found.groups()
        whole = _day(year, month, day)
        return whole if hour is None else f"{whole}T{time(int(hour), int(minute), int(second or 0)).isoformat()}"
    if found := _SECONDS.fullmatch(text):
        seconds = int(found[1]) if found[1] else int(found[2]) / 1000
        if EPOCH[0] <= seconds < EPOCH[1]:
            return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    return ""


def _written(text: str) -> Read:
    """A date with signs or words in it."""
    if found := _PACKED.fullmatch(text):
        year, month, day, hour, minute, second, zone = found.groups()
        moment = f"T{time(int(hour), int(minute), int(second or 0)).isoformat()}" if hour else ""
        return Read(_day(year, month, day) + moment + ("+00:00" if moment and zone else ""))
    rest, clock = _without_clock(_COMMENT.sub(" ", text))
    if clock is None:
        return Read()
    rest = rest.strip(" ,;")
    first, _, after = rest.partition(" ")
    if _folded(first.strip(".,")) in _DAY and after[:1].isdecimal():
        rest = after  # a day of the week before figures
    if found := _YEAR_FIRST.fullmatch(rest):
        whole = _day(found[1], found[3] or found[5], found[4])
        return Read() if clock and found[4] is None else Read(whole + clock)
    if found := _YEAR_LAST.fullmatch(rest):
        return _either(found, clock)
    if found := _MONTH_YEAR.fullmatch(rest):
        return Read() if clock else Read(_day(found[2], found[1]))
    return Read(_by_name(rest, clock))


def _either(found: re.Match[str], clock: str) -> Read:
    one, sign, other, year = found.groups()
    day_first, month_first = _possible(year, other, one), _possible(year, one, other)
    if day_first == month_first:
        return Read(day_first + clock) if day_first else Read()
    return Read("", day_first and day_first + clock, month_first and month_first + clock, sign == ".")


def _possible(year: str, month: str, day: str) -> str:
    try:
        return _day(year, month, day)
    except ValueError:
        return ""


def _day(year: str, month: str | None = None, day: str | None = None) -> str:
    """A year, a month or a day; ValueError where there is none such."""
    if not FIRST_YEAR <= int(year) <= LAST_YEAR:
        raise ValueError(year)
    whole = date(int(year), int(month or 1), int(day or 1)).isoformat()
    return whole if day else whole[:7] if month else whole[:4]


def _without_clock(text: str) -> tuple[str, str | None]:
    """A date without its time of day, and that as ISO 8601 has it; None where there is one that cannot be."""
    joined = re.sub(r"(?<=\d)[Tt](?=\d\d:?\d\d)", " ", text)
    found = _TIME.search(joined)
    if found is None:
        return text, ""
    before, after = joined[: found.start()], joined[found.end() :]
    if _TIME.search(after):
        return "", None
    half = (found["half"] or found["of"] or "").lower()
    hour = int(found["hour"] or found["only"])
    if half:
        if not 1 <= hour <= 12:
            return "", None
        hour = hour % 12 + 12 * (half == "p")
    fraction = (found["fraction"] or "")[:6]
    try:
        moment = time(hour, int(found["minute"] or 0), int(found["second"] or 0), int(fraction.ljust(6, "0") or 0))
    except ValueError:
        return "", None
    zone, rest = _zone(after)
    if zone is None:
        return "", None
    return f"{before.rstrip()} {rest.strip()}".strip(), f"T{moment.isoformat()}{zone}"


def _zone(text: str) -> tuple[str | None, str]:
    """The zone that follows on a time, as ISO 8601 has it, and what follows on that; None for one that cannot be."""
    words = text.split()
    if not words:
        return "", ""
    first = words[0].strip(".,")
    rest = words[1:]
    if _folded(first) in ("gmt", "utc", "ut") and rest and _OFFSET.fullmatch(rest[0]):
        first, rest = rest[0], rest[1:]
    if found := _OFFSET.fullmatch(first):
        hours, minutes = int(found["hours"]), int(found["minutes"] or 0)
        if hours > 15 or minutes > 59:
            return None, ""
        sign = -1 if found["sign"] == "-" else 1
        if rest and _folded(rest[0].strip(".,")) in (*_ZONES, *_UNSURE_ZONES):
            rest = rest[1:]  # -0500 EST
        return _shifted(sign * (60 * hours + minutes)), " ".join(rest)
    name = _folded(first)
    if name in _ZONES:
        if rest and _folded(rest[0]) in ("dst",):
            rest = rest[1:]
        return _shifted(60 * _ZONES[name]), " ".join(rest)
    if name in _UNSURE_ZONES:
        while rest and _folded(rest[0].strip(".,")) in _UNSURE_ZONES:
            rest = rest[1:]
        return "", " ".join(rest)
    return "", text


def _shifted(minutes: int) -> str:
    return datetime(2000, 1, 1, tzinfo=timezone(timedelta(minutes=minutes))).isoformat()[19:]


def _by_name(text: str, clock: str) -> str:
    """A date whose month has a name; the year has four figures, or two in the form that mail has."""
    pieces = [_folded(piece) for piece in _PIECE.findall(text)]
    pieces = [piece for piece in pieces if piece not in (",", ".", "-", "/", "'") and piece not in _SMALL_WORDS]
    if pieces and pieces[0] in _DAY and (pieces[0] not in _MONTH or sum(one in _MONTH for one in pieces) > 1):
        pieces = pieces[1:]
    kept: list[str] = []
    for piece in pieces:
        if piece in _ORDINAL and kept and kept[-1].isdecimal() and len(kept[-1]) < 3:
            continue
        kept.append(piece)
    months = [piece for piece in kept if piece in _MONTH]
    if len(months) != 1 or any(not piece.isdecimal() and piece not in _MONTH for piece in kept) or len(kept) > 3:
        return ""
    month, place = str(_MONTH[months[0]]), kept.index(months[0])
    numbers = [piece for piece in kept if piece.isdecimal()]
    if len(numbers) == 1:
        return _day(numbers[0], month) if len(numbers[0]) == 4 and not clock else ""
    if len(numbers) != 2:
        return ""
    one, other = numbers
    if place == 1 and len(one) == 4 and len(other) <= 2:  # 2025 Jan 22
        return _day(one, month, other) + clock
    if len(one) > 2 or place == 2:
        return ""
    if len(other) == 4:
        return _day(other, month, one) + clock
    if len(other) == 2 and clock and place == 1:  # 22 Jan 93 13:45: RFC 2822 says which century
        return _day(str(int(other) + (2000 if int(other) < 50 else 1900)), month, one) + clock
    return ""
