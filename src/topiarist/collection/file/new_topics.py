"""New topics for documents that fit nowhere: what they have in common, and where it would hang in the tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.special import logsumexp

from topiarist.arrays import Csr
from topiarist.collection.shape.edits import Branch
from topiarist.counts.counting import count, hear
from topiarist.counts.validation import token_counts
from topiarist.errors import InputError
from topiarist.hierarchy.branches import Wanted, grafted, propose_branches
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.hierarchy.tree_text import DOT
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.misfits import Scores
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

PAYS, NEAR = "pays", "near"  # how a group was found: by held-out words, or by the nearest topic alone
FEWEST = 10  # documents of a group that may pay
NAMED = 2  # words in a name
SHARED = 2  # documents that must have a word, or a topic, in common
SHOWN = 8  # words of a group
UNSEEN = 0.5  # tokens that a word may have had which nobody has counted


@dataclass(frozen=True)
class NewTopic:
    """A topic that the tree might get."""

    under: int  # the topic that it would hang from
    name: str
    words: tuple[str, ...]
    documents: tuple[str, ...]  # ids
    how: str  # PAYS or NEAR
    gain: float = 0.0  # nats for each held-out word, where it pays

    @property
    def edit(self) -> Branch:
        """What grows it."""
        return Branch(self.under, self.name, self.documents)


def new_topics(collection: Collection, documents: Sequence[Document], topics: Sequence[int]) -> tuple[NewTopic, ...]:
    """Groups among documents that fit nowhere; ``topics`` are those that they were filed under.

    Groups whose words make each other's held-out words more probable come first. Where none does, documents that were
    filed under the same topic are a group: that says where they are, not that they have something in common.
    """
    said = _Said.of(collection, documents)
    found = _paying(collection, documents, said)
    return found or _near(documents, said, topics)


class _Said(NamedTuple):
    """What documents say, in words that the collection knows and in others that several of them share."""

    counts: Csr
    words: tuple[str, ...]
    total: Any  # how often the collection has each word

    @classmethod
    def of(cls, collection: Collection, documents: Sequence[Document]) -> _Said:
        """Count documents; what is new in them may be just the words that nobody has counted before."""
        known = collection.counting
        vocabulary, settings = known.vocabulary, known.settings
        texts = [known.text_of(document) for document in documents]
        counts = known.heeded(hear(texts, vocabulary, settings).counts)
        try:
            every = replace(settings, min_document_share=0.0, max_words=None, max_document_share=1.0)
            own, found = count(texts, replace(every, min_documents=SHARED))
        except InputError:  # no word that two of them share
            return cls(counts, vocabulary.words, vocabulary.totals)
        heard = hear(found.words, vocabulary, settings, known.general)
        new = np.flatnonzero(heard.known == 0)
        whole = csr_array(hstack([counts, own[:, new]], format="csr"))
        words = (*vocabulary.words, *(found.words[column] for column in new))
        return cls(whole, words, np.concatenate([vocabulary.totals, np.zeros(len(new), np.int64)]))


def _knowing(model: TreeModel, said: _Said) -> TreeModel:
    """The tree with columns for words that it has never seen: each is as rare as a word of half a token."""
    missing = len(said.words) - model.word_given_node.shape[1]
    rare = UNSEEN / max(float(said.total.sum()), 1.0)
    words = model.word_given_node.astype(np.float64)
    words = np.hstack([words, np.full((len(words), missing), rare)])
    return replace(model, word_given_node=words / words.sum(axis=1, keepdims=True))


def _paying(collection: Collection, documents: Sequence[Document], said: _Said) -> tuple[NewTopic, ...]:
    model, counts = _knowing(collection.tree_model, said), said.counts
    share = len(documents) / max(len(collection) + len(documents), 1)
    proposals = propose_branches(model, counts, _score, share=share, wanted=Wanted(documents=FEWEST))
    taken: set[int] = set()
    found = []
    for proposal in proposals:
        grown = grafted(model, proposal)
        leaf = grown.class_nodes.index(len(model.tree))
        rows = np.flatnonzero(_posterior(grown, counts).argmax(axis=1) == leaf)
        own = [int(row) for row in rows if int(row) not in taken]
        taken.update(own)
        topic = collection.outline.node_topics[proposal.parent]
        if len(own) >= FEWEST and topic >= 0:
            told = tuple(said.words[column] for column in proposal.words)
            ids = tuple(documents[row].id for row in own)
            if told:
                found.append(NewTopic(topic, DOT.join(told[:NAMED]), told, ids, PAYS, proposal.gain))
    return tuple(found)


def _near(documents: Sequence[Document], said: _Said, topics: Sequence[int]) -> tuple[NewTopic, ...]:
    """Documents by the topic that they were filed under, largest group first; none that has no word in common."""
    groups: dict[int, list[int]] = {}
    for row, topic in enumerate(topics):
        groups.setdefault(topic, []).append(row)
    found = []
    for topic, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        if len(rows) < SHARED:
            continue
        having = np.asarray((said.counts[rows] > 0).sum(axis=0)).ravel()
        worth = np.where(having >= SHARED, having, 0) / np.log(math.e + np.maximum(said.total, 1))
        best = [int(column) for column in np.argsort(-worth, kind="stable")[:SHOWN] if worth[column] > 0]
        told = tuple(said.words[column] for column in best)
        if told:
            ids = tuple(documents[row].id for row in rows)
            found.append(NewTopic(topic, DOT.join(told[:NAMED]), told, ids, NEAR))
    return tuple(found)


def _posterior(model: TreeModel, counts: Csr) -> Any:
    """P(class|document) by all words of a document."""
    words = np.log(np.maximum(model.class_word_table(), SMALLEST_MIXTURE).astype(np.float64))
    logs = np.asarray(counts @ words) + np.log(np.maximum(model.class_prior, SMALLEST_MIXTURE))
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _score(model: TreeModel, observed: Csr, hidden: Csr) -> Scores:
    """The likelihood of hidden words, where observed ones have placed their documents."""
    rows, words = _posterior(model, observed), model.class_word_table().astype(np.float64)
    documents = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    mixture = np.einsum("ec,ec->e", rows[documents], words[hidden.indices])
    logs = hidden.data * np.log(np.maximum(mixture, SMALLEST_MIXTURE))
    tokens = token_counts(hidden)
    total = np.bincount(documents, logs, minlength=hidden.shape[0])
    return Scores(np.where(tokens > 0, total / np.maximum(tokens, 1), np.nan), tokens)
