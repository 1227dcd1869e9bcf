"""Cards: what an object shows of itself in a notebook. Small, without a script, everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice

MOST_ROWS, MOST_ITEMS, MOST_LETTERS = 8, 40, 80  # that are shown
_BOX = "font:13px/1.45 system-ui,sans-serif;border:1px solid #8886;border-radius:6px;padding:.6em .9em;max-width:60em"


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
