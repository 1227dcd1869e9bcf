"""Growing a collection once more from its own texts, and doing again what its log says, in another folder.

Steps that were taken back are left out: undo leads back to the last bit. Documents that were removed are taken from the
generation that has them, as long as that is kept; what nobody has any more is told, and not guessed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topiarist.collection.describe.provenance import GROW, grown_with
from topiarist.collection.file import arrivals
from topiarist.collection.grow.block_growth import InBlocks
from topiarist.collection.grow.grower import INTERRUPTED, STOPPED, WORDS, Grower
from topiarist.collection.grow.made_with import IN_BLOCKS
from topiarist.collection.grow.recipe import ONE, TOGETHER, Recipe
from topiarist.collection.judge.judgements import Judgements
from topiarist.collection.remove.removal import remove
from topiarist.collection.shape import changes
from topiarist.collection.shape.changes import ADD, EDIT, FITTED, LEARN, REFIT, REMOVE, UNDO, WITH
from topiarist.collection.shape.edit_language import edit_from
from topiarist.collection.state import GENERATION, State, steps
from topiarist.errors import UsageError, reading
from topiarist.estimators.common.progress import Watching
from topiarist.store import edit_log
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

NAME = "again.topiary"
Tell = Callable[[str], None]


class CannotReplayError(UsageError):
    """Something that the growth or an edit needs is not kept any more."""


@dataclass(frozen=True)
class Plan:
    """What is done again: the growth, then these steps; and what of a collection is taken as it is."""

    steps: tuple[edit_log.Edit, ...]
    given: tuple[str, ...]  # sentences: what is not done again


def plan(collection: Collection) -> Plan:
    """The steps that hold, oldest first; an error in words where one of them cannot be done again."""
    with reading(f"the log of {collection.folder.shown}"):
        every = steps(collection)
        undone = {number for one in every if one.kind == UNDO for number in (one.body["edit"], one.body.get(WITH))}
        holding = [one for one in every if one.kind != UNDO and one.number not in undone]
    if not holding or holding[0].kind != GROW:
        raise CannotReplayError("the log does not begin with a growth", hint="topiarist check")
    first, given = holding[0], list[str]()
    if first.body.get(STOPPED) == INTERRUPTED or _was_stopped(collection, first):
        raise CannotReplayError("somebody stopped the growth early, and nobody can find that moment again")
    if first.body.get("carried"):
        if first.after not in edit_log.remembered(collection.generation.database):
            raise CannotReplayError(
                "names and headings came from the collection that was there before, and are kept no more as they came"
            )
        given.append("what people said of the collection that was there before, and was carried over: taken as it is")
    for one in holding[1:]:
        if one.kind == REMOVE and not _is_kept(collection, one):
            number = int(one.body.get("documents", 0))
            raise CannotReplayError(f"{number:,} documents were removed, and their texts are kept no more")
        if one.kind == LEARN:
            given.append("the categories that were learned: neither learned again nor compared")
        elif one.kind not in (EDIT, REFIT, ADD, REMOVE):
            raise CannotReplayError(
                "documents were forgotten for good, and the tree was grown with their texts"
                if one.kind == changes.FORGET
                else f"the log has a step that cannot be done again: {one.kind}"
            )
        if one.kind == ADD and "learned" not in one.body:
            given.append("that the model learned from added documents: the log of an earlier version does not say it")
    done = tuple(one for one in holding if one.kind != LEARN)
    return Plan(done, tuple(dict.fromkeys(given)))


def _was_stopped(collection: Collection, first: edit_log.Edit) -> bool:
    """Whether the growth was stopped, of collections of earlier versions whose log does not say it."""
    return first.after == collection.number and collection.tree.stopped == INTERRUPTED


def _is_kept(collection: Collection, removal: edit_log.Edit) -> bool:
    name = str(removal.body.get(GENERATION, ""))
    return bool(name) and (collection.folder.path / name).is_dir()


def replayed(collection: Collection, planned: Plan, work: Path, tell: Tell, n_threads: int | None = None) -> Collection:
    """Another collection in a folder of its own, by the same texts, settings and steps; to be closed."""
    with ExitStack() as stack:
        origin = _Origin(collection, planned, stack)
        tell("Growing again")
        again = _grown(origin, planned.steps[0], work, n_threads)
        try:
            for number, step in enumerate(planned.steps[1:], 1):
                tell(f"Step {number} of {len(planned.steps) - 1}: {changes.told(step)}")
                origin.do(again, step)
        except BaseException:
            again.close()
            raise
        return again


class _Origin:
    """Where texts come from: the collection, and behind a removal the generation that had the documents."""

    def __init__(self, collection: Collection, planned: Plan, stack: ExitStack) -> None:
        removals = [one for one in planned.steps if one.kind == REMOVE]
        self.stages = [
            stack.enter_context(type(collection)(collection.folder.at_generation(str(one.body[GENERATION]))))
            for one in removals
        ]
        self.stages.append(collection)
        self.collection, self.row = self.stages[0], 0

    @property
    def n_grown(self) -> int:
        """How many documents the tree was grown with."""
        return grown_with(self.collection)

    def documents(self, number: int) -> Iterator[Document]:
        """The next documents, with the labels that they came with; never all of them in memory."""
        start, stop = self.row, self.row + number
        if stop > len(self.collection):
            raise CannotReplayError("the log tells of more documents than there are", hint="topiarist check")
        self.row = stop
        labels, found = _labels_before(self.collection), self.collection.documents.iterate(start, stop)
        return (replace(one, labels=labels.get(row, one.labels)) for row, one in enumerate(found, start))

    def vectors(self, first: int, number: int) -> Any:
        """Those of some documents; None where there are none."""
        known = self.collection.vectors
        return None if known is None else known[first : first + number]

    def do(self, again: Collection, step: edit_log.Edit) -> None:
        """One step of the log."""
        if step.kind == ADD:
            number = int(step.body["documents"])
            near, added = self.vectors(self.row, number), self.documents(number)
            for _ in arrivals.add(again, added, learn=bool(step.body.get("learned", True)), vectors=near):
                pass
        elif step.kind == REMOVE:
            before, after = self.collection, self.stages[self.stages.index(self.collection) + 1]
            left = set(after.documents.ids())
            remove(again, [one for one in before.documents.ids() if one not in left])
            self.collection, self.row = after, len(again)
        else:
            edits = [] if step.kind == REFIT else [edit_from(one) for one in step.body["edits"]]
            stops = changes.stopped_after(step)
            watching = None if stops is None else _Stopping(stops)
            changes.shape(again, edits, refit=step.kind == REFIT or bool(step.body.get(FITTED)), watching=watching)
            if stops is None:
                _unless_stopped(again)


def _unless_stopped(again: Collection) -> None:
    """A fit takes Ctrl-C as the wish to keep what it has; here it is the wish to end."""
    last = edit_log.history(again.generation.database, limit=1)[0]
    if last.body.get(STOPPED) == INTERRUPTED:
        raise KeyboardInterrupt


class _Stopping(Watching):
    """Ends a fit where somebody ended it."""

    def __init__(self, after: int) -> None:
        self.after = after

    def step(self, done: int, about: int | None) -> None:
        """As many steps as then."""
        if done >= self.after:
            raise KeyboardInterrupt


def _labels_before(collection: Collection) -> dict[int, tuple[str, ...]]:
    """The labels that judged documents had before anybody judged them."""
    found: dict[int, tuple[str, ...]] = {}
    for one in Judgements(collection.generation.database).since(0):
        found.setdefault(one.row, one.before)
    return found


def _grown(origin: _Origin, first: edit_log.Edit, work: Path, n_threads: int | None) -> Collection:
    """The collection as it was grown; what was carried over into it is taken as it is."""
    known = origin.collection.settings
    number = origin.n_grown
    blocks = InBlocks.from_dict(first.body[IN_BLOCKS]) if first.body.get(IN_BLOCKS) is not None else None
    grower = Grower(_recipe(origin.collection, work), n_threads, vectors=origin.vectors(0, number), place=blocks)
    told = {WORDS: known[WORDS]} if known.get(WORDS) else {}
    again = grower.grow(origin.documents(number), work / NAME, told=told)
    _unless_stopped(again)
    if first.body.get("carried"):
        then = State.from_dict(edit_log.state(origin.collection.generation.database, first.after))
        with again.folder.writing() as generation:
            state = replace(again.state, shape=then.shape)
            edit_log.record(generation.database, GROW, first.body, state.to_dict())
        again.refresh()
    return again


def _recipe(collection: Collection, work: Path) -> Recipe:
    """The recipe for texts that were read already: cut, in the languages that were wanted; with their stop words."""
    known = Recipe.from_dict(collection.settings["recipe"])
    language = str(collection.settings.get("language") or known.language)
    known = replace(known, passages=False, language=language)
    known = replace(known, languages=TOGETHER) if known.languages == ONE else known
    words = collection.counting.settings.stop_words
    if isinstance(words, tuple):
        file = work / "stop-words.txt"
        file.write_text("\n".join(words), "utf-8")
        known = replace(known, stop_words=os.fspath(file))
    return known
