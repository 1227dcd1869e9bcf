"""Covariances of several shapes, each as the few functions that EM needs. Equations (G2), (G3): docs/models/ggm.md

All arrays have a leading axis of fits, so that many fits to as many samples are one computation.

**A density is an inner product.** log P(k)p(x|k) is linear in 1, x and the products x_i x_j: with these as the columns
of a matrix, the E-step is one product with the components' natural parameters, and the sums of the M-step are the
product the other way round. No array of examples × components × dimensions is formed, let alone one with the dimensions
twice. Where a table of all products would be large (``LargeFull``), they come from the triangle of a Cholesky factor,
component by component.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from topiarist.kernels.gaussians.compiled import inverses
from topiarist.models.gaussian.condition import Kept, Limit

Floats = np.ndarray[Any, np.dtype[np.float64]]


@cache
def _pairs(n_dims: int) -> tuple[Any, Any]:
    """The places of i ≤ j."""
    return np.triu_indices(n_dims)


class Precision(NamedTuple):
    """A covariance, the other way round."""

    product: Any  # the inverse, in the covariance's own shape
    log_determinant: Floats  # of the covariance, (fits, components or 1)


class Shape(Protocol):
    """What is different between full, diagonal and shared covariances."""

    name: str
    tabled: bool  # whether a table tells what is quadratic in the log-densities

    def table(self, columns: Floats) -> Floats | None:
        """The products that log-densities are linear in, (fits, products, examples), if there are any.

        Examples are columns already: (fits, dimensions, examples).
        """

    def precision(self, covariance: Floats) -> Precision:
        """The inverse, in whatever form the shape can use, and the logarithm of the determinant."""

    def weights(self, precision: Precision) -> Floats | None:
        """The weights of those columns in the log-densities, (fits, components, columns)."""

    def linear(self, precision: Precision, mean: Floats) -> Floats:
        """Σ⁻¹ μ, (fits, components, dimensions)."""

    def quadratic(self, precision: Precision, points: Floats) -> Floats:
        """−½ xᵀΣ⁻¹x where no table tells it, (fits, components or 1, examples)."""

    def squares(self, shares: Floats, points: Floats, table: Floats | None) -> Floats:
        """Σ_n r_nk x_n x_nᵀ in the covariance's own shape; ``table`` holds the sums of the table's columns."""

    def covariance(self, squares: Floats, sums: Floats, count: Floats, mean: Floats) -> Floats:
        """Σ_n r_nk (x_n − μ_k)(x_n − μ_k)ᵀ / Σ_n r_nk from the sums; NaN where there are no examples."""

    def shrunk(self, covariance: Floats, count: Floats, examples: float) -> Floats:
        """(G4): drawn towards the mean of all components, which counts as so many examples."""

    def conditioned(self, covariance: Floats, limit: Limit) -> Kept:
        """(G3); what is not finite becomes the overall covariance."""

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """How many numbers the covariances are."""

    def matrices(self, covariance: Floats, n_components: int) -> Floats:
        """The covariances as matrices, (fits, components, dimensions, dimensions)."""


class Full:
    """A matrix for each component."""

    name = "full"
    tabled = True

    def table(self, columns: Floats) -> Floats | None:
        """See ``Shape``: x_i x_j for i ≤ j."""
        first, second = _pairs(columns.shape[1])
        return np.asarray(columns[:, first] * columns[:, second])

    def precision(self, covariance: Floats) -> Precision:
        """See ``Shape``."""
        flat = covariance.reshape(-1, *covariance.shape[-2:])
        inverse, log_determinant = np.empty_like(flat), np.empty(len(flat))
        inverses(flat, inverse, log_determinant)
        lost = np.isnan(log_determinant)
        if lost.any():  # at the end of the arithmetic, where a pivot may vanish
            inverse[lost], log_determinant[lost] = np.linalg.inv(flat[lost]), np.linalg.slogdet(flat[lost])[1]
        return Precision(inverse.reshape(covariance.shape), log_determinant.reshape(covariance.shape[:2]))

    def weights(self, precision: Precision) -> Floats | None:
        """See ``Shape``."""
        rows, columns = _pairs(precision.product.shape[-1])
        factor = np.where(rows == columns, -0.5, -1.0)
        weights: Floats = precision.product[..., rows, columns] * factor
        return weights

    def linear(self, precision: Precision, mean: Floats) -> Floats:
        """See ``Shape``."""
        linear: Floats = np.matmul(precision.product, mean[..., None])[..., 0]
        return linear

    def quadratic(self, precision: Precision, points: Floats) -> Floats:
        """See ``Shape``: the table tells it."""
        return np.zeros((len(precision.product), 1, points.shape[-2]))

    def squares(self, shares: Floats, points: Floats, table: Floats | None) -> Floats:
        """See ``Shape``."""
        n_dims = points.shape[-1]
        rows, columns = _pairs(n_dims)
        squares = np.empty((*shares.shape[:2], n_dims, n_dims))
        squares[..., rows, columns] = squares[..., columns, rows] = table
        return squares

    def covariance(self, squares: Floats, sums: Floats, count: Floats, mean: Floats) -> Floats:
        """See ``Shape``."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = 1.0 / count[..., None]
            cross = (sums * share)[..., :, None] * mean[..., None, :]
            outer = mean[..., :, None] * mean[..., None, :]
            covariance: Floats = squares * share[..., None] - cross - cross.swapaxes(-1, -2) + outer
        return covariance

    def shrunk(self, covariance: Floats, count: Floats, examples: float) -> Floats:
        """See ``Shape``."""
        weight = count.reshape(*count.shape, *(1,) * (covariance.ndim - 2))
        known = np.where(weight > 0, covariance, 0.0)
        total = weight.sum(axis=1, keepdims=True)
        within = (known * weight).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
        shrunk: Floats = (known * weight + within * examples) / (weight + examples)
        return np.where(total > 0, shrunk, np.nan)

    def conditioned(self, covariance: Floats, limit: Limit) -> Kept:
        """See ``Shape``."""
        return limit.matrices(covariance)

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """See ``Shape``."""
        return n_components * n_dims * (n_dims + 1) // 2

    def matrices(self, covariance: Floats, n_components: int) -> Floats:
        """See ``Shape``."""
        return covariance
