"""Preparation of documents for growth, the growth of a tree, and the curve of held-out perplexity."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, DTypeLike, Floats
from topiarist.counts.lsi import Factors, compute_document_directions
from topiarist.counts.split import split_tokens
from topiarist.counts.validation import count_tokens
from topiarist.counts.vectors import join_spaces
from topiarist.counts.weighting import effective_length_weights, scale_rows
from topiarist.errors import InputError
from topiarist.estimators.common import options
from topiarist.estimators.common.progress import show_growth
from topiarist.estimators.common.stored_counts import choose_executor
from topiarist.estimators.tree.curve import Curve
from topiarist.execution.executors import Executor
from topiarist.models import cam, em
from topiarist.models.directions import Directions, sum_vectors
from topiarist.models.engine import CountsView, Shard
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.annealed import AnnealedProposer
from topiarist.trees.growth.growing_models import CamGrowingModel, Steps, make_cam_params
from topiarist.trees.growth.guided import GuidedProposer
from topiarist.trees.growth.hplsa_growing import HplsaGrowingModel
from topiarist.trees.growth.loop import Growth, Journal, Proposer, Record, Rules, Stage, grow
from topiarist.trees.growth.parts import GrowthState
from topiarist.trees.growth.stored_documents import StoredDocuments
from topiarist.trees.tree import Tree

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

SPACE_DIMENSIONS = 50  # of the space in which guided growth looks for splits
ANNEALING_STEPS = Steps(
    growing=40, growing_tol=-math.inf, large=40
)  # fresh doubles gain next to nothing before they part
TILE_COLUMNS = 64  # clusters that the sweeps by words are laid out for


def make_curve(growth: Growth) -> Curve | None:
    record = growth.record
    if not record.n_leaves:
        return None
    return Curve(np.array(record.n_leaves), np.array(record.perplexity), np.array(record.criterion), growth.place)


def make_given_growth(stage: Stage) -> Growth:
    """Return the growth of a given tree."""
    return Growth(stage, Record(), 0, "interrupted" if stage.stopped == "interrupted" else "given")


def run_last_fit(
    model: Any,
    blocks: Sequence[object],
    start: em.State,
    rules: em.Rules,
    inverse_temperature: float,
    *,
    watch: Callable[[em.Loop], None] | None,
    executor: Executor | None,
) -> em.Fit:
    """Run EM over all tokens, starting and ending on the host; Ctrl-C in its first step keeps the start."""
    engine: Engine = model.engine
    place, to_place = choose_executor(engine, blocks, executor)
    try:
        fit = em.run(
            model, blocks, to_place(start), rules,
            inverse_temperature=inverse_temperature, watch=watch, executor=place,
        )  # fmt: skip
    except KeyboardInterrupt:
        return em.Fit(start, (), (), 0, "interrupted", inverse_temperature)
    return replace(fit, state=engine.to_host(fit.state))


@dataclass(frozen=True)
class GrowthData:
    """Documents prepared for growth: training tokens, held-out tokens, and a point in space for each document."""

    training: Shard
    heldout: Shard | None
    heldout_counts: Any  # the held-out tokens, each counting one
    counts: Any  # what ``training`` indexes
    collection: Floats  # P(w)
    vectors: Floats
    directions: Floats | None = None  # the vectors that documents came with
    stored: StoredDocuments | None = None  # all documents, where those here are drawn from files

    def space(self, concentration: float) -> Floats:
        """Return the points in which to look for splits: latent space, with vectors if they have a weight."""
        if self.directions is None or not concentration:
            return self.vectors
        return join_spaces(self.vectors, count_tokens(self.counts), self.directions, concentration, SPACE_DIMENSIONS)


def split_heldout(counts: Csr, fraction: float, seed: int) -> tuple[Any, Any]:
    """Return training and held-out tokens; a document without training tokens keeps all its tokens for training."""
    training, heldout = split_tokens(counts, (1 - fraction, fraction), seed=seed)
    bare = (np.diff(training.indptr) == 0) & (np.diff(counts.indptr) > 0)
    if bare.any():
        training = csr_array(training + scale_rows(counts, bare.astype(np.float64)))
        heldout = scale_rows(heldout, (~bare).astype(np.float64))
        for part in (training, heldout):
            part.eliminate_zeros()
    return training, heldout


def prepare_growth(
    engine: Engine,
    counts: Csr,
    effective_length: float | None,
    fraction: float,
    dtype: DTypeLike,
    seed: int,
    directions: Floats | None = None,
) -> GrowthData:
    """Hold out a fraction of each document's tokens, weigh the rest, and compute the points in latent space.

    ``directions`` are the vectors of the documents, if any.
    """
    training, heldout = split_heldout(counts, fraction, seed)
    weights = effective_length_weights(counts, effective_length)
    training_counts = scale_rows(training, weights)
    totals = np.asarray(training_counts.sum(axis=0), np.float64).ravel()
    word_totals = np.asarray(counts.sum(axis=0), np.float64).ravel()
    # a word whose every token is held out is still possible, as if it had been seen once in a thousand times
    totals += 1e-3 * (word_totals > 0)
    points = compute_document_vectors(training, seed, engine.leading_factors)
    return GrowthData(
        engine.shard(training_counts, dtype, TILE_COLUMNS),
        engine.shard(scale_rows(heldout, weights), dtype, TILE_COLUMNS),
        heldout,
        training_counts,
        totals / totals.sum(),
        points,
        directions,
    )


def compute_document_vectors(counts: Csr, seed: int, factors: Factors | None = None) -> Floats:
    return compute_document_directions(counts, SPACE_DIMENSIONS, seed, factors)


def compute_heldout_likelihood(engine: Engine, ground: GrowthData, stage: Stage) -> float:
    """Return the log-likelihood of a CAM per unweighted held-out token, to compare effective lengths."""
    return _compute_heldout_likelihood(engine, ground, stage.parts, stage.parts.class_given_doc)


def choose_concentration(engine: Engine, ground: GrowthData, stage: Stage, choices: Sequence[float]) -> float:
    """Return the vector weight under which held-out tokens are most likely, for a fixed tree and directions."""
    parts = stage.parts
    if ground.directions is None:
        return 0.0
    joined = Directions.from_vectors(ground.directions, 1.0)
    means = joined.means(sum_vectors(engine, parts.class_given_doc, ground.directions))
    shared = replace(make_cam_params(parts), directions=means)

    def likelihood(concentration: float) -> float:
        model = cam.Cam(engine, parts.path_mask, vector_model=replace(joined, concentration=concentration))
        rows = model.fold_in(shared, ground.training.rows, stage.inverse_temperature, ground.directions)
        return _compute_heldout_likelihood(engine, ground, parts, rows)

    return max(choices, key=likelihood)


def _compute_heldout_likelihood(engine: Engine, ground: GrowthData, parts: GrowthState, posterior: Floats) -> float:
    """Return the log-likelihood per held-out token, given the share of each class in each document."""
    rows = CountsView.from_matrix(ground.heldout_counts, parts.word_given_node.dtype)
    total = cam.Cam(engine, parts.path_mask).log_likelihood(make_cam_params(parts), rows, posterior)
    return total / max(float(ground.heldout_counts.data.sum(dtype=np.float64)), 1.0)


def check_filled(estimator: BaseEstimator, filled: int, n_docs: int) -> None:
    """Raise InputError if fewer documents have words than the tree of an estimator has leaves."""
    tree, name = estimator.tree, estimator._number
    n_leaves = getattr(estimator, name)
    if tree is not None:
        check_tree(tree, n_leaves, name)
    n_wanted = len(tree.leaves) if tree is not None else n_leaves or 1
    if not filled:
        raise InputError(
            f"no document has any words (n_samples={n_docs})", hint="Pass documents with words that are counted."
        )
    if filled < n_wanted:
        subject = f"{name}={n_wanted} needs" if tree is None else f"the given tree has {n_wanted} leaves, which need"
        raise InputError(
            f"{subject} at least as many documents with words, got {filled} (n_samples={n_docs})",
            hint=f"Use at most {max(1, filled // 5)} leaves, or add documents.",
        )


def check_number_of_leaves(estimator: BaseEstimator, name: str, largest: str) -> None:
    if getattr(estimator, name) is not None:
        options.check_integer(name, getattr(estimator, name), 1, hint="Use None to have it chosen.")
    options.check_integer(largest, getattr(estimator, largest), 1)


def check_tree(tree: Tree | None, n_leaves: int | None, name: str) -> None:
    """Raise InputError unless ``tree`` is a tree with ``n_leaves`` leaves, if a number is set."""
    if not isinstance(tree, Tree):
        raise InputError(f"tree must be a topiarist.Tree or None, got {tree!r}", hint="Pass Tree.from_paths([...]).")
    if n_leaves is not None and n_leaves != len(tree.leaves):
        raise InputError(
            f"{name}={n_leaves} contradicts the given tree, which has {len(tree.leaves)} leaves",
            hint=f"Omit {name}.",
        )


def grow_tree(
    estimator: BaseEstimator,
    species: CamGrowingModel | HplsaGrowingModel,
    vectors: Floats,
    annealing: tuple[Sequence[float], Floats] | None,
    journal: Journal | None,
    *,
    keep_all: bool = False,
    max_leaves: int | None = None,
) -> Growth:
    """Grow a tree by the options of an estimator; ``annealing`` has the schedule and the weights of documents.

    ``keep_all`` keeps negligible inner nodes, as in the papers. ``max_leaves`` is the number of leaves that fit into
    memory.
    """
    number = getattr(estimator, estimator._number)
    max_leaves = max_leaves or getattr(estimator, estimator._number.replace("n_", "max_"))
    fewest = 3.0 if number is None else 1.0
    proposer: Proposer
    if annealing is not None:
        species = replace(species, steps=ANNEALING_STEPS)
        proposer = AnnealedProposer(*annealing, number, max_leaves, min_documents=fewest)
    else:
        engine = species.engine
        proposer = GuidedProposer(
            engine.to_device(vectors), species.rng, number, max_leaves, min_documents=fewest, halves=engine.split_in_two
        )
    rules = Rules(number, headings=estimator.headings)
    if keep_all or annealing is not None:
        rules = Rules(number, negligible=0.0)
    with show_growth(type(estimator).__name__, show=bool(estimator.verbose)) as watch:
        growth = grow(species, proposer, rules, watch, journal)
    n_leaves = growth.stage.parts.n_classes
    if number is not None and n_leaves < number and growth.reason != "interrupted":
        warnings.warn(
            f"The tree has {n_leaves} leaves instead of {estimator._number}={number}, because the other leaves had no "
            "documents.",
            UserWarning,
            stacklevel=4,
        )
    return growth


def check_common(estimator: BaseEstimator) -> None:
    options.check_one_of("growth", estimator.growth, ("guided", "annealed"))
    options.check_one_of("headings", estimator.headings, (True, False))
    options.check_number("heldout_fraction", estimator.heldout_fraction, 0.001, 0.9, hint="Use 0.1.")
    options.check_common(estimator)
