"""What a system answers: the words of its topics, the topic of each document, and the tree where it has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

N_WORDS = 10
Fit = Callable[[], dict[str, Any]]


def flat(words: Sequence[Sequence[int]], labels: Any) -> dict[str, Any]:
    """Topics beside each other; −1 is a document of no topic."""
    return {"topics": [list(map(int, own)) for own in words], "labels": [int(one) for one in labels]}


def of_components(components: np.ndarray, shares: np.ndarray) -> dict[str, Any]:
    """Topics as rows of weights of words, and the weights of topics in each document."""
    return flat(np.argsort(-np.asarray(components), axis=1, kind="stable")[:, :N_WORDS], np.asarray(shares).argmax(1))


def of_tree(parents: Sequence[int], nodes: Any, words: Sequence[Sequence[int]]) -> dict[str, Any]:
    """A tree by the parent of each node (−1: the root), the node of each document, the words of all nodes but the root.

    Documents that the system puts nowhere are at −1.
    """
    return flat(words, nodes) | {"parents": [int(one) for one in parents]}
