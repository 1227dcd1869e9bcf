"""Growing again to see what was chance: trees of other halves of the documents, and how much of each topic comes back.

See ``measures.steadiness``. What was found is kept with the collection, and holds until its tree is fitted again; of a
topic that an edit has given other documents in the meantime nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.copies import fitted_rows
from topiarist.collection.describe.topic_tree import placed
from topiarist.collection.grow.grower import Grower
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.shape import Shape
from topiarist.collection.state import TREE
from topiarist.counts.corpus import Corpus
from topiarist.errors import UsageError
from topiarist.estimators.common.progress import Watching
from topiarist.estimators.tree.fitted_tree import folded_in, tree_model
from topiarist.measures.placed_documents import Placed
from topiarist.measures.steadiness import WORDS, in_words, steadiness
from topiarist.store import facts

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

TREES = 5  # that are grown again
FEWEST = 40  # documents: half of fewer is no collection
KEPT = "steadiness"  # among the settings of a collection


@dataclass(frozen=True)
class Steadiness:
    """The share of each topic that came back, by the topic's number, in so many other trees."""

    shares: Mapping[int, float]
    n_trees: int

    def said(self, topic: int) -> str:
        """What is known of a topic, in words with the number behind them; nothing where nothing is known."""
        share = self.shares.get(topic)
        return "" if share is None else f"{in_words(share)} ({share:.0%} came back in {self.n_trees} other trees)"

    def counts(self) -> dict[str, int]:
        """How many topics are steady, mixed, or may be chance."""
        told = [in_words(share) for share in self.shares.values()]
        return {word: told.count(word) for word in WORDS}


def check_steadiness(
    collection: Collection,
    n_trees: int = TREES,
    *,
    watching: Watching | None = None,
    n_threads: int | None = None,
) -> Steadiness | None:
    """Grow other trees from halves of the documents, place all documents in each, and keep what came back.

    Copies count once: of a kind only the first is looked at.

    The halves are of chance, each growth has a seed of its own, and each tree is asked for as many topics as this one
    has. Whoever stops it (KeyboardInterrupt) keeps what the trees so far say; None before the first.
    """
    recipe = Recipe.from_dict(collection.settings["recipe"])
    if recipe.hierarchy is not None:
        raise UsageError("this tree was given, not grown: there is no chance in it to look for")
    if collection.outline.pending:
        raise UsageError("the tree was edited and not fitted yet", hint="topiarist shape FOLDER --refit first")
    n_docs = len(collection)
    n_once = n_docs - len(collection.copies)
    if n_once < FEWEST:
        raise UsageError(f"{n_once} documents are too few to grow trees from halves of them", hint=f"{FEWEST} or more")
    rows = fitted_rows(collection.copies, n_docs)
    here, counts = collection.placed, collection.counts
    if rows is not None:  # copies in both halves would bring back any topic that they make
        here = placed(collection.outline, collection.shares[rows], [here.ids[row] for row in rows.tolist()])
        counts = counts[rows]
    vectors = collection.vectors if rows is None or collection.vectors is None else collection.vectors[rows]
    others = list[Placed]()
    corpus = Corpus(tuple(here.ids), counts, collection.counting.vocabulary)
    wanted = replace(recipe, topics=len(collection.outline.tree.leaves), online=False)
    try:
        for number in range(n_trees):
            again = replace(wanted, seed=recipe.seed + 1 + number)
            others.append(_grown_again(corpus, again, n_threads, vectors))
            if watching is not None:
                watching.step(number + 1, n_trees)
    except KeyboardInterrupt:
        if not others:
            return None
    found = steadiness(here, others)
    topics = collection.outline.topics
    shares = {topics[node]: round(float(share), 4) for node, share in enumerate(found) if np.isfinite(share)}
    told = Steadiness(MappingProxyType(shares), len(others))
    _keep(collection, told)
    return told


def _grown_again(corpus: Corpus, recipe: Recipe, n_threads: int | None, vectors: Floats | None) -> Placed:
    """All documents, in a tree that grew on half of them."""
    order = np.random.default_rng(recipe.seed).permutation(corpus.n_docs)
    half = np.sort(order[: (len(order) + 1) // 2])
    some = corpus.subset(half)
    model = Grower(recipe, n_threads).fitted(some, vectors=None if vectors is None else vectors[half])
    fitted = tree_model(model)
    shares = folded_in(model, corpus.counts, np.empty(0, np.int64), vectors=vectors).shares
    return Placed(fitted.tree, fitted.class_nodes, shares, corpus.ids)


def _keep(collection: Collection, told: Steadiness) -> None:
    """Write it down for the tree that it is true of."""
    body = {
        "tree": collection.state.parts[TREE], "n_trees": told.n_trees, "shares": dict(told.shares),
        "classes": _classes_under(collection.outline),
    }  # fmt: skip
    with collection.folder.writing() as generation:
        facts.change_settings(generation.database, {KEPT: body})


def known_steadiness(collection: Collection) -> Steadiness | None:
    """What was found for the topics as they are; None where nobody has looked, or the tree was fitted again since.

    A topic that was merged, or that others were moved under or away from, is another one than was looked for.
    """
    body: Any = facts.settings(collection.generation.database).get(KEPT)
    if not isinstance(body, dict) or body.get("tree") != collection.state.parts.get(TREE):
        return None
    now, then = _classes_under(collection.outline), body.get("classes")
    same = [topic for topic in body["shares"] if then is None or now.get(topic) == then.get(topic)]
    shares = {int(topic): float(body["shares"][topic]) for topic in same}
    return Steadiness(MappingProxyType(shares), int(body["n_trees"]))


def _classes_under(outline: Shape) -> dict[str, list[int]]:
    """The classes of the model under each topic: what the topic holds, however the tree around it is edited."""
    mask = outline.tree.path_mask(outline.class_nodes)
    return {str(topic): np.flatnonzero(mask[:, node]).tolist() for node, topic in enumerate(outline.topics)}
