"""Gaussian mixtures as a scikit-learn estimator: clusters, or classes from few labels and many unlabelled examples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d, validate_data
from threadpoolctl import threadpool_limits

from topiarist.arrays import ArrayLike, Doubles, Ints, Matrix, Seed, Unchecked
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import given_labels
from topiarist.estimators.common import options
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.progress import fitting as progress
from topiarist.estimators.gaussian import vector_space
from topiarist.estimators.gaussian.vector_space import VectorSpace
from topiarist.models import em
from topiarist.models.gaussian import certainties, selection
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian.covariances import SHAPES
from topiarist.models.gaussian.fits import Fits
from topiarist.models.gaussian.mixture import Options, Params
from topiarist.models.gaussian.starts import STARTS, Sample
from topiarist.scale.executors import Executor
from topiarist.scale.threads import Threads

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # of unlabelled examples, tried by cross-validation
UNKNOWN = -1
ROUNDING = 1e-12  # a feature that varies by less, in its own size or the greatest deviation, is constant
FAR = 1e100  # in deviations: beyond, squares would overflow
LABELS_EACH = 2  # labelled examples for each feature: with fewer, unlabelled ones must tell where a class lies
TOLD_BY_LABELS = 0.1  # weight of unlabelled examples where there are so many
SIZES = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 96, 128)  # components that are tried of vectors
EXAMPLES_EACH = 10  # at least, on average, of a component of vectors
PATIENCE = 2  # numbers worse than the best, one after the other, that end the search
CRITERIA = ("aic", "bic")
SPLIT = 0.5  # share of examples that means are estimated from
MOST = 10  # components that are tried of other features, in all or of a class
AMONG_VECTORS = 0.3  # weight of unlabelled examples that are vectors


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


def check_options(estimator: GGM) -> None:
    """Raise for an option that is not what it should be."""
    number = estimator.n_components
    if number is not None and number != "cv":
        options.check_integer("n_components", number, 1, hint="None chooses by AIC, 'cv' by cross-validation")
    options.check_one_of("components", estimator.components, ("auto", "shared", "own"))
    if estimator.max_components != "auto":
        options.check_integer("max_components", estimator.max_components, 1, hint="10, or 'auto'")
    if estimator.n_dimensions not in ("auto", None):
        options.check_integer("n_dimensions", estimator.n_dimensions, 2, hint="32; None for features as they are")
    options.check_one_of("criterion", estimator.criterion, ("auto", *CRITERIA))
    if estimator.sharpness != "auto":
        options.check_number("sharpness", estimator.sharpness, 0.001, 1.0, hint="1, or 'auto'")
    options.check_one_of("covariance", estimator.covariance, ("auto", *SHAPES))
    options.check_one_of("assignment", estimator.assignment, ("soft", "hard"))
    if estimator.split not in ("auto", None):
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


def checked_points(estimator: GGM, X: Matrix, *, reset: bool) -> Doubles:
    """The features as a finite matrix of float64; in the space of a mixture that has one, once it is fitted."""
    checked: Any = validate_data(estimator, X, reset=reset, skip_check_array=False, dtype=np.float64, order="C")
    largest = float(np.abs(checked).max(initial=0.0))
    if largest > 1e100:
        raise InputError(f"expected features below 1e100, got {largest:g}", hint="divide them by a constant")
    space = None if reset else getattr(estimator, "space_", None)
    return np.asarray(checked) if space is None else space(np.asarray(checked))


def encoded(y: Unchecked, points: Doubles) -> tuple[Any, Any]:
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


def missing_labels(y: Unchecked) -> Any:
    """Which of several labels are none, NaN included."""
    given = np.asarray(y)
    absent = [isinstance(label, float) and math.isnan(label) for label in given.tolist()]
    return given_labels._without_label(given) | np.array(absent, bool)


def _as_array(y: Unchecked) -> Any:
    """Labels as an array; a list of texts and others stays what it is, where NumPy would turn −1 and NaN into texts."""
    given = np.asarray(y)
    if given.dtype.kind == "U" and not isinstance(y, np.ndarray) and not all(isinstance(label, str) for label in y):
        mixed = np.empty(len(given), object)
        mixed[:] = list(y)
        return mixed
    return given


def accuracy(estimator: GGM, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None) -> float:
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


def search_of(estimator: GGM, points: Doubles, codes: Ints, seed: int) -> selection.Search:
    """What is to be tried, from the options and the size of the data."""
    n_classes = int(codes.max(initial=-1)) + 1
    own = estimator.components == "own" or (estimator.components == "auto" and estimator.n_components is None)
    own = own and n_classes > 0
    automatic = "shared" if of_vectors(estimator) or (own and _told_by_labels(points, codes)) else "full"
    covariance = automatic if estimator.covariance == "auto" else estimator.covariance
    settings = Options(
        covariance, n_classes, estimator.assignment == "hard", estimator.condition_limit,
        estimator.shrinkage, own, estimator.max_iter, estimator.tol,
    )  # fmt: skip
    sizes = _sizes(estimator, len(points), n_classes, own)
    guided = estimator.start == "auto" and n_classes > 0 and not own  # wide components find their class by its labels
    start = "overall" if guided else estimator.start
    patience = PATIENCE if of_vectors(estimator) and n_classes == 0 else None
    price = math.log(len(points)) / 2 if estimator.criterion_ == "bic" else 1.0
    return selection.Search(
        settings, sizes, estimator.n_init, split_of(estimator), seed, estimator.from_all, start=start, price=price,
        patience=patience,
    )  # fmt: skip


def split_of(estimator: GGM) -> float | None:
    """Share of the examples that means are estimated from; None where both come from all."""
    if isinstance(estimator.split, str):
        return None if of_vectors(estimator) else SPLIT
    return estimator.split


def of_vectors(estimator: GGM) -> bool:
    """Whether the features were so many that they are fitted in a space of their own."""
    return getattr(estimator, "space_", None) is not None


def _told_by_labels(points: Doubles, codes: Ints) -> bool:
    return bool((codes >= 0).sum() >= LABELS_EACH * points.shape[1])


def _sizes(estimator: GGM, n_examples: int, n_classes: int, own: bool) -> tuple[int, ...]:
    number = estimator.n_components
    if number is None or isinstance(number, str):
        most = max(1, n_examples // selection.EXAMPLES_EACH)
        if of_vectors(estimator) and n_classes == 0:
            most = max(1, min(_most(estimator, SIZES[-1]), n_examples // EXAMPLES_EACH))
            return tuple(sorted({*(size for size in SIZES if size <= most), most}))
        return tuple(range(1, min(_most(estimator, MOST), most) + 1))
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


def _most(estimator: GGM, usual: int) -> int:
    return usual if isinstance(estimator.max_components, str) else int(estimator.max_components)


class Chosen(NamedTuple):
    """What cross-validation settled, if it was asked for; and a fit, if Ctrl-C ended it."""

    search: selection.Search
    weight: float
    table: dict[tuple[float, int], float] | None = None
    stopped: Fits | None = None


def cross_validated(estimator: GGM, sample: Sample, search: selection.Search, threads: Threads) -> Chosen:
    """The search and the weight of unlabelled examples, after cross-validation where it was asked for."""
    by_weight = estimator.unlabelled_weight == "cv" and bool((sample.classes >= 0).any() and (sample.classes < 0).any())
    given = estimator.unlabelled_weight
    if given in ("auto", "cv"):
        told = search.options.own_components and _told_by_labels(sample.points[0], sample.classes[0])
        given = AMONG_VECTORS if of_vectors(estimator) else TOLD_BY_LABELS if told else 1.0
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


def sharpened(estimator: GGM, sample: Sample, chosen: Chosen, found: selection.Found, threads: Threads) -> float:
    """The power that certainties are taken to: as given, or by held-out labels."""
    if estimator.sharpness != "auto":
        return float(estimator.sharpness)
    fit = found.fits[0]
    if fit.interrupted or not (sample.classes >= 0).any():
        return 1.0
    own = chosen.search.options.own_components
    size = fit.params.n_components // chosen.search.options.n_classes if own else fit.params.n_components
    alike = replace(chosen.search, sizes=(max(1, size),), n_init=1, from_all=False)
    return certainties.sharpness(sample, chosen.weight, alike, threads)


def rules(estimator: GGM) -> em.Rules:
    """For the progress bar."""
    return em.Rules(estimator.max_iter, estimator.tol)


@contextmanager
def reading(estimator: GGM) -> Iterator[Threads]:
    """Threads of the estimator, with the linear algebra library held to one."""
    with Threads(estimator.n_threads) as threads, threadpool_limits(limits=1, user_api="blas"):
        yield threads


def log_joint(estimator: GGM, points: Doubles, threads: Threads) -> Doubles:
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


def drawn(estimator: GGM, n_samples: int, rng: np.random.Generator) -> tuple[Doubles, Any]:
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


@options.common_options(
    tol="Stop when a step changes the log-likelihood by less than this for an example, or no assignment at all.",
    random_state=options.seed_of("starts, of the split and of folds"),
    device='The processor: "cpu".',
    executor="Where blocks of 65,536 examples are computed; None is this process. Features are in memory, so a Dask\n"
    "cluster is refused.",
)
class GGM(ClassifierMixin, ShownEstimator):  # type: ignore[misc]
    """Generalizable Gaussian mixture: dense features in, components with means, covariances and classes out.

    Without labels it finds clusters. With ``y`` it learns classes from labelled and unlabelled examples (−1) together.

    Parameters
    ----------
    n_components : int, "cv" or None, default None
        Components in all. None: by AIC. "cv": by cross-validation. With labels and None every class has components of
        its own, as many as the AIC of its labelled examples (corrected for their small number) asks for.
    components : "auto", "shared" or "own", default "auto"
        Whether classes share components (P(class | component) is learned) or each has its own. "auto": their own where
        labels are given and ``n_components`` is None, else shared.
    max_components : int or "auto", default "auto"
        At most so many components are tried; of each class, where they are its own. "auto": 10; of vectors without
        labels 128, and ten examples for each on average.
    n_dimensions : int, "auto" or None, default "auto"
        Dimensions of the space that the mixture is fitted in: the leading axes of the features around their mean, and
        directions alone. "auto": 32 where there are more than 64 features (vectors of an encoder), 16 where there are
        fewer than 64 labels beside them; features as they are where there are no more. None: as they are.
    criterion : "auto", "aic" or "bic", default "auto"
        What chooses the number of components where ``n_components`` is None and classes have none of their own. AIC
        charges one for a parameter, BIC half the logarithm of the number of examples. "auto": BIC for vectors, in
        which AIC finds ever more components; else AIC.
    covariance : "auto", "full", "shared" or "diagonal", default "auto"
        A matrix for each component, one for all, or variances only. The latter two are for few examples. "auto": one
        for all where classes have components of their own and at least two labelled examples for each feature; else a
        matrix for each. Of vectors always one for all.
    assignment : "soft" or "hard", default "soft"
        Examples are shared among components, or belong to the most probable one.
    split : float, "auto" or None, default "auto"
        Share of the examples that means are estimated from; covariances come from the others. None: both from all.
        "auto": a half; None for vectors, which share one covariance that cannot shrink onto examples.
    from_all : bool, default True
        After a fit with a split has settled, take a few steps more with all examples for means and for covariances.
        False leaves the fit as the split has it.
    unlabelled_weight : float, "auto" or "cv", default "auto"
        What an unlabelled example counts in comparison with a labelled one. "auto": 0.1 where classes have components
        of their own and at least two labelled examples for each feature; else 1; 0.3 for vectors. "cv": by
        cross-validation.
    sharpness : float or "auto", default "auto"
        P(class | example) is taken to this power: below 1, certainties are more modest, and predictions the same.
        Features are not independent and classes not Gaussian, so with few labels the mixture is far too sure of itself.
        "auto": what makes held-out labels most probable, drawn to half of one by the square root of the number of
        dimensions. 1: as the mixture has it.
    shrinkage : float, default 5.0
        Each covariance is drawn to the mean of all components, which counts as so many examples.
    condition_limit : float, default 1e4
        Greatest condition number of a covariance; the overall covariance is added until it is reached.
    start : "auto", "overall" or "clusters", default "auto"
        Where a fit begins: "overall" with the covariance of all examples for each component, as the paper does;
        "clusters" with a few steps of k-means and the covariances within its clusters, which tells clusters apart that
        lie close together in groups; "auto" takes turns, but is "overall" where classes share components: clusters do
        not look at labels, and a small class may be lost among them.
    n_init : int, default 4
        Starts for each number of components, where the start is drawn. The best after all steps is kept.

    Attributes
    ----------
    component_prior_ : array (n_components,)
        P(component).
    component_mean_ : array (n_components, n_features or n_dimensions)
        Means.
    component_covariance_ : array (n_components, n_features or n_dimensions, the same)
        Covariances, as matrices in every case.
    covariance_ : str
        Their shape: "full", "shared" or "diagonal".
    class_given_component_ : array (n_components, n_classes)
        P(class | component). Where nothing was labelled, each component is a class.
    classes_ : array (n_classes,)
        The labels; 0 to n_components − 1 where nothing was labelled.
    component_count_ : array (n_components,)
        Effective number of training examples of each component, unlabelled ones weighted.
    labels_ : array (n_examples,)
        The most probable component of each training example, labels not looked at.
    aic_ : float
        −log-likelihood + number of parameters of the fit: the latter less ``history_[-1]``.
    aic_curve_ : dict
        The same by number of components, for those that were tried; ``aic_`` is the entry of the number taken. Where
        classes chose their own numbers: the sum over classes of the AIC of their labelled examples by themselves,
        corrected for few examples, for the numbers that every class has examples enough for; perhaps none.
    cv_ : dict or None
        Mean surprise of held-out labels by (unlabelled_weight, number of components), where that was asked for.
    criterion_ : str
        What chose, or would have chosen, the number of components: "aic" or "bic".
    space_ : VectorSpace or None
        The space of the mixture, where features are not taken as they are: means and covariances, ``score_samples`` and
        ``sample`` are in its dimensions.
    sharpness_ : float
        The power that P(class | example) is taken to; 1 where nothing was labelled.
    unlabelled_weight_, unlabelled_ : float, bool
        The weight used, and whether nothing was labelled: then ``predict`` tells components.
    degenerate_ : bool
        Whether some component has fewer than two examples, or a shape that the condition limit gave it: at its floor,
        or from fewer examples than features.
    n_iter_, converged_ : int, bool
        Steps until the fit settled, and whether it did; False after Ctrl-C.
    history_ : array
        The log-likelihood, unlabelled examples weighted, of the start, after each of these steps, and after each of the
        steps with all examples (``from_all``). The last is that of the fit.
    """

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        components: str = "auto",
        max_components: int | str = "auto",
        n_dimensions: int | str | None = "auto",
        criterion: str = "auto",
        covariance: str = "auto",
        assignment: str = "soft",
        split: float | str | None = "auto",
        from_all: bool = True,
        unlabelled_weight: float | str = "auto",
        sharpness: float | str = "auto",
        shrinkage: float = 5.0,
        condition_limit: float = 1e4,
        start: str = "auto",
        n_init: int = 4,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.components = components
        self.max_components = max_components
        self.n_dimensions = n_dimensions
        self.criterion = criterion
        self.covariance = covariance
        self.assignment = assignment
        self.split = split
        self.from_all = from_all
        self.unlabelled_weight = unlabelled_weight
        self.sharpness = sharpness
        self.shrinkage = shrinkage
        self.condition_limit = condition_limit
        self.start = start
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(self, X: Matrix, y: ArrayLike | None = None) -> GGM:
        """Fit a mixture to dense features (examples × features); ``y`` has −1 for an example without a label."""
        check_options(self)
        points = checked_points(self, X, reset=True)
        self.classes_, codes = encoded(y, points)
        rng = options.generator(self.random_state)
        n_dims = vector_space.dimensions(self.n_dimensions, points.shape[1], int((codes >= 0).sum()), LABELS_EACH)
        self.space_ = None if n_dims is None else VectorSpace.of(points, n_dims)
        self.criterion_ = ("bic" if of_vectors(self) else "aic") if self.criterion == "auto" else self.criterion
        points = points if self.space_ is None else self.space_(points)
        frame = Frame.of(points, self.condition_limit)
        with Threads(self.n_threads) as threads, threadpool_limits(limits=1, user_api="blas"):
            self._keep(self._searched(frame.inside(points), codes, rng, threads), frame, codes)
            self.labels_ = self._posterior(points, threads).argmax(axis=1)
        return self

    def _searched(self, points: Doubles, codes: Ints, rng: np.random.Generator, threads: Threads) -> selection.Found:
        search = search_of(self, points, codes, int(rng.integers(2**31)))
        self.covariance_ = search.options.covariance
        first = fitting.drawn_halves(codes, search.split or SPLIT, rng)
        sample = Sample(points[None], codes[None], first[None])
        chosen = cross_validated(self, sample, search, threads)
        self.unlabelled_weight_, self.cv_, self.sharpness_ = chosen.weight, chosen.table, 1.0
        if chosen.stopped is not None:
            return selection.Found((chosen.stopped,), {chosen.stopped.params.n_components: chosen.stopped.aic})
        with progress("GGM", rules(self), show=bool(self.verbose)) as watch:
            found = selection.searched(
                sample, chosen.weight, chosen.search, threads, watch=watch, executor=self.executor
            )
        self.sharpness_ = sharpened(self, sample, chosen, found, threads)
        return found

    def _keep(self, found: selection.Found, frame: Frame, codes: Ints) -> None:
        fit, params = found.fits[0], found.fits[0].params
        self.component_prior_ = params.component_prior[0]
        self.component_mean_ = frame.outside(params.component_mean[0])
        matrices = fit.model.shape.matrices(params.component_covariance, params.n_components)[0]
        self.component_covariance_ = frame.covariance_outside(matrices)
        self.unlabelled_ = not (codes >= 0).any()
        self.class_given_component_ = params.class_given_component[0]
        if self.unlabelled_:
            self.classes_, self.class_given_component_ = np.arange(params.n_components), np.eye(params.n_components)
        self.component_count_ = params.count[0]
        jacobian = float(fitting.weights(codes[None], self.unlabelled_weight_).sum() * frame.log_scale)
        self.aic_ = float(fit.aic[0]) + jacobian
        inner = float((codes >= 0).sum() * frame.log_scale) if found.by_class else jacobian
        self.aic_curve_ = {size: float(values[0]) + inner for size, values in found.tried.items()}
        self.degenerate_ = bool(fit.degenerate[0])
        self.history_ = np.array(fit.histories[0]) - jacobian
        self.n_iter_, self.converged_ = int(fit.n_iter[0]), bool(params.settled[0]) and not fit.interrupted
        self._frame = frame

    def predict_component(self, X: Matrix) -> Any:
        """The most probable component of each example."""
        return self.component_given_example(X).argmax(axis=1)

    def component_given_example(self, X: Matrix) -> Doubles:
        """P(component | example), (n_examples, n_components)."""
        with self._reading() as threads:
            return self._posterior(checked_points(self, X, reset=False), threads)

    def predict_proba(self, X: Matrix) -> Doubles:
        """P(class | example), (n_examples, n_classes); P(component | example) where nothing was labelled."""
        check_is_fitted(self)
        if self.unlabelled_:
            return self.component_given_example(X)
        with self._reading() as threads:
            joint = self._joint(checked_points(self, X, reset=False), threads)
        by_class = certainties.class_logarithms(joint, self.class_given_component_)
        return certainties.shares(by_class, getattr(self, "sharpness_", 1.0))

    def predict(self, X: Matrix) -> Any:
        """The most probable class of each example; its component where nothing was labelled."""
        check_is_fitted(self)
        if self.unlabelled_:
            return self.predict_component(X)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score_samples(self, X: Matrix) -> Doubles:
        """log p(x) of each example."""
        with self._reading() as threads:
            joint = self._joint(checked_points(self, X, reset=False), threads)
        largest = joint.max(axis=0)
        return np.asarray(largest + np.log(np.exp(joint - largest).sum(axis=0)))

    def score(self, X: Matrix, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Mean accuracy on examples that have a label, or mean log p(x) if ``y`` is not given."""
        if y is None:
            return float(self.score_samples(X).mean())
        return accuracy(self, X, y, sample_weight)

    def sample(self, n_samples: int = 1) -> tuple[Doubles, Any]:
        """Draw examples from the mixture, with the component of each."""
        check_is_fitted(self)
        options.check_integer("n_samples", n_samples, 1, hint="100")
        rng = options.generator(self.random_state)
        return drawn(self, n_samples, rng)

    def _reading(self) -> Any:
        check_is_fitted(self)
        return reading(self)

    def _joint(self, points: Doubles, threads: Threads) -> Doubles:
        return log_joint(self, points, threads)

    def _posterior(self, points: Doubles, threads: Threads) -> Doubles:
        joint = self._joint(points, threads)
        joint -= joint.max(axis=0)
        return normalised(np.exp(joint, out=joint).T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.classifier_tags.poor_score = True  # on data without structure K by AIC need not follow the labels
        return tags
