"""Base classes of estimators: a short representation, and the options that several estimators share."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from topiarist.arrays import Seed
from topiarist.cards import render_card
from topiarist.execution.executors import Executor
from topiarist.models import em

MAX_LINES, LINE_WIDTH, MAX_LETTERS = 3, 100, 220
SHOWN_ATTRIBUTES = ("n_leaves_", "n_classes_", "n_features_in_", "n_iter_")  # of a fitted one, where it has them


class CompactEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators, with a representation of at most three lines and a card for notebooks."""

    def __repr__(self, N_CHAR_MAX: int = MAX_LETTERS) -> str:
        text = " ".join(super().__repr__(N_CHAR_MAX=N_CHAR_MAX).split())
        lines = textwrap.wrap(text, LINE_WIDTH, subsequent_indent="    ", break_long_words=True)
        return "\n".join(
            lines
            if len(lines) <= MAX_LINES
            else [*lines[: MAX_LINES - 1], f"{lines[MAX_LINES - 1][: LINE_WIDTH - 1]}…"]
        )

    def _repr_html_(self) -> str:
        """Return a card with the changed parameters and the fitted numbers, as HTML."""
        parameters: dict[str, Any] = self.get_params(deep=False)
        default = type(self)().get_params(deep=False) if _has_defaults(type(self)) else {}
        changed_names = [
            name for name in parameters if name not in default or _differs(parameters[name], default[name])
        ]
        fitted = {
            name.rstrip("_"): getattr(self, name)
            for name in SHOWN_ATTRIBUTES
            if isinstance(getattr(self, name, None), int | float)
        }
        is_fitted = any(name.endswith("_") and not name.startswith("_") for name in vars(self))
        title = f"{type(self).__name__} ({'fitted' if is_fitted else 'not fitted'})"
        header = ("setting", "value") if changed_names else ()
        return render_card(title, fitted, header=header, rows=((name, str(parameters[name])) for name in changed_names))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


@dataclass(eq=False, repr=False, kw_only=True)
class EstimatorOptions(CompactEstimator):
    """Options of an estimator that computes in threads, on a device or on workers."""

    random_state: Seed = None
    device: str = "cpu"
    n_threads: int | None = None
    executor: Executor | None = None
    verbose: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class EMOptions(EstimatorOptions):
    """Options of an estimator that is fitted by EM steps."""

    max_iter: int = 100
    tol: float = 1e-4

    def _store_steps(self, fit: em.Fit) -> None:
        """Store the objectives of a fit, the number of its steps and the reason of its end."""
        history: Any = np.array(fit.objectives)
        self.history_, self.n_iter_ = history, fit.steps
        self.converged_, self.stopped_ = fit.converged, fit.reason


def _has_defaults(kind: type) -> bool:
    """Return whether a class can be created without arguments."""
    try:
        kind()
    except TypeError:
        return False
    return True


def _differs(value: object, default: object) -> bool:
    try:
        return bool(value != default)
    except ValueError:  # arrays
        return True
