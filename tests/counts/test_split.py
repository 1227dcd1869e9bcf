"""Parts add up to the whole, hold whole tokens, and have the sizes asked for."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

import topiarist.counts.split as split_module
from topiarist.counts import check_counts, completion_split, split_tokens
from topiarist.errors import UsageError

shapes = st.tuples(st.integers(1, 6), st.integers(1, 7))
whole = arrays(np.float32, shapes, elements=st.integers(0, 9).map(float))
real = arrays(np.float64, shapes, elements=st.floats(0, 9).map(lambda x: x if x > 1e-9 else 0.0))


@given(
    st.one_of(whole, real),
    st.integers(0, 2**32),
    st.sampled_from([(0.9, 0.1), (0.8, 0.1, 0.1), (1.0,), (0, 1)]),
)
def test_parts_add_up_exactly(X: np.ndarray, seed: int, fractions: tuple[float, ...]) -> None:
    counts = check_counts(X)
    parts = split_tokens(counts, fractions, seed=seed)
    assert len(parts) == len(fractions)
    assert np.array_equal(sum(part.toarray() for part in parts), counts.toarray())
    assert all((part.data > 0).all() and part.dtype == counts.dtype for part in parts)
    again = split_tokens(counts, fractions, seed=seed)
    assert all((a != b).nnz == 0 for a, b in zip(parts, again, strict=True))


@given(whole, st.integers(0, 2**32))
def test_halves_are_halves(X: np.ndarray, seed: int) -> None:
    counts = check_counts(X)
    fold, score = completion_split(counts, seed=seed)
    assert np.array_equal(fold.toarray() + score.toarray(), counts.toarray())
    length = counts.sum(axis=1)
    assert np.array_equal(fold.sum(axis=1), np.ceil(length / 2))
    assert (fold.data > 0).all()


@given(real, st.integers(0, 2**32))
def test_halves_of_counts_that_are_not_whole_add_up(X: np.ndarray, seed: int) -> None:
    counts = check_counts(X)
    fold, score = completion_split(counts, seed=seed)
    assert fold.toarray() + score.toarray() == pytest.approx(counts.toarray(), rel=1e-15)


def test_parts_have_the_sizes_asked_for() -> None:
    counts = check_counts(np.full((50, 40), 10))
    parts = split_tokens(counts, (0.8, 0.1, 0.1), seed=1)
    shares = [part.sum() / counts.sum() for part in parts]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.01)  # three standard errors of 20,000 coins


def test_zero_shares_get_nothing() -> None:
    first, second = split_tokens(check_counts([[3, 4]]), (0.0, 1.0))
    assert (first.nnz, second.sum()) == (0, 7)


def test_block_size_is_irrelevant(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = check_counts(np.random.default_rng(0).poisson(2, (30, 9)))
    expected = completion_split(counts, seed=4)
    monkeypatch.setattr(split_module, "_TOKENS_PER_BLOCK", 25)
    for a, b in zip(expected, completion_split(counts, seed=4), strict=True):
        assert (a != b).nnz == 0


def test_halves_are_drawn_without_replacement_and_fairly() -> None:
    counts = check_counts(np.tile([[4, 2, 2]], (4000, 1)))
    fold, _ = completion_split(counts, seed=0)
    assert fold.toarray().mean(axis=0) == pytest.approx([2, 1, 1], abs=0.05)
    variance = fold.toarray().var(axis=0)
    assert variance == pytest.approx([4 / 7, 3 / 7, 3 / 7], abs=0.05)  # hypergeometric; coins would give 1, 1/2, 1/2


@pytest.mark.parametrize("fractions", [(0.5, 0.6), (-0.1, 1.1), (), (0.9,)])
def test_fractions_must_share_one(fractions: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="that sum to 1"):
        split_tokens(check_counts([[1]]), fractions)


LARGE = (
    [[1e9]],
    [[1e9, 3, 5]],
    [[3e8, 3e8, 5]],
    [[2.0**52, 1, 1, 7e5, 2.0**51]],
    [[2.0**53 - 1]],
    [[2.0**31, 1], [1, 1], [5e6, 6]],
)


@pytest.mark.parametrize("X", LARGE)
def test_large_counts_are_split_without_writing_them_out(X: list[list[float]]) -> None:
    counts = csr_array(np.array(X))
    tracemalloc.start()
    try:
        fold, score = completion_split(counts, seed=3)
        parts = split_tokens(counts, (0.8, 0.1, 0.1), seed=3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1e6
    assert np.array_equal(fold.toarray() + score.toarray(), counts.toarray())
    assert fold.sum(axis=1).tolist() == [sum(map(int, row)) // 2 + sum(map(int, row)) % 2 for row in X]
    assert np.array_equal(sum(part.toarray() for part in parts), counts.toarray())
    assert all(np.array_equal(part.data, np.floor(part.data)) for part in (fold, score, *parts))
    again, _ = completion_split(counts, seed=3)
    assert (again != fold).nnz == 0


@pytest.mark.parametrize("X", LARGE)
def test_large_counts_in_single_precision_still_add_up(X: list[list[float]]) -> None:
    counts = csr_array(np.array(X, dtype=np.float32))
    fold, score = completion_split(counts, seed=3)
    assert np.array_equal(fold.toarray() + score.toarray(), counts.toarray())
    assert fold.sum(axis=1) == pytest.approx(counts.sum(axis=1) / 2, rel=1e-6)
    parts = split_tokens(counts, (0.8, 0.1, 0.1), seed=3)
    assert np.array_equal(sum(part.toarray() for part in parts), counts.toarray())


def test_long_documents_are_halved_as_by_shuffle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_module, "_MAX_SHUFFLED", 10)
    monkeypatch.setattr(split_module, "_TOKENS_PER_BLOCK", 10)
    counts = check_counts(np.tile([[300, 2, 200, 400]], (4000, 1)))
    fold, _ = completion_split(counts, seed=0)
    assert (fold.sum(axis=1) == 451).all()
    total, n = 902, np.array([300, 2, 200, 400])
    assert fold.toarray().mean(axis=0) == pytest.approx(n / 2, abs=0.5)
    variance = n / 4 * (total - n) / (total - 1)
    assert fold.toarray().var(axis=0) == pytest.approx(variance, rel=0.1)  # four standard errors


def test_huge_documents_give_half_of_each_word(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MAX_SHUFFLED", "_TOKENS_PER_BLOCK", "_MAX_DRAWN"):
        monkeypatch.setattr(split_module, name, 10)
    counts = check_counts(np.tile([[300, 3, 201, 401]], (400, 1)))
    fold, _ = completion_split(counts, seed=0)
    assert (fold.sum(axis=1) == 453).all()
    assert (np.abs(fold.toarray() - [150, 1.5, 100.5, 200.5]) <= 0.5).all()
    assert fold.toarray().mean(axis=0)[1:] == pytest.approx([1 + 2 / 3, 100 + 2 / 3, 200 + 2 / 3], abs=0.1)


def test_blocks_are_bounded_however_many_tokens_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_module, "_TOKENS_PER_BLOCK", 100)
    for first in (2**24, 2**53):  # to which neither float32 nor float64 can add one
        tokens = np.array([first] + [1] * 1000, dtype=np.float32)
        blocks = split_module._split_blocks(np.arange(1002), tokens)
        assert blocks[0] == (0, 1)
        assert max(last - start for start, last in blocks) <= 100
