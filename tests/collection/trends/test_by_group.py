"""Topics by group: differences that were planted are found with intervals, and each number has its documents."""

import json

import numpy as np
import pytest

from tests.planted import NO_DESK, UNDATED, YEAR_ONLY, topic_with
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.trends.by_group import list_groupings
from topiarist.errors import UsageError
from topiarist.metrics.share_intervals import (
    ShareTable,
    compute_beta_interval,
    compute_ratios,
    exclude_group,
    pool_groups,
)


@pytest.fixture(scope="module")
def found(planted):
    return planted.by_group("desk")


def test_the_planted_difference_is_found_with_its_documents(planted, found):
    football = topic_with(planted, "football")
    north, south = (found.names.index(name) for name in ("north", "south"))
    (more,) = found.find_overrepresented(north)
    assert more.topic == football
    assert 1 < more.times_low < more.times < more.times_high
    assert more.low <= more.share <= more.high
    behind = planted.search(found.query(north), by="words", topic=football, n=1_000)
    assert behind.total == more.documents == pytest.approx(more.share * found.documents[north], abs=3)
    assert football in {one.topic for one in found.find_underrepresented(south)}
    assert football not in {one.topic for one in found.find_overrepresented(south)}


def test_shares_are_those_of_the_documents(planted, found):
    place = found.topics.index(topic_with(planted, "football"))
    desks = dict(planted.columns.read_codes("desk").pairs())
    labels = planted.documents.labels_of(range(len(planted)))
    for group, name in enumerate(found.names):
        own = [labels[row] for row, desk in desks.items() if desk == name]
        assert found.documents[group] == len(own)
        truth = np.mean([label == ("sport/football",) for label in own])
        assert found.table.share[group, place] == pytest.approx(truth, abs=0.02)
        assert found.table.low[group, place] <= truth <= found.table.high[group, place]


def test_documents_without_a_value_are_told(found):
    assert found.n_without_value == NO_DESK + UNDATED + YEAR_ONLY
    assert (found.n_several_values, found.left_out, found.left_documents) == (0, 0, 0)


def test_labels_group_too(planted):
    found = planted.by_group("labels")
    assert set(found.names) == {"law/bail", "sport/football", "energy/oil"}
    for group, name in enumerate(found.names):
        (more,) = found.find_overrepresented(group)
        assert more.topic == topic_with(planted, name.partition("/")[2])
    assert planted.search(found.query(0), by="words", n=1).total == found.documents[0]


def test_rows_and_json(found):
    rows = list(found.rows())
    assert len(rows) == len(found.names) * len(found.topics)
    body = json.loads(json.dumps(found.to_dict()))
    assert [group["name"] for group in body["groups"]] == list(found.names)
    assert body["without"] == found.n_without_value


def test_what_documents_can_be_grouped_by(planted):
    assert list_groupings(Figures(planted)) == {"desk": "2 different", "label": "3 different"}
    with pytest.raises(UsageError, match="grouped by: desk, label") as refused:
        planted.by_group("desc")
    assert refused.value.hint == "Use desk."
    with pytest.raises(UsageError, match="no document has a value of tag"):
        planted.by_group("tag")


def test_documents_with_several_values_count_under_each(collection):
    rows = np.flatnonzero(collection.shares_under(collection.outline.topics[1]) >= 0.5).tolist()
    collection.tag(rows, "first")
    collection.tag(range(0, len(collection), 2), "even")
    found = collection.by_group("tag")
    assert dict(zip(found.names, found.documents, strict=True)) == {"even": len(collection) // 2, "first": len(rows)}
    assert found.n_several_values == len([row for row in rows if row % 2 == 0])
    assert found.n_without_value == len(collection) - len({*rows, *range(0, len(collection), 2)})
    first = found.names.index("first")
    assert found.find_overrepresented(first)[0].topic == collection.outline.topics[1]
    assert found.others.documents[first] == len(set(range(0, len(collection), 2)) - set(rows))


def test_two_groups_are_compared_with_each_other(planted, found):
    pair = planted.by_group("desk", between=("south", "NORTH"))
    assert (pair.names, pair.pair, pair.n_both) == (("south", "north"), True, 0)
    football = pair.topics.index(topic_with(planted, "football"))
    for side in (0, 1):
        np.testing.assert_array_equal(pair.others.share[side], pair.table.share[1 - side])
        place = found.names.index(pair.names[side])
        np.testing.assert_allclose(pair.table.share[side], found.table.share[place])  # there are only these two
    (more,) = pair.find_overrepresented(1)
    assert more.topic == pair.topics[football]
    assert more.others == pytest.approx(pair.table.share[0, football])
    assert more.topic not in {one.topic for one in pair.find_overrepresented(0)}
    assert planted.search(pair.query(1), by="words", topic=more.topic, n=1).total == more.documents
    assert pair.to_dict()["pair"]


def test_documents_of_both_groups_are_on_neither_side(collection):
    rows = np.flatnonzero(collection.shares_under(collection.outline.topics[1]) >= 0.5).tolist()
    collection.tag(rows, "one")
    collection.tag(rows[:6], "two")
    collection.tag([row for row in range(len(collection)) if row not in rows], "two")
    collection.tag(range(3), "three")
    pair = collection.by_group("tag", between=("one", "two"))
    assert (pair.n_both, pair.documents) == (6, (len(rows) - 6, len(collection) - len(rows)))
    assert pair.left_out >= 1
    for side in (0, 1):
        assert collection.search(pair.query(side), by="words", n=1).total == pair.documents[side]
    more = pair.find_overrepresented(0)[0]
    assert more.documents == collection.search(pair.query(0), by="words", topic=more.topic, n=1).total


def test_a_pair_that_makes_no_sense_is_refused(planted):
    with pytest.raises(UsageError, match="no document has the desk 'norht'") as refused:
        planted.by_group("desk", between=("norht", "south"))
    assert refused.value.hint == "Use north."
    for pair in (("north",), ("north", "North"), ("north", "south", "east")):
        with pytest.raises(UsageError, match="two different groups"):
            planted.by_group("desk", between=pair)


def test_groups_together_are_as_sure_as_they_are():
    share, documents = np.array([[0.2], [0.4]]), np.array([100, 300])
    low, high = compute_beta_interval(share, documents[:, None].astype(float))
    both = pool_groups(ShareTable(share, low, high, documents, documents[:, None].astype(float)))
    assert both.share[0, 0] == pytest.approx(0.35)
    assert both.effective_documents[0, 0] == pytest.approx(400, rel=0.05)
    other = exclude_group(ShareTable(share, low, high, documents, documents[:, None].astype(float)), 1)
    assert other.documents.tolist() == [100]
    assert compute_ratios(other, both).ratio[0, 0] == pytest.approx(0.2 / 0.35, rel=0.05)
