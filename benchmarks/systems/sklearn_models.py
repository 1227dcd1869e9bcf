"""scikit-learn: NMF with the Kullback-Leibler loss (the same optimum as PLSA) and variational LDA."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import ALPHA, ETA, Difference, Snapshot, seconds_of

warnings.filterwarnings("ignore", category=ConvergenceWarning)
ONLINE_BATCH = 256


def nmf_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one multiplicative update of both factors (difference of two fits, no stopping)."""
    matrix = counts.astype(np.float32)

    def fit(n_iterations: int) -> None:
        NMF(
            n_components,
            init="random",
            solver="mu",
            beta_loss="kullback-leibler",
            tol=0,
            max_iter=n_iterations,
            random_state=0,
        ).fit(matrix)

    return Difference(fit, 1, 6)


def lda_online_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one pass of minibatches."""
    return _lda_timer(counts, n_components, n_threads, ONLINE_BATCH)


def lda_batch_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one E-step over all documents and the M-step after it."""
    return _lda_timer(counts, n_components, n_threads, counts.shape[0])


def _lda_timer(counts: sparse.csr_array, n_components: int, n_threads: int, batch_size: int) -> Callable[[], float]:
    model = _lda(n_components, n_threads, batch_size=batch_size, total_samples=counts.shape[0])
    return lambda: seconds_of(lambda: model.partial_fit(counts))


def lda_online_snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    """Yield a fit with ``learning_method="online"`` for each number of passes."""
    settings = {"learning_method": "online", "batch_size": ONLINE_BATCH}
    return _lda_snapshots(train, observed, n_components, n_threads, checkpoints, **settings)


def lda_batch_snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    """Yield a fit with ``learning_method="batch"`` for each number of passes."""
    return _lda_snapshots(train, observed, n_components, n_threads, checkpoints, learning_method="batch")


def _lda_snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
    **settings: object,
) -> Iterator[Snapshot]:
    for passes in checkpoints:
        model = _lda(n_components, n_threads, max_iter=passes, **settings)
        seconds = seconds_of(lambda model=model: model.fit(train))
        words = model.components_ / model.components_.sum(axis=1, keepdims=True)
        yield Snapshot(passes, seconds, model.transform(observed), words)


def _lda(n_components: int, n_threads: int, **settings: object) -> LatentDirichletAllocation:
    priors = {"doc_topic_prior": ALPHA, "topic_word_prior": ETA}
    return LatentDirichletAllocation(n_components, n_jobs=n_threads, random_state=0, **priors, **settings)
