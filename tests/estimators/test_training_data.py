"""Categorisers that learn from documents in files, and shaped trees that are fitted to them again."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.work import peak
from topiarist import HPLC, PLC, HierarchicalMixture, Tree
from topiarist.errors import InputError, ResourceError
from topiarist.estimators.category import training_data
from topiarist.estimators.category.given_labels import read_labels
from topiarist.estimators.tree.refit import refit
from topiarist.execution import BlockStore, InProcess

TREE = Tree.from_paths([["a", "a0"], ["a", "a1"], ["b", "b0"], ["b", "b1"]])
NAMES = np.array(["a0", "a1", "b0", "b1"])
GROUPS = np.arange(240) % 4
COUNTS = sp.csr_matrix(np.random.default_rng(0).poisson(0.2 + (np.arange(60) % 4 == GROUPS[:, None])).astype(float))
LABELS = np.where(np.arange(240) % 3 == 0, NAMES[GROUPS], "-1")


SEVERAL = np.stack([n == GROUPS for n in range(4)], axis=1).astype(int)
SEVERAL[::5, 0] = 1
SEVERAL[::7] = 0
LEARNED = ("word_given_topic_", "topic_given_class_", "class_prior_", "class_tokens_", "history_")
CASES = {
    "with unlabelled documents": (lambda **o: HPLC(TREE, **o), LABELS),
    "all labelled": (lambda **o: HPLC(TREE, **o), NAMES[GROUPS]),
    "levels by likelihood": (lambda **o: HPLC(TREE, topic_mix="ml", **o), LABELS),
    "without the unlabelled": (lambda **o: HPLC(TREE, unlabelled_weight=0, **o), LABELS),
    "several labels": (PLC, SEVERAL),
    "tempered, single precision": (
        lambda **o: HierarchicalMixture(TREE, inverse_temperature=0.9, effective_length=None, dtype="float32", **o),
        LABELS,
    ),
    "chosen and calibrated": (lambda **o: PLC(smoothing="cv", unlabelled_weight="cv", calibrate=True, **o), LABELS),
}


LEAVES = TREE.leaves
START = sp.csr_array(0.7 * np.eye(4)[GROUPS] + 0.3 * np.eye(4)[(GROUPS + 1) % 4])
FREE, SOME = np.full(240, -1), np.where(np.arange(240) % 7 == 0, (GROUPS + 1) % 4, -1)
SEEDS = {LEAVES[0]: [1, 5], TREE.root: [40]}


def fit_again(X, pins, seeds=None, kind=HPLC, **options):
    return refit(kind(TREE, **options), X, LEAVES, START, pins, seeds=seeds)


REFITS = {
    "free": (FREE, None, {}),
    "seeds": (SOME, SEEDS, {"kind": HierarchicalMixture}),
    "single precision": (SOME, None, {"dtype": "float32", "effective_length": None}),
    "pinned": (GROUPS, SEEDS, {}),
    "calibrated": (SOME, None, {"calibrate": True}),
}
FITS = {
    **{name: lambda X, case=case: case[0](random_state=0).fit(X, case[1]) for name, case in CASES.items()},
    **{name: lambda X, case=case: fit_again(X, *case[:2], **case[2]) for name, case in REFITS.items()},
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    one = BlockStore.write(folder / "one", COUNTS, dtype="float64")
    return one, BlockStore.write(folder / "several", COUNTS, block_size=50, dtype="float64")


@pytest.fixture
def store(stores):
    return stores[1]


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_files_teach_the_same_as_memory(stores, fit):
    whole, same, parted = map(fit, (COUNTS, *stores))
    for name in LEARNED:
        np.testing.assert_array_equal(getattr(same, name), getattr(whole, name), err_msg=name)
        np.testing.assert_allclose(getattr(parted, name), getattr(whole, name), rtol=1e-6, atol=1e-6, err_msg=name)
    np.testing.assert_array_equal(same.predict_proba(stores[1]), whole.predict_proba(COUNTS))
    for model in (same, parted):
        for name in ("smoothing_", "unlabelled_weight_", "sharpness_", "floor_", "half_length_", "n_iter_"):
            assert getattr(model, name) == getattr(whole, name), name
        assert model.n_features_in_ == 60
        assert (model.half_length_ is not None) == bool(model.calibrate)
    assert (np.diff(parted.history_) >= -1e-9 * abs(parted.history_[0])).all()
    for store in stores:
        assert not list(store.folder.glob("scratch-*"))


@pytest.mark.parametrize("n_workers", [1, 2, 3])
@pytest.mark.parametrize("again", [False, True])
def test_any_number_of_workers_learns_the_same(store, n_workers, again):
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster

    from tests.execution.clusters import QUIET
    from topiarist.execution import DaskExecutor

    def fit(executor):
        if again:
            return fit_again(store, SOME, SEEDS, max_iter=5, executor=executor)
        return HPLC(TREE, random_state=0, max_iter=5, executor=executor).fit(store, LABELS)

    here = fit(InProcess())
    with LocalCluster(processes=False, n_workers=n_workers, **QUIET) as cluster, Client(cluster) as client:
        there = fit(DaskExecutor(client))
        np.testing.assert_array_equal(here.predict_proba(store), there.predict_proba(store))
    for name in LEARNED:
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name), err_msg=name)


def test_the_objective_with_unlabelled_documents_never_falls(store):
    model = HPLC(TREE, random_state=0, tol=0.0).fit(store, LABELS)
    assert len(model.history_) > 5
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()


def test_a_sample_chooses_and_all_documents_teach(store, monkeypatch):
    monkeypatch.setattr(training_data, "MAX_CHOOSING", 20)
    monkeypatch.setattr(training_data, "MIN_OF_CLASS", 0)
    read = []
    monkeypatch.setattr(
        BlockStore, "rows", lambda self, chosen, real=BlockStore.rows: read.append(chosen) or real(self, chosen)
    )
    model = HPLC(TREE, random_state=0, smoothing="cv").fit(store, LABELS)
    (chosen,) = read
    assert len(chosen) == 20 + 20
    assert np.count_nonzero(LABELS[chosen] != "-1") == 20
    whole = HPLC(TREE, random_state=0, smoothing=model.smoothing_).fit(COUNTS, LABELS)
    np.testing.assert_allclose(model.word_given_topic_, whole.word_given_topic_, atol=1e-12)


def test_of_each_class_some_are_among_those_that_choose(store, monkeypatch):
    monkeypatch.setattr(training_data, "MAX_CHOOSING", 3)
    monkeypatch.setattr(training_data, "MIN_OF_CLASS", 2)
    counts, labels = training_data.draw_choosing_sample(store, read_labels(LABELS, len(LABELS)), 0)
    assert np.bincount(labels.of_row[labels.of_row >= 0], minlength=len(labels.classes)).min() >= 2
    assert counts.shape[0] < len(LABELS)


def test_nothing_is_read_into_memory_but_for_a_sample(store, monkeypatch):
    monkeypatch.setattr(BlockStore, "rows", None)
    HPLC(TREE, random_state=0, max_iter=2).fit(store, LABELS)


def test_learning_stays_within_its_allowance(tmp_path):
    rng = np.random.default_rng(0)
    counts = sp.random(2000, 3000, 0.02, "csr", rng=rng, data_rvs=lambda n: rng.integers(1, 4, n)).astype(np.float32)
    store = BlockStore.write(tmp_path / "s", counts, block_size=500)
    y = np.where(np.arange(2000) % 3 == 0, rng.choice(NAMES, 2000), "-1")
    model = HPLC(TREE, random_state=0, dtype="float32", max_iter=3)
    labels = read_labels(y, 2000)
    need = training_data.estimate_training_bytes(store, labels, np.dtype("float32"), len(TREE), chooses=False)
    model.fit(store, y)  # what is made once is there
    model.set_params(executor=InProcess(need))
    used = peak(model.fit, store, y)
    assert need / 8 < used < need
    with pytest.raises(ResourceError, match="learning 4 classes from 2,000 documents"):
        model.set_params(executor=InProcess(need - 1)).fit(store, y)


def test_what_does_not_fit_is_refused_before_it_is_read(store, monkeypatch):
    monkeypatch.setattr(BlockStore, "blocks", None)
    with pytest.raises(ResourceError, match="learning 4 classes from 240 documents"):
        PLC(executor=InProcess(memory=10_000)).fit(store, LABELS)
    with pytest.raises(InputError, match="without a label"):
        PLC().fit(store, np.full(240, "-1"))
    with pytest.raises(ValueError, match="inconsistent"):
        PLC().fit(store, LABELS[:7])


def test_a_class_without_words_is_told(tmp_path):
    store = BlockStore.write(tmp_path / "s", np.array([[1.0, 2], [0, 0], [3, 1]]), block_size=2)
    with pytest.raises(InputError, match="class 'b' has no document"):
        PLC().fit(store, ["a", "b", "c"])
