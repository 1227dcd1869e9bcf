"""Is the upper tree one a person would draw, and are its names ones they would use? Trees as grown, and with headings.

No stop list, subject, body and headers as they are. Coarse labels: six families of 20 Newsgroups, archives of arXiv,
the kinds of Reuters' topics, the groups of OHSUMED; documents without a label count for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import combinations
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks import labelled
from benchmarks.findings import Findings, skipped
from benchmarks.settings import Settings

SEEDS, N_LEAVES, STARTS, N_WORDS = 3, 25, 3, 10
EVENTS, STORIES = (5, 10, 20, 30), 400
PURITY = {"20newsgroups": 0.68, "arxiv-demo": 0.63}
ABOVE_TODAY = 0.05
OF_WARD, NUMBERS, DIMENSIONS = 0.96, range(3, 13), 100
FIRST_LEVELS = ("arxiv-cluster", "arxiv-learn", "gnad10k", "thucnews-titles", "tdt2")  # of which only this is measured
WORDS = ("20newsgroups", "arxiv-demo", "reuters21578")  # where words and names have bars


class Labelled(NamedTuple):
    """A collection without its general words, and what its documents are about."""

    corpus: Any
    fine: np.ndarray
    coarse: np.ndarray
    has: np.ndarray  # whether a document has a label


def main(settings: Settings) -> dict:
    """Grow trees with and without headings, several seeds; compare with k-means and NMF."""
    names = ("20newsgroups", "arxiv-demo", "reuters21578", "ohsumed23")
    if reason := labelled.missing(*names, *FIRST_LEVELS):
        return skipped(reason)
    seeds = range(1 if settings.quick else SEEDS)
    found = Findings(
        f"CAM, {len(seeds)} seeds: with {N_LEAVES} leaves as grown and with headings; and by default, where held-out "
        "words choose how many leaves there are."
    )
    for name in settings.chosen(names[-1:] if settings.quick else names):
        data = collection(name)
        rows = [_compared(name, data, seed) for seed in seeds]
        _tell(found, name, rows, data)
        found.values[name] = [{key: row[key] for key in row if key != "first"} for row in rows]
    levels = {name: rows[0] for name, rows in found.values.items()}
    for name in () if settings.quick else settings.chosen(FIRST_LEVELS):
        levels[name] = _first_level_by_default(name)
    columns = ("merged topics", "merged ami", "first topics", "first ami", "ward", "ward topics", "k-means ami")
    found.table(
        ["collection, first seed", *columns, "purity"],
        [
            [name, *(f"{row[key]:.3g}" for key in columns), f"{row['purity by default']:.3g}"]
            for name, row in levels.items()
        ],
    )
    if levels:
        mean, best = (float(np.mean([row[key] for row in levels.values()])) for key in ("first ami", "ward"))
        found.bar("AMI of the first level, mean over collections", mean, OF_WARD * best, least=True)
    for number in EVENTS[:1] if settings.quick else EVENTS:
        _tell_events(found, number, seeds)
    return found.result()


def collection(name: str) -> Labelled:
    """Count a collection as the program does."""
    from topiarist import Corpus, set_general_words_aside
    from topiarist.counts import CountSettings
    from topiarist.text.documents import Document

    if name == "tdt2":  # counts without texts
        counts, events = labelled._tdt2()
        return Labelled(SimpleNamespace(counts=counts), events, events, events != "")
    documents, fine, coarse = [], [], []
    for record in labelled._records(name):
        documents.append(Document(record["id"], record["text"], title=record.get("title", "")))
        label = record.get("label") or next(iter(record.get("labels", [])), "")
        fine.append(label)
        coarse.append(record["paths"][0][1] if record.get("paths") else FAMILIES.get(name, str)(label))
    special, _ = set_general_words_aside(Corpus.from_documents(documents, CountSettings()))
    labels = np.array(coarse)
    return Labelled(special, np.array(fine), labels, labels != "")


def _family(group: str) -> str:
    """Six families of the twenty groups."""
    if group.startswith("talk.politics"):
        return "politics"
    return "religion" if "religion" in group or group == "alt.atheism" else group.split(".")[0]


FAMILIES: dict[str, Callable[[str], str]] = {"20newsgroups": _family, "arxiv-demo": lambda label: label.split(".")[0]}


def _compared(name: str, data: Labelled, seed: int) -> dict:
    from sklearn.metrics import normalized_mutual_info_score as nmi

    from topiarist import CAM
    from topiarist.metrics import dendrogram_purity, perplexity

    row: dict[str, Any] = {}
    for way, headings in (("before", False), ("after", True)):
        start = time.perf_counter()
        model = CAM(N_LEAVES, headings=headings, random_state=seed).fit(data.corpus.counts)
        row[f"seconds {way}"] = time.perf_counter() - start
        tree, labels = model.tree_, model.labels_[data.has]
        row[f"purity {way}"] = dendrogram_purity(tree, np.array(tree.leaves)[labels], data.coarse[data.has])
        row[f"nmi {way}"] = float(nmi(data.fine[data.has], labels))
        row[f"perplexity {way}"] = _heldout(model, data, perplexity)
    start = time.perf_counter()
    model = CAM(random_state=seed).fit(data.corpus.counts)
    row["seconds by default"] = time.perf_counter() - start
    tree, labels = model.tree_, model.labels_[data.has]
    row["leaves by default"] = float(len(tree.leaves))
    row["purity by default"] = dendrogram_purity(tree, np.array(tree.leaves)[labels], data.coarse[data.has])
    row |= _first_level(model, data)
    row["most children"] = max(len(tree.children(node)) for node in range(len(tree)))
    row["headings"] = len(tree) - len(tree.leaves)
    row |= _words(name, model, data)
    print(
        f"[headings] {name} seed {seed}: " + ", ".join(f"{k} {v:.3f}" for k, v in row.items() if k != "first"),
        flush=True,
    )
    return row


def _first_level_by_default(name: str) -> dict:
    """Return the first level and the purity of a tree that grows by default."""
    from topiarist import CAM
    from topiarist.metrics import dendrogram_purity

    data = collection(name)
    model = CAM(random_state=0).fit(data.corpus.counts)
    homes = np.array(model.tree_.leaves)[model.labels_[data.has]]
    row = _first_level(model, data) | {
        "purity by default": dendrogram_purity(model.tree_, homes, data.coarse[data.has])
    }
    print(f"[headings] {name}: " + ", ".join(f"{k} {v:.3f}" for k, v in row.items() if k != "first"), flush=True)
    return row


def _first_level(model: Any, data: Labelled) -> dict:
    """Return the first level of the merges, and the one that people see, against labels and k-means."""
    from sklearn.metrics import adjusted_mutual_info_score as ami
    from sklearn.metrics import normalized_mutual_info_score as nmi

    from topiarist.trees.edits import collapse
    from topiarist.trees.views import select_large_headings

    tree, labels, row = model.tree_, data.coarse[data.has], dict[str, Any]()
    sizes = np.asarray(model.cluster_given_doc_.sum(axis=0)).ravel() @ tree.path_mask(tree.leaves)
    seen = collapse(tree, select_large_headings(tree, sizes.tolist()))
    level = [seen.origin[place] for place in seen.tree.children(seen.tree.root)]
    for way, nodes in (("merged", tree.children(tree.root)), ("first", level)):
        row[way] = _at(tree, nodes, model.labels_)
        row[f"{way} topics"] = len(nodes)
        row[f"{way} nmi"] = float(nmi(labels, row[way][data.has]))
        row[f"{way} ami"] = float(ami(labels, row[way][data.has]))
    del row["merged"]
    row["k-means"] = float(nmi(labels, _kmeans(data.corpus.counts, len(level))[data.has]))
    return row | _rivals(model, data, len(level))


def _rivals(model: Any, data: Labelled, number: int) -> dict:
    """Return the AMI of k-means with as many groups, and of the best number of groups of Ward over the leaves."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_mutual_info_score as ami

    from topiarist.counts import latent_space

    labels = data.coarse[data.has]
    vectors = latent_space(data.corpus.counts, DIMENSIONS).doc_vectors
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    clusters = KMeans(number, n_init=STARTS, random_state=0).fit(vectors).labels_
    sizes = np.bincount(model.labels_, minlength=len(model.tree_.leaves))
    sums = np.zeros((len(sizes), vectors.shape[1]))
    np.add.at(sums, model.labels_, vectors)
    levels = {
        len(set(groups.tolist())): float(ami(labels, groups[model.labels_][data.has]))
        for groups in _weighted_ward(sums / np.maximum(sizes, 1)[:, None], np.maximum(sizes, 0.01))
    }
    best = max(levels, key=levels.__getitem__)
    return {"k-means ami": float(ami(labels, clusters[data.has])), "ward": levels[best], "ward topics": best}


def _weighted_ward(centres: np.ndarray, weights: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the group of each point, for the numbers of groups to compare; the cheapest two are joined first."""
    groups = np.arange(len(centres))
    while len(live := np.unique(groups)) >= NUMBERS.start:
        if len(live) in NUMBERS:
            yield groups.copy()
        squares = ((centres[live, None] - centres[live]) ** 2).sum(axis=-1)
        cost = squares * (weights[live, None] * weights[live] / (weights[live, None] + weights[live]))
        cost[np.tril_indices(len(live))] = np.inf
        first, second = live[list(divmod(int(cost.argmin()), len(live)))]
        total = weights[first] + weights[second]
        centres[first] = (weights[first] * centres[first] + weights[second] * centres[second]) / total
        weights[first], groups[groups == second] = total, first


def _heldout(model: Any, data: Labelled, perplexity: Callable[..., float]) -> float:
    """Perplexity by document completion of the leaves' words, on the documents themselves."""

    class Leaves:
        components_ = model.node_given_cluster_ @ model.word_given_node_
        transform = staticmethod(model.transform)

    return perplexity(Leaves(), data.corpus.counts)


def _words(name: str, model: Any, data: Labelled) -> dict:
    from topiarist import metrics
    from topiarist.collection.describe.nodes import describe_nodes, visible_tree
    from topiarist.estimators.tree.fitted_tree import compute_shares, get_tree_model
    from topiarist.trees.naming.presence import compute_presence, select_describing_words

    tree, corpus = model.tree_, data.corpus
    start = time.perf_counter()
    shares = compute_shares(model, corpus.counts)
    seen = visible_tree(tree, describe_nodes(get_tree_model(model), shares, corpus, n_words=N_WORDS))
    row: dict[str, Any] = {"seconds telling": time.perf_counter() - start}
    presence = compute_presence(tree, tree.leaves, shares, corpus.counts)
    columns: list[Any] = select_describing_words(presence, N_WORDS, counts=corpus.counts, words=corpus.vocabulary.words)
    columns[tree.root] = []
    below = [columns[node] for node in range(len(tree)) if node != tree.root and len(columns[node]) > 1]
    row["without words"] = len(tree) - 1 - len(below)
    row["npmi"] = float(metrics.npmi_coherence(below, corpus.counts).mean())
    row["siblings differ"] = metrics.sibling_diversity(tree, columns)
    row["children differ"] = metrics.parent_child_diversity(tree, columns)
    row["children belong"] = metrics.parent_child_coherence(tree, columns, corpus.counts)
    fitted = get_tree_model(model)
    spoken = tree.path_mask(fitted.class_nodes).T @ (
        fitted.class_prior[:, None] * (fitted.node_given_class @ fitted.word_given_node)
    )
    spoken /= spoken.sum(axis=1, keepdims=True)
    row["exam"] = metrics.name_exam(seen.tree, seen.tree.names, spoken[list(seen.origin)], corpus.vocabulary.words)
    if name in WORDS:
        row["nmf"] = _nmf(corpus.counts, len(below))
    return row


def _nmf(counts: Any, number: int) -> float:
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    from topiarist.metrics import npmi_coherence

    weighted = TfidfTransformer().fit_transform(counts.astype(np.float64))
    parts = NMF(number, init="nndsvd", max_iter=100, random_state=0).fit(weighted).components_
    return float(npmi_coherence(parts, counts, top_n=N_WORDS).mean())


def _kmeans(counts: Any, number: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    from topiarist.estimators.tree.preparation import compute_document_vectors

    labels: np.ndarray = KMeans(number, n_init=STARTS, random_state=0).fit(compute_document_vectors(counts, 0)).labels_
    return labels


def _at(tree: Any, nodes: Any, labels: np.ndarray) -> np.ndarray:
    """The node of a view that each document is under."""
    place = {leaf: number for number, node in enumerate(nodes) for leaf in tree.leaves_under(node)}
    return np.array([place[leaf] for leaf in tree.leaves])[labels]


def _tell(found: Findings, name: str, rows: list[dict], data: Labelled) -> None:
    from sklearn.metrics import adjusted_rand_score

    mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key != "first"}
    found.table(["figure", name], [[key, f"{value:.3f}"] for key, value in mean.items()])
    least = PURITY.get(name, mean["purity before"] + ABOVE_TODAY)
    found.bar(f"{name}: dendrogram purity by default", mean["purity by default"], least, least=True)
    found.bar(f"{name}: dendrogram purity with {N_LEAVES} leaves", mean["purity after"], least, least=True)
    found.bar(f"{name}: most children", max(row["most children"] for row in rows), 8, form="d")
    found.bar(f"{name}: topics of the first level", max(row["first topics"] for row in rows), 12, form="d")
    found.bar(f"{name}: AMI of the first level", mean["first ami"], mean["merged ami"], least=True)
    found.bar(f"{name}: NMI of the first level", mean["first nmi"], mean["k-means"], least=True)
    found.bar(f"{name}: NMI of the leaves", mean["nmi after"], mean["nmi before"] - 0.01, least=True)
    found.bar(f"{name}: perplexity", mean["perplexity after"], 1.005 * mean["perplexity before"], form=".1f")
    found.bar(f"{name}: exam of names", mean["exam"], 0.9, least=True)
    found.bar(f"{name}: siblings differ", mean["siblings differ"], 0.95, least=True)
    found.bar(f"{name}: children differ", mean["children differ"], 0.95, least=True)
    found.bar(f"{name}: children belong", mean["children belong"], 0.0, least=True)
    if "nmf" in mean:
        found.bar(f"{name}: coherence of ten words", mean["npmi"], mean["nmf"], least=True)
    if len(rows) > 1:
        pairs = [adjusted_rand_score(one["first"], other["first"]) for one, other in combinations(rows, 2)]
        found.bar(f"{name}: first level between seeds", float(np.mean(pairs)), 0.75, least=True)
        spread = max(row["headings"] for row in rows) - min(row["headings"] for row in rows)
        found.bar(f"{name}: spread of the number of headings", spread, 4, form="d")


def _tell_events(found: Findings, number: int, seeds: range) -> None:
    from sklearn.metrics import normalized_mutual_info_score as nmi

    from topiarist import CAM
    from topiarist.trees.growth.headings import compute_gains
    from topiarist.trees.views import select_views

    counts, events = _events(number)
    given = float(nmi(events, _kmeans(counts, number)))
    good = 0
    for seed in seeds:
        model = CAM(random_state=seed).fit(counts)
        tree = model.tree_
        gain = compute_gains(
            tree, tree.leaves, model.node_given_cluster_ @ model.word_given_node_, model.cluster_prior_
        )
        seen = list(_seen(tree, select_views(tree, gain), model.labels_, events, nmi))
        good += any(number <= size <= 1.5 * number and value >= 0.97 * given for size, value in seen)
        print(f"[headings] {number} events, seed {seed}: k-means {given:.3f}, views {seen}", flush=True)
    found.share(f"{number} events: a view has as many nodes and agrees as k-means does", good, len(seeds), len(seeds))


def _seen(tree: Any, shown: dict, labels: np.ndarray, events: np.ndarray, nmi: Any) -> Iterator[tuple[int, float]]:
    for nodes in shown.values():
        yield len(nodes), float(nmi(events, _at(tree, nodes, labels)))


def _events(number: int) -> tuple[Any, np.ndarray]:
    counts, labels = labelled._tdt2()
    rng = np.random.default_rng(number)
    chosen = rng.choice(np.unique(labels), number, replace=False)
    rows = np.concatenate([rng.permutation(np.flatnonzero(labels == event))[:STORIES] for event in chosen])
    rows = rng.permutation(rows)
    drawn = sparse.csr_array(counts[rows])
    documents = np.asarray((drawn > 0).sum(axis=0)).ravel()
    return sparse.csr_array(drawn[:, (documents >= 3) & (documents <= len(rows) / 2)]), labels[rows]
