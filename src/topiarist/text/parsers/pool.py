"""Worker processes that parse documents; a bad document costs one document."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import BinaryIO, cast

from topiarist.errors import describe_error
from topiarist.text.parsers import protocol
from topiarist.text.parsers.limits import Attachment, Extracted, ExtractError, Limits, Options, Part

_START_SECONDS = 60.0  # a cold start on a busy machine; the parsing limit counts from the end of the start
_TASKS_PER_WORKER = 500  # then a new process, so that memory leaks of a parser stay small
_STOP_SECONDS = 5.0
_GRACE_SECONDS = 2.0  # between the end of the pipe and the end of the process

# -P keeps the current folder off the module path: it may be full of files that strangers wrote.
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from topiarist.text.parsers.worker import main; main()"


@dataclass(frozen=True, slots=True)
class Task:
    """One file to parse: by path, or by its bytes if the path is empty; `options` are those of its parser."""

    parser: str
    path: str = ""
    data: bytes = b""
    options: Options = field(default_factory=dict)


def worker_command() -> list[str]:
    """Return the command line of a worker: this interpreter and these module paths, without a main module.

    Tests replace this function to run a worker whose parsers crash or hang on purpose.
    """
    package_root = str(Path(__file__).resolve().parents[3])
    return [sys.executable, "-P", "-c", _BOOT, *(path for path in sys.path if path), package_root]


class Pool:
    """Worker processes behind a queue, with one waiting thread each; `close` ends them all at once.

    ``readable``: files and folders to parse; on systems with a file sandbox the workers can open no others. None: all
    files of this user.
    """

    def __init__(self, limits: Limits, readable: Sequence[str] | None = None) -> None:
        self._limits, self._readable = limits, readable
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._tasks: queue.SimpleQueue[tuple[Task, Future[Extracted]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []  # workers without a task that can send parts
        self._lock, self._making = threading.Lock(), threading.Lock()
        self._closed = False

    def submit(self, task: Task) -> Future[Extracted]:
        """Queue one document. The future holds an `Extracted`, or raises `ExtractError` with the reason."""
        if len(self._threads) < self._limits.workers:
            # Daemon threads: an interpreter that exits must not wait for a parser that hangs.
            thread = threading.Thread(target=self._run, name="topiarist-extract", daemon=True)
            self._threads.append(thread)
            thread.start()
        future: Future[Extracted] = Future()
        self._tasks.put((task, future))
        return future

    def parts(self, task: Task) -> Iterator[Part]:
        """Yield the parts of a file from a reserved worker, which prepares the next part meanwhile.

        Workers behind the queue are not used: the reader of an archive asks them for its members at the same time.
        """
        worker = self._idle.pop() if self._idle else self._start()
        try:
            yield from worker.parts(task)
        finally:
            if worker.is_spent or self._closed:
                self._end_worker(worker)
            else:
                self._idle.append(worker)

    @property
    def scratch(self) -> str:
        """Folder of this reading, the only one in which workers can write."""
        with self._making:
            if self._scratch is None:
                self._scratch = tempfile.TemporaryDirectory(prefix="topiarist-", ignore_cleanup_errors=True)
            return os.path.realpath(self._scratch.name)

    def close(self) -> None:
        """Kill the workers and discard the queue. Safe to call twice, and at any moment."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.kill()
        while self._idle:
            self._end_worker(self._idle.pop())
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(_STOP_SECONDS)
        self._threads.clear()
        with self._making:
            if self._scratch is not None:
                self._scratch.cleanup()
                self._scratch = None

    def _run(self) -> None:
        """Run queued tasks in one worker process, in a thread, until the queue yields None."""
        worker: _Worker | None = None
        while (job := self._tasks.get()) is not None:
            task, future = job
            if self._closed or not future.set_running_or_notify_cancel():
                future.cancel()
                continue
            try:
                worker = worker or self._start()
                future.set_result(worker.ask(task))
            except Exception as error:
                # Any error: a waiting reader must get it, or it waits forever.
                future.set_exception(error)
            if worker is not None and worker.is_spent:
                self._end_worker(worker)
                worker = None
        if worker is not None:
            self._end_worker(worker)

    def _start(self) -> _Worker:
        """Start a worker process and wait until it is ready; raise ExtractError if it fails."""
        with self._lock:
            if self._closed:
                raise ExtractError("reading was stopped")
            worker = _Worker(self._limits, self._describe_restrictions())
            self._workers.add(worker)
        try:
            worker.wait_until_ready()
        except ExtractError:
            self._end_worker(worker)
            raise
        return worker

    def _describe_restrictions(self) -> protocol.Header:
        """Return the message that limits the files of a worker."""
        if self._readable is None:
            return {}
        return {"readable": json.dumps([*self._readable]), "scratch": self.scratch}

    def _end_worker(self, worker: _Worker) -> None:
        worker.dispose()
        with self._lock:
            self._workers.discard(worker)


class _Worker:
    """Worker process that answers one request at a time."""

    def __init__(self, limits: Limits, restrictions: protocol.Header) -> None:
        self._limits, self._describe_restrictions = limits, restrictions
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
                worker_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise ExtractError(f"no worker process could be started ({describe_error(error)})") from error
        self._requests = cast(BinaryIO, self._process.stdin)
        self._replies = cast(BinaryIO, self._process.stdout)
        self._lock = threading.Lock()
        self._pending_request = 0  # 0 without a pending request
        self._n_requests = 0
        self._has_expired = False
        self.is_spent = False

    def wait_until_ready(self) -> None:
        """Send the limits and wait for the first answer."""
        hello: protocol.Header = {limit.name: getattr(self._limits, limit.name) for limit in fields(Limits)}
        if self._receive(_START_SECONDS, {**hello, **self._describe_restrictions}) is None:
            raise ExtractError(f"the worker process did not start: {self._describe_end(_START_SECONDS)}")

    def ask(self, task: Task) -> Extracted:
        """Let the process parse a file; raise ExtractError if it fails or exceeds the time limit."""
        request: protocol.Header = {**task.options, "parser": task.parser, "path": task.path}
        reply = self._receive(self._limits.seconds, request, task.data)
        if reply is None:
            raise ExtractError(self._describe_end(self._limits.seconds))
        header, payload = reply
        self.is_spent = self.is_spent or bool(header.get("spent")) or self._n_requests >= _TASKS_PER_WORKER
        if reason := header.get("failed"):
            raise ExtractError(str(reason))
        facts = {name: str(header.get(name, "")) for name in ("title", "date", "file_date", "note")}
        text, attachments = _split_answer(payload, header)
        return Extracted(
            text.decode("utf-8", "replace"),
            **facts,
            attachments=attachments,
            scanned=int(header.get("scanned", 0)),
            columns=_parse_columns(header.get("columns", "")),
        )

    def parts(self, task: Task) -> Iterator[Part]:
        """Yield the parts of a file; raise ExtractError if one fails or exceeds its time limit."""
        request: protocol.Header = {**task.options, "parser": task.parser, "path": task.path, "parts": 1}
        self.is_spent = True  # until the end: a caller that stops early leaves an answer in the pipe
        self._send(request, task.data)
        while True:
            reply = self._receive(self._limits.seconds)
            if reply is None:
                raise ExtractError(self._describe_end(self._limits.seconds))
            header, data = reply
            if "failed" in header or "end" in header:
                self.is_spent = bool(header.get("spent")) or self._n_requests >= _TASKS_PER_WORKER
                if reason := header.get("failed"):
                    raise ExtractError(str(reason))
                return
            self._send({"next": 1})  # before the caller uses this part, so that both processes work
            yield Part(header, data)

    def kill(self) -> None:
        """End the process now; a waiting thread gets its answer at once."""
        self.is_spent = True
        self._process.kill()
        self._process.wait()

    def dispose(self) -> None:
        """End the process and close its pipes. Call it only in the thread that sends the requests."""
        self.kill()
        for pipe in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                pipe.close()

    def _send(self, header: protocol.Header, payload: bytes = b"") -> None:
        """Send a frame. An ended worker is detected when its answer is read."""
        with contextlib.suppress(OSError, ValueError):
            protocol.send(self._requests, header, payload)

    def _receive(
        self, seconds: float, header: protocol.Header | None = None, payload: bytes = b""
    ) -> tuple[protocol.Header, bytes] | None:
        """Send a request, if any, and return the next answer; None if the worker ends or exceeds its time."""
        self._n_requests += 1
        self._pending_request = self._n_requests
        watchdog = threading.Timer(seconds, self._end_late_request, (self._n_requests,))
        watchdog.daemon = True
        watchdog.start()
        try:
            if header is not None:
                protocol.send(self._requests, header, payload)
            return protocol.receive(self._replies, 2 * self._limits.raw_bytes)  # a text and its attachments
        except (OSError, ValueError, protocol.BrokenFrameError):
            self.is_spent = True
            return None
        finally:
            watchdog.cancel()
            with self._lock:
                self._pending_request = 0  # a watchdog that wakes up only now must not kill

    def _end_late_request(self, request: int) -> None:
        """Kill the process if it still works on this request; do nothing if it works on a later one."""
        with self._lock:
            if request != self._pending_request:
                return
            self._has_expired = True
            self._process.kill()

    def _describe_end(self, seconds: float) -> str:
        """Return why the process ended without an answer."""
        try:
            code = self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return "the parser sent an answer that makes no sense"
        if self._has_expired:
            return f"took longer than {seconds:g} s"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"the parser crashed ({signal.Signals(-code).name})"
        return f"the parser stopped (exit code {code})"


def _split_answer(payload: bytes, header: protocol.Header) -> tuple[bytes, tuple[Attachment, ...]]:
    """Return the text of an answer and its attachments; an invalid list yields no attachment."""
    try:
        entries = json.loads(str(header.get("attached", "[]")))
        sizes = [(str(name), int(size)) for name, size in entries]
    except (ValueError, TypeError):
        return payload, ()
    end = len(payload) - sum(size for _, size in sizes)
    if end < 0 or any(size < 0 for _, size in sizes):
        return payload, ()
    text, attachments = payload[:end], []
    for name, size in sizes:
        attachments.append(Attachment(name, payload[end : end + size]))
        end += size
    return text, tuple(attachments)


def _parse_columns(header: object) -> tuple[tuple[str, str], ...]:
    """Return names and values from a worker, which can send anything if a hostile file controls it."""
    try:
        pairs = json.loads(str(header) or "[]")
        return tuple((str(name), str(value)) for name, value in pairs)
    except (ValueError, TypeError, RecursionError):
        return ()
