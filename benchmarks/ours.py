"""Topiarist as the benchmarks see it; the only module that knows our own interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import sparse

from benchmarks.timing import Snapshot, seconds_of

WORD_SMOOTHING = 0.01
COMPONENT_SMOOTHING = 0.05


def one_pass_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a callable that makes one pass in place and returns its seconds.

    Contract: everything that a fit does once belongs into this function and is not timed: float32 counts,
    the column index, a random start, the thread pool, and one warm-up pass so that kernels are compiled. The
    callable makes exactly one complete EM pass, parameters to parameters (E-step sums of documents and words,
    M-step with normalisation), on the parameters that the previous call left, and returns
    ``time.perf_counter()`` seconds. Successive calls walk down one EM path; the harness takes the minimum
    over calls. Nothing but the parameters is carried over from one call to the next.
    """
    from topiarist.kernels.shard import Shard
    from topiarist.models import plsa

    shard = Shard.from_matrix(counts, np.float32, n_components)
    return _walk(
        plsa.Plsa(_engine(n_threads)), shard, plsa.create_start([shard], n_components, np.random.default_rng(0))
    )


def tree_pass_timer(counts: sparse.csr_array, depth: int, n_threads: int) -> Callable[[], float]:
    """Return the same for a balanced binary tree with its classes at the leaves (HPLSA)."""
    from topiarist.kernels.shard import Shard
    from topiarist.models import hplsa

    mask = np.zeros((2**depth, 2 ** (depth + 1) - 1), bool)
    for leaf, path in enumerate(mask):
        node = leaf + 2**depth  # nodes from 1: the parent of a node is its half
        while node:
            path[node - 1] = True
            node //= 2
    shard = Shard.from_matrix(counts, np.float32, len(mask))
    return _walk(
        hplsa.Hplsa(_engine(n_threads), mask), shard, hplsa.create_start([shard], mask, np.random.default_rng(0))
    )


class Walk:
    """EM steps over the blocks of a store (or blocks in memory), one at a time, on any executor."""

    def __init__(self, store: object, n_components: int, executor: object, n_threads: int = 1) -> None:
        from topiarist.models import plsa

        self.blocks = store if isinstance(store, list) else store.blocks("float32")
        self.model = plsa.Plsa(_engine(n_threads), WORD_SMOOTHING, COMPONENT_SMOOTHING)
        self.state = plsa.create_start(self.blocks, n_components, np.random.default_rng(0), WORD_SMOOTHING)
        self.executor = executor

    def step(self) -> None:
        """One complete pass, parameters to parameters."""
        from topiarist.models import em

        self.state, _ = em.step(self.model, self.blocks, self.state, 1.0, self.executor)


def _engine(n_threads: int) -> object:
    from topiarist.execution.threads import Threads
    from topiarist.kernels import load
    from topiarist.models.engine.host import Engine

    return Engine(load("compiled"), Threads(n_threads))


def _walk(model: object, shard: object, state: object) -> Callable[[], float]:
    from topiarist.execution.executors import InProcess
    from topiarist.models import em

    def one_pass() -> None:
        nonlocal state
        state, _ = em.step(model, [shard], state, 1.0, InProcess())

    one_pass()
    return lambda: seconds_of(one_pass)


def estimator(n_components: int, n_threads: int, max_iter: int) -> object:
    """Return the estimator with the settings of the comparison."""
    from topiarist import PLSA

    return PLSA(
        n_components=n_components,
        max_iter=max_iter,
        tol=0,
        random_state=0,
        n_threads=n_threads,
        word_smoothing=WORD_SMOOTHING,
        component_smoothing=COMPONENT_SMOOTHING,
        dtype="float32",
    )


def snapshots(
    train: sparse.csr_array,
    observed: sparse.csr_array,
    n_components: int,
    n_threads: int,
    checkpoints: Sequence[int],
) -> Iterator[Snapshot]:
    """Yield a complete fit per checkpoint: from one seed, a short fit is the beginning of a longer one.

    The seconds are those of the whole ``fit`` (start, column index, passes), not of its passes alone.
    """
    warm_up(n_components, n_threads)
    for max_iter in checkpoints:
        model = estimator(n_components, n_threads, max_iter)
        seconds = seconds_of(lambda model=model: model.fit(train))
        yield Snapshot(max_iter, seconds, np.asarray(model.transform(observed)), np.asarray(model.components_))


def warm_up(n_components: int, n_threads: int) -> None:
    """Fit something tiny, so that no measurement contains compilation."""
    tiny = sparse.csr_array(np.random.default_rng(0).poisson(1.0, size=(200, 100)).astype(np.int32))
    estimator(n_components, n_threads, 2).fit(tiny).transform(tiny)
