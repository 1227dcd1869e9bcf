"""Trees that are fitted to, and grown from, collections that are files."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp

from tests.oracles import textbook
from tests.trees.test_checkpoints import Diary, KilledError
from tests.work import peak
from topiarist import CAM, HPLSA, Tree
from topiarist.collection.grow import checkpoints
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.estimators.tree import growth_data, growth_sample
from topiarist.execution import BlockStore, InProcess
from topiarist.trees.growth import stored_documents
from topiarist.trees.growth.stored_documents import draw_documents

COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 240, 60, 4, length=60)[0])
TREE = Tree.balanced(2, 2)
LEARNED = (
    "word_given_node_", "node_given_cluster_", "cluster_prior_", "cluster_given_doc_", "word_given_topic_",
    "topic_given_class_", "class_prior_", "class_given_doc_", "doc_given_class_", "labels_", "history_", "seeds_",
)  # fmt: skip
BOTH = pytest.mark.parametrize("kind", [CAM, HPLSA])


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("blocks") / "one", COUNTS)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("blocks") / "several", COUNTS, block_size=48)  # 5 blocks


@pytest.fixture(autouse=True)
def no_scratch_files(one, several):
    yield
    for store in (one, several):
        assert not list(store.folder.glob("scratch-*"))


def assert_same(model, other):
    assert model.tree_ == other.tree_
    names = [name for name in LEARNED if hasattr(other, name)]
    assert len(names) >= 7
    for name in names:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)


def posterior_of(model):
    return model.cluster_given_doc_ if isinstance(model, CAM) else model.class_given_doc_


def assert_history_rises(model):
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()


def agreement(one, other):
    table = np.zeros((4, 4))
    np.add.at(table, (one, other), 1)
    return table.max(axis=1).sum() / len(one)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (CAM, {"tree": TREE}),
        (CAM, {"tree": TREE, "seed_words": {TREE.leaves[0]: [3, 5]}, "ignore_words": [7]}),
        (CAM, {"max_clusters": 8}),
        (CAM, {"n_clusters": 4, "headings": False, "dtype": "float32"}),
        (CAM, {"n_clusters": 3, "levels": False, "effective_length": None, "seed_words": [[2, 4]]}),
        (HPLSA, {"tree": TREE}),
        (HPLSA, {"tree": TREE, "topic_mix": "heldout", "effective_length": 20.0, "dtype": "float32"}),
        (HPLSA, {"tree": TREE, "seed_words": {TREE.leaves[0]: [3, 5]}, "ignore_words": [7]}),
        (HPLSA, {"tree": TREE, "class_nodes": "all", "variant": "sem", "max_iter": 5}),
        (HPLSA, {"max_classes": 8}),
        (HPLSA, {"n_classes": 3, "topic_mix": "heldout", "headings": False}),
        (HPLSA, {"n_classes": 3, "effective_length": 20.0, "class_smoothing": 0.1, "seed_words": [[2, 4]]}),
        (HPLSA, {"n_classes": 3, "topic_mix": "uniform", "variant": "cem", "max_iter": 5}),
    ],
)
def test_one_block_gives_bits_of_memory(one, kind, options):
    model, other = (kind(random_state=0, **options).fit(X) for X in (one, COUNTS))
    assert_same(model, other)
    assert (model.grown_, model.stopped_, model.n_iter_) == (other.grown_, other.stopped_, other.n_iter_)
    assert model.n_tokens_seen_ == pytest.approx(other.n_tokens_seen_)
    if other.curve_ is not None:
        np.testing.assert_array_equal(model.curve_.criterion, other.curve_.criterion)


def test_posteriors_are_computed_on_request_only(several):
    model, placed = CAM(4, random_state=0).fit(several), CAM(4, random_state=0).fit(several)
    model.fit(several, keep_posteriors=False)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "cluster_given_doc_")
    np.testing.assert_array_equal(model.word_given_node_, placed.word_given_node_)
    np.testing.assert_array_equal(model.transform(several), placed.cluster_given_doc_)
    np.testing.assert_array_equal(model.predict(several), placed.labels_)


def test_annealing_reads_files(tmp_path):
    options = {"growth": "annealed", "n_clusters": 2, "max_iter": 3, "random_state": 0, "effective_length": 6}
    store = BlockStore.write(tmp_path / "few", COUNTS[:30])
    assert_same(CAM(**options).fit(store), CAM(**options).fit(COUNTS[:30]))


@BOTH
def test_several_blocks_recover_planted_groups(several, kind):
    model, other = (kind(4, random_state=0).fit(X) for X in (several, COUNTS))  # each block holds other tokens out
    np.testing.assert_array_equal(posterior_of(model), model.transform(COUNTS))
    np.testing.assert_array_equal(model.labels_, model.predict(several))
    assert_history_rises(model)
    if kind is HPLSA:
        assert model.perplexity(COUNTS) == pytest.approx(other.perplexity(COUNTS), rel=0.01)
    else:
        assert agreement(model.labels_, other.labels_) >= 0.9
        assert model.history_[-1] == pytest.approx(other.history_[-1], rel=0.02)


@pytest.mark.parametrize(
    ("kind", "options", "most"),
    [(CAM, {"n_clusters": 4}, 120), (HPLSA, {"n_classes": 4}, 60), (HPLSA, {"tree": TREE, "topic_mix": "heldout"}, 60)],
)
def test_sample_proposes_for_all_documents(several, monkeypatch, kind, options, most):
    whole = kind(random_state=0, **options).fit(COUNTS)
    monkeypatch.setattr(growth_data, "MAX_DRAWN", most)
    model = kind(random_state=0, **options).fit(several)
    assert len(model.labels_) == len(several)
    assert len(model.tree_.leaves) == 4
    np.testing.assert_allclose(model.tree_model_.class_prior.sum(), 1.0)
    if kind is HPLSA:
        assert model.perplexity(COUNTS) < 1.03 * whole.perplexity(COUNTS)
    else:
        assert model.history_[-1] == pytest.approx(whole.history_[-1], rel=0.02)


@pytest.mark.parametrize(("kind", "seeds"), [(CAM, None), (CAM, [[2, 4]]), (HPLSA, [[2, 4]])])
def test_all_documents_teach_tree_of_sample(several, monkeypatch, kind, seeds):
    monkeypatch.setattr(growth_sample, "MAX_GROWTH_DOCUMENTS", 100)
    monkeypatch.setattr(growth_data, "MAX_DRAWN", 60)
    with patch.object(growth_sample, "MAX_GROWTH_DOCUMENTS", 1000):
        whole = kind(4, random_state=0, seed_words=seeds).fit(COUNTS)
    for X in (several, COUNTS) if kind is CAM else (several,):
        model = kind(4, random_state=0, seed_words=seeds).fit(X)
        assert len(model.tree_.leaves) == 4
        assert model.n_tokens_seen_ == pytest.approx(whole.n_tokens_seen_)  # of all, not of the sample
        assert model.n_iter_ <= growth_sample.LAST_STEPS
        assert len(model.labels_) == len(several)
        assert_history_rises(model)
        np.testing.assert_array_equal(posterior_of(model), model.transform(COUNTS))
        if kind is HPLSA:
            assert model.perplexity(COUNTS) < 1.03 * whole.perplexity(COUNTS)
        else:
            assert agreement(model.labels_, whole.labels_) >= 0.9


@pytest.mark.parametrize(
    "options",
    [
        {"tree": TREE},
        {"n_clusters": 3, "levels": False},
        {"n_clusters": 3, "effective_length": "heldout"},
        {"vectors": 5},
    ],
)
def test_sample_grows_with_every_option(monkeypatch, options):
    monkeypatch.setattr(growth_sample, "MAX_GROWTH_DOCUMENTS", 100)
    size = options.get("vectors")
    vectors = None if size is None else np.random.default_rng(0).normal(size=(len(COUNTS.indptr) - 1, size))
    own = {name: value for name, value in options.items() if name != "vectors"}
    model = CAM(random_state=0, max_iter=3, max_clusters=6, **own).fit(COUNTS, vectors=vectors)
    assert len(model.labels_) == COUNTS.shape[0]
    np.testing.assert_allclose(model.cluster_given_doc_.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_array_equal(model.cluster_given_doc_, model.transform(COUNTS, vectors=vectors))
    assert_history_rises(model)


@pytest.mark.parametrize("most", [100, 17])
def test_drawn_rows_of_sample_map_to_store(several, monkeypatch, tmp_path, most):
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


def test_small_store_grows_without_sample(several, tmp_path):
    with growth_sample.open_growth_store(several, 3, tmp_path) as (same, chosen):
        assert same is several
        assert chosen is None


def test_drawn_documents_are_spread_over_blocks():
    sizes = [100, 0, 300, 1]
    drawn = draw_documents(sizes, 3, max_documents=200)
    assert sum(map(len, drawn)) == 200
    assert all((np.diff(part) > 0).all() for part in drawn)
    assert all(len(part) == 0 or (part[0] >= 0 and part[-1] < size) for part, size in zip(drawn, sizes, strict=True))
    assert 25 < len(drawn[0]) < 75
    assert [part.tolist() for part in draw_documents([2, 3], 0)] == [[0, 1], [0, 1, 2]]
    assert stored_documents.MAX_DRAWN == growth_data.MAX_DRAWN


class FileDiary(Diary):
    """Keeps checkpoints in files, as a collection does."""

    def __init__(self, folder, lives):
        super().__init__(lives)
        self.folder = folder

    def note(self, checkpoint):
        checkpoints.write_checkpoint(self.folder, checkpoint())
        self.kept = checkpoints.read_checkpoint(self.folder)
        super().note(lambda: self.kept)


@pytest.mark.parametrize("most", [1000, 60])
def test_killed_growth_resumes_to_same_tree(several, monkeypatch, tmp_path, most):
    monkeypatch.setattr(growth_data, "MAX_DRAWN", most)
    whole = HPLSA(random_state=3, max_classes=6).fit(several)
    diary = FileDiary(tmp_path, lives=2)
    with pytest.raises(KilledError):
        HPLSA(random_state=3, max_classes=6).fit(several, journal=diary)
    assert diary.kept.stage.parts.n_classes > 2
    second = HPLSA(random_state=3, max_classes=6).fit(several, journal=diary)
    assert diary.recalled == 1
    assert_same(second, whole)


@pytest.mark.parametrize(("kind", "options", "first"), [(CAM, {}, 1), (HPLSA, {"topic_mix": "heldout"}, 2)])
def test_passes_are_em_steps_and_one_score(several, kind, options, first):
    class Counting(InProcess):
        names = []  # noqa: RUF012

        def total(self, function, blocks, local):
            self.names.append(getattr(function, "__name__", type(function).__name__))
            return super().total(function, blocks, local)

    names = Counting.names
    model = kind(tree=TREE, random_state=0, max_iter=5, tol=0.0, executor=Counting(), **options).fit(several)
    judged = names.index("ScoreBlock")
    assert names[:first] == ["SplitBlock", "sum_words"][:first]
    assert set(names[first:judged]) == {"Sweep"}
    assert (names[judged + 1], names[-1], names.count("ScoreBlock")) == ("WeighBlock", "ReadBlock", 1)
    assert names.count("Sweep") >= model.n_iter_ + 1
    if kind is CAM:
        assert names.count("Sweep") == (judged - 1) + model.n_iter_ + 1


@BOTH
def test_growing_stays_within_memory_limit(tmp_path, kind):
    rng = np.random.default_rng(0)
    counts = sp.random(900, 1000, 0.02, "csr", rng=rng, data_rvs=lambda n: rng.integers(1, 4, n)).astype(np.float32)
    store = BlockStore.write(tmp_path / "s", counts, block_size=300)
    options = {"random_state": 0, "dtype": "float32", "max_iter": 1 if kind is CAM else 3, "headings": False}
    need = growth_data.estimate_growth_bytes(store, 3, np.dtype("float32"))
    kind(1, **options).fit(store)  # what is made once is there
    used = peak(kind(3, **options, executor=InProcess(need)).fit, store)
    assert need / 8 < used < need
    with pytest.raises(ResourceError, match="a tree of 3 leaves takes"):
        kind(3, **options, executor=InProcess(need - 1)).fit(store)
    assert not list(store.folder.glob("scratch-*"))


@pytest.mark.parametrize(
    ("kind", "options", "n_leaves"), [(CAM, {}, 2), (HPLSA, {"tree": TREE, "class_nodes": "all"}, 7)]
)
def test_memory_limit_ends_growth_with_warning(several, kind, options, n_leaves):
    need = growth_data.estimate_growth_bytes(several, 3, np.dtype("float64"))
    with pytest.warns(UserWarning, match="holds no more than 3"):
        model = kind(random_state=0, headings=False, max_iter=2, executor=InProcess(need)).fit(several)
    assert len(model.tree_.leaves) <= 3
    with pytest.raises(ResourceError, match=f"a tree of {n_leaves} leaves takes"):
        kind(executor=InProcess(1000), **options).fit(several)


@pytest.mark.parametrize(
    ("model", "error", "message", "vectors"),
    [
        (CAM(), UsageError, "vectors require counts in memory", {"vectors": np.ones((240, 2))}),
        (CAM(effective_length="heldout"), UsageError, "effective_length='heldout' needs counts in memory", {}),
        (CAM(500), InputError, "n_clusters=500 needs at least as many documents", {}),
        (HPLSA(growth="annealed"), UsageError, "growth='annealed' cannot be used with counts that are files", {}),
        (HPLSA(500), InputError, "n_classes=500 needs at least as many documents", {}),
    ],
)
def test_impossible_fits_are_refused_before_writing(several, model, error, message, vectors):
    with pytest.raises(error, match=message):
        model.fit(several, **vectors)
