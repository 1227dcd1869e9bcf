"""The products of hierarchies: both tellings against dense arithmetic, on any mask and any cut into pieces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from tests.oracles import trees
from tests.strategies import counts
from topiarist.kernels import Held, load
from topiarist.kernels.shard import Shard, Side, Tiles
from topiarist.models.engine.host import FEW_CLASSES, Engine, paths_of
from topiarist.scale.threads import Threads

_, COMPILED = TELLINGS = [load("reference"), load("compiled")]
both = pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)


@both
@given(matrix=counts(max_docs=12, max_words=30), seed=st.integers(0, 10**6), size=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_counts_times_rows_is_the_matrix_product(telling, matrix, seed, size):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 9))
    words, docs = rng.normal(size=(matrix.shape[1], width)), rng.normal(size=(matrix.shape[0], width))
    by_doc, by_word = np.full_like(docs, np.nan), np.full_like(words, np.nan)
    telling.row_products(matrix.indptr, matrix.indices, matrix.data, words, by_doc)
    np.testing.assert_allclose(by_doc, matrix @ words, rtol=1e-12, atol=1e-12)
    tiles = Tiles.of(Side.of(matrix), matrix.shape[1], size)
    telling.word_products(tiles.indptr, tiles.starts, tiles.indices, tiles.data, docs, by_word)
    np.testing.assert_allclose(by_word, matrix.T @ docs, rtol=1e-12, atol=1e-12)


@both
@given(matrix=counts(max_docs=12, max_words=30), seed=st.integers(0, 10**6), size=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_counts_times_lists_is_the_product_with_rows_that_have_nothing_else(telling, matrix, seed, size):
    rng = np.random.default_rng(seed)
    rows = rng.random((matrix.shape[0], int(rng.integers(1, 9)))) * (rng.random() < 0.9)  # some have nothing at all
    least = float(rng.choice([1e-9, 0.5, 2.0]))
    sizes = np.full(len(rows), -1)
    telling.count_held(rows, least, sizes)
    ends = np.append(0, np.cumsum(sizes))
    held = Held(ends, np.zeros(ends[-1], np.uint16), np.zeros(ends[-1]))
    telling.keep_held(rows, least, held)
    tiles = Tiles.of(Side.of(matrix), matrix.shape[1], size)
    out = np.full((matrix.shape[1], rows.shape[1]), np.nan)
    telling.held_word_products(tiles.indptr, tiles.starts, tiles.indices, tiles.data, held, out)
    np.testing.assert_allclose(out, matrix.T @ np.where(rows >= least, rows, 0), rtol=1e-12, atol=1e-12)


def test_a_long_row_is_added_in_double_precision():
    n_words = 300_000
    indptr, indices = np.array([0, n_words]), np.arange(n_words, dtype=np.int32)
    data, other = np.ones(n_words, np.float32), np.full((n_words, 3), -9.1, np.float32)
    out = np.empty((1, 3))
    COMPILED.row_products(indptr, indices, data, other, out)
    np.testing.assert_allclose(out, n_words * float(np.float32(-9.1)), rtol=1e-12)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_any_number_of_threads_multiplies_to_the_same_bits(n_threads, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.shard.SMALLEST_PIECE", 50)
    monkeypatch.setattr("topiarist.kernels.shard.SMALLEST_TILE", 64)
    monkeypatch.setattr("topiarist.kernels.shard.TILE_BYTES", 64)
    rng = np.random.default_rng(0)
    shard = Shard.of(csr_matrix(rng.poisson(0.3, (400, 300))), np.float32)
    words, docs = rng.normal(size=(300, 5)).astype(np.float32), rng.normal(size=(400, 5)).astype(np.float32)
    for multiply, other in (("row_products", words), ("word_products", docs)):
        of = shard.rows if multiply == "row_products" else shard
        alone, together = (getattr(Engine(COMPILED, Threads(n)), multiply)(of, other) for n in (1, n_threads))
        assert alone.dtype == np.float32
        assert np.array_equal(alone, together)
    many = rng.dirichlet(np.full(FEW_CLASSES + 9, 0.01), 400).astype(np.float32)
    alone, together = (next(Engine(COMPILED, Threads(n)).class_words(many, shard)) for n in (1, n_threads))
    assert np.array_equal(alone, together)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lists_leave_out_no_more_than_rounding_does(dtype):
    rng = np.random.default_rng(1)
    engine, shard = Engine(COMPILED, Threads(1)), Shard.of(csr_matrix(rng.poisson(0.3, (400, 300))), dtype)
    many = rng.dirichlet(np.full(FEW_CLASSES + 9, 0.01), 400).astype(dtype)
    held, whole = engine._held(many), engine.word_products(shard, many)
    assert len(held.values) < many.size / 2
    kept = many >= np.finfo(dtype).eps / many.shape[1]
    assert np.array_equal(held.values, many[kept])
    assert np.where(kept, 0, many).sum(axis=1).max() <= np.finfo(dtype).eps
    for found in engine.class_words(many, shard, shard):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, whole, rtol=0, atol=4 * np.finfo(dtype).eps * whole.max())
    few = np.ascontiguousarray(many[:, :FEW_CLASSES])
    np.testing.assert_array_equal(next(engine.class_words(few, shard)), engine.word_products(shard, few))


def along_paths(rng, mask, n_words, dtype=np.float64):
    """Factors on a mask, with a word that nobody has, and the four answers of dense arithmetic."""
    weights = (rng.random(mask.shape) * mask).astype(dtype)
    own, given = rng.random((mask.shape[1], n_words)).astype(dtype), rng.random((n_words, len(mask))).astype(dtype)
    own[:, rng.integers(n_words)] = 0
    words = (weights.astype(float) @ own).T
    ratio = np.where(words > 0, given / np.where(words > 0, words, 1), 0)
    shares = own * (weights.T.astype(float) @ ratio.T)
    return paths_of(mask, weights, dtype), own, given, (words, shares, weights * (ratio.T @ own.T.astype(float)))


@both
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_paths_are_added_up_and_down_as_matrices_are(telling, seed):
    rng = np.random.default_rng(seed)
    n_nodes, n_words = rng.integers(1, 12, 2)
    mask = rng.random((rng.integers(1, 9), n_nodes)) < rng.choice([0.2, 0.6, 1.0])  # some paths, some nodes are empty
    paths, own, given, (words, shares, sums) = along_paths(rng, mask, n_words)
    cut = int(rng.integers(0, n_words + 1))
    climbed, out, added = np.full_like(given, np.nan), np.full_like(own, np.nan), np.zeros(int(mask.sum()))
    for here in (slice(0, cut), slice(cut, n_words)):  # pieces of words
        part = np.full(int(mask.sum()), np.nan)
        telling.climb(own, paths, here.start, climbed[here])
        telling.descend(own, climbed[here], given[here], paths, here.start, out, part)
        alone = np.full_like(part, np.nan)
        telling.descend(own, climbed[here], given[here], paths, here.start, out[:0], alone)
        assert np.array_equal(alone, part)
        added += part
    np.testing.assert_allclose(climbed, words, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(out, shares, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(added, sums.T[mask.T], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_blocks_of_words_agree(dtype):
    rng = np.random.default_rng(1)
    mask = trees.random_tree(rng, 900, 700)  # so many classes that only some words fit into a block
    paths, own, given, (words, shares, sums) = along_paths(rng, mask, 330, dtype)
    engine, tolerance = Engine(COMPILED, Threads(1)), 1e-11 if dtype == np.float64 else 1e-5
    climbed = engine.climb(own, paths)
    out, added = engine.descend(own, climbed, given, paths)
    np.testing.assert_allclose(climbed, words, rtol=tolerance)
    np.testing.assert_allclose(out, shares, rtol=tolerance)
    np.testing.assert_allclose(added, sums, rtol=tolerance)
    assert np.array_equal(engine.path_counts(own, climbed, given, paths), added)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_any_number_of_threads_climbs_to_the_same_bits(n_threads, monkeypatch):
    monkeypatch.setattr("topiarist.models.engine.host.PATH_NUMBERS", 64)
    rng = np.random.default_rng(2)
    paths, own, given, _ = along_paths(rng, trees.balanced(3), 500, np.float32)
    alone, together = (Engine(COMPILED, Threads(n)) for n in (1, n_threads))
    words = alone.climb(own, paths)
    assert np.array_equal(words, together.climb(own, paths))
    for one, other in zip(
        alone.descend(own, words, given, paths), together.descend(own, words, given, paths), strict=True
    ):
        assert np.array_equal(one, other)
