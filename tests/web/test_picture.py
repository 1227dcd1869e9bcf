"""The tree as the picture of the overview: every topic is a name, a branch and a link; it opens and closes in place."""

import html
import re
from itertools import pairwise

import pytest
from starlette.testclient import TestClient

from tests.web.test_browser import until
from tests.web.test_contrast import THEMES, colours, contrast
from topiarist.web import addresses
from topiarist.web.frame import Row
from topiarist.web.http.server import explorer
from topiarist.web.pictures import tree_picture
from topiarist.web.rendering import hyphenate_dots
from topiarist.web.report import read_asset
from topiarist.web.values import TopicLine


@pytest.fixture(scope="module")
def client(deep):
    return TestClient(explorer(deep), base_url="http://127.0.0.1")


def row(id, documents, *below, branch=1):
    level = 0 if id == 0 else 1
    topic = TopicLine(
        id=id, name=f"topic {id}", named=False, words=("one", "two"), documents=documents, share=0.0,
        subtopics=len(below), level=level, address=addresses.topic(id), branch=branch,
    )  # fmt: skip
    return Row(topic, 1.0, False, bool(below), below, 0)


def shown(text):
    """The topics of the picture, and which of them are open."""
    names = [int(topic) for topic in re.findall(r'class="name" id="n(\d+)"', text)]
    opened = {int(topic) for topic in re.findall(r'id="t(\d+)"[^>]*data-expanded="yes"', text)}
    return names, opened


def rows_of(row):
    return [row, *(one for below in row["below"] for one in rows_of(below))]


def paths(drawing):
    return [[float(one) for one in re.findall(r"[\d.]+", path)] for path in re.findall(r' d="([^"]*)"', drawing)]


def test_branches_are_as_thick_as_they_have_documents_and_part_where_the_one_before_ends():
    tree = row(0, 100, row(1, 75, row(3, 50), row(4, 25)), row(2, 25), branch=0)
    trunk, one, three, _, two = paths(tree_picture.draw_tree(tree))
    thick = [path[9] - path[7] for path in (trunk, one, three, two)]
    assert thick == pytest.approx([thick[0], 0.75 * thick[0], 0.5 * thick[0], 0.25 * thick[0]], abs=0.003)
    assert one[1] == pytest.approx(trunk[7], abs=0.002)  # the first branch begins at the upper edge of the trunk
    assert one[0] == tree_picture.ROOT
    assert trunk[8] == tree_picture.ROOT
    assert three[0] == one[8]
    middle = (three[7] + three[9]) / 2
    assert middle == pytest.approx(1.0, abs=0.002)  # an open branch has three rows, its two topics are in the middle
    assert tree_picture.count_rows(tree) == 4
    assert tree_picture.count_columns(tree) == 1


def test_thin_branches_can_be_seen():
    tree = row(0, 1_000_000, row(1, 999_999), row(2, 1), branch=0)
    *_, last = paths(tree_picture.draw_tree(tree))
    assert last[9] - last[7] == pytest.approx(tree_picture.THINNEST, abs=0.002)


def test_the_style_sheet_has_the_widths_of_the_drawing():
    sheet = read_asset("style.css")
    for level, wide in enumerate(tree_picture.COLUMNS):
        assert f".cols{level} .grown > ul {{ --levels: {level}; --wide: {wide:g}cqw; }}" in sheet
    assert f"--root: {tree_picture.ROOT:g}cqw" in sheet
    bend = f"{tree_picture.BEND:g}".lstrip("0")
    assert f"--bend: min({bend} * var(--wide), {tree_picture.MOST_BEND:g}cqw)" in sheet


def test_the_overview_is_the_tree_and_shows_it_once(client, view):
    text = client.get("/").text
    names, opened = shown(text)
    told = {row["topic"]["id"] for row in rows_of(client.get("/index.json").json()["picture"])}
    assert len(names) == len(set(names))
    assert set(names) == told
    below = {view.shape.topics[node]: view.tree.children(node) for node in range(1, len(view.tree))}
    assert opened == {topic for topic in names[1:] if below[topic] and view.shape.topics[below[topic][0]] in told}
    for node in view.children(view.tree.root):
        lists = re.sub(r"<svg.*?</svg>", "", text, flags=re.S)
        assert lists.count(f'<span class="words">{hyphenate_dots(view.names[node])}</span>') == 1


def test_links_open_and_close_a_topic_and_the_address_remembers(client):
    first = client.get("/?detail=coarse").text
    names, opened = shown(first)
    closed = re.search(r'id="t(\d+)" href="([^"]*)" data-expanded="no"', first)
    topic, address = int(closed[1]), html.unescape(closed[2])
    assert address.endswith(f"turned={topic}#n{topic}")
    more, now = shown(client.get(address).text)
    assert now == opened | {topic}
    assert len(more) > len(names)
    back = re.search(rf'id="t{topic}" href="([^"]*)" data-expanded="yes"', client.get(address).text)
    assert shown(client.get(html.unescape(back[1])).text) == (names, opened)
    assert client.get("/?turned=99999").status_code == 200
    assert client.get("/?turned=oil").status_code == 422


def test_a_heading_keeps_its_colour_and_all_below_it_has_it(client, view):
    tops = view.tree.children(view.tree.root)
    assert sorted(view.branches[top] for top in tops) == list(range(1, len(tops) + 1))
    assert view.branches[view.tree.root] == 0
    for node in range(1, len(view.tree)):
        assert view.branches[node] == view.branches[view.tree.path(node)[1]]
    text = client.get("/").text
    for top in tops:
        topic, kind = view.shape.topics[top], tree_picture.choose_hue(view.branches[top])
        assert re.search(rf'<li class="{kind} open">.{{0,600}}id="n{topic}"', text, re.S)
        assert f'<i class="sign {kind}" aria-hidden="true"></i>' in text
        assert f'<a href="/topic/{topic}" data-topic="{topic}"' in client.get("/model").text


def test_colour_and_sign_together_tell_all_headings_apart():
    kinds = [tree_picture.choose_hue(branch) for branch in range(1, 64)]
    assert len(set(kinds)) == len(kinds)
    assert tree_picture.choose_hue(0) == ""
    signs = set(re.findall(r"\.sign\.(s\d)", read_asset("style.css")))
    assert len(signs) == tree_picture.SHAPES - 1  # the second is the square that all begin with


SEEN = {  # Machado, Oliveira and Fernandes 2009, all of one kind of cone missing
    "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritan": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


def linear(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def lab(rgb):
    x, y, z = (
        sum(a * max(b, 0.0) for a, b in zip(line, rgb, strict=True)) / white
        for line, white in (
            ((0.4124, 0.3576, 0.1805), 0.9505), ((0.2126, 0.7152, 0.0722), 1.0), ((0.0193, 0.1192, 0.9505), 1.089),
        )
    )  # fmt: skip
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", THEMES)
def test_headings_can_be_seen_and_told_apart_by_whoever_misses_a_colour(theme):
    known = colours(theme)
    lines = [known[f"b{number}"] for number in range(1, tree_picture.HUES + 1)]
    assert min(contrast(line, known["back"]) for line in lines) >= 3
    for ink in ("text", "dim", "link"):
        assert min(contrast(known[ink], known[f"s{number}"]) for number in range(1, tree_picture.HUES + 1)) >= 4.5
    for seen in SEEN.values():
        found = [lab([sum(a * b for a, b in zip(line, linear(one), strict=True)) for line in seen]) for one in lines]
        for one in range(len(lines)):
            for other in range(one):
                far = sum((a - b) ** 2 for a, b in zip(found[one], found[other], strict=True)) ** 0.5
                same_sign = one % tree_picture.SHAPES == other % tree_picture.SHAPES
                assert far >= (12 if same_sign else 2), (theme, one + 1, other + 1, far)


def test_it_opens_in_place_by_mouse_and_by_keys(page, deep_served):
    page.goto(f"{deep_served.address}/?detail=coarse")
    page.wait_for_selector('.picture .name[tabindex="0"]')
    page.evaluate("window.same = true")
    twist = page.locator('.picture .twist[aria-expanded="false"]').first
    topic = twist.get_attribute("id").removeprefix("t")
    before = page.locator(".picture .name").count()
    twist.click()
    page.wait_for_selector(f'#t{topic}[aria-expanded="true"]')
    assert page.evaluate("window.same")
    assert f"turned={topic}" in page.url
    until(page, f"document.activeElement.id === 't{topic}'")
    assert page.locator(".picture .name").count() > before
    page.locator(f"#n{topic}").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(f'#t{topic}[aria-expanded="false"]')
    until(page, f"document.activeElement.id === 'n{topic}'")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f'#t{topic}[aria-expanded="true"]')
    page.keyboard.press("ArrowRight")
    until(page, f"document.activeElement.closest('ul').closest('li').querySelector('.name').id === 'n{topic}'")
    page.keyboard.press("ArrowLeft")
    until(page, f"document.activeElement.id === 'n{topic}'")
    page.keyboard.press("Home")
    until(page, "document.activeElement === document.querySelector('.picture .name')")
    page.go_back()
    page.wait_for_selector(f'#t{topic}[aria-expanded="false"]')
    assert page.problems == []


def test_names_stand_at_their_branches_and_never_on_each_other(browser, deep_served):
    """Every topic of a large tree is open: rows are of one height, and no two names meet."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{deep_served.address}/?detail=all")
    boxes = page.evaluate("""() => [...document.querySelectorAll('.picture li:not(.open) .what')].map((one) => {
        const box = one.getBoundingClientRect(); return [box.top, box.bottom, box.left]; })""")
    high = page.evaluate("document.querySelector('.grown').getBoundingClientRect().height")
    rows = float(page.get_attribute("svg.boughs", "viewBox").split()[-1])  # an open branch has three at least
    assert rows >= len(boxes)
    assert high == pytest.approx(rows * 1.8 * 16, abs=1)
    assert len({round(left) for _, _, left in boxes}) == 1
    assert all(one[1] <= other[0] + 1 for one, other in pairwise(boxes))
    labels = page.evaluate("""() => [...document.querySelectorAll('.picture .name, .picture .count')].map((one) => {
        const box = one.getBoundingClientRect(), node = one.closest('.node').getBoundingClientRect();
        return [box.left, box.top, box.right, box.bottom, node.left, node.right]; })""")
    for number, (left, top, right, bottom, start, end) in enumerate(labels):
        assert start - 1 <= left
        assert right <= end + 1  # each label is in its own column
        for other in labels[:number]:
            assert right <= other[0] + 1 or other[2] <= left + 1 or bottom <= other[1] + 1 or other[3] <= top + 1
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not page.locator("svg.boughs").is_visible()
    page.close()


def test_who_may_only_read_sees_the_picture_without_hands(deep):
    client = TestClient(explorer(deep, read_only=True), base_url="http://127.0.0.1")
    text = client.get("/").text
    assert shown(text)[0]
    for gone in ('class="hands"', 'class="acts"', 'type="checkbox"', 'name="token"', "<form class="):
        assert gone not in text.split('<main id="main"')[1].split("</main>")[0]
