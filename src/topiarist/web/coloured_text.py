"""Text of a document in pieces, each word with its level."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, takewhile

import numpy as np

from topiarist.arrays import TINY
from topiarist.collection.classify.word_labels import WordLabels
from topiarist.collection.describe.text_levels import (
    Token,
    WordPosterior,
    compute_word_posterior,
    iter_tokens,
    mark_uncounted,
)
from topiarist.display.locale.catalogues import Share, translate
from topiarist.storage.marks import PassageNote
from topiarist.text.highlights import Pieces, Span, split_at_spans
from topiarist.text.repeated import spans
from topiarist.web import addresses
from topiarist.web.view import View

MAX_WORDS = 5_000  # of a document on one page
TOPICS = 8  # colours; the rest is grey
MIN_CERTAINTY = 0.5  # below, a word is only underlined thinly
DEEPEST = 5  # level that has a colour of its own; deeper ones share it
REPEATED_LINE = "uncounted"
REPEATED_LINE_TITLE = "repeated line, not counted"
TITLE = "{word}: level {level}, topic {topic}, {certainty} certain"
MAX_DECIDING, MOST_EVIDENCE = 8, 0.5  # deciding words at most, and the share of the evidence that they carry at most
MIN_LEAD, CLEAR = 0.1, 0.75  # lead of a label over an even share, for its colour; certainty without a thin line
MAX_LISTED_WORDS = 40  # words of a level in the list
TELLING = 40  # own words of a topic that are worth marking in a text that is read
UNDERLINES = ("none", "dotted", "dashed", "solid", "double", "double")  # of the levels, as the style sheet has them


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Piece of the text; ``level`` is None for words that are not counted."""

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
    decides: bool = False  # whether it is one of the words that decide between the two best topics
    telling: int = 0  # for a word that sets the topics of the document apart: the heading that these lie under


REPEATED = Piece(text="", kind=REPEATED_LINE)  # the look of a repeated line


@dataclass(frozen=True, kw_only=True)
class Level:
    """Entry of the legend: a level or a topic, with its share of the text."""

    level: int
    name: str
    kind: str
    share: float
    address: str
    sign: str  # what says the same without colour: the style of the underline, or the number of the topic
    part: int = 1  # of a long document, the one with most of it
    densest: str = ""  # the address of that part


@dataclass(frozen=True)
class DocumentWord:
    """Word of a document, with its number of occurrences."""

    word: str
    times: int
    address: str


@dataclass(frozen=True)
class DecidingWord:
    """Word that speaks for the topic of a document rather than for the second best topic."""

    word: str
    share: float  # of all evidence for the topic
    address: str


@dataclass(frozen=True)
class Decision:
    """The few words of a document that decide between its two best topics."""

    sentence: str
    words: tuple[DecidingWord, ...]


@dataclass(frozen=True)
class Listed:
    """Words of a document on one level, the most frequent first."""

    level: int
    name: str
    kind: str
    words: tuple[DocumentWord, ...]
    more: int


@dataclass(frozen=True)
class ColouredText:
    """Pieces of one part of a text, with the legend of the whole text."""

    pieces: tuple[Piece, ...]
    levels: tuple[Level, ...]
    words: int
    part: int
    parts: int
    listed: tuple[Listed, ...]
    decision: Decision | None = None
    uncounted: int = 0  # lines that many documents share
    starts: tuple[int, ...] = ()  # where the parts after the first begin in the text

    def part_of(self, place: int) -> int:
        return 1 + sum(start <= place for start in self.starts)


def colour_text(
    view: View,
    row: int,
    text: str,
    *,
    by: str,
    selected_level: int | None,
    part: int | None = None,
    matches: Sequence[Span] = (),
    notes: Sequence[PassageNote] = (),
    at: Sequence[int] = (),
    word_labels: WordLabels | None = None,
) -> ColouredText:
    """Return one section of the text in pieces with its legend, by default with the first match."""
    grey = spans(text, view.collection.counting.repeated.forms)
    values, tokens = compute_word_posterior(view, row), list(mark_uncounted(iter_tokens(view, text), grey))
    parts = max(1, -(-len(tokens) // MAX_WORDS))
    starts = tuple(start for _, start, _, _ in tokens[MAX_WORDS::MAX_WORDS])
    if part is None:
        first = next(iter((*at, *(start for start, _ in matches))), 0)
        part = 1 + sum(start <= first for start in starts)
    part = min(part, parts)
    colours = values.largest_nodes(tokens, view.tree.root, TOPICS) if by == "topic" else {}
    decision = find_decision(view, row)
    deciding = frozenset(view.columns[item.word] for item in decision.words) if decision else frozenset()
    look = partial(
        _create_piece, view, values, by, selected_level, colours, _find_characteristic_columns(view, row), deciding
    )
    part_tokens = tokens[(part - 1) * MAX_WORDS : part * MAX_WORDS]
    begin = 0 if part == 1 else part_tokens[0][1]
    end = len(text) if part == parts else tokens[part * MAX_WORDS][1]
    words: Iterator[tuple[int, int, Piece]] = (
        (start, stop, look(text[start:stop], word, column)) for word, start, stop, column in part_tokens
    )
    looks = [(max(start, begin), min(stop, end), REPEATED) for start, stop in grey if start < end and stop > begin]
    if word_labels is not None:
        words = _iter_labelled_words(word_labels, text, begin, end)
    looks += [item for item in words if item[2].kind]
    pieces = _mark_matches(_mark_notes(_fill(text, begin, end, looks), begin, notes), begin, matches)
    named = _list_levels(view, values, tokens, view.largest_class(row))
    levels = _list_topic_levels(view, values, tokens, colours) if by == "topic" else named
    if word_labels is not None:
        levels = _list_label_levels(word_labels)
    lines = sum(1 + text.count("\n", *span) for span in grey)
    sentence = _list_words(values, tokens, named)
    return ColouredText(
        tuple(pieces),
        levels,
        len(tokens),
        part,
        parts,
        listed=sentence,
        decision=decision,
        uncounted=lines,
        starts=starts,
    )


def _fill(text: str, begin: int, end: int, looks: list[tuple[int, int, Piece]]) -> Iterator[Piece]:
    """Yield coloured pieces and the plain text between them, without overlapping pieces."""
    position = begin
    for start, stop, piece in sorted(looks, key=lambda look: look[0]):
        if start < position:  # pairs of characters of scripts without spaces overlap
            continue
        if start > position:
            yield Piece(text=text[position:start])
        title = translate(REPEATED_LINE_TITLE) if piece is REPEATED else piece.title
        yield replace(piece, text=text[start:stop], title=title)
        position = stop
    if position < end:
        yield Piece(text=text[position:end])


def _mark_notes(pieces: Iterator[Piece], position: int, notes: Sequence[PassageNote]) -> Iterator[Piece]:
    """Yield pieces; each passage with a note is one piece. The later of two notes wins."""
    edges, open_notes = sorted({place for item in notes for place in (item.start, item.end)}), set[int]()
    for piece in pieces:
        end = position + len(piece.text)
        cuts = [position, *(edge for edge in edges if position < edge < end), end]
        for first, last in pairwise(cuts):
            over = [item.passage for item in notes if item.start <= first and last <= item.end]
            text = piece.text[first - position : last - position]
            new = tuple(item for item in over if item not in open_notes)
            open_notes.update(new)
            yield replace(piece, text=text, note=over[-1] if over else 0, begins=new) if notes else piece
        position = end


def _create_piece(
    view: View,
    posterior: WordPosterior,
    by: str,
    selected_level: int | None,
    colours: dict[int, int],
    telling: frozenset[int],
    deciding: frozenset[int],
    text: str,
    word: str,
    column: int | None,
) -> Piece:
    """Return a word as a piece with its colour, title and topic; without colour if the view hides it."""
    if column is None or by == "none" or (column >= 0 and column not in posterior.rows):
        return Piece(text=text, word=word if column is not None else "")
    root = view.tree.root
    level, node, sure, at_node = posterior.of(column) if column >= 0 else (0, root, 1.0, 1.0)
    name = view.names[node]
    if by == "topic":
        colour = colours.get(node, 0)
        kind, certainty = f"t{colour}", at_node
    else:
        kind, certainty = f"l{min(level, DEEPEST)}", sure
        if selected_level is not None and selected_level != level:
            return Piece(text=text, word=word)
    kind += "" if certainty >= MIN_CERTAINTY else " unsure"
    title = translate(TITLE, word=word, level=level, topic=name, certainty=Share(certainty))
    return Piece(
        text=text,
        level=level,
        kind=kind,
        title=title,
        topic=view.shape.topics[node],
        certainty=certainty,
        word=word,
        decides=column in deciding,
        telling=view.branches[node] if column in telling and certainty >= MIN_CERTAINTY else 0,
    )


def _iter_labelled_words(word_labels: WordLabels, text: str, begin: int, end: int) -> Iterator[tuple[int, int, Piece]]:
    """Yield words that favour one label, as pieces in its colour with start and end."""
    labels = word_labels.labels[:TOPICS]
    for item in word_labels.words:
        if item.start < begin or item.end > end or item.label >= len(labels):
            continue
        if item.probability < 1 / len(word_labels.labels) + MIN_LEAD:
            continue
        title = translate(
            "{word}: label {label}, {certainty} certain",
            word=item.word, label=labels[item.label].name, certainty=Share(item.probability),
        )  # fmt: skip
        kind = f"t{item.label + 1}" + ("" if item.probability >= CLEAR else " unsure")
        piece = Piece(
            text=text[item.start : item.end], kind=kind, title=title, certainty=item.probability, word=item.word
        )
        yield item.start, item.end, piece


def _list_label_levels(word_labels: WordLabels) -> tuple[Level, ...]:
    """Return the labels of a document as entries of the legend."""
    return tuple(
        Level(
            level=0, name=label.name, kind=f"t{number}", share=label.share, sign=str(number),
            address=addresses.labelled_documents(label.name),
        )
        for number, label in enumerate(word_labels.labels[:TOPICS], 1)
    )  # fmt: skip


def find_decision(view: View, row: int) -> Decision | None:
    """Return the words that decide between the two best topics of a document; None without two topics.

    The evidence of a word is n log P(w | best) / P(w | second). Listed are the strongest words, until the others would
    no longer prefer the best topic, or until they carry most of the evidence.
    """
    collection, placer = view.collection, view.collection.placer
    counts, shares = collection.counts[[row]], collection.shares[[row]].toarray()[0].astype(float)
    class_nodes = np.asarray(view.shape.class_nodes)
    if not counts.nnz or len(np.unique(class_nodes)) < 2:
        return None
    by_word = np.log(np.maximum(placer.by_word[counts.indices].astype(float), TINY))
    likelihood = counts.data @ by_word
    weights = shares + 1e-9 * np.exp((likelihood - likelihood.max()) / max(counts.data.sum(), 1.0))  # ranks the rest
    by_node = np.bincount(class_nodes, weights, minlength=len(view.tree))
    best, second = (int(node) for node in np.argsort(-by_node, kind="stable")[:2])
    first_class, second_class = (
        max(np.flatnonzero(class_nodes == node), key=lambda place: weights[place]) for node in (best, second)
    )
    evidence = counts.data * (by_word[:, first_class] - by_word[:, second_class])
    total, positive = float(evidence.sum()), float(np.maximum(evidence, 0.0).sum())
    words, amount = list[DecidingWord](), 0.0
    for place in np.argsort(-evidence, kind="stable")[:MAX_DECIDING]:
        if evidence[place] <= 0 or (words and (amount >= MOST_EVIDENCE * positive or amount >= total > 0)):
            break
        amount += float(evidence[place])
        word = collection.counting.vocabulary.words[int(counts.indices[place])]
        words.append(DecidingWord(word, float(evidence[place]) / positive, addresses.word(word)))
    first, other = view.names[best], view.names[second]
    sentence = translate("These words speak most for {first} and against {second}.", first=first, second=other)
    if amount >= total > 0:
        sentence = translate("Without these words, {second} would be as likely as {first}.", first=first, second=other)
    return Decision(sentence, tuple(words)) if words else None


def _find_characteristic_columns(view: View, row: int) -> frozenset[int]:
    """Return the columns of characteristic words of the topics on the path of a document."""
    words = (word for node in view.tree.path(view.largest_class(row))[1:] for word, _ in view.own_words(node, TELLING))
    return frozenset(view.columns[word] for word in words if word in view.columns)


def _mark_matches(pieces: Iterator[Piece], position: int, matches: Sequence[Span]) -> Iterator[Piece]:
    """Yield pieces with the matches of a query marked in them."""
    left = deque(matches)
    for piece in pieces:
        end = position + len(piece.text)
        while left and left[0][1] <= position:
            left.popleft()
        inside = list(takewhile(lambda span: span[0] < end, left))  # noqa: B023
        yield replace(piece, hits=split_at_spans(piece.text, position, inside)) if inside else piece
        position = end


def _list_levels(view: View, posterior: WordPosterior, tokens: list[Token], main_node: int) -> tuple[Level, ...]:
    """Return the levels as entries of the legend, named by the path to the largest topic."""
    shares, path = posterior.amounts(tokens, posterior.levels, 0), view.tree.path(main_node)
    result, parts = [], posterior.densest(_divide_tokens(tokens), posterior.levels, 0)
    for level, share in enumerate(shares.tolist()):
        node = path[level] if level < len(path) else None
        name = translate("general") if level == 0 else translate("deeper") if node is None else view.names[node]
        address = "" if node is None else addresses.topic(view.shape.topics[node])
        look = min(level, DEEPEST)
        result.append(
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
    return tuple(result)


def _divide_tokens(tokens: list[Token]) -> list[list[Token]]:
    """Return the tokens in sections of ``MAX_WORDS``."""
    return [tokens[start : start + MAX_WORDS] for start in range(0, len(tokens), MAX_WORDS)]


def _list_words(posterior: WordPosterior, tokens: list[Token], levels: tuple[Level, ...]) -> tuple[Listed, ...]:
    """Return the words of each level with their counts, the most frequent first."""
    counts = Counter((word, column) for word, _, _, column in tokens if column is not None)
    words: dict[int, list[DocumentWord]] = {}
    for (word, column), times in sorted(counts.items(), key=lambda one: (-one[1], one[0][0])):
        if column < 0 or column in posterior.rows:
            level = posterior.of(column)[0] if column >= 0 else 0
            words.setdefault(level, []).append(DocumentWord(word, times, addresses.word(word)))
    return tuple(
        Listed(
            one.level,
            one.name,
            one.kind,
            tuple(words[one.level][:MAX_LISTED_WORDS]),
            max(len(words[one.level]) - MAX_LISTED_WORDS, 0),
        )
        for one in levels
        if one.level in words
    )


def _list_topic_levels(
    view: View, posterior: WordPosterior, tokens: list[Token], colours: dict[int, int]
) -> tuple[Level, ...]:
    """Return the largest topics of a document as entries of the legend, then the rest as one entry."""
    shares, root = posterior.amounts(tokens, posterior.nodes, view.tree.root), view.tree.root
    parts = posterior.densest(_divide_tokens(tokens), posterior.nodes, root)
    result = [
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
    rest = 1.0 - sum(level.share for level in result)
    name = translate("general" if len(result) < TOPICS else "general words and smaller topics")
    return (*result, Level(level=0, name=name, kind="t0", share=max(rest, 0.0), address="", sign=""))
