"""The path of matches down a tree: where it goes on, and where it asks."""

import numpy as np

from topiarist import Tree
from topiarist.collection.search.hits import Subtopic, follow

TREE = Tree.from_paths(["x/a", "x/b/c", "x/b/d", "y"])


def path(counts):
    """Names of the steps, and names and numbers of the choices."""
    numbers = np.array([counts.get(name, 0) for name in TREE.names])
    descent = follow(TREE.root, TREE.children, numbers, lambda node, n: Subtopic(node, TREE.names[node], (), n))
    return [step.branch.name for step in descent.steps[1:]], [(one.name, one.documents) for one in descent.choices]


def counts_of(**leaves):
    names = {"a": "xa", "c": "xbc", "d": "xbd", "y": "y"}
    counts = {"": sum(leaves.values())}
    for leaf, number in leaves.items():
        for name in names[leaf]:
            counts[name] = counts.get(name, 0) + number
    return counts


def test_descent_goes_on_while_two_thirds_agree():
    assert path(counts_of(a=0, c=8, d=1, y=1)) == (["x", "b", "c"], [])
    assert path(counts_of(a=0, c=4, d=4, y=1)) == (["x", "b"], [("c", 4), ("d", 4)])
    assert path(counts_of(a=4, c=1, d=2, y=3)) == (["x"], [("a", 4), ("b", 3)])
    assert path(counts_of(a=3, c=1, d=1, y=6)) == ([], [("y", 6), ("x", 5)])


def test_descent_leaves_out_topics_without_matches():
    assert path(counts_of(a=0, c=5, d=0, y=0)) == (["x", "b", "c"], [])
    assert path({}) == ([], [])


def test_descent_stops_above_documents_without_subtopic():
    assert path({"": 9, "x": 9, "a": 2, "b": 2}) == (["x"], [("a", 2), ("b", 2)])
