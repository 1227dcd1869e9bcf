"""Kernels for many small symmetric matrices: inverses, determinants and bounds of eigenvalues.

A LAPACK call for a matrix of five rows is nearly all preparation, and a study has thousands of them in each step. See
``models.gaussian.covariances``.
"""

from __future__ import annotations

import math

import numpy as np

from topiarist.kernels.jit import inline, jit


@inline
def _factor(matrix, shift, factor):
    """Write the Cholesky factor of ``matrix - shift · I``, its diagonal inverted; return False without one."""
    for i in range(len(matrix)):
        for j in range(i):
            part = 0.0
            for m in range(j):
                part += factor[i, m] * factor[j, m]
            factor[i, j] = (matrix[i, j] - part) * factor[j, j]
        pivot = matrix[i, i] - shift
        for m in range(i):
            pivot -= factor[i, m] * factor[i, m]
        if not pivot > 0.0:
            return False
        factor[i, i] = 1.0 / math.sqrt(pivot)
    return True


@jit
def invert(matrices, inverse, log_determinant):
    """Write inverses and log-determinants of matrices (n, d, d); NaN unless positive definite."""
    n_dims = matrices.shape[-1]
    factor = np.zeros((n_dims, n_dims))
    for n in range(len(matrices)):
        out = inverse[n]
        if not _factor(matrices[n], 0.0, factor):
            out[:] = np.nan
            log_determinant[n] = np.nan
            continue
        logarithm = 0.0
        for j in range(n_dims):
            logarithm -= 2.0 * math.log(factor[j, j])
            for i in range(j + 1, n_dims):  # the inverse of L, column by column, overwrites L
                part = 0.0
                for m in range(j, i):
                    part += factor[i, m] * factor[m, j]
                factor[i, j] = -part * factor[i, i]
        log_determinant[n] = logarithm
        for i in range(n_dims):
            for j in range(i + 1):
                part = 0.0
                for m in range(i, n_dims):
                    part += factor[m, i] * factor[m, j]
                out[i, j] = out[j, i] = part


@jit
def check_eigenvalues(matrices, bounds, exceeds):
    """Write to ``exceeds`` whether all eigenvalues of each symmetric matrix exceed its bound."""
    n_dims = matrices.shape[-1]
    factor = np.zeros((n_dims, n_dims))
    for n in range(len(matrices)):
        exceeds[n] = _factor(matrices[n], bounds[n], factor)
