"""Trees of documents that mix classes, fitted to and grown from collections that are files."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.oracles import textbook
from tests.trees.test_checkpoints import Diary, KilledError
from tests.work import peak
from topiarist import HPLSA, Tree
from topiarist.collection.grow import checkpoints
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.estimators.tree import growth_data, growth_sample
from topiarist.execution import BlockStore, InProcess

COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 240, 60, 4, length=60)[0])
TREE = Tree.balanced(2, 2)
LEARNED = (
    "word_given_topic_", "topic_given_class_", "class_prior_", "class_given_doc_", "doc_given_class_", "labels_",
    "history_", "seeds_",
)  # fmt: skip


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
        {"tree": TREE, "topic_mix": "heldout", "effective_length": 20.0, "dtype": "float32"},
        {"tree": TREE, "seed_words": {TREE.leaves[0]: [3, 5]}, "ignore_words": [7]},
        {"tree": TREE, "class_nodes": "all", "variant": "sem", "max_iter": 5},
        {"max_classes": 8},
        {"n_classes": 3, "topic_mix": "heldout", "headings": False},
        {"n_classes": 3, "effective_length": 20.0, "class_smoothing": 0.1, "seed_words": [[2, 4]]},
        {"n_classes": 3, "topic_mix": "uniform", "variant": "cem", "max_iter": 5},
    ],
)
def test_a_store_of_one_block_gives_the_bits_of_counts_in_memory(one, options):
    model, other = (HPLSA(random_state=0, **options).fit(X) for X in (one, COUNTS))
    assert_same(model, other)
    assert (model.grown_, model.stopped_, model.n_iter_) == (other.grown_, other.stopped_, other.n_iter_)
    assert model.n_tokens_seen_ == pytest.approx(other.n_tokens_seen_)
    if other.curve_ is not None:
        np.testing.assert_array_equal(model.curve_.criterion, other.curve_.criterion)
    assert not list(one.folder.glob("scratch-*"))


def test_several_blocks_find_the_planted_groups(several):
    model, other = HPLSA(4, random_state=0).fit(several), HPLSA(4, random_state=0).fit(COUNTS)
    assert model.perplexity(COUNTS) == pytest.approx(other.perplexity(COUNTS), rel=0.01)  # other tokens are held out
    np.testing.assert_array_equal(model.class_given_doc_, model.transform(COUNTS))
    np.testing.assert_array_equal(model.labels_, model.predict(several))
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()


@pytest.mark.parametrize("options", [{"n_classes": 4}, {"tree": TREE, "topic_mix": "heldout"}])
def test_a_sample_proposes_and_the_rows_of_all_documents_follow(several, monkeypatch, options):
    whole = HPLSA(random_state=0, **options).fit(COUNTS)
    monkeypatch.setattr(growth_data, "MAX_DRAWN", 60)
    model = HPLSA(random_state=0, **options).fit(several)
    assert len(model.labels_) == len(several)
    assert len(model.tree_.leaves) == 4
    assert model.perplexity(COUNTS) < 1.03 * whole.perplexity(COUNTS)
    assert not list(several.folder.glob("scratch-*"))


def test_of_very_many_documents_a_sample_grows_and_all_teach_what_has_grown(several, monkeypatch):
    whole = HPLSA(4, random_state=0).fit(COUNTS)
    monkeypatch.setattr(growth_sample, "MAX_GROWTH_DOCUMENTS", 100)
    monkeypatch.setattr(growth_data, "MAX_DRAWN", 60)
    model = HPLSA(4, random_state=0, seed_words=[[2, 4]]).fit(several)
    assert model.n_tokens_seen_ == pytest.approx(whole.n_tokens_seen_)  # of all, not of the sample
    assert model.n_iter_ <= growth_sample.LAST_STEPS
    assert model.perplexity(COUNTS) < 1.03 * whole.perplexity(COUNTS)
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()
    np.testing.assert_array_equal(model.class_given_doc_, model.transform(COUNTS))
    assert not list(several.folder.glob("scratch-*"))


class Written(Diary):
    """Keeps checkpoints in files, as a collection does."""

    def __init__(self, folder, lives):
        super().__init__(lives)
        self.folder = folder

    def note(self, checkpoint):
        checkpoints.write_checkpoint(self.folder, checkpoint())
        self.kept = checkpoints.read_checkpoint(self.folder)
        super().note(lambda: self.kept)


@pytest.mark.parametrize("most", [1000, 60])
def test_growth_that_was_killed_goes_on_to_the_same_tree(several, monkeypatch, tmp_path, most):
    monkeypatch.setattr(growth_data, "MAX_DRAWN", most)
    whole = HPLSA(random_state=3, max_classes=6).fit(several)
    diary = Written(tmp_path, lives=2)
    with pytest.raises(KilledError):
        HPLSA(random_state=3, max_classes=6).fit(several, journal=diary)
    assert diary.kept.stage.parts.n_classes > 2
    second = HPLSA(random_state=3, max_classes=6).fit(several, journal=diary)
    assert diary.recalled == 1
    assert_same(second, whole)


def test_passes_are_those_of_em_and_one_to_judge_each_tree(several):
    class Counting(InProcess):
        names = []  # noqa: RUF012

        def total(self, function, blocks, local):
            self.names.append(getattr(function, "__name__", type(function).__name__))
            return super().total(function, blocks, local)

    model = HPLSA(tree=TREE, topic_mix="heldout", random_state=0, max_iter=5, tol=0.0, executor=Counting()).fit(several)
    judged = Counting.names.index("ScoreBlock")
    assert Counting.names[:2] == ["SplitBlock", "sum_words"]
    assert set(Counting.names[2:judged]) == {"Sweep"}
    assert Counting.names[judged + 1] == "WeighBlock"
    assert Counting.names[-1] == "ReadBlock"
    assert Counting.names.count("ScoreBlock") == 1
    assert Counting.names.count("Sweep") >= model.n_iter_ + 1


def test_growing_stays_within_its_allowance(tmp_path):
    rng = np.random.default_rng(0)
    counts = sp.random(900, 1000, 0.02, "csr", rng=rng, data_rvs=lambda n: rng.integers(1, 4, n)).astype(np.float32)
    store = BlockStore.write(tmp_path / "s", counts, block_size=300)
    options = {"n_classes": 3, "random_state": 0, "dtype": "float32", "max_iter": 3, "headings": False}
    need = growth_data.estimate_growth_bytes(store, 3, np.dtype("float32"))
    HPLSA(**{**options, "n_classes": 1}).fit(store)  # what is made once is there
    used = peak(HPLSA(**options, executor=InProcess(need)).fit, store)
    assert need / 8 < used < need
    with pytest.raises(ResourceError, match="a tree of 3 leaves takes"):
        HPLSA(**options, executor=InProcess(need - 1)).fit(store)
    assert not list(store.folder.glob("scratch-*"))


def test_growth_that_ends_for_want_of_memory_says_so(several):
    need = growth_data.estimate_growth_bytes(several, 3, np.dtype("float64"))
    with pytest.warns(UserWarning, match="holds no more than 3: more memory may give more leaves"):
        model = HPLSA(random_state=0, headings=False, max_iter=2, executor=InProcess(need)).fit(several)
    assert len(model.tree_.leaves) <= 3
    with pytest.raises(ResourceError, match="a tree of 7 leaves takes"):
        HPLSA(tree=TREE, class_nodes="all", executor=InProcess(1000)).fit(several)


def test_what_needs_memory_is_refused_before_anything_is_written(several):
    with pytest.raises(UsageError, match="growth='annealed' does not go with counts that are files"):
        HPLSA(growth="annealed").fit(several)
    with pytest.raises(InputError, match="n_classes=500 needs at least as many documents"):
        HPLSA(500).fit(several)
    assert not list(several.folder.glob("scratch-*"))
