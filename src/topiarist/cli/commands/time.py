"""Command ``topiarist time``: topics over time, bursts and new documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import FolderOptions, choice_option, examples, number_option, option, topic_option
from topiarist.cli.terminal.screen import Screen, opened
from topiarist.display.formats import count_noun, one_line, percent, share_between, times, times_between
from topiarist.errors import UsageError

if TYPE_CHECKING:
    from topiarist.collection.trends.newer import RecentChanges
    from topiarist.collection.trends.over_time import OverTime, WordTime

EPILOG = examples(
    "topiarist time mail.topiary",
    "topiarist time mail.topiary --by week --topic court",
    "topiarist time mail.topiary --since 2014-03",
    "topiarist time mail.topiary --since 2014-03 --until 2014-03 --json",
)
WRITES = ()
STEPS, PLAIN_STEPS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
NAME = 34  # columns of the name of a topic
UNITS = ("auto", "day", "week", "month", "year")


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Show topics over time: their shares with intervals, bursts, and what is new since a date."""

    by: str = choice_option(UNITS[0], "Length of a period. Default: chosen by the dates.", *UNITS)
    topic: str | None = topic_option()
    since: str | None = option(None, "List what is new since this date: 2014, 2014-03 or 2014-03-15.", metavar="DATE")
    until: str | None = option(None, "Last day of the new documents, with --since.", metavar="DATE")
    number: int = number_option(12, "Topics, bursts and words to show.")


def run(options: Options) -> None:
    from topiarist.collection.describe.statistics import Figures
    from topiarist.collection.trends.over_time import find_words_over_time

    if options.until and not options.since:
        raise UsageError("until when, but since when?", hint=f"--since {options.until} --until {options.until}")
    with opened(options) as (screen, collection):
        if options.since:
            changes = collection.new_since(options.since, options.until or "")
            if options.json:
                screen.json({"folder": collection.folder.display_path, **changes.to_dict()})
                return
            _show_new(screen, changes, options.number)
            screen.next(("find FOLDER {}", f"date:{changes.dates}"), "time FOLDER")
            return
        over_time = collection.over_time(options.by, topic=options.topic)
        top = None if options.topic is None else collection.topic(options.topic)
        words = () if top is None else find_words_over_time(Figures(collection), top, over_time.periods)
        if options.json:
            names = ("word", "kind", "first", "last")
            word_rows = [
                {name: getattr(word, name) for name in names} | {"times": round(word.times, 3)} for word in words
            ]
            screen.json({"folder": collection.folder.display_path, **over_time.to_dict(), "words": word_rows})
            return
        _show(screen, over_time, options.number)
        _show_words(screen, words, options.number)
    if len(over_time.periods):
        screen.next(f"time FOLDER --since {over_time.periods.names[-1]}", "time FOLDER --topic TOPIC", "explore FOLDER")


def _show(screen: Screen, over_time: OverTime, number: int) -> None:
    spread, table = over_time.periods, over_time.table
    if not len(spread):
        files = " except the date of its file" if spread.file_dated else ""
        screen.print(f"No document of this collection has a date{files}.")
    else:
        summary = f"{count_noun(int(spread.documents.sum()), 'document')} by {spread.unit}"
        screen.print(f"{summary}, {spread.names[0]} to {spread.names[-1]}: {count_noun(len(spread), spread.unit)}")
    for line in spread.left_out if len(spread) else ():
        screen.print(line, indent=2)
    if not len(spread):
        return
    mean = spread.documents @ table.share / max(int(spread.documents.sum()), 1)
    last = max(place for place, documents in enumerate(spread.documents.tolist()) if documents)
    topics = sorted(over_time.first_view, key=lambda place: -mean[place])
    screen.heading(f"Topics: share of the documents; in {spread.names[last]}")
    for place in topics[:number]:
        curve = sparkline(table.share[:, place].tolist(), spread.documents.tolist(), screen.ascii)
        share_text = share_between(*(float(side[last, place]) for side in (table.share, table.low, table.high)))
        screen.cut(f"{_named(screen, over_time.names[place])} {curve} {percent(mean[place]):>5}  {share_text}")
    if len(topics) > number:
        screen.print(f"and {len(topics) - number} more: --number {len(topics)}", indent=2)
    screen.heading("Bursts")
    for burst in over_time.bursts[:number]:
        period_text = burst.first if burst.first == burst.last else f"{burst.first} to {burst.last}"
        screen.cut(
            f"{_named(screen, burst.name)} {period_text}: {times(burst.times)} its usual {percent(burst.usual_share)}"
        )
    if not over_time.bursts:
        screen.print("None: no topic had much more than its usual share in any part of the time.", indent=2)
    elif len(over_time.bursts) > number:
        screen.print(f"and {len(over_time.bursts) - number} more: --number {len(over_time.bursts)}", indent=2)


def _show_words(screen: Screen, words: Sequence[WordTime], number: int) -> None:
    if words:
        screen.heading("Words that came and went")
    for word in words[:number]:
        period_text = word.first if word.first == word.last else f"{word.first} to {word.last}"
        screen.cut(f"  {one_line(word.word):<24} {word.kind}: {period_text}, {times(word.times)} its usual")


def _show_new(screen: Screen, changes: RecentChanges, number: int) -> None:
    end_text = f" to {changes.last}" if changes.last and changes.last != changes.first else ""
    lead = (
        f"In {changes.first}"
        if changes.last == changes.first
        else f"From {changes.first}{end_text}{'' if end_text else ' on'}"
    )
    screen.print(f"{lead}: {count_noun(changes.since, 'document')}, against {changes.before:,} before.")
    if changes.undated:
        screen.print(
            f"{count_noun(changes.undated, 'document')} without a date, or with a file date only: on neither side.",
            indent=2,
        )
    if changes.coarse:
        screen.print(f"{count_noun(changes.coarse, 'document')} with a date too coarse to compare.", indent=2)
    for title, topics in (("More of", changes.topics), ("Less of", changes.fewer)):
        if topics:
            screen.heading(title)
        for word in topics[:number]:
            change = "new" if changes.is_new(word) else times_between(word.times, word.times_low, word.times_high)
            share_text = f"{percent(word.others)} before, {share_between(word.share, word.low, word.high)} since"
            screen.cut(f"{_named(screen, word.name)} {share_text}: {change}")
    if not (changes.topics or changes.fewer) and changes.before and changes.since:
        screen.print("No topic has certainly more or less documents than before.")
    if changes.farther is not None:
        share_text = share_between(changes.farther.share, changes.farther.low, changes.farther.high)
        certainty_text = (
            "" if changes.farther.certain else f": no certain difference from the {changes.farther.known:,} before"
        )
        screen.print(f"By their vectors {share_text} lie farther from every topic than 95% did before{certainty_text}.")
        if changes.farther.unfitted:
            unfitted_text = f"{changes.farther.unfitted:,} of these {changes.farther.documents:,}"
            screen.print(
                f"{unfitted_text} were added since the tree was fitted: not part of the fit, they lie a little farther anyway.",
                indent=2,
            )
    if changes.words:
        screen.heading("New words")
        screen.hanging("  " + ", ".join(f"{one_line(word.word)} ({word.since:,}, {word.before:,} before)"
                                        for word in changes.words[:number]), 2)  # fmt: skip


def _named(screen: Screen, name: str) -> str:
    return f"  {screen.fits(name, NAME) if screen.width else one_line(name):<{NAME}}"


def sparkline(values: Sequence[float], documents: Sequence[int], ascii: bool = False) -> str:
    """Shares as a row of small bars, the largest is the highest; a gap where there were no documents."""
    steps, largest = PLAIN_STEPS if ascii else STEPS, max(values, default=0.0)
    high = len(steps) - 1
    return "".join(
        steps[round(high * value / largest) if largest > 0 else 0] if number else " "
        for value, number in zip(values, documents, strict=True)
    )
