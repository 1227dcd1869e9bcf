"""Words of edits: whether the collection knows them, and what the edits do to the words that the tree sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.shape.edits import Edit, Forget, Ignore, Seed, Unite, WordEdit
from topiarist.collection.shape.shape import Shape
from topiarist.counts.column_map import ColumnMap
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import UsageError
from topiarist.text.spelling import nearest

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

NEAR = 5  # spellings that are proposed


@dataclass(frozen=True)
class WordUse:
    """A word that an edit speaks of, as the collection has it now."""

    word: str
    what: str  # seed, ignore, unite or forget
    documents: int  # that have it
    occurrences: int
    share: float  # of the occurrences of all words that the tree sees now
    home: str = ""  # the topic that explains most of its occurrences now
    home_share: float = 0.0
    topic: str = ""  # that it shall belong to
    topic_share: float = 0.0  # of its occurrences are explained there, or below, now
    counts_for: str = ""  # the word that it becomes one with

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in vars(self).items()}


def spoken_by(collection: Collection, column: int) -> Floats:
    """How many occurrences of a word each node of the model explains, by the documents that have it: (C2) summed."""
    model = collection.tree_model
    by_class = (collection.counts[:, [column]].T @ collection.shares).toarray().astype(np.float64)[0]
    levels = model.node_given_class * model.word_given_node[:, column].astype(np.float64)
    spoken: Floats = by_class @ (levels / np.maximum(levels.sum(axis=1, keepdims=True), 1e-300))
    return spoken


def column_map(shape: Shape, vocabulary: Vocabulary) -> ColumnMap:
    """The columns as the tree is to see them."""
    return ColumnMap.of(vocabulary, shape.ignored, shape.united)


def seed_columns(shape: Shape, vocabulary: Vocabulary) -> dict[int, list[int]]:
    """The columns of seeds by node of the shaped tree; a word that is not counted draws nothing."""
    found = {}
    for topic, words in shape.seeds.items():
        columns = [column for word in words if (column := vocabulary.column(word)) is not None]
        if columns:
            found[shape.node(topic)] = columns
    return found


def known(collection: Collection, edit: Edit) -> Edit:
    """The edit with its words as they are counted; a word that nobody counts is an error that names others."""
    if isinstance(edit, Forget):  # of words that are not counted any more, too
        columns = collection.counting.vocabulary.columns
        said = [_plain(word) for word in edit.words]
        of_old = {*collection.outline.ignored, *collection.outline.united}
        return replace(edit, words=tuple(w if w in of_old else _as_counted(collection, columns, w) for w in said))
    if not isinstance(edit, Seed | Ignore | Unite):
        return edit
    return replace(edit, words=tuple(_known(collection, _plain(word)) for word in edit.words))


def _plain(word: str) -> str:
    return " ".join(word.casefold().split())


def _as_counted(collection: Collection, columns: Any, word: str) -> str:
    column = columns.get(word)
    return word if column is None else collection.counting.vocabulary.words[column]


def _known(collection: Collection, word: str) -> str:
    vocabulary = collection.counting.vocabulary
    column = vocabulary.column(word)
    if column is not None:
        return vocabulary.words[column]
    if word in collection.counting.general:
        raise UsageError(
            f"{word!r} belongs to the general language of this collection, and the tree does not see it anyway",
            hint="a word of fewer than half of the documents",
        )
    near = nearest(word, list(zip(vocabulary.words, vocabulary.document_frequency.tolist(), strict=True)), NEAR)
    fewest = collection.counting.settings.fewest(len(collection))
    raise UsageError(
        f"the word {word!r} is not counted here",
        hint=", ".join(map(repr, near)) or f"a word that at least {fewest} documents have",
    )


def word_uses(collection: Collection, edits: Sequence[Edit]) -> tuple[WordUse, ...]:
    """What is known of the words that edits speak of, before the edits."""
    found = []
    for edit in edits:
        told = known(collection, edit)
        if isinstance(told, WordEdit):
            found += [_use(collection, told, word) for word in dict.fromkeys(told.words)]
    return tuple(found)


def _use(collection: Collection, edit: WordEdit, word: str) -> WordUse:
    outline, vocabulary = collection.outline, collection.counting.vocabulary
    what, column = type(edit).__name__.lower(), vocabulary.column(word)
    if column is None:
        return WordUse(word, what, 0, 0, 0.0)
    documents, column = collection.all_counts[:, [column]], collection.counting.column(column)
    times, total = float(documents.sum()), float(collection.counts.sum(dtype=np.float64))
    use = WordUse(word, what, int(documents.nnz), round(times), times / max(total, 1.0))
    if isinstance(edit, Unite) and word != edit.words[0]:
        use = replace(use, counts_for=edit.words[0])
    if column is None:
        return use
    topics, spoken = np.array(outline.node_topics), spoken_by(collection, column)
    spoken = spoken / max(float(spoken.sum()), 1e-300)
    best = int(spoken.argmax())
    home = outline.name(int(topics[best])) if topics[best] >= 0 else ""
    use = replace(use, home=home, home_share=float(spoken[best]))
    if isinstance(edit, Seed):
        try:
            topic = outline.find(edit.topic)
        except UsageError:  # an edit before this one makes it
            return use
        node = outline.node(topic)
        below = {topic, *(outline.topics[one] for one in outline.tree.descendants(node))}
        use = replace(use, topic=outline.name(topic), topic_share=float(spoken[np.isin(topics, list(below))].sum()))
    return use
