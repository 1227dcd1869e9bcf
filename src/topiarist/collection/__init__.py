"""A collection of documents with its tree: this is the door, and the rooms behind it are one for each verb.

Whoever is outside (``topiarist.app``) imports from here and from nowhere below: ``from topiarist.collection import
Collection``. The names are imported when they are first used, so that ``topiarist --help`` loads nothing numerical.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.collection.check import REPAIR, Finding
    from topiarist.collection.check import check as check_folder
    from topiarist.collection.check import repair as repair_folder
    from topiarist.collection.collection import Collection
    from topiarist.collection.describe.closeup import Look, topic_words
    from topiarist.collection.describe.closeup import look as look_at
    from topiarist.collection.describe.export import TREE_FORMATS, exported_table, save_tree_model, tree_text
    from topiarist.collection.describe.flat_topics import Topics, find_topics
    from topiarist.collection.describe.tables import BETWEEN
    from topiarist.collection.describe.tables import FORMATS as TABLE_FORMATS
    from topiarist.collection.describe.tables import format_of as table_format
    from topiarist.collection.describe.tables import write as write_table
    from topiarist.collection.describe.tables import write_sheet as write_spreadsheet
    from topiarist.collection.describe.topic_tree import FEWEST_TO_JUDGE, TopicTree
    from topiarist.collection.file.additions import ADD
    from topiarist.collection.file.arrivals import Filed
    from topiarist.collection.file.arrivals import add as add_documents
    from topiarist.collection.file.arrivals import coming as batches_as_they_come
    from topiarist.collection.file.arrivals import file as file_documents
    from topiarist.collection.file.file_moves import move_files, plan_moves
    from topiarist.collection.file.new_topics import PAYS, NewTopic, new_topics
    from topiarist.collection.find.index import Explanation
    from topiarist.collection.find.search import (
        FEW,
        WAYS,
        Found,
        FoundDocument,
        Held,
        Likeness,
        Search,
        places_of,
        topics_of,
    )
    from topiarist.collection.find.search import listed as listed_documents
    from topiarist.collection.grow.estimate import dry_run, memory_shortage
    from topiarist.collection.grow.existing import existing_collection, kept_after_stop
    from topiarist.collection.grow.fit_description import labelled as named_by_words
    from topiarist.collection.grow.grower import MADE_FROM, PLACES, Grower
    from topiarist.collection.grow.journal import Teller
    from topiarist.collection.grow.recipe import Recipe
    from topiarist.collection.judge.categories import MOST as MOST_JUDGED
    from topiarist.collection.judge.categories import Categories, Told
    from topiarist.collection.judge.categories import spread as spread_rows
    from topiarist.collection.judge.heldout_answers import HeldOut, held_out
    from topiarist.collection.judge.judgements import ACCEPT, BACK, LEAVE, MOVE, JudgedError, Judgement, Judgements
    from topiarist.collection.judge.label_table import read_labels
    from topiarist.collection.judge.learner import Quality
    from topiarist.collection.judge.learner import learn as learn_categories
    from topiarist.collection.judge.tree_quality import judged as judged_tree
    from topiarist.collection.shape.changes import FITTED, LEARN, REFIT, UNDO, ChangedError, last_step, stopped_after
    from topiarist.collection.shape.changes import in_words as step_in_words
    from topiarist.collection.shape.changes import mark as state_mark
    from topiarist.collection.shape.changes import preview as preview_edits
    from topiarist.collection.shape.changes import shape as apply_edits
    from topiarist.collection.shape.changes import told as step_text
    from topiarist.collection.shape.changes import undo as undo_last
    from topiarist.collection.shape.edit_language import WORDS as EDIT_FORMS
    from topiarist.collection.shape.edit_language import edit_of_line, edit_of_words, named_as, read_edits, spoken_of
    from topiarist.collection.shape.edit_language import to_sentence as edit_to_sentence
    from topiarist.collection.shape.edit_language import to_words as edit_to_words
    from topiarist.collection.shape.edits import KINDS as EDIT_KINDS
    from topiarist.collection.shape.edits import Delete, Describe, Edit, Merge, Move, Pin, Rename, Split, Unpin
    from topiarist.collection.shape.shape import Shape
    from topiarist.collection.shape.topic_changes import Snapshot as TopicSnapshot
    from topiarist.collection.shape.topic_changes import TopicChange, topic_changes, topic_snapshot
    from topiarist.collection.state import SHARES, TREE, State, before_last
    from topiarist.collection.state import at as collection_at
    from topiarist.collection.state import earlier as earlier_steps
    from topiarist.collection.state import steps as all_steps

_OFFERS = {  # of each module; behind an equals sign what a name is called inside
    "check": "REPAIR Finding check_folder=check repair_folder=repair",
    "collection": "Collection",
    "describe.closeup": "Look look_at=look topic_words",
    "describe.export": "TREE_FORMATS exported_table save_tree_model tree_text",
    "describe.flat_topics": "Topics find_topics",
    "describe.tables": (
        "BETWEEN TABLE_FORMATS=FORMATS table_format=format_of write_table=write write_spreadsheet=write_sheet"
    ),
    "describe.topic_tree": "FEWEST_TO_JUDGE TopicTree",
    "file.additions": "ADD",
    "file.file_moves": "plan_moves move_files",
    "file.arrivals": "Filed add_documents=add batches_as_they_come=coming file_documents=file",
    "file.new_topics": "PAYS NewTopic new_topics",
    "find.index": "Explanation",
    "find.search": ("FEW WAYS Found FoundDocument Held Likeness Search listed_documents=listed places_of topics_of"),
    "grow.existing": "existing_collection kept_after_stop",
    "grow.fit_description": "named_by_words=labelled",
    "grow.grower": "MADE_FROM PLACES Grower",
    "grow.journal": "Teller",
    "grow.estimate": "dry_run memory_shortage",
    "grow.recipe": "Recipe",
    "judge.categories": "Categories MOST_JUDGED=MOST Told spread_rows=spread",
    "judge.heldout_answers": "HeldOut held_out",
    "judge.judgements": "ACCEPT BACK LEAVE MOVE JudgedError Judgement Judgements",
    "judge.label_table": "read_labels",
    "judge.learner": "Quality learn_categories=learn",
    "judge.tree_quality": "judged_tree=judged",
    "shape.changes": (
        "FITTED LEARN REFIT UNDO ChangedError step_in_words=in_words last_step state_mark=mark "
        "preview_edits=preview apply_edits=shape stopped_after step_text=told undo_last=undo"
    ),
    "shape.edit_language": (
        "EDIT_FORMS=WORDS edit_of_line edit_of_words named_as read_edits spoken_of edit_to_sentence=to_sentence "
        "edit_to_words=to_words"
    ),
    "shape.edits": "EDIT_KINDS=KINDS Delete Describe Edit Merge Move Pin Rename Split Unpin",
    "shape.shape": "Shape",
    "shape.topic_changes": "TopicChange TopicSnapshot=Snapshot topic_changes topic_snapshot",
    "state": "SHARES TREE State all_steps=steps before_last collection_at=at earlier_steps=earlier",
}
_HOMES = {
    outside: (module, inside or outside)
    for module, names in _OFFERS.items()
    for outside, _, inside in (name.partition("=") for name in names.split())
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        module, inside = _HOMES[name]
        return getattr(import_module(f"{__name__}.{module}"), inside)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
