"""Command ``topiarist time``: topics over time, bursts and new documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import FolderOptions, choice_option, examples, number_option, option, topic_option
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_noun, one_line, percent, share_between, times, times_between
from topiarist.errors import UsageError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.trends.newer import DistanceShift
    from topiarist.collection.trends.over_time import OverTime, TopicBurst, WordTime

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
    """Show topics over time: shares with intervals, bursts, and changes since a date."""

    by: str = choice_option(UNITS[0], "Length of a period. Default: chosen by the dates.", *UNITS)
    topic: str | None = topic_option()
    since: str | None = option(
        None, "Compare documents since this date, such as 2014-03, with earlier ones.", metavar="DATE"
    )
    until: str | None = option(None, "Last date of the newer documents, with --since.", metavar="DATE")
    number: int = number_option(12, "Topics, bursts and words to show.")


def run(options: Options) -> None:
    """Print topics over time, or the changes since a date. Raise UsageError for an end without a start."""
    if options.until and not options.since:
        raise UsageError(
            "--until requires --since", hint=f"Add --since, such as --since {options.until} --until {options.until}."
        )
    with open_collection(options) as (screen, collection):
        (_show_changes if options.since else _show_topics)(screen, collection, options)


def _show_topics(screen: Screen, collection: Collection, options: Options) -> None:
    """Print shares over time and bursts; for one topic also its words that came and went."""
    from topiarist.collection.describe.statistics import Figures
    from topiarist.collection.trends.over_time import find_words_over_time

    over_time = collection.over_time(options.by, topic=options.topic)
    top = None if options.topic is None else collection.topic(options.topic)
    words = () if top is None else find_words_over_time(Figures(collection), top, over_time.periods)
    if options.json:
        rows = [
            {
                "word": word.word,
                "kind": word.kind,
                "first": word.first,
                "last": word.last,
                "times": round(word.times, 3),
            }
            for word in words
        ]
        screen.json({"folder": collection.folder.display_path, **over_time.to_dict(), "words": rows})
        return
    periods = over_time.periods
    if not len(periods):
        files = " except the date of its file" if periods.file_dated else ""
        screen.print(f"No document of this collection has a date{files}.")
        return
    summary = f"{count_noun(int(periods.documents.sum()), 'document')} by {periods.unit}"
    screen.print(f"{summary}, {periods.names[0]} to {periods.names[-1]}: {count_noun(len(periods), periods.unit)}")
    for sentence in periods.left_out:
        screen.print(sentence, indent=2)
    _print_shares(screen, over_time, options.number)
    _print_bursts(screen, over_time.bursts, options.number)
    if words:
        screen.heading("Words that came and went")
    for word in words[: options.number]:
        screen.cut(f"  {one_line(word.word):<24} {word.kind}: {_format_span(word)}, {times(word.times)} its usual")
    screen.print_next(f"time FOLDER --since {periods.names[-1]}", "time FOLDER --topic TOPIC", "explore FOLDER")


def _print_shares(screen: Screen, over_time: OverTime, number: int) -> None:
    """Print topics with a small curve, their mean share and the share in the last period."""
    periods, table = over_time.periods, over_time.table
    mean = periods.documents @ table.share / max(int(periods.documents.sum()), 1)
    last = max(place for place, documents in enumerate(periods.documents.tolist()) if documents)
    screen.heading(f"Topics: share of the documents; in {periods.names[last]}")

    def print_topic(place: int) -> None:
        curve = sparkline(table.share[:, place].tolist(), periods.documents.tolist(), screen.ascii)
        share_text = share_between(*(float(side[last, place]) for side in (table.share, table.low, table.high)))
        screen.cut(f"{_format_name(screen, over_time.names[place])} {curve} {percent(mean[place]):>5}  {share_text}")

    topics = sorted(over_time.first_view, key=lambda place: -mean[place])
    screen.list_items(topics, number, print_topic, f"  {{}}: --number {len(topics)}")


def _print_bursts(screen: Screen, bursts: Sequence[TopicBurst], number: int) -> None:
    """Print the topics with bursts, and their periods and ratios."""
    screen.heading("Bursts")
    if not bursts:
        screen.print("None: no topic had much more than its usual share in any part of the time.", indent=2)

    def print_burst(burst: TopicBurst) -> None:
        lead = f"{_format_name(screen, burst.name)} {_format_span(burst)}"
        screen.cut(f"{lead}: {times(burst.times)} its usual {percent(burst.usual_share)}")

    screen.list_items(bursts, number, print_burst, f"  {{}}: --number {len(bursts)}")


def _format_span(burst: TopicBurst | WordTime) -> str:
    return burst.first if burst.first == burst.last else f"{burst.first} to {burst.last}"


def _show_changes(screen: Screen, collection: Collection, options: Options) -> None:
    """Print topics with more or less documents since a date, new words and the shift of vectors."""
    changes = collection.new_since(options.since or "", options.until or "")
    if options.json:
        screen.json({"folder": collection.folder.display_path, **changes.to_dict()})
        return
    end = f" to {changes.last}" if changes.last else " on"
    lead = f"In {changes.first}" if changes.last == changes.first else f"From {changes.first}{end}"
    screen.print(f"{lead}: {count_noun(changes.since, 'document')}, against {changes.before:,} before.")
    excluded_kinds = {
        "without a date, or with a file date only: on neither side.": changes.undated,
        "with a date too coarse to compare.": changes.coarse,
    }
    for kind, number in excluded_kinds.items():
        if number:
            screen.print(f"{count_noun(number, 'document')} {kind}", indent=2)
    for title, topics in (("More of", changes.topics), ("Less of", changes.fewer)):
        if topics:
            screen.heading(title)
        for topic in topics[: options.number]:
            change = "new" if changes.is_new(topic) else times_between(topic.times, topic.times_low, topic.times_high)
            share_text = f"{percent(topic.others)} before, {share_between(topic.share, topic.low, topic.high)} since"
            screen.cut(f"{_format_name(screen, topic.name)} {share_text}: {change}")
    if not (changes.topics or changes.fewer) and changes.before and changes.since:
        screen.print("No topic has certainly more or less documents than before.")
    if changes.farther is not None:
        _print_shift(screen, changes.farther)
    if changes.words:
        screen.heading("New words")
        words = changes.words[: options.number]
        screen.print_hanging(
            "  " + ", ".join(f"{one_line(word.word)} ({word.since:,}, {word.before:,} before)" for word in words), 2
        )
    screen.print_next(("find FOLDER {}", f"date:{changes.dates}"), "time FOLDER")


def _print_shift(screen: Screen, shift: DistanceShift) -> None:
    """Print the share of new documents that are far from every topic."""
    share = share_between(shift.share, shift.low, shift.high)
    doubt = "" if shift.certain else f": no certain difference from the {shift.known:,} before"
    screen.print(f"By their vectors {share} lie farther from every topic than 95% did before{doubt}.")
    if shift.unfitted:
        part = f"{shift.unfitted:,} of these {shift.documents:,}"
        reason = "not part of the fit, they lie a little farther anyway."
        screen.print(f"{part} were added since the tree was fitted: {reason}", indent=2)


def _format_name(screen: Screen, name: str) -> str:
    return f"  {screen.shorten(name, NAME) if screen.width else one_line(name):<{NAME}}"


def sparkline(values: Sequence[float], documents: Sequence[int], ascii: bool = False) -> str:
    """Return shares as a row of small bars relative to the largest; a gap for periods without documents."""
    steps, largest = PLAIN_STEPS if ascii else STEPS, max(values, default=0.0)
    high = len(steps) - 1
    return "".join(
        steps[round(high * value / largest) if largest > 0 else 0] if number else " "
        for value, number in zip(values, documents, strict=True)
    )
