"""New topics for documents that fit nowhere: what they have in common, and where it would hang in the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from topiarist.counts.validation import Csr, token_counts
from topiarist.hierarchy.branches import Crown, Wanted, grafted, propose_branches
from topiarist.kernels.ratios import SMALLEST_MIXTURE
from topiarist.models.misfits import Scores
from topiarist.tasks.outline import DOT
from topiarist.tasks.placement import words_by_class
from topiarist.tasks.shape.edits import Branch
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.files.collection import Collection

PAYS, NEAR = "pays", "near"  # how a group was found: by held-out words, or by the nearest topic alone
FEWEST = 10  # documents of a group that may pay
NAMED = 2  # words in a name


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
    counts = collection.counted(documents)
    found = _paying(collection, documents, counts)
    return found or _near(collection, documents, counts, topics)


def _paying(collection: Collection, documents: Sequence[Document], counts: Csr) -> tuple[NewTopic, ...]:
    crown, words = collection.crown, collection.counting.vocabulary.words
    share = len(documents) / max(len(collection) + len(documents), 1)
    proposals = propose_branches(crown, counts, _score, share=share, wanted=Wanted(documents=FEWEST))
    taken: set[int] = set()
    found = []
    for proposal in proposals:
        grown = grafted(crown, proposal)
        leaf = grown.class_nodes.index(len(crown.tree))
        rows = np.flatnonzero(_posterior(grown, counts).argmax(axis=1) == leaf)
        own = [int(row) for row in rows if int(row) not in taken]
        taken.update(own)
        topic = collection.outline.node_topics[proposal.parent]
        if len(own) >= FEWEST and topic >= 0:
            said = tuple(words[column] for column in proposal.words)
            ids = tuple(documents[row].id for row in own)
            found.append(NewTopic(topic, DOT.join(said[:NAMED]), said, ids, PAYS, proposal.gain))
    return tuple(found)


def _near(
    collection: Collection, documents: Sequence[Document], counts: Csr, topics: Sequence[int]
) -> tuple[NewTopic, ...]:
    """Documents by the topic that they were filed under, largest group first."""
    words, total = collection.counting.vocabulary.words, collection.counting.vocabulary.totals
    groups: dict[int, list[int]] = {}
    for row, topic in enumerate(topics):
        groups.setdefault(topic, []).append(row)
    found = []
    for topic, rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        if len(rows) < 2:
            continue
        said = counts[rows]
        worth = np.asarray((said > 0).sum(axis=0)).ravel() / np.log(np.e + np.maximum(total, 1))
        best = [int(column) for column in np.argsort(-worth, kind="stable")[:8] if worth[column] > 0]
        told = tuple(words[column] for column in best)
        name = DOT.join(told[:NAMED]) or "new"
        found.append(NewTopic(topic, name, told, tuple(documents[row].id for row in rows), NEAR))
    return tuple(found)


def _posterior(crown: Crown, counts: Csr) -> Any:
    """P(class|document) by all words of a document."""
    words = np.log(np.maximum(words_by_class(crown), SMALLEST_MIXTURE).astype(np.float64))
    logs = np.asarray(counts @ words) + np.log(np.maximum(crown.class_prior, SMALLEST_MIXTURE))
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _score(crown: Crown, observed: Csr, hidden: Csr) -> Scores:
    """The likelihood of hidden words, where observed ones have placed their documents."""
    rows, words = _posterior(crown, observed), words_by_class(crown).astype(np.float64)
    documents = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    mixture = np.einsum("ec,ec->e", rows[documents], words[hidden.indices])
    logs = hidden.data * np.log(np.maximum(mixture, SMALLEST_MIXTURE))
    tokens = token_counts(hidden)
    total = np.bincount(documents, logs, minlength=hidden.shape[0])
    return Scores(np.where(tokens > 0, total / np.maximum(tokens, 1), np.nan), tokens)
