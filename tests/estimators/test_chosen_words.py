"""Words that people choose: seeds draw words and documents to their node, ignored words are not there at all."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM, HPLSA, Tree
from topiarist.errors import UsageError
from topiarist.estimators.model_folder import load_model, save_model
from topiarist.models.path_models import TOKEN_SHARE

SUBJECTS, EACH, WORDS = 4, 30, 10
COMMON, LOOSE = SUBJECTS * WORDS, SUBJECTS * WORDS + 10  # columns of common words, and one word of all subjects alike
KINDS = pytest.mark.parametrize("kind", [CAM, HPLSA])


@pytest.fixture(scope="module")
def counts():
    """Four subjects with words of their own, ten words of all, and a last one that every third document has."""
    rng = np.random.default_rng(0)
    rows = np.zeros((SUBJECTS * EACH, LOOSE + 1), int)
    for row in range(len(rows)):
        own = row // EACH * WORDS + rng.integers(WORDS, size=12)
        np.add.at(rows[row], np.concatenate([own, COMMON + rng.integers(10, size=10)]), 1)
        rows[row, LOOSE] = 3 * (row % 3 == 0)
    return csr_array(rows)


def words_of(model):
    return model.tree_model_.word_given_node


def star(names=("a", "b", "c", "d")):
    return Tree.from_paths([[name] for name in names])


@KINDS
def test_a_leaf_begins_where_its_seeds_are(kind, counts):
    tree = star()
    for subject in range(SUBJECTS):
        seeds = {"c": [subject * WORDS, subject * WORDS + 1, subject * WORDS + 2]}
        model = kind(tree=tree, seed_words=seeds, random_state=0).fit(counts)
        labels = model.labels_[subject * EACH : (subject + 1) * EACH]
        assert tree.names[tree.leaves[np.bincount(labels).argmax()]] == "c"
        assert np.bincount(labels).max() > 0.9 * EACH
        assert model.seeds_.tolist() == [[tree.names.index("c"), column] for column in seeds["c"]]


@KINDS
def test_a_seed_draws_its_word_and_the_objective_rises(kind, counts):
    options = {"tree": star(), "random_state": 0}
    first = kind(seed_words={"a": [0, 1, 2]}, **options).fit(counts)
    second = kind(seed_words={"a": [0, 1, 2, LOOSE]}, **options).fit(counts)
    a = first.tree_.names.index("a")
    assert words_of(second)[a, LOOSE] > words_of(first)[a, LOOSE] + TOKEN_SHARE / 4
    assert words_of(second)[:, LOOSE].argmax() == a
    if kind is CAM:
        assert (np.diff(second.history_) >= -1e-9 * np.abs(second.history_[:-1])).all()


@KINDS
def test_groups_of_seeds_find_their_nodes_in_a_tree_that_grows(kind, counts):
    model = kind(SUBJECTS, seed_words=[[0, 1], [WORDS, LOOSE]], random_state=0).fit(counts)
    nodes = dict(model.seeds_[:, ::-1].tolist())
    assert nodes[0] == nodes[1] != nodes[WORDS] == nodes[LOOSE]
    plain = kind(SUBJECTS, random_state=0).fit(counts)
    assert model.tree_ == plain.tree_
    assert words_of(model)[nodes[LOOSE], LOOSE] > words_of(plain)[nodes[LOOSE], LOOSE]


@KINDS
def test_ignored_words_are_nowhere_and_change_nothing(kind, counts, tmp_path):
    ignored = [LOOSE, 3]
    model = kind(SUBJECTS, ignore_words=ignored, random_state=0).fit(counts)
    assert (words_of(model)[:, ignored] == 0).all()
    np.testing.assert_allclose(words_of(model).sum(axis=1), 1, rtol=1e-5)
    bare = counts.toarray()
    bare[:, ignored] = 0
    other = kind(SUBJECTS, random_state=0).fit(csr_array(bare))
    assert model.tree_ == other.tree_
    np.testing.assert_allclose(model.transform(counts), model.transform(csr_array(bare)), rtol=1e-12)
    np.testing.assert_allclose(model.transform(counts), other.transform(csr_array(bare)), atol=1e-4)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(counts), model.transform(counts))
    model.continue_fit(counts[:20])
    assert words_of(model)[:, ignored].max() < 1e-3


@KINDS
def test_seeds_stay_in_a_stream(kind, counts):
    options = {"tree": star(), "random_state": 0}
    plain, seeded = (kind(seed_words={"a": [0, 1, 2], **more}, **options).fit(counts) for more in ({}, {"b": [LOOSE]}))
    for model in (plain, seeded):
        model.continue_fit(counts[::2])
    b = plain.tree_.names.index("b")
    assert words_of(seeded)[b, LOOSE] > words_of(plain)[b, LOOSE] + TOKEN_SHARE / 4


@KINDS
def test_words_by_name(kind, counts):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(counts.toarray(), columns=[f"w{column}" for column in range(counts.shape[1])])
    model = kind(tree=star(), seed_words={"a": ["w0", "w1"]}, ignore_words=[f"w{LOOSE}"], random_state=0).fit(frame)
    assert (words_of(model)[:, LOOSE] == 0).all()
    assert model.seeds_[:, 1].tolist() == [0, 1]
    with pytest.raises(UsageError, match=r"no column is called 'w00'\n.*'w0'"):
        kind(3, ignore_words=["w00"]).fit(frame)


@KINDS
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed_words": [[1]], "ignore_words": [1]}, "both in seed_words and in ignore_words"),
        ({"seed_words": {"a": [1]}}, "a tree that grows has no nodes yet"),
        ({"seed_words": [[1]], "tree": star()}, "nodes of the given tree are known"),
        ({"seed_words": {"x": [1]}, "tree": star()}, "no node of the tree is called 'x'"),
        ({"seed_words": "oil"}, "words by node, or groups"),
        ({"seed_words": [[LOOSE + 1]]}, "there is no column 51"),
        ({"ignore_words": ["oil"]}, "the counts have no names"),
        ({"ignore_words": "oil"}, "must be a list of words"),
    ],
)
def test_choices_that_cannot_be_meant(kind, counts, options, message):
    with pytest.raises(UsageError, match=message):
        kind(**options).fit(counts)
