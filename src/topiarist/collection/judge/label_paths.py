"""Labels as paths: the headings under which a document goes that is not certain enough for a category.

``law/bail`` lies under ``law/``. Where no label has a slash, dots do: ``comp.graphics`` lies under ``comp.``, if other
labels do too. A heading holds at least two labels, fewer than the heading above it, and never all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Headings:
    """For each level, from the top: the names of its groups, and the group of every label.

    The last level is the labels themselves. A label that has fewer headings is a group of its own at the levels that it
    lacks. The name of a heading ends with its sign, so that it is not the name of a label.
    """

    names: tuple[tuple[str, ...], ...]
    groups: Array  # levels × labels

    @property
    def levels(self) -> int:
        """How many levels there are; 1 without a hierarchy."""
        return len(self.names)

    def best(self, shares: Array) -> tuple[Array, Array]:
        """The likeliest group of each document at each level, and its probability; documents × levels."""
        found, certainty = [], []
        for names, groups in zip(self.names, self.groups, strict=True):
            together = np.zeros((shares.shape[1], len(names)))
            together[np.arange(shares.shape[1]), groups] = 1.0
            joined = shares @ together
            found.append(joined.argmax(axis=1))
            certainty.append(joined.max(axis=1, initial=0.0))
        return np.stack(found, axis=1).astype(np.int32), np.stack(certainty, axis=1).astype(np.float32)


def headings(labels: Sequence[str]) -> Headings:
    """The headings of labels."""
    chains = _chains(labels, "/") if any("/" in label for label in labels) else _dotted(labels)
    depth = max((len(chain) for chain in chains), default=1)
    padded = [(*chain, *[chain[-1]] * (depth - len(chain))) for chain in chains]
    names, groups = [], []
    for level in range(depth):
        known = list(labels) if level == depth - 1 else sorted({chain[level] for chain in padded})
        place = {name: number for number, name in enumerate(known)}
        names.append(tuple(known))
        groups.append([place[chain[level]] for chain in padded])
    return Headings(tuple(names), np.array(groups, np.int64).reshape(depth, len(labels)))


def _dotted(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """By dots, if these are names such as comp.graphics and not sentences."""
    dotted = [label for label in labels if all(label.split(".")) and "." in label and not any(map(str.isspace, label))]
    return _chains(labels, ".") if 2 * len(dotted) >= len(labels) else [(label,) for label in labels]


def _chains(labels: Sequence[str], sign: str) -> list[tuple[str, ...]]:
    """The headings of each label from the top, and itself."""
    below: dict[str, int] = {}
    for label in labels:
        for prefix in _prefixes(label, sign):
            below[prefix] = below.get(prefix, 0) + 1
    found = []
    for label in labels:
        chain, size = [], len(labels)
        for prefix in _prefixes(label, sign):
            if 2 <= below[prefix] < size:
                chain.append(prefix)
                size = below[prefix]
        found.append((*chain, label))
    return found


def _prefixes(label: str, sign: str) -> list[str]:
    """``law/`` and ``law/bail/`` of law/bail: a label may be the heading of others."""
    parts = label.split(sign)
    return [sign.join(parts[: end + 1]) + sign for end in range(len(parts))]
