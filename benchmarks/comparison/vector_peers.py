"""Clusters of vectors with words by c-TF-IDF (BERTopic) and in layers (EVoC, Toponymy), on the same MiniLM vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.comparison.answers import N_WORDS, Fit, flat, of_tree
from benchmarks.comparison.piles import Pile

FEW = 600


def bertopic(pile: Pile, number: int) -> Fit:
    """As it comes, with a seed for its map; words of the same vocabulary."""
    from bertopic import BERTopic
    from sklearn.feature_extraction.text import CountVectorizer
    from umap import UMAP

    texts, vectors = pile.texts, pile.vectors
    column = {word: place for place, word in enumerate(pile.words)}
    read = BERTopic()._preprocess_text(np.array(texts))  # it drops all but a-z; a word that is never met divides by 0
    seen = CountVectorizer(vocabulary=pile.words).fit_transform(read).sum(axis=0).A1
    words = [word for word, times in zip(pile.words, seen, strict=True) if times]
    UMAP(n_components=5, metric="cosine", random_state=0).fit(vectors[:100])  # compiled before the clock runs

    def fit() -> dict[str, Any]:
        reduced = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", low_memory=False, random_state=0)
        model = BERTopic(
            umap_model=reduced, vectorizer_model=CountVectorizer(vocabulary=words), calculate_probabilities=False
        )
        labels, _ = model.fit_transform(texts, vectors)
        number = max(labels) + 1
        told = [[column[word] for word, _ in model.get_topic(topic)[:N_WORDS] if word] for topic in range(number)]
        if number < 3:
            return flat(told, labels)
        parents, place = _above(model.hierarchical_topics(texts), number)
        return of_tree(parents, [place[one] if one >= 0 else -1 for one in labels], told)

    return fit


def _above(joined: Any, number: int) -> tuple[list[int], dict[int, int]]:
    """The parents of its hierarchy: topics come first, then what joins two of them, the root last."""
    place = {topic: topic for topic in range(number)}
    parents = [-1] * number
    for row in sorted(joined.to_dict("records"), key=lambda row: int(row["Parent_ID"])):
        node = len(parents)
        parents.append(-1)
        place[int(row["Parent_ID"])] = node
        for child in (int(row["Child_Left_ID"]), int(row["Child_Right_ID"])):
            parents[place[child]] = node
    return parents, place


def evoc(pile: Pile, number: int) -> Fit:
    """The finest of its layers as clusters; it tells no words."""
    from evoc import EVoC

    vectors = pile.vectors
    EVoC(random_state=0).fit_predict(vectors[:FEW])  # compiled before the clock runs

    def fit() -> dict[str, Any]:
        model = EVoC(random_state=0)
        chosen = np.asarray(model.fit_predict(vectors))
        return flat([], chosen) | {"layers": [int(np.max(layer)) + 1 for layer in model.cluster_layers_]}

    return fit


def toponymy(pile: Pile, number: int) -> Fit:
    """The layers of its clusterer over a map by UMAP; names need a language model, which is not asked."""
    import os

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else a list of prices is fetched when it is imported
    from toponymy import ToponymyClusterer
    from umap import UMAP

    vectors = pile.vectors
    few = UMAP(n_components=5, metric="cosine", random_state=0).fit_transform(vectors[:FEW])
    ToponymyClusterer(n_threads=1).fit(few, vectors[:FEW])  # compiled before the clock runs

    def fit() -> dict[str, Any]:
        low = UMAP(n_components=5, metric="cosine", random_state=0).fit_transform(vectors)
        layers = ToponymyClusterer(n_threads=1).fit(low, vectors).cluster_layers_
        finest = np.asarray(layers[0].cluster_labels)
        return flat([], finest) | {"layers": [int(np.max(layer.cluster_labels)) + 1 for layer in layers]}

    return fit
