"""Map of a tree as nested circles, with similar topics close to each other and documents inside them.

Each circle is placed by the two directions in which the words of its siblings differ most: a singular value
decomposition of the square roots of P(word | topic). Its area follows its number of documents, and circles are pushed
apart until none overlaps. Below the headings at least seven circles are in each circle; topics between these levels
have only a name. A document is placed at the mean of its topics by their shares, and within its own circle in the
direction in which it differs from the other documents, so that circles are filled evenly. The layout is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Floats, Ints
from topiarist.errors import UsageError
from topiarist.metrics.placed_documents import find_largest_shares
from topiarist.trees.naming.text_features import find_largest_classes
from topiarist.trees.tree import Tree

MIN_DOCUMENTS, MAX_DOCUMENTS = 10, 50_000  # 12,000 documents take about 20 s; time grows with their number
EXAGGERATED_STEPS, STEPS = 100, 250  # optimisation steps with exaggerated neighbours, and after them
NEIGHBOURS = 30.0  # perplexity of t-SNE


def is_possible(documents: int) -> bool:
    """Return whether openTSNE is installed and the number of documents is within the limits."""
    return MIN_DOCUMENTS <= documents <= MAX_DOCUMENTS and find_spec("openTSNE") is not None


def check_possible(documents: int) -> None:
    """Raise ``UsageError`` if this number of documents cannot be placed."""
    if not is_possible(documents):
        raise UsageError(
            f"a map by neighbours needs openTSNE and {MIN_DOCUMENTS} to {MAX_DOCUMENTS:,} documents, got {documents:,}",
            hint="Run pip install 'topiarist[map]'.",
        )


def embed(features: Floats) -> Floats:
    """Return a point for each row of features, rows × 2, in a circle of radius one around zero."""
    check_possible(len(features))
    from openTSNE import TSNE

    model = TSNE(
        perplexity=min(NEIGHBOURS, (len(features) - 1) / 3),
        early_exaggeration_iter=EXAGGERATED_STEPS,
        n_iter=STEPS,
        initialization="pca",
        n_jobs=1,
        random_state=0,
    )
    places = np.asarray(model.fit(np.asarray(features, np.float32)), np.float64)
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    points: Floats = places / max(float(np.sqrt((places**2).sum(axis=1)).max()), 1e-12)
    return points


def place_names(tree: Tree, assigned_nodes: Ints, points: Floats) -> CircleLayout:
    """Return positions of topic names at the median of the documents below them; no node has a circle."""
    centres, radii = np.zeros((len(tree), 2)), np.zeros(len(tree))
    is_below = tree.path_mask(range(len(tree)))[assigned_nodes]  # documents × nodes
    for node in range(len(tree)):
        points_below = points[is_below[:, node]]
        if len(points_below):
            centres[node] = np.median(points_below, axis=0)
            radii[node] = float(np.median(np.sqrt(((points_below - centres[node]) ** 2).sum(axis=1))))
    return CircleLayout(centres, radii, np.ones(len(tree), bool))


Features = Callable[[Ints], Floats]  # features of some documents: rows × dimensions

DIMENSIONS = 64  # of features from counts
MIN_CIRCLES = 7  # in a circle below a heading
ROUNDS, PULL = 100, 0.12  # rounds of pulling and pushing circles; initial strength of the pull
GAP, FILL = 1.01, 0.985  # relative distance of circles; filled share of the radius


@dataclass(frozen=True, eq=False)
class CircleLayout:
    """Circles of nodes within a circle of radius one around zero.

    A node with ``is_skipped`` has no circle: the nodes below it are placed with its siblings, and its radius encloses
    them.
    """

    centres: Floats  # nodes × 2
    radii: Floats
    is_skipped: Bools


def lay_out_circles(tree: Tree, word_given_node: Array, sizes: Sequence[float]) -> CircleLayout:
    """Place circles for the nodes of a tree; ``word_given_node`` has the words of each subtree."""
    return _lay_out_nodes(tree, np.sqrt(np.maximum(word_given_node, 0.0)), np.asarray(sizes, np.float64))


def place_documents(
    layout: CircleLayout, root: int, class_nodes: Sequence[int], shares: Csr, features: Features
) -> Floats:
    """Return a point for each document, documents × 2; ``features`` separate documents of one topic."""
    classes = np.asarray(class_nodes, np.int64)
    total = np.asarray(shares.sum(axis=1)).ravel()
    centre = np.asarray(shares @ layout.centres[classes]) / np.maximum(total, 1e-12)[:, None]
    nearest_class, largest = np.maximum(find_largest_classes(shares), 0), find_largest_shares(shares)
    radius = FILL * np.where(total > 0, layout.radii[classes[nearest_class]] * largest, layout.radii[root])
    points: Floats = centre + radius[:, None] * _compute_offsets(features, nearest_class)
    return points


def _lay_out_nodes(tree: Tree, words: Floats, sizes: Floats) -> CircleLayout:
    """Place a circle for each node within the circle of its nearest ancestor with a circle."""
    centres, radii, is_skipped = np.zeros((len(tree), 2)), np.zeros(len(tree)), np.zeros(len(tree), bool)
    radii[tree.root] = 1.0
    groups = _group_circles(tree, sizes)
    layouts = _lay_out_groups(groups, words, np.sqrt(np.maximum(sizes, 0.25)))
    for node, (centres_in_group, reach) in layouts.items():  # from the root
        members, skipped_nodes = groups[node]
        scale = radii[node] * FILL
        centres[members], radii[members] = centres[node] + scale * centres_in_group, scale * reach
        for skipped_node in skipped_nodes:
            inside = [member for member in members if skipped_node in tree.path(member)]
            centres[skipped_node] = _find_centre(centres[inside], radii[inside])[0]
            radii[skipped_node] = float(
                (_compute_lengths(centres[inside] - centres[skipped_node]) + radii[inside]).max()
            )
            is_skipped[skipped_node] = True
    return CircleLayout(centres, radii, is_skipped)


def _group_circles(tree: Tree, sizes: Floats) -> dict[int, tuple[list[int], list[int]]]:
    """Return for each circle the nodes whose circles are in it, and the skipped nodes on the way to them.

    Nested circles of two or three leave no space for documents after a few levels: below the headings the largest node
    is opened until there are enough circles.
    """
    groups, waiting = {}, [tree.root]
    for node in waiting:
        members, skipped_nodes = list(tree.children(node)), []
        while node != tree.root and len(members) < MIN_CIRCLES:
            inner = [child for child in members if not tree.is_leaf(child)]
            if not inner:
                break
            largest = max(inner, key=lambda child: (sizes[child], -child))
            place = members.index(largest)
            members[place : place + 1] = tree.children(largest)
            skipped_nodes.append(largest)
        groups[node] = members, skipped_nodes
        waiting += [child for child in members if not tree.is_leaf(child)]
    return {node: group for node, group in groups.items() if group[0]}


def _lay_out_groups(
    groups: Mapping[int, tuple[list[int], list[int]]], words: Floats, radii: Floats
) -> dict[int, tuple[Floats, Floats]]:
    """Place the circles of each group in a circle of radius one, groups of equal size at once."""
    nodes_by_size: dict[int, list[int]] = {}
    for node, (members, _) in groups.items():
        nodes_by_size.setdefault(len(members), []).append(node)
    layouts = {}
    for nodes in nodes_by_size.values():
        members_of_groups = np.array([groups[node][0] for node in nodes])
        places, reach = pack_circles(
            np.stack([project_to_plane(words[circle_members]) for circle_members in members_of_groups]),
            radii[members_of_groups],
        )
        layouts.update({node: (places[number], reach[number]) for number, node in enumerate(nodes)})
    return {node: layouts[node] for node in groups}


def project_to_plane(features: Floats) -> Floats:
    """Project rows to the two directions in which they differ most; signs are fixed for stable maps."""
    deviations = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh((deviations @ deviations.T).astype(np.float64))
    best = np.argsort(-values)[:2]
    points = np.zeros((len(features), 2))
    points[:, : len(best)] = vectors[:, best] * np.sqrt(np.maximum(values[best], 0.0))
    return points * _choose_signs(points)


def _choose_signs(points: Floats) -> Floats:
    largest = points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])]
    return np.where(largest < 0, -1.0, 1.0)


def pack_circles(places: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Move circles to places near the given ones without overlaps, in a circle of radius one.

    The last two axes are circles × 2; the axes before them are independent groups of circles.
    """
    n = radii.shape[-1]
    if n == 1:
        return np.zeros(places.shape), np.ones(radii.shape)
    extent = np.maximum(np.abs(places).max(axis=(-2, -1), keepdims=True), 1e-9)
    angle = 2.399963 * np.arange(n)  # different directions for equal places
    places = places / extent * radii.sum(axis=-1)[..., None, None] / 2
    places = places + 1e-3 * np.column_stack([np.cos(angle), np.sin(angle)])
    others, distances = 1 - np.eye(n), GAP * (radii[..., :, None] + radii[..., None, :])
    weight = (radii**2 / (radii**2).sum(axis=-1, keepdims=True))[..., None]
    for number in range(ROUNDS):
        middle = (weight * places).sum(axis=-2, keepdims=True)
        places = (places - middle) * (1 - PULL * (1 - number / ROUNDS))
        differences = places[..., :, None, :] - places[..., None, :, :]
        distance = np.sqrt((differences**2).sum(axis=-1)) + 1e-12
        push = np.maximum(distances - distance, 0.0) * others / distance
        places = places + (differences * push[..., None]).sum(axis=-2) / 2
    differences = places[..., :, None, :] - places[..., None, :, :]
    distance = np.sqrt((differences**2).sum(axis=-1)) + 1e9 * np.eye(n)
    shrink = np.minimum(1.0, (distance * GAP / distances).min(axis=(-2, -1)))  # shrink circles that still overlap
    radii = shrink[..., None] * radii
    middle = _find_centre(places, radii)
    reach = (_compute_lengths(places - middle) + radii).max(axis=-1)[..., None]
    return (places - middle) / reach[..., None], radii / reach


def _find_centre(places: Floats, radii: Floats) -> Floats:
    """Return about the centre of the smallest circle around circles, by decreasing steps to the farthest one."""
    middle: Floats = places.mean(axis=-2, keepdims=True)
    for number in range(1, ROUNDS + 1):
        differences = places - middle
        distance = _compute_lengths(differences)
        farthest = (distance + radii).argmax(axis=-1)[..., None]
        step = np.take_along_axis(differences, farthest[..., None], axis=-2) / (number + 1) / 2
        radius_share = np.take_along_axis(radii / np.maximum(distance, 1e-12), farthest, axis=-1)
        middle = middle + step * (1 + radius_share[..., None])
    return middle


def _compute_lengths(arrows: Floats) -> Floats:
    lengths: Floats = np.sqrt((arrows**2).sum(axis=-1))
    return lengths


def _compute_offsets(features: Features, class_of_doc: Ints) -> Floats:
    """Return the offsets of documents in the circles of their classes: evenly filled discs of radius one."""
    offsets = np.zeros((len(class_of_doc), 2))
    order = np.argsort(class_of_doc, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(class_of_doc[order])) + 1):
        if len(rows):
            offsets[rows] = _spread_over_disc(_project_features(features(rows)))
    return offsets


def make_count_features(word_given_class: Array, counts: Csr) -> Features:
    """Return features of documents by their words, in the directions in which classes differ most."""
    features = _project_counts(counts, _compute_directions(np.sqrt(np.maximum(word_given_class, 0.0))))
    return lambda rows: features[rows]


def _compute_directions(words: Floats) -> Floats:
    """Return the principal directions of topic words, one per column, for the map."""
    deviations = words - words.mean(axis=0)
    values, vectors = np.linalg.eigh((deviations @ deviations.T).astype(np.float64))
    best = np.argsort(-values)[: min(DIMENSIONS, len(values))]
    directions: Floats = deviations.T @ (vectors[:, best] / np.sqrt(np.maximum(values[best], 1e-12))).astype(
        words.dtype
    )
    return directions


def _project_counts(counts: Csr, directions: Floats) -> Floats:
    length = np.maximum(np.asarray(counts.sum(axis=1), np.float64).ravel(), 1.0)
    features: Floats = np.asarray(counts @ directions.astype(np.float32), np.float64) / length[:, None]
    return features


def _project_features(features: Floats) -> Floats:
    """Project features to the two directions in which these documents differ most."""
    deviations = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(deviations.T @ deviations)
    best = vectors[:, np.argsort(-values)[:2]]
    points = np.zeros((len(features), 2))
    points[:, : best.shape[1]] = deviations @ (best * _choose_signs(best))
    return points


def _spread_over_disc(places: Floats) -> Floats:
    """Keep the directions of points and replace distances by ranks, so that a disc is filled evenly."""
    n = len(places)
    scaled = places / np.maximum(np.abs(places).max(axis=0), 1e-12)
    ranks = np.empty(n)
    ranks[np.argsort((scaled**2).sum(axis=1), kind="stable")] = np.arange(n)
    turn = np.empty(n)
    turn[np.argsort(np.arctan2(scaled[:, 1], scaled[:, 0]), kind="stable")] = np.arange(n)
    radius, angle = np.sqrt((ranks + 0.5) / n), 2 * np.pi * (turn + 0.5) / n
    points: Floats = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return points
