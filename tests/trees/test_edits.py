"""Edits: what changes, what must not, and what is refused."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.strategies import trees
from topiarist.errors import InputError
from topiarist.trees import Tree, collapse, cut, merge, move, prune, rename, split

NEWS = Tree.from_paths(["news/sport/tennis", "news/sport/golf", "news/world", "news/arts/golf"])


def paths(tree, nodes=None):
    return {tree.path_names(node) for node in (tree.leaves if nodes is None else nodes)}


def inherits(edit, old):
    """Whether each node comes from one of the same name, in the old order."""
    return all(edit.tree.names[new] == old.names[node] for new, node in enumerate(edit.origin)) and (
        list(edit.origin) == sorted(edit.origin)
    )


@given(trees(), st.data())
def test_split_changes_one_leaf(tree, data):
    leaf = data.draw(st.sampled_from(tree.leaves))
    edit = split(tree, leaf, 3)
    assert edit.tree.parents == tree.parents + (leaf,) * 3
    assert edit.origin == (*range(len(tree)), leaf, leaf, leaf)
    assert paths(tree) - {tree.path_names(leaf)} == paths(edit.tree, set(edit.tree.leaves) & set(tree.leaves))
    assert cut(edit.tree, [leaf]).tree == tree


@given(trees(), st.data())
def test_cut_removes_descendants(tree, data):
    nodes = data.draw(st.sets(st.sampled_from(range(len(tree)))))
    edit = cut(tree, nodes)
    kept = [node for node in range(len(tree)) if not nodes & set(tree.ancestors(node))]
    assert edit.origin == tuple(kept)
    assert [edit.tree.path_names(new) for new in range(len(kept))] == [tree.path_names(node) for node in kept]


@given(trees(), st.data())
def test_prune_keeps_selected_leaves(tree, data):
    leaves = data.draw(st.sets(st.sampled_from(tree.leaves), min_size=1))
    edit = prune(tree, leaves)
    assert paths(edit.tree) == paths(tree, leaves)
    assert inherits(edit, tree)
    assert {node for leaf in leaves for node in tree.path(leaf)} == set(edit.origin)


@given(trees(), st.data())
def test_collapse_moves_children_up(tree, data):
    inner = [node for node in range(len(tree)) if not tree.is_leaf(node) and node != tree.root]
    assume(inner)
    gone = data.draw(st.sets(st.sampled_from(inner)))
    unique = Tree(tree.parents, tuple(f"n{node}" for node in range(len(tree))))  # no siblings of the same name
    edit = collapse(unique, gone)
    assert inherits(edit, unique)
    for new, old in enumerate(edit.origin):
        expected = [unique.names[node] for node in unique.path(old) if node not in gone]
        assert edit.tree.path_names(new) == tuple(expected)
    assert len(edit.tree.leaves) == len(tree.leaves)


@given(trees(), st.data())
def test_move_keeps_descendants(tree, data):
    tree = Tree(tree.parents, tuple(f"n{node}" for node in range(len(tree))))
    node, target = (data.draw(st.sampled_from(range(len(tree)))) for _ in range(2))
    assume(node not in tree.path(target))
    edit = move(tree, node, target)
    assert edit.origin == tuple(range(len(tree)))
    assert edit.tree.names == tree.names
    assert edit.tree.descendants(node) == tree.descendants(node)
    assert edit.tree.path(node) == (*tree.path(target), node)
    untouched = [other for other in range(len(tree)) if node not in tree.path(other)]
    assert paths(edit.tree, untouched) == paths(tree, untouched)


def test_split_names_children_after_leaf():
    assert split(Tree.single(), 0).tree == Tree.star(2)
    assert split(NEWS, NEWS.find("world")).tree.names[-2:] == ("world.1", "world.2")


def test_prune_collapses_single_children():
    keep = [NEWS.find("tennis"), NEWS.find("world")]
    assert paths(prune(NEWS, keep).tree) == {("news", "sport", "tennis"), ("news", "world")}
    edit = prune(NEWS, keep, single_children=False)
    assert paths(edit.tree) == {("news", "tennis"), ("news", "world")}
    assert edit.origin == (0, 2, 4)
    alone = prune(NEWS, [2], single_children=False)
    assert alone.tree.names == ("news", "tennis")


def test_merge_joins_children_of_siblings():
    tree = Tree.from_paths(["a/b/c", "a/d/e", "a/f"])
    edit = merge(tree, [tree.find("d"), tree.find("b")])
    assert paths(edit.tree) == {("a", "d", "c"), ("a", "d", "e"), ("a", "f")}
    assert [tree.names[node] for node in edit.origin] == ["a", "c", "d", "e", "f"]
    assert paths(merge(tree, [1, 3, 5], name="all").tree) == {("a", "all", "c"), ("a", "all", "e")}


def test_rename_changes_name():
    edit = rename(NEWS, NEWS.find("world"), "abroad")
    assert paths(edit.tree) == (paths(NEWS) - {("news", "world")}) | {("news", "abroad")}
    assert edit.origin == tuple(range(len(NEWS)))


def test_move_creates_and_removes_leaves():
    edit = move(NEWS, NEWS.find("arts/golf"), NEWS.find("world"))
    assert paths(edit.tree) == {
        ("news", "sport", "tennis"),
        ("news", "sport", "golf"),
        ("news", "world", "golf"),
        ("news", "arts"),
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: split(NEWS, 1), "expected a leaf to split, got node 1 ('sport'), which has children"),
        (lambda: split(NEWS, 2, 1), "expected to split node 2 ('tennis') into at least 2, got 1"),
        (lambda: split(NEWS, 99), "expected a node from 0 to 6, got 99"),
        (lambda: collapse(NEWS, [0]), "expected inner nodes below the root to collapse, got the root"),
        (lambda: collapse(NEWS, [2]), "expected inner nodes to collapse, got the leaf node 2 ('tennis')"),
        (lambda: collapse(NEWS, [1, 5]), "expected siblings with different names"),
        (lambda: prune(NEWS, []), "expected at least one leaf to keep, got none"),
        (lambda: prune(NEWS, [1]), "expected leaves to keep, got node 1 ('sport'), which has children"),
        (lambda: merge(NEWS, [1]), "expected at least two nodes to merge, got 1"),
        (lambda: merge(NEWS, [1, 1]), "expected at least two nodes to merge, got 1"),
        (lambda: merge(NEWS, [2, 4]), "got node 2 ('tennis') and node 4 ('world'), which have different parents"),
        (lambda: merge(NEWS, [1, 5]), "both called 'golf'"),
        (lambda: merge(NEWS, [0, 1]), "which have different parents"),
        (lambda: move(NEWS, 0, 1), "expected a node below the root to move, got the root"),
        (lambda: move(NEWS, 1, 1), "expected a new parent outside of node 1 ('sport'), got node 1 ('sport')"),
        (lambda: move(NEWS, 1, 2), "expected a new parent outside of node 1 ('sport'), got node 2 ('tennis')"),
        (lambda: move(NEWS, 6, 1), "both called 'golf'"),
        (lambda: rename(NEWS, 1, "world"), "both called 'world'"),
        (lambda: rename(NEWS, 1, ""), "expected a name for every node but the root"),
    ],
)
def test_edits_reject_invalid_arguments(make, message):
    with pytest.raises(InputError) as raised:
        make()
    assert message in raised.value.message
