"""``topiarist shape``: what should the tree look like, and what would that change?"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from topiarist import collection as door
from topiarist.app.cli.commands.exploring import show, tree
from topiarist.app.cli.options import ALWAYS, WritingOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import and_more, counted, one_line, verb, word_use
from topiarist.errors import TopiaristError, UsageError
from topiarist.text.spelling import proposed

EPILOG = examples(
    "topiarist shape mail.topiary rename 12 'Bail and custody'",
    "topiarist shape mail.topiary group court trial prison as Justice",
    "topiarist shape mail.topiary seed Justice with bail custody --dry-run",
    "topiarist shape mail.topiary edits.yaml",
    "topiarist shape mail.topiary --undo",
    "topiarist shape mail.topiary --interactive",
)
WRITES = ALWAYS
FILES = (".yaml", ".yml", ".json")
SHOWN = 20  # topics that changed
QUICK = 0.5  # seconds that nobody wants to know of
PROMPT = "shape> "
LEFT_OUT = 1
OWN_WORDS = {  # of a conversation, beside the edits
    "tree": "tree [TOPIC]",
    "show": "show TOPIC|DOCUMENT",
    "undo": "undo",
    "refit": "refit",
    "help": "help",
    "quit": "quit",
}


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Rename, merge, group, split, move and delete topics, pin documents, grow branches, choose words: in the words of
    a command, or in a file.
    """

    edits: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EDIT…|FILE]", help="An edit in words, or a .yaml or .json file of edits."),
    ] = None
    dry_run: Annotated[bool, option("Say what would change, in numbers.", "--dry-run")] = False
    refit: Annotated[
        bool | None, option("Fit the tree again now, or later; by default if an edit needs it.", "--refit/--no-refit")
    ] = None
    undo: Annotated[bool, option("Take the last step back, exactly.", "--undo")] = False
    log: Annotated[bool, option("Print what was done.", "--log")] = False
    words: Annotated[bool, option("Print what was said of words.", "--words")] = False
    interactive: Annotated[bool, option("Edit after edit, at a prompt.", "--interactive", "-i")] = False


def run(options: Options) -> None:
    """The log, what was said of words, undo, a conversation, or edits."""
    screen = Screen(options)
    _check(options)
    with door.Collection.open(options.folder) as collection:
        if options.log:
            _log(screen, collection)
        elif options.words:
            _words(screen, collection)
        elif options.undo:
            _undo(screen, collection, dry=options.dry_run)
        elif options.interactive:
            _converse(screen, collection)
        else:
            _edit(screen, collection, options)


def _check(options: Options) -> None:
    """One thing at a time, and nothing said that would not be heeded."""
    asked = {
        "edits": bool(options.edits),
        "--undo": options.undo,
        "--log": options.log,
        "--words": options.words,
        "--interactive": options.interactive,
    }
    chosen = [name for name, there in asked.items() if there]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together", hint="one after the other")
    fit = {True: "--refit", False: "--no-refit", None: ""}[options.refit]
    if fit and (chosen or fit == "--no-refit") and chosen != ["edits"]:
        raise UsageError(f"{fit} goes with edits{f', not with {chosen[0]}' if chosen else ''}", hint=f"without {fit}")
    if options.dry_run and (options.log or options.words or options.interactive):
        raise UsageError(f"--dry-run does not go with {chosen[0]}", hint="undo takes back what was tried")


def _edits_of(words: Sequence[str]) -> tuple[door.Edit, ...]:
    """From a file, or from the words themselves."""
    if len(words) == 1 and words[0].lower().endswith(FILES):
        try:
            with open(words[0], encoding="utf-8-sig") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", "") or "not text"
            raise UsageError(f"cannot read {words[0]}: {said.lower()}", hint="a .yaml or .json file of edits") from None
        return door.read_edits(text, format="json" if words[0].lower().endswith(".json") else "yaml")
    if len(words) == 1 and os.path.isfile(words[0]):
        raise UsageError(f"edits come from .yaml or .json files, got {words[0]}", hint="edits.yaml")
    return (door.edit_of_words(list(words)),)


def _edit(screen: Screen, collection: door.Collection, options: Options) -> None:
    if not options.edits and not options.refit:
        raise UsageError(
            f"what should be done? One of {', '.join(door.EDIT_FORMS)}",
            hint=f"{door.EDIT_FORMS['rename']}, or --interactive",
        )
    edits = _edits_of(options.edits) if options.edits else ()
    before = door.topic_snapshot(collection.outline, collection)
    seen, uses = door.preview_edits(collection, edits), door.word_uses(collection, edits)
    if options.refit and edits and not seen.shape.pending:
        raise UsageError("such edits need no fit, and --refit would do nothing", hint="the edit, then --refit alone")
    if options.dry_run:
        after = door.topic_snapshot(seen.shape, collection)
        _say_changes(screen, edits, before, after, seen.shape.pending, dry=True, uses=uses)
        return
    began = time.perf_counter()
    _apply(screen, collection, edits, refit=options.refit is not False)
    after = door.topic_snapshot(collection.outline, collection)
    seconds, pending = time.perf_counter() - began, collection.outline.pending
    then = () if pending else door.word_uses(collection, edits)
    _say_changes(screen, edits, before, after, pending, seconds=seconds, uses=uses, then=then)


def _apply(screen: Screen, collection: door.Collection, edits: Sequence[door.Edit], *, refit: bool) -> None:
    """Apply edits, with a word on the way if the tree is to be fitted."""
    needs = refit and (not edits or door.preview_edits(collection, edits).shape.pending)
    if needs:
        with screen.waiting("Fitting the tree again"):
            door.apply_edits(collection, edits, refit=True)
    else:
        door.apply_edits(collection, edits, refit=False)


def _say_changes(
    screen: Screen,
    edits: Sequence[door.Edit],
    before: door.TopicSnapshot,
    after: door.TopicSnapshot,
    pending: bool,
    *,
    dry: bool = False,
    seconds: float = 0.0,
    uses: Sequence[door.WordUse] = (),
    then: Sequence[door.WordUse] = (),
) -> None:
    found = door.topic_changes(before, after)
    if screen.options.json:
        screen.json({
            "edits": [door.edit_to_words(edit) for edit in edits], "dry_run": dry, "pending": pending,
            "topics": {"before": len(before), "after": len(after)}, "changes": [one.to_dict() for one in found],
            "words": [use.to_dict() for use in uses],
        })  # fmt: skip
        return
    what = f"{counted(len(edits), 'edit')}{' that would be made' if dry else ''}" if edits else "Fitted again"
    took = f" {seconds:.1f} s." if seconds > QUICK else ""
    screen.print(f"{what}: {counted(len(before), 'topic')} before, {len(after):,} after.{took}")
    for place, use in enumerate(uses[:SHOWN]):
        screen.print(f"  {one_line(word_use(use, then[place] if then else None))}")
    if len(uses) > SHOWN:
        screen.print((f"  {and_more(uses, SHOWN)}", "dim"))
    _show_changes(screen, found)
    if pending:
        fit = "The tree would be fitted again; sizes before that are estimates." if dry else "Not fitted again yet."
        screen.print((fit, "yellow"))
    if dry:
        screen.next("shape FOLDER … without --dry-run")
    else:
        screen.next(*(["shape FOLDER --refit"] if pending else []), "tree FOLDER", "shape FOLDER --undo")


def _show_changes(screen: Screen, found: Sequence[door.TopicChange]) -> None:
    """A line for each topic that changed: documents before and after, and what it is called."""
    listed = [one for one in found if not one.only_words]
    if listed:
        screen.print((f"\n{'before':>8}    {'after':>8}  {'id':>4}  topic", "dim"))
    for one in listed[:SHOWN]:
        sizes = ["–" if side is None else f"{side.documents:,.0f}" for side in (one.before, one.after)]
        style = "green" if one.before is None else "red" if one.after is None else ""
        screen.cut(f"{sizes[0]:>8}  → {sizes[1]:>8}  {one.topic:>4}  ", (_renamed(one), style))
    if len(listed) > SHOWN:
        screen.print((and_more(listed, SHOWN), "dim"))
    if relabelled := len(found) - len(listed):
        said = f"{counted(relabelled, 'topic')} {verb(relabelled)} called by other words of theirs now."
        screen.print((said, "dim"))


def _renamed(change: door.TopicChange) -> str:
    """The name, or both names; a path where the topic was moved."""
    one, other = change.before, change.after
    if one is None or other is None:
        return one_line(other.path) if other else f"{one_line(one.path if one else '')}, gone"
    if one.parent != other.parent:
        return f"{one_line(one.path)} → {one_line(other.path)}"
    return one_line(other.name) if one.name == other.name else f"{one_line(one.name)} → {one_line(other.name)}"


def _undo(screen: Screen, collection: door.Collection, *, dry: bool) -> None:
    before = door.topic_snapshot(collection.outline, collection)
    if dry:
        last = door.last_step(collection.generation)
        undone = door.step_text(last)
        with door.collection_before(collection, last) as then:
            found = door.topic_changes(before, door.topic_snapshot(then.outline, then))
    else:
        undone = door.undo_last(collection)
        found = door.topic_changes(before, door.topic_snapshot(collection.outline, collection))
    if screen.options.json:
        screen.json({"undone": undone, "dry_run": dry, "changes": [one.to_dict() for one in found]})
        return
    screen.print("Would be undone: " if dry else "Undone: ", (one_line(undone), "bold"))
    _show_changes(screen, found)
    screen.next("shape FOLDER --undo" if dry else "tree FOLDER", "shape FOLDER --log")


def _log(screen: Screen, collection: door.Collection) -> None:
    """Everything that was done, oldest first; what was taken back says so."""
    entries = door.all_steps(collection)
    undone = {entry.body["edit"] for entry in entries if entry.kind == door.UNDO}
    if screen.options.json:
        screen.json([
            {"number": entry.number, "time": entry.time, "kind": entry.kind, "what": door.step_text(entry),
             "undone": entry.number in undone}
            for entry in entries
        ])  # fmt: skip
        return
    for entry in entries:
        when = entry.time.replace("T", " ").removesuffix("+00:00")
        taken = "  (undone)" if entry.number in undone else ""
        screen.print(f"{entry.number:>4}  ", (f"{when}  ", "dim"), one_line(door.step_text(entry)), (taken, "dim"))
    screen.next("shape FOLDER --undo", "compare FOLDER --before")


def _words(screen: Screen, collection: door.Collection) -> None:
    """Which words belong to topics, which are ignored, and which are one."""
    outline = collection.outline
    united: dict[str, list[str]] = {}
    for spelling, word in outline.united.items():
        united.setdefault(word, []).append(spelling)
    if screen.options.json:
        seeds = [
            {"topic": topic, "name": outline.name(topic), "words": list(words)}
            for topic, words in outline.seeds.items()
        ]
        screen.json({"seeds": seeds, "ignored": list(outline.ignored), "united": united})
        return
    for topic, words in outline.seeds.items():
        screen.print(f"{topic:>4}  {one_line(outline.name(topic))}: ", (", ".join(words), "bold"))
    if outline.ignored:
        screen.print("Ignored: ", (", ".join(outline.ignored), "bold"))
    for word, spellings in united.items():
        screen.print(f"One word: {' = '.join((word, *spellings))}")
    if not (outline.seeds or outline.ignored or united):
        screen.print("Nothing was said of words.")
    screen.next("shape FOLDER seed TOPIC with WORD", "shape FOLDER forget WORD")


def _converse(screen: Screen, collection: door.Collection) -> None:
    """Read lines until there are no more. Edits show at once; the tree is fitted again when that is asked for."""
    folder = collection.folder.shown
    if sys.stdin.isatty():
        screen.say(f"{folder}: {counted(len(collection), 'document')}. Type an edit, or help; quit ends.")
        tree.show(screen, collection, collection.outline.root, tree.Options(folder=folder, depth=2))
    failed = 0
    for line in _lines():
        word, _, rest = line.partition(" ")
        if word in ("quit", "exit", "q"):
            break
        try:
            _answer_line(screen, collection, word, rest.strip(), line)
        except TopiaristError as error:
            failed += 1
            screen.notes.print(f"Error: {error}", soft_wrap=True, style=None)
    if collection.outline.pending:
        screen.say("\nThe tree was not fitted again yet.")
        screen.next("shape FOLDER --refit", "shape FOLDER --undo")
    else:
        screen.next("tree FOLDER", "shape FOLDER --log")
    if failed and not sys.stdin.isatty():
        raise SystemExit(LEFT_OUT)


def _answer_line(screen: Screen, collection: door.Collection, word: str, rest: str, line: str) -> None:
    """One line: a word of ours, or an edit."""
    folder = collection.folder.shown
    if word == "help":
        for form in (*door.EDIT_FORMS.values(), *OWN_WORDS.values()):
            screen.print(f"  {form}")
    elif word == "tree":
        top = collection.topic(rest) if rest else collection.outline.root
        tree.show(screen, collection, top, tree.Options(folder=folder))
    elif word == "show":
        show.show(screen, collection, show.Options(folder=folder, thing=rest))
    else:
        if word not in (*door.EDIT_KINDS, "undo", "refit"):
            hint = proposed(word, [*door.EDIT_KINDS, *OWN_WORDS])
            raise UsageError(f"there is nothing called {word!r} to do here", hint=hint)
        before = door.topic_snapshot(collection.outline, collection)
        if word == "undo":
            screen.print(f"Undone: {door.undo_last(collection)}")
        elif word == "refit":
            _apply(screen, collection, (), refit=True)
        else:
            _apply(screen, collection, (door.edit_of_line(line),), refit=False)
        _show_changes(screen, door.topic_changes(before, door.topic_snapshot(collection.outline, collection)))


def _lines() -> Iterator[str]:
    """Lines as they are typed, or as they come; empty ones and remarks are passed over."""
    if not sys.stdin.isatty():
        yield from (plain for line in sys.stdin if (plain := line.strip()) and not plain.startswith("#"))
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - arrows and history at the prompt
    while True:
        try:
            line = input(PROMPT).strip()
        except EOFError:
            print()
            return
        if line:
            yield line
