"""Stream of documents from sources, with an account of skipped files."""

from __future__ import annotations

import io
import os
import sys
import weakref
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from typing import IO, BinaryIO, Self, cast

from topiarist.errors import TopiaristError, UsageError
from topiarist.text.documents import Document, Problem
from topiarist.text.parsers import Extracted, Limits, Pool, Task
from topiarist.text.readers.account import Account, Counts, create_empty_error
from topiarist.text.readers.columns import Columns, ReadingSettings, TableColumns
from topiarist.text.readers.contents import check_ocr, items_inside, items_of
from topiarist.text.readers.file_systems import LocalCopies, is_url, remove_secret, to_local_path
from topiarist.text.readers.items import File, Item, ReadFailure, ReadNote, Setting, Unknown
from topiarist.text.readers.kinds import kind_of
from topiarist.text.readers.making import create_document, format_place
from topiarist.text.readers.sources import STANDARD_INPUT, Selection, SourceCounts, check_sources, find_files
from topiarist.text.seen_keys import SeenKeys

__all__ = ["Reading", "read"]

AnyPath = str | os.PathLike[str]
Answer = Future[Extracted]
MAX_SOURCE_PATHS = 1_000  # paths for the sandbox; beyond that, folders


def read(
    sources: AnyPath | Iterable[AnyPath],
    columns: Columns | None = None,
    *,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    limit: int | None = None,
    limits: Limits | None = None,
    follow_links: bool = False,
    stdin: IO[bytes] | IO[str] | None = None,
    xml_path: str = "",
    ocr: bool | None = None,
) -> Reading:
    """Return the documents of files and folders as a stream.

    Parameters
    ----------
    sources
        One path or several; ``"-"`` is JSON lines on standard input. Folders are walked in sorted order;
        hidden files and collections (``*.topiary``) are skipped. A URL that fsspec opens (``s3://…``,
        ``https://…``) is a file, a folder or a pattern; each file is downloaded when it is read.
    columns
        Names of the columns of tables by role; see `Columns`.
    include, exclude
        Patterns such as ``*.pdf`` or ``2020/*`` for files in folders; a file named in `sources` is always
        read. A file of an unknown type is read as plain text if an `include` pattern ends in its suffix.
    limit
        Maximum number of documents.
    limits
        Limits of time, memory and text of one document; see `Limits`.
    follow_links
        Follow links to files and folders outside the sources. A link in a folder from someone else can point
        to your own files. Each folder is read once, so loops end.
    stdin
        Stream for ``"-"``. Default: standard input of the process.
    xml_path
        Path of the elements of an XML file that are documents, such as ``record`` or ``channel/item``. Default:
        the whole file is one document.
    ocr
        Read scanned pages of PDF files (``pip install 'topiarist[ocr]'``): all, none, or by default those of a
        PDF without any text, if the package is installed.

    Raises
    ------
    UsageError
        At once, if a path does not exist or the text column of a named table is not clear.
    """
    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    paths: dict[str, str] = {}
    for path in named:
        name = to_local_path(os.fspath(path))
        paths.setdefault(name if name == STANDARD_INPUT or is_url(name) else os.path.abspath(name), name)
    if not paths:
        raise UsageError(
            "expected at least one source", hint="Pass a folder, a file, or - for JSON lines on standard input."
        )
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be at least 1, got {limit}")
    if ocr:
        check_ocr()
    selection = Selection(_to_patterns(include), _to_patterns(exclude), follow_links)
    reading = Reading(
        list(paths.values()), selection, columns or Columns(), limits or Limits(), limit, stdin, xml_path, ocr
    )
    reading.check()
    return reading


class Reading:
    """Iterable of documents with an account of skipped files.

    Each iteration starts from the beginning, with a new account; standard input can be read only once. The worker
    processes end when the loop is left, when the reading is closed, or at the end of its ``with`` block.
    """

    def __init__(
        self,
        sources: list[str],
        selection: Selection,
        columns: Columns,
        limits: Limits,
        limit: int | None = None,
        stdin: IO[bytes] | IO[str] | None = None,
        xml_path: str = "",
        ocr: bool | None = None,
    ) -> None:
        self._sources = sources
        self._selection = selection
        self._columns = columns
        self._limits = limits
        self._limit = limit
        self._stdin = stdin
        self._xml_path = xml_path
        self._ocr = ocr
        self._stdin_spent = False
        self._account = Account()
        self._listing: tuple[list[File | Problem], SourceCounts] | None = None
        self._stream: weakref.ref[Generator[Document, None, None]] | None = None

    @property
    def settings(self) -> ReadingSettings:
        """Settings of this reading."""
        return ReadingSettings(self._columns, self._xml_path, self._ocr)

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources as the user named them, each once."""
        return tuple(self._sources)

    @property
    def problems(self) -> list[Problem]:
        """Skipped items so far, with reasons; at most about a hundred for each file, then their number."""
        return self._account.problems

    @property
    def counts(self) -> Counts:
        """Numbers of documents read, empty, of unknown type or failed so far."""
        return self._account.counts

    @property
    def current_file(self) -> tuple[str, float]:
        """Name of the file that is read now and seconds since it was opened; an empty name between files."""
        return self._account.current_file

    @property
    def chosen(self) -> dict[TableColumns, int]:
        """Columns of the tables so far, with the number of tables."""
        return dict(self._account.chosen)

    def __iter__(self) -> Iterator[Document]:
        self.close()
        self._account = Account()
        stream = self._iterate_documents(self._account)
        # A weak reference: leaving the loop frees the stream and its workers at once.
        self._stream = weakref.ref(stream)
        return stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the current iteration and its worker processes."""
        stream = self._stream() if self._stream is not None else None
        if stream is not None:
            stream.close()

    def files(self) -> list[File | Problem]:
        """Return the files to read, without opening them; a file of unknown type has the kind None.

        Folders are walked once: a later iteration reads exactly these files.
        """
        if self._listing is None:
            survey = SourceCounts()
            self._listing = list(find_files(self._sources, self._selection, survey, self._get_input())), survey
        return self._listing[0]

    def _iterate_files(self, account: Account) -> Iterator[File | Problem]:
        """Return the listed files, or find files while they are read; set the counts of the account."""
        if self._listing is None:
            return find_files(self._sources, self._selection, account.source_counts, self._get_input())
        files, survey = self._listing
        account.source_counts = replace(survey, unknown=Counter())
        return iter(files)

    def check(self) -> None:
        """Raise errors that are known before reading: missing paths, and tables without a clear text column."""
        check_sources(self._sources)
        with closing(self._create_pool()) as pool:
            setting = self._setting(pool)
            for source in self._sources:
                kind, packing = kind_of(source)
                if kind is None or kind.read is None or not kind.table or not os.path.isfile(source):
                    continue
                # Other faults are items, which the reading reports as problems.
                next(items_of(File(source, source, kind, packing, named=True), setting), None)

    def _create_pool(self, copy_folders: Sequence[str] = ()) -> Pool:
        """Return workers that can open only the sources and ``copy_folders``; all files if links are followed."""
        if self._selection.follow_links:
            return Pool(self._limits)
        paths = {os.path.realpath(source) for source in self._sources if os.path.exists(source)}
        if len(paths) > MAX_SOURCE_PATHS:
            paths = {os.path.dirname(path) for path in paths}
        return Pool(self._limits, sorted({*paths, *copy_folders}))

    def _setting(self, pool: Pool) -> Setting:
        return Setting(self._columns, self._limits, pool, self._xml_path, self._ocr, items_inside)

    def _iterate_documents(self, account: Account) -> Generator[Document, None, None]:
        """Yield the documents of the sources up to the limit; raise an error if there is none."""
        with (
            LocalCopies(self._sources) as copies,
            closing(self._create_pool(copies.folders)) as pool,
            closing(SeenKeys()) as ids,
        ):
            setting = replace(self._setting(pool), chosen=account.chosen)
            for file, answer in self._read_ahead(self._iterate_files(account), pool, copies):
                if isinstance(file, File) and file.kind is not None:
                    file = copies.download(file)
                if isinstance(file, Problem):
                    account.add_unreachable(file)
                    continue
                account.open(file)
                try:
                    if file.stream is not None:
                        self._spend_stdin()
                    for item in items_of(file, setting, answer):
                        document = self._accept(file, item, ids, account)
                        if document is not None:
                            yield document
                            if self._limit is not None and account.counts.read == self._limit:
                                return
                finally:
                    account.close()
                    copies.release(file)
        if not account.counts.read:
            raise self._create_empty_error(account)

    def _read_ahead(
        self, files: Iterator[File | Problem], pool: Pool, copies: LocalCopies
    ) -> Iterator[tuple[File | Problem, Answer | None]]:
        """Yield the files in order, while the workers parse the next few."""
        waiting: deque[tuple[File | Problem, Answer | None]] = deque()
        for file in files:
            answer = None
            if parser := _get_parser(file):
                file = copies.download(cast(File, file))
            if parser and isinstance(file, File):
                answer = pool.submit(Task(parser, path=os.path.abspath(file.path)))
            waiting.append((file, answer))
            if len(waiting) > 2 * self._limits.workers:
                yield waiting.popleft()
        yield from waiting

    def _accept(self, file: File, item: Item, ids: SeenKeys, account: Account) -> Document | None:
        """Create a document with a unique id; for other items, note the reason and return None."""
        if isinstance(item, Unknown):
            account.unknown(file.name + item.member)
            return None
        place = format_place(item)
        if isinstance(item, ReadNote):
            account.add_note(item.reason, place)
            return None
        if isinstance(item, ReadFailure):
            account.skip("failed", item.reason, place)
            account.errors += [] if item.error is None else [item.error]
            return None
        document = create_document(item, file.id, file.name, self._limits.characters)
        if document is None:
            if item.text.strip():
                account.count("no_answer")
            reason = f"no answer: “{item.text.strip()}”" if item.text.strip() else "no text"
            account.skip("empty", item.note or reason, place)
            return None
        note = item.note
        if len(item.text) > self._limits.characters:
            note = f"only the first {self._limits.characters:,} characters are kept"
        if note:
            account.skip("partial", note, place)
        id = ids.claim_id(document.id)
        if id != document.id:
            account.count("renamed")
        account.count("read")
        return document if id == document.id else replace(document, id=id)

    def _create_empty_error(self, account: Account) -> TopiaristError:
        """Create the error for sources without documents: the first read error, if there is one."""
        if account.errors:
            return account.errors[0]
        return create_empty_error(
            [*map(remove_secret, self._sources)], account.source_counts, account.problems, str(account.counts)
        )

    def _get_input(self) -> BinaryIO:
        stream = sys.stdin if self._stdin is None else self._stdin
        if isinstance(stream, io.StringIO):
            return io.BytesIO(stream.getvalue().encode("utf-8", "surrogatepass"))
        return cast(BinaryIO, getattr(stream, "buffer", stream))

    def _spend_stdin(self) -> None:
        """Raise UsageError if standard input was read before; else mark it as read."""
        if self._stdin_spent:
            raise UsageError("standard input can be read only once", hint="Save it to a .jsonl file first.")
        self._stdin_spent = True


def _get_parser(file: File | Problem) -> str:
    """Return the parser of a whole file on disk; an empty string if there is none."""
    return "" if isinstance(file, Problem) or file.kind is None or file.packing else file.kind.parser


def _to_patterns(patterns: str | Iterable[str]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else tuple(patterns)
