"""A map by neighbours: near documents are near, names are in the middle of theirs, the same each time."""

import numpy as np
import pytest

from topiarist.errors import UsageError
from topiarist.hierarchy.tree import Tree
from topiarist.measures import neighbour_map
from topiarist.measures.neighbour_map import embedded, names_among


@pytest.fixture(scope="module")
def clusters():
    """Three clusters of documents in ten dimensions, their places, and which each is of."""
    rng = np.random.default_rng(0)
    which = np.repeat(np.arange(3), 40)
    features = rng.normal(0, 0.2, (120, 10)) + 3 * np.eye(3, 10)[which]
    return features, embedded(features), which


def test_documents_of_a_cluster_lie_together_in_a_circle_of_radius_one(clusters):
    _, places, which = clusters
    assert np.hypot(*places.T).max() == pytest.approx(1)
    middles = np.stack([places[which == one].mean(axis=0) for one in range(3)])
    nearest = np.hypot(*(places[:, None] - middles[None]).transpose(2, 0, 1)).argmin(axis=1)
    np.testing.assert_array_equal(nearest, which)


def test_the_same_documents_have_the_same_map(clusters):
    features, places, _ = clusters
    np.testing.assert_array_equal(embedded(features), places)


def test_names_lie_in_the_middle_of_their_documents(clusters):
    _, places, which = clusters
    tree = Tree((-1, 0, 0, 2, 2, 2))  # a heading without documents, one with three topics
    ground = names_among(tree, which + 3, places)
    for topic in range(3):
        np.testing.assert_allclose(ground.centres[topic + 3], np.median(places[which == topic], axis=0))
    assert ground.radii[3:].max() < ground.radii[2] < 1
    assert ground.radii[1] == 0
    assert ground.between.all()


def test_without_the_extra_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(neighbour_map, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="openTSNE") as caught:
        embedded(np.zeros((20, 3)))
    assert "topiarist[map]" in caught.value.hint


@pytest.mark.parametrize("documents", [neighbour_map.FEWEST - 1, neighbour_map.MOST + 1])
def test_too_few_and_too_many_documents_are_refused(documents):
    with pytest.raises(UsageError, match=f"got {documents:,}"):
        embedded(np.zeros((documents, 3)))
