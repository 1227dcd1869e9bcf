"""The systems under comparison: one record each, naming the functions that speak to the library.

Functions are named, not imported, because each library lives in its own process (``benchmarks/worker.py``)
and its own environment. Two kinds of function exist:

``pass_timer(counts, n_components, n_threads)``
    prepares everything and returns a callable; each call returns the seconds of one pass over the counts.
``snapshots(train, observed, n_components, n_threads, checkpoints)``
    trains, and yields a ``Snapshot`` at every checkpoint (a number of iterations), its clock stopped.
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
    packages: tuple[str, ...] = ()
    own_environment: bool = False

    def function(self, role: str) -> Callable:
        """Import and return the function of a role (``pass_timer`` or ``snapshots``)."""
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
        ("topiarist", "numba"),
        own_environment=True,
    ),
    "c-kernel": System("C kernel (ceiling)", f"{_HERE}.c_kernel:one_pass_timer", own_environment=True),
    "tomotopy-lda": System(
        "tomotopy LDA, one sweep",
        f"{_HERE}.tomotopy_lda:one_pass_timer",
        f"{_HERE}.tomotopy_lda:snapshots",
        ("tomotopy",),
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
        ("bigartm",),
    ),
    "sklearn-nmf": System("scikit-learn NMF, KL loss", f"{_HERE}.sklearn_models:nmf_timer", packages=("scikit-learn",)),
    "sklearn-lda-online": System(
        "scikit-learn LDA, online",
        f"{_HERE}.sklearn_models:lda_online_timer",
        f"{_HERE}.sklearn_models:lda_online_snapshots",
        ("scikit-learn",),
    ),
    "sklearn-lda-batch": System(
        "scikit-learn LDA, batch",
        f"{_HERE}.sklearn_models:lda_batch_timer",
        f"{_HERE}.sklearn_models:lda_batch_snapshots",
        ("scikit-learn",),
    ),
    "gensim-lda": System(
        "gensim LdaModel",
        f"{_HERE}.gensim_lda:single_timer",
        f"{_HERE}.gensim_lda:single_snapshots",
        ("gensim",),
    ),
    "gensim-multicore": System(
        "gensim LdaMulticore",
        f"{_HERE}.gensim_lda:multicore_timer",
        f"{_HERE}.gensim_lda:multicore_snapshots",
        ("gensim",),
    ),
}
