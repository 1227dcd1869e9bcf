"""When the tree was fitted, what arrived since, and the command that makes it again."""

import re
from datetime import UTC, datetime

from tests.web.clients import edit, leaf
from tests.web.test_jobs import Held
from topiarist.display.formats import format_day, format_time
from topiarist.storage import edit_log

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def footer(writer):
    text = writer.get("/").text.split('<footer class="bottom">')[1]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))


def test_the_footer_tells_when_the_model_was_fitted_and_what_arrived_since(writer, monkeypatch):
    database = writer.view.collection.generation.database
    grown = edit_log.history(database, kind="grow")[0].time
    assert f"Model of {format_time(grown)} " in footer(writer)
    assert "added since" not in footer(writer)
    edit(writer, "rename", leaf(writer), name="Mine")
    for text in ("oil barrel crude refinery", "tennis serve racket volley"):
        key = writer.put_form("/new", text=text).text.split('name="key" value="')[1].split('"')[0]
        writer.put_form("/keep", key=key)
    assert writer.view.last_fit.time == grown
    assert "2 documents added since: Refit" in footer(writer)
    assert writer.view.grown_with == 400
    held = Held(monkeypatch)
    writer.put_form("/refit")
    held.over()
    assert "added since" not in footer(writer)
    assert writer.view.last_fit.time == edit_log.history(database, kind="refit")[0].time
    writer.put_form("/undo")
    assert "2 documents added since" in footer(writer)


def test_moments_as_people_write_them():
    moment = datetime(2026, 3, 12, 14, 2).astimezone().isoformat()
    assert format_time(moment, NOW) == "12 March, 14:02"
    assert format_day(moment, NOW) == "12 March"
    assert format_time(moment, datetime(2027, 1, 5, tzinfo=UTC)) == "12 March 2026, 14:02"
    assert format_time("some day", NOW) == "some day"
