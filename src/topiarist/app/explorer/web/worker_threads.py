"""Many readers at once: a few threads serve them all, one page after the other.

Making a page is work for a processor, not waiting: more threads than cores only take room, each for its own answers of
the database and its own scores of all documents, and the time to switch between them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from topiarist.scale.threads import available_cores

T = TypeVar("T")

BESIDE = 2  # threads beyond the cores: somebody may wait for the disk
BRINGING = 1  # who brings documents, which may be long: they are counted one after the other
WRITERS = 8  # who may wait for each other, and keep no reader from reading


@asynccontextmanager
async def few_at_once(app: Any) -> AsyncIterator[None]:
    """For as long as a server runs."""
    to_thread.current_default_thread_limiter().total_tokens = available_cores() + BESIDE
    yield


def writers(number: int = WRITERS) -> CapacityLimiter:
    """Places for those who write."""
    return CapacityLimiter(number)


async def beside(places: CapacityLimiter, does: Callable[..., T], *given: Any) -> T:
    """Do something that may wait, in a thread that no reader needs."""
    return await to_thread.run_sync(does, *given, limiter=places)
