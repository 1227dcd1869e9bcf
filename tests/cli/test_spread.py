"""``topiarist time``: shares, bursts and what is new, for people and for programs."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from tests.planted import EACH, MONTHS, UNDATED, YEAR_ONLY, planted, planted_path, topic_with  # noqa: F401
from topiarist.cli.commands import app
from topiarist.cli.commands.time import sparkline
from topiarist.collection.trends.by_group import ByGroup


@pytest.fixture
def asked(planted_path, monkeypatch):  # noqa: F811
    """``asked("time", "--json")``: what a command prints of the planted collection."""
    monkeypatch.setenv("NO_COLOR", "1")

    def run(command, *arguments, code=0):
        done = CliRunner().invoke(app, [command, str(planted_path), *map(str, arguments)])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if "--json" in arguments else done

    return run


def test_time_is_told_to_people(asked):
    told = asked("time", "--by", "month").stdout
    assert f"{EACH * MONTHS} documents by month, 2014-01 to 2014-12: 12 months" in told
    assert f"{UNDATED} documents have no date." in told
    assert f"{YEAR_ONLY} documents have a date without a month." in told
    assert "2014-06 to 2014-07: 3.6 times its usual 19%" in told
    assert "▇" in told or "█" in told


def test_time_is_told_to_programs(asked, planted):  # noqa: F811
    body = asked("time", "--by", "month", "--json")
    assert [period["name"] for period in body["periods"]][::11] == ["2014-01", "2014-12"]
    assert all(low <= share <= high for topic in body["topics"]
               for low, share, high in zip(topic["low"], topic["share"], topic["high"], strict=True))  # fmt: skip
    assert [(one["topic"], one["first"], one["last"]) for one in body["bursts"]] == [
        (topic_with(planted, "bail"), "2014-06", "2014-07")
    ]


def test_words_of_a_topic_come_and_go(asked, planted):  # noqa: F811
    topic = topic_with(planted, "football")
    told = asked("time", "--by", "month", "--topic", topic, "--json")["words"]
    assert {(one["word"], one["kind"]) for one in told} == {("boycott", "came and went"), ("sponsor", "came")}
    assert "came and went: 2014-02 to 2014-03" in asked("time", "--by", "month", "--topic", topic).stdout


def test_what_is_new_is_told(asked):
    told = asked("time", "--since", "2014-06", "--until", "2014-07").stdout
    assert f"From 2014-06 to 2014-07: {2 * EACH} documents, against {5 * EACH} before." in told
    assert "MORE OF" in told
    assert "LESS OF" in told
    assert f"{UNDATED} documents without a date, or with a file date only: on neither side." in told
    assert "sponsor" in asked("time", "--since", "2014-09").stdout
    body = asked("time", "--since", "2014-09", "--json")
    assert [one["word"] for one in body["words"]] == ["sponsor"]


def test_questions_that_make_no_sense_are_refused(asked):
    assert "--until requires --since" in asked("time", "--until", "2014", code=2).stderr
    assert "got 'soon'" in asked("time", "--since", "soon", code=2).stderr


def test_a_collection_without_dates_says_so(tmp_path):
    from topiarist import Collection, Recipe

    texts = [
        f"oil barrel tanker number{n % 9} price" if n % 2 else f"court bail number{n % 9} judge" for n in range(40)
    ]
    Collection.grow(texts, tmp_path / "plain.topiary", Recipe(topics=2, headings=False)).close()
    told = CliRunner().invoke(app, ["time", str(tmp_path / "plain.topiary")])
    assert (told.exit_code, told.stdout) == (0, "No document of this collection has a date.\n")


def test_small_bars_are_as_high_as_shares():
    assert sparkline([0.0, 0.1, 0.2, 0.0], [1, 1, 1, 0]) == "▁▅█ "
    assert sparkline([0.0, 0.2], [1, 1], ascii=True) == ".@"


def test_groups_are_compared(asked, planted):  # noqa: F811
    told = asked("groups", "desk").stdout
    assert "2 groups by desk." in told
    assert "32 documents have no value." in told
    assert "north: " in told
    body = asked("groups", "desk", "--json")
    north = next(group for group in body["groups"] if group["name"] == "north")
    assert [one["topic"] for one in north["more"]] == [topic_with(planted, "football")]
    assert north["query"] == "desk:north"


def test_times_beyond_a_hundred_are_told_as_on_the_pages(asked, monkeypatch):
    plain = ByGroup.of

    def of(self, group, topic):
        return replace(plain(self, group, topic), times=1_675.0, times_low=81.4, times_high=27_059.0)

    monkeypatch.setattr(ByGroup, "of", of)
    told = asked("groups", "label").stdout
    assert "more than 81 times" in told
    assert "1,675" not in told


def test_two_groups_are_compared_with_each_other(asked, planted):  # noqa: F811
    told = asked("groups", "desk", "--between", "south", "--between", "north").stdout
    assert "south and north, by desk: what each has more of than the other." in told
    assert "less" not in told
    assert "no value" not in told
    body = asked("groups", "desk", "--between", "south", "--between", "north", "--json")
    assert (body["pair"], [group["name"] for group in body["groups"]]) == (True, ["south", "north"])
    assert [one["topic"] for one in body["groups"][1]["more"]] == [topic_with(planted, "football")]
    assert "two different groups" in asked("groups", "desk", "--between", "south", code=2).stderr


def test_what_can_be_grouped_by_is_told(asked):
    assert asked("groups", "--json")["columns"] == ["desk", "label"]
    assert "desk" in asked("groups").stdout
    assert "no column 'colour'" in asked("groups", "colour", code=2).stderr
