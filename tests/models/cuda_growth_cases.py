"""What growing needs of a device, as the host does it. Run by ``test_cuda`` in numba's simulator."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests import simulator
from tests.strategies import simplex_rows
from topiarist import CAM
from topiarist.counts.lsi import truncated_svd
from topiarist.execution.blocks import BlockStore
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models.engine import cuda_growth, tables
from topiarist.models.engine.cuda import CudaEngine
from topiarist.models.engine.host import Engine
from topiarist.models.halves import split_in_two_means
from topiarist.trees import edits
from topiarist.trees.growth import multiway
from topiarist.trees.growth.headings import add_headings
from topiarist.trees.growth.parts import GrowthState, Split, divide, join, remove_empty_leaves, sort_by_tree
from topiarist.trees.tree import Tree

simulator.patient()

THREADS = Threads(1)
HOST = Engine(load("compiled"), THREADS)


@pytest.fixture(scope="module")
def device():
    return CudaEngine.start(THREADS)


def counts_of(seed=0, shape=(12, 9), topics=2):
    """Documents of some topics, each of which has words of its own."""
    rng = np.random.default_rng(seed)
    means = np.full((topics, shape[1]), 0.2)
    for topic in range(topics):
        means[topic, topic::topics] = 3.0
    return csr_array(rng.poisson(means[np.arange(shape[0]) % topics]).astype(np.float32))


def parts_of(seed=0, n_docs=6, n_words=5):
    rng = np.random.default_rng(seed)
    tree = Tree((-1, 0, 0, 1, 1))
    mask = tree.path_mask(tree.leaves)
    mix = mask * rng.random(mask.shape)
    return GrowthState(
        tree, tree.leaves, simplex_rows(rng, len(tree), n_words).astype(np.float32),
        mix / mix.sum(axis=1, keepdims=True), simplex_rows(rng, n_docs, 3).astype(np.float32),
    )  # fmt: skip


CHANGES = {
    "divide": lambda parts: divide(
        parts,
        (Split(1, (np.array([0, 3]), np.array([4]))), Split(0)),
        simplex_rows(np.random.default_rng(1), 4, parts.word_given_node.shape[1]),
    ),
    "join": lambda parts: join(parts, [(0, 1)]),
    "without": lambda parts: remove_empty_leaves(parts, float(np.sort(parts.sizes())[1])),
    "order": sort_by_tree,
}


@pytest.mark.parametrize("change", CHANGES)
def test_table_operations_on_device_match_host(device, change):
    parts = parts_of()
    expected = CHANGES[change](parts)
    result = CHANGES[change](device.to_device(parts))
    assert not isinstance(result.word_given_node, np.ndarray)
    assert not isinstance(result.class_given_doc, np.ndarray)
    assert (result.tree, result.class_nodes) == (expected.tree, expected.class_nodes)
    np.testing.assert_allclose(result.sizes(), expected.sizes(), rtol=1e-6)
    result = device.to_host(result)
    for name in ("word_given_node", "class_given_doc", "node_given_class"):
        np.testing.assert_allclose(getattr(result, name), getattr(expected, name), rtol=1e-6, err_msg=name)


def test_find_largest_columns_returns_first_maximum(device):
    table = np.array([[0.1, 0.7, 0.2, 0.0, 0.7, 0.1], [0.5, 0.1, 0.1, 0.1, 0.1, 0.1], [0, 0, 0, 0, 0, 1]], np.float32)
    assert (
        tables.find_largest_columns(device.to_device(table)).tolist()
        == tables.find_largest_columns(table).tolist()
        == [1, 0, 5]
    )


def test_append_rows_keeps_device(device):
    table, more = np.eye(2, 3, dtype=np.float32), np.ones((1, 3))
    on_device = tables.append_rows(device.to_device(table), more)
    np.testing.assert_array_equal(device.to_host(on_device), tables.append_rows(table, more))
    np.testing.assert_array_equal(tables.append_rows(table, on_device), np.vstack([table, table, more]))


def test_group_words_on_device_match_host(device):
    counts, groups = counts_of(), [np.array([0, 2, 5]), np.array([1]), np.array([], int)]
    collection = np.asarray(counts.sum(axis=0), float) / counts.sum()
    expected = HOST.group_words(HOST.shard(counts, np.float32, 4), groups, collection, 3.0)
    result = device.group_words(device.shard(counts, np.float32, 4), groups, collection, 3.0)
    np.testing.assert_allclose(device.to_host(result), expected, rtol=1e-5)


def test_log_likelihoods_on_device_match_host(device):
    counts = counts_of()
    rng = np.random.default_rng(0)
    own, other = simplex_rows(rng, 12, 3), np.ascontiguousarray(simplex_rows(rng, 3, 9).T)
    other[4] = 0
    expected = HOST.log_likelihoods(HOST.view_counts(counts, np.float64), own, other)
    result = device.log_likelihoods(
        device.view_counts(counts, np.float64), device.to_device(own), device.to_device(other)
    )
    np.testing.assert_allclose(result, expected, rtol=1e-10)


def test_split_in_two_on_device_matches_host(device, monkeypatch):
    monkeypatch.setattr(cuda_growth, "PART_POINTS", 3)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(22, 3)).astype(np.float32)
    points[::2] += 4
    groups = [np.arange(10), np.array([], int), np.arange(10, 21), np.array([21]), np.arange(3)]
    seeds = [5, 6, 7, 8, 9]
    result = device.split_in_two(device.to_device(points), groups, seeds, 2)
    for group, seed, (gain, side) in zip(groups, seeds, result, strict=True):
        expected, wanted_side = split_in_two_means(points[group], seed, 2)
        assert gain == pytest.approx(expected, rel=1e-5)
        assert (side is None) == (wanted_side is None)
        if side is not None:
            assert (side == wanted_side).all() or (side == ~wanted_side).all()


def test_split_in_two_accepts_small_groups(device):
    points = device.to_device(np.ones((4, 2), np.float32))
    assert device.split_in_two(points, [np.arange(1), np.arange(4)], [0, 1], 1.0) == [(0.0, None), (0.0, None)]
    assert device.split_in_two(points, [], [], 1.0) == []


def test_leading_factors_match_svd(device, monkeypatch):
    monkeypatch.setattr(cuda_growth, "OVERSAMPLES", 2)
    monkeypatch.setattr(cuda_growth, "POWER_ITERATIONS", 2)
    matrix = counts_of(3, (14, 6), 3)
    left, values, right = device.leading_factors(matrix, 3, 0)
    expected = np.linalg.svd(matrix.toarray(), full_matrices=False)
    np.testing.assert_allclose(values, expected[1][:3], rtol=1e-3)
    np.testing.assert_allclose(left.T @ left, np.eye(3), atol=1e-4)
    best = (expected[0][:, :3] * expected[1][:3]) @ expected[2][:3]
    np.testing.assert_allclose((left * values) @ right, best, atol=0.05)
    assert device.leading_factors(csr_array(matrix.T), 3, 0) is None
    monkeypatch.setattr("topiarist.counts.lsi._SMALL", 0)
    space = truncated_svd(matrix, 3, factors=device.leading_factors)
    np.testing.assert_allclose(space.singular_values, values)
    assert (space.word_factors.max(axis=0) == np.abs(space.word_factors).max(axis=0)).all()


@pytest.mark.parametrize("n_leaves", [6, 50])
def test_headings_on_device_match_host(device, n_leaves, monkeypatch):
    """Of as many leaves as are merged, and of more than that, where they are built over branches."""
    monkeypatch.setattr(multiway, "MAX_BRANCHES", 4)
    monkeypatch.setattr(multiway.find_first_branches, "__defaults__", (4,))
    rng = np.random.default_rng(2)
    tree = Tree.single()
    while len(tree.leaves) < n_leaves // (1 if n_leaves < 10 else 5):
        tree = edits.split(tree, min(tree.leaves)).tree
    leaves = len(tree.leaves)
    counts = counts_of(1, (3 * leaves, 12), leaves)
    shares = np.full((3 * leaves, leaves), 0.1 / leaves, np.float32)
    shares[np.arange(3 * leaves), np.arange(3 * leaves) % leaves] += 0.9
    mask = tree.path_mask(tree.leaves)
    words = simplex_rows(rng, len(tree), 12).astype(np.float32)
    parts = GrowthState(tree, tree.leaves, words, mask / mask.sum(axis=1, keepdims=True), shares)
    result = []
    for engine in (HOST, device):
        shard, here = engine.shard(counts, np.float32, 4), engine.to_device(parts)
        result.append(add_headings(here, lambda one, e=engine, s=shard: e.class_tables(s, one.class_given_doc)))
    assert not isinstance(result[1].word_given_node, np.ndarray)
    assert result[0].tree == result[1].tree
    assert result[0].class_nodes == result[1].class_nodes
    on_host = device.to_host(result[1])
    np.testing.assert_allclose(on_host.word_given_node, result[0].word_given_node, rtol=1e-4)
    np.testing.assert_allclose(on_host.node_given_class, result[0].node_given_class, rtol=1e-6)


OPTIONS = {"n_clusters": 2, "random_state": 0, "max_iter": 2, "dtype": "float64", "headings": False}


def test_tree_grows_on_device():
    counts = counts_of(1, (16, 8))
    expected, result = (CAM(device=device, **OPTIONS).fit(counts) for device in ("cpu", "cuda"))
    assert result.tree_ == expected.tree_
    same = result.labels_ == expected.labels_
    assert same.all() or not same.any()
    np.testing.assert_allclose(result.curve_.perplexity, expected.curve_.perplexity, rtol=1e-6)


def test_tree_grows_from_pinned_blocks(tmp_path):
    counts = counts_of(1, (16, 8))
    store = BlockStore.write(tmp_path / "store", counts, block_size=8)
    expected, result = (CAM(device=device, **OPTIONS).fit(store) for device in ("cpu", "cuda"))
    assert result.tree_ == expected.tree_
    same = result.labels_ == expected.labels_
    assert same.all() or not same.any()
    np.testing.assert_allclose(result.curve_.perplexity, expected.curve_.perplexity, rtol=1e-6)


def test_large_counts_visit_device_in_blocks(tmp_path, monkeypatch):
    counts = counts_of(1, (16, 8))
    small = CudaEngine.start(THREADS, device_memory=1000)
    assert not small.fits_device(counts, np.float64, 2)
    assert CudaEngine.start(THREADS, device_memory=1 << 20).fits_device(counts, np.float64, 2)
    assert HOST.fits_device(counts, np.float64, 2)
    expected = CAM(device="cuda", **OPTIONS).fit(BlockStore.write(tmp_path / "store", counts, block_size=16))
    monkeypatch.setattr(CudaEngine, "fits_device", lambda *_: False)
    result = CAM(device="cuda", **OPTIONS).fit(counts)
    assert result.tree_ == expected.tree_
    np.testing.assert_array_equal(result.word_given_node_, expected.word_given_node_)
    np.testing.assert_array_equal(result.cluster_given_doc_, expected.cluster_given_doc_)
