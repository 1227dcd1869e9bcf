"""Gaussian mixtures as a scikit-learn estimator: clusters, or classes from few labels and many unlabelled examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import Doubles, Seed
from topiarist.estimators.common import options
from topiarist.estimators.common.progress import fitting as progress
from topiarist.estimators.gaussian import mixture_inputs
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian import selection
from topiarist.models.gaussian.starts import Sample
from topiarist.scale.executors import Executor
from topiarist.scale.threads import Threads


@options.common_options(
    tol="Stop when a step changes the log-likelihood by less than this for an example, or no assignment at all.",
    random_state=options.seed_of("starts, of the split and of folds"),
    device='The processor: "cpu".',
    executor="Where blocks of 65,536 examples are computed; None is this process. Features are in memory, so a Dask\n"
    "cluster is refused.",
)
class GGM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    max_components : int, default 10
        At most so many components are tried; of each class, where they are its own.
    covariance : "auto", "full", "shared" or "diagonal", default "auto"
        A matrix for each component, one for all, or variances only. The latter two are for few examples. "auto": one
        for all where classes have components of their own and at least two labelled examples for each feature; else a
        matrix for each.
    assignment : "soft" or "hard", default "soft"
        Examples are shared among components, or belong to the most probable one.
    split : float or None, default 0.5
        Share of the examples that means are estimated from; covariances come from the others. None: both from all.
    from_all : bool, default True
        After a fit with a split has settled, take a few steps more with all examples for means and for covariances.
        False leaves the fit as the split has it.
    unlabelled_weight : float, "auto" or "cv", default "auto"
        What an unlabelled example counts in comparison with a labelled one. "auto": 0.1 where classes have components
        of their own and at least two labelled examples for each feature; else 1. "cv": by cross-validation.
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
    component_mean_ : array (n_components, n_features)
        Means.
    component_covariance_ : array (n_components, n_features, n_features)
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
        max_components: int = 10,
        covariance: str = "auto",
        assignment: str = "soft",
        split: float | None = 0.5,
        from_all: bool = True,
        unlabelled_weight: float | str = "auto",
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
        self.covariance = covariance
        self.assignment = assignment
        self.split = split
        self.from_all = from_all
        self.unlabelled_weight = unlabelled_weight
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

    def fit(self, X: Any, y: Any = None) -> GGM:
        """Fit a mixture to dense features (examples × features); ``y`` has −1 for an example without a label."""
        mixture_inputs.check_options(self)
        points = mixture_inputs.checked_points(self, X, reset=True)
        self.classes_, codes = mixture_inputs.encoded(y, points)
        rng = options.generator(self.random_state)
        frame = mixture_inputs.Frame.of(points, self.condition_limit)
        with Threads(self.n_threads) as threads, threadpool_limits(limits=1, user_api="blas"):
            self._keep(self._searched(frame.inside(points), codes, rng, threads), frame, codes)
            self.labels_ = self._posterior(points, threads).argmax(axis=1)
        return self

    def _searched(self, points: Doubles, codes: Any, rng: Any, threads: Threads) -> selection.Found:
        search = mixture_inputs.search_of(self, points, codes, int(rng.integers(2**31)))
        self.covariance_ = search.options.covariance
        first = fitting.drawn_halves(codes, self.split or 0.5, rng)
        sample = Sample(points[None], codes[None], first[None])
        chosen = mixture_inputs.cross_validated(self, sample, search, threads)
        self.unlabelled_weight_, self.cv_ = chosen.weight, chosen.table
        if chosen.stopped is not None:
            return selection.Found((chosen.stopped,), {chosen.stopped.params.n_components: chosen.stopped.aic})
        with progress("GGM", mixture_inputs.rules(self), show=bool(self.verbose)) as watch:
            return selection.searched(
                sample, chosen.weight, chosen.search, threads, watch=watch, executor=self.executor
            )

    def _keep(self, found: selection.Found, frame: mixture_inputs.Frame, codes: Any) -> None:
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

    def predict_component(self, X: Any) -> Any:
        """The most probable component of each example."""
        return self.component_given_example(X).argmax(axis=1)

    def component_given_example(self, X: Any) -> Doubles:
        """P(component | example), (n_examples, n_components)."""
        with self._reading() as threads:
            return self._posterior(mixture_inputs.checked_points(self, X, reset=False), threads)

    def predict_proba(self, X: Any) -> Doubles:
        """P(class | example), (n_examples, n_classes); P(component | example) where nothing was labelled."""
        check_is_fitted(self)
        if self.unlabelled_:
            return self.component_given_example(X)
        return mixture_inputs.normalised(self.component_given_example(X) @ self.class_given_component_)

    def predict(self, X: Any) -> Any:
        """The most probable class of each example; its component where nothing was labelled."""
        check_is_fitted(self)
        if self.unlabelled_:
            return self.predict_component(X)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score_samples(self, X: Any) -> Doubles:
        """log p(x) of each example."""
        with self._reading() as threads:
            joint = self._joint(mixture_inputs.checked_points(self, X, reset=False), threads)
        largest = joint.max(axis=0)
        return np.asarray(largest + np.log(np.exp(joint - largest).sum(axis=0)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean accuracy on examples that have a label, or mean log p(x) if ``y`` is not given."""
        if y is None:
            return float(self.score_samples(X).mean())
        return mixture_inputs.accuracy(self, X, y, sample_weight)

    def sample(self, n_samples: int = 1) -> tuple[Doubles, Any]:
        """Draw examples from the mixture, with the component of each."""
        check_is_fitted(self)
        options.check_integer("n_samples", n_samples, 1, hint="100")
        rng = options.generator(self.random_state)
        return mixture_inputs.drawn(self, n_samples, rng)

    def _reading(self) -> Any:
        check_is_fitted(self)
        return mixture_inputs.reading(self)

    def _joint(self, points: Doubles, threads: Threads) -> Doubles:
        return mixture_inputs.log_joint(self, points, threads)

    def _posterior(self, points: Doubles, threads: Threads) -> Doubles:
        joint = self._joint(points, threads)
        joint -= joint.max(axis=0)
        return mixture_inputs.normalised(np.exp(joint, out=joint).T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.classifier_tags.poor_score = True  # on data without structure K by AIC need not follow the labels
        return tags
