"""Words in edits: their columns in the vocabulary, and their use in the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from topiarist.arrays import Floats
from topiarist.collection.shape.edits import Edit, Forget, Ignore, Seed, Unite, WordEdit
from topiarist.collection.shape.tree_state import TreeState
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import UsageError
from topiarist.text.spelling import find_near_words

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MAX_PROPOSALS = 5  # spellings in a hint


@dataclass(frozen=True)
class WordUse:
    """Word of an edit with its present use in the collection."""

    word: str
    what: str  # seed, ignore, unite or forget
    documents: int  # documents with the word
    occurrences: int
    share: float  # share of all occurrences in the model
    home: str = ""  # topic that explains most of its occurrences in sorted documents
    home_share: float = 0.0
    topic: str = ""  # topic that gets the seed word
    topic_share: float = 0.0  # share of its occurrences explained there or below
    counts_for: str = ""  # word that it is united with

    def to_dict(self) -> dict[str, Any]:
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in vars(self).items()}


def count_occurrences_by_node(collection: Collection, column: int) -> Floats:
    """Return how many occurrences of a word each node of the model explains, summed over documents: (C2) or (H8)."""
    model, occurrences = collection.tree_model, csc_array(collection.counts[:, [column]])
    levels = model.node_given_class * model.word_given_node[:, column].astype(np.float64)
    shares, times = csr_array(collection.shares[occurrences.indices]), occurrences.data.astype(np.float64)
    if model.mixes_classes:  # P(c|d,w) in place of P(c|d)
        shares = csr_array(shares.multiply(levels.sum(axis=1)))
        times = times / np.maximum(shares.sum(axis=1), 1e-300)
    by_class = times @ shares
    node_counts: Floats = by_class @ (levels / np.maximum(levels.sum(axis=1, keepdims=True), 1e-300))
    return node_counts


def find_seed_columns(shape: TreeState, vocabulary: Vocabulary) -> dict[int, list[int]]:
    """Return the columns of seed words by node of the edited tree, without words outside the vocabulary."""
    columns_by_node = {}
    for topic, words in shape.seeds.items():
        columns = [column for word in words if (column := vocabulary.column(word)) is not None]
        if columns:
            columns_by_node[shape.node(topic)] = columns
    return columns_by_node


def resolve_words(collection: Collection, edit: Edit) -> Edit:
    """Return the edit with words in their counted form; an unknown word is an error with suggestions."""
    if isinstance(edit, Forget):  # also resolves words without counts
        vocabulary = collection.counting.vocabulary
        spellings = [_clean_spelling(word) for word in edit.words]
        edited_words = {*collection.outline.ignored, *collection.outline.united}
        return replace(
            edit,
            words=tuple(
                w if w in edited_words else vocabulary.words[vocabulary.columns[w]] if w in vocabulary.columns else w
                for w in spellings
            ),
        )
    if not isinstance(edit, Seed | Ignore | Unite):
        return edit
    return replace(edit, words=tuple(_resolve_word(collection, _clean_spelling(word)) for word in edit.words))


def _clean_spelling(word: str) -> str:
    return " ".join(word.casefold().split())


def _resolve_word(collection: Collection, word: str) -> str:
    """Return the counted form of a word; raise UsageError with similar words for an unknown one."""
    vocabulary = collection.counting.vocabulary
    column = vocabulary.column(word)
    if column is not None:
        return vocabulary.words[column]
    if word in collection.counting.general:
        raise UsageError(
            f"{word!r} is a general word of this collection and is not in the model",
            hint="Choose a word in fewer than half of the documents.",
        )
    spellings = find_near_words(
        word, list(zip(vocabulary.words, vocabulary.document_frequency.tolist(), strict=True)), MAX_PROPOSALS
    )
    min_documents = collection.counting.settings.min_document_count(len(collection))
    raise UsageError(
        f"the word {word!r} is not in the vocabulary",
        hint=f"Use {', '.join(map(repr, spellings))}."
        if spellings
        else f"Choose a word in at least {min_documents} documents.",
    )


def find_word_uses(collection: Collection, edits: Sequence[Edit]) -> tuple[WordUse, ...]:
    """Return the present use of the words in edits."""
    uses = []
    for edit in edits:
        resolved = resolve_words(collection, edit)
        if isinstance(resolved, WordEdit):
            uses += [_find_word_use(collection, resolved, word) for word in dict.fromkeys(resolved.words)]
    return tuple(uses)


def _find_word_use(collection: Collection, edit: WordEdit, word: str) -> WordUse:
    """Return how often a word occurs and the topic with most occurrences."""
    outline, vocabulary = collection.outline, collection.counting.vocabulary
    kind, column = type(edit).__name__.lower(), vocabulary.column(word)
    if column is None:
        return WordUse(word, kind, 0, 0, 0.0)
    documents, column = collection.all_counts[:, [column]], collection.counting.column(column)
    n_occurrences, total = float(documents.sum()), float(collection.counts.sum(dtype=np.float64))
    use = WordUse(word, kind, int(documents.nnz), round(n_occurrences), n_occurrences / max(total, 1.0))
    if isinstance(edit, Unite) and word != edit.words[0]:
        use = replace(use, counts_for=edit.words[0])
    if column is None:
        return use
    topics, node_counts = np.array(outline.node_topics), count_occurrences_by_node(collection, column)
    node_counts = node_counts / max(float(node_counts.sum()), 1e-300)
    best = int(node_counts.argmax())
    topic_name = outline.name(int(topics[best])) if topics[best] >= 0 else ""
    use = replace(use, home=topic_name, home_share=float(node_counts[best]))
    if isinstance(edit, Seed):
        try:
            topic = outline.find(edit.topic)
        except UsageError:  # an earlier edit of the list creates it
            return use
        node = outline.node(topic)
        subtopics = {topic, *(outline.topics[subnode] for subnode in outline.tree.descendants(node))}
        use = replace(
            use, topic=outline.name(topic), topic_share=float(node_counts[np.isin(topics, list(subtopics))].sum())
        )
    return use
