"""What each system can do, found by trying it on a few documents: ``tried(pile)`` of each returns what came out.

New documents: five texts that were not fitted are given a topic. Again: the same seed gives the same topics. Kept: what
was written to a file and read again answers the same.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from benchmarks.comparison.answers import Fit
from benchmarks.comparison.piles import Pile

FEW, NEW, NUMBER = 200, 5, 8


def of_sklearn(pile: Pile, number: int) -> Fit:
    """NMF; LDA has the same methods."""
    import joblib
    from sklearn.decomposition import NMF

    counts = pile.counts.astype(np.float64)

    def fit() -> dict[str, Any]:
        def made() -> NMF:
            return NMF(NUMBER, init="nndsvda", random_state=0, max_iter=50).fit(counts[:FEW])

        model, path = made(), f"{tempfile.mkdtemp()}/model"
        joblib.dump(model, path)
        new = counts[FEW : FEW + NEW]
        told = model.transform(new)
        return _found(
            told.shape == (NEW, NUMBER), made().components_, model.components_, joblib.load(path).transform(new), told
        )

    return fit


def of_gensim(pile: Pile, number: int) -> Fit:
    """LdaModel."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    counts = pile.counts
    names = {column: str(column) for column in range(counts.shape[1])}

    def fit() -> dict[str, Any]:
        def made() -> LdaModel:
            return LdaModel(Sparse2Corpus(counts[:FEW].T.tocsc()), NUMBER, names, random_state=0)

        def placed(one: LdaModel) -> np.ndarray:
            return one.inference(list(Sparse2Corpus(counts[FEW : FEW + NEW].T.tocsc())))[0]

        model, path = made(), f"{tempfile.mkdtemp()}/model"
        model.save(path)
        told = placed(made())
        return _found(
            told.shape == (NEW, NUMBER), made().get_topics(), model.get_topics(), placed(LdaModel.load(path)), told
        )

    return fit


def of_tomotopy(pile: Pile, number: int) -> Fit:
    """LDAModel, one worker."""
    import tomotopy

    counts = pile.counts

    def words(row: int) -> list[str]:
        here = slice(counts.indptr[row], counts.indptr[row + 1])
        return [str(word) for word in np.repeat(counts.indices[here], counts.data[here].astype(int))]

    def fit() -> dict[str, Any]:
        def made() -> Any:
            model = tomotopy.LDAModel(k=NUMBER, seed=1)
            for row in range(FEW):
                model.add_doc(words(row) or ["nothing"])
            model.train(50, workers=1)
            return model

        def matrix(one: Any) -> np.ndarray:
            return np.array([one.get_topic_word_dist(topic) for topic in range(NUMBER)])

        model, path = made(), f"{tempfile.mkdtemp()}/model.bin"
        model.save(path)
        told = [model.infer(model.make_doc(words(row)))[0] for row in range(FEW, FEW + NEW)]
        kept = tomotopy.LDAModel.load(path)
        return _found(len(told[0]) == NUMBER, matrix(made()), matrix(model), matrix(kept), matrix(model))

    return fit


def of_bertopic(pile: Pile, number: int) -> Fit:
    """With its map seeded; kept as safetensors."""
    from bertopic import BERTopic
    from umap import UMAP

    texts, vectors = pile.texts, pile.vectors

    def fit() -> dict[str, Any]:
        def made() -> BERTopic:
            model = BERTopic(umap_model=UMAP(n_components=5, metric="cosine", random_state=0))
            return model.fit(texts[:FEW], vectors[:FEW])

        model, folder = made(), f"{tempfile.mkdtemp()}/model"
        new = slice(FEW, FEW + NEW)
        told, _ = model.transform(texts[new], vectors[new])
        again = np.array(made().topics_)
        answer = _found(len(told) == NEW, again, np.array(model.topics_), np.zeros(1), np.ones(1))
        try:
            model.save(folder, serialization="safetensors", save_embedding_model=False)
            kept, _ = BERTopic.load(folder).transform(texts[new], vectors[new])
            answer["kept"] = bool(np.array_equal(kept, told))
        except ImportError:
            del answer["kept"]  # it wants more than was installed
        return answer

    return fit


def of_ours(pile: Pile, number: int) -> Fit:
    """CAM, kept as safetensors."""
    from topiarist import CAM, load_model, save_model

    counts = pile.counts

    def fit() -> dict[str, Any]:
        def made() -> CAM:
            return CAM(NUMBER, random_state=0).fit(counts[:FEW])

        model, path = made(), f"{tempfile.mkdtemp()}/model.topiarist"
        save_model(model, path)
        told = model.transform(counts[FEW : FEW + NEW])
        kept = load_model(path).transform(counts[FEW : FEW + NEW])
        return _found(len(told) == NEW, made().word_given_node_, model.word_given_node_, kept, told)

    return fit


def _found(new: bool, again: Any, first: Any, kept: Any, told: Any) -> dict[str, Any]:
    return {
        "new": bool(new), "again": bool(np.array_equal(again, first)), "kept": bool(np.allclose(kept, told, atol=1e-4)),
    }  # fmt: skip
