"""``topiarist file``: where do new documents belong, and which of them belong nowhere?"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

from rich.text import Text

from topiarist.app.cli.commands import streaming
from topiarist.app.cli.commands.moving import move, plan
from topiarist.app.cli.terminal.console import binary_output, clean
from topiarist.app.cli.terminal.printing import counted, one_line
from topiarist.app.cli.terminal.screen import STEP, Screen, opened, path_of
from topiarist.app.cli.terminal.targets import check_file
from topiarist.app.cli.using_options import FileOptions
from topiarist.collection.collection import Collection
from topiarist.collection.describe import tables
from topiarist.collection.file import arrivals
from topiarist.collection.file.arrivals import Filed
from topiarist.collection.file.new_topics import PAYS, NewTopic, new_topics
from topiarist.collection.shape.edit_language import to_words
from topiarist.errors import UsageError
from topiarist.hierarchy.exchange import path_text
from topiarist.hierarchy.node_lookup import nearest
from topiarist.text.readers import Columns, Reading, read
from topiarist.text.readers.lines import Live
from topiarist.text.readers.sources import STANDARD_INPUT

TABLE = "table"
FORMATS = (TABLE, *tables.FORMATS)
SHOWN = 5  # unusual documents, and groups of them, that are named
MOST_FAILURES = 0.05
MANY = 1_000  # documents from which on a speed says something
FIELDS = ("id", "title", "path", "topic", "certainty", "words", "unusual", "labels", "topics")


@dataclass
class Account:
    """What was filed, as it is counted while rows pass; documents are kept where something is to be done with them."""

    keep: bool
    number: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    unusual: list[Filed] = field(default_factory=list)
    kept: list[Filed] = field(default_factory=list)

    def passing(self, rows: Iterable[Filed]) -> Iterator[Filed]:
        """The rows, counted."""
        for row in rows:
            self.number += 1
            self.levels[len(row.path)] += 1
            if row.unusual:
                self.unusual.append(row)
            if self.keep:
                self.kept.append(row)
            yield row


def run(options: FileOptions) -> None:
    """Read, place, print; keep and move if that was asked for."""
    screen, kind = Screen(options), _format(options)
    began = time.perf_counter()
    with opened(options) as collection, _reading(options) as documents:
        account = Account(keep=options.json or options.move_to is not None)
        rows = _flushed(account.passing(_filed(screen, collection, documents, options)), options)
        if options.json:
            for _ in rows:
                pass
        elif kind == TABLE:
            _table(screen, rows)
        else:
            tables.write((_row(collection, row) for row in rows), options.output or binary_output(), kind, FIELDS)
        groups = _groups(screen, collection, account, options)
        moved = _moved(screen, collection, account, options)
        if options.json:
            screen.json(_told(account, groups, moved, documents, options))
        seconds = time.perf_counter() - began
        speed = f"; {account.number / max(seconds, 1e-9):,.0f} a second" if account.number >= MANY else ""
        _say(screen, account, options, speed)
        _say_unusual(screen, account, groups, options)
        _next(screen, account, options)
        failed = documents.counts.failed
    if failed > MOST_FAILURES * max(1, failed + account.number):
        raise SystemExit(1)


def _format(options: FileOptions) -> str:
    kind = options.format
    if kind is not None and kind not in FORMATS:
        raise UsageError(f"there is no format {kind!r}", hint=nearest(kind, FORMATS).replace("'", ""))
    if kind is None:
        kind = tables.format_of(options.output) if options.output else TABLE
    if kind == TABLE and options.output:
        raise UsageError("a table goes to the screen, not into a file", hint="--format csv")
    if kind == "parquet" and not options.output:
        raise UsageError("Parquet needs a file", hint="--output filed.parquet")
    if options.output:
        check_file(options.output, force=True)
    return kind


def _reading(options: FileOptions) -> Reading:
    columns = Columns(text=options.text_column, id=options.id_column)
    live = cast(BinaryIO, Live(sys.stdin.buffer)) if STANDARD_INPUT in options.new else None
    return read(options.new, columns, stdin=live)


def _filed(screen: Screen, collection: Collection, documents: Reading, options: FileOptions) -> Iterator[Filed]:
    live = STANDARD_INPUT in options.new
    if options.add and not options.dry_run:
        if live:
            return streaming.added(collection, documents, options, screen)
        return arrivals.add(
            collection, documents, options.rho, learn=not options.no_learn, several=options.several,
            rename=options.rename,
        )  # fmt: skip
    return arrivals.file(collection, documents, options.rho, several=options.several, live=live)


def _flushed(rows: Iterable[Filed], options: FileOptions) -> Iterator[Filed]:
    """The rows of a stream, each on its way to the reader of our output before the next is waited for."""
    for row in rows:
        yield row
        if STANDARD_INPUT in options.new and not options.json:
            sys.stdout.flush()


def _table(screen: Screen, rows: Iterator[Filed]) -> None:
    """Two lines for each document: what it is, and where it belongs with the certainty at each level."""
    plain, write = screen.width is None, sys.stdout.write
    for row in rows:
        title = one_line(row.document.title or row.document.id)
        words = ", ".join(row.words)
        steps = zip(row.path, row.certainty, strict=True)
        path = STEP.join(["Everything", *(f"{one_line(name)} {share:.0%}".replace("%", " %") for name, share in steps)])
        facts = [words, "labels: " + ", ".join(row.labels) if row.labels else "", "UNUSUAL" if row.unusual else ""]
        if row.places:
            facts.append("also: " + "; ".join(f"{path_of(one.path)} {one.share:.0%}" for one in row.places[1:]))
        more = "   ".join(fact for fact in facts if fact and fact != "also: ")
        if plain:  # rich would take longer than the model
            write(
                clean(f"{title}  [{one_line(row.document.id)}]\n    {path}\n    {one_line(more)}\n", ascii=screen.ascii)
            )
            continue
        screen.titled("", title, row.document.id)
        screen.print(path, indent=4)
        screen.print(Text(more, "yellow" if row.unusual else "dim"), indent=4)
    if plain:
        sys.stdout.flush()


def _row(collection: Collection, row: Filed) -> dict[str, Any]:
    """A row of a table, with paths as ``export`` writes them."""
    outline = collection.outline

    def path(topic: int) -> str:
        return path_text(outline.tree, outline.node(topic))

    return {
        "id": row.document.id, "title": row.document.title, "path": path(row.topic), "topic": row.topic,
        "certainty": row.certainty[-1] if row.certainty else 1.0, "words": list(row.words), "unusual": row.unusual,
        "labels": list(row.labels),
        "topics": [{"path": path(place.topic), "share": round(place.share, 4)} for place in row.places],
    }  # fmt: skip


def _groups(screen: Screen, collection: Collection, account: Account, options: FileOptions) -> tuple[NewTopic, ...]:
    if not options.branch or not account.unusual:
        return ()
    with screen.waiting("Looking for new topics"):
        documents = [row.document for row in account.unusual]
        return new_topics(collection, documents, [row.topic for row in account.unusual])


def _moved(screen: Screen, collection: Collection, account: Account, options: FileOptions) -> dict[str, str]:
    if options.move_to is None:
        return {}
    planned, left = plan(account.kept, options.move_to)
    if not options.dry_run:
        move(planned)
    verb = "would be moved" if options.dry_run else "moved"
    screen.say(f"{counted(len(planned), 'file')} {verb} into {options.move_to}")
    for source, target in list(planned.items())[:SHOWN]:
        screen.say(f"  {one_line(source)} → {one_line(target)}")
    if len(planned) > SHOWN:
        screen.say(f"  and {len(planned) - SHOWN:,} more")
    if left:
        screen.say(f"{counted(left, 'document')} stay where they are: rows of tables, messages of mailboxes")
    return planned


def _say(screen: Screen, account: Account, options: FileOptions, speed: str) -> None:
    at = {"at the root": account.levels[0], "lower down": account.number - account.levels[0]}
    where = ", ".join(f"{number:,} {place}" for place, number in at.items() if number)
    verb = "added" if options.add and not options.dry_run else "filed"
    screen.say(f"\n{counted(account.number, 'document')} {verb}: {where}{speed}")
    if options.dry_run and options.add:
        screen.say("Nothing was kept: --dry-run.")
    if options.output:
        screen.say(f"The rows are in {options.output}")


def _say_unusual(screen: Screen, account: Account, groups: tuple[NewTopic, ...], options: FileOptions) -> None:
    """Documents that fit worse than nearly all of the collection, and what would give them a home."""
    if not account.unusual:
        return
    number = len(account.unusual)
    screen.say(f"{counted(number, 'document')} unusual, of words that this collection hardly knows:")
    for row in account.unusual[:SHOWN]:
        screen.say(f"  {one_line(row.document.title or row.document.id)}  [{one_line(row.document.id)}]")
    if number > SHOWN:
        screen.say(f"  and {number - SHOWN:,} more")
    if options.branch:
        _say_groups(screen, groups)
        return
    ((topic, _),) = Counter(row.topic for row in account.unusual).most_common(1)
    ids = [row.document.id for row in account.unusual[:SHOWN]]
    screen.say(f"To grow them into a branch{'' if options.add else ', once they are added'}:")
    screen.say("  " + screen.typed(f"shape FOLDER branch NAME under {topic} with {' '.join(['{}'] * len(ids))}", *ids))


def _say_groups(screen: Screen, groups: tuple[NewTopic, ...]) -> None:
    if not groups:
        screen.say("No group among them has anything in common.")
        return
    if groups[0].how == PAYS:
        screen.say("Groups whose words make each other's held-out words more probable:")
    else:
        screen.say("None of them make each other's held-out words more probable; by the topic they are nearest to:")
    for group in groups[:SHOWN]:
        screen.say(f"  {counted(len(group.documents), 'document')}: {', '.join(group.words[:6])}")
        screen.say(f"    {screen.typed('shape FOLDER')} {one_line(to_words(group.edit))}")


def _next(screen: Screen, account: Account, options: FileOptions) -> None:
    if options.add and not options.dry_run:
        screen.next("tree FOLDER", "find FOLDER WORDS")
    elif options.dry_run:
        screen.next("file FOLDER … without --dry-run")
    else:
        screen.next((f"file FOLDER {' '.join(['{}'] * len(options.new))} --add", *options.new))


def _told(
    account: Account, groups: tuple[NewTopic, ...], moved: dict[str, str], documents: Reading, options: FileOptions
) -> dict[str, Any]:
    return {
        "added": options.add and not options.dry_run,
        "documents": account.number,
        "unusual": [row.document.id for row in account.unusual],
        "new_topics": [
            {"under": one.under, "name": one.name, "words": list(one.words), "documents": list(one.documents),
             "how": one.how, "gain": one.gain}
            for one in groups
        ],
        "moved": moved,
        "problems": [{"source": one.source, "reason": one.reason} for one in documents.problems],
        "filed": [row.to_dict() for row in account.kept],
    }  # fmt: skip
