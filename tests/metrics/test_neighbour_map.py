"""A map by neighbours: near documents are near, names are in the middle of theirs, the same each time."""

import numpy as np
import pytest

from topiarist.errors import UsageError
from topiarist.metrics import map_layout
from topiarist.metrics.map_layout import embed, place_names
from topiarist.trees.tree import Tree


@pytest.fixture(scope="module")
def clusters():
    """Three clusters of documents in ten dimensions, their places, and which each is of."""
    rng = np.random.default_rng(0)
    which = np.repeat(np.arange(3), 40)
    features = rng.normal(0, 0.2, (120, 10)) + 3 * np.eye(3, 10)[which]
    return features, embed(features), which


def test_embed_keeps_clusters_together(clusters):
    _, places, which = clusters
    assert np.hypot(*places.T).max() == pytest.approx(1)
    middles = np.stack([places[which == one].mean(axis=0) for one in range(3)])
    nearest = np.hypot(*(places[:, None] - middles[None]).transpose(2, 0, 1)).argmin(axis=1)
    np.testing.assert_array_equal(nearest, which)


def test_embed_deterministic(clusters):
    features, places, _ = clusters
    np.testing.assert_array_equal(embed(features), places)


def test_place_names_at_median_of_documents(clusters):
    _, places, which = clusters
    tree = Tree((-1, 0, 0, 2, 2, 2))  # a heading without documents, one with three topics
    ground = place_names(tree, which + 3, places)
    for topic in range(3):
        np.testing.assert_allclose(ground.centres[topic + 3], np.median(places[which == topic], axis=0))
    assert ground.radii[3:].max() < ground.radii[2] < 1
    assert ground.radii[1] == 0
    assert ground.is_skipped.all()


def test_embed_reports_missing_package(monkeypatch):
    monkeypatch.setattr(map_layout, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="openTSNE") as caught:
        embed(np.zeros((20, 3)))
    assert "topiarist[map]" in caught.value.hint


@pytest.mark.parametrize("documents", [map_layout.MIN_DOCUMENTS - 1, map_layout.MAX_DOCUMENTS + 1])
def test_embed_limits_number_of_documents(documents):
    with pytest.raises(UsageError, match=f"got {documents:,}"):
        embed(np.zeros((documents, 3)))
