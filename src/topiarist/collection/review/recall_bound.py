"""Upper bound on the number of relevant documents from random draws, valid after every draw.

Before a draw, F relevant documents are known and U are unjudged. If r documents are relevant, the next random draw is
relevant with probability p(r) = (r - F) / U, whatever was read before. For every r there is a bet that fewer are left.
Its capital is multiplied by φ if the document is relevant and by (1 - φp) / (1 - p) if not; 0 ≤ φ ≤ 1 is chosen before
the draw. If r is the true number, capital is a martingale that begins with 1. It reaches 1/α with a probability of at
most α (Ville's inequality). Then r is excluded permanently.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Doubles

CONFIDENCE = 0.95
TAIL_SHARE = 0.9  # share of the capital that bets after the end of the ranking; the rest bets from the first draw
# φ = (relevant draws + 0.25) / (draws expected for r + 1): the prior assumes that few relevant documents are left.
PRIOR_HITS, PRIOR_EXPOSURE = 0.25, 1.0


@dataclass(frozen=True, eq=False)
class RecallBound:
    """Frozen bound on the number of relevant documents, with an entry for each number from ``minimum`` on."""

    minimum: int
    tail: Doubles  # log capital of the bets after the end of the ranking
    all_draws: Doubles  # log capital of the bets from the first draw
    lower: Doubles  # log capital of the bets against too few
    likelihood: Doubles  # log-likelihood of all draws
    expected: Doubles  # relevant documents among all draws
    expected_tail: Doubles
    n_drawn: int = 0
    hits: int = 0
    hits_tail: int = 0
    lowest: int = 0  # smallest number that is not excluded
    alpha: float = 1 - CONFIDENCE

    @classmethod
    def create(cls, n_docs: int, confidence: float = CONFIDENCE) -> RecallBound:
        """Return the bound before the first draw: every number of relevant documents is possible."""
        zeros = np.zeros(n_docs + 1)
        return cls(0, zeros, zeros, zeros, zeros, zeros, zeros, alpha=1 - confidence)

    @property
    def maximum(self) -> int:
        """Largest number that is not excluded."""
        return self.minimum + len(self.tail) - 1

    @property
    def likeliest(self) -> int:
        """Number with the highest likelihood of the draws; the smallest of several."""
        return self.minimum + int(self.likelihood.argmax()) if len(self.likelihood) else self.minimum

    def exclude_impossible(self, n_found: int, n_unjudged: int) -> RecallBound:
        """Exclude numbers below the known relevant documents, or above these plus all unjudged ones."""
        first, last = max(n_found - self.minimum, 0), min(n_found + n_unjudged - self.minimum, len(self.tail) - 1)
        if first == 0 and last == len(self.tail) - 1:
            return self
        if first > last:  # the bound was wrong, which can happen once in twenty: start again
            fresh = RecallBound.create(n_found + n_unjudged, 1 - self.alpha)
            return replace(fresh, n_drawn=self.n_drawn, hits=self.hits).exclude_impossible(n_found, n_unjudged)
        return replace(self._cut(first, last + 1), lowest=max(self.lowest, n_found))

    def restart(self) -> RecallBound:
        """Forget the estimate of the tail after a new hit of the ranking; it describes other documents."""
        return replace(self, hits_tail=0, expected_tail=np.zeros(len(self.tail)))

    def add_draw(self, n_found: int, n_unjudged: int, relevant: bool, *, tail: bool) -> RecallBound:
        """Return the bound after a random draw; ``n_found`` and ``n_unjudged`` are the counts before it."""
        current = self.exclude_impossible(n_found, n_unjudged)
        numbers = current.minimum + np.arange(len(current.tail))
        probability = (numbers - n_found) / n_unjudged
        guess = (current.hits + PRIOR_HITS) / (current.expected + PRIOR_EXPOSURE)
        bet_fewer, bet_more = np.minimum(guess, 1.0), np.maximum(guess, 1.0)
        bet_more = np.where(bet_more * probability > 1, 1.0 / np.maximum(probability, 1e-300), bet_more)
        bet_tail = np.minimum((current.hits_tail + PRIOR_HITS) / (current.expected_tail + PRIOR_EXPOSURE), 1.0)
        with np.errstate(divide="ignore"):
            likelihood = current.likelihood + np.log(probability if relevant else 1 - probability)
        bound = replace(
            current,
            tail=current.tail + (_log_gain(bet_tail, probability, relevant) if tail else 0.0),
            all_draws=current.all_draws + _log_gain(bet_fewer, probability, relevant),
            lower=current.lower + _log_gain(bet_more, probability, relevant),
            likelihood=likelihood,
            expected=current.expected + probability,
            expected_tail=current.expected_tail + (probability if tail else 0.0),
            n_drawn=current.n_drawn + 1,
            hits=current.hits + relevant,
            hits_tail=current.hits_tail + (relevant and tail),
        )
        return bound._exclude_numbers().exclude_impossible(n_found + relevant, n_unjudged - 1)

    def _exclude_numbers(self) -> RecallBound:
        """Exclude numbers whose capital has reached 1/α: cut them from above, record the lower limit."""
        threshold = -math.log(self.alpha)
        capital = np.logaddexp(math.log(TAIL_SHARE) + self.tail, math.log(1 - TAIL_SHARE) + self.all_draws)
        remaining = np.flatnonzero(capital < threshold)
        possible = np.flatnonzero(self.lower < threshold)
        lowest = max(self.lowest, self.minimum + int(possible[0])) if len(possible) else self.lowest
        return replace(self._cut(0, int(remaining[-1]) + 1 if len(remaining) else 1), lowest=lowest)

    def _cut(self, start: int, stop: int) -> RecallBound:
        names = ("tail", "all_draws", "lower", "likelihood", "expected", "expected_tail")
        cut: dict[str, Any] = {name: getattr(self, name)[start:stop] for name in names}
        return replace(self, minimum=self.minimum + start, **cut)


def _log_gain(bet: Doubles, probability: Doubles, relevant: bool) -> Doubles:
    """Return the log factor of the capital after a draw; impossible numbers are excluded separately."""
    if relevant:
        return np.log(bet)
    return np.log(np.maximum(1 - bet * probability, 1e-300)) - np.log(np.maximum(1 - probability, 1e-300))
