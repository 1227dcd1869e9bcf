"""What a count says against the probability that a model gives it."""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array

# A mixture below this is treated as impossible: its ratio could overflow in single precision, and says nothing. Where
# the mixtures themselves are wanted they are never smaller, so that their logarithms are finite.
SMALLEST_MIXTURE = 1e-30


def ratios(data: Array, mixture: Array) -> Array:
    """n / mixture, and zero where the model says that the word cannot occur."""
    possible = mixture > SMALLEST_MIXTURE
    return np.where(possible, data / np.where(possible, mixture, 1), 0)
