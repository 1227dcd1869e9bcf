"""A collection of documents with its tree: this is the door, and the rooms behind it are one for each verb.

Floor plan:

    describe/         Describe: the tree and its topics as people read them, in words, tables and lines.
    file/             File: where new documents belong, how sure that is, and how they are added.
    find/             Finding documents: one search value over the full-text index and the index by meaning.
    grow/             Grow: from documents to a collection on disk, in phases that can be taken up again.
    judge/            Judge: given categories learned from labels, how good they are, and what people said of them.
    remove/           Remove: documents that leave a collection, with a way back; and documents that are forgotten for
                      good.
    shape/            Shaping a tree by hand: a value that holds what people said of it, edits that change it, and
                      fitting it again.
    spread/           Spread: how topics lie over time and over groups of documents.
    verify/           Verify: growing and editing a collection once more from its own texts, and seeing whether the bits
                      agree.
    alike             Documents that are alike by meaning: their vectors point the same way, whatever words they have.
    check             Is a collection whole? Every checksum, every table, every name, and whether its parts fit each
                      other.
    collection        A collection: documents, their tree, and everything that can be asked of both.
    contents          What the parts of a collection hold: counts, the shares of documents, a model with the words of
                      its nodes.
    copies            Copies in a collection: which documents are copies of others, how lists are folded, what is there
                      already.
    document_vectors  The vectors that documents came with: how they are kept, in half precision and mapped, and what
                      brings new ones.
    farness           Documents that lie far from every topic, by their vectors: farther than nearly all documents of
                      the collection do.
    passages          Whole documents of a collection that was grown on passages: which they are, and what all of their
                      passages tell.
    state             What a collection is at one moment: the shape of its tree and its parts on disk; and what it was
                      before.

Whoever is outside (``topiarist.app``) imports from here and from nowhere below: ``from topiarist.collection import
Collection``. The names are imported when they are first used, so that ``topiarist --help`` loads nothing numerical.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.collection.alike import Alike as Alike
    from topiarist.collection.alike import alike_by_meaning as alike_by_meaning
    from topiarist.collection.check import REPAIR as REPAIR
    from topiarist.collection.check import Finding as Finding
    from topiarist.collection.check import check as check_folder
    from topiarist.collection.check import repair as repair_folder
    from topiarist.collection.collection import Collection as Collection
    from topiarist.collection.copies import CopiesOf as CopiesOf
    from topiarist.collection.copies import copies_of as copies_of
    from topiarist.collection.copies import folded as folded_rows
    from topiarist.collection.copies import found_copies as found_copies
    from topiarist.collection.copies import listed_copies as listed_copies
    from topiarist.collection.copies import number_of_copies as number_of_copies
    from topiarist.collection.describe.account import Entry as AccountEntry
    from topiarist.collection.describe.account import account_body as account_body
    from topiarist.collection.describe.account import account_of as account_of
    from topiarist.collection.describe.closeup import Look as Look
    from topiarist.collection.describe.closeup import WholeLook as WholeLook
    from topiarist.collection.describe.closeup import look as look_at
    from topiarist.collection.describe.closeup import look_at_whole as look_at_whole
    from topiarist.collection.describe.closeup import topic_words as topic_words
    from topiarist.collection.describe.columns import documents_known as documents_known
    from topiarist.collection.describe.columns import field_said as field_said
    from topiarist.collection.describe.columns import known_columns as known_columns
    from topiarist.collection.describe.export import MARKS as MARKS
    from topiarist.collection.describe.export import TREE_FORMATS as TREE_FORMATS
    from topiarist.collection.describe.export import exported_columns as exported_columns
    from topiarist.collection.describe.export import exported_table as exported_table
    from topiarist.collection.describe.export import further_facts as further_facts
    from topiarist.collection.describe.export import save_tree_model as save_tree_model
    from topiarist.collection.describe.export import tree_text as tree_text
    from topiarist.collection.describe.figures import LEAST as LEAST
    from topiarist.collection.describe.figures import NO_WORDS as NO_WORDS
    from topiarist.collection.describe.figures import OF_DOCUMENTS as OF_DOCUMENTS
    from topiarist.collection.describe.figures import OF_FORM as OF_FORM
    from topiarist.collection.describe.figures import RANKED as RANKED
    from topiarist.collection.describe.figures import ROOT_NAME as ROOT_NAME
    from topiarist.collection.describe.figures import Figures as Figures
    from topiarist.collection.describe.flat_topics import Topics as Topics
    from topiarist.collection.describe.flat_topics import find_topics as find_topics
    from topiarist.collection.describe.merges import Merges as Merges
    from topiarist.collection.describe.problem_list import PROBLEMS as PROBLEMS
    from topiarist.collection.describe.problem_list import write_problem_list as write_problem_list
    from topiarist.collection.describe.provenance import LastFit as LastFit
    from topiarist.collection.describe.provenance import RemovedTopic as RemovedTopic
    from topiarist.collection.describe.provenance import changed_since_grown as changed_since_grown
    from topiarist.collection.describe.provenance import growing_command as growing_command
    from topiarist.collection.describe.provenance import grown as grown
    from topiarist.collection.describe.provenance import grown_with as grown_with
    from topiarist.collection.describe.provenance import is_as_grown as is_as_grown
    from topiarist.collection.describe.provenance import last_fit as last_fit
    from topiarist.collection.describe.provenance import opened as opened_original
    from topiarist.collection.describe.provenance import original_of as original_of
    from topiarist.collection.describe.provenance import remembers_all_topics as remembers_all_topics
    from topiarist.collection.describe.provenance import removed_topic as removed_topic
    from topiarist.collection.describe.short_texts import ShortTexts as ShortTexts
    from topiarist.collection.describe.short_texts import short_texts as short_texts
    from topiarist.collection.describe.tables import BETWEEN as BETWEEN
    from topiarist.collection.describe.tables import FORMATS as TABLE_FORMATS
    from topiarist.collection.describe.tables import format_of as table_format
    from topiarist.collection.describe.tables import write as write_table
    from topiarist.collection.describe.tables import write_sheet as write_spreadsheet
    from topiarist.collection.describe.text_levels import Looks as Looks
    from topiarist.collection.describe.text_levels import Spoken as Spoken
    from topiarist.collection.describe.text_levels import Token as Token
    from topiarist.collection.describe.text_levels import looks as looks
    from topiarist.collection.describe.text_levels import spoken as spoken
    from topiarist.collection.describe.text_levels import tokens_of as tokens_of
    from topiarist.collection.describe.topic_tree import FEWEST_TO_JUDGE as FEWEST_TO_JUDGE
    from topiarist.collection.describe.topic_tree import TopicTree as TopicTree
    from topiarist.collection.describe.two_trees import TreeSide as TreeSide
    from topiarist.collection.describe.two_trees import TwoTrees as TwoTrees
    from topiarist.collection.describe.two_trees import two_trees as two_trees
    from topiarist.collection.describe.voices import Voices as Voices
    from topiarist.collection.describe.voices import voices as voices
    from topiarist.collection.document_vectors import ABOUT as ABOUT_VECTORS
    from topiarist.collection.document_vectors import placed_by_words as placed_by_words
    from topiarist.collection.document_vectors import vector_source as vector_source
    from topiarist.collection.file.additions import ADD as ADD
    from topiarist.collection.file.arrivals import Filed as Filed
    from topiarist.collection.file.arrivals import add as add_documents
    from topiarist.collection.file.arrivals import coming as batches_as_they_come
    from topiarist.collection.file.arrivals import file as file_documents
    from topiarist.collection.file.arrivals import file_with_certainty as file_with_certainty
    from topiarist.collection.file.file_moves import move_files as move_files
    from topiarist.collection.file.file_moves import plan_moves as plan_moves
    from topiarist.collection.file.new_topics import PAYS as PAYS
    from topiarist.collection.file.new_topics import NewTopic as NewTopic
    from topiarist.collection.file.new_topics import new_topics as new_topics
    from topiarist.collection.find.index import Explanation as Explanation
    from topiarist.collection.find.saved_searches import SavedSearch as SavedSearch
    from topiarist.collection.find.saved_searches import delete_search as delete_search
    from topiarist.collection.find.saved_searches import save_search as save_search
    from topiarist.collection.find.saved_searches import saved_search as saved_search
    from topiarist.collection.find.saved_searches import saved_searches as saved_searches
    from topiarist.collection.find.saved_searches import topic_of as topic_of_search
    from topiarist.collection.find.search import DEFAULT as DEFAULT_WAY
    from topiarist.collection.find.search import FEW as FEW
    from topiarist.collection.find.search import WAYS as WAYS
    from topiarist.collection.find.search import Found as Found
    from topiarist.collection.find.search import FoundDocument as FoundDocument
    from topiarist.collection.find.search import Held as Held
    from topiarist.collection.find.search import Likeness as Likeness
    from topiarist.collection.find.search import Search as Search
    from topiarist.collection.find.search import listed as listed_documents
    from topiarist.collection.find.search import places_of as places_of
    from topiarist.collection.find.search import topics_of as topics_of
    from topiarist.collection.grow.block_growth import InBlocks as InBlocks
    from topiarist.collection.grow.estimate import dry_run as dry_run
    from topiarist.collection.grow.estimate import memory_shortage as memory_shortage
    from topiarist.collection.grow.existing import existing_collection as existing_collection
    from topiarist.collection.grow.existing import kept_after_stop as kept_after_stop
    from topiarist.collection.grow.fit_description import labelled as named_by_words
    from topiarist.collection.grow.granted import grant as grant_originals
    from topiarist.collection.grow.grower import MADE_FROM as MADE_FROM
    from topiarist.collection.grow.grower import PLACES as PLACES
    from topiarist.collection.grow.grower import Grower as Grower
    from topiarist.collection.grow.journal import Teller as Teller
    from topiarist.collection.grow.left_out import left_out as left_out
    from topiarist.collection.grow.left_out import told_numbers as copies_in_words
    from topiarist.collection.grow.recipe import Recipe as Recipe
    from topiarist.collection.grow.regrowth import TREES as TREES_GROWN_AGAIN
    from topiarist.collection.grow.regrowth import Steadiness as Steadiness
    from topiarist.collection.grow.regrowth import check_steadiness as check_steadiness
    from topiarist.collection.grow.regrowth import known_steadiness as known_steadiness
    from topiarist.collection.judge.categories import MOST as MOST_JUDGED
    from topiarist.collection.judge.categories import Categories as Categories
    from topiarist.collection.judge.categories import Told as Told
    from topiarist.collection.judge.categories import spread as spread_rows
    from topiarist.collection.judge.filing import LEFT as LEFT
    from topiarist.collection.judge.filing import STEPS as STEPS
    from topiarist.collection.judge.filing import FiledRows as FiledRows
    from topiarist.collection.judge.filing import Filing as Filing
    from topiarist.collection.judge.filing import answers as answers
    from topiarist.collection.judge.filing import category_figures as category_figures
    from topiarist.collection.judge.filing import certainty_of as certainty_of
    from topiarist.collection.judge.filing import confused_with as confused_with
    from topiarist.collection.judge.filing import documents_by_level as documents_by_level
    from topiarist.collection.judge.filing import filed_under as filed_under
    from topiarist.collection.judge.filing import filing as filing
    from topiarist.collection.judge.filing import headings_at as headings_at
    from topiarist.collection.judge.filing import left_over as left_over
    from topiarist.collection.judge.heldout_answers import HeldOut as HeldOut
    from topiarist.collection.judge.heldout_answers import held_out as held_out
    from topiarist.collection.judge.judgements import ACCEPT as ACCEPT
    from topiarist.collection.judge.judgements import BACK as BACK
    from topiarist.collection.judge.judgements import LEAVE as LEAVE
    from topiarist.collection.judge.judgements import MOVE as MOVE
    from topiarist.collection.judge.judgements import JudgedError as JudgedError
    from topiarist.collection.judge.judgements import Judgement as Judgement
    from topiarist.collection.judge.judgements import Judgements as Judgements
    from topiarist.collection.judge.judgements import labels_for as labels_for
    from topiarist.collection.judge.label_table import read_labels as read_labels
    from topiarist.collection.judge.labels_in_topics import Labelled as Labelled
    from topiarist.collection.judge.labels_in_topics import LabelTopics as LabelTopics
    from topiarist.collection.judge.labels_in_topics import agreement_of as agreement_of
    from topiarist.collection.judge.labels_in_topics import labelled as labelled
    from topiarist.collection.judge.labels_in_topics import labels_in_topics as labels_in_topics
    from topiarist.collection.judge.learner import Quality as Quality
    from topiarist.collection.judge.learner import learn as learn_categories
    from topiarist.collection.judge.reading_order import Progress as ReviewProgress
    from topiarist.collection.judge.review import Begun as BegunReview
    from topiarist.collection.judge.review import Review as Review
    from topiarist.collection.judge.review import begun as begun_reviews
    from topiarist.collection.judge.tree_quality import alike_topics as alike_topics
    from topiarist.collection.judge.tree_quality import judged as judged_tree
    from topiarist.collection.judge.tree_quality import mean_coherence as mean_coherence
    from topiarist.collection.judge.tree_quality import odd_headings as odd_headings
    from topiarist.collection.judge.tree_quality import word_diversity as word_diversity
    from topiarist.collection.passages import documents_said as documents_said
    from topiarist.collection.passages import extent as extent
    from topiarist.collection.passages import is_cut as is_cut
    from topiarist.collection.passages import n_wholes as n_wholes
    from topiarist.collection.passages import rows_of as rows_of
    from topiarist.collection.passages import unit as unit
    from topiarist.collection.remove.forgetting import Forgotten as Forgotten
    from topiarist.collection.remove.forgetting import forget as forget_documents
    from topiarist.collection.remove.removal import Removal as Removal
    from topiarist.collection.remove.removal import chosen as chosen_documents
    from topiarist.collection.remove.removal import preview as preview_removal
    from topiarist.collection.remove.removal import remove as remove_documents
    from topiarist.collection.shape.changes import FITTED as FITTED
    from topiarist.collection.shape.changes import FORGET as FORGET
    from topiarist.collection.shape.changes import LEARN as LEARN
    from topiarist.collection.shape.changes import REFIT as REFIT
    from topiarist.collection.shape.changes import REMOVE as REMOVE
    from topiarist.collection.shape.changes import UNDO as UNDO
    from topiarist.collection.shape.changes import ChangedError as ChangedError
    from topiarist.collection.shape.changes import in_words as step_in_words
    from topiarist.collection.shape.changes import last_step as last_step
    from topiarist.collection.shape.changes import mark as state_mark
    from topiarist.collection.shape.changes import preview as preview_edits
    from topiarist.collection.shape.changes import shape as apply_edits
    from topiarist.collection.shape.changes import stopped_after as stopped_after
    from topiarist.collection.shape.changes import told as step_text
    from topiarist.collection.shape.changes import undo as undo_last
    from topiarist.collection.shape.edit_language import WORDS as EDIT_FORMS
    from topiarist.collection.shape.edit_language import edit_of_line as edit_of_line
    from topiarist.collection.shape.edit_language import edit_of_words as edit_of_words
    from topiarist.collection.shape.edit_language import named_as as named_as
    from topiarist.collection.shape.edit_language import read_edits as read_edits
    from topiarist.collection.shape.edit_language import spoken_of as spoken_of
    from topiarist.collection.shape.edit_language import to_entry as edit_to_entry
    from topiarist.collection.shape.edit_language import to_sentence as edit_to_sentence
    from topiarist.collection.shape.edit_language import to_words as edit_to_words
    from topiarist.collection.shape.edits import KINDS as EDIT_KINDS
    from topiarist.collection.shape.edits import Delete as Delete
    from topiarist.collection.shape.edits import Describe as Describe
    from topiarist.collection.shape.edits import Edit as Edit
    from topiarist.collection.shape.edits import Forget as Forget
    from topiarist.collection.shape.edits import Group as Group
    from topiarist.collection.shape.edits import Ignore as Ignore
    from topiarist.collection.shape.edits import Merge as Merge
    from topiarist.collection.shape.edits import Move as Move
    from topiarist.collection.shape.edits import Pin as Pin
    from topiarist.collection.shape.edits import Rename as Rename
    from topiarist.collection.shape.edits import Seed as Seed
    from topiarist.collection.shape.edits import Split as Split
    from topiarist.collection.shape.edits import Unite as Unite
    from topiarist.collection.shape.edits import Unpin as Unpin
    from topiarist.collection.shape.edits import WordEdit as WordEdit
    from topiarist.collection.shape.language_model import Program as NamingProgram
    from topiarist.collection.shape.language_model import Server as NamingServer
    from topiarist.collection.shape.name_proposals import Proposal as NameProposal
    from topiarist.collection.shape.name_proposals import TopicFacts as TopicFacts
    from topiarist.collection.shape.name_proposals import picked as picked_names
    from topiarist.collection.shape.name_proposals import propose as propose_names
    from topiarist.collection.shape.name_proposals import renames as renames_of
    from topiarist.collection.shape.name_proposals import still_wanted as still_wanted
    from topiarist.collection.shape.name_proposals import topic_facts as topic_facts
    from topiarist.collection.shape.shape import Shape as Shape
    from topiarist.collection.shape.split_parts import SplitPart as SplitPart
    from topiarist.collection.shape.split_parts import split_parts as split_parts
    from topiarist.collection.shape.topic_changes import Snapshot as TopicSnapshot
    from topiarist.collection.shape.topic_changes import TopicChange as TopicChange
    from topiarist.collection.shape.topic_changes import topic_changes as topic_changes
    from topiarist.collection.shape.topic_changes import topic_snapshot as topic_snapshot
    from topiarist.collection.shape.word_use import WordUse as WordUse
    from topiarist.collection.shape.word_use import word_uses as word_uses
    from topiarist.collection.spread.by_group import ByGroup as ByGroup
    from topiarist.collection.spread.by_group import GroupTopic as GroupTopic
    from topiarist.collection.spread.by_group import by_group as topics_by_group
    from topiarist.collection.spread.by_group import groupings as groupings
    from topiarist.collection.spread.document_map import DocumentMap as DocumentMap
    from topiarist.collection.spread.document_map import document_map as document_map
    from topiarist.collection.spread.document_map import map_ground as map_ground
    from topiarist.collection.spread.document_map import neighbour_map as neighbour_map
    from topiarist.collection.spread.newer import Farther as Farther
    from topiarist.collection.spread.newer import Newer as Newer
    from topiarist.collection.spread.newer import NewerTopic as NewerTopic
    from topiarist.collection.spread.newer import newer as newer_since
    from topiarist.collection.spread.over_time import OverTime as OverTime
    from topiarist.collection.spread.over_time import TopicBurst as TopicBurst
    from topiarist.collection.spread.over_time import over_time as topics_over_time
    from topiarist.collection.spread.word_times import WordTime as WordTime
    from topiarist.collection.spread.word_times import word_times as words_over_time
    from topiarist.collection.state import SHARES as SHARES
    from topiarist.collection.state import TREE as TREE
    from topiarist.collection.state import State as State
    from topiarist.collection.state import at as collection_at
    from topiarist.collection.state import before as collection_before
    from topiarist.collection.state import before_last as before_last
    from topiarist.collection.state import earlier as earlier_steps
    from topiarist.collection.state import steps as all_steps
    from topiarist.collection.verify.digests import digest_of as collection_digest
    from topiarist.collection.verify.digests import digests as collection_digests
    from topiarist.collection.verify.verification import Verdict as Verdict
    from topiarist.collection.verify.verification import verify as verify_collection

_OFFERS = {  # of each module; behind an equals sign what a name is called inside
    "alike": "Alike alike_by_meaning",
    "check": "Finding REPAIR check_folder=check repair_folder=repair",
    "collection": "Collection",
    "copies": "CopiesOf copies_of folded_rows=folded found_copies listed_copies number_of_copies",
    "describe.account": "AccountEntry=Entry account_body account_of",
    "describe.closeup": "Look WholeLook look_at=look look_at_whole topic_words",
    "describe.columns": "documents_known field_said known_columns",
    "describe.export": "MARKS TREE_FORMATS exported_columns exported_table further_facts save_tree_model tree_text",
    "describe.figures": "Figures LEAST NO_WORDS OF_DOCUMENTS OF_FORM RANKED ROOT_NAME",
    "describe.flat_topics": "Topics find_topics",
    "describe.merges": "Merges",
    "describe.problem_list": "PROBLEMS write_problem_list",
    "describe.provenance": (
        "LastFit RemovedTopic changed_since_grown growing_command grown grown_with is_as_grown last_fit "
        "opened_original=opened original_of remembers_all_topics removed_topic"
    ),
    "describe.short_texts": "ShortTexts short_texts",
    "describe.tables": (
        "BETWEEN TABLE_FORMATS=FORMATS table_format=format_of write_spreadsheet=write_sheet write_table=write"
    ),
    "describe.text_levels": "Looks Spoken Token looks spoken tokens_of",
    "describe.topic_tree": "FEWEST_TO_JUDGE TopicTree",
    "describe.two_trees": "TreeSide TwoTrees two_trees",
    "describe.voices": "Voices voices",
    "document_vectors": "ABOUT_VECTORS=ABOUT placed_by_words vector_source",
    "file.additions": "ADD",
    "file.arrivals": "Filed add_documents=add batches_as_they_come=coming file_documents=file file_with_certainty",
    "file.file_moves": "move_files plan_moves",
    "file.new_topics": "NewTopic PAYS new_topics",
    "find.index": "Explanation",
    "find.saved_searches": "SavedSearch delete_search save_search saved_search saved_searches topic_of_search=topic_of",
    "find.search": (
        "DEFAULT_WAY=DEFAULT FEW Found FoundDocument Held Likeness Search WAYS listed_documents=listed places_of "
        "topics_of"
    ),
    "grow.block_growth": "InBlocks",
    "grow.estimate": "dry_run memory_shortage",
    "grow.existing": "existing_collection kept_after_stop",
    "grow.fit_description": "named_by_words=labelled",
    "grow.granted": "grant_originals=grant",
    "grow.grower": "Grower MADE_FROM PLACES",
    "grow.journal": "Teller",
    "grow.left_out": "copies_in_words=told_numbers left_out",
    "grow.recipe": "Recipe",
    "grow.regrowth": "Steadiness TREES_GROWN_AGAIN=TREES check_steadiness known_steadiness",
    "judge.categories": "Categories MOST_JUDGED=MOST Told spread_rows=spread",
    "judge.filing": (
        "FiledRows Filing LEFT STEPS answers category_figures certainty_of confused_with documents_by_level "
        "filed_under filing headings_at left_over"
    ),
    "judge.heldout_answers": "HeldOut held_out",
    "judge.judgements": "ACCEPT BACK JudgedError Judgement Judgements LEAVE MOVE labels_for",
    "judge.label_table": "read_labels",
    "judge.labels_in_topics": "LabelTopics Labelled agreement_of labelled labels_in_topics",
    "judge.learner": "Quality learn_categories=learn",
    "judge.reading_order": "ReviewProgress=Progress",
    "judge.review": "BegunReview=Begun Review begun_reviews=begun",
    "judge.tree_quality": "alike_topics judged_tree=judged mean_coherence odd_headings word_diversity",
    "passages": "documents_said extent is_cut n_wholes rows_of unit",
    "remove.forgetting": "Forgotten forget_documents=forget",
    "remove.removal": "Removal chosen_documents=chosen preview_removal=preview remove_documents=remove",
    "shape.changes": (
        "ChangedError FITTED FORGET LEARN REFIT REMOVE UNDO apply_edits=shape last_step preview_edits=preview "
        "state_mark=mark step_in_words=in_words step_text=told stopped_after undo_last=undo"
    ),
    "shape.edit_language": (
        "EDIT_FORMS=WORDS edit_of_line edit_of_words edit_to_entry=to_entry edit_to_sentence=to_sentence "
        "edit_to_words=to_words named_as read_edits spoken_of"
    ),
    "shape.edits": (
        "Delete Describe EDIT_KINDS=KINDS Edit Forget Group Ignore Merge Move Pin Rename Seed Split Unite Unpin "
        "WordEdit"
    ),
    "shape.language_model": "NamingProgram=Program NamingServer=Server",
    "shape.name_proposals": (
        "NameProposal=Proposal TopicFacts picked_names=picked propose_names=propose renames_of=renames "
        "still_wanted topic_facts"
    ),
    "shape.shape": "Shape",
    "shape.split_parts": "SplitPart split_parts",
    "shape.word_use": "WordUse word_uses",
    "shape.topic_changes": "TopicChange TopicSnapshot=Snapshot topic_changes topic_snapshot",
    "spread.by_group": "ByGroup GroupTopic groupings topics_by_group=by_group",
    "spread.document_map": "DocumentMap document_map map_ground neighbour_map",
    "spread.newer": "Farther Newer NewerTopic newer_since=newer",
    "spread.over_time": "OverTime TopicBurst topics_over_time=over_time",
    "spread.word_times": "WordTime words_over_time=word_times",
    "state": (
        "SHARES State TREE all_steps=steps before_last collection_at=at collection_before=before earlier_steps=earlier"
    ),
    "verify.digests": "collection_digest=digest_of collection_digests=digests",
    "verify.verification": "Verdict verify_collection=verify",
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
