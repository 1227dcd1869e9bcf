"""Cards: representations of objects in a notebook. They are small, without scripts, with all text escaped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

MAX_ROWS, MAX_ITEMS, MAX_LETTERS = 8, 40, 80  # maximum numbers shown
_BOX = "font:13px/1.45 system-ui,sans-serif;border:1px solid #8886;border-radius:6px;padding:.6em .9em;max-width:60em"
_BAR = "height:.5em;max-width:30em;margin:.4em 0;background:#8884;border-radius:3px"


@dataclass(frozen=True)
class Item:
    """Item of a nested list: its text, a detail, and its depth."""

    text: str
    detail: str = ""
    depth: int = 0


def render_card(
    title: str,
    facts: Mapping[str, object] | None = None,
    *,
    items: Iterable[Item] = (),
    header: Sequence[str] = (),
    rows: Iterable[Sequence[object]] = (),
    note: str = "",
    share: float | None = None,
) -> str:
    """Return the HTML of a card: a title, facts in a line, a nested list, a table, a note and a bar of progress."""
    facts_line = " · ".join(
        f"{_escape_text(name)}: <b>{_escape_text(value)}</b>" for name, value in (facts or {}).items()
    )
    width = None if share is None else f"width:{100 * min(max(share, 0.0), 1.0):.0f}%;height:100%;background:#3a7"
    parts = [
        f"<div><b>{_escape_text(title)}</b></div>",
        f"<div>{facts_line}</div>" if facts_line else "",
        _render_list(items),
        _render_table(header, rows),
        f'<div style="opacity:.7">{_escape_text(note)}</div>' if note else "",
        f'<div style="{_BAR}"><div style="{width}"></div></div>' if width else "",
    ]
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def is_notebook() -> bool:
    """Return whether output is shown in a notebook; IPython is asked only if it is loaded."""
    loaded = sys.modules.get("IPython")
    shell: Any = None if loaded is None else loaded.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _render_list(items: Iterable[Item]) -> str:
    first_items = list(islice(items, MAX_ITEMS + 1))
    lines = [
        f'<div style="padding-left:{1.2 * item.depth:.1f}em">{_escape_text(item.text)} <span style="opacity:.7">'
        f"{_escape_text(item.detail)}</span></div>"
        for item in first_items[:MAX_ITEMS]
    ]
    return "".join(lines) + ("<div>…</div>" if len(first_items) > MAX_ITEMS else "")


def _render_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    if not header:
        return ""
    first_rows = list(islice(rows, MAX_ROWS))
    head = "".join(f'<th style="text-align:left">{_escape_text(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_escape_text(cell)}</td>" for cell in row) + "</tr>" for row in first_rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _escape_text(value: object) -> str:
    """Return a value as one line of escaped text of limited length."""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    text = f"{value:.4g}" if isinstance(value, float) else text
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    return escape(line if len(line) <= MAX_LETTERS else f"{line[: MAX_LETTERS - 1]}…")
