"""Command ``topiarist groups``: compare groups of documents by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import FolderOptions, argument, examples, number_option, option
from topiarist.cli.terminal.screen import Screen, open_collection
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
    """List topics that are more or less frequent in a group than in the others.

    A group has the same value of a column, the same label, tag or file type.
    """

    column: str | None = argument(None, "Column to group by. Omit it to list the columns.", "COLUMN")
    between: list[str] | None = option(None, "One of two groups to compare. Give it twice.", metavar="GROUP")
    number: int = number_option(8, "Groups, and topics of each, to show.")


def run(options: Options) -> None:
    """Print the columns that form groups, or the topics that differ between groups of one column."""
    from topiarist.collection.describe.statistics import Figures
    from topiarist.collection.trends.by_group import find_topics_by_group, list_groupings

    with open_collection(options) as (screen, collection):
        folder = {"folder": collection.folder.display_path}
        if options.column is None:
            columns = list_groupings(Figures(collection))
            if options.json:
                screen.json(folder | {"columns": list(columns)})
                return
            screen.print("Documents can be grouped by:" if columns else "There is nothing to group documents by.")
            for name, column in columns.items():
                screen.cut(f"  {one_line(name):<{NAME}} ", (column, "dim"))
            screen.print_next(*([("groups FOLDER {}", next(iter(columns)))] if columns else ["tree FOLDER"]))
            return
        groups = find_topics_by_group(Figures(collection), options.column, compared_groups=options.between or ())
        if options.json:
            screen.json(folder | groups.to_dict())
            return
        _print_groups(screen, groups, options.number)
    screen.print_next(("find FOLDER {}", groups.query(0)), f"groups FOLDER {one_line(options.column)} --json")


def _print_groups(screen: Screen, groups: ByGroup, number: int) -> None:
    """Print notes on the groups, then each group with its more and less frequent topics."""
    both, several, without = groups.n_both, groups.n_several_values, 0 if groups.pair else groups.n_without_value
    names = [*map(one_line, groups.names)]
    if groups.pair:
        screen.print(f"{' and '.join(names)}, by {one_line(groups.column)}: what each has more of than the other.")
    else:
        screen.print(f"{count_noun(len(names) + groups.left_out, 'group')} by {one_line(groups.column)}.")
    notes = (
        (both, verb(both, "is of both and counts", "are of both and count") + " on neither side"),
        (without, verb(without, "has", "have") + " no value"),
        (several, verb(several, "has several values and counts", "have several values and count") + " under each"),
    )
    for n_documents, clause in notes:
        if n_documents:
            screen.print(f"{count_noun(n_documents, 'document')} {clause}.", indent=2)
    for group, name in enumerate(names[:number]):
        screen.print()
        screen.print((name, "bold"), f": {count_noun(groups.documents[group], 'document')}")
        # of a pair, what one group has less of is what the other has more of
        commoner, rarer = groups.find_overrepresented(group), [] if groups.pair else groups.find_underrepresented(group)
        _print_topics(screen, "more", commoner, number)
        _print_topics(screen, "less", rarer, number)
        if not commoner and not rarer:
            verdict = "has no more of anything" if groups.pair else "has no clear differences"
            screen.print(f"{verdict}, within the uncertainty", indent=2)
    rest = len(names) + groups.left_out - number
    if rest > 0 and not groups.pair:
        screen.print(f"and {count_noun(rest, 'smaller group')}")


def _print_topics(screen: Screen, lead: str, topics: Sequence[TopicShare], number: int) -> None:
    """Print topics of a group with their shares, the shares elsewhere and the ratios."""
    for topic in topics[:number]:
        name = f"  {lead}  {screen.shorten(topic.name, NAME) if screen.width else one_line(topic.name):<{NAME}}"
        share_text = f"{share_between(topic.share, topic.low, topic.high)}, others {percent(topic.others)}: "
        screen.cut(f"{name} {share_text}{times_between(topic.times, topic.times_low, topic.times_high)}")
