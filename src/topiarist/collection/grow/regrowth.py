"""Topic stability: the share of each topic that reappears in trees grown from other halves of the documents.

See ``metrics.steadiness``. The result is stored with the collection until its tree is fitted again. Topics whose
documents an edit changed meanwhile have no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.copies import select_fitted_rows
from topiarist.collection.describe.topic_tree import assign_documents
from topiarist.collection.grow.fitting import fit_model
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.shape.tree_state import TreeState
from topiarist.collection.state import TREE
from topiarist.counts.corpus import Corpus
from topiarist.errors import UsageError
from topiarist.estimators.tree.fitted_tree import fold_in, get_tree_model
from topiarist.metrics.node_matching import WORDS, compute_stability, describe_stability
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.progress import ProgressReporter
from topiarist.storage import facts

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

N_TREES = 5  # that are grown again
MIN_DOCUMENTS = 40  # documents: half of fewer is no collection
STABILITY_SETTING = "steadiness"  # among the settings of a collection


@dataclass(frozen=True)
class TopicStability:
    """Share of each topic, by its number, that reappears in other trees."""

    shares: Mapping[int, float]
    n_trees: int

    def describe(self, topic: int) -> str:
        """Return the stability of a topic in words and numbers; empty if unknown."""
        share = self.shares.get(topic)
        return (
            ""
            if share is None
            else f"{describe_stability(share)} ({share:.0%} came back in {self.n_trees} other trees)"
        )

    def count_topics(self, outline: TreeState) -> tuple[int, int]:
        """Return the numbers of topics and of headings that were measured."""
        nodes = [outline.node_of[topic] for topic in self.shares if topic in outline.node_of]
        n_topics = sum(map(outline.tree.is_leaf, nodes))
        return n_topics, len(nodes) - n_topics

    def counts(self) -> dict[str, int]:
        """Return the numbers of steady, mixed and chance topics."""
        descriptions = [describe_stability(share) for share in self.shares.values()]
        return {word: descriptions.count(word) for word in WORDS}


def check_steadiness(
    collection: Collection,
    n_trees: int = N_TREES,
    *,
    reporter: ProgressReporter | None = None,
    n_threads: int | None = None,
) -> TopicStability | None:
    """Grow trees on halves of the documents, place all documents in each, and store the stability of topics.

    Duplicates count once. The halves are random, each growth has its own seed, and each tree gets as many topics as
    this one. KeyboardInterrupt keeps the result of the trees so far. Return None before the first tree.
    """
    recipe = Recipe.from_dict(collection.settings["recipe"])
    if recipe.hierarchy is not None:
        raise UsageError("this tree was given by a hierarchy, so no other growth can be compared with it")
    if collection.outline.pending:
        raise UsageError("the tree was edited and not fitted yet", hint="Run topiarist shape FOLDER --refit first.")
    n_docs = len(collection)
    n_once = n_docs - len(collection.copies)
    if n_once < MIN_DOCUMENTS:
        raise UsageError(
            f"{n_once} documents are too few to grow trees from half samples",
            hint=f"Use {MIN_DOCUMENTS} or more documents.",
        )
    rows = select_fitted_rows(collection.copies, n_docs)
    current, counts = collection.assignments, collection.counts
    if rows is not None:  # copies in both halves would bring back any topic that they make
        current = assign_documents(
            collection.outline, collection.shares[rows], [current.ids[row] for row in rows.tolist()]
        )
        counts = counts[rows]
    vectors = collection.vectors if rows is None or collection.vectors is None else collection.vectors[rows]
    other_trees = list[DocumentAssignments]()
    corpus = Corpus(tuple(current.ids), counts, collection.counting.vocabulary)
    base_recipe = replace(recipe, topics=len(collection.outline.tree.leaves), online=False)
    try:
        for number in range(n_trees):
            tree_recipe = replace(base_recipe, seed=recipe.seed + 1 + number)
            other_trees.append(_grow_half(corpus, tree_recipe, n_threads, vectors))
            if reporter is not None:
                reporter.show_steps(number + 1, n_trees)
    except KeyboardInterrupt:
        if not other_trees:
            return None
    stability = compute_stability(current, other_trees)
    topics = collection.outline.topics
    shares = {topics[node]: round(float(share), 4) for node, share in enumerate(stability) if np.isfinite(share)}
    result = TopicStability(MappingProxyType(shares), len(other_trees))
    _save_stability(collection, result)
    return result


def _grow_half(corpus: Corpus, recipe: Recipe, n_threads: int | None, vectors: Floats | None) -> DocumentAssignments:
    """Grow a tree on a random half of the documents, and return all documents assigned in it."""
    order = np.random.default_rng(recipe.seed).permutation(corpus.n_docs)
    half = np.sort(order[: (len(order) + 1) // 2])
    sample = corpus.subset(half)
    options = GrowOptions(n_threads=n_threads)
    model = fit_model(recipe, options, sample, vectors=None if vectors is None else vectors[half])
    fitted = get_tree_model(model)
    shares = fold_in(model, corpus.counts, np.empty(0, np.int64), vectors=vectors).shares
    return DocumentAssignments(fitted.tree, fitted.class_nodes, shares, corpus.ids)


def _save_stability(collection: Collection, result: TopicStability) -> None:
    """Store the stability with the tree that it belongs to."""
    body = {
        "tree": collection.state.parts[TREE], "n_trees": result.n_trees, "shares": dict(result.shares),
        "classes": _list_classes(collection.outline),
    }  # fmt: skip
    with collection.folder.writing() as generation:
        facts.change_settings(generation.database, {STABILITY_SETTING: body})


def load_stability(collection: Collection) -> TopicStability | None:
    """Return the stored stability of unchanged topics; None if it was not measured since the last fit.

    A merged topic, or one that gained or lost subtopics, has changed.
    """
    body: Any = facts.settings(collection.generation.database).get(STABILITY_SETTING)
    if not isinstance(body, dict) or body.get("tree") != collection.state.parts.get(TREE):
        return None
    now, then = _list_classes(collection.outline), body.get("classes")
    unchanged = [topic for topic in body["shares"] if then is None or now.get(topic) == then.get(topic)]
    shares = {int(topic): float(body["shares"][topic]) for topic in unchanged}
    return TopicStability(MappingProxyType(shares), int(body["n_trees"]))


def _list_classes(outline: TreeState) -> dict[str, list[int]]:
    """Return the classes of the model under each topic, which identify its content across edits."""
    mask = outline.tree.path_mask(outline.class_nodes)
    return {str(topic): np.flatnonzero(mask[:, node]).tolist() for node, topic in enumerate(outline.topics)}
