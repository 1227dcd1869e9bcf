"""Do vectors beside words make better trees? Titles, abstracts and whole texts, with ``topiarist[encoder]``.

Agreement with true classes (NMI) of the tree by default, with vectors and without, beside k-means on the same vectors
at the true number of classes; and what a pass of EM takes with them, in the dimensions in which a tree grows. Of whole
texts only the beginnings are encoded. Vectors are kept in ``bench-cache/vectors``.
"""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import labelled
from benchmarks.findings import Findings, skipped
from benchmarks.paths import CACHE
from benchmarks.settings import Settings

TITLES, ABSTRACTS = ("20newsgroups", "reuters21578", "arxiv-demo"), ("arxiv-demo",)
TEXTS, N_TEXTS, LETTERS = ("20newsgroups", "reuters21578", "ohsumed23"), 2_000, 320  # TDT2 is counts alone
LEAST = {"20newsgroups": 0.47, "reuters21578": 0.45}
ABOVE, BELOW, SLOWER = 0.02, 0.01, 1.3
QUICK, MANY = 1_000, 3_000  # documents of a quick run, and of abstracts
SEEDS, ROUNDS = 3, 20  # of k-means, and of timing
_SUBJECT = re.compile(r"^Subject:\s*(?:Re:\s*)*(.*)$", re.MULTILINE | re.IGNORECASE)


class Titled(NamedTuple):
    """Texts, their counts, their vectors and their classes."""

    counts: Any
    vectors: np.ndarray
    labels: np.ndarray


def main(settings: Settings) -> dict:
    """Grow trees of titles and of abstracts, with vectors and without."""
    from topiarist.counts.embeddings.encoder import is_installed

    if reason := labelled.missing(*TITLES):
        return skipped(reason)
    if not is_installed():
        return skipped("needs topiarist[encoder]")
    found = Findings("CAM by default, one seed, with the vectors of all-MiniLM-L6-v2 (8 bits) and without.")
    for name in settings.chosen(TITLES):
        _compared(found, f"{name}, titles", sample(name, QUICK if settings.quick else None, titles=True))
    for name in () if settings.quick else settings.chosen(ABSTRACTS):
        _compared(found, f"{name}, abstracts", sample(name, MANY, titles=False))
    for name in () if settings.quick else settings.chosen(TEXTS):
        _compared(found, f"{name}, texts", beginnings(name, whole=True))
    return found.result()


def beginnings(name: str, *, whole: bool) -> Titled:
    """Texts of which the first letters are encoded; the words counted are those of all, or of the same letters."""
    picked, rows, labels = _picked(name, N_TEXTS)
    begun = [_body(name, text)[:LETTERS] for text in picked]
    vectors = _encoded(f"{name}-beginnings-{len(rows)}", begun)
    return Titled(_counted(rows, picked if whole else begun), vectors, labels)


def _body(name: str, text: str) -> str:
    return text.partition("\n\n")[2] if name == "20newsgroups" else text


def _picked(name: str, number: int | None, *, titles: bool = False) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts of documents that have a label, some of them by chance; their numbers, and the labels."""
    texts, labels = [], []
    for record in labelled._records(name):
        label = record.get("label") or next(iter(record.get("labels", [])), "")
        if label:
            texts.append(_title(name, record) if titles else record["text"])
            labels.append(label)
    rows = np.sort(np.random.default_rng(0).permutation(len(texts))[:number])
    return [texts[row] for row in rows], rows, np.array(labels)[rows]


def _counted(rows: np.ndarray, texts: list[str]) -> Any:
    """Counts as the program makes them."""
    from topiarist import Corpus, set_general_words_aside
    from topiarist.counts import CountSettings
    from topiarist.text.documents import Document

    documents = [Document(str(row), text) for row, text in zip(rows, texts, strict=True)]
    special, _ = set_general_words_aside(Corpus.from_documents(documents, CountSettings()))
    return special.counts


def sample(name: str, number: int | None, *, titles: bool) -> Titled:
    """Texts of documents that have a label, some of them by chance, counted as the program does."""
    chosen, rows, labels = _picked(name, number, titles=titles)
    kept = f"{name}-{'titles' if titles else 'texts'}-{len(rows)}"
    return Titled(_counted(rows, chosen), _encoded(kept, chosen), labels)


def _title(name: str, record: dict) -> str:
    if name != "20newsgroups":
        return record.get("title") or record["text"].split("\n")[0]
    subject = _SUBJECT.search(record["text"])
    return subject.group(1) if subject else ""


def _encoded(kept: str, texts: list[str]) -> np.ndarray:
    from topiarist.counts.embeddings.encoder import Encoder

    path = CACHE / "vectors" / f"{kept}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, Encoder.here().encoded(texts).astype(np.float16))
    return np.load(path)


def _compared(found: Findings, what: str, data: Titled) -> None:
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score

    from topiarist import CAM

    number, rows = len(set(data.labels)), data.vectors.astype(np.float32)
    means = [KMeans(number, n_init=1, random_state=seed).fit_predict(rows) for seed in range(SEEDS)]
    of_vectors = float(np.mean([normalized_mutual_info_score(data.labels, one) for one in means]))
    figures = {"k-means on the vectors, true number": (of_vectors, number, 0.0)}
    for told, vectors in (("words alone", None), ("words and vectors", data.vectors)):
        began = time.perf_counter()
        model = CAM(random_state=0).fit(data.counts, vectors=vectors)
        agreed = float(normalized_mutual_info_score(data.labels, model.labels_))
        figures[told] = (agreed, len(model.tree_.leaves), time.perf_counter() - began)
    slower = _slower(model, data)
    found.table(
        [what, "NMI", "groups", "seconds"],
        [[told, f"{one[0]:.3f}", one[1], f"{one[2]:.0f}"] for told, one in figures.items()],
    )
    best = max(of_vectors, figures["words alone"][0])
    joint = figures["words and vectors"][0]
    least = max(LEAST.get(what.split(",")[0], 0.0), of_vectors + ABOVE) if "titles" in what else of_vectors
    if "texts" not in what:
        found.bar(f"{what}: NMI", joint, round(least, 3), least=True)
    found.bar(f"{what}: NMI, the better of both", joint, round(best - BELOW, 3), least=True)
    found.bar(f"{what}: a pass with vectors, times one with words alone", slower, SLOWER, form=".2f")
    found.values[what] = {told: list(one) for told, one in figures.items()} | {"slower": slower}


def _slower(model: Any, data: Titled) -> float:
    """How many times as long an E-step over all documents takes with vectors, in the space in which a tree grows."""
    from topiarist.counts.vectors import check_vectors, leading_part, widened
    from topiarist.estimators.common import options
    from topiarist.estimators.tree.cam import LEADING
    from topiarist.models import cam
    from topiarist.models.directions import Directions, sums_of

    with options.running(model) as engine:
        joint, shared = model._model(engine)
        shard = engine.shard(data.counts, np.float32, len(shared.cluster_prior))
        vectors = leading_part(widened(check_vectors(data.vectors, len(data.labels))), LEADING)
        weighed = Directions.of(vectors, model.concentration_ or 1.0)
        shared = cam.Params(
            np.ascontiguousarray(shared.word_given_node, np.float32), shared.node_given_cluster, shared.cluster_prior,
            weighed.means(sums_of(engine, model.cluster_given_doc_, vectors)),
        )  # fmt: skip
        step = cam.Cam(engine, joint.path_mask, "ml", joined=weighed)
        blocks = cam.Block(shard), cam.Block(shard, None, vectors)
        times = np.full((ROUNDS, 2), np.inf)
        for at in np.ndindex(times.shape):  # by turns, in seconds of the processor: others use the machine, too
            began = time.process_time()
            step.e_step(shared, blocks[at[1]])
            times[at] = time.process_time() - began
        alone, both = times.min(axis=0)
        return float(both / alone)
