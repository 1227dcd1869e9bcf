"""Fisher kernels as a scikit-learn transformer: similarity of documents by meaning and by words."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from topiarist.arrays import ArrayLike, Csr, Floats
from topiarist.counts.validation import count_tokens
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import EMOptions
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.flat.plsa import PLSA
from topiarist.estimators.similarity.lenses import (
    EXPECTED_MODELS,
    can_be_fitted,
    has_levels,
    is_fitted,
    list_kernel_sets,
    make_kernel_view,
)
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.fisher import matrix, scores
from topiarist.models.fisher.scores import KernelView

MAX_NAMES = 1_000_000


def count_features(lenses: Sequence[KernelView], parts: Sequence[str]) -> int:
    """Return the number of features of these parts over all models."""
    width = 0
    for lens in lenses:
        sizes = {"topical": lens.n_classes, "lexical": lens.by_word.size, "levels": len(_list_levels(lens))}
        width += sum(size for part, size in sizes.items() if part in parts)
    return width + ("plain" in parts) * len(lenses[0].by_word)


def make_feature_names(
    models: Sequence[BaseEstimator], lenses: Sequence[KernelView], parts: Sequence[str], words: Sequence[str]
) -> Any:
    """Return names such as ``1.plsa64.lexical.bank.3``: the second model, the word *bank* in its topic 3."""
    number = count_features(lenses, parts)
    if number > MAX_NAMES:
        raise UsageError(
            f"expected at most {MAX_NAMES:,} features to name, got {number:,}",
            hint="Use parts=('topical',), fewer words or fewer topics.",
        )
    return np.array(list(_iterate_names(models, lenses, parts, words)), dtype=object)


def _iterate_names(
    models: Sequence[BaseEstimator], lenses: Sequence[KernelView], parts: Sequence[str], words: Sequence[str]
) -> Iterator[str]:
    """Yield the name of each feature, in the order of the columns."""
    for place, (model, lens) in enumerate(zip(models, lenses, strict=True)):
        title = f"{place}.{type(model).__name__.lower()}{lens.n_classes}"
        if "topical" in parts:
            yield from (f"{title}.topical.{number}" for number in range(lens.n_classes))
        if "lexical" in parts:
            yield from (f"{title}.lexical.{word}.{topic}" for word in words for topic in range(lens.n_topics))
        if "levels" in parts:
            yield from (f"{title}.levels.{name}" for name in _list_levels(lens))
    if "plain" in parts:
        yield from (f"plain.{word}" for word in words)


def _list_levels(lens: KernelView) -> list[str]:
    """Return the names of the level features of a model; empty without levels."""
    if lens.mix is None:
        return []
    if not lens.one_class:
        return [str(number) for number in range(lens.n_classes)]
    return [f"{number}.{topic}" for number, weights in enumerate(lens.mix) for topic in np.flatnonzero(weights)]


HELDOUT_ERROR = "held-out token"  # in what PLSA says where there are too few to hold any out


@options.estimator(
    max_iter="Maximum number of EM steps of the models that are fitted here.",
    random_state=options.describe_seed("the models"),
    device="Device of the fits. The kernel is computed on the processor.",
    executor="Executor of the blocks during these fits.",
    X=options.COUNTS_IN_MEMORY,
)
class FisherKernel(ReadsCounts, TransformerMixin, EMOptions):  # type: ignore[misc]
    """Similarity of documents from fitted topic models: shared topics, and shared words in the same sense.

    ``transform`` returns explicit sparse features whose inner products are the kernel. ``kernel`` returns all pairs
    without forming them. A fitted kernel is a function of two matrices: ``SVC(kernel=fitted)``. Fit it on all texts,
    with or without labels, and train the classifier on the labelled ones.

    Parameters
    ----------
    models : sequence, default (1, 64)
        Sizes of PLSA models to fit, or models. Fitted models (PLSA, HPLSA, CAM, HPLC, HierarchicalMixture) are used
        unchanged, others are fitted. The kernels of several models are added. With fewer documents than a size, the
        size is their number, with a warning.
    parts : sequence of "topical", "lexical", "levels", "plain", default ("topical", "lexical", "plain")
        What to compare: topics, words with their topics, use of a tree's levels (trees only), and words alone.
    normalise : "parts", "total" or None, default "parts"
        Scale each part of each model to unit length, or all parts together, or nothing.
    information : "identity", "diagonal" or "hofmann", default "identity"
        Fisher information. "identity": square-root parameters, as in the paper. "diagonal": empirical diagonal of
        scores of single tokens in the fitted documents. "hofmann": the same with the paper's scores. Not with "levels".
    inverse_temperature, word_smoothing, heldout_fraction : default "heldout", 0.01 and 0.1
        Options of the PLSA models that are fitted here, see ``PLSA``.
    n_init : int, default 1
        Number of starts of each of these models, chosen by held-out tokens. Three starts are slightly better.

    Attributes
    ----------
    models_ : list
        Fitted models.
    history_ : list of arrays
        Objectives of each model.
    n_iter_, converged_
        Number of steps of the longest fit, and whether all fits converged.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import FisherKernel
    >>> FisherKernel((1, 2), random_state=0).fit(np.eye(5) + 1).kernel(np.eye(5) + 1).shape
    (5, 5)
    """

    models: Sequence[BaseEstimator | int] = (1, 64)
    _: KW_ONLY
    parts: str | Sequence[str] = ("topical", "lexical", "plain")
    normalise: str | None = "parts"
    information: str = "identity"
    inverse_temperature: float | str = "heldout"
    word_smoothing: float = 0.01
    heldout_fraction: float | None = 0.1
    n_init: int = 1
    max_iter: int = 200

    def fit(self, X: Documents, y: ArrayLike | None = None) -> FisherKernel:
        """Fit the models that are not fitted yet.

        Parameters
        ----------
        y : array (n_documents,) or None
            Labels for models that learn from labels, −1 for an unlabelled document.

        Raises
        ------
        UsageError
            If an option is invalid, or a model needs labels and ``y`` is None.
        InputError
            If the models and the counts have different numbers of words.
        """
        models = self._check_models()
        stored_counts.refuse_store(X, "fitting a FisherKernel", self.executor)
        counts = stored_counts.check_counts_in_memory(self, X, "fitting a FisherKernel", reset=True)
        seed = int(options.make_generator(self.random_state).integers(2**31))
        self.models_ = [self._fit_model(model, counts, y, seed + place) for place, model in enumerate(models)]
        self._build_views(counts)
        return self

    def _fit_model(self, model: Any, counts: Csr, y: ArrayLike | None, seed: int) -> Any:
        """Return a fitted model as it is; fit a copy of another one, or PLSA of a size."""
        if is_fitted(model):
            return model
        if not isinstance(model, Integral):
            if y is None and is_classifier(model):
                raise UsageError(
                    f"{model!r} learns from labels, and y is None", hint="Call fit(X, y), or pass a fitted model."
                )
            return clone(model).fit(counts, y)
        common = {
            name: getattr(self, name) for name in ("max_iter", "tol", "device", "n_threads", "executor", "verbose")
        }
        n_components = self._limit_components(int(model), counts)
        plsa = PLSA(n_components, word_smoothing=self.word_smoothing, random_state=seed, **common)
        if n_components == 1:  # nothing to temper, and nothing to hold out for
            return plsa.fit(counts)
        plsa.set_params(inverse_temperature=self.inverse_temperature, n_init=self.n_init)
        try:
            return clone(plsa).set_params(heldout_fraction=self.heldout_fraction).fit(counts)
        except InputError as error:
            if self.heldout_fraction is None or HELDOUT_ERROR not in error.message:
                raise
            warnings.warn(f"no tokens can be held out to temper {n_components} topics: {error.message}", stacklevel=3)
            inverse_temperature = 1.0 if self.inverse_temperature == "heldout" else self.inverse_temperature
            return plsa.set_params(inverse_temperature=inverse_temperature).fit(counts)

    def _limit_components(self, n_components: int, counts: Csr) -> int:
        """Return the number of components, at most one per document with words; warn if reduced."""
        n_documents = int(np.count_nonzero(count_tokens(counts)))
        if n_components <= n_documents or not n_documents:  # without words the fit says what is missing
            return n_components
        warnings.warn(
            f"expected a document with words for each of {n_components} components, got {n_documents}: "
            f"n_components is {n_documents}",
            stacklevel=4,
        )
        return n_documents

    def _build_views(self, counts: Csr | None) -> None:
        """Prepare the fitted models for the kernel, and set the fit's history and steps."""
        lenses = [make_kernel_view(model) for model in self.models_]
        sizes = sorted({len(lens.by_word) for lens in lenses})
        n_words = sizes[0] if counts is None else counts.shape[1]
        if sizes != [n_words]:
            raise InputError(
                f"the models know {', '.join(map(str, sizes))} words, the counts have {n_words} columns",
                hint="Use models and counts of one vocabulary.",
            )
        if self.information != "identity" and counts is not None:
            with self._engine() as engine:
                readings = [(lens, counts, scores.read_rows(engine, lens, counts)) for lens in lenses]
            lenses = [scores.add_information(*arguments, self.information) for arguments in readings]
        self._lenses = lenses
        self.history_ = [np.asarray(getattr(model, "history_", ())) for model in self.models_]
        self.n_iter_ = max(1, *(int(getattr(model, "n_iter_", 0)) for model in self.models_))
        self.converged_ = all(getattr(model, "converged_", True) for model in self.models_)

    def transform(self, X: Documents) -> Any:
        """Return explicit features whose inner products are the kernel.

        Returns
        -------
        sparse matrix (n_documents, n_features)
            Features; each part of each model has a block of columns.
        """
        kernel = self.prepare()
        check_is_fitted(kernel)
        counts = kernel._counts(X)
        with kernel._engine() as engine:
            parts = matrix.make_terms(engine, kernel._lenses, counts, kernel._parts)
            return csr_matrix(matrix.compute_features(parts, counts, kernel.normalise))

    def kernel(self, X: Documents, Y: Documents | None = None) -> Floats:
        """Return the kernel of all pairs of documents.

        Parameters
        ----------
        Y : array or sparse matrix (n_others, n_words) or None
            Counts of other documents. None: ``X``.

        Returns
        -------
        array (n_documents, n_others)
            Kernel values.
        """
        ready = self.prepare()
        check_is_fitted(ready)
        counts = ready._counts(X)
        with ready._engine() as engine:
            left = (counts, matrix.make_terms(engine, ready._lenses, counts, ready._parts))
            if Y is None or Y is X:
                square = matrix.compute_matrix(engine, left, left, ready.normalise)
                return (square + square.T) / 2
            other = ready._counts(Y)
            right = (other, matrix.make_terms(engine, ready._lenses, other, ready._parts))
            return matrix.compute_matrix(engine, left, right, ready.normalise)

    def __call__(self, X: Documents, Y: Documents | None = None) -> Floats:
        """Return the kernel, as ``SVC(kernel=…)`` calls it."""
        return self.kernel(X, Y)

    def frozen(self) -> FrozenKernel:
        """Return a function that stays fitted when cloned: ``cross_val_score(SVC(kernel=fitted.frozen()), …)``."""
        ready = self.prepare()
        check_is_fitted(ready)
        return FrozenKernel(ready)

    def prepare(self) -> FisherKernel:
        """Return a fitted copy if only the models are fitted; else this kernel, fitted or not."""
        models = self._check_models()
        if hasattr(self, "_lenses"):
            if any((lens.class_information is None) != (self.information == "identity") for lens in self._lenses):
                raise UsageError(
                    f"information={self.information!r} was set after the fit", hint="Fit the kernel again."
                )
            return self
        if not all(map(is_fitted, models)):
            return self
        if self.information != "identity":
            raise UsageError(f"information={self.information!r} requires documents", hint="Call fit(X) first.")
        ready = copy(self)
        ready.models_ = list(models)
        ready._build_views(None)
        ready.n_features_in_ = len(ready._lenses[0].by_word)
        return ready

    @property
    def lenses_(self) -> list[KernelView]:
        """Models as the kernel reads them."""
        check_is_fitted(self)
        return list(self._lenses)

    def __sklearn_clone__(self) -> FisherKernel:
        """Return an unfitted kernel that keeps the fitted models among its parameters."""
        parameters = {
            name: value if name == "models" else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**parameters)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_lenses")

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """Yield an engine on the CPU with the kernels loaded, whatever the device is."""
        prepare_kernels("float64", *list_kernel_sets(getattr(self, "_lenses", ())))
        host = copy(self)
        host.device, host.executor = "cpu", None
        with options.open_engine(host) as engine:
            yield engine

    def _counts(self, X: Documents) -> Any:
        return stored_counts.check_counts_in_memory(self, X, "a Fisher kernel", reset=False)

    @property
    def _parts(self) -> tuple[str, ...]:
        return (self.parts,) if isinstance(self.parts, str) else tuple(self.parts)

    def _check_models(self) -> list[Any]:
        """Check all parameters, and return the models as a list."""
        options.check_common(self)
        options.check_one_of("normalise", self.normalise, ("parts", "total", None))
        options.check_one_of("information", self.information, scores.KINDS)
        try:
            unknown_parts = [part for part in self._parts if part not in matrix.PARTS]
        except TypeError:
            unknown_parts = [str(self.parts)]
        if unknown_parts or not self._parts:
            hint = "Use ('topical', 'lexical')."
            raise UsageError(f"parts must be some of {matrix.PARTS}, got {self.parts!r}", hint=hint)
        is_single = isinstance(self.models, Integral) or hasattr(self.models, "fit")
        models = [self.models] if is_single else list(self.models) if np.iterable(self.models) else []
        if not models:
            raise UsageError(f"models must be {EXPECTED_MODELS}; got {self.models!r}", hint="Use (1, 64).")
        for model in models:
            if isinstance(model, Integral):
                options.check_integer("a size in models", model, 1, hint="Use (1, 64).")
            elif not is_fitted(model) and not can_be_fitted(model):
                raise UsageError(f"models must be {EXPECTED_MODELS}; got {model!r} among them", hint="Use (1, 64).")
        if "levels" in self._parts and not any(map(has_levels, models)):
            raise UsageError("'levels' compares the levels of trees, and no model has one", hint="Use [64, CAM()].")
        if "levels" in self._parts and self.information != "identity":
            raise UsageError(f"'levels' has no information={self.information!r}", hint="Use information='identity'.")
        return models

    def get_feature_names_out(self, input_features: object | None = None) -> Any:
        """Return a name for each feature: model, part, word and topic. Very many features have no names."""
        ready = self.prepare()
        check_is_fitted(ready)
        words = _check_feature_names_in(ready, input_features)
        return make_feature_names(ready.models_, ready._lenses, ready._parts, words)


class FrozenKernel:
    """Fitted kernel as a function that stays fitted when scikit-learn clones the classifier that uses it."""

    def __init__(self, fitted: FisherKernel) -> None:
        self.fitted = fitted

    def __call__(self, X: Documents, Y: Documents | None = None) -> Floats:
        """Return the kernel of each document of ``X`` with each of ``Y``."""
        return self.fitted.kernel(X, Y)

    def __sklearn_clone__(self) -> FrozenKernel:
        return self

    def __repr__(self) -> str:
        return f"{self.fitted!r}.frozen()"
