"""Up to ten million synthetic abstracts in files: a tree grown and all documents placed, by two threads in 4 GB.

Documents are drawn from the topics of a tree that was fitted to the bundled abstracts, about a hundred tokens each, and
written as blocks (not timed). Then a child process, ``python -m benchmarks.bench_ten_million FOLDER``, grows a tree
from them as by default, but for the allowance, and says how long each part took, how much memory, and how well the
topics were found again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings

PLANTED, BLOCK = 64, 32_768  # leaves, documents
SIZES, QUICK = (100_000, 1_000_000, 10_000_000), (5_000, 20_000)
ALLOWANCE = 3_000_000_000  # bytes for the fit, of the 4 GB that the process may take
JUDGED = 20_000  # documents that the planted tree is looked for in


def main(settings: Settings) -> dict:
    """One collection after the other; the largest with ``--full`` alone."""
    sizes = QUICK if settings.quick else SIZES if settings.full else SIZES[:2]
    CACHE.mkdir(exist_ok=True)
    rows = [_measured(size) for size in sizes]
    first, last = rows[0], rows[-1]
    slope = np.log(last["seconds"] / first["seconds"]) / np.log(last["documents"] / first["documents"])
    return {"rows": rows, "slope": float(slope)}


def _measured(n_docs: int) -> dict:
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        write(Path(folder), n_docs)
        places = [str(REPOSITORY / "src"), str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
        command = [sys.executable, "-m", "benchmarks.bench_ten_million", folder]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"[ten_million] {answer}", flush=True)
    return answer


def topics_and_words() -> tuple[Any, list[str]]:
    """Topics of the bundled abstracts, P(word | topic), and the words."""
    from topiarist import CAM, Corpus, demo_documents

    corpus = Corpus.from_documents(demo_documents())
    model = CAM(PLANTED, random_state=0).fit(corpus.counts)
    return model.node_given_cluster_ @ model.word_given_node_, list(corpus.vocabulary.words)


def write(folder: Path, n_docs: int) -> None:
    """The blocks, and the planted topic of each document."""
    from benchmarks.synthetic import World
    from topiarist.execution import BlockStore

    world, leaves = World.of_topics(topics_and_words()[0]), []

    def pieces() -> Any:
        for first in range(0, n_docs, BLOCK):
            counts, own = world.block(first, min(BLOCK, n_docs - first), second=0.0)
            leaves.append(own)
            yield counts

    BlockStore.write(folder / "store", pieces(), block_size=BLOCK)
    np.save(folder / "leaves.npy", np.concatenate(leaves))


def grown(folder: Path) -> dict:
    """Grow, place, and judge."""
    from topiarist import CAM
    from topiarist.execution import BlockStore, InProcess
    from topiarist.metrics import dendrogram_purity

    store = BlockStore.open(folder / "store", check=False)
    CAM(3, n_threads=2, dtype="float32", random_state=0).fit(store.sample(400))  # nothing is compiled later
    executor = _Timed(InProcess(memory=ALLOWANCE))
    began, used = time.perf_counter(), time.process_time()
    model = CAM(random_state=0, n_threads=2, executor=executor).fit(store)
    seconds = time.perf_counter() - began
    leaves = np.load(folder / "leaves.npy", mmap_mode="r")
    some = np.sort(np.random.default_rng(0).choice(len(store), min(JUDGED, len(store)), replace=False))
    placed = np.array(model.tree_.leaves)[np.asarray(model.labels_[some])]
    return {
        "documents": len(store), "tokens": store.n_tokens, "nonzeros": store.nnz, "seconds": seconds,
        "processor_seconds": time.process_time() - used, "parts": executor.told(), "peak": memory.peak(),
        "planted": PLANTED, "leaves": len(model.tree_.leaves), "steps_over_all": model.n_iter_,
        "purity": float(dendrogram_purity(model.tree_, placed, np.asarray(leaves[some]))),
    }  # fmt: skip


class _Timed:
    """An executor that tells how many passes of each kind there were over how many documents, and their seconds."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.memory, self.scratch = inner, inner.memory, inner.scratch
        self.kinds: dict[tuple[str, int], list[float]] = {}

    def total(self, function: Any, blocks: Any, local: Any) -> Any:
        """See ``topiarist.execution.executors.Executor.total``."""
        began = time.perf_counter()
        try:
            return self.inner.total(function, blocks, local)
        finally:
            took = time.perf_counter() - began
            self.kinds.setdefault((type(function).__name__, len(blocks)), []).append(took)

    def told(self) -> list[dict]:
        """Passes by what they do and over how many blocks."""
        return [
            {"what": what, "blocks": blocks, "passes": len(took), "seconds": sum(took)}
            for (what, blocks), took in self.kinds.items()
        ]


if __name__ == "__main__":
    print(json.dumps(grown(Path(sys.argv[1]))))
