"""Values computed from one state of a collection, each with the part of the state that it depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
STATE, PARTS, FORM = "state", "parts", "form"  # the state itself, its parts on disk, the form of its tree


class StateCache:
    """Cache of the values of one state; a new state has a new cache."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._dependencies: dict[str, str] = {}

    def get(self, name: str, dependency: str, compute: Callable[[], T]) -> T:
        """Return the cached value of a name, or compute and keep it with the ``dependency`` that limits its use."""
        if name not in self.values:
            value, self._dependencies[name] = compute(), dependency
            self.values.setdefault(name, value)
        cached_value: T = self.values[name]
        return cached_value

    def inherit(self, earlier: StateCache, *dependencies: str) -> None:
        """Copy the values of an earlier state that depend only on unchanged parts."""
        for name, value in list(earlier.values.items()):
            if (dependency := earlier._dependencies.get(name)) in dependencies:
                self.values[name], self._dependencies[name] = value, dependency


class CachedValue(Generic[T]):
    """Property whose value is kept in the ``cache`` of its object."""

    def __init__(self, compute: Callable[[Any], T], dependency: str) -> None:
        self.compute, self.dependency, self.__doc__ = compute, dependency, compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> CachedValue[T]: ...

    @overload
    def __get__(self, owner: Any, kind: type) -> T: ...

    def __get__(self, owner: Any, kind: type) -> T | CachedValue[T]:
        if owner is None:
            return self
        cache: StateCache = owner.cache
        return cache.get(self.compute.__name__, self.dependency, lambda: self.compute(owner))


def cached(dependency: str) -> Callable[[Callable[[Any], T]], CachedValue[T]]:
    """Make a method a property that is computed once as long as its dependency stays the same."""
    return lambda compute: CachedValue(compute, dependency)
