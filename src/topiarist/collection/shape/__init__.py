"""Shaping a tree by hand: a value that holds what people said of it, edits that change it, and fitting it again.

shape.py    ``Shape``: the tree with lasting topic numbers, names, notes, pins
edits.py    the edits, as values and as functions of a shape
wording.py  edits as people write them: YAML, JSON, or the words of a command
start.py    where documents are before the model is fitted again
"""

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
