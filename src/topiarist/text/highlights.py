"""Places of the words of a query in a text, by the rules of the full-text index."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from topiarist.text.characters import patterns
from topiarist.text.query import Query, fold_word
from topiarist.text.tokens import has_unspaced

_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+")  # letters and digits, with combining accents
# A translation table that turns the characters between ASCII words into spaces.
_ASCII_SEPARATORS = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))

SNIPPET_CHARACTERS, LEAD_CHARACTERS = 200, 40  # characters of an excerpt, and before its first match

Span = tuple[int, int]
Pieces = tuple[tuple[str, bool], ...]  # text, and whether it is a match; never HTML


def find_spans(text: str, query: Query) -> list[Span]:
    """Return the start and end of each word, prefix and phrase of a query, in order, no overlaps."""
    terms_by_first_word: dict[str, list[tuple[list[str], bool]]] = {}
    beginnings: list[tuple[list[str], bool]] = []
    for term in query.terms:
        words = [fold_word(match[0]) for match in _WORD.finditer(term.words)]
        if words and not term.exclude:
            is_single_prefix = term.prefix and len(words) == 1
            group = beginnings if is_single_prefix else terms_by_first_word.setdefault(words[0], [])
            group.append((words, term.prefix))
    unspaced_terms = [term.words for term in query.terms if not term.exclude and has_unspaced(term.words)]
    if unspaced_terms:
        others = Query(tuple(term for term in query.terms if term.words not in unspaced_terms))
        return _find_run_spans(text, unspaced_terms, others)
    if not terms_by_first_word and not beginnings:
        return []
    folded_words: dict[str, str] = {}
    words_in_text = [
        (*match.span(), folded_words.get(match[0]) or folded_words.setdefault(match[0], fold_word(match[0])))
        for match in _WORD.finditer(text)
    ]
    spans: list[Span] = []
    for place, (start, _, word) in enumerate(words_in_text):
        ends = [
            words_in_text[place + len(words) - 1][1]
            for words, prefix in (*terms_by_first_word.get(word, ()), *beginnings)
            if _matches_at([match for *_, match in words_in_text[place : place + len(words)]], words, prefix)
        ]
        if ends and (not spans or start >= spans[-1][1]):
            spans.append((start, max(ends)))
    return spans


def _find_run_spans(text: str, runs: Sequence[str], others: Query) -> list[Span]:
    """Return the start and end of runs of unspaced letters, and of the other query terms."""
    spans = [match.span() for run in runs for match in re.finditer(re.escape(run), text, re.IGNORECASE)]
    return merge_spans([*spans, *find_spans(text, others)])


def _matches_at(text_words: list[str], words: list[str], prefix: bool) -> bool:
    if len(text_words) != len(words) or text_words[:-1] != words[:-1]:
        return False
    return text_words[-1].startswith(words[-1]) if prefix else text_words[-1] == words[-1]


def split_at_spans(text: str, start: int, spans: list[Span]) -> Pieces:
    """Cut an excerpt that begins at ``start`` into parts inside and outside of spans."""
    end, position = start + len(text), start
    parts = []
    for first, last in spans:
        first, last = max(first, position), min(last, end)
        if first < last:
            parts += [(text[position - start : first - start], False), (text[first - start : last - start], True)]
            position = last
    parts.append((text[position - start :], False))
    return tuple(part for part in parts if part[0])


def find_form_spans(
    text: str, wanted_keys: Collection[str], keys: Callable[[Sequence[str]], Sequence[str]]
) -> list[Span]:
    """Return the start and end of words whose key is wanted; ``keys`` maps lower case to keys."""
    if text.isascii():  # lower case keeps places, and words are split without an expression
        lower = text.lower()
        distinct = sorted(set(lower.translate(_ASCII_SEPARATORS).split()))
        matching = {word for word, key in zip(distinct, keys(distinct), strict=True) if key in wanted_keys}
        return [match.span() for match in _WORD.finditer(lower) if match[0] in matching] if matching else []
    words_in_text = [(match.span(), match[0].lower()) for match in _WORD.finditer(text)]
    distinct = sorted({word for _, word in words_in_text})
    matching = {word for word, key in zip(distinct, keys(distinct), strict=True) if key in wanted_keys}
    spans = [span for span, word in words_in_text if word in matching]
    unspaced_keys = [key for key in wanted_keys if not key.isascii() and patterns().unspaced_run.fullmatch(key)]
    for key in unspaced_keys:
        spans += [match.span() for match in re.finditer(re.escape(key), text, re.IGNORECASE)]
    return merge_spans(spans) if unspaced_keys else spans


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """Sort spans, and merge those that touch or overlap."""
    merged_spans: list[Span] = []
    for start, end in sorted(spans):
        if merged_spans and start <= merged_spans[-1][1]:
            merged_spans[-1] = (merged_spans[-1][0], max(end, merged_spans[-1][1]))
        else:
            merged_spans.append((start, end))
    return merged_spans


def build_snippet(text: str, spans: Sequence[Span]) -> Pieces:
    """Return the excerpt of a text with the most different matches; its beginning without a match."""
    start = 0
    if spans:
        n_best = 0
        for place, (first, _) in enumerate(spans[:200]):
            limit = first + SNIPPET_CHARACTERS - LEAD_CHARACTERS
            matches = {text[begin:end].lower() for begin, end in spans[place : place + 40] if end <= limit}
            if len(matches) > n_best:
                n_best, start = len(matches), max(0, first - LEAD_CHARACTERS)
    end = min(len(text), start + SNIPPET_CHARACTERS)
    if start and (gap := text.find(" ", start, start + LEAD_CHARACTERS)) >= 0:
        start = gap + 1
    if end < len(text) and (gap := text.rfind(" ", end - LEAD_CHARACTERS, end)) > start:
        end = gap
    pieces = [
        (" ".join(piece.split()), piece, match) for piece, match in split_at_spans(text[start:end], start, list(spans))
    ]
    parts_with_spaces = [(_restore_outer_spaces(line, piece), match) for line, piece, match in pieces]
    lead = [("… ", False)] if start else []
    return tuple(part for part in (*lead, *parts_with_spaces, *([(" …", False)] if end < len(text) else [])) if part[0])


def _restore_outer_spaces(line: str, piece: str) -> str:
    """Return a line with a space at each end where the excerpt has white space."""
    if not line:
        return " " if piece else ""
    return f"{' ' * piece[0].isspace()}{line}{' ' * piece[-1].isspace()}"
