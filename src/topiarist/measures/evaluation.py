"""How good is a tree? Against the labels of its documents where there are any, and by itself.

``topiarist evaluate FOLDER`` prints ``Evaluation.lines``. The definitions: docs/reference/metrics.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score, homogeneity_completeness_v_measure

from topiarist.arrays import Csr, Floats, Integers
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import printable
from topiarist.measures.label_agreement import example_f1
from topiarist.measures.placed_documents import CERTAIN, Placed, hard_to_place
from topiarist.measures.topic_quality import npmi_coherence, topic_diversity
from topiarist.measures.trees import BestNode, best_nodes, dendrogram_purity

TOP_N = 10  # words of a topic that coherence and diversity look at
STEP = " ▸ "


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """How a tree agrees with labels that somebody gave.

    ``nmi``, ``rand``, ``homogeneity``, ``completeness`` and ``purity`` compare with the first label of each document:
    None where there are fewer than two different ones, or no two documents of one label. ``best`` has the node that
    suits each label best, the most frequent label first. ``example_f1``, where documents have several labels, is that
    of giving each document the labels whose best node is above it.
    """

    n_docs: int
    n_labels: int
    nmi: float | None
    rand: float | None
    homogeneity: float | None
    completeness: float | None
    purity: float | None  # dendrogram purity
    f1_macro: float
    f1_weighted: float
    example_f1: float | None
    best: dict[str, BestNode]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Figures about a tree; None where there was nothing to compute them from.

    ``hard_to_place`` is the share of documents of which no class has more than half. ``labelled`` compares with labels.
    """

    tree: Tree
    n_docs: int
    n_leaves: int
    depth: int
    hard_to_place: float
    perplexity: float | None  # of documents that the model has seen
    coherence: float | None
    diversity: float | None
    labelled: Labelled | None

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        names = ("n_docs", "n_leaves", "depth", "hard_to_place", "coherence", "diversity")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        finite = np.isfinite(self.perplexity or 0.0)  # JSON knows no infinity
        found["perplexity_of_seen_documents"] = self.perplexity if finite else None
        if self.labelled is None:
            return found | {"labelled": None}
        best = [
            {"label": label, **asdict(node), "path": list(self.tree.path_names(node.node))}
            for label, node in self.labelled.best.items()
        ]
        plain = {name: value for name, value in vars(self.labelled).items() if name != "best"}
        return found | {"labelled": plain | {"best": best}}

    def lines(self, n: int = 10) -> list[str]:
        """The figures as text for a terminal, with the best nodes of the ``n`` most frequent labels."""
        return list(_lines(self, n))


def evaluate(
    placed: Placed,
    labels: Sequence[Sequence[str]] | None = None,
    *,
    counts: Csr | None = None,
    word_given_node: Floats | None = None,
    perplexity: float | None = None,
    coherence: float | None = None,
    diversity: float | None = None,
    certain: float = CERTAIN,
) -> Evaluation:
    """Judge a tree. ``labels`` are those of each document, an empty tuple where it has none.

    ``perplexity``, ``coherence`` and ``diversity`` are passed on as they come. Where the last two are not given, they
    are computed for the nodes below the root from ``word_given_node`` (nodes × words), coherence in the documents of
    ``counts``. A document is hard to place if no class has more than ``certain`` of it.
    """
    topics = None if word_given_node is None else _topics(placed.tree, word_given_node)
    if coherence is None and topics is not None and counts is not None:
        coherence = float(npmi_coherence(topics, counts, top_n=TOP_N).mean())
    if diversity is None and topics is not None:
        diversity = topic_diversity(topics, top_n=TOP_N)
    return Evaluation(
        tree=placed.tree,
        n_docs=placed.n_docs,
        n_leaves=len(placed.tree.leaves),
        depth=placed.tree.depth,
        hard_to_place=float(np.mean(hard_to_place(placed.shares, certain))) if placed.n_docs else 0.0,
        perplexity=perplexity,
        coherence=coherence,
        diversity=diversity,
        labelled=None if labels is None else against_labels(placed, labels),
    )


def _topics(tree: Tree, word_given_node: Floats) -> Any:
    """The words of the nodes below the root, whose own words are those of everything."""
    words = np.asarray(word_given_node)
    if words.ndim != 2 or len(words) != len(tree):
        raise InputError(f"expected words for each of {len(tree)} nodes, got an array of shape {words.shape}")
    return words if len(tree) == 1 else np.delete(words, tree.root, axis=0)


def against_labels(placed: Placed, labels: Sequence[Sequence[str]]) -> Labelled | None:
    """Compare with labels; None if no document has any. Documents without labels are left out."""
    if len(labels) != placed.n_docs:
        raise InputError(f"expected the labels of each of {placed.n_docs} documents, got {len(labels)}")
    rows = [row for row, own in enumerate(labels) if own]
    if not rows:
        return None
    sets = [(own,) if isinstance(own, str) else tuple(own) for own in (labels[row] for row in rows)]
    homes, first = placed.homes[rows], [own[0] for own in sets]
    agreement: dict[str, float | None] = dict.fromkeys(("nmi", "rand", "homogeneity", "completeness"))
    if len(set(first)) > 1:
        homogeneity, completeness, nmi = map(float, homogeneity_completeness_v_measure(first, homes))
        agreement = {"nmi": nmi, "homogeneity": homogeneity, "completeness": completeness}
        agreement["rand"] = float(adjusted_rand_score(first, homes))
    shared = max(Counter(first).values()) > 1
    found = best_nodes(placed.tree, homes, sets)
    best = {label: found[label] for label in sorted(found, key=lambda label: (-found[label].size, label))}
    sizes = [node.size for node in best.values()]
    f1 = [node.f1 for node in best.values()]
    return Labelled(
        n_docs=len(rows),
        n_labels=len(best),
        **agreement,
        purity=dendrogram_purity(placed.tree, homes, first) if shared else None,
        f1_macro=float(np.mean(f1)),
        f1_weighted=float(np.average(f1, weights=sizes)),
        example_f1=_example_f1(placed.tree, homes, sets, best) if any(len(set(own)) > 1 for own in sets) else None,
        best=best,
    )


def _example_f1(tree: Tree, homes: Integers, sets: Sequence[tuple[str, ...]], best: dict[str, BestNode]) -> float:
    """How well label sets are predicted by giving a document the labels whose best node is above it."""
    number = {label: column for column, label in enumerate(best)}
    at_node: list[list[int]] = [[] for _ in range(len(tree))]
    for label, found in best.items():
        at_node[found.node].append(number[label])
    above: list[list[int]] = [[] for _ in range(len(tree))]
    for node in tree.depth_first():
        above[node] = at_node[node] + (above[tree.parents[node]] if tree.parents[node] >= 0 else [])
    given = [sorted({number[label] for label in own}) for own in sets]
    return example_f1(_indicator(given, len(best)), _indicator([above[home] for home in homes.tolist()], len(best)))


def _indicator(columns: Sequence[Sequence[int]], n_columns: int) -> Any:
    """Rows with a one in each of some columns."""
    starts = np.cumsum([0, *map(len, columns)])
    entries = np.array([column for row in columns for column in row], np.int64)
    return csr_array((np.ones(len(entries)), entries, starts), shape=(len(columns), n_columns))


def _lines(found: Evaluation, n: int) -> Iterator[str]:
    leaves = "1 leaf" if found.n_leaves == 1 else f"{found.n_leaves:,} leaves"
    yield f"{found.n_docs:,} document{'' if found.n_docs == 1 else 's'} · {leaves} · depth {found.depth}"
    yield ""
    yield f"hard to place      {found.hard_to_place:9.1%}"
    yield from _figure("perplexity (seen)", found.perplexity, "9,.0f")
    yield from _figure("coherence (NPMI)", found.coherence)
    yield from _figure("word diversity", found.diversity)
    if found.labelled is not None:
        yield from _labelled_lines(found.tree, found.labelled, n)


def _labelled_lines(tree: Tree, found: Labelled, n: int) -> Iterator[str]:
    yield ""
    labels = "1 label" if found.n_labels == 1 else f"{found.n_labels:,} labels"
    yield f"against {labels} of {found.n_docs:,} document{'' if found.n_docs == 1 else 's'}"
    yield from _figure("NMI", found.nmi)
    yield from _figure("adjusted Rand", found.rand)
    yield from _figure("homogeneity", found.homogeneity)
    yield from _figure("completeness", found.completeness)
    yield from _figure("dendrogram purity", found.purity)
    yield from _figure("F, weighted", found.f1_weighted)
    yield from _figure("F, macro", found.f1_macro)
    yield from _figure("F of label sets", found.example_f1)
    yield ""
    yield "    F  precision  recall  documents  label  →  best node"
    for label, node in list(found.best.items())[:n]:
        path = STEP.join(tree.names[step] for step in tree.path(node.node)[1:]) or tree.names[tree.root] or "(root)"
        figures = f"{node.f1:5.3f}  {node.precision:9.3f}  {node.recall:6.3f}  {node.size:9,}"
        yield f"{figures}  {printable(label)}  →  {printable(path)}"
    if len(found.best) > n:
        yield f"… and {len(found.best) - n:,} more"


def _figure(name: str, value: float | None, form: str = "9.3f") -> Iterator[str]:
    if value is not None:
        yield f"{name:<18} {value:{form}}"
