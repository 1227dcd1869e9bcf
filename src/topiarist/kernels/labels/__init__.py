"""Kernels of documents with several labels.

A document of labels y produces word *i* with probability φ_i = Σ_l c_l θ(l,i), a sum over its few labels only. θ is
stored label by label and only for words that occur with the label (``LabelSetCounts.places`` are their places). All
other words of a label have the same probability. To read new documents θ is dense, with a row for each word.
"""

from __future__ import annotations

from typing import NamedTuple

from topiarist.arrays import Array


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


# A further label must raise the value of a set by more than this for each token. Smaller gains are rounding errors,
# which would otherwise decide between two labels with the same words.
MIN_GAIN = 1e-12

EXCLUDED_WEIGHT = -1e12  # added to the value of a label that cannot be chosen; no words outweigh it
