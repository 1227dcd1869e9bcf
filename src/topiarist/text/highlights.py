"""Where in a text the words of a query are, as the full-text index would see them."""

from __future__ import annotations

import re

from topiarist.text.query import Query, folded

_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")  # letters and digits, with accents that stand behind them

Span = tuple[int, int]
Pieces = tuple[tuple[str, bool], ...]  # text, and whether it is a match; never HTML


def spots(text: str, query: Query) -> list[Span]:
    """The places of words, beginnings and phrases that a query wants, in order; none overlaps another."""
    wanted: dict[str, list[tuple[list[str], bool]]] = {}
    beginnings: list[tuple[list[str], bool]] = []
    for term in query.terms:
        words = [folded(found[0]) for found in _WORD.finditer(term.words)]
        if words and not term.exclude:
            alone = term.prefix and len(words) == 1
            (beginnings if alone else wanted.setdefault(words[0], [])).append((words, term.prefix))
    if not wanted and not beginnings:
        return []
    known: dict[str, str] = {}
    found = [
        (*one.span(), known.get(one[0]) or known.setdefault(one[0], folded(one[0]))) for one in _WORD.finditer(text)
    ]
    spans: list[Span] = []
    for place, (start, _, word) in enumerate(found):
        ends = [
            found[place + len(words) - 1][1]
            for words, prefix in (*wanted.get(word, ()), *beginnings)
            if _here([one for *_, one in found[place : place + len(words)]], words, prefix)
        ]
        if ends and (not spans or start >= spans[-1][1]):
            spans.append((start, max(ends)))
    return spans


def _here(said: list[str], words: list[str], prefix: bool) -> bool:
    if len(said) != len(words) or said[:-1] != words[:-1]:
        return False
    return said[-1].startswith(words[-1]) if prefix else said[-1] == words[-1]


def cut(text: str, start: int, spans: list[Span]) -> Pieces:
    """A piece of a text that begins at ``start``, cut where spans begin and end; whether each part lies in one."""
    end, here = start + len(text), start
    parts = []
    for first, last in spans:
        first, last = max(first, here), min(last, end)
        if first < last:
            parts += [(text[here - start : first - start], False), (text[first - start : last - start], True)]
            here = last
    parts.append((text[here - start :], False))
    return tuple(part for part in parts if part[0])
