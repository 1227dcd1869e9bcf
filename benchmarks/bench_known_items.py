"""Does a user who types the title of a document find it first? Titles of four collections, taken out of the texts.

``python -m benchmarks.run known_items``. Only titles of four or more words that one document has are asked. Replies are
not asked. A figure is the mean reciprocal rank of the document in the list that ``find`` shows.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.bench_find_default import Peers, _lines, listed
from benchmarks.findings import Findings, skipped
from benchmarks.paths import SHARED_DATA
from benchmarks.settings import Settings
from topiarist.collection.collection import Collection
from topiarist.text.documents import Document

COLLECTIONS = {"cisi": "CISI", "arxiv-demo": "arXiv", "reuters21578": "Reuters", "20newsgroups": "20 Newsgroups"}
MAX_DOCUMENTS, N_TITLES, MIN_WORDS = (
    6000,
    500,
    20,
)  # documents of a collection, titles, words of a text without its title
DEPTH = 100  # hits that are looked at
OURS, BM25, STOPPED = "topiarist, default", "BM25, stems", "BM25, stems, stop list"


def split_title(entry: dict) -> tuple[str, str]:
    """Return the title or subject of a document, and its text without it."""
    text = entry["text"]
    subject = re.search(r"^Subject: *(.*)\n", text, re.MULTILINE) if text.startswith("From: ") else None
    if subject:
        return subject[1].strip(), text[: subject.start()] + text[subject.end() :]
    title = entry.get("title") or text.partition("\n")[0]
    return (" ".join(title.split()), text[len(title) :].strip()) if text.startswith(title) else ("", text)


def choose_items(name: str, n_documents: int, n_titles: int) -> tuple[list[Document], dict[int, str]]:
    """Return documents without their titles, and titles by the row of their document."""
    pairs = [(str(entry["id"]), *split_title(entry)) for entry in _lines(name, "docs")]
    pairs = [pair for pair in pairs if len(pair[2].split()) >= MIN_WORDS]
    rng = np.random.default_rng(0)
    if len(pairs) > n_documents:
        pairs = [pairs[row] for row in sorted(rng.choice(len(pairs), n_documents, replace=False))]
    keys = [re.sub(r"\W+", " ", title.lower()).removeprefix("re ").strip() for _, title, _ in pairs]
    times = Counter(keys)
    rows = [
        row
        for row, (_, title, _) in enumerate(pairs)
        if times[keys[row]] == 1 and len(keys[row].split()) >= 4 and not title.lower().startswith("re:")
    ]
    chosen = sorted(rng.choice(rows, min(n_titles, len(rows)), replace=False).tolist())
    return [Document(id, text) for id, _, text in pairs], {row: pairs[row][1] for row in chosen}


def reciprocal_rank(rows: object, row: int) -> float:
    """Return the reciprocal rank of a row in percent; 0 beyond ``DEPTH``."""
    places = np.flatnonzero(np.asarray(rows)[:DEPTH] == row)
    return 100 / (int(places[0]) + 1) if len(places) else 0.0


def find_items(name: str, quick: bool) -> dict[str, float]:
    """Return the mean reciprocal rank of each way."""
    documents, titles = choose_items(name, 1500 if quick else MAX_DOCUMENTS, 100 if quick else N_TITLES)
    texts = [document.text for document in documents]
    peers = {BM25: Peers(texts, stopped=False), STOPPED: Peers(texts, stopped=True)}
    ranks: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Collection.grow(documents, Path(folder) / name, n_threads=1) as collection,
    ):
        for row, title in titles.items():
            ranks.setdefault(OURS, []).append(reciprocal_rank(listed(collection, title), row))
            for way, peer in peers.items():
                order = np.argsort(-peer.word_scores(title), kind="stable")
                ranks.setdefault(way, []).append(reciprocal_rank(order, row))
    return {way: float(np.mean(values)) for way, values in ranks.items()}


def pieces(settings: Settings) -> list[tuple]:
    """Return the collections that are installed."""
    names = settings.of_collections(name for name in COLLECTIONS if not settings.quick or name == "cisi")
    return [(name, settings.quick) for name in names if (SHARED_DATA / name).is_dir()]


def measure(piece: tuple) -> dict:
    """Grow, ask for titles, compare."""
    return find_items(*piece)


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """Return the table of mean reciprocal ranks, and the bars."""
    if not measured:
        return skipped("the collections with titles are not installed")
    found = Findings(
        f"Mean reciprocal rank in percent of the document whose title is asked, at most {N_TITLES} titles among"
        f" {MAX_DOCUMENTS:,} documents. The title is taken out of the text. BM25 is over Snowball stems."
    )
    results = {COLLECTIONS[piece[0]]: figures for piece, figures in measured}
    table = [[way, *(f"{figures[way]:.1f}" for figures in results.values())] for way in (OURS, BM25, STOPPED)]
    found.table(["", *results], table)
    for title, figures in results.items():
        best = max(figures[BM25], figures[STOPPED])
        found.verdict(
            f"{title}: default ≥ BM25", f"{figures[OURS]:.1f}", f"≥ {best:.1f}", met=figures[OURS] >= best - 0.05
        )
    found.values = results
    return found.result()
