"""The tree as a value: what it refuses, what it knows about its nodes, and where it comes from."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage

from tests.strategies import trees
from topiarist.errors import InputError
from topiarist.trees import Tree

NEWS = Tree.from_paths(["news/sport/tennis", "news/sport/golf", "news/world", "news/arts/golf"])


def brute_path(tree, node):
    return (*brute_path(tree, tree.parents[node]), node) if node >= 0 else ()


@given(trees())
def test_tree_methods_equal_brute_force(tree):
    paths = [brute_path(tree, node) for node in range(len(tree))]
    assert [tree.path(node) for node in range(len(tree))] == paths
    assert tree.depths == tuple(len(path) - 1 for path in paths)
    assert tree.depth == max(tree.depths)
    order = tree.depth_first()
    assert order == tuple(sorted(range(len(tree)), key=lambda node: paths[node]))
    assert tree.leaves == tuple(node for node in order if node not in tree.parents)
    for node in range(len(tree)):
        assert tree.ancestors(node) == paths[node][:-1]
        assert tree.children(node) == tuple(other for other in range(len(tree)) if tree.parents[other] == node)
        assert tree.is_leaf(node) == (node in tree.leaves)
        assert tree.descendants(node) == tuple(other for other in order if node in paths[other][:-1])
        assert tree.leaves_under(node) == tuple(leaf for leaf in tree.leaves if node in paths[leaf])


@given(trees())
def test_path_mask_equals_brute_force(tree):
    expected = [[node in tree.path(leaf) for node in range(len(tree))] for leaf in tree.leaves]
    assert tree.path_mask().dtype == np.bool_
    assert tree.path_mask().tolist() == expected
    some = [tree.root, tree.leaves[-1], tree.root]
    assert tree.path_mask(some).tolist() == [[node in tree.path(one) for node in range(len(tree))] for one in some]
    assert tree.path_mask([]).shape == (0, len(tree))


@given(trees())
def test_leaf_paths_rebuild_tree(tree):
    again = Tree.from_paths(tree.path_names(leaf) for leaf in tree.leaves)
    assert {again.path_names(node) for node in range(len(again))} == {
        tree.path_names(node) for node in range(len(tree))
    }
    assert len(again) == len(tree)
    assert all(parent < node for node, parent in enumerate(again.parents))


@given(trees())
def test_find_returns_every_node_by_path(tree):
    for node in range(len(tree)):
        assert tree.find(tree.path_names(node)) == node
        if tree.names.count(tree.names[node]) == 1:
            assert tree.find(tree.names[node]) == node


@given(trees())
def test_to_dict_and_copies_round_trip(tree):
    hash(tree), tree.depth, tree.leaves
    for again in (
        Tree.from_dict(json.loads(json.dumps(tree.to_dict()))),
        pickle.loads(pickle.dumps(tree)),
        copy.deepcopy(tree),
        Tree(np.array(tree.parents), list(tree.names)),
    ):
        assert again == tree
        assert hash(again) == hash(tree)
        assert again.leaves == tree.leaves


def test_tree_is_immutable():
    with pytest.raises(AttributeError):
        NEWS.parents = (-1,)
    assert Tree.star(2) != Tree((-1, 0, 0), ("", "x", "y"))
    assert repr(NEWS) == "<Tree of 7 nodes, 4 leaves, depth 2>"


def test_default_names_are_positions():
    assert Tree((-1, 0, 0, 2, 2)).names == ("", "1", "2", "2.1", "2.2")
    assert Tree((2, 2, -1)).names == ("1", "2", "")


def test_long_chain_is_supported():
    n = 100_000
    chain = Tree(range(-1, n - 1))
    assert chain.names[32] == ".".join(["1"] * 32)
    assert chain.names[-1] == f"#{n - 1}"
    assert chain.depth == n - 1
    assert chain.leaves == chain.leaves_under(0) == (n - 1,)
    assert len(chain.path(n - 1)) == len(chain.descendants(0)) + 1 == n
    assert chain.path_mask().all()
    assert chain.find(f"#{n - 1}") == n - 1
    assert Tree.from_dict(chain.to_dict()) == chain
    assert len(Tree.from_paths([["x"] * n])) == n
    assert chain.render().count("\n") == n - 1


def test_smallest_trees():
    assert len(Tree.single()) == 1
    assert Tree.single().leaves == (0,)
    assert Tree.star(3).parents == (-1, 0, 0, 0)
    assert Tree.balanced(3, 2).parents == (-1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)
    assert Tree.balanced(2, 0) == Tree.single()
    assert Tree.balanced(1, 3).parents == (-1, 0, 1, 2)


def test_from_paths_with_and_without_root():
    assert NEWS.names == ("news", "sport", "tennis", "golf", "world", "arts", "golf")
    assert NEWS.parents == (-1, 0, 1, 1, 0, 0, 5)
    assert Tree.from_paths(["a/b", "c"]).names == ("", "a", "b", "c")
    assert Tree.from_paths(["/a"]).names == ("", "a")
    assert Tree.from_paths(["/a", "b"]) == Tree.from_paths([("a",), ("b",)])
    assert Tree.from_paths(["a/b", "a", "a/b/c", "a/b"]).parents == (-1, 0, 1)
    assert Tree.from_paths([("x/y", "z")]).names == ("x/y", "z")


def test_from_linkage_keeps_scipy_numbers():
    points = np.random.default_rng(0).normal(size=(6, 2))
    merges = linkage(points)
    tree = Tree.from_linkage(merges, names=list("abcdef"))
    assert tree.root == 10
    assert tree.names[:7] == ("a", "b", "c", "d", "e", "f", "#6")
    for row, (one, other) in enumerate(merges[:, :2].astype(int).tolist()):
        assert tree.children(6 + row) == tuple(sorted((one, other)))
        assert len(tree.leaves_under(6 + row)) == merges[row, 3]
    assert Tree.from_linkage(np.empty((0, 4))).names == ("0",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tree(()), "expected at least a root, got no nodes"),
        (lambda: Tree((-1, 2)), "expected parents from 0 to 1, or −1 for the root, got 2 for node 1"),
        (lambda: Tree((-1, -2)), "got -2 for node 1"),
        (lambda: Tree((-1, 0, -1)), "expected exactly one root (parent −1), got 2: nodes 0, 2"),
        (lambda: Tree((1, 0)), "expected exactly one root (parent −1), got none"),
        (lambda: Tree((-1, 2, 3, 1, 1)), "got a cycle of parents: 1 → 2 → 3 → 1"),
        (lambda: Tree((-1, 0, 2)), "got a cycle of parents: 2 → 2"),
        (lambda: Tree((-1, 0.5)), "expected the number of each node's parent, got (-1, 0.5)"),
        (lambda: Tree("ab"), "expected the number of each node's parent, got 'ab'"),
        (lambda: Tree((-1, 0), ("a",)), "expected 2 names, one per node, got 1"),
        (lambda: Tree((-1, 0), "ab"), "expected one name per node, got 'ab'"),
        (lambda: Tree((-1, 0), ("a", 3)), "expected names as text, got 3"),
        (lambda: Tree((-1, 0), ("a", " ")), "expected a name for every node but the root, got ' ' for node 1"),
        (lambda: Tree((-1, 0, 0), ("", "x", "x")), "got nodes 1 and 2 under the root, both called 'x'"),
        (lambda: Tree((-1, 0, 1, 1), ("", "a", "x", "x")), "got nodes 2 and 3 under 'a', both called 'x'"),
        (lambda: Tree.star(0), "expected at least one leaf, got 0"),
        (lambda: Tree.balanced(0, 2), "expected a branching of at least 1 and a depth of at least 0, got 0 and 2"),
        (lambda: Tree.balanced(10, 100), "expected at most 10,000,000 nodes"),
        (lambda: Tree.from_paths([]), "expected at least one path, got none"),
        (lambda: Tree.from_paths("a/b"), "expected several paths, got one text: 'a/b'"),
        (lambda: Tree.from_paths(["a", ""]), "got an empty path"),
        (lambda: Tree.from_paths(["a", ()]), "got an empty path"),
        (lambda: Tree.from_paths(["a//b"]), "expected a name at every step of a path, got 'a//b'"),
        (lambda: Tree.from_paths(["a/"]), "expected a name at every step of a path, got 'a/'"),
        (lambda: Tree.from_paths([("a", 1)]), "expected names as text, got 1 in the path ('a', 1)"),
        (lambda: Tree.from_linkage([[0, 1, 0.5]]), "expected a linkage matrix with four columns, got the shape (1, 3)"),
        (lambda: Tree.from_linkage("abc"), "expected a linkage matrix with four columns"),
        (lambda: Tree.from_linkage([[0, 2, 1, 2]]), "row 0 of the linkage to merge two of the clusters 0 to 1, got 2"),
        (lambda: Tree.from_linkage([[0, np.nan, 1, 2]]), "got nan"),
        (lambda: Tree.from_linkage([[0, 1, 1, 2], [0, 3, 1, 3]]), "got cluster 0 merged 2 times"),
        (lambda: Tree.from_linkage([[0, 1, 1, 2]], ["a"]), "expected 2 names, one for each leaf of the linkage, got 1"),
        (lambda: Tree.from_dict([1]), "expected a mapping with 'parents' and 'names', got [1]"),
        (lambda: Tree.from_dict({"names": ["a"]}), "expected a mapping with 'parents' and 'names'"),
        (lambda: Tree.from_dict({"parents": None}), "expected the number of each node's parent, got None"),
        (lambda: NEWS.path(7), "expected a node from 0 to 6, got 7"),
        (lambda: NEWS.path_mask([-1]), "expected a node from 0 to 6, got -1"),
        (lambda: NEWS.children("sport"), "expected a node from 0 to 6, got 'sport'"),
    ],
)
def test_tree_rejects_invalid_arguments(make, message):
    with pytest.raises(InputError) as raised:
        make()
    assert message in raised.value.message


def test_find_by_name_and_path():
    assert NEWS.find("tennis") == 2
    assert NEWS.find("sport/golf") == NEWS.find("news/sport/golf") == NEWS.find(["sport", "golf"]) == 3
    assert NEWS.find("news") == NEWS.find(("news",)) == 0
    assert Tree.from_paths(["a/a/a"]).find("a/a") == 1
    assert Tree.from_paths([("x/y",), ("z",)]).find("x/y") == 1
    assert Tree.from_paths(["b/a", "a"]).find("/a") == 3


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("tenis", "no node is called 'tenis'", "'tennis'"),
        ("golf", "got 'golf', which 2 have: 'news/sport/golf', 'news/arts/golf'", "the full path"),
        ("sport/tenis", "'news/sport' has no child called 'tenis'", "'tennis'"),
        ("sprot/tennis", "the root has no child called 'sprot'", "'sport'"),
        (("world", "x"), "'news/world' has no child called 'x'", "news/world"),
        ((), "got an empty path", "tree.root"),
    ],
)
def test_find_suggests_similar_names(name, message, hint):
    with pytest.raises(InputError) as raised:
        NEWS.find(name)
    assert message in raised.value.message
    assert hint in raised.value.hint


@given(trees(), st.integers(0, 10**6))
def test_in_order_visits_siblings_by_key(tree, seed):
    key = np.random.default_rng(seed).permutation(len(tree))
    found = tree.in_order(lambda node: key[node])
    assert sorted(found) == list(range(len(tree)))
    place = {node: at for at, node in enumerate(found)}
    for node in range(len(tree)):
        below = list(tree.children(node))
        assert all(place[node] < place[child] for child in below)
        assert sorted(below, key=place.__getitem__) == sorted(below, key=lambda child: key[child])
        part = tree.in_order(lambda one: key[one], node)
        assert part == found[place[node] : place[node] + len(part)]
