"""A map: the tree as circles within circles, near each other where topics speak alike, and documents within them.

Each circle has a place by the two directions in which the words of its siblings differ most (a singular value
decomposition of the square roots of P(word | topic)), is as large as it has documents, and is pushed away until none
overlaps. A document lies at the mean of its topics by their shares, and within its own circle in the direction in which
it differs from the others there, so that circles are filled evenly. There is no chance in it: the same tree, the same
map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Csr, Floats, Ints
from topiarist.hierarchy.tree import Tree

Features = Callable[[Ints], Floats]  # of the documents of some rows: rows × dimensions

DIMENSIONS = 64  # in which documents of one topic are told apart by their counts
ROUNDS, PULL = 100, 0.12  # of pulling circles together and pushing them apart; how far they are pulled at first
ROOM, FILLED = 1.01, 0.985  # between circles; of a circle, that its circles or its documents fill


@dataclass(frozen=True, eq=False)
class Ground:
    """Where topics lie, in a circle of radius one around zero."""

    centres: Floats  # nodes × 2
    radii: Floats


def lay_ground(tree: Tree, word_given_node: Array, sizes: Sequence[float]) -> Ground:
    """Circles for the nodes of a tree; ``word_given_node`` has the words of each node and what lies below it."""
    return Ground(*_circles(tree, np.sqrt(np.maximum(word_given_node, 0.0)), np.asarray(sizes, np.float64)))


def place_documents(ground: Ground, root: int, class_nodes: Sequence[int], shares: Csr, features: Features) -> Floats:
    """A point for each document: documents × 2. ``features`` tell those of one topic apart."""
    classes = np.asarray(class_nodes, np.int64)
    total = np.asarray(shares.sum(axis=1)).ravel()
    middle = np.asarray(shares @ ground.centres[classes]) / np.maximum(total, 1e-12)[:, None]
    home, largest = _largest(shares)
    own = FILLED * np.where(total > 0, ground.radii[classes[home]] * largest, ground.radii[root])
    found: Floats = middle + own[:, None] * _offsets(features, home)
    return found


def _circles(tree: Tree, words: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """A circle for each node, within that of the node above."""
    centres, radii = np.zeros((len(tree), 2)), np.zeros(len(tree))
    radii[tree.root] = 1.0
    within = _within(tree, words, np.sqrt(np.maximum(sizes, 0.25)))
    for node in tree.depth_first():
        if node in within:
            (own, reach), children = within[node], list(tree.children(node))
            scale = radii[node] * FILLED
            centres[children], radii[children] = centres[node] + scale * own, scale * reach
    return centres, radii


def _within(tree: Tree, words: Floats, radii: Floats) -> dict[int, tuple[Floats, Floats]]:
    """For each node with nodes below it, the circles of those in one of radius one: as many at once as have as many."""
    parents: dict[int, list[int]] = {}
    for node in range(len(tree)):
        if not tree.is_leaf(node):
            parents.setdefault(len(tree.children(node)), []).append(node)
    found = {}
    for nodes in parents.values():
        children = np.array([tree.children(node) for node in nodes])
        places, reach = packed(np.stack([plane(words[own]) for own in children]), radii[children])
        found.update({node: (places[number], reach[number]) for number, node in enumerate(nodes)})
    return found


def plane(features: Floats) -> Floats:
    """Things in the two directions in which they differ most; signs are settled, so that a map never turns round."""
    centred = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh((centred @ centred.T).astype(np.float64))
    best = np.argsort(-values)[:2]
    found = np.zeros((len(features), 2))
    found[:, : len(best)] = vectors[:, best] * np.sqrt(np.maximum(values[best], 0.0))
    return found * _signs(found)


def _signs(found: Floats) -> Floats:
    strongest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    return np.where(strongest < 0, -1.0, 1.0)


def packed(places: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Circles near these places, pulled together and pushed apart until none overlaps, in a circle of radius one.

    The last two axes are circles × 2; those before them are groups of circles that have nothing to do with each other.
    """
    n = radii.shape[-1]
    if n == 1:
        return np.zeros(places.shape), np.ones(radii.shape)
    spread = np.maximum(np.abs(places).max(axis=(-2, -1), keepdims=True), 1e-9)
    angle = 2.399963 * np.arange(n)  # where places are the same, another direction each
    places = places / spread * radii.sum(axis=-1)[..., None, None] / 2
    places = places + 1e-3 * np.column_stack([np.cos(angle), np.sin(angle)])
    others, wanted = 1 - np.eye(n), ROOM * (radii[..., :, None] + radii[..., None, :])
    weight = (radii**2 / (radii**2).sum(axis=-1, keepdims=True))[..., None]
    for number in range(ROUNDS):
        middle = (weight * places).sum(axis=-2, keepdims=True)
        places = (places - middle) * (1 - PULL * (1 - number / ROUNDS))
        apart = places[..., :, None, :] - places[..., None, :, :]
        distance = np.sqrt((apart**2).sum(axis=-1)) + 1e-12
        push = np.maximum(wanted - distance, 0.0) * others / distance
        places = places + (apart * push[..., None]).sum(axis=-2) / 2
    apart = places[..., :, None, :] - places[..., None, :, :]
    distance = np.sqrt((apart**2).sum(axis=-1)) + 1e9 * np.eye(n)
    shrink = np.minimum(1.0, (distance * ROOM / wanted).min(axis=(-2, -1)))  # what still overlaps becomes smaller
    radii = shrink[..., None] * radii
    middle = _middle(places, radii)
    reach = (_lengths(places - middle) + radii).max(axis=-1)[..., None]
    return (places - middle) / reach[..., None], radii / reach


def _middle(places: Floats, radii: Floats) -> Floats:
    """Nearly the middle of the smallest circle around circles: steps towards the farthest, ever smaller."""
    middle: Floats = places.mean(axis=-2, keepdims=True)
    for number in range(1, ROUNDS + 1):
        away = places - middle
        distance = _lengths(away)
        farthest = (distance + radii).argmax(axis=-1)[..., None]
        step = np.take_along_axis(away, farthest[..., None], axis=-2) / (number + 1) / 2
        beyond = np.take_along_axis(radii / np.maximum(distance, 1e-12), farthest, axis=-1)
        middle = middle + step * (1 + beyond[..., None])
    return middle


def _lengths(arrows: Floats) -> Floats:
    found: Floats = np.sqrt((arrows**2).sum(axis=-1))
    return found


def _largest(shares: Csr) -> tuple[Ints, Floats]:
    """The class of each document with its largest share, and that share; the first class where it has none."""
    lengths = np.diff(shares.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((shares.indices, -shares.data, rows))
    home, largest, some = np.zeros(len(lengths), np.int64), np.zeros(len(lengths)), lengths > 0
    first = order[shares.indptr[:-1][some]]
    home[some], largest[some] = shares.indices[first], shares.data[first]
    return home, largest


def _offsets(features: Features, home: Ints) -> Floats:
    """Where documents lie within the circles of their classes: in a disc of radius one, which they fill evenly."""
    found = np.zeros((len(home), 2))
    order = np.argsort(home, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(home[order])) + 1):
        if len(own):
            found[own] = _disc(_flat(features(own)))
    return found


def features_by_counts(word_given_class: Array, counts: Csr) -> Features:
    """Documents by their words, in the directions in which the words of all classes differ most."""
    found = _in_directions(counts, _directions(np.sqrt(np.maximum(word_given_class, 0.0))))
    return lambda rows: found[rows]


def _directions(words: Floats) -> Floats:
    centred = words - words.mean(axis=0)
    values, vectors = np.linalg.eigh((centred @ centred.T).astype(np.float64))
    best = np.argsort(-values)[: min(DIMENSIONS, len(values))]
    found: Floats = centred.T @ (vectors[:, best] / np.sqrt(np.maximum(values[best], 1e-12))).astype(words.dtype)
    return found


def _in_directions(counts: Csr, directions: Floats) -> Floats:
    length = np.maximum(np.asarray(counts.sum(axis=1), np.float64).ravel(), 1.0)
    found: Floats = np.asarray(counts @ directions.astype(np.float32), np.float64) / length[:, None]
    return found


def _flat(features: Floats) -> Floats:
    """In the two directions in which these documents differ most."""
    centred = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    best = vectors[:, np.argsort(-values)[:2]]
    found = np.zeros((len(features), 2))
    found[:, : best.shape[1]] = centred @ (best * _signs(best))
    return found


def _disc(places: Floats) -> Floats:
    """The same directions, and distances by rank: as many documents on every part of a disc."""
    n = len(places)
    scaled = places / np.maximum(np.abs(places).max(axis=0), 1e-12)
    ranks = np.empty(n)
    ranks[np.argsort((scaled**2).sum(axis=1), kind="stable")] = np.arange(n)
    turn = np.empty(n)
    turn[np.argsort(np.arctan2(scaled[:, 1], scaled[:, 0]), kind="stable")] = np.arange(n)
    radius, angle = np.sqrt((ranks + 0.5) / n), 2 * np.pi * (turn + 0.5) / n
    found: Floats = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return found
