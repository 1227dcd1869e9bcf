"""Held-out tokens of a flat model: which they are, and how probable a state makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from topiarist.counts.split import split_tokens
from topiarist.errors import InputError
from topiarist.measures.topic_quality import known_counts
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


def likelihood(model: plsa.Plsa, validation: Any, shards: Sequence[Any]) -> Callable[[em.State], float] | None:
    """Log-likelihood per held-out token of a state, or None without held-out tokens; ``shards`` say who has which."""
    if validation is None:
        return None
    ends = np.cumsum([0, *(shard.shape[0] for shard in shards)]).tolist()
    parts = [validation[start:stop] for start, stop in pairwise(ends)] if len(shards) > 1 else [validation]
    sides = [model.engine.side(part, shards[0].rows.data.dtype) for part in parts]
    tokens = max(float(validation.data.sum(dtype=np.float64)), 1.0)

    def of_state(state: em.State) -> float:
        pairs = zip(sides, state.local, strict=True)
        return sum(model.log_likelihood(state.shared, side, local) for side, local in pairs) / tokens

    return of_state
