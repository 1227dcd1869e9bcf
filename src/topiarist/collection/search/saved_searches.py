"""Saved searches: named queries that are stored with the collection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.storage.database import Database
from topiarist.text.characters import clean_name
from topiarist.text.spelling import format_proposals

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SETTING = "saved_searches"  # a setting
MAX_NAME_LENGTH = 100  # letters of a name
_TOPIC = re.compile(r"(?<!\S)(?P<sign>-?)topic:#?(?P<number>\d+)(?!\S)", re.IGNORECASE)  # in a query, by its number


@dataclass(frozen=True)
class SavedSearch:
    """Named query with its way of search and its topic."""

    name: str
    query: str
    by: str = "both"
    topic: str = ""
    lost: str = ""  # name of its former topic, if the new tree has no certain match

    def to_dict(self) -> dict[str, str]:
        """Return plain JSON data; ``lost`` is left out if it is empty."""
        return {name: value for name, value in asdict(self).items() if value or name != "lost"}


def list_saved_searches(collection: Collection) -> tuple[SavedSearch, ...]:
    """Return all saved searches in the order of their names."""
    return _read_searches(collection.settings)


def find_saved_search(collection: Collection, name: str) -> SavedSearch:
    """Return the search with a name; the error for an unknown name proposes the nearest."""
    by_name = {search.name.casefold(): search for search in list_saved_searches(collection)}
    if name.strip().casefold() not in by_name:
        hint = (
            format_proposals(name, [search.name for search in by_name.values()])
            if by_name
            else "Save a search with topiarist find FOLDER QUERY --save NAME."
        )
        raise UsageError(f"there is no saved search {name!r}", hint=hint)
    return by_name[name.strip().casefold()]


def find_search_topic(collection: Collection, search: SavedSearch) -> tuple[int | None, str]:
    """Return the topic of a search, None without one, and a note if the topic no longer exists."""
    if not search.topic:
        return None, _describe_lost_topic(search.lost, search.query) if search.lost else ""
    try:
        return collection.topic(search.topic), ""
    except UsageError:
        return None, _describe_lost_topic(search.topic, search.query)


def _describe_lost_topic(topic: str, query: str) -> str:
    return f"topic {topic} no longer exists{'; its filter is ignored' if 'topic:' in query.lower() else ': all topics'}"


def save_search(collection: Collection, search: SavedSearch, *, wait: float = 0.0) -> bool:
    """Save a search; return whether it replaces one. ``wait`` is the time for another writer, in seconds."""
    name = clean_name(search.name)
    if not name or len(name) > MAX_NAME_LENGTH:
        raise UsageError(
            f"a saved search has a name of 1 to {MAX_NAME_LENGTH} letters, got {search.name!r}",
            hint="Use a short name, such as bail.",
        )
    if not search.query.strip():
        raise UsageError(
            "there is no query to save", hint="Save a search with topiarist find FOLDER QUERY --save NAME."
        )
    if search.topic:
        collection.topic(search.topic)  # raises if it does not exist
    with collection.folder.writing(wait=wait) as generation:
        before = _read_searches(facts.settings(generation.database))
        others = [other for other in before if other.name.casefold() != name.casefold()]
        _write_searches(generation.database, [*others, SavedSearch(name, search.query, search.by, search.topic)])
    return len(others) < len(before)


def delete_search(collection: Collection, name: str, *, wait: float = 0.0) -> SavedSearch:
    """Delete a saved search and return it."""
    search = find_saved_search(collection, name)
    with collection.folder.writing(wait=wait) as generation:
        delete_stale_searches(generation.database, lambda other: other.name != search.name)
    return search


def transfer_searches(old: Collection, database: Database, new_topics: Mapping[int, int]) -> Iterator[str]:
    """Transfer saved searches to the collection that takes the place of another; yield messages.

    Each keeps its topic, renumbered by ``new_topics``. A search whose topic has no match is widened to all topics.
    """
    searches, lost_topics = list[SavedSearch](), list[str]()
    for search in list_saved_searches(old):
        topic, lost_note = find_search_topic(old, search)
        if topic is not None and topic not in new_topics:
            search = replace(search, topic="", lost=old.outline.name(topic))
        elif topic is not None:
            search = replace(search, topic=str(new_topics[topic]))
        elif lost_note:
            search = replace(search, topic="", lost=search.lost or search.topic)
        search = _renumber_topics(old, search, new_topics)
        searches.append(search)
        lost_topics += [f"{search.name} ({search.lost})"] if search.lost else []
    if not searches:
        return
    _write_searches(database, searches)
    yield f"{len(searches):,} saved search{'es' * (len(searches) != 1)} carried over"
    if lost_topics:
        topics = (
            "the topic of 1 of them is" if len(lost_topics) == 1 else f"the topics of {len(lost_topics):,} of them are"
        )
        yield f"Asked everywhere now, for {topics} not surely in the new tree: {', '.join(lost_topics[:8])}"


def _renumber_topics(old: Collection, search: SavedSearch, new_topics: Mapping[int, int]) -> SavedSearch:
    """Return a search with topic numbers of the new tree, without filters on lost topics."""
    lost_topics: list[str] = [search.lost] if search.lost else []

    def replace_topic(match: re.Match[str]) -> str:
        """Return the filter with the new topic number; record a lost topic and return an empty text."""
        number = int(match["number"])
        if number in new_topics:
            return f"{match['sign']}topic:{new_topics[number]}"
        lost_topics.append(old.outline.name(number) if number in old.outline.node_of else match["number"])
        return ""

    query = _TOPIC.sub(replace_topic, search.query)
    if query == search.query:
        return search
    return replace(search, query=" ".join(query.split()) or f'topic:"{lost_topics[-1]}"', lost=", ".join(lost_topics))


def restore_searches(now: Database, then: Database) -> None:
    """Copy the present saved searches to a restored generation."""
    _write_searches(then, _read_searches(facts.settings(now)))


def delete_stale_searches(database: Database, stays: Callable[[SavedSearch], bool]) -> int:
    """Delete the searches that must not stay; return their number."""
    searches = _read_searches(facts.settings(database))
    kept_searches = [search for search in searches if stays(search)]
    if len(kept_searches) < len(searches):
        _write_searches(database, kept_searches)
    return len(searches) - len(kept_searches)


def _read_searches(settings: Mapping[str, Any]) -> tuple[SavedSearch, ...]:
    return tuple(SavedSearch(**fields) for fields in settings.get(SETTING) or ())


def _write_searches(database: Database, searches: list[SavedSearch] | tuple[SavedSearch, ...]) -> None:
    ordered = sorted(searches, key=lambda search: search.name.casefold())
    facts.change_settings(database, {SETTING: [search.to_dict() for search in ordered]})
