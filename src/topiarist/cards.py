"""Cards: what an object shows of itself in a notebook. Small, without a script, everything escaped."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from itertools import islice
from typing import Any

MOST_ROWS, MOST_ITEMS, MOST_LETTERS = 8, 40, 80  # that are shown
_BOX = "font:13px/1.45 system-ui,sans-serif;border:1px solid #8886;border-radius:6px;padding:.6em .9em;max-width:60em"


_BAR = "height:.5em;max-width:30em;margin:.4em 0;background:#8884;border-radius:3px"
EVERY = 0.2  # seconds between two pictures of something that moves


@dataclass(frozen=True)
class Item:
    """An item of a nested list: what it is called, what stands beside it, and how deep it is."""

    text: str
    beside: str = ""
    depth: int = 0


def card(
    title: str,
    facts: Mapping[str, object] | None = None,
    *,
    items: Iterable[Item] = (),
    header: Sequence[str] = (),
    rows: Iterable[Sequence[object]] = (),
    note: str = "",
) -> str:
    """A card with a title, facts in a line, a nested list, a table, and a note at its end."""
    told = " · ".join(f"{_text(name)}: <b>{_text(value)}</b>" for name, value in (facts or {}).items())
    parts = [f"<div><b>{_text(title)}</b></div>", f"<div>{told}</div>" if told else "", _list(items)]
    parts += [_table(header, rows), f'<div style="opacity:.7">{_text(note)}</div>' if note else ""]
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def in_notebook() -> bool:
    """Whether a notebook shows what is displayed. IPython is asked only where somebody has loaded it."""
    loaded = sys.modules.get("IPython")
    shell: Any = None if loaded is None else loaded.get_ipython()
    return getattr(shell, "kernel", None) is not None


class LiveCard:
    """A card in the output of a notebook's cell that keeps changing while something is done: how far it is."""

    def __init__(self, title: str) -> None:
        self.title, self.done, self._began, self._drawn = title, list[Item](), time.monotonic(), 0.0
        self._now = ""
        self._shown: Any = None

    def show(self, now: str, share: float | None = None, *, at_once: bool = False) -> None:
        """What is done now, and how much of it, where that is known; not more often than an eye follows."""
        self._now, before = now, self._drawn
        if not at_once and before and time.monotonic() - before < EVERY:
            return
        self._drawn = time.monotonic()
        self._display(self._html(share))

    def step(self, said: str) -> None:
        """Something is done, and stays told."""
        self.done.append(Item(said, f"{time.monotonic() - self._began:.0f} s"))

    def close(self) -> None:
        """All is done."""
        self._now = ""
        self._display(self._html(None))

    def _html(self, share: float | None) -> str:
        drawn = card(self.title, items=self.done, note=self._now)
        if share is None:
            return drawn
        width = f"width:{100 * min(max(share, 0.0), 1.0):.0f}%;height:100%;background:#3a7"
        return f'{drawn}<div style="{_BAR}"><div style="{width}"></div></div>'

    def _display(self, html: str) -> None:
        known: Any = import_module("IPython.display")
        if self._shown is None:
            self._shown = known.display(known.HTML(html), display_id=True)
        else:
            self._shown.update(known.HTML(html))


def _list(items: Iterable[Item]) -> str:
    shown = list(islice(items, MOST_ITEMS + 1))
    lines = [
        f'<div style="padding-left:{1.2 * one.depth:.1f}em">{_text(one.text)} <span style="opacity:.7">'
        f"{_text(one.beside)}</span></div>"
        for one in shown[:MOST_ITEMS]
    ]
    return "".join(lines) + ("<div>…</div>" if len(shown) > MOST_ITEMS else "")


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    if not header:
        return ""
    shown = list(islice(rows, MOST_ROWS))
    head = "".join(f'<th style="text-align:left">{_text(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in shown)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    """A value as text that is nothing but text: one line, not too long."""
    said = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    said = f"{value:.4g}" if isinstance(value, float) else said
    line = "".join(sign if sign.isprintable() else " " for sign in said)
    return escape(line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 1]}…")
