"""Collections with labels, for the benchmarks of trees: 20 Newsgroups, events of TDT2, topics of Reuters, abstracts.

All of them lie in ``../shared/data``; there is nothing bundled that could stand in for them.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.paths import COUNTS, SHARED_DATA
from topiarist import Corpus, Tree
from topiarist.counts import CountSettings
from topiarist.text.documents import Document

N_EVENTS, DOCUMENTS_OF_EVENT, EVENT_DOCUMENTS = 16, 44, 700
N_TOPICS = 16
COUNTED = COUNTS / "20newsgroups-trees.npz"  # where peers find the counts of ``newsgroups``

_QUOTED = re.compile(r"^\s*[>|:]|^In article|(writes|wrote|says):?\s*$")
_SUBJECT = re.compile(r"^Subject:\s*(?:re:)?\s*(.*)$", re.MULTILINE | re.IGNORECASE)


class Sample(NamedTuple):
    """Counts, and the label of each document."""

    counts: Any
    labels: np.ndarray


def missing(*names: str) -> str:
    """Return which of the collections are not here, in words; nothing when all are."""
    absent = [name for name in names if not (SHARED_DATA / name).is_dir()]
    return f"needs {', '.join(f'../shared/data/{name}' for name in absent)}" if absent else ""


def newsgroups() -> Corpus:
    """Count 20 Newsgroups: subject and body without quotations, English stop words removed; reads the raw texts."""
    documents = (
        Document(record["id"], without_quotations(record["text"]), labels=(record["label"],))
        for record in _records("20newsgroups")
    )
    return Corpus.from_documents(documents, CountSettings(stop_words="en"), keep_texts=False)


@cache
def newsgroups15() -> tuple[Tree, Sample]:
    """Count the 15 groups of the HPLSA paper, as it did: headers kept, every token with a letter, nothing filtered.

    The tree has a root, five subjects and the groups; labels are names of groups.
    """
    hierarchy = json.loads((SHARED_DATA / "20newsgroups" / "hierarchy15.json").read_text(encoding="utf-8"))
    tree = Tree.from_paths([("all", subject, group) for subject, groups in hierarchy.items() for group in groups])
    wanted = {group for groups in hierarchy.values() for group in groups}
    records = [record for record in _records("20newsgroups") if record["label"] in wanted]
    counter = CountVectorizer(token_pattern=r"(?u)\w*[^\W\d_]\w*", dtype=np.float32)
    counts = sparse.csr_array(counter.fit_transform(record["text"] for record in records))
    return tree, Sample(counts, np.array([record["label"] for record in records]))


@cache
def all_newsgroups() -> tuple[Tree, Sample]:
    """Count all 20 groups the same way; the tree follows the first part of their names."""
    records = list(_records("20newsgroups"))
    labels = np.array([record["label"] for record in records])
    counter = CountVectorizer(token_pattern=r"(?u)\w*[^\W\d_]\w*", dtype=np.float32)
    counts = sparse.csr_array(counter.fit_transform(record["text"] for record in records))
    tree = Tree.from_paths([("all", name.split(".")[0], name) for name in sorted(set(labels))])
    return tree, Sample(counts, labels)


def without_quotations(message: str) -> str:
    """Return the subject and the body of a message, without what it quotes from others."""
    head, _, body = message.partition("\n\n")
    lines = [line for line in body.split("\n") if not _QUOTED.search(line)]
    return " ".join(_SUBJECT.findall(head)) + "\n" + "\n".join(lines)


def abstracts(name: str) -> Corpus:
    """Count a collection of arXiv abstracts, with every word of at least three documents."""
    documents = (Document(record["id"], record["text"], labels=(record["label"],)) for record in _records(name))
    return Corpus.from_documents(documents, CountSettings())


def events(seed: int, *, smallest: bool = False) -> Sample:
    """Draw 700 documents of 16 events of TDT2: 44 of each of 16 random events, or any of the 16 smallest events."""
    counts, labels = _tdt2()
    rng = np.random.default_rng(seed)
    names, sizes = np.unique(labels, return_counts=True)
    if smallest:
        chosen = names[np.argsort(sizes, kind="stable")[:N_EVENTS]]
        rows = rng.choice(np.flatnonzero(np.isin(labels, chosen)), EVENT_DOCUMENTS, replace=False)
    else:
        chosen = rng.choice(names, N_EVENTS, replace=False)
        rows = np.concatenate([_some(rng, labels == name, DOCUMENTS_OF_EVENT) for name in chosen])
        rows = rng.permutation(rows)[:EVENT_DOCUMENTS]
    drawn = sparse.csr_array(counts[rows])
    used = np.asarray((drawn > 0).sum(axis=0)).ravel() >= 2
    return Sample(sparse.csr_array(drawn[:, used]), labels[rows])


def reuters(seed: int, most: int | None = None) -> Sample:
    """Take the documents of the 16 topics of Reuters that most documents have as their only one; ``most`` of each."""
    records = [record for record in _records("reuters21578") if len(record["labels"]) == 1]
    labels = np.array([record["labels"][0] for record in records])
    chosen = [name for name, _ in Counter(labels.tolist()).most_common(N_TOPICS)]
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.concatenate([_some(rng, labels == name, most) for name in chosen]))
    documents = [Document(records[row]["id"], records[row]["text"]) for row in rows]
    return Sample(Corpus.from_documents(documents, CountSettings(stop_words="en")).counts, labels[rows])


def _some(rng: np.random.Generator, which: np.ndarray, most: int | None) -> np.ndarray:
    rows = np.flatnonzero(which)
    return rng.choice(rows, min(len(rows), most or len(rows)), replace=False)


@cache
def _tdt2() -> tuple[Any, np.ndarray]:
    counts = sparse.load_npz(SHARED_DATA / "tdt2" / "counts.npz").astype(np.float32)
    with gzip.open(SHARED_DATA / "tdt2" / "labels.jsonl.gz", "rt", encoding="utf-8") as lines:
        return counts, np.array([json.loads(line)["label"] for line in lines])


def _records(name: str) -> Iterator[dict]:
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
