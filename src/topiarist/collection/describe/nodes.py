"""The nodes of a fitted tree as a person reads them: their words, their sizes, documents that speak from them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr
from topiarist.collection.describe.flat_topics import coherences, names_of
from topiarist.counts.corpus import Corpus
from topiarist.counts.room import picked, row_runs
from topiarist.counts.validation import column_totals, token_counts
from topiarist.hierarchy.growth.headings import gains
from topiarist.hierarchy.naming.exam import is_formula
from topiarist.hierarchy.naming.names import node_names, shares_word, usable_words
from topiarist.hierarchy.naming.presence import describing_words, presence_of, rival_words
from topiarist.hierarchy.naming.readings import Readings, largest_classes, read, sample_of
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.hierarchy.tree_text import DOT
from topiarist.text.stop_words import function_words

ROOT = "Everything"
STEADINESS = 20.0  # tokens of doubt, so that the purest document is not the shortest
WORDLESS = "no words of its own"
BLOCK = 1 << 16  # documents that are read at once: memory does not grow with documents × nodes
REMEMBERED = 6  # first words of a node among which those of an earlier name still name it
IN_A_NAME = 2  # words of a node that make its name; more where siblings would be called the same
OF_EACH = 64  # documents of a class that are looked at, at least, where it has as many
JUDGED = 10  # first words of a node whose coherence is told, as everybody tells it; more are kept to be read


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
    names: tuple[str, ...] = ()  # what it may be called, the best first
    gain: float = 0.0  # what a reader learns by seeing its children instead of it


def describe_nodes(
    model: TreeModel,
    shares: Csr,
    corpus: Corpus,
    general: Sequence[str] = (),
    *,
    n_words: int = 8,
    n_documents: int = 3,
    language: str = "",
    texts: Sequence[str] | None = None,
    ignored: Collection[str] = (),
    seeds: Mapping[int, Sequence[int]] | None = None,
    standing: Bools | None = None,
) -> tuple[NodeSummary, ...]:
    """The nodes of a tree; ``shares`` are those of the documents in its classes.

    ``general`` are words that were set aside before; they stand before the root's own. Below the root the function
    words of the ``language`` (or of several, "en de") describe nothing, however frequent they are. Names have phrases
    where there are ``texts`` to read some of (those of the corpus, if it has them). No name has an ``ignored`` word.
    ``seeds`` are columns that people want at nodes: they come first there, if a document of the node has them.
    ``standing``: documents that may stand for a node; None: all. Which words go together, and who stands for a node, is
    asked of as many documents as a tree grows from, where there are more; how many have a word, of all.
    """
    tree = model.tree
    mask = tree.path_mask(model.class_nodes)
    looked = _looked_at(csr_array(shares))
    seen = corpus.counts if looked is None else picked(corpus.counts, looked)
    typical = _typical(model, shares, seen, n_documents, standing, looked)
    known = corpus.vocabulary.words
    functional = frozenset[str]().union(*map(function_words, language.split()))
    texts = texts if texts is not None else corpus.texts
    empty = np.array([word in functional for word in known], bool) if functional else None
    presence = presence_of(tree, model.class_nodes, shares, corpus.counts)
    readings = None
    if texts is not None:
        listed = {*usable_words(presence, known, empty).tolist(), *rival_words(presence, n_words).tolist()}
        readings = read(texts, sample_of(shares), [known[column] for column in sorted(listed)])
        readings = _without(readings, frozenset(ignored))
        functional = functional | readings.verbs
        empty = np.array([word in functional or is_formula(word) for word in known], bool)
    columns = describing_words(presence, n_words, counts=seen, words=known, empty=empty, first=seeds)
    names = node_names(presence, known, model.class_nodes, readings, empty=empty)
    words = [tuple(corpus.vocabulary.words[column] for column in chosen) for chosen in columns]
    words[tree.root] = (*general[:n_words], *words[tree.root])
    size = column_totals(shares) @ mask
    coherence = coherences([chosen[:JUDGED] for chosen in columns], seen)
    of_classes = csr_array(model.node_given_class) @ model.word_given_node  # of hundreds of nodes few are on a path
    gain = gains(tree, model.class_nodes, of_classes, size[list(model.class_nodes)])
    return tuple(
        NodeSummary(
            words[node], float(size[node]), float(size[node] / max(size[tree.root], 1e-300)),
            names_of(corpus, typical[node]), coherence[node], tree.depths[node], tuple(typical[node].tolist()),
            names[node].candidates, gain[node],
        )
        for node in range(len(tree))
    )  # fmt: skip


def _without(readings: Readings, ignored: frozenset[str]) -> Readings:
    """Readings without phrases that have an ignored word in them."""
    kept = {phrase: by_leaf for phrase, by_leaf in readings.phrases.items() if not ignored.intersection(phrase.split())}
    return replace(readings, phrases=kept)


def named(
    tree: Tree,
    words: Sequence[tuple[str, ...]],
    before: Sequence[str] = (),
    names: Sequence[tuple[str, ...]] = (),
    stayed: frozenset[int] = frozenset(),
) -> Tree:
    """The tree with nodes called by their best names, or first words, unless somebody gave them names.

    ``before``: what they were called. The name of a node whose documents ``stayed`` is kept, and one that is still
    among a node's names, or whose words are still among its first ones: people are left with what they remember. Other
    names share no word with those beside them, as far as there are such.
    """
    numbered = Tree(tree.parents)
    if tree.names != numbered.names:
        return Tree(tree.parents, tuple(name or ROOT for name in tree.names))
    names = names or [()] * len(tree)
    called = [ROOT] * len(tree)
    for parent in range(len(tree)):
        below = tree.children(parent)
        kept = {
            child: before[child]
            for child in below
            if before and (child in stayed or before[child] in names[child] or _still(before[child], words[child]))
        }
        taken = set(kept.values())
        for child in below:
            called[child] = kept.get(child) or _beside(taken, names[child], words[child])
            taken.add(called[child])
    return Tree(tree.parents, tuple(called))


def _still(name: str, words: tuple[str, ...]) -> bool:
    """Whether the words of a name are still among the first of a node."""
    return bool(name) and set(name.split(DOT)) <= set(words[:REMEMBERED])


def _beside(taken: Collection[str], names: Sequence[str], words: tuple[str, ...]) -> str:
    """The first name that shares no word with those beside it, else some words that they do not have."""
    free = DOT.join([word for word in words if not shares_word(word, taken)][:IN_A_NAME])
    unlike = [name for name in (*names, free) if name and not shares_word(name, taken)]
    return next(name for name in itertools.chain(unlike, names, _possible_names(words)) if name not in taken)


def _possible_names(words: tuple[str, ...]) -> Iterator[str]:
    """Two words, then more of them, then numbers behind them."""
    words = words or (WORDLESS,)
    for number in range(min(IN_A_NAME, len(words)), len(words) + 1):
        yield DOT.join(words[:number])
    yield from (f"{DOT.join(words[:IN_A_NAME])} ({number})" for number in itertools.count(2))


def _looked_at(shares: Csr) -> Array | None:
    """The documents that tell which words go together, and that may stand for a node; None: all.

    Of each class there are some, however few it has.
    """
    # a second to load, which those who only look do not need
    from topiarist.estimators.tree.growth_sample import sampled

    some = sampled(shares.shape[0], 0)
    if some is None:
        return None
    own = largest_classes(shares)
    seen = np.bincount(own[some][own[some] >= 0], minlength=shares.shape[1])
    rare = np.flatnonzero(seen < OF_EACH)
    order = np.argsort(own, kind="stable") if len(rare) else some
    ends = np.searchsorted(own, np.arange(shares.shape[1] + 1), sorter=order) if len(rare) else ()
    more = [_evenly(order[ends[number] : ends[number + 1]], OF_EACH) for number in rare.tolist()]
    return np.unique(np.concatenate([some, *more]))


def _evenly(rows: Array, number: int) -> Array:
    """So many of some rows, evenly over them; all, where they are fewer."""
    return rows if len(rows) <= number else rows[np.linspace(0, len(rows) - 1, number).astype(np.int64)]


def _typical(
    model: TreeModel, shares: Csr, counts: Csr, n_documents: int, standing: Bools | None, looked: Array | None
) -> Any:
    """The documents that speak most from each node, read block by block; ``counts`` are those of who is looked at."""
    from topiarist.estimators.tree import abstraction

    every = np.arange(counts.shape[0]) if looked is None else looked
    lengths = token_counts(counts) if standing is None else token_counts(counts) * standing[every]
    steady, best, scores = lengths / (lengths + STEADINESS), [], []
    for here, own in row_runs(counts, BLOCK):
        share = abstraction.sparse_node_given_doc(own, model, shares[every[here]])
        rows = abstraction.prototypes(share, n_documents, lengths[here], STEADINESS)
        scores.append(share.tocsr()[rows, np.arange(len(rows))[:, None]].toarray() * steady[here][rows])
        best.append(every[here][rows])
    order = np.argsort(-np.hstack(scores), axis=1, kind="stable")[:, :n_documents]
    return np.take_along_axis(np.hstack(best), order, axis=1)
