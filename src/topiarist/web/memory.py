"""Cache of values that several pages use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

T = TypeVar("T")

MAX_ENTRIES = 256  # things
LARGEST = 96 << 20  # bytes of them


class PageCache:
    """Cache of values by key; requests for the same key wait for one computation."""

    def __init__(self, max_entries: int = MAX_ENTRIES, largest: int = LARGEST) -> None:
        """Create an empty cache with limits of entries and bytes."""
        self.kept, self.largest = max_entries, largest
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._beside: set[Hashable] = set()  # being made
        self._failed: dict[Hashable, Exception] = {}
        self._count_bytes = 0

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key; compute and keep it on the first call. Other callers wait."""
        with self._lock:
            if key in self._known:
                return cast("T", self._get_newest(key))
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._known:
                    return cast("T", self._get_newest(key))
            try:
                result = make()
                self._keep(key, result)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return result

    def start_or_get(self, key: Hashable, make: Callable[[], T]) -> T | None:
        """Return a kept value, or start its computation in a thread and return None until it is done.

        The next caller gets the error of a failed computation; after that it is tried again.
        """
        with self._lock:
            if key in self._known:
                return cast("T", self._get_newest(key))
            if key in self._failed:
                raise self._failed.pop(key)
            if key in self._beside:
                return None
            self._beside.add(key)
        threading.Thread(target=self._make_beside, args=(key, make), daemon=True, name=str(key)).start()
        return None

    def _make_beside(self, key: Hashable, make: Callable[[], Any]) -> None:
        """Compute and keep a value in a thread; keep its error for the next caller."""
        try:
            self(key, make)
        except Exception as error:
            with self._lock:
                self._failed[key] = error
        finally:
            with self._lock:
                self._beside.discard(key)

    def copy_kinds(self, *kinds: str) -> PageCache:
        """Return a new cache with the values of some kinds; the first item of a key is its kind."""
        result = PageCache(self.kept, self.largest)
        with self._lock:
            entries = [(key, value) for key, value in self._known.items() if isinstance(key, tuple) and key[0] in kinds]
        for key, value in entries:
            result._keep(key, value)
        return result

    def __len__(self) -> int:
        return len(self._known)

    def _get_newest(self, key: Hashable) -> Any:
        self._known.move_to_end(key)
        return self._known[key]

    def _keep(self, key: Hashable, value: Any) -> None:
        """Keep a value as the newest, and drop the oldest above the limits."""
        with self._lock:
            self._known[key] = value
            self._count_bytes += _count_bytes(value)
            while len(self._known) > 1 and (len(self._known) > self.kept or self._count_bytes > self.largest):
                _, oldest = self._known.popitem(last=False)
                self._count_bytes -= _count_bytes(oldest)


def _count_bytes(value: Any) -> int:
    """Return the estimated bytes of a value; containers by a sample of their items."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, tuple | list):
        return 8 * len(value) + sum(map(_count_bytes, value[:8])) * len(value) // max(1, min(len(value), 8))
    if isinstance(value, dict):
        return 64 * len(value) + sum(map(_count_bytes, list(value.values())[:64])) * len(value) // max(
            1, min(len(value), 64)
        )
    if is_dataclass(value):
        return 64 + sum(_count_bytes(getattr(value, item.name)) for item in fields(value))
    return int(getattr(value, "nbytes", 64))
