"""Document completion: how well P(w|d) = sum_k P(k|d) P(w|k) predicts the tokens that were kept back."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

ROWS_AT_ONCE = 1 << 16


def completion_perplexity(
    scored: sparse.csr_array, component_given_doc: np.ndarray, word_given_component: np.ndarray
) -> float:
    """Return exp(-sum n log P(w|d) / sum n) over the kept-back tokens; infinite where one is impossible."""
    n_components = word_given_component.shape[0]
    if component_given_doc.shape != (scored.shape[0], n_components):
        raise ValueError(f"expected P(k|d) of shape {(scored.shape[0], n_components)}, got {component_given_doc.shape}")
    for name, rows in (("P(k|d)", component_given_doc), ("P(w|k)", word_given_component)):
        if not np.allclose(rows.sum(axis=1), 1, atol=1e-3):
            raise ValueError(f"rows of {name} do not sum to one: {rows.sum(axis=1).min()} is the least")
    documents = np.repeat(np.arange(scored.shape[0]), np.diff(scored.indptr))
    by_word = np.ascontiguousarray(word_given_component.T, dtype=np.float64)
    component_given_doc = component_given_doc.astype(np.float64)
    log_likelihood = 0.0
    with np.errstate(divide="ignore"):
        for start in range(0, scored.nnz, ROWS_AT_ONCE):
            here = slice(start, start + ROWS_AT_ONCE)
            probability = np.einsum("nk,nk->n", component_given_doc[documents[here]], by_word[scored.indices[here]])
            log_likelihood += float(scored.data[here] @ np.log(probability))
    return math.exp(-log_likelihood / scored.data.sum()) if math.isfinite(log_likelihood) else math.inf
