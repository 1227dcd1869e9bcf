"""A fitted model of any kind as everybody else needs it: its tree, and documents folded in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.room import row_runs
from topiarist.errors import UsageError
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.models.directions import Directions, joined_rows

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from topiarist.estimators.common.stored_counts import Documents

BLOCK = 1 << 14  # documents that are placed at once: documents × classes are never dense in memory
JOINS = "joins_vectors"  # what a class has that takes vectors itself
LEAST_SHARE = 1e-4  # of a document in a class that is worth remembering


def tree_model(model: BaseEstimator) -> TreeModel:
    """The tree of a fitted ``CAM``, ``HPLSA``, ``GaussianTree``, or of a categoriser, with its parameters."""
    found: TreeModel | None = getattr(model, "tree_model_", None)
    if found is not None:
        return found
    raise UsageError(f"expected a fitted model with a tree, got {model!r:.60}", hint="CAM().fit(counts)")


def posterior(model: BaseEstimator, counts: Documents, vectors: Floats | None = None) -> Any:
    """P(class | document) as the model tells it, whatever it calls it; with the vectors of documents, if it knows them.

    A model that was fitted to words, and has learned directions later, has (V1) as P(class | words) times agreement.
    """
    known = getattr(model, "directions_", None)
    if vectors is not None and known is not None and JOINS in type(model).__dict__:
        return model.transform(counts, vectors=vectors)
    rows = model.predict_proba(counts) if hasattr(model, "predict_proba") else model.transform(counts)
    return rows if vectors is None or known is None else joined_rows(rows, vectors, known, model.concentration_)


def learn_directions(model: BaseEstimator, counts: Csr, vectors: Floats, concentration: float) -> None:
    """Give a tree that was fitted to words the directions of its classes: where its documents lie, by both, twice."""
    model.directions_ = None
    for _ in range(2):
        sums = np.zeros((tree_model(model).n_classes, vectors.shape[1]))
        for start in range(0, counts.shape[0], BLOCK):
            here = slice(start, start + BLOCK)
            rows = posterior(model, counts[here], vectors[here])
            sums += np.asarray(rows, np.float32).T @ vectors[here].astype(np.float32)
        model.directions_ = Directions.of(vectors, concentration).means(sums).astype(np.float32)
        model.concentration_ = float(concentration)


class FoldedIn(NamedTuple):
    """Documents as a model sees them."""

    shares: Csr  # P(class | document) without what is negligible; rows sum to one
    sampled: Floats  # all of P(class | document) of some documents


def folded_in(
    model: BaseEstimator, counts: Csr, sample: Array, *, training: Array | None = None, vectors: Floats | None = None
) -> FoldedIn:
    """Fold documents in, each once, block by block: their shares, and whole rows of a (sorted) sample.

    ``training``: the (sorted) documents that the model was fitted to just now. These it has folded in already.
    """
    n_docs, n_classes = counts.shape[0], tree_model(model).n_classes
    known = None if training is None else vars(model).get(getattr(model, "_rows_of_documents", ""))
    told = np.empty(0, np.int64) if known is None or training is None else training
    parts, sampled = [], [np.zeros((0, n_classes))]
    for here, own in row_runs(counts, BLOCK):
        first, last = np.searchsorted(told, (here.start, here.stop))
        new = np.ones(own.shape[0], np.bool_)
        new[told[first:last] - here.start] = False
        if new.all():
            rows = posterior(model, own, None if vectors is None else vectors[here])
        else:
            assert known is not None  # noqa: S101
            rows = known[first:last]
            if new.any():
                rows = np.empty((len(new), n_classes), rows.dtype)
                rows[~new], others = known[first:last], np.flatnonzero(new)
                rows[new] = posterior(model, own[others], None if vectors is None else vectors[here][others])
        parts.append(sparse_shares(rows))
        first, last = np.searchsorted(sample, (here.start, here.stop))
        sampled.append(rows[sample[first:last] - here.start])
    if not parts:
        return FoldedIn(sparse_shares(sampled[0]), sampled[0])
    indptr = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum()
    data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
    shares = csr_array((data, indices, indptr), shape=(n_docs, parts[0].shape[1]))
    return FoldedIn(shares, np.concatenate(sampled[1:]))


def shares_of(model: BaseEstimator, counts: Csr) -> Csr:
    """P(class | document) without what is negligible; rows sum to one."""
    return folded_in(model, counts, np.empty(0, np.int64)).shares


def sparse_shares(rows: Floats, least: float = LEAST_SHARE) -> Csr:
    """Shares of at least so much, brought to one again; the largest of a document is always among them."""
    values = np.asarray(rows, np.float32)
    kept = (values >= least) | (values == values.max(axis=1, keepdims=True, initial=0.0))
    shares = csr_array(np.where(kept, values, np.float32(0)))
    total = np.asarray(shares.sum(axis=1)).ravel()
    shares.data /= np.repeat(np.where(total > 0, total, 1), np.diff(shares.indptr))
    return shares
