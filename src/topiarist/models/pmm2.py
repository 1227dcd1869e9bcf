"""PMM2: pairs of labels of which one speaks louder. Equations (M2), (M5): docs/models/pmm.md

Over ordered pairs, φ(y) = Σ_lm h_l h_m (α_lm θ_l + α_ml θ_m) looks quadratic in labels for every word. Collapsed
it is φ(y) = Σ_l c_l θ_l with c_l = 2 h_l Σ_m h_m α_lm: the pairs decide about a few weights of each label set, and the
words are those of PMM1. Only pairs of labels that occur together are ever visited.
"""

from __future__ import annotations

import numpy as np

from topiarist.models.engine.host import Floats
from topiarist.models.label_sets import Block


def member_weights(block: Block, bias: Floats) -> Floats:
    """(M1), (M2): c for each label of each set; without biases all labels of a set weigh the same."""
    sizes = np.diff(block.sets.member_ends)[block.sets.owners].astype(np.float64)
    if not len(bias):
        return np.asarray(1.0 / sizes)
    labels, members = block.sets.labels, block.pair_members
    others = np.bincount(members, bias[labels[members], block.pair_labels], len(labels))
    weights: Floats = 2.0 * (0.5 + others) / sizes**2
    return weights


def pair_counts(block: Block, bias: Floats, sums: Floats) -> Floats:
    """(M5): S_lm = α_lm Σ_n h_nl h_nm A_nl, zero for pairs that never occur together."""
    n_labels, members = len(bias), block.pair_members
    sizes = np.diff(block.sets.member_ends)[block.sets.owners].astype(np.float64)
    pairs = block.sets.labels[members] * n_labels + block.pair_labels
    total = np.bincount(pairs, (sums / sizes**2)[members], n_labels * n_labels)
    counts: Floats = bias * total.reshape(n_labels, n_labels)
    return counts


def bias(pair_count: Floats, smoothing: float) -> Floats:
    """(M5): α_lm from the counts of both directions; ½ where there are none."""
    both = pair_count + pair_count.T + smoothing
    seen = both > 0
    result: Floats = np.where(seen, (pair_count + smoothing / 2) / np.where(seen, both, 1.0), 0.5)
    return result
