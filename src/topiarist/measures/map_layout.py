"""A map: the tree as circles within circles, near each other where topics speak alike, and documents within them.

Each circle has a place by the two directions in which the words of its siblings differ most (a singular value
decomposition of the square roots of P(word | topic)), is as large as it has documents, and is pushed away until none
overlaps. A document lies at the mean of its topics by their shares, and within its own circle in the direction in which
it differs from the others there, so that circles are filled evenly. There is no chance in it: the same tree, the same
map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Csr, Floats, Ints
from topiarist.hierarchy.tree import Tree

DIMENSIONS = 8  # in which documents of one topic are told apart
ROUNDS, PULL = 100, 0.12  # of pulling circles together and pushing them apart; how far they are pulled at first
ROOM, FILLED = 1.04, 0.97  # between circles; of a circle, that its circles or its documents fill


@dataclass(frozen=True, eq=False)
class MapLayout:
    """Where everything lies, in a circle of radius one around zero: circles of nodes, and points of documents."""

    centres: Floats  # nodes × 2
    radii: Floats
    points: Floats  # documents × 2


def lay_out(
    tree: Tree, class_nodes: Sequence[int], shares: Csr, counts: Csr, word_given_node: Array, sizes: Sequence[float]
) -> MapLayout:
    """The map of a tree and its documents; ``word_given_node`` has the words of each node and what lies below it."""
    words = np.sqrt(np.maximum(np.asarray(word_given_node, np.float64), 0.0))
    centres, radii = _circles(tree, words, np.asarray(sizes, np.float64))
    classes = np.asarray(class_nodes, np.int64)
    total = np.asarray(shares.sum(axis=1)).ravel()
    middle = np.asarray(shares @ centres[classes]) / np.maximum(total, 1e-12)[:, None]
    home, largest = _largest(shares)
    offsets = _offsets(counts, words[classes], home)
    own = FILLED * np.where(total > 0, radii[classes[home]] * largest, radii[tree.root])
    return MapLayout(centres, radii, middle + own[:, None] * offsets)


def _circles(tree: Tree, words: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """A circle for each node, within that of the node above."""
    centres, radii = np.zeros((len(tree), 2)), np.zeros(len(tree))
    radii[tree.root] = 1.0
    for node in tree.depth_first():
        children = list(tree.children(node))
        if not children:
            continue
        own, reach = packed(plane(words[children]), np.sqrt(np.maximum(sizes[children], 0.25)))
        scale = radii[node] * FILLED
        centres[children], radii[children] = centres[node] + scale * own, scale * reach
    return centres, radii


def plane(features: Floats) -> Floats:
    """Things in the two directions in which they differ most; signs are settled, so that a map never turns round."""
    centred = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    best = np.argsort(-values)[:2]
    found = np.zeros((len(features), 2))
    found[:, : len(best)] = vectors[:, best] * np.sqrt(np.maximum(values[best], 0.0))
    return found * _signs(found)


def _signs(found: Floats) -> Floats:
    strongest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    return np.where(strongest < 0, -1.0, 1.0)


def packed(places: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Circles near these places, pulled together and pushed apart until none overlaps, in a circle of radius one."""
    n = len(radii)
    if n == 1:
        return np.zeros((1, 2)), np.ones(1)
    spread = max(float(np.abs(places).max()), 1e-9)
    angle = 2.399963 * np.arange(n)  # where places are the same, another direction each
    places = places / spread * radii.sum() / 2 + 1e-3 * np.column_stack([np.cos(angle), np.sin(angle)])
    others, wanted = 1 - np.eye(n), ROOM * (radii[:, None] + radii[None])
    weight = radii**2 / (radii**2).sum()
    for number in range(ROUNDS):
        places = (places - weight @ places) * (1 - PULL * (1 - number / ROUNDS))
        apart = places[:, None] - places[None]
        distance = np.sqrt((apart**2).sum(axis=2)) + 1e-12
        push = np.maximum(wanted - distance, 0.0) * others / distance
        places = places + (apart * push[..., None]).sum(axis=1) / 2
    distance = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2)) + 1e9 * np.eye(n)
    shrink = min(1.0, float((distance * ROOM / wanted).min()))  # what still overlaps becomes smaller
    middle = _middle(places, shrink * radii)
    reach = float((np.sqrt(((places - middle) ** 2).sum(axis=1)) + shrink * radii).max())
    return (places - middle) / reach, shrink * radii / reach


def _middle(places: Floats, radii: Floats) -> Floats:
    """Nearly the middle of the smallest circle around circles: steps towards the farthest, ever smaller."""
    middle: Floats = places.mean(axis=0)
    for number in range(1, ROUNDS + 1):
        away = places - middle
        distance = np.sqrt((away**2).sum(axis=1))
        farthest = int((distance + radii).argmax())
        middle = middle + away[farthest] / (number + 1) * (1 + radii[farthest] / max(distance[farthest], 1e-12)) / 2
    return middle


def _largest(shares: Csr) -> tuple[Ints, Floats]:
    """The class of each document with its largest share, and that share; the first class where it has none."""
    lengths = np.diff(shares.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((shares.indices, -shares.data, rows))
    home, largest, some = np.zeros(len(lengths), np.int64), np.zeros(len(lengths)), lengths > 0
    first = order[shares.indptr[:-1][some]]
    home[some], largest[some] = shares.indices[first], shares.data[first]
    return home, largest


def _offsets(counts: Csr, words: Floats, home: Ints) -> Floats:
    """Where documents lie within the circles of their classes: in a disc of radius one, which they fill evenly."""
    features = _features(counts, words)
    found = np.zeros((len(home), 2))
    order = np.argsort(home, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(home[order])) + 1):
        if len(own):
            found[own] = _disc(_flat(features[own]))
    return found


def _features(counts: Csr, words: Floats) -> Floats:
    """Documents in the directions in which the words of all classes differ most."""
    centred = words - words.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    best = np.argsort(-values)[: min(DIMENSIONS, len(values))]
    directions = centred.T @ vectors[:, best] / np.sqrt(np.maximum(values[best], 1e-12))
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
