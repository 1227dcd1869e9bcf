"""The text of a document in pieces, each word with the level that it speaks from in this document."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import View
from topiarist.estimators.tree.abstraction import word_levels
from topiarist.text.highlights import Pieces, Span, cut

Array = np.ndarray[Any, Any]
MOST_WORDS = 5_000  # of a document on one page
TOPICS = 8  # colours; the rest is grey
SURE = 0.5  # below, a word is only underlined thinly
DEEPEST = 5  # level that has a colour of its own; deeper ones share it
LISTED = 40  # words of a level in the list
UNDERLINES = ("none", "dotted", "dashed", "solid", "double", "double")  # of the levels, as the style sheet has them


@dataclass(frozen=True)
class Piece:
    """A part of the text. ``level`` is None between words and for words that nobody counted."""

    text: str
    level: int | None = None
    kind: str = ""  # the class of its look: level, or topic, and certainty
    title: str = ""
    topic: int | None = None
    certainty: float = 0.0
    word: str = ""
    hits: Pieces = ()  # the text in parts, where a search has found some of them


@dataclass(frozen=True)
class Level:
    """A level, or with colours by topic a topic, in the legend: how much of the text speaks from it."""

    level: int
    name: str
    kind: str
    share: float
    address: str
    sign: str  # what says the same without colour: the style of the underline, or the number of the topic
    part: int = 1  # of a long document, the one with most of it
    densest: str = ""  # the address of that part


@dataclass(frozen=True)
class Said:
    """A word of a document: how often it occurs there, and where else it is at home."""

    word: str
    times: int
    address: str


@dataclass(frozen=True)
class Listed:
    """The words of a document that speak from one level, the most frequent first."""

    level: int
    name: str
    kind: str
    words: tuple[Said, ...]
    more: int


@dataclass(frozen=True)
class Coloured:
    """The pieces of one part of the text, and the legend for all of it."""

    pieces: tuple[Piece, ...]
    levels: tuple[Level, ...]
    words: int
    part: int
    parts: int
    listed: tuple[Listed, ...]


@dataclass(frozen=True)
class _Spoken:
    """What the model says of the words of one document: P(node | document, word) over the nodes that people see."""

    columns: dict[int, int]  # of the vocabulary, to rows
    nodes: Array
    levels: Array

    def of(self, column: int) -> tuple[int, int, float, float]:
        """Level and node of a word, and how sure they are."""
        row = self.columns[column]
        level, node = int(self.levels[row].argmax()), int(self.nodes[row].argmax())
        return level, node, float(self.levels[row, level]), float(self.nodes[row, node])


def spoken(view: View, row: int) -> _Spoken:
    """The levels and topics of every counted word of a document."""
    collection, model = view.collection, view.collection.tree_model
    counts = collection.counts[[row]]
    every = np.arange(len(model.tree))  # each node a level of its own
    found = word_levels(counts, model, collection.shares[[row]].toarray(), every).probabilities
    nodes = np.zeros((len(found), len(view.tree)))
    np.add.at(nodes.T, view.shown_nodes, found.T)
    depths = np.array(view.tree.depths)
    levels = np.zeros((len(found), depths.max() + 1))
    np.add.at(levels.T, depths, nodes.T)
    return _Spoken({column: place for place, column in enumerate(counts.indices.tolist())}, nodes, levels)


def coloured(
    view: View, row: int, text: str, *, by: str, only: int | None, part: int | None = None, found: Sequence[Span] = ()
) -> Coloured:
    """The text as it stands, in pieces; where no part is asked for, that with the first place that was found."""
    told, tokens = spoken(view, row), list(tokens_of(view, text))
    home = _home(view, row)
    parts = max(1, -(-len(tokens) // MOST_WORDS))
    if part is None:
        starts = [start for _, start, _, _ in tokens[MOST_WORDS::MOST_WORDS]]
        part = 1 + sum(start <= found[0][0] for start in starts) if found else 1
    part = min(part, parts)
    colours = _colours(view, told, tokens) if by == "topic" else {}
    look = partial(_piece, view, told, by, only, colours)
    chosen = tokens[(part - 1) * MOST_WORDS : part * MOST_WORDS]
    begin = here = 0 if part == 1 else chosen[0][1]
    end = len(text) if part == parts else tokens[part * MOST_WORDS][1]
    pieces: list[Piece] = []
    for word, start, stop, column in chosen:
        if start < here:  # pairs of characters of scripts without spaces overlap
            continue
        if start > here:
            pieces.append(Piece(text[here:start]))
        pieces.append(look(text[start:stop], word, column))
        here = stop
    if here < end:
        pieces.append(Piece(text[here:end]))
    named = _legend(view, told, tokens, home)
    levels = _topic_legend(view, told, tokens, colours) if by == "topic" else named
    shown = _marked(_joined(pieces), begin, found)
    return Coloured(tuple(shown), levels, len(tokens), part, parts, _listed(told, tokens, named))


def _home(view: View, row: int) -> int:
    """The topic with the largest share of a document."""
    shares = view.collection.shares[[row]].toarray()[0]
    return view.shape.class_nodes[int(shares.argmax())] if shares.any() else view.tree.root


def tokens_of(view: View, text: str) -> Iterator[tuple[str, int, int, int | None]]:
    """Words with their places and columns (−1: a general one, None: not counted); phrases in one piece."""
    counting = view.collection.counting
    phrases, words = set(counting.vocabulary.phrases), list(counting.settings.tokenizer.offsets(text))
    place = 0
    while place < len(words):
        word, start, end = words[place]
        place += 1
        if phrases and place < len(words) and f"{word} {words[place][0]}" in phrases:
            word, end, place = f"{word} {words[place][0]}", words[place][2], place + 1
        yield word, start, end, view.columns.get(word, -1 if word in view.general else None)


def _piece(
    view: View, told: _Spoken, by: str, only: int | None, colours: dict[int, int], text: str, word: str,
    column: int | None,
) -> Piece:  # fmt: skip
    if column is None or by == "none" or (column >= 0 and column not in told.columns):
        return Piece(text, word=word if column is not None else "")
    root = view.tree.root
    level, node, sure, at_node = told.of(column) if column >= 0 else (0, root, 1.0, 1.0)
    name = view.names[node]
    if by == "topic":
        colour = colours.get(node, 0)
        kind, certainty = f"t{colour}", at_node
    else:
        kind, certainty = f"l{min(level, DEEPEST)}", sure
        if only is not None and only != level:
            return Piece(text, word=word)
    kind += "" if certainty >= SURE else " unsure"
    title = f"{word}: level {level}, topic {name}, {certainty:.0%} certain"
    return Piece(text, level, kind, title, view.shape.topics[node], certainty, word)


def _joined(pieces: list[Piece]) -> Iterator[Piece]:
    """Plain pieces beside each other as one: pages are smaller."""
    plain = ""
    for piece in pieces:
        if not piece.kind:
            plain += piece.text
            continue
        if plain:
            yield Piece(plain)
            plain = ""
        yield piece
    if plain:
        yield Piece(plain)


def _marked(pieces: Iterator[Piece], here: int, found: Sequence[Span]) -> Iterator[Piece]:
    """Pieces with the places in them that were found."""
    left = deque(found)
    for piece in pieces:
        end = here + len(piece.text)
        while left and left[0][1] <= here:
            left.popleft()
        inside = list(takewhile(lambda span: span[0] < end, left))  # noqa: B023
        yield replace(piece, hits=cut(piece.text, here, inside)) if inside else piece
        here = end


def _amounts(told: _Spoken, tokens: list[Any], table: Array, root: int) -> Array:
    """How much of the counted text speaks from each level or node."""
    total = np.zeros(table.shape[1])
    for column, times in Counter(column for _, _, _, column in tokens if column is not None).items():
        if column < 0:
            total[root] += times
        elif column in told.columns:
            total += times * table[told.columns[column]]
    found: Array = total / max(total.sum(), 1e-300)
    return found


def _legend(view: View, told: _Spoken, tokens: list[Any], home: int) -> tuple[Level, ...]:
    """Levels by their names on the path of the document's largest topic."""
    shares, path = _amounts(told, tokens, told.levels, 0), view.tree.path(home)
    found, parts = [], _densest(told, tokens, told.levels, 0)
    for level, share in enumerate(shares.tolist()):
        node = path[level] if level < len(path) else None
        name = "general" if level == 0 else "deeper" if node is None else view.names[node]
        address = "" if node is None else addresses.topic(view.shape.topics[node])
        look = min(level, DEEPEST)
        found.append(Level(level, name, f"l{look}", share, address, UNDERLINES[look], parts[level]))
    return tuple(found)


def _densest(told: _Spoken, tokens: list[Any], table: Array, root: int) -> list[int]:
    """For each level or node the part of the text of which most speaks from it."""
    parts = [tokens[start : start + MOST_WORDS] for start in range(0, len(tokens), MOST_WORDS)]
    if len(parts) < 2:
        return [1] * table.shape[1]
    found: list[int] = (np.argmax([_amounts(told, part, table, root) for part in parts], axis=0) + 1).tolist()
    return found


def _listed(told: _Spoken, tokens: list[Any], levels: tuple[Level, ...]) -> tuple[Listed, ...]:
    """The counted words by the level that they speak from: what colours say, for those who do not see them."""
    counts = Counter((word, column) for word, _, _, column in tokens if column is not None)
    words: dict[int, list[Said]] = {}
    for (word, column), times in sorted(counts.items(), key=lambda one: (-one[1], one[0][0])):
        if column < 0 or column in told.columns:
            level = told.of(column)[0] if column >= 0 else 0
            words.setdefault(level, []).append(Said(word, times, addresses.word(word)))
    return tuple(
        Listed(one.level, one.name, one.kind, tuple(words[one.level][:LISTED]), max(len(words[one.level]) - LISTED, 0))
        for one in levels
        if one.level in words
    )


def _colours(view: View, told: _Spoken, tokens: list[Any]) -> dict[int, int]:
    """The topics that most of the text speaks from, numbered; the general language and the others stay grey."""
    shares = _amounts(told, tokens, told.nodes, view.tree.root)
    shares[view.tree.root] = 0.0
    best = np.argsort(-shares, kind="stable")[:TOPICS]
    return {int(node): place for place, node in enumerate(best, 1) if shares[node] > 0}


def _topic_legend(view: View, told: _Spoken, tokens: list[Any], colours: dict[int, int]) -> tuple[Level, ...]:
    shares, root = _amounts(told, tokens, told.nodes, view.tree.root), view.tree.root
    parts = _densest(told, tokens, told.nodes, root)
    found = [
        Level(
            view.tree.depths[node], view.names[node], f"t{colour}", float(shares[node]),
            addresses.topic(view.shape.topics[node]), str(colour), parts[node],
        )
        for node, colour in colours.items()
    ]  # fmt: skip
    rest = 1.0 - sum(level.share for level in found)
    name = "general" if len(found) < TOPICS else "general, and smaller topics"
    return (*found, Level(0, name, "t0", max(rest, 0.0), "", ""))
