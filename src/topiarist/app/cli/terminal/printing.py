"""Small things that all commands print."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.app.cli.terminal.console import Console
    from topiarist.collection.describe.topic_tree import TopicTree

MOST_LINES = 100  # of a tree whose depth nobody asked for
NARROWEST = 32


def one_line(text: str) -> str:
    """A title without line breaks or control characters: what a file says must not move the cursor."""
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))


def counted(number: int, thing: str, things: str = "") -> str:
    """A number and what is counted: 1 leaf, 2,000 leaves."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def speaks_unicode() -> bool:
    """Whether standard output can show any sign."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def typed_command() -> str:
    """The program as it can be typed again: a path where it is not on the search path."""
    typed = sys.argv[0]
    return typed if os.path.basename(typed) == "topiarist" else "topiarist"


def print_json(record: dict[str, Any], counts: Any, seconds: float) -> None:
    """One JSON document: a result, how reading went (None: the bundled collection), how long it took."""
    record = record | {"seconds": round(seconds, 3)}
    if counts is not None:
        record["reading"] = asdict(counts)
    print(json.dumps(record, indent=2, ensure_ascii=not speaks_unicode()))


def available_commands() -> set[str]:
    """The commands that can be typed."""
    from topiarist.app.cli.commands import app

    return {info.name or str(info.callback and info.callback.__name__) for info in app.registered_commands}


def print_tree(console: Console, found: TopicTree, n_words: int | None = None, depth: int | None = None) -> None:
    """A tree with its words and sizes, as wide as the terminal is; as it is in a pipe."""
    from rich.text import Text

    from topiarist.hierarchy.outline import levels_within

    width = max(NARROWEST, console.width) if console.is_terminal else None
    depth = levels_within(found.tree, MOST_LINES) if depth is None else depth
    for line in found.lines(width, n_words, depth, ascii=not speaks_unicode()):
        parts = ((line.branch, "dim"), (line.first, "bold"), line.rest, line.space, (line.size, "dim"))
        console.print(Text.assemble(*parts), soft_wrap=True)
