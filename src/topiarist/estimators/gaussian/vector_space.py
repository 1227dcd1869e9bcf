"""Vector space of a mixture of many features: leading axes around the mean, with points of length one.

Vectors of an encoder have hundreds of dimensions, and most dimensions hardly vary. Groups of documents are closer to
Gaussian as directions in the few dimensions that vary. This space is to vectors what ``LSI`` is to counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Doubles

MAX_PLAIN_FEATURES = 64  # features: with more, they are taken for those of an encoder
DEFAULT_DIMENSIONS, FEW_LABEL_DIMENSIONS = 32, 16  # dimensions; the fewer where labels are few


@dataclass(frozen=True)
class VectorSpace:
    """Projection of points with many features to directions in a few dimensions."""

    centre: Doubles  # (features,)
    axes: Doubles  # (features, dimensions)
    length: float  # that points have inside on average, before they have length one

    @classmethod
    def of(cls, points: Doubles, n_dims: int) -> VectorSpace:
        """Return the leading axes of the points around their mean; the largest entry of each axis is positive."""
        centre = points.mean(axis=0)
        differences = points - centre
        if len(points) < points.shape[1]:
            leading_axes = np.linalg.svd(differences, full_matrices=False)[2][:n_dims].T
        else:
            leading_axes = np.linalg.eigh(differences.T @ differences)[1][:, ::-1][:, :n_dims]
        largest = np.abs(leading_axes).argmax(axis=0)
        signed_axes = np.ascontiguousarray(
            leading_axes * np.sign(leading_axes[largest, np.arange(leading_axes.shape[1])])
        )
        return cls(centre, signed_axes, float(np.linalg.norm(differences @ signed_axes, axis=1).mean()))

    def __call__(self, points: Doubles) -> Doubles:
        """Return directions of length one in this space; a point at the mean becomes zero."""
        coordinates = (points - self.centre) @ self.axes
        length = np.linalg.norm(coordinates, axis=1, keepdims=True)
        inside: Doubles = np.ascontiguousarray(coordinates / np.where(length > 0, length, 1.0))
        return inside

    def outside(self, inside: Doubles) -> Doubles:
        """Return points of this space in the original features, at the average distance from the mean."""
        points: Doubles = self.centre + self.length * inside @ self.axes.T
        return points


def choose_dimensions(
    n_dimensions: int | str | None, n_features: int, n_labelled: int, labels_per_dimension: int
) -> int | None:
    """Return the number of dimensions of the space, or None to use the features themselves.

    ``labels_per_dimension``: labelled examples for each dimension that are enough for the default number of dimensions.
    """
    if n_dimensions == "auto":
        has_few_labels = 0 < n_labelled < labels_per_dimension * DEFAULT_DIMENSIONS
        n_dimensions = (
            None if n_features <= MAX_PLAIN_FEATURES else FEW_LABEL_DIMENSIONS if has_few_labels else DEFAULT_DIMENSIONS
        )
    return None if n_dimensions is None else min(int(n_dimensions), n_features)
