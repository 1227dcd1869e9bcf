"""``topiarist shape --interactive``: edit after edit, at a prompt or from the lines of a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from topiarist.app.cli.commands import show, tree
from topiarist.app.cli.commands.shape import applied, changes, show_changes, snapshot
from topiarist.app.cli.terminal.printing import counted
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.cli.using_options import ShowOptions, TreeOptions
from topiarist.collection.collection import Collection
from topiarist.collection.shape import changes as shaping
from topiarist.collection.shape.edit_language import WORDS, edit_of_line
from topiarist.collection.shape.edits import KINDS
from topiarist.errors import TopiaristError, UsageError
from topiarist.hierarchy.node_lookup import nearest

PROMPT = "shape> "
LEFT_OUT = 1
OWN = {
    "tree": "tree [TOPIC]", "show": "show TOPIC|DOCUMENT", "undo": "undo", "refit": "refit", "help": "help",
    "quit": "quit",
}  # fmt: skip


def converse(screen: Screen, collection: Collection) -> None:
    """Read lines until there are no more. Edits show at once; the tree is fitted again when that is asked for."""
    folder = collection.folder.shown
    if sys.stdin.isatty():
        screen.say(f"{folder}: {counted(len(collection), 'document')}. Type an edit, or help; quit ends.")
        tree.show(screen, collection, collection.outline.root, TreeOptions(folder=folder, depth=2))
    failed = 0
    for line in _lines():
        word, _, rest = line.partition(" ")
        if word in ("quit", "exit", "q"):
            break
        try:
            _do(screen, collection, word, rest.strip(), line)
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


def _do(screen: Screen, collection: Collection, word: str, rest: str, line: str) -> None:
    """One line: a word of ours, or an edit."""
    folder = collection.folder.shown
    if word == "help":
        for form in (*WORDS.values(), *OWN.values()):
            screen.print(f"  {form}")
    elif word == "tree":
        top = collection.topic(rest) if rest else collection.outline.root
        tree.show(screen, collection, top, TreeOptions(folder=folder))
    elif word == "show":
        show.show(screen, collection, ShowOptions(folder=folder, thing=rest))
    else:
        if word not in (*KINDS, "undo", "refit"):
            raise UsageError(f"there is nothing called {word!r} to do here", hint=nearest(word, [*KINDS, *OWN]))
        before = snapshot(collection.outline, collection)
        if word == "undo":
            screen.print(f"Undone: {shaping.undo(collection)}")
        elif word == "refit":
            applied(screen, collection, (), refit=True)
        else:
            applied(screen, collection, (edit_of_line(line),), refit=False)
        show_changes(screen, changes(before, snapshot(collection.outline, collection)))


def _lines() -> Iterator[str]:
    """Lines as they are typed, or as they come; empty ones and remarks are passed over."""
    if not sys.stdin.isatty():
        yield from (plain for line in sys.stdin if (plain := line.strip()) and not plain.startswith("#"))
        return
    import contextlib

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
