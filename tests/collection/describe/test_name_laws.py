"""Laws of names and typical documents on a grown tree."""

import re
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.grown import N_DOCS, documents
from topiarist import CAM, Corpus, Tree
from topiarist.collection.describe.topic_tree import describe_tree
from topiarist.collection.describe.typical_documents import find_name_columns, select_typical
from topiarist.counts import CountSettings
from topiarist.trees.naming.fields import find_near_words, load_fields
from topiarist.trees.naming.name_test import split_items
from topiarist.trees.naming.names import shares_word
from topiarist.trees.tree_model import TreeModel
from topiarist.trees.tree_text import JOINT


@pytest.fixture(scope="module", params=["en", ""])
def described(request):
    """A tree of 20 topics with names by fields, or by words alone; its corpus and the rows of each node."""
    corpus = Corpus.from_documents(documents()[:N_DOCS], CountSettings())
    model = CAM(20, random_state=0).fit(corpus.counts)
    tree = describe_tree(model, corpus, language=request.param)
    return tree, corpus


def test_words_of_names_occur_in_documents(described):
    topic_tree, corpus = described
    text = " ".join(re.sub(r"\W+", " ", text.lower()) for text in corpus.texts)
    fields = {name.casefold() for name in load_fields().names}
    names = [name for node, name in enumerate(topic_tree.tree.names) if node != topic_tree.tree.root]
    words = {item.lower() for name in names for item in split_items(name) if item.casefold() not in fields}
    assert words
    assert [word for word in words if word not in text] == []


def test_siblings_share_no_word(described):
    tree = described[0].tree
    for node in range(len(tree)):
        names = [tree.names[child] for child in tree.children(node)]
        assert not [pair for pair in combinations(names, 2) if shares_word(pair[0], [pair[1]])]


def test_no_name_equals_another(described):
    names = [name.casefold() for name in described[0].tree.names]
    assert len(set(names)) == len(names)


def test_typical_documents_have_words_of_names(described):
    topic_tree, corpus = described
    words = corpus.vocabulary.words
    near = find_near_words(corpus.counts, words, load_fields())
    columns = {word: column for column, word in enumerate(words)}
    n_fitting = []
    for node, summary in enumerate(topic_tree.nodes):
        name = topic_tree.tree.names[node]
        if node != topic_tree.tree.root and JOINT not in name:
            own = set(find_name_columns(name, columns, near, {}))
            n_fitting.append(sum(bool(own & {*corpus.counts[[row]].indices.tolist()}) for row in summary.rows[:3]))
    assert np.mean(np.array(n_fitting) >= 2) >= 0.9


def test_documents_with_a_word_of_the_name_come_first():
    tree = Tree((-1, 0, 0))
    model = TreeModel(
        tree, (1, 2), np.full((3, 4), 0.25), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.5, 0.5])
    )
    shares = csr_array(np.array([[1.0, 0.0], [0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]))
    counts = csr_array(np.array([[30, 0, 0, 0], [0, 30, 0, 0], [0, 0, 30, 0], [0, 30, 0, 0]]))
    rows = select_typical(model, shares, counts, 2, [[], [1], [1]])
    assert rows[1].tolist() == [1, 0]  # document 3 has the word too, but less than half of the best score
    assert rows[2].tolist() == [3, 2]
    assert select_typical(model, shares, counts, 2, [[], [], []])[1].tolist() == [0, 1]
