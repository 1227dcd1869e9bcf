"""Topic models of others on the same counts, with their defaults where these end: each function prepares, and returns
what is timed.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from benchmarks.comparison.answers import N_WORDS, Fit, of_components, of_tree
from benchmarks.comparison.piles import Pile

SWEEPS, TREE_SWEEPS, PASSES = 300, 200, 10
ALPHA, ETA = 0.1, 0.01
UPPER, LOWER = 5, 20


def sklearn_lda(pile: Pile, number: int) -> Fit:
    """Batches, twenty passes."""
    from sklearn.decomposition import LatentDirichletAllocation

    counts = pile.counts
    model = LatentDirichletAllocation(number, learning_method="batch", max_iter=20, n_jobs=1, random_state=0)

    def fit() -> dict[str, Any]:
        shares = model.fit_transform(counts)
        return of_components(model.components_, shares)

    return fit


def sklearn_nmf(pile: Pile, number: int) -> Fit:
    """Of tf-idf, as people use it for topics."""
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = pile.counts

    def fit() -> dict[str, Any]:
        weighted = TfidfTransformer().fit_transform(counts.astype(np.float64))
        model = NMF(number, init="nndsvd", max_iter=200, random_state=0)
        shares = model.fit_transform(weighted)
        return of_components(model.components_, shares)

    return fit


def gensim_lda(pile: Pile, number: int) -> Fit:
    """One process, ten passes, priors learned."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    counts = pile.counts
    corpus = Sparse2Corpus(counts.T.tocsc(), documents_columns=True)
    names = {column: str(column) for column in range(counts.shape[1])}

    def fit() -> dict[str, Any]:
        model = LdaModel(corpus, number, names, passes=PASSES, alpha="auto", eta="auto", random_state=0)
        shares = np.zeros((counts.shape[0], number))
        for row, own in enumerate(model.get_document_topics(corpus, minimum_probability=0)):
            for topic, share in own:
                shares[row, topic] = share
        return of_components(model.get_topics(), shares)

    return fit


def tomotopy_lda(pile: Pile, number: int) -> Fit:
    """Gibbs sampling, one worker."""
    import tomotopy

    model = tomotopy.LDAModel(k=number, alpha=ALPHA, eta=ETA, min_cf=0, rm_top=0, seed=1)
    rows, n_docs = _added(model, pile), len(pile.fine)

    def fit() -> dict[str, Any]:
        model.train(SWEEPS, workers=1)
        labels = np.full(n_docs, -1)
        for row, document in zip(rows, model.docs, strict=True):
            labels[row] = int(np.argmax(document.get_topic_dist()))
        return {"topics": [_words(model, topic) for topic in range(number)], "labels": labels.tolist()}

    return fit


def tomotopy_hlda(pile: Pile, number: int) -> Fit:
    """The nested Chinese restaurant, three levels: the number of topics is its own choice."""
    import tomotopy

    model = tomotopy.HLDAModel(depth=3, alpha=ALPHA, eta=ETA, min_cf=0, rm_top=0, seed=1)
    rows, n_docs = _added(model, pile), len(pile.fine)

    def fit() -> dict[str, Any]:
        model.train(TREE_SWEEPS, workers=1)
        alive = [topic for topic in range(model.k) if model.is_live_topic(topic)]
        place = {topic: node for node, topic in enumerate(alive)}
        parents = [-1 if model.level(topic) == 0 else place[model.parent_topic(topic)] for topic in alive]
        nodes = np.full(n_docs, -1)
        for row, document in zip(rows, model.docs, strict=True):
            own = Counter(int(topic) for topic in document.topics)  # the leaf, or how far down its words have come
            nodes[row] = place[max(own, key=lambda topic: (model.level(topic), own[topic]))]
        told = [_words(model, topic) for topic in alive if model.level(topic) > 0]
        return of_tree(parents, nodes, told)

    return fit


def tomotopy_hpa(pile: Pile, number: int) -> Fit:
    """Hierarchical Pachinko allocation: five topics over twenty, which they share: no tree."""
    import tomotopy

    model = tomotopy.HPAModel(k1=UPPER, k2=LOWER, min_cf=0, rm_top=0, seed=1)
    rows, n_docs = _added(model, pile), len(pile.fine)

    def fit() -> dict[str, Any]:
        model.train(TREE_SWEEPS, workers=1)
        labels = np.full(n_docs, -1)
        for row, document in zip(rows, model.docs, strict=True):
            below = Counter(topic for topic in document.subtopics if topic > 0)
            labels[row] = below.most_common(1)[0][0] if below else -1
        told = [_words(model, topic) for topic in range(1, 1 + UPPER + LOWER)]
        return {"topics": told, "labels": labels.tolist()}

    return fit


def topica_lda(pile: Pile, number: int) -> Fit:
    """Gibbs sampling as it comes, one thread."""
    import topica

    rows, read = _read(pile)
    n_docs = len(pile.fine)

    def fit() -> dict[str, Any]:
        model = topica.LDA(num_topics=number, seed=1)
        model.fit(read, num_threads=1)
        labels = np.full(n_docs, -1)
        labels[rows] = np.asarray(model.doc_topic).argmax(1)
        return {"topics": _columns(model), "labels": labels.tolist()}

    return fit


def _columns(model: Any) -> list[list[int]]:
    """The columns of the likeliest words of all topics of topica."""
    names = [int(word) for word in model.vocabulary]
    order = np.argsort(-np.asarray(model.topic_word), axis=1, kind="stable")[:, :N_WORDS]
    return [[names[place] for place in own] for own in order]


def bigartm_plsa(pile: Pile, number: int) -> Fit:
    """PLSA with the decorrelator that its tutorials put first."""
    import os
    import tempfile

    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    np.float = float  # type: ignore[attr-defined]
    os.chdir(tempfile.mkdtemp())  # it writes its log where it is imported
    import artm

    counts = pile.counts
    names = {column: f"w{column}" for column in range(counts.shape[1])}

    def fit() -> dict[str, Any]:
        folder = f"{tempfile.mkdtemp()}/batches"
        batches = artm.BatchVectorizer(
            data_format="bow_n_wd", n_wd=counts.T.toarray(), vocabulary=names, target_folder=folder
        )
        model = artm.ARTM(num_topics=number, dictionary=batches.dictionary, num_processors=1, cache_theta=True, seed=1)
        model.regularizers.add(artm.DecorrelatorPhiRegularizer(tau=1e4))
        model.fit_offline(batches, num_collection_passes=30)
        phi, theta = model.get_phi(), model.get_theta()
        columns = [int(str(word)[-1] if isinstance(word, tuple) else str(word)[1:]) for word in phi.index]
        weights = np.zeros((number, counts.shape[1]))
        weights[:, columns] = phi.to_numpy().T
        shares = np.zeros((counts.shape[0], number))
        shares[np.asarray(theta.columns, int)] = theta.to_numpy().T
        return of_components(weights, shares)

    return fit


def _added(model: Any, pile: Pile) -> list[int]:
    """Give the model all documents that have words; which these are."""
    rows, read = _read(pile)
    for words in read:
        model.add_doc(words)
    return rows


def _read(pile: Pile) -> tuple[list[int], list[list[str]]]:
    """Documents that have words, and the columns of these as words."""
    counts, rows, read = pile.counts, [], []
    for row in range(counts.shape[0]):
        here = slice(counts.indptr[row], counts.indptr[row + 1])
        words = np.repeat(counts.indices[here], counts.data[here].astype(int))
        if len(words):
            rows.append(row)
            read.append([str(word) for word in words])
    return rows, read


def _words(model: Any, topic: int) -> list[int]:
    return [int(word) for word, _ in model.get_topic_words(topic, top_n=N_WORDS)]
