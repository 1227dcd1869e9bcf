"""The text of a document in pieces, each word with the level that it speaks from in this document."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, takewhile

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Share, worded
from topiarist.collection import Spoken, Token, spoken, tokens_of
from topiarist.store.marks import PassageNote
from topiarist.text.highlights import Pieces, Span, cut
from topiarist.text.repeated import spans

MOST_WORDS = 5_000  # of a document on one page
TOPICS = 8  # colours; the rest is grey
SURE = 0.5  # below, a word is only underlined thinly
DEEPEST = 5  # level that has a colour of its own; deeper ones share it
UNCOUNTED = "uncounted"
UNCOUNTED_SAID = "a line that many documents share: not counted"
TITLE = "{word}: level {level}, topic {topic}, {certainty} certain"
LISTED = 40  # words of a level in the list
TELLING = 40  # own words of a topic that are worth marking in a text that is read
UNDERLINES = ("none", "dotted", "dashed", "solid", "double", "double")  # of the levels, as the style sheet has them


@dataclass(frozen=True, kw_only=True)
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
    note: int = 0  # on the passage that it is of
    begins: tuple[int, ...] = ()  # notes on passages of which it is the first piece here
    telling: int = 0  # for a word that sets the topics of the document apart: the heading that these lie under


@dataclass(frozen=True, kw_only=True)
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
    uncounted: int = 0  # lines that many documents share
    starts: tuple[int, ...] = ()  # where the parts after the first begin in the text

    def part_of(self, place: int) -> int:
        """The part that a place of the text is in."""
        return 1 + sum(start <= place for start in self.starts)


def coloured(
    view: View,
    row: int,
    text: str,
    *,
    by: str,
    only: int | None,
    part: int | None = None,
    found: Sequence[Span] = (),
    notes: Sequence[PassageNote] = (),
    at: Sequence[int] = (),
) -> Coloured:
    """The text as it stands, in pieces; where no part is asked for, that with the first place that was found."""
    grey = spans(text, view.collection.counting.repeated.forms)
    told, tokens = spoken(view, row), list(_counted(tokens_of(view, text), grey))
    parts = max(1, -(-len(tokens) // MOST_WORDS))
    starts = tuple(start for _, start, _, _ in tokens[MOST_WORDS::MOST_WORDS])
    if part is None:
        first = next(iter((*at, *(start for start, _ in found))), 0)
        part = 1 + sum(start <= first for start in starts)
    part = min(part, parts)
    colours = told.largest_nodes(tokens, view.tree.root, TOPICS) if by == "topic" else {}
    look = partial(_piece, view, told, by, only, colours, _telling(view, row))
    chosen = tokens[(part - 1) * MOST_WORDS : part * MOST_WORDS]
    begin = here = 0 if part == 1 else chosen[0][1]
    end = len(text) if part == parts else tokens[part * MOST_WORDS][1]
    pieces: list[Piece] = []
    for word, start, stop, column in chosen:
        if start < here:  # pairs of characters of scripts without spaces overlap
            continue
        if start > here:
            pieces.append(Piece(text=text[here:start]))
        pieces.append(look(text[start:stop], word, column))
        here = stop
    if here < end:
        pieces.append(Piece(text=text[here:end]))
    named = _legend(view, told, tokens, view.largest_class(row))
    levels = _topic_legend(view, told, tokens, colours) if by == "topic" else named
    shown = _marked(_noted(_greyed(_joined(pieces), begin, grey), begin, notes), begin, found)
    lines = sum(1 + text.count("\n", *span) for span in grey)
    said = _listed(told, tokens, named)
    return Coloured(tuple(shown), levels, len(tokens), part, parts, listed=said, uncounted=lines, starts=starts)


def _counted(tokens: Iterator[Token], grey: Sequence[Span]) -> Iterator[Token]:
    """The words of a text; those of lines that many documents share are not counted."""
    left = deque(grey)
    for word, start, end, column in tokens:
        while left and left[0][1] <= start:
            left.popleft()
        yield word, start, end, None if left and left[0][0] <= start else column


def _greyed(pieces: Iterator[Piece], here: int, grey: Sequence[Span]) -> Iterator[Piece]:
    """Pieces, lines that many documents share being pieces of their own: no counted word is in them."""
    for piece in pieces:
        start, end = here, here + len(piece.text)
        for first, last in grey if not piece.kind else ():
            if first < end and start < last:
                if start < first:
                    yield Piece(text=piece.text[start - here : first - here])
                start, first = min(last, end), max(start, first)
                yield Piece(text=piece.text[first - here : start - here], kind=UNCOUNTED, title=worded(UNCOUNTED_SAID))
        if start < end:
            yield replace(piece, text=piece.text[start - here :])
        here = end


def _noted(pieces: Iterator[Piece], here: int, notes: Sequence[PassageNote]) -> Iterator[Piece]:
    """Pieces, those of passages that have a note being pieces of their own; of two notes on a word the later begun."""
    edges, begun = sorted({place for one in notes for place in (one.start, one.end)}), set[int]()
    for piece in pieces:
        end = here + len(piece.text)
        cuts = [here, *(edge for edge in edges if here < edge < end), end]
        for first, last in pairwise(cuts):
            over = [one.passage for one in notes if one.start <= first and last <= one.end]
            text = piece.text[first - here : last - here]
            new = tuple(one for one in over if one not in begun)
            begun.update(new)
            yield replace(piece, text=text, note=over[-1] if over else 0, begins=new) if notes else piece
        here = end


def _piece(
    view: View,
    told: Spoken,
    by: str,
    only: int | None,
    colours: dict[int, int],
    telling: frozenset[int],
    text: str,
    word: str,
    column: int | None,
) -> Piece:
    if column is None or by == "none" or (column >= 0 and column not in told.rows):
        return Piece(text=text, word=word if column is not None else "")
    root = view.tree.root
    level, node, sure, at_node = told.of(column) if column >= 0 else (0, root, 1.0, 1.0)
    name = view.names[node]
    if by == "topic":
        colour = colours.get(node, 0)
        kind, certainty = f"t{colour}", at_node
    else:
        kind, certainty = f"l{min(level, DEEPEST)}", sure
        if only is not None and only != level:
            return Piece(text=text, word=word)
    kind += "" if certainty >= SURE else " unsure"
    title = worded(TITLE, word=word, level=level, topic=name, certainty=Share(certainty))
    return Piece(
        text=text,
        level=level,
        kind=kind,
        title=title,
        topic=view.shape.topics[node],
        certainty=certainty,
        word=word,
        telling=view.branches[node] if column in telling and certainty >= SURE else 0,
    )


def _telling(view: View, row: int) -> frozenset[int]:
    """The columns of the words that set the topics of a document apart from others."""
    words = (word for node in view.tree.path(view.largest_class(row))[1:] for word, _ in view.own_words(node, TELLING))
    return frozenset(view.columns[word] for word in words if word in view.columns)


def _joined(pieces: list[Piece]) -> Iterator[Piece]:
    """Plain pieces beside each other as one: pages are smaller."""
    plain = ""
    for piece in pieces:
        if not piece.kind:
            plain += piece.text
            continue
        if plain:
            yield Piece(text=plain)
            plain = ""
        yield piece
    if plain:
        yield Piece(text=plain)


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


def _legend(view: View, told: Spoken, tokens: list[Token], home: int) -> tuple[Level, ...]:
    """Levels by their names on the path of the document's largest topic."""
    shares, path = told.amounts(tokens, told.levels, 0), view.tree.path(home)
    found, parts = [], told.densest(_parts(tokens), told.levels, 0)
    for level, share in enumerate(shares.tolist()):
        node = path[level] if level < len(path) else None
        name = worded("general") if level == 0 else worded("deeper") if node is None else view.names[node]
        address = "" if node is None else addresses.topic(view.shape.topics[node])
        look = min(level, DEEPEST)
        found.append(
            Level(
                level=level,
                name=name,
                kind=f"l{look}",
                share=share,
                address=address,
                sign=UNDERLINES[look],
                part=parts[level],
            )
        )
    return tuple(found)


def _parts(tokens: list[Token]) -> list[list[Token]]:
    return [tokens[start : start + MOST_WORDS] for start in range(0, len(tokens), MOST_WORDS)]


def _listed(told: Spoken, tokens: list[Token], levels: tuple[Level, ...]) -> tuple[Listed, ...]:
    """The counted words by the level that they speak from: what colours say, for those who do not see them."""
    counts = Counter((word, column) for word, _, _, column in tokens if column is not None)
    words: dict[int, list[Said]] = {}
    for (word, column), times in sorted(counts.items(), key=lambda one: (-one[1], one[0][0])):
        if column < 0 or column in told.rows:
            level = told.of(column)[0] if column >= 0 else 0
            words.setdefault(level, []).append(Said(word, times, addresses.word(word)))
    return tuple(
        Listed(one.level, one.name, one.kind, tuple(words[one.level][:LISTED]), max(len(words[one.level]) - LISTED, 0))
        for one in levels
        if one.level in words
    )


def _topic_legend(view: View, told: Spoken, tokens: list[Token], colours: dict[int, int]) -> tuple[Level, ...]:
    shares, root = told.amounts(tokens, told.nodes, view.tree.root), view.tree.root
    parts = told.densest(_parts(tokens), told.nodes, root)
    found = [
        Level(
            level=view.tree.depths[node],
            name=view.names[node],
            kind=f"t{colour}",
            share=float(shares[node]),
            address=addresses.topic(view.shape.topics[node]),
            sign=str(colour),
            part=parts[node],
        )
        for node, colour in colours.items()
    ]
    rest = 1.0 - sum(level.share for level in found)
    name = worded("general" if len(found) < TOPICS else "general, and smaller topics")
    return (*found, Level(level=0, name=name, kind="t0", share=max(rest, 0.0), address="", sign=""))
