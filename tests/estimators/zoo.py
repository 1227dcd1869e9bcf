"""One fitted model of every class that is kept in files, in the states it may be in, and what it answers."""

import re
from functools import cache

import numpy as np
import scipy.sparse as sp

from topiarist import (
    CAM,
    GGM,
    HPLC,
    HPLSA,
    LSI,
    PLC,
    PLSA,
    PMM,
    CategoryLearner,
    FisherKernel,
    HierarchicalMixture,
    MixtureHierarchy,
    Tree,
)

WORDS = 40
TREE = Tree.from_paths(["x/a", "x/b", "y/c"])
LABELS = np.array(["a", "b", "c"])


@cache
def counts(seed=0, n_docs=150):
    """Documents of three subjects."""
    subjects = np.random.default_rng(0).dirichlet(np.full(WORDS, 0.2), 3)
    rng = np.random.default_rng(seed)
    return sp.csr_array(np.stack([rng.multinomial(30, subjects[place % 3]) for place in range(n_docs)]).astype(float))


@cache
def strange(n_docs=60):
    """Documents of a fourth subject, which fit badly."""
    rng = np.random.default_rng(99)
    return sp.csr_array(rng.multinomial(40, rng.dirichlet(np.full(WORDS, 0.05)), n_docs).astype(float))


def labels(n_docs=150):
    return LABELS[np.arange(n_docs) % 3]


def points():
    return LSI(4, random_state=0).fit_transform(counts())


def half_labelled():
    given = np.where(np.arange(150) < 75, np.arange(150) % 3, -1)
    return GGM(max_components=3, unlabelled_weight="cv", random_state=0).fit(points(), given)


def stream(model):
    """A model that has met documents which fit badly."""
    for batch in (counts(1), counts(2), counts(3), sp.vstack([counts(4), strange()], format="csr")):
        model.partial_fit(batch)
    return model


def multilabel():
    return np.eye(3, dtype=int)[np.arange(150) % 3] | np.eye(3, dtype=int)[np.arange(150) % 2]


ZOO = {
    "PLSA": lambda: PLSA(3, random_state=0).fit(counts()),
    "PLSA, tempered": lambda: PLSA(3, inverse_temperature="heldout", random_state=0).fit(counts()),
    "PLSA, single": lambda: PLSA(3, dtype=np.float32, word_smoothing=0.1, random_state=0).fit(counts()),
    "PLSA, online": lambda: PLSA(3, online=True, batch_size=50, random_state=0).fit(counts()),
    "PLSA, stream": lambda: stream(PLSA(3, random_state=0)),
    "PLSA, generator": lambda: PLSA(3, random_state=np.random.RandomState(3)).fit(counts()),
    "HPLSA": lambda: HPLSA(3, random_state=0).fit(counts()),
    "HPLSA, annealed": lambda: HPLSA(
        3, growth="annealed", schedule=(0.5, 0.7, 0.9, 1.0), dtype=np.dtype("float64"), random_state=0
    ).fit(counts()),
    "HPLSA, stream": lambda: stream(HPLSA(tree=TREE, topic_mix="heldout", random_state=0)).extend_words(45),
    "HPLSA, all nodes": lambda: HPLSA(tree=TREE, class_nodes="all", random_state=0).fit(counts()),
    "CAM": lambda: CAM(max_iter=10, random_state=0).fit(counts()),
    "CAM, stream": lambda: stream(CAM(tree=TREE, random_state=0)),
    "PLC": lambda: PLC(calibrate=True).fit(counts(), labels()),
    "HPLC": lambda: HPLC(TREE).fit(counts(), np.where(np.arange(150) < 100, labels(), "-1")),
    "HPLC, single": lambda: HPLC(TREE, dtype="float32").fit(counts(), labels().astype(object)),
    "HierarchicalMixture": lambda: HierarchicalMixture(TREE).fit(counts(), labels().astype("<U9")),
    "PMM": lambda: PMM().fit(counts(), multilabel()),
    "PMM, second order": lambda: PMM(order=2).fit(counts(), sp.csr_matrix(multilabel())),
    "PMM, calibrated": lambda: PMM(label_prior="calibrated").fit(counts(), multilabel()),
    "PMM, one label": lambda: PMM().fit(counts(), labels()),
    "CategoryLearner": lambda: CategoryLearner(TREE).fit(counts(), np.where(np.arange(150) < 60, labels(), "-1")),
    "CategoryLearner, several": lambda: CategoryLearner().fit(counts(), multilabel()),
    "GGM": lambda: GGM(3, random_state=0).fit(points()),
    "GGM, texts": lambda: GGM(3, random_state=0).fit(points(), labels()),
    "GGM, half labelled": half_labelled,
    "MixtureHierarchy": lambda: MixtureHierarchy().fit(GGM(3, random_state=0).fit(points())),
    "MixtureHierarchy, of a class": lambda: MixtureHierarchy("confusion", of_class=np.str_("a"), random_state=0).fit(
        GGM(4, components="shared", random_state=0).fit(points(), labels())
    ),
    "FisherKernel": lambda: FisherKernel((1, 3), random_state=0).fit(counts()),
    "FisherKernel, of models": lambda: FisherKernel(
        [fitted("PLSA"), fitted("HPLC"), fitted("CAM"), HPLSA(2, random_state=0)], information="diagonal"
    ).fit(counts()),
    "LSI": lambda: LSI(4, weighting="idf", random_state=0).fit(counts()),
}

fitted = cache(lambda name: ZOO[name]())


def shown(thing):
    """Its repr, without places in memory."""
    return re.sub(r"0x\w+", "", repr(thing))


def answers(model):
    """Everything that a model answers, by the name of the question."""
    dense = isinstance(model, GGM | MixtureHierarchy)
    new = points()[:40] if dense else counts(5, 40)
    if not dense and model.n_features_in_ > WORDS:
        new = sp.csr_array((new.data, new.indices, new.indptr), shape=(40, model.n_features_in_))
    said = {"repr": shown(model), "parameters": {key: shown(value) for key, value in model.get_params().items()}}
    for name in (
        "transform", "predict", "predict_proba", "predict_log_proba", "predict_path", "node_posterior",
        "node_given_doc", "decision_function", "score_samples", "predict_component", "perplexity", "prototypes",
        "assign", "node_given_example", "without_known_words", "get_feature_names_out", "kernel",
    ):  # fmt: skip
        if hasattr(model, name):
            said[name] = getattr(model, name)(*(() if name == "get_feature_names_out" else (new,)))
    one = new[[0]]
    for name in ("word_levels", "explain", "ghost_words"):
        if hasattr(model, name):
            said[name] = getattr(model, name)(one)
    if hasattr(model, "score"):
        given = {"GGM": None, "PMM": multilabel()[:40] if getattr(model, "_form", "") != "single" else labels(40)}
        kind = type(model).__name__
        if getattr(model, "several_", False):
            given[kind] = multilabel()[:40]
        known = given.get(kind, labels(40) if hasattr(model, "classes_") else None)
        said["score"] = model.score(new, known)
    said["curve"] = getattr(model, "curve_", None)
    return said
