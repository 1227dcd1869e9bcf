"""Do vectors beside words make better trees? Titles, abstracts and whole texts, with ``topiarist[encoder]``.

``python -m benchmarks.run vectors [--collections arxiv-demo] [--draws 3] [--processes 16 --go-on]``. Agreement with
true classes of the tree by default, with vectors and without, means of three seeds; beside k-means at the true number
of classes on the same vectors, on the latent dimensions of the words, and on both; and what a pass of EM takes with
vectors, in the dimensions in which a tree grows. NMI grows with the number of groups by itself, so that one may win by
splitting; AMI, from which chance is taken out, does not (the bars are of NMI). Of whole texts only the beginnings are
encoded. Vectors are kept in ``bench-cache/vectors``. Every document is fitted; a collection sets exact copies aside
(of 18,846 subjects 10,591).
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
FORMER = {"20newsgroups": 0.11, "arxiv-demo": 0.31}  # NMI of titles by words alone, before anything was done for them
ABOVE, BELOW, SLOWER = 0.02, 0.01, 1.3
QUICK, MANY = 1_000, 3_000  # documents of a quick run, and of abstracts
SEEDS, ROUNDS = 3, 20  # of trees and k-means, and of timing
LATENT = 50  # dimensions of the words, for k-means
JOINT, WORDS, NEAR, LSI, BOTH = (
    "words and vectors", "words alone", "k-means on the vectors, true number", "k-means on latent dimensions of words",
    "k-means on both side by side",
)  # fmt: skip
_SUBJECT = re.compile(r"^Subject:\s*(?:Re:\s*)*(.*)$", re.MULTILINE | re.IGNORECASE)


class Titled(NamedTuple):
    """Texts, their counts, their vectors and their classes."""

    counts: Any
    vectors: np.ndarray
    labels: np.ndarray


def pieces(settings: Settings) -> list[tuple]:
    """What of a collection is looked at, how many documents, and a seed."""
    from topiarist.counts.embeddings.encoder import is_installed

    if labelled.missing(*TITLES) or not is_installed():
        return []
    wanted = [(name, "titles", QUICK if settings.quick else None) for name in settings.of_collections(TITLES)]
    if not settings.quick:
        wanted += [(name, "abstracts", MANY) for name in settings.of_collections(ABSTRACTS)]
        wanted += [(name, "texts", N_TEXTS) for name in settings.of_collections(TEXTS)]
    return [(*one, seed) for one in wanted for seed in range(1 if settings.quick else settings.draws or SEEDS)]


def measure(piece: tuple) -> dict:
    """Trees and k-means: NMI, AMI, groups and seconds of the processor of each; and a pass with vectors."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

    from topiarist import CAM
    from topiarist.counts.lsi import compute_document_directions

    name, what, number, seed = piece
    data = beginnings(name, whole=True) if what == "texts" else sample(name, number, titles=what == "titles")
    found: dict[str, Any] = {}

    def kept(told: str, labels: Any, groups: int, began: float) -> None:
        seconds, judges = time.process_time() - began, (normalized_mutual_info_score, adjusted_mutual_info_score)
        found[told] = [*(float(judge(data.labels, labels)) for judge in judges), groups, seconds]

    classes, latent = len(set(data.labels)), compute_document_directions(data.counts, LATENT, seed)
    near = data.vectors.astype(np.float32)
    for told, points in ((NEAR, near), (LSI, latent), (BOTH, np.hstack([near, latent]))):
        began = time.process_time()
        kept(told, KMeans(classes, n_init=1, random_state=seed).fit_predict(points), classes, began)
    for told, vectors in ((WORDS, None), (JOINT, data.vectors)):
        began = time.process_time()
        model = CAM(random_state=seed).fit(data.counts, vectors=vectors)
        kept(told, model.labels_, len(model.tree_.leaves), began)
    return found | {"slower": _slower(model, data) if seed == 0 else None}


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """A table for each kind of text, and the bars."""
    if not measured:
        return skipped("needs topiarist[encoder] and ../shared/data")
    found = Findings("CAM by default with the vectors of all-MiniLM-L6-v2 (8 bits) and without: means of seeds.")
    seeds: dict[tuple[str, str], list[dict]] = {}
    for (name, what, *_), figures in measured:
        seeds.setdefault((name, what), []).append(figures)
    for (name, what), each in seeds.items():
        _compared(found, name, what, each)
    return found.result()


def _compared(found: Findings, name: str, what: str, each: list[dict]) -> None:
    rows = {told: np.array([one[told] for one in each]) for told in (NEAR, LSI, BOTH, WORDS, JOINT)}
    mean = {told: float(figures[:, 0].mean()) for told, figures in rows.items()}
    found.table(
        [f"{name}, {what}", "NMI", "of each seed", "AMI", "groups", "seconds of the processor"],
        [
            [told, f"{mean[told]:.3f}", ", ".join(f"{one:.3f}" for one in figures[:, 0]),
             f"{figures[:, 1].mean():.3f}", ", ".join(f"{one:.0f}" for one in figures[:, 2]),
             f"{figures[:, 3].mean():.0f}"]
            for told, figures in rows.items()
        ],
    )  # fmt: skip
    title = f"{name}, {what}"
    if what == "titles":
        found.bar(f"{title}: NMI", mean[JOINT], round(max(LEAST.get(name, 0.0), mean[NEAR] + ABOVE), 3), least=True)
        found.bar(f"{title}: NMI of words alone", mean[WORDS], round(mean[LSI], 3), least=True)
        if name in FORMER:
            found.bar(f"{title}: NMI of words alone, twice the former", mean[WORDS], 2 * FORMER[name], least=True)
    elif what == "abstracts":
        found.bar(f"{title}: NMI", mean[JOINT], round(max(mean[NEAR], mean[BOTH]), 3), least=True)
        found.bar(f"{title}: NMI, above words alone", mean[JOINT], round(mean[WORDS] + 0.03, 3), least=True)
    found.bar(
        f"{title}: NMI, the better of both", mean[JOINT], round(max(mean[NEAR], mean[WORDS]) - BELOW, 3), least=True
    )
    slower = next((one["slower"] for one in each if one["slower"]), None)
    if slower:
        found.bar(f"{title}: a pass with vectors, times one with words alone", slower, SLOWER, form=".2f")
    found.values[title] = mean


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
        np.save(path, Encoder.create().encode(texts).astype(np.float16))
    return np.load(path)


def _slower(model: Any, data: Titled) -> float:
    """How many times as long an E-step over all documents takes with vectors, in the space in which a tree grows."""
    from topiarist.counts.vectors import check_vectors, project_to_leading_axes, widen_directions
    from topiarist.estimators.common import options
    from topiarist.estimators.tree.cam import GROWTH_DIMENSIONS
    from topiarist.models import cam
    from topiarist.models.directions import Directions, sum_vectors

    with options.open_engine(model) as engine:
        joint, shared = model._model(engine)
        shard = engine.shard(data.counts, np.float32, len(shared.cluster_prior))
        vectors = project_to_leading_axes(
            widen_directions(check_vectors(data.vectors, len(data.labels))), GROWTH_DIMENSIONS
        )
        weighed = Directions.from_vectors(vectors, model.concentration_ or 1.0)
        shared = cam.Params(
            np.ascontiguousarray(shared.word_given_node, np.float32), shared.node_given_cluster, shared.cluster_prior,
            weighed.means(sum_vectors(engine, model.cluster_given_doc_, vectors)),
        )  # fmt: skip
        step = cam.Cam(engine, joint.path_mask, "ml", vector_model=weighed)
        blocks = cam.Block(shard), cam.Block(shard, None, vectors)
        times = np.full((ROUNDS, 2), np.inf)
        for at in np.ndindex(times.shape):  # by turns, in seconds of the processor: others use the machine, too
            began = time.process_time()
            step.e_step(shared, blocks[at[1]])
            times[at] = time.process_time() - began
        alone, both = times.min(axis=0)
        return float(both / alone)
