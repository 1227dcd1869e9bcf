"""Documents from a stream that may never end, kept a batch at a time: nobody waits for an end that does not come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from queue import Empty, Queue
from typing import Any

from topiarist.app.cli.terminal.printing import counted
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.cli.using_options import FileOptions
from topiarist.collection.collection import Collection
from topiarist.collection.file import arrivals
from topiarist.collection.file.arrivals import Filed
from topiarist.errors import InputError, TopiaristError
from topiarist.text.documents import Document

BATCH, SECONDS = 500, 10.0  # documents, or time since the first of them: whichever comes first


def added(
    collection: Collection, documents: Iterable[Document], options: FileOptions, screen: Screen
) -> Iterator[Filed]:
    """Add batch after batch; each is in the collection, and said so, before its rows come."""
    number = 0
    for batch in gathered(documents):
        try:
            rows = list(
                arrivals.add(
                    collection, batch, options.rho, learn=not options.no_learn, several=options.several,
                    rename=options.rename,
                )
            )  # fmt: skip
        except TopiaristError as error:
            if number:
                raise type(error)(
                    f"{error.message}; {counted(number, 'document')} before are kept", hint=error.hint
                ) from None
            raise
        number += len(rows)
        screen.say(f"{counted(number, 'document')} added so far")
        yield from rows
    if not number:
        raise InputError("no documents came on standard input", hint='lines such as {"id": "1", "text": "…"}')


def gathered(documents: Iterable[Document], size: int = BATCH, seconds: float = SECONDS) -> Iterator[list[Document]]:
    """Lists of so many documents, or of those that came within so many seconds of the first."""
    waiting: Queue[Any] = Queue(2 * size)
    end: list[BaseException | None] = []

    def reads() -> None:
        failed = None
        try:
            for document in documents:
                waiting.put(document)
        except BaseException as error:
            failed = error
        end.append(failed)
        waiting.put(end)

    threading.Thread(target=reads, daemon=True).start()
    batch: list[Document] = []
    until = 0.0
    while True:
        try:
            found = waiting.get(timeout=max(0.0, until - time.monotonic()) if batch else None)
        except Empty:
            found = None
        if isinstance(found, Document):
            until = until if batch else time.monotonic() + seconds
            batch.append(found)
        if batch and (found is None or found is end or len(batch) == size):
            yield batch
            batch = []
        if found is end:
            if end[0] is not None:
                raise end[0]
            return
