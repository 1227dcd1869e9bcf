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
from topiarist.hierarchy import Tree
from topiarist.measures.comparison import Match, Placed, compare, match_nodes
from topiarist.measures.node_matching import aligned, overlap_of

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
def test_a_tree_agrees_with_itself(placed, soft):
    found = compare(placed, placed, soft=soft)
    assert (found.n_shared, found.n_only_a, found.n_only_b) == (placed.n_docs, 0, 0)
    for agreement in (found.leaves, *found.levels):
        assert (agreement.nmi, agreement.rand) == (pytest.approx(1), pytest.approx(1))
    assert (found.moved, found.flows, found.split, found.merged) == (0, (), (), ())
    if not soft:
        assert (found.gone, found.new) == ((), ())
        filled = {node for node in range(len(placed.tree)) if placed.n_under[node]}
        assert found.matches == {node: Match(node, 1.0, False) for node in filled} == found.best


@given(pairs())
@some
def test_seen_from_the_other_side_it_is_the_same(both):
    one, other = both
    found, back = compare(one, other), compare(other, one)
    assert (found.n_only_a, found.n_only_b) == (back.n_only_b, back.n_only_a)
    assert (found.split, found.merged) == (back.merged, back.split)
    assert found.leaves.nmi == pytest.approx(back.leaves.nmi)
    assert found.leaves.rand == pytest.approx(back.leaves.rand)
    assert {(node, match.node_b) for node, match in found.matches.items()} == {
        (match.node_b, node) for node, match in back.matches.items()
    }
    assert (found.gone, found.new, found.moved) == (back.new, back.gone, back.moved)
    flows = {(flow.node_a, flow.node_b, flow.documents) for flow in compare(one, other, n_flows=200).flows}
    assert flows == {(flow.node_b, flow.node_a, flow.documents) for flow in compare(other, one, n_flows=200).flows}


@given(pairs(), st.integers(0, 99))
@some
def test_numbers_and_order_change_nothing(both, seed):
    one, other = both
    (new_one, a), (new_other, b) = renumbered(one, seed), renumbered(other, seed + 1)
    found, again = compare(one, other), compare(new_one, new_other)
    assert again.leaves.nmi == pytest.approx(found.leaves.nmi)
    assert again.leaves.rand == pytest.approx(found.leaves.rand)
    assert again.matches == {a[x]: Match(b[m.node_b], m.overlap, m.doubtful) for x, m in found.matches.items()}
    assert again.best == {a[x]: Match(b[m.node_b], m.overlap, m.doubtful) for x, m in found.best.items()}
    assert [(a[f.node_a], b[f.node_b], f.documents) for f in found.flows] == [
        (f.node_a, f.node_b, f.documents) for f in again.flows
    ]
    assert (tuple(a[x] for x in found.gone), tuple(b[y] for y in found.new)) == (again.gone, again.new)


@given(pairs())
@some
def test_agreement_is_that_of_scikit_learn(both):
    found = compare(*both)
    one, other = aligned(*both)
    assert found.leaves.nmi == pytest.approx(normalized_mutual_info_score(one.homes, other.homes), abs=1e-9)
    assert found.leaves.rand == pytest.approx(adjusted_rand_score(one.homes, other.homes), abs=1e-9)


@given(pairs())
@some
def test_overlap_is_a_count_of_documents(both):
    one, other = aligned(*both)
    overlap = overlap_of(one, other)
    found = dict(zip(zip(overlap.rows.tolist(), overlap.columns.tolist(), strict=True), overlap.f1, strict=True))
    for x in range(len(one.tree)):
        for y in range(len(other.tree)):
            left = {row for row, home in enumerate(one.homes.tolist()) if x in one.tree.path(home)}
            right = {row for row, home in enumerate(other.homes.tolist()) if y in other.tree.path(home)}
            if left & right and (x == one.tree.root) == (y == other.tree.root):
                assert found.pop((x, y)) == pytest.approx(2 * len(left & right) / (len(left) + len(right)))
    assert not found


@given(pairs())
@some
def test_soft_overlap_by_its_formula(both):
    one, other = aligned(*both)
    overlap = overlap_of(one, other, soft=True)
    s = one.shares.toarray() @ one.tree.path_mask(one.class_nodes)
    t = other.shares.toarray() @ other.tree.path_mask(other.class_nodes)
    s[:, one.tree.root] = t[:, other.tree.root] = 1
    for x, y, f1 in zip(overlap.rows, overlap.columns, overlap.f1, strict=True):
        expected = 2 * (s[:, x] @ t[:, y]) / (s[:, x] @ s[:, x] + t[:, y] @ t[:, y])
        assert f1 == pytest.approx(expected)


@given(placements())
@some
def test_a_document_is_at_its_largest_share(placed):
    dense = placed.shares.toarray()
    for row, home in enumerate(placed.homes.tolist()):
        if dense[row].any():
            assert dense[row][placed.class_nodes.index(home)] == dense[row].max() == placed.largest[row]
        else:
            assert (home, placed.largest[row]) == (placed.tree.root, 0)
    assert placed.n_under[placed.tree.root] == placed.n_docs == pytest.approx(placed.expected[placed.tree.root])


OLD = Tree.from_paths(["all/sport", "all/news", "all/art"])
STORY = ["sport"] * 40 + ["news"] * 30 + ["art"] * 30


def story(paths, homes, **options):
    new = Tree.from_paths(paths)
    return compare(under(OLD, STORY), under(new, homes), **options), new


def test_a_topic_that_splits_into_four():
    sports = [f"s{row % 4}" for row in range(40)]
    found, new = story(["all/s0", "all/s1", "all/s2", "all/s3", "all/news", "all/art"], sports + STORY[40:])
    assert [(one.whole, len(one.parts), one.documents) for one in found.split] == [(1, 4, (10, 10, 10, 10))]
    assert (found.merged, found.gone, found.new, found.moved) == ((), (), (), 0)
    assert found.matches[1].doubtful  # one of four equal ones: ask
    assert found.best[1].overlap == pytest.approx(0.4)
    assert not found.matches[OLD.find("news")].doubtful
    assert "  sport  →  s0 + s1 + s2 + s3" in found.lines()
    back = compare(under(new, sports + STORY[40:]), under(OLD, STORY))
    assert (back.merged, back.split) == (found.split, ())
    assert "  s0 + s1 + s2 + s3  →  sport" in back.lines()


def test_a_topic_that_gets_subtopics_stays_what_it_is():
    sports = [("ball", "water")[row % 2] for row in range(40)]
    found, new = story(["all/sport/ball", "all/sport/water", "all/news", "all/art"], sports + STORY[40:])
    assert found.matches[OLD.find("sport")] == Match(new.find("sport"), 1.0, False)
    assert (found.moved, found.split, found.gone) == (0, (), ())
    assert set(found.new) == {new.find("ball"), new.find("water")}
    assert (found.levels[0].nmi, found.levels[0].rand) == (pytest.approx(1), pytest.approx(1))
    assert found.leaves.nmi < 1


def test_documents_that_move_and_a_topic_that_goes():
    homes = ["sport"] * 36 + ["news"] * 4 + ["news"] * 30 + ["sport", "news"] * 15
    found, new = story(["all/sport", "all/news"], homes)
    assert found.moved == 4 + 30
    assert [(OLD.names[f.node_a], new.names[f.node_b], f.documents) for f in found.flows] == [
        ("art", "news", 15), ("art", "sport", 15), ("sport", "news", 4)
    ]  # fmt: skip
    assert [OLD.names[node] for node in found.gone] == ["art"]
    text = "\n".join(found.lines())
    assert "moved: 34 documents (34.0%)" in text
    assert "       15  art  →  news" in text
    assert "gone: 1\n         30  art" in text


def test_lines_and_json_of_a_story():
    words = ((), ("ball", "goal"), ("minister",), ("painting",))
    a = under(OLD, STORY, words=words)
    b = under(OLD, ["news"] * 2 + STORY[2:], ids=[f"d{row}" for row in range(1, 101)])
    found = compare(a, b)
    assert found.lines()[0] == "99 documents in both · 1 only in A · 1 only in B"
    assert "leaves: A 3, B 3" in found.lines()
    assert "  sport (ball, goal)  →  news" in "\n".join(found.lines()).replace("          2", "")
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["documents"] == {"shared": 99, "only_a": 1, "only_b": 1}
    assert plain["matches"][1]["a"] == {
        "id": 1, "name": "sport", "path": ["all", "sport"], "words": ["ball", "goal"], "size": 39
    }  # fmt: skip
    assert set(plain) == {"documents", "agreement", "matches", "best", "moved", "split", "merged", "gone", "new"}


def test_names_survive_a_fit_with_other_numbers_and_some_noise():
    rng = np.random.default_rng(5)
    tree = Tree.balanced(3, 2)
    homes = rng.choice(tree.leaves, 600)
    placed = at(tree, homes)
    other, number = renumbered(placed, 3)
    found = match_nodes(placed, other)
    assert found == {node: Match(number[node], 1.0, False) for node in range(len(tree))}
    noisy = np.where(rng.random(600) < 0.15, rng.choice(tree.leaves, 600), homes)
    found = match_nodes(placed, at(tree, noisy))
    assert all(match.node_b == node and not match.doubtful for node, match in found.items())
    assert all(0.75 < match.overlap <= 1 for match in found.values())
    assert all(match.doubtful for match in match_nodes(placed, at(tree, noisy), least=1.01).values())


def test_jaccard_instead_of_f():
    one, other = at(Tree.star(2), [1, 1, 2, 2]), at(Tree.star(2), [1, 2, 2, 2])
    assert match_nodes(one, other)[2].overlap == pytest.approx(4 / 5)
    assert match_nodes(one, other, measure="jaccard")[2].overlap == pytest.approx(2 / 3)
    with pytest.raises(UsageError, match="one of f1, jaccard, got 'dice'"):
        match_nodes(one, other, measure="dice")


def test_random_trees_have_nothing_in_common():
    rng, tree = np.random.default_rng(1), Tree.balanced(4, 2)
    found = compare(at(tree, rng.choice(tree.leaves, 4000)), at(tree, rng.choice(tree.leaves, 4000)))
    assert found.leaves.rand == pytest.approx(0, abs=0.01)
    assert found.moved == 4000
    assert len(found.gone) == len(found.new) == 20  # all but the root
    assert sum(match.doubtful for match in found.matches.values()) == len(found.matches) - 1


def test_the_work_grows_with_the_documents_and_no_faster():
    rng, tree = np.random.default_rng(2), Tree.balanced(10, 2)

    def pair(n_docs):
        ids = [f"document {row}" for row in range(n_docs)]
        homes = rng.integers(100, size=n_docs)

        def shares(first):
            columns = np.stack([first, *(rng.integers(100, size=n_docs) for _ in range(3))], 1).ravel()
            return csr_array((np.tile([0.7, 0.1, 0.1, 0.1], n_docs), columns, np.arange(0, 4 * n_docs + 1, 4)))

        one = Placed(tree, tree.leaves, shares(homes), ids)
        other = Placed(tree, tree.leaves, shares(np.where(rng.random(n_docs) < 0.1, 0, homes)), [*ids[1:], "new"])
        return n_docs, (one, other)

    assert_linear(compare, pair(24_000), pair(192_000))


def test_wrong_input_is_refused():
    tree, one = Tree.star(2), np.array([[0.5, 0.5]])
    with pytest.raises(InputError, match="no document in common"):
        compare(at(tree, [1, 2]), at(tree, [1, 2], ids=["x", "y"]))
    with pytest.raises(InputError, match=r"shares of 2 classes, got an array of shape \(1, 3\)"):
        Placed(tree, (1, 2), np.ones((1, 3)) / 3, ["a"])
    with pytest.raises(InputError, match="sum to one at most, got 2 in row 0"):
        Placed(tree, (1, 2), one * 2, ["a"])
    with pytest.raises(InputError, match="0 or more, got negative or missing"):
        Placed(tree, (1, 2), -one, ["a"])
    with pytest.raises(InputError, match="0 or more, got negative or missing"):
        Placed(tree, (1, 2), one * np.nan, ["a"])
    with pytest.raises(InputError, match="expected 1 ids, one per row of the shares, got 2"):
        Placed(tree, (1, 2), one, ["a", "b"])
    with pytest.raises(InputError, match="a different id for each document, got 'a' 2 times"):
        Placed(tree, (1, 2), np.vstack([one, one]), ["a", "a"])
    with pytest.raises(InputError, match="a different node for each class, got node 1 2 times"):
        Placed(tree, (1, 1), one, ["a"])
    with pytest.raises(InputError, match="words for each of 3 nodes, or none, got 1"):
        Placed(tree, (1, 2), one, ["a"], (("word",),))
    with pytest.raises(InputError, match="expected shares, documents × classes"):
        Placed(tree, (1, 2), [["a", "b"]], ["a"])
    with pytest.raises(InputError, match="a node from 0 to 2, got 7"):
        Placed(tree, (1, 7), one, ["a"])
