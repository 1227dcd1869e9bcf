"""Word lists of users: seed words that belong to a node, and ignored words.

``seed_words`` are prior tokens of (C3), see ``models.seeds``. ``ignore_words`` are removed from all counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import TINY, Array, Bools, Csr, Floats, Ints
from topiarist.counts.validation import count_tokens
from topiarist.errors import UsageError
from topiarist.models.engine import tables
from topiarist.models.path_models import Seeds
from topiarist.text.spelling import format_proposals
from topiarist.trees.growth.parts import HALF_CERTAINTY, GrowthState
from topiarist.trees.tree import Tree

Words = Sequence[int | str]
SeedWords = Mapping[int | str, Words] | Sequence[Words]


def find_ignored_columns(estimator: Any) -> Ints:
    columns = _find_columns(estimator, "ignore_words", () if estimator.ignore_words is None else estimator.ignore_words)
    return np.array(sorted(set(columns)), np.int64)


def find_seed_groups(estimator: Any) -> list[list[int]]:
    """Return the columns of each group of seed words; raise UsageError for an ignored word among them."""
    seed_words = () if estimator.seed_words is None else estimator.seed_words
    groups = seed_words.values() if isinstance(seed_words, Mapping) else seed_words
    column_groups = [_find_columns(estimator, "seed_words", group) for group in groups]
    ignored = set(find_ignored_columns(estimator).tolist())
    for group in column_groups:
        if ignored.intersection(group):
            word = min(ignored.intersection(group))
            raise UsageError(
                f"the word {_describe_column(estimator, word)} is both in seed_words and in ignore_words",
                hint="Remove the word from one list.",
            )
    return column_groups


def check_chosen_words(estimator: Any) -> None:
    """Raise UsageError unless seeds come by node with a given tree, and in groups without one."""
    seed_words = estimator.seed_words
    if seed_words is None:
        return
    if isinstance(seed_words, str) or not isinstance(seed_words, Mapping | Sequence):
        hint = "Pass {'Energy': ['oil', 'gas']} with tree=Tree(...), or [['oil', 'gas'], ['court', 'trial']] without."
        raise UsageError(f"seed_words must be words by node, or groups of words, got {seed_words!r:.80}", hint=hint)
    if isinstance(seed_words, Mapping) != (estimator.tree is not None):
        reason = (
            "a tree that grows has no nodes yet" if estimator.tree is None else "the nodes of the given tree are known"
        )
        hint = (
            "Pass groups of words, [['oil', 'gas']]."
            if estimator.tree is None
            else "Pass words by node, {'Energy': ['oil']}."
        )
        raise UsageError(f"seed_words do not fit the tree: {reason}", hint=hint)


def find_seeds(estimator: Any) -> tuple[dict[int, list[int]], list[list[int]]]:
    """Return the columns of seed words by node of the given tree, or in groups without a tree."""
    groups, columns_by_node = find_seed_groups(estimator), dict[int, list[int]]()
    if estimator.tree is None:
        return {}, groups
    for node, columns in zip(() if estimator.seed_words is None else estimator.seed_words, groups, strict=True):
        columns_by_node.setdefault(_find_node(estimator.tree, node), []).extend(columns)
    return columns_by_node, []


def assign_seed_groups(groups: Iterable[Sequence[int]], parts: GrowthState) -> dict[int, list[int]]:
    """Return the node below the root where each group of words is most probable."""
    weight = parts.class_prior @ parts.node_given_class
    columns_by_node: dict[int, list[int]] = {}
    for columns in groups:
        weights = weight[:, None] * tables.to_numpy(parts.word_given_node)[:, columns].astype(np.float64)
        share = (weights / np.maximum(weights.sum(axis=0), TINY)).sum(axis=1)
        if len(parts.tree) > 1:
            share[parts.tree.root] = -1.0
        columns_by_node.setdefault(int(share.argmax()), []).extend(columns)
    return columns_by_node


def make_seeds(words: Mapping[int, Sequence[int]], mask: Bools, class_tokens: Floats) -> Seeds | None:
    return Seeds.from_words(words, class_tokens @ mask) if words else None


def apply_seeds(parts: GrowthState, counts: Csr, words: Mapping[int, Sequence[int]], words_of: Any) -> GrowthState:
    """Return start parameters in which seeded nodes have the words of the documents with their seed words.

    A seeded leaf is swapped with the leaf that has most of these documents, and then gets the remaining ones.
    """
    seed_tokens = np.stack(
        [count_tokens(csr_array(counts[:, sorted(set(columns))])) for columns in words.values()], axis=1
    )
    first = np.where(seed_tokens.max(axis=1) > 0, seed_tokens.argmax(axis=1), -1)
    table, shares = parts.word_given_node.copy(), parts.class_given_doc.copy()
    for place, node in enumerate(words):
        documents = np.flatnonzero(first == place)
        if not len(documents):
            continue
        if node in parts.class_nodes:
            leaf, target = parts.class_nodes.index(node), int(shares[documents].sum(axis=0).argmax())
            if parts.class_nodes[target] not in words:
                shares[:, [leaf, target]] = shares[:, [target, leaf]]
                table[[node, parts.class_nodes[target]]] = table[[parts.class_nodes[target], node]]
            shares[documents] = (1 - HALF_CERTAINTY) / max(1, parts.n_classes - 1)
            shares[documents, leaf] = HALF_CERTAINTY
            documents = np.flatnonzero(shares.argmax(axis=1) == leaf)
        table[node] = words_of(documents)
    return replace(parts, word_given_node=table, class_given_doc=shares)


def to_seed_pairs(words: Mapping[int, Sequence[int]]) -> Ints:
    """Return nodes and columns of seeds, (n_seeds, 2), as a fitted estimator stores them."""
    node_columns = [(node, column) for node, columns in sorted(words.items()) for column in sorted(set(columns))]
    return np.array(node_columns, np.int64).reshape(-1, 2)


def from_seed_pairs(seed_pairs: Array) -> dict[int, list[int]]:
    columns_by_node: dict[int, list[int]] = {}
    for node, column in np.asarray(seed_pairs).tolist():
        columns_by_node.setdefault(node, []).append(column)
    return columns_by_node


def _find_node(tree: Tree, node: int | str) -> int:
    """Return a node by its number or unique name; raise UsageError otherwise."""
    if isinstance(node, str) and node in tree.names:
        if tree.names.count(node) > 1:
            raise UsageError(
                f"{tree.names.count(node)} nodes are called {node!r}",
                hint=f"Use its number, such as {tree.names.index(node)}.",
            )
        return tree.names.index(node)
    if isinstance(node, str) and not node.isdecimal():
        raise UsageError(f"seed_words: no node of the tree is called {node!r}", hint=format_proposals(node, tree.names))
    return tree.check_node(int(node))


def _find_columns(estimator: Any, option: str, words: Words) -> list[int]:
    """Return columns by number, or by name if the counts have names."""
    if isinstance(words, str) or not isinstance(words, Sequence | np.ndarray):
        raise UsageError(
            f"{option} must be a list of words, got {words!r:.80}", hint="Pass a list such as ['oil', 'gas']."
        )
    names, number = getattr(estimator, "feature_names_in_", None), int(estimator.n_features_in_)
    places = {} if names is None else {str(name): column for column, name in enumerate(names)}
    column_numbers = []
    for word in words:
        if isinstance(word, str) and word in places:
            column_numbers.append(places[word])
        elif isinstance(word, str):
            hint = (
                format_proposals(word, places)
                if places
                else "Use numbers of columns, such as vocabulary.columns['oil']."
            )
            problem = f"no column is called {word!r}" if places else f"the counts have no names, and {word!r} is one"
            raise UsageError(f"{option}: {problem}", hint=hint)
        elif not 0 <= int(word) < number:
            raise UsageError(f"{option}: there is no column {word}", hint=f"Use a column from 0 to {number - 1}.")
        else:
            column_numbers.append(int(word))
    return column_numbers


def _describe_column(estimator: Any, column: int) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    return f"{column}" if names is None else repr(str(names[column]))
