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
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from topiarist.arrays import Array, Bools, Doubles
from topiarist.kernels.gaussians.compiled import exceed, inverses

FitIndex: TypeAlias = slice | Array  # some of several fits

ROOM = 10.0  # times better than the limit the overall covariance must be, so that adding it helps
HALVINGS = 11  # so near to the limit that a component which is held by it can be told
DEAR_DIMENSIONS = 24  # beyond, eigenvalues are dear: bounds take their place, and a little more is added


class Kept(NamedTuple):
    """Covariances within the limit, and what it took; None where nothing was to be done."""

    covariance: Doubles
    added: Doubles | None = None  # a of (G3), (fits, components or 1)
    at_floor: Any = None  # (fits, components or 1): whether a variance was below the floor


@dataclass(frozen=True)
class Limit:
    """The greatest condition number of a component, and the covariance of all examples, which is added to reach it.

    There is a floor as well: no variance is less than the least overall one by more than the limit. Without it a
    component of equal examples, whose covariance is zero, would be free to shrink to a point.
    """

    overall: Doubles  # Σ_0, (fits or 1, dimensions, dimensions)
    condition: float

    @classmethod
    def of(cls, overall: Doubles, condition: float) -> Limit:
        """The limit for data with this covariance, which may be singular itself: then a multiple of 1 is added."""
        values = np.linalg.eigvalsh(overall)
        largest, least = values[..., -1], values[..., 0]
        wanted = max(condition / ROOM, 1.0 + 1e-6)
        added = np.maximum(largest - wanted * least, 0.0) / (wanted - 1.0)
        added = np.where(largest > 0, added, 1.0)
        return cls(overall + added[..., None, None] * np.eye(overall.shape[-1]), condition)

    def of_fits(self, fits: FitIndex) -> Limit:
        """That of some fits."""
        if len(self.overall) == 1 or fits == slice(None):
            return self
        return Limit(self.overall[fits], self.condition)

    def matrices(self, covariance: Doubles) -> Kept:
        """Σ_k + aΣ_0 with the smallest a that keeps the limit, for (fits, …, dimensions, dimensions)."""
        flat = covariance.reshape(len(covariance), -1, *covariance.shape[-2:])
        finite: Any = np.isfinite(flat).all(axis=(-1, -2))
        overall = np.broadcast_to(self.overall[:, None], flat.shape)
        if not finite.all():
            flat = np.where(finite[..., None, None], flat, overall)
        doubtful = np.argwhere(~self._surely_fine(flat))
        if not len(doubtful):
            return Kept(flat.reshape(covariance.shape))
        added, at_floor = np.zeros(flat.shape[:2]), np.zeros(flat.shape[:2], bool)
        place = tuple(doubtful.T)
        some = flat[place]
        some = 0.5 * (some + some.swapaxes(-1, -2))
        fits = place[0] if len(self.overall) > 1 else np.zeros(len(some), int)
        added[place], at_floor[place] = self._added(some, overall[place], fits)
        out = np.array(flat)
        out[place] = some + added[place][:, None, None] * overall[place]
        return Kept(out.reshape(covariance.shape), added, at_floor)

    def variances(self, variance: Doubles) -> Kept:
        """The same for diagonal covariances, (fits, components, dimensions)."""
        overall = np.diagonal(self.overall, axis1=-2, axis2=-1)[:, None]
        variance = np.where(np.isfinite(variance).all(axis=-1, keepdims=True), variance, overall)
        least = overall.min(axis=-1, keepdims=True) / self.condition
        ceiling = np.maximum(variance.max(axis=-1, keepdims=True), 0.0)
        high = ceiling / overall.min(axis=-1, keepdims=True) + 1.0 / self.condition
        low = 1e-6 * high

        def fine(added: Doubles) -> Any:
            values = variance + added * overall
            smallest = values.min(axis=-1, keepdims=True)
            return (smallest >= least) & (values.max(axis=-1, keepdims=True) <= self.condition * smallest)

        added = np.where(fine(np.zeros_like(high)), 0.0, _halved(fine, low, high))
        at_floor = (variance.min(axis=-1, keepdims=True) < least)[..., 0]
        return Kept(variance + added * overall, added[..., 0], at_floor)

    def condition_numbers(self, covariance: Doubles) -> Doubles:
        """The condition number of matrices."""
        values = np.linalg.eigvalsh(covariance)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(values[..., 0] > 0, values[..., -1] / values[..., 0], np.inf)

    def _surely_fine(self, covariance: Doubles) -> Any:
        """True where a bound of the largest eigenvalue and a Cholesky factor tell that nothing needs to be added."""
        largest = np.minimum(np.trace(covariance, axis1=-2, axis2=-1), np.abs(covariance).sum(axis=-1).max(axis=-1))
        return _all_exceed(covariance, np.maximum(largest / self.condition, self.floor))

    @cached_property
    def floor(self) -> Doubles:
        """A variance that is certainly large enough."""
        return np.asarray(np.trace(self.overall, axis1=-2, axis2=-1)[:, None] / self.condition)

    @cached_property
    def values(self) -> Doubles:
        """The eigenvalues of the overall covariances."""
        return np.asarray(np.linalg.eigvalsh(self.overall), np.float64)

    def _added(self, covariance: Doubles, overall: Doubles, fits: FitIndex) -> tuple[Doubles, Any]:
        """The smallest a for each of several matrices, and which are below the floor.

        Weyl's inequalities bound a on both sides.
        """
        values, those = np.linalg.eigvalsh(covariance), self.values[fits]
        floor = those[:, 0] / self.condition
        excess, lack = values[:, -1] - self.condition * values[:, 0], floor - values[:, 0]
        high = np.maximum(excess / (self.condition * those[:, 0] - those[:, -1]), lack / those[:, 0])
        low = np.maximum(excess / (self.condition * those[:, -1] - those[:, 0]), lack / those[:, -1])
        high = np.where(high > 0, high * (1 + 1e-9) + 1e-300, 0.0)
        wrong = np.flatnonzero(high > 0)
        added = np.zeros(len(covariance))
        if len(wrong):
            some, base, least = covariance[wrong], overall[wrong], floor[wrong]

            def fine(tried: Doubles) -> Any:
                moved = some + tried[:, None, None] * base
                if covariance.shape[-1] > DEAR_DIMENSIONS:
                    largest = values[wrong, -1] + tried * those[wrong, -1]
                    return _all_exceed(moved, np.maximum(least, largest / self.condition))
                found = np.linalg.eigvalsh(moved)
                return (found[:, 0] >= least) & (found[:, -1] <= self.condition * found[:, 0])

            added[wrong] = _halved(fine, np.maximum(low[wrong], 1e-6 * high[wrong]), high[wrong])
        return added, lack > 0


def _all_exceed(matrices: Doubles, least: Doubles) -> Any:
    """Whether all eigenvalues of matrices (…, dimensions, dimensions) exceed a number of each (…)."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    answer = np.empty(len(flat), bool)
    exceed(flat, np.ravel(least), answer)
    return answer.reshape(matrices.shape[:-2])


def _halved(fine: Callable[[Doubles], Bools], low: Doubles, high: Doubles) -> Doubles:
    """The smallest number that is fine, to a small factor, between one that is not and one that is."""
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        good = fine(middle)
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return high


@cache
def _pairs(n_dims: int) -> tuple[Any, Any]:
    """The places of i ≤ j."""
    return np.triu_indices(n_dims)


class Precision(NamedTuple):
    """A covariance, the other way round."""

    product: Any  # the inverse, in the covariance's own shape
    log_determinant: Doubles  # of the covariance, (fits, components or 1)


class Shape(Protocol):
    """What is different between full, diagonal and shared covariances."""

    name: str
    tabled: bool  # whether a table tells what is quadratic in the log-densities

    def table(self, columns: Doubles) -> Doubles | None:
        """The products that log-densities are linear in, (fits, products, examples), if there are any.

        Examples are columns already: (fits, dimensions, examples).
        """

    def precision(self, covariance: Doubles) -> Precision:
        """The inverse, in whatever form the shape can use, and the logarithm of the determinant."""

    def weights(self, precision: Precision) -> Doubles | None:
        """The weights of those columns in the log-densities, (fits, components, columns)."""

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        """Σ⁻¹ μ, (fits, components, dimensions)."""

    def quadratic(self, precision: Precision, points: Doubles) -> Doubles:
        """−½ xᵀΣ⁻¹x where no table tells it, (fits, components or 1, examples)."""

    def squares(self, shares: Doubles, points: Doubles, table: Doubles | None) -> Doubles:
        """Σ_n r_nk x_n x_nᵀ in the covariance's own shape; ``table`` holds the sums of the table's columns."""

    def covariance(self, squares: Doubles, sums: Doubles, count: Doubles, mean: Doubles) -> Doubles:
        """Σ_n r_nk (x_n − μ_k)(x_n − μ_k)ᵀ / Σ_n r_nk from the sums; NaN where there are no examples."""

    def shrunk(self, covariance: Doubles, count: Doubles, examples: float) -> Doubles:
        """(G4): drawn towards the mean of all components, which counts as so many examples."""

    def conditioned(self, covariance: Doubles, limit: Limit) -> Kept:
        """(G3); what is not finite becomes the overall covariance."""

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """How many numbers the covariances are."""

    def matrices(self, covariance: Doubles, n_components: int) -> Doubles:
        """The covariances as matrices, (fits, components, dimensions, dimensions)."""


class Full:
    """A matrix for each component."""

    name = "full"
    tabled = True

    def table(self, columns: Doubles) -> Doubles | None:
        """See ``Shape``: x_i x_j for i ≤ j."""
        first, second = _pairs(columns.shape[1])
        return np.asarray(columns[:, first] * columns[:, second])

    def precision(self, covariance: Doubles) -> Precision:
        """See ``Shape``."""
        flat = covariance.reshape(-1, *covariance.shape[-2:])
        inverse, log_determinant = np.empty_like(flat), np.empty(len(flat))
        inverses(flat, inverse, log_determinant)
        lost = np.isnan(log_determinant)
        if lost.any():  # at the end of the arithmetic, where a pivot may vanish
            inverse[lost], log_determinant[lost] = np.linalg.inv(flat[lost]), np.linalg.slogdet(flat[lost])[1]
        return Precision(inverse.reshape(covariance.shape), log_determinant.reshape(covariance.shape[:2]))

    def weights(self, precision: Precision) -> Doubles | None:
        """See ``Shape``."""
        rows, columns = _pairs(precision.product.shape[-1])
        factor = np.where(rows == columns, -0.5, -1.0)
        weights: Doubles = precision.product[..., rows, columns] * factor
        return weights

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        """See ``Shape``."""
        linear: Doubles = np.matmul(precision.product, mean[..., None])[..., 0]
        return linear

    def quadratic(self, precision: Precision, points: Doubles) -> Doubles:
        """See ``Shape``: the table tells it."""
        return np.zeros((len(precision.product), 1, points.shape[-2]))

    def squares(self, shares: Doubles, points: Doubles, table: Doubles | None) -> Doubles:
        """See ``Shape``."""
        n_dims = points.shape[-1]
        rows, columns = _pairs(n_dims)
        squares = np.empty((*shares.shape[:2], n_dims, n_dims))
        squares[..., rows, columns] = squares[..., columns, rows] = table
        return squares

    def covariance(self, squares: Doubles, sums: Doubles, count: Doubles, mean: Doubles) -> Doubles:
        """See ``Shape``."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = 1.0 / count[..., None]
            cross = (sums * share)[..., :, None] * mean[..., None, :]
            outer = mean[..., :, None] * mean[..., None, :]
            covariance: Doubles = squares * share[..., None] - cross - cross.swapaxes(-1, -2) + outer
        return covariance

    def shrunk(self, covariance: Doubles, count: Doubles, examples: float) -> Doubles:
        """See ``Shape``."""
        weight = count.reshape(*count.shape, *(1,) * (covariance.ndim - 2))
        known = np.where(weight > 0, covariance, 0.0)
        total = weight.sum(axis=1, keepdims=True)
        within = (known * weight).sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
        shrunk: Doubles = (known * weight + within * examples) / (weight + examples)
        return np.where(total > 0, shrunk, np.nan)

    def conditioned(self, covariance: Doubles, limit: Limit) -> Kept:
        """See ``Shape``."""
        return limit.matrices(covariance)

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """See ``Shape``."""
        return n_components * n_dims * (n_dims + 1) // 2

    def matrices(self, covariance: Doubles, n_components: int) -> Doubles:
        """See ``Shape``."""
        return covariance


TABLE_DIMENSIONS = 24  # up to here a table of products is the faster way
BAND = 17  # rows of triangles that are multiplied at once
NEGLIGIBLE = 1e-30  # of the largest share in a component: far below rounding
WORTH_TAKING = 0.8  # copying the examples that count pays if they are fewer than this


class LargeFull(Full):
    """The same for many dimensions: products of triangles in the place of a table."""

    tabled = False

    def table(self, columns: Doubles) -> Doubles | None:
        """See ``Shape``: none."""
        return None

    def precision(self, covariance: Doubles) -> Precision:
        """See ``Shape``: the inverse is kept as the inverse of the Cholesky factor."""
        from scipy.linalg.lapack import dtrtri

        inverse = np.linalg.cholesky(covariance)
        for place in np.ndindex(inverse.shape[:2]):
            inverse[place] = dtrtri(inverse[place].T)[0].T  # the transpose is in Fortran's order, as LAPACK wants it
        return Precision(inverse, -2.0 * np.log(np.diagonal(inverse, axis1=-2, axis2=-1)).sum(axis=-1))

    def weights(self, precision: Precision) -> Doubles | None:
        """See ``Shape``: no table, no weights."""
        return None

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        """See ``Shape``."""
        white = np.matmul(precision.product, mean[..., None])
        return np.asarray(np.matmul(precision.product.swapaxes(-1, -2), white)[..., 0])

    def quadratic(self, precision: Precision, points: Doubles) -> Doubles:
        """See ``Shape``: the squared length of L⁻¹x, band by band of the triangle's rows.

        A band is one product for all components together, and leaves out the columns where all of them are zero: not
        much more than half of the work, in products large enough to run at the processor's speed.
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
        """See ``Shape``: by examples that count; the others together would not change the last digit."""
        from scipy.linalg.blas import dsyrk

        n_dims = points.shape[-1]
        squares = np.empty((*shares.shape[:2], n_dims, n_dims))
        counting = shares > NEGLIGIBLE * shares.max(axis=-1, keepdims=True)
        few = counting.mean(axis=-1) < WORTH_TAKING
        roots = np.sqrt(shares)
        for fit, component in np.ndindex(shares.shape[0], shares.shape[1]):
            own, root = points[fit % len(points)], roots[fit, component]
            if few[fit, component]:
                rows = np.flatnonzero(counting[fit, component])
                own, root = own[rows], root[rows]
            upper = dsyrk(1.0, own.T * root)
            square = np.add(upper, upper.T, out=squares[fit, component])
            np.einsum("dd->d", square)[:] *= 0.5
        return squares


class Diagonal(Full):
    """Variances only, for each component: no correlations within a component."""

    name = "diagonal"

    def table(self, columns: Doubles) -> Doubles | None:
        """See ``Shape``: x_i²."""
        return columns * columns

    def precision(self, covariance: Doubles) -> Precision:
        """See ``Shape``."""
        return Precision(1.0 / covariance, np.log(covariance).sum(axis=-1))

    def weights(self, precision: Precision) -> Doubles | None:
        """See ``Shape``."""
        weights: Doubles = -0.5 * precision.product
        return weights

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        """See ``Shape``."""
        linear: Doubles = precision.product * mean
        return linear

    def squares(self, shares: Doubles, points: Doubles, table: Doubles | None) -> Doubles:
        """See ``Shape``."""
        return np.asarray(table)

    def covariance(self, squares: Doubles, sums: Doubles, count: Doubles, mean: Doubles) -> Doubles:
        """See ``Shape``."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = 1.0 / count[..., None]
            return np.asarray(squares * share - 2.0 * mean * sums * share + mean * mean)

    def conditioned(self, covariance: Doubles, limit: Limit) -> Kept:
        """See ``Shape``."""
        return limit.variances(covariance)

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """See ``Shape``."""
        return n_components * n_dims

    def matrices(self, covariance: Doubles, n_components: int) -> Doubles:
        """See ``Shape``."""
        return covariance[..., None] * np.eye(covariance.shape[-1])


class Shared(Full):
    """One matrix for all components: the fewest parameters, and the cheapest to compute."""

    name = "shared"
    tabled = False

    def table(self, columns: Doubles) -> Doubles | None:
        """See ``Shape``: none, because what is quadratic is the same for all components."""
        return None

    def precision(self, covariance: Doubles) -> Precision:
        """See ``Shape``: one for all components."""
        return Precision(np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1][:, None])

    def weights(self, precision: Precision) -> Doubles | None:
        """See ``Shape``: no table, no weights."""
        return None

    def linear(self, precision: Precision, mean: Doubles) -> Doubles:
        """See ``Shape``."""
        return np.asarray(np.matmul(mean, precision.product))

    def quadratic(self, precision: Precision, points: Doubles) -> Doubles:
        """See ``Shape``: one row for all components."""
        turned = np.matmul(points, precision.product)
        turned *= points
        quadratic: Doubles = -0.5 * turned.sum(axis=-1)[:, None]
        return quadratic

    def squares(self, shares: Doubles, points: Doubles, table: Doubles | None) -> Doubles:
        """See ``Shape``: summed over components."""
        weighted = points * shares.sum(axis=1)[..., None]
        return np.asarray(np.matmul(weighted.swapaxes(-1, -2), points))

    def covariance(self, squares: Doubles, sums: Doubles, count: Doubles, mean: Doubles) -> Doubles:
        """See ``Shape``."""
        cross = np.matmul(sums.swapaxes(-1, -2), mean)
        outer = np.matmul((mean * count[..., None]).swapaxes(-1, -2), mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            scatter = squares - cross - cross.swapaxes(-1, -2) + outer
            return np.asarray(scatter / count.sum(axis=-1)[..., None, None])

    def shrunk(self, covariance: Doubles, count: Doubles, examples: float) -> Doubles:
        """See ``Shape``: there is only one."""
        return covariance

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """See ``Shape``."""
        return n_dims * (n_dims + 1) // 2

    def matrices(self, covariance: Doubles, n_components: int) -> Doubles:
        """See ``Shape``."""
        return np.repeat(covariance[:, None], n_components, axis=1)


SHAPES = ("full", "shared", "diagonal")


def shape_of(name: str, n_dims: int) -> Shape:
    """The functions of a covariance's name."""
    if name == "full":
        return Full() if n_dims <= TABLE_DIMENSIONS else LargeFull()
    return Diagonal() if name == "diagonal" else Shared()
