"""What the estimator of Gaussian mixtures needs around the mathematics: checks, scales, labels, choices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data
from threadpoolctl import threadpool_limits

from topiarist.arrays import Doubles
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import given_labels
from topiarist.estimators.common import options
from topiarist.models import em
from topiarist.models.gaussian import selection
from topiarist.models.gaussian.covariances import SHAPES
from topiarist.models.gaussian.fits import Fits
from topiarist.models.gaussian.mixture import Options, Params
from topiarist.models.gaussian.starts import STARTS, Sample
from topiarist.scale.threads import Threads

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # of unlabelled examples, tried by cross-validation
UNKNOWN = -1
ROUNDING = 1e-12  # a feature that varies by less, in its own size or the greatest deviation, is constant
FAR = 1e100  # in deviations: beyond, squares would overflow
LABELS_EACH = 2  # labelled examples for each feature: with fewer, unlabelled ones must tell where a class lies
TOLD_BY_LABELS = 0.1  # weight of unlabelled examples where there are so many


@dataclass(frozen=True)
class Frame:
    """The features as the fit sees them: around zero, of variance one on average.

    Where they are on such different scales that a condition number would say nothing but that, each is brought to
    variance one.
    """

    centre: Doubles
    scale: Doubles

    @classmethod
    def of(cls, points: Doubles, condition_limit: float) -> Frame:
        """The frame of these examples."""
        centre = points.mean(axis=0)
        deviation = points.std(axis=0)
        largest = float(deviation.max())
        varying = deviation > ROUNDING * np.maximum(np.abs(centre), largest)
        if not varying.any():
            return cls(centre, np.ones(points.shape[1]))
        if not varying.all() or (largest / float(deviation.min())) ** 2 > condition_limit:
            return cls(centre, np.where(varying, deviation, 1.0))
        return cls(centre, np.full(points.shape[1], math.sqrt(float((deviation**2).mean()))))

    @property
    def log_scale(self) -> float:
        """The logarithm by which densities outside are smaller."""
        return float(np.log(self.scale).sum())

    def inside(self, points: Doubles) -> Doubles:
        """Points as the fit sees them."""
        return (points - self.centre) / self.scale

    def outside(self, points: Doubles) -> Doubles:
        """Points as the user sees them."""
        return points * self.scale + self.centre

    def covariance_outside(self, covariance: Doubles) -> Doubles:
        """Covariance matrices as the user sees them."""
        return covariance * self.scale[:, None] * self.scale

    def covariance_inside(self, covariance: Doubles) -> Doubles:
        """The other way round."""
        return covariance / self.scale[:, None] / self.scale


def check_options(estimator: Any) -> None:
    """Raise for an option that is not what it should be."""
    number = estimator.n_components
    if number is not None and number != "cv":
        options.check_integer("n_components", number, 1, hint="None chooses by AIC, 'cv' by cross-validation")
    options.check_one_of("components", estimator.components, ("auto", "shared", "own"))
    options.check_integer("max_components", estimator.max_components, 1, hint="10")
    options.check_one_of("covariance", estimator.covariance, ("auto", *SHAPES))
    options.check_one_of("assignment", estimator.assignment, ("soft", "hard"))
    if estimator.split is not None:
        options.check_number("split", estimator.split, 0.01, 0.99, hint="0.5, or None to use all examples for both")
    if estimator.unlabelled_weight not in ("auto", "cv"):
        options.check_number("unlabelled_weight", estimator.unlabelled_weight, 0.0, 1.0, hint="0.1, 'auto' or 'cv'")
    options.check_one_of("from_all", estimator.from_all, (True, False))
    options.check_number("shrinkage", estimator.shrinkage, 0.0, hint="5, or 0 for none")
    options.check_number("condition_limit", estimator.condition_limit, 1.01, 1e12, hint="1e4")
    options.check_one_of("start", estimator.start, STARTS)
    options.check_integer("n_init", estimator.n_init, 1, hint="4")
    options.check_one_of("device", estimator.device, ("cpu",))
    options.check_common(estimator)
    if hasattr(estimator.executor, "client"):
        raise UsageError(
            "a cluster computes blocks that are files, and the features of a mixture are in memory",
            hint="executor=None: threads share the work",
        )


def checked_points(estimator: Any, X: Any, *, reset: bool) -> Doubles:
    """The features as a finite matrix of float64."""
    checked: Any = validate_data(estimator, X, reset=reset, skip_check_array=False, dtype=np.float64, order="C")
    largest = float(np.abs(checked).max(initial=0.0))
    if largest > 1e100:
        raise InputError(f"expected features below 1e100, got {largest:g}", hint="divide them by a constant")
    return np.asarray(checked)


def encoded(y: Any, points: Doubles) -> tuple[Any, Any]:
    """The classes, none if there are no labels, and the number of each example's class, −1 without a label.

    No label is −1, "-1", None or pandas' NA; NaN is refused, as in ``labels``.
    """
    nobody = np.full(len(points), UNKNOWN)
    if y is None:
        return np.zeros(0, np.int64), nobody
    given = column_or_1d(_as_array(y), warn=True)
    if given.dtype.kind == "f":
        assert_all_finite(given[~np.isnan(given)], input_name="y")
    if len(given) != len(points):
        raise InputError(f"expected {len(points)} labels, one for each example, got {len(given)}", hint="-1 for none")
    if given_labels._without_label(given).all():
        return np.zeros(0, np.int64), nobody
    known, has = given_labels.labels_to_score(given, len(points))
    classes, codes = np.unique(known, return_inverse=True)
    nobody[has] = codes
    return classes, nobody


def missing_labels(y: Any) -> Any:
    """Which of several labels are none, NaN included."""
    given = np.asarray(y)
    absent = [isinstance(label, float) and math.isnan(label) for label in given.tolist()]
    return given_labels._without_label(given) | np.array(absent, bool)


def _as_array(y: Any) -> Any:
    """Labels as an array; a list of texts and others stays what it is, where NumPy would turn −1 and NaN into texts."""
    given = np.asarray(y)
    if given.dtype.kind == "U" and not isinstance(y, np.ndarray) and not all(isinstance(label, str) for label in y):
        mixed = np.empty(len(given), object)
        mixed[:] = list(y)
        return mixed
    return given


def accuracy(estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Share of the labelled examples whose label is predicted."""
    predicted = estimator.predict(X)
    known, has = given_labels.labels_to_score(_as_array(y), len(predicted))
    if estimator.unlabelled_ and known.dtype.kind not in "iufb":
        raise InputError(
            f"the mixture was fitted without labels and predicts components 0 to {len(estimator.classes_) - 1}, got"
            f" labels such as {str(known[0])!r} to score",
            hint="fit(X, y) to learn the labels, or score(X) for the mean log p(x)",
        )
    weight = None if sample_weight is None else np.asarray(sample_weight)[has]
    return float(accuracy_score(known, predicted[has], sample_weight=weight))


def search_of(estimator: Any, points: Doubles, codes: Any, seed: int) -> selection.Search:
    """What is to be tried, from the options and the size of the data."""
    n_classes = int(codes.max(initial=-1)) + 1
    own = estimator.components == "own" or (estimator.components == "auto" and estimator.n_components is None)
    own = own and n_classes > 0
    automatic = "shared" if own and _told_by_labels(points, codes) else "full"
    covariance = automatic if estimator.covariance == "auto" else estimator.covariance
    settings = Options(
        covariance, n_classes, estimator.assignment == "hard", estimator.condition_limit,
        estimator.shrinkage, own, estimator.max_iter, estimator.tol,
    )  # fmt: skip
    sizes = _sizes(estimator, len(points), n_classes, own)
    guided = estimator.start == "auto" and n_classes > 0 and not own  # wide components find their class by its labels
    start = "overall" if guided else estimator.start
    return selection.Search(settings, sizes, estimator.n_init, estimator.split, seed, estimator.from_all, start=start)


def _told_by_labels(points: Doubles, codes: Any) -> bool:
    return bool((codes >= 0).sum() >= LABELS_EACH * points.shape[1])


def _sizes(estimator: Any, n_examples: int, n_classes: int, own: bool) -> tuple[int, ...]:
    number = estimator.n_components
    if number is None or number == "cv":
        most = max(1, n_examples // selection.EXAMPLES_EACH)
        return tuple(range(1, min(estimator.max_components, most) + 1))
    if number > n_examples:
        raise InputError(
            f"n_components={number} needs at least as many examples; {n_examples} came",
            hint="fewer components, or None to have the number chosen",
        )
    if not own:
        return (int(number),)
    if number % n_classes:
        raise UsageError(
            f"components='own' needs a multiple of {n_classes} components, as many for each class; got {number}",
            hint=f"n_components={n_classes}, or None to have the number chosen for each class",
        )
    return (int(number) // n_classes,)


class Chosen(NamedTuple):
    """What cross-validation settled, if it was asked for; and a fit, if Ctrl-C ended it."""

    search: selection.Search
    weight: float
    table: dict[tuple[float, int], float] | None = None
    stopped: Fits | None = None


def cross_validated(estimator: Any, sample: Sample, search: selection.Search, threads: Threads) -> Chosen:
    """The search and the weight of unlabelled examples, after cross-validation where it was asked for."""
    by_weight = estimator.unlabelled_weight == "cv" and bool((sample.classes >= 0).any() and (sample.classes < 0).any())
    given = estimator.unlabelled_weight
    if given in ("auto", "cv"):
        told = search.options.own_components and _told_by_labels(sample.points[0], sample.classes[0])
        given = TOLD_BY_LABELS if told else 1.0
    by_size = estimator.n_components == "cv" and len(search.sizes) > 1
    if (not by_weight and not by_size) or sample.points.shape[1] < 2:
        return Chosen(search, float(given))
    tried = WEIGHTS if by_weight else (float(given),)
    once = replace(search, n_init=1)
    found = selection.cross_validated(sample, tried, once, threads, whole=not by_size)  # else K anew for each weight
    if not found.surprise:
        return Chosen(search, float(given), {}, found.stopped)
    weight, size = found.best
    return Chosen(replace(search, sizes=(size,)) if by_size else search, weight, found.surprise, found.stopped)


def rules(estimator: Any) -> em.Rules:
    """For the progress bar."""
    return em.Rules(estimator.max_iter, estimator.tol)


@contextmanager
def reading(estimator: Any) -> Iterator[Threads]:
    """Threads of the estimator, with the linear algebra library held to one."""
    with Threads(estimator.n_threads) as threads, threadpool_limits(limits=1, user_api="blas"):
        yield threads


def log_joint(estimator: Any, points: Doubles, threads: Threads) -> Doubles:
    """log P(k) p(x|k), (components, examples), in the user's units."""
    frame, covariance = estimator._frame, estimator._frame.covariance_inside(estimator.component_covariance_)
    kind = estimator.covariance_
    if kind == "shared":
        covariance = covariance[0]
    elif kind == "diagonal":
        covariance = np.diagonal(covariance, axis1=-2, axis2=-1)
    prior, mean = estimator.component_prior_, frame.inside(estimator.component_mean_)
    nothing = np.zeros((len(prior), 0))
    params = Params(
        prior[None], mean[None], covariance[None], nothing[None], np.ones(1, bool), np.zeros(1), prior[None],
        np.zeros(1, np.int64), np.zeros((1, len(prior)), bool),
    )  # fmt: skip
    inside = np.clip(frame.inside(points), -FAR, FAR)
    overall = np.eye(points.shape[1])[None]
    model = selection.model_of(kind, overall, estimator.condition_limit, threads, 0)
    joint: Doubles = selection.joint_of(model, params, inside[None])[0] - frame.log_scale
    return joint


def normalised(rows: Doubles) -> Doubles:
    """Rows that sum to one."""
    total: Doubles = rows / rows.sum(axis=1, keepdims=True)
    return total


def drawn(estimator: Any, n_samples: int, rng: np.random.Generator) -> tuple[Doubles, Any]:
    """Examples of the mixture, and the component of each."""
    components = rng.choice(len(estimator.component_prior_), n_samples, p=estimator.component_prior_)
    noise = rng.standard_normal((n_samples, estimator.component_mean_.shape[1]))
    points = np.empty_like(noise)
    for component, (mean, covariance) in enumerate(
        zip(estimator.component_mean_, estimator.component_covariance_, strict=True)
    ):
        mine = components == component
        points[mine] = mean + noise[mine] @ np.linalg.cholesky(covariance).T
    return points, components
