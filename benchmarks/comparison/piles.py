"""The documents that every system is given: texts, counts, vectors and labels, in a folder that any interpreter reads.

Counts are those of our program, without the general words that it sets aside: that is a help to the peers, which have
no such step. Vectors are those of all-MiniLM-L6-v2 from the package of ``topiarist[encoder]``.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.paths import CACHE

FOLDER = CACHE / "comparison"
DOCUMENTS, MANY = 3_000, 20_000
BARE = "20newsgroups-bare"
NAMES = ("20newsgroups", BARE, "arxiv-demo", "reuters21578")
LABELLED = tuple(name for name in NAMES if name != BARE)
TITLES = {
    "20newsgroups": "20 Newsgroups",
    BARE: "20 Newsgroups, bare",
    "arxiv-demo": "arXiv abstracts",
    "reuters21578": "Reuters-21578",
    "ohsumed23": "OHSUMED",
}
ABSTRACTS, YEAR = "arxiv-demo", "arxiv-2011"  # for documents a second: few, and many
ENCODING_THREADS = 2


@dataclass(frozen=True)
class Pile:
    """A folder with documents; what is not asked for is not read."""

    folder: Path

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    @property
    def texts(self) -> list[str]:
        """The texts as they were read."""
        return self._json("texts")

    @property
    def words(self) -> list[str]:
        """The word of each column."""
        return self._json("words")

    @property
    def fine(self) -> np.ndarray:
        """The class of each document."""
        return np.array(self._json("labels")["fine"])

    @property
    def coarse(self) -> np.ndarray:
        """The family of the class of each document."""
        return np.array(self._json("labels")["coarse"])

    @property
    def every(self) -> list[list[str]]:
        """All classes of each document."""
        return self._json("labels")["every"]

    @property
    def encoding_seconds(self) -> float:
        """Processor seconds that the vectors took."""
        return float(self._json("encoding")["seconds"])

    @property
    def counts(self) -> Any:
        """Documents by words."""
        return sparse.csr_array(sparse.load_npz(self.folder / "counts.npz"))

    @property
    def vectors(self) -> np.ndarray:
        """A row for each document."""
        return np.load(self.folder / "vectors.npy")


def pile(name: str, number: int) -> Pile:
    """The pile of a collection with so many documents that have a label; made if it is not there."""
    made = Pile(FOLDER / f"{name}-{number}")
    if not (made.folder / "labels.json").exists():
        _make(made.folder, name, number)
    return made


def encode(documents: Pile) -> None:
    """Make the vectors of a pile, if they are not there: the dearest step of all."""
    from topiarist.counts.embeddings.encoder import Encoder

    if (documents.folder / "encoding.json").exists():
        return
    encoder, texts = Encoder.create(ENCODING_THREADS), documents.texts
    encoder.encode(texts[:2])
    begin = time.process_time()
    np.save(documents.folder / "vectors.npy", encoder.encode(texts).astype(np.float32))
    body = {"seconds": time.process_time() - begin}
    (documents.folder / "encoding.json").write_text(json.dumps(body), encoding="utf-8")


def _make(folder: Path, name: str, number: int) -> None:
    """By our own interpreter."""
    from benchmarks import labelled
    from benchmarks.bench_headings import FAMILIES
    from topiarist import Corpus, set_general_words_aside
    from topiarist.counts import CountSettings
    from topiarist.text.documents import Document

    source = name.removesuffix("-bare")
    texts, fine, coarse, every = [], [], [], []
    for record in labelled._records(source):
        labels = record.get("labels") or [record.get("label", "")]
        label = record.get("label") or next(iter(labels), "")
        text = _bare(record["text"]) if name == BARE else record["text"]
        if not label or not text.strip():
            continue
        texts.append(text)
        fine.append(label)
        coarse.append(record["paths"][0][1] if record.get("paths") else FAMILIES.get(source, str)(label))
        every.append(labels)
    rows = np.sort(np.random.default_rng(0).permutation(len(texts))[:number]).tolist()
    chosen = [texts[row] for row in rows]
    documents = [Document(str(row), text) for row, text in zip(rows, chosen, strict=True)]
    special, _ = set_general_words_aside(Corpus.from_documents(documents, CountSettings()))
    folder.mkdir(parents=True, exist_ok=True)
    sparse.save_npz(folder / "counts.npz", sparse.csr_matrix(special.counts))
    labels = {"fine": fine, "coarse": coarse, "every": every}
    chosen_labels = {kind: [own[row] for row in rows] for kind, own in labels.items()}
    for what, body in (("texts", chosen), ("words", list(special.vocabulary.words)), ("labels", chosen_labels)):
        (folder / f"{what}.json").write_text(json.dumps(body), encoding="utf-8")


def _bare(message: str) -> str:
    """A message without header, footer and quotations, by scikit-learn's own functions."""
    from sklearn.datasets import _twenty_newsgroups as news

    body = news.strip_newsgroup_header(message)
    return news.strip_newsgroup_footer(news.strip_newsgroup_quoting(body))
