"""A shaped tree that is fitted again to documents in files: what counts in memory teach, block by block."""

import numpy as np
import pytest
import scipy.sparse as sp

from topiarist import HPLC, HierarchicalMixture, Tree
from topiarist.estimators.tree.refit import refit
from topiarist.execution import BlockStore, InProcess

TREE = Tree.balanced(2, 2)
GROUPS = np.arange(240) % 4
COUNTS = sp.csr_array(np.random.default_rng(0).poisson(0.2 + (np.arange(60) % 4 == GROUPS[:, None])).astype(np.float64))
START = sp.csr_array(0.7 * np.eye(4)[GROUPS] + 0.3 * np.eye(4)[(GROUPS + 1) % 4])
FREE, PINNED = np.full(240, -1), GROUPS
SOME = np.where(np.arange(240) % 7 == 0, (GROUPS + 1) % 4, -1)
SEEDS = {TREE.leaves[0]: [1, 5], TREE.root: [40]}
LEARNED = ("word_given_topic_", "topic_given_class_", "class_prior_", "class_tokens_", "history_")


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    one = BlockStore.write(folder / "one", COUNTS, dtype="float64")
    return one, BlockStore.write(folder / "several", COUNTS, block_size=50, dtype="float64")


def fitted(X, pins, seeds=None, kind=HPLC, **options):
    return refit(kind(TREE, **options), X, TREE.leaves, START, pins, seeds=seeds)


@pytest.mark.parametrize(
    ("pins", "seeds", "options"),
    [
        (FREE, None, {}),
        (SOME, SEEDS, {"kind": HierarchicalMixture}),
        (SOME, None, {"dtype": "float32", "effective_length": None}),
        (PINNED, SEEDS, {}),
        (SOME, None, {"calibrate": True}),
    ],
)
def test_files_teach_what_counts_in_memory_teach(stores, pins, seeds, options):
    whole, same, parted = (fitted(X, pins, seeds, **options) for X in (COUNTS, *stores))
    for name in LEARNED:
        np.testing.assert_array_equal(getattr(same, name), getattr(whole, name), err_msg=name)
        np.testing.assert_allclose(getattr(parted, name), getattr(whole, name), rtol=1e-6, atol=1e-6, err_msg=name)
    for model in (same, parted):
        assert (model.sharpness_, model.half_length_) == (whole.sharpness_, whole.half_length_)
    assert (whole.half_length_ is not None) == bool(options.get("calibrate"))
    assert same.n_features_in_ == parted.n_features_in_ == 60
    np.testing.assert_array_equal(same.predict_proba(COUNTS), whole.predict_proba(COUNTS))
    assert (np.diff(parted.history_) >= -1e-9 * abs(parted.history_[0])).all()
    for store in stores:
        assert not list(store.folder.glob("scratch-*"))


@pytest.mark.parametrize("n_workers", [1, 3])
def test_any_number_of_workers_fits_the_same(stores, n_workers):
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster

    from tests.execution.clusters import QUIET
    from topiarist.execution import DaskExecutor

    here = fitted(stores[1], SOME, SEEDS, max_iter=5, executor=InProcess())
    with LocalCluster(processes=False, n_workers=n_workers, **QUIET) as cluster, Client(cluster) as client:
        there = fitted(stores[1], SOME, SEEDS, max_iter=5, executor=DaskExecutor(client))
    for name in LEARNED:
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name), err_msg=name)
