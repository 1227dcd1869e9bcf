"""Documents on their way through: one thread puts them into the database while others go on with them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from topiarist.store.document_table import Documents
from topiarist.text.documents import Document

WAITING = 4_000  # documents between the two, at most


class _StoppedError(Exception):
    """The reader has given up."""


@contextmanager
def loading(documents: Documents) -> Iterator[Callable[[Iterable[Document]], Iterator[Document]]]:
    """A function that passes documents on, and has each of them written beside; all are on the disk when this ends.

    If anything fails, on either side, none of them is kept. The full-text index is not made yet.
    """
    waiting: queue.Queue[Document | BaseException | None] = queue.Queue(WAITING)
    failed: list[BaseException] = []

    def arriving() -> Iterator[Document]:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    def write() -> None:
        try:
            documents.load(arriving(), index=False)
        except BaseException as error:
            failed.append(error)
            while not done.is_set():  # nobody must wait for a place in the queue
                try:
                    waiting.get(timeout=0.05)
                except queue.Empty:
                    continue

    def passing(stream: Iterable[Document]) -> Iterator[Document]:
        for document in stream:
            if failed:
                raise failed[0]
            waiting.put(document)
            yield document

    done = threading.Event()
    writer = threading.Thread(target=write, name="documents", daemon=True)
    writer.start()
    try:
        yield passing
        waiting.put(None)
        writer.join()
    except BaseException:
        waiting.put(_StoppedError())
        done.set()
        writer.join()
        raise
    finally:
        done.set()
    if failed:
        raise failed[0]
