"""A closer look: the words of a topic, and a document word by word. What the command line and the explorer show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.collection.contents import Counting
from topiarist.collection.copies import CopiesOf, copies_of
from topiarist.collection.describe.voices import Voices, voices
from topiarist.collection.find.search import Place
from topiarist.collection.passages import Whole, summed_up, whole_of
from topiarist.estimators.tree import abstraction
from topiarist.hierarchy.levels import node_posterior
from topiarist.store.marks import PassageNote
from topiarist.text.documents import Document
from topiarist.text.repeated import spans as repeated_spans
from topiarist.text.stems import stems
from topiarist.text.stop_words import resolve_stop_words

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

REST = 0.01  # shares below it are summed up
GHOSTS = 6  # words of a level that a document might have said


@dataclass(frozen=True)
class TopicWord:
    """A word of a topic's own: P(word|topic), how far that exceeds what is above it, and who has it.

    ``special`` is 1 − P(word|above)/P(word|topic): 1 for a word that nothing above explains, 0 for one that is as
    frequent above.
    """

    word: str
    probability: float
    special: float
    documents: int


@dataclass(frozen=True)
class Level:
    """A level of a document's path: its topic (−1: gone by an edit), and the share of the words that it explains."""

    topic: int
    name: str
    share: float
    absent: tuple[str, ...]  # expected there, and not said


@dataclass(frozen=True)
class Mark:
    """A word in the text: where, which, and at which level it is at home, with what probability."""

    start: int
    end: int
    word: str
    level: int
    probability: float


@dataclass(frozen=True)
class Look:
    """A document as the tree reads it."""

    row: int
    document: Document
    tags: tuple[str, ...]
    places: tuple[Place, ...]  # topics with more than a hundredth of it, the largest first
    levels: tuple[Level, ...]  # from the root down to its place
    marks: tuple[Mark, ...]  # of the text
    pinned: int | None  # the topic that people put it to
    repeated: tuple[tuple[int, int], ...] = ()  # where in the text lines are that are not counted
    copies: tuple[CopiesOf, ...] = ()  # the document and its copies, if there are any
    columns: dict[str, list[str]] = field(default_factory=dict)  # what else is known of it, as it was given
    given_date: str = ""  # as it was given, where it is written otherwise
    notes: tuple[PassageNote, ...] = ()  # on passages of its text
    voices: Voices | None = None  # which of words and vector decided, where it has both


def topic_words(collection: Collection, topic: int, n: int = 12, *, likely: bool = False) -> tuple[TopicWord, ...]:
    """The words of a topic: those that set it apart, or with ``likely`` the most probable ones."""
    outline, fitted, known = collection.outline, collection.tree_model, collection.counting.vocabulary
    nodes = list(outline.model_nodes(topic))
    if not nodes:
        return ()
    weight = fitted.node_weight()
    own = np.average(fitted.word_given_node[nodes].astype(np.float64), axis=0, weights=weight[nodes] + 1e-300)
    parents = [fitted.tree.parents[node] for node in nodes if fitted.tree.parents[node] >= 0]
    above = fitted.word_given_node[parents].mean(axis=0) if parents else own
    special = np.clip(1.0 - above / np.maximum(own, 1e-300), 0.0, 1.0)
    order = np.argsort(-own if likely or not parents else -own * special, kind="stable")
    told = () if likely else collection.tree.nodes[outline.node(topic)].words
    listed = [known.columns[word] for word in told if word in known.columns][:n]
    chosen = [*listed, *(column for column in order[: 2 * n].tolist() if column not in set(listed))][:n]
    frequency = np.diff(collection.counts[:, chosen].tocsc().indptr) if chosen else ()
    return tuple(
        TopicWord(known.words[column], float(own[column]), float(special[column]), int(number))
        for column, number in zip(chosen, frequency, strict=True)
    )


def look(collection: Collection, id: str) -> Look:
    """Read a document with the eyes of the tree."""
    row = collection.documents.row_of(id)
    document = collection.documents.get(row)
    outline, fitted, counts = collection.outline, collection.tree_model, collection.counts[[row]]
    shares = collection.shares[[row]].toarray().astype(np.float64)
    columns, level, probability = abstraction.word_levels(counts, fitted, shares).document(0)
    places = {int(column): place for place, column in enumerate(columns)}
    ghosts = abstraction.ghost_words(counts, fitted, shares, GHOSTS)[0][0]
    told: Any = np.zeros(fitted.tree.depth + 1)
    marks = []
    repeated = repeated_spans(document.text, collection.counting.repeated.forms)
    for start, end, word, column in spans(document.text, collection.counting):
        if any(first <= start < last for first, last in repeated):
            continue
        if column is None:
            marks.append(Mark(start, end, word, 0, 1.0))
            told[0] += 1
        elif column in places:
            own = probability[places[column]]
            marks.append(Mark(start, end, word, int(level[places[column]]), float(own.max())))
            told += own
    path = fitted.tree.path(fitted.class_nodes[int(shares[0].argmax())])
    words, total = collection.counting.vocabulary.words, max(float(told.sum()), 1e-300)
    levels = tuple(
        Level(
            outline.node_topics[node], _name(collection, outline.node_topics[node]), float(told[step] / total),
            tuple(words[column] for column in ghosts[step] if column >= 0) if step else (),
        )
        for step, node in enumerate(path)
    )  # fmt: skip
    return Look(
        row, document, collection.marks.tags_of([row])[0], all_places(collection, shares)[0], levels, tuple(marks),
        outline.pins.get(document.id), tuple(repeated), copies_of(collection, row),
        collection.columns.of([row]).get(row, {}), collection.dates.given([row]).get(row, ""),
        collection.passage_notes.of([row]).get(row, ()), voices(collection, row),
    )  # fmt: skip


@dataclass(frozen=True)
class WholeLook:
    """A document that is kept in passages: what is known of it, its topics over all passages, and where each lies."""

    whole: Whole
    document: Document  # its first passage, with its own id and title, and without a text
    places: tuple[Place, ...]  # topics with more than a hundredth of its words, the largest first
    lying: tuple[Place, ...]  # of each passage, the topic under which most of it is

    def passages_under(self, topic: int) -> int:
        """How many passages lie under a topic."""
        return sum(place.topic == topic for place in self.lying)


def look_at_whole(collection: Collection, id: str) -> WholeLook | None:
    """A whole document, by its id or that of a passage; None for one that was not cut."""
    whole = whole_of(collection, id)
    if whole is None:
        return None
    first = collection.documents.many(whole.rows[:1], texts=False)[0]
    document = replace(first, id=whole.id, title=whole.title)
    shares = summed_up(collection, [whole]).toarray().astype(np.float64)
    every = all_places(collection, collection.shares[whole.rows].toarray().astype(np.float64))
    lying = tuple(places[0] if places else Place(collection.outline.root, (), 1.0) for places in every)
    return WholeLook(whole, document, all_places(collection, shares)[0], lying)


def all_places(collection: Collection, shares: Any, least: float = REST) -> list[tuple[Place, ...]]:
    """The topics of which each document has at least so much, the largest first: those of classes, not above them."""
    outline = collection.outline
    nodes = node_posterior(outline.tree, outline.class_nodes, shares)
    ends = sorted(set(outline.class_nodes))
    own = nodes[:, ends] - np.stack([nodes[:, list(outline.tree.children(node))].sum(axis=1) for node in ends], axis=1)
    found = []
    for row in own:
        chosen = [place for place in np.argsort(-row, kind="stable") if row[place] >= least]
        found.append(
            tuple(
                Place(outline.topics[ends[place]], outline.tree.path_names(ends[place])[1:], float(row[place]))
                for place in chosen
            )
        )
    return found


def spans(text: str, counting: Counting) -> Iterator[tuple[int, int, str, int | None]]:
    """The known words of a text: where they stand, and their columns; None for general ones, which have none."""
    columns, general = _columns(counting), frozenset(counting.general)
    phrases, stop_words = frozenset(counting.vocabulary.phrases), resolve_stop_words(counting.settings.stop_words)
    tokens = list(counting.settings.tokenizer.offsets(text))
    place = 0
    while place < len(tokens):
        word, start, end = tokens[place]
        place += 1
        if phrases and place < len(tokens):
            other, other_start, other_end = tokens[place]
            if f"{word} {other}" in phrases and _adjacent(text, end, other_start):
                word, end, place = f"{word} {other}", other_end, place + 1
        if word in general:
            yield start, end, word, None
        elif word not in stop_words and (column := counting.column(columns(word))) is not None:
            yield start, end, word, column


def _adjacent(text: str, end: int, start: int) -> bool:
    return not any(character.isalnum() for character in text[end:start])


def _columns(counting: Counting) -> Any:
    """From a word to its column, by its stem where words were stemmed."""
    known, language = counting.vocabulary, counting.settings.stem
    if language is None:
        return known.columns.get
    by_stem = {stem: column for column, stem in enumerate(stems(known.words, language))}
    return lambda word: by_stem.get(stems([word], language)[0])


def _name(collection: Collection, topic: int) -> str:
    return collection.outline.name(topic) if topic >= 0 else "a topic that is gone"
