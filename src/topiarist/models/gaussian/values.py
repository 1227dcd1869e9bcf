"""The values of a Gaussian mixture: examples, parameters, sums. Arrays begin with an axis of fits; see ``ggm``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.models.gaussian.covariances import Floats

Bools = np.ndarray[Any, np.dtype[np.bool_]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Options:
    """What the fits of a study have in common."""

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
    """Examples with their classes (−1: unknown) and weights; those for means come before those for covariances."""

    points: Floats  # (fits or 1, examples, dimensions)
    classes: Ints  # (fits or 1, examples)
    weight: Floats  # (fits or 1, examples): λ for an example without a class
    n_first: int | None = None  # how many serve for means, the others for covariances; None: all for both
    of: int = 1  # so many blocks share the memory for tables

    @property
    def n_examples(self) -> int:
        """How many examples each fit has here."""
        return int(self.points.shape[1])

    def cut(self, rows: slice) -> int:
        """How many of some rows serve for means alone."""
        return 0 if self.n_first is None else min(max(self.n_first - rows.start, 0), rows.stop - rows.start)

    def of_fits(self, fits: Any) -> Block:
        """The examples of some of the fits, with what was computed from them."""
        points, classes, weight = (
            part if len(part) == 1 else part[fits] for part in (self.points, self.classes, self.weight)
        )
        some = Block(points, classes, weight, self.n_first, self.of)  # type: ignore[arg-type]
        some.tables.update({key: table if len(table) == 1 else table[fits] for key, table in self.tables.items()})
        return some

    @cached_property
    def tables(self) -> dict[Any, Any]:
        """What is computed from the points once, by name; (fits or 1, …)."""
        return {}


@dataclass(frozen=True)
class Params:
    """The mixtures, one for each fit; rows of every conditional sum to one."""

    component_prior: Floats  # P(k)  (fits, components)
    component_mean: Floats  # μ_k  (fits, components, dimensions)
    component_covariance: Floats  # Σ_k, in the shape of the model
    class_given_component: Floats  # P(y|k)  (fits, components, classes); no classes where nothing is labelled
    settled: Bools  # (fits,): nothing changes any more
    reached: Floats  # (fits,): the log-likelihood of the state before, to see whether a step still gains
    count: Floats  # (fits, components): the effective examples of each component in the state before
    steps: Ints  # (fits,): how many steps led here
    held: Bools  # (fits, components): (G3) made the covariance what it is, and not the examples

    def __len__(self) -> int:
        return len(self.component_prior)

    @property
    def n_components(self) -> int:
        """How many components a fit has."""
        return int(self.component_prior.shape[1])

    def of_fits(self, fits: Any) -> Params:
        """The parameters of some of the fits."""
        return Params(*(getattr(self, part.name)[fits] for part in fields(self)))

    def kept(self, others: Params, keep: Bools) -> Params:
        """These, but those of the others where ``keep`` is true."""

        def chosen(mine: Any, theirs: Any) -> Any:
            return np.where(keep.reshape(-1, *(1,) * (mine.ndim - 1)), theirs, mine)

        return Params(*(chosen(getattr(self, part.name), getattr(others, part.name)) for part in fields(self)))

    @cached_property
    def forms(self) -> dict[str, Any]:
        """What is computed from the parameters once, by name."""
        return {}


@dataclass(frozen=True)
class Stats:
    """Expected sums over a block, additive over blocks, and the parameters they were computed at."""

    count: Floats  # Σ weight · P(k|n)  (fits, components)
    class_count: Floats  # the same over examples of a class  (fits, components, classes)
    mean_count: Floats  # over those that means are estimated from
    mean_sum: Floats  # (fits, components, dimensions)
    covariance_count: Floats  # over those that covariances are estimated from
    covariance_sum: Floats
    squares: Floats  # in the covariance's own shape
    log_likelihood: Floats  # (fits,)
    changed: Ints  # (fits,): how many examples have another most probable component than before
    at: Params

    @property
    def objective(self) -> float:
        """The log-likelihood of all fits together."""
        return float(self.log_likelihood.sum())

    def __add__(self, other: Stats) -> Stats:
        mine, theirs = vars(self), vars(other)
        return Stats(**{name: mine[name] + theirs[name] for name in mine if name != "at"}, at=self.at)
