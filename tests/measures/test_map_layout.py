"""A map: circles within circles that do not overlap, documents in their circles, the same each time."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.hierarchy.tree import Tree
from topiarist.measures.map_layout import lay_out, packed, plane

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


@pytest.fixture(scope="module")
def found():
    shares, counts, words, sizes, _ = simulated()
    return lay_out(TREE, LEAVES, shares, counts, words, sizes)


def test_circles_lie_in_the_one_above_and_beside_their_siblings(found):
    for node in range(1, len(TREE)):
        above = TREE.parents[node]
        away = np.hypot(*(found.centres[node] - found.centres[above]))
        assert away + found.radii[node] <= found.radii[above] + 1e-9
        for other in TREE.children(above):
            if other != node:
                apart = np.hypot(*(found.centres[node] - found.centres[other]))
                assert apart >= found.radii[node] + found.radii[other] - 1e-9


def test_larger_topics_have_larger_circles():
    _, radii = packed(np.random.default_rng(0).normal(size=(5, 2)), np.sqrt([100, 25, 25, 4, 1]))
    np.testing.assert_allclose(radii / radii[0], [1, 0.5, 0.5, 0.2, 0.1])
    places, alone = packed(np.zeros((1, 2)), np.ones(1))
    assert (places.tolist(), alone.tolist()) == ([[0, 0]], [1])
    places, _ = packed(np.zeros((3, 2)), np.ones(3))  # nothing tells them apart, and none covers another
    assert len(np.unique(places.round(3), axis=0)) == 3


def test_documents_lie_in_the_circle_of_their_topic_and_fill_it(found):
    home = simulated()[-1]
    for leaf, node in enumerate(LEAVES):
        away = np.hypot(*(found.points[home == leaf] - found.centres[node]).T) / found.radii[node]
        assert away.max() <= 1
        assert np.median(away) == pytest.approx(np.sqrt(0.5), abs=0.1)  # as many in the inner half of the ground


def test_a_document_of_two_topics_lies_between_them():
    shares, counts, words, sizes, _ = simulated()
    mixed = csr_array(np.vstack([[0.5, 0, 0, 0, 0.5], shares.toarray()[1:]]))
    layout = lay_out(TREE, LEAVES, mixed, counts, words, sizes)
    middle = (layout.centres[3] + layout.centres[7]) / 2
    assert np.hypot(*(layout.points[0] - middle)) <= layout.radii[3]
    nothing = csr_array(np.vstack([np.zeros(5), shares.toarray()[1:]]))
    assert np.isfinite(lay_out(TREE, LEAVES, nothing, counts, words, sizes).points).all()


def test_the_same_tree_has_the_same_map(found):
    shares, counts, words, sizes, _ = simulated()
    again = lay_out(TREE, LEAVES, shares, counts, words, sizes)
    np.testing.assert_array_equal(found.points, again.points)


def test_things_that_are_alike_are_near():
    features = np.array([[1.0, 0, 0], [0.9, 0.1, 0], [0, 0, 1.0]])
    places = plane(features)
    assert np.hypot(*(places[0] - places[1])) < np.hypot(*(places[0] - places[2])) / 3
