"""Shaping a tree by hand: a value that holds what people said of it, edits that change it, and fitting it again.

Floor plan:

    changes         Edits of a collection's tree: applied, written down, fitted, and taken back exactly (undo).
    edit_language   Edits as people write them: a YAML or JSON file, or the words of a command.
    edits           The edits: what each of them says, and what it makes of a shape. Nothing else is changed by any of
                    them.
    language_model  A language model that the user has: a program, or a server on this machine, asked one question at a
                    time.
    name_proposals  Names for topics: what a language model is asked, what of its answer is a name, and what a person
                    picks.
    refit_blocks    The counts that a shaped tree is fitted to: in memory, or of very many documents in blocks in files.
    refit_start     Where documents begin when a shaped tree is fitted again: where they were, as far as their topics
                    still exist.
    shape           What people see and say of a tree, as one frozen value that can be written down and come back to.
    split_parts     What a split would make of a topic, before it is made: the parts that its documents begin in, by
                    words and documents.
    topic_changes   Topics before and after: which are new, gone, elsewhere, called otherwise, or of another size.
    word_use        Words of edits: whether the collection knows them, and what the edits do to the words that the tree
                    sees.
"""

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
    apply,
)
from topiarist.collection.shape.shape import Shape

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
    "Shape",
    "Split",
    "Unite",
    "Unpin",
    "apply",
]
