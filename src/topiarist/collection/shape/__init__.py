"""Shaping a tree by hand: a value that holds what people said of it, edits that change it, and fitting it again."""

from __future__ import annotations

from topiarist.collection.shape.edits import (
    Branch,
    Delete,
    Describe,
    Edit,
    Merge,
    Move,
    Pin,
    Rename,
    Split,
    Unpin,
    apply,
)
from topiarist.collection.shape.shape import Shape

__all__ = ["Branch", "Delete", "Describe", "Edit", "Merge", "Move", "Pin", "Rename", "Shape", "Split", "Unpin", "apply"]
