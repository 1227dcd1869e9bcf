"""BigARTM: PLSA without regularisers, and with smoothing of both distributions (the same objective as ours).

One pass is ``fit_offline`` with one inner iteration a document that continues from the last one
(``reuse_theta``): exactly one EM step. Its Python part needs the variable
``PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python``, which the client sets.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import artm
import numpy as np
from scipy import sparse

from benchmarks.timing import Snapshot, seconds_of

WORD_SMOOTHING = 0.01
COMPONENT_SMOOTHING = 0.05
FOLD_IN_PASSES = 50


def plain_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one EM pass without regularisers."""
    return _timer(counts, n_components, n_threads, [])


def smoothed_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one EM pass with both smoothing regularisers."""
    return _timer(counts, n_components, n_threads, _smoothing())


def snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    """Yield the smoothed model after each number of passes of one training; making batches is not timed."""
    batches, queries = _batches(train), _batches(observed)
    model = _model(batches, n_components, n_threads, _smoothing())
    seconds, done = 0.0, 0
    for passes in checkpoints:
        step = passes - done
        seconds += seconds_of(lambda n=step: model.fit_offline(batches, num_collection_passes=n))
        done = passes
        phi = model.get_phi()
        word_given_component = np.zeros((n_components, train.shape[1]))
        word_given_component[:, [int(word) for word in phi.index]] = phi.to_numpy().T
        model.num_document_passes = FOLD_IN_PASSES
        theta = model.transform(queries)
        model.num_document_passes = 1
        component_given_doc = theta[sorted(theta.columns)].to_numpy().T
        yield Snapshot(passes, seconds, component_given_doc, word_given_component)


def _timer(counts: sparse.csr_array, n_components: int, n_threads: int, regularisers: list) -> Callable[[], float]:
    batches = _batches(counts)
    model = _model(batches, n_components, n_threads, regularisers)
    model.fit_offline(batches, num_collection_passes=1)
    return lambda: seconds_of(lambda: model.fit_offline(batches, num_collection_passes=1))


def _smoothing() -> list:
    return [
        artm.SmoothSparsePhiRegularizer(name="words", tau=WORD_SMOOTHING),
        artm.SmoothSparseThetaRegularizer(name="components", tau=COMPONENT_SMOOTHING),
    ]


def _model(batches: artm.BatchVectorizer, n_components: int, n_threads: int, regularisers: list) -> artm.ARTM:
    return artm.ARTM(
        num_topics=n_components,
        dictionary=batches.dictionary,
        num_processors=n_threads,
        num_document_passes=1,
        cache_theta=True,
        reuse_theta=True,
        regularizers=regularisers,
        seed=0,
    )


def _batches(counts: sparse.csr_array) -> artm.BatchVectorizer:
    """Write the counts in the UCI format (documents from 1) and let the library make its batches of it."""
    folder = Path(tempfile.mkdtemp(prefix="bigartm-", dir="."))
    n_docs, n_words = counts.shape
    documents = np.repeat(np.arange(1, n_docs + 1), np.diff(counts.indptr))
    rows = np.column_stack([documents, counts.indices + 1, counts.data])
    (folder / "vocab.counts.txt").write_text("\n".join(str(word) for word in range(n_words)) + "\n")
    with (folder / "docword.counts.txt").open("w") as target:
        target.write(f"{n_docs}\n{n_words}\n{counts.nnz}\n")
        np.savetxt(target, rows, fmt="%d")
    return artm.BatchVectorizer(
        data_path=str(folder),
        data_format="bow_uci",
        collection_name="counts",
        target_folder=str(folder / "batches"),
    )
