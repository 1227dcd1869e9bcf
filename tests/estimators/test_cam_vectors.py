"""CAM with vectors beside words: what they add, what they never change, and who is refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM
from topiarist.counts.vectors import check_vectors, join_spaces, project_to_leading_axes
from topiarist.errors import InputError, UsageError
from topiarist.estimators.model_folder import load_model, save_model
from topiarist.estimators.tree import cam as estimator

N, WORDS, DIMS = 160, 40, 6
GROUP = np.arange(N) % 4


def short_texts(seed=0, noise=0.35):
    """Four groups: words tell the first pair from the second and hint at the rest, vectors tell all four."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((N, WORDS))
    for d in range(N):
        pair = (GROUP[d] // 2) * 20 + rng.integers(0, 20, 2)
        own = GROUP[d] * 10 + rng.integers(0, 10, 2)
        np.add.at(counts[d], np.concatenate([pair, own]), 1)
    centres = np.linalg.qr(rng.standard_normal((DIMS, DIMS)))[0][:4]
    return csr_array(counts), centres[GROUP] + noise * rng.standard_normal((N, DIMS)) / np.sqrt(DIMS)


COUNTS, VECTORS = short_texts()


def purity(labels):
    return sum(np.bincount(GROUP[labels == c]).max() for c in np.unique(labels)) / N


def test_vectors_tell_apart_what_words_do_not():
    assert purity(CAM(4, random_state=0).fit(COUNTS).labels_) < 0.8
    model = CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS)
    assert purity(model.labels_) > 0.95
    assert model.concentration_ == 40.0
    np.testing.assert_allclose(np.linalg.norm(model.directions_, axis=1), 1.0)
    assert (np.diff(model.history_) >= -1e-9 * np.abs(model.history_[:-1])).all()


def test_without_a_weight_the_tree_is_that_of_words_alone_bit_by_bit():
    plain = CAM(3, random_state=1).fit(COUNTS)
    other = CAM(3, random_state=1, concentration=0).fit(COUNTS, vectors=VECTORS)
    assert plain.directions_ is None
    assert other.directions_ is None
    assert plain.concentration_ == other.concentration_ == 0.0
    for name in ("word_given_node_", "node_given_cluster_", "cluster_given_doc_", "history_"):
        assert np.array_equal(getattr(plain, name), getattr(other, name)), name


def test_vectors_that_say_nothing_are_left_aside():
    """Held-out words are less likely with vectors of chance: the tree is one of words."""
    chance = np.random.default_rng(2).standard_normal((N, 200))
    model = CAM(4, random_state=0).fit(COUNTS, vectors=chance)
    assert model.concentration_ == 0.0
    assert model.directions_ is None
    assert np.array_equal(model.transform(COUNTS, vectors=chance), model.transform(COUNTS))


@pytest.mark.parametrize(("better", "weight"), [(0.009, 40.0), (0.011, 0.0)])
def test_vectors_are_left_aside_where_words_lose_more_than_a_hundredth(monkeypatch, better, weight):
    """Which of two trees is better by less is chance."""
    told = iter((-5.0, -5.0 + np.log1p(better), 0.0))  # of the tree with vectors, of that of words, of the one taken
    monkeypatch.setattr(estimator.preparation, "choose_concentration", lambda *_: 0.0)
    monkeypatch.setattr(estimator.preparation, "compute_heldout_likelihood", lambda *_: next(told))
    assert CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS).concentration_ == weight


def test_documents_are_placed_with_vectors_and_without():
    model = CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS)
    more, vectors = short_texts(7)[0], VECTORS
    both = model.transform(COUNTS, vectors=vectors)
    np.testing.assert_allclose(both, model.cluster_given_doc_)
    np.testing.assert_array_equal(model.predict(COUNTS, vectors=vectors), model.labels_)
    alone = model.transform(more)
    assert alone.shape == (N, 4)
    np.testing.assert_allclose(model.transform(more, vectors=np.zeros((N, DIMS))), alone, atol=1e-12)
    wordless = model.transform(csr_array((N, WORDS)), vectors=vectors)
    assert purity(wordless.argmax(axis=1)) > 0.95


def test_only_directions_count():
    model = CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS)
    longer = CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS * 1000.0)
    np.testing.assert_allclose(longer.cluster_given_doc_, model.cluster_given_doc_, atol=1e-6)


def test_a_saved_tree_knows_its_directions(tmp_path):
    model = CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS.astype(np.float16))
    save_model(model, tmp_path / "model")
    kept = load_model(tmp_path / "model")
    assert np.array_equal(kept.transform(COUNTS, vectors=VECTORS), model.transform(COUNTS, vectors=VECTORS))


def test_a_tree_can_be_given():
    shape = CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS).tree_
    assert purity(CAM(tree=shape, random_state=0).fit(COUNTS, vectors=VECTORS).labels_) > 0.9


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (VECTORS[:-1], "160 documents and 159 vectors"),
        (np.where(np.arange(N)[:, None] == 4, np.nan, VECTORS), "document 5 has entries that are not finite"),
        (VECTORS[:, 0], "matrix of numbers"),
        (np.full((N, 3), "a"), "matrix of numbers"),
        (VECTORS[:, :1], "at least 2 dimensions"),
    ],
)
def test_what_is_no_vector_is_refused(vectors, said):
    with pytest.raises(InputError, match=said):
        CAM(2).fit(COUNTS, vectors=vectors)


def test_vectors_of_another_encoder_are_refused():
    model = CAM(4, random_state=0).fit(COUNTS, vectors=VECTORS)
    with pytest.raises(InputError, match="must have the 6 dimensions of training, got 7"):
        model.transform(COUNTS, vectors=np.ones((N, 7)))
    with pytest.raises(UsageError, match="concentration"):
        CAM(2, concentration=-1.0).fit(COUNTS, vectors=VECTORS)


def test_directions_have_length_one_and_are_never_the_callers_array():
    given = np.array([[3.0, 4.0], [0.0, 0.0]])
    found = check_vectors(given, 2)
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)
    assert found.dtype == np.float32
    assert check_vectors(given.astype(np.float16), 2).dtype == np.float16
    np.testing.assert_array_equal(given, [[3.0, 4.0], [0.0, 0.0]])


def test_in_the_joined_space_words_say_as_much_as_there_are_of_them():
    words = np.eye(3, 2, dtype=np.float32)
    space = join_spaces(words, np.array([60.0, 20.0, 0.0]), check_vectors(np.eye(3), 3), 20.0, 2)
    np.testing.assert_allclose(np.linalg.norm(space[:, :2], axis=1), [np.sqrt(0.75), np.sqrt(0.5), 0.0], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(space[:, 2:], axis=1), 1.0, rtol=1e-6)


def test_a_tree_grows_in_leading_dimensions_and_ends_in_all_of_them(monkeypatch):
    wide = VECTORS @ np.linalg.qr(np.random.default_rng(3).standard_normal((120, 120)))[0][:DIMS]
    given = list[int]()
    prepared = estimator.preparation.prepare_growth
    monkeypatch.setattr(
        estimator.preparation, "prepare_growth", lambda *all: (given.append(all[-1].shape[1]), prepared(*all))[1]
    )
    model = CAM(4, random_state=0).fit(COUNTS, vectors=wide)
    assert given == [estimator.GROWTH_DIMENSIONS]
    assert model.directions_.shape == (4, 120)
    assert purity(model.labels_) > 0.95
    np.testing.assert_allclose(model.transform(COUNTS, vectors=wide), model.cluster_given_doc_)


def test_leading_dimensions_keep_products_where_vectors_vary():
    """Rows of few dimensions have the same products with each other in these; others lose what is small."""
    rng = np.random.default_rng(4)
    flat = check_vectors(rng.standard_normal((50, 5)) @ rng.standard_normal((5, 40)), 50)
    np.testing.assert_allclose(
        project_to_leading_axes(flat, 5) @ project_to_leading_axes(flat, 5).T, flat @ flat.T, atol=1e-5
    )
    assert project_to_leading_axes(flat, 40) is flat
    some = check_vectors(np.where(np.arange(50)[:, None] == 7, 0.0, rng.standard_normal((50, 40))), 50)
    part = project_to_leading_axes(some, 10)
    assert not part[7].any()
    assert (np.linalg.norm(part, axis=1) <= 1 + 1e-6).all()
    second = some.astype(float).T @ some.astype(float)
    assert (part**2).sum() == pytest.approx(np.linalg.eigvalsh(second)[-10:].sum(), rel=1e-5)


def test_vectors_without_held_out_tokens_grow_a_tree():
    """Documents of one word hold nothing out."""
    counts = np.eye(4, dtype=np.float32)[np.arange(12) % 4]
    model = CAM(2, random_state=0).fit(counts, vectors=counts)
    assert len(model.labels_) == 12
