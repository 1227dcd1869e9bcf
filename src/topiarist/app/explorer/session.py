"""The collection that a server shows: always its latest state, and the one piece of work that may run beside."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from topiarist.app.explorer.jobs import CHECK, NO_JOB, Job, JobPage
from topiarist.app.explorer.query_limits import deadline
from topiarist.app.explorer.view import View
from topiarist.collection import Collection, apply_edits, check_steadiness, last_step, step_text
from topiarist.errors import TopiaristError, UsageError, lack
from topiarist.store import edit_log
from topiarist.store.collection_folder import Manifest
from topiarist.store.generation import Generation

T = TypeVar("T")
WAIT = 5.0  # seconds that a fit waits for another writer to end
REST = 3.0  # seconds at most between two steps of what works ahead
LOOKED_BACK = 50  # steps
RECENT = timedelta(minutes=5)
KEPT = 64 << 20  # letters of documents that wait to be filed


@dataclass(frozen=True)
class Step:
    """What undo would take back, in words. ``recent``: it was done a few minutes ago, and may be regretted still."""

    said: str
    kind: str
    recent: bool


@dataclass
class Session:
    """What requests share: the folder, the token of its forms, the latest view."""

    folder: str
    read_only: bool = False
    beside: tuple[Session, ...] = ()  # other collections that were named at the start, to compare with
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    job: Job | None = None
    brought: OrderedDict[str, Any] = field(default_factory=OrderedDict)  # documents to file, until somebody says so
    _view: View | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _opening: threading.RLock = field(default_factory=threading.RLock)
    _answering: int = 0  # requests that somebody waits for
    _answered: threading.Condition = field(default_factory=threading.Condition)

    def view(self) -> View:
        """The latest state that is ready: while somebody opens a newer one, all others go on with what is there."""
        known = self._view
        if known is None:
            return self.fresh()
        if (self.job is not None and self.job.holds) or not self._opening.acquire(blocking=False):
            return known
        try:
            return self.fresh()
        finally:
            self._opening.release()

    def fresh(self) -> View:
        """The latest state, waited for: whoever has changed something sees that it is changed."""
        with self._opening:
            if self._view is None or self._changed(self._view):
                self._view = self._opened()
                self._view.beside = tuple(
                    (Path(session.folder).name.removesuffix(".topiary"), session.view) for session in self.beside
                )
            return self._view

    def _opened(self) -> View:
        """The latest state; asked for once more where it was replaced between a look and the next."""
        known = Manifest.read(Path(self.folder), self.folder) if self._view is not None else None
        try:
            return View.open(self.folder, self._view)
        except (TopiaristError, OSError, sqlite3.Error):
            if known is None or Manifest.read(Path(self.folder), self.folder) == known:
                raise
            return View.open(self.folder)

    def looked_at(self, view: View, look: Callable[[View], T]) -> T:
        """What is seen in a view; if it went away meanwhile, because the collection was grown anew, in the new one."""
        with self._waited_for():
            try:
                with deadline():
                    return look(view)
            except (TopiaristError, OSError, sqlite3.Error):
                fresh = self.fresh()
                if fresh.collection.generation.folder == view.collection.generation.folder:
                    raise
                with deadline():
                    return look(fresh)

    @contextmanager
    def _waited_for(self) -> Iterator[None]:
        with self._answered:
            self._answering += 1
        try:
            yield
        finally:
            with self._answered:
                self._answering -= 1
                self._answered.notify_all()

    def rest(self) -> None:
        """For what works ahead: let those go first who wait for a page, though not for ever."""
        with self._answered:
            self._answered.wait_for(lambda: not self._answering, timeout=REST)

    @staticmethod
    def _changed(view: View) -> bool:
        folder = view.collection.folder
        if Manifest.read(folder.path, folder.shown) != folder.manifest:
            return True
        latest = edit_log.latest(view.collection.generation.database)
        return latest is not None and latest != view.number

    def writer(self) -> Collection:
        """A collection of its own for whoever writes: views stay as they are."""
        return Collection.open(self.folder)

    @contextmanager
    def marking(self, wait: float) -> Iterator[Generation]:
        """The documents of the collection, to write marks and labels.

        A fit of ours keeps all other writers out and touches no marks: nobody has to wait for it.
        """
        job, view = self.job, self.view()
        if job is None or not job.holds:
            with self.writer() as collection, collection.folder.writing(wait=wait) as generation:
                yield generation
            return
        generation = Generation.open(view.collection.generation.folder, view.collection.folder.shown, write=True)
        try:
            yield generation
        finally:
            generation.close()

    def refit(self, expected: str | None = None, after: int | None = None) -> Job:
        """Begin to fit the tree as it is now, unless that runs already. ``expected``: only if this is the state.

        ``after``: the edit that asked for it; undo takes both back at once.
        """

        def fit(job: Job) -> None:
            with self.writer() as collection:
                apply_edits(collection, (), wait=WAIT, expected=expected, watching=job, after=after)
            job.recorded, job.holds = True, False

        return self._begin(Job(began=self.fresh), fit)

    def check_steadiness(self) -> Job:
        """Begin to grow other trees, to see how steady each topic is, unless something runs already."""

        def check(job: Job) -> None:
            with self.writer() as collection:
                check_steadiness(collection, watching=job)
            job.recorded = True

        return self._begin(Job(kind=CHECK), check)

    def _begin(self, job: Job, work: Callable[[Job], None]) -> Job:
        """Do a piece of work beside the pages, unless one is being done."""
        with self._lock:
            if self.job is not None and not (self.job.done or self.job.recorded):
                return self.job
            self.job = job
        threading.Thread(target=self._work, args=(job, work), daemon=True, name=job.kind).start()
        return job

    def _work(self, job: Job, work: Callable[[Job], None]) -> None:
        try:
            work(job)
        except TopiaristError as error:
            job.end(error.message)
        except Exception as error:
            missing = lack(error)
            job.end(missing.message if missing else "a fault of ours; the tree is as it was")
        else:
            with suppress(Exception):  # what cannot be made ready now is told to whoever asks for it
                self._make_ready()
            job.end()

    def _make_ready(self) -> None:
        """Open the new state and work out what pages need, before anybody sees it."""
        ready = View.open(self.folder, self._view)
        ready.warm()
        with self._opening:
            if not self._changed(ready):
                self._view = ready

    def told(self) -> JobPage:
        """How the fit goes; whoever asks by a script shows how it has ended."""
        job = self.job
        page = NO_JOB if job is None else job.page()
        if job is not None and page.phase in ("done", "stopped"):
            job.shown = True
        return page

    def strip(self, view: View) -> JobPage:
        """The same for the strip of a page: how it has ended is told once, and why not as long as it is to be done."""
        job = self.job
        if job is None or (job.shown and not (job.error and view.shape.pending)):
            return NO_JOB
        job.shown = job.done
        return job.page()

    def keep_for_later(self, documents: Any) -> str:
        """Remember documents that somebody brought but has not filed; the last few only."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self.brought[key] = documents
            while len(self.brought) > 8 or (len(self.brought) > 1 and self._size() > KEPT):
                self.brought.popitem(last=False)
        return key

    def take(self, key: str) -> Any:
        """Documents that somebody brought, for the one who files them: who comes second finds nothing."""
        with self._lock:
            return self.brought.pop(key, None)

    def put_back(self, key: str, documents: Any) -> None:
        """They could not be stored: they can be filed again."""
        with self._lock:
            self.brought[key] = documents

    def _size(self) -> int:
        return sum(len(one.text) for documents in self.brought.values() for one in documents)

    def undoable(self, view: View) -> Step | None:
        """What undo would take back; nothing if there is nothing."""
        try:
            last = last_step(view.collection.generation)
        except UsageError:
            return None
        age = datetime.now(UTC) - datetime.fromisoformat(last.time)
        return Step(step_text(last, numbers=False), last.kind, age < RECENT)

    def history(self, view: View, since: str) -> list[edit_log.Edit]:
        """What was done after a state, newest first; nothing if it was one of another generation."""
        generation, _, number = since.rpartition(":")
        if generation != generation_of(view.mark):
            return []
        kept = []
        for entry in edit_log.history(view.collection.generation.database, limit=LOOKED_BACK):
            if str(entry.after) == number:  # also by an undo: what was before it was seen as well
                break
            kept.append(entry)
        return kept


def generation_of(mark: str) -> str:
    """What a state has in common with all others between two grows: the documents, and their numbers."""
    return mark.rpartition(":")[0]
