"""Tests of kernels for small symmetric matrices."""

import numpy as np

from topiarist.kernels import gaussians


def test_invert_matches_numpy():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(5, 4, 4))
    matrices = half @ half.transpose(0, 2, 1) + 0.1 * np.eye(4)
    inverse, logarithm = np.empty_like(matrices), np.empty(5)
    gaussians.invert(matrices, inverse, logarithm)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrices), rtol=1e-8)
    np.testing.assert_allclose(logarithm, np.linalg.slogdet(matrices)[1], rtol=1e-10)


def test_invert_returns_nan_for_singular_matrices_only():
    matrices = np.array([[[1.0, 1.0], [1.0, 1.0]], [[4.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]]])
    inverse, logarithm = np.empty_like(matrices), np.empty(3)
    gaussians.invert(matrices, inverse, logarithm)
    assert np.isnan(inverse[[0, 2]]).all()
    assert np.isnan(logarithm[[0, 2]]).all()
    np.testing.assert_allclose(inverse[1], [[0.25, 0.0], [0.0, 1.0]])


def test_check_eigenvalues_excludes_bound():
    matrices, answer = np.array([np.diag([3.0, 2.0])] * 3), np.empty(3, bool)
    gaussians.check_eigenvalues(matrices, np.array([1.9, 2.0, 2.1]), answer)
    assert answer.tolist() == [True, False, False]
