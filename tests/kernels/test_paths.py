"""The products of hierarchies: both backends against dense arithmetic, on any mask and any cut into pieces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from tests.oracles import trees
from tests.strategies import counts
from topiarist.execution.threads import Threads
from topiarist.kernels import SparseRows, load
from topiarist.kernels.shard import CountsView, Shard, Tiles
from topiarist.models.engine.host import MAX_DENSE_CLASSES, Engine, make_paths

_, COMPILED = BACKENDS = [load("reference"), load("compiled")]
both = pytest.mark.parametrize("backend", BACKENDS, ids=lambda kernels: kernels.name)


@both
@given(matrix=counts(max_docs=12, max_words=30), seed=st.integers(0, 10**6), size=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_products_match_matrix_product(backend, matrix, seed, size):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 9))
    words, docs = rng.normal(size=(matrix.shape[1], width)), rng.normal(size=(matrix.shape[0], width))
    by_doc, by_word = np.full_like(docs, np.nan), np.full_like(words, np.nan)
    backend.row_products(matrix.indptr, matrix.indices, matrix.data, words, by_doc)
    np.testing.assert_allclose(by_doc, matrix @ words, rtol=1e-12, atol=1e-12)
    tiles = Tiles.from_rows(CountsView.from_matrix(matrix), matrix.shape[1], size)
    backend.word_products(tiles.indptr, tiles.starts, tiles.indices, tiles.data, docs, by_word)
    np.testing.assert_allclose(by_word, matrix.T @ docs, rtol=1e-12, atol=1e-12)


@both
@given(matrix=counts(max_docs=12, max_words=30), seed=st.integers(0, 10**6), size=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_sparse_word_products_match_dense_products(backend, matrix, seed, size):
    rng = np.random.default_rng(seed)
    rows = rng.random((matrix.shape[0], int(rng.integers(1, 9)))) * (rng.random() < 0.9)  # some have nothing at all
    min_share = float(rng.choice([1e-9, 0.5, 2.0]))
    sizes = np.full(len(rows), -1)
    backend.count_kept_classes(rows, min_share, sizes)
    ends = np.append(0, np.cumsum(sizes))
    sparse_rows = SparseRows(ends, np.zeros(ends[-1], np.uint16), np.zeros(ends[-1]))
    backend.keep_classes(rows, min_share, sparse_rows)
    tiles = Tiles.from_rows(CountsView.from_matrix(matrix), matrix.shape[1], size)
    out = np.full((matrix.shape[1], rows.shape[1]), np.nan)
    backend.sparse_word_products(tiles.indptr, tiles.starts, tiles.indices, tiles.data, sparse_rows, out)
    np.testing.assert_allclose(out, matrix.T @ np.where(rows >= min_share, rows, 0), rtol=1e-12, atol=1e-12)


def test_row_products_sum_in_double_precision():
    n_words = 300_000
    indptr, indices = np.array([0, n_words]), np.arange(n_words, dtype=np.int32)
    data, other = np.ones(n_words, np.float32), np.full((n_words, 3), -9.1, np.float32)
    out = np.empty((1, 3))
    COMPILED.row_products(indptr, indices, data, other, out)
    np.testing.assert_allclose(out, n_words * float(np.float32(-9.1)), rtol=1e-12)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_products_independent_of_threads(n_threads, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.shard.MIN_SLICE_NONZEROS", 50)
    monkeypatch.setattr("topiarist.kernels.shard.MIN_TILE_DOCUMENTS", 64)
    monkeypatch.setattr("topiarist.kernels.shard.TILE_BYTES", 64)
    rng = np.random.default_rng(0)
    shard = Shard.from_matrix(csr_matrix(rng.poisson(0.3, (400, 300))), np.float32)
    words, docs = rng.normal(size=(300, 5)).astype(np.float32), rng.normal(size=(400, 5)).astype(np.float32)
    for multiply, other in (("row_products", words), ("word_products", docs)):
        of = shard.rows if multiply == "row_products" else shard
        single, several = (getattr(Engine(COMPILED, Threads(n)), multiply)(of, other) for n in (1, n_threads))
        assert single.dtype == np.float32
        assert np.array_equal(single, several)
    n_classes = rng.dirichlet(np.full(MAX_DENSE_CLASSES + 9, 0.01), 400).astype(np.float32)
    single, several = (next(Engine(COMPILED, Threads(n)).class_words(n_classes, shard)) for n in (1, n_threads))
    assert np.array_equal(single, several)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_class_words_omit_less_than_rounding(dtype):
    rng = np.random.default_rng(1)
    engine, shard = Engine(COMPILED, Threads(1)), Shard.from_matrix(csr_matrix(rng.poisson(0.3, (400, 300))), dtype)
    n_classes = rng.dirichlet(np.full(MAX_DENSE_CLASSES + 9, 0.01), 400).astype(dtype)
    sparse_rows, dense_sums = engine._keep_classes(n_classes), engine.word_products(shard, n_classes)
    assert len(sparse_rows.values) < n_classes.size / 2
    shares = n_classes >= np.finfo(dtype).eps / n_classes.shape[1]
    assert np.array_equal(sparse_rows.values, n_classes[shares])
    assert np.where(shares, 0, n_classes).sum(axis=1).max() <= np.finfo(dtype).eps
    for result in engine.class_words(n_classes, shard, shard):
        assert result.dtype == dtype
        np.testing.assert_allclose(result, dense_sums, rtol=0, atol=4 * np.finfo(dtype).eps * dense_sums.max())
    selected = np.ascontiguousarray(n_classes[:, :MAX_DENSE_CLASSES])
    np.testing.assert_array_equal(next(engine.class_words(selected, shard)), engine.word_products(shard, selected))


def along_paths(rng, mask, n_words, dtype=np.float64):
    """Factors on a mask, with a word that nobody has, and the four answers of dense arithmetic."""
    weights = (rng.random(mask.shape) * mask).astype(dtype)
    node_words, expected_words = (
        rng.random((mask.shape[1], n_words)).astype(dtype),
        rng.random((n_words, len(mask))).astype(dtype),
    )
    node_words[:, rng.integers(n_words)] = 0
    words = (weights.astype(float) @ node_words).T
    ratio = np.where(words > 0, expected_words / np.where(words > 0, words, 1), 0)
    shares = node_words * (weights.T.astype(float) @ ratio.T)
    return (
        make_paths(mask, weights, dtype),
        node_words,
        expected_words,
        (words, shares, weights * (ratio.T @ node_words.T.astype(float))),
    )


@both
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_path_kernels_match_dense_matrices(backend, seed):
    rng = np.random.default_rng(seed)
    n_nodes, n_words = rng.integers(1, 12, 2)
    mask = rng.random((rng.integers(1, 9), n_nodes)) < rng.choice([0.2, 0.6, 1.0])  # some paths, some nodes are empty
    paths, node_words, expected_words, (words, shares, sums) = along_paths(rng, mask, n_words)
    cut = int(rng.integers(0, n_words + 1))
    path_words, out, total = (
        np.full_like(expected_words, np.nan),
        np.full_like(node_words, np.nan),
        np.zeros(int(mask.sum())),
    )
    for span in (slice(0, cut), slice(cut, n_words)):  # pieces of words
        part = np.full(int(mask.sum()), np.nan)
        backend.sum_along_paths(node_words, paths, span.start, path_words[span])
        backend.distribute_along_paths(node_words, path_words[span], expected_words[span], paths, span.start, out, part)
        single = np.full_like(part, np.nan)
        backend.distribute_along_paths(
            node_words, path_words[span], expected_words[span], paths, span.start, out[:0], single
        )
        assert np.array_equal(single, part)
        total += part
    np.testing.assert_allclose(path_words, words, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(out, shares, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(total, sums.T[mask.T], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_path_kernels_match_across_blocks(dtype):
    rng = np.random.default_rng(1)
    mask = trees.random_tree(rng, 900, 700)  # so many classes that only some words fit into a block
    paths, node_words, expected_words, (words, shares, sums) = along_paths(rng, mask, 330, dtype)
    engine, tolerance = Engine(COMPILED, Threads(1)), 1e-11 if dtype == np.float64 else 1e-5
    path_words = engine.sum_along_paths(node_words, paths)
    out, total = engine.distribute_along_paths(node_words, path_words, expected_words, paths)
    np.testing.assert_allclose(path_words, words, rtol=tolerance)
    np.testing.assert_allclose(out, shares, rtol=tolerance)
    np.testing.assert_allclose(total, sums, rtol=tolerance)
    assert np.array_equal(engine.path_counts(node_words, path_words, expected_words, paths), total)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_path_sums_independent_of_threads(n_threads, monkeypatch):
    monkeypatch.setattr("topiarist.models.engine.host.SLICE_NUMBERS", 64)
    rng = np.random.default_rng(2)
    paths, node_words, expected_words, _ = along_paths(rng, trees.balanced(3), 500, np.float32)
    single, several = (Engine(COMPILED, Threads(n)) for n in (1, n_threads))
    words = single.sum_along_paths(node_words, paths)
    assert np.array_equal(words, several.sum_along_paths(node_words, paths))
    for engine_of_one, other in zip(
        single.distribute_along_paths(node_words, words, expected_words, paths),
        several.distribute_along_paths(node_words, words, expected_words, paths),
        strict=True,
    ):
        assert np.array_equal(engine_of_one, other)
