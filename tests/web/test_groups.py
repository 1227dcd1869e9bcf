"""The page of groups: what each has more of than the others, and the documents behind every number."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from tests.planted import planted, planted_path, topic_with  # noqa: F401
from topiarist.collection.trends.by_group import ByGroup
from topiarist.web.http.server import explorer


@pytest.fixture(scope="module")
def client(planted_path):  # noqa: F811
    return TestClient(explorer(str(planted_path)), base_url="http://127.0.0.1")


def test_each_number_leads_to_its_documents(client, planted):  # noqa: F811
    page = client.get("/groups.json?column=desk").json()
    assert [choice["name"] for choice in page["columns"]] == ["desk", "label"]
    north = next(group for group in page["groups"] if group["name"] == "north")
    assert [one["topic"]["id"] for one in north["more"]] == [topic_with(planted, "football")]
    for one in (*north["more"], *north["less"]):
        behind = client.get("/search.json" + one["documents"].removeprefix("/search")).json()
        assert behind["paging"]["total"] == one["number"]
    behind = client.get("/search.json" + north["address"].removeprefix("/search")).json()
    assert behind["paging"]["total"] == north["documents"]


def test_the_first_column_is_shown_without_a_question(client):
    page = client.get("/groups.json").json()
    assert page["column"] == "desk"
    assert page["notes"] == ["32 documents have no value."]
    assert 'class="interval"' in client.get("/groups").text
    assert client.get("/").text.count('href="/groups">') == 2  # in the menu, and below where there is no room for it


def test_one_group_alone_has_all_of_its_topics(client):
    page = client.get("/groups.json?column=label&group=energy/oil").json()
    assert [group["name"] for group in page["groups"]] == ["energy/oil"]
    assert page["every"] == "/groups?column=label"


def test_a_group_leads_to_its_comparison_with_another(client):
    page = client.get("/groups.json?column=desk").json()
    first = page["groups"][0]
    others = {one["name"] for one in page["groups"]} - {first["name"]}
    assert {one["name"] for one in first["against"]} == others
    pair = client.get("/groups.json" + first["against"][0]["address"].removeprefix("/groups")).json()
    assert pair["pair"]
    assert [group["name"] for group in pair["groups"]] == [first["name"], first["against"][0]["name"]]
    assert [group["others"] for group in pair["groups"]] == [first["against"][0]["name"], first["name"]]
    assert pair["groups"][0]["most"] == pair["groups"][1]["most"]  # both drawings have one scale
    for group in pair["groups"]:
        assert group["less"] == []
        for one in group["more"]:
            behind = client.get("/search.json" + one["documents"].removeprefix("/search")).json()
            assert behind["paging"]["total"] == one["number"]
    assert "no document has the desk" in client.get("/groups.json?column=desk&group=north&against=x").json()["sentence"]


def test_what_is_beyond_counting_is_not_told_as_a_number(client, monkeypatch):
    plain = ByGroup.of

    def of(self, group, topic):
        return replace(plain(self, group, topic), times=1_675.0, times_low=1.57, times_high=27_059.0)

    monkeypatch.setattr(ByGroup, "of", of)
    page = client.get("/groups.json?column=label").json()
    assert {one["times"] for group in page["groups"] for one in group["more"]} == {"more than 1.5 times"}
    german = client.get("/groups?column=label", headers={"Accept-Language": "de"}).text
    assert "mehr als 1,5 mal so viel" in german
    assert "1.675" not in german


def test_what_is_no_column_is_told(client):
    page = client.get("/groups.json?column=colour").json()
    assert page["groups"] == []
    assert page["sentence"].startswith("there is no column 'colour'")
    assert "No document" not in client.get("/groups?column=tag").text
