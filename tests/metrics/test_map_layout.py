"""A map: circles within circles that do not overlap, documents in their circles, the same each time."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.metrics.map_layout import (
    lay_out_circles,
    make_count_features,
    pack_circles,
    place_documents,
    project_to_plane,
)
from topiarist.trees.tree import Tree

TREE = Tree((-1, 0, 0, 1, 1, 2, 2, 2))
LEAVES = (3, 4, 5, 6, 7)


def simulated(documents=400):
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(30, 0.3), len(TREE))
    home = rng.integers(0, len(LEAVES), documents)
    shares = csr_array(np.eye(len(LEAVES))[home])
    counts = csr_array(rng.poisson(words[np.array(LEAVES)[home]] * 20))
    sizes = np.bincount(np.array(LEAVES)[home], minlength=len(TREE)).astype(float)
    for node in (2, 1, 0):
        sizes[node] = sum(sizes[child] for child in TREE.children(node))
    return shares, counts, words, sizes, home


def lay_out(shares, counts, words, sizes):
    """The ground, and the points of documents on it."""
    ground = lay_out_circles(TREE, words, sizes)
    features = make_count_features(words[list(LEAVES)], counts)
    return ground, place_documents(ground, TREE.root, LEAVES, shares, features)


@pytest.fixture(scope="module")
def result():
    shares, counts, words, sizes, _ = simulated()
    return lay_out(shares, counts, words, sizes)


def test_circles_nest_without_overlap(result):
    ground, _ = result
    for node in range(1, len(TREE)):
        above = TREE.parents[node]
        away = np.hypot(*(ground.centres[node] - ground.centres[above]))
        assert away + ground.radii[node] <= ground.radii[above] + 1e-9
        for other in TREE.children(above):
            if other != node:
                apart = np.hypot(*(ground.centres[node] - ground.centres[other]))
                assert apart >= ground.radii[node] + ground.radii[other] - 1e-9


def test_headings_contain_enough_circles():
    """Two headings, one of which parts in two at each of four levels: circles in circles in circles would be specks."""
    parents = [-1, 0, 0]
    for node in range(2, 17):
        parents += [node, node]
    tree = Tree(tuple(parents))
    below = np.array([sum(tree.is_leaf(one) for one in (node, *tree.descendants(node))) for node in range(len(tree))])
    words = np.random.default_rng(0).dirichlet(np.full(30, 0.3), len(tree))
    ground = lay_out_circles(tree, words, 10.0 * below)
    assert ground.is_skipped.any()
    assert not ground.is_skipped[[0, 1, 2, *tree.leaves]].any()
    for node in np.flatnonzero(ground.is_skipped):
        for one in (one for one in tree.descendants(node) if not ground.is_skipped[one]):
            away = np.hypot(*(ground.centres[one] - ground.centres[node]))
            assert away + ground.radii[one] <= ground.radii[node] + 1e-9
    own = [one for one in tree.leaves if 2 in tree.path(one)]
    assert (ground.radii[own] ** 2).sum() > 0.2 * ground.radii[2] ** 2  # a half at each of four levels would be 0.06
    apart = np.hypot(*(ground.centres[own][:, None] - ground.centres[own][None]).transpose(2, 0, 1))
    touching = ground.radii[own][:, None] + ground.radii[own][None]
    assert (apart + 9 * np.eye(len(own)) >= touching - 1e-9).all()


def test_circle_size_follows_documents():
    _, radii = pack_circles(np.random.default_rng(0).normal(size=(5, 2)), np.sqrt([100, 25, 25, 4, 1]))
    np.testing.assert_allclose(radii / radii[0], [1, 0.5, 0.5, 0.2, 0.1])
    places, single = pack_circles(np.zeros((1, 2)), np.ones(1))
    assert (places.tolist(), single.tolist()) == ([[0, 0]], [1])
    places, _ = pack_circles(np.zeros((3, 2)), np.ones(3))  # nothing tells them apart, and none covers another
    assert len(np.unique(places.round(3), axis=0)) == 3


def test_documents_fill_circle_of_topic(result):
    ground, points = result
    home = simulated()[-1]
    for leaf, node in enumerate(LEAVES):
        away = np.hypot(*(points[home == leaf] - ground.centres[node]).T) / ground.radii[node]
        assert away.max() <= 1
        assert np.median(away) == pytest.approx(np.sqrt(0.5), abs=0.1)  # as many in the inner half of the ground


def test_document_of_two_topics_placed_between():
    shares, counts, words, sizes, _ = simulated()
    mixed = csr_array(np.vstack([[0.5, 0, 0, 0, 0.5], shares.toarray()[1:]]))
    ground, points = lay_out(mixed, counts, words, sizes)
    middle = (ground.centres[3] + ground.centres[7]) / 2
    assert np.hypot(*(points[0] - middle)) <= ground.radii[3]
    nothing = csr_array(np.vstack([np.zeros(5), shares.toarray()[1:]]))
    assert np.isfinite(lay_out(nothing, counts, words, sizes)[1]).all()


def test_lay_out_circles_deterministic(result):
    shares, counts, words, sizes, _ = simulated()
    repeated = lay_out(shares, counts, words, sizes)
    np.testing.assert_array_equal(result[1], repeated[1])


def test_project_to_plane_keeps_neighbours():
    features = np.array([[1.0, 0, 0], [0.9, 0.1, 0], [0, 0, 1.0]])
    places = project_to_plane(features)
    assert np.hypot(*(places[0] - places[1])) < np.hypot(*(places[0] - places[2])) / 3


def test_documents_of_topic_follow_features():
    shares, _, words, sizes, home = simulated()
    ground, side = lay_out_circles(TREE, words, sizes), np.random.default_rng(1).choice([-1.0, 1.0], len(home))
    points = place_documents(ground, TREE.root, LEAVES, shares, lambda rows: np.outer(side[rows], [1.0, 0.5, 0.0]))
    for leaf, node in enumerate(LEAVES):
        one, other = (points[(home == leaf) & (side == which)].mean(axis=0) for which in (-1, 1))
        assert np.hypot(*(one - other)) > ground.radii[node] / 2
