"""Names that a person would choose for nodes, made of words and phrases.

A name leans more to what is special than the words of a node do: p^¾ · log(p/q), by documents (see ``presence``). It
takes phrases of two or three words that the node's documents use. Words without a subject are recognised by what they
do, in any language: they are spread over unrelated leaves, so that q is large; addresses and boilerplate by where they
stand, verbs by the articles behind them (see ``readings``); numbers have digits. No word of a name is in a sibling's
name or in that of a heading above, and a name, read as a query, must lead to its own node (see ``exam``).

A heading is called by the two items that tell most of all its children *together*: p is then the share of documents
that have one or the other, by its root mean over the children, so that *galaxy · LHC* comes before two words of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.headings import COVERED, TELLING
from topiarist.hierarchy.naming.exam import CONSIDERED, DOT, Examiner, Item, is_plain, said
from topiarist.hierarchy.naming.presence import Presence, highest, telling
from topiarist.hierarchy.naming.readings import Readings
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.words import is_variant

LEAST_LIFT = 3.0  # times as many documents as elsewhere have a word of a name
LEAST_SHARE = 0.04  # of the documents have it
MOST_ELSEWHERE = 0.12  # a word of more of the other documents has no subject
SPECIAL = 0.75  # the power of p for names: below 1, they lean more to what is special
PHRASE_SHARE = 0.06  # of the documents have a phrase
PHRASE_BONUS = 1.25  # two words that belong together say more than one
TOGETHER = 0.3  # share of the documents with a phrase's rarest word that have the phrase
PAIRED, OF_EACH_CHILD = 16, 6  # items of a heading that are tried together: its own best, and those of each child
MOST_PAIRED = 96  # of them: a heading that people made may have hundreds of children
TRIED = 24  # pairs that are examined
SECOND = 0.3  # of the best score that a second item of a name must have
CANDIDATES = 3
BEGINNING = 3  # letters that a word and its forms have in common at least
LONG_STEM, LONGEST_ENDING = 8, 4  # letters: words that begin so alike, and differ in so few at the end, are one


@dataclass(frozen=True)
class Named:
    """The names of a node, the best first: two or more where there are words for them."""

    candidates: tuple[str, ...]

    @property
    def name(self) -> str:
        """The best one."""
        return self.candidates[0] if self.candidates else ""


def usable_words(presence: Presence, words: Sequence[str], empty: Any = None) -> Array:
    """The columns of words that some node may be called by: telling somewhere, without digits, of three letters."""
    tree, best = presence.tree, np.zeros(len(words), bool)
    for node in range(len(tree)):
        if node != tree.root:
            here = presence.words(node)
            scores = _naming(presence.plain_shares(node, here), presence.elsewhere(node, here))
            best[here[highest(scores, 4 * CONSIDERED)]] = True
    if empty is not None:
        best[empty] = False
    plain = np.array([is_plain(word) for word in words], bool)
    columns: Array = np.flatnonzero(best & plain)
    return columns


def _naming(share: Array, elsewhere: Array) -> Array:
    """p^¾ · log(p/q) of words that may be in a name; 0 for others."""
    scores = telling(share, elsewhere, SPECIAL)
    wrong = (share < LEAST_SHARE) | (share < LEAST_LIFT * elsewhere) | (elsewhere > MOST_ELSEWHERE)
    scores[wrong] = 0.0
    return scores


def node_names(
    presence: Presence,
    words: Sequence[str],
    class_nodes: Sequence[int],
    readings: Readings | None = None,
    *,
    empty: Any = None,
    n_candidates: int = CANDIDATES,
) -> tuple[Named, ...]:
    """Names for all nodes but the root, from the root down.

    ``class_nodes`` are the nodes of the leaves that the readings number.
    """
    tree, readings = presence.tree, readings or Readings()
    columns = usable_words(presence, words, empty)
    columns = np.array([c for c in columns.tolist() if not {words[c]} & (readings.glued | readings.verbs)], np.int64)
    phrases = _Phrases.of(presence, class_nodes, readings)
    items = [_items(presence, words, columns, node, phrases) for node in range(len(tree))]
    examiner = Examiner(presence, words)
    found: list[Named] = [Named(())] * len(tree)
    above: list[list[list[str]]] = [[] for _ in range(len(tree))]
    for parent in tree.depth_first():
        below, taken = list(tree.children(parent)), list[list[str]]()
        below.sort(key=lambda child: (-max((item.score for item in items[child]), default=0), child))
        for child in below:
            names = _candidates(child, items, tree, taken, above[parent], examiner, n_candidates)
            if names:
                taken = taken + said(names[0])
            own = {word for item in items[child] if item.tells_of_most for word in item.parts}  # others stay below
            above[child] = above[parent] + [word for word in said(names[0] if names else "") if word[0] in own]
            found[child] = Named(tuple(dict.fromkeys(_as_written(name, readings.written) for name in names)))
    return tuple(found)


@dataclass(frozen=True)
class _Phrases:
    """The phrases of readings, with the leaves that each node has under it."""

    readings: Readings
    under: Array  # whether a leaf (row) is at a node (column) or under it
    sizes: Array  # documents of each leaf
    of_leaf: Mapping[int, Sequence[str]]

    @classmethod
    def of(cls, presence: Presence, class_nodes: Sequence[int], readings: Readings) -> _Phrases:
        """By leaf: a node has the phrases of the leaves under it and no others."""
        of_leaf: dict[int, list[str]] = {}
        for phrase, by_leaf in readings.phrases.items():
            for leaf in by_leaf:
                of_leaf.setdefault(leaf, []).append(phrase)
        sizes = np.array([presence.documents[own] for own in class_nodes])
        return cls(readings, np.asarray(presence.tree.path_mask(class_nodes), bool), sizes, of_leaf)

    def at(self, node: int) -> Iterable[str]:
        """Those of a node."""
        leaves = np.flatnonzero(self.under[:, node]).tolist()
        return dict.fromkeys(phrase for leaf in leaves for phrase in self.of_leaf.get(leaf, ()))


def _items(presence: Presence, words: Sequence[str], columns: Array, node: int, phrases: _Phrases) -> list[Item]:
    """Words and phrases for a node, the best first."""
    tree = presence.tree
    if node == tree.root:
        return []
    elsewhere, share = presence.elsewhere(node, columns), presence.plain_shares(node, columns)
    scores = _naming(share, elsewhere)
    below = np.array(tree.children(node), np.int64)
    each = presence.have[np.ix_(below, columns)] / np.maximum(presence.documents[below], 1e-12)[:, None]
    of_most = _tells_of_most(each, presence.documents[below], elsewhere)
    picked = highest(scores, CONSIDERED)
    for one, child in enumerate(below.tolist()):  # what tells of a child and is not one of the best here
        own = np.where(scores > 0, _naming(each[one], presence.elsewhere(child, columns)), 0.0)
        picked += highest(own, OF_EACH_CHILD)
    found = [
        Item(
            words[columns[place]], float(scores[place]), tuple(each[:, place].tolist()),
            float(elsewhere[place]), bool(of_most[place]),
        )
        for place in dict.fromkeys(picked)
    ]  # fmt: skip
    share_of = {words[columns[place]]: float(share[place]) for place in np.flatnonzero(scores).tolist()}
    found += _phrase_items(presence.tree, node, phrases, share_of)
    return sorted(found, key=lambda item: (-item.score, item.text))


def _tells_of_most(each: Array, documents: Array, elsewhere: Array) -> Array:
    """Whether a word is telling in children with two thirds of the documents, and in several; always for leaves."""
    if not len(documents):
        return np.ones(each.shape[1], bool)
    telling = (each >= LEAST_SHARE / 2) & (each >= TELLING * elsewhere)
    enough: Array = (documents @ telling >= COVERED * documents.sum()) & (telling.sum(axis=0) > 1)
    return enough


def _phrase_items(tree: Tree, node: int, phrases: _Phrases, share_of: Mapping[str, float]) -> list[Item]:
    sizes, under = phrases.sizes, phrases.under[:, node]
    below = [phrases.under[:, child] for child in tree.children(node)]
    here, everywhere = float(sizes[under].sum()), float(sizes.sum())
    found = []
    for phrase in phrases.at(node):
        first, *_, last = phrase.split()
        if first not in share_of or last not in share_of:
            continue
        documents = np.zeros(len(sizes))
        for leaf, times in phrases.readings.phrases[phrase].items():
            documents[leaf] = times * sizes[leaf]
        share = float(documents[under].sum()) / max(here, 1e-12)
        elsewhere = (float(documents[~under].sum()) + 0.5) / (max(everywhere - here, 0.0) + 1.0)
        if share < max(PHRASE_SHARE, TOGETHER * min(share_of[first], share_of[last])):
            continue
        each = np.array([documents[own].sum() / max(float(sizes[own].sum()), 1e-12) for own in below])
        totals = np.array([sizes[own].sum() for own in below])
        of_most = bool(_tells_of_most(each[:, None], totals, np.array([elsewhere]))[0])
        score = PHRASE_BONUS * float(_naming(np.array([share]), np.array([elsewhere]))[0])
        if score > 0:
            found.append(Item(phrase, score, tuple(each.tolist()), elsewhere, of_most))
    return found


def _candidates(
    node: int,
    items: list[list[Item]],
    tree: Tree,
    taken: list[list[str]],
    above: list[list[str]],
    examiner: Examiner,
    number: int,
) -> list[str]:
    """Names that share no word with the names beside and above, the best first."""
    barred = [*taken, *above]
    own = _free(items[node], barred)
    names = _paired(own, node, examiner, number)
    if not names:
        own = [item for item in own if item.tells_of_most]
        names = [name for name in (_name(own[start:], node, examiner) for start in range(4)) if name]
    names = list(dict.fromkeys(names))
    if len(names) < 2:  # less telling words, and then words of the headings above
        spare = [*_free(examiner.spare(node), barred), *_free(items[node], taken), *_free(examiner.spare(node), taken)]
        names += [name for name in (_name(spare[start:], node, examiner) for start in range(2)) if name]
    return sorted(dict.fromkeys(names), key=lambda name: not examiner.leads_home(node, name))[:number]


def _free(items: list[Item], barred: list[list[str]]) -> list[Item]:
    return [item for item in items if not _overlaps(item.parts, barred)]


def _paired(items: list[Item], node: int, examiner: Examiner, number: int) -> list[str]:
    """Names of two items of a heading that tell most of its children together, and lead to it; none for a leaf."""
    presence = examiner.presence
    below = list(presence.tree.children(node))
    some = (items[:PAIRED] + [item for item in items[PAIRED:] if not item.tells_of_most])[:MOST_PAIRED]
    if not below or len(some) < 2:
        return []
    weights = presence.documents[below] / max(float(presence.documents[below].sum()), 1e-12)
    shares, elsewhere = np.array([item.shares for item in some]), np.array([item.elsewhere for item in some])
    first, second = np.triu_indices(len(some), 1)
    either = 1 - (1 - shares[first]) * (1 - shares[second])
    scores = telling((np.sqrt(either) @ weights) ** 2, 1 - (1 - elsewhere[first]) * (1 - elsewhere[second]), SPECIAL)
    bonus = np.array([PHRASE_BONUS if len(item.parts) > 1 and item.tells_of_most else 1.0 for item in some])
    scores *= np.maximum(bonus[first], bonus[second])
    names, used = list[str](), set[str]()
    for place in highest(scores, TRIED):
        pair = [some[first[place]], some[second[place]]]
        if {item.text for item in pair} <= used or _overlaps(pair[0].parts, [pair[1].parts]):
            continue
        name = DOT.join(item.text for item in pair)
        if len(names) < number and examiner.leads_home(node, name):
            names.append(name)
            used |= {item.text for item in pair}
    return names


def _name(order: list[Item], node: int, examiner: Examiner) -> str:
    """The first item and the next that adds something; a third where two do not lead to the node."""
    picked = list[Item]()
    for item in order:
        if picked and (item.score < SECOND * picked[0].score or _overlaps(item.parts, [one.parts for one in picked])):
            continue
        picked.append(item)
        if len(picked) >= 2 and (len(picked) == 3 or examiner.leads_home(node, DOT.join(one.text for one in picked))):
            break
    return DOT.join(item.text for item in picked)


def shares_word(name: str, others: Iterable[str]) -> bool:
    """Whether a name has a word of one of the others, or a form of it."""
    return any(_overlaps(word, (part for other in others for part in said(other))) for word in said(name))


def _overlaps(parts: list[str], others: Iterable[list[str]]) -> bool:
    """Whether a word is one of the others, or a form of it."""
    begun = {part[:BEGINNING] for part in parts}
    near = (other for other in others if any(one[:BEGINNING] in begun for one in other))
    return any(
        is_variant([part], other) or any(_is_form(part, one) for one in other) for other in near for part in parts
    )


def _is_form(word: str, other: str) -> bool:
    """Whether one is the plural of the other, or both begin alike for long and end soon: superconduct(ing, ivity)."""
    short, long = sorted((word, other), key=len)
    if len(short) > 2 and long in (f"{short}s", f"{short}es"):
        return True
    stem = max(LONG_STEM, len(long) - LONGEST_ENDING)
    return len(short) >= stem and short[:stem] == long[:stem]


def _as_written(name: str, written: Mapping[str, str]) -> str:
    return DOT.join(" ".join(written.get(word, word) for word in item.split(" ")) for item in name.split(DOT))
