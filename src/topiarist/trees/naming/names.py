"""Names of nodes, made of words and phrases.

Names prefer special words more than the words of a node do: p^¾ · log(p/q), by documents (see ``presence``). They use
phrases of two or three words of the node's documents. Words without a subject are recognised in any language: they
are spread over unrelated leaves, so that q is large; addresses and boilerplate by their positions, verbs by the
articles behind them, dates by numbers behind them, and ends of compounds by hyphens (see
``text_features``); numbers have digits. No word of a name is in a sibling's name or in that
of a heading above, and a name, used as a query, must find its own node (see ``name_test``): by all documents, and by
each half of them, because a word of a few documents is often there by chance. For the same reason p is less 1.5
standard errors.

A name must be true of everything below a heading. A word of a heading's name is at least twice as frequent as
elsewhere in every child that has a tenth of the heading's documents. A heading without such a word is named by its
two largest children, with a comma between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr
from topiarist.trees.growth.headings import MIN_COVERED_SHARE, MIN_SHARE_RATIO
from topiarist.trees.naming.name_test import (
    MAX_WORDS,
    NameItem,
    NameTest,
    is_plain,
    split_items,
    split_name,
)
from topiarist.trees.naming.presence import Presence, distinctiveness, subtract_error
from topiarist.trees.naming.text_features import TextFeatures
from topiarist.trees.naming.unspaced import drop_contained_items
from topiarist.trees.tree_text import DOT, JOINT
from topiarist.trees.words import find_highest, is_variant

MIN_LIFT = 3.0  # share of documents with a word of a name, relative to the share outside
MIN_SHARE = 0.04  # of the documents that have it
MIN_HEADING_SHARE = 0.06  # the same for a heading, less the error
MAX_OUTSIDE_SHARE = 0.12  # of the other documents; a more frequent word has no subject
MAX_OUTSIDE_SHARE_IN_PHRASE = 0.24  # the same for the other word of a phrase
SHARE_POWER = 0.75  # power of p in names: below 1, special words are preferred
PHRASE_BONUS = 1.25  # two words that belong together are more specific than one
MIN_PHRASE_SHARE = 1 / 3  # share of the documents with the rarer word of a phrase that have the phrase
MIN_CHILD_SHARE = 0.03  # of the documents of a large child have a word of its heading's name
LARGE_CHILD = 0.1  # of the heading's documents
N_JOINED = 2  # children whose names make the name of a heading without a true word, or one more
MAX_JOINED_LENGTH = 40  # characters of joined names; longer ones are joined by their first words or phrases
MIN_JOINED_SHARE = 0.75  # of a heading's documents are in the children whose names it has, if there is room
MIN_HEADING_SCORE = 0.25  # score below which a true word says too little of a heading
MAX_PAIRED_ITEMS = 16  # true items of a heading that are tried together
MAX_TESTED_PAIRS = 24  # pairs that are examined
MIN_SECOND_SCORE = 0.3  # of the best score that a second item of a name must have
N_CANDIDATES = 3
PREFIX_LENGTH = 3  # letters that a word and its forms have in common at least
MIN_LONG_STEM, MAX_ENDING = 8, 4  # letters: words that begin so alike, and differ in so few at the end, are one


@dataclass(frozen=True)
class NodeNames:
    """Names of a node, the best first."""

    candidates: tuple[str, ...]

    @property
    def name(self) -> str:
        """The best name; empty without one."""
        return self.candidates[0] if self.candidates else ""


def list_usable_words(presence: Presence, words: Sequence[str], empty: Any = None) -> Array:
    """Return the columns of words that may name some node: characteristic, without digits, of three letters or more."""
    columns = presence.list_best_words(
        lambda node, columns: _score_name_words(
            presence.compute_shares(node, columns),
            presence.compute_outside_shares(node, columns),
            float(presence.documents[node]),
        ),
        4 * MAX_WORDS,
    )
    is_excluded = np.zeros(len(words), bool) if empty is None else np.asarray(empty, bool)
    usable: Array = np.array([c for c in columns.tolist() if is_plain(words[c]) and not is_excluded[c]], np.int64)
    return usable


def _score_name_words(share: Array, elsewhere: Array, documents: float) -> Array:
    """Return p^¾ · log(p/q) of words that may be in a name, with p less its error; 0 for others."""
    certain = subtract_error(share, documents)
    scores = distinctiveness(certain, elsewhere, SHARE_POWER)
    wrong = (share < MIN_SHARE) | (certain < MIN_LIFT * elsewhere) | (elsewhere > MAX_OUTSIDE_SHARE)
    scores[wrong] = 0.0
    return scores


def name_nodes(
    presence: Presence,
    words: Sequence[str],
    class_nodes: Sequence[int],
    features: TextFeatures | None = None,
    *,
    empty: Any = None,
    fields: Sequence[Sequence[str]] = (),
    halves: Sequence[NameTest] = (),
    n_candidates: int = N_CANDIDATES,
) -> tuple[NodeNames, ...]:
    """Return names for all nodes but the root, from the root down.

    ``class_nodes`` are the nodes of the leaves, by which the features are numbered. Headings without a true word get
    their names after the nodes below them. ``fields`` are names of fields for each node, which come before its words.
    """
    tree, features = presence.tree, features or TextFeatures()
    excluded_words = features.fragments | features.verbs
    excluded_words |= frozenset() if empty is None else {words[column] for column in np.flatnonzero(empty).tolist()}
    columns = list_usable_words(presence, words)
    columns = np.array([c for c in columns.tolist() if words[c] not in excluded_words | features.hyphenated], np.int64)
    phrases = _Phrases.take(presence, words, class_nodes, features, excluded_words)
    items = [_collect_items(presence, words, columns, node, phrases) for node in range(len(tree))]
    name_test = NameTest(presence, words, excluded_words | features.hyphenated, halves)
    naming = _Naming(presence, items, name_test, features.forms, n_candidates, fields or [()] * len(tree))
    naming.name_all()
    return tuple(map(NodeNames, naming.names))


def join_names(names: Sequence[str], sizes: Sequence[float] = ()) -> list[str]:
    """Return names of a heading made of the names of its children, the largest first.

    Two names are joined, or three if the two largest children have less than 3/4 of the documents and there is room.
    Long names, and names that are joined themselves, are joined by their first words or phrases.
    """
    if len(names) < N_JOINED:
        return []
    firsts = [split_items(name)[0] for name in names]
    complete, short, three = (
        JOINT.join(part) for part in (names[:N_JOINED], firsts[:N_JOINED], firsts[: N_JOINED + 1])
    )
    if any(JOINT in name for name in names[:N_JOINED]):
        best = [short]
    else:
        best = [short, complete] if len(complete) > MAX_JOINED_LENGTH else [complete, short]
    has_one_item = len(names) > N_JOINED and firsts[N_JOINED] == names[N_JOINED]
    if has_one_item and sum(sizes[:N_JOINED]) < MIN_JOINED_SHARE * sum(sizes) and len(three) <= MAX_JOINED_LENGTH:
        best = [three, *best]
    return list(dict.fromkeys([*best, three]))


class _Naming:
    """Names of nodes during naming, and the words that other names must avoid."""

    def __init__(
        self,
        presence: Presence,
        items: list[list[NameItem]],
        name_test: NameTest,
        forms: Mapping[str, str],
        number: int,
        fields: Sequence[Sequence[str]],
    ) -> None:
        self.fields = fields
        self.spare: dict[int, list[str]] = {}  # names of headings by words, behind the joined ones
        self.tree, self.sizes, self.items, self.name_test = presence.tree, presence.documents, items, name_test
        self.forms, self.number = forms, number
        self.names: list[tuple[str, ...]] = [()] * len(self.tree)
        self.used_names = set[str]()  # names, in small letters: no two nodes have the same
        self.words_above: list[list[list[str]]] = [
            [] for _ in range(len(self.tree))
        ]  # words of a node's name and above it
        self.words_below: list[list[list[str]]] = [[] for _ in range(len(self.tree))]  # words of its children's names
        self.avoided_nodes: dict[
            int, tuple[int, ...]
        ] = {}  # of headings that get joined names: whose ``below`` these avoid

    def name_all(self) -> None:
        """Name what is below each node, and join the names of children where nothing else names a heading."""
        waiting = [(self.tree.root, False)]
        while waiting:
            node, has_names_below = waiting.pop()
            if has_names_below:
                self._join(node)
            else:
                waiting += self._name_below(node)

    def _name_below(self, parent: int) -> list[tuple[int, bool]]:
        """Name the children that have words for it; return the remaining steps, the last first."""
        children, used_words = list(self.tree.children(parent)), self.words_below[parent]
        avoided_nodes = self.avoided_nodes.get(parent, ())
        reserved_words = [
            word for node in avoided_nodes for word in self.words_below[node]
        ]  # names here are to be the parent's
        reserved_words += [word for child in children for field in self.fields[child][:1] for word in split_name(field)]
        children.sort(key=lambda child: (-max((item.score for item in self.items[child]), default=0), child))
        joined = list[int]()
        for child in children:
            names = self._list_candidates(child, [*used_words, *reserved_words], self.words_above[parent])
            above = {word for (word,) in self.words_above[parent]}
            fields = [field for field in self.fields[child] if not above.issuperset(field.lower().split())]
            names = [*fields, *(_restore_case(name, self.forms) for name in names)]
            if not self.tree.is_leaf(child) and (not names or self._has_fields_below(child)):
                joined.append(child)
                self.spare[child] = names
            else:
                self._call(child, names)
            self.words_above[child] = [*self.words_above[parent], *split_name(self._name(child))]
            if child in joined:
                self.avoided_nodes[child] = (parent, *avoided_nodes)
        inner = [child for child in reversed(children) if not self.tree.is_leaf(child) and child not in joined]
        last = [task for child in reversed(joined) for task in ((child, True), (child, False))]
        return [*last, *((child, False) for child in inner)]

    def _list_candidates(self, node: int, sibling_words: list[list[str]], words_above: list[list[str]]) -> list[str]:
        """Return names that share no word with siblings or ancestors, the best first.

        A heading without a word that is true of it has no names.
        """
        items, name_test, number = self.items[node], self.name_test, self.number
        excluded_words = [*sibling_words, *words_above]
        free_items = _exclude_overlapping(items, excluded_words)
        if not self.tree.is_leaf(node):
            free_items = [item for item in free_items if item.score >= MIN_HEADING_SCORE]
            names = _make_pair_names(free_items, node, name_test, number)
            names += [item.text for item in free_items[:number]]
            names = [name for name in names if name_test.is_found_by_name(node, name)]
        else:
            names = _make_names(free_items, node, name_test, 8)
            if len(names) < 2:  # less telling words, and then words of the headings above
                others = name_test.list_spare_items(node)
                spare = [
                    *_exclude_overlapping(others, excluded_words),
                    *_exclude_overlapping(items, sibling_words),
                    *_exclude_overlapping(others, sibling_words),
                ]
                names += _make_names(spare, node, name_test, 2)
        return sorted(dict.fromkeys(names), key=lambda name: not name_test.is_accepted(node, name))[:number]

    def _join(self, node: int) -> None:
        """Call a heading by the names of its largest children."""
        children = [child for child in self.tree.children(node) if self.names[child]]
        ranked = sorted(children, key=lambda child: (-float(self.sizes[child]), child))
        names = join_names([self._name(child) for child in ranked], [float(self.sizes[child]) for child in ranked])
        if not self.spare[node]:
            names.sort(key=lambda name: not self.name_test.is_found_by_name(node, name))
        self._call(node, [*names, *self.spare[node]])

    def _has_fields_below(self, node: int) -> bool:
        """Return whether a heading has no field, but its two largest children have."""
        ranked = sorted(self.tree.children(node), key=lambda child: (-float(self.sizes[child]), child))
        return not self.fields[node] and all(self.fields[child] for child in ranked[:N_JOINED])

    def _call(self, node: int, names: Sequence[str]) -> None:
        """Keep the names that no other node has."""
        free = [name for name in dict.fromkeys(names) if name.casefold() not in self.used_names]
        self.names[node] = tuple(free)
        if free:
            self.used_names.add(free[0].casefold())
            self.words_below[self.tree.parents[node]] += split_name(free[0])

    def _name(self, node: int) -> str:
        return self.names[node][0] if self.names[node] else ""


@dataclass(frozen=True)
class _Phrases:
    """The phrases of readings by node, each with the words at its ends.

    ``have`` and ``word_have`` are nodes × phrases and nodes × words: the sampled documents under a node that have one,
    each counted for as many documents as its leaf has for one of the sample.
    """

    texts: Sequence[str]
    ends: Array  # (n_phrases, 2): the first and the last word, as rows of ``columns``
    columns: Array  # of these words in the counts
    have: Csr
    word_have: Csr

    @classmethod
    def take(
        cls, presence: Presence, words: Sequence[str], class_nodes: Sequence[int], features: TextFeatures,
        excluded_words: Collection[str],
    ) -> _Phrases:  # fmt: skip
        """Take the phrases of readings that begin and end with words that names may have."""
        column_of = {word: column for column, word in enumerate(words) if word in features.phrase_words}
        fit = {word for word in column_of if is_plain(word) and word not in excluded_words}
        texts = sorted(phrase for phrase in features.phrases if {phrase.split()[0], phrase.split()[-1]} <= fit)
        outer = sorted({word for phrase in texts for word in (phrase.split()[0], phrase.split()[-1])})
        place = {word: number for number, word in enumerate(outer)}
        ends = [(place[phrase.split()[0]], place[phrase.split()[-1]]) for phrase in texts]
        sizes = presence.documents[list(class_nodes)]
        under = csr_array(np.asarray(presence.tree.path_mask(class_nodes), np.float64) * sizes[:, None]).T.tocsr()
        return cls(
            texts,
            np.array(ends, np.int64).reshape(-1, 2),
            np.array([column_of[word] for word in outer], np.int64),
            csr_array(under @ _make_leaf_table(features.phrases, texts, len(class_nodes))),
            csr_array(under @ _make_leaf_table(features.phrase_words, outer, len(class_nodes))),
        )


def _make_leaf_table(shares: Mapping[str, Mapping[int, float]], texts: Sequence[str], n_leaves: int) -> Csr:
    entries = [(leaf, column, share) for column, text in enumerate(texts) for leaf, share in shares[text].items()]
    leaves, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    shape = n_leaves, len(texts)
    return csr_array((np.array(values, np.float64), (np.array(leaves, int), np.array(columns, int))), shape=shape)


def _collect_items(
    presence: Presence, words: Sequence[str], columns: Array, node: int, phrases: _Phrases
) -> list[NameItem]:
    """Return words and phrases for a node, the best first; for a heading they are true of every large child."""
    if node == presence.tree.root:
        return []
    outside_shares, share = (
        presence.compute_outside_shares(node, columns),
        presence.compute_shares(node, columns),
    )
    scores = _score_name_words(share, outside_shares, float(presence.documents[node]))
    children = np.array(presence.tree.children(node) or [node], np.int64)
    child_shares = presence.have[np.ix_(children, columns)] / np.maximum(presence.documents[children], 1e-12)[:, None]
    telling_here = {int(columns[place]) for place in np.flatnonzero(scores).tolist()}
    if not presence.tree.is_leaf(node):
        scores = _keep_true(scores, child_shares, presence.documents[children], outside_shares)
    items, parts = _collect_phrase_items(presence, node, phrases, telling_here)
    items += [
        NameItem(
            words[columns[place]],
            float(scores[place]),
            tuple(child_shares[:, place].tolist()),
            float(outside_shares[place]),
        )
        for place in find_highest(scores, MAX_WORDS)
        if columns[place] not in parts
    ]
    return sorted(items, key=lambda item: (-item.score, item.text))


def _keep_true(scores: Array, child_shares: Array, documents: Array, outside_shares: Array) -> Array:
    """Return the scores by shares of all children; 0 for words that are not true of a heading."""
    even = distinctiveness(_compute_even_shares(child_shares, documents), outside_shares, SHARE_POWER)
    total = float(documents.sum())
    is_frequent = subtract_error(documents @ child_shares / max(total, 1e-12), total) >= MIN_HEADING_SHARE
    true: Array = np.where((scores > 0) & is_frequent & _is_true(child_shares, documents, outside_shares), even, 0.0)
    return true


def _is_true(child_shares: Array, documents: Array, outside_shares: Array) -> Bools:
    """Return which words are twice as frequent as elsewhere in every child with a tenth of a heading's documents.

    ``each`` are the shares of the documents of each child (children × words). A word that hardly any of a child's
    documents have is not true of it. Where a heading has many small children, two thirds of the documents count.
    """
    is_frequent = (child_shares >= MIN_SHARE_RATIO * outside_shares) & (child_shares >= MIN_CHILD_SHARE)
    large = documents >= LARGE_CHILD * documents.sum()
    true: Bools = is_frequent[large].all(axis=0) & (documents @ is_frequent >= MIN_COVERED_SHARE * documents.sum())
    return true


def _compute_even_shares(child_shares: Array, documents: Array) -> Array:
    """Return the root mean of shares over children: a word of one child has a low one."""
    shares: Array = (documents / max(float(documents.sum()), 1e-12) @ np.sqrt(child_shares)) ** 2
    return shares


def _collect_phrase_items(
    presence: Presence, node: int, phrases: _Phrases, telling_here: Collection[int]
) -> tuple[list[NameItem], set[int]]:
    """Return the phrases of a node, and the columns of words that are only parts of them.

    A phrase is in a third of the documents that have the rarer one of its outer words. One of these tells of the node;
    the other one may be more frequent elsewhere than a word of a name. How many documents have the phrase is as many as
    have the rarer word, times the share of these in the sample.
    """
    tree, root = presence.tree, presence.tree.root
    documents_here, words_here = _get_row(phrases.have, node), _get_row(phrases.word_have, node)
    rarer = np.argmin(words_here[phrases.ends], axis=1)
    word = np.take_along_axis(phrases.ends, rarer[:, None], axis=1)[:, 0]
    rows = np.flatnonzero((documents_here > 0) & (documents_here >= MIN_PHRASE_SHARE * words_here[word]))
    if not len(rows):
        return [], set()
    documents_here, word, ends = documents_here[rows], word[rows], phrases.columns[phrases.ends[rows]]
    column = phrases.columns[word]
    inside = _compute_phrase_ratio(documents_here, words_here[word])
    outside = _compute_phrase_ratio(
        _get_row(phrases.have, root)[rows] - documents_here, _get_row(phrases.word_have, root)[word] - words_here[word]
    )
    floor = 0.5 / (max(float(presence.documents[root] - presence.documents[node]), 0.0) + 1.0)
    outside_shares = np.maximum(presence.compute_outside_shares(node, column) * outside, floor)
    share = presence.compute_shares(node, column) * inside
    scores = PHRASE_BONUS * _score_name_words(share, outside_shares, float(presence.documents[node]))
    is_informative = np.isin(ends, list(telling_here))
    common = presence.compute_outside_shares(node, ends.ravel()).reshape(ends.shape) > MAX_OUTSIDE_SHARE_IN_PHRASE
    scores[~is_informative.any(axis=1) | (common & ~is_informative).any(axis=1)] = 0.0
    parts = set(column[scores > 0].tolist())
    children = list(tree.children(node)) or [node]
    child_shares = np.stack([_compute_phrase_shares(presence, child, phrases, rows, word) for child in children])
    if not tree.is_leaf(node):
        scores = PHRASE_BONUS * _keep_true(scores, child_shares, presence.documents[children], outside_shares)
    items = [
        NameItem(
            phrases.texts[rows[place]], float(scores[place]),
            tuple(child_shares[:, place].tolist()), float(outside_shares[place]),
        )
        for place in np.flatnonzero(scores).tolist()
    ]  # fmt: skip
    return items, parts


def _compute_phrase_shares(presence: Presence, node: int, phrases: _Phrases, rows: Array, word: Array) -> Array:
    """Return the share of a node's documents that have each of some phrases; ``word``: the rarer one of each."""
    have, of_word = _get_row(phrases.have, node)[rows], _get_row(phrases.word_have, node)[word]
    shares: Array = presence.compute_shares(node, phrases.columns[word]) * _compute_phrase_ratio(have, of_word)
    return shares


def _compute_phrase_ratio(have: Array, of_word: Array) -> Array:
    """Return the share of the sampled documents with a word that have its phrase."""
    share: Array = np.minimum(have / np.maximum(of_word, 1e-12), 1.0)
    return share


def _get_row(table: Csr, row: int) -> Array:
    values: Array = np.zeros(table.shape[1])
    entries = slice(table.indptr[row], table.indptr[row + 1])
    values[table.indices[entries]] = table.data[entries]
    return values


def _exclude_overlapping(items: list[NameItem], excluded_words: list[list[str]]) -> list[NameItem]:
    return [item for item in items if not _overlaps(item.parts, excluded_words)]


def _make_pair_names(items: list[NameItem], node: int, name_test: NameTest, number: int) -> list[str]:
    """Return names of two items of a heading that cover most of its documents; names that lead home come first."""
    presence = name_test.presence
    children = list(presence.tree.children(node))
    pairable = [item for item in items[:MAX_PAIRED_ITEMS] if item.score >= MIN_SECOND_SCORE * items[0].score]
    if len(pairable) < 2:
        return []
    shares, outside_shares = (
        np.array([item.shares for item in pairable]),
        np.array([item.outside_share for item in pairable]),
    )
    first, second = np.triu_indices(len(pairable), 1)
    either_shares = 1 - (1 - shares[first]) * (1 - shares[second])
    even = _compute_even_shares(either_shares.T, presence.documents[children])
    scores = distinctiveness(even, 1 - (1 - outside_shares[first]) * (1 - outside_shares[second]), SHARE_POWER)
    bonus = np.array([PHRASE_BONUS if len(item.parts) > 1 else 1.0 for item in pairable])
    scores *= np.maximum(bonus[first], bonus[second])
    passing_names, other_names, used = list[str](), list[str](), set[str]()
    for place in find_highest(scores, MAX_TESTED_PAIRS):
        pair = [pairable[first[place]], pairable[second[place]]]
        if {item.text for item in pair} <= used or _overlaps(pair[0].parts, [pair[1].parts]):
            continue
        name = DOT.join(item.text for item in pair)
        if name_test.is_accepted(node, name):
            passing_names.append(name)
            used |= {item.text for item in pair}
        else:
            other_names.append(name)
    return [*passing_names, *other_names][:number]


def _make_names(items: list[NameItem], node: int, name_test: NameTest, number: int) -> list[str]:
    """Return different names, each from items behind the first item of the name before."""
    names = (_make_name(items[start:], node, name_test) for start in range(number))
    return list(dict.fromkeys(name for name in names if name))


def _make_name(order: list[NameItem], node: int, name_test: NameTest) -> str:
    """Return the first item and the next that adds something; with a third if two do not find the node."""
    selected = list[NameItem]()
    for item in order:
        if selected and (
            item.score < MIN_SECOND_SCORE * selected[0].score
            or _overlaps(item.parts, [chosen_item.parts for chosen_item in selected])
        ):
            continue
        selected.append(item)
        if len(selected) >= 2 and (
            len(selected) == 3 or name_test.is_accepted(node, DOT.join(chosen_item.text for chosen_item in selected))
        ):
            break
    return DOT.join(item.text for item in selected)


def shares_word(name: str, others: Iterable[str]) -> bool:
    """Return whether a name shares a word with other names, in any form."""
    return any(_overlaps(word, (part for other in others for part in split_name(other))) for word in split_name(name))


def _overlaps(parts: list[str], others: Iterable[list[str]]) -> bool:
    """Return whether a word is another form of a word in one of the other names."""
    prefixes = {part[:PREFIX_LENGTH] for part in parts}
    candidates = {word for other in others for word in other if word[:PREFIX_LENGTH] in prefixes}
    return any(_is_form(part, word) for word in candidates for part in parts)


@lru_cache(maxsize=1 << 18)
def _is_form(word: str, other: str) -> bool:
    """Return whether two words are variants, or begin alike for long and end soon: superconduct(ing, ivity)."""
    short, long = sorted((word, other), key=len)
    if is_variant([word], [other]) or (len(short) > 2 and long in (f"{short}s", f"{short}es")):
        return True
    stem = max(MIN_LONG_STEM, len(long) - MAX_ENDING)
    return len(short) >= stem and short[:stem] == long[:stem]


def _restore_case(name: str, forms: Mapping[str, str]) -> str:
    spell = lambda item: forms.get(item) or " ".join(forms.get(word, word) for word in item.split(" "))  # noqa: E731
    return DOT.join(drop_contained_items(list(map(spell, name.split(DOT)))))
