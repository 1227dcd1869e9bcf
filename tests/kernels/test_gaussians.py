"""Small symmetric matrices: inverses, determinants and bounds, and what is said of matrices that have none."""

import numpy as np

from topiarist.kernels.gaussians import compiled


def test_inverses_and_determinants_are_those_of_numpy():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(5, 4, 4))
    matrices = half @ half.transpose(0, 2, 1) + 0.1 * np.eye(4)
    inverse, logarithm = np.empty_like(matrices), np.empty(5)
    compiled.inverses(matrices, inverse, logarithm)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrices), rtol=1e-8)
    np.testing.assert_allclose(logarithm, np.linalg.slogdet(matrices)[1], rtol=1e-10)


def test_a_matrix_that_has_no_inverse_is_no_number_and_costs_the_others_nothing():
    matrices = np.array([[[1.0, 1.0], [1.0, 1.0]], [[4.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]]])
    inverse, logarithm = np.empty_like(matrices), np.empty(3)
    compiled.inverses(matrices, inverse, logarithm)
    assert np.isnan(inverse[[0, 2]]).all()
    assert np.isnan(logarithm[[0, 2]]).all()
    np.testing.assert_allclose(inverse[1], [[0.25, 0.0], [0.0, 1.0]])


def test_an_eigenvalue_that_is_the_bound_does_not_exceed_it():
    matrices, answer = np.array([np.diag([3.0, 2.0])] * 3), np.empty(3, bool)
    compiled.exceed(matrices, np.array([1.9, 2.0, 2.1]), answer)
    assert answer.tolist() == [True, False, False]
