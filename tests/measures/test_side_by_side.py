"""Two trees at a level: counted as a person would, and stories of which the answer is known."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.collection.placements import at, placements
from topiarist.hierarchy import Tree
from topiarist.measures.comparison import Homes, compare
from topiarist.measures.node_matching import aligned
from topiarist.measures.side_by_side import ALONE, CHANGED, JOINED, SAME, SPLIT, side_by_side

some = settings(max_examples=100, deadline=None)


def above(tree, node, level):
    return node if level is None or tree.depths[node] <= level else tree.path(node)[level]


@given(placements(), placements(), st.sampled_from([None, 1, 2, 3]))
@some
def test_every_document_is_counted_once_where_it_is(one, other, level):
    a, b = aligned(one, other)
    found = side_by_side(a.tree, b.tree, Homes.of(a, b), level)
    homes = list(zip(a.homes.tolist(), b.homes.tolist(), strict=True))
    expected = Counter((above(a.tree, x, level), above(b.tree, y, level)) for x, y in homes)
    assert {(pair.node_a, pair.node_b): pair.documents for pair in found.pairs} == expected
    assert found.sizes_a == Counter(above(a.tree, x, level) for x, _ in homes)
    assert found.sizes_b == Counter(above(b.tree, y, level) for _, y in homes)
    for pair in found.pairs:
        assert pair.overlap == 2 * pair.documents / (found.sizes_a[pair.node_a] + found.sizes_b[pair.node_b])
    assert set(found.became) == set(found.sizes_a)
    assert set(found.came) == set(found.sizes_b)


@given(placements(), st.sampled_from([None, 1, 2]))
@some
def test_a_tree_is_the_same_as_itself(placed, level):
    found = side_by_side(placed.tree, placed.tree, Homes.of(placed, placed), level)
    assert set(found.became.values()) | set(found.came.values()) == {SAME}
    assert all(pair.related and pair.node_a == pair.node_b for pair in found.pairs)


def flat(groups):
    """A tree of one level whose leaves have these documents."""
    tree = Tree((-1, *[0] * len(groups)), ("all", *map(str, range(len(groups)))))
    homes = {name: 1 + place for place, group in enumerate(groups) for name in group}
    return at(tree, list(homes.values()), ids=list(homes))


def told(one, other):
    a, b = aligned(flat(one), flat(other))
    return side_by_side(a.tree, b.tree, Homes.of(a, b))


def test_split_joined_changed_and_alone_are_told_apart():
    names = [f"d{number}" for number in range(100)]
    kept, apart, left, right, half = names[:20], names[20:40], names[40:50], names[50:60], names[60:80]
    found = told(
        [kept, apart, left, right, half, names[80:]],
        [kept, apart[:10], apart[10:], [*left, *right], [*half[:12], names[80]], half[12:14] + names[81:84],
         half[14:16] + names[84:87], half[16:18] + names[87:90], half[18:] + names[90:93], names[93:]],
    )  # fmt: skip
    assert [found.became[1 + place] for place in range(6)] == [SAME, SPLIT, JOINED, JOINED, CHANGED, SPLIT]
    assert found.came[1] == SAME
    assert found.came[2] == found.came[3] == SPLIT
    assert found.came[4] == JOINED


def test_a_topic_whose_documents_are_scattered_is_alone():
    names = [[f"{place}-{number}" for number in range(40)] for place in range(8)]
    mixed = [[name for group in names for name in group[place * 5 : place * 5 + 5]] for place in range(8)]
    found = told(names, mixed)
    assert set(found.became.values()) == set(found.came.values()) == {ALONE}
    assert not any(pair.related for pair in found.pairs)


def test_it_agrees_with_compare_where_trees_have_one_level():
    one, other = [["a", "b", "c", "d"], ["e", "f"]], [["a", "b"], ["c", "d"], ["e", "f"]]
    whole, level = compare(flat(one), flat(other)), told(one, other)
    assert level.split == whole.split
    assert level.joined == whole.merged
