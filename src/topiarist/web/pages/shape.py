"""Preview of an edit of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Literal

from fastapi import Query

from topiarist.collection.shape.edits import (
    Delete,
    Describe,
    Edit,
    Forget,
    Group,
    Ignore,
    Merge,
    Move,
    Pin,
    Rename,
    Seed,
    Split,
    Unite,
    Unpin,
)
from topiarist.collection.shape.history import preview_edits
from topiarist.collection.shape.previews import preview_split, take_snapshot
from topiarist.collection.shape.tree_state import TreeState
from topiarist.collection.shape.words import find_word_uses
from topiarist.display.formats import STEP, describe_word_use
from topiarist.display.locale.catalogues import CountedNoun, translate
from topiarist.errors import UsageError
from topiarist.web import addresses
from topiarist.web.removed_topics import replace_topic_numbers
from topiarist.web.values import Choice, DocumentLine, build_document_lines, build_excerpt, link, list_path
from topiarist.web.view import View

Kind = Literal[
    "rename", "describe", "merge", "group", "split", "move", "delete", "pin", "unpin",
    "seed", "ignore", "unite", "forget",
]  # fmt: skip
TITLES = {
    "rename": "Rename {subject}",
    "describe": "Write a note about {subject}",
    "merge": "Merge {subject}",
    "group": "Group {subject}",
    "split": "Split {subject}",
    "move": "Move {subject}",
    "delete": "Delete {subject}",
    "pin": "Pin {subject}",
    "unpin": "Unpin {subject}",
    "seed": "Assign {subject}",
    "ignore": "Ignore {subject}",
    "unite": "Merge spellings with {subject}",
    "forget": "Remove edits of {subject}",
}
MOST_PARTS = 6  # of a split that are offered; an address may ask for more
MAX_TOPICS = 500  # topics to choose from
MULTI_TOPIC_EDITS = ("merge", "group")  # edits that go with one topic or more
OF_DOCUMENTS, OF_WORDS = ("pin", "unpin"), ("seed", "ignore", "unite", "forget")  # edits that begin with no topic


@dataclass(frozen=True, kw_only=True)
class EditForm:
    """Fields of the form of an edit."""

    edit: Kind = "rename"
    topic: int | None = None
    name: Annotated[str, Query(max_length=400)] = ""
    note: Annotated[str, Query(max_length=20_000)] = ""
    other: Annotated[int | None, Query(description="the topic to merge with, to move, pin or seed under")] = None
    others: Annotated[tuple[int, ...], Query(max_length=500, description="the topics to group or to merge with")] = ()
    into: Annotated[int, Query(ge=2, le=100)] = 2
    below: Annotated[bool, Query(description="delete its subtopics as well")] = False
    document: Annotated[str, Query(max_length=10_000)] = ""
    words: Annotated[str, Query(max_length=2_000, description="words, separated by commas")] = ""


@dataclass(frozen=True, kw_only=True)
class Ask(EditForm):
    """Query parameters of the preview of an edit."""

    ready: Annotated[bool, Query(description="whether the form is complete, for a preview")] = False


@dataclass(frozen=True)
class Option:
    """Topic that can be chosen."""

    id: int
    path: str
    chosen: bool
    name: str = ""
    level: int = 0
    documents: int = 0


@dataclass(frozen=True)
class Part:
    """Topic that a split creates."""

    words: tuple[str, ...]
    documents: int
    typical: tuple[DocumentLine, ...]
    sampled: int = 0  # documents of the topic that it was estimated from; 0: all of them


@dataclass(frozen=True)
class Change:
    """Size of a topic before and after an edit; None if it does not exist."""

    topic: str
    before: int | None
    after: int | None
    said: str


@dataclass(frozen=True, kw_only=True)
class ShapePage(EditForm):
    """An edit with its consequences."""

    title: str
    current: str
    uses: tuple[str, ...]  # what is known of the words, in sentences
    candidates: tuple[Choice, ...]  # names that a topic could have
    parts: tuple[Part, ...]  # what a split would begin with
    sizes: tuple[Choice, ...]  # into how many it may be split
    options: tuple[Option, ...]
    changes: tuple[Change, ...]
    problem: str
    ready: bool
    refits: bool  # whether the model has to be fitted again
    back: str
    state: str


def load(view: View, ask: Ask) -> ShapePage:
    """Return the form of an edit, with its effect if the form is complete."""
    node = view.tree.root if ask.topic is None else view.shape.node(ask.topic)
    if ask.topic is None and ask.edit not in (*OF_DOCUMENTS, *OF_WORDS):
        raise UsageError(translate("expected a topic"), hint=translate("Choose an existing topic."))
    changes: tuple[Change, ...] = ()
    uses: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    problem, refits = "", ask.edit not in ("rename", "describe")
    ready = ask.ready or ask.edit in ("unpin", "ignore", "forget", "split")
    if ready:
        try:
            parts = _list_parts(view, ask)
            changes = list_changes(view, build_edit(ask))
            uses = tuple(map(describe_word_use, find_word_uses(view.collection, [build_edit(ask)])))
        except UsageError as error:
            message, hint = replace_topic_numbers(view, error)
            problem = translate("{problem} Try: {hint}.", problem=message, hint=hint.rstrip(".")) if hint else message
    current_name = view.shape.titles.get(ask.topic, "") if ask.topic is not None else ""
    subject = ask.document if ask.edit in OF_DOCUMENTS else ask.words if ask.edit in OF_WORDS else view.names[node]
    return_address = addresses.document(ask.document) if ask.edit in OF_DOCUMENTS else addresses.topic(ask.topic or 0)
    if ask.edit in OF_WORDS:
        return_address = addresses.word(next(iter(_split_words(ask)), ""))
    form = {item.name: getattr(ask, item.name) for item in fields(EditForm)}
    if not ask.ready:
        form["name"] = current_name if ask.edit == "rename" else ""
        form["note"] = view.shape.notes.get(node if ask.topic is None else ask.topic, "")
    return ShapePage(
        **form,
        title=translate(TITLES[ask.edit], subject=subject),
        current=view.names[node],
        uses=uses,
        candidates=_list_candidates(view, ask, node),
        parts=parts,
        sizes=tuple(
            Choice(str(number), addresses.shape("split", ask.topic, into=number), number == ask.into)
            for number in range(2, min(MOST_PARTS, max(2, int(view.sizes[node]))) + 1)
        )
        if ask.edit == "split"
        else (),
        options=_list_options(view, ask, node),
        changes=changes,
        problem=problem,
        ready=ready and not problem,
        refits=refits,
        back=return_address,
        state=view.mark,
    )


def build_edit(ask: Ask) -> Edit:
    """Return the edit of a form. Raise UsageError if a topic or word is missing."""
    topic = -1 if ask.topic is None else ask.topic
    others = tuple(item for item in (ask.other, *ask.others) if item is not None)
    if ask.edit in MULTI_TOPIC_EDITS and not others:
        raise UsageError(translate("the other topics are missing"), hint=translate("Choose one or more topics."))
    if ask.edit in OF_WORDS and not _split_words(ask):
        raise UsageError(
            translate("the words are missing"), hint=translate("Write one or more words, separated by commas.")
        )
    if ask.edit in ("move", "pin", "seed") and ask.other is None:
        raise UsageError(translate("the other topic is missing"), hint=translate("Choose a topic."))
    other = -1 if ask.other is None else ask.other
    value: dict[str, Edit] = {
        "rename": Rename(topic, ask.name),
        "describe": Describe(topic, ask.note),
        "merge": Merge((topic, *others), ask.name or None),
        "group": Group((topic, *others), ask.name),
        "split": Split(topic, ask.into),
        "move": Move(topic, other),
        "delete": Delete(topic, ask.below),
        "pin": Pin((ask.document,), other),
        "unpin": Unpin((ask.document,)),
        "seed": Seed(other, _split_words(ask)),
        "ignore": Ignore(_split_words(ask)),
        "unite": Unite(_split_words(ask)),
        "forget": Forget(_split_words(ask)),
    }
    return value[ask.edit]


def _list_candidates(view: View, ask: Ask, node: int) -> tuple[Choice, ...]:
    """Return links to candidate names of a topic; none for other edits than rename."""
    if ask.edit != "rename":
        return ()
    names = (name for name in view.collection.tree.nodes[node].names if name not in view.names)
    return tuple(link(name, addresses.shape("rename", ask.topic, name=name, ready=1)) for name in names)


def _list_parts(view: View, ask: Ask) -> tuple[Part, ...]:
    """Return the topics that a split would create; none for other edits."""
    if ask.edit != "split" or ask.topic is None:
        return ()
    topic, n_parts = ask.topic, ask.into
    result = view.remembered(("split", topic, n_parts), lambda: preview_split(view.collection, topic, n_parts))
    return tuple(
        Part(item.words, item.documents, _load_excerpts(view, item.rows, item.words), item.sampled) for item in result
    )


def _load_excerpts(view: View, rows: Sequence[int], words: Sequence[str]) -> tuple[DocumentLine, ...]:
    lines = build_document_lines(view, rows, lambda id, _: addresses.document(id))
    texts = view.collection.documents.load_many(rows)
    return tuple(
        replace(line, snippet=build_excerpt(item.text, words)) for line, item in zip(lines, texts, strict=True)
    )


def _split_words(ask: Ask) -> tuple[str, ...]:
    return tuple(word for part in ask.words.split(",") if (word := " ".join(part.split())))


def _list_options(view: View, ask: Ask, node: int) -> tuple[Option, ...]:
    """Return the topics that the edit can have as its other topic; none for edits of one topic."""
    if ask.edit not in (*MULTI_TOPIC_EDITS, "move", "pin", "seed"):
        return ()
    excluded_nodes = (
        {node, *view.tree.path(node), *view.tree.descendants(node)} if ask.edit in MULTI_TOPIC_EDITS else set()
    )
    if ask.edit == "move":
        excluded_nodes = {node, *view.tree.descendants(node)}
    return tuple(
        Option(
            view.shape.topics[item],
            STEP.join(step.name for step in list_path(view, item)[1:]) or view.names[item],
            view.shape.topics[item] in (ask.other, *ask.others),
            view.names[item],
            view.tree.depths[item],
            view.sizes[item],
        )
        for item in view.ordered()
        if item not in excluded_nodes and not (ask.edit == "seed" and item == view.tree.root)
    )[:MAX_TOPICS]


def list_changes(view: View, edit: Edit) -> tuple[Change, ...]:
    """Return changed names, parents and sizes of topics, as the edit would make them before a fit."""
    shape, result = preview_edits(view.collection, [edit]), []
    topics_after = take_snapshot(shape, view.collection)
    sizes_before = {topic: view.sizes[node] for node, topic in enumerate(view.shape.topics)}
    for topic in dict.fromkeys((*view.shape.topics, *shape.topics)):
        old = sizes_before.get(topic)
        new = round(topics_after[topic].documents) if topic in topics_after else None
        if old is None:
            parent = shape.name(shape.topics[shape.tree.parents[shape.node(topic)]])
            text = translate("new, under {parent}", parent=parent)
            text += "" if new else translate(": filled at the next fit")
            result.append(Change(shape.name(topic), None, new or None, text))
        elif new is None:
            result.append(Change(view.shape.name(topic), old, None, translate("gone")))
        else:
            text = _describe_change(view, shape, topic)
            if text or abs(new - old) > 1:
                result.append(Change(view.shape.name(topic), old, new, text))
    if isinstance(edit, Pin):
        result.append(Change(shape.name(shape.find(edit.topic)), None, None, translate("gets one pinned document")))
    elif isinstance(edit, Unpin):
        documents = translate("{documents}", documents=CountedNoun(len(edit.documents), "document"))
        result.append(Change(documents, None, None, translate("unpinned")))
    elif isinstance(edit, Seed):
        text = translate("gets the seed words {words}", words=", ".join(edit.words))
        result.append(Change(shape.name(shape.find(edit.topic)), None, None, text))
    elif isinstance(edit, Describe):
        result.append(Change(shape.name(shape.find(edit.topic)), None, None, translate("gets this note")))
    return tuple(result)


def _describe_change(view: View, now: TreeState, topic: int) -> str:
    """Return a new name and a new parent of a topic in words; empty if both stay."""
    old_parent, new_parent = _find_parent(view.shape, topic), _find_parent(now, topic)
    text = []
    if view.shape.name(topic) != now.name(topic):
        text.append(translate("called {name}", name=now.name(topic)))
    if old_parent != new_parent:
        text.append(translate("under {name}", name=now.name(new_parent)))
    return ", ".join(text)


def _find_parent(shape: TreeState, topic: int) -> int:
    node = shape.node(topic)
    parent = shape.tree.parents[node]
    return shape.topics[parent] if parent >= 0 else -1
