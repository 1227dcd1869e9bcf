"""The tree of a collection, as a person reads it: the words of each node, its size, documents that speak from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import normalized_mutual_info_score

from topiarist.counts.corpus import Corpus
from topiarist.counts.validation import token_counts
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.words import node_words
from topiarist.tasks import outline, reading
from topiarist.tasks.cam import CAM
from topiarist.tasks.outline import DOT
from topiarist.tasks.topics import coherences, names_of, set_general_words_aside
from topiarist.tasks.trees import Curve

ROOT = "Everything"
STEADINESS = 20.0  # tokens of doubt, so that the purest document is not the shortest
WORDLESS = "no words of its own"
BLOCK = 1 << 16  # documents that are read at once: memory does not grow with documents × nodes
IN_A_NAME = 2  # words of a node that make its name; more where siblings would be called the same


@dataclass(frozen=True)
class NodeSummary:
    """One node: words of its own, the expected number and share of documents under it, documents that speak from it."""

    words: tuple[str, ...]
    size: float
    share: float
    prototypes: tuple[str, ...]
    coherence: float
    depth: int


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Documents under each node in whole numbers that add up: children to their parent, all leaves to all."""
        expected = np.array([self.nodes[leaf].size for leaf in self.tree.leaves])
        whole = np.floor(expected).astype(np.int64)
        most = np.argsort(whole - expected, kind="stable")[: round(expected.sum()) - int(whole.sum())]
        whole[most] += 1
        return tuple((whole @ self.tree.path_mask()).tolist())

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The words of each node."""
        return tuple(node.words for node in self.nodes)

    def lines(
        self, width: int | None = None, n_words: int | None = None, depth: int | None = None, *, ascii: bool = False
    ) -> list[outline.Line]:
        """The lines of ``render`` in their parts, for those who want to colour them."""
        return outline.lines(self.tree, self.words, self.sizes, outline.Format(width, n_words, depth, ascii))

    def render(
        self, width: int | None = None, n_words: int | None = None, depth: int | None = None, *, ascii: bool = False
    ) -> str:
        """The tree as text: a line per node with its words and, at the right, the documents under it.

        No line is wider than ``width`` columns: words that do not fit are left out. ``n_words`` is how many words to
        show at most, ``depth`` how many levels below the root; ``ascii`` draws branches that every terminal has.
        """
        return "\n".join(map(str, self.lines(width, n_words, depth, ascii=ascii)))

    def draw(self, ax: Any = None) -> Any:
        """Draw the tree with matplotlib, and return the axes."""
        from topiarist.hierarchy.picture import draw

        root = self.tree.root
        words = [(ROOT, *node.words) if place == root else node.words for place, node in enumerate(self.nodes)]
        return draw(self.tree, words, [node.size for node in self.nodes], ax)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        curve = None
        if self.curve is not None:
            leaves, perplexity = self.curve.n_leaves.tolist(), self.curve.perplexity.tolist()
            criterion = self.curve.criterion.tolist()
            curve = {
                "n_leaves": leaves, "perplexity": perplexity, "criterion": criterion, "chosen": self.curve.chosen
            }  # fmt: skip
        plain = {
            name: getattr(self, name) for name in ("n_docs", "n_tokens", "n_words", "stopped", "reason", "agreement")
        }
        return {
            **plain,
            "n_leaves": len(self.tree.leaves),
            "general_words": list(self.general_words),
            "curve": curve,
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
) -> TopicTree:
    """Grow a tree of topics and describe its nodes. Without ``n_leaves`` held-out tokens choose their number.

    Words of more than half of the documents are set aside first: they are the general language of the collection, in
    whatever language it is written, and belong to the root.
    """
    special, general = set_general_words_aside(corpus)
    filled = special.n_docs - special.n_empty
    if not filled:
        raise InputError(
            "no document has a word that fewer than half of the documents have: nothing to tell them apart by",
            hint="more documents, or documents that differ more",
        )
    if filled < (n_leaves or 1):
        raise InputError(
            f"{n_leaves} leaves need at least as many documents with words; {filled} came",
            hint=f"--leaves {max(1, filled // 10)}, or more documents",
        )
    model = CAM(n_leaves, growth=growth, random_state=seed, n_threads=n_threads, verbose=int(verbose))
    found = describe_tree(model.fit(special.counts), special, general, n_words=n_words)
    return replace(found, n_tokens=corpus.n_tokens, n_words=corpus.n_words)


def describe_tree(
    model: CAM, corpus: Corpus, general: Sequence[str] = (), *, n_words: int = 8, n_documents: int = 3
) -> TopicTree:
    """Describe the tree of a model that was fitted to the counts of a corpus.

    ``general`` are words that were set aside before; they stand before the root's own.
    """
    tree = model.tree_
    explained, typical = _heard(model, corpus, n_documents)
    columns = node_words(
        tree, model.word_given_node_, n_words, node_weight=explained,
        count=np.asarray(corpus.counts.sum(axis=0, dtype=np.float64)).ravel(), words=corpus.vocabulary.words,
    )  # fmt: skip
    columns = _in_use(tree, columns, corpus.counts, model.labels_)
    words = [tuple(corpus.vocabulary.words[column] for column in chosen) for chosen in columns]
    words[tree.root] = (*general[:n_words], *words[tree.root])
    shares = model.cluster_given_doc_.mean(axis=0, dtype=np.float64) @ tree.path_mask()
    shares /= shares[tree.root]
    coherence = coherences(columns, corpus.counts)
    return TopicTree(
        tree=_named(tree, words),
        nodes=tuple(
            NodeSummary(
                words[node], float(shares[node]) * corpus.n_docs, float(shares[node]),
                names_of(corpus, typical[node]), coherence[node], tree.depths[node],
            )
            for node in range(len(tree))
        ),
        n_docs=corpus.n_docs,
        n_tokens=corpus.n_tokens,
        n_words=corpus.n_words,
        general_words=tuple(general),
        curve=model.curve_,
        stopped="interrupted" if model.stopped_ == "interrupted" else model.grown_,
        reason=_reason(model),
        agreement=_agreement(corpus, model.labels_),
    )  # fmt: skip


def _named(tree: Tree, words: list[tuple[str, ...]]) -> Tree:
    """The tree with nodes called by their first words, unless somebody gave them names."""
    numbered = Tree(tree.parents)
    if tree.names != numbered.names:
        return tree
    names = [ROOT] * len(tree)
    for parent in range(len(tree)):
        taken: set[str] = set()
        for child in tree.children(parent):
            names[child] = next(name for name in _possible_names(words[child]) if name not in taken)
            taken.add(names[child])
    return Tree(tree.parents, tuple(names))


def _possible_names(words: tuple[str, ...]) -> Iterator[str]:
    """Two words, then more of them, then numbers behind them."""
    words = words or (WORDLESS,)
    for number in range(min(IN_A_NAME, len(words)), len(words) + 1):
        yield DOT.join(words[:number])
    yield from (f"{DOT.join(words[:IN_A_NAME])} ({number})" for number in itertools.count(2))


def _heard(model: CAM, corpus: Corpus, n_documents: int) -> tuple[Any, Any]:
    """How many tokens each node explains, and the documents that speak most from it, read block by block."""
    lengths = corpus.lengths()
    explained, best, scores = np.zeros(len(model.tree_)), [], []
    for start in range(0, corpus.n_docs, BLOCK):
        here = slice(start, start + BLOCK)
        share = model.node_given_doc(corpus.counts[here])
        explained += lengths[here] @ share
        rows = reading.prototypes(share, n_documents, lengths[here], STEADINESS)
        steady = lengths[here] / (lengths[here] + STEADINESS)
        scores.append(share[rows, np.arange(len(rows))[:, None]] * steady[rows])
        best.append(rows + start)
    order = np.argsort(-np.hstack(scores), axis=1, kind="stable")[:, :n_documents]
    return explained, np.take_along_axis(np.hstack(best), order, axis=1)


def _in_use(tree: Tree, columns: list[Any], counts: Any, clusters: Any) -> list[Any]:
    """Of the words chosen for each node, those that the documents under it use more than all documents do.

    Where a node has hardly a word of its own, the likeliest words are those of the whole collection: they would say
    that the documents are about what they are not about.
    """
    chosen = np.unique(np.concatenate(columns))
    n_docs, path = len(clusters), tree.path_mask()
    member = csr_array((np.ones(n_docs), (clusters, np.arange(n_docs))), shape=(len(path), n_docs))
    used = path.T @ (member @ counts[:, chosen]).toarray()
    spoken = path.T @ (member @ token_counts(counts))
    more = used * spoken[tree.root] > used[tree.root] * spoken[:, None]
    more[tree.root] = True
    return [own[more[node, np.searchsorted(chosen, own)]] for node, own in enumerate(columns)]


def _reason(model: CAM) -> str:
    """Why there are as many leaves as there are."""
    n_leaves, asked, curve = len(model.tree_.leaves), model.n_clusters, model.curve_
    leaves = f"{n_leaves:,} lea{'f' if n_leaves == 1 else 'ves'}"
    if curve is None:
        return f"{leaves}, as in the given tree"
    perplexity = f"held-out perplexity {curve.perplexity[curve.place]:,.0f}"
    if model.stopped_ == "interrupted":
        return f"{leaves} when growing was stopped ({perplexity})"
    if asked is not None and n_leaves < asked:
        return f"{leaves}: {asked:,} were asked for, but no more keep documents of their own ({perplexity})"
    if asked is not None:
        return f"{leaves}, as asked for ({perplexity})"
    if n_leaves == 1:
        return f"{leaves}: no division predicts held-out words better by more than 1 % ({perplexity})"
    return f"{leaves}: the smallest tree within 1 % of the best of 1–{curve.n_leaves.max():,} ({perplexity})"


def _agreement(corpus: Corpus, clusters: Any) -> float | None:
    """Normalised mutual information of the clusters and the first labels of the documents that have any."""
    rows = [row for row, labels in enumerate(corpus.labels) if labels]
    first = [corpus.labels[row][0] for row in rows]
    if len(set(first)) < 2:
        return None
    return float(normalized_mutual_info_score(first, clusters[rows]))
