"""tomotopy's collapsed Gibbs sampling for LDA; one sweep over all tokens counts as one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import tomotopy
from scipy import sparse

from benchmarks.timing import ALPHA, ETA, Snapshot, seconds_of

INFERENCE_SWEEPS = 100
SWEEPS_PER_CALL = 10


def one_pass_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one sweep: the mean of ten, after ten to leave the random start behind."""
    model = _model(counts, n_components)
    model.train(SWEEPS_PER_CALL, workers=n_threads)
    return lambda: seconds_of(lambda: model.train(SWEEPS_PER_CALL, workers=n_threads)) / SWEEPS_PER_CALL


def snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    """Yield the state after each number of sweeps of one chain; loading the documents is not timed."""
    model = _model(train, n_components)
    model.train(0, workers=n_threads)
    seconds, done = 0.0, 0
    columns = np.array([int(word) for word in model.used_vocabs])
    for sweeps in checkpoints:
        seconds += seconds_of(lambda n=sweeps - done: model.train(n, workers=n_threads))
        done = sweeps
        word_given_component = np.zeros((n_components, train.shape[1]))
        for k in range(n_components):
            word_given_component[k, columns] = model.get_topic_word_dist(k)
        queries = [model.make_doc(words) for words in words_of_documents(observed)]
        component_given_doc, _ = model.infer(queries, iterations=INFERENCE_SWEEPS, workers=n_threads)
        yield Snapshot(sweeps, seconds, np.asarray(component_given_doc), word_given_component)


def _model(counts: sparse.csr_array, n_components: int) -> tomotopy.LDAModel:
    model = tomotopy.LDAModel(k=n_components, alpha=ALPHA, eta=ETA, min_cf=0, rm_top=0, seed=1)
    for words in words_of_documents(counts):
        model.add_doc(words)
    return model


def words_of_documents(counts: sparse.csr_array) -> Iterator[list[str]]:
    """Yield each document as a list of tokens; a word's token is its column number."""
    names = np.array([str(column) for column in range(counts.shape[1])], dtype=object)
    for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        yield np.repeat(names[counts.indices[start:end]], counts.data[start:end]).tolist()
