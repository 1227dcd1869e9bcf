"""The C kernel (``benchmarks/c/plsa_pass.c``): compiled here for this processor, called through ctypes."""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from benchmarks.paths import C_LIBRARY, C_SOURCE

COMPILE = [
    *("cc", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast", "-fno-math-errno"),
    *("-fopenmp", "-shared", "-fPIC"),
]
LANES = 16
_ARRAYS = (
    *("row_start", "row_word", "row_count", "word_start", "word_doc", "word_slot", "row_cut", "word_cut"),
    *("ratio", "doc", "doc_next", "word", "partial", "inverse_total"),
)


class _Pass(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in _ARRAYS] + [
        (name, ctypes.c_int32) for name in ("n_words", "blocks", "n_threads")
    ]


def library() -> ctypes.CDLL:
    """Compile the kernel where its source is newer than the library, and load it."""
    if not C_LIBRARY.exists() or C_LIBRARY.stat().st_mtime < C_SOURCE.stat().st_mtime:
        C_LIBRARY.parent.mkdir(parents=True, exist_ok=True)
        fresh = C_LIBRARY.with_name(f"new-{C_LIBRARY.name}")
        subprocess.run([*COMPILE, str(C_SOURCE), "-o", str(fresh)], check=True)
        fresh.replace(C_LIBRARY)
    return ctypes.CDLL(str(C_LIBRARY))


class Kernel:
    """Counts and parameters in the kernel's layout; ``two_pass()`` and ``fused()`` make one pass in place."""

    def __init__(self, counts: sparse.csr_array, n_components: int, n_threads: int, seed: int = 0) -> None:
        self.shape = counts.shape
        self.n_components = n_components
        self._library = library()
        n_docs, n_words = counts.shape
        blocks = -(-n_components // LANES)
        slots = sparse.csr_array(
            (np.arange(counts.nnz, dtype=np.int32), counts.indices, counts.indptr), shape=counts.shape
        ).tocsc()
        rng = np.random.default_rng(seed)
        word = _padded(rng.random((n_words, n_components)) + 0.5, blocks)
        totals = word.sum(axis=0, dtype=np.float64)
        inverse = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
        self.arrays = {
            "row_start": counts.indptr.astype(np.int32),
            "row_word": counts.indices.astype(np.int32),
            "row_count": counts.data.astype(np.float32),
            "word_start": slots.indptr.astype(np.int32),
            "word_doc": slots.indices.astype(np.int32),
            "word_slot": slots.data,
            "row_cut": _cuts(counts.indptr, n_threads),
            "word_cut": _cuts(slots.indptr, n_threads),
            "ratio": _aligned((counts.nnz,)),
            "doc": _padded(rng.random((n_docs, n_components)) + 0.5, blocks),
            "doc_next": _aligned((n_docs, blocks * LANES)),
            "word": word,
            "partial": _aligned((n_threads * n_words, blocks * LANES)),
            "inverse_total": _padded(inverse[None, :n_components], blocks),
        }
        self._sizes = (n_words, blocks, n_threads)

    def two_pass(self) -> None:
        """Make one pass in the two-pass form: rows storing r, then columns gathering r u."""
        self._run(self._library.plsa_two_pass)

    def fused(self) -> None:
        """Make one pass in the fused form: one sweep over rows with private word sums."""
        self._run(self._library.plsa_fused)

    def component_given_doc(self) -> np.ndarray:
        """Return P(k|d), one row a document."""
        sums = self.arrays["doc"][:, : self.n_components].astype(np.float64)
        return sums / np.maximum(sums.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    def word_given_component(self) -> np.ndarray:
        """Return P(w|k), one row a component."""
        sums = self.arrays["word"][:, : self.n_components].T.astype(np.float64)
        return sums / sums.sum(axis=1, keepdims=True)

    def _run(self, function: Callable[[ctypes.POINTER(_Pass)], None]) -> None:
        pointers = (self.arrays[name].ctypes.data for name in _ARRAYS)
        function(ctypes.byref(_Pass(*pointers, *self._sizes)))
        self.arrays["doc"], self.arrays["doc_next"] = self.arrays["doc_next"], self.arrays["doc"]


def one_pass_timer(counts: sparse.csr_array, n_components: int, n_threads: int) -> Callable[[], float]:
    """Return a timer of one pass: the faster of the two forms."""
    kernel = Kernel(counts, n_components, n_threads)

    def timer() -> float:
        return min(_seconds(form) for form in (kernel.two_pass, kernel.fused))

    timer()
    return timer


def _seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Return zeros whose first element lies at a multiple of 64 bytes."""
    size = int(np.prod(shape))
    raw = np.zeros(size + LANES, dtype=np.float32)
    start = (-raw.ctypes.data % 64) // 4
    return raw[start : start + size].reshape(shape)


def _padded(values: np.ndarray, blocks: int) -> np.ndarray:
    """Return the rows in float32, aligned and filled up with zeros to whole vectors."""
    result = _aligned((values.shape[0], blocks * LANES))
    result[:, : values.shape[1]] = values
    return result


def _cuts(indptr: np.ndarray, n_threads: int) -> np.ndarray:
    """Return the rows at which threads begin, so that each has about the same number of non-zeros."""
    wanted = np.arange(n_threads + 1) * (indptr[-1] / n_threads)
    cuts = np.searchsorted(indptr, wanted).astype(np.int32)
    cuts[-1] = len(indptr) - 1
    return cuts
