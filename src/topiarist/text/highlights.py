"""Where in a text the words of a query are, as the full-text index would see them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from topiarist.text.characters import patterns
from topiarist.text.query import Query, folded
from topiarist.text.tokens import has_unspaced

_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")  # letters and digits, with accents that stand behind them
_APART = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))  # what parts words of plain letters

AROUND, BEFORE = 200, 40  # characters of a piece of text, and of what stands before its first match

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
    unspaced = [term.words for term in query.terms if not term.exclude and has_unspaced(term.words)]
    if unspaced:
        return _runs(text, unspaced, Query(tuple(one for one in query.terms if one.words not in unspaced)))
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


def _runs(text: str, runs: Sequence[str], others: Query) -> list[Span]:
    """Runs of letters wherever they stand, beside what else a query wants."""
    found = [one.span() for run in runs for one in re.finditer(re.escape(run), text, re.IGNORECASE)]
    return joined([*found, *spots(text, others)])


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


def forms(text: str, wanted: Collection[str], keys: Callable[[Sequence[str]], Sequence[str]]) -> list[Span]:
    """The places of words whose keys are wanted, in order; ``keys`` gives those of words in lower case."""
    if text.isascii():  # letters are where they were, and words are cut without an expression
        lower = text.lower()
        different = sorted(set(lower.translate(_APART).split()))
        good = {word for word, key in zip(different, keys(different), strict=True) if key in wanted}
        return [one.span() for one in _WORD.finditer(lower) if one[0] in good] if good else []
    found = [(one.span(), one[0].lower()) for one in _WORD.finditer(text)]
    different = sorted({word for _, word in found})
    good = {word for word, key in zip(different, keys(different), strict=True) if key in wanted}
    spans = [span for span, word in found if word in good]
    unspaced = [key for key in wanted if not key.isascii() and patterns().unspaced_run.fullmatch(key)]
    for key in unspaced:
        spans += [one.span() for one in re.finditer(re.escape(key), text, re.IGNORECASE)]
    return joined(spans) if unspaced else spans


def joined(spans: Sequence[Span]) -> list[Span]:
    """Spans in their order; those that touch or overlap are one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def snippet(text: str, spans: Sequence[Span]) -> Pieces:
    """The piece of a text with most different matches, in one line; its beginning where there are none."""
    start = 0
    if spans:
        most = 0
        for place, (first, _) in enumerate(spans[:200]):
            within = {text[one:end].lower() for one, end in spans[place : place + 40] if end <= first + AROUND - BEFORE}
            if len(within) > most:
                most, start = len(within), max(0, first - BEFORE)
    end = min(len(text), start + AROUND)
    if start and (gap := text.find(" ", start, start + BEFORE)) >= 0:
        start = gap + 1
    if end < len(text) and (gap := text.rfind(" ", end - BEFORE, end)) > start:
        end = gap
    pieces = [(" ".join(piece.split()), piece, match) for piece, match in cut(text[start:end], start, list(spans))]
    told = [(_spaced(line, piece), match) for line, piece, match in pieces]
    lead = [("… ", False)] if start else []
    return tuple(part for part in (*lead, *told, *([(" …", False)] if end < len(text) else [])) if part[0])


def _spaced(line: str, piece: str) -> str:
    """A line with a space where the piece had any at its ends."""
    if not line:
        return " " if piece else ""
    return f"{' ' * piece[0].isspace()}{line}{' ' * piece[-1].isspace()}"
