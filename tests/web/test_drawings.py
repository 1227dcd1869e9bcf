"""The drawings of the tree: labels that fit, all of them links with a title, the same facts as a list."""

import html
import re

import pytest

from topiarist.web.pages.overview import Block
from topiarist.web.pictures import drawings
from topiarist.web.report import read_asset

NAME = "winter · mountain · weather"


def block(topic, name, documents, level, left, width, **more):
    place = {"topic": topic, "name": name, "documents": documents, "level": level, "left": left, "width": width}
    return Block(**{"named": False, "address": f"/topic/{topic}", **place, **more})


def many():
    """A tree of 200 topics: ten headings, one of which has most, with 19 topics each."""
    found, left = [block(0, "Everything", 10_000, 0, 0.0, 1.0)], 0.0
    for heading in range(10):
        width = 0.46 if heading == 0 else 0.06
        found.append(block(heading + 1, NAME, int(10_000 * width), 1, left, width, words=("snow", "ice")))
        for place in range(19):
            part = width / 19
            id = 100 + 19 * heading + place
            found.append(block(id, NAME, 9, 2, left + place * part, part))
        left += width
    return found


def drawn(browser, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(f"<style>{read_asset('style.css')}</style><main>{drawings.draw_icicle(many())}</main>")
    return page


MEASURE = """() => [...document.querySelectorAll('svg.block')].map((block) => {
  const label = block.querySelector('.label'), own = block.getBoundingClientRect();
  const seen = [...label.querySelectorAll('b span')].filter((one) => one.getClientRects().length);
  const inside = seen.every((one) => { const box = one.getBoundingClientRect();
    return box.left >= own.left - 1 && box.right <= own.right + 1 && box.top >= own.top - 1; });
  return {wide: own.width, seen: seen.length, inside, title: block.querySelector('title').textContent,
          href: block.closest('a').getAttribute('href'), size: parseFloat(getComputedStyle(label).fontSize)};
})"""


def test_at_two_hundred_topics_labels_stand_where_they_fit_and_nowhere_else(browser):
    page = drawn(browser, 1280)
    found = page.evaluate(MEASURE)
    page.close()
    assert len(found) == 201
    assert all(one["inside"] and one["size"] >= 12 for one in found)
    assert all(one["seen"] for one in found if one["wide"] >= 20)
    assert not any(one["seen"] for one in found if one["wide"] < 16)
    assert sum(one["seen"] > 0 for one in found) >= 30
    assert all(re.fullmatch(r".+: [\d,]+ documents, level \d", one["title"]) for one in found)
    assert all(one["href"].startswith("/topic/") for one in found)


def test_labels_grow_with_the_letters_that_people_have_chosen(browser):
    page = drawn(browser, 1280)
    height = "document.querySelector('svg.icicle').getBoundingClientRect().height"
    before, small = page.evaluate(height), page.evaluate(MEASURE)
    page.add_style_tag(content="html { font-size: 200% }")
    after, large = page.evaluate(height), page.evaluate(MEASURE)
    page.close()
    assert after == pytest.approx(2 * before)
    assert large[0]["size"] == 2 * small[0]["size"]
    assert all(one["inside"] for one in large)


def test_names_that_people_gave_are_not_taken_apart():
    named = block(1, "Oil · and gas", 9, 0, 0.0, 1.0, named=True, words=("oil", "gas"))
    assert "<span>Oil · and gas</span>" in drawings.draw_icicle([named])
    assert "&lt;b&gt;" in drawings.draw_icicle([block(1, "<b>", 9, 0, 0.0, 1.0)])
    assert drawings.draw_icicle([]) == ""


@pytest.mark.parametrize("address", ["/?view=icicle", "/?view=list"])
def test_a_list_says_what_the_drawing_says(client, address):
    blocks = client.get("/index.json").json()["shown"]
    text = client.get(address).text
    table = re.search(r'<table class="branches same">.*?</table>', text, re.S)[0]
    rows = [re.sub(r"<[^>]+>", " ", row) for row in re.findall(r"<tr class.*?</tr>", table, re.S)]
    told = [html.unescape(" ".join(row.split())) for row in rows]
    facts = [(block["name"], ", ".join(block["words"][:5]), block["level"], block["documents"]) for block in blocks]
    assert told == [" ".join(f"{name} {words} {level} {size:,}".split()) for name, words, level, size in facts]
    assert ('svg class="icicle"' in text) == (address == "/?view=icicle")


def test_each_topic_shows_where_it_is_in_the_whole_tree(client, view):
    for node in view.tree.depth_first():
        topic = view.shape.topics[node]
        blocks = client.get(f"/topic/{topic}.json").json()["whereabouts"]
        way = [block["topic"] for block in blocks if block["place"]]
        assert way == [view.shape.topics[step] for step in view.tree.path(node)]
        assert [block["topic"] for block in blocks if block["place"] == "here"] == [topic]
        text = client.get(f"/topic/{topic}").text
        said = html.unescape(re.search(r'whereabouts"[^>]*aria-label="([^"]*)"', text)[1])
        assert f"level {view.tree.depths[node]}, {view.sizes[node]:,} of {view.n_docs:,} documents" in said
        assert all(view.names[step] in said for step in view.tree.path(node))


def test_siblings_lie_side_by_side_under_their_topic(client, view):
    blocks = client.get("/index.json").json()["blocks"]
    ends = {}
    for block in blocks:  # in the order of the tree: each begins where the one before it on its level ends
        assert block["left"] >= ends.get(block["level"], 0.0) - 1e-9
        ends[block["level"]] = block["left"] + block["width"]
    order = [block["topic"] for block in blocks if block["topic"] is not None]
    assert order == [view.shape.topics[node] for node in view.ordered() if view.shape.topics[node] in order]


def test_the_order_of_the_tree_is_the_largest_first(view):
    order = view.ordered()
    assert sorted(order) == list(range(len(view.tree)))
    for node in order:
        children = view.children(node)
        assert [one for one in order if one in children] == children
        below = [order.index(one) for one in view.tree.descendants(node)]
        start = order.index(node)
        assert sorted(below) == list(range(start + 1, start + 1 + len(below)))
    root = view.tree.children(view.tree.root)[0]
    assert set(view.ordered(root)) == {root, *view.tree.descendants(root)}
