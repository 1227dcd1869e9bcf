"""Gaussian mixture as a scikit-learn estimator: clusters, or classes from few labels and many unlabelled examples."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d, validate_data
from threadpoolctl import threadpool_limits

from topiarist.arrays import ArrayLike, Doubles, Ints, Matrix, Unchecked
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import given_labels
from topiarist.estimators.common import options
from topiarist.estimators.common.base import EMOptions
from topiarist.estimators.common.progress import show_fit
from topiarist.estimators.gaussian import vector_space
from topiarist.estimators.gaussian.vector_space import VectorSpace
from topiarist.execution.threads import Threads
from topiarist.models import em
from topiarist.models.gaussian import certainties, selection
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian.covariances import SHAPES
from topiarist.models.gaussian.fits import Fits
from topiarist.models.gaussian.mixture import Options, Params
from topiarist.models.gaussian.starts import STARTS, Sample

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # of unlabelled examples, tried by cross-validation
UNKNOWN = -1
ROUNDING = 1e-12  # a feature that varies by less, in its own size or the greatest deviation, is constant
MAX_DISTANCE = 1e100  # in deviations: beyond, squares would overflow
MIN_LABELS_PER_FEATURE = 2  # labelled examples: with fewer, unlabelled ones must tell where a class lies
WEIGHT_WITH_LABELS = 0.1  # weight of unlabelled examples where there are so many
SIZES = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 96, 128)  # components that are tried of vectors
MIN_EXAMPLES_EACH = 10  # at least, on average, of a component of vectors
PATIENCE = 2  # numbers worse than the best, one after the other, that end the search
CRITERIA = ("aic", "bic")
SPLIT = 0.5  # share of examples that means are estimated from
MAX_COMPONENTS = 10  # components that are tried of other features, in all or of a class
AMONG_VECTORS = 0.3  # weight of unlabelled examples that are vectors


@dataclass(frozen=True)
class Frame:
    """Scaling of the features during a fit: mean zero and variance one on average.

    If features have very different scales, each is brought to variance one. Otherwise the condition number would only
    measure these scales.
    """

    centre: Doubles
    scale: Doubles

    @classmethod
    def of(cls, points: Doubles, condition_limit: float) -> Frame:
        """Return the centre and scale of points; one scale for all dimensions if theirs are similar."""
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
        """Logarithm of the factor between densities inside and outside the frame."""
        return float(np.log(self.scale).sum())

    def inside(self, points: Doubles) -> Doubles:
        return (points - self.centre) / self.scale

    def outside(self, points: Doubles) -> Doubles:
        return points * self.scale + self.centre


def check_options(estimator: GGM) -> None:
    """Raise UsageError for a parameter of a mixture outside its range."""
    number = estimator.n_components
    if number is not None and number != "cv":
        options.check_integer(
            "n_components", number, 1, hint="Use None to choose by AIC, or 'cv' to choose by cross-validation."
        )
    options.check_one_of("components", estimator.components, ("auto", "shared", "own"))
    if estimator.max_components != "auto":
        options.check_integer("max_components", estimator.max_components, 1, hint="Use 10 or 'auto'.")
    if estimator.n_dimensions not in ("auto", None):
        options.check_integer(
            "n_dimensions", estimator.n_dimensions, 2, hint="Use a whole number, or None for the features themselves."
        )
    options.check_one_of("criterion", estimator.criterion, ("auto", *CRITERIA))
    if estimator.sharpness != "auto":
        options.check_number("sharpness", estimator.sharpness, 0.001, 1.0, hint="Use 1 or 'auto'.")
    options.check_one_of("covariance", estimator.covariance, ("auto", *SHAPES))
    options.check_one_of("assignment", estimator.assignment, ("soft", "hard"))
    if estimator.split not in ("auto", None):
        options.check_number(
            "split", estimator.split, 0.01, 0.99, hint="Use 0.5, or None to use all examples for both."
        )
    if estimator.unlabelled_weight not in ("auto", "cv"):
        options.check_number(
            "unlabelled_weight", estimator.unlabelled_weight, 0.0, 1.0, hint="Use 0.1, 'auto' or 'cv'."
        )
    options.check_one_of("from_all", estimator.from_all, (True, False))
    options.check_number("shrinkage", estimator.shrinkage, 0.0, hint="Use 5, or 0 for none.")
    options.check_number("condition_limit", estimator.condition_limit, 1.01, 1e12, hint="Use 1e4.")
    options.check_one_of("start", estimator.start, STARTS)
    options.check_integer("n_init", estimator.n_init, 1, hint="Use 4.")
    options.check_one_of("device", estimator.device, ("cpu",))
    options.check_common(estimator)
    if hasattr(estimator.executor, "client"):
        raise UsageError(
            "a mixture cannot be fitted on a cluster, because its features are in memory",
            hint="Use executor=None, with threads.",
        )


def encode_labels(y: Unchecked, points: Doubles) -> tuple[Any, Any]:
    """Return the classes (empty without labels) and the class number of each example, −1 without a label.

    A missing label is −1, "-1", None or pandas' NA. NaN is refused.
    """
    class_codes = np.full(len(points), UNKNOWN)
    if y is None:
        return np.zeros(0, np.int64), class_codes
    labels = column_or_1d(_as_array(y), warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels[~np.isnan(labels)], input_name="y")
    if len(labels) != len(points):
        raise InputError(
            f"expected {len(points)} labels, one for each example, got {len(labels)}",
            hint="Use -1 for an example without a label.",
        )
    if given_labels.is_label_missing(labels).all():
        return np.zeros(0, np.int64), class_codes
    known_labels, is_labelled = given_labels.select_labelled(labels, len(points))
    classes, codes = np.unique(known_labels, return_inverse=True)
    class_codes[is_labelled] = codes
    return classes, class_codes


def _as_array(y: Unchecked) -> Any:
    """Return labels as an array; mixed lists stay objects, because NumPy would turn −1 and NaN into texts."""
    labels = np.asarray(y)
    if labels.dtype.kind == "U" and not isinstance(y, np.ndarray) and not all(isinstance(label, str) for label in y):
        objects = np.empty(len(labels), object)
        objects[:] = list(y)
        return objects
    return labels


def make_search(estimator: GGM, points: Doubles, codes: Ints, seed: int) -> selection.Search:
    """Return the settings of the search for the best mixture, from the options and the size of the data."""
    n_classes = int(codes.max(initial=-1)) + 1
    has_own = estimator.components == "own" or (estimator.components == "auto" and estimator.n_components is None)
    has_own = has_own and n_classes > 0
    automatic = "shared" if uses_vector_space(estimator) or (has_own and _has_enough_labels(points, codes)) else "full"
    covariance = automatic if estimator.covariance == "auto" else estimator.covariance
    settings = Options(
        covariance, n_classes, estimator.assignment == "hard", estimator.condition_limit,
        estimator.shrinkage, has_own, estimator.max_iter, estimator.tol,
    )  # fmt: skip
    sizes = _list_sizes(estimator, len(points), n_classes, has_own)
    by_labels = estimator.start == "auto" and n_classes > 0 and not has_own  # wide components find their class
    start = "overall" if by_labels else estimator.start
    patience = PATIENCE if uses_vector_space(estimator) and n_classes == 0 else None
    split = estimator.split
    if isinstance(split, str):
        split = None if uses_vector_space(estimator) else SPLIT
    price = math.log(len(points)) / 2 if estimator.criterion_ == "bic" else 1.0
    return selection.Search(
        settings, sizes, estimator.n_init, split, seed, estimator.from_all, start=start, price=price,
        patience=patience,
    )  # fmt: skip


def uses_vector_space(estimator: GGM) -> bool:
    """Return whether the mixture is fitted in its own vector space, because there are many features."""
    return getattr(estimator, "space_", None) is not None


def _has_enough_labels(points: Doubles, codes: Ints) -> bool:
    return bool((codes >= 0).sum() >= MIN_LABELS_PER_FEATURE * points.shape[1])


def _list_sizes(estimator: GGM, n_examples: int, n_classes: int, has_own: bool) -> tuple[int, ...]:
    """Return the numbers of components to try; per class if each class has components."""
    number = estimator.n_components
    if number is None or isinstance(number, str):
        max_size = max(1, n_examples // selection.EXAMPLES_EACH)
        if uses_vector_space(estimator) and n_classes == 0:
            max_size = max(1, min(_get_max_components(estimator, SIZES[-1]), n_examples // MIN_EXAMPLES_EACH))
            return tuple(sorted({*(size for size in SIZES if size <= max_size), max_size}))
        return tuple(range(1, min(_get_max_components(estimator, MAX_COMPONENTS), max_size) + 1))
    if number > n_examples:
        raise InputError(
            f"n_components={number} needs at least as many examples, got {n_examples}",
            hint="Use fewer components, or None to have the number chosen.",
        )
    if not has_own:
        return (int(number),)
    if number % n_classes:
        raise UsageError(
            f"components='own' needs a multiple of {n_classes} components, as many for each class; got {number}",
            hint=f"Use n_components={n_classes}, or None to have the number chosen for each class.",
        )
    return (int(number) // n_classes,)


def _get_max_components(estimator: GGM, default: int) -> int:
    return default if isinstance(estimator.max_components, str) else int(estimator.max_components)


class CrossValidationResult(NamedTuple):
    """Search and weight chosen by cross-validation, and the fit to keep after Ctrl-C."""

    search: selection.Search
    weight: float
    table: dict[tuple[float, int], float] | None = None
    stopped: Fits | None = None


def cross_validate(estimator: GGM, sample: Sample, search: selection.Search, threads: Threads) -> CrossValidationResult:
    """Return the search and the weight of unlabelled examples, after cross-validation if an option asks for it."""
    by_weight = estimator.unlabelled_weight == "cv" and bool((sample.classes >= 0).any() and (sample.classes < 0).any())
    default_weight = estimator.unlabelled_weight
    if default_weight in ("auto", "cv"):
        has_enough = search.options.own_components and _has_enough_labels(sample.points[0], sample.classes[0])
        default_weight = AMONG_VECTORS if uses_vector_space(estimator) else WEIGHT_WITH_LABELS if has_enough else 1.0
    by_size = estimator.n_components == "cv" and len(search.sizes) > 1
    if (not by_weight and not by_size) or sample.points.shape[1] < 2:
        return CrossValidationResult(search, float(default_weight))
    weights = WEIGHTS if by_weight else (float(default_weight),)
    single_search = replace(search, n_init=1)
    result = selection.cross_validate(
        sample, weights, single_search, threads, choose_size_in_fold=not by_size
    )  # else K anew for each weight
    if not result.surprise:
        return CrossValidationResult(search, float(default_weight), {}, result.stopped)
    weight, size = result.best
    return CrossValidationResult(
        replace(search, sizes=(size,)) if by_size else search, weight, result.surprise, result.stopped
    )


def choose_sharpness(
    estimator: GGM,
    sample: Sample,
    validation: CrossValidationResult,
    selected: selection.SelectedModel,
    threads: Threads,
) -> float:
    """Return the power for certainties: the given one, or one chosen by held-out labels."""
    if estimator.sharpness != "auto":
        return float(estimator.sharpness)
    fit = selected.fits[0]
    if fit.interrupted or not (sample.classes >= 0).any():
        return 1.0
    has_own = validation.search.options.own_components
    size = fit.params.n_components // validation.search.options.n_classes if has_own else fit.params.n_components
    search = replace(validation.search, sizes=(max(1, size),), n_init=1, from_all=False)
    return certainties.choose_sharpness(sample, validation.weight, search, threads)


def normalise_joint(joint: Doubles) -> Doubles:
    """Return P(k|x), (examples, components), from log P(k) p(x|k), which is overwritten."""
    joint -= joint.max(axis=0)
    rows = np.exp(joint, out=joint).T
    posterior: Doubles = rows / rows.sum(axis=1, keepdims=True)
    return posterior


@options.estimator(
    tol="Stop when a step changes the log-likelihood of an example by less than this, or no assignment.",
    random_state=options.describe_seed("starts, of the split and of folds"),
    device='Only "cpu".',
    X=options.POINTS,
    executor="Executor of blocks of 65,536 examples. None: this process. A Dask cluster is refused, because\n"
    "features are in memory.",
)
class GGM(ClassifierMixin, EMOptions):  # type: ignore[misc]
    """Generalizable Gaussian mixture of dense features, with or without labels.

    Without labels it finds clusters. With ``y`` it learns classes from labelled and unlabelled examples (−1) together.

    Parameters
    ----------
    n_components : int, "cv" or None, default None
        Total number of components. None: chosen by AIC. "cv": chosen by cross-validation. With labels and None, each
        class gets its own components, and their number is chosen by corrected AIC of its labelled examples.
    components : "auto", "shared" or "own", default "auto"
        "shared": classes share components and P(class | component) is learned. "own": each class has its own
        components. "auto": "own" with labels and without ``n_components``, else "shared".
    max_components : int or "auto", default "auto"
        Maximum number of components to try, for each class if classes have their own. "auto": 10. For vectors without
        labels: 128, but at least ten examples for each component on average.
    n_dimensions : int, "auto" or None, default "auto"
        Dimensions of the space in which the mixture is fitted: leading axes around the mean, with points of length one.
        None: the features themselves. "auto": the features themselves up to 64 of them. With more features (vectors of
        an encoder) 32, or 16 with fewer than 64 labels.
    criterion : "auto", "aic" or "bic", default "auto"
        Criterion for the number of components, if ``n_components`` is None and classes share components. A parameter
        costs 1 in AIC and half the logarithm of the number of examples in BIC. "auto": BIC for vectors, for which AIC
        always prefers more components, else AIC.
    covariance : "auto", "full" or "shared", default "auto"
        One matrix for each component, or one for all, which needs fewer examples. "auto": one for all for vectors, and
        if classes have their own components and two labelled examples for each feature. Else one for each component.
    assignment : "soft" or "hard", default "soft"
        Share examples among components, or assign each to its most probable component. "hard" is of the paper, not
        recommended.
    split : float, "auto" or None, default "auto"
        Share of the examples that estimate means; the others estimate covariances. None: all examples estimate both.
        "auto": 0.5, or None for vectors, whose shared covariance cannot shrink to single examples.
    from_all : bool, default True
        After a fit with a split, make a few more steps in which all examples estimate means and covariances.
    unlabelled_weight : float, "auto" or "cv", default "auto"
        Weight of an unlabelled example; a labelled one has weight 1. "auto": 0.3 for vectors; 0.1 if classes have their
        own components and two labelled examples for each feature; else 1. "cv": chosen by cross-validation.
    sharpness : float or "auto", default "auto"
        Power applied to P(class | example); predictions do not change. Mixtures are overconfident, because features are
        not independent. "auto": the power under which held-out labels are most probable, with a prior at 0.5 /
        √dimensions. 1: the posterior of the mixture.
    shrinkage : float, default 5.0
        Pseudo-examples with which the mean covariance of all components counts in each covariance.
    condition_limit : float, default 1e4
        Maximum condition number of a covariance. The overall covariance is added until it is reached.
    start : "auto", "overall" or "clusters", default "auto"
        Starting values. "overall": the covariance of all examples for each component, as in the paper. "clusters": a
        few steps of k-means. "auto": both in turn, but "overall" if classes share components, because k-means ignores
        labels and can lose a small class.
    n_init : int, default 4
        Number of random starts for each number of components. The best fit is kept.

    Attributes
    ----------
    component_prior_ : array (n_components,)
        P(component).
    component_mean_ : array (n_components, n_features or n_dimensions)
        Means.
    component_covariance_ : array (n_components, n_features or n_dimensions, the same)
        Covariances as full matrices.
    covariance_ : str
        Shape of the covariances: "full" or "shared".
    class_given_component_ : array (n_components, n_classes)
        P(class | component). Without labels each component is a class.
    classes_ : array (n_classes,)
        Labels; 0 to n_components − 1 without labels.
    component_count_ : array (n_components,)
        Effective number of training examples of each component, with unlabelled ones weighted.
    labels_ : array (n_examples,)
        Most probable component of each training example, by its features only.
    aic_ : float
        −log-likelihood + number of parameters of the fit.
    aic_curve_ : dict
        AIC by number of components that was tried. If classes choose their own numbers: sum over classes of the
        corrected AIC of their labelled examples, for numbers that every class can fit.
    cv_ : dict or None
        Mean surprise of held-out labels by (unlabelled_weight, number of components); None without cross-validation.
    criterion_ : str
        Criterion that was used: "aic" or "bic".
    space_ : VectorSpace or None
        Vector space of the mixture. Means, covariances and ``score_samples`` are in its dimensions. None: the features.
    sharpness_ : float
        Power that was used; 1 without labels.
    unlabelled_weight_, unlabelled_ : float, bool
        Weight that was used, and whether there were no labels. Then ``predict`` returns components.
    degenerate_ : bool
        Whether a component has fewer than two examples, or a covariance set by ``condition_limit``.
    n_iter_, converged_ : int, bool
        Number of steps until convergence, and whether it was reached; False after Ctrl-C.
    history_ : array
        Log-likelihood of the start and after every step, with unlabelled examples weighted. The steps of ``from_all``
        come last.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import GGM
    >>> points = np.random.default_rng(0).normal(size=(100, 3))
    >>> GGM(2, random_state=0).fit(points).predict_component(points).shape
    (100,)
    """

    n_components: int | str | None = None
    _: KW_ONLY
    components: str = "auto"
    max_components: int | str = "auto"
    n_dimensions: int | str | None = "auto"
    criterion: str = "auto"
    covariance: str = "auto"
    assignment: str = "soft"
    split: float | str | None = "auto"
    from_all: bool = True
    unlabelled_weight: float | str = "auto"
    sharpness: float | str = "auto"
    shrinkage: float = 5.0
    condition_limit: float = 1e4
    start: str = "auto"
    n_init: int = 4
    tol: float = 1e-5

    def fit(self, X: Matrix, y: ArrayLike | None = None) -> GGM:
        """Fit a mixture to dense features.

        Parameters
        ----------
        y : array (n_examples,) or None
            Label of each example, −1 for an unlabelled one. None: no labels.

        Raises
        ------
        UsageError
            If an option is invalid.
        InputError
            If the features are not finite or the labels do not fit them.
        """
        check_options(self)
        points = self._check_points(X, reset=True)
        self.classes_, codes = encode_labels(y, points)
        rng = options.make_generator(self.random_state)
        n_dims = vector_space.choose_dimensions(
            self.n_dimensions, points.shape[1], int((codes >= 0).sum()), MIN_LABELS_PER_FEATURE
        )
        self.space_ = None if n_dims is None else VectorSpace.of(points, n_dims)
        self.criterion_ = ("bic" if uses_vector_space(self) else "aic") if self.criterion == "auto" else self.criterion
        points = points if self.space_ is None else self.space_(points)
        frame = Frame.of(points, self.condition_limit)
        with Threads(self.n_threads) as threads, threadpool_limits(limits=1, user_api="blas"):
            self._store_result(self._search(frame.inside(points), codes, rng, threads), frame, codes)
        self.labels_ = normalise_joint(self._compute_log_joint(points)).argmax(axis=1)
        return self

    def _search(
        self, points: Doubles, codes: Ints, rng: np.random.Generator, threads: Threads
    ) -> selection.SelectedModel:
        """Fit mixtures of several sizes; return the best, and set what cross-validation chose."""
        search = make_search(self, points, codes, int(rng.integers(2**31)))
        self.covariance_ = search.options.covariance
        first = fitting.draw_halves(codes, search.split or SPLIT, rng)
        sample = Sample(points[None], codes[None], first[None])
        validation = cross_validate(self, sample, search, threads)
        self.unlabelled_weight_, self.cv_, self.sharpness_ = validation.weight, validation.table, 1.0
        if validation.stopped is not None:
            return selection.SelectedModel(
                (validation.stopped,), {validation.stopped.params.n_components: validation.stopped.aic}
            )
        with show_fit("GGM", em.Rules(self.max_iter, self.tol), show=bool(self.verbose)) as watch:
            selected = selection.search_mixtures(
                sample, validation.weight, validation.search, threads, watch=watch, executor=self.executor
            )
        self.sharpness_ = choose_sharpness(self, sample, validation, selected, threads)
        return selected

    def _store_result(self, selected: selection.SelectedModel, frame: Frame, codes: Ints) -> None:
        """Set the fitted attributes, in the units of the input."""
        fit, params = selected.fits[0], selected.fits[0].params
        self.component_prior_ = params.component_prior[0]
        self.component_mean_ = frame.outside(params.component_mean[0])
        matrices = fit.model.shape.matrices(params.component_covariance, params.n_components)[0]
        self.component_covariance_ = matrices * frame.scale[:, None] * frame.scale
        self.unlabelled_ = not (codes >= 0).any()
        self.class_given_component_ = params.class_given_component[0]
        if self.unlabelled_:
            self.classes_, self.class_given_component_ = np.arange(params.n_components), np.eye(params.n_components)
        self.component_count_ = params.count[0]
        jacobian = float(fitting.compute_weights(codes[None], self.unlabelled_weight_).sum() * frame.log_scale)
        self.aic_ = float(fit.aic[0]) + jacobian
        inner = float((codes >= 0).sum() * frame.log_scale) if selected.by_class else jacobian
        self.aic_curve_ = {size: float(values[0]) + inner for size, values in selected.criteria.items()}
        self.degenerate_ = bool(fit.degenerate[0])
        self.history_ = np.array(fit.histories[0]) - jacobian
        self.n_iter_, self.converged_ = int(fit.n_iter[0]), bool(params.settled[0]) and not fit.interrupted
        self._frame = frame

    def predict_component(self, X: Matrix) -> Any:
        """Return the most probable component of each example, (n_examples,)."""
        return self.component_given_example(X).argmax(axis=1)

    def component_given_example(self, X: Matrix) -> Doubles:
        """Return P(component | example), (n_examples, n_components)."""
        return normalise_joint(self._compute_log_joint(self._check_points(X)))

    def predict_proba(self, X: Matrix) -> Doubles:
        """Return P(class | example).

        Returns
        -------
        array (n_examples, n_classes)
            Posteriors. Without labels each component is a class.
        """
        points = self._check_points(X)
        joint = self._compute_log_joint(points)
        if self.unlabelled_:
            return normalise_joint(joint)
        by_class = certainties.class_logarithms(joint, self.class_given_component_)
        return certainties.class_shares(by_class, getattr(self, "sharpness_", 1.0))

    def predict(self, X: Matrix) -> Any:
        """Return the most probable class of each example.

        Returns
        -------
        array (n_examples,)
            Classes, or components without labels.
        """
        check_is_fitted(self)
        if self.unlabelled_:
            return self.predict_component(X)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score_samples(self, X: Matrix) -> Doubles:
        """Return log p(x) of each example."""
        joint = self._compute_log_joint(self._check_points(X))
        largest = joint.max(axis=0)
        return np.asarray(largest + np.log(np.exp(joint - largest).sum(axis=0)))

    def score(self, X: Matrix, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on labelled examples, or the mean log p(x).

        Parameters
        ----------
        y : array (n_examples,) or None
            Labels, −1 for an example that is ignored. None: return the mean log p(x).

        Returns
        -------
        float
            Accuracy or mean log-density.
        """
        if y is None:
            return float(self.score_samples(X).mean())
        predicted, y = self.predict(X), _as_array(y)
        labels = given_labels.select_labelled(y, len(predicted))[0]
        if self.unlabelled_ and labels.dtype.kind not in "iufb":
            raise InputError(
                f"the mixture was fitted without labels and predicts components 0 to {len(self.classes_) - 1}, got"
                f" labels such as {str(labels[0])!r} to score",
                hint="Fit with fit(X, y) to learn the labels, or call score(X) for the mean log p(x).",
            )
        return given_labels.compute_accuracy(y, predicted, sample_weight)

    def _check_points(self, X: Matrix, *, reset: bool = False) -> Doubles:
        """Return the features as a finite float64 matrix, in the vector space of a fitted mixture that has one."""
        if not reset:
            check_is_fitted(self)
        points: Any = validate_data(self, X, reset=reset, skip_check_array=False, dtype=np.float64, order="C")
        largest = float(np.abs(points).max(initial=0.0))
        if largest > 1e100:
            raise InputError(f"expected features below 1e100, got {largest:g}", hint="Divide them by a constant.")
        space = None if reset else getattr(self, "space_", None)
        return np.asarray(points) if space is None else space(points)

    def _compute_log_joint(self, points: Doubles) -> Doubles:
        """Return log P(k) p(x|k), (components, examples), in the scale of the features."""
        frame = self._frame
        covariance = self.component_covariance_ / frame.scale[:, None] / frame.scale
        if self.covariance_ == "shared":
            covariance = covariance[0]
        prior, mean = self.component_prior_, frame.inside(self.component_mean_)
        params = Params(
            prior[None], mean[None], covariance[None], np.zeros((1, len(prior), 0)), np.ones(1, bool), np.zeros(1),
            prior[None], np.zeros(1, np.int64), np.zeros((1, len(prior)), bool),
        )  # fmt: skip
        inside = np.clip(frame.inside(points), -MAX_DISTANCE, MAX_DISTANCE)
        with Threads(self.n_threads) as threads, threadpool_limits(limits=1, user_api="blas"):
            model = selection.make_model(
                self.covariance_, np.eye(points.shape[1])[None], self.condition_limit, threads, 0
            )
            joint: Doubles = selection.compute_joint(model, params, inside[None])[0] - frame.log_scale
        return joint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.classifier_tags.poor_score = True  # on data without structure K by AIC need not follow the labels
        return tags
