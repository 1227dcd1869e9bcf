"""The only growth loop.

It knows neither a model nor a way to find splits. A *proposer* says which leaves may part, and how warm it is; the
*species* (a model with its data) makes parameters for the halves and lets EM repair the whole tree; the proposer looks
at the result and says which splits to take back. Held-out tokens judge every tree on the way. When there is no further
proposal, the smallest tree that predicts them as well as the best, within one per cent, is taken.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.headings import headed
from topiarist.hierarchy.growth.parts import (
    Parts,
    Split,
    collapse_negligible,
    collapse_upside_down,
    in_tree_order,
    join,
    without_empty,
)
from topiarist.models.engine import tables


@dataclass(frozen=True)
class Stage:
    """A tree on the way: its parameters, and what they make of held-out tokens.

    The levels may be fitted on the very tokens that judge. ``charge`` is what that costs: one nat for each parameter.
    """

    parts: Parts
    heldout: float  # log-likelihood per held-out token
    charge: float = 0.0  # nats per held-out token
    inverse_temperature: float = 1.0
    objectives: tuple[float, ...] = ()  # of the EM steps that led here
    stopped: str = ""  # why these ended
    by_document: Array = field(default_factory=lambda: np.zeros(0))  # what each document adds to both likelihoods
    vectors: float = 0.0  # log-likelihood of the documents' vectors, per token of the collection

    @property
    def score(self) -> float:
        """What trees are compared by."""
        return self.heldout + self.vectors - self.charge if math.isfinite(self.heldout) else -math.inf

    @property
    def perplexity(self) -> float:
        """Of the held-out tokens."""
        return math.exp(min(-self.heldout, 700.0))

    @property
    def criterion(self) -> float:
        """The perplexity that trees are compared by, with the charge."""
        return math.exp(min(-self.score, 700.0))


def standard_error(one: Array, other: Array) -> float:
    """Of the difference between two likelihoods, from what each document adds to either: documents are drawn."""
    difference = one - other
    return float(np.sqrt(len(difference)) * difference.std()) if len(difference) else 0.0


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

    def memory(self) -> dict[str, Any]:
        """What it has learned so far, as plain JSON data."""

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Go on with what ``memory`` told."""


class Species(Protocol):
    """A model with its data: all that the loop needs to know."""

    @property
    def collection(self) -> Any:
        """P(w) of the collection."""

    @property
    def rng(self) -> Any:
        """Where chance comes from, here and in the proposer."""

    @property
    def block(self) -> Any:
        """Its documents: ``training.rows`` are their tokens."""

    def seedling(self) -> Parts:
        """A tree of one node."""

    def class_tables(self, parts: Parts) -> tuple[Any, Any]:
        """See ``Engine.class_tables``: of its documents, by their shares in classes."""

    def divided(self, parts: Parts, splits: tuple[Split, ...]) -> Parts:
        """Start parameters for the halves."""

    def fitted(self, parts: Parts, inverse_temperature: float, *, last: bool = False) -> Stage:
        """EM over the whole tree, and its held-out likelihood; more patiently for the ``last`` time."""

    def judged(self, parts: Parts, inverse_temperature: float) -> Stage:
        """The held-out likelihood of parameters as they are."""


@dataclass(frozen=True)
class Rules:
    """What to take of all that has grown."""

    n_classes: int | None = None  # the last tree, which has as many leaves as this; None lets held-out tokens choose
    tolerance: float = 0.01  # a smaller tree is taken if its perplexity is within this of the best
    emptiest: float = 0.5  # leaves of fewer expected documents are removed
    negligible: float = 0.15  # inner nodes that explain less of what is below them are removed; 0 keeps all
    headings: bool = False  # build the upper tree anew, from the leaves


@dataclass(frozen=True)
class Record:
    """What has been seen so far, and the trees that may still be taken."""

    n_leaves: tuple[int, ...] = ()
    perplexity: tuple[float, ...] = ()
    criterion: tuple[float, ...] = ()
    candidates: tuple[tuple[int, Stage], ...] = ()  # with their places in the curve

    def with_stage(self, stage: Stage, rules: Rules) -> Record:
        """One tree more. Of the earlier ones those are kept that are good enough, and better than all smaller ones."""
        kept: tuple[tuple[int, Stage], ...] = ((len(self.n_leaves), stage),)
        if rules.n_classes is None:
            within = math.log1p(rules.tolerance)
            best = max(other.score for _, other in (*self.candidates, *kept))
            for place, other in reversed(self.candidates):
                rivals = [one for _, one in kept if one.parts.n_classes <= other.parts.n_classes]
                if other.score >= best - within and all(other.score > one.score for one in rivals):
                    kept = ((place, other), *kept)
        return Record(
            (*self.n_leaves, stage.parts.n_classes), (*self.perplexity, stage.perplexity),
            (*self.criterion, stage.criterion), kept,
        )  # fmt: skip

    def smallest(self, tolerance: float) -> tuple[int, Stage]:
        """The candidate with the fewest leaves that is good enough; the better one where two have as many.

        Where vectors have a say, good enough is also: not worse by more than the standard error of the difference. A
        share of the perplexity of words says little of both together.
        """
        best = max((stage for _, stage in self.candidates), key=lambda stage: stage.score)
        enough = [
            entry for entry in self.candidates if entry[1].score >= best.score - _behind(best, entry[1], tolerance)
        ]
        return min(enough or self.candidates, key=lambda entry: (entry[1].parts.n_classes, -entry[1].score))


def _behind(best: Stage, other: Stage, tolerance: float) -> float:
    """By how much a smaller tree may be worse than the best."""
    within = math.log1p(tolerance)
    known = best.vectors != 0.0 and len(best.by_document) == len(other.by_document) > 0
    return min(within, standard_error(best.by_document, other.by_document)) if known else within


@dataclass(frozen=True)
class Growth:
    """The tree taken, the curve that led to it, and why growing ended: see the proposers, or "interrupted"."""

    stage: Stage
    record: Record
    place: int  # in the curve
    reason: str

    @property
    def n_leaves(self) -> tuple[int, ...]:
        """Of the trees on the way."""
        return self.record.n_leaves

    @property
    def perplexity(self) -> tuple[float, ...]:
        """Of the trees on the way."""
        return self.record.perplexity

    @property
    def chosen(self) -> int:
        """Leaves of the tree that was taken, when it was taken."""
        return self.record.n_leaves[self.place]


@dataclass(frozen=True)
class Checkpoint:
    """Where growth stands: enough to go on from here to the very same tree."""

    stage: Stage
    record: Record
    memory: Mapping[str, Any]  # of the proposer
    chance: Mapping[str, Any]  # the state of the generator that all of them draw from


class Journal(Protocol):
    """Keeps checkpoints, as often as it likes, where the end of a process does not reach them."""

    def recall(self) -> Checkpoint | None:
        """The last one that was kept."""

    def note(self, checkpoint: Callable[[], Checkpoint]) -> None:
        """Growth stands here; to be called if this one is to be kept."""


def grow(
    species: Species,
    proposer: Proposer,
    rules: Rules,
    watch: Callable[[Record], None] | None = None,
    journal: Journal | None = None,
) -> Growth:
    """Grow from one node until nothing more is proposed, and return the tree to keep. Ctrl-C keeps the best so far."""
    stage, record = _begun_or_resumed(species, proposer, rules, journal)
    interrupted = stage.stopped == "interrupted"
    try:
        while not interrupted and (proposal := proposer.propose(stage)) is not None:
            stage = _tried(species, proposer, stage, proposal, rules)
            record = record.with_stage(stage, rules)
            if watch is not None:
                watch(record)
            if journal is not None:
                journal.note(partial(_standing, stage, record, proposer.memory(), species.rng.bit_generator.state))
            interrupted = stage.stopped == "interrupted"
    except KeyboardInterrupt:
        interrupted = True
    place, chosen = (
        (len(record.n_leaves) - 1, stage) if rules.n_classes is not None else record.smallest(rules.tolerance)
    )
    done = replace(chosen, parts=in_tree_order(chosen.parts), stopped="interrupted")
    if not interrupted:
        with suppress(KeyboardInterrupt):
            done = _finished(species, chosen, rules)
    reason = "interrupted" if done.stopped == "interrupted" else proposer.reason
    return Growth(done, record, place, reason)


def _standing(stage: Stage, record: Record, memory: Mapping[str, Any], chance: Mapping[str, Any]) -> Checkpoint:
    """A checkpoint, whose tables are home from wherever they are computed with."""
    kept = tuple((place, _at_home(other)) for place, other in record.candidates)
    return Checkpoint(_at_home(stage), replace(record, candidates=kept), memory, chance)


def _at_home(stage: Stage) -> Stage:
    return replace(stage, parts=stage.parts.moved(tables.at_home))


def _begun_or_resumed(
    species: Species, proposer: Proposer, rules: Rules, journal: Journal | None
) -> tuple[Stage, Record]:
    kept = journal.recall() if journal is not None else None
    if kept is not None and len(kept.stage.parts.class_given_doc) != species.block.training.rows.n_rows:
        warnings.warn("The tree that was begun knew other documents, and is begun anew.", UserWarning, stacklevel=2)
        kept = None
    if kept is not None:
        proposer.remember(kept.memory)
        species.rng.bit_generator.state = dict(kept.chance)
        return kept.stage, kept.record
    stage = begun(species, species.seedling())
    return stage, Record().with_stage(stage, rules)


def begun(species: Species, start: Parts, *, last: bool = False) -> Stage:
    """EM from a start; Ctrl-C in its first step keeps the start."""
    try:
        return species.fitted(start, 1.0, last=last)
    except KeyboardInterrupt:
        return replace(species.judged(start, 1.0), stopped="interrupted")


def _tried(species: Species, proposer: Proposer, stage: Stage, proposal: Proposal, rules: Rules) -> Stage:
    """The tree after a proposal: with the splits that hold, without leaves that EM has emptied.

    Where no split holds and the temperature is what it was, the tree is as it was.
    """
    first = stage.parts.n_classes
    pairs = tuple((split.index, first + number) for number, split in enumerate(proposal.splits))
    after = species.fitted(species.divided(stage.parts, proposal.splits), proposal.inverse_temperature)
    refused = proposer.refused(Trial(stage, after, pairs))
    if refused and len(refused) == len(pairs) and proposal.inverse_temperature == stage.inverse_temperature:
        return replace(stage, stopped=after.stopped)
    parts = without_empty(join(after.parts, [pairs[number] for number in refused]), rules.emptiest)
    return after if parts is after.parts else _judged(species, parts, after)


def _finished(species: Species, chosen: Stage, rules: Rules) -> Stage:
    """The chosen tree under headings, or without nodes that say nothing; fitted patiently, in a readable order."""
    parts = without_empty(chosen.parts, rules.emptiest)
    if rules.headings:
        parts = headed(parts, species.class_tables)
    elif rules.negligible > 0:
        parts = collapse_upside_down(collapse_negligible(parts, rules.negligible), species.collection)
    done = species.fitted(parts, chosen.inverse_temperature, last=True)
    parts = without_empty(done.parts, rules.emptiest)
    if parts is not done.parts:
        done = _judged(species, parts, done)
    return replace(done, parts=in_tree_order(parts))


def _judged(species: Species, parts: Parts, like: Stage) -> Stage:
    judged = species.judged(parts, like.inverse_temperature)
    return replace(judged, objectives=like.objectives, stopped=like.stopped)
