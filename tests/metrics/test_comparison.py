"""Two trees over the same documents: laws for any two, and stories of which the answer is known."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from tests.collection.placements import at, placements, renumbered, under
from tests.work import assert_linear
from topiarist.errors import InputError, UsageError
from topiarist.metrics.comparison import DocumentAssignments, Match, compare, match_nodes
from topiarist.metrics.node_matching import align_documents, compute_overlap
from topiarist.trees import Tree

some = settings(max_examples=100, deadline=None)


@st.composite
def pairs(draw):
    one = draw(placements())
    other = draw(
        placements(ids=draw(st.sampled_from([list(one.ids), [*one.ids[::-1], "new"], [one.ids[0], "x", "y"]])))
    )
    return one, other


@given(placements(), st.booleans())
@some
def test_compare_tree_with_itself(assignments, soft):
    result = compare(assignments, assignments, soft=soft)
    assert (result.n_shared, result.n_only_a, result.n_only_b) == (assignments.n_docs, 0, 0)
    for agreement in (result.leaves, *result.levels):
        assert (agreement.nmi, agreement.rand) == (pytest.approx(1), pytest.approx(1))
    assert (result.moved, result.flows, result.split, result.merged) == (0, (), (), ())
    if not soft:
        assert (result.gone, result.new) == ((), ())
        filled = {node for node in range(len(assignments.tree)) if assignments.n_under[node]}
        assert result.matches == {node: Match(node, 1.0, False) for node in filled} == result.best


@given(pairs())
@some
def test_compare_symmetric(both):
    one, other = both
    result, back = compare(one, other), compare(other, one)
    assert (result.n_only_a, result.n_only_b) == (back.n_only_b, back.n_only_a)
    assert (result.split, result.merged) == (back.merged, back.split)
    assert result.leaves.nmi == pytest.approx(back.leaves.nmi)
    assert result.leaves.rand == pytest.approx(back.leaves.rand)
    assert {(node, match.node_b) for node, match in result.matches.items()} == {
        (match.node_b, node) for node, match in back.matches.items()
    }
    assert (result.gone, result.new, result.moved) == (back.new, back.gone, back.moved)
    flows = {(flow.node_a, flow.node_b, flow.documents) for flow in compare(one, other, n_flows=200).flows}
    assert flows == {(flow.node_b, flow.node_a, flow.documents) for flow in compare(other, one, n_flows=200).flows}


@given(pairs(), st.integers(0, 99))
@some
def test_result_independent_of_node_numbers(both, seed):
    one, other = both
    (new_one, a), (new_other, b) = renumbered(one, seed), renumbered(other, seed + 1)
    result, repeated = compare(one, other), compare(new_one, new_other)
    assert repeated.leaves.nmi == pytest.approx(result.leaves.nmi)
    assert repeated.leaves.rand == pytest.approx(result.leaves.rand)
    assert repeated.matches == {a[x]: Match(b[m.node_b], m.overlap, m.doubtful) for x, m in result.matches.items()}
    assert repeated.best == {a[x]: Match(b[m.node_b], m.overlap, m.doubtful) for x, m in result.best.items()}
    assert [(a[f.node_a], b[f.node_b], f.documents) for f in result.flows] == [
        (f.node_a, f.node_b, f.documents) for f in repeated.flows
    ]
    assert (tuple(a[x] for x in result.gone), tuple(b[y] for y in result.new)) == (repeated.gone, repeated.new)


@given(pairs())
@some
def test_agreement_matches_scikit_learn(both):
    result = compare(*both)
    one, other = align_documents(*both)
    assert result.leaves.nmi == pytest.approx(
        normalized_mutual_info_score(one.assigned_nodes, other.assigned_nodes), abs=1e-9
    )
    assert result.leaves.rand == pytest.approx(adjusted_rand_score(one.assigned_nodes, other.assigned_nodes), abs=1e-9)


@given(pairs())
@some
def test_overlap_counts_documents(both):
    one, other = align_documents(*both)
    overlap = compute_overlap(one, other)
    result = dict(zip(zip(overlap.rows.tolist(), overlap.columns.tolist(), strict=True), overlap.f1, strict=True))
    for x in range(len(one.tree)):
        for y in range(len(other.tree)):
            left = {row for row, node in enumerate(one.assigned_nodes.tolist()) if x in one.tree.path(node)}
            right = {row for row, node in enumerate(other.assigned_nodes.tolist()) if y in other.tree.path(node)}
            if left & right and (x == one.tree.root) == (y == other.tree.root):
                assert result.pop((x, y)) == pytest.approx(2 * len(left & right) / (len(left) + len(right)))
    assert not result


@given(pairs())
@some
def test_soft_overlap_matches_formula(both):
    one, other = align_documents(*both)
    overlap = compute_overlap(one, other, soft=True)
    s = one.shares.toarray() @ one.tree.path_mask(one.class_nodes)
    t = other.shares.toarray() @ other.tree.path_mask(other.class_nodes)
    s[:, one.tree.root] = t[:, other.tree.root] = 1
    for x, y, f1 in zip(overlap.rows, overlap.columns, overlap.f1, strict=True):
        expected = 2 * (s[:, x] @ t[:, y]) / (s[:, x] @ s[:, x] + t[:, y] @ t[:, y])
        assert f1 == pytest.approx(expected)


@given(placements())
@some
def test_document_assigned_to_largest_share(assignments):
    dense = assignments.shares.toarray()
    for row, node in enumerate(assignments.assigned_nodes.tolist()):
        if dense[row].any():
            assert dense[row][assignments.class_nodes.index(node)] == dense[row].max() == assignments.largest[row]
        else:
            assert (node, assignments.largest[row]) == (assignments.tree.root, 0)
    assert (
        assignments.n_under[assignments.tree.root]
        == assignments.n_docs
        == pytest.approx(assignments.expected[assignments.tree.root])
    )


OLD = Tree.from_paths(["all/sport", "all/news", "all/art"])
STORY = ["sport"] * 40 + ["news"] * 30 + ["art"] * 30


def story(paths, nodes, **options):
    new = Tree.from_paths(paths)
    return compare(under(OLD, STORY), under(new, nodes), **options), new


def test_compare_finds_split_topic():
    sports = [f"s{row % 4}" for row in range(40)]
    result, new = story(["all/s0", "all/s1", "all/s2", "all/s3", "all/news", "all/art"], sports + STORY[40:])
    assert [(one.whole, len(one.parts), one.documents) for one in result.split] == [(1, 4, (10, 10, 10, 10))]
    assert (result.merged, result.gone, result.new, result.moved) == ((), (), (), 0)
    assert result.matches[1].doubtful  # one of four equal ones: ask
    assert result.best[1].overlap == pytest.approx(0.4)
    assert not result.matches[OLD.find("news")].doubtful
    assert "  sport  →  s0 + s1 + s2 + s3" in result.lines()
    back = compare(under(new, sports + STORY[40:]), under(OLD, STORY))
    assert (back.merged, back.split) == (result.split, ())
    assert "  s0 + s1 + s2 + s3  →  sport" in back.lines()


def test_compare_keeps_topic_with_new_subtopics():
    sports = [("ball", "water")[row % 2] for row in range(40)]
    result, new = story(["all/sport/ball", "all/sport/water", "all/news", "all/art"], sports + STORY[40:])
    assert result.matches[OLD.find("sport")] == Match(new.find("sport"), 1.0, False)
    assert (result.moved, result.split, result.gone) == (0, (), ())
    assert set(result.new) == {new.find("ball"), new.find("water")}
    assert (result.levels[0].nmi, result.levels[0].rand) == (pytest.approx(1), pytest.approx(1))
    assert result.leaves.nmi < 1


def test_compare_finds_moves_and_missing_topic():
    nodes = ["sport"] * 36 + ["news"] * 4 + ["news"] * 30 + ["sport", "news"] * 15
    result, new = story(["all/sport", "all/news"], nodes)
    assert result.moved == 4 + 30
    assert [(OLD.names[f.node_a], new.names[f.node_b], f.documents) for f in result.flows] == [
        ("art", "news", 15), ("art", "sport", 15), ("sport", "news", 4)
    ]  # fmt: skip
    assert [OLD.names[node] for node in result.gone] == ["art"]
    text = "\n".join(result.lines())
    assert "moved: 34 documents (34.0%)" in text
    assert "       15  art  →  news" in text
    assert "gone: 1\n         30  art" in text


def test_comparison_lines_and_json():
    words = ((), ("ball", "goal"), ("minister",), ("painting",))
    a = under(OLD, STORY, words=words)
    b = under(OLD, ["news"] * 2 + STORY[2:], ids=[f"d{row}" for row in range(1, 101)])
    result = compare(a, b)
    assert result.lines()[0] == "99 documents in both · 1 only in A · 1 only in B"
    assert "topics: A 3, B 3" in result.lines()
    assert "  sport (ball, goal)  →  news" in "\n".join(result.lines()).replace("          2", "")
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["documents"] == {"shared": 99, "only_a": 1, "only_b": 1}
    assert plain["matches"][1]["a"] == {
        "id": 1, "name": "sport", "path": ["all", "sport"], "words": ["ball", "goal"], "size": 39
    }  # fmt: skip
    assert set(plain) == {"documents", "agreement", "matches", "best", "moved", "split", "merged", "gone", "new"}


def test_match_nodes_survives_renumbering_and_noise():
    rng = np.random.default_rng(5)
    tree = Tree.balanced(3, 2)
    nodes = rng.choice(tree.leaves, 600)
    assignments = at(tree, nodes)
    other, number = renumbered(assignments, 3)
    result = match_nodes(assignments, other)
    assert result == {node: Match(number[node], 1.0, False) for node in range(len(tree))}
    noisy = np.where(rng.random(600) < 0.15, rng.choice(tree.leaves, 600), nodes)
    result = match_nodes(assignments, at(tree, noisy))
    assert all(match.node_b == node and not match.doubtful for node, match in result.items())
    assert all(0.75 < match.overlap <= 1 for match in result.values())
    assert all(match.doubtful for match in match_nodes(assignments, at(tree, noisy), min_f1=1.01).values())


def test_match_nodes_with_jaccard():
    one, other = at(Tree.star(2), [1, 1, 2, 2]), at(Tree.star(2), [1, 2, 2, 2])
    assert match_nodes(one, other)[2].overlap == pytest.approx(4 / 5)
    assert match_nodes(one, other, measure="jaccard")[2].overlap == pytest.approx(2 / 3)
    with pytest.raises(UsageError, match="one of f1, jaccard, got 'dice'"):
        match_nodes(one, other, measure="dice")


def test_compare_random_trees():
    rng, tree = np.random.default_rng(1), Tree.balanced(4, 2)
    result = compare(at(tree, rng.choice(tree.leaves, 4000)), at(tree, rng.choice(tree.leaves, 4000)))
    assert result.leaves.rand == pytest.approx(0, abs=0.01)
    assert result.moved == 4000
    assert len(result.gone) == len(result.new) == 20  # all but the root
    assert sum(match.doubtful for match in result.matches.values()) == len(result.matches) - 1


def test_compare_work_linear_in_documents():
    rng, tree = np.random.default_rng(2), Tree.balanced(10, 2)

    def pair(n_docs):
        ids = [f"document {row}" for row in range(n_docs)]
        nodes = rng.integers(100, size=n_docs)

        def shares(first):
            columns = np.stack([first, *(rng.integers(100, size=n_docs) for _ in range(3))], 1).ravel()
            return csr_array((np.tile([0.7, 0.1, 0.1, 0.1], n_docs), columns, np.arange(0, 4 * n_docs + 1, 4)))

        one = DocumentAssignments(tree, tree.leaves, shares(nodes), ids)
        other = DocumentAssignments(
            tree, tree.leaves, shares(np.where(rng.random(n_docs) < 0.1, 0, nodes)), [*ids[1:], "new"]
        )
        return n_docs, (one, other)

    assert_linear(compare, pair(24_000), pair(192_000))


def test_wrong_input_raises():
    tree, one = Tree.star(2), np.array([[0.5, 0.5]])
    with pytest.raises(InputError, match="no document in common"):
        compare(at(tree, [1, 2]), at(tree, [1, 2], ids=["x", "y"]))
    with pytest.raises(InputError, match=r"shares of 2 classes, got an array of shape \(1, 3\)"):
        DocumentAssignments(tree, (1, 2), np.ones((1, 3)) / 3, ["a"])
    with pytest.raises(InputError, match="sum to one at most, got 2 in row 0"):
        DocumentAssignments(tree, (1, 2), one * 2, ["a"])
    with pytest.raises(InputError, match="0 or more, got negative or missing"):
        DocumentAssignments(tree, (1, 2), -one, ["a"])
    with pytest.raises(InputError, match="0 or more, got negative or missing"):
        DocumentAssignments(tree, (1, 2), one * np.nan, ["a"])
    with pytest.raises(InputError, match="expected 1 ids"):
        DocumentAssignments(tree, (1, 2), one, ["a", "b"])
    with pytest.raises(InputError, match="got 'a' 2 times"):
        DocumentAssignments(tree, (1, 2), np.vstack([one, one]), ["a", "a"])
    with pytest.raises(InputError, match="got node 1 2 times"):
        DocumentAssignments(tree, (1, 1), one, ["a"])
    with pytest.raises(InputError, match="3 nodes, or none, got 1"):
        DocumentAssignments(tree, (1, 2), one, ["a"], (("word",),))
    with pytest.raises(InputError, match="expected shares, documents × classes"):
        DocumentAssignments(tree, (1, 2), [["a", "b"]], ["a"])
    with pytest.raises(InputError, match="a node from 0 to 2, got 7"):
        DocumentAssignments(tree, (1, 7), one, ["a"])
