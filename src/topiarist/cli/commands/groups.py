"""Command ``topiarist groups``: compare groups of documents by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import FolderOptions, argument, examples, number_option, option
from topiarist.cli.terminal.screen import Screen, opened
from topiarist.display.formats import count_noun, one_line, percent, share_between, times_between, verb

if TYPE_CHECKING:
    from topiarist.collection.trends.by_group import ByGroup
    from topiarist.collection.trends.topic_shares import TopicShare

EPILOG = examples(
    "topiarist groups mail.topiary",
    "topiarist groups mail.topiary sender",
    "topiarist groups mail.topiary sender --between ann --between bob",
    "topiarist groups mail.topiary label --json",
)
WRITES = ()
NAME = 34  # columns of the name of a topic


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """List the topics in which groups of a column, label, tag or type exceed the others."""

    column: str | None = argument(None, "Column to group by. Omit it to list the columns.", "COLUMN")
    between: list[str] | None = option(None, "One of two groups to compare. Give it twice.", metavar="GROUP")
    number: int = number_option(8, "Groups, and topics of each, to show.")


def run(options: Options) -> None:
    from topiarist.collection.describe.statistics import Figures
    from topiarist.collection.trends.by_group import find_topics_by_group, list_groupings

    with opened(options) as (screen, collection):
        if options.column is None:
            columns = list_groupings(Figures(collection))
            if options.json:
                screen.json({"folder": collection.folder.display_path, "columns": list(columns)})
                return
            screen.print("Documents can be grouped by:" if columns else "There is nothing to group documents by.")
            for name, column in columns.items():
                screen.cut(f"  {one_line(name):<{NAME}} ", (column, "dim"))
            screen.next(*([("groups FOLDER {}", next(iter(columns)))] if columns else ["tree FOLDER"]))
            return
        groups = find_topics_by_group(Figures(collection), options.column, compared_groups=options.between or ())
        if options.json:
            screen.json({"folder": collection.folder.display_path, **groups.to_dict()})
            return
        _show(screen, groups, options.number)
    screen.next(("find FOLDER {}", groups.query(0)), f"groups FOLDER {one_line(options.column)} --json")


def _show(screen: Screen, groups: ByGroup, number: int) -> None:
    if groups.pair:
        first, second = map(one_line, groups.names)
        screen.print(f"{first} and {second}, by {one_line(groups.column)}: what each has more of than the other.")
        if groups.n_both:
            of_both = f"{count_noun(groups.n_both, 'document')} {verb(groups.n_both, 'is', 'are')}"
            screen.print(f"{of_both} of both and {verb(groups.n_both, 'counts', 'count')} on neither side.", indent=2)
    else:
        screen.print(f"{count_noun(len(groups.names) + groups.left_out, 'group')} by {one_line(groups.column)}.")
    if groups.n_without_value and not groups.pair:
        screen.print(
            f"{count_noun(groups.n_without_value, 'document')} {verb(groups.n_without_value, 'has', 'have')} no value.",
            indent=2,
        )
    if groups.n_several_values:
        verdict = verb(groups.n_several_values, "has several values and counts", "have several values and count")
        screen.print(f"{count_noun(groups.n_several_values, 'document')} {verdict} under each.", indent=2)
    for group, name in enumerate(groups.names[:number]):
        screen.print()
        screen.print((one_line(name), "bold"), f": {count_noun(groups.documents[group], 'document')}")
        commoner, rarer = groups.find_overrepresented(group), groups.find_underrepresented(group)
        _topics(screen, "more", commoner, number)
        if not groups.pair:  # of a pair it is what the other has more of
            _topics(screen, "less", rarer, number)
        if not commoner and (groups.pair or not rarer):
            verdict = "has no more of anything" if groups.pair else "has no clear differences"
            screen.print(f"{verdict}, within the uncertainty", indent=2)
    rest = len(groups.names) + groups.left_out - number
    if rest > 0 and not groups.pair:
        screen.print(f"and {count_noun(rest, 'smaller group')}")


def _topics(screen: Screen, lead: str, topics: Sequence[TopicShare], number: int) -> None:
    for topic in topics[:number]:
        name = f"  {lead}  {screen.fits(topic.name, NAME) if screen.width else one_line(topic.name):<{NAME}}"
        share_text = f"{share_between(topic.share, topic.low, topic.high)}, others {percent(topic.others)}: "
        screen.cut(f"{name} {share_text}{times_between(topic.times, topic.times_low, topic.times_high)}")
