"""Command ``topiarist shape``: edit the tree and show the effect."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from topiarist.cli.commands import show, tree
from topiarist.cli.options import ALL_OPTIONS, WritingOptions, argument, examples, option
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_noun, describe_word_use, list_some, one_line
from topiarist.errors import TopiaristError, UsageError
from topiarist.text.spelling import format_proposals

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.shape.edits import Edit
    from topiarist.collection.shape.previews import TopicChange, TreeSnapshot
    from topiarist.collection.shape.words import WordUse

EPILOG = examples(
    "topiarist shape mail.topiary rename 12 'Bail and custody'",
    "topiarist shape mail.topiary group court trial prison as Justice",
    "topiarist shape mail.topiary seed Justice with bail custody --dry-run",
    "topiarist shape mail.topiary edits.yaml",
    "topiarist shape mail.topiary --undo",
    "topiarist shape mail.topiary --interactive",
)
WRITES = ALL_OPTIONS
FILES = (".yaml", ".yml", ".json")
MAX_LISTED = 20  # topics that changed
QUICK = 0.5  # seconds that nobody wants to know of
PROMPT = "shape> "
LEFT_OUT = 1
COMMANDS = ("tree [TOPIC]", "show TOPIC|DOCUMENT", "undo", "refit", "help", "quit")  # of a conversation, beside edits


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Edit the tree by a command or a file of edits.

    Rename, merge, group, split, move and delete topics, pin documents, grow branches, and choose words.
    """

    edits: list[str] | None = argument(
        None, "Edit, such as `rename 12 Bail`, or a .yaml or .json file.", "[EDIT…|FILE]"
    )
    dry_run: bool = option(False, "Print the effect without changing anything.")
    refit: bool | None = option(None, "Fit the tree again now. Default: if needed.", "--refit/--no-refit")
    undo: bool = option(False, "Undo the last step.")
    log: bool = option(False, "List all steps.")
    words: bool = option(False, "List the word edits: seeds, ignored words and merged spellings.")
    interactive: bool = option(False, "Read edits from a prompt.", "--interactive", "-i")


def run(options: Options) -> None:
    """Print the log or the word edits, undo, ask for edits, or apply them."""

    _check_options(options)
    with open_collection(options) as (screen, collection):
        if options.log:
            _print_log(screen, collection)
        elif options.words:
            _print_words(screen, collection)
        elif options.undo:
            _undo_last_step(screen, collection, dry=options.dry_run)
        elif options.interactive:
            _run_interactively(screen, collection)
        else:
            _run_edits(screen, collection, options)


def _check_options(options: Options) -> None:
    """Raise UsageError if options exclude each other."""
    requests = {
        "edits": options.edits, "--undo": options.undo, "--log": options.log, "--words": options.words,
        "--interactive": options.interactive,
    }  # fmt: skip
    actions = [name for name, value in requests.items() if value]
    if len(actions) > 1:
        raise UsageError(f"{' and '.join(actions)} cannot be used together", hint="Use them one after the other.")
    fit = {True: "--refit", False: "--no-refit", None: ""}[options.refit]
    if fit and (actions or fit == "--no-refit") and actions != ["edits"]:
        raise UsageError(
            f"{fit} requires edits{f', and cannot be used with {actions[0]}' if actions else ''}", hint=f"Omit {fit}."
        )
    if options.dry_run and (options.log or options.words or options.interactive):
        raise UsageError(
            f"--dry-run cannot be used with {actions[0]}", hint="Omit --dry-run, and revert the edit with --undo."
        )


def _read_edits(words: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits typed as words, or read them from a .yaml or .json file. Raise UsageError."""
    from topiarist.collection.shape.edit_language import parse_edit_words, read_edits

    if len(words) == 1 and words[0].lower().endswith(FILES):
        try:
            with open(words[0], encoding="utf-8-sig") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", "") or "not text"
            hint = "Pass a .yaml or .json file of edits."
            raise UsageError(f"cannot read {words[0]}: {reason.lower()}", hint=hint) from None
        return read_edits(text, format="json" if words[0].lower().endswith(".json") else "yaml")
    if len(words) == 1 and os.path.isfile(words[0]):
        raise UsageError(f"edits come from .yaml or .json files, got {words[0]}", hint="Use a file such as edits.yaml.")
    return (parse_edit_words(list(words)),)


def _run_edits(screen: Screen, collection: Collection, options: Options) -> None:
    """Apply or preview edits, or fit the tree again, and print the effect. Raise UsageError without edits."""
    from topiarist.collection.shape.edit_language import EDIT_FORMS
    from topiarist.collection.shape.history import preview_edits
    from topiarist.collection.shape.previews import take_snapshot
    from topiarist.collection.shape.words import find_word_uses

    if not options.edits and not options.refit:
        hint = f"Write an edit such as {EDIT_FORMS['rename']}, or use --interactive."
        raise UsageError(f"expected one action: {', '.join(EDIT_FORMS)}", hint=hint)
    edits = _read_edits(options.edits) if options.edits else ()
    before = take_snapshot(collection.outline, collection)
    shape, uses = preview_edits(collection, edits), find_word_uses(collection, edits)
    if options.refit and edits and not shape.pending:
        raise UsageError(
            "these edits need no fit, so --refit has no effect", hint="Make the edit first, then run --refit alone."
        )
    began = time.perf_counter()
    uses_after: Sequence[WordUse] = ()
    if not options.dry_run:
        _apply_edits(screen, collection, edits, refit=options.refit is not False)
        shape = collection.outline
        uses_after = () if shape.pending else find_word_uses(collection, edits)
    result = EditResult(edits, before, take_snapshot(shape, collection), shape.pending, uses, uses_after)
    if screen.options.json:
        screen.json({"edits": result.descriptions, "dry_run": options.dry_run, **result.to_dict()})
    else:
        _print_result(screen, result, is_dry=options.dry_run, seconds=time.perf_counter() - began)


def _apply_edits(screen: Screen, collection: Collection, edits: Sequence[Edit], *, refit: bool) -> None:
    """Apply edits. Fit the tree again if ``refit`` and the edits need it."""
    from topiarist.collection.shape.history import apply_edits, preview_edits

    needs = refit and (not edits or preview_edits(collection, edits).pending)
    if needs:
        with screen.waiting("Fitting the tree again"):
            apply_edits(collection, edits, refit=True)
    else:
        apply_edits(collection, edits, refit=False)


@dataclass(frozen=True)
class EditResult:
    """Effect of edits: the tree before and after, and the uses of words before and after a fit."""

    edits: Sequence[Edit]
    before: TreeSnapshot
    after: TreeSnapshot
    pending: bool
    uses: Sequence[WordUse]
    uses_after: Sequence[WordUse]

    @property
    def descriptions(self) -> list[str]:
        from topiarist.collection.shape.edit_language import format_edit

        return [format_edit(edit) for edit in self.edits]

    @property
    def n_topics(self) -> tuple[int, int]:
        """Numbers of topics without headings, before and after."""
        before, after = (
            len(side.keys() - {topic.parent for topic in side.values()}) for side in (self.before, self.after)
        )
        return before, after

    @property
    def changes(self) -> Sequence[TopicChange]:
        from topiarist.collection.shape.previews import compare_snapshots

        return compare_snapshots(self.before, self.after)

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as JSON data."""
        return {
            "pending": self.pending,
            "topics": dict(zip(("before", "after"), self.n_topics, strict=True)),
            "changes": [change.to_dict() for change in self.changes],
            "words": [use.to_dict() for use in self.uses],
        }


def _print_result(screen: Screen, result: EditResult, *, is_dry: bool, seconds: float) -> None:
    """Print the numbers of topics, the effect on words and topics, and the next commands."""
    n_edits = count_noun(len(result.edits), "edit")
    summary = f"{n_edits}{' that would be made' if is_dry else ''}" if result.edits else "Fitted again"
    took = f" {seconds:.1f} s." if seconds > QUICK and not is_dry else ""
    before, after = result.n_topics
    screen.print(f"{summary}: {count_noun(before, 'topic')} before, {after:,} after.{took}")
    pairs = [*zip_longest(result.uses, result.uses_after)]
    screen.list_items(pairs, MAX_LISTED, lambda pair: screen.print(f"  {one_line(describe_word_use(*pair))}"))
    _print_topic_changes(screen, result.changes)
    if result.pending:
        estimate = "The tree would be fitted again; sizes before that are estimates."
        screen.print((estimate if is_dry else "Not fitted again yet.", "yellow"))
    if is_dry:
        screen.print_next("shape FOLDER … without --dry-run")
    else:
        screen.print_next(*["shape FOLDER --refit"] * result.pending, "tree FOLDER", "shape FOLDER --undo")


def _print_topic_changes(screen: Screen, changes: Sequence[TopicChange]) -> None:
    """Print the sizes of changed topics before and after, then renamed topics in one line."""
    listed_changes = [change for change in changes if not change.has_only_new_words]
    if listed_changes:
        screen.print((f"\n{'before':>8}    {'after':>8}  {'id':>4}  topic", "dim"))
    screen.list_items(listed_changes, MAX_LISTED, lambda change: _print_change(screen, change), "{}")
    renamed = [
        f"#{change.topic} {change.before.name} → {change.after.name}"
        for change in changes
        if change.has_only_new_words and change.before and change.after
    ]
    if renamed:
        screen.print(f"Renamed ({len(renamed):,}): {list_some(renamed, MAX_LISTED)}")


def _print_change(screen: Screen, change: TopicChange) -> None:
    sizes = ["–" if side is None else f"{side.documents:,.0f}" for side in (change.before, change.after)]
    style = "green" if change.before is None else "red" if change.after is None else ""
    screen.cut(f"{sizes[0]:>8}  → {sizes[1]:>8}  {change.topic:>4}  ", (_describe_renaming(change), style))


def _describe_renaming(change: TopicChange) -> str:
    """Return the name of a topic before and after, with its path if it was moved."""
    old, other = change.before, change.after
    if old is None or other is None:
        return one_line(other.path) if other else f"{one_line(old.path if old else '')}, gone"
    if old.parent != other.parent:
        return f"{one_line(old.path)} → {one_line(other.path)}"
    return one_line(other.name) if old.name == other.name else f"{one_line(old.name)} → {one_line(other.name)}"


def _undo_last_step(screen: Screen, collection: Collection, *, dry: bool) -> None:
    """Revert the last step, or show its effect with ``dry``, and print the changed topics."""
    from topiarist.collection.shape.history import last_step, summarise_step, undo_last_step
    from topiarist.collection.shape.previews import compare_snapshots, take_snapshot
    from topiarist.collection.state import open_state_before

    snapshot_before = take_snapshot(collection.outline, collection)
    if dry:
        last = last_step(collection.generation)
        step = summarise_step(last)
        with open_state_before(collection, last) as then:
            changes = compare_snapshots(snapshot_before, take_snapshot(then.outline, then))
    else:
        step = undo_last_step(collection)
        changes = compare_snapshots(snapshot_before, take_snapshot(collection.outline, collection))
    if screen.options.json:
        screen.json({"undone": step, "dry_run": dry, "changes": [change.to_dict() for change in changes]})
        return
    screen.print("Would be undone: " if dry else "Undone: ", (one_line(step), "bold"))
    _print_topic_changes(screen, changes)
    screen.print_next("shape FOLDER --undo" if dry else "tree FOLDER", "shape FOLDER --log")


def _print_log(screen: Screen, collection: Collection) -> None:
    """Print the steps, newest first, with changes of names; undone steps are marked."""
    from topiarist.collection.shape.history import UNDO, summarise_step
    from topiarist.collection.shape.kept_names import NameChanges
    from topiarist.storage.edit_log import history

    entries = history(collection.generation.database)[::-1]
    undone_numbers = {entry.body["edit"] for entry in entries if entry.kind == UNDO}
    if screen.options.json:
        screen.json([
            {"number": entry.number, "time": entry.time, "kind": entry.kind, "what": summarise_step(entry),
             "undone": entry.number in undone_numbers, "name_changes": NameChanges.from_dict(entry.body).to_dict()}
            for entry in entries
        ])  # fmt: skip
        return
    for entry in entries:
        time = entry.time.replace("T", " ").removesuffix("+00:00")
        mark = "  (undone)" if entry.number in undone_numbers else ""
        screen.print(f"{entry.number:>4}  ", (f"{time}  ", "dim"), one_line(summarise_step(entry)), (mark, "dim"))
        for sentence in NameChanges.from_dict(entry.body).sentences:
            screen.print_hanging(f"      {one_line(sentence)}")
    screen.print_next("shape FOLDER --undo", "compare FOLDER --before")


def _print_words(screen: Screen, collection: Collection) -> None:
    """Print seed words, ignored words and united spellings."""
    outline = collection.outline
    united_words: dict[str, list[str]] = {}
    for spelling, word in outline.united.items():
        united_words.setdefault(word, []).append(spelling)
    seeds = [
        {"topic": topic, "name": outline.name(topic), "words": list(words)} for topic, words in outline.seeds.items()
    ]
    if screen.options.json:
        screen.json({"seeds": seeds, "ignored": list(outline.ignored), "united": united_words})
        return
    for topic, words in outline.seeds.items():
        screen.print(f"{topic:>4}  {one_line(outline.name(topic))}: ", (", ".join(words), "bold"))
    if outline.ignored:
        screen.print("Ignored: ", (", ".join(outline.ignored), "bold"))
    for word, spellings in united_words.items():
        screen.print(f"One word: {' = '.join((word, *spellings))}")
    if not (seeds or outline.ignored or united_words):
        screen.print("There are no word edits.")
    screen.print_next("shape FOLDER seed TOPIC with WORD", "shape FOLDER forget WORD")


def _run_interactively(screen: Screen, collection: Collection) -> None:
    """Read and answer lines until the end or quit. Edits apply at once; a fit is a command of its own."""
    folder = collection.folder.display_path
    if sys.stdin.isatty():
        screen.say(f"{folder}: {count_noun(len(collection), 'document')}. Type an edit, or help; quit ends.")
        tree.show(screen, collection, collection.outline.root, tree.Options(folder=folder, depth=2))
    failed = 0
    for line in _read_lines():
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
        screen.print_next("shape FOLDER --refit", "shape FOLDER --undo")
    else:
        screen.print_next("tree FOLDER", "shape FOLDER --log")
    if failed and not sys.stdin.isatty():
        raise SystemExit(LEFT_OUT)


def _answer_line(screen: Screen, collection: Collection, word: str, rest: str, line: str) -> None:
    """Run one typed command and print its result. Raise UsageError for an unknown one."""
    from topiarist.collection.shape.edit_language import EDIT_FORMS, parse_edit_line
    from topiarist.collection.shape.edits import EDIT_KINDS
    from topiarist.collection.shape.history import undo_last_step
    from topiarist.collection.shape.previews import compare_snapshots, take_snapshot

    folder = collection.folder.display_path
    if word == "help":
        screen.print("\n".join(f"  {form}" for form in (*EDIT_FORMS.values(), *COMMANDS)))
        return
    if word == "tree":
        top = collection.topic(rest) if rest else collection.outline.root
        tree.show(screen, collection, top, tree.Options(folder=folder))
        return
    if word == "show":
        show.show(screen, collection, show.Options(folder=folder, thing=rest))
        return
    if word not in (*EDIT_KINDS, "undo", "refit"):
        hint = format_proposals(word, [*EDIT_KINDS, *(form.split()[0] for form in COMMANDS)])
        raise UsageError(f"there is no action or edit called {word!r}", hint=hint)
    snapshot_before = take_snapshot(collection.outline, collection)
    if word == "undo":
        screen.print(f"Undone: {undo_last_step(collection)}")
    else:
        _apply_edits(screen, collection, () if word == "refit" else (parse_edit_line(line),), refit=word == "refit")
    _print_topic_changes(screen, compare_snapshots(snapshot_before, take_snapshot(collection.outline, collection)))


def _read_lines() -> Iterator[str]:
    """Yield typed lines. Without a terminal, yield lines of standard input without comments."""
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
