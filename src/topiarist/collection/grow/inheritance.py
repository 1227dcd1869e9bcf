"""What people did to a collection, carried over to a new one that takes its place.

A topic of the old tree is one of the new tree where both hold mostly the same documents and no other topic comes near;
a name that would go to a doubtful topic is told, not given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topiarist.collection.contents import read_matrix
from topiarist.collection.describe.topic_tree import placed
from topiarist.collection.find import saved_searches
from topiarist.collection.judge import review
from topiarist.collection.judge.judgements import carry_over
from topiarist.collection.shape.edits import Group, apply
from topiarist.collection.shape.shape import Shape, unlike
from topiarist.collection.state import CATEGORIES, SHARES, VECTORS, State
from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.hierarchy.edits import rename
from topiarist.measures.comparison import match_nodes
from topiarist.measures.placed_documents import Placed
from topiarist.store import edit_log, facts
from topiarist.store.column_table import ColumnTable
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation
from topiarist.store.marks import Marks, PassageNotes
from topiarist.store.sealed_folder import MANIFEST
from topiarist.text.documents import Document
from topiarist.text.language import LANGUAGE, LANGUAGE_COLUMN
from topiarist.text.passages import is_passage, passages, whole_id

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SHOWN = 8  # topics that are named in a message
GROWN = "n_grown"  # a setting: documents that came from the sources; those after them were added by people
ADD = "add"  # what the log calls an addition


class Carried(NamedTuple):
    """The new state with what could be carried over, and what there is to say of it."""

    state: State
    told: tuple[str, ...]


def carried(old: Collection, generation: Generation, state: State) -> Carried:
    """Names, notes, headings, pins, words, tags and read marks of a collection, for the one that is to replace it.

    Tags and marks are written beside; whoever calls this commits them with the state.
    """
    told = list(_marks(old, generation))
    shape, was, known = state.shape, old.outline, dict[int, int]()
    searches = any(one.topic or "topic:" in one.query.lower() for one in saved_searches.saved_searches(old))
    if searches or was.titles or was.notes or was.pins or was.gathered or was.seeds:
        shares = read_matrix(generation.folder / state.pieces(SHARES)[0])
        now = placed(shape, shares, Documents(generation.database).ids())
        known = _counterparts(old, shape, now)
        shape, known, remade = _put_together(old, shape, now, known)
        shape, known, said = _gathered(was, shape, known)
        told += remade if any("Carried over" in one for one in said) else []
        told += said
        shape, said = _spoken(was, shape, known)
        told += said
        shape, said = _pinned(was, shape, known, set(Documents(generation.database).ids()))
        told += said
        shape, said = _seeded(was, shape, known)
        told += said
    told += saved_searches.carry_over(old, generation.database, known)
    shape, said = _chosen(was, shape)
    told += said
    if old.state.parts.get(CATEGORIES) is not None:
        told.append("The categories that were learned are not carried over: learn them again")
    if old.state.pieces(VECTORS) and not state.pieces(VECTORS):
        told.append("The collection before had vectors, this grow brought none: words alone decide now")
    return Carried(replace(state, shape=shape), tuple(told))


def _counterparts(old: Collection, shape: Shape, now: Placed) -> dict[int, int]:
    """The topic of the new tree for each of the old, where that is certain."""
    try:
        found = match_nodes(old.placed, now)
    except InputError:  # no document in common
        return {}
    return {old.outline.topics[node]: shape.topics[match.node_b] for node, match in found.items() if not match.doubtful}


def _put_together(
    old: Collection, shape: Shape, now: Placed, known: dict[int, int]
) -> tuple[Shape, dict[int, int], list[str]]:
    """Topics under people's headings that are no topic of the new tree, made of those that hold their documents.

    A new topic belongs where most of its documents were; there must be such for most documents of the old one. Several
    are put under a heading that is called as the old topic was.
    """
    was, told = old.outline, list[str]()
    nodes = [child for heading in was.gathered for child in was.tree.children(was.node(heading))]
    beside = [was.topics[node] for node in nodes]
    for topic in (topic for topic in beside if topic not in known):
        taken = [shape.node(known[other]) for other in beside if other in known]
        held = [shape.topics[node] for node in holders(old.placed, was.node(topic), now, taken)]
        if len(held) > 1:
            try:
                shape = apply(shape, Group(tuple(held), was.name(topic)))
            except UsageError:  # a topic of this name is there already, or nothing would be beside it
                continue
            told.append(f"{was.name(topic)} is put together from {len(held):,} new topics that hold its documents")
            known = {**known, topic: shape.next_topic - 1}
            now = replace(now, tree=shape.tree, class_nodes=shape.class_nodes, words=())
        elif held:
            known = {**known, topic: held[0]}
    return shape, known, told


def holders(then: Placed, node: int, now: Placed, taken: list[int]) -> list[int]:
    """The highest nodes of a new tree most of whose documents were under an old node; none if they hold too few of it.

    Nodes above, below or among those that are ``taken`` are not asked.
    """
    row = {id: number for number, id in enumerate(now.ids)}
    known = np.array([row.get(id, -1) for id in then.ids])
    mine = np.zeros(now.n_docs)
    under = np.array([node in then.tree.path(home) for home in range(len(then.tree))])[then.homes]
    mine[known[under & (known >= 0)]] = 1.0
    both = np.zeros(now.n_docs)
    both[known[known >= 0]] = 1.0
    paths = now.tree.path_mask(tuple(range(len(now.tree)))).astype(np.float64)
    own = np.bincount(now.homes, mine, minlength=len(now.tree)) @ paths
    every = np.bincount(now.homes, both, minlength=len(now.tree)) @ paths
    busy = {one for other in taken for one in now.tree.path(other)}
    found, waiting = list[int](), list(now.tree.children(now.tree.root))
    while waiting:
        one = waiting.pop()
        if one in taken:
            continue
        if one not in busy and own[one] > every[one] / 2:
            found.append(one)
        else:
            waiting += now.tree.children(one)
    return sorted(found) if own[found].sum() > mine.sum() / 2 else []


def _gathered(was: Shape, shape: Shape, known: dict[int, int]) -> tuple[Shape, dict[int, int], list[str]]:
    """Headings that people put topics under, over the same topics again; the lowest first, for one may hold another."""
    whole, partial, lost = 0, list[str](), list[str]()
    for heading in sorted(was.gathered, key=lambda topic: -was.tree.depths[was.node(topic)]):
        topics = [was.topics[child] for child in was.tree.children(was.node(heading))]
        members = [known[topic] for topic in topics if topic in known]
        missing = [was.name(topic) for topic in topics if topic not in known]
        try:
            if not _holds(shape, known.get(heading), members):
                shape = apply(shape, Group(tuple(members), was.name(heading)))
                known = {**known, heading: shape.next_topic - 1}
        except UsageError:  # too few of its topics are left, or they lie in each other now
            lost.append(was.name(heading))
            continue
        whole += not missing
        if missing:
            without = f"{', '.join(missing[:SHOWN])}{' and others' * (len(missing) > SHOWN)}"
            partial.append(
                f"{was.name(heading)} over {len(members):,} of its {len(topics):,} topics, without {without}"
            )
    told = [f"Carried over: {whole:,} heading{'s' * (whole != 1)} over the same topics"] if whole else []
    if partial:
        told.append(f"Carried over in part, for no new topics are surely the same: {'; '.join(partial[:SHOWN])}")
    if lost:
        told.append(f"Not put under a heading again, for no new topics are surely the same: {'; '.join(lost[:SHOWN])}")
    return shape, known, told


def _holds(shape: Shape, heading: int | None, members: list[int]) -> bool:
    """Whether a heading has these topics below it, and no others."""
    if heading is None or not members:
        return False
    return {shape.topics[child] for child in shape.tree.children(shape.node(heading))} == set(members)


def _spoken(was: Shape, shape: Shape, known: dict[int, int]) -> tuple[Shape, list[str]]:
    """Names and notes."""
    told, lost = [], []
    names = 0
    for topic, title in was.titles.items():
        if topic not in known:
            lost.append(title)
            continue
        node = shape.node(known[topic])
        beside = shape.tree.children(shape.tree.parents[node]) if shape.tree.parents[node] >= 0 else ()
        name = unlike(title, [shape.tree.names[other] for other in beside if other != node])
        tree = rename(shape.tree, node, name).tree
        shape = replace(shape, tree=tree, titles={**shape.titles, known[topic]: name})
        names += 1
    notes = {known[topic]: note for topic, note in was.notes.items() if topic in known}
    shape = replace(shape, notes={**shape.notes, **notes})
    if names or notes:
        told.append(f"Carried over from the collection before: {names:,} names and {len(notes):,} notes")
    lost += [was.name(topic) for topic in was.notes if topic not in known and topic not in was.titles]
    if lost:
        more = f" and {len(lost) - SHOWN:,} more" if len(lost) > SHOWN else ""
        told.append(f"Not carried over, for no new topic is surely the same: {', '.join(lost[:SHOWN])}{more}")
    return shape, told


def _pinned(was: Shape, shape: Shape, known: dict[int, int], ids: set[str]) -> tuple[Shape, list[str]]:
    """Documents that people have put somewhere, for the next fit to hold."""
    kept = {document: known[topic] for document, topic in was.pins.items() if topic in known and document in ids}
    told = []
    if kept:
        shape = replace(shape, pins={**shape.pins, **kept}, pending=True)
        told.append(
            f"{len(kept):,} pinned documents are pinned again; they move when the tree is fitted (shape --refit)"
        )
    if len(kept) < len(was.pins):
        told.append(f"{len(was.pins) - len(kept):,} pins are not carried over")
    return shape, told


def _seeded(was: Shape, shape: Shape, known: dict[int, int]) -> tuple[Shape, list[str]]:
    """Words that people want at topics, for the next fit to heed."""
    kept = {known[topic]: words for topic, words in was.seeds.items() if topic in known}
    told, lost = [], [was.name(topic) for topic in was.seeds if topic not in known]
    if kept:
        number = sum(map(len, kept.values()))
        shape = replace(shape, seeds={**shape.seeds, **kept}, pending=True)
        told.append(
            f"{number:,} words belong to the same topics again; they draw documents when the tree is fitted "
            "(shape --refit)"
        )
    if lost:
        told.append(f"Words are not given to a topic again, for none is surely the same: {', '.join(lost[:SHOWN])}")
    return shape, told


def _chosen(was: Shape, shape: Shape) -> tuple[Shape, list[str]]:
    """Words that are ignored or united: the new tree has grown so, unless somebody said more of words meanwhile."""
    if not was.ignored and not was.united:
        return shape, []
    same = (set(was.ignored), dict(was.united)) == (set(shape.ignored), dict(shape.united))
    shape = replace(shape, ignored=was.ignored, united=was.united, pending=shape.pending or not same)
    return shape, [f"Grown with {len(was.ignored):,} ignored and {len(was.united):,} united words, as before"]


def words_of(folder: str) -> dict[str, Any]:
    """What people said of words in the collection that a grow would replace: ignored and united ones."""
    old = before(folder)
    if old is None:
        return {}
    with old:
        ignored, united = old.outline.ignored, old.outline.united
    return {"ignored": list(ignored), "united": dict(united)} if ignored or united else {}


def with_words(shape: Shape, words: Mapping[str, Any]) -> Shape:
    """A shape with what ``words_of`` has found."""
    return replace(shape, ignored=tuple(words.get("ignored", ())), united=dict(words.get("united", {})))


def n_grown(old: Collection) -> int:
    """How many documents came from the sources: they are the first; all others were added by people."""
    known = old.settings.get(GROWN)
    added = edit_log.total(old.generation.database, ADD, "documents")
    return max(0, len(old) - added) if known is None else int(known)


@dataclass
class Arriving:
    """The documents of the sources, and behind them those that people added to the collection before.

    Who is in the sources now is read from there. ``told`` says afterwards what was carried over and what is gone.
    """

    sources: Iterable[Document]
    folder: str
    cut: Callable[[Iterable[Document]], Iterator[Document]] = iter  # long ones into passages, where that was asked for
    take_removed: bool = False  # documents that people removed as well
    n_sources: int = 0
    removed: dict[str, bool] = field(default_factory=dict)  # digests of what people removed, and which are passages
    told: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Document]:
        seen: set[str] = set()  # of ids, where a collection was here before
        replaced = (Path(self.folder) / MANIFEST).exists()
        self.removed = removed_from(self.folder)
        left, back = Out(), list[str]()
        for document in self.sources:
            if replaced:
                seen |= {document.id, *_whole(document)}
            if self.removed and (gone := self._gone(document, back)):
                if not self.take_removed:
                    left.see(document, gone)
                    continue
                for digest in gone:
                    self.removed.pop(digest, None)
            self.n_sources += 1
            yield document
        if left.number:
            self.told.append(f"{left} out (--take-removed reads them again)")
        if back:
            which = f"{', '.join(back[:SHOWN])}{' and others' * (len(back) > SHOWN)}"
            self.told.append(
                f"{len(back):,} document{'s' * (len(back) != 1)} of which people removed passages "
                f"{_are(len(back))} whole again, for documents are not cut: {which}"
            )
        old = before(self.folder) if seen else None
        if old is None:
            if seen:
                self.told.append("The collection before cannot be read: what was added to it is not carried over")
            return
        with old:
            yield from self.cut(self._added(old, seen))

    def _gone(self, document: Document, back: list[str]) -> set[str]:
        """The digests by which a document, or the one that it is a passage of, was removed.

        Where documents are not cut any more, one of which all passages were removed was removed too; ``back`` has those
        of which some were.
        """
        digests = {facts.digest_of(id) for id in (document.id, *_whole(document))}
        if found := digests & self.removed.keys():
            return found
        if self.cut is iter and any(self.removed.values()):
            parts = passages(document)
            digests = {facts.digest_of(one.id) for one in parts}
            if len(parts) > 1 and (found := digests & self.removed.keys()):
                if found == digests:
                    return found
                back.append(document.id)
        return set()

    def _added(self, old: Collection, seen: set[str]) -> Iterator[Document]:
        number, start = 0, n_grown(old)
        cells = ColumnTable(old.generation.database)
        judged = {LANGUAGE} if old.settings.get(LANGUAGE_COLUMN) else set()
        for row, document in enumerate(old.documents.iterate(start, len(old)), start):
            if not seen & {document.id, *_whole(document)}:
                number += 1
                columns = ((name, value) for name, values in cells.of([row]).get(row, {}).items() for value in values)
                yield replace(document, columns=tuple(one for one in columns if one[0] not in judged))
        if number:
            self.told.append(
                f"{number:,} document{'s' * (number != 1)} that people added before {_are(number)} carried over"
            )
        gone = [id for id in old.documents.ids()[:start] if id not in seen and whole_id(id) not in seen]
        if gone:
            more = f" and {len(gone) - SHOWN:,} more" if len(gone) > SHOWN else ""
            some = f"{len(gone):,} document{'s' * (len(gone) != 1)} of before {_are(len(gone))}"
            self.told.append(f"{some} not in the sources any more, and so not here: {', '.join(gone[:SHOWN])}{more}")


@dataclass
class Out:
    """Documents and passages that stay out because people removed them."""

    documents: set[str] = field(default_factory=set)
    passages: int = 0

    def see(self, document: Document, gone: set[str]) -> None:
        """One that stays out, by what was remembered of it."""
        part = is_passage(document) and facts.digest_of(whole_id(document.id)) not in gone
        self.passages += part
        self.documents |= set() if part else {whole_id(document.id) if is_passage(document) else document.id}

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.documents) + self.passages

    def __str__(self) -> str:
        return out_said(len(self.documents), self.passages, "that people removed")


def out_said(documents: int, passages: int, which: str) -> str:
    """How many documents and passages stay, without the end of the sentence."""
    some = [
        f"{number:,} {what}{'s' * (number != 1)}"
        for number, what in ((documents, "document"), (passages, "passage"))
        if number
    ]
    return f"{' and '.join(some)} {which} {'stays' if documents + passages == 1 else 'stay'}"


def removed_from(folder: str) -> dict[str, bool]:
    """What people removed from the collection that a grow would replace."""
    old = before(folder)
    if old is None:
        return {}
    with old:
        return facts.removed(old.generation.database)


def _whole(document: Document) -> tuple[str, ...]:
    """The id of the document that one is a passage of."""
    return (whole_id(document.id),) if is_passage(document) else ()


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _marks(old: Collection, generation: Generation) -> Iterator[str]:
    """Tags, read marks, notes on passages and judged labels, by the ids of documents."""
    before, database = old.generation.database, generation.database
    marks = {
        **Marks(database).carry_over(before), "notes on passages": PassageNotes(database).carry_over(before),
        "judged labels": carry_over(before, database),
        "judgements of reviews": review.carry_over(before, database),
    }  # fmt: skip
    for what, (kept, found) in marks.items():
        if found:
            where = "passages" if what.endswith("passages") else "documents"
            lost = f"; {found - kept:,} of {where} that are gone" if kept < found else ""
            yield f"{kept:,} {what} carried over{lost}"


def before(folder: str) -> Collection | None:
    """The collection that a grow would replace; None where there is none that can be read."""
    from topiarist.collection.collection import Collection

    try:
        return Collection.open(folder)
    except TopiaristError:
        return None
