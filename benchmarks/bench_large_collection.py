"""From a hundred thousand texts to a million, as a collection: how long, how much memory, how fast is it afterwards?

The texts are synthetic (``synthetic_texts``), about a hundred tokens each. Growing, opening and searching are processes
of their own, with two threads, as by default otherwise: ``python -m benchmarks.bench_large_collection FOLDER`` asks any
collection of such texts. Every query is asked twice: at first nothing of its words is in memory, then all of it is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import bench_collection, memory, synthetic_texts
from benchmarks.findings import Findings
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SIZES, FULL, QUICK = (100_000, 300_000), (100_000, 1_000_000), (2_000, 4_000)
QUERIES, OF_WORDS = 200, 60  # words of a text that queries are made of
JUDGED = 20_000  # documents whose topics are looked for in the tree


def main(settings: Settings) -> dict:
    """One collection after the other."""
    found = Findings(
        "Synthetic texts of the topics of a fitted tree, in one file of JSON lines, to a folder with texts, counts,"
        " tree and both indexes; two threads. *Peak* is of the process that grows, with mapped pages. Queries are eight"
        " words of a text, and two."
    )
    rows = [_measured(size) for size in (QUICK if settings.quick else FULL if settings.full else SIZES)]
    found.table(
        [
            "documents", "grown", "of the processor", "peak", "on disk", "topics", "opened", "8 words p50, p99", "2",
            "8 for the first time", "purity",
        ],
        [
            [
                f"{row['documents']:,}", f"{row['seconds'] / 60:.1f} min", f"{row['busy'] / 60:.1f} min",
                f"{row['peak'] / 1e9:.2f} GB", f"{row['bytes'] / 1e9:.1f} GB", row["topics"],
                f"{row['asked']['opened']:.2f} s, {row['asked']['memory'] / 1e6:,.0f} MB",
                *(
                    f"{1e3 * row['asked'][kind][0]:.0f}, {1e3 * row['asked'][kind][1]:.0f} ms"
                    for kind in ("8", "2", "8 at first")
                ),
                f"{row['asked']['purity']:.3f}",
            ]
            for row in rows
        ],
    )  # fmt: skip
    slope = np.log(rows[-1]["seconds"] / rows[0]["seconds"]) / np.log(rows[-1]["documents"] / rows[0]["documents"])
    phases = "; ".join(f"{name} {seconds:.0f} s" for name, seconds in rows[-1]["phases"].items())
    found.say(f"Time grows with the power {slope:.2f} of the documents. The largest: {phases}.")
    found.values |= {"rows": rows, "slope": float(slope)}
    return found.result()


def _measured(n_docs: int) -> dict:
    CACHE.mkdir(exist_ok=True)
    texts, folder = CACHE / f"texts-{n_docs}.jsonl", CACHE / f"large-{n_docs}.topiary"
    shutil.rmtree(folder, ignore_errors=True)
    if not texts.exists():
        synthetic_texts.write(texts, n_docs)
    grown = bench_collection._child("grow", folder, str(texts))
    grown["bytes"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "benchmarks.bench_large_collection", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=REPOSITORY, check=True)
    answer = grown | {"asked": json.loads(done.stdout.splitlines()[-1])}
    print(f"[large_collection] {answer}", flush=True)
    shutil.rmtree(folder)
    return answer


def asked(folder: Path) -> dict:
    """Open it, and ask: seconds by the clock, p50 and p99."""
    from topiarist.collection.collection import Collection
    from topiarist.collection.search.search import Search

    began = time.perf_counter()
    collection = Collection.open(folder)
    assert collection.tree.sizes
    found: dict = {"opened": time.perf_counter() - began, "memory": memory.peak()}
    rng = np.random.default_rng(0)
    rows = rng.choice(len(collection), min(QUERIES, len(collection)), replace=False).tolist()
    texts = [document.text.split()[:OF_WORDS] for document in collection.documents.load_many(rows)]
    for kind in (8, 2):
        queries = [" ".join(rng.choice(words, kind)) for words in texts]
        for name in (f"{kind} at first", str(kind)):
            times = []
            for query in queries:
                began = time.perf_counter()
                Search(collection, query).page(10)
                times.append(time.perf_counter() - began)
            found[name] = np.quantile(times, (0.5, 0.99)).tolist()
            found.setdefault("first of all", times[0])
    return found | {"memory asked": memory.peak(), "purity": _purity(collection, rng)}


def _purity(collection: Collection, rng: np.random.Generator) -> float:
    """How well the topics that texts were drawn from are found again: dendrogram purity of some documents."""
    from topiarist.metrics import dendrogram_purity
    from topiarist.storage.column_table import ColumnTable

    rows = np.sort(rng.choice(len(collection), min(JUDGED, len(collection)), replace=False))
    known = ColumnTable(collection.generation.database).of(rows.tolist())
    labels = np.unique([known[row]["label"][0] for row in rows.tolist()], return_inverse=True)[1]
    placed = collection.assignments.rows(rows)
    return float(dendrogram_purity(placed.tree, placed.assigned_nodes, labels))


if __name__ == "__main__":
    print(json.dumps(asked(Path(sys.argv[1]))))
