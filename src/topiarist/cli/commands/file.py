"""Command ``topiarist file``: assign new documents to topics."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, asdict, dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from rich.text import Text

from topiarist.cli.options import (
    AsGrownOptions,
    PatternOptions,
    WritingOptions,
    argument,
    dates_option,
    examples,
    option,
)
from topiarist.cli.terminal.console import binary_output, clean
from topiarist.cli.terminal.screen import Screen
from topiarist.display.formats import (
    ROOT,
    STEP,
    count_copies,
    count_noun,
    join_path,
    one_line,
    percent,
    verb,
    whole_percent,
)
from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.text.documents import Document
from topiarist.text.passages import get_parent_id, is_passage
from topiarist.text.readers import Reading, read
from topiarist.text.readers.columns import NONE
from topiarist.text.readers.lines import UnbufferedStream
from topiarist.text.readers.sources import STANDARD_INPUT
from topiarist.text.spelling import format_proposals

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.file.arrivals import FiledDocument
    from topiarist.collection.file.new_topics import NewTopic

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
MAX_LISTED = 5  # unusual documents, and groups of them, that are named
MOST_FAILURES = 0.05
MIN_TIMED = 1_000  # documents from which on a speed says something
COLUMNS = "id title path topic certainty words unusual labels label_certainty topics misfit"


@dataclass(frozen=True, kw_only=True)
class Options(AsGrownOptions, PatternOptions, WritingOptions):
    """Assign new documents to topics: each to the deepest topic that is certain, with the deciding words.

    Nothing is kept without `--add`. Columns and dates are read as for `grow`, unless options change this. A missing
    column that `grow` named is an error.
    """

    new: list[str] = argument(MISSING, "Folders, files, or `-` for JSON lines on standard input.", "NEW…")
    rho: float = option(0.5, "Lowest certainty of an assigned topic.", min=0, max=1)
    several: bool = option(False, "List all topics with at least a tenth of a document.")
    add: bool = option(False, "Keep the documents, all or none. `remove` takes them out again.")
    no_learn: bool = option(False, "Do not let the model learn from --add.")
    rename: bool = option(False, "Give a new id to an added document whose id is taken.")
    branch: bool = option(False, "Propose new topics for documents that fit no topic.")
    dry_run: bool = option(False, "Print the result without changing or moving anything.")
    output: str | None = option(None, "File for the results.", "--output", "-o", metavar="FILE")
    format: str | None = option(
        None, "table, csv, excel (CSV for Excel), jsonl or parquet. Default: by suffix.", metavar="FORMAT"
    )
    move_to: str | None = option(
        None, "Move the files into subfolders of this folder, named by topic.", metavar="FOLDER"
    )
    dates: str | None = dates_option(None)
    vectors: str | None = option(None, "Embeddings of the new documents, in a file as for `grow`.", metavar="FILE")
    embed: str | None = option(None, "Program that computes embeddings, as for `grow`.", metavar="COMMAND")

    @property
    def keeps(self) -> bool:
        return self.add and not self.dry_run

    @property
    def live(self) -> bool:
        """Return whether documents come on standard input, which can be endless."""
        return STANDARD_INPUT in self.new


@dataclass
class Account:
    """Running counts of filed documents; documents are kept only if they are needed later."""

    keep: bool
    number: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    unusual: list[FiledDocument] = field(default_factory=list)
    copies: list[FiledDocument] = field(default_factory=list)
    kept: list[FiledDocument] = field(default_factory=list)
    passages: int = 0
    parent_ids: set[str] = field(default_factory=set)  # of the passages

    def __str__(self) -> str:
        documents = count_noun(self.number - self.passages + len(self.parent_ids), "document")
        return f"{documents} in {count_noun(self.number, 'passage')}" if self.passages else documents

    def count_rows(self, rows: Iterable[FiledDocument]) -> Iterator[FiledDocument]:
        """Yield the documents unchanged, and count them on the way."""
        for row in rows:
            self.number += 1
            if is_passage(row.document):
                self.passages += 1
                self.parent_ids.add(get_parent_id(row.document.id))
            self.levels[len(row.path)] += 1
            for rows_of_kind, is_of_kind in (
                (self.unusual, row.unusual),
                (self.copies, row.copy_of),
                (self.kept, self.keep),
            ):
                if is_of_kind:
                    rows_of_kind.append(row)
            yield row


def run(options: Options) -> None:
    """Read documents and print their topics. Store them and move their files on request."""
    from topiarist.collection.collection import Collection
    from topiarist.collection.describe.tables import write_table
    from topiarist.collection.document_vectors import describe_missing_vectors
    from topiarist.collection.shape.kept_names import find_name_changes

    screen, kind = Screen(options), _choose_format(options)
    began = time.perf_counter()
    with Collection.open(options.folder) as collection, _open_sources(collection, options) as documents:
        outline_before = collection.outline
        account = Account(keep=options.json or options.move_to is not None)
        rows = account.count_rows(_file_documents(screen, collection, documents, options))
        if options.json:
            deque(rows, maxlen=0)
        elif kind == TABLE:
            _print_table(screen, rows, flush=options.live)
        else:
            cells = (_encode_row(collection, row) for row in _flush_rows(rows, flush=options.live))
            write_table(cells, options.output or binary_output(), kind, COLUMNS.split())
        groups = _propose_groups(screen, collection, account, options)
        moved = _move_files(screen, account, options)
        if options.json:
            screen.json(_build_body(account, groups, moved, documents, options))
        seconds = time.perf_counter() - began
        _print_columns(screen, collection, documents, options)
        _print_summary(screen, account, options, seconds)
        for sentence in find_name_changes(outline_before, collection.outline).sentences:
            screen.say(one_line(sentence))
        _print_copies(screen, account)
        if account.number and (note := describe_missing_vectors(collection, options.vectors or options.embed)):
            screen.say(f"{note} (--vectors, --embed)")
        _print_unusual(screen, collection, account, groups, options)
        _print_next_commands(screen, options)
        failed = documents.counts.failed
    if failed > MOST_FAILURES * max(1, failed + account.number):
        raise SystemExit(1)


def _choose_format(options: Options) -> str:
    """Return the output format, and check it and the output file. Raise UsageError if they do not fit."""
    from topiarist.cli.terminal.targets import check_file
    from topiarist.collection.describe.tables import TABLE_FORMATS, find_table_format

    kind, formats = options.format, (TABLE, *TABLE_FORMATS)
    if kind is not None and kind not in formats:
        raise UsageError(f"there is no format {kind!r}", hint=format_proposals(kind, formats).replace("'", ""))
    if kind is None:
        kind = find_table_format(options.output) if options.output else TABLE
    if kind == TABLE and options.output:
        raise UsageError("the format table cannot be written to a file", hint="Use --format csv.")
    if kind == "parquet" and not options.output:
        raise UsageError("Parquet needs a file", hint="Write to a file, such as --output filed.parquet.")
    if options.output:
        check_file(options.output, force=True)
    return kind


def _open_sources(collection: Collection, options: Options) -> Reading:
    """Return an open reading of the new sources, with the reading settings of the collection."""
    settings = options.reading_settings(collection)
    return read(
        options.new,
        settings.columns,
        include=options.include or (),
        exclude=options.exclude or (),
        stdin=cast(BinaryIO, UnbufferedStream(sys.stdin.buffer)) if options.live else None,
        xml_path=settings.xml_path,
        ocr=settings.ocr,
    )


def _file_documents(
    screen: Screen, collection: Collection, documents: Reading, options: Options
) -> Iterator[FiledDocument]:
    """Yield filed documents. Store them in the collection if the options ask for it."""
    from topiarist.collection.document_vectors import vector_source
    from topiarist.collection.file.arrivals import add_documents, file_documents

    if options.vectors is not None and options.live and options.keeps:
        raise UsageError(
            "--vectors cannot be used with documents of standard input", hint="Use --embed, or add a file of documents."
        )

    def add(batch: Iterable[Document]) -> Iterator[FiledDocument]:
        return add_documents(
            collection, batch, options.rho, learn=not options.no_learn, several=options.several, rename=options.rename,
            dates=options.dates, vectors=vector_source(options.vectors, options.embed),
        )  # fmt: skip

    if options.keeps:
        return _add_batches(screen, add, documents) if options.live else add(documents)
    vectors = vector_source(options.vectors, options.embed)
    return file_documents(
        collection, documents, options.rho, several=options.several, live=options.live, vectors=vectors
    )


def _add_batches(
    screen: Screen, add: Callable[[list[Document]], Iterator[FiledDocument]], documents: Iterable[Document]
) -> Iterator[FiledDocument]:
    """Add batches of an endless stream; each batch is stored before its rows are printed."""
    from topiarist.collection.file.arrivals import collect_batches

    number = 0
    for batch in collect_batches(documents, BATCH, PATIENCE):
        try:
            rows = list(add(batch))
        except TopiaristError as error:
            if not number:
                raise
            stored = f"{count_noun(number, 'document')} before are kept"
            raise type(error)(f"{error.message}; {stored}", hint=error.hint) from None
        number += len(rows)
        screen.say(f"{count_noun(number, 'document')} added so far")
        yield from rows
    if not number:
        raise InputError(
            "expected documents on standard input, got none",
            hint='Write lines such as {"id": "1", "text": "…"} to standard input.',
        )


def _flush_rows(rows: Iterable[FiledDocument], *, flush: bool) -> Iterator[FiledDocument]:
    """Yield the documents unchanged. With ``flush``, empty the output buffer after each one."""
    for row in rows:
        yield row
        if flush:
            sys.stdout.flush()


def _print_table(screen: Screen, rows: Iterable[FiledDocument], *, flush: bool) -> None:
    """Print each document with its path, deciding words, labels and other topics."""
    for row in _flush_rows(rows, flush=flush):
        title = one_line(row.document.title or row.document.id)
        steps = zip(row.path, row.certainty, strict=True)
        path = STEP.join([ROOT, *(f"{one_line(name)} {percent(share)}" for name, share in steps)])
        path = f"does not fit: {row.misfit}" if row.misfit else path
        other_places = "; ".join(f"{join_path(place.path)} {percent(place.share)}" for place in row.places[1:])
        facts = {"": ", ".join(row.words), "labels: ": ", ".join(row.labels), "also: ": other_places}
        parts = [lead + fact for lead, fact in facts.items() if fact]
        facts_line = "   ".join([*parts, *["UNUSUAL"] * row.unusual])
        if screen.width is None:  # rich would take longer than the model
            text = f"{title}  [{one_line(row.document.id)}]\n    {path}\n    {one_line(facts_line)}\n"
            sys.stdout.write(clean(text, ascii=screen.ascii))
            continue
        screen.print_titled("", title, row.document.id)
        screen.print(path, indent=4)
        screen.print(Text(facts_line, "yellow" if row.unusual else "dim"), indent=4)
    sys.stdout.flush()


def _encode_row(collection: Collection, row: FiledDocument) -> dict[str, Any]:
    """Return a filed document as a record for tables and JSON lines."""
    from topiarist.trees.exchange import format_path

    outline = collection.outline

    def path(topic: int) -> str:
        return format_path(outline.tree, outline.node(topic))

    return {
        "id": row.document.id, "title": row.document.title, "path": path(row.topic), "topic": row.topic,
        "certainty": row.certainty[-1] if row.certainty else 1.0, "words": list(row.words), "unusual": row.unusual,
        "misfit": row.misfit, "labels": list(row.labels), "label_certainty": list(row.label_certainty),
        "topics": [{"path": path(place.topic), "share": round(place.share, 4)} for place in row.places],
    }  # fmt: skip


def _propose_groups(screen: Screen, collection: Collection, account: Account, options: Options) -> tuple[NewTopic, ...]:
    """Return proposed topics of the unusual documents; none without ``--branch``."""
    from topiarist.collection.file.new_topics import propose_topics

    if not options.branch or not account.unusual:
        return ()
    with screen.waiting("Looking for new topics"):
        documents = [row.document for row in account.unusual]
        return propose_topics(collection, documents, [row.topic for row in account.unusual])


def _move_files(screen: Screen, account: Account, options: Options) -> dict[str, str]:
    """Move files into folders of their topics and print them. Return old and new paths; may be empty."""
    from topiarist.collection.file.file_moves import move_files, plan_moves

    if options.move_to is None:
        return {}
    moves, left = plan_moves(account.kept, options.move_to)
    if not options.dry_run:
        move_files(moves)
    verb = "would be moved" if options.dry_run else "moved"
    screen.say(f"{count_noun(len(moves), 'file')} {verb} into {options.move_to}")
    screen.say_items([f"{one_line(source)} → {one_line(target)}" for source, target in moves.items()], MAX_LISTED)
    if left:
        screen.say(f"{count_noun(left, 'document')} stay where they are: rows of tables, messages of mailboxes")
    return moves


def _print_summary(screen: Screen, account: Account, options: Options, seconds: float) -> None:
    """Print the number of documents at the root, in lower topics and without topic, and the speed."""
    misfits = sum(bool(row.misfit) for row in account.unusual)
    at = {
        "at the root": account.levels[0] - misfits,
        "lower down": account.number - account.levels[0],
        verb(misfits, "fits nowhere", "fit nowhere"): misfits,
    }
    where = ", ".join(f"{number:,} {place}" for place, number in at.items() if number)
    speed = f"; {account.number / max(seconds, 1e-9):,.0f} a second" if account.number >= MIN_TIMED else ""
    screen.say(f"\n{account} {'added' if options.keeps else 'filed'}: {where}{speed}")
    if options.dry_run and options.add:
        screen.say("Nothing was kept: --dry-run.")
    if options.output:
        screen.say(f"The rows are in {options.output}")


def _print_columns(screen: Screen, collection: Collection, documents: Reading, options: Options) -> None:
    """Print the columns that were read, and the columns of the collection that are missing."""
    from topiarist.collection.grow.read_as_grown import describe_columns, find_missing_columns

    for sentence in describe_columns(documents.chosen):
        screen.say(sentence)
    for role, column in find_missing_columns(collection, documents.chosen).items():
        if any((f"--{role}-column", name) in options.named for name in ("", NONE)):  # the user wants none
            continue
        screen.say(f"No column for the {role}: in the collection it is {one_line(column)} (--{role}-column NAME)")


def _print_copies(screen: Screen, account: Account) -> None:
    """Print the documents that are copies of documents in the collection."""
    if not account.copies:
        return
    exact = sum(row.shared == 1.0 for row in account.copies)
    screen.say(f"{count_copies(exact, len(account.copies) - exact)} of documents in the collection:")
    lines = []
    for row in account.copies:
        share = "" if row.shared == 1.0 else f"  ({whole_percent(row.shared)} of the words)"
        lines.append(f"{one_line(row.document.id)} → {one_line(row.copy_of)}{share}")
    screen.say_items(lines, MAX_LISTED)


def _print_unusual(
    screen: Screen, collection: Collection, account: Account, groups: tuple[NewTopic, ...], options: Options
) -> None:
    """Print the unusual documents, with proposed topics or the command that creates a topic."""
    if not account.unusual:
        return
    n_far, by_vectors = sum(row.far for row in account.unusual), ""
    if n_far and (outliers := collection.outlier_threshold) is not None:
        share = percent(1 - outliers.share)
        by_vectors = (
            f", or with embeddings farther from all topics than {share} of the documents in the collection ({n_far:,})"
        )
    number = count_noun(len(account.unusual), "document")
    screen.say(f"{number} unusual, of words that this collection hardly knows{by_vectors}:")
    documents = [row.document for row in account.unusual]
    screen.say_items(
        [f"{one_line(document.title or document.id)}  [{one_line(document.id)}]" for document in documents], MAX_LISTED
    )
    if options.branch:
        _print_groups(screen, groups)
        return
    ((topic, _),) = Counter(row.topic for row in account.unusual).most_common(1)
    ids = [document.id for document in documents[:MAX_LISTED]]
    screen.say(f"To grow them into a branch{'' if options.add else ', once they are added'}:")
    screen.say(
        "  " + screen.format_command(f"shape FOLDER branch NAME under {topic} with {' '.join(['{}'] * len(ids))}", *ids)
    )


def _print_groups(screen: Screen, groups: tuple[NewTopic, ...]) -> None:
    """Print proposed topics with their words and the edit that creates each."""
    from topiarist.collection.file.new_topics import BY_WORDS
    from topiarist.collection.shape.edit_language import format_edit

    if not groups:
        screen.say("No group among them has anything in common.")
        return
    if groups[0].how == BY_WORDS:
        screen.say("Groups whose words make each other's held-out words more probable:")
    else:
        screen.say("No group predicts its held-out words better; grouped by the nearest topic:")
    for group in groups[:MAX_LISTED]:
        screen.say(f"  {count_noun(len(group.documents), 'document')}: {', '.join(group.words[:6])}")
        screen.say(f"    {screen.format_command('shape FOLDER')} {one_line(format_edit(group.edit))}")


def _print_next_commands(screen: Screen, options: Options) -> None:
    """Print the next commands; after filing without storing, the same command with ``--add``."""
    if options.keeps:
        screen.print_next("tree FOLDER", "find FOLDER WORDS")
    elif options.dry_run:
        screen.print_next("file FOLDER … without --dry-run")
    else:
        order = [] if options.dates is None else ["--dates", options.dates]
        typed = [*options.new, *(part for option in options.named for part in option), *order]
        screen.print_next((f"file FOLDER {' '.join(['{}'] * len(typed))} --add", *typed))


def _build_body(
    account: Account, groups: tuple[NewTopic, ...], moved: dict[str, str], documents: Reading, options: Options
) -> dict[str, Any]:
    """Return the result of a run as JSON data."""
    return {
        "added": options.keeps,
        "documents": account.number,
        "unusual": [row.document.id for row in account.unusual],
        "copies": [{"id": row.document.id, "of": row.copy_of, "shared": row.shared} for row in account.copies],
        "new_topics": [asdict(group) for group in groups],
        "moved": moved,
        "problems": [asdict(problem) for problem in documents.problems],
        "filed": [row.to_dict() for row in account.kept],
    }
