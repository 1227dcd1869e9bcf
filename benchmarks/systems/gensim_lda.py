"""gensim's online variational LDA, in one process (LdaModel) and in several (LdaMulticore)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from gensim.models import LdaModel, LdaMulticore
from scipy import sparse

from benchmarks.timing import ALPHA, ETA, Snapshot, seconds_of

Corpus = list[list[tuple[int, int]]]


def single_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one pass of LdaModel."""
    return _timer(_single, counts, n_components, n_threads)


def multicore_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one pass of LdaMulticore."""
    return _timer(_multicore, counts, n_components, n_threads)


def single_snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    """Yield a training of LdaModel for each number of passes."""
    return _snapshots(_single, train, observed, n_components, n_threads, checkpoints)


def multicore_snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    """Yield a training of LdaMulticore for each number of passes."""
    return _snapshots(_multicore, train, observed, n_components, n_threads, checkpoints)


def _single(settings: dict[str, object], n_threads: int) -> LdaModel:
    return LdaModel(**settings)


def _multicore(settings: dict[str, object], n_threads: int) -> LdaMulticore:
    return LdaMulticore(workers=n_threads, **settings)


def _timer(make: Callable, counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    corpus = _corpus(counts)
    model = make(_settings(n_components, counts.shape[1]), n_threads)
    return lambda: seconds_of(lambda: model.update(corpus))


def _snapshots(
    make: Callable,
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    corpus, queries = _corpus(train), _corpus(observed)
    for passes in checkpoints:
        model = make(_settings(n_components, train.shape[1]) | {"passes": passes}, n_threads)
        seconds = seconds_of(lambda model=model: model.update(corpus))
        gamma, _ = model.inference(queries)
        component_given_doc = gamma / gamma.sum(axis=1, keepdims=True)
        yield Snapshot(passes, seconds, component_given_doc, model.get_topics().astype(np.float64))


def _settings(n_components: int, n_words: int) -> dict[str, object]:
    """Return settings common to both classes: the priors of the comparison, no evaluation while training."""
    return {
        "num_topics": n_components,
        "id2word": {word: str(word) for word in range(n_words)},
        "alpha": np.full(n_components, ALPHA),
        "eta": ETA,
        "eval_every": None,
        "random_state": 0,
    }


def _corpus(counts: sparse.csr_array) -> Corpus:
    pairs = list(zip(counts.indices.tolist(), counts.data.tolist(), strict=True))
    return [pairs[start:end] for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)]
