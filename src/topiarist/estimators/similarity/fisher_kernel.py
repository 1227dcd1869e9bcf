"""Fisher kernels as a scikit-learn transformer: how alike documents are, by meaning as well as by words."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from topiarist.arrays import ArrayLike, Csr, Floats, Seed
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.flat.plsa import PLSA
from topiarist.estimators.similarity.lenses import WANTED, can_be_fitted, has_levels, is_fitted, kernel_sets, lens_of
from topiarist.models.engine import load_search_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.fisher import matrix, scores
from topiarist.models.fisher.scores import Lens
from topiarist.scale.executors import Executor

MOST_NAMES = 1_000_000


def n_features(lenses: Sequence[Lens], parts: Sequence[str]) -> int:
    """How many features there are."""
    width = 0
    for lens in lenses:
        sizes = {"topical": lens.n_classes, "lexical": lens.by_word.size, "levels": len(_levels(lens))}
        width += sum(size for part, size in sizes.items() if part in parts)
    return width + ("plain" in parts) * len(lenses[0].by_word)


def feature_names(
    models: Sequence[BaseEstimator], lenses: Sequence[Lens], parts: Sequence[str], words: Sequence[str]
) -> Any:
    """Names such as ``1.plsa64.lexical.bank.3``: the second model, the word *bank* in the sense of its topic 3."""
    number = n_features(lenses, parts)
    if number > MOST_NAMES:
        raise UsageError(
            f"{number:,} features have no names: {MOST_NAMES:,} at most have",
            hint="parts=('topical',), fewer words or fewer topics; a block of columns is one part of one model",
        )
    return np.array(list(_names(models, lenses, parts, words)), dtype=object)


def _names(
    models: Sequence[BaseEstimator], lenses: Sequence[Lens], parts: Sequence[str], words: Sequence[str]
) -> Iterator[str]:
    for place, (model, lens) in enumerate(zip(models, lenses, strict=True)):
        title = f"{place}.{type(model).__name__.lower()}{lens.n_classes}"
        if "topical" in parts:
            yield from (f"{title}.topical.{number}" for number in range(lens.n_classes))
        if "lexical" in parts:
            yield from (f"{title}.lexical.{word}.{topic}" for word in words for topic in range(lens.n_topics))
        if "levels" in parts:
            yield from (f"{title}.levels.{name}" for name in _levels(lens))
    if "plain" in parts:
        yield from (f"plain.{word}" for word in words)


def _levels(lens: Lens) -> list[str]:
    if lens.mix is None:
        return []
    if not lens.one_class:
        return [str(number) for number in range(lens.n_classes)]
    return [f"{number}.{topic}" for number, weights in enumerate(lens.mix) for topic in np.flatnonzero(weights)]


HELD_OUT = "held-out token"  # in what PLSA says where there are too few to hold any out


@options.common_options(
    max_iter="Steps at most of the models that are fitted here.",
    random_state=options.seed_of("those models"),
    device="Where those models are fitted; the kernel itself is computed on the processor.",
    executor="Where blocks are computed while those models are fitted.",
)
class FisherKernel(ReadsCounts, TransformerMixin, ShownEstimator):  # type: ignore[misc]
    """Similarity of documents from fitted topic models: the same topics, and the same words in the same sense.

    ``transform`` gives explicit sparse features whose inner products are the kernel; ``kernel`` gives all pairs without
    forming them. A fitted one is a function of two matrices: ``SVC(kernel=fitted)``. Fit it on all texts there are,
    labelled or not, and train the classifier on the labelled ones.

    Parameters
    ----------
    models : sequence, default (1, 64)
        Sizes of PLSA models to fit, or models: fitted ones (PLSA, HPLSA, CAM, HPLC, HierarchicalMixture) are used as
        they are, others are fitted. Several resolutions are added.
    parts : sequence of "topical", "lexical", "levels", "plain", default ("topical", "lexical", "plain")
        What is compared: topics, words in their sense, the use of a tree's levels (trees only), words alone.
    normalise : "parts", "total" or None, default "parts"
        Each part of each model to unit length, all together, or the literal sum.
    information : "identity", "diagonal" or "hofmann", default "identity"
        What stands for the Fisher information: the square-root parameters, as in the paper; or the empirical diagonal,
        as the documents of the fit show it, of scores token by token or of the paper's. Not with "levels".
    inverse_temperature, word_smoothing, heldout_fraction : default "heldout", 0.01 and 0.1
        Of the PLSA models that are fitted here, see ``PLSA``: tempered and stopped by held-out tokens.
    n_init : int, default 1
        Starts of each of those models; held-out tokens choose. Three find a little better, and more evenly.

    Attributes
    ----------
    models_ : list
        The fitted models.
    history_ : list of arrays
        The objectives of the models, model by model.
    n_iter_, converged_
        Steps of the longest fit; whether all of them had nothing more to gain.
    """

    def __init__(
        self,
        models: Sequence[BaseEstimator | int] = (1, 64),
        *,
        parts: str | Sequence[str] = ("topical", "lexical", "plain"),
        normalise: str | None = "parts",
        information: str = "identity",
        inverse_temperature: float | str = "heldout",
        word_smoothing: float = 0.01,
        heldout_fraction: float | None = 0.1,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.models = models
        self.parts = parts
        self.normalise = normalise
        self.information = information
        self.inverse_temperature = inverse_temperature
        self.word_smoothing = word_smoothing
        self.heldout_fraction = heldout_fraction
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(self, X: Documents, y: ArrayLike | None = None) -> FisherKernel:
        """Fit the models that are not fitted yet to counts (documents × words).

        ``y`` is for those among them that learn from labels, −1 for a document without one; others do without.
        """
        wanted = self._checked()
        stored_counts.in_memory(X, "fitting a FisherKernel", self.executor)
        counts = stored_counts.checked(self, X, "fitting a FisherKernel", reset=True)
        seed = int(options.generator(self.random_state).integers(2**31))
        self.models_ = [self._fitted(model, counts, y, seed + place) for place, model in enumerate(wanted)]
        self._look(counts)
        return self

    def _fitted(self, model: Any, counts: Csr, y: ArrayLike | None, seed: int) -> Any:
        if is_fitted(model):
            return model
        if not isinstance(model, Integral):
            if y is None and is_classifier(model):
                raise UsageError(f"{model!r} learns from labels, and y is None", hint="fit(X, y), or a fitted model")
            return clone(model).fit(counts, y)
        common = {
            name: getattr(self, name) for name in ("max_iter", "tol", "device", "n_threads", "executor", "verbose")
        }
        plain = PLSA(int(model), word_smoothing=self.word_smoothing, random_state=seed, **common)
        if model == 1:  # nothing to temper, and nothing to hold out for
            return plain.fit(counts)
        plain.set_params(inverse_temperature=self.inverse_temperature, n_init=self.n_init)
        try:
            return clone(plain).set_params(heldout_fraction=self.heldout_fraction).fit(counts)
        except InputError as error:
            if self.heldout_fraction is None or HELD_OUT not in error.message:
                raise
            warnings.warn(f"no tokens can be held out to temper {model} topics: {error.message}", stacklevel=3)
            chosen = 1.0 if self.inverse_temperature == "heldout" else self.inverse_temperature
            return plain.set_params(inverse_temperature=chosen).fit(counts)

    def _look(self, counts: Csr | None) -> None:
        """Turn the models into lenses; with the information that these documents show, if that is asked for."""
        lenses = [lens_of(model) for model in self.models_]
        sizes = sorted({len(lens.by_word) for lens in lenses})
        n_words = sizes[0] if counts is None else counts.shape[1]
        if sizes != [n_words]:
            raise InputError(
                f"the models know {', '.join(map(str, sizes))} words, the counts have {n_words} columns",
                hint="models and counts of one vocabulary",
            )
        if self.information != "identity" and counts is not None:
            with self._engine() as engine:
                seen = [(lens, counts, scores.read(engine, lens, counts)) for lens in lenses]
            lenses = [scores.informed(*one, self.information) for one in seen]
        self._lenses = lenses
        self.history_ = [np.asarray(getattr(model, "history_", ())) for model in self.models_]
        self.n_iter_ = max(1, *(int(getattr(model, "n_iter_", 0)) for model in self.models_))
        self.converged_ = all(getattr(model, "converged_", True) for model in self.models_)

    def transform(self, X: Documents) -> Any:
        """Explicit features, sparse: their inner products are the kernel. One block of columns for each part."""
        own = self.prepared()
        check_is_fitted(own)
        counts = own._counts(X)
        with own._engine() as engine:
            found = matrix.terms(engine, load_search_kernels(), own._lenses, counts, own._parts)
            return csr_matrix(matrix.features(found, counts, own.normalise))

    def kernel(self, X: Documents, Y: Documents | None = None) -> Floats:
        """The kernel of each document of ``X`` with each of ``Y`` (of ``X``, if left out)."""
        own = self.prepared()
        check_is_fitted(own)
        counts = own._counts(X)
        with own._engine() as engine:
            kernels = load_search_kernels()
            left = (counts, matrix.terms(engine, kernels, own._lenses, counts, own._parts))
            if Y is None or Y is X:
                square = matrix.matrix(engine, kernels, left, left, own.normalise)
                return (square + square.T) / 2
            other = own._counts(Y)
            right = (other, matrix.terms(engine, kernels, own._lenses, other, own._parts))
            return matrix.matrix(engine, kernels, left, right, own.normalise)

    def __call__(self, X: Documents, Y: Documents | None = None) -> Floats:
        """The same, as ``SVC(kernel=…)`` calls it."""
        return self.kernel(X, Y)

    def frozen(self) -> FrozenKernel:
        """A function that stays fitted when it is cloned: ``cross_val_score(SVC(kernel=fitted.frozen()), …)``."""
        own = self.prepared()
        check_is_fitted(own)
        return FrozenKernel(own)

    def prepared(self) -> FisherKernel:
        """This one, checked, if it is fitted; else, where all its models are, one that looks through them."""
        models = self._checked()
        if hasattr(self, "_lenses"):
            if any((lens.class_information is None) != (self.information == "identity") for lens in self._lenses):
                raise UsageError(f"information={self.information!r} was not there when it was fitted", hint="fit again")
            return self
        if not all(map(is_fitted, models)):
            return self
        if self.information != "identity":
            raise UsageError(f"information={self.information!r} needs documents to show it", hint="fit(X) first")
        ready = copy(self)
        ready.models_ = list(models)
        ready._look(None)
        ready.n_features_in_ = len(ready._lenses[0].by_word)
        return ready

    @property
    def lenses_(self) -> list[Lens]:
        """The models as the kernel sees them."""
        check_is_fitted(self)
        return list(self._lenses)

    def __sklearn_clone__(self) -> FisherKernel:
        """Unfitted, but with the models that came fitted: they are what the kernel is made of, as data are."""
        parameters = {
            name: value if name == "models" else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**parameters)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_lenses")

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        prepare_kernels("float64", *kernel_sets(getattr(self, "_lenses", ())))
        host = copy(self)
        host.device, host.executor = "cpu", None
        with options.running(host) as engine:
            yield engine

    def _counts(self, X: Documents) -> Any:
        return stored_counts.checked(self, X, "a Fisher kernel", reset=False)

    @property
    def _parts(self) -> tuple[str, ...]:
        return (self.parts,) if isinstance(self.parts, str) else tuple(self.parts)

    def _checked(self) -> list[Any]:
        """The models that are wanted, when all options can be meant."""
        options.check_common(self)
        options.check_one_of("normalise", self.normalise, ("parts", "total", None))
        options.check_one_of("information", self.information, scores.KINDS)
        try:
            wrong = [part for part in self._parts if part not in matrix.PARTS]
        except TypeError:
            wrong = [str(self.parts)]
        if wrong or not self._parts:
            hint = "('topical', 'lexical')"
            raise UsageError(f"parts must be some of {matrix.PARTS}, got {self.parts!r}", hint=hint)
        alone = isinstance(self.models, Integral) or hasattr(self.models, "fit")
        models = [self.models] if alone else list(self.models) if np.iterable(self.models) else []
        if not models:
            raise UsageError(f"models must be {WANTED}; got {self.models!r}", hint="(1, 64)")
        for model in models:
            if isinstance(model, Integral):
                options.check_integer("a size in models", model, 1, hint="(1, 64)")
            elif not is_fitted(model) and not can_be_fitted(model):
                raise UsageError(f"models must be {WANTED}; got {model!r} among them", hint="(1, 64)")
        if "levels" in self._parts and not any(map(has_levels, models)):
            raise UsageError("'levels' compares the levels of trees, and no model has one", hint="[64, CAM()]")
        if "levels" in self._parts and self.information != "identity":
            raise UsageError(f"'levels' has no information={self.information!r}", hint="information='identity'")
        return models

    def get_feature_names_out(self, input_features: object | None = None) -> Any:
        """What each feature is of: model, part, word and topic; refused where nobody could read so many."""
        own = self.prepared()
        check_is_fitted(own)
        words = _check_feature_names_in(own, input_features)
        return feature_names(own.models_, own._lenses, own._parts, words)


class FrozenKernel:
    """A fitted kernel as a function that stays fitted when scikit-learn clones the classifier that uses it."""

    def __init__(self, fitted: FisherKernel) -> None:
        self.fitted = fitted

    def __call__(self, X: Documents, Y: Documents | None = None) -> Floats:
        """The kernel of each document of ``X`` with each of ``Y``."""
        return self.fitted.kernel(X, Y)

    def __sklearn_clone__(self) -> FrozenKernel:
        return self

    def __repr__(self) -> str:
        return f"{self.fitted!r}.frozen()"
