"""Details of documents and of topic words for the command line and the explorer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.collection.copies import CopiesOf, copies_of
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.describe.text_levels import compute_word_posterior, iter_tokens, mark_uncounted
from topiarist.collection.passages import ParentDocument, find_parent, sum_parent_shares
from topiarist.collection.search.results import MIN_PLACE_SHARE, Place
from topiarist.collection.search.vector_scores import cosines
from topiarist.collection.unsorted import explain_unsorted
from topiarist.estimators.tree.fitted_tree import compute_posterior
from topiarist.estimators.tree.topic_certainty import MAX_CERTAINTY
from topiarist.storage.marks import PassageNote
from topiarist.text.documents import Document
from topiarist.text.repeated import spans as repeated_spans

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MAX_ABSENT_WORDS = 6  # words per level that the model predicts and the document lacks


@dataclass(frozen=True)
class TopicWord:
    """Word of a topic; ``special`` is 1 − P(word|above)/P(word|topic), from 0 (as above) to 1 (only here)."""

    word: str
    probability: float
    special: float
    documents: int


@dataclass(frozen=True)
class Level:
    """Level on the path of a document: its topic (−1: removed by an edit), and the share of words it explains."""

    topic: int
    name: str
    share: float
    absent: tuple[str, ...]  # words that the model predicts and the document lacks


@dataclass(frozen=True)
class Mark:
    """Word in a text with its position, its most probable level and the probability of that level."""

    start: int
    end: int
    word: str
    level: int
    probability: float


@dataclass(frozen=True)
class DocumentDetails:
    """Details of a document: topics, levels, words, duplicates and edits."""

    row: int
    document: Document
    tags: tuple[str, ...]
    places: tuple[Place, ...]  # topics with a certainty of 5% or more, the most certain first
    levels: tuple[Level, ...]  # from the root down to its largest topic
    marks: tuple[Mark, ...]  # of the text
    pinned: int | None  # topic to which a user pinned it
    repeated: tuple[tuple[int, int], ...] = ()  # spans of repeated lines in the text, which are not counted
    copies: tuple[CopiesOf, ...] = ()  # its group of duplicates, if any
    columns: dict[str, list[str]] = field(default_factory=dict)  # values by column, as in the source
    given_date: str = ""  # as in the source, if not in ISO 8601
    has_file_date: bool = False  # the date is the date of the file
    notes: tuple[PassageNote, ...] = ()  # on passages of its text
    unsorted: str = ""  # key of the reason why it is unsorted
    voices: EvidenceComparison | None = None  # evidence of words and embedding, if it has both

    def to_dict(self) -> dict[str, Any]:
        """Return the document and its details as plain JSON data."""
        document = self.document
        return {
            "id": document.id, "title": document.title, "source": document.source, "date": document.date,
            "labels": list(document.labels), "tags": list(self.tags), "columns": dict(self.columns),
            "passage_notes": [{"start": item.start, "quote": item.quote, "note": item.note} for item in self.notes],
            "date_given": self.given_date or document.date, "file_date": self.has_file_date,
            "pinned": self.pinned, "unsorted": self.unsorted,
            "text": document.text, "places": [place.to_dict() for place in self.places],
            "levels": [
                {"level": number, "topic": level.topic, "name": level.name, "share": round(level.share, 6),
                 "absent": list(level.absent)}
                for number, level in enumerate(self.levels)
            ],
            "words": [vars(mark) | {"probability": round(mark.probability, 4)} for mark in self.marks],
            "repeated": [{"start": start, "end": end} for start, end in self.repeated],
            "copies": [
                {"id": item.id, "title": item.title,
                 "copies": [{"id": copy.id, "shared": round(copy.shared, 4)} for copy in item.copies]}
                for item in self.copies
            ],
            "voices": None if self.voices is None else self.voices.to_dict(),
        }  # fmt: skip


def list_topic_words(
    collection: Collection, topic: int, n: int = 12, *, most_probable: bool = False
) -> tuple[TopicWord, ...]:
    """Return the characteristic words of a topic, or with ``most_probable`` its most probable words."""
    outline, fitted, vocabulary = collection.outline, collection.tree_model, collection.counting.vocabulary
    nodes = list(outline.model_nodes(topic))
    if not nodes:
        return ()
    weight = fitted.node_weight()
    probabilities = np.average(fitted.word_given_node[nodes].astype(np.float64), axis=0, weights=weight[nodes] + 1e-300)
    parents = [fitted.tree.parents[node] for node in nodes if fitted.tree.parents[node] >= 0]
    parent_words = fitted.word_given_node[parents].mean(axis=0) if parents else probabilities
    specialness = np.clip(1.0 - parent_words / np.maximum(probabilities, 1e-300), 0.0, 1.0)
    order = np.argsort(-probabilities if most_probable or not parents else -probabilities * specialness, kind="stable")
    display_words = () if most_probable else collection.tree.nodes[outline.node(topic)].words
    display_columns = [vocabulary.columns[word] for word in display_words if word in vocabulary.columns]
    columns = list(dict.fromkeys([*display_columns, *order[: 2 * n].tolist()]))[:n]
    frequency = np.diff(collection.counts[:, columns].tocsc().indptr) if columns else ()
    return tuple(
        TopicWord(vocabulary.words[column], float(probabilities[column]), float(specialness[column]), int(number))
        for column, number in zip(columns, frequency, strict=True)
    )


def load_document_details(collection: Collection, id: str) -> DocumentDetails:
    """Load the topics, levels and words of a document."""
    row, figures, outline = collection.documents.row_of(id), Figures(collection), collection.outline
    document = collection.documents.get(row)
    repeated = tuple(repeated_spans(document.text, collection.counting.repeated.forms))
    posterior = compute_word_posterior(figures, row)
    tokens = [
        (word, start, end, column)
        for word, start, end, column in mark_uncounted(iter_tokens(figures, document.text), repeated)
        if column is not None and (column < 0 or column in posterior.rows)
    ]
    marks = []
    for word, start, end, column in tokens:
        level, _, probability, _ = posterior.of(column) if column >= 0 else (0, 0, 1.0, 1.0)
        marks.append(Mark(start, end, word, level, probability))
    path, absent_words = figures.tree.path(figures.largest_class(row)), figures.absent_words(row, MAX_ABSENT_WORDS)
    amounts = posterior.amounts(tokens, posterior.levels, 0)
    levels = tuple(
        Level(
            outline.topics[node],
            figures.tree.names[node],
            float(amounts[step]),
            tuple(absent_words[step]) if step else (),
        )
        for step, node in enumerate(path)
    )
    return DocumentDetails(
        row,
        document,
        tags=collection.marks.tags_of([row])[0],
        places=list_places(collection, collection.certainties([row]))[0],
        levels=levels,
        marks=tuple(marks),
        pinned=outline.pins.get(document.id),
        repeated=repeated,
        copies=copies_of(collection, row),
        columns=collection.columns.of([row]).get(row, {}),
        given_date=collection.dates.load_originals([row]).get(row, ""),
        has_file_date=collection.dates.has_file_date(row),
        notes=collection.passage_notes.of([row]).get(row, ()),
        unsorted=explain_unsorted(collection, [row])[0] if collection.hard_to_place[row] else "",
        voices=compare_evidence(collection, row),
    )


@dataclass(frozen=True)
class ParentDetails:
    """Details of a parent document: its topics over all passages, and the topic of each passage."""

    parent: ParentDocument
    document: Document  # its first passage, with the id and title of the parent, without text
    places: tuple[Place, ...]  # topics with 5% of its words or more, the largest first
    places_of_passages: tuple[Place, ...]  # largest topic of each passage
    has_file_date: bool = False  # the date is the date of the file

    def to_dict(self) -> dict[str, Any]:
        """Return the parent document, its topics and its passages as plain JSON data."""
        document = self.document
        return {
            "id": document.id, "title": document.title, "source": document.source, "date": document.date,
            "labels": list(document.labels),
            "places": [place.to_dict() | {"passages": self.passages_under(place.topic)} for place in self.places],
            "passages": [
                {"id": passage.id, "label": passage.label, **place.to_dict()}
                for passage, place in zip(self.parent.passages, self.places_of_passages, strict=True)
            ],
        }  # fmt: skip

    def passages_under(self, topic: int) -> int:
        return sum(place.topic == topic for place in self.places_of_passages)


def load_parent_details(collection: Collection, id: str) -> ParentDetails | None:
    """Load a parent document by its id or the id of a passage; None if it was not split."""
    parent = find_parent(collection, id)
    if parent is None:
        return None
    first = collection.documents.load_many(parent.rows[:1], texts=False)[0]
    document = replace(first, id=parent.id, title=parent.title)
    shares = sum_parent_shares(collection, [parent]).toarray().astype(np.float64)
    passage_places = list_places(collection, collection.certainties(parent.rows))
    first_places = tuple(places[0] if places else Place(collection.outline.root, (), 1.0) for places in passage_places)
    has_file_date = collection.dates.has_file_date(parent.rows[0])
    return ParentDetails(parent, document, list_places(collection, shares)[0], first_places, has_file_date)


def list_places(collection: Collection, shares: Any, min_share: float = MIN_PLACE_SHARE) -> list[tuple[Place, ...]]:
    """Return for each row of ``shares`` its topics with at least ``min_share``, the largest share first."""
    outline = collection.outline
    ends, column = np.unique(outline.class_nodes, return_inverse=True)
    shares_of_ends = np.zeros((len(shares), len(ends)))
    np.add.at(shares_of_ends.T, column, np.asarray(shares, np.float64).T)
    places = [Place(outline.topics[end], outline.tree.path_names(end)[1:], 0.0) for end in ends.tolist()]
    return [
        tuple(
            replace(places[place], share=float(row[place]))
            for place in np.argsort(-row, kind="stable")
            if row[place] >= min_share
        )
        for row in np.minimum(shares_of_ends, MAX_CERTAINTY)
    ]


MAX_NEAR_DOCUMENTS = 3  # similar documents in a comparison


@dataclass(frozen=True)
class NearDocument:
    """Similar document of the same topic."""

    id: str
    title: str
    cosine: float


@dataclass(frozen=True)
class EvidenceComparison:
    """Topics and certainties of a document by its words alone and by its embedding alone, with a sentence."""

    said: str
    by_words: int
    words_certainty: float
    by_vector: int
    vector_certainty: float
    near: tuple[NearDocument, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain JSON data with rounded values."""
        return {
            "said": self.said,
            "by_words": {"topic": self.by_words, "certainty": round(self.words_certainty, 4)},
            "by_vector": {"topic": self.by_vector, "certainty": round(self.vector_certainty, 4)},
            "near": [
                {"id": document.id, "title": document.title, "cosine": round(document.cosine, 4)}
                for document in self.near
            ],
        }


def compare_evidence(collection: Collection, row: int) -> EvidenceComparison | None:
    """Compare word and vector evidence for a document; None without an embedding."""
    vectors = collection.vectors
    if vectors is None or getattr(collection.model, "directions_", None) is None or not vectors[row].any():
        return None
    counts, vector, outline = collection.counts[[row]], vectors[[row]], collection.outline
    no_words = csr_array(counts.shape, dtype=counts.dtype)
    word_topic, vector_topic = (
        _find_best_topic(collection, compute_posterior(collection.model, *evidence)[0])
        for evidence in ((counts,), (no_words, vector))
    )
    place = outline.class_nodes[int(collection.shares[[row]].toarray()[0].argmax())]
    return EvidenceComparison(
        said=_describe_evidence(collection, place, word_topic, vector_topic),
        by_words=outline.topics[word_topic[0]],
        words_certainty=word_topic[1],
        by_vector=outline.topics[vector_topic[0]],
        vector_certainty=vector_topic[1],
        near=_find_near_documents(collection, row),
    )


def _find_best_topic(collection: Collection, shares: Any) -> tuple[int, float]:
    by_node = np.bincount(collection.outline.class_nodes, np.asarray(shares, np.float64))
    return int(by_node.argmax()), float(by_node.max())


def _describe_evidence(
    collection: Collection, place: int, word_topic: tuple[int, float], vector_topic: tuple[int, float]
) -> str:
    """Return a sentence on whether words or vector decided the topic ``place``."""
    names = collection.outline.tree.names
    (by_words, words_sure), (by_vector, vector_sure) = word_topic, vector_topic
    if by_words == by_vector == place:
        return f"Its words ({_percent(words_sure)} sure) and its vector ({_percent(vector_sure)}) agree."
    if by_words == place:
        other = f"its vector alone would put it under {names[by_vector]}."
        return f"Its words decided ({_percent(words_sure)} sure): {other}"
    if by_vector == place:
        other = f"its words alone would put it under {names[by_words]}."
        return f"Its vector decided ({_percent(vector_sure)} sure): {other}"
    alone = f"words alone would put it under {names[by_words]}, its vector under {names[by_vector]}."
    return f"Words and vector together: {alone}"


def _percent(certainty: float) -> str:
    return ">99%" if certainty >= 0.995 else f"{certainty:.0%}"


def _find_near_documents(collection: Collection, row: int) -> tuple[NearDocument, ...]:
    """Return the nearest documents of the same topic, only the first of each group of duplicates."""
    vectors = np.asarray(collection.vectors)
    likely_class = np.asarray(collection.shares.argmax(axis=1)).ravel()
    is_candidate = (likely_class == likely_class[row]) & collection.copies.find_first_documents(len(collection))
    is_candidate[row] = False
    rows = np.flatnonzero(is_candidate)
    similarity = cosines(vectors[rows], vectors[row])
    best = [place for place in np.argsort(-similarity, kind="stable")[:MAX_NEAR_DOCUMENTS] if similarity[place] > 0]
    documents = collection.documents.load_many([int(rows[place]) for place in best], texts=False)
    return tuple(
        NearDocument(document.id, document.title, float(similarity[place]))
        for place, document in zip(best, documents, strict=True)
    )
