"""The verbs of documents with several labels: a record of its own, in the same two tellings.

Floor plan:

    compiled   The verbs of ``labels`` in numba: the same sums as ``reference``, without a temporary.
    reference  The verbs of ``labels`` in NumPy: slow, obvious, and the specification of the compiled ones.

A document of labels y says word *i* with probability φ_i = Σ_l c_l θ(l,i), a sum over its few labels only. θ is stored
label by label and only where a label has been seen with a word (``Sets.places`` leads there); all other words of a
label have the same probability. For reading new documents θ is dense, with a row for each word.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from topiarist.arrays import Array


class Sets(NamedTuple):
    """Counts by label set. A *member* is a label of a set; members come set after set.

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


class Taste(NamedTuple):
    """What ``choose`` weighs beside the words: the value of a set is ``scale`` × its log-likelihood + these.

    ``bias`` is α of (M2), or has no rows where all labels of a set weigh the same (M1). ``of_label`` is added for each
    label of a set (``FORBIDDEN`` keeps it out), ``of_size`` for the number of labels: from the last entry on, the same
    again for each further label.
    """

    bias: Array  # (n_labels, n_labels) or (0, 0)
    of_label: Array  # (n_labels,)
    of_size: Array  # (n,), at least two entries; the first is that of no label


# A further label must raise the value of a set by more than this for each token: less is rounding, and two labels with
# the same words would otherwise be told apart by it.
LEAST_GAIN = 1e-12

FORBIDDEN = -1e12  # as the worth of a label: no words make up for it


class LabelKernels(NamedTuple):
    """A backend, as ``Kernels`` is one."""

    name: str
    set_ratios: Callable[..., Any]
    label_counts: Callable[..., Any]
    normalise_labels: Callable[..., Any]
    farthest: Callable[..., Any]
    choose: Callable[..., Any]


def load(name: str = "compiled") -> LabelKernels:
    """The record called ``name``; whatever is not "reference" is compiled."""
    from topiarist.kernels.labels import reference

    if name == "reference":
        return LabelKernels("reference", **reference.VERBS)
    try:
        from topiarist.kernels.labels import compiled
    except ImportError as error:
        warnings.warn(f"numba cannot be used ({error}): fits are many times slower.", stacklevel=2)
        return LabelKernels("reference", **reference.VERBS)
    return LabelKernels("compiled", **compiled.VERBS)
