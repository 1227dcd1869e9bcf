"""What the estimators of trees share: preparing documents for growth, growing, and remembering the curve."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.counts.lsi import truncated_svd
from topiarist.counts.split import split_tokens
from topiarist.counts.weighting import effective_length_weights, scale_rows, tfidf, unit_rows
from topiarist.errors import InputError
from topiarist.hierarchy.growth import Growth
from topiarist.hierarchy.species import Steps
from topiarist.hierarchy.tree import Tree
from topiarist.kernels.shard import Shard, Side
from topiarist.metrics import completion_perplexity
from topiarist.models import cam
from topiarist.models.engine import Engine, Floats
from topiarist.tasks import options

DIMENSIONS = 50  # of the space in which guided growth looks for splits
ANNEALING = Steps(growing=40, growing_tol=-math.inf)  # fresh doubles gain next to nothing before they part
TILE_COLUMNS = 64  # clusters that the sweeps by words are laid out for


@dataclass(frozen=True)
class Curve:
    """Held-out perplexity against the number of leaves, and the number that was taken."""

    n_leaves: Any
    perplexity: Any
    chosen: int

    def plot(self, ax: Any = None) -> Any:
        """Draw it with matplotlib, and return the axes."""
        from topiarist.hierarchy.picture import curve

        return curve(ax, self.n_leaves, self.perplexity, self.chosen)


def curve_of(grown: Growth) -> Curve | None:
    """The curve of a growth; None where nothing grew."""
    if not grown.n_leaves:
        return None
    return Curve(np.array(grown.n_leaves), np.array(grown.perplexity), grown.chosen)


@dataclass(frozen=True)
class Ground:
    """Documents as growth needs them: tokens to learn from, held-out tokens, and a point in space for each."""

    training: Shard
    heldout: Shard
    counts: Any  # what ``training`` indexes
    collection: Floats  # P(w)
    vectors: Floats


def weighted(counts: Any, effective_length: float | None, share: float = 1.0) -> Any:
    """Counts in which a long document weighs as if it had ``effective_length`` tokens, ``share`` of them here."""
    if effective_length is None:
        return counts
    return scale_rows(counts, effective_length_weights(counts, effective_length * share))


def prepared(counts: Any, effective_length: float | None, fraction: float, dtype: Any, rng: Any) -> Ground:
    """Hold out a share of each document's tokens, weigh the rest, and find the documents' places in latent space."""
    seed = int(rng.integers(2**31))
    training, heldout = split_tokens(counts, (1 - fraction, fraction), seed=seed)
    weights = weighted(training, effective_length, 1 - fraction)
    totals = np.asarray(weights.sum(axis=0), np.float64).ravel()
    everywhere = np.asarray(counts.sum(axis=0), np.float64).ravel()
    # a word whose every token is held out is still possible, as if it had been seen once in a thousand times
    totals += 1e-3 * (everywhere > 0)
    return Ground(
        Shard.of(weights, dtype, TILE_COLUMNS),
        Shard.of(weighted(heldout, effective_length, fraction), dtype, TILE_COLUMNS),
        weights,
        totals / totals.sum(),
        document_vectors(training, seed),
    )


def document_vectors(counts: Any, seed: int) -> Floats:
    """Unit vectors of latent semantic indexing, with damped counts; zero for a document without words."""
    space = truncated_svd(unit_rows(tfidf(counts, sublinear=True)), DIMENSIONS, seed=seed).doc_vectors
    lengths = np.linalg.norm(space, axis=1, keepdims=True)
    unit: Floats = (space / np.where(lengths > 1e-12, lengths, 1.0)).astype(np.float32)
    return unit


def perplexity(engine: Engine, counts: Any, grown: Growth, effective_length: float | None) -> float:
    """Of a grown CAM by document completion, every token counting one: comparable between effective lengths."""
    parts = grown.stage.parts
    shared = cam.Params(parts.word_given_node, parts.node_given_class, parts.sizes() / parts.sizes().sum())
    model = cam.Cam(engine, parts.path_mask)

    def posterior(half: Any) -> Floats:
        return model.posterior(shared, Side.of(weighted(half, effective_length), parts.word_given_node.dtype))

    return completion_perplexity(parts.node_given_class @ parts.word_given_node, posterior, counts)


def check_size(tree: Any, n_leaves: int | None, name: str, counts: Any) -> None:
    """Enough documents with words for the leaves that are given or asked for."""
    if tree is not None:
        check_tree(tree, n_leaves, name)
    wanted = len(tree.leaves) if tree is not None else n_leaves or 1
    filled = int(np.count_nonzero(np.diff(counts.indptr)))
    if filled < wanted:
        what = f"{name}={wanted} needs" if tree is None else f"the given tree has {wanted} leaves, which need"
        raise InputError(
            f"{what} at least as many documents with words; {filled} came (n_samples={counts.shape[0]})",
            hint=f"at most {max(1, filled // 5)} leaves, or more documents",
        )


def check_number_of_leaves(estimator: Any, name: str, largest: str) -> None:
    """A whole number, or None to have it chosen."""
    if getattr(estimator, name) is not None:
        options.check_integer(name, getattr(estimator, name), 1, hint="None to have it chosen")
    options.check_integer(largest, getattr(estimator, largest), 1)


def check_tree(tree: Any, n_leaves: int | None, name: str) -> None:
    """A ``Tree``, which does not contradict the number of leaves asked for."""
    if not isinstance(tree, Tree):
        raise InputError(f"tree must be a topiarist.Tree or None, got {tree!r}", hint="Tree.from_paths([...])")
    if n_leaves is not None and n_leaves != len(tree.leaves):
        raise InputError(
            f"{name}={n_leaves} contradicts the given tree, which has {len(tree.leaves)} leaves",
            hint=f"leave {name} out",
        )


def said(growth: Growth, wanted: int | None, name: str) -> None:
    """A warning where fewer leaves came than were asked for."""
    found = growth.stage.parts.n_classes
    if wanted is not None and found < wanted and growth.reason != "interrupted":
        warnings.warn(
            f"{name}={wanted}, but the documents part into {found} groups only: the tree has {found} leaves.",
            UserWarning,
            stacklevel=4,
        )


def check_common(estimator: Any) -> None:
    """The options that all estimators of trees have."""
    options.check_one_of("growth", estimator.growth, ("guided", "annealed"))
    options.check_number("heldout_fraction", estimator.heldout_fraction, 0.001, 0.9, hint="0.1")
    options.check_integer("max_iter", estimator.max_iter, 1)
    options.check_number("tol", estimator.tol, 0.0)


def tags(tags: Any) -> Any:
    """What scikit-learn should know: counts, dense or sparse, and probabilities of their own type."""
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = True
    tags.transformer_tags.preserves_dtype = []
    return tags
