"""``topiarist time``: when was what spoken of, what came in bursts, and what is new?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from topiarist import collection as door
from topiarist.app.cli.options import UNDER, FolderOptions, examples, option, printing
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, one_line, percent, share_between, times, times_between
from topiarist.errors import UsageError

EPILOG = examples(
    "topiarist time mail.topiary",
    "topiarist time mail.topiary --by week --topic court",
    "topiarist time mail.topiary --since 2014-03",
    "topiarist time mail.topiary --since 2014-03 --until 2014-03 --json",
)
WRITES = ()
STEPS, PLAIN_STEPS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
NAME = 34  # columns of the name of a topic


class Unit(StrEnum):
    """How long a period is."""

    AUTO = "auto"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Show topics over time: their shares with intervals, bursts, and what is new since a date."""

    by: Annotated[Unit, option("How long a period is; chosen by the dates unless it is said.", "--by")] = Unit.AUTO
    topic: Annotated[str | None, UNDER] = None
    since: Annotated[str | None, option("What is new since then: 2014, 2014-03 or 2014-03-15.", metavar="DATE")] = None
    until: Annotated[str | None, option("The last day of what is new, with --since.", metavar="DATE")] = None
    number: Annotated[int, printing("Topics, bursts and words to show.", "-n", "--number", min=1)] = 12


def run(options: Options) -> None:
    """Look, print."""
    if options.until and not options.since:
        raise UsageError("until when, but since when?", hint=f"--since {options.until} --until {options.until}")
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        if options.since:
            found = collection.new_since(options.since, options.until or "")
            if options.json:
                screen.json({"folder": collection.folder.shown, **found.to_dict()})
                return
            _show_new(screen, found, options.number)
            screen.next(("find FOLDER {}", f"date:{found.dates}"), "time FOLDER")
            return
        known = collection.over_time(str(options.by), topic=options.topic)
        top = None if options.topic is None else collection.topic(options.topic)
        words = () if top is None else door.words_over_time(door.Figures(collection), top, known.periods)
        if options.json:
            screen.json({"folder": collection.folder.shown, **known.to_dict(), "words": [_word(one) for one in words]})
            return
        _show(screen, known, options.number)
        _show_words(screen, words, options.number)
    if len(known.periods):
        screen.next(f"time FOLDER --since {known.periods.names[-1]}", "time FOLDER --topic TOPIC", "explore FOLDER")


def _word(one: door.WordTime) -> dict[str, Any]:
    return {"word": one.word, "kind": one.kind, "first": one.first, "last": one.last, "times": round(one.times, 3)}


def _show(screen: Screen, known: door.OverTime, number: int) -> None:
    spread, table = known.periods, known.table
    if not len(spread):
        screen.print("No document of this collection has a date.")
    else:
        said = f"{counted(int(spread.documents.sum()), 'document')} by {spread.unit}"
        screen.print(f"{said}, {spread.names[0]} to {spread.names[-1]}: {counted(len(spread), spread.unit)}")
    for line in spread.left_out if len(spread) else ():
        screen.print(line, indent=2)
    if not len(spread):
        return
    mean = spread.documents @ table.share / max(int(spread.documents.sum()), 1)
    last = max(place for place, documents in enumerate(spread.documents.tolist()) if documents)
    shown = sorted(known.shown, key=lambda place: -mean[place])
    screen.heading(f"Topics: share of the documents; in {spread.names[last]}")
    for place in shown[:number]:
        curve = sparkline(table.share[:, place].tolist(), spread.documents.tolist(), screen.ascii)
        between = share_between(*(float(side[last, place]) for side in (table.share, table.low, table.high)))
        screen.cut(f"{_named(screen, known.names[place])} {curve} {percent(mean[place]):>5}  {between}")
    if len(shown) > number:
        screen.print(f"and {len(shown) - number} more: --number {len(shown)}", indent=2)
    screen.heading("Bursts")
    for burst in known.bursts[:number]:
        when = burst.first if burst.first == burst.last else f"{burst.first} to {burst.last}"
        screen.cut(f"{_named(screen, burst.name)} {when}: {times(burst.times)} its usual {percent(burst.usual)}")
    if not known.bursts:
        screen.print("None: no topic had much more than its usual share in any part of the time.", indent=2)
    elif len(known.bursts) > number:
        screen.print(f"and {len(known.bursts) - number} more: --number {len(known.bursts)}", indent=2)


def _show_words(screen: Screen, words: Sequence[door.WordTime], number: int) -> None:
    if words:
        screen.heading("Words that came and went")
    for one in words[:number]:
        when = one.first if one.first == one.last else f"{one.first} to {one.last}"
        screen.cut(f"  {one_line(one.word):<24} {one.kind}: {when}, {times(one.times)} its usual")


def _show_new(screen: Screen, found: door.Newer, number: int) -> None:
    until = f" to {found.last}" if found.last and found.last != found.first else ""
    lead = f"In {found.first}" if found.last == found.first else f"From {found.first}{until}{'' if until else ' on'}"
    screen.print(f"{lead}: {counted(found.since, 'document')}, against {found.before:,} before.")
    if found.undated:
        screen.print(f"{counted(found.undated, 'document')} without a date: on neither side.", indent=2)
    if found.coarse:
        screen.print(f"{counted(found.coarse, 'document')} with a date too coarse to tell the side.", indent=2)
    for title, topics in (("More of", found.topics), ("Less of", found.fewer)):
        if topics:
            screen.heading(title)
        for one in topics[:number]:
            change = "new" if one.new else times_between(one.times, one.times_low, one.times_high)
            said = f"{percent(one.before)} before, {share_between(one.since, one.since_low, one.since_high)} since"
            screen.cut(f"{_named(screen, one.name)} {said}: {change}")
    if not (found.topics or found.fewer) and found.before and found.since:
        screen.print("No topic has certainly more or less documents than before.")
    if found.farther is not None:
        said = share_between(found.farther.share, found.farther.low, found.farther.high)
        sure = "" if found.farther.certain else f": no certain difference from the {found.farther.known:,} before"
        screen.print(f"By their vectors {said} lie farther from every topic than 95 % did before{sure}.")
        if found.farther.unfitted:
            some = f"{found.farther.unfitted:,} of these {found.farther.documents:,}"
            screen.print(
                f"{some} were added since the tree was fitted: not part of the fit, they lie a little farther anyway.",
                indent=2,
            )
    if found.words:
        screen.heading("New words")
        screen.hanging("  " + ", ".join(f"{one_line(one.word)} ({one.since:,}, {one.before:,} before)"
                                        for one in found.words[:number]), 2)  # fmt: skip


def _named(screen: Screen, name: str) -> str:
    return f"  {screen.fits(name, NAME) if screen.width else one_line(name):<{NAME}}"


def sparkline(values: Sequence[float], documents: Sequence[int], ascii: bool = False) -> str:
    """Shares as a row of small bars, the largest is the highest; a gap where there were no documents."""
    steps, most = PLAIN_STEPS if ascii else STEPS, max(values, default=0.0)
    high = len(steps) - 1
    return "".join(
        steps[round(high * value / most) if most > 0 else 0] if number else " "
        for value, number in zip(values, documents, strict=True)
    )
