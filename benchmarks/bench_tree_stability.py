"""Do three seeds find the same leaves? CAM, flat PLSA and HLDA on 20 Newsgroups, adjusted Rand index of each pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from benchmarks import data, labelled
from benchmarks.client import Client, PeerError
from benchmarks.findings import Findings, skipped, spread
from benchmarks.settings import Settings
from benchmarks.systems import SYSTEMS

SEEDS = 3
N_THREADS = 2
HLDA_SWEEPS = 200
OURS, FLAT, RIVAL = "topiarist-tree", "topiarist-flat", "tomotopy-hlda"


def main(settings: Settings) -> dict:
    """Fit every system with three seeds to the same counts."""
    if reason := labelled.missing("20newsgroups"):
        return skipped(reason)
    corpus = labelled.newsgroups()
    data.save(labelled.COUNTED, corpus.counts)
    groups = np.array([label for (label,) in corpus.labels])
    sweeps = HLDA_SWEEPS // 10 if settings.quick else HLDA_SWEEPS
    found = Findings(
        f"20 Newsgroups, all {corpus.n_docs:,} messages, {SEEDS} seeds each. A document's leaf: the most probable one"
        f" (CAM), its largest component (flat PLSA, as many as CAM has leaves), the leaf of its path after {sweeps}"
        " sweeps (HLDA: so many fit into three minutes)."
    )
    rows = {OURS: _runs(OURS)}
    leaves = round(float(np.mean([len(set(labels)) for labels in rows[OURS]["labels"]])))
    rows[FLAT] = _runs(FLAT, n_components=leaves)
    rows[RIVAL] = _runs(RIVAL, sweeps=sweeps)
    table = []
    for name, row in rows.items():
        if "failed" in row:
            table.append([SYSTEMS[name].title, f"cannot run: {row['failed']}", "", "", ""])
            continue
        row |= _agreements(row.pop("labels"), groups)
        sizes = ", ".join(map(str, row["clusters"]))
        cells = [spread(row["pairs"]), f"{min(row['pairs']):.3f}", spread(row["nmi"]), sizes, spread(row["seconds"], 1)]
        table.append([SYSTEMS[name].title, *cells])
    head = ["system", "adjusted Rand of pairs", "least", "NMI with the groups", "clusters", "seconds"]
    found.table(head, table)
    for other in (FLAT, RIVAL):
        if "pairs" in rows[other]:
            ours, theirs = (float(np.mean(rows[name]["pairs"])) for name in (OURS, other))
            what = f"mean adjusted Rand above {SYSTEMS[other].title}"
            found.verdict(what, f"{ours:.3f}", f"> {theirs:.3f}", met=ours > theirs)
    found.rows = rows
    return found.result()


def _runs(name: str, **options: int) -> dict:
    row: dict = {"labels": [], "seconds": []}
    with Client(name, N_THREADS) as client:
        try:
            row |= client.ask("versions")
            for seed in range(SEEDS):
                reply = client.ask("clusters", counts=str(labelled.COUNTED), seed=seed, n_threads=N_THREADS, **options)
                row["labels"].append(reply["labels"])
                row["seconds"].append(reply["seconds"])
                print(f"[tree_stability] {name}, seed {seed}: {reply['seconds']:.1f} s", flush=True)
        except PeerError as error:
            row["failed"] = str(error)
            print(f"[tree_stability] {name} cannot run: {error}", flush=True)
    return row


def _agreements(runs: list[list[int]], groups: np.ndarray) -> dict:
    from sklearn.metrics import adjusted_rand_score
    from sklearn.metrics import normalized_mutual_info_score as nmi

    return {
        "pairs": [float(adjusted_rand_score(one, other)) for one, other in combinations(runs, 2)],
        "nmi": [float(nmi(groups, labels)) for labels in runs],
        "clusters": [len(set(labels)) for labels in runs],
    }
