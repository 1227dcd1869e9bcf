"""Labels in topics: documents of each label in each topic, and the agreement of labels and topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Ints
from topiarist.collection.describe.statistics import Figures
from topiarist.trees.naming.text_features import find_largest_classes


@dataclass(frozen=True, eq=False)
class LabelCodes:
    """Labels of all documents as pairs of a row and a label number, without repetitions."""

    rows: Ints
    codes: Ints
    names: tuple[str, ...]
    sizes: Ints

    def list_largest(self, n: int) -> list[int]:
        return sorted(range(len(self.names)), key=lambda code: (-self.sizes[code], self.names[code]))[:n]

    @property
    def n_documents(self) -> int:
        return int(np.count_nonzero(np.bincount(self.rows)))

    @property
    def n_several(self) -> int:
        return int((np.bincount(self.rows) > 1).sum())


@dataclass(frozen=True, kw_only=True)
class LabelTopics:
    """Number of documents of a label in topics, with the agreement of the label and its largest topic."""

    label: str
    documents: int
    share: float  # of the label's documents: assigned to its largest topic
    purity: float  # of the labelled documents of that topic: with this label
    counts: tuple[int, ...]
    shares: tuple[float, ...]


def load_label_codes(figures: Figures) -> LabelCodes:
    """Load the labels of documents as codes: alphabetical names, and a row and a code for each label."""
    labels = figures.collection.documents.coded_labels()
    order = sorted(range(len(labels.texts)), key=labels.texts.__getitem__)
    names, code = tuple(labels.texts[place] for place in order), np.argsort(np.array(order, np.int64))
    is_counted = labels.rows < figures.n_docs  # a document can be added meanwhile
    rows, codes = labels.rows[is_counted], code[labels.codes[is_counted]]
    return LabelCodes(rows, codes, names, np.bincount(codes, minlength=len(names)))


def count_labels_in_topics(
    figures: Figures, labels: LabelCodes, n: int, nodes: Sequence[int], returned_places: Sequence[int]
) -> list[tuple[LabelTopics, int]]:
    """Count the documents of the ``n`` largest labels under each node, and find the node with most of each label.

    ``returned_places`` are the places in ``nodes`` whose counts are returned; the largest node can be any of ``nodes``.
    """
    label_codes = labels.list_largest(n)
    owner = np.full(len(figures.tree), -1, np.int64)
    for column, node in enumerate(nodes):
        owner[[node, *figures.tree.descendants(node)]] = column
    n_nodes, documents = len(nodes), np.unique(labels.rows)
    n_by_node = np.bincount(owner[figures.assigned_nodes[documents]] + 1, minlength=n_nodes + 1)[1:]
    place = np.full(len(labels.names), -1, np.int64)
    place[list(label_codes)] = np.arange(len(label_codes))
    rows, columns = place[labels.codes], owner[figures.assigned_nodes[labels.rows]]
    is_kept = (rows >= 0) & (columns >= 0)
    cells = np.bincount(rows[is_kept] * n_nodes + columns[is_kept], minlength=len(label_codes) * n_nodes)
    table, places, result = cells.reshape(len(label_codes), n_nodes), list(returned_places), []
    for code, counts in zip(label_codes, table, strict=True):
        best, size = int(counts.argmax()), int(labels.sizes[code])
        topics = LabelTopics(
            label=labels.names[code],
            documents=size,
            share=float(counts[best] / size),
            purity=float(counts[best] / max(n_by_node[best], 1)),
            counts=tuple(counts[places].tolist()),
            shares=tuple((counts[places] / size).round(4).tolist()),
        )
        result.append((topics, nodes[best]))
    return result


def compute_agreement(figures: Figures) -> float | None:
    """Return the NMI (0 to 1) of first labels and current topics; None with fewer than two labels."""
    labels = figures.collection.documents.first_labels(figures.n_docs)
    if len({label for _, label in labels}) < 2:
        return None
    from sklearn.metrics import normalized_mutual_info_score

    topics = np.array(figures.shape.class_nodes)[np.maximum(find_largest_classes(figures.collection.shares), 0)]
    return float(normalized_mutual_info_score([label for _, label in labels], topics[[row for row, _ in labels]]))
