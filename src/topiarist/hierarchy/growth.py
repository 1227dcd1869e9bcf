"""The only growth loop.

It knows neither a model nor a way to find splits. A *proposer* says which leaves may part, and how warm it is; the
*species* (a model with its data) makes parameters for the halves and lets EM repair the whole tree; the proposer looks
at the result and says which splits to take back. Held-out tokens judge every tree on the way. When there is no further
proposal, the smallest tree that predicts them as well as the best, within one per cent, is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from topiarist.hierarchy.parts import Parts, Split, collapse_negligible, in_tree_order, join, without_empty


@dataclass(frozen=True)
class Stage:
    """A tree on the way: its parameters, and what they make of held-out tokens."""

    parts: Parts
    heldout: float  # log-likelihood per held-out token
    inverse_temperature: float = 1.0
    objectives: tuple[float, ...] = ()  # of the EM steps that led here
    stopped: str = ""  # why these ended

    @property
    def perplexity(self) -> float:
        """Of the held-out tokens."""
        return math.exp(-self.heldout)


@dataclass(frozen=True)
class Proposal:
    """Leaves that may part, and the temperature at which EM is to find out."""

    splits: tuple[Split, ...]
    inverse_temperature: float = 1.0


@dataclass(frozen=True)
class Trial:
    """What became of a proposal."""

    before: Stage
    after: Stage
    pairs: tuple[tuple[int, int], ...]  # the two classes of each split


class Proposer(Protocol):
    """Where splits come from, and which of them hold."""

    reason: str  # why there are no more proposals

    def propose(self, stage: Stage) -> Proposal | None:
        """The next splits to try; None when growing should end."""

    def refused(self, trial: Trial) -> tuple[int, ...]:
        """The splits of a trial to take back, by their places in the proposal."""


class Species(Protocol):
    """A model with its data: all that the loop needs to know."""

    def seedling(self) -> Parts:
        """A tree of one node."""

    def divided(self, parts: Parts, splits: tuple[Split, ...]) -> Parts:
        """Start parameters for the halves."""

    def fitted(self, parts: Parts, inverse_temperature: float, *, last: bool = False) -> Stage:
        """EM over the whole tree, and its held-out likelihood; more patiently for the ``last`` time."""


@dataclass(frozen=True)
class Rules:
    """What to take of all that has grown."""

    n_classes: int | None = None  # the last tree, which has as many leaves as this; None lets held-out tokens choose
    tolerance: float = 0.01  # a smaller tree is taken if its perplexity is within this of the best
    emptiest: float = 0.5  # leaves of fewer expected documents are removed
    negligible: float = 0.15  # inner nodes that explain less of what is below them are removed


@dataclass(frozen=True)
class Record:
    """What has been seen so far, and the trees that may still be taken."""

    n_leaves: tuple[int, ...] = ()
    perplexity: tuple[float, ...] = ()
    candidates: tuple[Stage, ...] = ()

    def with_stage(self, stage: Stage, tolerance: float) -> Record:
        """One tree more. A tree that is worse than the best by more than the tolerance will never be chosen."""
        best = min((*self.perplexity, stage.perplexity))
        kept = tuple(s for s in (*self.candidates, stage) if s.perplexity <= best * (1 + tolerance))
        return Record((*self.n_leaves, stage.parts.n_classes), (*self.perplexity, stage.perplexity), kept)

    def smallest(self) -> Stage:
        """The candidate with the fewest leaves; the better one where two have as many."""
        return min(self.candidates, key=lambda stage: (stage.parts.n_classes, stage.perplexity))


@dataclass(frozen=True)
class Growth:
    """The tree taken, the held-out curve that led to it, and why growing ended: see the proposers, or "interrupted"."""

    stage: Stage
    n_leaves: tuple[int, ...]
    perplexity: tuple[float, ...]
    chosen: int
    reason: str


def grow(species: Species, proposer: Proposer, rules: Rules, watch: Callable[[Record], None] | None = None) -> Growth:
    """Grow from one node until nothing more is proposed, and return the tree to keep. Ctrl-C keeps the best so far."""
    stage = species.fitted(species.seedling(), 1.0)
    record = Record().with_stage(stage, rules.tolerance)
    interrupted = False
    try:
        while (proposal := proposer.propose(stage)) is not None:
            stage = _tried(species, proposer, stage, proposal)
            record = record.with_stage(stage, rules.tolerance)
            if watch is not None:
                watch(record)
            if interrupted := stage.stopped == "interrupted":
                break
    except KeyboardInterrupt:
        interrupted = True
    chosen = stage if rules.n_classes is not None else record.smallest()
    done = replace(chosen, parts=in_tree_order(chosen.parts), stopped="interrupted")
    if not interrupted:
        try:
            parts = collapse_negligible(without_empty(chosen.parts, rules.emptiest), rules.negligible)
            done = species.fitted(parts, chosen.inverse_temperature, last=True)
            done = replace(done, parts=in_tree_order(done.parts))
        except KeyboardInterrupt:
            pass
    reason = "interrupted" if done.stopped == "interrupted" else proposer.reason
    return Growth(done, record.n_leaves, record.perplexity, chosen.parts.n_classes, reason)


def _tried(species: Species, proposer: Proposer, stage: Stage, proposal: Proposal) -> Stage:
    """The tree after a proposal: with the splits that hold, and as it was where none was meant to warm up or cool."""
    first = stage.parts.n_classes
    pairs = tuple((split.index, first + number) for number, split in enumerate(proposal.splits))
    after = species.fitted(species.divided(stage.parts, proposal.splits), proposal.inverse_temperature)
    refused = proposer.refused(Trial(stage, after, pairs))
    if not refused:
        return after
    if len(refused) == len(pairs) and proposal.inverse_temperature == stage.inverse_temperature:
        return replace(stage, stopped=after.stopped)
    return replace(after, parts=join(after.parts, [pairs[number] for number in refused]))
