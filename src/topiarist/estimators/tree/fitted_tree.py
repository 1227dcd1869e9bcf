"""Tree of any fitted model, and documents folded into it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.scratch import iterate_rows
from topiarist.errors import UsageError
from topiarist.estimators.tree.document_levels import LEVEL_TOKENS
from topiarist.models.directions import Directions, combine_posteriors
from topiarist.trees.tree_model import TreeModel

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from topiarist.estimators.common.stored_counts import Documents

BLOCK_DOCUMENTS = 1 << 14  # documents that are placed at once: documents × classes are never dense in memory
ACCEPTS_VECTORS = "joins_vectors"  # what a class has that takes vectors itself
MIN_SHARE = 1e-4  # of a document in a class that is worth remembering


def get_tree_model(model: BaseEstimator) -> TreeModel:
    """Return the tree with parameters of a fitted ``CAM``, ``HPLSA``, ``GaussianTree`` or categoriser."""
    fitted_tree: TreeModel | None = getattr(model, "tree_model_", None)
    if fitted_tree is not None:
        return fitted_tree
    raise UsageError(f"expected a fitted model with a tree, got {model!r:.60}", hint="Pass CAM().fit(counts).")


def get_description_model(model: BaseEstimator) -> TreeModel:
    """Return the tree model that describes documents: each has individual levels (C6), or mixes classes (H8)."""
    tree_model = get_tree_model(model)
    return tree_model if tree_model.mixes_classes else replace(tree_model, level_tokens=LEVEL_TOKENS)


def builds_headings(model: BaseEstimator) -> bool:
    """Return whether the upper tree of a model was built from its leaves."""
    is_guided = getattr(model, "growth", "guided") == "guided"
    return bool(getattr(model, "headings", False)) and getattr(model, "tree", None) is None and is_guided


def compute_posterior(model: BaseEstimator, counts: Documents, vectors: Floats | None = None) -> Any:
    """Return P(class | document) of any model, using the vectors of documents if the model knows directions.

    A model that learned directions after a fit to words has (V1): P(class | words) times the agreement of the vectors.
    """
    directions = getattr(model, "directions_", None)
    if vectors is not None and directions is not None and ACCEPTS_VECTORS in type(model).__dict__:
        return model.transform(counts, vectors=vectors)
    rows = model.predict_proba(counts) if hasattr(model, "predict_proba") else model.transform(counts)
    return (
        rows
        if vectors is None or directions is None
        else combine_posteriors(rows, vectors, directions, model.concentration_)
    )


def learn_directions(model: BaseEstimator, counts: Csr, vectors: Floats, concentration: float) -> None:
    """Add directions of classes to a tree that was fitted to words, in two passes over its documents."""
    model.directions_ = None
    for _ in range(2):
        sums = np.zeros((get_tree_model(model).n_classes, vectors.shape[1]))
        for start in range(0, counts.shape[0], BLOCK_DOCUMENTS):
            block_rows = slice(start, start + BLOCK_DOCUMENTS)
            rows = compute_posterior(model, counts[block_rows], vectors[block_rows])
            sums += np.asarray(rows, np.float32).T @ vectors[block_rows].astype(np.float32)
        model.directions_ = Directions.from_vectors(vectors, concentration).means(sums).astype(np.float32)
        model.concentration_ = float(concentration)


class FoldedDocuments(NamedTuple):
    """Documents as a model reads them."""

    shares: Csr  # P(class | document) without what is negligible; rows sum to one
    sampled: Floats  # all of P(class | document) of some documents


def fold_in(
    model: BaseEstimator, counts: Csr, sample: Array, *, training: Array | None = None, vectors: Floats | None = None
) -> FoldedDocuments:
    """Fold documents in, block by block; return their shares, and full rows of a sorted sample.

    ``training``: sorted rows of the documents of the last fit, whose posteriors the model still has.
    """
    n_docs, n_classes = counts.shape[0], get_tree_model(model).n_classes
    training_posterior = None if training is None else vars(model).get(getattr(model, "_rows_of_documents", ""))
    training_rows = np.empty(0, np.int64) if training_posterior is None or training is None else training
    parts, sampled = [], [np.zeros((0, n_classes))]
    for block_rows, block_counts in iterate_rows(counts, BLOCK_DOCUMENTS):
        first, last = np.searchsorted(training_rows, (block_rows.start, block_rows.stop))
        new = np.ones(block_counts.shape[0], np.bool_)
        new[training_rows[first:last] - block_rows.start] = False
        if new.all():
            rows = compute_posterior(model, block_counts, None if vectors is None else vectors[block_rows])
        else:
            assert training_posterior is not None  # noqa: S101
            rows = training_posterior[first:last]
            if new.any():
                rows = np.empty((len(new), n_classes), rows.dtype)
                rows[~new], others = training_posterior[first:last], np.flatnonzero(new)
                rows[new] = compute_posterior(
                    model, block_counts[others], None if vectors is None else vectors[block_rows][others]
                )
        parts.append(make_sparse_shares(rows))
        first, last = np.searchsorted(sample, (block_rows.start, block_rows.stop))
        sampled.append(rows[sample[first:last] - block_rows.start])
    if not parts:
        return FoldedDocuments(make_sparse_shares(sampled[0]), sampled[0])
    indptr = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum()
    data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
    shares = csr_array((data, indices, indptr), shape=(n_docs, parts[0].shape[1]))
    return FoldedDocuments(shares, np.concatenate(sampled[1:]))


def compute_shares(model: BaseEstimator, counts: Csr) -> Csr:
    return fold_in(model, counts, np.empty(0, np.int64)).shares


def make_sparse_shares(rows: Floats, min_share: float = MIN_SHARE) -> Csr:
    """Return shares of at least ``min_share``, scaled to sum to one; each document keeps its largest share."""
    values = np.asarray(rows, np.float32)
    is_kept = (values >= min_share) | (values == values.max(axis=1, keepdims=True, initial=0.0))
    shares = csr_array(np.where(is_kept, values, np.float32(0)))
    total = np.asarray(shares.sum(axis=1)).ravel()
    shares.data /= np.repeat(np.where(total > 0, total, 1), np.diff(shares.indptr))
    return shares
