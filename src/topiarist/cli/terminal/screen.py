"""Output of commands: results to standard output, notes and next commands to standard error."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.text import Text

from topiarist.cli.options import FolderOptions
from topiarist.cli.terminal.console import Console, print_json, speaks_unicode, typed_command
from topiarist.display.formats import one_line

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

NARROWEST, WIDEST = 40, 120  # columns of a terminal that are used
BAR = "▇"
PLACES = re.compile(r"\bFOLDER\b|\{\}")


class Screen:
    """Output streams of a command; the width is None if standard output is no terminal."""

    def __init__(self, options: FolderOptions) -> None:
        self.options = options
        self.out = Console(highlight=False, markup=False)
        self.notes = Console(stderr=True, quiet=options.quiet, highlight=False, markup=False)
        self.width = max(NARROWEST, min(WIDEST, self.out.width)) if self.out.is_terminal else None
        self.ascii = not speaks_unicode()

    def print(self, *parts: str | tuple[str, str] | Text, indent: int = 0) -> None:
        """Print a paragraph: wrapped at words on a terminal, one line elsewhere."""
        text = Text.assemble(*parts)
        if self.width is None or self._columns(text.plain) + indent <= self.width:
            self._line(Text(" " * indent) + text)
            return
        for line in text.wrap(self.out, self.width - indent):
            line.rstrip()
            self._line(Text(" " * indent) + line)

    def hanging(self, line: str, indent: int = 3) -> None:
        """A line that goes on below its own beginning, and not at the edge."""
        if self.width is None:  # a file or another program: lines are as long as they are
            self._line(Text(line))
            return
        lead = line[: len(line) - len(line.lstrip())]
        room = self.width - len(lead) - indent
        first, *rest = textwrap.wrap(line.strip(), max(room, NARROWEST // 2)) or [""]
        self._line(Text(lead + first))
        for part in rest:
            self._line(Text(lead + " " * indent + part))

    def cut(self, *parts: str | tuple[str, str] | Text) -> None:
        """One line, cut where the screen ends."""
        text = Text.assemble(*parts)
        if self.width is not None:
            text.truncate(self.width, overflow="ellipsis")
        self._line(text)

    def share(self, lead: str, share: float, *parts: str | tuple[str, str] | Text) -> None:
        """One line with a bar of eight columns behind its beginning."""
        self.cut(lead, (f"{bar(share, 8):<8}", "green"), *parts)

    def titled(self, lead: str, title: str, id: str) -> None:
        """Print a document on one line: its title can be cut, its id never."""
        tail = f"  {one_line(id)}"
        room = (self.width or 0) - self._columns(lead + tail)
        self._line(Text.assemble(lead, self.fits(title or id, room), (tail, "dim")))

    def _line(self, text: Text) -> None:
        text.rstrip()
        self.out.print(text, soft_wrap=True)

    def heading(self, text: str) -> None:
        """The title of a part, with an empty line before it."""
        self._line(Text())
        self._line(Text(text.upper(), style="bold dim"))

    def json(self, body: Any) -> None:
        print_json(body)

    def say(self, *parts: str | tuple[str, str] | Text) -> None:
        self.notes.print(Text.assemble(*parts), soft_wrap=not self.notes.is_terminal)

    def typed(self, command: str, *values: object) -> str:
        """A command as it can be typed: the folder and each value, which may be anything, in quotes for ``{}``."""
        waiting = iter(values)
        return (
            typed_command()
            + " "
            + PLACES.sub(
                lambda place: shlex.quote(
                    one_line(str(self.options.folder if place[0] == "FOLDER" else next(waiting)))
                ),
                command,
            )
        )

    def next(self, *commands: str | tuple[object, ...]) -> None:
        """Print the next commands; ``{}`` stands for a value that is filled in."""
        lead = "Next:  "
        self.notes.print()
        for number, command in enumerate(commands[:3]):
            form, *values = (command,) if isinstance(command, str) else command
            line = self.typed(str(form), *values)
            self.notes.print(Text((lead if not number else " " * len(lead)) + line), soft_wrap=True)

    def fits(self, text: str, room: int) -> str:
        """Print text without line breaks, cut to the columns of a terminal."""
        from topiarist.trees.tree_text import shorten

        plain = one_line(text)
        return plain if self.width is None else shorten(plain, max(room, 1), "..." if self.ascii else "…")

    def _columns(self, text: str) -> int:
        from topiarist.trees.tree_text import count_columns  # loads numbers, which --help does not need

        return count_columns(text)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show that a step takes time: a spinner on a terminal, a line elsewhere."""
        if self.options.quiet:
            yield
        elif self.notes.is_terminal:
            with self.notes.status(text):
                yield
        else:
            self.say(f"{text} …")
            yield


@contextmanager
def opened(options: FolderOptions) -> Iterator[tuple[Screen, Collection]]:
    """Open the collection of a command, with the screen that the command prints to."""
    from topiarist.collection.collection import Collection

    with Collection.open(options.folder) as collection:
        yield Screen(options), collection


def bar(share: float, width: int = 10) -> str:
    """Return a bar of a maximum width; a positive share has at least one cell."""
    return BAR * (max(1, round(width * min(share, 1.0))) if share > 0 else 0)
