"""How long does a query take, an index to build, and how much memory, on 192,000 abstracts?

The child process, ``python -m benchmarks.bench_search FOLDER``, opens the index and answers queries: three different
words of a random document, whatever they are, function words included.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import data, memory
from benchmarks.bars import SEARCH_BUILD, SEARCH_MEMORY, SEARCH_MILLISECONDS
from benchmarks.findings import Findings
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings
from topiarist import Corpus, FisherKernel
from topiarist.collection.search.index import SearchIndex
from topiarist.counts import CountSettings
from topiarist.kernels.search.compiled import prepare as prepare_search
from topiarist.text.documents import Document

NAME, SIZES = "arxiv-2011-2013", (1, 64, 128)
PARTS = ("topical", "lexical")  # as collections have them
N_QUERIES, N_WORDS, N_HITS, N_THREADS = 400, 3, 10, 2
WAYS = ("meaning", "words", "both")


def main(settings: Settings) -> dict:
    """Fit, index, save; then ask in a process of its own."""
    texts = data.texts(NAME)
    documents = (
        Document(str(number), text) for number, text in enumerate(texts) if not settings.quick or number < 5000
    )
    corpus = Corpus.from_documents(documents, CountSettings(min_documents=data.MIN_DOCUMENTS))
    queries = _queries(corpus)
    counted = sum(part.nbytes for part in (corpus.counts.data, corpus.counts.indices, corpus.counts.indptr))
    fitted, kernel = _timed(
        lambda: FisherKernel(SIZES, parts=PARTS, random_state=0, n_threads=N_THREADS).fit(corpus.counts)
    )
    built, index = _timed(lambda: SearchIndex.build(kernel, corpus, dtype="float32", n_threads=N_THREADS))
    factors = sum(rows.nbytes for segment in index.segments for rows in segment.rows)
    factors += sum(lens.by_word.nbytes for lens in index.lenses)
    folder = CACHE / "search-index"
    shutil.rmtree(folder, ignore_errors=True)
    CACHE.mkdir(exist_ok=True)
    try:
        saved = _timed(lambda: index.save(folder))[0]
        (CACHE / "queries.json").write_text(json.dumps(queries))
        size = sum(path.stat().st_size for path in folder.rglob("*.npy"))
        asked = _child(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result = _told(corpus, asked, {"fitted": fitted, "built": built, "saved": saved}, counted, factors, size)
    result["values"]["steps"] = [int(model.n_iter_) for model in kernel.models_]
    return result


def _told(
    corpus: Corpus, asked: dict, seconds: dict[str, tuple[float, float]], counted: int, factors: int, size: int
) -> dict:
    found = Findings(
        f"{data.provenance(NAME)}: {corpus.n_docs:,} documents, {corpus.counts.nnz:,} non-zeros, every word of ≥"
        f" {data.MIN_DOCUMENTS} documents; K = {' + '.join(map(str, SIZES))}, single precision, {N_THREADS} threads."
        f" {N_QUERIES} queries, each of {N_WORDS} different words of a random document, the {N_HITS} best of all"
        " documents; the index memory-mapped from its folder. The processor's time is that of all threads together:"
        " on a machine that does nothing else a query takes no longer. The other columns are by the clock, with what"
        " else ran on the machine."
    )
    head = ["by", "p50", "p99", "longest", "processor's time, p50", "processor's time, p99"]
    table = []
    for by in WAYS:
        wall, busy = (1000 * np.array(asked[by][kind]) for kind in ("wall", "busy"))
        row = [np.percentile(wall, 50), np.percentile(wall, 99), wall.max(), *np.percentile(busy, (50, 99))]
        table.append([by, *(f"{value:.1f} ms" for value in row)])
        found.bar(f"p99 by {by}, ms of the processor", float(row[4]), SEARCH_MILLISECONDS, form=".1f")
        found.bar(f"p99 by {by}, ms by the clock", float(row[1]), SEARCH_MILLISECONDS, form=".1f")
        found.values[by] = row
    found.table(head, table)
    (fit, fit_busy), (built, built_busy), (saved, _) = (seconds[name] for name in ("fitted", "built", "saved"))
    found.say(
        f"Fitting {fit:.1f} s ({fit_busy:.1f} s of the processor), indexing {built:.1f} s ({built_busy:.1f} s), writing"
        f" {saved:.1f} s, opening {asked['opened']:.2f} s. Counts {counted / 1e6:,.0f} MB, factors"
        f" {factors / 1e6:,.0f} MB, the index's arrays {size / 1e6:,.0f} MB; the process that answers holds"
        f" {asked['peak'] / 1e6:,.0f} MB at its peak beyond an idle one, the pages of the mapped files included."
    )
    found.bar("time to index, in times of fitting", built_busy / fit_busy, SEARCH_BUILD, form=".2f")
    allowance = counted + factors
    found.bar("the index, in times of counts and factors", size / allowance, SEARCH_MEMORY, form=".2f")
    found.bar("memory of the process that answers, likewise", asked["peak"] / allowance, SEARCH_MEMORY, form=".2f")
    found.values |= {"seconds": seconds, "bytes": {"counts": counted, "factors": factors, "index": size}}
    return found.result()


def _timed(work: object) -> tuple[tuple[float, float], object]:
    wall, busy = time.perf_counter(), time.process_time()
    result = work()
    return (time.perf_counter() - wall, time.process_time() - busy), result


def _queries(corpus: Corpus) -> list[str]:
    rng, counts, queries = np.random.default_rng(0), corpus.counts, []
    while len(queries) < N_QUERIES:
        row = int(rng.integers(corpus.n_docs))
        words = counts.indices[counts.indptr[row] : counts.indptr[row + 1]]
        if len(words) >= N_WORDS:
            chosen = rng.choice(words, N_WORDS, replace=False)
            queries.append(" ".join(corpus.vocabulary[int(column)] for column in chosen))
    return queries


def _child(folder: Path) -> dict:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_search", str(folder)],
        capture_output=True, text=True, env=environment, cwd=REPOSITORY, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def ask(folder: Path) -> dict:
    """Open the index and answer the queries, one after the other."""
    queries = json.loads((CACHE / "queries.json").read_text())
    for dtype in ("float64", "float32"):  # the compiler and its kernels belong to an idle process
        prepare_search(np.dtype(dtype))
    idle = memory.current()
    opened, index = _timed(lambda: SearchIndex.open(folder, check=False, n_threads=N_THREADS))
    answer: dict = {"opened": opened[0]}
    for by in WAYS:
        index.search(queries[0], N_HITS, by=by)
        times = [_timed(lambda query=query, by=by: index.search(query, N_HITS, by=by))[0] for query in queries]
        answer[by] = {"wall": [wall for wall, _ in times], "busy": [busy for _, busy in times]}
    return {**answer, "peak": memory.peak() - idle}


if __name__ == "__main__":
    print(json.dumps(ask(Path(sys.argv[1]))))
