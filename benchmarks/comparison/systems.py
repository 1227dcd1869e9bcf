"""Who is compared: a title, the environment that it runs in, the function that speaks to it, its number of topics."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.comparison.piles import ABSTRACTS, LABELLED

N_TOPICS = 25
SAME = -1  # as many topics as our default tree has nodes
OWN, BENCH, VECTORS, LABELS = "", ".venv-bench", ".venv-bench-vectors", ".venv-bench-labels"
ANNIF, REVIEW, TOPICA, TOPONYMY = (f".venv-bench-{name}" for name in ("annif", "review", "topica", "toponymy"))


@dataclass(frozen=True)
class System:
    """One row of a table."""

    title: str
    environment: str
    function: str
    packages: tuple[str, ...]
    number: int = N_TOPICS
    encodes: bool = False  # its time begins with the vectors
    only: tuple[str, ...] = ()  # collections, where it would take too long on all of them


def _topics(function: str) -> str:
    return f"benchmarks.comparison.topic_peers:{function}"


def _ours(function: str) -> str:
    return f"benchmarks.comparison.our_side:{function}"


def _labels(function: str) -> str:
    return f"benchmarks.comparison.label_peers:{function}"


def _annif(function: str) -> str:
    return f"benchmarks.comparison.indexers:{function}"


def _features(function: str) -> str:
    return f"benchmarks.comparison.features:{function}"


TOPICS = {
    "ours": System("**Topiarist**, by default", OWN, _ours("tree"), ("topiarist",), 0),
    "ours-25": System("**Topiarist**, 25 leaves", OWN, _ours("tree"), ("topiarist",)),
    "ours-vectors": System("**Topiarist**, words and MiniLM", OWN, _ours("tree_with_vectors"), (), 0, encodes=True),
    "nmf-25": System("scikit-learn NMF on tf-idf, 25", BENCH, _topics("sklearn_nmf"), ("scikit-learn",)),
    "nmf-same": System(
        "scikit-learn NMF on tf-idf, as many as our nodes", BENCH, _topics("sklearn_nmf"), (), SAME, only=LABELLED
    ),
    "sklearn-lda": System("scikit-learn LDA, 25", BENCH, _topics("sklearn_lda"), ()),
    "gensim-lda": System("gensim LDA, 25", BENCH, _topics("gensim_lda"), ("gensim",), only=LABELLED),
    "tomotopy-lda": System("tomotopy LDA, 25", BENCH, _topics("tomotopy_lda"), ("tomotopy",)),
    "hlda": System("tomotopy HLDA, three levels", BENCH, _topics("tomotopy_hlda"), ()),
    "hpa": System("tomotopy HPA, 5 over 20", BENCH, _topics("tomotopy_hpa"), (), only=LABELLED),
    "topica-lda": System("topica LDA, 25", TOPICA, _topics("topica_lda"), ("topica",)),
    "bigartm": System("BigARTM, 25", BENCH, _topics("bigartm_plsa"), ("bigartm",), only=LABELLED),
    "bertopic": System(
        "BERTopic, MiniLM", VECTORS, "benchmarks.comparison.vector_peers:bertopic",
        ("bertopic", "umap-learn", "hdbscan"), 0, encodes=True,
    ),
    "evoc": System("EVoC, MiniLM", VECTORS, "benchmarks.comparison.vector_peers:evoc", ("evoc",), 0, encodes=True),
    "toponymy": System(
        "Toponymy's clusterer, MiniLM", TOPONYMY, "benchmarks.comparison.vector_peers:toponymy", ("toponymy",), 0,
        encodes=True, only=(ABSTRACTS,),
    ),
}  # fmt: skip
SPEED = {
    "ours": System("**Topiarist**, by default", OWN, _ours("from_texts"), (), 0),
    "bertopic": TOPICS["bertopic"],
}
CLASSES = {
    "ours": System("**Topiarist** `CategoryLearner`", OWN, _labels("our_classes"), ()),
    "svm": System("scikit-learn linear SVM", BENCH, _labels("linear_classes"), ()),
    "hiclass": System("HiClass, a classifier at each parent", LABELS, _labels("hiclass_parents"), ("hiclass",)),
}  # fmt: skip
SEVERAL = {
    "ours": System("**Topiarist** `CategoryLearner`", OWN, _labels("our_several"), ()),
    "svm": System("scikit-learn linear SVM for each label", BENCH, _labels("linear_several"), ()),
    "relevance": System(
        "scikit-multilearn binary relevance", LABELS, _labels("multilearn_relevance"), ("scikit-multilearn",)
    ),
    "mlknn": System("scikit-multilearn ML-kNN", LABELS, _labels("multilearn_neighbours"), ()),
    "annif-tfidf": System("Annif, tf-idf", ANNIF, _annif("annif_tfidf"), ("annif",)),
    "annif-omikuji": System("Annif, Omikuji", ANNIF, _annif("annif_omikuji"), ("omikuji",)),
}
REVIEWS = {
    "ours": System("**Topiarist** `review`", OWN, "benchmarks.comparison.reviews:ours", ()),
    "asreview": System("ASReview, ELAS u4", REVIEW, "benchmarks.comparison.reviews:asreview", ("asreview",)),
}
FEATURES = {
    "ours": System("Topiarist", OWN, _features("of_ours"), ()),
    "sklearn": System("scikit-learn NMF, LDA", BENCH, _features("of_sklearn"), ()),
    "gensim": System("gensim LDA", BENCH, _features("of_gensim"), ()),
    "tomotopy": System("tomotopy", BENCH, _features("of_tomotopy"), ()),
    "bertopic": System("BERTopic", VECTORS, _features("of_bertopic"), (), encodes=True),
}
EVERY = {
    "topics": TOPICS, "speed": SPEED, "classes": CLASSES, "several": SEVERAL, "reviews": REVIEWS, "features": FEATURES,
}  # fmt: skip
