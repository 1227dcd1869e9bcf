"""The map: circles and points as data, a drawing without scripts, a canvas with them."""

import struct
import threading
import time

import pytest
from starlette.testclient import TestClient

from tests.web.test_jobs import PATIENCE
from topiarist.collection.trends.document_map import lay_out_documents
from topiarist.metrics import map_layout
from topiarist.metrics.map_layout import place_names
from topiarist.web.http.server import explorer
from topiarist.web.pages import map as map_page


def test_every_document_is_a_point_and_every_topic_a_circle(client):
    page = client.get("/map.json").json()
    body = client.get(page["points"]).content
    assert len(body) == 5 * page["documents"] == 5 * 400
    view = client.app.state.session.view()
    assert len(page["circles"]) == len(view.tree) - 1
    circles = {one["branch"]: one for one in page["circles"] if one["level"] == 1}
    inside = 0
    for row in range(400):
        x, y, branch = struct.unpack_from("<HHB", body, 5 * row)
        one = circles.get(branch)
        x, y = x / 32767.5 - 1, y / 32767.5 - 1
        inside += one is not None and (x - one["x"]) ** 2 + (y - one["y"]) ** 2 <= one["radius"] ** 2
    assert inside > 380  # the others are of several headings


def test_circles_do_not_wait_for_points(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(
        map_page, "lay_out_documents", lambda view, ground: asked.append(ground) or lay_out_documents(view, ground)
    )
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    assert "<circle" in client.get("/map").text
    assert asked == []
    points = client.get("/map.points").content
    client.get("/map")
    assert client.get("/map.points").content == points
    assert len(asked) == 1


@pytest.fixture
def by_neighbours(folder, monkeypatch):
    """A server whose map by neighbours is made when this says so: the gate, and what asks."""
    gate = threading.Event()

    def made(view):
        assert gate.wait(PATIENCE)
        points = lay_out_documents(view)
        return place_names(view.tree, view.assigned_nodes, points.points), points

    monkeypatch.setattr(map_page, "lay_out_neighbours", made)
    return gate, TestClient(explorer(folder), base_url="http://127.0.0.1")


def test_while_documents_are_placed_by_neighbours_the_circles_of_topics_are_shown(by_neighbours):
    gate, client = by_neighbours
    page = client.get("/map.json?by=neighbours").json()
    assert page["waiting"]
    assert not all(one["between"] for one in page["circles"])
    assert client.get(page["points"]).status_code == 202
    assert "map-wait" in client.get("/map?by=neighbours").text
    gate.set()
    until = time.monotonic() + PATIENCE
    while (answer := client.get(page["points"])).status_code == 202 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(answer.content) == 5 * 400
    page = client.get("/map.json?by=neighbours").json()
    assert not page["waiting"]
    assert all(one["between"] for one in page["circles"])
    assert [one["chosen"] for one in page["ways"]] == [False, True]


def test_without_the_extra_there_is_one_way_and_it_is_said_what_to_install(client, monkeypatch):
    assert client.get("/map.json").json()["ways"]
    monkeypatch.setattr(map_layout, "find_spec", lambda name: None)
    assert client.get("/map.json").json()["ways"] == []
    answer = client.get("/map?by=neighbours")
    assert answer.status_code == 422
    assert "openTSNE" in answer.text


def test_a_point_is_a_document(client):
    told = client.get("/map.document?row=3").json()
    assert client.get(told["address"]).status_code == 200
    assert told["title"] in client.get(told["address"]).text
    assert client.get("/map.document?row=4000").json() == {"title": "", "address": ""}
    assert client.get("/map.document?row=-1").status_code == 422


def test_without_scripts_the_circles_are_drawn(client):
    html = client.get("/map").text
    shown = [one for one in client.get("/map.json").json()["circles"] if one["first"]]
    assert html.count("<circle") == len(shown) > 0


def test_a_browser_draws_points_and_goes_into_a_topic(page, served):
    page.goto(f"{served.address}/map")
    page.wait_for_selector("canvas[data-drawn]")
    colours = """() => { const one = document.querySelector('canvas');
      const seen = one.getContext('2d').getImageData(0, 0, one.width, one.height).data, found = new Set();
      for (let n = 0; n < seen.length; n += 4) found.add(seen[n] << 16 | seen[n + 1] << 8 | seen[n + 2]);
      return found.size; }"""
    assert page.evaluate(colours) > 5
    drawn = int(page.locator("canvas").get_attribute("data-drawn"))
    page.locator("canvas").focus()
    page.keyboard.press("+")
    page.wait_for_selector(f'canvas:not([data-drawn="{drawn}"])')
    page.get_by_role("button", name="All").click()
    box = page.locator("canvas").bounding_box()

    def on_screen(x, y):
        """Where a place of the map is, when it was drawn last."""
        page.wait_for_timeout(100)
        middle_x, middle_y, scale = map(float, page.locator("canvas").get_attribute("data-place").split())
        left, top = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        return left + (x - middle_x) * scale, top + (y - middle_y) * scale

    one = page.request.get(f"{served.address}/map.json").json()["circles"][0]
    page.mouse.click(*on_screen(one["x"], one["y"]))
    page.locator(".map-said a").wait_for()
    page.get_by_role("button", name="All").click()
    x, y, _ = struct.unpack_from("<HHB", page.request.get(f"{served.address}/map.points").body(), 5 * 7)
    place = x / 32767.5 - 1, y / 32767.5 - 1
    page.mouse.move(*on_screen(*place))
    page.mouse.wheel(0, -600)
    page.mouse.click(*on_screen(*place))
    told = page.request.get(f"{served.address}/map.document?row=7").json()
    page.locator(f'.map-said a[href$="{told["address"]}"]').click()
    assert told["title"] in page.locator("h1").inner_text()
    assert page.problems == []
