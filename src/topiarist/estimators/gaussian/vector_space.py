"""The space that a mixture of many features is fitted in: leading axes around the mean, and directions alone.

Vectors of an encoder have hundreds of dimensions, most of which hardly vary; as directions in the few that do, groups
of documents are closer to Gaussian. This is to vectors what ``LSI`` is to counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Doubles

MANY = 64  # features: with more, they are taken for those of an encoder
WIDE, NARROW = 32, 16  # dimensions; the fewer where labels are few


@dataclass(frozen=True)
class VectorSpace:
    """Points of many features as directions in a few dimensions."""

    centre: Doubles  # (features,)
    axes: Doubles  # (features, dimensions)
    length: float  # that points have inside on average, before they have length one

    @classmethod
    def of(cls, points: Doubles, n_dims: int) -> VectorSpace:
        """The leading axes of these points around their mean; the largest entry of an axis is positive."""
        centre = points.mean(axis=0)
        away = points - centre
        if len(points) < points.shape[1]:
            found = np.linalg.svd(away, full_matrices=False)[2][:n_dims].T
        else:
            found = np.linalg.eigh(away.T @ away)[1][:, ::-1][:, :n_dims]
        largest = np.abs(found).argmax(axis=0)
        axes = np.ascontiguousarray(found * np.sign(found[largest, np.arange(found.shape[1])]))
        return cls(centre, axes, float(np.linalg.norm(away @ axes, axis=1).mean()))

    def __call__(self, points: Doubles) -> Doubles:
        """Directions in this space, of length one; a point at the mean stays there."""
        found = (points - self.centre) @ self.axes
        length = np.linalg.norm(found, axis=1, keepdims=True)
        inside: Doubles = np.ascontiguousarray(found / np.where(length > 0, length, 1.0))
        return inside

    def outside(self, inside: Doubles) -> Doubles:
        """Points of this space among the features: as far from the mean as points are on average."""
        points: Doubles = self.centre + self.length * inside @ self.axes.T
        return points


def dimensions(asked: int | str | None, n_features: int, n_labelled: int, enough: int) -> int | None:
    """How many dimensions the space has; None where features are taken as they are.

    ``enough``: labelled examples for each dimension, to have as many dimensions as without labels.
    """
    if asked == "auto":
        few = 0 < n_labelled < enough * WIDE
        asked = None if n_features <= MANY else NARROW if few else WIDE
    return None if asked is None else min(int(asked), n_features)
