"""The systems under comparison: one record each, naming the functions that speak to the library.

Functions are named, not imported, because each library lives in its own process (``benchmarks/worker.py``)
and its own environment. Kinds of function:

``pass_timer(counts, n_components, n_threads)``
    prepares everything and returns a callable; each call returns the seconds of one pass over the counts.
``snapshots(train, observed, n_components, n_threads, checkpoints)``
    trains, and yields a ``Snapshot`` at every checkpoint (a number of iterations), its clock stopped.
``clusters(counts, seed, n_threads, ...)``
    fits, and yields one reply: ``seconds``, ``labels`` (the cluster or leaf of each document), whatever else is known.
``sweeps(counts, n_threads)``
    yields a reply for each number of workers: ``seconds`` of a sweep.
``from_texts(seed, n_threads)``
    the same as ``clusters`` from raw texts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class System:
    """A library: its title in tables, the environment it runs in, and the functions that speak to it."""

    title: str
    pass_timer: str | None = None
    snapshots: str | None = None
    clusters: str | None = None
    sweeps: str | None = None
    from_texts: str | None = None
    packages: tuple[str, ...] = ()
    own_environment: bool = False

    def function(self, role: str) -> Callable:
        """Import and return the function of a role."""
        address = getattr(self, role)
        if address is None:
            raise NotImplementedError(f"{self.title} has no {role}")
        module, name = address.split(":")
        return getattr(import_module(module), name)


_HERE = "benchmarks.systems"
SYSTEMS = {
    "topiarist": System(
        "Topiarist PLSA",
        "benchmarks.ours:one_pass_timer",
        "benchmarks.ours:snapshots",
        packages=("topiarist", "numba"),
        own_environment=True,
    ),
    "c-kernel": System("C kernel (ceiling)", f"{_HERE}.c_kernel:one_pass_timer", own_environment=True),
    "tomotopy-lda": System(
        "tomotopy LDA, one sweep",
        f"{_HERE}.tomotopy_lda:one_pass_timer",
        f"{_HERE}.tomotopy_lda:snapshots",
        packages=("tomotopy",),
    ),
    "enstop-block": System(
        "enstop BlockParallelPLSA", f"{_HERE}.enstop_plsa:block_parallel_timer", packages=("enstop",)
    ),
    "enstop-plsa": System("enstop PLSA", f"{_HERE}.enstop_plsa:plsa_timer", packages=("enstop",)),
    "bigartm-plsa": System("BigARTM PLSA", f"{_HERE}.bigartm_plsa:plain_timer", packages=("bigartm",)),
    "bigartm-smoothed": System(
        "BigARTM with smoothing regularisers",
        f"{_HERE}.bigartm_plsa:smoothed_timer",
        f"{_HERE}.bigartm_plsa:snapshots",
        packages=("bigartm",),
    ),
    "sklearn-nmf": System("scikit-learn NMF, KL loss", f"{_HERE}.sklearn_models:nmf_timer", packages=("scikit-learn",)),
    "sklearn-lda-online": System(
        "scikit-learn LDA, online",
        f"{_HERE}.sklearn_models:lda_online_timer",
        f"{_HERE}.sklearn_models:lda_online_snapshots",
        packages=("scikit-learn",),
    ),
    "sklearn-lda-batch": System(
        "scikit-learn LDA, batch",
        f"{_HERE}.sklearn_models:lda_batch_timer",
        f"{_HERE}.sklearn_models:lda_batch_snapshots",
        packages=("scikit-learn",),
    ),
    "gensim-lda": System(
        "gensim LdaModel",
        f"{_HERE}.gensim_lda:single_timer",
        f"{_HERE}.gensim_lda:single_snapshots",
        packages=("gensim",),
    ),
    "gensim-multicore": System(
        "gensim LdaMulticore",
        f"{_HERE}.gensim_lda:multicore_timer",
        f"{_HERE}.gensim_lda:multicore_snapshots",
        packages=("gensim",),
    ),
    "topiarist-tree": System(
        "Topiarist CAM",
        clusters="benchmarks.ours_trees:tree_clusters",
        from_texts="benchmarks.ours_trees:tree_from_texts",
        packages=("topiarist", "numba"),
        own_environment=True,
    ),
    "topiarist-flat": System(
        "Topiarist PLSA, flat",
        clusters="benchmarks.ours_trees:flat_clusters",
        packages=("topiarist", "numba"),
        own_environment=True,
    ),
    "tomotopy-hlda": System(
        "tomotopy HLDA, three levels",
        clusters=f"{_HERE}.tomotopy_trees:hlda_clusters",
        sweeps=f"{_HERE}.tomotopy_trees:hlda_sweeps",
        packages=("tomotopy",),
    ),
    "tomotopy-hpa": System(
        "tomotopy HPA, 5 topics above 20", sweeps=f"{_HERE}.tomotopy_trees:hpa_sweeps", packages=("tomotopy",)
    ),
    "sklearn-bisecting": System(
        "scikit-learn BisectingKMeans on tf-idf",
        clusters=f"{_HERE}.sklearn_trees:bisecting_clusters",
        packages=("scikit-learn",),
    ),
    "scipy-ward": System(
        "SciPy Ward linkage on 50 LSI dimensions",
        clusters=f"{_HERE}.sklearn_trees:ward_clusters",
        packages=("scikit-learn",),
    ),
}
