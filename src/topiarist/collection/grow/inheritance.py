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

from topiarist.collection import contents
from topiarist.collection.classify.judgements import carry_over
from topiarist.collection.contents import ROOT, Description
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
from topiarist.plurals import count_noun, list_some, verb
from topiarist.storage import facts
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
    shape, was, ids = state.shape, old.outline, Documents(generation.database).ids()
    now = assign_documents(shape, contents.read_matrix(generation.folder / state.pieces(SHARES)[0]), ids)
    new_topics, likely_topics = _match_topics(old, shape, now)
    has_edits = bool(was.titles or was.notes or was.pins or was.seeds)
    if has_edits or was.heading_topics:
        shape, new_topics, remade = _rebuild_members(old, shape, now, new_topics)
        shape, new_topics, sentences = _inherit_headings(was, shape, new_topics)
        messages += remade if any("Carried over" in search for search in sentences) else []
        messages += sentences
    kept_topics = _add_likely(was, new_topics, likely_topics)
    if rename:
        description = contents.read_description(generation.folder / state.parts[TREE])
        shape = _keep_names(was, shape, kept_topics, description)
    if has_edits:
        shape = _inherit_names(was, shape, new_topics, messages)
        shape = _inherit_pins(was, shape, new_topics, set(ids), messages)
        shape = _inherit_seeds(was, shape, new_topics, messages)
    shape, numbers = _keep_numbers(was, shape, kept_topics)
    certain_numbers = {topic: number for topic, number in numbers.items() if topic in new_topics}
    messages += saved_searches.transfer_searches(old, generation.database, certain_numbers)
    shape = _inherit_word_edits(was, shape, messages)
    if old.state.parts.get(CATEGORIES) is not None:
        messages.append("The categories that were learned are not carried over: learn them again")
    has_bundled = are_word_vectors(facts.settings(generation.database))
    if old.encoder_vectors is not None and (has_bundled or not state.pieces(VECTORS)):
        source = "it uses the bundled word vectors" if state.pieces(VECTORS) else "words alone decide now"
        messages.append(f"The collection before had vectors, this grow brought none: {source}")
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
    members = [topic for heading in old_shape.heading_topics for topic in old_shape.children(heading)]
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
        topics, name = old_shape.children(heading), old_shape.name(heading)
        members = [new_topics[topic] for topic in topics if topic in new_topics]
        missing = [old_shape.name(topic) for topic in topics if topic not in new_topics]
        is_there = heading in new_topics and members and set(shape.children(new_topics[heading])) == set(members)
        try:
            if not is_there:
                shape = apply(shape, Group(tuple(members), name))
                new_topics = {**new_topics, heading: shape.next_topic - 1}
        except UsageError:  # too few of its topics are left, or they lie in each other now
            missing_headings.append(name)
            continue
        n_complete += not missing
        if missing:
            names = list_some(missing, MAX_NAMED, rest=" and others")
            partial.append(f"{name} over {len(members):,} of its {len(topics):,} topics, without {names}")
    messages = [f"Carried over: {count_noun(n_complete, 'heading')} over the same topics"] if n_complete else []
    if partial:
        parts = "; ".join(partial[:MAX_NAMED])
        messages.append(f"Carried over in part, for no new topics are surely the same: {parts}")
    if missing_headings:
        parts = "; ".join(missing_headings[:MAX_NAMED])
        messages.append(f"Headings not restored, because their topics have no match: {parts}")
    return shape, new_topics, messages


def _inherit_names(
    old_shape: TreeState, shape: TreeState, new_topics: Mapping[int, int], messages: list[str]
) -> TreeState:
    """Transfer names and notes."""
    titles = {new_topics[topic]: title for topic, title in old_shape.titles.items() if topic in new_topics}
    for topic, title in titles.items():
        name = make_unique(title, map(shape.name, shape.siblings(topic)))
        tree = rename(shape.tree, shape.node(topic), name).tree
        shape = replace(shape, tree=tree, titles={**shape.titles, topic: name})
    notes = {new_topics[topic]: note for topic, note in old_shape.notes.items() if topic in new_topics}
    if titles or notes:
        messages.append(f"Carried over from the collection before: {len(titles):,} names and {len(notes):,} notes")
    names = {
        topic: old_shape.titles.get(topic, old_shape.name(topic)) for topic in (*old_shape.titles, *old_shape.notes)
    }
    if missing_names := [name for topic, name in names.items() if topic not in new_topics]:
        listed = list_some(missing_names, MAX_NAMED)
        messages.append(f"Not carried over, for no new topic is surely the same: {listed}")
    return replace(shape, notes={**shape.notes, **notes})


def _inherit_pins(
    old_shape: TreeState, shape: TreeState, new_topics: Mapping[int, int], ids: set[str], messages: list[str]
) -> TreeState:
    """Transfer pinned documents; the next fit moves them."""
    pins = {id: new_topics[topic] for id, topic in old_shape.pins.items() if topic in new_topics and id in ids}
    if pins:
        shape = replace(shape, pins={**shape.pins, **pins}, pending=True)
        messages.append(
            f"{len(pins):,} pinned documents are pinned again; they move when the tree is fitted (shape --refit)"
        )
    if n_missing := len(old_shape.pins) - len(pins):
        messages.append(f"{n_missing:,} pins are not carried over")
    return shape


def _inherit_seeds(
    old_shape: TreeState, shape: TreeState, new_topics: Mapping[int, int], messages: list[str]
) -> TreeState:
    """Transfer seed words; the next fit uses them."""
    seeds = {new_topics[topic]: words for topic, words in old_shape.seeds.items() if topic in new_topics}
    if seeds:
        shape = replace(shape, seeds={**shape.seeds, **seeds}, pending=True)
        messages.append(
            f"{sum(map(len, seeds.values())):,} words belong to the same topics again; they draw documents when the "
            "tree is fitted (shape --refit)"
        )
    if missing_names := [old_shape.name(topic) for topic in old_shape.seeds if topic not in new_topics]:
        names = ", ".join(missing_names[:MAX_NAMED])
        messages.append(f"Words are not given to a topic again, for none is surely the same: {names}")
    return shape


def _inherit_word_edits(old_shape: TreeState, shape: TreeState, messages: list[str]) -> TreeState:
    """Transfer ignored and united words; the tree needs a fit if they changed while it grew."""
    ignored, united = old_shape.ignored, old_shape.united
    if not ignored and not united:
        return shape
    is_same = (set(ignored), dict(united)) == (set(shape.ignored), dict(shape.united))
    messages.append(f"Grown with {len(ignored):,} ignored and {len(united):,} united words, as before")
    return replace(shape, ignored=ignored, united=united, pending=shape.pending or not is_same)


def read_word_edits(folder: str) -> dict[str, Any]:
    """Return the ignored and united words of the collection that a grow replaces."""
    old = open_previous(folder)
    if old is None:
        return {}
    with old:
        ignored, united = old.outline.ignored, old.outline.united
    return {"ignored": list(ignored), "united": dict(united)} if ignored or united else {}


def add_word_edits(shape: TreeState, words: Mapping[str, Any]) -> TreeState:
    """Return a shape with these word edits."""
    return replace(shape, ignored=tuple(words.get("ignored", ())), united=dict(words.get("united", {})))


def count_grown_documents(old: Collection) -> int:
    """Return the number of documents from the sources, which come before those that users added."""
    return int(old.settings.get(N_GROWN, len(old)))


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
        excluded_documents, n_excluded_passages, restored = set[str](), 0, list[str]()
        for document in self.sources:
            parents = _parent_ids(document)
            if replaced:
                source_ids |= {document.id, *parents}
                text_hashes.add(hash(document.text))
            if self.removed and (removed_by := self._find_removed(document, restored)):
                if not self.take_removed:
                    is_part = bool(parents) and facts.compute_id_digest(parents[0]) not in removed_by
                    n_excluded_passages += is_part
                    excluded_documents |= set() if is_part else {*(parents or (document.id,))}
                    continue
                for digest in removed_by:
                    self.removed.pop(digest, None)
            self.n_sources += 1
            yield document
        if excluded_documents or n_excluded_passages:
            excluded = describe_excluded(len(excluded_documents), n_excluded_passages, "that people removed")
            self.messages.append(f"{excluded} out (the setting take-removed reads them again)")
        if restored:
            self.messages.append(
                f"{count_noun(len(restored), 'document')} with removed passages {verb(len(restored))} whole again, "
                f"because documents are not cut: {list_some(restored, MAX_NAMED, rest=' and others')}"
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
        """Yield documents that users added and no source has; append a message with their number."""
        number, start = 0, count_grown_documents(old)
        skipped_column = LANGUAGE if old.settings.get(LANGUAGE_COLUMN) else None
        for row, document in enumerate(old.documents.iterate(start, len(old)), start):
            if not source_ids & {document.id, *_parent_ids(document)}:
                number += 1
                cells = old.columns.of([row]).get(row, {}).items()
                columns = ((name, value) for name, values in cells if name != skipped_column for value in values)
                yield replace(document, columns=tuple(columns))
        if number:
            documents = count_noun(number, "document")
            self.messages.append(f"{documents} that people added before {verb(number)} carried over")

    def _report_missing(self, old: Collection, source_ids: set[str], text_hashes: set[int]) -> None:
        """Append messages on old documents that the sources lack, or have under another id."""
        ids = old.documents.ids()[: count_grown_documents(old)]
        rows = [row for row, id in enumerate(ids) if id not in source_ids and get_parent_id(id) not in source_ids]
        missing = []
        for start in range(0, len(rows), TEXTS_AT_ONCE):
            documents = old.documents.load_many(rows[start : start + TEXTS_AT_ONCE])
            missing += [document.id for document in documents if hash(document.text) not in text_hashes]
        if n_renamed := len(rows) - len(missing):
            subject = f"{count_noun(n_renamed, 'document')} of before {verb(n_renamed, 'has', 'have')}"
            self.messages.append(f"{subject} another id now, to which no tags, notes and pins are carried over")
        if missing and len(missing) == len(ids):
            self.messages.append(f"The sources replace all {len(missing):,} documents of before")
        elif missing:
            subject = f"{count_noun(len(missing), 'document')} of before {verb(len(missing))}"
            listed = list_some(missing, MAX_NAMED)
            self.messages.append(f"{subject} missing from the sources and from the collection: {listed}")


def describe_excluded(documents: int, passages: int, clause: str) -> str:
    """Return the beginning of a sentence on excluded documents and passages."""
    numbers = ((documents, "document"), (passages, "passage"))
    parts = [count_noun(number, noun) for number, noun in numbers if number]
    return f"{' and '.join(parts)} {clause} {verb(documents + passages, 'stays', 'stay')}"


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
