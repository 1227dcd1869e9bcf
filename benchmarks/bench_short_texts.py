"""Trees of titles by default: words alone, with the bundled word vectors, and with the encoder.

``python -m benchmarks.run short_texts [--collections arxiv-demo] [--draws 3]``. Collections are grown as ``grow`` does,
from at most 5,000 titles; the seed draws them, too. The table has the agreement of the topics with the classes, means
of the seeds, and of k-means with the true number of classes on the same vectors. The settings were chosen on the first
four collections. Rows with the encoder need ``topiarist[encoder]``. Chinese headlines have neither vectors.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from benchmarks import labelled
from benchmarks.bench_vectors import _title
from benchmarks.findings import Findings, skipped
from benchmarks.settings import Settings

CHOSEN = ("20newsgroups", "reuters21578", "arxiv-demo", "ohsumed23")
CONFIRMED = ("arxiv-cluster", "arxiv-learn", "thucnews-titles")
BARS = {"20newsgroups": 0.33, "reuters21578": 0.40, "arxiv-demo": 0.36, "thucnews-titles": 0.52}
MANY, QUICK, SEEDS = 5_000, 1_000, 3
WORDS, DEFAULT, ENCODER = "words alone", "by default", "with the encoder"
NEAR_WORDS, NEAR_ENCODER = "k-means, word vectors", "k-means, encoder"


def main(settings: Settings) -> dict:
    """Grow the collections of titles and compare them with the classes."""
    if reason := labelled.missing(*CHOSEN, *CONFIRMED):
        return skipped(reason)
    findings = Findings(f"Collections of at most {MANY:,} titles, means of seeds.")
    seeds = range(1 if settings.quick else settings.draws or SEEDS)
    for name in settings.of_collections((*CHOSEN, *CONFIRMED)):
        rows = [_measure(name, QUICK if settings.quick else MANY, seed) for seed in seeds]
        means = {way: np.mean([row[way] for row in rows], axis=0) for way in rows[0]}
        findings.table(
            [f"{name}, titles", "NMI", "NMI of each seed", "AMI", "groups"],
            [
                [way, f"{mean[0]:.3f}", ", ".join(f"{row[way][0]:.3f}" for row in rows), f"{mean[1]:.3f}",
                 f"{mean[2]:.0f}"]
                for way, mean in means.items()
            ],
        )  # fmt: skip
        least = max(float(means[WORDS][0]), BARS.get(name, 0.0))
        findings.bar(f"{name}: NMI by default", float(means[DEFAULT][0]), round(least, 3), least=True)
        fewest = min(row[DEFAULT][2] for row in rows)
        findings.bar(f"{name}: fewest topics by default", fewest, 2, least=True, form=".0f")
        findings.values[name] = {way: mean.tolist() for way, mean in means.items()}
    return findings.result()


def _measure(name: str, number: int, seed: int) -> dict[str, list[float]]:
    """Return NMI, AMI and the number of groups of each way."""
    from sklearn.cluster import KMeans

    from topiarist import Recipe
    from topiarist.counts.embeddings.encoder import Encoder, is_installed

    texts, labels = _draw(name, number, seed)
    points, row = dict[str, Any](), dict[str, list[float]]()
    row[WORDS] = _grow(texts, labels, Recipe(seed=seed, vectors="none"), None, {})
    row[DEFAULT] = _grow(texts, labels, Recipe(seed=seed), None, points)
    if points:
        if is_installed():
            points[ENCODER] = Encoder.create().encode(texts)
            row[ENCODER] = _grow(texts, labels, Recipe(seed=seed), points[ENCODER], {})
        near = {NEAR_WORDS: points.pop(DEFAULT), NEAR_ENCODER: points.get(ENCODER)}
        for way, vectors in near.items():
            if vectors is not None:
                groups = KMeans(len(set(labels)), n_init=1, random_state=seed).fit_predict(vectors)
                row[way] = _judge(labels, groups, len(set(labels)))
    print(f"[short_texts] {name} seed {seed}: {row}", flush=True)
    return row


def _draw(name: str, number: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return labelled titles, each different one once, and their labels."""
    labels: dict[str, str] = {}
    for record in labelled._records(name):
        label = record.get("label") or next(iter(record.get("labels", [])), "")
        title = _title(name, record).strip()
        if label and title:
            labels.setdefault(title, label)
    titles = list(labels)
    rows = np.sort(np.random.default_rng(seed).permutation(len(titles))[:number])
    return [titles[row] for row in rows], np.array([labels[titles[row]] for row in rows])


def _grow(
    texts: list[str], labels: np.ndarray, recipe: Any, vectors: Any, points: dict[str, np.ndarray]
) -> list[float]:
    """Return the agreement of the topics of a collection; put its vectors into ``points`` if it has any."""
    from topiarist import Collection

    with (
        tempfile.TemporaryDirectory() as folder,
        Collection.grow(texts, f"{folder}/titles.topiary", recipe, vectors=vectors, n_threads=1) as collection,
    ):
        if collection.vectors is not None:
            points[DEFAULT] = np.array(collection.vectors, np.float32)
        groups = np.asarray(collection.shares.argmax(axis=1)).ravel()
        return _judge(labels, groups, len(collection.outline.tree.leaves))


def _judge(labels: np.ndarray, groups: np.ndarray, number: int) -> list[float]:
    from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

    judges = (normalized_mutual_info_score, adjusted_mutual_info_score)
    return [*(float(judge(labels, groups)) for judge in judges), float(number)]
