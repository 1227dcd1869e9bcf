"""A tree that people shaped is fitted again, and what they said holds."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM, HPLC, Collection, Document, HierarchicalMixture, Recipe, Tree
from topiarist.collection.shape import Branch, Delete, Group, Merge, Move, Pin, Split
from topiarist.collection.shape.edits import apply
from topiarist.collection.shape.refit import compute_start
from topiarist.collection.shape.tree_state import TreeState
from topiarist.estimators.tree.fitted_tree import compute_shares, get_tree_model, make_sparse_shares
from topiarist.estimators.tree.refit import refit

SUBJECTS, EACH, WORDS = 6, 40, 12


@pytest.fixture(scope="module")
def counts():
    """Six subjects of twelve words each, and common words."""
    rng = np.random.default_rng(0)
    rows = np.zeros((SUBJECTS * EACH, SUBJECTS * WORDS + 10), int)
    for row in range(len(rows)):
        subject = row // EACH
        own = subject * WORDS + rng.integers(WORDS, size=20)
        np.add.at(rows[row], np.concatenate([own, SUBJECTS * WORDS + rng.integers(10, size=10)]), 1)
    return csr_array(rows)


@pytest.fixture(scope="module")
def grown(counts):
    return CAM(SUBJECTS, random_state=0).fit(counts)


@pytest.fixture(scope="module")
def shares(grown, counts):
    return compute_shares(grown, counts)


@pytest.fixture
def shape(grown):
    return TreeState.from_tree(grown.tree_, grown.tree_.leaves)


ROWS = {str(row): row for row in range(SUBJECTS * EACH)}


def fitted(shape, grown, shares, counts, kind=HierarchicalMixture):
    begun = compute_start(shape, grown.tree_.leaves, shares, counts, ROWS)
    model = refit(kind(shape.tree, effective_length=None), counts, begun.class_nodes, begun.shares, begun.pins)
    return model, begun, np.array(begun.class_nodes)[compute_shares(model, counts).toarray().argmax(axis=1)]


def leaf_of(shape, shares, subject):
    """The topic that the documents of a subject lie in."""
    members = shares[subject * EACH : (subject + 1) * EACH].toarray().argmax(axis=1)
    return shape.class_topics[np.bincount(members).argmax()]


@pytest.mark.parametrize("kind", [HierarchicalMixture, HPLC])
def test_without_an_edit_documents_stay_and_the_objective_rises(kind, shape, grown, shares, counts):
    model, begun, nodes = fitted(shape, grown, shares, counts, kind)
    np.testing.assert_array_equal(nodes, np.array(grown.tree_.leaves)[grown.labels_])
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[-1])).all()
    np.testing.assert_allclose(model.topic_given_class_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.word_given_topic_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_proba(counts).sum(axis=1), 1.0)
    np.testing.assert_allclose(begun.shares.sum(axis=1), 1.0, atol=1e-2)
    assert get_tree_model(model).tree == shape.tree


def test_merged_topics_stay_together(shape, grown, shares, counts):
    one, other = (leaf_of(shape, shares, subject) for subject in (0, 3))
    merged = apply(shape, Merge((one, other)))
    _, begun, _ = fitted(merged, grown, shares, counts)
    place = begun.class_nodes.index(merged.node(one))
    together = np.r_[0:EACH, 3 * EACH : 4 * EACH]
    assert (begun.pins[together] == place).mean() > 0.95
    assert (np.delete(begun.pins, together) == -1).all()


def test_a_split_topic_parts_into_what_was_merged(grown, shares, counts, shape):
    one, other = (leaf_of(shape, shares, subject) for subject in (1, 4))
    merged = apply(shape, Merge((one, other)))
    model, begun, _ = fitted(merged, grown, shares, counts)
    held = make_sparse_shares(np.eye(len(begun.class_nodes))[np.where(begun.pins >= 0, begun.pins, 0)])
    rest = compute_shares(model, counts)
    both = csr_array(np.where(begun.pins[:, None] >= 0, held.toarray(), rest.toarray()))
    plain = TreeState.from_tree(model.tree_, model.class_nodes_)
    parted = apply(plain, Split(merged.node(one)))
    begun = compute_start(parted, model.class_nodes_, both, counts, ROWS)
    model = refit(HierarchicalMixture(parted.tree), counts, begun.class_nodes, begun.shares, begun.pins)
    nodes = model.predict(counts)
    first, second = nodes[EACH : 2 * EACH], nodes[4 * EACH : 5 * EACH]
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]
    assert {parted.tree.parents[node] for node in (first[0], second[0])} == {parted.node(merged.node(one))}


def test_documents_of_a_deleted_topic_find_other_places(shape, grown, shares, counts):
    gone = leaf_of(shape, shares, 2)
    fewer = apply(shape, Delete(gone))
    _, begun, nodes = fitted(fewer, grown, shares, counts)
    assert set(nodes) <= set(fewer.tree.leaves)
    np.testing.assert_allclose(begun.shares.sum(axis=1), 1.0, atol=1e-2)


def test_a_topic_that_others_move_under_keeps_its_documents(shape, grown, shares, counts):
    one, other = (leaf_of(shape, shares, subject) for subject in (0, 5))
    moved = apply(shape, Move(other, one))
    _, begun, nodes = fitted(moved, grown, shares, counts)
    assert moved.node(one) in begun.class_nodes
    assert (nodes[:EACH] == moved.node(one)).mean() > 0.95
    assert (nodes[5 * EACH :] == moved.node(other)).mean() > 0.95


@pytest.mark.parametrize("kind", [HierarchicalMixture, HPLC])
def test_grouped_topics_keep_their_documents(kind, shape, grown, shares, counts):
    topics = [leaf_of(shape, shares, subject) for subject in (0, 2, 5)]
    grouped = apply(shape, Group(tuple(topics), "Ours"))
    model, begun, nodes = fitted(grouped, grown, shares, counts, kind)
    assert sorted(begun.class_nodes) == sorted(grouped.tree.leaves), "the heading has no documents of its own"
    for subject, topic in zip((0, 2, 5), topics, strict=True):
        assert (nodes[subject * EACH : (subject + 1) * EACH] == grouped.node(topic)).mean() > 0.95
    assert model.tree_.names[grouped.node(shape.next_topic)] == "Ours"


def test_pinned_documents_teach_their_topic(shape, grown, shares, counts):
    topic = leaf_of(shape, shares, 0)
    pinned = apply(shape, Pin(tuple(map(str, range(EACH, EACH + 20))), topic))
    model, begun, nodes = fitted(pinned, grown, shares, counts)
    assert (begun.pins[EACH : EACH + 20] == begun.class_nodes.index(pinned.node(topic))).all()
    free = nodes[EACH + 20 : 2 * EACH]
    alone = fitted(shape, grown, shares, counts)[2][EACH + 20 : 2 * EACH]
    assert (free == pinned.node(topic)).mean() >= (alone == pinned.node(topic)).mean()
    assert model.n_iter_ >= 1


def test_documents_pinned_to_an_inner_topic_make_it_a_class(shape, grown, shares, counts):
    inner = apply(shape, Pin(("0", "1"), 0))
    _, begun, _ = fitted(inner, grown, shares, counts)
    assert begun.class_nodes[-1] == inner.tree.root
    assert (begun.pins[:2] == len(begun.class_nodes) - 1).all()


def test_a_new_topic_takes_its_documents_and_leaves_the_others(shape, grown, shares, counts):
    topic = leaf_of(shape, shares, 0)
    branch = apply(shape, Branch(topic, "new", tuple(map(str, range(EACH, EACH + 20)))))
    _, begun, nodes = fitted(branch, grown, shares, counts)
    leaf = branch.node(branch.next_topic - 1)
    assert (begun.pins[EACH : EACH + 20] == begun.class_nodes.index(leaf)).all()
    assert (nodes[:EACH] == branch.node(topic)).mean() > 0.95, "the topic above keeps its own"


def test_all_pinned(shape, grown, shares, counts):
    topics = [shape.topics[grown.tree_.leaves[label]] for label in grown.labels_]
    for row, topic in enumerate(topics):
        shape = apply(shape, Pin((str(row),), topic))
    model, _, nodes = fitted(shape, grown, shares, counts)
    np.testing.assert_array_equal(nodes, np.array(grown.tree_.leaves)[grown.labels_])
    assert model.converged_


def test_pins_of_documents_that_are_gone_are_passed_over(shape, grown, shares, counts):
    begun = compute_start(apply(shape, Pin(("nobody",), 1)), grown.tree_.leaves, shares, counts, ROWS)
    assert (begun.pins == -1).all()


def test_sparse_shares_sum_to_one_and_keep_the_largest():
    rows = np.array([[0.5, 0.49995, 0.00005], [1 / 3, 1 / 3, 1 / 3], [0.0, 0.0, 0.0]])
    found = make_sparse_shares(rows, 0.4)
    np.testing.assert_allclose(found.sum(axis=1)[:2], 1.0, rtol=1e-6)
    assert found.nnz == 2 + 3


def test_given_tree_stays_calibrated_when_refitted(tmp_path):
    rng = np.random.default_rng(0)
    words = {"cats": "cat paw purr milk fur", "dogs": "dog bark bone leash tail", "suns": "sun ray light warm star"}
    documents = [
        Document(f"{label}{number}", " ".join(rng.choice(own.split(), 12)), labels=(label,))
        for label, own in words.items()
        for number in range(20)
    ]
    tree = Tree.from_paths(["all/pets/cats", "all/pets/dogs", "all/suns"])
    collection = Collection.grow(documents, tmp_path / "given.topiary", Recipe(hierarchy=tree))
    assert isinstance(collection.model, HPLC)
    assert collection.model.half_length_ is not None
    collection.shape(["merge cats dogs"])
    assert type(collection.model) is HPLC
    assert collection.model.half_length_ is not None
    once, often = (collection.model.predict_proba(collection.counts * times).max(axis=1) for times in (1, 64))
    assert (often >= once).all()
    assert once.mean() > 0.8
