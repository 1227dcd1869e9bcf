"""The tree as a value: building it, editing it, the words that describe its nodes, and showing it."""

from topiarist.hierarchy.edits import Edit, collapse, cut, merge, move, prune, rename, split
from topiarist.hierarchy.picture import curve, draw, draw_drift
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.words import node_scores, node_words

__all__ = [
    "Edit",
    "Tree",
    "collapse",
    "curve",
    "cut",
    "draw",
    "draw_drift",
    "merge",
    "move",
    "node_scores",
    "node_words",
    "prune",
    "rename",
    "split",
]
