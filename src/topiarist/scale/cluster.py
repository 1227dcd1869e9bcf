"""A Dask cluster, and how long to bear with it: tasks with names, answers that are waited for, losses that are mended.

Knows a client by what it does; ``dask`` brings the package.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from topiarist.errors import ResourceError

Result = TypeVar("Result")
Submit = Callable[..., list[Any]]

SECONDS_BETWEEN_LOOKS = 1.0  # at whether there still is a cluster
MERGED_AT_ONCE = 4


class Cluster:
    """A client with patience. ``lost`` are the errors that mean a death among the workers, not a fault of the work."""

    def __init__(
        self, client: Any, lost: tuple[type[BaseException], ...], *, retries: int = 3, patience: float = 60.0
    ) -> None:
        self.client = client
        self.lost = lost
        self.retries = retries
        self.patience = patience

    def map(self, task: Callable[..., Result], items: Iterable[Any], *arguments: Any) -> Iterator[Result]:
        """``task(item, *arguments)`` for each item, in their order."""

        every = list(items)

        def work() -> list[Result]:
            self.workers()  # fails where there is no cluster
            with self.tasks() as submit:
                return [self.answer(future) for future in submit(task, [(item, *arguments) for item in every])]

        yield from self.persistently(work, f"the tasks {task.__name__}-…") if every else ()

    def reduce(
        self, task: Callable[..., Result], merge: Callable[..., Result], items: Sequence[Any], *arguments: Any
    ) -> Result:
        """The same, and neighbouring results merged by the workers until one is left, which comes home."""

        def work() -> Result:
            self.workers()
            with self.tasks() as submit:
                level, depth = submit(task, [(item, *arguments) for item in items]), 1
                while len(level) > 1:
                    runs = [level[at : at + MERGED_AT_ONCE] for at in range(0, len(level), MERGED_AT_ONCE)]
                    level, depth = submit(merge, runs, priority=depth), depth + 1  # before more is begun
                result: Result = self.answer(level[0])
                return result

        return self.persistently(work, f"the tasks {task.__name__}-…")

    def persistently(self, work: Callable[[], Result], what: str) -> Result:
        """Do something again, a few times, when the cluster has lost it."""
        reason = ""
        for _ in range(self.retries + 1):
            try:
                return work()
            except self.lost as error:
                reason = str(error)
        raise ResourceError(
            f"the cluster lost {what} {self.retries + 1} times: {reason}",
            hint="smaller blocks or more memory for the workers; their logs say why they died",
        )

    @contextmanager
    def tasks(self) -> Iterator[Submit]:
        """A function that submits calls of a task, under its name; all are cancelled if anything goes wrong."""
        futures: list[Any] = []

        def submit(task: Callable[..., Any], calls: Sequence[Sequence[Any]], **where: Any) -> list[Any]:
            keys = [f"{task.__name__}-{uuid.uuid4().hex}" for _ in calls]
            width = max(map(len, calls))  # the last one may have fewer arguments
            whole = [call for call in calls if len(call) == width]
            made: list[Any] = self.client.map(
                task, *map(list, zip(*whole, strict=True)), key=keys[: len(whole)], retries=self.retries, **where
            )
            for key, call in zip(keys[len(whole) :], calls[len(whole) :], strict=True):
                made.append(self.client.submit(task, *call, key=key, retries=self.retries, **where))
            futures.extend(made)
            return made

        try:
            yield submit
        except BaseException:
            with suppress(Exception):
                self.client.cancel(futures)
            raise

    def answer(self, future: Any) -> Any:
        """The result of a task."""
        return next(self.answers([future]))

    def answers(self, futures: Iterable[Any]) -> Iterator[Any]:
        """The results in their order, all on their way at once."""
        for coming in [_on_its_way(future) for future in futures]:
            yield self._awaited(coming)

    def _awaited(self, coming: Future[Any]) -> Any:
        """A result; while it does not come, look whether there is anybody to wait for."""
        seen = time.monotonic()
        while not wait([coming], SECONDS_BETWEEN_LOOKS).done:
            if self.workers(wait=False):
                seen = time.monotonic()
            elif time.monotonic() - seen > self.patience:
                raise self._nobody()
        return coming.result()

    def workers(self, *, wait: bool = True) -> dict[str, int]:
        """The threads of each worker, in an order that stays the same as long as the workers do."""
        give_up = time.monotonic() + self.patience
        while True:
            if self.client.status in ("closed", "closing"):
                raise ResourceError("the client is closed", hint="a distributed.Client that is connected")
            try:
                workers = self.client.nthreads()
            except Exception as error:
                raise ResourceError(
                    f"the cluster cannot be reached: {error!r}", hint="is its scheduler still running?"
                ) from error
            if workers or not wait:
                return dict(sorted(workers.items()))
            if time.monotonic() > give_up:
                raise self._nobody()
            time.sleep(0.1)

    def _nobody(self) -> ResourceError:
        return ResourceError(
            f"the cluster has had no worker for {self.patience:g} seconds", hint="start workers, or a longer patience="
        )


def _on_its_way(future: Any) -> Future[Any]:
    """The result of a task, which a thread waits for and fetches, once.

    Asking for it again and again with a timeout would cancel the way home of the one that has just come: the timeout of
    one question ends what the next one waits for, and distributed says ``UnboundLocalError`` (its issue 8514).
    """
    coming: Future[Any] = Future()

    def fetch() -> None:
        try:
            coming.set_result(future.result())
        except UnboundLocalError as error:
            coming.set_exception(CancelledError(f"a result was cancelled on its way: {error}"))
        except BaseException as error:
            coming.set_exception(error)

    threading.Thread(target=fetch, name="topiarist-answer", daemon=True).start()
    return coming
