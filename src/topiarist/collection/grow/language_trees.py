"""One tree over documents in several languages: each language is grown on its own, and then they are joined.

Two languages share hardly a word, and so whatever counts words divides by language first. Here every language that
enough documents have gets a tree of its own, as deep as its own held-out words tell. ``apart``: they are branches.
``together``: their headings stand beside each other under one root, and topics of both are one where the words that
both languages have (names, loan words) tell the same of them, more than by chance. Where too few words are common to
tell, topics of different languages stay neighbours: nobody here knows a dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Ints
from topiarist.collection.grow.recipe import APART
from topiarist.counts.languages import Languages
from topiarist.counts.room import row_runs
from topiarist.counts.validation import document_frequency
from topiarist.estimators.tree import joined_trees
from topiarist.estimators.tree.joined_trees import Node
from topiarist.hierarchy.tree import Tree
from topiarist.text.language import language_name
from topiarist.text.stop_words import function_words, has_stop_words

FEWEST, LEAST_SHARE = 100, 0.05  # documents of a language that is grown on its own, and their share of all
HALF = 0.5  # of the documents of a language have a word: it tells the language, and nothing else
COMMON, RATIO, LETTERS = 3, 0.05, 3  # documents of each language that have a word, rarer to more frequent, its letters
LEVELS = 3  # below the root, on which topics of two languages may be the same
FEWEST_UNDER = 15  # documents under such a topic
DRAWS, SURE = 400, 0.99  # of what chance would tell, and how many of these a likeness must exceed


def spoken(languages: Languages, n_docs: int) -> list[int]:
    """The places of the languages that enough documents have, the most frequent first; fewer than two are none."""
    least = max(FEWEST, LEAST_SHARE * n_docs)
    found = [place for place, size in enumerate(languages.sizes) if size >= least]
    return found if len(found) > 1 else []


def few_said(languages: Languages) -> str:
    """Which languages have too few documents for a tree of their own, and with which they are grown."""
    n_docs = len(languages.places)
    least = max(FEWEST, LEAST_SHARE * n_docs)
    few = [(code, size) for code, size in zip(languages.codes, languages.sizes, strict=True) if size < least]
    others = [one for one in few if one[0] != languages.codes[0]]
    if not others:
        return ""
    named = ", ".join(f"{language_name(code)} {size:,}" for code, size in others)
    return (
        f"Too few documents for a tree of their own, and so grown with {language_name(languages.codes[0])}: {named} "
        f"(a language needs {FEWEST:,} documents and {LEAST_SHARE:.0%} of all)"
    )


def telling_words(counts: Csr, languages: Languages) -> Bools:
    """The words that more than half of the documents of a language have: of several languages, each by its own."""
    found: Bools = np.zeros(counts.shape[1], np.bool_)
    for place in spoken(languages, counts.shape[0]):
        own = languages.places == place
        frequency = sum(document_frequency(rows[np.flatnonzero(own[here])]) for here, rows in row_runs(counts))
        found |= frequency > HALF * np.count_nonzero(own)
    return found


@dataclass(frozen=True)
class Branch:
    """A language that was grown on its own: its code, the rows of its documents, and the fitted model."""

    code: str
    rows: Ints
    model: Any

    @property
    def tree(self) -> Tree:
        """Its tree."""
        tree: Tree = self.model.tree_
        return tree

    @property
    def upper(self) -> list[int]:
        """Its topics down to some levels below the root; the root itself where there are none."""
        return [node for node, depth in enumerate(self.tree.depths) if 0 < depth <= LEVELS] or [self.tree.root]

    def lying(self) -> Bools:
        """Which of its documents lie mostly under each of these topics, (documents, topics)."""
        mask = self.tree.path_mask(self.model.tree_model_.class_nodes)[:, self.upper]
        found: Bools = np.asarray(self.model.cluster_given_doc_ @ mask) >= HALF
        return found


def rows_by_language(languages: Languages, rows: Ints | None) -> list[tuple[str, Ints]]:
    """Codes, and which of some documents are grown together: those of no such language go with the most frequent."""
    places = languages.places if rows is None else languages.places[rows]
    chosen = spoken(languages, len(languages.places))
    if not chosen:
        return []
    other = ~np.isin(places, chosen[1:])
    found = [np.flatnonzero(other), *(np.flatnonzero(places == place) for place in chosen[1:])]
    return [(languages.codes[place], own) for place, own in zip(chosen, found, strict=True) if len(own)]


def numbers_of_topics(wanted: int | None, sizes: Sequence[int]) -> list[int | None]:
    """How many topics each language gets of those that were asked for: by its documents, and at least one."""
    if wanted is None:
        return [None] * len(sizes)
    total, found = sum(sizes), list[int]()
    for place, size in enumerate(sizes[1:], 1):
        found.append(max(1, min(round(wanted * size / total), wanted - (len(sizes) - place))))
    return [max(1, wanted - sum(found)), *found]


@dataclass(frozen=True)
class Joined:
    """The fitted tree of all languages, how it came about in a sentence, and what its branches are called, by node."""

    model: Any
    said: str
    names: dict[int, str]


def joined(way: str, model: Any, branches: Sequence[Branch], counts: Csr, words: Sequence[str]) -> Joined:
    """The trees of languages as one."""
    trees = [one.tree for one in branches]
    named = [f"{language_name(one.code)} {len(one.tree.leaves):,}" for one in branches]
    grown = f"{', '.join(named)} topics, each language grown on its own"
    names: dict[int, str] = {}
    if way == APART:
        layout, said = joined_trees.side_by_side(trees), f"{grown}, as a branch"
        tops = [node for node, parent in enumerate(layout.parents) if parent == 0]
        names = {node: language_name(branches[layout.made_of[node][0][0]].code) for node in tops}
    else:
        same = same_topics(branches, counts, words)
        layout = joined_trees.under_one_root(trees, same)
        number = len(set(same.values()))
        several = "no topic is" if not number else "1 topic is" if number == 1 else f"{number:,} topics are"
        said = f"{grown}; {several} the same in several, by words that they share"
    fitted = joined_trees.join(model, [one.model for one in branches], [one.rows for one in branches], counts, layout)
    return Joined(fitted, said, names)


def same_topics(branches: Sequence[Branch], counts: Csr, words: Sequence[str]) -> dict[Node, Node]:
    """Topics of further languages that are the same as one of the first language, and that one: the surest first.

    None of them lies below another.
    """
    first, found = branches[0], dict[Node, Node]()
    for number, other in enumerate(branches[1:], 1):
        shared = _shared_words(first, other, counts, words)
        if shared.sum() < COMMON:
            continue
        ours, theirs = (_signatures(one, counts[:, np.flatnonzero(shared)]) for one in (first, other))
        likeness, chance = ours @ theirs.T, _by_chance(ours, theirs)
        for place in np.argsort(-likeness, axis=None, kind="stable").tolist():
            one, two = divmod(place, likeness.shape[1])
            if likeness[one, two] <= chance:
                break
            here, there = (0, first.upper[one]), (number, other.upper[two])
            mine = {node: target for node, target in found.items() if node[0] == number}
            others = [target[1] for target in found.values() if target != here]  # two languages may have the same
            if here in mine.values() or _nested(other.tree, there[1], [node for _, node in mine]):
                continue
            if not _nested(first.tree, here[1], others):
                found[there] = here
    return found


def _nested(tree: Tree, node: int, others: Sequence[int]) -> bool:
    """Whether a node is above or below one of others, or one of them."""
    return any(node in tree.path(other) or other in tree.path(node) for other in others)


def _shared_words(first: Branch, other: Branch, counts: Csr, words: Sequence[str]) -> Bools:
    """Words that both languages have about as often, and that say something in neither grammar."""
    rates, number = list[Array](), list[Array]()
    for one in (first, other):
        number.append(document_frequency(counts[one.rows]))
        rates.append(number[-1] / max(1, len(one.rows)))
    ratio = np.minimum(*rates) / np.maximum(np.maximum(*rates), 1e-12)
    grammar = {word for one in (first, other) if has_stop_words(one.code) for word in function_words(one.code)}
    plain = np.array([len(word) >= LETTERS and word not in grammar for word in words], np.bool_)
    found: Bools = (np.minimum(*number) >= COMMON) & (ratio >= RATIO) & plain
    return found


def _signatures(branch: Branch, counts: Csr) -> Array:
    """Of each topic how much more often its documents have a word than those of its language; of length one."""
    own, lying = counts[branch.rows], branch.lying()
    everywhere = (document_frequency(own) + 0.5) / (own.shape[0] + 1)
    found: Array = np.zeros((lying.shape[1], counts.shape[1]))
    for place in range(len(found)):
        rows = np.flatnonzero(lying[:, place])
        if len(rows) >= FEWEST_UNDER:
            rate = (document_frequency(own[rows]) + everywhere) / (len(rows) + 1)
            found[place] = np.maximum(np.log(rate / everywhere), 0.0) * np.sqrt(rate)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return found


def _by_chance(ours: Array, theirs: Array) -> float:
    """The likeness that the best of as many pairs would have if words meant nothing: by words that change places."""
    rng, found = np.random.default_rng(0), list[float]()
    for _ in range(DRAWS):
        found.append(float((ours @ theirs[:, rng.permutation(theirs.shape[1])].T).max(initial=0.0)))
    return float(np.quantile(found, SURE))
