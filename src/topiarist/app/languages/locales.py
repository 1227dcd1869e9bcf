"""Numbers, shares and dates as a language writes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from topiarist.app import words

_DE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
_FR = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
_ES = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"


@dataclass(frozen=True)
class Locale:
    """How a language writes numbers and dates: signs between thousands and before decimals, months, orders."""

    language: str
    thousands: str
    decimal: str
    percent: str  # behind a number
    months: tuple[str, ...]  # none: as the phrase book has them
    moment: str = ""
    day: str = ""  # of an ISO date; nothing: as it is

    def signs(self, text: str) -> str:
        """A number that was written in English, as it is written here."""
        return text.translate({ord(","): self.thousands, ord("."): self.decimal})

    def number(self, value: float) -> str:
        """A number with signs between thousands."""
        return self.signs(words.number(value))

    def fine_percent(self, share: float) -> str:
        """A share in percent: small ones with a digit more, and nearly all is not all."""
        return self.signs(words.fine_percent(share)).replace("%", self.percent)

    def when(self, time: str, now: datetime | None = None) -> str:
        """A moment as people write it, where they are."""
        said = words.when(time, now)
        if not self.months:
            return said
        try:
            moment = datetime.fromisoformat(time).astimezone()
        except ValueError:
            return said
        year = f" {moment.year}" if f" {moment.year}," in said else ""
        month = self.months[moment.month - 1]
        return self.moment.format(day=moment.day, month=month, year=year, clock=f"{moment:%H:%M}")

    def date(self, date: str) -> str:
        """An ISO date, whole or of a month or a year alone, as people write it here."""
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
    "fr": Locale(
        "fr", "\u202f", ",", "\u202f%", tuple(_FR.split()),
        moment="{day} {month}{year}, {clock}", day="{day}/{month}/{year}",
    ),
    "es": Locale(
        "es", ".", ",", "\u00a0%", tuple(_ES.split()),
        moment="{day} de {month}{year}, {clock}", day="{day}/{month}/{year}",
    ),
}  # fmt: skip
