"""Topics over time: shares as they were planted, the burst that was planted, words that came and went."""

import json

import numpy as np
import pytest

from tests.planted import EACH, MONTHS, UNDATED, YEAR_ONLY, topic_with
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.trends.over_time import find_topics_over_time, find_words_over_time
from topiarist.errors import UsageError


@pytest.fixture(scope="module")
def found(planted):
    return planted.over_time("month")


def test_shares_are_those_that_were_planted(planted, found):
    labels = [labels[0] if labels else "" for labels in planted.documents.labels_of(range(len(planted)))]
    for word, label in (("bail", "law/bail"), ("football", "sport/football"), ("oil", "energy/oil")):
        place = found.topics.index(topic_with(planted, word))
        for month in range(MONTHS):
            own = found.periods.of == month
            truth = np.mean([name == label for name, mine in zip(labels, own, strict=True) if mine])
            assert found.table.share[month, place] == pytest.approx(truth, abs=0.03)
            assert found.table.low[month, place] <= truth <= found.table.high[month, place]


def test_every_document_has_a_period_or_is_told(planted, found):
    assert found.periods.documents.tolist() == [EACH] * MONTHS
    assert (found.periods.n_undated, found.periods.coarse) == (UNDATED, YEAR_ONLY)
    assert found.periods.documents.sum() + UNDATED + YEAR_ONLY == len(planted)


def test_the_planted_burst_is_found_and_no_other(planted, found):
    (burst,) = found.bursts
    assert burst.topic == topic_with(planted, "bail")
    assert (burst.first, burst.last, burst.dates) == ("2014-06", "2014-07", "2014-06..2014-07")
    assert 2 < burst.times < 6
    told = planted.search(f"date:{burst.dates}", by="words", topic=burst.topic, n=1_000)
    assert told.total == pytest.approx(burst.share * 2 * EACH, abs=3)  # the documents behind the number


def test_rows_and_json_say_the_same(found):
    rows = list(found.rows())
    assert len(rows) == len(found.topics) * MONTHS
    assert {row["period"] for row in rows if row["burst"]} == {"2014-06", "2014-07"}
    body = json.loads(json.dumps(found.to_dict()))
    assert body["left_out"] == {"undated": UNDATED, "unread": 0, "file_dated": 0, "coarse": YEAR_ONLY, "outside": 0}
    told = {(topic["id"], period["name"]): share for topic in body["topics"]
            for period, share in zip(body["periods"], topic["share"], strict=True)}  # fmt: skip
    assert all(told[row["topic"], row["period"]] == pytest.approx(row["share"], abs=1e-6) for row in rows)


def test_a_period_without_documents_has_no_share(planted):
    found = planted.over_time("day")
    assert found.periods.documents.min() == 0
    assert {row["share"] for row in found.rows() if not row["documents"]} == {None}


def test_only_what_lies_under_a_topic(planted):
    own = planted.over_time("month", topic=topic_with(planted, "bail"))
    assert own.topics == (topic_with(planted, "bail"),)
    assert len(own.bursts) == 1
    assert planted.over_time("month", topic=topic_with(planted, "oil")).bursts == ()


def test_an_unknown_unit_is_refused(planted):
    with pytest.raises(UsageError, match="got 'fortnight'"):
        planted.over_time("fortnight")


def test_numbers_are_made_once_where_somebody_keeps_them(planted):
    known = {}

    class Keeping(Figures):
        def compute_once(self, key, make):
            assert key not in known or known[key] is not None
            return known[key] if key in known else known.setdefault(key, make())

    figures = Keeping(planted)
    first, second = (find_topics_over_time(figures, "month") for _ in range(2))
    assert first.periods is second.periods
    assert list(known) == [("periods", "month"), ("time", "month"), ("bursts", "month")]


def test_words_come_and_go_within_a_topic(planted, found):
    words = {
        one.word: one for one in find_words_over_time(Figures(planted), topic_with(planted, "football"), found.periods)
    }
    assert set(words) == {"boycott", "sponsor"}
    assert (words["boycott"].kind, words["boycott"].first, words["boycott"].last) == (
        "came and went", "2014-02", "2014-03",
    )  # fmt: skip
    assert (words["sponsor"].kind, words["sponsor"].dates) == ("came", "2014-09..2014-12")
    assert find_words_over_time(Figures(planted), topic_with(planted, "oil"), found.periods) == ()


def test_what_is_new(planted):
    told = planted.new_since("2014-06", "2014-07")
    assert (told.since, told.before, told.undated, told.coarse) == (2 * EACH, 5 * EACH, UNDATED, YEAR_ONLY)
    assert [one.topic for one in told.topics] == [topic_with(planted, "bail")]
    assert told.topics[0].times_low > 1.5
    assert {one.topic for one in told.fewer} == {topic_with(planted, "football"), topic_with(planted, "oil")}
    later = planted.new_since("2014-09")
    assert [one.word for one in later.words] == ["sponsor"]
    assert (later.words[0].before, later.dates) == (0, ">=2014-09")
    assert planted.new_since("2015").since == 0


def test_dates_that_are_none_are_refused(planted):
    for since, until, said in (("soon", "", "got 'soon'"), ("", "", "start date"), ("2014-03", "2014-02", "before")):
        with pytest.raises(UsageError, match=said):
            planted.new_since(since, until)
