"""How much of a deep tree is opened: the choice in the address, the tree beside a page, every topic in reach."""

import html
import re
from itertools import pairwise

import pytest
from starlette.testclient import TestClient

from topiarist.web import addresses
from topiarist.web.frame import DETAILS, list_open_nodes
from topiarist.web.http.server import explorer


@pytest.fixture(scope="module")
def client(deep):
    return TestClient(explorer(deep), base_url="http://127.0.0.1")


def rows_of(row):
    return [row, *(one for below in row["below"] for one in rows_of(below))]


def links(text, pattern='[^"]*'):
    return [html.unescape(found) for found in re.findall(f'href="({pattern})"', text)]


def part(text, name):
    return {"tree": text.split('<main id="main"')[0].split('class="rows"')[-1].split('class="beside"')[0],
            "main": text.split('<main id="main"')[1].split("</main>")[0]}[name]  # fmt: skip


def beside(client, address):
    """The topics that the tree beside a page shows."""
    return [int(topic) for topic in re.findall(r'data-topic="(\d+)"', part(client.get(address).text, "tree"))]


def seen_in(view, detail):
    """The topics of a view, and those above them."""
    nodes = {step for node in view.collection.tree.view(detail) for step in view.tree.path(node)}
    return {view.shape.topics[node] for node in nodes}


def test_the_tree_is_deeper_than_what_is_opened(view):
    sizes = [len(seen_in(view, detail)) for detail in DETAILS]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[3] == len(view.tree)
    for smaller, larger in pairwise(DETAILS):
        assert list_open_nodes(view, smaller) <= list_open_nodes(view, larger)


@pytest.mark.parametrize("detail", DETAILS)
def test_overview_and_outline_show_what_the_address_asks_for(client, view, detail):
    page = client.get(f"/index.json?detail={detail}").json()
    assert {block["topic"] for block in page["shown"]} == seen_in(view, detail)
    outline = rows_of(client.get(f"/tree.json?detail={detail}").json()["shown"])
    assert {row["topic"]["id"] for row in outline} == seen_in(view, detail)
    for path in ("/", "/tree"):
        text = client.get(f"{path}?detail={detail}").text.split('aria-label="Detail"')[1].split("</nav>")[0]
        chosen = re.findall(r'detail=(\w+)" aria-current="true"', text)
        assert len(chosen) == 1
        assert list_open_nodes(view, chosen[0]) == list_open_nodes(view, detail)
    assert client.get(f"/?view=list&detail={detail}").text.count("<tr class=") == len(seen_in(view, detail))


def test_normal_is_what_is_shown_first(client):
    for path in ("/index.json", "/tree.json"):
        assert client.get(path).json()["shown"] == client.get(f"{path}?detail=normal").json()["shown"]
    assert client.get("/?detail=huge").status_code == 422


def test_data_for_programs_is_the_same_in_every_detail(client, view):
    first = client.get("/index.json").json()
    assert max(block["level"] for block in first["blocks"]) == 2
    whole = client.get("/tree.json").json()["row"]
    assert len(rows_of(whole)) == len(view.tree)
    for detail in DETAILS:
        page = client.get(f"/index.json?detail={detail}").json()
        assert [page[name] for name in ("blocks", "headings")] == [first[name] for name in ("blocks", "headings")]
        assert client.get(f"/tree.json?detail={detail}").json()["row"] == whole


def test_closed_topics_say_how_many_are_below(client, view):
    blocks = client.get("/index.json").json()["shown"]
    rows = rows_of(client.get("/tree.json").json()["shown"])
    closed = {row["topic"]["id"]: row["topic"]["below"] for row in rows if row["topic"]["below"] and not row["below"]}
    assert closed
    assert closed == {block["topic"]: block["below"] for block in blocks if block["below"]}
    assert closed == {topic: len(view.tree.descendants(view.shape.node(topic))) for topic in closed}
    overview, outline, picture = (client.get(path).text for path in ("/?view=icicle", "/tree", "/"))
    for topic, number in closed.items():
        assert f"level {view.tree.depths[view.shape.node(topic)]}, {number} topics below" in overview
        assert f'href="/tree?topic={topic}"' in outline
        assert re.search(rf'id="t{topic}"[^>]*>\+{number}</a>', picture)


def test_the_tree_beside_a_page_has_the_view_and_the_way_to_where_one_is(client, view):
    normal = seen_in(view, "normal")
    assert set(beside(client, "/model")) == normal
    assert set(beside(client, "/model?detail=coarse")) == seen_in(view, "coarse")
    assert set(beside(client, "/model?detail=all")) == seen_in(view, "fine")
    for node in range(len(view.tree)):
        way = {below for step in view.tree.path(node) for below in view.tree.children(step)}
        expected = normal | {view.shape.topics[one] for one in way}
        shown = beside(client, f"/topic/{view.shape.topics[node]}")
        assert len(shown) == len(set(shown))
        assert set(shown) == expected


@pytest.mark.parametrize("start", ["/?detail=coarse", "/tree?detail=coarse"])
def test_every_topic_is_reached_by_links_and_the_detail_is_kept(client, view, start):
    """Without a script: from page to page, by links to topics and to their outlines alone."""
    pages, waiting = set(), [start]
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        pages.add(address)
        text = client.get(address).text
        found = links(text, r"/topic/\d+\?detail=coarse") if start == "/?detail=coarse" else []
        waiting += found + links(part(text, "main"), r"/tree\?topic=\d+&amp;detail=coarse")
        others = [one for one in links(text, '/(?:model|new|word|doc|search|topic)[^"]*') if ".json" not in one]
        assert others
        assert all("detail=coarse" in one for one in others)
        if address.startswith("/tree"):
            pages |= set(links(part(text, "main"), r"/topic/\d+\?detail=coarse"))
    reached = {int(found[1]) for found in (re.match(r"/topic/(\d+)", one) for one in pages) if found}
    assert reached == set(view.shape.topics)


def test_an_address_keeps_the_detail_unless_it_says_one_itself():
    kept = addresses.in_detail
    assert kept("/topic/3?sort=newest#docs", "fine") == "/topic/3?sort=newest&detail=fine#docs"
    assert kept("/", "fine") == "/?detail=fine"
    assert kept("/?detail=all", "fine") == "/?detail=all"
    assert kept("/search?q=detail%3Dall", "fine") == "/search?q=detail%3Dall&detail=fine"
    for address in ("/assets/style.css", "/report.html", "/export.csv?topic=0", "/undo"):
        assert kept(address, "fine") == address
    assert kept("/topic/3", "") == "/topic/3"


def test_forms_keep_the_detail_and_are_sent_to_plain_addresses(client):
    text = client.get("/topic/0?detail=fine").text
    assert not re.findall(r'action="[^"]*detail=', text)
    assert text.count('<input type="hidden" name="detail" value="fine">') == 2
    assert all("detail=fine" in back for back in re.findall(r'name="back" value="([^"]*)"', text))
    assert 'name="detail"' not in client.get("/topic/0").text


@pytest.mark.parametrize("edit", ["move", "merge"])
def test_topics_to_choose_from_stand_in_the_order_of_the_tree_with_their_levels(client, view, edit):
    topic = view.shape.topics[view.tree.leaves[0]]
    options = client.get(f"/shape.json?edit={edit}&topic={topic}").json()["options"]
    order = {view.shape.topics[node]: place for place, node in enumerate(view.ordered())}
    assert [order[one["id"]] for one in options] == sorted(order[one["id"]] for one in options)
    text = client.get(f"/shape?edit={edit}&topic={topic}").text
    told = [html.unescape(one) for one in re.findall(r"<option[^>]*>([^<]*)</option>", text)]
    for one, line in zip(options, told, strict=True):
        node = view.shape.node(one["id"])
        assert line == "\u00a0" * 3 * view.tree.depths[node] + f"{view.names[node]} ({view.sizes[node]:,})"
