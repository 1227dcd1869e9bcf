"""Gaussian mixtures from labelled and unlabelled examples. Equations (G1)-(G4): docs/models/ggm.md

p(y, x) = Σ_k P(k) P(y|k) p(x|k) with Gaussian p(x|k). Means are estimated from one part of the examples, covariances
from the other, everything else from all, so that no component can shrink onto its own examples.

**Many fits at once.** Every array begins with an axis of fits: restarts on the same examples, or repetitions of a study
on different samples of equal size. One fit is a batch of one. A fit that has settled keeps its parameters while others
go on, so a batch ends with what the fits would have found one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import TINY, Array, Bools, Doubles, Ints
from topiarist.execution.threads import Threads
from topiarist.models.em import State
from topiarist.models.gaussian.covariances import FitIndex, Full, Limit, Precision


@dataclass(frozen=True)
class Options:
    """Settings that all fits of a batch share."""

    covariance: str = "full"
    n_classes: int = 0
    hard: bool = False
    condition_limit: float = 1e4
    shrinkage: float = 0.0
    own_components: bool = False
    max_iter: int = 100
    tol: float = 0.0


@dataclass(frozen=True)
class Block:
    """Examples with classes (−1: unknown) and weights; those for means come before those for covariances."""

    points: Doubles  # (fits or 1, examples, dimensions)
    classes: Ints  # (fits or 1, examples)
    weight: Doubles  # (fits or 1, examples): λ for an example without a class
    n_first: int | None = None  # how many serve for means, the others for covariances; None: all for both
    of: int = 1  # so many blocks share the memory for tables

    @property
    def n_examples(self) -> int:
        """Number of examples of each fit."""
        return int(self.points.shape[1])

    def cut(self, rows: slice) -> int:
        """Return how many of some rows estimate means only."""
        return 0 if self.n_first is None else min(max(self.n_first - rows.start, 0), rows.stop - rows.start)

    def of_fits(self, fits: FitIndex) -> Block:
        """Return the examples of some of the fits, with their cached tables."""
        points, classes, weight = (
            part if len(part) == 1 else part[fits] for part in (self.points, self.classes, self.weight)
        )
        block = Block(points, classes, weight, self.n_first, self.of)  # type: ignore[arg-type]
        block.tables.update({key: table if len(table) == 1 else table[fits] for key, table in self.tables.items()})
        return block

    @cached_property
    def tables(self) -> dict[Any, Any]:
        """Tables computed once from the points, by name; (fits or 1, …)."""
        return {}


@dataclass(frozen=True)
class Params:
    """Parameters of the mixtures of a batch; rows of every conditional sum to one."""

    component_prior: Doubles  # P(k)  (fits, components)
    component_mean: Doubles  # μ_k  (fits, components, dimensions)
    component_covariance: Doubles  # Σ_k, in the shape of the model
    class_given_component: Doubles  # P(y|k)  (fits, components, classes); no classes where nothing is labelled
    settled: Bools  # (fits,): nothing changes any more
    previous_log_likelihood: (
        Doubles  # (fits,): the log-likelihood of the state before, to see whether a step still gains
    )
    count: Doubles  # (fits, components): the effective examples of each component in the state before
    steps: Ints  # (fits,): how many steps led here
    is_limited: Bools  # (fits, components): (G3) made the covariance what it is, and not the examples

    def __len__(self) -> int:
        return len(self.component_prior)

    @property
    def n_components(self) -> int:
        """Number of components of a fit."""
        return int(self.component_prior.shape[1])

    def of_fits(self, fits: FitIndex) -> Params:
        """Return the parameters of some of the fits."""
        return Params(*(getattr(self, part.name)[fits] for part in fields(self)))

    def merged_with(self, others: Params, keep: Bools) -> Params:
        """Return the parameters with the fits in ``keep`` replaced by ``others``."""

        def chosen(own: Array, other: Array) -> Any:
            return np.where(keep.reshape(-1, *(1,) * (own.ndim - 1)), other, own)

        return Params(*(chosen(getattr(self, part.name), getattr(others, part.name)) for part in fields(self)))

    @cached_property
    def forms(self) -> dict[str, Any]:
        """Values computed once from the parameters, by name."""
        return {}


@dataclass(frozen=True)
class Stats:
    """Expected sums over a block, which can be added, and the parameters they were computed with."""

    count: Doubles  # Σ weight · P(k|n)  (fits, components)
    class_count: Doubles  # the same over examples of a class  (fits, components, classes)
    mean_count: Doubles  # over those that means are estimated from
    mean_sum: Doubles  # (fits, components, dimensions)
    covariance_count: Doubles  # over those that covariances are estimated from
    covariance_sum: Doubles
    squares: Doubles  # in the covariance's own shape
    log_likelihood: Doubles  # (fits,)
    n_changed: Ints  # (fits,): how many examples have another most probable component than before
    at: Params

    @property
    def objective(self) -> float:
        """Log-likelihood of all fits together."""
        return float(self.log_likelihood.sum())

    def __add__(self, other: Stats) -> Stats:
        fields_of_self, fields_of_other = vars(self), vars(other)
        return Stats(
            **{name: fields_of_self[name] + fields_of_other[name] for name in fields_of_self if name != "at"},
            at=self.at,
        )


IMPOSSIBLE = -1e5  # in the place of log 0 for a class that a component never has: finite, and beyond all densities
PIECE_ROWS = 1024  # of a piece without a table of products
PIECE_NUMBERS = 1 << 16  # numbers of a table that are computed with at once: they stay in a core's cache
MAX_TABLE_NUMBERS = (
    1 << 24
)  # numbers of a table that are kept from step to step; a larger one is made anew, piece by piece
WAVE_NUMBERS = 1 << 24  # numbers of covariances that are held before they are added up
MAX_FITS_AT_ONCE = 1024  # fits whose covariances one thread computes at once
EMPTY_SUM = np.zeros(())  # a sum over no examples, of any shape


@dataclass(frozen=True)
class Ggm:
    """Gaussian mixture as a model of the EM loop."""

    shape: Full
    limit: Limit
    threads: Threads
    n_classes: int = 0
    hard: bool = False
    shrinkage: float = 0.0  # examples that the mean covariance of all components counts as in each
    tol: float = 0.0  # a step that changes the log-likelihood of an example by less is the last
    own_components: bool = False  # a component belongs to one class: P(y|k) stays as it was started (G6)

    def e_step(
        self, shared: Params, block: Block, local: Bools, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Bools]:
        """Compute the posteriors (G1) and the sums of (G2); ``local`` marks the most probable component of examples."""
        theta = self.theta(shared)
        pieces = self._list_pieces(len(shared), block, theta.shape[-1])
        self._cache_tables(block, pieces, theta.shape[-1])
        assignments = np.empty((len(shared), shared.n_components, block.n_examples), bool)

        def piece(place: tuple[slice, slice]) -> tuple[Any, ...]:
            """Store the assignments of some documents in some fits; return their sums for the M-step."""
            fits, rows = place
            table, points = self._build_table(block, fits, rows)
            logits = self._compute_logits(shared, theta, table, points, fits)
            best = logits.max(axis=1)
            is_best = logits == best[:, None]
            n_changed = np.count_nonzero(is_best > local[fits, :, rows], axis=(1, 2))
            assignments[fits, :, rows] = is_best
            logits -= best[:, None]
            np.exp(logits, out=logits)
            total = logits.sum(axis=1)
            weight = _rows(block.weight, fits)[:, rows]
            likelihood = (weight * (best + np.log(total))).sum(axis=1)
            if self.hard:
                np.copyto(logits, is_best)
                total = logits.sum(axis=1)
            logits *= (weight / total)[:, None]
            linear, cut = self._first_square(points), block.cut(rows)
            first = np.matmul(logits[..., :cut], table[:, :linear, :cut].swapaxes(-1, -2)) if cut else EMPTY_SUM
            if cut == logits.shape[-1]:
                return first, EMPTY_SUM, EMPTY_SUM, likelihood, n_changed
            sums = np.matmul(logits[..., cut:], table[..., cut:].swapaxes(-1, -2))
            squares = self.shape.squares(logits[..., cut:], points[:, cut:], sums[..., linear:])
            return first, sums[..., :linear], squares, likelihood, n_changed

        totals = self._sum_pieces(piece, pieces, shared)
        return self._make_stats(shared, block, *totals), assignments

    def m_step(self, stats: Stats) -> Params:
        """Return new parameters by (G2)-(G4).

        A component without examples keeps its mean, and a fit that has converged keeps everything.
        """
        old = stats.at
        mean_count = stats.mean_count[..., None]
        mean = np.where(mean_count > TINY, stats.mean_sum / np.maximum(mean_count, TINY), old.component_mean)
        classes = old.class_given_component if self.own_components else _compute_class_shares(stats.class_count)
        total_weight = stats.count.sum(axis=1)
        prior = stats.count / total_weight[:, None]
        parts = self._map_fits(lambda fits: self._compute_covariance(stats, mean, fits), len(old))
        covariance, is_limited = (_concatenate(part) for part in zip(*parts, strict=True))
        converged = (stats.n_changed == 0) | (
            np.abs(stats.log_likelihood - old.previous_log_likelihood) < self.tol * total_weight
        )
        new = Params(
            prior, mean, covariance, classes, converged, stats.log_likelihood, stats.count, old.steps + 1, is_limited
        )  # fmt: skip
        if not converged.any():
            return new
        return new.merged_with(
            replace(old, settled=converged, previous_log_likelihood=new.previous_log_likelihood, count=new.count),
            converged,
        )

    def _compute_covariance(self, stats: Stats, mean: Doubles, fits: slice) -> tuple[Doubles, Bools]:
        """Return the covariances within the limit, and which of them the limit determines."""
        count = stats.covariance_count[fits]
        covariance = self.shape.covariance(stats.squares[fits], stats.covariance_sum[fits], count, mean[fits])
        if self.shrinkage:
            covariance = self.shape.shrink(covariance, count, self.shrinkage)
        bounded = self.shape.apply_limit(covariance, self.limit.of_fits(fits))
        if bounded.multiple is None:
            return bounded.covariance, np.zeros(count.shape, bool)
        n_examples = count if bounded.multiple.shape == count.shape else count.sum(axis=1, keepdims=True)
        is_limited = bounded.at_floor | ((bounded.multiple > 0) & (n_examples <= mean.shape[-1]))
        return bounded.covariance, np.array(np.broadcast_to(is_limited, count.shape))

    def _map_fits(self, function: Callable[[slice], Any], n_fits: int) -> list[Any]:
        """Apply a function to slices of the fits, in threads if there are many fits."""
        if n_fits <= MAX_FITS_AT_ONCE:
            return [function(slice(None))]
        return self.threads.map(
            function, [slice(start, start + MAX_FITS_AT_ONCE) for start in range(0, n_fits, MAX_FITS_AT_ONCE)]
        )

    def log_prior(self, shared: Params) -> float:
        """Return 0: the mixture has no prior."""
        return 0.0

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """Return the new state unchanged.

        Extrapolation could lower the likelihood, because means and covariances are estimated from different examples.
        """
        return new

    def log_joint(self, shared: Params, block: Block) -> Doubles:
        """Return log P(k) P(y|k) p(x|k), (fits, components, examples), without P(y|k) for unlabelled examples."""
        theta = self.theta(shared)
        out = np.empty((len(shared), shared.n_components, block.n_examples))

        def piece(place: tuple[slice, slice]) -> None:
            fits, rows = place
            table, points = self._build_table(block, fits, rows)
            out[fits, :, rows] = self._compute_logits(shared, theta, table, points, fits)

        self.threads.map(piece, self._list_pieces(len(shared), block, theta.shape[-1]))
        return out

    def theta(self, shared: Params) -> Doubles:
        """Return weights of 1, x, class and products in log P(k) P(y|k) p(x|k); cached in ``shared``."""
        if "theta" in shared.forms:
            return np.asarray(shared.forms["theta"])
        precision = self._precision(shared)
        linear = self.shape.linear(precision, shared.component_mean)
        n_dims = shared.component_mean.shape[-1]
        constant = -0.5 * (
            (linear * shared.component_mean).sum(axis=-1) + precision.log_determinant + n_dims * math.log(2 * math.pi)
        ) + np.log(np.maximum(shared.component_prior, TINY))
        parts = [constant[..., None], linear]
        if self.n_classes:
            classes = shared.class_given_component
            parts.append(np.where(classes > 0, np.log(np.where(classes > 0, classes, 1.0)), IMPOSSIBLE))
        squares = self.shape.weights(precision)
        if squares is not None:
            parts.append(squares)
        theta: Doubles = np.concatenate(parts, axis=-1)
        shared.forms["theta"] = theta
        return theta

    def n_parameters(self, n_components: int, n_dims: int) -> int:
        """Return the number of parameters (G5); the class of a component is not counted if it is fixed (G6)."""
        others = n_components * (n_dims + (1 if self.own_components else max(1, self.n_classes))) - 1
        return int(self.shape.n_parameters(n_components, n_dims) + others)

    def _precision(self, shared: Params) -> Precision:
        """Return the precisions of the components; ``shared`` keeps them after the first call."""
        if "precision" not in shared.forms:
            covariance = shared.component_covariance
            parts = self._map_fits(lambda fits: self.shape.precision(covariance[fits]), len(shared))
            shared.forms["precision"] = Precision(*map(_concatenate, zip(*parts, strict=True)))
        precision: Precision = shared.forms["precision"]
        return precision

    def _compute_logits(self, shared: Params, theta: Doubles, table: Doubles, points: Doubles, fits: slice) -> Doubles:
        """Return the joint log-density of each point and component."""
        logits: Doubles = np.matmul(theta[fits], table)
        if not self.shape.uses_table:
            precision = self._precision(shared)
            logits += self.shape.quadratic(Precision(precision.product[fits], precision.log_determinant), points)
        return logits

    def _first_square(self, points: Doubles) -> int:
        return int(1 + points.shape[-1] + self.n_classes)

    def _list_pieces(self, n_fits: int, block: Block, width: int) -> list[tuple[slice, slice]]:
        """Return slices of fits and rows to compute together; they do not depend on the number of threads."""
        rows = max(64, PIECE_NUMBERS // width) if self.shape.uses_table else PIECE_ROWS
        n_fits_at_once = max(1, 4 * PIECE_NUMBERS // (width * min(rows, block.n_examples)))
        cuts = [slice(start, min(start + rows, block.n_examples)) for start in range(0, block.n_examples, rows)]
        return [
            (slice(start, min(start + n_fits_at_once, n_fits)), cut)
            for start in range(0, n_fits, n_fits_at_once)
            for cut in cuts
        ]

    def _build_table(self, block: Block, fits: slice, rows: slice) -> tuple[Doubles, Doubles]:
        """Return the columns 1, x, class and products of some examples, and the points."""
        points, classes = _rows(block.points, fits)[:, rows], _rows(block.classes, fits)[:, rows]
        table = block.tables.get((self.shape.name, rows.start))
        if table is not None:
            return _rows(table, fits), points
        columns = points.swapaxes(-1, -2)
        class_indicators = classes[:, None] == np.arange(self.n_classes)[:, None]
        squares = self.shape.table(columns)
        parts = [np.ones((1, 1, columns.shape[-1])), columns, class_indicators, *([] if squares is None else [squares])]
        n_fits = max(len(points), len(classes))
        return np.concatenate([np.broadcast_to(part, (n_fits, *part.shape[1:])) for part in parts], axis=1), points

    def _cache_tables(self, block: Block, pieces: Sequence[tuple[slice, slice]], width: int) -> None:
        """Store the tables of a block in the block, if they are small enough."""
        samples = max(len(block.points), len(block.classes))
        if (self.shape.name, 0) in block.tables or samples * block.n_examples * width > MAX_TABLE_NUMBERS // block.of:
            return
        if samples == 1:
            pieces = [(slice(0, 1), rows) for fits, rows in pieces if fits.start == 0]
        tables: dict[Any, Doubles] = {}
        for _, rows in pieces:
            tables.setdefault((self.shape.name, rows.start), np.empty((samples, width, rows.stop - rows.start)))

        def make(place: tuple[slice, slice]) -> None:
            fits, rows = place
            tables[self.shape.name, rows.start][fits] = self._build_table(block, fits, rows)[0]

        self.threads.map(make, pieces)
        block.tables.update(tables)

    def _sum_pieces(self, function: Callable[[Any], Any], pieces: Sequence[Any], shared: Params) -> list[Any]:
        """Return the sums of the results of all slices, in the order of their rows.

        Pieces are computed in batches, because with many dimensions the results of all pieces would not fit into
        memory. The batches do not change the order of addition.
        """
        size = shared.component_covariance[:1].size * (pieces[0][0].stop - pieces[0][0].start)
        wave = max(4 * self.threads.n_threads, WAVE_NUMBERS // size)
        if len(pieces) == 1:
            return list(function(pieces[0]))
        totals: list[Any] = [EMPTY_SUM] * 5
        for start in range(0, len(pieces), wave):
            batch = pieces[start : start + wave]
            for (fits, _), values in zip(batch, self.threads.map(function, batch), strict=True):
                for kind, value in enumerate(values):
                    if value is EMPTY_SUM:
                        continue
                    if totals[kind] is EMPTY_SUM:
                        totals[kind] = np.zeros((len(shared), *value.shape[1:]), value.dtype)
                    totals[kind][fits] += value
        return totals

    def _make_stats(
        self,
        shared: Params,
        block: Block,
        first: Doubles,
        second: Doubles,
        squares: Doubles,
        likelihood: Doubles,
        n_changed: Ints,
    ) -> Stats:
        """Combine sums of both halves of the documents into the statistics of the M-step."""
        n_dims, shape = block.points.shape[-1], shared.component_prior.shape
        first, second = (np.broadcast_to(part, (*shape, 1 + n_dims + self.n_classes)) for part in (first, second))
        sums = first + second
        if block.n_first is None:
            first = second
        means, covariances = ((part[..., 0], part[..., 1 : 1 + n_dims]) for part in (first, second))
        squares = np.broadcast_to(squares, shared.component_covariance.shape)
        return Stats(
            sums[..., 0], sums[..., 1 + n_dims :], *means, *covariances, squares, likelihood, n_changed, shared
        )


def _compute_class_shares(class_count: Doubles) -> Doubles:
    """Return P(y|k); a component without labelled examples gets the shares of all components."""
    totals, total = class_count.sum(axis=-1, keepdims=True), class_count.sum(axis=1, keepdims=True)
    overall_shares = total / np.maximum(total.sum(axis=-1, keepdims=True), TINY)
    return np.asarray(np.where(totals > TINY, class_count / np.maximum(totals, TINY), overall_shares))


def _concatenate(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _rows(array: Array, fits: slice) -> Any:
    return array if len(array) == 1 else array[fits]
