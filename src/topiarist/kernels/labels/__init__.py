"""Kernels of documents with several labels, with reference and compiled backends.

A document of labels y produces word *i* with probability φ_i = Σ_l c_l θ(l,i), a sum over its few labels only. θ is
stored label by label and only for words that occur with the label (``LabelSetCounts.places`` are their places). All
other words of a label have the same probability. To read new documents θ is dense, with a row for each word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from topiarist.arrays import Array
from topiarist.kernels import load_record


class LabelSetCounts(NamedTuple):
    """Counts by label set. A *member* is a label of a set; members are listed set after set.

    Set s has the counts ``ends[s]`` to ``ends[s + 1]`` of ``data`` and the members ``member_ends[s]`` to
    ``member_ends[s + 1]``. Member m is the label ``labels[m]`` of the set ``owners[m]``; its probability of the t-th
    word of that set is at ``places[starts[m] + t]`` of the stored values. Label l has the members ``label_ends[l]`` to
    ``label_ends[l + 1]`` of ``by_label``.
    """

    ends: Array
    data: Array
    member_ends: Array
    labels: Array
    owners: Array
    starts: Array
    places: Array
    label_ends: Array
    by_label: Array


class LabelWeights(NamedTuple):
    """Weights of labels in ``choose_labels``: they are added to the scaled log-likelihood of a set.

    ``bias`` is α of (M2), or has no rows if all labels of a set have equal weight (M1). ``of_label`` is added for each
    label of a set (``EXCLUDED_WEIGHT`` excludes it), ``of_size`` for the number of labels. Beyond the table each
    further label adds the last difference again.
    """

    bias: Array  # (n_labels, n_labels) or (0, 0)
    of_label: Array  # (n_labels,)
    of_size: Array  # (n,), at least two entries; the first is for zero labels


# A further label must raise the value of a set by more than this for each token. Smaller gains are rounding errors,
# which would otherwise decide between two labels with the same words.
MIN_GAIN = 1e-12

EXCLUDED_WEIGHT = -1e12  # weight of a label; no words outweigh it


class LabelKernels(NamedTuple):
    """Functions of one backend, as in ``Kernels``."""

    name: str
    set_ratios: Callable[..., Any]
    label_counts: Callable[..., Any]
    normalise_labels: Callable[..., Any]
    extrapolate_change: Callable[..., Any]
    choose_labels: Callable[..., Any]


def load(name: str = "compiled") -> LabelKernels:
    """Return the record "reference", or else the compiled one."""
    kernels: LabelKernels = load_record(LabelKernels, ("labels",), name)
    return kernels
