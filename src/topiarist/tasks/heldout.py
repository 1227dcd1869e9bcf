"""Held-out tokens of a flat model: which they are, and how probable a state makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from topiarist.counts.split import split_tokens
from topiarist.errors import InputError
from topiarist.kernels.shard import Side
from topiarist.metrics import known_counts
from topiarist.models import em, plsa


def split(counts: Any, fraction: float, rng: np.random.Generator, check: Callable[[Any, str], None]) -> tuple[Any, Any]:
    """Tokens to learn from, which are checked, and tokens to judge by."""
    training, validation = split_tokens(counts, (1 - fraction, fraction), seed=int(rng.integers(2**31)))
    check(training, " without the held-out tokens")
    # a word that only held-out tokens hold has no probability under any parameters: it would judge nothing
    validation = known_counts(np.asarray(training.sum(axis=0), np.float64)[None], validation)
    if not validation.nnz:
        raise InputError(
            f"heldout_fraction={fraction} leaves no held-out token of a word that the rest holds",
            hint="more documents, a larger heldout_fraction, or None",
        )
    return training, validation


def likelihood(model: plsa.Plsa, validation: Any, dtype: np.dtype[Any]) -> Callable[[em.State], float] | None:
    """Log-likelihood per held-out token of a state, or None without held-out tokens."""
    if validation is None:
        return None
    rows = Side.of(validation, dtype)
    tokens = max(float(validation.sum(dtype=np.float64)), 1.0)
    return lambda state: model.log_likelihood(state.shared, rows, state.local[0]) / tokens
