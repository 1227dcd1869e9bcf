"""The stream of documents: sources in, documents out, and an account of the rest."""

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
from topiarist.text.extract import Extracted, ExtractError, Limits, Pool, Task
from topiarist.text.readers.account import Account, Counts
from topiarist.text.readers.columns import Chosen, Columns
from topiarist.text.readers.file_systems import Brought, is_address, local_path, without_secret
from topiarist.text.readers.identity import UniqueIds
from topiarist.text.readers.inside import scans
from topiarist.text.readers.inside.contents import items_inside, items_of
from topiarist.text.readers.items import File, Item, Remark, Setting, Trouble, Unknown
from topiarist.text.readers.kinds import kind_of
from topiarist.text.readers.lines import READ_ERRORS
from topiarist.text.readers.making import document_from, place_of
from topiarist.text.readers.nothing_read import nothing_read
from topiarist.text.readers.sources import STANDARD_INPUT, Selection, Survey, check, find

__all__ = ["Reading", "read"]

AnyPath = str | os.PathLike[str]
Answer = Future[Extracted]
MANY_SOURCES = 1_000  # of more than these the folders are told to parsers


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
    """Documents from files and folders, one after the other.

    Parameters
    ----------
    sources
        One path or several; ``"-"`` is JSON lines on standard input. Folders are walked in sorted order;
        hidden files and collections (``*.topiary``) are passed over. An address that fsspec opens (``s3://…``,
        ``https://…``) is a file, a folder or a pattern elsewhere: each file is brought here when its turn comes.
    columns
        Which columns of tables hold what; see `Columns`.
    include, exclude
        Patterns such as ``*.pdf`` or ``2020/*`` for files in folders; a file named in `sources` is always
        read. A file whose suffix has no reader is read as plain text when an `include` pattern ends in it.
    limit
        Stop after so many documents.
    limits
        How much time, memory and text one document may take; see `Limits`.
    follow_links
        Whether links to files and folders are followed that lead elsewhere: whoever gives you a folder could have
        your own files read. Every folder is read once, so loops end.
    stdin
        The stream behind ``"-"``, when it is not the process's own.
    xml_path
        Which elements of an XML file are documents, such as ``record`` or ``channel/item``; without it the whole
        file is one.
    ocr
        Whether pages of a PDF that are pictures are read (``pip install 'topiarist[ocr]'``): all of them, none, or,
        by default, those of a PDF without any text if the package is there.

    Raises
    ------
    UsageError
        At once, for a path that does not exist or a named table whose text column is not clear.
    """
    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    once: dict[str, str] = {}
    for path in named:
        name = local_path(os.fspath(path))
        once.setdefault(name if name == STANDARD_INPUT or is_address(name) else os.path.abspath(name), name)
    if not once:
        raise UsageError("no source was named", hint="a folder, a file, or - for JSON lines on standard input")
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be at least 1, got {limit}")
    if ocr:
        scans.check()
    selection = Selection(_patterns(include), _patterns(exclude), follow_links)
    reading = Reading(
        list(once.values()), selection, columns or Columns(), limits or Limits(), limit, stdin, xml_path, ocr
    )
    reading.check()
    return reading


class Reading:
    """Documents, as an iterable that keeps an account of what it left out.

    Each iteration starts from the beginning, with a new account; standard input can be read only once.
    Leaving the loop early, closing the reading or leaving its ``with`` block ends the worker processes.
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
        self._walked: tuple[list[File | Problem], Survey] | None = None
        self._stream: weakref.ref[Generator[Document, None, None]] | None = None

    @property
    def problems(self) -> list[Problem]:
        """What was left out so far, and why; at most about a hundred per file, then their number."""
        return self._account.problems

    @property
    def counts(self) -> Counts:
        """How many documents were read, empty, of unknown type or failed so far."""
        return self._account.counts

    @property
    def chosen(self) -> dict[Chosen, int]:
        """Which columns of the tables read so far are text, id, title, label and date, and of how many tables."""
        return dict(self._account.chosen)

    def __iter__(self) -> Iterator[Document]:
        self.close()
        self._account = Account()
        stream = self._documents(self._account)
        # Weakly: a loop that is left drops the stream, and with it the workers, at once.
        self._stream = weakref.ref(stream)
        return stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration at hand and its worker processes."""
        stream = self._stream() if self._stream is not None else None
        if stream is not None:
            stream.close()

    def files(self) -> list[File | Problem]:
        """The files to read, without opening them; one of no known type has the kind None.

        Folders are walked once: whoever asks for the files before reading reads those, and no others.
        """
        if self._walked is None:
            survey = Survey()
            self._walked = list(find(self._sources, self._selection, survey, self._input())), survey
        return self._walked[0]

    def _files(self, account: Account) -> Iterator[File | Problem]:
        """The files that were found before, or those that are found now, on the way."""
        if self._walked is None:
            return find(self._sources, self._selection, account.survey, self._input())
        files, survey = self._walked
        account.survey = replace(survey, unknown=Counter())
        return iter(files)

    def check(self) -> None:
        """Refuse what can be refused before reading: missing paths, tables whose columns are not clear."""
        check(self._sources)
        with closing(self._pool()) as pool:
            setting = self._setting(pool)
            for source in self._sources:
                kind, packing = kind_of(source)
                if kind is None or kind.read is None or not kind.table or not os.path.isfile(source):
                    continue
                try:
                    next(kind.read(File(source, source, kind, packing, named=True), setting), None)
                except (ExtractError, *READ_ERRORS):
                    continue  # reported as a problem in its turn

    def _pool(self, brought: Sequence[str] = ()) -> Pool:
        """Workers that can open the sources and nothing else; whoever follows links has to open anything.

        ``brought``: folders of what came from elsewhere.
        """
        if self._selection.follow_links:
            return Pool(self._limits)
        there = {os.path.realpath(source) for source in self._sources if os.path.exists(source)}
        if len(there) > MANY_SOURCES:
            there = {os.path.dirname(place) for place in there}
        return Pool(self._limits, sorted({*there, *brought}))

    def _setting(self, pool: Pool) -> Setting:
        return Setting(self._columns, self._limits, pool, self._xml_path, self._ocr, items_inside)

    def _documents(self, account: Account) -> Generator[Document, None, None]:
        with (
            Brought(self._sources) as brought,
            closing(self._pool(brought.folders)) as pool,
            closing(UniqueIds()) as ids,
        ):
            setting = replace(self._setting(pool), chosen=account.chosen)
            for file, answer in self._ahead(self._files(account), pool, brought):
                if isinstance(file, File) and file.kind is not None:
                    file = brought.bring(file)
                if isinstance(file, Problem):
                    account.unreachable(file)
                    continue
                account.open(file)
                try:
                    if file.stream is not None:
                        self._spend_stdin()
                    for item in items_of(file, setting, answer):
                        document = self._accepted(file, item, ids, account)
                        if document is not None:
                            yield document
                            if self._limit is not None and account.counts.read == self._limit:
                                return
                finally:
                    account.close()
                    brought.let_go(file)
        if not account.counts.read:
            raise self._nothing(account)

    def _ahead(
        self, found: Iterator[File | Problem], pool: Pool, brought: Brought
    ) -> Iterator[tuple[File | Problem, Answer | None]]:
        """The files in order, while the workers are already busy with the next few."""
        waiting: deque[tuple[File | Problem, Answer | None]] = deque()
        for file in found:
            answer = None
            if parser := _parser(file):
                file = brought.bring(cast(File, file))
            if parser and isinstance(file, File):
                answer = pool.submit(Task(parser, path=os.path.abspath(file.path)))
            waiting.append((file, answer))
            if len(waiting) > 2 * self._limits.workers:
                yield waiting.popleft()
        yield from waiting

    def _accepted(self, file: File, item: Item, ids: UniqueIds, account: Account) -> Document | None:
        if isinstance(item, Unknown):
            account.unknown(file.name + item.member)
            return None
        place = place_of(item)
        if isinstance(item, Remark):
            account.remark(item.reason, place)
            return None
        if isinstance(item, Trouble):
            account.left_out("failed", item.reason, place)
            account.refusals += [] if item.refusal is None else [item.refusal]
            return None
        document = document_from(item, file.id, file.name, self._limits.characters)
        if document is None:
            if item.text.strip():
                account.count("no_answer")
            reason = f"no answer: “{item.text.strip()}”" if item.text.strip() else "no text"
            account.left_out("empty", item.note or reason, place)
            return None
        note = item.note
        if len(item.text) > self._limits.characters:
            note = f"only the first {self._limits.characters:,} characters are kept"
        if note:
            account.left_out("partial", note, place)
        id = ids.claim(document.id)
        if id != document.id:
            account.count("renamed")
        account.count("read")
        return document if id == document.id else replace(document, id=id)

    def _nothing(self, account: Account) -> TopiaristError:
        if account.refusals:
            return account.refusals[0]
        return nothing_read(
            [*map(without_secret, self._sources)], account.survey, account.problems, str(account.counts)
        )

    def _input(self) -> BinaryIO:
        stream = sys.stdin if self._stdin is None else self._stdin
        if isinstance(stream, io.StringIO):
            return io.BytesIO(stream.getvalue().encode("utf-8", "surrogatepass"))
        return cast(BinaryIO, getattr(stream, "buffer", stream))

    def _spend_stdin(self) -> None:
        if self._stdin_spent:
            raise UsageError("standard input can be read only once", hint="save it to a .jsonl file first")
        self._stdin_spent = True


def _parser(file: File | Problem) -> str:
    """The parser that the whole file goes to, as it lies on the disk; none for the others."""
    return "" if isinstance(file, Problem) or file.kind is None or file.packing else file.kind.parser


def _patterns(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
