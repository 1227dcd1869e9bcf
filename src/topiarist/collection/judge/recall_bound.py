"""How many relevant documents there are at most, by draws at random: a bound that holds at every look, however often.

Before a draw, F relevant documents are known and U are unjudged. If there are r in all, the next one drawn at random
from the unjudged is relevant with probability p(r) = (r - F) / U, whatever was read before and for whatever reason.
Against every r stands a bet that fewer are left: its capital is multiplied by φ if the document is relevant and by
(1 - φp) / (1 - p) if not, with 0 ≤ φ ≤ 1 chosen before the draw. If r is the truth, capital is a martingale that begins
with 1, and it ever reaches 1/α with a probability of at most α (Ville's inequality): then r is excluded for good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Doubles

CONFIDENCE = 0.95
OF_TAIL = 0.9  # of the capital is bet only where the ranking finds nothing any more, the rest from the first draw on
HITS, EXPOSURE = (
    0.25,
    1.0,
)  # φ = (relevant ones drawn + 0.25) / (expected by r + 1): what is left is thought to be little


@dataclass(frozen=True, eq=False)
class RecallBound:
    """What draws at random tell of the number of relevant documents: one that is not excluded for each entry.

    A value: ``after`` gives the next one. ``least`` is the number of the first entry.
    """

    least: int
    tail: Doubles  # log capital of the bets that are made where the ranking finds nothing
    whole: Doubles  # log capital of the bets from the first draw on
    below: Doubles  # the same against too few
    likelihood: Doubles  # log, of all draws
    expected: Doubles  # relevant ones among all draws
    expected_tail: Doubles
    drawn: int = 0
    hits: int = 0
    hits_tail: int = 0
    lowest: int = 0  # not excluded from below
    alpha: float = 1 - CONFIDENCE

    @classmethod
    def at_first(cls, n_docs: int, confidence: float = CONFIDENCE) -> RecallBound:
        """Of so many documents every number may be relevant."""
        none = np.zeros(n_docs + 1)
        return cls(0, none, none, none, none, none, none, alpha=1 - confidence)

    @property
    def most(self) -> int:
        """The largest number that is not excluded."""
        return self.least + len(self.tail) - 1

    @property
    def likeliest(self) -> int:
        """The number under which the draws are most probable; the smallest, where several are."""
        return self.least + int(self.likelihood.argmax()) if len(self.likelihood) else self.least

    def known(self, found: int, unjudged: int) -> RecallBound:
        """Without numbers that what was read has made impossible: fewer than found, more than found and unjudged."""
        first, last = max(found - self.least, 0), min(found + unjudged - self.least, len(self.tail) - 1)
        if first == 0 and last == len(self.tail) - 1:
            return self
        if first > last:  # the bound was wrong, as it may be once in twenty: everything left is possible again
            fresh = RecallBound.at_first(found + unjudged, 1 - self.alpha)
            return replace(fresh, drawn=self.drawn, hits=self.hits).known(found, unjudged)
        return replace(self._cut(first, last + 1), lowest=max(self.lowest, found))

    def anew(self) -> RecallBound:
        """After the ranking has found something again: what was seen of the rest before is no guess of it any more."""
        return replace(self, hits_tail=0, expected_tail=np.zeros(len(self.tail)))

    def after(self, found: int, unjudged: int, relevant: bool, *, tail: bool) -> RecallBound:
        """After a document that was drawn from all unjudged ones; ``found`` and ``unjudged`` were known before."""
        known = self.known(found, unjudged)
        numbers = known.least + np.arange(len(known.tail))
        chance = (numbers - found) / unjudged
        guess = (known.hits + HITS) / (known.expected + EXPOSURE)
        fewer, more = np.minimum(guess, 1.0), np.maximum(guess, 1.0)
        more = np.where(more * chance > 1, 1.0 / np.maximum(chance, 1e-300), more)
        tail_fewer = np.minimum((known.hits_tail + HITS) / (known.expected_tail + EXPOSURE), 1.0)
        with np.errstate(divide="ignore"):
            likelihood = known.likelihood + np.log(chance if relevant else 1 - chance)
        made = replace(
            known,
            tail=known.tail + (_gain(tail_fewer, chance, relevant) if tail else 0.0),
            whole=known.whole + _gain(fewer, chance, relevant),
            below=known.below + _gain(more, chance, relevant),
            likelihood=likelihood,
            expected=known.expected + chance,
            expected_tail=known.expected_tail + (chance if tail else 0.0),
            drawn=known.drawn + 1,
            hits=known.hits + relevant,
            hits_tail=known.hits_tail + (relevant and tail),
        )
        return made._excluded().known(found + relevant, unjudged - 1)

    def _excluded(self) -> RecallBound:
        """Without the numbers whose capital has reached 1/α: from above; those from below are only remembered."""
        enough = -math.log(self.alpha)
        capital = np.logaddexp(math.log(OF_TAIL) + self.tail, math.log(1 - OF_TAIL) + self.whole)
        left = np.flatnonzero(capital < enough)
        few = np.flatnonzero(self.below < enough)
        lowest = max(self.lowest, self.least + int(few[0])) if len(few) else self.lowest
        return replace(self._cut(0, int(left[-1]) + 1 if len(left) else 1), lowest=lowest)

    def _cut(self, start: int, stop: int) -> RecallBound:
        names = ("tail", "whole", "below", "likelihood", "expected", "expected_tail")
        cut: dict[str, Any] = {name: getattr(self, name)[start:stop] for name in names}
        return replace(self, least=self.least + start, **cut)


def _gain(bet: Doubles, chance: Doubles, relevant: bool) -> Doubles:
    """By what a draw multiplies capital, as a logarithm; what cannot be is left to ``known``."""
    if relevant:
        return np.log(bet)
    return np.log(np.maximum(1 - bet * chance, 1e-300)) - np.log(np.maximum(1 - chance, 1e-300))
