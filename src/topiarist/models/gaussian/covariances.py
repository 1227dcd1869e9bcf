"""Covariances of several shapes, each as the few functions that EM needs. Equations (G2), (G3): docs/models/ggm.md

All arrays have a leading axis of fits, so that many fits to as many samples are one computation.

**A density is an inner product.** log P(k)p(x|k) is linear in 1, x and the products x_i x_j: with these as the columns
of a matrix, the E-step is one product with the components' natural parameters, and the sums of the M-step are the
product the other way round. No array of examples × components × dimensions is formed, let alone one with the dimensions
twice. Where a table of all products would be large (``LargeFull``), they come from the triangle of a Cholesky factor,
component by component.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topiarist.arrays import TINY, Array, Bools, Doubles
from topiarist.kernels.gaussians import check_eigenvalues, invert

FitIndex: TypeAlias = slice | Array  # some of several fits

ROOM = 10.0  # times better than the limit the overall covariance must be, so that adding it helps
HALVINGS = 11  # so near to the limit that a component which is held by it can be told
DEAR_DIMENSIONS = 24  # beyond, eigenvalues are dear: bounds take their place, and a little more is added


class BoundedCovariance(NamedTuple):
    """Covariances within the limit; ``multiple`` is None if nothing was added."""

    covariance: Doubles
    multiple: Doubles | None = None  # a of (G3), (fits, components or 1)
    at_floor: Any = None  # (fits, components or 1): whether a variance was below the floor


@dataclass(frozen=True)
class Limit:
    """The greatest condition number of a component, and the covariance of all examples, which is added to reach it.

    There is a floor as well: no variance is less than the least overall one by more than the limit. Without it a
    component of equal examples, whose covariance is zero, would be free to shrink to a point.
    """

    overall_covariance: Doubles  # Σ_0, (fits or 1, dimensions, dimensions)
    condition: float

    @classmethod
    def of(cls, overall: Doubles, condition: float) -> Limit:
        """Return the limit for data with this covariance. A multiple of the identity is added to a singular one."""
        values = np.linalg.eigvalsh(overall)
        largest, smallest = values[..., -1], values[..., 0]
        target = max(condition / ROOM, 1.0 + 1e-6)
        multiple = np.maximum(largest - target * smallest, 0.0) / (target - 1.0)
        multiple = np.where(largest > 0, multiple, 1.0)
        return cls(overall + multiple[..., None, None] * np.eye(overall.shape[-1]), condition)

    def of_fits(self, fits: FitIndex) -> Limit:
        """Return the limit of some of the fits."""
        if len(self.overall_covariance) == 1 or fits == slice(None):
            return self
        return Limit(self.overall_covariance[fits], self.condition)

    def matrices(self, covariance: Doubles) -> BoundedCovariance:
        """Return Σ_k + aΣ_0 with the smallest a that keeps the limit, for (fits, …, dimensions, dimensions)."""
        flat = covariance.reshape(len(covariance), -1, *covariance.shape[-2:])
        finite: Any = np.isfinite(flat).all(axis=(-1, -2))
        references = np.broadcast_to(self.overall_covariance[:, None], flat.shape)
        if not finite.all():
            flat = np.where(finite[..., None, None], flat, references)
        doubtful = np.argwhere(~self._is_surely_within(flat))
        if not len(doubtful):
            return BoundedCovariance(flat.reshape(covariance.shape))
        multiples, at_floor = np.zeros(flat.shape[:2]), np.zeros(flat.shape[:2], bool)
        place = tuple(doubtful.T)
        matrices = flat[place]
        matrices = 0.5 * (matrices + matrices.swapaxes(-1, -2))
        fits = place[0] if len(self.overall_covariance) > 1 else np.zeros(len(matrices), int)
        multiples[place], at_floor[place] = self._find_multiples(matrices, references[place], fits)
        out = np.array(flat)
        out[place] = matrices + multiples[place][:, None, None] * references[place]
        return BoundedCovariance(out.reshape(covariance.shape), multiples, at_floor)

    def _is_surely_within(self, covariance: Doubles) -> Any:
        """Return whether a bound of the largest eigenvalue and a Cholesky factor prove that nothing must be added."""
        largest = np.minimum(np.trace(covariance, axis1=-2, axis2=-1), np.abs(covariance).sum(axis=-1).max(axis=-1))
        return _exceed_all(covariance, np.maximum(largest / self.condition, self.floor))

    @cached_property
    def floor(self) -> Doubles:
        """Variance that is certainly large enough, for each fit."""
        return np.asarray(np.trace(self.overall_covariance, axis1=-2, axis2=-1)[:, None] / self.condition)

    @cached_property
    def values(self) -> Doubles:
        """Eigenvalues of the overall covariances."""
        return np.asarray(np.linalg.eigvalsh(self.overall_covariance), np.float64)

    def _find_multiples(self, covariance: Doubles, references: Doubles, fits: FitIndex) -> tuple[Doubles, Any]:
        """Return the smallest a such that covariance + a·reference is within the limit, for each.

        Weyl's inequalities bound a on both sides.
        """
        values, reference_values = np.linalg.eigvalsh(covariance), self.values[fits]
        floor = reference_values[:, 0] / self.condition
        excess, lack = values[:, -1] - self.condition * values[:, 0], floor - values[:, 0]
        high = np.maximum(
            excess / (self.condition * reference_values[:, 0] - reference_values[:, -1]), lack / reference_values[:, 0]
        )
        low = np.maximum(
            excess / (self.condition * reference_values[:, -1] - reference_values[:, 0]), lack / reference_values[:, -1]
        )
        high = np.where(high > 0, high * (1 + 1e-9) + TINY, 0.0)
        wrong = np.flatnonzero(high > 0)
        multiples = np.zeros(len(covariance))
        if len(wrong):
            matrices, base, floors = covariance[wrong], references[wrong], floor[wrong]

            def fine(multiples: Doubles) -> Any:
                """Return whether each matrix plus a multiple of its reference is within the limit."""
                moved = matrices + multiples[:, None, None] * base
                if covariance.shape[-1] > DEAR_DIMENSIONS:
                    largest = values[wrong, -1] + multiples * reference_values[wrong, -1]
                    return _exceed_all(moved, np.maximum(floors, largest / self.condition))
                eigenvalues = np.linalg.eigvalsh(moved)
                return (eigenvalues[:, 0] >= floors) & (eigenvalues[:, -1] <= self.condition * eigenvalues[:, 0])

            multiples[wrong] = _bisect_multiple(fine, np.maximum(low[wrong], 1e-6 * high[wrong]), high[wrong])
        return multiples, lack > 0


def _exceed_all(matrices: Doubles, bounds: Doubles) -> Any:
    """Return whether all eigenvalues of matrices (…, dimensions, dimensions) exceed the bound of each matrix (…)."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    answer = np.empty(len(flat), bool)
    check_eigenvalues(flat, np.ravel(bounds), answer)
    return answer.reshape(matrices.shape[:-2])


def _bisect_multiple(is_valid: Callable[[Doubles], Bools], low: Doubles, high: Doubles) -> Doubles:
    """Return the smallest valid number between an invalid and a valid one, to a small factor."""
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        valid = is_valid(middle)
        low, high = np.where(valid, low, middle), np.where(valid, middle, high)
    return high


@cache
def _pairs(n_dims: int) -> tuple[Any, Any]:
    """Return the index pairs i ≤ j."""
    return np.triu_indices(n_dims)


class Precision(NamedTuple):
    """Inverse of a covariance."""

    product: Any  # the inverse, in the covariance's own shape
    log_determinant: Doubles  # of the covariance, (fits, components or 1)


class Full:
    """Operations on full covariances, one matrix for each component; the base of the other covariance shapes."""

    name = "full"
    uses_table = True

    def table(self, columns: Doubles) -> Doubles | None:
        """Return the products x_i x_j for i ≤ j, (fits, products, examples), or None if the shape uses no table.

        Examples are columns: (fits, dimensions, examples).
        """
        if not self.uses_table:
            return None
        first, second = _pairs(columns.shape[1])
        return np.asarray(columns[:, first] * columns[:, second])

    def precision(self, covariance: Doubles) -> Precision:
        """Return the inverse covariances and their log determinants."""
        flat = covariance.reshape(-1, *covariance.shape[-2:])
        inverse, log_determinant = np.empty_like(flat), np.empty(len(flat))
        invert(flat, inverse, log_determinant)
        failed = np.isnan(log_determinant)
        if failed.any():  # at the end of the arithmetic, where a pivot may vanish
            inverse[failed], log_determinant[failed] = np.linalg.inv(flat[failed]), np.linalg.slogdet(flat[failed])[1]
        return Precision(inverse.reshape(covariance.shape), log_determinant.reshape(covariance.shape[:2]))

    def weights(self, precision: Precision) -> Doubles | None:
        """Return the weights of the table's columns in the log-densities, (fits, components, columns)."""
        if not self.uses_table:
            return None
        rows, columns = _pairs(precision.product.shape[-1])
        factor = np.where(rows == columns, -0.5, -1.0)
        weights: Doubles = precision.product[..., rows, columns] * factor
        return weights

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        """Return Σ⁻¹ μ, (fits, components, dimensions)."""
        linear: Doubles = np.matmul(precision.product, mean[..., None])[..., 0]
        return linear

    def quadratic(self, precision: Precision, points: Doubles) -> Doubles:
        """Return −½ xᵀΣ⁻¹x unless the table provides it, (fits, components or 1, examples)."""
        return np.zeros((len(precision.product), 1, points.shape[-2]))

    def squares(self, shares: Doubles, points: Doubles, table: Doubles | None) -> Doubles:
        """Return Σ_n r_nk x_n x_nᵀ; ``table`` holds the sums of the table's columns."""
        n_dims = points.shape[-1]
        rows, columns = _pairs(n_dims)
        squares = np.empty((*shares.shape[:2], n_dims, n_dims))
        squares[..., rows, columns] = squares[..., columns, rows] = table
        return squares

    def covariance(self, squares: Doubles, sums: Doubles, count: Doubles, mean: Doubles) -> Doubles:
        """Return Σ_n r_nk (x_n − μ_k)(x_n − μ_k)ᵀ / Σ_n r_nk from the sums; NaN without examples."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = 1.0 / count[..., None]
            cross = (sums * share)[..., :, None] * mean[..., None, :]
            outer = mean[..., :, None] * mean[..., None, :]
            covariance: Doubles = squares * share[..., None] - cross - cross.swapaxes(-1, -2) + outer
        return covariance

    def shrink(self, covariance: Doubles, count: Doubles, examples: float) -> Doubles:
        """Shrink (G4) each covariance towards the mean of all components, which counts as ``examples`` examples."""
        weight = count.reshape(*count.shape, *(1,) * (covariance.ndim - 2))
        finite = np.where(weight > 0, covariance, 0.0)
        total = weight.sum(axis=1, keepdims=True)
        mean_covariance = (finite * weight).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
        shrunk: Doubles = (finite * weight + mean_covariance * examples) / (weight + examples)
        return np.where(total > 0, shrunk, np.nan)

    def apply_limit(self, covariance: Doubles, limit: Limit) -> BoundedCovariance:
        """Apply the limit (G3); a covariance that is not finite becomes the overall covariance."""
        return limit.matrices(covariance)

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """Return the number of free parameters of the covariances."""
        return n_components * n_dims * (n_dims + 1) // 2

    def matrices(self, covariance: Doubles, n_components: int) -> Doubles:
        """Return the covariances as matrices, (fits, components, dimensions, dimensions)."""
        return covariance


TABLE_DIMENSIONS = 24  # up to here a table of products is the faster way
BAND = 17  # rows of triangles that are multiplied at once
NEGLIGIBLE = 1e-30  # of the largest share in a component: far below rounding
WORTH_TAKING = 0.8  # copying the examples that count pays if they are fewer than this


class LargeFull(Full):
    """Operations on full covariances of many dimensions, with triangular products instead of a table."""

    uses_table = False

    def precision(self, covariance: Doubles) -> Precision:
        """Return the inverse Cholesky factors of covariances, and their log-determinants."""
        # the inverse of the Cholesky factor stands for the inverse
        from scipy.linalg.lapack import dtrtri

        inverse = np.linalg.cholesky(covariance)
        for place in np.ndindex(inverse.shape[:2]):
            inverse[place] = dtrtri(inverse[place].T)[0].T  # the transpose is in Fortran's order, as LAPACK wants it
        return Precision(inverse, -2.0 * np.log(np.diagonal(inverse, axis1=-2, axis2=-1)).sum(axis=-1))

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        white = np.matmul(precision.product, mean[..., None])
        return np.asarray(np.matmul(precision.product.swapaxes(-1, -2), white)[..., 0])

    def quadratic(self, precision: Precision, points: Doubles) -> Doubles:
        """Return −½ |L⁻¹x|², computed in bands of the triangle's rows.

        A band is one product for all components. It leaves out the columns in which all components are zero, which
        saves nearly half of the work.
        """
        fits, n_components, n_dims = precision.product.shape[:3]
        columns = points.swapaxes(-1, -2)
        out = np.zeros((fits, n_components, points.shape[-2]))
        room = np.empty((fits, n_components * BAND, points.shape[-2]))
        for start in range(0, n_dims, BAND):
            stop = min(start + BAND, n_dims)
            rows = precision.product[:, :, start:stop, :stop].reshape(fits, -1, stop)
            white = np.matmul(rows, columns[:, :stop], out=room[:, : rows.shape[1]])
            white = white.reshape(fits, n_components, stop - start, -1)
            out += np.einsum("fkdn,fkdn->fkn", white, white)
        out *= -0.5
        return out

    def squares(self, shares: Doubles, points: Doubles, table: Doubles | None) -> Doubles:
        """Return the weighted sums of outer products of the points, by fit and component."""
        # examples of negligible weight are left out: together they would not change the last digit
        from scipy.linalg.blas import dsyrk

        n_dims = points.shape[-1]
        squares = np.empty((*shares.shape[:2], n_dims, n_dims))
        is_relevant = shares > NEGLIGIBLE * shares.max(axis=-1, keepdims=True)
        is_sparse = is_relevant.mean(axis=-1) < WORTH_TAKING
        roots = np.sqrt(shares)
        for fit, component in np.ndindex(shares.shape[0], shares.shape[1]):
            examples, root = points[fit % len(points)], roots[fit, component]
            if is_sparse[fit, component]:
                rows = np.flatnonzero(is_relevant[fit, component])
                examples, root = examples[rows], root[rows]
            upper = dsyrk(1.0, examples.T * root)
            square = np.add(upper, upper.T, out=squares[fit, component])
            np.einsum("dd->d", square)[:] *= 0.5
        return squares


class Shared(Full):
    """Operations on one covariance matrix that all components share."""

    name = "shared"
    uses_table = False

    def precision(self, covariance: Doubles) -> Precision:
        return Precision(np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1][:, None])

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        return np.asarray(np.matmul(mean, precision.product))

    def quadratic(self, precision: Precision, points: Doubles) -> Doubles:
        products = np.matmul(points, precision.product)
        products *= points
        quadratic: Doubles = -0.5 * products.sum(axis=-1)[:, None]
        return quadratic

    def squares(self, shares: Doubles, points: Doubles, table: Doubles | None) -> Doubles:
        weighted = points * shares.sum(axis=1)[..., None]
        return np.asarray(np.matmul(weighted.swapaxes(-1, -2), points))

    def covariance(self, squares: Doubles, sums: Doubles, count: Doubles, mean: Doubles) -> Doubles:
        """Return the one covariance that all components share, for each fit."""
        cross = np.matmul(sums.swapaxes(-1, -2), mean)
        outer = np.matmul((mean * count[..., None]).swapaxes(-1, -2), mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            scatter = squares - cross - cross.swapaxes(-1, -2) + outer
            return np.asarray(scatter / count.sum(axis=-1)[..., None, None])

    def shrink(self, covariance: Doubles, count: Doubles, examples: float) -> Doubles:
        return covariance

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        return n_dims * (n_dims + 1) // 2

    def matrices(self, covariance: Doubles, n_components: int) -> Doubles:
        return np.repeat(covariance[:, None], n_components, axis=1)


SHAPES = ("full", "shared")


def shape_of(name: str, n_dims: int) -> Full:
    """Return the operations on covariances of a shape, by its name."""
    if name == "full":
        return Full() if n_dims <= TABLE_DIMENSIONS else LargeFull()
    return Shared()
