"""Weights and LSI against scikit-learn and dense arithmetic."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from topiarist.arrays import Csr
from topiarist.counts import (
    check_counts,
    count,
    effective_length_weights,
    latent_space,
    scale_rows,
    tfidf,
    truncated_svd,
    unit_rows,
)
from topiarist.errors import InputError, UsageError


@pytest.fixture(scope="module")
def counts(real_texts: list[str]) -> Csr:
    return check_counts(count(real_texts)[0])


@pytest.mark.parametrize("sublinear", [False, True])
def test_tfidf_is_that_of_scikit_learn(counts: Csr, sublinear: bool) -> None:
    expected = TfidfTransformer(sublinear_tf=sublinear).fit_transform(counts.astype(np.float64))
    assert abs(unit_rows(tfidf(counts, sublinear=sublinear)) - expected).max() < 1e-6


def test_rows_of_zeros_stay() -> None:
    X = check_counts([[3, 4], [0, 0]])
    assert unit_rows(X).toarray() == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


def test_effective_length() -> None:
    X = check_counts([[50, 50], [5, 0], [0, 0]])
    assert effective_length_weights(X, 25).tolist() == [0.25, 1, 1]
    assert effective_length_weights(X, None).tolist() == [1, 1, 1]
    assert scale_rows(X, effective_length_weights(X, 25)).toarray().tolist() == [[12.5, 12.5], [5, 0], [0, 0]]
    with pytest.raises(UsageError, match="must be above 0"):
        effective_length_weights(X, 0)


def test_small_matrices_are_decomposed_exactly() -> None:
    X = np.random.default_rng(0).poisson(1.0, (12, 8)).astype(float)
    space = truncated_svd(sparse.csr_array(X), 3)
    _, values, right = np.linalg.svd(X)
    assert space.singular_values == pytest.approx(values[:3])
    assert np.abs(space.word_factors.T @ right[:3].T) == pytest.approx(np.eye(3), abs=1e-9)
    assert (space.word_factors[np.abs(space.word_factors).argmax(axis=0), range(3)] > 0).all()
    assert truncated_svd(sparse.csr_array(X), 50).doc_factors.shape == (12, 8)


def test_large_matrices_are_decomposed_closely_and_repeatably(counts: Csr) -> None:
    space = latent_space(counts, 20, seed=3)
    again = latent_space(counts, 20, seed=3)
    assert np.array_equal(space.doc_factors, again.doc_factors)
    exact = np.sqrt(sparse.linalg.eigsh((lambda W: W @ W.T)(unit_rows(tfidf(counts))), 20)[0])[::-1]
    assert space.singular_values == pytest.approx(exact, rel=0.03)  # random projections: the tail is a little low
    assert space.project(counts) == pytest.approx(space.doc_vectors, abs=1e-4)
    assert space.doc_factors.T @ space.doc_factors == pytest.approx(np.eye(20), abs=1e-4)  # float32
    with pytest.raises(InputError, match="columns"):
        space.project(counts[:, :5])
