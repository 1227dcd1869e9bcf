"""New topics for documents that fit no topic: their common words, and the parent of the topic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.special import logsumexp

from topiarist.arrays import Csr
from topiarist.collection.file.branches import graft_leaf, propose_branches
from topiarist.collection.shape.edits import Branch
from topiarist.counts.counting import count, count_with_coverage
from topiarist.counts.validation import count_tokens
from topiarist.errors import InputError
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.misfits import Scores
from topiarist.text.documents import Document
from topiarist.trees.tree_model import TreeModel
from topiarist.trees.tree_text import DOT

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

BY_WORDS, BY_TOPIC = "pays", "near"  # how a group was formed: by held-out words, or by the nearest topic
MIN_DOCUMENTS = 10  # documents of a group that may pay
NAME_WORDS = 2  # words in a name
MIN_SHARING = 2  # documents that must have a word, or a topic, in common
MAX_WORDS = 8  # words of a group
UNSEEN_TOKENS = 0.5  # assumed tokens of a word outside the vocabulary


@dataclass(frozen=True)
class NewTopic:
    """Topic that could be added to the tree."""

    under: int  # the topic that it would hang from
    name: str
    words: tuple[str, ...]
    documents: tuple[str, ...]  # ids
    how: str  # PAYS or NEAR
    gain: float = 0.0  # nats for each held-out word, where it pays

    @property
    def edit(self) -> Branch:
        """Edit that adds the topic."""
        return Branch(self.under, self.name, self.documents)


def propose_topics(
    collection: Collection, documents: Sequence[Document], topics: Sequence[int]
) -> tuple[NewTopic, ...]:
    """Return groups among documents that fit no topic; ``topics`` are those that they were filed under.

    Groups whose words make each other's held-out words more probable come first. Without any, the documents that were
    filed under the same topic are a group, which need not have a common subject.
    """
    document_words = _DocumentWords.of(collection, documents)
    by_words = _group_by_words(collection, documents, document_words)
    return by_words or _group_by_topic(documents, document_words, topics)


class _DocumentWords(NamedTuple):
    """Counts of documents, in words of the collection and in new words that several of them share."""

    counts: Csr
    words: tuple[str, ...]
    total: Any  # tokens of each word in the collection

    @classmethod
    def of(cls, collection: Collection, documents: Sequence[Document]) -> _DocumentWords:
        """Count documents, including words that are not in the vocabulary."""
        counting = collection.counting
        vocabulary, settings = counting.vocabulary, counting.settings
        texts = [counting.text_of(document) for document in documents]
        counts = counting.apply_word_edits(count_with_coverage(texts, vocabulary, settings).counts)
        try:
            unlimited = replace(settings, min_document_share=0.0, max_words=None, max_document_share=1.0)
            new_counts, new_vocabulary = count(texts, replace(unlimited, min_documents=MIN_SHARING))
        except InputError:  # no word that two of them share
            return cls(counts, vocabulary.words, vocabulary.totals)
        seen_words = count_with_coverage(new_vocabulary.words, vocabulary, settings, counting.general)
        new = np.flatnonzero(seen_words.known_tokens == 0)
        combined = csr_array(hstack([counts, new_counts[:, new]], format="csr"))
        words = (*vocabulary.words, *(new_vocabulary.words[column] for column in new))
        return cls(combined, words, np.concatenate([vocabulary.totals, np.zeros(len(new), np.int64)]))


def _extend_vocabulary(model: TreeModel, document_words: _DocumentWords) -> TreeModel:
    """Return the model with columns for new words, each as rare as a word of half a token."""
    missing = len(document_words.words) - model.word_given_node.shape[1]
    probability = UNSEEN_TOKENS / max(float(document_words.total.sum()), 1.0)
    words = model.word_given_node.astype(np.float64)
    words = np.hstack([words, np.full((len(words), missing), probability)])
    return replace(model, word_given_node=words / words.sum(axis=1, keepdims=True))


def _group_by_words(
    collection: Collection, documents: Sequence[Document], document_words: _DocumentWords
) -> tuple[NewTopic, ...]:
    model, counts = _extend_vocabulary(collection.tree_model, document_words), document_words.counts
    share = len(documents) / max(len(collection) + len(documents), 1)
    proposals = propose_branches(model, counts, _score, share=share, min_documents=MIN_DOCUMENTS)
    used_rows: set[int] = set()
    topics = []
    for proposal in proposals:
        grafted_model = graft_leaf(model, proposal)
        leaf = grafted_model.class_nodes.index(len(model.tree))
        rows = np.flatnonzero(_posterior(grafted_model, counts).argmax(axis=1) == leaf)
        leaf_rows = [int(row) for row in rows if int(row) not in used_rows]
        used_rows.update(leaf_rows)
        topic = collection.outline.node_topics[proposal.parent]
        if len(leaf_rows) >= MIN_DOCUMENTS and topic >= 0:
            words = tuple(document_words.words[column] for column in proposal.words)
            ids = tuple(documents[row].id for row in leaf_rows)
            if words:
                topics.append(NewTopic(topic, DOT.join(words[:NAME_WORDS]), words, ids, BY_WORDS, proposal.gain))
    return tuple(topics)


def _group_by_topic(
    documents: Sequence[Document], document_words: _DocumentWords, topics: Sequence[int]
) -> tuple[NewTopic, ...]:
    """Return documents grouped by their topic, the largest group first, without groups that share no word."""
    groups: dict[int, list[int]] = {}
    for row, topic in enumerate(topics):
        groups.setdefault(topic, []).append(row)
    groups_found = []
    for topic, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        if len(rows) < MIN_SHARING:
            continue
        frequency = np.asarray((document_words.counts[rows] > 0).sum(axis=0)).ravel()
        scores = np.where(frequency >= MIN_SHARING, frequency, 0) / np.log(math.e + np.maximum(document_words.total, 1))
        best = [int(column) for column in np.argsort(-scores, kind="stable")[:MAX_WORDS] if scores[column] > 0]
        words = tuple(document_words.words[column] for column in best)
        if words:
            ids = tuple(documents[row].id for row in rows)
            groups_found.append(NewTopic(topic, DOT.join(words[:NAME_WORDS]), words, ids, BY_TOPIC))
    return tuple(groups_found)


def _posterior(model: TreeModel, counts: Csr) -> Any:
    """Return P(class|document) by all words of a document."""
    words = np.log(np.maximum(model.class_word_table(), SMALLEST_MIXTURE).astype(np.float64))
    logs = np.asarray(counts @ words) + np.log(np.maximum(model.class_prior, SMALLEST_MIXTURE))
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _score(model: TreeModel, observed: Csr, hidden: Csr) -> Scores:
    """Return the likelihood of hidden words, with documents placed by the observed ones."""
    rows, words = _posterior(model, observed), model.class_word_table().astype(np.float64)
    documents = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    mixture = np.einsum("ec,ec->e", rows[documents], words[hidden.indices])
    logs = hidden.data * np.log(np.maximum(mixture, SMALLEST_MIXTURE))
    tokens = count_tokens(hidden)
    total = np.bincount(documents, logs, minlength=hidden.shape[0])
    return Scores(np.where(tokens > 0, total / np.maximum(tokens, 1), np.nan), tokens)
