"""Topics in messages: by their names, never by a number alone; those that are gone as the log knows them."""

from __future__ import annotations

import re

from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import worded
from topiarist.app.words import day
from topiarist.collection import RemovedTopic, remembers_all_topics, removed_topic
from topiarist.errors import UsageError

_NUMBERED = re.compile(r"#(\d{1,9})\b")
_MISSING = re.compile(r"there is no topic (\d{1,9})$")


class LeftOutError(UsageError):
    """A document that is not there since its file was not read."""


def missing(error: UsageError) -> int | None:
    """The topic that is not there, if that is what an error says."""
    found = _MISSING.search(error.message)
    return int(found[1]) if found else None


def meaning_of(view: View, topic: int, was: RemovedTopic | None) -> str:
    """What an address with a topic meant that is not there: that there was none, only where nothing was forgotten."""
    if was is not None:
        return worded("Topic “{name}” belonged to the model of {day}.", name=was.name, day=day(was.time))
    if remembers_all_topics(view.collection):
        return worded("No tree of this collection had this topic ({topic}).", topic=str(topic))
    return worded(
        "There is no topic {topic} now. Which topics there were in earlier trees is not known any more.",
        topic=str(topic),
    )


def sentence(text: str) -> str:
    """A message as a page says it: with a capital letter, and with an end."""
    return f"{text[:1].upper()}{text[1:]}."


def spoken(view: View, error: UsageError) -> tuple[str, str]:
    """A message and its hint as a page says them, with names in place of numbers."""

    def name(found: re.Match[str]) -> str:
        node = view.shape.node_of.get(int(found[1]))
        return found[0] if node is None else f"“{view.names[node]}”"

    topic = missing(error)
    if topic is not None:
        return meaning_of(view, topic, removed_topic(view, topic)), worded("one of the tree")
    return sentence(_NUMBERED.sub(name, error.message)), _NUMBERED.sub(name, error.hint or "")
