"""Topiarist's trees as the benchmarks see them, with ``ours`` the only module that knows our own interface."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse


def tree_clusters(counts: sparse.csr_array, seed: int, n_threads: int) -> Iterator[dict]:
    """Grow a tree with the defaults; reply with the leaf of each document."""
    from topiarist import CAM

    warm_up(n_threads)
    start = time.perf_counter()
    model = CAM(random_state=seed, n_threads=n_threads).fit(counts)
    seconds = time.perf_counter() - start
    yield {"seconds": seconds, "labels": model.labels_.tolist(), "topics": len(model.tree_)}


def flat_clusters(counts: sparse.csr_array, seed: int, n_threads: int, n_components: int) -> Iterator[dict]:
    """Fit flat PLSA with the smoothing of the comparison; reply with the largest component of each document."""
    from benchmarks.ours import estimator

    start = time.perf_counter()
    model = estimator(n_components, n_threads, max_iter=200).set_params(random_state=seed, tol=1e-4).fit(counts)
    seconds = time.perf_counter() - start
    yield {"seconds": seconds, "labels": np.asarray(model.component_given_doc_).argmax(axis=1).tolist()}


def tree_from_texts(seed: int, n_threads: int) -> Iterator[dict]:
    """Read the raw messages of 20 Newsgroups, count their words and grow a tree with the defaults."""
    from benchmarks.labelled import newsgroups
    from topiarist import CAM

    start = time.perf_counter()
    corpus = newsgroups()
    counted = time.perf_counter()
    model = CAM(random_state=seed, n_threads=n_threads).fit(corpus.counts)
    end = time.perf_counter()
    yield {
        "counting": counted - start,
        "growing": end - counted,
        "seconds": end - start,
        "labels": model.labels_.tolist(),
    }


def warm_up(n_threads: int) -> None:
    """Grow something tiny in single precision, so that no measurement contains loading or compiling."""
    from topiarist import CAM

    tiny = sparse.csr_array(np.random.default_rng(0).poisson(0.3, size=(60, 40)).astype(np.float32))
    CAM(2, dtype="float32", random_state=0, n_threads=n_threads, max_iter=2).fit(tiny)


def labels_by_depth(model: Any, corpus: Any) -> dict[str, dict]:
    """Return what stands at the nodes: the words chosen as labels, and plainly the most probable ones P(w|a).

    For each way: the mean document frequency of a node's 20 words by depth, as a share of the documents; the share of
    the nodes whose words are rarer than their parent's; and how many of its first 10 words a node shares with its
    ancestors' first 10 at most.
    """
    from topiarist.trees.words import select_node_words

    tree, rows = model.tree_, np.asarray(model.word_given_node_)
    count = np.asarray(corpus.counts.sum(axis=0), np.float64).ravel()
    frequency = np.diff(corpus.counts.tocsc().indptr) / corpus.n_docs
    weight = model.cluster_prior_ @ model.node_given_cluster_
    labels = select_node_words(tree, rows, 20, node_weight=weight, count=count, words=corpus.vocabulary.words)
    ways = {"labels": labels, "plain": list(np.argsort(-rows, axis=1, kind="stable")[:, :20])}
    return {name: _by_depth(tree, words, frequency) for name, words in ways.items()}


def _by_depth(tree: Any, words: list[Any], frequency: np.ndarray) -> dict:
    means = [float(frequency[own].mean()) if len(own) else None for own in words]
    by_depth: list[list[float]] = [[] for _ in range(tree.depth + 1)]
    shared, edges = 0, []
    for node, mean in enumerate(means):
        if mean is not None:
            by_depth[tree.depths[node]].append(mean)
            above = means[tree.parents[node]] if node != tree.root else None
            edges += [above > mean] if above is not None else []
        said = {word for ancestor in tree.ancestors(node) for word in words[ancestor][:10]}
        shared = max(shared, len(said.intersection(words[node][:10])))
    return {
        "frequency": [float(np.mean(level)) for level in by_depth if level],
        "nodes": [len(level) for level in by_depth],
        "below_parent": float(np.mean(edges)) if edges else 1.0,
        "wordless": sum(mean is None for mean in means),
        "shared": shared,
    }
