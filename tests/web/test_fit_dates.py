"""When the tree was fitted, what arrived since, and the command that makes it again."""

import re
from datetime import UTC, datetime

import pytest

from tests.web.test_jobs import Held
from tests.web.test_writing import HERE, Writer, edit, leaf
from topiarist.display.formats import format_day, format_time
from topiarist.storage import edit_log
from topiarist.web.http.server import explorer

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture
def client(copied):
    return Writer(explorer(copied), base_url=HERE)


def footer(client):
    text = client.get("/").text.split('<footer class="bottom">')[1]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))


def test_the_footer_tells_when_the_model_was_fitted_and_what_arrived_since(client, monkeypatch):
    database = client.view.collection.generation.database
    grown = edit_log.history(database, kind="grow")[0].time
    assert f"Model of {format_time(grown)} " in footer(client)
    assert "added since" not in footer(client)
    edit(client, "rename", leaf(client), name="Mine")
    for text in ("oil barrel crude refinery", "tennis serve racket volley"):
        key = client.put_form("/new", text=text).text.split('name="key" value="')[1].split('"')[0]
        client.put_form("/keep", key=key)
    assert client.view.last_fit.time == grown
    assert "2 documents added since: Refit" in footer(client)
    assert client.view.grown_with == 400
    held = Held(monkeypatch)
    client.put_form("/refit")
    held.over()
    assert "added since" not in footer(client)
    assert client.view.last_fit.time == edit_log.history(database, kind="refit")[0].time
    client.put_form("/undo")
    assert "2 documents added since" in footer(client)


def test_moments_as_people_write_them():
    moment = datetime(2026, 3, 12, 14, 2).astimezone().isoformat()
    assert format_time(moment, NOW) == "12 March, 14:02"
    assert format_day(moment, NOW) == "12 March"
    assert format_time(moment, datetime(2027, 1, 5, tzinfo=UTC)) == "12 March 2026, 14:02"
    assert format_time("some day", NOW) == "some day"
