"""Formats of numbers, shares and dates in each language."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from topiarist.display import formats as words

_DE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"


@dataclass(frozen=True)
class Locale:
    """Formats of one language for numbers and dates."""

    language: str
    thousands: str  # separator
    decimal: str  # separator
    percent: str  # suffix
    months: tuple[str, ...]  # empty for English
    moment: str = ""
    day: str = ""  # order of an ISO date; empty keeps ISO

    def signs(self, text: str) -> str:
        """Return an English number with the separators of this language."""
        return text.translate({ord(","): self.thousands, ord("."): self.decimal})

    def number(self, value: float) -> str:
        return self.signs(words.number(value))

    def fine_percent(self, share: float) -> str:
        """Return a share in percent; small shares have one decimal, nearly all is >99%."""
        return self.signs(words.fine_percent(share)).replace("%", self.percent)

    def format_time(self, time: str, now: datetime | None = None) -> str:
        """Return a moment in local time with translated month; a non-ISO text unchanged."""
        text = words.format_time(time, now)
        if not self.months:
            return text
        try:
            moment = datetime.fromisoformat(time).astimezone()
        except ValueError:
            return text
        year = f" {moment.year}" if f" {moment.year}," in text else ""
        month = self.months[moment.month - 1]
        return self.moment.format(day=moment.day, month=month, year=year, clock=f"{moment:%H:%M}")

    def date(self, date: str) -> str:
        """Return an ISO date or month in the format of this language; other texts unchanged."""
        parts = date[:10].split("-")
        if not self.day or not all(part.isdigit() for part in parts) or len(parts[0]) != 4:
            return date
        if len(parts) < 3:
            return "/".join(reversed(parts)) if len(parts) == 2 else date
        return self.day.format(year=parts[0], month=parts[1], day=parts[2]) + date[10:]


LOCALES = {
    "en": Locale("en", ",", ".", "%", ()),
    "de": Locale(
        "de", ".", ",", "\u00a0%", tuple(_DE.split()),
        moment="{day}. {month}{year}, {clock} Uhr", day="{day}.{month}.{year}",
    ),
}  # fmt: skip
