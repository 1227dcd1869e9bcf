"""Rows in files follow what happens to classes as rows in memory do."""

from dataclasses import replace

import numpy as np
import pytest

from tests.trees.test_growth import random_parts
from topiarist.trees.growth.parts import Split, StoredRows, divide, join, remove_empty_leaves, sort_by_tree
from topiarist.trees.growth.stored_documents import ApplyClassChanges
from topiarist.trees.tree import Tree

NOBODY = np.empty(0, np.int64)


@pytest.fixture
def parts():
    """The rows of all documents are those in memory: whatever happens to these can be compared."""
    made = random_parts(Tree((-1, 0, 0, 1, 1)), 0)
    return replace(made, stored=StoredRows.without_changes((made.class_given_doc,), made.n_classes))


def followed(parts):
    (before,) = parts.stored.files
    empty = np.empty((0, parts.n_classes))
    return ApplyClassChanges(parts.stored.class_changes)(None, (empty, NOBODY, before))[1]


def normalised(rows):
    return rows / rows.sum(axis=1, keepdims=True)


def split(parts, index):
    return divide(parts, (Split(index),), parts.word_given_node[[parts.class_nodes[index]] * 2])


def test_stored_rows_follow_split_and_join(parts):
    halved = split(parts, 1)
    np.testing.assert_allclose(followed(halved), normalised(halved.class_given_doc))
    back = join(halved, [(1, parts.n_classes)])
    np.testing.assert_array_equal(back.stored.class_changes, np.eye(parts.n_classes))
    np.testing.assert_allclose(followed(back), normalised(parts.class_given_doc))


def test_stored_rows_follow_sorting_and_removal(parts):
    changed = sort_by_tree(split(split(parts, 0), 2))
    np.testing.assert_allclose(followed(changed), normalised(changed.class_given_doc))
    fewer = remove_empty_leaves(changed, changed.sizes().mean())
    assert fewer.n_classes < changed.n_classes
    np.testing.assert_allclose(followed(fewer), normalised(fewer.class_given_doc), rtol=1e-6)


def test_class_changes_keep_sampled_rows():
    before = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], np.float32)
    gone = ApplyClassChanges(np.array([[0.0, 0.0], [0.25, 0.75]]))
    _, rows = gone(None, (np.array([[0.9, 0.1]], np.float32), np.array([2]), before))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]])
