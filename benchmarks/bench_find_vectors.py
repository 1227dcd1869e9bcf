"""What does an encoder bring to finding? Collections with judged queries, grown with vectors and without.

``python -m benchmarks.run find_vectors``. Three voices (words, what the tree knows, vectors) by the product's default
ranking, beside the two without vectors, the encoder alone, and the sum of its z-scores and those of BM25. Of documents
the first 500 letters are encoded, for everybody alike; their vectors are kept in ``bench-cache/vectors``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks import bench_find_default as judged_queries
from benchmarks.bench_find_default import BM25, COLLECTIONS, STOPPED, Peers, judged, measured, ranked
from benchmarks.bench_vectors import _encoded
from benchmarks.findings import Findings, skipped
from benchmarks.paths import SHARED_DATA
from benchmarks.settings import Settings
from topiarist.collection.collection import Collection
from topiarist.collection.search import vector_scores
from topiarist.counts.embeddings import encoder

LETTERS = 500
THREE, TWO, ALONE, SUM = "topiarist, three voices", "topiarist, two voices", "MiniLM", "BM25 + MiniLM, z-scores"


def found_in(name: str) -> dict[str, tuple[float, float]]:
    """MAP and nDCG at 10 of every way."""
    known, here = judged(name), encoder.Encoder.create()
    texts = [document.text for document in known.documents]
    begun = [encoder._build_encoded_text(document)[:LETTERS] for document in known.documents]
    vectors = _encoded(f"{name}-documents-{LETTERS}", begun)
    asked, peers = here.encode(known.queries), {"": Peers(texts, stopped=False), STOPPED: Peers(texts, stopped=True)}
    rows: dict[str, list[tuple[float, float]]] = {}
    for way, given in ((TWO, None), (THREE, vectors)):
        with (
            tempfile.TemporaryDirectory() as folder,
            Collection.grow(known.documents, Path(folder) / name, n_threads=1, vectors=given) as collection,
            patch.object(vector_scores, "find_encoder", lambda _, given=given: None if given is None else here),
        ):
            for query, relevant in zip(known.queries, known.relevant, strict=True):
                rows.setdefault(way, []).append(measured(ranked(collection, query, "both"), relevant))
    for query, point, relevant in zip(known.queries, asked, known.relevant, strict=True):
        near = vectors.astype(np.float32) @ point
        scores = {ALONE: near}
        for how, peer in peers.items():
            scores[f"{SUM}{how}"] = judged_queries._z(peer.scores(query)[BM25]) + judged_queries._z(near)
        for way, values in scores.items():
            rows.setdefault(way, []).append(measured(np.argsort(-values, kind="stable"), relevant))
    return {way: tuple(np.mean(values, axis=0)) for way, values in rows.items()}


def main(settings: Settings) -> dict:
    """Grow, ask, compare."""
    names = {name: title for name, title in COLLECTIONS.items() if name != "adi" or settings.quick}
    names = {name: title for name, title in names.items() if not settings.quick or name == "adi"}
    if not all((SHARED_DATA / name).is_dir() for name in names):
        return skipped("the collections with judged queries are not here")
    if not encoder.is_installed():
        return skipped("needs topiarist[encoder]")
    found = Findings("MAP / nDCG@10 in percent, the best 1,000 hits looked at; the encoder is that of the extra.")
    results = {title: found_in(name) for name, title in names.items()}
    ways = list(next(iter(results.values())))
    found.table(
        ["", *results], [[way, *(judged_queries._cell(here[way]) for here in results.values())] for way in ways]
    )
    for title, here in results.items():
        for peer in (TWO, SUM):
            found.bar(f"{title}, MAP: three voices and {peer}", here[THREE][0], here[peer][0], least=True, form=".1f")
    found.values = {title: {way: list(value) for way, value in here.items()} for title, here in results.items()}
    return found.result()
