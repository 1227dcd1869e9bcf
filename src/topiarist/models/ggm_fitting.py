"""Fits of Gaussian mixtures, many at once: starts, the loop, what came out. Equations (G3)-(G5): docs/models/ggm.md"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from topiarist.models import em
from topiarist.models.ggm import Ggm
from topiarist.models.ggm_condition import Limit
from topiarist.models.ggm_kinds import shape_of
from topiarist.models.ggm_shapes import Floats
from topiarist.models.ggm_values import Block, Bools, Ints, Params
from topiarist.scale.threads import Threads

STEPS_WITH_ALL = 5
LEAVING = 0.3  # share of a batch that has settled when it leaves; until then it is computed in vain
FEWEST = 2.0  # examples that a component must have
AT_LIMIT = 0.999  # of the condition limit: from there on a component is held by the limit and not by its examples


class Sample(NamedTuple):
    """The examples of each fit: their points, classes (−1: unknown) and which of them means are estimated from."""

    points: Floats  # (fits or 1, examples, dimensions)
    classes: Ints  # (fits or 1, examples)
    first: Bools  # (fits or 1, examples): as many in every fit

    def of_fits(self, fits: Any) -> Sample:
        """Those of some fits."""
        points, classes, first = (part if len(part) == 1 else part[fits] for part in self)
        return Sample(points, classes, first)  # type: ignore[arg-type]


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
class Fits:
    """What came out, for each fit of a batch."""

    model: Ggm
    params: Params
    histories: tuple[tuple[float, ...], ...] = ()  # of a batch of one: the log-likelihood after every step
    interrupted: bool = False  # by Ctrl-C: what was found until then

    @property
    def n_iter(self) -> Ints:
        """Steps of each fit."""
        return self.params.steps

    @property
    def log_likelihood(self) -> Floats:
        """Of each fit, unlabelled examples weighted."""
        return self.params.reached

    @property
    def aic(self) -> Floats:
        """(G5): −log-likelihood + number of parameters."""
        n_components, n_dims = self.params.component_mean.shape[1:]
        return -self.log_likelihood + self.model.n_parameters(n_components, n_dims)

    def corrected_aic(self, n_examples: int) -> Floats:
        """AIC for small samples: a parameter costs more where there are few examples for each (Hurvich and Tsai)."""
        n_components, n_dims = self.params.component_mean.shape[1:]
        n_parameters = self.model.n_parameters(n_components, n_dims)
        left = n_examples - n_parameters - 1
        return self.aic + (n_parameters * (n_parameters + 1) / left if left > 0 else np.inf)

    @property
    def degenerate(self) -> Bools:
        """Whether a component has fewer than two examples, or is held by the condition limit alone; (fits,)."""
        matrices = self.model.shape.matrices(self.params.component_covariance, self.params.n_components)
        condition = self.model.limit.condition_numbers(matrices)
        held: Any = (condition > AT_LIMIT * self.model.limit.condition).any(axis=1)
        return np.asarray(held | (self.params.count < FEWEST).any(axis=1))

    def of_fits(self, fits: Any) -> Fits:
        """Some of them."""
        limit = self.model.limit
        overall = limit.overall if len(limit.overall) == 1 else limit.overall[fits]
        model = replace(self.model, limit=replace(limit, overall=overall))
        params = self.params.of_fits(fits)
        histories = self.histories if len(params) == len(self.histories) == 1 else ()
        return Fits(model, params, histories, self.interrupted)


def halves(sample: Sample, weight: Floats, split: float | None) -> list[Block]:
    """(G2): the examples as the model wants them, those for means before those for covariances."""
    if split is None:
        return [Block(sample.points, sample.classes, weight)]
    places = np.argsort(~sample.first, axis=1, kind="stable")
    points, classes, own = (_taken(part, places) for part in (sample.points, sample.classes, weight))
    return [Block(points, classes, own, int(sample.first[0].sum()))]


def _taken(array: Any, places: Ints) -> Any:
    """The examples at these places, fit by fit; all fits share what is the same for all."""
    if len(places) == 1:
        return np.ascontiguousarray(array[:, places[0]])
    rows = np.zeros(len(places), np.int64)[:, None] if len(array) == 1 else np.arange(len(places))[:, None]
    return array[rows, places]


def drawn_halves(classes: Ints, split: float, rng: np.random.Generator) -> Bools:
    """Which examples means are estimated from: a random share of the labelled and of the unlabelled ones, rounded up.

    Within the labelled ones classes take turns, so that both parts know every class that has two examples.
    """
    first = np.zeros(len(classes), bool)
    order = rng.permutation(len(classes))
    unlabelled = order[classes[order] < 0]
    first[unlabelled[: math.ceil(split * len(unlabelled))]] = True
    labelled = order[classes[order] >= 0]
    if len(labelled):
        turn = np.zeros(len(labelled))
        for label in np.unique(classes[labelled]):
            own = classes[labelled] == label
            turn[own] = (np.arange(own.sum()) + rng.random()) / own.sum()
        spread = labelled[np.argsort(turn, kind="stable")]
        wanted = math.ceil(split * len(labelled))
        taken = np.floor(np.arange(1, len(labelled) + 1) * wanted / len(labelled) + 1e-9)
        first[spread[np.diff(np.append(0, taken)) > 0]] = True
    return first


def weights(classes: Ints, unlabelled_weight: Any) -> Floats:
    """1 for a labelled example and λ for another; everything is unlabelled alike if nothing is labelled."""
    factor = np.reshape(np.asarray(unlabelled_weight, np.float64), (-1, 1))
    if not (classes >= 0).any():
        factor = np.ones_like(factor)
    return np.where(classes >= 0, 1.0, factor)


def overall_covariance(points: Floats, weight: Floats) -> Floats:
    """Σ_0 of each fit."""
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = np.matmul(share[:, None], points)
    centred = points - mean
    return np.asarray(np.matmul((centred * share[..., None]).swapaxes(-1, -2), centred))


def random_start(
    sample: Sample, weight: Floats, options: Options, n_components: int, rngs: Sequence[np.random.Generator]
) -> Params:
    """The paper's start: means at random examples, the overall covariance, even weights, P(y|k) = P(y).

    A mean is drawn far from those before it: in proportion to the squared distance.
    """
    overall = overall_covariance(sample.points, weight)
    limit = Limit.of(overall, options.condition_limit)
    n_fits = len(rngs)
    means = np.empty((n_fits, n_components, sample.points.shape[-1]))
    weight = np.broadcast_to(weight, (max(len(weight), len(sample.points)), weight.shape[1]))
    for fit, rng in enumerate(rngs):
        points = sample.points[fit % len(sample.points)]
        chances = weight[fit % len(weight)]
        means[fit] = points[spread_out(points, chances, n_components, rng)]
    prior = np.full((n_fits, n_components), 1.0 / n_components)
    known = (sample.classes[..., None] == np.arange(options.n_classes)).sum(axis=1).astype(float)
    shares = known / np.maximum(known.sum(axis=-1, keepdims=True), 1.0)
    classes = np.repeat(np.broadcast_to(shares, (n_fits, options.n_classes))[:, None], n_components, axis=1)
    return start_of(prior, means, limit.overall, classes, options)


def start_of(prior: Floats, means: Floats, overall: Floats, classes: Floats, options: Options) -> Params:
    """A start with the overall covariance (fits or 1, …) for every component."""
    n_fits, n_components, n_dims = means.shape
    base = np.broadcast_to(overall, (n_fits, n_dims, n_dims))
    if options.covariance == "shared":
        covariance = base.copy()
    elif options.covariance == "diagonal":
        covariance = np.repeat(np.diagonal(base, axis1=-2, axis2=-1)[:, None], n_components, axis=1)
    else:
        covariance = np.repeat(base[:, None], n_components, axis=1)
    nothing = np.zeros((n_fits, n_components))
    unknown = np.full(n_fits, -np.inf)
    return Params(prior, means, covariance, classes, np.zeros(n_fits, bool), unknown, nothing, np.zeros(n_fits, int))


def spread_out(points: Floats, chances: Floats, wanted: int, rng: np.random.Generator) -> Ints:
    """Examples far from each other, drawn one after the other."""
    drawn = [int(rng.choice(len(points), p=chances / chances.sum()))]
    nearest = np.full(len(points), np.inf)
    for _ in range(wanted - 1):
        difference = points - points[drawn[-1]]
        nearest = np.minimum(nearest, np.einsum("nd,nd->n", difference, difference))
        chance = np.cumsum(nearest * chances)
        if chance[-1] > 0:
            drawn.append(int(min(np.searchsorted(chance, rng.random() * chance[-1], side="right"), len(points) - 1)))
        else:  # there are no more different examples
            drawn.append(int(rng.integers(len(points))))
    return np.array(drawn)


def fit_many(
    blocks: Sequence[Block],
    start: Params,
    options: Options,
    threads: Threads,
    *,
    overall: Floats,
    watch: Callable[[em.Loop], None] | None = None,
    executor: Any = None,
) -> Fits:
    """EM from every start, until no fit changes any more; those that have settled leave the batch now and then."""
    n_dims = start.component_mean.shape[-1]
    limit = Limit.of(overall, options.condition_limit)
    shape = shape_of(options.covariance, n_dims)
    model = Ggm(
        shape, limit, threads, options.n_classes, options.hard, options.shrinkage, options.tol, options.own_components
    )
    n_fits, n_components = start.component_prior.shape
    active = np.arange(n_fits)
    state = em.State(start, tuple(np.zeros((n_fits, n_components, block.n_examples), bool) for block in blocks))
    result, here, ours = start, model, list(blocks)
    history: tuple[float, ...] = ()
    interrupted = False
    left = options.max_iter
    while len(active):
        last: list[em.State] = []  # the next step: it knows the likelihood of the state it comes from
        rules = em.Rules(left, -math.inf, accelerate=False, settled=_keeper(last))
        fit = em.run(here, ours, state, rules, watch=watch, executor=executor)
        interrupted = fit.reason == "interrupted"
        if not last:
            raise KeyboardInterrupt
        history, following = fit.objectives, last[-1].shared
        judged = replace(fit.state.shared, settled=following.settled, reached=following.reached, count=following.count)
        result = _put(result, judged, active) if len(active) < n_fits else judged
        stay = ~judged.settled & (fit.reason == "converged" and fit.steps < left)
        left -= fit.steps + 1
        active, state, ours, here = _staying(stay, active, last[-1], ours, here)
    return Fits(model, result, (history,) if n_fits == 1 else (), interrupted)


def from_all(fits: Fits, sample: Sample, weight: Floats) -> Fits:
    """A few steps more with all examples for means and for covariances, from where the fits have settled."""
    block = Block(sample.points, sample.classes, weight)
    nobody = np.zeros((len(fits.params), fits.params.n_components, block.n_examples), bool)
    stats, _ = fits.model.e_step(fits.params, block, nobody)
    for _ in range(STEPS_WITH_ALL):
        params = fits.model.m_step(replace(stats, changed=np.ones_like(stats.changed), at=_unsettled(stats.at)))
        stats, _ = fits.model.e_step(params, block, nobody)
    judged = replace(fits.params, **_found(params), reached=stats.log_likelihood, count=stats.count)
    return replace(fits, params=judged)


def _found(params: Params) -> dict[str, Any]:
    names = ("component_prior", "component_mean", "component_covariance", "class_given_component")
    return {name: getattr(params, name) for name in names}


def _unsettled(params: Params) -> Params:
    return replace(params, reached=np.full(len(params), -np.inf))


def _keeper(last: list[em.State]) -> Callable[[em.State], bool]:
    def settled(following: em.State) -> bool:
        last[:] = [following]
        return bool(following.shared.settled.mean() >= LEAVING)

    return settled


def _staying(
    stay: Bools, active: Ints, state: em.State, blocks: Sequence[Block], model: Ggm
) -> tuple[Ints, em.State, list[Block], Ggm]:
    if not stay.any():
        return active[stay], state, list(blocks), model
    limit = model.limit
    if len(limit.overall) > 1:
        limit = replace(limit, overall=limit.overall[stay])
    left = em.State(state.shared.of_fits(stay), tuple(rows[stay] for rows in state.local))
    return active[stay], left, [block.of_fits(stay) for block in blocks], replace(model, limit=limit)


def _put(whole: Params, part: Params, places: Ints) -> Params:
    copied = {name: np.array(value) for name, value in vars(whole).items() if name != "forms"}
    for name, value in copied.items():
        value[places] = getattr(part, name)
    return Params(**copied)
