"""Edits of a topic tree by users: the edited state, the edits, their history and the refit."""

from __future__ import annotations

from topiarist.collection.shape.edits import (
    Branch,
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

__all__ = [
    "Branch",
    "Delete",
    "Describe",
    "Edit",
    "Forget",
    "Group",
    "Ignore",
    "Merge",
    "Move",
    "Pin",
    "Rename",
    "Seed",
    "Split",
    "Unite",
    "Unpin",
]
