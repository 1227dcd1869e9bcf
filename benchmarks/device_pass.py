"""A pass, a fit and a tree on a CUDA device against two threads of its host: ``python benchmarks/device_pass.py``.

Needs numpy, scipy, numba (with CUDA) and topiarist (``PYTHONPATH=src``) only, so that it runs where nothing can be
installed; scikit-learn is used if it is there. Counts are synthetic, of the shape of arXiv abstracts: about 90
non-zeros a document, 60,000 words with frequencies as Zipf and Mandelbrot would have them. Prints a JSON line for each
finding.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

try:
    import platformdirs  # noqa: F401
except ImportError:  # one function of it is used, to find a folder
    folder = tempfile.mkdtemp(prefix="topiarist-")
    sys.modules["platformdirs"] = types.ModuleType("platformdirs")
    sys.modules["platformdirs"].user_cache_dir = lambda *_: folder  # type: ignore[attr-defined]

from topiarist.execution.executors import InProcess
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import cam, em, hplsa, plsa
from topiarist.models.engine.host import Engine

BEGAN = time.perf_counter()
COMMON = 50  # words that would be more frequent than the first are stop words
SMOOTHING = (0.01, 0.05)


def say(what: str, **findings: Any) -> None:
    """Print one line, at once."""
    line = {"what": what, **findings, "at_s": round(time.perf_counter() - BEGAN, 1)}
    print(json.dumps({k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in line.items()}), flush=True)


def chunk_of(n_docs: int, n_words: int, n_tokens: int, seed: int) -> sparse.csr_matrix:
    """Documents of about so many tokens."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(rng.gamma(8.0, n_tokens / 8.0, n_docs)) + 1
    u = rng.random(lengths.sum(), dtype=np.float32)
    words = (COMMON * np.exp(u * np.float32(np.log((n_words + COMMON) / COMMON))) - COMMON).astype(np.int64)
    keys = np.repeat(np.arange(n_docs, dtype=np.int64), lengths) * n_words + np.minimum(words, n_words - 1)
    keys.sort()
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    data = np.diff(np.append(first, len(keys))).astype(np.float32)
    indptr = np.searchsorted(keys[first], np.arange(n_docs + 1) * n_words)
    return sparse.csr_matrix((data, (keys[first] % n_words).astype(np.int32), indptr), shape=(n_docs, n_words))


def counts_of(n_docs: int, n_words: int, n_tokens: int) -> sparse.csr_matrix:
    """All documents, a chunk for each thread at a time."""
    sizes = np.diff(np.linspace(0, n_docs, 17).astype(int))
    with ThreadPoolExecutor(8) as pool:
        chunks = pool.map(lambda size: chunk_of(size[1], n_words, n_tokens, size[0]), enumerate(sizes))
        return sparse.vstack(list(chunks), "csr")


def median_of(function: Callable[[], Any], wait: Callable[[], None], number: int) -> float:
    """Seconds of one call, after two to warm up."""
    for _ in range(2):
        function()
    times = []
    for _ in range(number):
        wait()
        began = time.perf_counter()
        function()
        wait()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def seconds_of(function: Callable[[], Any]) -> tuple[float, Any]:
    """How long, and what came out."""
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def same(first: Any, second: Any) -> bool:
    """Two states, bit for bit."""
    return all(np.array_equal(a, b) for a, b in zip(first.local, second.local, strict=True)) and np.array_equal(
        first.shared.by_word, second.shared.by_word
    )


def passes(counts: Any, start: Any, n_components: int, threads: Threads, number: int) -> Any:
    """Sweeps alone, whole EM steps and their parts, in seconds; the deterministic ones also bit by bit."""
    from topiarist.models.engine.cuda import CudaEngine

    name = "deterministic"
    engine = CudaEngine.start(threads)
    seconds, shard = seconds_of(
        lambda: (engine.shard(counts, np.float32, n_components), engine.memory.synchronize())[0]
    )
    say(f"{name}: counts to the device and by word", seconds=seconds, bytes=engine.memory.held_bytes)
    model = plsa.Plsa(engine, *SMOOTHING)
    state, wait = engine.to_device(start), engine.memory.synchronize
    first, _ = seconds_of(lambda: (em.step(model, [shard], state, 1.0, engine.executor), wait()))
    say(f"{name}: first step, with compilation", seconds=first)
    work = 6 * n_components * counts.nnz
    own, words = state.local[0], state.shared.by_word
    sweeps = median_of(lambda: engine.expected_counts(shard, own, words), wait, number)
    step = median_of(lambda: em.step(model, [shard], state, 1.0, engine.executor), wait, number)
    say(f"{name}: sweeps with log-likelihood", milliseconds=1e3 * sweeps, tflops=work / sweeps / 1e12)
    say(f"{name}: EM step, parameters to parameters", milliseconds=1e3 * step, tflops=work / step / 1e12)
    parts = {
        "document_counts": lambda: engine.document_counts(shard, own, words),
        "word_counts": lambda: engine.word_counts(shard, words, own),
        "log_likelihood": lambda: engine.log_likelihood(shard.rows, own, words),
        "sum_of_logs": lambda: engine.sum_of_logs(own),
        "extrapolate": lambda: engine.extrapolate(own, own, 1.5),
        "normalise_rows": lambda: engine.normalise_rows(own, 0.0),
    }
    say("parts, milliseconds", **{key: 1e3 * median_of(part, wait, number) for key, part in parts.items()})
    state = engine.to_device(start)
    one, two = (engine.to_host(em.step(model, [shard], state, 1.0, engine.executor)[0]) for _ in range(2))
    say("deterministic: two steps from one start", same_bits=same(one, two), peak_bytes=engine.memory.peak_bytes)
    return sweeps, step


def streams(counts: Any, n_components: int, threads: Threads) -> None:
    """Blocks that visit the device against the same blocks on it."""
    from topiarist.models.engine.cuda import CudaEngine

    part, table = counts, counts.shape[1] * n_components * 4
    small, large = CudaEngine.start(threads, device_memory=8 * table + (3 << 29)), CudaEngine.start(threads)
    parked = small.make_shards(part, np.float32, n_components)
    ends = np.cumsum([0, *(block.shape[0] for block in parked)]).tolist()
    resident = [large.shard(part[a:b], np.float32, n_components) for a, b in pairwise(ends)]
    found = {}
    for name, engine, blocks in (("resident", large, resident), ("streamed", small, parked)):
        start = engine.to_device(plsa.create_start(blocks, n_components, np.random.default_rng(0), SMOOTHING[0]))
        rules = em.Rules(5, -np.inf, 1.0)
        model = plsa.Plsa(engine, *SMOOTHING)
        fit = em.run(model, blocks, start, rules, executor=engine.executor)
        step = median_of(
            lambda m=model, b=blocks, s=start, e=engine: em.step(m, b, s, 1.0, e.executor), engine.memory.synchronize, 5
        )
        found[name] = (engine.to_host(fit.state), step, engine.memory.peak_bytes)
    (one, step, _), (two, streamed, peak) = found.values()
    say(
        "blocks larger than the memory allowed", blocks=len(parked), same_bits=same(one, two),
        resident_ms=1e3 * step, streamed_ms=1e3 * streamed, streamed_peak=peak,
    )  # fmt: skip


def paths_of_64() -> Any:
    """Which of the 127 nodes of a balanced tree lie above which of its 64 leaves."""
    mask = np.zeros((64, 127), bool)
    for leaf, path in enumerate(mask):
        node = leaf + 64  # nodes from 1: the parent of a node is its half
        while node:
            path[node - 1] = True
            node //= 2
    return mask


def clusters(counts: Any, threads: Threads, number: int) -> None:
    """A step of CAM with 64 clusters on the device, and on two threads of the host with a tenth of the documents."""
    from topiarist.models.engine.cuda import CudaEngine

    mask = paths_of_64()
    rng = np.random.default_rng(0)
    words = rng.gamma(0.5, size=(127, counts.shape[1])).astype(np.float32) + 1e-6
    words /= words.sum(axis=1, keepdims=True)
    shared = cam.Params(words, mask / mask.sum(axis=1, keepdims=True), np.full(64, 1 / 64))
    found = []
    for engine, some in ((CudaEngine.start(threads), counts), (Engine(load("compiled"), threads), counts[::10])):
        block = cam.Block(engine.shard(some, np.float32, 64))
        model = cam.Cam(engine, mask, node_mix="ml")
        state = engine.to_device(em.State(shared, (engine.uniform_rows(some.shape[0], 64, np.float32),)))
        wait = getattr(engine, "memory", None)
        once = lambda m=model, b=block, s=state, e=engine: em.step(m, [b], s, 1.0, e.executor)  # noqa: E731
        found.append(median_of(once, wait.synchronize if wait else lambda: None, number if wait else 3))
    device, host = found[0], 10 * found[1]
    say("CAM step with 64 clusters", device_ms=1e3 * device, host_ms=1e3 * host, ratio=host / device)


def many_threads(counts: Any, n_components: int) -> None:
    """A step of PLSA on every core of the host."""
    with Threads() as threads:
        engine = Engine(load("compiled"), threads)
        shard = engine.shard(counts, np.float32, n_components)
        start = plsa.create_start([shard], n_components, np.random.default_rng(0), SMOOTHING[0])
        model = plsa.Plsa(engine, *SMOOTHING)
        seconds = median_of(lambda: em.step(model, [shard], start, 1.0, InProcess()), lambda: None, 3)
    work = 6 * n_components * counts.nnz
    say("every core of the host", threads=threads.n_threads, step_ms=1e3 * seconds, gflops=work / seconds / 1e9)


def tree_and_flat(counts: Any, threads: Threads, number: int) -> None:
    """A pass with 64 leaves of a balanced tree and one of flat PLSA with K = 64, in turn."""
    from topiarist.models.engine.cuda import CudaEngine

    mask = paths_of_64()
    engine = CudaEngine.start(threads)
    shard = engine.shard(counts, np.float32, 64)
    rng = np.random.default_rng(0)
    flat = (plsa.Plsa(engine), engine.to_device(plsa.create_start([shard], 64, rng)))
    tree = (hplsa.Hplsa(engine, mask), engine.to_device(hplsa.create_start([shard], mask, rng)))
    times: dict[str, list[float]] = {"flat": [], "tree": []}
    for _ in range(number + 2):
        for name, (model, state) in (("flat", flat), ("tree", tree)):
            engine.memory.synchronize()
            began = time.perf_counter()
            em.step(model, [shard], state, 1.0, engine.executor)
            engine.memory.synchronize()
            times[name].append(time.perf_counter() - began)
    one, two = (statistics.median(times[name][2:]) for name in ("flat", "tree"))
    say("HPLSA with 64 leaves, PLSA with K = 64", tree_ms=1e3 * two, flat_ms=1e3 * one, ratio=two / one, bar=1.25)


def device_fit(counts: Any, n_components: int, threads: Threads, number: int) -> tuple[float, Any]:
    """From counts on the host to parameters on the host, ``number`` passes and looking ahead in between."""
    from topiarist.models.engine.cuda import CudaEngine

    began = time.perf_counter()
    engine = CudaEngine.start(threads)
    blocks = engine.make_shards(counts, np.float32, n_components)
    indexed = time.perf_counter()
    start = engine.to_device(plsa.create_start(blocks, n_components, np.random.default_rng(0), SMOOTHING[0]))
    started = time.perf_counter()
    rules = em.Rules(number - 1, -np.inf, 1.0)
    fit = em.run(plsa.Plsa(engine, *SMOOTHING), blocks, start, rules, executor=engine.executor)
    ran = time.perf_counter()
    state = engine.to_host(fit.state)
    seconds = time.perf_counter() - began
    say(
        f"fit of {len(fit.objectives)} passes on the device", seconds=seconds, index=indexed - began,
        start=started - indexed, passes=ran - started, back=seconds - (ran - began), blocks=len(blocks),
    )  # fmt: skip
    return seconds, (state, fit.objectives)


def host_fit(counts: Any, n_components: int, threads: Threads, number: int) -> tuple[float, float, Any, Any]:
    """The same on two threads: seconds before the passes, of one pass, where it began, and its objectives."""
    engine = Engine(load("compiled"), threads)
    seconds, shard = seconds_of(lambda: Shard.from_matrix(counts, np.float32, n_components))
    more, start = seconds_of(lambda: plsa.create_start([shard], n_components, np.random.default_rng(0), SMOOTHING[0]))
    model = plsa.Plsa(engine, *SMOOTHING)
    times = [time.perf_counter()]
    rules = em.Rules(number, -np.inf, 1.0)
    fit = em.run(model, [shard], start, rules, watch=lambda _: times.append(time.perf_counter()), executor=InProcess())
    one_pass = statistics.median(np.diff(times))
    say(
        "two threads of the host", index=seconds, start=more, pass_s=one_pass,
        gflops=6 * n_components * counts.nnz / one_pass / 1e9, passes=len(times) - 1,
    )  # fmt: skip
    return seconds + more, one_pass, start, fit.objectives


def estimators(counts: Any, n_components: int, host_pass: float, number: int) -> None:
    """``PLSA.fit``, folding in of all documents included; the host's from a fit of 3 steps on every 16th document."""
    try:
        from topiarist import PLSA
    except ImportError as error:
        say("estimators left out", why=str(error))
        return

    def fit(device: str, max_iter: int, some: Any) -> float:
        names = ("word_smoothing", "component_smoothing")
        model = PLSA(
            n_components, max_iter=max_iter, tol=0, random_state=0, n_threads=2, dtype="float32", device=device,
            **dict(zip(names, SMOOTHING, strict=True)),
        )  # fmt: skip
        return seconds_of(lambda: model.fit(some))[0]

    part = counts[::16]
    fit("cuda", 2, part)
    on_device = fit("cuda", number, counts)
    fit("cpu", 1, part[:2000])
    on_host = 16 * fit("cpu", 3, part) + (number - 3) * host_pass
    say(
        f"PLSA.fit of {number} steps", device_s=on_device, host_s_extrapolated=on_host, ratio=on_host / on_device,
        note="host: 16 × a fit of 3 steps on a 16th of the documents, and the other steps at its measured time",
    )  # fmt: skip


def main() -> None:
    """All of it, in an order that leaves the most important lines if time runs out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=960_000)
    parser.add_argument("--words", type=int, default=60_000)
    parser.add_argument("--tokens", type=int, default=100, help="of a document, on average")
    parser.add_argument("--components", type=int, default=128)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--host-steps", type=int, default=10)
    parser.add_argument("--fit-passes", type=int, default=50)
    options = parser.parse_args()
    import numba
    from numba import cuda

    name = cuda.gpus[0].name if hasattr(cuda.gpus[0], "name") else "simulator"
    where = getattr(cuda, "implementation", "")
    say("machine", device=str(name), numba=numba.__version__, implementation=str(where))
    counts, k = counts_of(options.documents, options.words, options.tokens), options.components
    say("counts", documents=counts.shape[0], words=counts.shape[1], nonzeros=counts.nnz, components=k)
    with Threads(2) as threads:
        host_engine = Engine(load("compiled"), threads)
        few = host_engine.shard(counts[:5000], np.float32, k)
        em.step(
            plsa.Plsa(host_engine, *SMOOTHING),
            [few],
            plsa.create_start([few], k, np.random.default_rng(0)),
            1.0,
            InProcess(),
        )
        say("kernels of the host compiled")
        start = plsa.create_start([_bare(counts)], k, np.random.default_rng(0), SMOOTHING[0])
        say("start made on the host")
        sweeps, step = passes(counts, start, k, threads, options.repeat)
        tree_and_flat(counts, threads, options.repeat)
        fit_seconds, (_, objectives) = device_fit(counts, k, threads, options.fit_passes)
        before, host_pass, _, wanted = host_fit(counts, k, threads, options.host_steps)
        pairs = list(zip(objectives, wanted, strict=False))
        gap = max(abs(ours - theirs) / abs(theirs) for ours, theirs in pairs)
        say("objectives, largest relative difference", of=len(pairs), difference=gap, last=pairs[-1], bar=1e-4)
        say("pass against two threads", sweeps=host_pass / sweeps, step=host_pass / step, bar=100)
        extrapolated = before + options.fit_passes * host_pass
        say("fit against two threads", host_s_extrapolated=extrapolated, ratio=extrapolated / fit_seconds, bar=80)
        streams(counts, k, threads)
        clusters(counts, threads, options.repeat)
        many_threads(counts, k)
        estimators(counts, k, host_pass, options.fit_passes)


def _bare(counts: Any) -> Any:
    """As much of a shard as ``plsa.initial`` needs, without the index by word."""
    from topiarist.kernels.shard import CountsView, make_uniform_rows

    return types.SimpleNamespace(
        rows=CountsView.from_matrix(counts, np.float32),
        shape=counts.shape,
        word_totals=lambda: np.bincount(counts.indices, counts.data, counts.shape[1]),
        uniform_rows=lambda n: make_uniform_rows(counts.shape[0], n, np.float32),
    )


if __name__ == "__main__":
    main()
