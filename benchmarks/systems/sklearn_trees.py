"""Hierarchies without a model: bisecting k-means (scikit-learn) and Ward's method (SciPy), on tf-idf."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse

N_CLUSTERS = 20
DIMENSIONS = 50


def bisecting_clusters(counts: sparse.csr_array, seed: int, n_threads: int) -> Iterator[dict]:
    """Divide tf-idf vectors in two, again and again, until there are as many clusters as there are groups."""
    from sklearn.cluster import BisectingKMeans

    start = time.perf_counter()
    labels = BisectingKMeans(N_CLUSTERS, random_state=seed).fit(_tfidf(counts)).labels_
    yield {"seconds": time.perf_counter() - start, "labels": labels.tolist()}


def ward_clusters(counts: sparse.csr_array, seed: int, n_threads: int) -> Iterator[dict]:
    """Join latent semantic vectors from the bottom up, and cut the tree at as many clusters as there are groups."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from sklearn.decomposition import TruncatedSVD

    start = time.perf_counter()
    vectors = TruncatedSVD(DIMENSIONS, random_state=seed).fit_transform(_tfidf(counts))
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    labels = fcluster(linkage(vectors, "ward"), N_CLUSTERS, "maxclust")
    yield {"seconds": time.perf_counter() - start, "labels": labels.tolist()}


def _tfidf(counts: sparse.csr_array) -> sparse.csr_matrix:
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(sublinear_tf=True).fit_transform(sparse.csr_matrix(counts).astype(np.float64))
