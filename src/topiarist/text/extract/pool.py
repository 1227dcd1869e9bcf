"""A few worker processes that parse documents, and the promise that one bad document costs one document."""

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

from topiarist.text.extract import protocol
from topiarist.text.extract.limits import Attached, Extracted, ExtractError, Limits, Part, Told

_START_SECONDS = 60.0  # a cold start on a busy machine; the parsing limit counts from the end of the start
_TASKS_PER_WORKER = 500  # then a fresh process: what a parser leaks cannot add up
_STOP_SECONDS = 5.0
_GRACE_SECONDS = 2.0  # between the end of the pipe and the end of the process

# -P keeps the current folder off the module path: it may be full of files that strangers wrote.
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from topiarist.text.extract.worker import main; main()"


@dataclass(frozen=True, slots=True)
class Task:
    """One file to parse: by path, or by its bytes when the path is empty; `told` is what else its parser must know."""

    parser: str
    path: str = ""
    data: bytes = b""
    told: Told = field(default_factory=dict)


def worker_command() -> list[str]:
    """The command line of a worker: this interpreter, these module paths, no main module.

    Tests replace this function to run a worker whose parsers crash or hang on purpose.
    """
    package_root = str(Path(__file__).resolve().parents[3])
    return [sys.executable, "-P", "-c", _BOOT, *(path for path in sys.path if path), package_root]


class Pool:
    """Worker processes behind a queue, with one thread each to wait for them; `close` ends it all at once.

    ``readable``: the files and folders that they are asked to parse; they can open no others where the system has a
    sandbox of files. None: whatever we may read. ``scratch`` is a folder for what comes out of archives.
    """

    def __init__(self, limits: Limits, readable: Sequence[str] | None = None) -> None:
        self._limits, self._readable = limits, readable
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._tasks: queue.SimpleQueue[tuple[Task, Future[Extracted]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []  # that gave parts, and may again
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
        """The pieces of a file, from a worker of its own: it works on the next while the caller uses one.

        Not from those behind the queue: whoever reads an archive asks them for its members meanwhile.
        """
        worker = self._idle.pop() if self._idle else self._start()
        try:
            yield from worker.parts(task)
        finally:
            if worker.spent or self._closed:
                self._retire(worker)
            else:
                self._idle.append(worker)

    @property
    def scratch(self) -> str:
        """A folder of this reading: workers may write there and nowhere else."""
        with self._making:
            if self._scratch is None:
                self._scratch = tempfile.TemporaryDirectory(prefix="topiarist-", ignore_cleanup_errors=True)
            return os.path.realpath(self._scratch.name)

    def close(self) -> None:
        """Kill the workers and forget what is queued. Safe to call twice, and at any moment."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.kill()
        while self._idle:
            self._retire(self._idle.pop())
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
                # Also what nobody expected: a waiting reader must hear of it, or it waits for ever.
                future.set_exception(error)
            if worker is not None and worker.spent:
                self._retire(worker)
                worker = None
        if worker is not None:
            self._retire(worker)

    def _start(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise ExtractError("reading was stopped")
            worker = _Worker(self._limits, self._confined())
            self._workers.add(worker)
        try:
            worker.wait_until_ready()
        except ExtractError:
            self._retire(worker)
            raise
        return worker

    def _confined(self) -> protocol.Header:
        """What a worker is told of the files that it may open."""
        if self._readable is None:
            return {}
        return {"readable": json.dumps([*self._readable]), "scratch": self.scratch}

    def _retire(self, worker: _Worker) -> None:
        worker.dispose()
        with self._lock:
            self._workers.discard(worker)


class _Worker:
    """One process, one question at a time."""

    def __init__(self, limits: Limits, confined: protocol.Header) -> None:
        self._limits, self._confined = limits, confined
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
                worker_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise ExtractError(f"no worker process could be started ({error})") from error
        self._requests = cast(BinaryIO, self._process.stdin)
        self._replies = cast(BinaryIO, self._process.stdout)
        self._lock = threading.Lock()
        self._open_question = 0  # zero while none is asked
        self._asked = 0
        self._expired = False
        self.spent = False

    def wait_until_ready(self) -> None:
        """Hand over the limits and wait for the first sign of life."""
        hello: protocol.Header = {limit.name: getattr(self._limits, limit.name) for limit in fields(Limits)}
        if self._receive(_START_SECONDS, {**hello, **self._confined}) is None:
            raise ExtractError(f"the worker process did not start: {self._cause_of_death(_START_SECONDS)}")

    def ask(self, task: Task) -> Extracted:
        """Have one document parsed."""
        request: protocol.Header = {**task.told, "parser": task.parser, "path": task.path}
        reply = self._receive(self._limits.seconds, request, task.data)
        if reply is None:
            raise ExtractError(self._cause_of_death(self._limits.seconds))
        header, payload = reply
        self.spent = self.spent or bool(header.get("spent")) or self._asked >= _TASKS_PER_WORKER
        if reason := header.get("failed"):
            raise ExtractError(str(reason))
        facts = {name: str(header.get(name, "")) for name in ("title", "date", "note")}
        text, attached = _divided(payload, header)
        return Extracted(
            text.decode("utf-8", "replace"),
            **facts,
            attached=attached,
            scanned=int(header.get("scanned", 0)),
            columns=_columns(header.get("columns", "")),
        )

    def parts(self, task: Task) -> Iterator[Part]:
        """Have a file parsed piece by piece; each piece has the time that a document has."""
        request: protocol.Header = {**task.told, "parser": task.parser, "path": task.path, "parts": 1}
        self.spent = True  # unless it comes to its end: whoever leaves early leaves an answer behind
        self._send(request, task.data)
        while True:
            reply = self._receive(self._limits.seconds)
            if reply is None:
                raise ExtractError(self._cause_of_death(self._limits.seconds))
            header, data = reply
            if "failed" in header or "end" in header:
                self.spent = bool(header.get("spent")) or self._asked >= _TASKS_PER_WORKER
                if reason := header.get("failed"):
                    raise ExtractError(str(reason))
                return
            self._send({"next": 1})  # before this one is used, so that both sides work
            yield Part(header, data)

    def kill(self) -> None:
        """End the process now; whoever waits for its answer learns of it at once."""
        self.spent = True
        self._process.kill()
        self._process.wait()

    def dispose(self) -> None:
        """End the process and give its pipes back; only for the thread that asks the questions."""
        self.kill()
        for pipe in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                pipe.close()

    def _send(self, header: protocol.Header, payload: bytes = b"") -> None:
        """Ask; that the worker is gone is seen by whoever waits for its answer."""
        with contextlib.suppress(OSError, ValueError):
            protocol.send(self._requests, header, payload)

    def _receive(
        self, seconds: float, header: protocol.Header | None = None, payload: bytes = b""
    ) -> tuple[protocol.Header, bytes] | None:
        """The next answer, after asking for it if there is something to ask; None when none comes in time."""
        self._asked += 1
        self._open_question = self._asked
        watchdog = threading.Timer(seconds, self._expire, (self._asked,))
        watchdog.daemon = True
        watchdog.start()
        try:
            if header is not None:
                protocol.send(self._requests, header, payload)
            return protocol.receive(self._replies, 2 * self._limits.raw_bytes)  # a text, and what came with it
        except (OSError, ValueError, protocol.BrokenFrameError):
            self.spent = True
            return None
        finally:
            watchdog.cancel()
            with self._lock:
                self._open_question = 0  # a watchdog that wakes up only now must not kill

    def _expire(self, question: int) -> None:
        with self._lock:
            if question != self._open_question:
                return
            self._expired = True
            self._process.kill()

    def _cause_of_death(self, seconds: float) -> str:
        try:
            code = self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return "the parser sent an answer that makes no sense"
        if self._expired:
            return f"took longer than {seconds:g} s"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"the parser crashed ({signal.Signals(-code).name})"
        return f"the parser stopped (exit code {code})"


def _divided(payload: bytes, header: protocol.Header) -> tuple[bytes, tuple[Attached, ...]]:
    """The text of an answer, and the files that came with it; what makes no sense is no file."""
    try:
        listed = json.loads(str(header.get("attached", "[]")))
        sizes = [(str(name), int(size)) for name, size in listed]
    except (ValueError, TypeError):
        return payload, ()
    end = len(payload) - sum(size for _, size in sizes)
    if end < 0 or any(size < 0 for _, size in sizes):
        return payload, ()
    text, attached = payload[:end], []
    for name, size in sizes:
        attached.append(Attached(name, payload[end : end + size]))
        end += size
    return text, tuple(attached)


def _columns(sent: object) -> tuple[tuple[str, str], ...]:
    """Names and values as a worker sends them; one that was taken over by a hostile file may send anything."""
    try:
        found = json.loads(str(sent) or "[]")
        return tuple((str(name), str(value)) for name, value in found)
    except (ValueError, TypeError, RecursionError):
        return ()
