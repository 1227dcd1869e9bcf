"""Mean direction of each class for documents with vectors. (V1)-(V3): docs/models/vectors.md

Vectors have length one, or zero for a document without a vector. A class has a mean direction μ. The agreement of a
document is κ μ·v, the logarithm of a von Mises-Fisher density up to a constant that all classes share. A step needs one
sum of vectors for each class, which is additive over blocks.

Vectors can be in half precision: they are converted slice by slice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import TINY, Floats
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.engine.host import Engine, slice_rows

SLICE_NUMBERS = 1 << 20  # numbers of vectors that are converted at a time


@dataclass(frozen=True)
class Directions:
    """Weight of vectors: the concentration κ, and the prior sum of vectors of every class."""

    concentration: float
    prior: Floats  # (n_dimensions,)

    @classmethod
    def from_vectors(cls, vectors: Floats, concentration: float, documents: float = 1.0) -> Directions:
        """Create a prior of ``documents`` documents with the mean vector, for every class."""
        total = np.zeros(vectors.shape[1])
        for compute_slice in slice_rows(vectors, SLICE_NUMBERS):
            total += vectors[compute_slice].sum(axis=0, dtype=np.float64)
        return cls(concentration, documents * total / max(len(vectors), 1))

    def means(self, sums: Floats) -> Floats:
        """(V3): return the mean direction of each class, of length one; zero for a zero sum."""
        total = sums + self.prior
        length = np.linalg.norm(total, axis=1, keepdims=True)
        means: Floats = np.where(length > TINY, total / np.where(length > TINY, length, 1.0), 0.0)
        return means

    def log_prior(self, means: Floats) -> float:
        """Return κ Σ_c μ_c · prior."""
        return float(self.concentration * (means @ self.prior).sum())


def add_agreement(engine: Engine, scores: Floats, vectors: Floats, means: Floats, concentration: float) -> Floats:
    """Add κ μ_c · v_d to ``scores[d, c]`` in place, in the precision of the scores."""
    scaled_means = np.ascontiguousarray((concentration * means).T, scores.dtype)

    def compute_slice(rows: slice) -> None:
        scores[rows] += vectors[rows].astype(scores.dtype, copy=False) @ scaled_means

    engine.threads.map(compute_slice, slice_rows(vectors, SLICE_NUMBERS))
    return scores


def sum_vectors(engine: Engine, posterior: Floats, vectors: Floats) -> Floats:
    """(V2): return Σ_d P(c|d) v_d, (n_classes, n_dimensions), in double precision in the order of slices."""

    def compute_slice(rows: slice) -> Floats:
        wide = vectors[rows].astype(posterior.dtype, copy=False)
        part: Floats = (posterior[rows].T @ wide).astype(np.float64)
        return part

    total = np.zeros((posterior.shape[1], vectors.shape[1]))
    for part in engine.threads.map(compute_slice, slice_rows(vectors, SLICE_NUMBERS)):
        total += part
    return total


def combine_posteriors(rows: Floats, vectors: Floats, means: Floats, concentration: float) -> Floats:
    """(V1): multiply P(c|words of d) by exp(κ μ_c·v_d) and normalise."""
    agreement = concentration * (vectors.astype(np.float32, copy=False) @ means.T.astype(np.float32))
    agreement -= agreement.max(axis=1, keepdims=True)
    # Vectors can bring back a class whose share by words is zero.
    joint = np.maximum(rows, SMALLEST_MIXTURE).astype(np.float64) * np.exp(agreement)
    has_vector = np.count_nonzero(vectors, axis=1)[:, None] > 0
    combined: Floats = np.where(has_vector, joint / joint.sum(axis=1, keepdims=True), rows).astype(rows.dtype)
    return combined


def vector_log_likelihood(
    engine: Engine, posterior: Floats, vectors: Floats, means: Floats, vector_model: Directions
) -> Floats:
    """(V4): return how well the words of each document predict its vector, up to a constant.

    The value is log Σ_c P(c|words) exp(κ μ_c·v). The directions are those of all other documents: the contribution of a
    vector to a sum is subtracted before the comparison. ``posterior`` and ``means`` belong to one step: the posterior
    of words and vector together, and the directions that it was computed with.
    """
    kappa = vector_model.concentration
    sums = sum_vectors(engine, posterior, vectors) + vector_model.prior
    squares, out = (sums**2).sum(axis=1), np.zeros(len(vectors))

    def compute_slice(rows: slice) -> None:
        """Write the log-likelihood of the vectors of some documents into ``out``."""
        wide, shares = vectors[rows].astype(np.float64), posterior[rows].astype(np.float64)
        by_words = np.log(np.maximum(shares, TINY)) - kappa * (wide @ means.T)
        by_words -= _log_sum(by_words)
        products, squared_lengths = wide @ sums.T, (wide**2).sum(axis=1, keepdims=True)
        length = np.sqrt(np.maximum(squares - 2 * shares * products + shares**2 * squared_lengths, 1e-12))
        out[rows] = _log_sum(by_words + kappa * (products - shares * squared_lengths) / length)[:, 0]

    engine.threads.map(compute_slice, slice_rows(vectors, SLICE_NUMBERS))
    return out


def _log_sum(values: Floats) -> Floats:
    """Return log Σ exp of each row, as a column."""
    top = values.max(axis=1, keepdims=True)
    total: Floats = top + np.log(np.exp(values - top).sum(axis=1, keepdims=True))
    return total
