"""What scripts exchange, load or copy says the same as a page that was loaded whole."""

import re

import pytest
from starlette.testclient import TestClient

from tests.web.test_hands import said, until
from topiarist.web import addresses
from topiarist.web.http.server import explorer

AROUND = """() => { const stays = (one) => !one.closest('.last');  // the last change is offered for five minutes
return ({
  json: document.querySelector('footer.bottom a').getAttribute('href'),
  copy: document.querySelector('a.copy').getAttribute('href'),
  backs: [...document.querySelectorAll('input[name=back]')].filter(stays).map((one) => one.value),
  states: [...document.querySelectorAll('input[name=state]')].filter(stays).map((one) => one.value),
  links: [...document.querySelectorAll('main .choices a, main .pager a, main .exports a')].map((one) => one.href),
  here: document.querySelector('.tree [aria-current]')?.dataset.topic ?? null,
  query: document.querySelector('#q').value,
  counts: [...document.querySelectorAll('.tree .rows .count')].map((one) => one.textContent.trim()),
  title: document.title,
}) }"""
ROW = """(link) => ({
  href: link.getAttribute('href'), label: link.querySelector('.label').textContent.trim(),
  kind: link.querySelector('.label span').className, count: link.querySelector('.count').textContent.trim(),
  title: link.querySelector('.label').title,
  bar: link.querySelector('svg.thin rect').getAttribute('width'), below: link.dataset.below, look: link.className,
})"""


def loaded(page, address):
    page.goto(address)
    page.wait_for_selector('[role="tree"] [aria-level="2"]', state="attached")


def same_as_whole(page):
    """What stands around the page now, and after it was loaded whole at the same address."""
    now = page.evaluate(AROUND)
    loaded(page, page.url)
    assert page.evaluate(AROUND) == now
    return now


def test_what_stands_around_a_list_is_of_its_page(page, served):
    loaded(page, f"{served.address}/topic/1")
    page.locator('.choices[aria-label="Sort"] a', has_text="longest").click()
    page.wait_for_url("**sort=longest")
    until(page, "document.querySelector('a.copy').href.includes('sort=longest')")
    assert same_as_whole(page)["json"] == "/topic/1.json?sort=longest"
    page.click(".pager a[rel=next]")
    page.wait_for_url("**page=2**")
    until(page, "document.querySelector('a.copy').href.includes('page=2')")
    now = same_as_whole(page)
    assert now["backs"]
    assert all("page=2" in back for back in now["backs"])


def test_a_slider_changes_where_everything_else_leads_to(page, served):
    loaded(page, f"{served.address}/topic/1")
    page.locator("#why > summary").click()
    page.locator("#special").fill("1")
    page.wait_for_url("**special=1*")
    until(page, "document.querySelector('a.copy').href.includes('special=1')")
    now = page.evaluate(AROUND)
    assert all("special=1" in back for back in now["backs"])
    page.locator('.choices[aria-label="Sort"] a', has_text="newest").click()
    page.wait_for_url("**sort=newest*")
    assert "special=1" in page.url


def test_the_tree_beside_a_search_follows_it(page, served):
    loaded(page, f"{served.address}/search?q=racket&by=words")
    assert any("/" in count for count in page.evaluate(AROUND)["counts"])
    page.locator('.choices[aria-label="By"] a', has_text="meaning").click()
    page.wait_for_url("**by=meaning**")
    until(page, "document.querySelector('.tree > h2').textContent.includes('200 most similar / all')")
    until(page, "document.querySelector('.tree .rows .count').textContent.startsWith('200 / ')")
    page.go_back()
    page.wait_for_url(lambda url: "meaning" not in url)
    until(page, "document.querySelector('.tree > h2').textContent.includes('matching / all')")
    until(page, "!document.querySelector('.tree .rows .count').textContent.startsWith('200 / ')")
    page.go_forward()
    page.wait_for_url("**by=meaning**")
    until(page, "document.querySelector('.tree > h2').textContent.includes('200 most similar / all')")
    until(page, "document.querySelector('.tree .rows .count').textContent.startsWith('200 / ')")
    same_as_whole(page)


def test_branches_that_scripts_open_look_like_those_of_the_server(page, deep_served):
    view = deep_served.app.state.session.view()
    seen = view.collection.tree.view("normal")
    inner = next(node for node in seen if view.tree.children(node))
    topic, word = view.shape.topics[inner], view.collection.tree.nodes[inner].words[0]
    for query in ("", f"?q={word}"):
        loaded(page, deep_served.address + (f"/search{query}" if query else "/model"))
        page.locator(f'.tree [data-topic="{topic}"] .twist').click()
        below = page.locator(f'.tree li:has(> [data-topic="{topic}"]) > ul > li > a')
        below.first.wait_for()
        opened = [one.evaluate(ROW) for one in below.all()]
        loaded(page, deep_served.address + (f"/search{query}&topic={topic}" if query else f"/topic/{topic}"))
        whole = [one.evaluate(ROW) for one in below.all()]
        page.evaluate("sessionStorage.clear()")
        assert opened == whole
        assert len(opened) == len(view.tree.children(inner))
        assert all(("/" in one["count"]) == bool(query) for one in opened)


def test_the_triangle_is_large_enough(page, served):
    loaded(page, f"{served.address}/model")
    boxes = [one.bounding_box() for one in page.locator(".tree .twist:visible").all()]
    assert boxes
    assert all(box["width"] >= 24 and box["height"] >= 24 for box in boxes)


def test_the_tree_opens_to_a_level_by_link_and_key_and_stays_so(page, served):
    depths = "[...new Set([...document.querySelectorAll('.tree [role=treeitem]')].filter((one) => one.offsetParent)" \
             ".map((one) => one.getAttribute('aria-level')))].join()"  # fmt: skip
    loaded(page, f"{served.address}/help")
    page.locator(".tree .levels a", has_text="2").click()
    until(page, f"{depths} === '1,2,3'")
    rows = page.locator('.tree [aria-level="3"]')
    assert all(one.get_attribute("aria-setsize") and one.get_attribute("aria-posinset") for one in rows.all())
    owners = page.locator(".tree [aria-owns]").all()
    assert owners
    assert all(page.locator(f"#{one.get_attribute('aria-owns')}[role=group]").count() == 1 for one in owners)
    page.set_viewport_size({"width": 1280, "height": 200})
    page.evaluate("document.getElementById('tree').scrollTop = 60")
    page.goto(f"{served.address}/model")
    until(page, f"{depths} === '1,2,3'")
    until(page, "document.getElementById('tree').scrollTop === 60")
    page.keyboard.press("1")
    until(page, f"{depths} === '1,2'")
    page.goto(f"{served.address}/tree?depth=1")
    assert page.locator('.choices[aria-label="Levels"] [aria-current]').inner_text() == "1"
    assert not page.problems


def test_without_scripts_levels_are_links(folder):
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    links = re.findall(r'href="([^"]*)" data-level="(\d)"', client.get("/model").text)
    assert links == [(addresses.tree(depth=level), str(level)) for level in range(1, len(links) + 1)]
    assert len(links) == client.app.state.session.view().tree.depth
    assert all(client.get(address).status_code == 200 for address, _ in links)


def test_the_search_field_shows_an_example_that_finds_something(folder):
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    example = re.search(r'placeholder="[^"]*topic:(\w+)"', client.get("/model").text)[1]
    assert client.get(f"/search.json?q=topic:{example}").json()["total"] > 0


def test_matching_counts_of_a_branch_are_those_of_the_search(folder):
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    row = client.get("/tree.json?q=racket").json()["row"]
    total = client.get("/search.json?q=racket").json()["total"]
    assert 0 < row["topic"]["matching"] <= total
    assert client.get("/tree.json").json()["row"]["topic"]["matching"] is None
    assert client.get("/tree.json?q=topic:nothing").status_code == 200


def test_reasons_stand_inside_of_their_documents(client_of_search):
    text = client_of_search.get("/search?q=court&by=meaning").text
    items = re.search(r'<ol class="items".*?</ol>', text, re.S)[0]
    assert items.count("<li") == items.count('class="item"')
    assert items.count("Explain") > 0
    assert all("Explain" in item for item in re.findall(r"<article>.*?</article>", items, re.S))


@pytest.fixture
def client_of_search(folder):
    return TestClient(explorer(folder), base_url="http://127.0.0.1")


def test_a_first_key_does_not_wait_for_ever(page, served):
    loaded(page, f"{served.address}/topic/1")
    page.clock.install()
    page.keyboard.press("g")
    page.clock.fast_forward(2_000)
    page.keyboard.press("n")
    page.keyboard.press("h")
    assert page.url.endswith("/topic/1")
    page.keyboard.press("g")
    page.clock.fast_forward(1_000)
    page.keyboard.press("m")
    page.wait_for_url("**/model")


@pytest.mark.parametrize("clipboard", ["missing", "refusing"])
def test_a_link_is_copied_where_the_browser_has_no_clipboard(page, served, clipboard):
    gone = "undefined" if clipboard == "missing" else "{ writeText: () => Promise.reject(new Error('no')) }"
    page.add_init_script(f"Object.defineProperty(navigator, 'clipboard', {{ value: {gone} }});")
    loaded(page, f"{served.address}/topic/1?sort=longest")
    page.evaluate("document.addEventListener('copy', () => (window.taken = String(document.activeElement.value)))")
    page.click("a.copy")
    until(page, "document.querySelector('a.copy').textContent === 'Copied'")
    assert said(page) == "The link is copied"
    assert page.evaluate("window.taken") == page.url
    assert page.locator(".copied").count() == 0


def test_a_link_that_cannot_be_copied_is_shown_selected(page, served):
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined });")
    page.add_init_script("document.execCommand = () => false;")
    loaded(page, f"{served.address}/topic/1")
    page.click("a.copy")
    field = page.locator(".copied input")
    assert field.input_value() == page.url
    assert page.evaluate("document.activeElement.selectionEnd") == len(page.url)
    assert "Ctrl-C" in page.locator(".copied").inner_text()
    page.keyboard.press("Escape")
    assert field.count() == 0
