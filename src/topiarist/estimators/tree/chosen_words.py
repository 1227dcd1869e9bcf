"""Words that people choose for a tree: some that belong to a node, others that it must not see.

``seed_words`` are prior tokens of (C3), see ``models.seeds``; ``ignore_words`` are left out of every count that an
estimator is given, and no node has any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Floats, Ints
from topiarist.counts.validation import token_counts
from topiarist.errors import UsageError
from topiarist.hierarchy.growth.parts import CERTAIN, Parts
from topiarist.hierarchy.tree import Tree
from topiarist.models.engine import tables
from topiarist.models.seeds import Seeds
from topiarist.text.spelling import proposed

Words = Sequence[int | str]
SeedWords = Mapping[int | str, Words] | Sequence[Words]


def ignored_columns(estimator: Any) -> Ints:
    """The columns that an estimator must not see, as it knows them after it has seen counts."""
    found = _columns(estimator, "ignore_words", () if estimator.ignore_words is None else estimator.ignore_words)
    return np.array(sorted(set(found)), np.int64)


def seeded_groups(estimator: Any) -> list[list[int]]:
    """The columns of each group of seed words; none of them may be ignored."""
    given = () if estimator.seed_words is None else estimator.seed_words
    groups = given.values() if isinstance(given, Mapping) else given
    found = [_columns(estimator, "seed_words", group) for group in groups]
    ignored = set(ignored_columns(estimator).tolist())
    for group in found:
        if ignored.intersection(group):
            word = min(ignored.intersection(group))
            raise UsageError(
                f"the word {_called(estimator, word)} is both in seed_words and in ignore_words: a word that the tree "
                "does not see draws no documents",
                hint="leave it out of one of them",
            )
    return found


def check_chosen_words(estimator: Any) -> None:
    """Seeds by node need a tree that is given; groups of seeds find their nodes in one that grows."""
    given = estimator.seed_words
    if given is None:
        return
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        hint = "{'Energy': ['oil', 'gas']} with tree=Tree(...), or [['oil', 'gas'], ['court', 'trial']] without"
        raise UsageError(f"seed_words must be words by node, or groups of words, got {given!r:.80}", hint=hint)
    if isinstance(given, Mapping) != (estimator.tree is not None):
        why = (
            "a tree that grows has no nodes yet" if estimator.tree is None else "the nodes of the given tree are known"
        )
        hint = "groups of words: [['oil', 'gas']]" if estimator.tree is None else "words by node: {'Energy': ['oil']}"
        raise UsageError(f"seed_words do not fit the tree: {why}", hint=hint)


def seeded_nodes(estimator: Any, tree: Tree) -> dict[int, list[int]]:
    """The columns of seeds by node of a given tree, by its number or its name."""
    found: dict[int, list[int]] = {}
    for node, columns in zip(
        () if estimator.seed_words is None else estimator.seed_words, seeded_groups(estimator), strict=True
    ):
        found.setdefault(_node(tree, node), []).extend(columns)
    return found


def homes(groups: Iterable[Sequence[int]], parts: Parts) -> dict[int, list[int]]:
    """The node of a grown tree for each group of words: below the root, where they are most at home."""
    weight = parts.class_prior @ parts.node_given_class
    found: dict[int, list[int]] = {}
    for columns in groups:
        spoken = weight[:, None] * tables.at_home(parts.word_given_node)[:, columns].astype(np.float64)
        share = (spoken / np.maximum(spoken.sum(axis=0), 1e-300)).sum(axis=1)
        if len(parts.tree) > 1:
            share[parts.tree.root] = -1.0
        found.setdefault(int(share.argmax()), []).extend(columns)
    return found


def seeds_of(words: Mapping[int, Sequence[int]], mask: Bools, class_tokens: Floats) -> Seeds | None:
    """Prior tokens of words by node, in proportion to the tokens of the documents under each node."""
    return Seeds.of(words, class_tokens @ mask) if words else None


def sown(parts: Parts, counts: Csr, words: Mapping[int, Sequence[int]], words_of: Any) -> Parts:
    """A start in which seeded nodes speak as the documents with their words do.

    A leaf changes places with the one that most of these documents were dealt to, and gets the rest of them.
    """
    spoken = np.stack([token_counts(csr_array(counts[:, sorted(set(columns))])) for columns in words.values()], axis=1)
    first = np.where(spoken.max(axis=1) > 0, spoken.argmax(axis=1), -1)
    table, shares = parts.word_given_node.copy(), parts.class_given_doc.copy()
    for place, node in enumerate(words):
        documents = np.flatnonzero(first == place)
        if not len(documents):
            continue
        if node in parts.class_nodes:
            own, most = parts.class_nodes.index(node), int(shares[documents].sum(axis=0).argmax())
            if parts.class_nodes[most] not in words:
                shares[:, [own, most]] = shares[:, [most, own]]
                table[[node, parts.class_nodes[most]]] = table[[parts.class_nodes[most], node]]
            shares[documents] = (1 - CERTAIN) / max(1, parts.n_classes - 1)
            shares[documents, own] = CERTAIN
            documents = np.flatnonzero(shares.argmax(axis=1) == own)
        table[node] = words_of(documents)
    return replace(parts, word_given_node=table, class_given_doc=shares)


def pairs(words: Mapping[int, Sequence[int]]) -> Ints:
    """Nodes and columns of seeds, (n_seeds, 2), as a fitted estimator keeps them."""
    found = [(node, column) for node, columns in sorted(words.items()) for column in sorted(set(columns))]
    return np.array(found, np.int64).reshape(-1, 2)


def by_node(kept: Array) -> dict[int, list[int]]:
    """What ``pairs`` has made."""
    found: dict[int, list[int]] = {}
    for node, column in np.asarray(kept).tolist():
        found.setdefault(node, []).append(column)
    return found


def _node(tree: Tree, node: int | str) -> int:
    if isinstance(node, str) and node in tree.names:
        if tree.names.count(node) > 1:
            raise UsageError(f"{tree.names.count(node)} nodes are called {node!r}", hint=f"{tree.names.index(node)}")
        return tree.names.index(node)
    if isinstance(node, str) and not node.isdecimal():
        raise UsageError(f"seed_words: no node of the tree is called {node!r}", hint=proposed(node, tree.names))
    return tree.checked(int(node))


def _columns(estimator: Any, option: str, words: Words) -> list[int]:
    """Columns by number, or by name where the counts came with names."""
    if isinstance(words, str) or not isinstance(words, Sequence | np.ndarray):
        raise UsageError(f"{option} must be a list of words, got {words!r:.80}", hint="['oil', 'gas']")
    names, number = getattr(estimator, "feature_names_in_", None), int(estimator.n_features_in_)
    places = {} if names is None else {str(name): column for column, name in enumerate(names)}
    found = []
    for word in words:
        if isinstance(word, str) and word in places:
            found.append(places[word])
        elif isinstance(word, str):
            hint = proposed(word, places) if places else "numbers of columns: vocabulary.columns['oil']"
            known = f"no column is called {word!r}" if places else f"the counts have no names, and {word!r} is one"
            raise UsageError(f"{option}: {known}", hint=hint)
        elif not 0 <= int(word) < number:
            raise UsageError(f"{option}: there is no column {word}", hint=f"0 to {number - 1}")
        else:
            found.append(int(word))
    return found


def _called(estimator: Any, column: int) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    return f"{column}" if names is None else repr(str(names[column]))
