"""The collection that a server shows: always its latest state, and the one piece of work that may run beside."""

from __future__ import annotations

import secrets
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from topiarist.app.explorer.asking import deadline
from topiarist.app.explorer.view import View
from topiarist.errors import TopiaristError, UsageError
from topiarist.files import log
from topiarist.files.collection import Collection
from topiarist.files.manifest import read_manifest

T = TypeVar("T")
KEPT = 64 << 20  # letters of documents that wait to be filed


@dataclass
class Job:
    """A fit that runs while pages stay readable."""

    began: float
    done: bool = False
    error: str = ""
    seconds: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds until now, or until the end."""
        return self.seconds if self.done else time.monotonic() - self.began


@dataclass
class Desk:
    """What requests share: the folder, the token of its forms, the latest view."""

    folder: str
    read_only: bool = False
    beside: tuple[Desk, ...] = ()  # other collections that were named at the start, to compare with
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    job: Job | None = None
    brought: OrderedDict[str, Any] = field(default_factory=OrderedDict)  # documents to file, until somebody says so
    _view: View | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def view(self) -> View:
        """The latest state; opened anew only where somebody has changed it."""
        with self._lock:
            if self._view is None or self._changed(self._view):
                self._view = self._opened()
                self._view.beside = tuple(
                    (Path(desk.folder).name.removesuffix(".topiary"), desk.view) for desk in self.beside
                )
            return self._view

    def _opened(self) -> View:
        """The latest state; asked for once more where it was replaced between a look and the next."""
        known = read_manifest(Path(self.folder), self.folder) if self._view is not None else None
        try:
            return View.open(self.folder, self._view)
        except (TopiaristError, OSError, sqlite3.Error):
            if known is None or read_manifest(Path(self.folder), self.folder) == known:
                raise
            return View.open(self.folder)

    def looked_at(self, view: View, look: Callable[[View], T]) -> T:
        """What is seen in a view; if it went away meanwhile, because the collection was grown anew, in the new one."""
        try:
            with deadline():
                return look(view)
        except (TopiaristError, OSError, sqlite3.Error):
            fresh = self.view()
            if fresh.collection.generation.folder == view.collection.generation.folder:
                raise
            with deadline():
                return look(fresh)

    @staticmethod
    def _changed(view: View) -> bool:
        folder = view.collection.folder
        if read_manifest(folder.path, folder.shown) != folder.manifest:
            return True
        latest = view.collection.generation.database.one("SELECT after FROM edits ORDER BY number DESC LIMIT 1")
        return latest is not None and latest[0] != view.number

    def writer(self) -> Collection:
        """A collection of its own for whoever writes: views stay as they are."""
        return Collection.open(self.folder)

    def refit(self) -> Job:
        """Begin to fit the tree as it is now, unless that runs already."""
        with self._lock:
            if self.job is not None and not self.job.done:
                return self.job
            self.job = Job(time.monotonic())
        threading.Thread(target=self._fit, args=(self.job,), daemon=True, name="refit").start()
        return self.job

    def _fit(self, job: Job) -> None:
        try:
            with self.writer() as collection:
                if collection.outline.pending:
                    collection.shape((), refit=True)
        except TopiaristError as error:
            job.error = error.message
        except Exception as error:
            job.error = f"the fit failed ({type(error).__name__}); the tree is as it was"
        finally:
            job.seconds, job.done = time.monotonic() - job.began, True

    def keep_for_later(self, documents: Any) -> str:
        """Remember documents that somebody brought but has not filed; the last few only."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self.brought[key] = documents
            while len(self.brought) > 8 or (len(self.brought) > 1 and self._size() > KEPT):
                self.brought.popitem(last=False)
        return key

    def _size(self) -> int:
        return sum(len(one.text) for documents in self.brought.values() for one in documents)

    def undoable(self, view: View) -> str:
        """What undo would take back, in words; nothing if there is nothing."""
        from topiarist.files.shaping import last_step, told

        try:
            return told(last_step(view.collection.generation))
        except UsageError:
            return ""

    def history(self, view: View, since: str) -> list[log.Edit]:
        """What was done after a state, newest first; nothing if it was one of another generation."""
        generation, _, number = since.rpartition(":")
        if generation != view.mark.rpartition(":")[0]:
            return []
        kept = []
        for entry in log.history(view.collection.generation.database, limit=50):
            if str(entry.after) == number and entry.kind != "undo":
                break
            kept.append(entry)
        return kept
