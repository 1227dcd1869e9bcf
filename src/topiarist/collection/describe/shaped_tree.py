"""The tree of a collection as people have shaped it, told in the words and sizes that the model's own nodes have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.collection.contents import Description
from topiarist.collection.describe.nodes import NodeSummary
from topiarist.collection.describe.topic_tree import TopicTree
from topiarist.collection.shape.shape import Shape
from topiarist.estimators.tree.preparation import Curve
from topiarist.measures.placed_documents import CERTAIN, Placed

FIGURES = ("n_tokens", "n_words")  # of the whole collection; new documents are counted in


def described(
    outline: Shape, known: Description, shares: Csr, general: tuple[str, ...], settings: Mapping[str, Any]
) -> TopicTree:
    """The tree with what is known of its topics; the model need not be loaded for it.

    ``settings`` has how many words the documents have, those that are too general to tell anything included.
    """
    n_docs = shares.shape[0]
    size = class_sizes(shares) @ outline.tree.path_mask(outline.class_nodes)
    of_topic: dict[int, list[NodeSummary]] = {}
    for topic, node in zip(outline.node_topics, known.nodes, strict=True):
        of_topic.setdefault(topic, []).append(node)
    nodes = tuple(
        _summary(of_topic.get(topic, []), float(size[node]), n_docs, outline.tree.depths[node])
        for node, topic in enumerate(outline.topics)
    )
    told: dict[str, Any] = {name: known.facts.get(name) for name in ("stopped", "reason", "agreement")}
    sizes: dict[str, Any] = {name: settings.get(name, known.facts.get(name)) for name in FIGURES}
    curve = known.facts.get("curve")
    return TopicTree(
        tree=outline.tree, nodes=nodes, n_docs=n_docs, general_words=general,
        curve=None if curve is None else Curve.from_dict(curve), **told, **sizes,
    )  # fmt: skip


def placed(outline: Shape, shares: Csr, ids: Sequence[str], words: tuple[tuple[str, ...], ...] = ()) -> Placed:
    """The documents in the tree."""
    nodes, together = _by_node(outline, shares)
    return Placed(outline.tree, nodes, together, ids, words)


def hard_to_place(outline: Shape, shares: Csr) -> int:
    """How many documents have no topic with more than half of them."""
    largest = _by_node(outline, shares)[1].max(axis=1)
    return int((np.asarray(largest.todense()).ravel() <= CERTAIN).sum())


def _by_node(outline: Shape, shares: Csr) -> tuple[tuple[int, ...], Csr]:
    """The nodes that have classes, and the shares in them: classes that edits brought to one topic count together."""
    nodes = tuple(dict.fromkeys(outline.class_nodes))
    if len(nodes) == len(outline.class_nodes):
        return nodes, shares
    column = {node: number for number, node in enumerate(nodes)}
    together = np.zeros((len(outline.class_nodes), len(nodes)), shares.dtype)
    together[range(len(together)), [column[node] for node in outline.class_nodes]] = 1
    return nodes, csr_array(shares @ csr_array(together))


def class_sizes(shares: Csr) -> Any:
    """The expected number of documents of each class."""
    return np.asarray(shares.sum(axis=0, dtype=np.float64)).ravel()


def _summary(of_model: list[NodeSummary], size: float, n_docs: int, depth: int) -> NodeSummary:
    """What is known of a topic from the nodes of the model that are in it: several where topics were merged."""
    words = tuple(dict.fromkeys(word for row in _in_turn([node.words for node in of_model]) for word in row))
    rows = tuple(dict.fromkeys(row for group in _in_turn([node.rows for node in of_model]) for row in group))
    names = tuple(dict.fromkeys(name for group in _in_turn([node.prototypes for node in of_model]) for name in group))
    coherence = float(np.mean([node.coherence for node in of_model])) if of_model else 0.0
    return NodeSummary(words, size, size / max(n_docs, 1), names, coherence, depth, rows)


def _in_turn(lists: list[tuple[Any, ...]]) -> list[list[Any]]:
    """The first of all, the second of all, and so on."""
    longest = max(map(len, lists), default=0)
    return [[one[place] for one in lists if place < len(one)] for place in range(longest)]
