"""The growth loop, shared by all models and all proposers.

A *proposer* decides which leaves may split and at which temperature. The *growing model* (a model with its data)
creates parameters for the halves and refits the whole tree by EM. The proposer then decides which splits to reject.
Held-out tokens evaluate every tree on the way. When there is no further proposal, the smallest tree whose perplexity
is within one per cent of the best is selected.
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
from topiarist.models.engine import tables
from topiarist.trees.growth.headings import add_headings
from topiarist.trees.growth.parts import (
    GrowthState,
    Split,
    collapse_negligible,
    collapse_upside_down,
    join,
    remove_empty_leaves,
    sort_by_tree,
)


@dataclass(frozen=True)
class Stage:
    """A tree during growth: its parameters and its held-out log-likelihood.

    The levels may be fitted on the tokens that evaluate them. ``charge`` is the penalty for this: one nat per
    parameter.
    """

    parts: GrowthState
    heldout: float  # log-likelihood per held-out token
    charge: float = 0.0  # nats per held-out token
    inverse_temperature: float = 1.0
    objectives: tuple[float, ...] = ()  # of the EM steps of this tree
    stopped: str = ""  # reason why EM ended
    by_document: Array = field(default_factory=lambda: np.zeros(0))  # contribution of each document to both likelihoods
    vectors: float = 0.0  # log-likelihood of the documents' vectors, per token of the collection

    @property
    def score(self) -> float:
        """Value by which trees are compared: the log-likelihood minus the charge."""
        return self.heldout + self.vectors - self.charge if math.isfinite(self.heldout) else -math.inf

    @property
    def perplexity(self) -> float:
        """Perplexity of the held-out tokens."""
        return math.exp(min(-self.heldout, 700.0))

    @property
    def criterion(self) -> float:
        """Perplexity by which trees are compared, including the charge."""
        return math.exp(min(-self.score, 700.0))


def compute_standard_error(likelihoods: Array, other_likelihoods: Array) -> float:
    """Return the standard error of the difference of two likelihoods, paired over documents."""
    difference = likelihoods - other_likelihoods
    return float(np.sqrt(len(difference)) * difference.std()) if len(difference) else 0.0


@dataclass(frozen=True)
class Proposal:
    """Leaves that may split, and the inverse temperature of EM for this."""

    splits: tuple[Split, ...]
    inverse_temperature: float = 1.0


@dataclass(frozen=True)
class Trial:
    """The result of a proposal."""

    before_stage: Stage
    after_stage: Stage
    pairs: tuple[tuple[int, int], ...]  # the two classes of each split


class Proposer(Protocol):
    """Source of splits, which also decides which splits are kept."""

    reason: str  # reason why there are no more proposals

    def propose(self, stage: Stage) -> Proposal | None:
        """Return the next splits to try, or None to end growth."""

    def find_rejected_splits(self, trial: Trial) -> tuple[int, ...]:
        """Return the indices of the splits of a trial to undo."""

    def export_state(self) -> dict[str, Any]:
        """Return the state of the proposer as plain JSON data."""

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Restore an exported state."""


class GrowingModel(Protocol):
    """A model with its data, as the growth loop requires it."""

    @property
    def collection(self) -> Any:
        """P(w) of the collection."""

    @property
    def rng(self) -> Any:
        """Random generator, shared with the proposer."""

    @property
    def block(self) -> Any:
        """Documents of the fit: ``training.rows`` are their tokens."""

    def create_single_node(self) -> GrowthState:
        """Return a tree of one node."""

    def class_tables(self, parts: GrowthState) -> tuple[Any, Any]:
        """Return word counts and document frequencies of the classes; see ``Engine.class_tables``."""

    def split(self, parts: GrowthState, splits: tuple[Split, ...]) -> GrowthState:
        """Return start parameters for the halves of some classes."""

    def fit(self, parts: GrowthState, inverse_temperature: float, *, last: bool = False) -> Stage:
        """Run EM over the whole tree and evaluate it; with more steps for the ``last`` time."""

    def evaluate(self, parts: GrowthState, inverse_temperature: float) -> Stage:
        """Compute the held-out likelihood without EM."""


@dataclass(frozen=True)
class Rules:
    """Rules by which the tree is selected and finished."""

    n_classes: int | None = None  # requested number of leaves: the last tree is selected; None: held-out tokens decide
    tolerance: float = 0.01  # relative excess of perplexity allowed for a smaller tree
    min_documents: float = 0.5  # leaves of fewer expected documents are removed
    negligible: float = 0.15  # inner nodes that explain less of what is below them are removed; 0 keeps all
    headings: bool = False  # rebuild the upper tree from the leaves


@dataclass(frozen=True)
class Record:
    """The curve so far, and the trees that may still be selected."""

    n_leaves: tuple[int, ...] = ()
    perplexity: tuple[float, ...] = ()
    criterion: tuple[float, ...] = ()
    candidates: tuple[tuple[int, Stage], ...] = ()  # with their indices in the curve

    def with_stage(self, stage: Stage, rules: Rules) -> Record:
        """Add a tree; keep earlier ones that are good enough and better than all smaller ones."""
        candidates: tuple[tuple[int, Stage], ...] = ((len(self.n_leaves), stage),)
        if rules.n_classes is None:
            tolerance = math.log1p(rules.tolerance)
            best = max(other.score for _, other in (*self.candidates, *candidates))
            for place, other in reversed(self.candidates):
                rivals = [rival for _, rival in candidates if rival.parts.n_classes <= other.parts.n_classes]
                if other.score >= best - tolerance and all(other.score > rival.score for rival in rivals):
                    candidates = ((place, other), *candidates)
        return Record(
            (*self.n_leaves, stage.parts.n_classes), (*self.perplexity, stage.perplexity),
            (*self.criterion, stage.criterion), candidates,
        )  # fmt: skip

    def smallest(self, tolerance: float) -> tuple[int, Stage]:
        """Return the candidate with the fewest leaves that is good enough; of equal ones the better.

        With vectors, a candidate must also not be worse by more than the standard error of the difference, because a
        share of the perplexity of words is no measure of both together.
        """
        best = max((stage for _, stage in self.candidates), key=lambda stage: stage.score)
        good_enough = [
            entry
            for entry in self.candidates
            if entry[1].score >= best.score - _compute_tolerance(best, entry[1], tolerance)
        ]
        return min(good_enough or self.candidates, key=lambda entry: (entry[1].parts.n_classes, -entry[1].score))


def _compute_tolerance(best: Stage, other: Stage, tolerance: float) -> float:
    """Return by how much the score of a smaller tree may be below the best."""
    max_loss = math.log1p(tolerance)
    has_vectors = best.vectors != 0.0 and len(best.by_document) == len(other.by_document) > 0
    return min(max_loss, compute_standard_error(best.by_document, other.by_document)) if has_vectors else max_loss


@dataclass(frozen=True)
class Growth:
    """The selected tree, the curve, and the reason why growth ended ("interrupted" or one of the proposer's)."""

    stage: Stage
    record: Record
    place: int  # index in the curve
    reason: str

    @property
    def n_leaves(self) -> tuple[int, ...]:
        """Number of leaves of each tree during growth."""
        return self.record.n_leaves

    @property
    def perplexity(self) -> tuple[float, ...]:
        """Held-out perplexity of each tree during growth."""
        return self.record.perplexity

    @property
    def chosen(self) -> int:
        """Number of leaves of the selected tree when it was selected."""
        return self.record.n_leaves[self.place]


@dataclass(frozen=True)
class Checkpoint:
    """State of growth from which an interrupted run continues to exactly the same tree."""

    stage: Stage
    record: Record
    proposer_state: Mapping[str, Any]
    rng_state: Mapping[str, Any]  # state of the shared random generator


class Journal(Protocol):
    """Storage of checkpoints that survives the end of the process."""

    def recall(self) -> Checkpoint | None:
        """Return the last stored checkpoint."""

    def note(self, checkpoint: Callable[[], Checkpoint]) -> None:
        """Record progress; call ``checkpoint`` only if it is to be stored."""


def grow(
    model: GrowingModel,
    proposer: Proposer,
    rules: Rules,
    watch: Callable[[Record], None] | None = None,
    journal: Journal | None = None,
) -> Growth:
    """Grow from one node until there are no more proposals; return the selected tree. Ctrl-C keeps the best so far."""
    stage, record = _start_or_resume(model, proposer, rules, journal)
    is_interrupted = stage.stopped == "interrupted"
    try:
        while not is_interrupted and (proposal := proposer.propose(stage)) is not None:
            stage = _try_proposal(model, proposer, stage, proposal, rules)
            record = record.with_stage(stage, rules)
            if watch is not None:
                watch(record)
            if journal is not None:
                journal.note(
                    partial(_make_checkpoint, stage, record, proposer.export_state(), model.rng.bit_generator.state)
                )
            is_interrupted = stage.stopped == "interrupted"
    except KeyboardInterrupt:
        is_interrupted = True
    place, chosen_stage = (
        (len(record.n_leaves) - 1, stage) if rules.n_classes is not None else record.smallest(rules.tolerance)
    )
    final_stage = replace(chosen_stage, parts=sort_by_tree(chosen_stage.parts), stopped="interrupted")
    if not is_interrupted:
        with suppress(KeyboardInterrupt):
            final_stage = _finish_tree(model, chosen_stage, rules)
    reason = "interrupted" if final_stage.stopped == "interrupted" else proposer.reason
    return Growth(final_stage, record, place, reason)


def _make_checkpoint(stage: Stage, record: Record, memory: Mapping[str, Any], chance: Mapping[str, Any]) -> Checkpoint:
    candidates = tuple((place, _to_numpy(other)) for place, other in record.candidates)
    return Checkpoint(_to_numpy(stage), replace(record, candidates=candidates), memory, chance)


def _to_numpy(stage: Stage) -> Stage:
    return replace(stage, parts=stage.parts.move_arrays(tables.to_numpy))


def _start_or_resume(
    model: GrowingModel, proposer: Proposer, rules: Rules, journal: Journal | None
) -> tuple[Stage, Record]:
    """Return the checkpoint of the journal, or fit a single node; ignore a foreign checkpoint."""
    checkpoint = journal.recall() if journal is not None else None
    if checkpoint is not None and len(checkpoint.stage.parts.class_given_doc) != model.block.training.rows.n_rows:
        warnings.warn(
            "The checkpoint belongs to other documents and is ignored. Growth starts from the root.",
            UserWarning,
            stacklevel=2,
        )
        checkpoint = None
    if checkpoint is not None:
        proposer.restore_state(checkpoint.proposer_state)
        model.rng.bit_generator.state = dict(checkpoint.rng_state)
        return checkpoint.stage, checkpoint.record
    stage = fit_from_start(model, model.create_single_node())
    return stage, Record().with_stage(stage, rules)


def fit_from_start(model: GrowingModel, start: GrowthState, *, last: bool = False) -> Stage:
    """Fit by EM from start parameters; Ctrl-C in the first step keeps these."""
    try:
        return model.fit(start, 1.0, last=last)
    except KeyboardInterrupt:
        return replace(model.evaluate(start, 1.0), stopped="interrupted")


def _try_proposal(model: GrowingModel, proposer: Proposer, stage: Stage, proposal: Proposal, rules: Rules) -> Stage:
    """Return the tree after a proposal, with the accepted splits and without leaves that EM has emptied.

    Without accepted splits, the tree is unchanged if the temperature is.
    """
    n_classes = stage.parts.n_classes
    pairs = tuple((split.index, n_classes + number) for number, split in enumerate(proposal.splits))
    after_stage = model.fit(model.split(stage.parts, proposal.splits), proposal.inverse_temperature)
    rejected = proposer.find_rejected_splits(Trial(stage, after_stage, pairs))
    if rejected and len(rejected) == len(pairs) and proposal.inverse_temperature == stage.inverse_temperature:
        return replace(stage, stopped=after_stage.stopped)
    parts = remove_empty_leaves(join(after_stage.parts, [pairs[number] for number in rejected]), rules.min_documents)
    return after_stage if parts is after_stage.parts else _evaluate_parts(model, parts, after_stage)


def _finish_tree(model: GrowingModel, chosen_stage: Stage, rules: Rules) -> Stage:
    """Finish the selected tree: add headings or remove negligible nodes, fit with more steps, and sort the nodes."""
    parts = remove_empty_leaves(chosen_stage.parts, rules.min_documents)
    if rules.headings:
        parts = add_headings(parts, model.class_tables)
    elif rules.negligible > 0:
        parts = collapse_upside_down(collapse_negligible(parts, rules.negligible), model.collection)
    done = model.fit(parts, chosen_stage.inverse_temperature, last=True)
    parts = remove_empty_leaves(done.parts, rules.min_documents)
    if parts is not done.parts:
        done = _evaluate_parts(model, parts, done)
    return replace(done, parts=sort_by_tree(parts))


def _evaluate_parts(model: GrowingModel, parts: GrowthState, fitted_stage: Stage) -> Stage:
    stage = model.evaluate(parts, fitted_stage.inverse_temperature)
    return replace(stage, objectives=fitted_stage.objectives, stopped=fitted_stage.stopped)
