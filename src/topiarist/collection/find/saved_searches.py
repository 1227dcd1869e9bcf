"""Saved searches: a query under a name, kept with the collection, asked again whenever somebody wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from topiarist.errors import UsageError
from topiarist.store import facts
from topiarist.store.database import Database
from topiarist.text.spelling import proposed

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

KEPT = "saved_searches"  # a setting
LONGEST = 100  # letters of a name


@dataclass(frozen=True)
class SavedSearch:
    """A query, the way it is asked and the topic that it keeps to, under a name."""

    name: str
    query: str
    by: str = "both"
    topic: str = ""


def saved_searches(collection: Collection) -> tuple[SavedSearch, ...]:
    """All of them, by name."""
    return _of(collection.settings)


def saved_search(collection: Collection, name: str) -> SavedSearch:
    """The one of a name; an unknown name is an error that proposes the nearest."""
    known = {one.name.casefold(): one for one in saved_searches(collection)}
    if name.strip().casefold() not in known:
        hint = proposed(name, [one.name for one in known.values()]) if known else "find FOLDER QUERY --save NAME"
        raise UsageError(f"there is no saved search {name!r}", hint=hint)
    return known[name.strip().casefold()]


def save_search(collection: Collection, search: SavedSearch) -> bool:
    """Keep a search; one of the same name is replaced: whether there was one."""
    name = " ".join(search.name.split())
    if not name or len(name) > LONGEST:
        raise UsageError(
            f"a saved search has a name of 1 to {LONGEST} letters, got {search.name!r}", hint="--save bail"
        )
    if not search.query.strip():
        raise UsageError("there is no query to save", hint="find FOLDER QUERY --save NAME")
    with collection.folder.writing() as generation:
        others = [one for one in _of(facts.settings(generation.database)) if one.name.casefold() != name.casefold()]
        replaced = len(others) < len(_of(facts.settings(generation.database)))
        _keep(generation.database, [*others, SavedSearch(name, search.query, search.by, search.topic)])
    return replaced


def delete_search(collection: Collection, name: str) -> SavedSearch:
    """Let a saved search go; what it was."""
    gone = saved_search(collection, name)
    with collection.folder.writing() as generation:
        _keep(generation.database, [one for one in _of(facts.settings(generation.database)) if one.name != gone.name])
    return gone


def carry_over(before: Database, database: Database) -> int:
    """Saved searches of a collection for the one that takes its place; how many."""
    found = _of(facts.settings(before))
    if found:
        _keep(database, found)
    return len(found)


def keep_searches(database: Database, stays: Callable[[SavedSearch], bool]) -> int:
    """Forget those that must not stay; how many."""
    found = _of(facts.settings(database))
    kept = [one for one in found if stays(one)]
    if len(kept) < len(found):
        _keep(database, kept)
    return len(found) - len(kept)


def _of(settings: Mapping[str, Any]) -> tuple[SavedSearch, ...]:
    return tuple(SavedSearch(**one) for one in settings.get(KEPT) or ())


def _keep(database: Database, searches: list[SavedSearch] | tuple[SavedSearch, ...]) -> None:
    ordered = sorted(searches, key=lambda one: one.name.casefold())
    facts.change_settings(database, {KEPT: [asdict(one) for one in ordered]})
