"""Saved searches: a query under a name, kept with the collection, asked again whenever somebody wants it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from topiarist.errors import UsageError
from topiarist.store import facts
from topiarist.store.database import Database
from topiarist.text.spelling import proposed

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

KEPT = "saved_searches"  # a setting
LONGEST = 100  # letters of a name
_TOPIC = re.compile(r"(?<!\S)(?P<sign>-?)topic:#?(?P<number>\d+)(?!\S)", re.IGNORECASE)  # in a query, by its number


@dataclass(frozen=True)
class SavedSearch:
    """A query, the way it is asked and the topic that it keeps to, under a name."""

    name: str
    query: str
    by: str = "both"
    topic: str = ""
    lost: str = ""  # what the topic was called that it kept to, where a new tree has none that is surely the same

    def to_dict(self) -> dict[str, str]:
        """As plain JSON data; ``lost`` only where a topic is."""
        return {name: value for name, value in asdict(self).items() if value or name != "lost"}


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


def topic_of(collection: Collection, search: SavedSearch) -> tuple[int | None, str]:
    """The topic that a search keeps to, None for everywhere; and what there is to say where it is gone."""
    if not search.topic:
        return None, _gone(search.lost, search.query) if search.lost else ""
    try:
        return collection.topic(search.topic), ""
    except UsageError:
        return None, _gone(search.topic, search.query)


def _gone(topic: str, query: str) -> str:
    return f"its topic {topic} is gone{', and left out' if 'topic:' in query.lower() else ': everywhere'}"


def save_search(collection: Collection, search: SavedSearch, *, wait: float = 0.0) -> bool:
    """Keep a search; one of the same name is replaced: whether there was one. ``wait``: seconds for another writer."""
    name = " ".join(search.name.split())
    if not name or len(name) > LONGEST:
        raise UsageError(
            f"a saved search has a name of 1 to {LONGEST} letters, got {search.name!r}", hint="--save bail"
        )
    if not search.query.strip():
        raise UsageError("there is no query to save", hint="find FOLDER QUERY --save NAME")
    if search.topic:
        collection.topic(search.topic)  # an error where there is none such
    with collection.folder.writing(wait=wait) as generation:
        others = [one for one in _of(facts.settings(generation.database)) if one.name.casefold() != name.casefold()]
        replaced = len(others) < len(_of(facts.settings(generation.database)))
        _keep(generation.database, [*others, SavedSearch(name, search.query, search.by, search.topic)])
    return replaced


def delete_search(collection: Collection, name: str, *, wait: float = 0.0) -> SavedSearch:
    """Let a saved search go; what it was."""
    gone = saved_search(collection, name)
    with collection.folder.writing(wait=wait) as generation:
        _keep(generation.database, [one for one in _of(facts.settings(generation.database)) if one.name != gone.name])
    return gone


def carry_over(old: Collection, database: Database, known: Mapping[int, int]) -> Iterator[str]:
    """Saved searches of a collection for the one that takes its place; what there is to say of it.

    Each keeps to the topic that is the same in the new tree, by ``known``; one whose topic has no such is asked
    everywhere, and says so.
    """
    found, lost = list[SavedSearch](), list[str]()
    for one in saved_searches(old):
        topic, gone = topic_of(old, one)
        if topic is not None and topic not in known:
            one = replace(one, topic="", lost=old.outline.name(topic))
        elif topic is not None:
            one = replace(one, topic=str(known[topic]))
        elif gone:
            one = replace(one, topic="", lost=one.lost or one.topic)
        one = _with_topics(old, one, known)
        found.append(one)
        lost += [f"{one.name} ({one.lost})"] if one.lost else []
    if not found:
        return
    _keep(database, found)
    yield f"{len(found):,} saved search{'es' * (len(found) != 1)} carried over"
    if lost:
        topics = "the topic of 1 of them is" if len(lost) == 1 else f"the topics of {len(lost):,} of them are"
        yield f"Asked everywhere now, for {topics} not surely in the new tree: {', '.join(lost[:8])}"


def _with_topics(old: Collection, search: SavedSearch, known: Mapping[int, int]) -> SavedSearch:
    """A search whose query has numbers of topics, with those of the same topics; without conditions on lost ones."""
    lost: list[str] = [search.lost] if search.lost else []

    def moved(found: re.Match[str]) -> str:
        number = int(found["number"])
        if number in known:
            return f"{found['sign']}topic:{known[number]}"
        lost.append(old.outline.name(number) if number in old.outline.node_of else found["number"])
        return ""

    query = _TOPIC.sub(moved, search.query)
    if query == search.query:
        return search
    return replace(search, query=" ".join(query.split()) or f'topic:"{lost[-1]}"', lost=", ".join(lost))


def carry_back(now: Database, then: Database) -> None:
    """Saved searches as they are now, for a generation that is come back to."""
    _keep(then, _of(facts.settings(now)))


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
    facts.change_settings(database, {KEPT: [one.to_dict() for one in ordered]})
