"""``topiarist file``: where do new documents belong, and which of them belong nowhere?"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, BinaryIO, cast

import typer
from rich.text import Text

from topiarist import collection as door
from topiarist.app.cli.options import DATE_ORDERS, DATES_HELP, WritingOptions, examples, one_of, option
from topiarist.app.cli.terminal.console import binary_output, clean
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import ROOT, STEP, and_more, counted, one_line, path_of, percent, whole_percent
from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.text.dates import AUTO
from topiarist.text.documents import Document
from topiarist.text.passages import is_passage, whole_id
from topiarist.text.readers import Columns, Reading, read
from topiarist.text.readers.lines import Live
from topiarist.text.readers.sources import STANDARD_INPUT
from topiarist.text.spelling import proposed

EPILOG = examples(
    "topiarist file mail.topiary ./inbox",
    "topiarist file mail.topiary ./inbox --add",
    "topiarist file mail.topiary new.csv -o filed.csv",
    "topiarist file mail.topiary ./inbox --move-to ./sorted --dry-run",
    "topiarist file mail.topiary - --json < new.jsonl",
)
WRITES = ("add", "move_to", "output")
TABLE = "table"
BATCH, PATIENCE = 500, 10.0  # documents of a stream, or seconds since the first of them: whichever comes first
SHOWN = 5  # unusual documents, and groups of them, that are named
MOST_FAILURES = 0.05
MANY = 1_000  # documents from which on a speed says something
FIELDS = ("id", "title", "path", "topic", "certainty", "words", "unusual", "labels", "topics", "misfit")


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Put new documents into the tree: each at the deepest topic that is still certain, with the words that decided.

    Nothing is kept without `--add`.
    """

    new: Annotated[
        list[str], typer.Argument(metavar="NEW…", help="Folders, files, or `-` for JSON lines on standard input.")
    ]
    rho: Annotated[float, option("How certain a topic must be to file under it.", min=0, max=1)] = 0.9
    several: Annotated[bool, option("Every topic of which a document has a tenth.", "--several")] = False
    add: Annotated[
        bool, option("Keep the documents in the collection: all, or none. `remove` takes them out again.", "--add")
    ] = False
    no_learn: Annotated[bool, option("Do not let the model learn from --add.", "--no-learn")] = False
    rename: Annotated[bool, option("Let --add give a new id to a document whose id is taken.", "--rename")] = False
    branch: Annotated[bool, option("Look for new topics among the documents that fit nowhere.", "--branch")] = False
    dry_run: Annotated[bool, option("Change nothing, move nothing: only say.", "--dry-run")] = False
    output: Annotated[str | None, option("A file for the rows.", "--output", "-o")] = None
    format: Annotated[str | None, option("`table`, `csv`, `jsonl` or `parquet`; by the name of the file.")] = None
    move_to: Annotated[str | None, option("Move the files into folders of this one, named as the topics.")] = None
    text_column: Annotated[str | None, option("Column that holds the text.")] = None
    id_column: Annotated[str | None, option("Column that holds the id.")] = None
    xml_path: Annotated[str | None, option("Elements of XML files that are documents, e.g. `channel/item`.")] = None
    dates: Annotated[str, option(DATES_HELP, metavar="ORDER", parser=one_of(DATE_ORDERS))] = AUTO
    vectors: Annotated[str | None, option("Vectors of the new documents: a file as `grow` takes it.")] = None
    embed: Annotated[str | None, option("A program for their vectors, as `grow` takes it.", metavar="COMMAND")] = None

    @property
    def keeps(self) -> bool:
        """Whether the documents come into the collection."""
        return self.add and not self.dry_run

    @property
    def live(self) -> bool:
        """Whether documents come on standard input, perhaps without end."""
        return STANDARD_INPUT in self.new


@dataclass
class Account:
    """What was filed, as it is counted while rows pass; documents are kept where something is to be done with them."""

    keep: bool
    number: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    unusual: list[door.Filed] = field(default_factory=list)
    copies: list[door.Filed] = field(default_factory=list)
    kept: list[door.Filed] = field(default_factory=list)
    parts: int = 0  # of the rows, passages
    wholes: set[str] = field(default_factory=set)  # that they are passages of

    @property
    def said(self) -> str:
        """How many documents there were, and in how many passages."""
        documents = counted(self.number - self.parts + len(self.wholes), "document")
        return f"{documents} in {counted(self.number, 'passage')}" if self.parts else documents

    def passing(self, rows: Iterable[door.Filed]) -> Iterator[door.Filed]:
        """The rows, counted."""
        for row in rows:
            self.number += 1
            if is_passage(row.document):
                self.parts += 1
                self.wholes.add(whole_id(row.document.id))
            self.levels[len(row.path)] += 1
            if row.unusual:
                self.unusual.append(row)
            if row.copy_of:
                self.copies.append(row)
            if self.keep:
                self.kept.append(row)
            yield row


def run(options: Options) -> None:
    """Read, place, print; keep and move if that was asked for."""
    screen, kind = Screen(options), _format(options)
    began = time.perf_counter()
    with door.Collection.open(options.folder) as collection, _reading(options) as documents:
        account = Account(keep=options.json or options.move_to is not None)
        rows = _flushed(account.passing(_filed(screen, collection, documents, options)), options)
        if options.json:
            for _ in rows:
                pass
        elif kind == TABLE:
            _table(screen, rows)
        else:
            door.write_table((_row(collection, row) for row in rows), options.output or binary_output(), kind, FIELDS)
        groups = _groups(screen, collection, account, options)
        moved = _moved(screen, collection, account, options)
        if options.json:
            screen.json(_body(account, groups, moved, documents, options))
        seconds = time.perf_counter() - began
        speed = f"; {account.number / max(seconds, 1e-9):,.0f} a second" if account.number >= MANY else ""
        _say(screen, account, options, speed)
        _say_copies(screen, account)
        if account.number and (said := door.placed_by_words(collection, options.vectors or options.embed)):
            screen.say(f"{said} (--vectors, --embed)")
        _say_unusual(screen, collection, account, groups, options)
        _next(screen, account, options)
        failed = documents.counts.failed
    if failed > MOST_FAILURES * max(1, failed + account.number):
        raise SystemExit(1)


def _format(options: Options) -> str:
    from topiarist.app.cli.terminal.targets import check_file

    kind, formats = options.format, (TABLE, *door.TABLE_FORMATS)
    if kind is not None and kind not in formats:
        raise UsageError(f"there is no format {kind!r}", hint=proposed(kind, formats).replace("'", ""))
    if kind is None:
        kind = door.table_format(options.output) if options.output else TABLE
    if kind == TABLE and options.output:
        raise UsageError("a table goes to the screen, not into a file", hint="--format csv")
    if kind == "parquet" and not options.output:
        raise UsageError("Parquet needs a file", hint="--output filed.parquet")
    if options.output:
        check_file(options.output, force=True)
    return kind


def _reading(options: Options) -> Reading:
    columns = Columns(text=options.text_column, id=options.id_column)
    live = cast(BinaryIO, Live(sys.stdin.buffer)) if options.live else None
    return read(options.new, columns, stdin=live, xml_path=options.xml_path or "")


def _filed(screen: Screen, collection: door.Collection, documents: Reading, options: Options) -> Iterator[door.Filed]:
    if options.keeps:
        return (_added_live if options.live else _added)(screen, collection, documents, options)
    return door.file_documents(
        collection, documents, options.rho, several=options.several, live=options.live, vectors=_vectors(options)
    )


def _vectors(options: Options) -> Any:
    """Where the vectors of the documents come from, if somebody says so."""
    if options.vectors is not None and options.live and options.keeps:
        raise UsageError("--vectors does not go with --add of standard input", hint="--embed, or a file of documents")
    return door.vector_source(options.vectors, options.embed)


def _added(
    _: Screen, collection: door.Collection, documents: Iterable[Document], options: Options
) -> Iterator[door.Filed]:
    """Add documents: all, or none."""
    return door.add_documents(
        collection,
        documents,
        options.rho,
        learn=not options.no_learn,
        several=options.several,
        rename=options.rename,
        dates=options.dates,
        vectors=_vectors(options),
    )


def _added_live(
    screen: Screen, collection: door.Collection, documents: Iterable[Document], options: Options
) -> Iterator[door.Filed]:
    """Add batch after batch of a stream that may never end; each is in the collection, and said so, before its rows."""
    number = 0
    for batch in door.batches_as_they_come(documents, BATCH, PATIENCE):
        try:
            rows = list(_added(screen, collection, batch, options))
        except TopiaristError as error:
            if not number:
                raise
            kept = f"{counted(number, 'document')} before are kept"
            raise type(error)(f"{error.message}; {kept}", hint=error.hint) from None
        number += len(rows)
        screen.say(f"{counted(number, 'document')} added so far")
        yield from rows
    if not number:
        raise InputError("no documents came on standard input", hint='lines such as {"id": "1", "text": "…"}')


def _flushed(rows: Iterable[door.Filed], options: Options) -> Iterator[door.Filed]:
    """The rows of a stream, each on its way to the reader of our output before the next is waited for."""
    for row in rows:
        yield row
        if options.live and not options.json:
            sys.stdout.flush()


def _table(screen: Screen, rows: Iterator[door.Filed]) -> None:
    """Two lines for each document: what it is, and where it belongs with the certainty at each level."""
    plain, write = screen.width is None, sys.stdout.write
    for row in rows:
        title = one_line(row.document.title or row.document.id)
        words = ", ".join(row.words)
        steps = zip(row.path, row.certainty, strict=True)
        path = STEP.join([ROOT, *(f"{one_line(name)} {100 * share:.0f} %" for name, share in steps)])
        path = f"does not fit: {row.misfit}" if row.misfit else path
        facts = [words, "labels: " + ", ".join(row.labels) if row.labels else "", "UNUSUAL" if row.unusual else ""]
        if row.places:
            facts.append(
                "also: " + "; ".join(f"{path_of(one.path)} {whole_percent(one.share)}" for one in row.places[1:])
            )
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


def _row(collection: door.Collection, row: door.Filed) -> dict[str, Any]:
    """A row of a table, with paths as ``export`` writes them."""
    from topiarist.hierarchy.exchange import path_text

    outline = collection.outline

    def path(topic: int) -> str:
        return path_text(outline.tree, outline.node(topic))

    return {
        "id": row.document.id, "title": row.document.title, "path": path(row.topic), "topic": row.topic,
        "certainty": row.certainty[-1] if row.certainty else 1.0, "words": list(row.words), "unusual": row.unusual,
        "misfit": row.misfit, "labels": list(row.labels),
        "topics": [{"path": path(place.topic), "share": round(place.share, 4)} for place in row.places],
    }  # fmt: skip


def _groups(
    screen: Screen, collection: door.Collection, account: Account, options: Options
) -> tuple[door.NewTopic, ...]:
    if not options.branch or not account.unusual:
        return ()
    with screen.waiting("Looking for new topics"):
        documents = [row.document for row in account.unusual]
        return door.new_topics(collection, documents, [row.topic for row in account.unusual])


def _moved(screen: Screen, collection: door.Collection, account: Account, options: Options) -> dict[str, str]:
    if options.move_to is None:
        return {}
    planned, left = door.plan_moves(account.kept, options.move_to)
    if not options.dry_run:
        door.move_files(planned)
    verb = "would be moved" if options.dry_run else "moved"
    screen.say(f"{counted(len(planned), 'file')} {verb} into {options.move_to}")
    for source, target in list(planned.items())[:SHOWN]:
        screen.say(f"  {one_line(source)} → {one_line(target)}")
    if len(planned) > SHOWN:
        screen.say(f"  {and_more(planned, SHOWN)}")
    if left:
        screen.say(f"{counted(left, 'document')} stay where they are: rows of tables, messages of mailboxes")
    return planned


def _say(screen: Screen, account: Account, options: Options, speed: str) -> None:
    misfits = sum(bool(row.misfit) for row in account.unusual)
    at = {
        "at the root": account.levels[0] - misfits,
        "lower down": account.number - account.levels[0],
        "fit nowhere" if misfits > 1 else "fits nowhere": misfits,
    }
    where = ", ".join(f"{number:,} {place}" for place, number in at.items() if number)
    verb = "added" if options.keeps else "filed"
    screen.say(f"\n{account.said} {verb}: {where}{speed}")
    if options.dry_run and options.add:
        screen.say("Nothing was kept: --dry-run.")
    if options.output:
        screen.say(f"The rows are in {options.output}")


def _say_copies(screen: Screen, account: Account) -> None:
    """What was there already."""
    if not account.copies:
        return
    exact = sum(row.shared == 1.0 for row in account.copies)
    near = len(account.copies) - exact
    said = [counted(exact, "copy", "copies")] * bool(exact) + [counted(near, "near-copy", "near-copies")] * bool(near)
    screen.say(f"{' and '.join(said)} of what is there already:")
    for row in account.copies[:SHOWN]:
        share = "" if row.shared == 1.0 else f"  ({whole_percent(row.shared)} of the words)"
        screen.say(f"  {one_line(row.document.id)} → {one_line(row.copy_of)}{share}")
    if len(account.copies) > SHOWN:
        screen.say(f"  {and_more(account.copies, SHOWN)}")


def _say_unusual(
    screen: Screen, collection: door.Collection, account: Account, groups: tuple[door.NewTopic, ...], options: Options
) -> None:
    """Documents that fit worse than nearly all of the collection, and what would give them a home."""
    if not account.unusual:
        return
    number = len(account.unusual)
    far = sum(row.far for row in account.unusual)
    by_vectors = ""
    if far and collection.farness is not None:
        usual = percent(1 - collection.farness.share)
        beyond = f"farther from every topic by their vectors than {usual} of its own documents"
        by_vectors = f", or {beyond} ({far:,})"
    screen.say(f"{counted(number, 'document')} unusual, of words that this collection hardly knows{by_vectors}:")
    for row in account.unusual[:SHOWN]:
        screen.say(f"  {one_line(row.document.title or row.document.id)}  [{one_line(row.document.id)}]")
    if number > SHOWN:
        screen.say(f"  {and_more(account.unusual, SHOWN)}")
    if options.branch:
        _say_groups(screen, groups)
        return
    ((topic, _),) = Counter(row.topic for row in account.unusual).most_common(1)
    ids = [row.document.id for row in account.unusual[:SHOWN]]
    screen.say(f"To grow them into a branch{'' if options.add else ', once they are added'}:")
    screen.say("  " + screen.typed(f"shape FOLDER branch NAME under {topic} with {' '.join(['{}'] * len(ids))}", *ids))


def _say_groups(screen: Screen, groups: tuple[door.NewTopic, ...]) -> None:
    if not groups:
        screen.say("No group among them has anything in common.")
        return
    if groups[0].how == door.PAYS:
        screen.say("Groups whose words make each other's held-out words more probable:")
    else:
        screen.say("None of them make each other's held-out words more probable; by the topic they are nearest to:")
    for group in groups[:SHOWN]:
        screen.say(f"  {counted(len(group.documents), 'document')}: {', '.join(group.words[:6])}")
        screen.say(f"    {screen.typed('shape FOLDER')} {one_line(door.edit_to_words(group.edit))}")


def _next(screen: Screen, account: Account, options: Options) -> None:
    if options.keeps:
        screen.next("tree FOLDER", "find FOLDER WORDS")
    elif options.dry_run:
        screen.next("file FOLDER … without --dry-run")
    else:
        screen.next((f"file FOLDER {' '.join(['{}'] * len(options.new))} --add", *options.new))


def _body(
    account: Account, groups: tuple[door.NewTopic, ...], moved: dict[str, str], documents: Reading, options: Options
) -> dict[str, Any]:
    return {
        "added": options.keeps,
        "documents": account.number,
        "unusual": [row.document.id for row in account.unusual],
        "copies": [{"id": row.document.id, "of": row.copy_of, "shared": row.shared} for row in account.copies],
        "new_topics": [
            {
                "under": one.under,
                "name": one.name,
                "words": list(one.words),
                "documents": list(one.documents),
                "how": one.how,
                "gain": one.gain,
            }
            for one in groups
        ],
        "moved": moved,
        "problems": [{"source": one.source, "reason": one.reason} for one in documents.problems],
        "filed": [row.to_dict() for row in account.kept],
    }
