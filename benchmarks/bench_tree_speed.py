"""From raw 20 Newsgroups to a tree: how much sooner than the hierarchical peers?"""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np

from benchmarks import bars, data, labelled
from benchmarks.client import Client, PeerError
from benchmarks.findings import Findings, skipped
from benchmarks.paths import CACHE
from benchmarks.settings import Settings
from benchmarks.systems import SYSTEMS

N_THREADS = 2
SWEEPS = 500
OURS, RIVAL, OTHERS = "topiarist-tree", "tomotopy-hlda", ("tomotopy-hpa", "sklearn-bisecting", "scipy-ward")


def main(settings: Settings) -> dict:
    """Run ours twice, with and without compiled kernels; then the peers on the same counts."""
    if reason := labelled.missing("20newsgroups"):
        return skipped(reason)
    corpus = labelled.newsgroups()
    data.save(labelled.COUNTED, corpus.counts)
    groups = np.array([label for (label,) in corpus.labels])
    found = Findings(
        f"20 Newsgroups, {corpus.n_docs:,} messages, {corpus.n_tokens:,} tokens of {corpus.n_words:,} words,"
        f" {N_THREADS} threads, one run. Ours from the raw file: reading, counting, growing. The peers get the counts."
    )
    load = os.getloadavg()[0]
    cold, warm = _ours()
    found.rows[OURS] = warm
    table = [[SYSTEMS[OURS].title, f"{warm['seconds']:.1f} s", "", _agreement(groups, warm), _growing(warm)]]
    for name in settings.chosen((RIVAL, *OTHERS)):
        found.rows[name] = row = _peer(name)
        ratio = row["seconds"] / warm["seconds"] if "seconds" in row else None
        told = f"{row['seconds']:.1f} s" if ratio else f"cannot run: {row['failed']}"
        table.append(
            [SYSTEMS[name].title, told, f"{ratio:.1f}" if ratio else "", _agreement(groups, row), row.get("note", "")]
        )
        if ratio:
            what = (
                f"times sooner than {SWEEPS} sweeps of HLDA"
                if name == RIVAL
                else f"times sooner than {SYSTEMS[name].title}"
            )
            found.bar(what, ratio, bars.TREE_SPEEDUP, least=True, form=".1f")
    found.table(["system", "time", "ratio", "NMI", ""], table)
    found.say(
        f"With kernels still to be compiled, once on a machine: {cold['seconds']:.1f} s, of which compiling takes"
        f" {cold['seconds'] - warm['seconds']:.1f} s. The whole process, Python's imports included:"
        f" {warm['process']:.1f} s. BERTopic, which needs embeddings, was not compared. Load of"
        f" the machine before: {load:.1f}."
    )
    found.values = {"cold": cold["seconds"], "warm": warm["seconds"], "counting": warm["counting"]}
    for row in found.rows.values():
        row.pop("labels", None)
    return found.result()


def _ours() -> tuple[dict, dict]:
    """Return the first run in an empty cache of kernels, and the second."""
    runs = []
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        for state in ("cold", "warm"):
            start = time.perf_counter()
            with Client(OURS, N_THREADS, {"NUMBA_CACHE_DIR": folder}) as client:
                row = client.ask("from_texts", seed=0, n_threads=N_THREADS)
                row["process"] = time.perf_counter() - start
                row |= client.ask("versions")
            print(f"[tree_speed] ours, {state} cache: {row['seconds']:.1f} s", flush=True)
            runs.append(row)
    return runs[0], runs[1]


def _peer(name: str) -> dict:
    row: dict = {}
    with Client(name, N_THREADS) as client:
        try:
            row |= client.ask("versions")
            if SYSTEMS[name].sweeps is None:
                row |= client.ask("clusters", counts=str(labelled.COUNTED), seed=0, n_threads=N_THREADS)
                row["note"] = "20 clusters, given"
            else:
                tried = list(client.stream("sweeps", counts=str(labelled.COUNTED), n_threads=N_THREADS))
                best = min(tried, key=lambda one: one["seconds"])
                row["seconds"] = SWEEPS * best["seconds"]
                row["note"] = f"{SWEEPS} sweeps, from " + ", ".join(
                    f"{one['seconds']:.2f} s a sweep with {one['workers']} worker{'s' * (one['workers'] > 1)}"
                    f" (mean of {one['sweeps']})"
                    for one in tried
                )
            print(f"[tree_speed] {name}: {row['seconds']:.1f} s {row.get('note', '')}", flush=True)
        except PeerError as error:
            row["failed"] = str(error)
            print(f"[tree_speed] {name} cannot run: {error}", flush=True)
    return row


def _growing(row: dict) -> str:
    leaves = max(row["labels"]) + 1
    return f"reading and counting {row['counting']:.1f} s, growing {row['growing']:.1f} s; {leaves} leaves, chosen"


def _agreement(groups: np.ndarray, row: dict) -> str:
    from sklearn.metrics import normalized_mutual_info_score as nmi

    return f"{nmi(groups, row['labels']):.3f}" if "labels" in row else ""
