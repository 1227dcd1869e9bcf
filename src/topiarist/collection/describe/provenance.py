"""Where a collection comes from: when and how it was grown and fitted, what came since, topics that are gone."""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.collection import contents
from topiarist.collection.describe.figures import Figures
from topiarist.collection.file.additions import ADD
from topiarist.collection.grow.granted import granted
from topiarist.collection.grow.grower import PLACES
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.changes import FITTED, REFIT, REMOVE, UNDO, stopped_after
from topiarist.collection.state import SHARES, TREE, State
from topiarist.store import edit_log
from topiarist.text.readers.kinds import kind_of

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

GROW = "grow"
LOOKED_BACK = 200  # steps
GROWN_WITH = "grown_with"  # a setting, once documents were removed: how many there are of those that it was grown with


@dataclass(frozen=True)
class LastFit:
    """The last fit that holds, how many documents were added since, and after how many rounds it was stopped."""

    time: str
    arrived: int
    stopped: int | None = None  # None: it went to its end


@dataclass(frozen=True)
class RemovedTopic:
    """A topic of an earlier tree: its name, the time of that tree, and the node where most of its documents are now."""

    name: str
    time: str
    now: int | None


def last_fit(collection: Collection) -> LastFit:
    """When the tree that is shown was fitted."""
    arrived, undone = 0, set()
    for entry in edit_log.walk(collection.generation.database):
        if entry.kind == UNDO:
            undone.add(entry.body["edit"])
        elif entry.kind == ADD and entry.number not in undone:
            arrived += int(entry.body.get("documents", 0))
        elif entry.kind == REMOVE and entry.number not in undone:
            arrived -= int(entry.body.get("arrived", 0))
        elif entry.number not in undone and (entry.kind in (GROW, REFIT) or entry.body.get(FITTED)):
            return LastFit(entry.time, arrived, stopped_after(entry))
    return LastFit("", arrived)


def grown_with(collection: Collection) -> int:
    """How many documents the collection was grown with: the first ones; those behind were added."""
    known = collection.settings.get(GROWN_WITH)
    added = edit_log.total(collection.generation.database, ADD, "documents")
    return len(collection) - added if known is None else int(known)


def grown(collection: Collection) -> edit_log.Edit | None:
    """How the collection was grown; None if that is not known."""
    return next(iter(edit_log.history(collection.generation.database, kind=GROW, limit=1)), None)


def is_as_grown(collection: Collection) -> bool:
    """Whether the tree is the one that was grown: no fit has come between."""
    first = grown(collection)
    if first is None:
        return True
    parts = edit_log.state(collection.generation.database, first.after).get("parts", {})
    return bool(parts.get(TREE, "") == collection.state.parts.get(TREE))


def removed_topic(figures: Figures, topic: int) -> RemovedTopic | None:
    """What a topic was that is not there any more; None if no tree had it, or nobody remembers."""
    database = figures.collection.generation.database
    for entry in islice(edit_log.walk(database), LOOKED_BACK):
        body = edit_log.state(database, entry.after)
        if edit_log.FORGOTTEN in body:
            continue
        state = State.from_dict(body)
        if topic in state.shape.node_of:
            return RemovedTopic(state.shape.name(topic), entry.time, _now(figures, state, topic))
    return None


def remembers_all_topics(collection: Collection) -> bool:
    """Whether every tree that the collection had is still known, so that a topic that is not found never was."""
    database = collection.generation.database
    states, edits = edit_log.lengths(database)
    return states == len(edit_log.remembered(database)) and edits <= LOOKED_BACK


def _now(figures: Figures, state: State, topic: int) -> int | None:
    """Where most documents of a topic of an earlier state are now."""
    pieces = [contents.read_matrix(figures.collection.part(name)) for name in state.pieces(SHARES)]
    below = state.shape.tree.path_mask(state.shape.class_nodes)[:, state.shape.node(topic)]
    rows = np.flatnonzero(contents.stacked(pieces) @ below.astype(np.float64) >= 0.5)
    rows = rows[rows < figures.n_docs]
    return int(np.bincount(figures.homes[rows]).argmax()) if len(rows) else None


def original_of(collection: Collection, source: str) -> Path | None:
    """The file of a document, with all links followed; None if it is not there, or holds other documents as well.

    It has to lie where this user grew the collection from, or has granted (``grow.granted``): a link in there that
    leads elsewhere is not followed. Only ask for documents that it was grown with (``grown_with``): what was added
    later came from anywhere.
    """
    if not source or not is_one_document(source):
        return None
    settings, known = collection.settings, granted(collection.folder.path)
    for named, place in zip(settings.get("sources", ()), settings.get(PLACES, ()), strict=False):
        if not place or not (source == named or source.startswith(os.path.join(named, ""))):
            continue
        root = os.path.realpath(place)
        if root not in known:
            continue
        found = os.path.realpath(os.path.join(place, os.path.relpath(source, named)))
        if (found == root or found.startswith(os.path.join(root, ""))) and os.path.isfile(found):
            return Path(found)
    return None


def changed_since_grown(collection: Collection, path: Path | None) -> bool:
    """Whether the file of a document was written after the collection was grown: it may hold something else now."""
    first = None if path is None else grown(collection)
    if path is None or first is None:
        return False
    try:
        return int(path.stat().st_mtime) > datetime.fromisoformat(first.time).timestamp()  # the log knows seconds
    except OSError:
        return False


def is_one_document(source: str) -> bool:
    """Whether a file of this name is one document, and not a table, a mailbox or an archive of many."""
    kind = kind_of(source)[0]
    return kind is None or not (kind.table or kind.archive)


def opened(path: Path) -> int | None:
    """A descriptor of the file, if it is still a file and not a link by now."""
    try:
        found = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(found).st_mode):
        return found
    os.close(found)
    return None


def growing_command(settings: dict[str, Any], *, paths: bool = True) -> str:
    """What grows the same tree again: the command as it was typed, or the call. ``paths``: files may be named."""
    recipe, typed = settings.get("recipe", {}), settings.get("command")
    usual = {one.name: one.default for one in fields(Recipe) if one.name not in ("language", "seed")}
    told = {name: value for name, value in recipe.items() if name in usual and value != usual[name]}
    seed = recipe.get("seed", 0)
    if typed and paths:
        seeded = any(part == "--seed" or part.startswith("--seed=") for part in typed)
        return shlex.join([*map(str, typed), *([] if seeded else ["--seed", str(seed)])])
    if not typed and paths:
        given = ", ".join(f"{name}={value!r}" for name, value in {**told, "seed": seed}.items() if name != "hierarchy")
        return f"Collection.grow(documents, folder, Recipe({given}))"
    parts = ["topiarist", "grow", "SOURCE"]
    for name, value in told.items():
        option = f"--{name.replace('_', '-')}"
        said = "FILE" if name == "hierarchy" or (name == "stop_words" and not str(value).isalpha()) else str(value)
        parts += [option] if value is True else [option, said]
    return shlex.join([*parts, "--seed", str(seed)])
