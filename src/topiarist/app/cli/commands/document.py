"""A document on the screen: what it says, which level each word belongs to, and why it is where it is."""

from __future__ import annotations

from typing import Any

from rich.style import Style
from rich.text import Text

from topiarist.app.cli.terminal.printing import counted, one_line
from topiarist.app.cli.terminal.screen import Screen, bar, path_of, percent
from topiarist.app.cli.using_options import ShowOptions
from topiarist.collection.collection import Collection
from topiarist.collection.describe.closeup import Look, look

SHOWN = 3_000  # characters of a text, unless all are wanted
SURE = 0.5  # probability of a level below which a word is not marked as its
# From general to special: brighter and stronger, so that the level can be told without the colour.
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
STYLES = ("dim", "cyan", "cyan underline", "bold cyan", "bold cyan underline", "bold cyan reverse")


def show(screen: Screen, collection: Collection, options: ShowOptions) -> None:
    """Print a document."""
    found = look(collection, options.thing)
    similar = collection.similar(found.document.id, options.number) if options.number else ()
    if options.json:
        screen.json(_told(found, similar))
        return
    document = found.document
    screen.print((one_line(document.title or document.id), "bold"))
    facts = [one_line(document.source), document.date, counted(len(document.text.split()), "word")]
    screen.print((" · ".join(fact for fact in [one_line(document.id), *facts] if fact), "dim"))
    for name, values in (("Labels", document.labels), ("Tags", found.tags)):
        if values:
            screen.print((f"{name}: ", "dim"), ", ".join(map(one_line, values)))
    _places(screen, found)
    _legend(screen, found)
    screen.print()
    _text(screen, found, whole=options.all)
    absent = [level for level in found.levels if level.absent]
    if absent:
        screen.heading("Expected but absent")
        for level in absent:
            screen.print((f"{one_line(level.name)}: ", "dim"), ", ".join(level.absent), indent=2)
    if similar:
        screen.heading("Like this")
        for hit in similar:
            screen.titled(f"  {hit.score:.2f}  ", hit.title, hit.id)
    place = found.places[0].topic if found.places else collection.outline.root
    screen.next(f"show FOLDER {place}", ("similar FOLDER {} --why", document.id))


def _places(screen: Screen, found: Look) -> None:
    screen.heading("Lies under")
    for place in found.places:
        pinned = "  pinned by people" if place.topic == found.pinned else ""
        screen.cut(
            f"  {percent(place.share):>5}  ", (f"{bar(place.share, 8):<8}", "green"),
            f"  {path_of(place.path)}  ", (f"(topic {place.topic}){pinned}", "dim"),
        )  # fmt: skip
    rest = 1.0 - sum(place.share for place in found.places)
    if rest > 0.001:
        screen.cut((f"  {percent(rest):>5}  {'':8}  rest", "dim"))


def _legend(screen: Screen, found: Look) -> None:
    """How levels look, and how much of the text each explains."""
    screen.heading("Words by level")
    for number, level in enumerate(found.levels):
        screen.cut(
            f"  {percent(level.share):>5}  ", (f"{bar(level.share, 8):<8}", "green"), f"  {number} ",
            (one_line(level.name), _style(number)), "" if screen.out.is_terminal else _raised(number, screen.ascii),
        )  # fmt: skip


def _text(screen: Screen, found: Look, *, whole: bool) -> None:
    """The text with its words marked, spacing kept; what a file says never moves the cursor."""
    source = found.document.text
    cut = source if whole or len(source) <= SHOWN else source[:SHOWN].rsplit(None, 1)[0]
    plain = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in cut)
    text, end = Text(), 0
    for mark in found.marks:
        if mark.end > len(plain):
            break
        sure = not mark.level or mark.probability >= SURE
        text.append(plain[end : mark.start])
        text.append(plain[mark.start : mark.end], _style(mark.level) if sure else None)
        if sure and not screen.out.is_terminal:
            text.append(_raised(mark.level, screen.ascii))
        end = mark.end
    text.append(plain[end:])
    for line in text.split("\n", allow_blank=True):
        screen.print(line)
    if len(cut) < len(source):
        screen.print((f"… {len(source) - len(cut):,} more characters: --all", "dim"))


def _style(level: int) -> str:
    return str(Style.parse(STYLES[min(level, len(STYLES) - 1)]))


def _raised(level: int, ascii: bool) -> str:
    """The level as a small figure behind a word, where there are no styles; nothing behind a general one."""
    return "" if not level else f"^{level}" if ascii else str(level).translate(RAISED)


def _told(found: Look, similar: Any) -> dict[str, Any]:
    document = found.document
    return {
        "id": document.id, "title": document.title, "source": document.source, "date": document.date,
        "labels": list(document.labels), "tags": list(found.tags), "pinned": found.pinned, "text": document.text,
        "places": [
            {"topic": place.topic, "path": list(place.path), "share": round(place.share, 6)} for place in found.places
        ],
        "levels": [
            {"level": number, "topic": level.topic, "name": level.name, "share": round(level.share, 6),
             "absent": list(level.absent)}
            for number, level in enumerate(found.levels)
        ],
        "words": [
            {"start": mark.start, "end": mark.end, "word": mark.word, "level": mark.level,
             "probability": round(mark.probability, 4)}
            for mark in found.marks
        ],
        "similar": [{"id": hit.id, "title": hit.title, "score": round(hit.score, 6)} for hit in similar],
    }  # fmt: skip
