"""What was worked out for one page and serves the next: the latest, as far as there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

T = TypeVar("T")

KEPT = 256  # things
LARGEST = 96 << 20  # bytes of them


class Memory:
    """Values by key. Two who want the same wait for each other; those who want something else do not."""

    def __init__(self, kept: int = KEPT, largest: int = LARGEST) -> None:
        self.kept, self.largest = kept, largest
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._beside: set[Hashable] = set()  # being made
        self._failed: dict[Hashable, Exception] = {}
        self._bytes = 0

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made for a key, or is made now."""
        with self._lock:
            if key in self._known:
                return cast("T", self._latest(key))
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._known:
                    return cast("T", self._latest(key))
            try:
                found = make()
                self._keep(key, found)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return found

    def later(self, key: Hashable, make: Callable[[], T]) -> T | None:
        """What was made for a key; None while it is made beside, which whoever asks first begins.

        Where that failed, whoever asks next is told why, and after that it is tried again.
        """
        with self._lock:
            if key in self._known:
                return cast("T", self._latest(key))
            if key in self._failed:
                raise self._failed.pop(key)
            if key in self._beside:
                return None
            self._beside.add(key)
        threading.Thread(target=self._make_beside, args=(key, make), daemon=True, name=str(key)).start()
        return None

    def _make_beside(self, key: Hashable, make: Callable[[], Any]) -> None:
        try:
            self(key, make)
        except Exception as error:
            with self._lock:
                self._failed[key] = error
        finally:
            with self._lock:
                self._beside.discard(key)

    def part(self, *kinds: str) -> Memory:
        """Another one that begins with what is known of some kinds: the first of a key tells its kind."""
        found = Memory(self.kept, self.largest)
        with self._lock:
            known = [(key, value) for key, value in self._known.items() if isinstance(key, tuple) and key[0] in kinds]
        for key, value in known:
            found._keep(key, value)
        return found

    def __len__(self) -> int:
        return len(self._known)

    def _latest(self, key: Hashable) -> Any:
        self._known.move_to_end(key)
        return self._known[key]

    def _keep(self, key: Hashable, value: Any) -> None:
        """Remember it, and forget what nobody has asked for in the longest time while all of it is too much."""
        with self._lock:
            self._known[key] = value
            self._bytes += _bytes(value)
            while len(self._known) > 1 and (len(self._known) > self.kept or self._bytes > self.largest):
                _, gone = self._known.popitem(last=False)
                self._bytes -= _bytes(gone)


def _bytes(value: Any) -> int:
    """About how much room something takes."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, tuple | list):
        return 8 * len(value) + sum(map(_bytes, value[:8])) * len(value) // max(1, min(len(value), 8))
    if isinstance(value, dict):
        return 64 * len(value) + sum(map(_bytes, list(value.values())[:64])) * len(value) // max(1, min(len(value), 64))
    if is_dataclass(value):
        return 64 + sum(_bytes(getattr(value, one.name)) for one in fields(value))
    return int(getattr(value, "nbytes", 64))
