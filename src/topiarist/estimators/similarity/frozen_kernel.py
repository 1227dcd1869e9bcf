"""A fitted kernel as a function: what classifiers of scikit-learn take, and may clone."""

from __future__ import annotations

from typing import Any

from topiarist.models.engine.host import Floats


class FrozenKernel:
    """A fitted kernel as a function that stays fitted when scikit-learn clones the classifier that uses it."""

    def __init__(self, fitted: Any) -> None:
        self.fitted = fitted

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """The kernel of each document of ``X`` with each of ``Y``."""
        square: Floats = self.fitted.kernel(X, Y)
        return square

    def __sklearn_clone__(self) -> FrozenKernel:
        return self

    def __repr__(self) -> str:
        return f"{self.fitted!r}.frozen()"
