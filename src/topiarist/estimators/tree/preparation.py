"""What the estimators of trees share: preparing documents for growth, growing, and remembering the curve."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, DTypeLike, Floats
from topiarist.counts.lsi import Factors, document_directions
from topiarist.counts.split import split_tokens
from topiarist.counts.validation import token_counts
from topiarist.counts.vectors import joined_space
from topiarist.counts.weighting import effective_length_weights, scale_rows
from topiarist.errors import InputError
from topiarist.estimators.common import options
from topiarist.estimators.common.progress import growing_tree
from topiarist.estimators.common.stored_counts import seat
from topiarist.hierarchy.growth.annealed import Annealed
from topiarist.hierarchy.growth.guided import Guided
from topiarist.hierarchy.growth.hplsa_species import HplsaSpecies
from topiarist.hierarchy.growth.loop import Growth, Journal, Proposer, Record, Rules, Stage, grow
from topiarist.hierarchy.growth.parts import Parts
from topiarist.hierarchy.growth.species import CamSpecies, Steps, cam_params
from topiarist.hierarchy.growth.stored_documents import StoredDocuments
from topiarist.hierarchy.tree import Tree
from topiarist.models import cam, em
from topiarist.models.directions import Directions, sums_of
from topiarist.models.engine import Shard, Side
from topiarist.models.engine.host import Engine
from topiarist.scale.executors import Executor

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

DIMENSIONS = 50  # of the space in which guided growth looks for splits
ANNEALING = Steps(growing=40, growing_tol=-math.inf, large=40)  # fresh doubles gain next to nothing before they part
TILE_COLUMNS = 64  # clusters that the sweeps by words are laid out for


@dataclass(frozen=True)
class Curve:
    """Held-out perplexity against the number of leaves, and the place of the tree that was taken.

    Trees were compared by ``criterion``: the perplexity, and a nat for each parameter that was fitted on the same
    tokens.
    """

    n_leaves: Any
    perplexity: Any
    criterion: Any
    place: int

    @property
    def chosen(self) -> int:
        """Leaves of the tree that was taken."""
        return int(self.n_leaves[self.place])

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        known = {name: np.asarray(getattr(self, name)).tolist() for name in ("n_leaves", "perplexity", "criterion")}
        return {**known, "place": self.place, "chosen": self.chosen}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Curve:
        """What ``to_dict`` has written."""
        leaves, perplexity, criterion = (np.array(body[name]) for name in ("n_leaves", "perplexity", "criterion"))
        return cls(leaves, perplexity, criterion, int(body["place"]))

    def plot(self, ax: Any = None) -> Any:
        """Draw it with matplotlib, and return the axes."""
        from topiarist.hierarchy.picture import curve

        return curve(ax, self.n_leaves, self.criterion, self.place, plain=self.perplexity)


def curve_of(grown: Growth) -> Curve | None:
    """The curve of a growth; None where nothing grew."""
    record = grown.record
    if not record.n_leaves:
        return None
    return Curve(np.array(record.n_leaves), np.array(record.perplexity), np.array(record.criterion), grown.place)


def given(stage: Stage) -> Growth:
    """A growth that did not grow."""
    return Growth(stage, Record(), 0, "interrupted" if stage.stopped == "interrupted" else "given")


def last_run(
    model: Any,
    blocks: Sequence[object],
    start: em.State,
    rules: em.Rules,
    inverse_temperature: float,
    *,
    watch: Callable[[em.Loop], None] | None,
    executor: Executor | None,
) -> em.Fit:
    """EM over all tokens, from the host and back to it; Ctrl-C in its first step keeps the start."""
    engine: Engine = model.engine
    place, brought = seat(engine, blocks, executor)
    try:
        fit = em.run(
            model, blocks, brought(start), rules,
            inverse_temperature=inverse_temperature, watch=watch, executor=place,
        )  # fmt: skip
    except KeyboardInterrupt:
        return em.Fit(start, (), (), 0, "interrupted", inverse_temperature)
    return replace(fit, state=engine.to_host(fit.state))


@dataclass(frozen=True)
class Ground:
    """Documents as growth needs them: tokens to learn from, held-out tokens, and a point in space for each."""

    training: Shard
    heldout: Shard | None
    unseen: Any  # the held-out tokens, each counting one
    counts: Any  # what ``training`` indexes
    collection: Floats  # P(w)
    vectors: Floats
    directions: Floats | None = None  # the vectors that documents came with
    stored: StoredDocuments | None = None  # all documents, where those here are drawn from files

    def space(self, concentration: float) -> Floats:
        """Where splits are looked for: latent space, with the vectors beside it where they count."""
        if self.directions is None or not concentration:
            return self.vectors
        return joined_space(self.vectors, token_counts(self.counts), self.directions, concentration, DIMENSIONS)


def parted(counts: Csr, fraction: float, seed: int) -> tuple[Any, Any]:
    """Tokens to learn from, and held-out ones; a document without any to learn from keeps all of its own."""
    training, heldout = split_tokens(counts, (1 - fraction, fraction), seed=seed)
    bare = (np.diff(training.indptr) == 0) & (np.diff(counts.indptr) > 0)
    if bare.any():
        training = csr_array(training + scale_rows(counts, bare.astype(np.float64)))
        heldout = scale_rows(heldout, (~bare).astype(np.float64))
        for part in (training, heldout):
            part.eliminate_zeros()
    return training, heldout


def prepared(
    engine: Engine,
    counts: Csr,
    effective_length: float | None,
    fraction: float,
    dtype: DTypeLike,
    seed: int,
    directions: Floats | None = None,
) -> Ground:
    """Hold out a share of each document's tokens, weigh the rest, and find the documents' places in latent space.

    ``directions`` are the vectors that documents came with, if they did.
    """
    training, heldout = parted(counts, fraction, seed)
    weights = effective_length_weights(counts, effective_length)
    learned = scale_rows(training, weights)
    totals = np.asarray(learned.sum(axis=0), np.float64).ravel()
    everywhere = np.asarray(counts.sum(axis=0), np.float64).ravel()
    # a word whose every token is held out is still possible, as if it had been seen once in a thousand times
    totals += 1e-3 * (everywhere > 0)
    points = document_vectors(training, seed, engine.leading_factors)
    return Ground(
        engine.shard(learned, dtype, TILE_COLUMNS),
        engine.shard(scale_rows(heldout, weights), dtype, TILE_COLUMNS),
        heldout,
        learned,
        totals / totals.sum(),
        points,
        directions,
    )


def document_vectors(counts: Csr, seed: int, factors: Factors | None = None) -> Floats:
    """Unit vectors of latent semantic indexing, with damped counts; zero for a document without words."""
    return document_directions(counts, DIMENSIONS, seed, factors)


def unseen_likelihood(engine: Engine, ground: Ground, stage: Stage) -> float:
    """Log-likelihood per held-out token of a CAM, every token counting one: comparable between effective lengths."""
    return _unseen(engine, ground, stage.parts, stage.parts.class_given_doc)


def best_concentration(engine: Engine, ground: Ground, stage: Stage, choices: Sequence[float]) -> float:
    """The weight of vectors at which held-out tokens are most likely, the tree and its directions staying."""
    parts = stage.parts
    if ground.directions is None:
        return 0.0
    joined = Directions.of(ground.directions, 1.0)
    means = joined.means(sums_of(engine, parts.class_given_doc, ground.directions))
    shared = replace(cam_params(parts), directions=means)

    def likelihood(concentration: float) -> float:
        model = cam.Cam(engine, parts.path_mask, joined=replace(joined, concentration=concentration))
        rows = model.fold_in(shared, ground.training.rows, stage.inverse_temperature, ground.directions)
        return _unseen(engine, ground, parts, rows)

    return max(choices, key=likelihood)


def _unseen(engine: Engine, ground: Ground, parts: Parts, posterior: Floats) -> float:
    rows = Side.of(ground.unseen, parts.word_given_node.dtype)
    total = cam.Cam(engine, parts.path_mask).log_likelihood(cam_params(parts), rows, posterior)
    return total / max(float(ground.unseen.data.sum(dtype=np.float64)), 1.0)


def check_size(tree: Tree | None, n_leaves: int | None, name: str, counts: Csr) -> None:
    """Enough documents with words for the leaves that are given or asked for."""
    check_filled(tree, n_leaves, name, int(np.count_nonzero(np.diff(counts.indptr))), counts.shape[0])


def check_filled(tree: Tree | None, n_leaves: int | None, name: str, filled: int, n_docs: int) -> None:
    """The same, from the number of documents that have any words."""
    if tree is not None:
        check_tree(tree, n_leaves, name)
    wanted = len(tree.leaves) if tree is not None else n_leaves or 1
    if not filled:
        raise InputError(
            f"no document has any words (n_samples={n_docs})", hint="documents with words that are counted"
        )
    if filled < wanted:
        what = f"{name}={wanted} needs" if tree is None else f"the given tree has {wanted} leaves, which need"
        raise InputError(
            f"{what} at least as many documents with words; {filled} came (n_samples={n_docs})",
            hint=f"at most {max(1, filled // 5)} leaves, or more documents",
        )


def check_number_of_leaves(estimator: BaseEstimator, name: str, largest: str) -> None:
    """A whole number, or None to have it chosen."""
    if getattr(estimator, name) is not None:
        options.check_integer(name, getattr(estimator, name), 1, hint="None to have it chosen")
    options.check_integer(largest, getattr(estimator, largest), 1)


def check_tree(tree: Tree | None, n_leaves: int | None, name: str) -> None:
    """A ``Tree``, which does not contradict the number of leaves asked for."""
    if not isinstance(tree, Tree):
        raise InputError(f"tree must be a topiarist.Tree or None, got {tree!r}", hint="Tree.from_paths([...])")
    if n_leaves is not None and n_leaves != len(tree.leaves):
        raise InputError(
            f"{name}={n_leaves} contradicts the given tree, which has {len(tree.leaves)} leaves",
            hint=f"leave {name} out",
        )


def grown_tree(
    estimator: BaseEstimator,
    species: CamSpecies | HplsaSpecies,
    vectors: Floats,
    annealing: tuple[Sequence[float], Floats] | None,
    journal: Journal | None,
    *,
    whole: bool = False,
    most: int | None = None,
) -> Growth:
    """Grow as the options of an estimator say; ``annealing`` has the schedule and the weights of documents.

    ``whole`` keeps inner nodes that say little, as annealing does: the tree of the papers. ``most`` are the leaves that
    there is room for, where that is not for as many as the options allow.
    """
    number = getattr(estimator, estimator._number)
    most = most or getattr(estimator, estimator._number.replace("n_", "max_"))
    fewest = 3.0 if number is None else 1.0
    proposer: Proposer
    if annealing is not None:
        species = replace(species, steps=ANNEALING)
        proposer = Annealed(*annealing, number, most, fewest=fewest)
    else:
        engine = species.engine
        proposer = Guided(engine.to_device(vectors), species.rng, number, most, fewest=fewest, halves=engine.halves)
    rules = Rules(number, headings=estimator.headings)
    if whole or annealing is not None:
        rules = Rules(number, negligible=0.0)
    with growing_tree(type(estimator).__name__, show=bool(estimator.verbose)) as watch:
        grown = grow(species, proposer, rules, watch, journal)
    said(grown, number, estimator._number)
    return grown


def said(growth: Growth, wanted: int | None, name: str) -> None:
    """A warning where fewer leaves came than were asked for."""
    found = growth.stage.parts.n_classes
    if wanted is not None and found < wanted and growth.reason != "interrupted":
        warnings.warn(
            f"{name}={wanted}, but only {found} leaves keep documents of their own: the tree has {found} leaves.",
            UserWarning,
            stacklevel=5,
        )


def forget(estimator: BaseEstimator, *names: str) -> None:
    """Take away what a fit before has learned."""
    for name in names:
        if name in vars(estimator):
            delattr(estimator, name)


def check_common(estimator: BaseEstimator) -> None:
    """The options that all estimators of trees have."""
    options.check_one_of("growth", estimator.growth, ("guided", "annealed"))
    options.check_one_of("headings", estimator.headings, (True, False))
    options.check_number("heldout_fraction", estimator.heldout_fraction, 0.001, 0.9, hint="0.1")
    options.check_common(estimator)
