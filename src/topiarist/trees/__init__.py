"""Topic trees: the tree value, its edits, its file formats and pictures, and the words of its nodes."""

from topiarist.trees.edits import Edit, collapse, cut, merge, move, prune, rename, split
from topiarist.trees.picture import draw_curve, draw_tree
from topiarist.trees.tree import Tree
from topiarist.trees.words import select_node_words

__all__ = [
    "Edit",
    "Tree",
    "collapse",
    "cut",
    "draw_curve",
    "draw_tree",
    "merge",
    "move",
    "prune",
    "rename",
    "select_node_words",
    "split",
]
