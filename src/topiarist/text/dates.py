"""Dates as people and programs write them, in ISO 8601.

    2025-01-22T13:45:00+01:00 · 20250122 · 2025 · 2025-01       ISO 8601 and parts of it
    Wed, 22 Jan 2025 13:45:00 +0100 · 22. Januar 2025           names of months, in seven languages
    22/01/2025 · 1/22/2025 · 05.06.2025                         day or month first: all values of a column decide it
    1737550000 · 1737550000000                                  seconds or milliseconds since 1970, in a column of dates
    22 Jan 25 · 22.01.25 · 22/01/25                             years of two digits: 1950 to 2049

A local time keeps its zone: the day is the one in the text. A number of two digits at the start of 22/01/25 can be the
year. Such a date is read if the order of day and month is requested, or if other dates of its source decide it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache

DAY_FIRST, MONTH_FIRST, MIXED, AUTO = "day-first", "month-first", "mixed", "auto"
ORDERS = (DAY_FIRST, MONTH_FIRST)
MAX_LENGTH = 100  # characters of a date
MIN_YEAR, MAX_YEAR = 1000, 2999
OTHER_ERA = "2400"  # later years of documents belong to another era: 2568 is 2025 in Thailand
EPOCH_SECONDS = (100_000_000, 1_900_000_000)  # 1973 to 2030; larger numbers of ten digits can be a day and an hour

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
_WEEKDAYS = (
    "monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun "
    "montag mo dienstag di mittwoch mi donnerstag do freitag fr samstag sa sonnabend sonntag so "
    "lundi lun mardi mar mercredi mer jeudi jeu vendredi ven samedi sam dimanche dim "
    "lunes martes miércoles miercoles mié mie jueves jue viernes vie sábado sabado sáb sab domingo dom "
    "lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi gio venerdì venerdi sabato domenica "
    "segunda terça quarta quinta sexta feira"
)
_SMALL_WORDS = "de del le la den der of the at um à a as las el on am o uhr h and"
_IGNORED = frozenset((*_SMALL_WORDS.split(), *",.-/'"))
_ZONE_HOURS = {"z": 0, "ut": 0, "utc": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6}
_ZONE_HOURS |= {"pst": -8, "pdt": -7}
# Names with several meanings, or without a standard: such a time keeps no zone.
_ZONE_NAMES = (
    "bst ist met mest cet cest wet west eet eest msk jst kst aest aedt acst awst hst akst akdt nzst nzdt sst sgt hkt "
    "ast adt nst ndt mez mesz turkey eastern pacific dst"
)
_AMBIGUOUS_ZONES = frozenset(_ZONE_NAMES.split())


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


_MONTH_NUMBERS = {_fold(name): number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_WEEKDAY_NAMES = frozenset(map(_fold, _WEEKDAYS.split()))

_TIME = re.compile(
    r"(?<![\d:.,+-])(?:(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?|(?P<only>\d{1,2})\s?(?P<of>[ap])\.?m\b\.?)(?![\d:])",
    re.IGNORECASE,
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{6})?(?:[+-](?:0\d|1[0-5]):\d\d)?)?", re.ASCII)
_OFFSET = re.compile(r"(?:(?:gmt|utc)\s?)?(?P<sign>[+-])(?P<hours>\d\d?)(?::?(?P<minutes>\d\d))?$", re.IGNORECASE)
_PACKED = re.compile(r"(\d{4})(\d\d)(\d\d)(?:[T ]?(\d\d)(\d\d)(\d\d)?)?(Z?)", re.IGNORECASE)
_SECONDS = re.compile(r"(\d{9,10})(?:\.\d+)?|(\d{12,13})(?:\.0+)?")
_IN_NAME = re.compile(r"(?<![0-9])(?:(?:19|20)\d\d([-_.]?)\d\d\1\d\d|\d{1,2}\.\d{1,2}\.(?:19|20)\d\d)(?![0-9])")
_COMMENT = re.compile(r"\([^()]*\)")
_WORD = re.compile(r"\d+|[^\W\d_]+|\S")
_ORDINAL = re.compile(r"(?<!\S)(\d{1,2})(?: (?:st|nd|rd|th|er|ere))+(?!\S)")
_NUMBER_FORMS = (
    r"(?P<year>\d{4})(?:(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2}))?",
    r"(?P<year>\d{4})[-/](?P<month>\d{1,2})",
    r"(?P<month>\d{1,2})[-/.](?P<year>\d{4})",
    r"(?P<first>\d{1,2})(?P<sign>[-/.])(?P<second>\d{1,2})(?P=sign)(?:(?P<year>\d{4})|(?P<short_year>\d\d))",
)
_NAME_FORMS = (  # a month is its number after @
    r"(?P<day>\d{1,2}) @(?P<month>\d+) (?P<year>\d{4})",
    r"@(?P<month>\d+) (?P<day>\d{1,2}) (?P<year>\d{4})",
    r"(?P<year>\d{4}) @(?P<month>\d+) (?P<day>\d{1,2})",
    r"@(?P<month>\d+) (?P<year>\d{4})",
    r"(?P<year>\d{4}) @(?P<month>\d+)",
    r"(?P<day>\d{1,2}) @(?P<month>\d+) (?P<short_year>\d\d)",
    r"@(?P<month>\d+) (?P<day>\d{1,2}) (?P<short_year>\d\d)",
)


@dataclass(frozen=True, slots=True)
class ParsedDate:
    """A date in ISO 8601, or its two readings if day and month are ambiguous.

    A date that only one order allows has one empty reading. A text that is no date has three empty fields.
    """

    iso: str = ""
    day_first: str = ""
    month_first: str = ""
    has_dots: bool = False  # between day and month: no language writes the month first then
    has_short_year: bool = False  # two digits, from 1950 to 2049

    def __bool__(self) -> bool:
        return bool(self.iso or self.day_first or self.month_first)

    def resolve(self, order: str) -> str:
        """Return the date in ISO 8601; an empty string if the order does not allow it or does not decide it."""
        if self.iso:
            return self.iso
        if order == MIXED:
            return "" if self.day_first and self.month_first else self.day_first or self.month_first
        return {DAY_FIRST: self.day_first, MONTH_FIRST: self.month_first}.get(order, "")


@lru_cache(maxsize=8192)
def read_date(text: str, *, figures: bool = True, typed: bool = False) -> ParsedDate:
    """Return the date in a text.

    ``figures``: also accept 2025, 20250122, years of two digits and seconds since 1970. ``typed``: a user typed the text
    and can mean any year; a late year of a document belongs to another era.
    """
    parsed = _parse(text, figures)
    if parsed and not typed and max(parsed.iso, parsed.day_first, parsed.month_first) >= OTHER_ERA:
        return ParsedDate()
    return parsed


def find_date_in_name(name: str) -> str:
    """Return the day in a file name, in ISO 8601; an empty string if the name holds none or several.

    Year, month and day with one separator or none, or day, month and year with dots.
    """
    texts = [match[0].replace("_", "-").replace(".", "-") for match in _IN_NAME.finditer(name)]
    days = {read_date(text).resolve(DAY_FIRST) for text in texts} - {""}
    return days.pop() if len(days) == 1 else ""


def is_month(word: str) -> bool:
    """Return whether a word is the name of a month; short ones such as *may* are other words, too."""
    return len(word) > 3 and _fold(word) in _MONTH_NUMBERS


def explain_unread_date(text: str) -> str:
    """Return the reason why a text is not read as a date."""
    if parsed := read_date(text):
        return (
            "the year has two digits, and the order of day and month is not known"
            if parsed.has_short_year
            else "day and month may be either"
        )
    late = read_date(text, typed=True)
    if late:
        year = int(max(late.iso, late.day_first, late.month_first)[:4])
        return f"the year {year} belongs to another era ({year - 543} if it is the Buddhist era)"
    return "not a date that can be read"


def get_next_date(text: str) -> str:
    """Return the year, month or day after a date of the same form; an empty string for any other text."""
    parts = text.split("-")
    try:
        if not all(part.isascii() and part.isdecimal() for part in parts) or len(parts[0]) != 4:
            return ""
        year, month, day = (*map(int, parts), *([1] * (3 - len(parts))))
        start = date(year, month, day)
        if len(parts) == 3:
            return (start + timedelta(days=1)).isoformat()
        year, month = (year + 1, 1) if len(parts) == 1 or month == 12 else (year, month + 1)
        return date(year, month, 1).isoformat()[: 4 if len(parts) == 1 else 7]
    except (ValueError, OverflowError):
        return ""


def _parse(text: str, figures: bool) -> ParsedDate:
    """Return the date in a text; an empty result for other texts and years outside 1000 to 2999."""
    if len(text) > MAX_LENGTH:
        return ParsedDate()
    plain = " ".join(text.split()).strip(" ,;")
    if not plain or not plain.isprintable():
        return ParsedDate()
    if not plain.isascii() and any(sign.isdecimal() and not sign.isascii() for sign in plain):
        return ParsedDate()  # Thai digits mostly count years of another era
    try:
        if _ISO.fullmatch(plain) and MIN_YEAR <= datetime.fromisoformat(plain).year <= MAX_YEAR:
            return ParsedDate(plain)
        if plain[0].isdecimal() and plain.isascii() and plain.replace(".", "", 1).isdecimal() and "." not in plain[:5]:
            return ParsedDate(_parse_number(plain)) if figures else ParsedDate()
        if match := _PACKED.fullmatch(plain):
            return ParsedDate(_parse_packed(match))
        parsed = _parse_form(plain)
        return ParsedDate() if parsed.has_short_year and not figures else parsed
    except (ValueError, OverflowError):  # a thirteenth month, a 30th of February
        return ParsedDate()


def _parse_number(text: str) -> str:
    """Return a year, a day or a time since 1970. Six digits have too many meanings."""
    if len(text) == 4:
        return _to_iso(text)
    if match := _PACKED.fullmatch(text):
        return _parse_packed(match)
    if match := _SECONDS.fullmatch(text):
        seconds = int(match[1]) if match[1] else int(match[2]) / 1000
        if EPOCH_SECONDS[0] <= seconds < EPOCH_SECONDS[1]:
            return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    return ""


def _parse_packed(match: re.Match[str]) -> str:
    """Return the ISO form of digits such as 20140305 or 20140305T1230Z; raise ValueError on bad dates."""
    year, month, day, hour, minute, second, zone = match.groups()
    if hour is None:
        return _to_iso(year, month, day)
    clock = time(int(hour), int(minute), int(second or 0)).isoformat()
    return f"{_to_iso(year, month, day)}T{clock}{'+00:00' * bool(zone)}"


def _parse_form(text: str) -> ParsedDate:
    """Return the date in a text with separators or month names; an empty result if no form matches."""
    rest, clock = _split_clock(_COMMENT.sub(" ", text))
    rest = rest.strip(" ,;")
    weekday, _, after = rest.partition(" ")
    if (name := _fold(weekday.strip(".,"))) in _WEEKDAY_NAMES and after[:1].isdecimal():
        has_month = name not in _MONTH_NUMBERS or _match_form(_NUMBER_FORMS, after).get("sign")
        rest = after if has_month else rest  # "mar" is March and mardi
    parts = _match_form(_NUMBER_FORMS, rest) or _match_form(_NAME_FORMS, _normalise_names(rest))
    if "first" in parts:
        return _parse_both_orders(parts, clock)
    if not parts or (clock and not parts.get("day")):
        return ParsedDate()
    iso = _to_iso(_read_year(parts), parts.get("month"), parts.get("day")) + clock
    # 22 Jan 93 13:45 is the form of e-mail, whose standard names the century.
    return ParsedDate(iso, has_short_year=bool(parts.get("short_year")) and not clock)


def _read_year(parts: dict[str, str]) -> str:
    """Return the year of a date; two digits are a year from 1950 to 2049, as in e-mail."""
    short = parts.get("short_year")
    return str(int(short) + (2000 if int(short) < 50 else 1900)) if short else parts["year"]


def _match_form(forms: tuple[str, ...], text: str) -> dict[str, str]:
    match = next(filter(None, (re.fullmatch(form, text) for form in forms)), None)
    return match.groupdict() if match else {}


def _parse_both_orders(parts: dict[str, str], clock: str) -> ParsedDate:
    """Return both readings of a date such as 3/4/2014, or one date if the readings agree."""
    readings = []
    for month, day in ((parts["second"], parts["first"]), (parts["first"], parts["second"])):
        try:
            readings.append(_to_iso(_read_year(parts), month, day) + clock)
        except ValueError:
            readings.append("")
    is_short = bool(parts["short_year"])
    if readings[0] == readings[1] and not is_short:
        return ParsedDate(readings[0])
    return ParsedDate("", readings[0], readings[1], parts["sign"] == ".", is_short) if any(readings) else ParsedDate()


def _to_iso(year: str, month: str | None = None, day: str | None = None) -> str:
    """Return a year, a month or a day in ISO 8601; ValueError if it does not exist."""
    if not MIN_YEAR <= int(year) <= MAX_YEAR:
        raise ValueError(year)
    iso = date(int(year), int(month or 1), int(day or 1)).isoformat()
    return iso if day else iso[:7] if month else iso[:4]


def _normalise_names(text: str) -> str:
    """Return the words of a date with months as numbers, without weekdays, ordinals and words such as *of*."""
    words = [word for word in map(_fold, _WORD.findall(text)) if word not in _IGNORED]
    n_months = sum(word in _MONTH_NUMBERS for word in words)
    if words and words[0] in _WEEKDAY_NAMES and (words[0] not in _MONTH_NUMBERS or n_months > 1):
        words = words[1:]
    return _ORDINAL.sub(
        r"\1", " ".join(f"@{_MONTH_NUMBERS[word]}" if word in _MONTH_NUMBERS else word for word in words)
    )


def _split_clock(text: str) -> tuple[str, str]:
    """Return a date without its time of day, and that time in ISO 8601; ValueError if the time does not exist."""
    text_with_space = re.sub(r"(?<=\d)[Tt](?=\d\d:?\d\d)", " ", text)
    match = _TIME.search(text_with_space)
    if match is None:
        return text, ""
    before, after = text_with_space[: match.start()], text_with_space[match.end() :]
    if _TIME.search(after):
        raise ValueError("two times")
    hour = int(match["hour"] or match["only"])
    if half := (match["half"] or match["of"] or "").lower():
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + 12 * (half == "p")
    fraction = (match["fraction"] or "")[:6].ljust(6, "0")
    clock = time(hour, int(match["minute"] or 0), int(match["second"] or 0), int(fraction))
    zone, rest = _split_zone(after)
    return f"{before.rstrip()} {rest.strip()}".strip(), f"T{clock.isoformat()}{zone}"


def _split_zone(text: str) -> tuple[str, str]:
    """Return the zone after a time in ISO 8601, and the text after the zone; ValueError if it does not exist."""
    words = text.split()
    names = [_fold(word.strip(".,")) for word in words]
    if len(words) > 1 and names[0] in ("gmt", "utc", "ut") and _OFFSET.fullmatch(words[1]):
        words, names = words[1:], names[1:]
    if not words:
        return "", ""
    if match := _OFFSET.fullmatch(words[0].strip(".,")):
        hours, minutes = int(match["hours"]), int(match["minutes"] or 0)
        if hours > 15 or minutes > 59:
            raise ValueError(text)
        is_named = len(names) > 1 and names[1] in _AMBIGUOUS_ZONES | _ZONE_HOURS.keys()  # -0500 EST
        offset = (60 * hours + minutes) * (-1 if match["sign"] == "-" else 1)
        return _format_offset(offset), " ".join(words[1 + is_named :])
    if names[0] in _ZONE_HOURS:
        is_summer = len(words) > 1 and _fold(words[1]) == "dst"
        return _format_offset(60 * _ZONE_HOURS[names[0]]), " ".join(words[1 + is_summer :])
    if names[0] not in _AMBIGUOUS_ZONES:
        return "", text
    n_names = next((place for place, name in enumerate(names) if name not in _AMBIGUOUS_ZONES), len(names))
    return "", " ".join(words[n_names:])


def _format_offset(minutes: int) -> str:
    return datetime(2000, 1, 1, tzinfo=timezone(timedelta(minutes=minutes))).isoformat()[19:]
