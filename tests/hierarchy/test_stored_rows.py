"""Rows in files follow what happens to classes as rows in memory do."""

from dataclasses import replace

import numpy as np
import pytest

from tests.hierarchy.test_growth import random_parts
from topiarist.hierarchy.growth.parts import Split, divide, in_tree_order, join, without_empty
from topiarist.hierarchy.growth.stored_rows import HandOn, StoredRows
from topiarist.hierarchy.tree import Tree

NOBODY = np.empty(0, np.int64)


@pytest.fixture
def parts():
    """The rows of all documents are those in memory: whatever happens to these can be compared."""
    made = random_parts(Tree((-1, 0, 0, 1, 1)), 0)
    return replace(made, stored=StoredRows.of((made.class_given_doc,), made.n_classes))


def followed(parts):
    (before,) = parts.stored.files
    empty = np.empty((0, parts.n_classes))
    return HandOn(parts.stored.handed_on)(None, (empty, NOBODY, before))[1]


def normalised(rows):
    return rows / rows.sum(axis=1, keepdims=True)


def split(parts, index):
    return divide(parts, (Split(index),), parts.word_given_node[[parts.class_nodes[index]] * 2])


def test_halves_get_as_much_as_each_other_and_joining_takes_it_back(parts):
    halved = split(parts, 1)
    np.testing.assert_allclose(followed(halved), normalised(halved.class_given_doc))
    back = join(halved, [(1, parts.n_classes)])
    np.testing.assert_array_equal(back.stored.handed_on, np.eye(parts.n_classes))
    np.testing.assert_allclose(followed(back), normalised(parts.class_given_doc))


def test_order_and_removal_are_followed(parts):
    changed = in_tree_order(split(split(parts, 0), 2))
    np.testing.assert_allclose(followed(changed), normalised(changed.class_given_doc))
    fewer = without_empty(changed, changed.sizes().mean())
    assert fewer.n_classes < changed.n_classes
    np.testing.assert_allclose(followed(fewer), normalised(fewer.class_given_doc), rtol=1e-6)


def test_drawn_documents_keep_their_own_rows_and_who_has_nothing_begins_anew():
    before = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], np.float32)
    gone = HandOn(np.array([[0.0, 0.0], [0.25, 0.75]]))
    _, rows = gone(None, (np.array([[0.9, 0.1]], np.float32), np.array([2]), before))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]])
