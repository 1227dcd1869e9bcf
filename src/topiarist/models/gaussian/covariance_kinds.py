"""The other shapes of covariances: many dimensions, variances only, one for all. See ``ggm_shapes``."""

from __future__ import annotations

import numpy as np

from topiarist.models.gaussian.condition import Kept, Limit
from topiarist.models.gaussian.covariances import Floats, Full, Precision, Shape

TABLE_DIMENSIONS = 24  # up to here a table of products is the faster way
BAND = 17  # rows of triangles that are multiplied at once
NEGLIGIBLE = 1e-30  # of the largest share in a component: far below rounding
WORTH_TAKING = 0.8  # copying the examples that count pays if they are fewer than this


class LargeFull(Full):
    """The same for many dimensions: products of triangles in the place of a table."""

    tabled = False

    def table(self, columns: Floats) -> Floats | None:
        """See ``Shape``: none."""
        return None

    def precision(self, covariance: Floats) -> Precision:
        """See ``Shape``: the inverse is kept as the inverse of the Cholesky factor."""
        from scipy.linalg.lapack import dtrtri

        inverse = np.linalg.cholesky(covariance)
        for place in np.ndindex(inverse.shape[:2]):
            inverse[place] = dtrtri(inverse[place].T)[0].T  # the transpose is in Fortran's order, as LAPACK wants it
        return Precision(inverse, -2.0 * np.log(np.diagonal(inverse, axis1=-2, axis2=-1)).sum(axis=-1))

    def weights(self, precision: Precision) -> Floats | None:
        """See ``Shape``: no table, no weights."""
        return None

    def linear(self, precision: Precision, mean: Floats) -> Floats:
        """See ``Shape``."""
        white = np.matmul(precision.product, mean[..., None])
        return np.asarray(np.matmul(precision.product.swapaxes(-1, -2), white)[..., 0])

    def quadratic(self, precision: Precision, points: Floats) -> Floats:
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

    def squares(self, shares: Floats, points: Floats, table: Floats | None) -> Floats:
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

    def table(self, columns: Floats) -> Floats | None:
        """See ``Shape``: x_i²."""
        return columns * columns

    def precision(self, covariance: Floats) -> Precision:
        """See ``Shape``."""
        return Precision(1.0 / covariance, np.log(covariance).sum(axis=-1))

    def weights(self, precision: Precision) -> Floats | None:
        """See ``Shape``."""
        weights: Floats = -0.5 * precision.product
        return weights

    def linear(self, precision: Precision, mean: Floats) -> Floats:
        """See ``Shape``."""
        linear: Floats = precision.product * mean
        return linear

    def squares(self, shares: Floats, points: Floats, table: Floats | None) -> Floats:
        """See ``Shape``."""
        return np.asarray(table)

    def covariance(self, squares: Floats, sums: Floats, count: Floats, mean: Floats) -> Floats:
        """See ``Shape``."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = 1.0 / count[..., None]
            return np.asarray(squares * share - 2.0 * mean * sums * share + mean * mean)

    def conditioned(self, covariance: Floats, limit: Limit) -> Kept:
        """See ``Shape``."""
        return limit.variances(covariance)

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """See ``Shape``."""
        return n_components * n_dims

    def matrices(self, covariance: Floats, n_components: int) -> Floats:
        """See ``Shape``."""
        return covariance[..., None] * np.eye(covariance.shape[-1])


class Shared(Full):
    """One matrix for all components: the fewest parameters, and the cheapest to compute."""

    name = "shared"
    tabled = False

    def table(self, columns: Floats) -> Floats | None:
        """See ``Shape``: none, because what is quadratic is the same for all components."""
        return None

    def precision(self, covariance: Floats) -> Precision:
        """See ``Shape``: one for all components."""
        return Precision(np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1][:, None])

    def weights(self, precision: Precision) -> Floats | None:
        """See ``Shape``: no table, no weights."""
        return None

    def linear(self, precision: Precision, mean: Floats) -> Floats:
        """See ``Shape``."""
        return np.asarray(np.matmul(mean, precision.product))

    def quadratic(self, precision: Precision, points: Floats) -> Floats:
        """See ``Shape``: one row for all components."""
        turned = np.matmul(points, precision.product)
        turned *= points
        quadratic: Floats = -0.5 * turned.sum(axis=-1)[:, None]
        return quadratic

    def squares(self, shares: Floats, points: Floats, table: Floats | None) -> Floats:
        """See ``Shape``: summed over components."""
        weighted = points * shares.sum(axis=1)[..., None]
        return np.asarray(np.matmul(weighted.swapaxes(-1, -2), points))

    def covariance(self, squares: Floats, sums: Floats, count: Floats, mean: Floats) -> Floats:
        """See ``Shape``."""
        cross = np.matmul(sums.swapaxes(-1, -2), mean)
        outer = np.matmul((mean * count[..., None]).swapaxes(-1, -2), mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            scatter = squares - cross - cross.swapaxes(-1, -2) + outer
            return np.asarray(scatter / count.sum(axis=-1)[..., None, None])

    def shrunk(self, covariance: Floats, count: Floats, examples: float) -> Floats:
        """See ``Shape``: there is only one."""
        return covariance

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """See ``Shape``."""
        return n_dims * (n_dims + 1) // 2

    def matrices(self, covariance: Floats, n_components: int) -> Floats:
        """See ``Shape``."""
        return np.repeat(covariance[:, None], n_components, axis=1)


SHAPES = ("full", "shared", "diagonal")


def shape_of(name: str, n_dims: int) -> Shape:
    """The functions of a covariance's name."""
    if name == "full":
        return Full() if n_dims <= TABLE_DIMENSIONS else LargeFull()
    return Diagonal() if name == "diagonal" else Shared()
