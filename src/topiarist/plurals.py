"""Numbers with their nouns and verbs, and lists that name some of many items."""

from __future__ import annotations

from collections.abc import Sequence


def count_noun(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: 1 leaf, 2,000 leaves."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def verb(number: int, singular: str = "is", plural: str = "are") -> str:
    """Return the verb that goes with a number."""
    return singular if number == 1 else plural


def list_some(items: Sequence[str], n_listed: int, *, rest: str = "") -> str:
    """Return the first items with commas, then ``rest`` or the number of further items."""
    others = (rest or f" and {len(items) - n_listed:,} more") if len(items) > n_listed else ""
    return ", ".join(items[:n_listed]) + others
