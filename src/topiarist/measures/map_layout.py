"""A map: the tree as circles within circles, near each other where topics speak alike, and documents within them.

Each circle has a place by the two directions in which the words of those beside it differ most (a singular value
decomposition of the square roots of P(word | topic)), is as large as it has documents, and is pushed away until none
overlaps. Below the headings seven or more lie beside each other: topics between these levels are told by their names. A
document lies at the mean of its topics by their shares, and within its own circle in the direction in which it differs
from the others there, so that circles are filled evenly. There is no chance in it: the same tree, the same map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Floats, Ints
from topiarist.hierarchy.tree import Tree

Features = Callable[[Ints], Floats]  # of the documents of some rows: rows × dimensions

DIMENSIONS = 64  # in which documents of one topic are told apart by their counts
BESIDE = 7  # circles, at least, in one below a heading
ROUNDS, PULL = 100, 0.12  # of pulling circles together and pushing them apart; how far they are pulled at first
ROOM, FILLED = 1.01, 0.985  # between circles; of a circle, that its circles or its documents fill


@dataclass(frozen=True, eq=False)
class Ground:
    """Where topics lie, in a circle of radius one around zero.

    A node ``between`` has no circle of its own: what is below it lies beside others, and its circle is around that.
    """

    centres: Floats  # nodes × 2
    radii: Floats
    between: Bools


def lay_ground(tree: Tree, word_given_node: Array, sizes: Sequence[float]) -> Ground:
    """Circles for the nodes of a tree; ``word_given_node`` has the words of each node and what lies below it."""
    return _circles(tree, np.sqrt(np.maximum(word_given_node, 0.0)), np.asarray(sizes, np.float64))


def place_documents(ground: Ground, root: int, class_nodes: Sequence[int], shares: Csr, features: Features) -> Floats:
    """A point for each document: documents × 2. ``features`` tell those of one topic apart."""
    classes = np.asarray(class_nodes, np.int64)
    total = np.asarray(shares.sum(axis=1)).ravel()
    middle = np.asarray(shares @ ground.centres[classes]) / np.maximum(total, 1e-12)[:, None]
    home, largest = _largest(shares)
    own = FILLED * np.where(total > 0, ground.radii[classes[home]] * largest, ground.radii[root])
    found: Floats = middle + own[:, None] * _offsets(features, home)
    return found


def _circles(tree: Tree, words: Floats, sizes: Floats) -> Ground:
    """A circle for each node, within that of the node above that has one of its own."""
    centres, radii, between = np.zeros((len(tree), 2)), np.zeros(len(tree)), np.zeros(len(tree), bool)
    radii[tree.root] = 1.0
    groups = _groups(tree, sizes)
    within = _within(groups, words, np.sqrt(np.maximum(sizes, 0.25)))
    for node, (own, reach) in within.items():  # from the root down
        members, passed = groups[node]
        scale = radii[node] * FILLED
        centres[members], radii[members] = centres[node] + scale * own, scale * reach
        for one in passed:
            inside = [member for member in members if one in tree.path(member)]
            centres[one] = _middle(centres[inside], radii[inside])[0]
            radii[one] = float((_lengths(centres[inside] - centres[one]) + radii[inside]).max())
            between[one] = True
    return Ground(centres, radii, between)


def _groups(tree: Tree, sizes: Floats) -> dict[int, tuple[list[int], list[int]]]:
    """The nodes that lie beside each other in the circle of a node, and those that were passed by on the way to them.

    Circles of two or three in circles of two or three leave no room for documents after a few levels: below the
    headings the largest is opened until there are some.
    """
    found, waiting = {}, [tree.root]
    for node in waiting:
        members, passed = list(tree.children(node)), []
        while node != tree.root and len(members) < BESIDE:
            inner = [one for one in members if not tree.is_leaf(one)]
            if not inner:
                break
            largest = max(inner, key=lambda one: (sizes[one], -one))
            place = members.index(largest)
            members[place : place + 1] = tree.children(largest)
            passed.append(largest)
        found[node] = members, passed
        waiting += [one for one in members if not tree.is_leaf(one)]
    return {node: group for node, group in found.items() if group[0]}


def _within(
    groups: Mapping[int, tuple[list[int], list[int]]], words: Floats, radii: Floats
) -> dict[int, tuple[Floats, Floats]]:
    """For each group its circles in one of radius one: as many groups at once as have as many circles."""
    alike: dict[int, list[int]] = {}
    for node, (members, _) in groups.items():
        alike.setdefault(len(members), []).append(node)
    found = {}
    for nodes in alike.values():
        beside = np.array([groups[node][0] for node in nodes])
        places, reach = packed(np.stack([plane(words[own]) for own in beside]), radii[beside])
        found.update({node: (places[number], reach[number]) for number, node in enumerate(nodes)})
    return {node: found[node] for node in groups}


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
