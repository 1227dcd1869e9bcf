"""A fitted tree of any kind as one value: where classes sit, the words of nodes, the nodes of paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.errors import UsageError
from topiarist.hierarchy.branches import Crown

BLOCK = 1 << 14  # documents that are placed at once: documents × classes are never dense in memory
LEAST_SHARE = 1e-4  # of a document in a class that is worth remembering


def crown_of(model: Any) -> Crown:
    """The tree of a fitted ``CAM``, ``HPLSA``, ``GaussianTree``, or of a categoriser, with its parameters."""
    for words, mix, prior in (
        ("word_given_node_", "node_given_cluster_", "cluster_prior_"),
        ("word_given_topic_", "topic_given_class_", "class_prior_"),
    ):
        if hasattr(model, words):
            nodes = tuple(getattr(model, "class_nodes_", model.tree_.leaves))
            return Crown(model.tree_, nodes, getattr(model, words), getattr(model, mix), getattr(model, prior))
    raise UsageError(f"expected a fitted model with a tree, got {model!r:.60}", hint="CAM().fit(counts)")


def posterior(model: Any, counts: Any) -> Any:
    """P(class | document) as the model tells it, whatever it calls it."""
    return model.predict_proba(counts) if hasattr(model, "predict_proba") else model.transform(counts)


def shares_of(model: Any, counts: Csr, least: float = LEAST_SHARE) -> Csr:
    """P(class | document) without what is negligible, block by block; rows sum to one."""
    n_docs = counts.shape[0]
    starts = range(0, n_docs, BLOCK)
    parts = [sparse_shares(posterior(model, counts[start : start + BLOCK]), least) for start in starts]
    if not parts:
        return sparse_shares(np.zeros((0, len(crown_of(model).class_nodes))), least)
    indptr = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum()
    data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
    return csr_array((data, indices, indptr), shape=(n_docs, parts[0].shape[1]))


def sparse_shares(rows: Any, least: float = LEAST_SHARE) -> Csr:
    """Shares of at least so much, brought to one again; the largest of a document is always among them."""
    values = np.asarray(rows, np.float32)
    kept = (values >= least) | (values == values.max(axis=1, keepdims=True, initial=0.0))
    shares = csr_array(np.where(kept, values, np.float32(0)))
    total = np.asarray(shares.sum(axis=1)).ravel()
    shares.data /= np.repeat(np.where(total > 0, total, 1), np.diff(shares.indptr))
    return shares
