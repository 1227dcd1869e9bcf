"""What would this edit change?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.removed_topics import spoken
from topiarist.app.explorer.values import Choice, DocumentLine, document_lines, excerpt, link, path_to
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, worded
from topiarist.app.words import STEP, word_use
from topiarist.collection import (
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
    Shape,
    Split,
    Unite,
    Unpin,
    preview_edits,
    split_parts,
    word_uses,
)
from topiarist.errors import UsageError

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
    "seed": "Where it belongs: {subject}",
    "ignore": "Ignore {subject}",
    "unite": "One with {subject}",
    "forget": "Forget what was said of {subject}",
}
MOST_PARTS = 6  # of a split that are offered; an address may ask for more
MOST = 500  # topics to choose from
SEVERAL = ("merge", "group")  # edits that go with one topic or more
OF_DOCUMENTS, OF_WORDS = ("pin", "unpin"), ("seed", "ignore", "unite", "forget")  # edits that begin with no topic


@dataclass(frozen=True)
class Ask:
    """An edit as far as it is told."""

    edit: Kind = "rename"
    topic: int | None = None
    name: Annotated[str, Query(max_length=400)] = ""
    note: Annotated[str, Query(max_length=20_000)] = ""
    other: Annotated[int | None, Query(description="the topic to merge with, to move, pin or seed under")] = None
    others: Annotated[tuple[int, ...], Query(max_length=500, description="the topics to group or to merge with")] = ()
    into: Annotated[int, Query(ge=2, le=100)] = 2
    below: Annotated[bool, Query(description="delete its subtopics as well")] = False
    document: Annotated[str, Query(max_length=10_000)] = ""
    words: Annotated[str, Query(max_length=2_000, description="words to speak of, with commas between them")] = ""
    ready: Annotated[bool, Query(description="whether everything is told, to see what would change")] = False


@dataclass(frozen=True)
class Option:
    """A topic that may be chosen."""

    id: int
    path: str
    chosen: bool
    name: str = ""
    level: int = 0
    documents: int = 0


@dataclass(frozen=True)
class Part:
    """A topic that a split would make."""

    words: tuple[str, ...]
    documents: int
    typical: tuple[DocumentLine, ...]
    sampled: int = 0  # documents of the topic that it was estimated from; 0: all of them


@dataclass(frozen=True)
class Change:
    """A topic before and after: None where it is not there."""

    topic: str
    before: int | None
    after: int | None
    said: str


@dataclass(frozen=True, kw_only=True)
class ShapePage:
    """An edit: what is told so far, and what it would change, in numbers."""

    edit: str
    title: str
    topic: int | None
    current: str
    name: str
    note: str
    other: int | None
    others: tuple[int, ...]
    into: int
    below: bool
    document: str
    words: str
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
    """Fill the page."""
    node = view.tree.root if ask.topic is None else view.shape.node(ask.topic)
    if ask.topic is None and ask.edit not in (*OF_DOCUMENTS, *OF_WORDS):
        raise UsageError(worded("no topic was chosen to be edited"), hint=worded("one of the tree"))
    changes: tuple[Change, ...] = ()
    uses: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    problem, refits = "", ask.edit not in ("rename", "describe")
    ready = ask.ready or ask.edit in ("unpin", "ignore", "forget", "split")
    if ready:
        try:
            parts = _parts(view, ask)
            changes = changed(view, edit_of(ask))
            uses = tuple(map(word_use, word_uses(view.collection, [edit_of(ask)])))
        except UsageError as error:
            message, hint = spoken(view, error)
            problem = worded("{problem} Try: {hint}.", problem=message, hint=hint) if hint else message
    known = view.shape.titles.get(ask.topic, "") if ask.topic is not None else ""
    subject = ask.document if ask.edit in OF_DOCUMENTS else ask.words if ask.edit in OF_WORDS else view.names[node]
    back = addresses.document(ask.document) if ask.edit in OF_DOCUMENTS else addresses.topic(ask.topic or 0)
    if ask.edit in OF_WORDS:
        back = addresses.word(next(iter(_words(ask)), ""))
    return ShapePage(
        edit=ask.edit,
        title=worded(TITLES[ask.edit], subject=subject),
        topic=ask.topic,
        current=view.names[node],
        name=ask.name if ask.ready else known if ask.edit == "rename" else "",
        note=ask.note if ask.ready else view.shape.notes.get(node if ask.topic is None else ask.topic, ""),
        other=ask.other,
        others=ask.others,
        into=ask.into,
        below=ask.below,
        document=ask.document,
        words=ask.words,
        uses=uses,
        candidates=_candidates(view, ask, node),
        parts=parts,
        sizes=tuple(
            Choice(str(number), addresses.shape("split", ask.topic, into=number), number == ask.into)
            for number in range(2, MOST_PARTS + 1)
        )
        if ask.edit == "split"
        else (),
        options=_options(view, ask, node),
        changes=changes,
        problem=problem,
        ready=ready and not problem,
        refits=refits,
        back=back,
        state=view.mark,
    )


def edit_of(ask: Ask) -> Edit:
    """The edit that is told, or an error that says what is missing."""
    topic = -1 if ask.topic is None else ask.topic
    others = tuple(one for one in (ask.other, *ask.others) if one is not None)
    if ask.edit in SEVERAL and not others:
        raise UsageError(worded("the other topics are missing"), hint=worded("choose one or more"))
    if ask.edit in OF_WORDS and not _words(ask):
        raise UsageError(worded("the words are missing"), hint=worded("one or more, with commas between them"))
    if ask.edit in ("move", "pin", "seed") and ask.other is None:
        raise UsageError(worded("the other topic is missing"), hint=worded("choose one"))
    other = -1 if ask.other is None else ask.other
    made: dict[str, Edit] = {
        "rename": Rename(topic, ask.name),
        "describe": Describe(topic, ask.note),
        "merge": Merge((topic, *others), ask.name or None),
        "group": Group((topic, *others), ask.name),
        "split": Split(topic, ask.into),
        "move": Move(topic, other),
        "delete": Delete(topic, ask.below),
        "pin": Pin((ask.document,), other),
        "unpin": Unpin((ask.document,)),
        "seed": Seed(other, _words(ask)),
        "ignore": Ignore(_words(ask)),
        "unite": Unite(_words(ask)),
        "forget": Forget(_words(ask)),
    }
    return made[ask.edit]


def _candidates(view: View, ask: Ask, node: int) -> tuple[Choice, ...]:
    """Names for a topic, by its words; each an address at which it is seen what it would change."""
    if ask.edit != "rename":
        return ()
    names = view.collection.tree.nodes[node].names
    return tuple(link(name, addresses.shape("rename", ask.topic, name=name, ready=1)) for name in names)


def _parts(view: View, ask: Ask) -> tuple[Part, ...]:
    """What a split would begin with, by words and documents."""
    if ask.edit != "split" or ask.topic is None:
        return ()
    topic, into = ask.topic, ask.into
    found = view.remembered(("split", topic, into), lambda: split_parts(view.collection, topic, into))
    return tuple(Part(one.words, one.documents, _excerpts(view, one.rows, one.words), one.sampled) for one in found)


def _excerpts(view: View, rows: Sequence[int], words: Sequence[str]) -> tuple[DocumentLine, ...]:
    lines = document_lines(view, rows, lambda id, _: addresses.document(id))
    texts = view.collection.documents.many(rows)
    return tuple(replace(line, snippet=excerpt(one.text, words)) for line, one in zip(lines, texts, strict=True))


def _words(ask: Ask) -> tuple[str, ...]:
    """The words that are told."""
    return tuple(word for part in ask.words.split(",") if (word := " ".join(part.split())))


def _options(view: View, ask: Ask, node: int) -> tuple[Option, ...]:
    """Topics that the edit may go to, in the order of the tree."""
    if ask.edit not in (*SEVERAL, "move", "pin", "seed"):
        return ()
    barred = {node, *view.tree.path(node), *view.tree.descendants(node)} if ask.edit in SEVERAL else set()
    if ask.edit == "move":
        barred = {node, *view.tree.descendants(node)}
    return tuple(
        Option(
            view.shape.topics[one],
            STEP.join(step.name for step in path_to(view, one)[1:]) or view.names[one],
            view.shape.topics[one] in (ask.other, *ask.others),
            view.names[one],
            view.tree.depths[one],
            view.sizes[one],
        )
        for one in view.ordered()
        if one not in barred and not (ask.edit == "seed" and one == view.tree.root)
    )[:MOST]


def changed(view: View, edit: Edit) -> tuple[Change, ...]:
    """What an edit would change: names, places, and documents under topics, as they would be before a new fit."""
    after = preview_edits(view.collection, [edit])
    shape, found = after.shape, []
    before = {topic: view.sizes[node] for node, topic in enumerate(view.shape.topics)}
    for topic in dict.fromkeys((*view.shape.topics, *shape.topics)):
        old = before.get(topic)
        new = round(after.sizes[topic]) if topic in after.sizes else None
        if old is None:
            parent = shape.name(shape.topics[shape.tree.parents[shape.node(topic)]])
            said = worded("new, under {parent}", parent=parent)
            said += "" if new else worded(": filled when the tree is fitted")
            found.append(Change(shape.name(topic), None, new or None, said))
        elif new is None:
            found.append(Change(view.shape.name(topic), old, None, worded("gone")))
        else:
            said = _said(view, shape, topic)
            if said or abs(new - old) > 1:
                found.append(Change(view.shape.name(topic), old, new, said))
    if isinstance(edit, Pin):
        found.append(Change(shape.name(shape.find(edit.topic)), None, None, worded("has one document pinned to it")))
    elif isinstance(edit, Unpin):
        documents = worded("{documents}", documents=Counted(len(edit.documents), "document"))
        found.append(Change(documents, None, None, worded("free to move again")))
    elif isinstance(edit, Seed):
        said = worded("has the words {words}", words=", ".join(edit.words))
        found.append(Change(shape.name(shape.find(edit.topic)), None, None, said))
    elif isinstance(edit, Describe):
        found.append(Change(shape.name(shape.find(edit.topic)), None, None, worded("has this note")))
    return tuple(found)


def _said(view: View, now: Shape, topic: int) -> str:
    """What is otherwise about a topic that stays."""
    old_parent, new_parent = _parent(view.shape, topic), _parent(now, topic)
    said = []
    if view.shape.name(topic) != now.name(topic):
        said.append(worded("called {name}", name=now.name(topic)))
    if old_parent != new_parent:
        said.append(worded("under {name}", name=now.name(new_parent)))
    return ", ".join(said)


def _parent(shape: Shape, topic: int) -> int:
    node = shape.node(topic)
    parent = shape.tree.parents[node]
    return shape.topics[parent] if parent >= 0 else -1
