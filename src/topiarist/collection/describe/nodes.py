"""The nodes of a fitted tree as a person reads them: their words, their sizes, documents that speak from them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.collection.describe.flat_topics import coherences, names_of
from topiarist.counts.corpus import Corpus
from topiarist.counts.validation import token_counts
from topiarist.estimators.tree import abstraction
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.hierarchy.tree_text import DOT
from topiarist.hierarchy.words import node_words
from topiarist.text.stop_words import function_words

ROOT = "Everything"
STEADINESS = 20.0  # tokens of doubt, so that the purest document is not the shortest
WORDLESS = "no words of its own"
BLOCK = 1 << 16  # documents that are read at once: memory does not grow with documents × nodes
REMEMBERED = 6  # first words of a node among which those of an earlier name still name it
IN_A_NAME = 2  # words of a node that make its name; more where siblings would be called the same


@dataclass(frozen=True)
class NodeSummary:
    """One node: words of its own, the expected number and share of documents under it, documents that speak from it."""

    words: tuple[str, ...]
    size: float
    share: float
    prototypes: tuple[str, ...]
    coherence: float
    depth: int
    rows: tuple[int, ...] = ()  # of the prototypes


def describe_nodes(
    model: TreeModel, shares: Csr, corpus: Corpus, general: Sequence[str] = (), n_words: int = 8, n_documents: int = 3,
    language: str = "",
) -> tuple[NodeSummary, ...]:  # fmt: skip
    """The nodes of a tree; ``shares`` are those of the documents in its classes.

    ``general`` are words that were set aside before; they stand before the root's own. Below the root the function
    words of the ``language`` describe nothing, however frequent they are.
    """
    tree = model.tree
    mask = tree.path_mask(model.class_nodes)
    explained, typical = _heard(model, shares, corpus, n_documents)
    count = np.asarray(corpus.counts.sum(axis=0, dtype=np.float64)).ravel()
    known, empty = corpus.vocabulary.words, function_words(language)
    columns = node_words(
        tree, model.word_given_node, n_words, node_weight=explained, count=count, words=known,
        empty=np.array([word in empty for word in known], bool) if empty else None,
    )  # fmt: skip
    columns = _in_use(tree, columns, corpus.counts, shares, mask)
    words = [tuple(corpus.vocabulary.words[column] for column in chosen) for chosen in columns]
    words[tree.root] = (*general[:n_words], *words[tree.root])
    size = np.asarray(shares.sum(axis=0, dtype=np.float64)).ravel() @ mask
    coherence = coherences(columns, corpus.counts)
    return tuple(
        NodeSummary(
            words[node], float(size[node]), float(size[node] / max(size[tree.root], 1e-300)),
            names_of(corpus, typical[node]), coherence[node], tree.depths[node], tuple(typical[node].tolist()),
        )
        for node in range(len(tree))
    )  # fmt: skip


def named(tree: Tree, words: Sequence[tuple[str, ...]], before: Sequence[str] = ()) -> Tree:
    """The tree with nodes called by their first words, unless somebody gave them names.

    ``before``: what they were called. A name whose words are still among a node's first ones is kept: a fit that
    changes little leaves people with what they remember.
    """
    numbered = Tree(tree.parents)
    if tree.names != numbered.names:
        return Tree(tree.parents, tuple(name or ROOT for name in tree.names))
    names = [ROOT] * len(tree)
    for parent in range(len(tree)):
        below = tree.children(parent)
        kept = {child: before[child] for child in below if before and _still(before[child], words[child])}
        taken = set(kept.values())
        for child in below:
            own = kept.get(child)
            names[child] = own or next(name for name in _possible_names(words[child]) if name not in taken)
            taken.add(names[child])
    return Tree(tree.parents, tuple(names))


def _still(name: str, words: tuple[str, ...]) -> bool:
    """Whether the words of a name are still among the first of a node."""
    return bool(name) and set(name.split(DOT)) <= set(words[:REMEMBERED])


def _possible_names(words: tuple[str, ...]) -> Iterator[str]:
    """Two words, then more of them, then numbers behind them."""
    words = words or (WORDLESS,)
    for number in range(min(IN_A_NAME, len(words)), len(words) + 1):
        yield DOT.join(words[:number])
    yield from (f"{DOT.join(words[:IN_A_NAME])} ({number})" for number in itertools.count(2))


def _heard(model: TreeModel, shares: Csr, corpus: Corpus, n_documents: int) -> tuple[Any, Any]:
    """How many tokens each node explains, and the documents that speak most from it, read block by block."""
    lengths = corpus.lengths()
    explained, best, scores = np.zeros(len(model.tree)), [], []
    for start in range(0, corpus.n_docs, BLOCK):
        here = slice(start, start + BLOCK)
        posterior = shares[here].toarray()
        share = abstraction.node_given_doc(corpus.counts[here], model, posterior)
        explained += lengths[here] @ share
        rows = abstraction.prototypes(share, n_documents, lengths[here], STEADINESS)
        steady = lengths[here] / (lengths[here] + STEADINESS)
        scores.append(share[rows, np.arange(len(rows))[:, None]] * steady[rows])
        best.append(rows + start)
    order = np.argsort(-np.hstack(scores), axis=1, kind="stable")[:, :n_documents]
    return explained, np.take_along_axis(np.hstack(best), order, axis=1)


def _in_use(tree: Tree, columns: list[Any], counts: Csr, shares: Csr, mask: Any) -> list[Any]:
    """Of the words chosen for each node, those that the documents under it use more than all documents do.

    Where a node has hardly a word of its own, the likeliest words are those of the whole collection: they would say
    that the documents are about what they are not about.
    """
    chosen = np.unique(np.concatenate(columns))
    member = csr_array(shares.T)
    used = mask.T @ (member @ counts[:, chosen]).toarray()
    spoken = mask.T @ (member @ token_counts(counts))
    more = used * spoken[tree.root] > used[tree.root] * spoken[:, None]
    more[tree.root] = True
    return [own[more[node, np.searchsorted(chosen, own)]] for node, own in enumerate(columns)]
