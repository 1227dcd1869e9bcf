"""New leaves: where they go, and what they must be worth."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.collection.file.new_topics import BranchProposal, graft_leaf, propose_branches
from topiarist.errors import InputError
from topiarist.models.misfits import Scores
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel

TREE = Tree.balanced(2, 2)
OWN = 6


def model(seed=0, class_nodes=TREE.leaves):
    rng = np.random.default_rng(seed)
    words = np.full((7, OWN * 8), 0.05 / (OWN * 8))
    for node in range(7):
        words[node, node * OWN : (node + 1) * OWN] += rng.dirichlet(np.full(OWN, 5.0))
    words /= words.sum(axis=1, keepdims=True)
    mask = TREE.path_mask(class_nodes)
    return TreeModel(TREE, tuple(class_nodes), words, mask / mask.sum(axis=1, keepdims=True), np.full(len(mask), 0.25))


def leaf(parent, share=0.2):
    words = np.zeros(OWN * 8)
    words[-OWN:] = 1 / OWN
    path = len(TREE.path(parent))
    return BranchProposal(parent, (), 30, share, 0.1, 0.01, words, np.full(path + 1, 1 / (path + 1)))


def mixture_scores(model, observed, hidden):
    """Documents of one class each."""
    words = np.log(model.node_given_class @ model.word_given_node)
    posterior = np.log(model.class_prior) + observed @ words.T
    posterior = np.exp(posterior - posterior.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    tokens = np.asarray(hidden.sum(axis=1)).ravel()
    figures = (hidden.toarray() * np.log(posterior @ np.exp(words))).sum(axis=1)
    return Scores(figures / np.maximum(tokens, 1), tokens)


def drawn(distribution, n_docs, seed=0, length=60):
    return csr_array(np.random.default_rng(seed).multinomial(length, distribution, size=n_docs).astype(float))


def propose(model, counts, share=0.01, min_documents=20):
    return propose_branches(model, counts, mixture_scores, share=share, min_documents=min_documents)


def test_a_graft_is_the_last_node_and_leaves_the_rest_as_it_was():
    before = model()
    after = graft_leaf(before, leaf(1))
    assert after.tree.parents == (*TREE.parents, 1)
    assert after.class_nodes == after.tree.leaves  # classes follow the leaves
    np.testing.assert_array_equal(after.word_given_node[:7], before.word_given_node)
    np.testing.assert_allclose(after.node_given_class.sum(axis=1), 1)
    np.testing.assert_allclose(after.class_prior.sum(), 1)
    new = after.class_nodes.index(7)
    assert after.class_prior[new] == pytest.approx(0.2)
    assert set(np.flatnonzero(after.node_given_class[new])) == {0, 1, 7}
    for old, node in enumerate(before.class_nodes):
        row = after.node_given_class[after.class_nodes.index(node)]
        np.testing.assert_array_equal(row[:7], before.node_given_class[old])


def test_names_of_grafts_are_new():
    once = graft_leaf(model(), leaf(1))
    assert once.tree.names[7] == "1.3"
    assert graft_leaf(model(), leaf(1), "sport").tree.names[7] == "sport"
    assert len(set(graft_leaf(once, leaf(1)).tree.names)) == 9


def test_classes_at_any_node_keep_their_order():
    after = graft_leaf(model(class_nodes=tuple(range(7))), leaf(2))
    assert after.class_nodes == tuple(range(8))


def test_a_leaf_is_no_parent():
    with pytest.raises(InputError, match="a parent that has children"):
        graft_leaf(model(), leaf(3))


@pytest.mark.parametrize("parent", [0, 1, 2])
def test_documents_of_a_new_leaf_propose_it_under_its_parent(parent):
    grown = graft_leaf(model(), leaf(parent))
    new = grown.class_nodes.index(7)
    distribution = grown.node_given_class[new] @ grown.word_given_node
    (proposal,) = propose(model(), drawn(distribution, 200), share=0.1)
    assert proposal.parent == parent
    assert set(proposal.words[:OWN]) == set(range(7 * OWN, 8 * OWN))
    assert proposal.documents == 200
    assert proposal.share == pytest.approx(0.1)
    assert proposal.gain > 3 * proposal.error > 0


def test_two_new_leaves_are_two_proposals():
    distributions = []
    for parent in (1, 2):
        words = leaf(parent).word_given_leaf * 0
        words[7 * OWN + 3 * (parent - 1) : 7 * OWN + 3 * parent] = 1 / 3
        distributions.append(words / 2 + model().word_given_node[parent] / 2)
    counts = csr_array(np.vstack([drawn(one, 100, seed).toarray() for seed, one in enumerate(distributions)]))
    proposals = propose(model(), counts, share=0.1)
    assert sorted(proposal.parent for proposal in proposals) == [1, 2]
    assert sorted(proposal.documents for proposal in proposals) == [100, 100]


def test_documents_that_have_nothing_in_common_propose_nothing():
    rng = np.random.default_rng(0)
    wide = model()
    words = np.pad(wide.word_given_node, ((0, 0), (0, 3000)))
    words = (words + 1e-6) / (words + 1e-6).sum(axis=1, keepdims=True)
    wide = TreeModel(TREE, wide.class_nodes, words, wide.node_given_class, wide.class_prior)
    strange = np.zeros((200, words.shape[1]))
    for number, document in enumerate(strange):  # each has ten words that no other document has
        document[8 * OWN + 10 * number : 8 * OWN + 10 * number + 10] = rng.multinomial(60, np.full(10, 0.1))
    assert propose(wide, csr_array(strange)) == ()


def test_documents_of_the_tree_itself_propose_nothing():
    own = model()
    for seed in range(10):
        row = own.node_given_class[seed % 4] @ own.word_given_node
        assert propose(own, drawn(row, 100, seed)) == ()


def test_too_few_documents_and_a_tree_without_branches_propose_nothing():
    grown = graft_leaf(model(), leaf(1))
    distribution = grown.node_given_class[grown.class_nodes.index(7)] @ grown.word_given_node
    assert propose(model(), drawn(distribution, 30)) == ()
    assert len(propose(model(), drawn(distribution, 30), min_documents=10)) == 1
    one = TreeModel(Tree.single(), (0,), model().word_given_node[:1], np.ones((1, 1)), np.ones(1))
    assert propose(one, drawn(distribution, 100)) == ()
