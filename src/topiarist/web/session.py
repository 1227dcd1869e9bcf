"""Session of a server: the newest state of the collection and one background job."""

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

from topiarist.collection.classify.learning import learn_categories
from topiarist.collection.collection import Collection
from topiarist.collection.grow.regrowth import check_steadiness
from topiarist.collection.shape.history import apply_edits, last_step, summarise_step
from topiarist.errors import TopiaristError, UsageError, to_limit_error
from topiarist.storage import edit_log
from topiarist.storage.collection_folder import Manifest
from topiarist.storage.generation import Generation
from topiarist.web.jobs import CHECK, LEARN, NO_JOB, Job, JobPage
from topiarist.web.query_limits import limit_page_time
from topiarist.web.view import View

T = TypeVar("T")
WAIT = 5.0  # seconds that a fit waits for another writer to end
REST = 3.0  # seconds at most between two steps of what works ahead
LOOKED_BACK = 50  # steps
RECENT = timedelta(minutes=5)
MAX_PENDING_CHARACTERS = 64 << 20  # letters of documents that wait to be filed


@dataclass(frozen=True)
class Step:
    """Last edit in words; ``recent`` if it is a few minutes old."""

    said: str
    kind: str
    recent: bool


@dataclass
class Session:
    """State shared by requests: the folder, the token of forms, the latest view and the running job."""

    folder: str
    read_only: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    job: Job | None = None
    brought: OrderedDict[str, Any] = field(default_factory=OrderedDict)  # documents to file, until somebody says so
    _view: View | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _opening: threading.RLock = field(default_factory=threading.RLock)
    _answering: int = 0  # requests that somebody waits for
    _answered: threading.Condition = field(default_factory=threading.Condition)

    def view(self) -> View:
        """Return the newest state that is ready, without waiting for a newer one."""
        current_view = self._view
        if current_view is None:
            return self.fresh()
        if (self.job is not None and self.job.holds) or not self._opening.acquire(blocking=False):
            return current_view
        try:
            return self.fresh()
        finally:
            self._opening.release()

    def fresh(self) -> View:
        """Return the newest state; wait until it is open."""
        with self._opening:
            if self._view is None or self._has_changed(self._view):
                self._view = self._open_newest()
            return self._view

    def _open_newest(self) -> View:
        """Open the newest state; try again if the collection was replaced meanwhile."""
        manifest = Manifest.read(Path(self.folder), self.folder) if self._view is not None else None
        try:
            return View.open(self.folder, self._view)
        except (TopiaristError, OSError, sqlite3.Error):
            if manifest is None or Manifest.read(Path(self.folder), self.folder) == manifest:
                raise
            return View.open(self.folder)

    def with_current_view(self, view: View, look: Callable[[View], T]) -> T:
        """Return a value of a view; use the new view if the collection was replaced meanwhile."""
        with self._count_request():
            try:
                with limit_page_time():
                    return look(view)
            except (TopiaristError, OSError, sqlite3.Error):
                fresh = self.fresh()
                if fresh.collection.generation.folder == view.collection.generation.folder:
                    raise
                with limit_page_time():
                    return look(fresh)

    @contextmanager
    def _count_request(self) -> Iterator[None]:
        """Count the request as running within a block, so that background work pauses."""
        with self._answered:
            self._answering += 1
        try:
            yield
        finally:
            with self._answered:
                self._answering -= 1
                self._answered.notify_all()

    def wait_for_requests(self) -> None:
        """Wait until no request is running, for a limited time."""
        with self._answered:
            self._answered.wait_for(lambda: not self._answering, timeout=REST)

    @staticmethod
    def _has_changed(view: View) -> bool:
        """Return whether the collection on disk has a newer state than the view."""
        folder = view.collection.folder
        if Manifest.read(folder.path, folder.display_path) != folder.manifest:
            return True
        latest = edit_log.latest(view.collection.generation.database)
        return latest is not None and latest != view.number

    def writer(self) -> Collection:
        return Collection.open(self.folder)

    @contextmanager
    def open_for_marks(self, wait: float) -> Iterator[Generation]:
        """Open the documents for writing marks and labels, also while a fit of this server runs.

        A fit of this server holds the lock but writes no marks, so that marks do not wait for it.
        """
        job, view = self.job, self.view()
        if job is None or not job.holds:
            with self.writer() as collection, collection.folder.writing(wait=wait) as generation:
                yield generation
            return
        generation = Generation.open(view.collection.generation.folder, view.collection.folder.display_path, write=True)
        try:
            yield generation
        finally:
            generation.close()

    def refit(self, expected: str | None = None, edit_number: int | None = None) -> Job:
        """Start a fit unless one is running. ``expected``: the state that must be current.

        ``edit_number``: the edit that asked for the fit; one undo reverts both.
        """

        def fit(job: Job) -> None:
            with self.writer() as collection:
                apply_edits(collection, (), wait=WAIT, expected=expected, reporter=job, edit_number=edit_number)
            job.recorded, job.holds = True, False

        return self._begin(Job(began=self.fresh), fit)

    def check_steadiness(self) -> Job:
        """Start to measure the stability of topics unless a job is running."""

        def check(job: Job) -> None:
            with self.writer() as collection:
                check_steadiness(collection, reporter=job)
            job.recorded = True

        return self._begin(Job(kind=CHECK), check)

    def learn(self, **settings: Any) -> Job:
        """Start to learn categories with the settings of ``learn_categories`` unless a job is running."""

        def learn(job: Job) -> None:
            with self.writer() as collection:
                learn_categories(collection, **settings, wait=WAIT)
            job.recorded = True

        job = Job(kind=LEARN)
        job.finish_steps()  # it cannot be stopped
        return self._begin(job, learn)

    def _begin(self, job: Job, work: Callable[[Job], None]) -> Job:
        """Run work in a thread and return its job; return the running job if there is one."""
        with self._lock:
            if self.job is not None and not (self.job.done or self.job.recorded):
                return self.job
            self.job = job
        threading.Thread(target=self._run_work, args=(job, work), daemon=True, name=job.kind).start()
        return job

    def _run_work(self, job: Job, work: Callable[[Job], None]) -> None:
        """Run the work of a job, load the new state and end the job; errors become its message."""
        try:
            work(job)
        except TopiaristError as error:
            job.end(error.message)
        except Exception as error:
            missing = to_limit_error(error)
            job.end(missing.message if missing else "internal error; the tree is unchanged")
        else:
            with suppress(Exception):  # what cannot be made ready now is told to whoever asks for it
                self._make_ready()
            job.end()

    def _make_ready(self) -> None:
        """Open the newest state, compute its common values and use it for later requests."""
        ready = View.open(self.folder, self._view)
        ready.warm()
        with self._opening:
            if not self._has_changed(ready):
                self._view = ready

    def describe_job(self) -> JobPage:
        """Return the job for a program; a finished one counts as shown."""
        job = self.job
        page = NO_JOB if job is None else job.page()
        if job is not None and page.phase in ("done", "stopped"):
            job.shown = True
        return page

    def report_job(self, view: View) -> JobPage:
        """Return the job for the status line; a result is returned once, an error until the next fit."""
        job = self.job
        if job is None or (job.shown and not (job.error and view.shape.pending)):
            return NO_JOB
        job.shown = job.done
        return job.page()

    def keep_for_later(self, documents: Any) -> str:
        """Keep documents in memory and return their key; the oldest are dropped."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self.brought[key] = documents
            while len(self.brought) > 8 or (
                len(self.brought) > 1 and self._count_characters() > MAX_PENDING_CHARACTERS
            ):
                self.brought.popitem(last=False)
        return key

    def take(self, key: str) -> Any:
        """Remove and return remembered documents; None if another request took them."""
        with self._lock:
            return self.brought.pop(key, None)

    def restore_kept(self, key: str, documents: Any) -> None:
        """Keep documents again under their key after a failed storage."""
        with self._lock:
            self.brought[key] = documents

    def _count_characters(self) -> int:
        """Return the characters of all kept documents."""
        return sum(len(item.text) for documents in self.brought.values() for item in documents)

    def find_undoable(self, view: View) -> Step | None:
        """Return the last step that can be undone; None without one."""
        try:
            last = last_step(view.collection.generation)
        except UsageError:
            return None
        age = datetime.now(UTC) - datetime.fromisoformat(last.time)
        return Step(summarise_step(last, numbers=False), last.kind, age < RECENT)

    def list_edits_since(self, view: View, since: str) -> list[edit_log.Edit]:
        """Return the edits since a state, newest first; none for a state of another generation."""
        generation, _, number = since.rpartition(":")
        if generation != generation_of(view.mark):
            return []
        steps = []
        for entry in edit_log.history(view.collection.generation.database, limit=LOOKED_BACK):
            if str(entry.after) == number:  # also by an undo: what was before it was seen as well
                break
            steps.append(entry)
        return steps


def generation_of(mark: str) -> str:
    """Return the generation of a state."""
    return mark.rpartition(":")[0]
