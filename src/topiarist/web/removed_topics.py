"""Names of topics in messages, with topics that were removed."""

from __future__ import annotations

import re
from datetime import datetime

from topiarist.collection.describe.provenance import RemovedTopic, find_removed_topic, remembers_all_topics
from topiarist.display.formats import format_day, format_time
from topiarist.display.locale.catalogues import translate
from topiarist.errors import MissingError, UsageError
from topiarist.web.view import View

_TOPIC_NUMBER = re.compile(r"#(\d{1,9})\b")


class LeftOutError(UsageError):
    """Error of a document whose file was not read."""


def get_missing_topic(error: UsageError) -> int | None:
    """Return the missing topic that an error names; None for other errors."""
    return error.topic if isinstance(error, MissingError) else None


def describe_missing_topic(view: View, topic: int, was: RemovedTopic | None) -> str:
    """Return what a missing topic was, as far as the log knows it."""
    if was is not None and was.step:
        values = {"name": was.name, "time": _format_moment(was.removed), "step": was.step}
        return translate("Topic “{name}” was removed at {time} ({step}).", **values)
    if was is not None:
        return translate("Topic “{name}” belonged to the model of {day}.", name=was.name, day=format_day(was.time))
    if remembers_all_topics(view.collection):
        return translate("Topic {topic} never existed in this collection.", topic=str(topic))
    return translate(
        "Topic {topic} does not exist. Topics of earlier trees are not available.",
        topic=str(topic),
    )


def _format_moment(time: str) -> str:
    """Return the hour and minute of a moment today, otherwise with its day."""
    now = datetime.now().astimezone()
    moment = datetime.fromisoformat(time).astimezone()
    return f"{moment:%H:%M}" if moment.date() == now.date() else format_time(time)


def format_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def replace_topic_numbers(view: View, error: UsageError) -> tuple[str, str]:
    """Return message and hint of an error with topic names in place of numbers."""

    def name(match: re.Match[str]) -> str:
        node = view.shape.node_of.get(int(match[1]))
        return match[0] if node is None else f"“{view.names[node]}”"

    topic = get_missing_topic(error)
    if topic is not None:
        return describe_missing_topic(view, topic, find_removed_topic(view, topic)), translate(
            "Choose an existing topic."
        )
    return format_sentence(_TOPIC_NUMBER.sub(name, error.message)), _TOPIC_NUMBER.sub(name, error.hint or "")
