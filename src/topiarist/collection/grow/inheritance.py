"""Transfer of user edits from a collection to its replacement.

A topic of the old tree is a topic of the new tree if both hold mostly the same documents and no other topic comes near.
A name without such a topic is reported and not transferred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topiarist.collection.classify.judgements import carry_over
from topiarist.collection.contents import Description, read_description, read_matrix
from topiarist.collection.describe.nodes import ROOT
from topiarist.collection.describe.topic_tree import assign_documents, contains_word
from topiarist.collection.document_vectors import are_word_vectors
from topiarist.collection.grow.fit_description import name_by_words
from topiarist.collection.review import review
from topiarist.collection.search import saved_searches
from topiarist.collection.shape.edits import Group, apply
from topiarist.collection.shape.kept_names import NameChanges, find_name_changes, renumber_topics, retire_names
from topiarist.collection.shape.tree_state import TreeState, make_unique
from topiarist.collection.state import CATEGORIES, SHARES, TREE, VECTORS, State
from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.metrics.comparison import match_nodes
from topiarist.metrics.node_matching import MIN_F1
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.storage import edit_log, facts
from topiarist.storage.column_table import ColumnTable
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation
from topiarist.storage.marks import Marks, PassageNotes
from topiarist.storage.sealed_folder import MANIFEST
from topiarist.text.documents import Document
from topiarist.text.language import LANGUAGE, LANGUAGE_COLUMN
from topiarist.text.passages import get_parent_id, is_passage, split_passages
from topiarist.trees.edits import rename

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MAX_NAMED = 8  # topics that are named in a message
TEXTS_AT_ONCE = 1_000  # texts of before that are compared together
N_GROWN = "n_grown"  # a setting: documents that came from the sources; those after them were added by people
ADD = "add"  # what the log calls an addition


class InheritedState(NamedTuple):
    """State with the inherited edits, sentences about them, and the topics with another name or number."""

    state: State
    messages: tuple[str, ...]
    changes: NameChanges = NameChanges()


def inherit_edits(old: Collection, generation: Generation, state: State, *, rename: bool = True) -> InheritedState:
    """Transfer names, numbers, notes, headings, pins, word edits, tags and read marks to a replacement.

    A topic with a counterpart keeps its number, and its name if ``rename`` is true. Tags and marks are written to the
    database; the caller commits them with the state.
    """
    messages = list(_inherit_marks(old, generation))
    shape, was = state.shape, old.outline
    shares = read_matrix(generation.folder / state.pieces(SHARES)[0])
    now = assign_documents(shape, shares, Documents(generation.database).ids())
    new_topics, likely_topics = _match_topics(old, shape, now)
    if was.titles or was.notes or was.pins or was.heading_topics or was.seeds:
        shape, new_topics, remade = _rebuild_members(old, shape, now, new_topics)
        shape, new_topics, sentences = _inherit_headings(was, shape, new_topics)
        messages += remade if any("Carried over" in search for search in sentences) else []
        messages += sentences
    kept_topics = _add_likely(was, new_topics, likely_topics)
    if rename:
        shape = _keep_names(was, shape, kept_topics, read_description(generation.folder / state.parts[TREE]))
    if was.titles or was.notes or was.pins or was.seeds:
        shape, sentences = _inherit_names(was, shape, new_topics)
        messages += sentences
        shape, sentences = _inherit_pins(was, shape, new_topics, set(Documents(generation.database).ids()))
        messages += sentences
        shape, sentences = _inherit_seeds(was, shape, new_topics)
        messages += sentences
    shape, numbers = _keep_numbers(was, shape, kept_topics)
    certain_numbers = {topic: number for topic, number in numbers.items() if topic in new_topics}
    messages += saved_searches.transfer_searches(old, generation.database, certain_numbers)
    shape, sentences = _inherit_word_edits(was, shape)
    messages += sentences
    if old.state.parts.get(CATEGORIES) is not None:
        messages.append("The categories that were learned are not carried over: learn them again")
    if old.encoder_vectors is not None and not state.pieces(VECTORS):
        messages.append("The collection before had vectors, this grow brought none: words alone decide now")
    elif old.encoder_vectors is not None and are_word_vectors(facts.settings(generation.database)):
        messages.append("The collection before had vectors, this grow brought none: it uses the bundled word vectors")
    shape, changes = retire_names(was, shape), find_name_changes(was, shape)
    if changes.sentences and new_topics:
        n_kept = len(set(was.topics) & set(shape.topics)) - len(changes.renamed)
        messages.append(f"{n_kept:,} of {len(was.topics):,} topics and headings keep number and name")
    return InheritedState(replace(state, shape=shape), tuple(messages), changes)


def _keep_names(
    old_shape: TreeState, shape: TreeState, new_topics: Mapping[int, int], description: Description
) -> TreeState:
    """Give topics the names of their counterparts; no other topic gets a name that a topic had before."""
    old_topics = {new: old for old, new in new_topics.items()}
    names, kept_nodes = list[str](), set[int]()
    for node, topic in enumerate(shape.topics):
        name = old_shape.name(old_topics[topic]) if topic in old_topics else ""
        name = "" if contains_word(name, shape.ignored) else name
        name = shape.titles.get(topic, ROOT if node == shape.tree.root else name)
        names.append(name)
        if name:
            kept_nodes.add(node)
    former_names = dict(old_shape.former_names) | {
        name.casefold(): topic for topic, name in zip(old_shape.topics, old_shape.tree.names, strict=True)
    }
    owners = {
        name: shape.node_of.get(new_topics[topic], -1) if topic in new_topics else -1
        for name, topic in former_names.items()
    }
    return name_by_words(shape, description, frozenset(kept_nodes), names, owners)


def _keep_numbers(
    old_shape: TreeState, shape: TreeState, new_topics: Mapping[int, int]
) -> tuple[TreeState, dict[int, int]]:
    """Give topics the numbers of their counterparts, and other topics numbers that no topic had before."""
    numbers = {shape.root: old_shape.root}
    for old, new in new_topics.items():
        if new in shape.node_of and new not in numbers and old != old_shape.root:
            numbers[new] = old
    shape = replace(shape, former_names=old_shape.former_names)
    kept_topics = {old: numbers[new] for old, new in new_topics.items() if numbers.get(new) == old}
    return renumber_topics(shape, numbers, old_shape.next_topic), kept_topics


def _match_topics(old: Collection, shape: TreeState, now: DocumentAssignments) -> tuple[dict[int, int], dict[int, int]]:
    """Return the new topic of each old topic with a certain counterpart, and of each with a likely one.

    A likely counterpart has mostly the same documents, but a topic of another branch is nearly as similar.
    """
    try:
        matches = match_nodes(old.assignments, now)
    except InputError:  # no document in common
        return {}, {}
    certain, likely = dict[int, int](), dict[int, int]()
    for node, match in matches.items():
        if not match.doubtful:
            certain[old.outline.topics[node]] = shape.topics[match.node_b]
        elif match.overlap >= MIN_F1:
            likely[old.outline.topics[node]] = shape.topics[match.node_b]
    return certain, likely


def _add_likely(
    old_shape: TreeState, new_topics: Mapping[int, int], likely_topics: Mapping[int, int]
) -> dict[int, int]:
    """Return the certain counterparts, and the likely ones of topics without user edits."""
    edited = {*old_shape.titles, *old_shape.notes, *old_shape.seeds, *old_shape.pins.values()}
    used = {*edited, *old_shape.heading_topics, *new_topics}
    taken = set(new_topics.values())
    likely = {old: new for old, new in likely_topics.items() if old not in used and new not in taken}
    return {**likely, **new_topics}


def _rebuild_members(
    old: Collection, shape: TreeState, now: DocumentAssignments, new_topics: dict[int, int]
) -> tuple[TreeState, dict[int, int], list[str]]:
    """Rebuild topics under user headings that have no counterpart, from the new topics that hold their documents.

    A new topic belongs to the old topic that held most of its documents, if such topics hold most documents of the old
    one. Several new topics get a heading with the name of the old topic.
    """
    old_shape, messages = old.outline, list[str]()
    nodes = [
        child for heading in old_shape.heading_topics for child in old_shape.tree.children(old_shape.node(heading))
    ]
    members = [old_shape.topics[node] for node in nodes]
    for topic in (topic for topic in members if topic not in new_topics):
        used_nodes = [shape.node(new_topics[other]) for other in members if other in new_topics]
        new_members = [
            shape.topics[node] for node in find_covering_nodes(old.assignments, old_shape.node(topic), now, used_nodes)
        ]
        if len(new_members) > 1:
            try:
                shape = apply(shape, Group(tuple(new_members), old_shape.name(topic)))
            except UsageError:  # a topic of this name is there already, or nothing would be beside it
                continue
            messages.append(
                f"{old_shape.name(topic)} is put together from {len(new_members):,} new topics that hold its documents"
            )
            new_topics = {**new_topics, topic: shape.next_topic - 1}
            now = replace(now, tree=shape.tree, class_nodes=shape.class_nodes, words=())
        elif new_members:
            new_topics = {**new_topics, topic: new_members[0]}
    return shape, new_topics, messages


def find_covering_nodes(
    then: DocumentAssignments, node: int, now: DocumentAssignments, used_nodes: list[int]
) -> list[int]:
    """Return the highest new nodes that hold mostly documents of an old node; empty if they hold too few.

    Nodes above, below or among ``used_nodes`` are skipped.
    """
    row = {id: number for number, id in enumerate(now.ids)}
    new_rows = np.array([row.get(id, -1) for id in then.ids])
    is_under = np.zeros(now.n_docs)
    under = np.array([node in then.tree.path(assigned) for assigned in range(len(then.tree))])[then.assigned_nodes]
    is_under[new_rows[under & (new_rows >= 0)]] = 1.0
    is_common = np.zeros(now.n_docs)
    is_common[new_rows[new_rows >= 0]] = 1.0
    paths = now.tree.path_mask(tuple(range(len(now.tree)))).astype(np.float64)
    old_counts = np.bincount(now.assigned_nodes, is_under, minlength=len(now.tree)) @ paths
    all_counts = np.bincount(now.assigned_nodes, is_common, minlength=len(now.tree)) @ paths
    busy = {current for other in used_nodes for current in now.tree.path(other)}
    covering, waiting = list[int](), list(now.tree.children(now.tree.root))
    while waiting:
        current = waiting.pop()
        if current in used_nodes:
            continue
        if current not in busy and old_counts[current] > all_counts[current] / 2:
            covering.append(current)
        else:
            waiting += now.tree.children(current)
    return sorted(covering) if old_counts[covering].sum() > is_under.sum() / 2 else []


def _inherit_headings(
    old_shape: TreeState, shape: TreeState, new_topics: dict[int, int]
) -> tuple[TreeState, dict[int, int], list[str]]:
    """Transfer user headings, the lowest first, because a heading can contain another."""
    n_complete, partial, missing_headings = 0, list[str](), list[str]()
    for heading in sorted(old_shape.heading_topics, key=lambda topic: -old_shape.tree.depths[old_shape.node(topic)]):
        topics = [old_shape.topics[child] for child in old_shape.tree.children(old_shape.node(heading))]
        members = [new_topics[topic] for topic in topics if topic in new_topics]
        missing = [old_shape.name(topic) for topic in topics if topic not in new_topics]
        try:
            if not _holds(shape, new_topics.get(heading), members):
                shape = apply(shape, Group(tuple(members), old_shape.name(heading)))
                new_topics = {**new_topics, heading: shape.next_topic - 1}
        except UsageError:  # too few of its topics are left, or they lie in each other now
            missing_headings.append(old_shape.name(heading))
            continue
        n_complete += not missing
        if missing:
            names = f"{', '.join(missing[:MAX_NAMED])}{' and others' * (len(missing) > MAX_NAMED)}"
            partial.append(
                f"{old_shape.name(heading)} over {len(members):,} of its {len(topics):,} topics, without {names}"
            )
    messages = (
        [f"Carried over: {n_complete:,} heading{'s' * (n_complete != 1)} over the same topics"] if n_complete else []
    )
    if partial:
        messages.append(
            f"Carried over in part, for no new topics are surely the same: {'; '.join(partial[:MAX_NAMED])}"
        )
    if missing_headings:
        messages.append(
            f"Headings not restored, because their topics have no match: {'; '.join(missing_headings[:MAX_NAMED])}"
        )
    return shape, new_topics, messages


def _holds(shape: TreeState, heading: int | None, members: list[int]) -> bool:
    """Return whether a heading has exactly these topics below it."""
    if heading is None or not members:
        return False
    return {shape.topics[child] for child in shape.tree.children(shape.node(heading))} == set(members)


def _inherit_names(old_shape: TreeState, shape: TreeState, new_topics: dict[int, int]) -> tuple[TreeState, list[str]]:
    """Transfer names and notes."""
    messages, missing_names = [], []
    names = 0
    for topic, title in old_shape.titles.items():
        if topic not in new_topics:
            missing_names.append(title)
            continue
        node = shape.node(new_topics[topic])
        siblings = shape.tree.children(shape.tree.parents[node]) if shape.tree.parents[node] >= 0 else ()
        name = make_unique(title, [shape.tree.names[other] for other in siblings if other != node])
        tree = rename(shape.tree, node, name).tree
        shape = replace(shape, tree=tree, titles={**shape.titles, new_topics[topic]: name})
        names += 1
    notes = {new_topics[topic]: note for topic, note in old_shape.notes.items() if topic in new_topics}
    shape = replace(shape, notes={**shape.notes, **notes})
    if names or notes:
        messages.append(f"Carried over from the collection before: {names:,} names and {len(notes):,} notes")
    missing_names += [
        old_shape.name(topic) for topic in old_shape.notes if topic not in new_topics and topic not in old_shape.titles
    ]
    if missing_names:
        rest = f" and {len(missing_names) - MAX_NAMED:,} more" if len(missing_names) > MAX_NAMED else ""
        messages.append(
            f"Not carried over, for no new topic is surely the same: {', '.join(missing_names[:MAX_NAMED])}{rest}"
        )
    return shape, messages


def _inherit_pins(
    old_shape: TreeState, shape: TreeState, new_topics: dict[int, int], ids: set[str]
) -> tuple[TreeState, list[str]]:
    """Transfer pinned documents; the next fit moves them."""
    pins = {
        document: new_topics[topic]
        for document, topic in old_shape.pins.items()
        if topic in new_topics and document in ids
    }
    messages = []
    if pins:
        shape = replace(shape, pins={**shape.pins, **pins}, pending=True)
        messages.append(
            f"{len(pins):,} pinned documents are pinned again; they move when the tree is fitted (shape --refit)"
        )
    if len(pins) < len(old_shape.pins):
        messages.append(f"{len(old_shape.pins) - len(pins):,} pins are not carried over")
    return shape, messages


def _inherit_seeds(old_shape: TreeState, shape: TreeState, new_topics: dict[int, int]) -> tuple[TreeState, list[str]]:
    """Transfer seed words; the next fit uses them."""
    seeds = {new_topics[topic]: words for topic, words in old_shape.seeds.items() if topic in new_topics}
    messages, missing_names = [], [old_shape.name(topic) for topic in old_shape.seeds if topic not in new_topics]
    if seeds:
        number = sum(map(len, seeds.values()))
        shape = replace(shape, seeds={**shape.seeds, **seeds}, pending=True)
        messages.append(
            f"{number:,} words belong to the same topics again; they draw documents when the tree is fitted "
            "(shape --refit)"
        )
    if missing_names:
        messages.append(
            f"Words are not given to a topic again, for none is surely the same: {', '.join(missing_names[:MAX_NAMED])}"
        )
    return shape, messages


def _inherit_word_edits(old_shape: TreeState, shape: TreeState) -> tuple[TreeState, list[str]]:
    """Transfer ignored and united words; the tree needs a fit if they changed while it grew."""
    if not old_shape.ignored and not old_shape.united:
        return shape, []
    is_same = (set(old_shape.ignored), dict(old_shape.united)) == (set(shape.ignored), dict(shape.united))
    shape = replace(shape, ignored=old_shape.ignored, united=old_shape.united, pending=shape.pending or not is_same)
    return shape, [
        f"Grown with {len(old_shape.ignored):,} ignored and {len(old_shape.united):,} united words, as before"
    ]


def read_word_edits(folder: str) -> dict[str, Any]:
    """Return the ignored and united words of the collection that a grow replaces."""
    old = open_previous(folder)
    if old is None:
        return {}
    with old:
        ignored, merged = old.outline.ignored, old.outline.united
    return {"ignored": list(ignored), "united": dict(merged)} if ignored or merged else {}


def add_word_edits(shape: TreeState, words: Mapping[str, Any]) -> TreeState:
    """Return a shape with these word edits."""
    return replace(shape, ignored=tuple(words.get("ignored", ())), united=dict(words.get("united", {})))


def count_grown_documents(old: Collection) -> int:
    """Return the number of documents from the sources, which come before those that users added."""
    n_stored = old.settings.get(N_GROWN)
    n_added = edit_log.total(old.generation.database, ADD, "documents")
    return max(0, len(old) - n_added) if n_stored is None else int(n_stored)


@dataclass
class IncomingDocuments:
    """Documents of the sources, followed by those that users added to the previous collection.

    A document that is in the sources comes from there. ``messages`` are sentences on inherited and missing documents.
    """

    sources: Iterable[Document]
    folder: str
    cut: Callable[[Iterable[Document]], Iterator[Document]] = iter  # long ones into passages, where that was asked for
    take_removed: bool = False  # documents that people removed as well
    n_sources: int = 0
    removed: dict[str, bool] = field(default_factory=dict)  # digests of what people removed, and which are passages
    messages: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Document]:
        source_ids: set[str] = set()  # of ids, where a collection was here before
        text_hashes: set[int] = set()
        replaced = (Path(self.folder) / MANIFEST).exists()
        self.removed = read_removed_digests(self.folder)
        excluded, restored = ExcludedDocuments(), list[str]()
        for document in self.sources:
            if replaced:
                source_ids |= {document.id, *_parent_ids(document)}
                text_hashes.add(hash(document.text))
            if self.removed and (removed_by := self._find_removed(document, restored)):
                if not self.take_removed:
                    excluded.add(document, removed_by)
                    continue
                for digest in removed_by:
                    self.removed.pop(digest, None)
            self.n_sources += 1
            yield document
        if excluded.number:
            self.messages.append(f"{excluded} out (the setting take-removed reads them again)")
        if restored:
            names = f"{', '.join(restored[:MAX_NAMED])}{' and others' * (len(restored) > MAX_NAMED)}"
            self.messages.append(
                f"{len(restored):,} document{'s' * (len(restored) != 1)} of which people removed passages "
                f"{_are(len(restored))} whole again, for documents are not cut: {names}"
            )
        old = open_previous(self.folder) if source_ids else None
        if old is None:
            if source_ids:
                self.messages.append("The collection before cannot be read: what was added to it is not carried over")
            return
        with old:
            yield from self.cut(self._iter_added(old, source_ids))
            self._report_missing(old, source_ids, text_hashes)

    def _find_removed(self, document: Document, restored: list[str]) -> set[str]:
        """Return the digests by which a document or its parent document was removed.

        Without passages, a document is removed if all its passages were. ``restored`` collects documents with some
        removed passages.
        """
        digests = {facts.compute_id_digest(id) for id in (document.id, *_parent_ids(document))}
        if common := digests & self.removed.keys():
            return common
        if self.cut is iter and any(self.removed.values()):
            parts = split_passages(document)
            digests = {facts.compute_id_digest(part.id) for part in parts}
            if len(parts) > 1 and (common := digests & self.removed.keys()):
                if common == digests:
                    return common
                restored.append(document.id)
        return set()

    def _iter_added(self, old: Collection, source_ids: set[str]) -> Iterator[Document]:
        number, start = 0, count_grown_documents(old)
        cells = ColumnTable(old.generation.database)
        skipped_columns = {LANGUAGE} if old.settings.get(LANGUAGE_COLUMN) else set()
        for row, document in enumerate(old.documents.iterate(start, len(old)), start):
            if not source_ids & {document.id, *_parent_ids(document)}:
                number += 1
                columns = ((name, value) for name, values in cells.of([row]).get(row, {}).items() for value in values)
                yield replace(document, columns=tuple(column for column in columns if column[0] not in skipped_columns))
        if number:
            self.messages.append(
                f"{number:,} document{'s' * (number != 1)} that people added before {_are(number)} carried over"
            )

    def _report_missing(self, old: Collection, source_ids: set[str], text_hashes: set[int]) -> None:
        """Report documents from before whose texts are not in the sources, and those with another id."""
        ids = old.documents.ids()[: count_grown_documents(old)]
        rows = [row for row, id in enumerate(ids) if id not in source_ids and get_parent_id(id) not in source_ids]
        missing = []
        for start in range(0, len(rows), TEXTS_AT_ONCE):
            documents = old.documents.load_many(rows[start : start + TEXTS_AT_ONCE])
            missing += [document.id for document in documents if hash(document.text) not in text_hashes]
        if n_renamed := len(rows) - len(missing):
            subject = f"{n_renamed:,} document{'s' * (n_renamed != 1)} of before {_has(n_renamed)}"
            self.messages.append(f"{subject} another id now, to which no tags, notes and pins are carried over")
        if missing and len(missing) == len(ids):
            self.messages.append(f"The sources replace all {len(missing):,} documents of before")
        elif missing:
            rest = f" and {len(missing) - MAX_NAMED:,} more" if len(missing) > MAX_NAMED else ""
            subject = f"{len(missing):,} document{'s' * (len(missing) != 1)} of before {_are(len(missing))}"
            self.messages.append(
                f"{subject} missing from the sources and from the collection: {', '.join(missing[:MAX_NAMED])}{rest}"
            )


@dataclass
class ExcludedDocuments:
    """Documents and passages that are excluded because users removed them."""

    documents: set[str] = field(default_factory=set)
    passages: int = 0

    def add(self, document: Document, removed_by: set[str]) -> None:
        """Count an excluded document by its digests."""
        part = is_passage(document) and facts.compute_id_digest(get_parent_id(document.id)) not in removed_by
        self.passages += part
        self.documents |= set() if part else {get_parent_id(document.id) if is_passage(document) else document.id}

    @property
    def number(self) -> int:
        """Number of excluded documents and passages."""
        return len(self.documents) + self.passages

    def __str__(self) -> str:
        return describe_excluded(len(self.documents), self.passages, "that people removed")


def describe_excluded(documents: int, passages: int, clause: str) -> str:
    """Return the beginning of a sentence on excluded documents and passages."""
    parts = [
        f"{number:,} {noun}{'s' * (number != 1)}"
        for number, noun in ((documents, "document"), (passages, "passage"))
        if number
    ]
    return f"{' and '.join(parts)} {clause} {'stays' if documents + passages == 1 else 'stay'}"


def read_removed_digests(folder: str) -> dict[str, bool]:
    """Return digests of the documents that users removed from the collection that a grow replaces."""
    old = open_previous(folder)
    if old is None:
        return {}
    with old:
        return facts.removed(old.generation.database)


def _parent_ids(document: Document) -> tuple[str, ...]:
    """Return the id of the parent document of a passage."""
    return (get_parent_id(document.id),) if is_passage(document) else ()


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _inherit_marks(old: Collection, generation: Generation) -> Iterator[str]:
    """Transfer tags, read marks, notes and judgements by document ids; yield sentences about them."""
    old_database, database = old.generation.database, generation.database
    marks = {
        **Marks(database).carry_over(old_database),
        "notes on passages": PassageNotes(database).carry_over(old_database),
        "judged labels": carry_over(old_database, database),
        "judgements of reviews": review.carry_over(old_database, database),
    }  # fmt: skip
    for noun, (n_kept, n_old) in marks.items():
        if n_old:
            where = "passages" if noun.endswith("passages") else "documents"
            rest = f"; {n_old - n_kept:,} of {where} that are gone" if n_kept < n_old else ""
            yield f"{n_kept:,} {noun} carried over{rest}"


def open_previous(folder: str) -> Collection | None:
    """Open the collection that a grow replaces; None if there is none that can be read."""
    from topiarist.collection.collection import Collection

    try:
        return Collection.open(folder)
    except TopiaristError:
        return None
