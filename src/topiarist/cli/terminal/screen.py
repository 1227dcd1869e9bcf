"""Output of commands: results to standard output, notes and next commands to standard error."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from rich.text import Text

from topiarist.cli.options import FolderOptions
from topiarist.cli.terminal.console import Console, print_json, speaks_unicode, typed_command
from topiarist.display.formats import and_more, one_line

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

T = TypeVar("T")
NARROWEST, WIDEST = 40, 120  # columns of a terminal that are used
BAR = "▇"
PLACES = re.compile(r"\bFOLDER\b|\{\}")


class Screen:
    """Output streams of a command; the width is None if standard output is no terminal."""

    def __init__(self, options: FolderOptions) -> None:
        """Open the output streams and measure the terminal."""
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

    def print_hanging(self, line: str, indent: int = 3) -> None:
        """Print a paragraph whose further lines are indented."""
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
        """Print one line, cut at the width of the terminal."""
        text = Text.assemble(*parts)
        if self.width is not None:
            text.truncate(self.width, overflow="ellipsis")
        self._line(text)

    def share(self, lead: str, share: float, *parts: str | tuple[str, str] | Text) -> None:
        """Print a line with a bar of eight columns after its beginning."""
        self.cut(lead, (f"{bar(share, 8):<8}", "green"), *parts)

    def fact(self, name: str, value: str, detail: str = "") -> None:
        """Print a name with its value."""
        self.print((f"{one_line(name)}: ", "dim"), value, (detail, "dim"))

    def print_titled(self, lead: str, title: str, id: str) -> None:
        """Print a document on one line: its title can be cut, its id never."""
        tail = f"  {one_line(id)}"
        room = (self.width or 0) - self._columns(lead + tail)
        self._line(Text.assemble(lead, self.shorten(title or id, room), (tail, "dim")))

    def _line(self, text: Text) -> None:
        text.rstrip()
        self.out.print(text, soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print a section title after an empty line."""
        self._line(Text())
        self._line(Text(text.upper(), style="bold dim"))

    def json(self, body: Any) -> None:
        print_json(body)

    def say(self, *parts: str | tuple[str, str] | Text) -> None:
        """Print a note."""
        self.notes.print(Text.assemble(*parts), soft_wrap=not self.notes.is_terminal)

    def list_items(self, items: Sequence[T], number: int, show: Callable[[T], object], more: str = "  {}") -> None:
        """Show the first items, then print the number of the others; ``more`` is its format."""
        for item in items[:number]:
            show(item)
        if len(items) > number:
            self.print((more.format(and_more(items, number)), "dim"))

    def say_items(self, lines: Sequence[str], number: int) -> None:
        """Print the first lines as notes, and the number of the others."""
        for line in [*lines[:number], and_more(lines, number)]:
            if line:
                self.say(f"  {line}")

    def format_command(self, command: str, *values: object) -> str:
        """Return a command as a shell line, with the folder for FOLDER and quoted values for ``{}``."""
        waiting = iter(values)

        def fill_in(place: re.Match[str]) -> str:
            return shlex.quote(one_line(str(self.options.folder if place[0] == "FOLDER" else next(waiting))))

        return f"{typed_command()} {PLACES.sub(fill_in, command)}"

    def print_next(self, *commands: str | tuple[object, ...]) -> None:
        """Print up to three next commands to standard error; ``{}`` stands for a quoted value."""
        self.notes.print()
        for lead, command in zip(("Next:  ", " " * 7, " " * 7), commands, strict=False):
            form, *values = (command,) if isinstance(command, str) else command
            self.notes.print(Text(lead + self.format_command(str(form), *values)), soft_wrap=True)

    def shorten(self, text: str, room: int) -> str:
        """Return a text in one line, shortened to ``room`` columns on a terminal."""
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
def open_collection(options: FolderOptions) -> Iterator[tuple[Screen, Collection]]:
    """Open the collection of a command, with the screen that the command prints to."""
    from topiarist.collection.collection import Collection

    with Collection.open(options.folder) as collection:
        yield Screen(options), collection


def bar(share: float, width: int = 10) -> str:
    """Return a bar of a maximum width; a positive share has at least one cell."""
    return BAR * (max(1, round(width * min(share, 1.0))) if share > 0 else 0)
