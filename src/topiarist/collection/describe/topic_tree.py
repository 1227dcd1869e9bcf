"""The tree of a collection as a person reads it, grown or shaped by people: words, sizes, typical documents."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.collection.contents import Description
from topiarist.collection.describe.flat_topics import check_documents, set_general_words_aside
from topiarist.collection.describe.nodes import ROOT, NodeSummary, describe_nodes, named
from topiarist.collection.shape.shape import Shape
from topiarist.counts.corpus import Corpus
from topiarist.counts.validation import column_totals
from topiarist.estimators.tree.fitted_tree import shares_of, tree_model
from topiarist.estimators.tree.preparation import Curve
from topiarist.hierarchy import tree_text
from topiarist.hierarchy.edits import cut
from topiarist.hierarchy.naming.readings import largest_classes
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import DOT
from topiarist.hierarchy.views import view, views
from topiarist.measures.placed_documents import Placed

FEWEST_TO_JUDGE = 50  # documents from which on a held-out perplexity means something
ROUNDING = 1e-6  # of a document: sums of shares are single-precision numbers
FIGURES = ("n_tokens", "n_words")  # of the whole collection; new documents are counted in


@dataclass(frozen=True, kw_only=True, repr=False)
class TopicTree:
    """A tree with its nodes described, what it was found in, and how the number of leaves came about.

    ``nodes`` are in the order of the tree's. ``stopped`` is why growing ended: "heldout", "reached", "exhausted",
    "given" or "interrupted"; ``reason`` says it in a sentence. ``agreement`` is the normalised mutual information of
    the leaves and the documents' first labels, None where they have none.
    """

    tree: Tree
    nodes: tuple[NodeSummary, ...]
    n_docs: int
    n_tokens: int
    n_words: int
    general_words: tuple[str, ...]
    curve: Curve | None
    stopped: str
    reason: str
    agreement: float | None

    def __repr__(self) -> str:
        return f"<TopicTree of {self.n_docs:,} documents: {len(self.tree)} topics, {len(self.tree.leaves)} at the ends>"

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import tree_card

        return tree_card(self)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Documents under each node in whole numbers that add up: children and a node's own to it, all to all."""
        expected = np.array([node.size for node in self.nodes])
        own = expected.copy()
        for node, parent in enumerate(self.tree.parents):
            if parent >= 0:
                own[parent] -= expected[node]
        whole = np.floor(np.maximum(own, 0.0) + ROUNDING).astype(np.int64)
        most = np.argsort(whole - own, kind="stable")[: round(expected[self.tree.root]) - int(whole.sum())]
        whole[most] += 1
        return tuple((whole @ self.tree.path_mask(range(len(self.tree)))).tolist())

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The words of each node."""
        return tuple(node.words for node in self.nodes)

    def view(self, detail: str | int = "normal", top: int | None = None) -> tuple[int, ...]:
        """The nodes that are seen at once and hold all documents between them; larger views open nodes of smaller ones.

        ``detail``: "coarse" (4 to 8 nodes), "normal" (10 to 25), "fine" (30 to 60), "all" (the leaves), or at most so
        many nodes. ``top``: the node to begin from, instead of the root.
        """
        top = self.tree.root if top is None else top
        nodes = (top, *self.tree.descendants(top))
        places = {node: place for place, node in enumerate(nodes)}
        part = Tree(tuple(places.get(self.tree.parents[node], -1) if node != top else -1 for node in nodes))
        gain = [self.nodes[node].gain for node in nodes]
        if detail == "all":
            return tuple(nodes[leaf] for leaf in part.leaves)
        seen = view(part, gain, detail) if isinstance(detail, int) else views(part, gain)[detail]
        return tuple(nodes[node] for node in seen)

    def lines(
        self,
        width: int | None = None,
        n_words: int | None = None,
        depth: int | None = None,
        *,
        ascii: bool = False,
        detail: str | int = "all",
    ) -> list[tree_text.Line]:
        """The lines of ``render`` in their parts, for those who want to colour them."""
        form = tree_text.Format(width, n_words, depth, ascii)
        shown = cut(self.tree, self.view(detail))
        words, sizes = [self.words[node] for node in shown.origin], [self.sizes[node] for node in shown.origin]
        below = [len(self.tree.descendants(node)) for node in shown.origin]
        closed = [number if shown.tree.is_leaf(node) else 0 for node, number in enumerate(below)]
        return tree_text.lines(shown.tree, words, sizes, form, closed)

    def render(
        self,
        width: int | None = None,
        n_words: int | None = None,
        depth: int | None = None,
        *,
        ascii: bool = False,
        detail: str | int = "all",
    ) -> str:
        """The tree as text: a line per node with its words and, at the right, the documents under it.

        No line is wider than ``width`` columns: words that do not fit are left out. ``n_words`` is how many words to
        show at most, ``depth`` how many levels below the root; ``ascii`` draws branches that every terminal has.
        ``detail``: see ``view``; behind a topic that is not opened stands how many there are below it.
        """
        return "\n".join(map(str, self.lines(width, n_words, depth, ascii=ascii, detail=detail)))

    def draw(self, ax: Any = None, detail: str | int = "normal") -> Any:
        """Draw the tree with matplotlib as far as a ``view`` opens it, and return the axes."""
        from topiarist.hierarchy.picture import draw

        shown = cut(self.tree, self.view(detail))
        nodes = [self.nodes[place] for place in shown.origin]
        names = [ROOT if place == shown.tree.root else name for place, name in enumerate(shown.tree.names)]
        words = [
            (name, *(word for word in node.words if word not in name.lower()))
            for name, node in zip(names, nodes, strict=True)
        ]
        return draw(shown.tree, words, [node.size for node in nodes], ax)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        plain = {
            name: getattr(self, name) for name in ("n_docs", "n_tokens", "n_words", "stopped", "reason", "agreement")
        }
        return {
            **plain,
            "n_leaves": len(self.tree.leaves),
            "general_words": list(self.general_words),
            "curve": None if self.curve is None else self.curve.to_dict(),
            "tree": self.tree.to_dict(),
            "nodes": [asdict(node) for node in self.nodes],
        }


def grow_tree(
    corpus: Corpus,
    n_leaves: int | None = None,
    *,
    n_words: int = 8,
    growth: str = "guided",
    seed: int = 0,
    n_threads: int | None = None,
    verbose: bool = False,
    language: str = "",
) -> TopicTree:
    """Grow a tree of topics and describe its nodes. Without ``n_leaves`` held-out tokens choose their number.

    Words of more than half of the documents are set aside first: they are the general language of the collection, in
    whatever language it is written, and belong to the root. Where the ``language`` is told (``"en"``), its function
    words name no topic.
    """
    special, general = set_general_words_aside(corpus)
    check_documents(special, n_leaves, "leaves")
    from topiarist.estimators.tree.cam import CAM  # estimators take a second to load

    model = CAM(n_leaves, growth=growth, random_state=seed, n_threads=n_threads, verbose=int(verbose))
    found = describe_tree(model.fit(special.counts), special, general, n_words=n_words, language=language)
    return replace(found, n_tokens=corpus.n_tokens, n_words=corpus.n_words)


def describe_tree(
    model: Any, corpus: Corpus, general: Sequence[str] = (), *, n_words: int = 8, n_documents: int = 3,
    language: str = "",
) -> TopicTree:  # fmt: skip
    """Describe the tree of a model (of any kind) that was fitted to the counts of a corpus.

    ``general`` are words that were set aside before; they stand before the root's own.
    """
    fitted = tree_model(model)
    shares = shares_of(model, corpus.counts)
    nodes = describe_nodes(fitted, shares, corpus, general, n_words=n_words, n_documents=n_documents, language=language)
    return TopicTree(
        tree=named(fitted.tree, [node.words for node in nodes], names=[node.names for node in nodes]),
        nodes=nodes,
        n_docs=corpus.n_docs,
        general_words=tuple(general),
        **{**facts_of(model, corpus, shares), "curve": getattr(model, "curve_", None)},
    )


def facts_of(model: Any, corpus: Corpus, shares: Csr) -> dict[str, Any]:
    """What there is to say of a fit beside its nodes, as plain JSON data."""
    curve = getattr(model, "curve_", None)
    return {
        "stopped": stopped(model),
        "reason": _reason(model, corpus.n_docs),
        "agreement": _agreement(corpus, shares),
        "n_tokens": corpus.n_tokens,
        "n_words": corpus.n_words,
        "curve": None if curve is None else curve.to_dict(),
    }


def stopped(model: Any) -> str:
    """Why growing ended."""
    interrupted = getattr(model, "stopped_", "") == "interrupted"
    return "interrupted" if interrupted else getattr(model, "grown_", "given")


def _reason(model: Any, n_docs: int) -> str:
    """Why there are as many leaves as there are. Of few documents no perplexity is told: it would be chance."""
    n_leaves, curve = len(model.tree_.leaves), getattr(model, "curve_", None)
    leaves = f"{n_leaves:,} lea{'f' if n_leaves == 1 else 'ves'}"
    if hasattr(model, "ggm_"):
        return f"{leaves}, " + ("as asked for" if model.n_components else "as many as the AIC of the mixture prefers")
    if curve is None:
        return f"{leaves}, as in the given tree"
    asked = getattr(model, "n_clusters", getattr(model, "n_classes", None))
    told = f" (held-out perplexity {curve.perplexity[curve.place]:,.0f})" if n_docs >= FEWEST_TO_JUDGE else ""
    if model.stopped_ == "interrupted":
        return f"{leaves} when growing was stopped{told}"
    if asked is not None and n_leaves < asked:
        return f"{leaves}: {asked:,} were asked for, but no more keep documents of their own{told}"
    if asked is not None:
        return f"{leaves}, as asked for{told}"
    if n_leaves == 1:
        return f"{leaves}: no division predicts held-out words better by more than 1 %{told}"
    return f"{leaves}: the smallest tree within 1 % of the best of 1–{curve.n_leaves.max():,}{told}"


def _agreement(corpus: Corpus, shares: Csr) -> float | None:
    """Normalised mutual information of the classes and the first labels of the documents that have any."""
    numbers: dict[str, int] = {}
    first = np.full(shares.shape[0], -1, np.int32)
    for row, labels in enumerate(corpus.labels):
        if labels:
            first[row] = numbers.setdefault(labels[0], len(numbers))
    if len(numbers) < 2:
        return None
    from sklearn.metrics import normalized_mutual_info_score

    known = first >= 0
    own = np.maximum(largest_classes(csr_array(shares)), 0)
    return float(normalized_mutual_info_score(first[known], own[known]))


def without_words(known: Description, ignored: Collection[str]) -> Description:
    """A description that names no ignored word: these are gone from it before the tree is fitted again."""
    if not ignored:
        return known
    barred = frozenset(ignored)
    nodes = tuple(
        replace(
            node,
            words=tuple(word for word in node.words if word not in barred),
            names=tuple(name for name in node.names if not says(name, barred)),
        )
        for node in known.nodes
    )
    return replace(known, nodes=nodes)


def says(name: str, words: Collection[str]) -> bool:
    """Whether a name has one of some words, or phrases, in it."""
    plain = name.casefold()
    spoken = {*re.findall(r"\w+", plain), *(item.strip() for item in plain.split(DOT.strip()))}
    return any(word in spoken for word in words)


def described(
    outline: Shape, known: Description, shares: Csr, general: tuple[str, ...], settings: Mapping[str, Any]
) -> TopicTree:
    """The tree with what is known of its topics; the model need not be loaded for it.

    ``settings`` has how many words the documents have, those that are too general to tell anything included.
    """
    n_docs = shares.shape[0]
    size = class_sizes(shares) @ outline.tree.path_mask(outline.class_nodes)
    nodes = tuple(
        _summary([known.nodes[own] for own in outline.model_nodes(topic)], float(size[node]), n_docs, depth)
        for node, (topic, depth) in enumerate(zip(outline.topics, outline.tree.depths, strict=True))
    )
    nodes = _opened(outline, nodes)
    told: dict[str, Any] = {name: known.facts.get(name) for name in ("stopped", "reason", "agreement")}
    sizes: dict[str, Any] = {name: settings.get(name, known.facts.get(name)) for name in FIGURES}
    curve = known.facts.get("curve")
    return TopicTree(
        tree=outline.tree, nodes=nodes, n_docs=n_docs, general_words=general,
        curve=None if curve is None else Curve.from_dict(curve), **told, **sizes,
    )  # fmt: skip


def _opened(outline: Shape, nodes: tuple[NodeSummary, ...]) -> tuple[NodeSummary, ...]:
    """Nodes with what opening them tells: of a heading that the model does not know yet, its part of what the next one
    above tells. It is called as people called it.
    """
    known, found = set(outline.node_topics), list(nodes)
    for node in outline.tree.depth_first()[1:]:
        if outline.topics[node] not in known and not outline.tree.is_leaf(node):
            above = found[outline.tree.parents[node]]
            gain = above.gain * min(nodes[node].size / above.size, 1.0) if above.size > 0 else 0.0
            longest = max(len(found[child].words) for child in outline.tree.children(node))
            found[node] = replace(nodes[node], gain=gain, names=(), words=nodes[node].words[:longest])
    return tuple(found)


def placed(outline: Shape, shares: Csr, ids: Sequence[str], words: tuple[tuple[str, ...], ...] = ()) -> Placed:
    """The documents in the tree."""
    nodes, together = shares_by_topic(outline, shares)
    return Placed(outline.tree, nodes, together, ids, words)


def shares_by_topic(outline: Shape, shares: Csr) -> tuple[tuple[int, ...], Csr]:
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
    return column_totals(shares)


def _summary(of_model: list[NodeSummary], size: float, n_docs: int, depth: int) -> NodeSummary:
    """What is known of a topic from the nodes of the model that are in it: several where topics were merged."""
    words = tuple(dict.fromkeys(word for row in _in_turn([node.words for node in of_model]) for word in row))
    rows = tuple(dict.fromkeys(row for group in _in_turn([node.rows for node in of_model]) for row in group))
    names = tuple(dict.fromkeys(name for group in _in_turn([node.prototypes for node in of_model]) for name in group))
    called = tuple(dict.fromkeys(name for group in _in_turn([node.names for node in of_model]) for name in group))
    coherence = float(np.mean([node.coherence for node in of_model])) if of_model else 0.0
    gain = max((node.gain for node in of_model), default=0.0)
    return NodeSummary(words, size, size / max(n_docs, 1), names, coherence, depth, rows, called, gain)


def _in_turn(lists: list[tuple[Any, ...]]) -> list[list[Any]]:
    """The first of all, the second of all, and so on."""
    longest = max(map(len, lists), default=0)
    return [[one[place] for one in lists if place < len(one)] for place in range(longest)]
