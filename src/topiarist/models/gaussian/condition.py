"""Covariances that cannot collapse. Equation (G3): docs/models/ggm.md"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topiarist.arrays import Array, Bools, Doubles
from topiarist.kernels.gaussians.compiled import exceed

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
