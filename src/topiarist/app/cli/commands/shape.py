"""``topiarist shape``: what should the tree look like, and what would that change?"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from topiarist.app.cli.terminal.printing import counted, one_line
from topiarist.app.cli.terminal.screen import Screen, opened
from topiarist.app.cli.using_options import ShapeOptions
from topiarist.collection import history
from topiarist.collection.collection import Collection
from topiarist.collection.describe.shaped_tree import class_sizes
from topiarist.collection.shape import changes as shaping
from topiarist.collection.shape.edit_language import WORDS, edit_of_words, read_edits, to_words
from topiarist.collection.shape.edits import Edit
from topiarist.collection.shape.shape import Shape
from topiarist.errors import UsageError
from topiarist.store import edit_log

FILES = (".yaml", ".yml", ".json")
SHOWN = 20  # topics that changed
NOTICEABLE, CHANGED = 1.0, 0.01  # documents, and share of them: less is no change of a size
QUICK = 0.5  # seconds that nobody wants to know of


class Seen(NamedTuple):
    """A topic at one moment."""

    name: str
    path: str
    parent: int
    documents: float
    named: bool  # by a person


Snapshot = dict[int, Seen]


@dataclass(frozen=True)
class Change:
    """A topic before and after; None where it is not."""

    topic: int
    before: Seen | None
    after: Seen | None

    @property
    def size(self) -> float:
        """By how many documents it changed."""
        return abs((self.after.documents if self.after else 0.0) - (self.before.documents if self.before else 0.0))

    @property
    def nothing(self) -> bool:
        """Whether nothing worth a line changed."""
        return self._in_place and self.before is not None and self.before.name == (self.after or self.before).name

    @property
    def only_words(self) -> bool:
        """Whether nothing changed but the words that it is called by."""
        if self.before is None or self.after is None:
            return False
        return self._in_place and not (self.before.named or self.after.named)

    @property
    def _in_place(self) -> bool:
        if self.before is None or self.after is None:
            return False
        least = max(NOTICEABLE, CHANGED * self.before.documents)
        return self.before.parent == self.after.parent and self.size < least

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        plain = {
            name: None
            if side is None
            else {"name": side.name, "path": side.path, "documents": round(side.documents, 1)}
            for name, side in (("before", self.before), ("after", self.after))
        }
        return {"topic": self.topic, **plain}


def run(options: ShapeOptions) -> None:
    """The log, undo, a conversation, or edits."""
    screen = Screen(options)
    _check(options)
    with opened(options) as collection:
        if options.log:
            _log(screen, collection)
        elif options.undo:
            _undo(screen, collection, dry=options.dry_run)
        elif options.interactive:
            from topiarist.app.cli.commands.conversation import converse

            converse(screen, collection)
        else:
            _edit(screen, collection, options)


def _check(options: ShapeOptions) -> None:
    """One thing at a time, and nothing said that would not be heeded."""
    asked = {
        "edits": bool(options.edits), "--undo": options.undo, "--log": options.log, "--interactive": options.interactive
    }  # fmt: skip
    chosen = [name for name, there in asked.items() if there]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together", hint="one after the other")
    fit = {True: "--refit", False: "--no-refit", None: ""}[options.refit]
    if fit and (chosen or fit == "--no-refit") and chosen != ["edits"]:
        raise UsageError(f"{fit} goes with edits{f', not with {chosen[0]}' if chosen else ''}", hint=f"without {fit}")
    if options.dry_run and (options.log or options.interactive):
        raise UsageError(f"--dry-run does not go with {chosen[0]}", hint="undo takes back what was tried")


def edits_of(words: Sequence[str]) -> tuple[Edit, ...]:
    """From a file, or from the words themselves."""
    if len(words) == 1 and words[0].lower().endswith(FILES):
        try:
            with open(words[0], encoding="utf-8-sig") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", "") or "not text"
            raise UsageError(f"cannot read {words[0]}: {said.lower()}", hint="a .yaml or .json file of edits") from None
        return read_edits(text, format="json" if words[0].lower().endswith(".json") else "yaml")
    if len(words) == 1 and os.path.isfile(words[0]):
        raise UsageError(f"edits come from .yaml or .json files, got {words[0]}", hint="edits.yaml")
    return (edit_of_words(list(words)),)


def _edit(screen: Screen, collection: Collection, options: ShapeOptions) -> None:
    if not options.edits and not options.refit:
        raise UsageError(f"what should be done? One of {', '.join(WORDS)}", hint=f"{WORDS['rename']}, or --interactive")
    edits = edits_of(options.edits) if options.edits else ()
    before = snapshot(collection.outline, collection)
    seen = shaping.preview(collection, edits)
    if options.refit and edits and not seen.shape.pending:
        raise UsageError("such edits need no fit, and --refit would do nothing", hint="the edit, then --refit alone")
    if options.dry_run:
        _say_changes(screen, edits, before, snapshot(seen.shape, collection), seen.shape.pending, dry=True)
        return
    began = time.perf_counter()
    applied(screen, collection, edits, refit=options.refit is not False)
    after = snapshot(collection.outline, collection)
    _say_changes(screen, edits, before, after, collection.outline.pending, seconds=time.perf_counter() - began)


def applied(screen: Screen, collection: Collection, edits: Sequence[Edit], *, refit: bool) -> None:
    """Apply edits, with a word on the way if the tree is to be fitted."""
    needs = refit and (not edits or shaping.preview(collection, edits).shape.pending)
    if needs:
        with screen.waiting("Fitting the tree again"):
            shaping.shape(collection, edits, refit=True)
    else:
        shaping.shape(collection, edits, refit=False)


def snapshot(outline: Shape, collection: Collection) -> Snapshot:
    """What each topic is called, where it hangs, and the documents under it."""
    tree, sizes = outline.tree, class_sizes(collection.shares) @ outline.tree.path_mask(outline.class_nodes)
    above = [outline.topics[parent] if parent >= 0 else -1 for parent in tree.parents]
    return {
        topic: Seen(tree.names[node], outline.path(topic), above[node], float(sizes[node]), topic in outline.titles)
        for node, topic in enumerate(outline.topics)
    }


def changes(before: Snapshot, after: Snapshot) -> list[Change]:
    """Topics that are new, gone, elsewhere, called otherwise or of another size: new and gone ones first."""
    every = [Change(topic, before.get(topic), after.get(topic)) for topic in {**before, **after}]
    found = [one for one in every if not one.nothing]
    return sorted(found, key=lambda one: (one.before is not None and one.after is not None, -one.size))


def _say_changes(
    screen: Screen,
    edits: Sequence[Edit],
    before: Snapshot,
    after: Snapshot,
    pending: bool,
    *,
    dry: bool = False,
    seconds: float = 0.0,
) -> None:
    found = changes(before, after)
    if screen.options.json:
        screen.json({
            "edits": [to_words(edit) for edit in edits], "dry_run": dry, "pending": pending,
            "topics": {"before": len(before), "after": len(after)}, "changes": [one.to_dict() for one in found],
        })  # fmt: skip
        return
    what = f"{counted(len(edits), 'edit')}{' that would be made' if dry else ''}" if edits else "Fitted again"
    took = f" {seconds:.1f} s." if seconds > QUICK else ""
    screen.print(f"{what}: {counted(len(before), 'topic')} before, {len(after):,} after.{took}")
    show_changes(screen, found)
    if pending:
        fit = "The tree would be fitted again; sizes before that are estimates." if dry else "Not fitted again yet."
        screen.print((fit, "yellow"))
    if dry:
        screen.next("shape FOLDER … without --dry-run")
    else:
        screen.next(*(["shape FOLDER --refit"] if pending else []), "tree FOLDER", "shape FOLDER --undo")


def show_changes(screen: Screen, found: Sequence[Change]) -> None:
    """A line for each topic that changed: documents before and after, and what it is called."""
    listed = [one for one in found if not one.only_words]
    if listed:
        screen.print((f"\n{'before':>8}    {'after':>8}  {'id':>4}  topic", "dim"))
    for one in listed[:SHOWN]:
        sizes = ["–" if side is None else f"{side.documents:,.0f}" for side in (one.before, one.after)]
        style = "green" if one.before is None else "red" if one.after is None else ""
        screen.cut(f"{sizes[0]:>8}  → {sizes[1]:>8}  {one.topic:>4}  ", (_renamed(one), style))
    if len(listed) > SHOWN:
        screen.print((f"and {len(listed) - SHOWN:,} more", "dim"))
    if relabelled := len(found) - len(listed):
        are = "is" if relabelled == 1 else "are"
        screen.print((f"{counted(relabelled, 'topic')} {are} called by other words of theirs now.", "dim"))


def _renamed(change: Change) -> str:
    """The name, or both names; a path where the topic was moved."""
    one, other = change.before, change.after
    if one is None or other is None:
        return one_line(other.path) if other else f"{one_line(one.path if one else '')}, gone"
    if one.parent != other.parent:
        return f"{one_line(one.path)} → {one_line(other.path)}"
    return one_line(other.name) if one.name == other.name else f"{one_line(one.name)} → {one_line(other.name)}"


def _undo(screen: Screen, collection: Collection, *, dry: bool) -> None:
    before = snapshot(collection.outline, collection)
    if dry:
        last = shaping.last_step(collection.generation)
        undone = shaping.told(last)
        with history.at(collection, last.before or 0) as then:
            found = changes(before, snapshot(then.outline, then))
    else:
        undone = shaping.undo(collection)
        found = changes(before, snapshot(collection.outline, collection))
    if screen.options.json:
        screen.json({"undone": undone, "dry_run": dry, "changes": [one.to_dict() for one in found]})
        return
    screen.print("Would be undone: " if dry else "Undone: ", (one_line(undone), "bold"))
    show_changes(screen, found)
    screen.next("shape FOLDER --undo" if dry else "tree FOLDER", "shape FOLDER --log")


def _log(screen: Screen, collection: Collection) -> None:
    """Everything that was done, oldest first; what was taken back says so."""
    entries = list(reversed(edit_log.history(collection.generation.database)))
    undone = {entry.body["edit"] for entry in entries if entry.kind == shaping.UNDO}
    if screen.options.json:
        screen.json([
            {"number": entry.number, "time": entry.time, "kind": entry.kind, "what": shaping.told(entry),
             "undone": entry.number in undone}
            for entry in entries
        ])  # fmt: skip
        return
    for entry in entries:
        when = entry.time.replace("T", " ").removesuffix("+00:00")
        taken = "  (undone)" if entry.number in undone else ""
        screen.print(f"{entry.number:>4}  ", (f"{when}  ", "dim"), one_line(shaping.told(entry)), (taken, "dim"))
    screen.next("shape FOLDER --undo", "compare FOLDER --before")
