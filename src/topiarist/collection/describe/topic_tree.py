"""Topic tree of a collection, as grown or edited: words, sizes and typical documents of its nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.collection.contents import ROOT, Description, NodeSummary
from topiarist.collection.shape.tree_state import TreeState
from topiarist.counts.corpus import Corpus
from topiarist.counts.validation import sum_columns
from topiarist.estimators.tree.curve import Curve
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.trees import tree_text
from topiarist.trees.edits import cut
from topiarist.trees.tree import Tree
from topiarist.trees.tree_text import DOT
from topiarist.trees.views import select_view, select_views

MIN_DOCUMENTS_TO_EVALUATE = 50  # documents: with fewer, held-out perplexity is mostly chance
ROUNDING = 1e-6  # of a document: sums of shares are single-precision numbers


@dataclass(frozen=True, kw_only=True, repr=False)
class TopicTree:
    """Topic tree with descriptions of its nodes, the size of the corpus, and the reason for the number of leaves.

    ``nodes`` are in the order of the nodes of ``tree``. ``stopped`` is the reason why growth ended: "heldout",
    "reached", "exhausted", "given" or "interrupted"; ``reason`` is a sentence about it. ``agreement`` is the normalised
    mutual information of leaves and first labels of documents, None without labels.
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
        return f"<TopicTree of {self.n_docs:,} documents: {len(self.tree.leaves)} topics, {len(self.tree.headings)} headings>"

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import tree_card

        return tree_card(self)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Documents under each node, as integers that add up to the size of the parent."""
        expected = np.array([node.size for node in self.nodes])
        own_sizes = expected.copy()
        for node, parent in enumerate(self.tree.parents):
            if parent >= 0:
                own_sizes[parent] -= expected[node]
        counts = np.floor(np.maximum(own_sizes, 0.0) + ROUNDING).astype(np.int64)
        n_missing = round(expected[self.tree.root]) - int(counts.sum())
        counts[np.argsort(counts - own_sizes, kind="stable")[:n_missing]] += 1
        return tuple((counts @ self.tree.path_mask(range(len(self.tree)))).tolist())

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Characteristic words of each node."""
        return tuple(node.words for node in self.nodes)

    def view(self, detail: str | int = "normal", top: int | None = None) -> tuple[int, ...]:
        """Return the nodes of a view, which together hold all documents; a larger view opens nodes of a smaller one.

        ``detail`` is "coarse" (the first level), "normal" (10 to 25 nodes), "fine" (30 to 60), "all" (the leaves), or a
        maximum number of nodes. ``top`` is the node to start from instead of the root.
        """
        top = self.tree.root if top is None else top
        nodes = (top, *self.tree.descendants(top))
        places = {node: place for place, node in enumerate(nodes)}
        part = Tree((-1, *(places[self.tree.parents[node]] for node in nodes[1:])))
        if detail == "all":
            return tuple(nodes[leaf] for leaf in part.leaves)
        gain = [self.nodes[node].gain for node in nodes]
        view = select_view(part, gain, detail) if isinstance(detail, int) else select_views(part, gain)[detail]
        return tuple(nodes[place] for place in view)

    def lines(
        self,
        width: int | None = None,
        n_words: int | None = None,
        depth: int | None = None,
        *,
        ascii: bool = False,
        detail: str | int = "all",
    ) -> list[tree_text.TextLine]:
        """Return the lines of ``render`` in their parts, for coloured output."""
        form = tree_text.TextFormat(width, n_words, depth, ascii)
        visible = cut(self.tree, self.view(detail))
        words, sizes = [self.words[node] for node in visible.origin], [self.sizes[node] for node in visible.origin]
        n_below = [self.tree.count_leaves_below(node) for node in visible.origin]
        closed = [number if visible.tree.is_leaf(node) else 0 for node, number in enumerate(n_below)]
        return tree_text.format_lines(visible.tree, words, sizes, form, closed)

    def render(
        self,
        width: int | None = None,
        n_words: int | None = None,
        depth: int | None = None,
        *,
        ascii: bool = False,
        detail: str | int = "all",
    ) -> str:
        """Return the tree as text: one line per node with its words and, at the right, the number of its documents.

        Words that exceed ``width`` columns are omitted. ``n_words`` is the maximum number of words, ``depth`` the
        number of levels below the root. ``ascii`` draws branches with ASCII characters. For ``detail`` see ``view``; a
        closed topic shows the number of topics below it.
        """
        return "\n".join(map(str, self.lines(width, n_words, depth, ascii=ascii, detail=detail)))

    def draw(self, ax: Any = None, detail: str | int = "normal") -> Any:
        """Draw the tree with matplotlib as far as a ``view`` opens it, and return the axes."""
        from topiarist.trees.picture import draw_tree

        visible = cut(self.tree, self.view(detail))
        nodes = [self.nodes[place] for place in visible.origin]
        names = [ROOT if place == visible.tree.root else name for place, name in enumerate(visible.tree.names)]
        words = [
            (name, *(word for word in node.words if word not in name.lower()))
            for name, node in zip(names, nodes, strict=True)
        ]
        return draw_tree(visible.tree, words, [node.size for node in nodes], ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as JSON data."""
        names = ("n_docs", "n_tokens", "n_words", "stopped", "reason", "agreement")
        return {name: getattr(self, name) for name in names} | {
            "n_leaves": len(self.tree.leaves),
            "n_headings": len(self.tree.headings),
            "general_words": list(self.general_words),
            "curve": None if self.curve is None else self.curve.to_dict(),
            "tree": self.tree.to_dict(),
            "nodes": [asdict(node) for node in self.nodes],
        }


def grow_tree(
    corpus: Any,
    n_leaves: int | None = None,
    *,
    n_words: int = 8,
    growth: str = "guided",
    seed: int = 0,
    n_threads: int | None = None,
    verbose: bool = False,
    language: str = "",
) -> TopicTree:
    """Grow a topic tree and describe its nodes. Without ``n_leaves`` held-out tokens choose the number of leaves.

    ``corpus``: counted documents, or any source that ``Collection.grow`` accepts, such as a list of strings. General
    words (in more than half of the documents) are removed first and represented at the root. With a ``language``
    (``"en"``) its function words name no topic.
    """
    from topiarist.collection.describe.flat_topics import check_documents, count_source, set_general_words_aside
    from topiarist.estimators.tree.cam import CAM

    corpus = count_source(corpus)
    special, general = set_general_words_aside(corpus)
    check_documents(special, n_leaves, "leaves")
    model = CAM(n_leaves, growth=growth, random_state=seed, n_threads=n_threads, verbose=int(verbose))
    topic_tree = describe_tree(model.fit(special.counts), special, general, n_words=n_words, language=language)
    return replace(topic_tree, n_tokens=corpus.n_tokens, n_words=corpus.n_words)


def describe_tree(
    model: Any, corpus: Corpus, general: Sequence[str] = (), *, n_words: int = 8, n_documents: int = 3,
    language: str = "",
) -> TopicTree:  # fmt: skip
    """Describe the tree of a model (of any kind) that was fitted to the counts of a corpus.

    ``general`` words were removed before and come first in the words of the root. Headings above the first level are
    omitted (see ``trees.views``).
    """
    from topiarist.collection.describe.nodes import describe_nodes, visible_tree
    from topiarist.estimators.tree.fitted_tree import builds_headings, compute_shares, get_description_model

    fitted = get_description_model(model)
    shares = compute_shares(model, corpus.counts)
    nodes = describe_nodes(fitted, shares, corpus, general, n_words=n_words, n_documents=n_documents, language=language)
    visible = visible_tree(fitted.tree, nodes, None if builds_headings(model) else ())
    depths = zip(visible.origin, visible.tree.depths, strict=True)
    return TopicTree(
        tree=visible.tree,
        nodes=tuple(replace(nodes[node], depth=depth) for node, depth in depths),
        n_docs=corpus.n_docs,
        general_words=tuple(general),
        **collect_fit_facts(model, corpus, shares) | {"curve": getattr(model, "curve_", None)},
    )


def collect_fit_facts(model: Any, corpus: Corpus, shares: Csr) -> dict[str, Any]:
    """Return the facts of a fit, without its nodes, as JSON data; ``stopped`` is the reason why growth ended."""
    curve, is_interrupted = getattr(model, "curve_", None), getattr(model, "stopped_", "") == "interrupted"
    return {
        "stopped": "interrupted" if is_interrupted else getattr(model, "grown_", "given"),
        "reason": _describe_size(model, corpus.n_docs),
        "agreement": _compute_agreement(corpus, shares),
        "n_tokens": corpus.n_tokens,
        "n_words": corpus.n_words,
        "curve": None if curve is None else curve.to_dict(),
    }


def _describe_size(model: Any, n_docs: int) -> str:
    """Explain the number of topics. With few documents the perplexity is omitted, because it would be chance."""
    n_leaves, curve = len(model.tree_.leaves), getattr(model, "curve_", None)
    topics = f"{n_leaves:,} topic{'s' * (n_leaves != 1)}"
    if hasattr(model, "ggm_"):
        return f"{topics}, " + ("as asked for" if model.n_components else "as many as the AIC of the mixture prefers")
    if curve is None:
        return f"{topics}, as in the given tree"
    requested = getattr(model, "n_clusters", getattr(model, "n_classes", None))
    if model.stopped_ == "interrupted":
        reason = " when growing was stopped"
    elif requested is not None and n_leaves < requested:
        reason = f": {requested:,} were requested, but further topics keep no documents"
    elif requested is not None:
        reason = ", as asked for"
    elif n_leaves == 1:
        reason = ": no division predicts held-out words better by more than 1%"
    else:
        reason = f": the smallest tree within 1% of the best of 1–{curve.n_leaves.max():,} after a charge for size"
    perplexity = f" (held-out perplexity {curve.perplexity[curve.place]:,.0f})"
    return f"{topics}{reason}{perplexity if n_docs >= MIN_DOCUMENTS_TO_EVALUATE else ''}"


def _compute_agreement(corpus: Corpus, shares: Csr) -> float | None:
    """Return the normalised mutual information of classes and first labels; None with fewer than two labels."""
    numbers: dict[str, int] = {}
    first = np.full(shares.shape[0], -1, np.int32)
    for row, labels in enumerate(corpus.labels):
        if labels:
            first[row] = numbers.setdefault(labels[0], len(numbers))
    if len(numbers) < 2:
        return None
    from sklearn.metrics import normalized_mutual_info_score

    from topiarist.trees.naming.text_features import find_largest_classes

    is_labelled = first >= 0
    classes = np.maximum(find_largest_classes(csr_array(shares)), 0)
    return float(normalized_mutual_info_score(first[is_labelled], classes[is_labelled]))


def remove_words(description: Description, ignored: Collection[str]) -> Description:
    """Return a description without ignored words, for use before the next fit."""
    if not ignored:
        return description
    excluded = frozenset(ignored)
    nodes = tuple(
        replace(
            node,
            words=tuple(word for word in node.words if word not in excluded),
            names=tuple(name for name in node.names if not contains_word(name, excluded)),
        )
        for node in description.nodes
    )
    return replace(description, nodes=nodes)


def contains_word(name: str, words: Collection[str]) -> bool:
    """Return whether a name contains one of the words or phrases."""
    plain = name.casefold()
    terms = {*re.findall(r"\w+", plain), *(item.strip() for item in plain.split(DOT.strip()))}
    return any(word in terms for word in words)


def build_topic_tree(
    outline: TreeState, description: Description, shares: Csr, general: tuple[str, ...], settings: Mapping[str, Any]
) -> TopicTree:
    """Return the topic tree of a collection from stored descriptions, without loading the model.

    ``settings`` has the number of tokens and words, including general words.
    """
    n_docs = shares.shape[0]
    size = sum_columns(shares) @ outline.tree.path_mask(outline.class_nodes)
    size[outline.tree.root] = n_docs  # unsorted documents are in no topic
    nodes = []
    for node, (topic, depth) in enumerate(zip(outline.topics, outline.tree.depths, strict=True)):
        summaries = [description.nodes[model_node] for model_node in outline.model_nodes(topic)]
        nodes.append(_merge_summaries(summaries, float(size[node]), n_docs, depth))
    facts: dict[str, Any] = {"stopped": None, "reason": None, "agreement": None, "curve": None, **description.facts}
    return TopicTree(
        tree=outline.tree, nodes=_fill_new_headings(outline, nodes), n_docs=n_docs, general_words=general,
        curve=None if facts["curve"] is None else Curve.from_dict(facts["curve"]),
        n_tokens=settings.get("n_tokens", facts.get("n_tokens")), n_words=settings.get("n_words", facts.get("n_words")),
        stopped=facts["stopped"], reason=facts["reason"], agreement=facts["agreement"],
    )  # fmt: skip


def _fill_new_headings(outline: TreeState, nodes: list[NodeSummary]) -> tuple[NodeSummary, ...]:
    """Complete the summaries of headings that are new to the model: their gain is a part of the gain of the parent."""
    fitted_topics, summaries = set(outline.node_topics), list(nodes)
    for node in outline.tree.depth_first()[1:]:
        if outline.topics[node] not in fitted_topics and not outline.tree.is_leaf(node):
            parent = summaries[outline.tree.parents[node]]
            gain = parent.gain * min(nodes[node].size / parent.size, 1.0) if parent.size > 0 else 0.0
            longest = max(len(summaries[child].words) for child in outline.tree.children(node))
            summaries[node] = replace(nodes[node], gain=gain, names=(), words=nodes[node].words[:longest])
    return tuple(summaries)


def assign_documents(
    outline: TreeState, shares: Csr, ids: Sequence[str], words: tuple[tuple[str, ...], ...] = ()
) -> DocumentAssignments:
    """Return the documents with their assignments to the tree."""
    nodes, topic_shares = sum_shares_by_topic(outline, shares)
    return DocumentAssignments(outline.tree, nodes, topic_shares, ids, words)


def sum_shares_by_topic(outline: TreeState, shares: Csr) -> tuple[tuple[int, ...], Csr]:
    """Return the nodes with classes, and the shares in them, summed over classes that edits merged into one topic."""
    nodes = tuple(dict.fromkeys(outline.class_nodes))
    if len(nodes) == len(outline.class_nodes):
        return nodes, shares
    column = {node: number for number, node in enumerate(nodes)}
    membership = np.zeros((len(outline.class_nodes), len(nodes)), shares.dtype)
    membership[range(len(membership)), [column[node] for node in outline.class_nodes]] = 1
    return nodes, csr_array(shares @ csr_array(membership))


def _merge_summaries(of_model: list[NodeSummary], size: float, n_docs: int, depth: int) -> NodeSummary:
    """Merge the summaries of the model nodes of a topic: several for a merged topic."""

    def interleave(name: str) -> tuple[Any, ...]:
        in_turn = zip_longest(*(getattr(node, name) for node in of_model))
        return tuple(dict.fromkeys(value for values in in_turn for value in values if value is not None))

    return NodeSummary(
        interleave("words"),
        size,
        size / max(n_docs, 1),
        interleave("prototypes"),
        coherence=float(np.mean([node.coherence for node in of_model])) if of_model else 0.0,
        depth=depth,
        rows=interleave("rows"),
        names=interleave("names"),
        gain=max((node.gain for node in of_model), default=0.0),
    )
