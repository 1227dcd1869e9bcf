"""The page of groups: what each has more of than the others, and the documents behind every number."""

import pytest
from starlette.testclient import TestClient

from tests.planted import planted, planted_path, topic_with  # noqa: F401
from topiarist.app.explorer.web.server import explorer


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
    assert '<a href="/groups">By group</a>' in client.get("/").text


def test_one_group_alone_has_all_of_its_topics(client):
    page = client.get("/groups.json?column=label&group=energy/oil").json()
    assert [group["name"] for group in page["groups"]] == ["energy/oil"]
    assert page["every"] == "/groups?column=label"


def test_what_is_no_column_is_told(client):
    page = client.get("/groups.json?column=colour").json()
    assert page["groups"] == []
    assert page["sentence"].startswith("there is no column 'colour'")
    assert "No document" not in client.get("/groups?column=tag").text
