"""Provenance of a collection: how and when it was grown and fitted, later additions, and removed topics."""

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
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.file.additions import ADD
from topiarist.collection.grow.allowed_folders import PLACES, read_allowed_folders
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.history import EDIT, FITTED, REFIT, REMOVE, UNDO, describe_step, get_stop_iteration
from topiarist.collection.state import SHARES, TREE, State
from topiarist.storage import edit_log
from topiarist.text.readers.kinds import kind_of

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

GROW = "grow"
MAX_EDITS = 200  # edits that are searched for a removed topic
GROW_OPTIONS = ("topics", "model", "hierarchy", "dates")  # of the recipe; other fields are environment variables
GROWN_WITH = "grown_with"  # setting, after a removal: number of remaining documents that the collection was grown with


@dataclass(frozen=True)
class LastFit:
    """Last fit that was not undone, documents added since, and the rounds after which it was stopped."""

    time: str
    n_added: int
    stopped: int | None = None  # None: it was not stopped


@dataclass(frozen=True)
class RemovedTopic:
    """Topic of an earlier tree: its name, the time of that tree, and the node with most of its documents now.

    ``step`` describes the edit that removed it, empty for a fit or a growth. ``removed`` is the time of that edit.
    """

    name: str
    time: str
    now: int | None
    removed: str = ""
    step: str = ""


def find_last_fit(collection: Collection) -> LastFit:
    """Return the last fit of the current tree."""
    n_added, undone_edits = 0, set()
    for entry in edit_log.walk(collection.generation.database):
        if entry.kind == UNDO:
            undone_edits.add(entry.body["edit"])
        elif entry.kind == ADD and entry.number not in undone_edits:
            n_added += int(entry.body.get("documents", 0))
        elif entry.kind == REMOVE and entry.number not in undone_edits:
            n_added -= int(entry.body.get("arrived", 0))
        elif entry.number not in undone_edits and (entry.kind in (GROW, REFIT) or entry.body.get(FITTED)):
            return LastFit(entry.time, n_added, get_stop_iteration(entry))
    return LastFit("", n_added)


def count_documents_at_growth(collection: Collection) -> int:
    """Return the number of documents that the collection was grown with; the rows after them were added."""
    stored_number = collection.settings.get(GROWN_WITH)
    n_added = edit_log.total(collection.generation.database, ADD, "documents")
    return len(collection) - n_added if stored_number is None else int(stored_number)


def find_growth(collection: Collection) -> edit_log.Edit | None:
    """Return the log entry of the growth of a collection, or None."""
    return next(iter(edit_log.history(collection.generation.database, kind=GROW, limit=1)), None)


def is_unchanged_since_growth(collection: Collection) -> bool:
    """Return whether the tree is the grown one, without a later fit."""
    first = find_growth(collection)
    if first is None:
        return True
    parts = edit_log.state(collection.generation.database, first.after).get("parts", {})
    return bool(parts.get(TREE, "") == collection.state.parts.get(TREE))


def find_removed_topic(figures: Figures, topic: int) -> RemovedTopic | None:
    """Find a removed topic in earlier states; None if no known tree had it."""
    database = figures.collection.generation.database
    next_entry: edit_log.Edit | None = None
    for entry in islice(edit_log.walk(database), MAX_EDITS):
        body = edit_log.state(database, entry.after)
        if edit_log.FORGOTTEN_KEY not in body and topic in (state := State.from_dict(body)).shape.node_of:
            is_edit = next_entry is not None and next_entry.kind in (EDIT, UNDO)
            removal = (next_entry.time, describe_step(database, next_entry)) if next_entry and is_edit else ("", "")
            now = _find_current_node(figures, state, topic)
            return RemovedTopic(state.shape.name(topic), entry.time, now, *removal)
        next_entry = entry
    return None


def remembers_all_topics(collection: Collection) -> bool:
    """Return whether all earlier trees are known, so that a topic not found never existed."""
    database = collection.generation.database
    states, edits = edit_log.count_entries(database)
    return states == len(edit_log.list_remembered(database)) and edits <= MAX_EDITS


def _find_current_node(figures: Figures, state: State, topic: int) -> int | None:
    """Return the current node with most documents of a topic in ``state``; None without any."""
    pieces = [contents.read_matrix(figures.collection.part(name)) for name in state.pieces(SHARES)]
    under_topic = state.shape.tree.path_mask(state.shape.class_nodes)[:, state.shape.node(topic)]
    rows = np.flatnonzero(contents.stack_rows(pieces) @ under_topic.astype(np.float64) >= 0.5)
    rows = rows[rows < figures.n_docs]
    return int(np.bincount(figures.assigned_nodes[rows]).argmax()) if len(rows) else None


def find_original(collection: Collection, source: str) -> Path | None:
    """Return the file of a document, with links resolved; None if it is missing or holds several documents.

    The file must be in a folder from which this user grew the collection, or that the user allowed
    (``grow.allowed_folders``). A link out of such a folder is rejected. Use it only for documents that the collection
    was grown with (``count_documents_at_growth``): documents added later can come from any folder.
    """
    kind = kind_of(source)[0]
    if not source or (kind is not None and (kind.table or kind.archive)):
        return None
    settings, allowed_folders = collection.settings, read_allowed_folders(collection.folder.path)
    for named, place in zip(settings.get("sources", ()), settings.get(PLACES, ()), strict=False):
        if not place or not (source == named or source.startswith(os.path.join(named, ""))):
            continue
        root = os.path.realpath(place)
        if root not in allowed_folders:
            continue
        path = os.path.realpath(os.path.join(place, os.path.relpath(source, named)))
        if (path == root or path.startswith(os.path.join(root, ""))) and os.path.isfile(path):
            return Path(path)
    return None


def is_changed_since_growth(collection: Collection, path: Path | None) -> bool:
    """Return whether the file of a document was modified after the collection was grown."""
    first = None if path is None else find_growth(collection)
    if path is None or first is None:
        return False
    try:
        return int(path.stat().st_mtime) > datetime.fromisoformat(first.time).timestamp()  # the log has whole seconds
    except OSError:
        return False


def open_original(path: Path) -> int | None:
    """Open a file and return its descriptor; None if it is no regular file or became a link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def format_growing_command(settings: dict[str, Any], *, paths: bool = True) -> str:
    """Return the command, or the Python call, that grows the same tree; ``paths`` allows names of files in it.

    Settings without an option of ``grow`` become environment variables before the command.
    """
    recipe, typed = settings.get("recipe", {}), settings.get("command")
    defaults = {field.name: field.default for field in fields(Recipe) if field.name not in ("language", "seed")}
    changed = {name: value for name, value in recipe.items() if name in defaults and value != defaults[name]}
    seed = ["--seed", str(recipe.get("seed", 0))]
    if typed and paths:
        has_seed = any(part == "--seed" or part.startswith("--seed=") for part in typed)
        return shlex.join([*map(str, typed), *([] if has_seed else seed)])
    if paths:
        values = {name: value for name, value in changed.items() if name != "hierarchy"} | {
            "seed": recipe.get("seed", 0)
        }
        arguments = ", ".join(f"{name}={value!r}" for name, value in values.items())
        return f"Collection.grow(documents, folder, Recipe({arguments}))"
    variables, options = list[str](), list[str]()
    for name, value in changed.items():
        is_path = name == "hierarchy" or (name == "stop_words" and not str(value).isalpha())
        text = "FILE" if is_path else "true" if value is True else str(value)
        if name in GROW_OPTIONS:
            options += [f"--{name}", text]
        else:
            variables.append("TOPIARIST_NO_HEADINGS=true" if name == "headings" else f"TOPIARIST_{name.upper()}={text}")
    return shlex.join([*(["env"] * bool(variables)), *variables, "topiarist", "grow", "SOURCE", *options, *seed])
