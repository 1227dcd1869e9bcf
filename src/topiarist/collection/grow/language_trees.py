"""One tree over documents in several languages: each language gets its own tree, and these are joined.

Languages share few words, so that a model of words divides by language first. Every language with enough documents
gets its own tree, as deep as its held-out words allow. ``apart``: the trees are branches. ``together``: their headings
are under one root. Topics of two languages become one if common words (names, loan words) have a similar distribution
in both, above chance. Without enough common words, topics of different languages stay separate: there is no dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Ints
from topiarist.collection.grow.recipe import APART
from topiarist.counts.languages import Languages
from topiarist.counts.scratch import iterate_rows
from topiarist.counts.validation import compute_document_frequency
from topiarist.estimators.tree import joined_trees
from topiarist.estimators.tree.joined_trees import Node
from topiarist.plurals import count_noun
from topiarist.text.language import language_name
from topiarist.text.stop_words import function_words, has_stop_words
from topiarist.trees.tree import Tree

MIN_DOCUMENTS, MIN_SHARE = 30, 0.01  # documents of a language with its own tree, and their share of all
MIN_WITH_WORDS = 20  # documents of such a language with words that others of the collection have
HALF = 0.5  # share of documents above which a word marks the language only
MIN_COMMON, MIN_RATIO, MIN_LETTERS = (
    3,
    0.05,
    3,
)  # documents in each language, ratio of frequencies, letters of a shared word
MAX_LEVELS = 3  # below the root, on which topics of two languages are compared
MIN_TOPIC_DOCUMENTS = 15  # documents under such a topic
N_PERMUTATIONS, CHANCE_QUANTILE = 400, 0.99  # random permutations, and the share of them that a similarity must exceed


def select_languages(languages: Languages, n_docs: int) -> list[int]:
    """Return the places of languages with enough documents, the most frequent first; empty for fewer than two."""
    min_documents = max(MIN_DOCUMENTS, MIN_SHARE * n_docs)
    places = [place for place, size in enumerate(languages.sizes) if size >= min_documents]
    return places if len(places) > 1 else []


def describe_small_languages(languages: Languages) -> str:
    """Return a sentence on languages with too few documents for a tree; empty without any."""
    n_docs = len(languages.places)
    min_documents = max(MIN_DOCUMENTS, MIN_SHARE * n_docs)
    small_languages = [
        (code, size) for code, size in zip(languages.codes, languages.sizes, strict=True) if size < min_documents
    ]
    others = [entry for entry in small_languages if entry[0] != languages.codes[0]]
    if not others:
        return ""
    named = ", ".join(f"{language_name(code)} {size:,}" for code, size in others)
    return (
        f"Too few documents for a separate tree, grown with {language_name(languages.codes[0])}: {named} "
        f"(a language needs {MIN_DOCUMENTS:,} documents and {MIN_SHARE:.0%} of all)"
    )


def find_language_words(counts: Csr, languages: Languages) -> Bools:
    """Return the mask of words that more than half of the documents of a language have."""
    mask: Bools = np.zeros(counts.shape[1], np.bool_)
    for place in select_languages(languages, counts.shape[0]):
        is_language = languages.places == place
        frequency = sum(
            compute_document_frequency(rows[np.flatnonzero(is_language[run])]) for run, rows in iterate_rows(counts)
        )
        mask |= frequency > HALF * np.count_nonzero(is_language)
    return mask


@dataclass(frozen=True)
class Branch:
    """Language with its own tree: code, rows of its documents, and the fitted model."""

    code: str
    rows: Ints
    model: Any

    @property
    def tree(self) -> Tree:
        """Topic tree of the language."""
        tree: Tree = self.model.tree_
        return tree

    @property
    def upper(self) -> list[int]:
        """Topics down to ``MAX_LEVELS`` below the root; the root itself in a tree of one node."""
        return [node for node, depth in enumerate(self.tree.depths) if 0 < depth <= MAX_LEVELS] or [self.tree.root]

    def find_assigned(self) -> Bools:
        """Return which documents have at least half of their content under each upper topic, (documents, topics)."""
        mask = self.tree.path_mask(self.model.tree_model_.class_nodes)[:, self.upper]
        is_assigned: Bools = np.asarray(self.model.cluster_given_doc_ @ mask) >= HALF
        return is_assigned


def group_rows(languages: Languages, rows: Ints | None) -> list[tuple[str, Ints]]:
    """Return codes and rows of documents that grow together; small languages join the most frequent one."""
    places = languages.places if rows is None else languages.places[rows]
    languages_chosen = select_languages(languages, len(languages.places))
    if not languages_chosen:
        return []
    distinct = np.bincount(places[places >= 0], minlength=len(languages.codes))  # without duplicates
    languages_chosen = [place for place in languages_chosen if distinct[place] >= MIN_DOCUMENTS]
    if len(languages_chosen) < 2:
        return []
    other = ~np.isin(places, languages_chosen[1:])
    groups = [np.flatnonzero(other), *(np.flatnonzero(places == place) for place in languages_chosen[1:])]
    return [
        (languages.codes[place], language_rows)
        for place, language_rows in zip(languages_chosen, groups, strict=True)
        if len(language_rows)
    ]


def join_wordless(groups: list[tuple[str, Ints]], counts: Csr) -> list[tuple[str, Ints]]:
    """Return the groups of languages; those with too few documents with words join the first one."""
    lengths = np.diff(counts.indptr)
    is_full = [np.count_nonzero(lengths[rows]) >= MIN_WITH_WORDS for _, rows in groups]
    first = [rows for place, (_, rows) in enumerate(groups) if place == 0 or not is_full[place]]
    others = [group for group, full in zip(groups[1:], is_full[1:], strict=True) if full]
    return [(groups[0][0], np.sort(np.concatenate(first))), *others]


def divide_topics(n_topics: int | None, sizes: Sequence[int]) -> list[int | None]:
    """Return the number of topics of each language by its documents, at least one; None if none is set."""
    if n_topics is None:
        return [None] * len(sizes)
    total, numbers = sum(sizes), list[int]()
    for place, size in enumerate(sizes[1:], 1):
        numbers.append(max(1, min(round(n_topics * size / total), n_topics - (len(sizes) - place))))
    return [max(1, n_topics - sum(numbers)), *numbers]


@dataclass(frozen=True)
class JoinedTrees:
    """Fitted tree of all languages, a sentence on its origin, and the names of its branches by node."""

    model: Any
    summary: str
    names: dict[int, str]


def join_trees(way: str, model: Any, branches: Sequence[Branch], counts: Csr, words: Sequence[str]) -> JoinedTrees:
    """Return the trees of several languages as one tree."""
    trees = [branch.tree for branch in branches]
    named = [f"{language_name(branch.code)} {len(branch.tree.leaves):,}" for branch in branches]
    introduction = f"{', '.join(named)} topics, each language grown on its own"
    names: dict[int, str] = {}
    if way == APART:
        layout, summary = joined_trees.lay_out_side_by_side(trees), f"{introduction}, as a branch"
        tops = [node for node, parent in enumerate(layout.parents) if parent == 0]
        names = {node: language_name(branches[layout.old_nodes[node][0][0]].code) for node in tops}
    else:
        matches = match_topics(branches, counts, words)
        layout = joined_trees.lay_out_under_one_root(trees, matches)
        number = len(set(matches.values()))
        clause = count_noun(number, "topic is", "topics are") if number else "no topic is"
        summary = f"{introduction}; {clause} the same in several, by words that they share"
    fitted = joined_trees.fit_joined_tree(
        model, [branch.model for branch in branches], [branch.rows for branch in branches], counts, layout
    )
    return JoinedTrees(fitted, summary, names)


def match_topics(branches: Sequence[Branch], counts: Csr, words: Sequence[str]) -> dict[Node, Node]:
    """Return topics of further languages with their counterpart in the first language, the surest first.

    No matched topic is below another one.
    """
    first, matches = branches[0], dict[Node, Node]()
    for number, other in enumerate(branches[1:], 1):
        shared = _find_shared_words(first, other, counts, words)
        if shared.sum() < MIN_COMMON:
            continue
        first_signatures, second_signatures = (
            _compute_signatures(row, counts[:, np.flatnonzero(shared)]) for row in (first, other)
        )
        likeness, chance = first_signatures @ second_signatures.T, _estimate_chance(first_signatures, second_signatures)
        for place in np.argsort(-likeness, axis=None, kind="stable").tolist():
            row, column = divmod(place, likeness.shape[1])
            if likeness[row, column] <= chance:
                break
            here, there = (0, first.upper[row]), (number, other.upper[column])
            own_matches = {node: target for node, target in matches.items() if node[0] == number}
            others = [
                target[1] for target in matches.values() if target != here
            ]  # a counterpart can have topics of several languages
            if here in own_matches.values() or _is_nested(other.tree, there[1], [node for _, node in own_matches]):
                continue
            if not _is_nested(first.tree, here[1], others):
                matches[there] = here
    return matches


def _is_nested(tree: Tree, node: int, others: Sequence[int]) -> bool:
    """Return whether a node is among other nodes, above one or below one."""
    return any(node in tree.path(other) or other in tree.path(node) for other in others)


def _find_shared_words(first: Branch, other: Branch, counts: Csr, words: Sequence[str]) -> Bools:
    """Return the mask of words that two languages use about equally often, without function words."""
    rates, number = list[Array](), list[Array]()
    for branch in (first, other):
        number.append(compute_document_frequency(counts[branch.rows]))
        rates.append(number[-1] / max(1, len(branch.rows)))
    ratio = np.minimum(*rates) / np.maximum(np.maximum(*rates), 1e-12)
    grammar = {word for branch in (first, other) if has_stop_words(branch.code) for word in function_words(branch.code)}
    plain = np.array([len(word) >= MIN_LETTERS and word not in grammar for word in words], np.bool_)
    shared: Bools = (np.minimum(*number) >= MIN_COMMON) & (ratio >= MIN_RATIO) & plain
    return shared


def _compute_signatures(branch: Branch, counts: Csr) -> Array:
    """Return a unit vector of words for each topic: how much more frequent a word is in it than in its language.

    Topics with few documents have a row of zeros.
    """
    language_counts, assigned = counts[branch.rows], branch.find_assigned()
    base_rate = (compute_document_frequency(language_counts) + 0.5) / (language_counts.shape[0] + 1)
    signatures: Array = np.zeros((assigned.shape[1], counts.shape[1]))
    for place in range(len(signatures)):
        rows = np.flatnonzero(assigned[:, place])
        if len(rows) >= MIN_TOPIC_DOCUMENTS:
            rate = (compute_document_frequency(language_counts[rows]) + base_rate) / (len(rows) + 1)
            signatures[place] = np.maximum(np.log(rate / base_rate), 0.0) * np.sqrt(rate)
    signatures /= np.maximum(np.linalg.norm(signatures, axis=1, keepdims=True), 1e-12)
    return signatures


def _estimate_chance(first: Array, second: Array) -> float:
    """Return the largest similarity of any pair of topics under random permutations of the words."""
    rng, maxima = np.random.default_rng(0), list[float]()
    for _ in range(N_PERMUTATIONS):
        maxima.append(float((first @ second[:, rng.permutation(second.shape[1])].T).max(initial=0.0)))
    return float(np.quantile(maxima, CHANCE_QUANTILE))
