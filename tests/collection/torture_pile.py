"""A pile as people have it: dates in six styles, five languages, copies, navigation bars, pages; what must come out.

    python -m tests.collection.torture_pile FOLDER

writes it. Every file is made from words of chance, always the same. ``ROWS`` is the table: a row for each document.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

WORDS = {  # function words, and others
    "English": ("the of and to was for that with from they their this which have not", "harbour market engine river"
                " teacher garden window letter bridge winter"),
    "German": ("der die und das nicht mit von für eine sich auch werden dem ist noch", "Hafen Rechnung Werkstatt Garten"
               " Lehrerin Fenster Brief Brücke Winter Zeitung"),
    "French": ("le les des une dans pour qui sur avec pas sont cette plus par aux", "rivière moteur jardin lettre hiver"
               " fenêtre voiture école montagne cuisine"),
    "Spanish": ("el los las una que por con para del como pero más sus este también", "puerto cocina ventana carta"
                " puente invierno maestro jardín camino playa"),
    "Italian": ("il gli della che per con una sono nel anche più questo alla dei come", "giardino finestra lettera"
                " ponte inverno maestra strada cucina spiaggia porto"),
}  # fmt: skip
MONTHS = ("Januar", "Februar", "März", "April", "Mai", "Juni")
STYLES: dict[str, Callable[[date], str]] = {
    "iso": lambda day: day.isoformat(),
    "mail": lambda day: datetime(day.year, day.month, day.day, 9, 30, tzinfo=UTC).strftime(
        "%a, %d %b %Y %H:%M:%S +0000"
    ),
    "day-first": lambda day: day.strftime("%d/%m/%Y"),
    "month-first": lambda day: day.strftime("%m/%d/%Y"),
    "words": lambda day: f"{day.day}. {MONTHS[day.month - 1]} {day.year}",
    "compact": lambda day: day.strftime("%Y%m%d"),
}
DAYS = (date(2025, 1, 22), date(2025, 2, 3), date(2024, 5, 30), date(2025, 4, 17))
NAVIGATION, FOOTER = "Home\nProducts\nContact\n", "\nThis page is the property of Example Ltd."


@dataclass(frozen=True)
class Row:
    """What must come out of a document: its date, its language, the document that it is a copy of, its pages."""

    id: str
    date: str = ""
    language: str = "English"
    copy_of: str = ""
    bars: bool = False  # whether lines of it are not counted
    pages: int = 0


def prose(language: str, seed: str, words: int = 60) -> str:
    """Words of a language in an order of chance."""
    chance, (grammar, others) = random.Random(seed), WORDS[language]
    made = [chance.choice(grammar.split() if place % 2 else others.split()) for place in range(words)]
    return f"{' '.join(made).capitalize()}."


def names(seed: str, number: int = 60) -> str:
    """Words that no other document has."""
    chance = random.Random(seed)
    made = ("".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(3)) for _ in range(number))
    return " ".join(made)


def _tables(place: Path) -> list[Row]:
    rows = []
    for style, written in STYLES.items():
        with open(place / f"{style}.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", "date", "text"])
            for number, day in enumerate(DAYS):
                id = f"{style}-{number}"
                table.writerow([id, written(day), prose("English", id)])
                rows.append(Row(id, day.isoformat()))
            table.writerow([f"{style}-none", "soon", prose("English", f"{style}-none")])
            rows.append(Row(f"{style}-none"))
    return rows


def _languages(place: Path) -> list[Row]:
    rows = []
    for language in WORDS:
        for number in range(8):
            name = f"{language.lower()}-{number}.txt"
            (place / name).write_text(prose(language, name), encoding="utf-8")
            rows.append(Row(f"pile/{name}", language=language))
    return rows


def _copies(place: Path) -> list[Row]:
    (place / "copies.jsonl").write_text(
        "\n".join(
            json.dumps({"id": id, "text": text})
            for id, text in (
                ("first", prose("English", "first", 120)),
                ("exact", prose("English", "first", 120)),
                ("near", prose("English", "first", 120).replace("harbour", "quay", 2)),
                ("other", prose("English", "other", 120)),
            )
        ),
        encoding="utf-8",
    )
    return [Row("first"), Row("exact", copy_of="first"), Row("near", copy_of="first"), Row("other")]


def _bars(place: Path) -> list[Row]:
    rows = []
    for number in range(14):
        name = f"page-{number:02d}.txt"
        bars = number < 12
        body = f"{prose('English', name)}\n{names(name)}"
        (place / name).write_text(f"{NAVIGATION}{body}{FOOTER}" if bars else body, encoding="utf-8")
        rows.append(Row(f"pile/{name}", bars=bars))
    return rows


def _pages(place: Path) -> list[Row]:
    pages = [prose("English", f"report{number}", 220) for number in range(4)]
    (place / "report.txt").write_text("\n\f".join(pages), encoding="utf-8")
    return [Row("pile/report.txt", pages=4)]


def build(folder: Path) -> list[Row]:
    """Write the pile; what must come out of it."""
    folder.mkdir(parents=True, exist_ok=True)
    return [row for part in (_tables, _languages, _copies, _bars, _pages) for row in part(folder)]


if __name__ == "__main__":
    print(len(build(Path(sys.argv[1]))), "documents")
