"""Has a stream changed? The likelihood of each batch before anything was learned from it, and when it fell for good.

**The figure.** Half of a document's tokens place it in the model, the other half are scored: document completion, as in
``metrics.perplexity``. A model that has merely learned its documents by heart gains nothing by it.

**The test** is that of Page and Hinkley (E. S. Page, Continuous inspection schemes, Biometrika 41, 1954; D. V. Hinkley,
Inference about the change-point from cumulative sum tests, Biometrika 58, 1971): add up by how much each batch falls
short of the mean of those before it, less an allowance; the sum never goes below zero; a large sum is a change. The
scale is the noise between one batch and the next, from the mean of their differences, which a slow rise does not
disturb. It is one-sided: a model that gets better has not drifted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TypeGuard

from topiarist.errors import UsageError

ALLOWANCE = 0.5  # in units of the noise: half of the smallest change that is looked for
ALARM = 14.0  # likewise; a stationary stream reaches it about once in 200,000 batches
FARTHEST = 8.0  # likewise, for one batch: a single strange one is not yet a change
STRANGE = 4.0  # likewise: a batch that falls short by more says nothing about what is usual
WARM_UP = 8  # batches that only show what is usual
QUIETEST = 1e-3  # nats a token: below this nobody cares
NORMAL_DIFFERENCE = 2.0 / math.sqrt(math.pi)  # the mean difference of two standard normal numbers
FEW = 5.0  # a noise that was estimated from n differences is taken 1 + 5 / n times as large


@dataclass(frozen=True)
class BatchRecord:
    """What a batch was like before it was learned from."""

    documents: int
    tokens: float
    log_likelihood: float  # nats a token, by document completion; NaN where nothing could be scored
    new_words: float  # the share of its tokens whose words had never come
    misfits: float  # the share of its documents that fit badly


@dataclass(frozen=True)
class Drift:
    """The course of the test, and the batches (numbered from 0) at which it gave alarm."""

    statistic: tuple[float, ...]  # in units of ``ALARM``: 1 is an alarm
    alarms: tuple[int, ...]

    @property
    def drifted(self) -> bool:
        """Whether there was any alarm."""
        return bool(self.alarms)


def find_drift(
    log_likelihoods: Sequence[float], *, allowance: float = ALLOWANCE, alarm: float = ALARM, warm_up: int = WARM_UP
) -> Drift:
    """When the likelihood of new batches fell for good. After an alarm the test begins anew.

    ``log_likelihoods`` are those of a stream's batches in their order (``record.log_likelihood`` of ``stream_``).
    """
    _check(allowance, alarm, warm_up)
    statistic: list[float] = []
    alarms: list[int] = []
    usual, total = _Usual(), 0.0
    for place, value in enumerate(log_likelihoods):
        if not math.isfinite(value):
            statistic.append(statistic[-1] if statistic else 0.0)
            continue
        shortfall = 0.0
        if usual.batches >= warm_up:
            shortfall = (usual.mean - value) / usual.noise
            total = max(0.0, total + min(shortfall, FARTHEST) - allowance)
        if shortfall < STRANGE:
            usual = usual.joined(float(value))
        statistic.append(total / alarm)
        if total > alarm:
            alarms.append(place)
            usual, total = _Usual(), 0.0
    return Drift(tuple(statistic), tuple(alarms))


@dataclass(frozen=True)
class _Usual:
    """What batches are like, in sums: a long stream costs no more for each of them than a short one."""

    batches: int = 0
    total: float = 0.0
    last: float = 0.0
    differences: float = 0.0  # the sum of their sizes, from one batch to the next

    def joined(self, value: float) -> _Usual:
        step = abs(value - self.last) if self.batches else 0.0
        return _Usual(self.batches + 1, self.total + value, value, self.differences + step)

    @property
    def mean(self) -> float:
        return self.total / self.batches

    @property
    def noise(self) -> float:
        number = self.batches - 1
        return max(QUIETEST, (1.0 + FEW / number) * self.differences / number / NORMAL_DIFFERENCE)


def _check(allowance: object, alarm: object, warm_up: object) -> None:
    if isinstance(warm_up, bool) or not isinstance(warm_up, Integral) or warm_up < 2:
        hint = f"{WARM_UP}: the differences between these batches tell the noise"
        raise UsageError(f"warm_up must be a whole number of at least 2, got {warm_up!r}", hint=hint)
    if not _finite(allowance) or allowance < 0:
        raise UsageError(f"allowance must be a number of at least 0, got {allowance!r}", hint=f"{ALLOWANCE:g}")
    if not _finite(alarm) or alarm <= 0:
        raise UsageError(f"alarm must be a number above 0, got {alarm!r}", hint=f"{ALARM:g}")


def _finite(value: object) -> TypeGuard[float]:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def likelihoods(records: Sequence[BatchRecord]) -> list[float]:
    """The figures of a stream's records."""
    return [float(record.log_likelihood) for record in records]
