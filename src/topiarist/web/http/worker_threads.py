"""Many readers at once: a few threads serve them all, one page after the other.

Making a page is work for a processor, not waiting: more threads than cores only take room, each for its own answers of
the database and its own scores of all documents, and the time to switch between them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from topiarist.execution.threads import count_available_cores

T = TypeVar("T")

EXTRA_THREADS = 2  # threads beyond the cores: somebody may wait for the disk
UPLOAD_THREADS = 1  # who brings documents, which may be long: they are counted one after the other
WRITERS = 8  # who may wait for each other, and keep no reader from reading


@asynccontextmanager
async def few_at_once(app: Any) -> AsyncIterator[None]:
    to_thread.current_default_thread_limiter().total_tokens = count_available_cores() + EXTRA_THREADS
    yield


def writers(number: int = WRITERS) -> CapacityLimiter:
    return CapacityLimiter(number)


async def run_in_pool(places: CapacityLimiter, does: Callable[..., T], *arguments: Any) -> T:
    """Run a function that may block in a thread outside the pool of readers."""
    return await to_thread.run_sync(does, *arguments, limiter=places)
