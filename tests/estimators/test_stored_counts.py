"""Estimators on collections that are files."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from tests.oracles import textbook
from topiarist import CAM, HPLSA, PLSA, Tree
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.estimators.common import stored_counts
from topiarist.execution import BlockStore, InProcess
from topiarist.execution.executors import BASE_BYTES

COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 240, 60, 4, length=60)[0])
TREE = Tree.balanced(2, 2)


@pytest.fixture
def store(tmp_path):
    return BlockStore.write(tmp_path / "store", COUNTS, block_size=100)


def test_plsa_learns_the_same_from_files(store):
    settings = {"n_components": 4, "random_state": 0, "word_smoothing": 0.01, "component_smoothing": 0.05}
    model, other = PLSA(**settings).fit(store), PLSA(**settings).fit(COUNTS)
    np.testing.assert_allclose(model.history_, other.history_, rtol=1e-12)  # blocks are added in another order
    np.testing.assert_allclose(model.components_, other.components_, atol=1e-9)
    np.testing.assert_allclose(model.component_prior_, other.component_prior_, atol=1e-9)
    assert (model.n_iter_, model.stopped_, model.n_features_in_) == (other.n_iter_, other.stopped_, 60)
    assert model.n_tokens_seen_ == other.n_tokens_seen_
    np.testing.assert_array_equal(model.component_given_doc_, model.transform(COUNTS))
    np.testing.assert_array_equal(model.component_given_doc_, model.transform(store))
    assert not list(store.folder.glob("scratch-*"))


def test_one_block_gives_the_bits_of_memory(tmp_path):
    store = BlockStore.write(tmp_path / "s", COUNTS)
    for dtype in ("float32", "float64"):
        model, other = (PLSA(4, random_state=0, dtype=dtype, max_iter=10).fit(X) for X in (store, COUNTS))
        np.testing.assert_array_equal(model.components_, other.components_)
        np.testing.assert_array_equal(model.component_given_doc_, other.component_given_doc_)


@pytest.mark.parametrize("n_columns", [1, 20])
def test_sums_over_documents_do_not_know_how_many_threads_blas_has(n_columns):
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(3.0, (32_768, 4)).astype(np.float64))
    rows = rng.random((32_768, n_columns))
    function = stored_counts.ReadBlock(lambda counts: rows)
    tokens = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, "blas"):
            tokens.append(function(counts, None)[0])
    np.testing.assert_array_equal(*tokens)
    exact = counts.sum(axis=1) @ rows.astype(np.longdouble)
    np.testing.assert_allclose(tokens[0], exact.astype(np.float64), rtol=1e-12)


def test_restarts_and_plain_steps_work_from_files(store):
    model = PLSA(3, random_state=0, n_init=2, accelerate=False, inverse_temperature=0.9, max_iter=5).fit(store)
    other = PLSA(3, random_state=0, n_init=2, accelerate=False, inverse_temperature=0.9, max_iter=5).fit(COUNTS)
    np.testing.assert_allclose(model.history_, other.history_, rtol=1e-12)


def test_many_rows_stay_in_a_file(store, monkeypatch):
    monkeypatch.setattr(stored_counts, "MAX_MEMORY_BYTES", 100)
    model = PLSA(4, random_state=0, max_iter=3).fit(store)
    assert isinstance(model.component_given_doc_.base, np.memmap)
    np.testing.assert_array_equal(model.component_given_doc_, model.transform(COUNTS))
    tree = HPLSA(tree=TREE, random_state=0, max_iter=3).fit(store)
    np.testing.assert_allclose(tree.doc_given_class_.sum(axis=1), 1)
    del model, tree
    assert not list(store.folder.glob("scratch-*"))


def test_hplsa_fits_a_given_tree_to_files(store):
    model = HPLSA(tree=TREE, random_state=0).fit(store)
    assert (model.grown_, model.curve_, model.tree_) == ("given", None, TREE)
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()
    assert model.perplexity(COUNTS) < 1.05 * HPLSA(tree=TREE, random_state=0).fit(COUNTS).perplexity(COUNTS)
    np.testing.assert_array_equal(model.class_given_doc_, model.transform(COUNTS))
    np.testing.assert_array_equal(model.labels_, model.predict(store))
    np.testing.assert_allclose(model.class_prior_.sum(), 1)
    lengths = np.asarray(COUNTS.sum(axis=1)).ravel()
    shares = model.class_given_doc_ * lengths[:, None]
    np.testing.assert_allclose(model.doc_given_class_, (shares / shares.sum(axis=0)).T)


def test_a_tree_that_was_grown_in_memory_reads_files(store):
    model = CAM(4, random_state=0).fit(store.sample(200))
    np.testing.assert_array_equal(model.transform(store), model.transform(COUNTS))
    np.testing.assert_array_equal(model.predict(store), model.predict(COUNTS))


def test_limited_memory_keeps_what_has_a_row_for_each_document_in_files(store, monkeypatch):
    tree = HPLSA(tree=TREE, random_state=0, max_iter=3)
    plain = tree.fit(store)
    arrays = ("class_given_doc_", "labels_", "_lengths")
    assert not any(isinstance(getattr(plain, name).base, np.memmap) for name in arrays)
    monkeypatch.setattr(stored_counts, "MAX_LIMITED_BYTES", 1000)
    limited = HPLSA(tree=TREE, random_state=0, max_iter=3, executor=InProcess(memory=10**8)).fit(store)
    assert all(isinstance(getattr(limited, name).base, np.memmap) for name in arrays)
    assert isinstance(limited.predict(store).base, np.memmap)
    for name in (*arrays, "class_prior_", "doc_given_class_"):
        np.testing.assert_array_equal(getattr(limited, name), getattr(plain, name))
    np.testing.assert_array_equal(limited.predict(store), plain.predict(COUNTS))
    del limited
    assert not list(store.folder.glob("scratch-*"))


def test_reading_stays_within_its_memory_or_is_refused(tmp_path):
    rng, n_docs, n_columns = np.random.default_rng(0), 16_384, 128
    counts = sp.csr_array((np.ones(n_docs), rng.integers(0, 50, n_docs), np.arange(n_docs + 1)), shape=(n_docs, 50))
    store = BlockStore.write(tmp_path / "s", counts, block_size=n_docs // 4)
    model = PLSA(n_columns, random_state=0, max_iter=1, dtype="float32").fit(counts)
    rows = n_docs // 4 * n_columns * 4
    model.set_params(executor=InProcess(memory=BASE_BYTES + 2 * rows))
    with pytest.raises(ResourceError, match=r"a pass takes 8\.\d MB: 4\.\d MB for a block with its rows"):
        model.transform(store)
    model.set_params(executor=InProcess(memory=BASE_BYTES + 2 * rows + 10**6))
    tracemalloc.start()
    try:
        answer = model.transform(store)
        assert tracemalloc.get_traced_memory()[1] <= BASE_BYTES + 2 * rows + 10**6  # 8 MB in all, and four such blocks
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(answer, model.component_given_doc_)


class Cluster(InProcess):
    needs_files = True


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (
            lambda X: PLSA(2, heldout_fraction=0.1).fit(X),
            "heldout_fraction=0.1 cannot be used with counts that are files",
        ),
        (lambda X: PLSA(2, inverse_temperature="heldout").fit(X), "inverse_temperature='heldout' cannot be used"),
        (lambda X: PLSA(2, online=True).fit(X), "online=True cannot be used with counts that are files"),
        (lambda X: PLSA(2).partial_fit(X), "partial_fit needs counts in memory, and this is a BlockStore"),
        (lambda X: PLSA(2, max_iter=1).fit(X).score(X), "score needs counts in memory"),
        (lambda X: PLSA(2, max_iter=1).fit(X).perplexity(X), "perplexity needs counts in memory"),
        (lambda X: HPLSA(tree=TREE).partial_fit(X), "partial_fit needs counts in memory"),
        (lambda X: HPLSA(tree=TREE, max_iter=1).fit(X).score(X), "score needs counts in memory"),
        (lambda X: HPLSA(tree=TREE, max_iter=1).fit(X).perplexity(X), "perplexity needs counts in memory"),
        (lambda X: CAM(tree=TREE, max_iter=1).fit(COUNTS).word_levels(X), "word_levels needs counts in memory"),
        (lambda X: HPLSA(2, growth="annealed").fit(X), "growth='annealed' cannot be used with counts that are files"),
        (lambda X: HPLSA(2, growth="annealed", executor=Cluster()).fit(COUNTS), "growth='annealed' cannot be used"),
    ],
)
def test_what_needs_memory_says_so(store, fit, message):
    with pytest.raises(UsageError, match=message):
        fit(store)


class Elsewhere:
    """Somebody's own executor, which has what the protocol asks for and no more."""

    needs_files = True

    def total(self, function, blocks, local):
        return InProcess().total(function, blocks, local)


def test_an_own_executor_needs_no_scratch_folder():
    model = PLSA(4, random_state=0, max_iter=5, executor=Elsewhere()).fit(COUNTS)
    np.testing.assert_allclose(model.history_, PLSA(4, random_state=0, max_iter=5).fit(COUNTS).history_)


def test_too_few_documents_for_the_components(store):
    with pytest.raises(InputError, match=r"n_components=241 needs .* got 240 \(n_samples=240\)"):
        PLSA(241).fit(store)


def test_other_words_are_refused(tmp_path, store):
    model = PLSA(2, max_iter=1).fit(store)
    with pytest.raises(ValueError, match="X has 3 features, but PLSA is expecting 60"):
        model.transform(BlockStore.write(tmp_path / "other", np.eye(3)))
