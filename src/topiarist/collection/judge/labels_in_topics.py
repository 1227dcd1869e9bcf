"""The labels that documents have, against the topics of the tree: how many fall together, and how far both agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Csr, Ints
from topiarist.collection.describe.figures import Figures


@dataclass(frozen=True, eq=False)
class Labelled:
    """All labels of all documents: the row and the label of each, every label of a document once."""

    rows: Ints
    codes: Ints
    names: tuple[str, ...]
    sizes: Ints

    def largest(self, n: int) -> list[int]:
        """The labels with most documents."""
        return sorted(range(len(self.names)), key=lambda code: (-self.sizes[code], self.names[code]))[:n]

    @property
    def n_documents(self) -> int:
        """How many documents have a label."""
        return int(np.count_nonzero(np.bincount(self.rows)))

    @property
    def n_several(self) -> int:
        """How many documents have several."""
        return int((np.bincount(self.rows) > 1).sum())


@dataclass(frozen=True)
class LabelTopics:
    """A label's documents in each of some topics, and the one of these with most of them.

    ``share``: of the label's documents that lie there. ``purity``: of the topic's labelled documents that have the
    label.
    """

    counts: Sequence[int]
    shares: Sequence[float]
    best: int
    share: float
    purity: float


def labelled(figures: Figures) -> Labelled:
    """All labels as they are now."""
    found = figures.collection.documents.coded_labels()
    order = sorted(range(len(found.texts)), key=found.texts.__getitem__)
    names, code = tuple(found.texts[place] for place in order), np.argsort(np.array(order, np.int64))
    known = found.rows < figures.n_docs  # a document may be added while this is read
    rows, codes = found.rows[known], code[found.codes[known]]
    return Labelled(rows, codes, names, np.bincount(codes, minlength=len(names)))


def labels_in_topics(
    figures: Figures, known: Labelled, chosen: Sequence[int], nodes: Sequence[int]
) -> list[LabelTopics]:
    """For each chosen label, how many of its documents lie mostly under each of some nodes."""
    owner = np.full(len(figures.tree), -1, np.int64)
    for column, node in enumerate(nodes):
        owner[[node, *figures.tree.descendants(node)]] = column
    n, documents = len(nodes), np.unique(known.rows)
    every = np.bincount(owner[figures.homes[documents]] + 1, minlength=n + 1)[1:]
    place = np.full(len(known.names), -1, np.int64)
    place[list(chosen)] = np.arange(len(chosen))
    rows, columns = place[known.codes], owner[figures.homes[known.rows]]
    kept = (rows >= 0) & (columns >= 0)
    table = np.bincount(rows[kept] * n + columns[kept], minlength=len(chosen) * n).reshape(len(chosen), n)
    found = []
    for code, counts in zip(chosen, table, strict=True):
        best, size = int(counts.argmax()), int(known.sizes[code])
        share, purity = float(counts[best] / size), float(counts[best] / max(every[best], 1))
        found.append(LabelTopics(counts.tolist(), (counts / size).round(4).tolist(), best, share, purity))
    return found


def agreement_of(figures: Figures) -> float | None:
    """Normalised mutual information of the first labels that documents have now, and their last topics as they are now.

    None where there are not two labels to tell apart.
    """
    found = figures.collection.documents.first_labels(figures.n_docs)
    if len({label for _, label in found}) < 2:
        return None
    from sklearn.metrics import normalized_mutual_info_score

    topics = np.array(figures.shape.class_nodes)[_largest(figures.collection.shares)]
    return float(normalized_mutual_info_score([label for _, label in found], topics[[row for row, _ in found]]))


def _largest(shares: Csr) -> Ints:
    """The column with the largest share of each row; the first where there is none, or several."""
    lengths = np.diff(shares.indptr)
    rows, found = np.repeat(np.arange(len(lengths)), lengths), np.zeros(len(lengths), np.int64)
    order = np.lexsort((shares.indices, -shares.data, rows))
    some = lengths > 0
    found[some] = shares.indices[order[shares.indptr[:-1][some]]]
    return found
