"""How an estimator shows itself: its settings in three lines at most, and a small card in a notebook."""

from __future__ import annotations

import textwrap
from typing import Any

from sklearn.base import BaseEstimator

from topiarist.cards import card

LINES, WIDTH, LETTERS = 3, 100, 220
TOLD = ("n_leaves_", "n_classes_", "n_features_in_", "n_iter_")  # of a fitted one, where it has them


class ShownEstimator(BaseEstimator):  # type: ignore[misc]
    """scikit-learn's base class, whose own drawing is large, with a small one."""

    def __repr__(self, N_CHAR_MAX: int = LETTERS) -> str:
        whole = " ".join(super().__repr__(N_CHAR_MAX=N_CHAR_MAX).split())
        lines = textwrap.wrap(whole, WIDTH, subsequent_indent="    ", break_long_words=True)
        return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES - 1], f"{lines[LINES - 1][: WIDTH - 1]}…"])

    def _repr_html_(self) -> str:
        given: dict[str, Any] = self.get_params(deep=False)
        default = type(self)().get_params(deep=False) if _is_plain(type(self)) else {}
        changed = [name for name in given if name not in default or _differs(given[name], default[name])]
        fitted = {
            name.rstrip("_"): getattr(self, name) for name in TOLD if isinstance(getattr(self, name, None), int | float)
        }
        is_fitted = any(name.endswith("_") and not name.startswith("_") for name in vars(self))
        title = f"{type(self).__name__} ({'fitted' if is_fitted else 'not fitted'})"
        header = ("setting", "value") if changed else ()
        return card(title, fitted, header=header, rows=((name, str(given[name])) for name in changed))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _is_plain(kind: type) -> bool:
    """Whether an estimator can be made without a setting."""
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
