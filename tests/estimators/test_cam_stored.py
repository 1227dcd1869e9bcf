"""Trees that are fitted to, and grown from, collections that are files."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp

from tests.oracles import textbook
from tests.work import peak
from topiarist import CAM, Tree
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.estimators.tree import growth_data, growth_sample
from topiarist.execution import BlockStore, InProcess
from topiarist.trees.growth import stored_documents
from topiarist.trees.growth.stored_documents import draw_documents

COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 240, 60, 4, length=60)[0])
TREE = Tree.balanced(2, 2)
LEARNED = ("word_given_node_", "node_given_cluster_", "cluster_prior_", "cluster_given_doc_", "labels_", "history_")


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("blocks") / "one", COUNTS)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("blocks") / "several", COUNTS, block_size=48)  # 5 blocks


def assert_same(model, other):
    assert model.tree_ == other.tree_
    for name in LEARNED:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize(
    "options",
    [
        {"tree": TREE},
        {"tree": TREE, "seed_words": {TREE.leaves[0]: [3, 5]}, "ignore_words": [7]},
        {"max_clusters": 8},
        {"n_clusters": 4, "headings": False, "dtype": "float32"},
        {"n_clusters": 3, "levels": False, "effective_length": None, "seed_words": [[2, 4]]},
    ],
)
def test_a_store_of_one_block_gives_the_bits_of_counts_in_memory(one, options):
    model, other = (CAM(random_state=0, **options).fit(X) for X in (one, COUNTS))
    assert_same(model, other)
    assert (model.grown_, model.stopped_, model.n_iter_) == (other.grown_, other.stopped_, other.n_iter_)
    assert model.n_tokens_seen_ == pytest.approx(other.n_tokens_seen_)
    np.testing.assert_array_equal(model.seeds_, other.seeds_)
    if other.curve_ is not None:
        np.testing.assert_array_equal(model.curve_.criterion, other.curve_.criterion)
    assert not list(one.folder.glob("scratch-*"))


def test_documents_are_not_placed_where_nobody_asks_for_it(several):
    model, placed = CAM(4, random_state=0).fit(several), CAM(4, random_state=0).fit(several)
    model.fit(several, keep_posteriors=False)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "cluster_given_doc_")
    np.testing.assert_array_equal(model.word_given_node_, placed.word_given_node_)
    np.testing.assert_array_equal(model.transform(several), placed.cluster_given_doc_)
    np.testing.assert_array_equal(model.predict(several), placed.labels_)


def test_annealing_reads_files_too(tmp_path):
    options = {"growth": "annealed", "n_clusters": 2, "max_iter": 3, "random_state": 0, "effective_length": 6}
    store = BlockStore.write(tmp_path / "few", COUNTS[:30])
    assert_same(CAM(**options).fit(store), CAM(**options).fit(COUNTS[:30]))


def test_several_blocks_find_the_planted_groups(several):
    model, other = CAM(4, random_state=0).fit(several), CAM(4, random_state=0).fit(COUNTS)
    assert agreement(model.labels_, other.labels_) >= 0.9  # each block holds other tokens out
    np.testing.assert_array_equal(model.cluster_given_doc_, model.transform(COUNTS))
    assert model.history_[-1] == pytest.approx(other.history_[-1], rel=0.02)


def test_a_sample_proposes_and_all_documents_fit(several, monkeypatch):
    monkeypatch.setattr(growth_data, "MAX_DRAWN", 120)
    model = CAM(4, random_state=0).fit(several)
    whole = CAM(4, random_state=0).fit(COUNTS)
    assert len(model.labels_) == len(several)
    assert model.history_[-1] == pytest.approx(whole.history_[-1], rel=0.02)
    np.testing.assert_allclose(model.cluster_prior_.sum(), 1.0)


@pytest.mark.parametrize("seeds", [None, [[2, 4]]])
def test_of_very_many_documents_a_sample_grows_and_all_teach_the_words(several, monkeypatch, seeds):
    monkeypatch.setattr(growth_sample, "MAX_GROWTH_DOCUMENTS", 100)
    monkeypatch.setattr(growth_data, "MAX_DRAWN", 60)
    with patch.object(growth_sample, "MAX_GROWTH_DOCUMENTS", 1000):
        whole = CAM(4, random_state=0, seed_words=seeds).fit(COUNTS)
    for X in (several, COUNTS):
        model = CAM(4, random_state=0, seed_words=seeds).fit(X)
        assert len(model.tree_.leaves) == 4
        assert model.n_tokens_seen_ == pytest.approx(whole.n_tokens_seen_)  # of all, not of the sample
        assert model.n_iter_ <= growth_sample.LAST_STEPS
        assert agreement(model.labels_, whole.labels_) >= 0.9
        assert len(model.labels_) == len(several)
        np.testing.assert_array_equal(model.cluster_given_doc_, model.transform(COUNTS))
    assert not list(several.folder.glob("scratch-*"))


def agreement(one, other):
    table = np.zeros((4, 4))
    np.add.at(table, (one, other), 1)
    return table.max(axis=1).sum() / len(one)


@pytest.mark.parametrize(
    "options",
    [
        {"tree": TREE},
        {"n_clusters": 3, "levels": False},
        {"n_clusters": 3, "effective_length": "heldout"},
        {"vectors": 5},
    ],
)
def test_a_sample_grows_with_every_option(monkeypatch, options):
    monkeypatch.setattr(growth_sample, "MAX_GROWTH_DOCUMENTS", 100)
    size = options.get("vectors")
    vectors = None if size is None else np.random.default_rng(0).normal(size=(len(COUNTS.indptr) - 1, size))
    own = {name: value for name, value in options.items() if name != "vectors"}
    model = CAM(random_state=0, max_iter=3, max_clusters=6, **own).fit(COUNTS, vectors=vectors)
    assert len(model.labels_) == COUNTS.shape[0]
    np.testing.assert_allclose(model.cluster_given_doc_.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(model.cluster_given_doc_, model.transform(COUNTS, vectors=vectors))
    assert (np.diff(model.history_) > -1e-9 * np.abs(model.history_[:-1])).all()


@pytest.mark.parametrize("most", [100, 17])
def test_the_drawn_of_a_sample_are_the_same_documents_of_the_whole(several, monkeypatch, tmp_path, most):
    monkeypatch.setattr(growth_sample, "MAX_GROWTH_DOCUMENTS", most)
    with growth_sample.open_growth_store(several, 3, tmp_path) as (smaller, chosen):
        assert len(smaller) == len(chosen) == most
        sizes = tuple(block.documents for block in smaller.manifest.blocks)
        drawn = draw_documents(list(sizes), 5, max_documents=11)
        there = growth_sample.map_to_store(several, chosen, drawn, sizes)
        assert sum(map(len, there)) == 11
        np.testing.assert_array_equal(rows_of(smaller, drawn), rows_of(several, there))


def rows_of(store, places):
    blocks = zip(store.blocks(), places, strict=True)
    return np.concatenate([block.counts()[some].toarray() for block, some in blocks])


def test_a_store_of_fewer_documents_grows_whole(several, tmp_path):
    with growth_sample.open_growth_store(several, 3, tmp_path) as (same, chosen):
        assert same is several
        assert chosen is None


def test_drawn_documents_are_so_many_of_all_blocks_in_their_order():
    sizes = [100, 0, 300, 1]
    drawn = draw_documents(sizes, 3, max_documents=200)
    assert sum(map(len, drawn)) == 200
    assert all((np.diff(part) > 0).all() for part in drawn)
    assert all(len(part) == 0 or (part[0] >= 0 and part[-1] < size) for part, size in zip(drawn, sizes, strict=True))
    assert 25 < len(drawn[0]) < 75
    assert [part.tolist() for part in draw_documents([2, 3], 0)] == [[0, 1], [0, 1, 2]]
    assert stored_documents.MAX_DRAWN == growth_data.MAX_DRAWN


def test_passes_are_those_of_em_and_one_to_judge_each_tree(several):
    class Counting(InProcess):
        names = []  # noqa: RUF012

        def total(self, function, blocks, local):
            self.names.append(type(function).__name__)
            return super().total(function, blocks, local)

    model = CAM(tree=TREE, random_state=0, max_iter=5, tol=0.0, executor=Counting()).fit(several)
    judged = Counting.names.index("ScoreBlock")
    assert Counting.names[0] == "SplitBlock"
    assert set(Counting.names[1:judged]) == {"Sweep"}
    assert Counting.names[judged + 1] == "WeighBlock"
    assert Counting.names[-1] == "ReadBlock"
    assert Counting.names.count("Sweep") == (judged - 1) + model.n_iter_ + 1
    assert Counting.names.count("ScoreBlock") == 1


def test_growing_stays_within_its_allowance(tmp_path):
    rng = np.random.default_rng(0)
    counts = sp.random(900, 1000, 0.02, "csr", rng=rng, data_rvs=lambda n: rng.integers(1, 4, n)).astype(np.float32)
    store = BlockStore.write(tmp_path / "s", counts, block_size=300)
    options = {"n_clusters": 3, "random_state": 0, "dtype": "float32", "max_iter": 1, "headings": False}
    need = growth_data.estimate_growth_bytes(store, 3, np.dtype("float32"))
    CAM(**{**options, "n_clusters": 1}).fit(store)  # what is made once is there
    used = peak(CAM(**options, executor=InProcess(need)).fit, store)
    assert need / 8 < used < need
    with pytest.raises(ResourceError, match="a tree of 3 leaves takes"):
        CAM(**options, executor=InProcess(need - 1)).fit(store)


def test_growth_that_ends_for_want_of_memory_says_so(several):
    need = growth_data.estimate_growth_bytes(several, 3, np.dtype("float64"))
    with pytest.warns(UserWarning, match="holds no more than 3: more memory may give more leaves"):
        model = CAM(random_state=0, headings=False, max_iter=2, executor=InProcess(need)).fit(several)
    assert len(model.tree_.leaves) <= 3
    with pytest.raises(ResourceError, match="a tree of 2 leaves takes"):
        CAM(executor=InProcess(1000)).fit(several)


def test_what_needs_memory_is_refused_before_anything_is_written(several):
    with pytest.raises(UsageError, match="vectors require counts in memory"):
        CAM().fit(several, vectors=np.ones((240, 2)))
    with pytest.raises(UsageError, match="effective_length='heldout' needs counts in memory"):
        CAM(effective_length="heldout").fit(several)
    with pytest.raises(InputError, match="n_clusters=500 needs at least as many documents"):
        CAM(500).fit(several)
    assert not list(several.folder.glob("scratch-*"))
