"""The explorer in a real browser: walking, searching, editing, keys, hostile text, reports, accessibility."""

import re

import pytest

from tests.web.axe import violations
from tests.web.conftest import hostile_documents
from topiarist.collection.collection import Collection
from topiarist.web import addresses
from topiarist.web.report import write_report

ID = "wire/law/bail/000.txt"
EVERY = (
    "/", "/?view=list", "/?view=icicle", "/topic/0", "/topic/1", "/search", "/search?q=court", "/search?q=footbal",
    "/search?q=court&by=meaning", addresses.document(ID), addresses.document(ID, why=1),
    addresses.document(ID, colour="topic"), "/word?word=court",
    "/tree", "/model", "/help", "/new", "/categories", "/categories?label=law/bail", "/compare",
    "/review", "/review?label=relevant", "/shape?edit=rename&topic=1",
    "/shape?edit=split&topic=1&ready=1", "/topic/4711",
    "/time", "/time?since=2005&topic=1", "/map", "/groups", "/groups?column=label&group=law/bail",
)  # fmt: skip


def heading(page):
    return page.locator("h1").inner_text()


def settled(page):
    """Wait until the scripts have dressed the tree."""
    page.wait_for_selector('[role="tree"], .picture .name[tabindex="0"], .icicle, .branches', state="attached")
    if page.locator("[data-map]").count():
        page.wait_for_selector("canvas[data-drawn]")


def until(page, script):
    """Wait for something to be true. The pages' own policy forbids what Playwright would do for it."""
    for _ in range(300):
        if page.evaluate(script):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never true: {script}")


def test_one_may_walk_from_the_overview_to_a_document_and_back(page, served):
    page.goto(served.address)
    assert heading(page).startswith("400 documents")
    page.locator(".picture .trunk > ul > li > .node .name").first.click()
    first = heading(page)
    page.locator(".subtopics th a").first.click()
    page.locator(".items h3 a").first.click()
    assert page.locator("#text").inner_text()
    page.locator('.around a[rel="next"]').click()
    page.locator('.around a[rel="up"]').click()
    page.locator(".crumbs a").last.click()
    assert heading(page) == first
    settled(page)
    assert page.problems == []
    assert all(address.startswith(served.address) for address in page.asked)


def test_a_needle_is_found_in_a_few_steps(page, served):
    page.goto(served.address)
    page.fill("#q", "racket deuce")
    page.press("#q", "Enter")
    assert "48 documents match “racket deuce”" in heading(page)
    page.locator(".items h3 a").first.click()
    assert "racket" in page.locator("#text").inner_text().lower()
    page.goto(f"{served.address}/search?q=racket+deuce&by=words")
    assert "match" in heading(page)
    assert page.locator(".tree .unmatched").count() > 0


def test_a_reload_and_a_deep_link_show_the_same(page, browser, served):
    page.goto(f"{served.address}/topic/1")
    page.locator('.choices[aria-label="Sort"] a', has_text="longest").click()
    page.wait_for_url("**sort=longest**")
    page.locator(".pager a", has_text="2").first.click()
    page.wait_for_url("**page=2**")
    before = page.locator("main").aria_snapshot()
    page.reload()
    assert page.locator("main").aria_snapshot() == before
    other = browser.new_page()
    other.goto(page.url)
    assert other.locator("main").aria_snapshot() == before
    other.close()
    page.go_back()
    page.wait_for_url(re.compile(r"sort=longest$"))
    until(page, "!document.querySelector('.pager [aria-current]').textContent.includes('2')")


def test_keys_alone_lead_to_a_document_and_back(page, served):
    page.goto(served.address)
    settled(page)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("jjk")
    assert page.input_value("#q") == "jjk"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator(".picture [tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**/topic/*")
    settled(page)
    topic = page.url
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/doc/**")
    settled(page)
    document = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != document)
    settled(page)
    page.keyboard.press("c")
    page.wait_for_url("**why=1**")
    page.wait_for_selector('.choices[aria-label="Colour words by"]')
    page.keyboard.press("c")
    page.wait_for_url("**colour=level**")
    page.keyboard.press("u")
    page.wait_for_url(lambda url: url.partition("#")[0] == topic)
    settled(page)
    page.keyboard.press("u")
    page.wait_for_url(lambda url: url.partition("#")[0] != topic)
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/model")
    assert page.problems == []


def test_keys_can_be_turned_off(page, served):
    page.goto(f"{served.address}/help")
    settled(page)
    page.check("#no-keys")
    page.goto(served.address)
    settled(page)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "q"


def test_the_tree_is_a_tree_to_assistive_technology(page, deep_served):
    page.goto(f"{deep_served.address}/tree?detail=coarse")
    settled(page)
    assert page.locator('[role="tree"] [tabindex="0"]').count() == 1
    item = page.locator('[role="treeitem"][aria-expanded="false"]').first
    assert {"aria-level", "aria-setsize", "aria-posinset"} <= set(
        item.evaluate("node => [...node.attributes].map(a => a.name)")
    )
    topic = item.get_attribute("data-topic")
    item.focus()
    page.keyboard.press("*")
    opened = f'[data-topic="{topic}"][aria-expanded="true"]'
    page.wait_for_selector(opened)
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.getAttribute('aria-level')") == "1"
    page.goto(f"{deep_served.address}/model?detail=coarse")
    page.wait_for_selector(opened)  # what was open stays open
    page.goto(f"{deep_served.address}/model?detail=all")
    sent = page.locator(".tree [data-open]").nth(1)
    closed = sent.get_attribute("data-topic")
    sent.locator(".twist").click()
    page.goto(f"{deep_served.address}/model?detail=all")
    page.wait_for_selector(f'[data-topic="{closed}"][aria-expanded="false"]')  # and what was closed, closed


def test_a_word_has_a_card(page, served):
    page.goto(f"{served.address}/topic/1")
    settled(page)
    page.locator(".word-chips a").first.hover()
    page.wait_for_selector(".card li a")
    page.keyboard.press("Escape")
    assert page.locator(".card").count() == 0
    assert page.problems == []


def test_the_slider_reranks_words_and_is_in_the_address(page, served):
    page.goto(f"{served.address}/topic/1")
    settled(page)
    page.locator("#why > summary").click()
    page.locator("#special").fill("1")
    page.wait_for_url("**special=1**")
    assert page.evaluate("document.activeElement.id") == "special"


def test_an_edit_is_seen_before_it_is_made_and_can_be_undone(page, changing):
    page.goto(f"{changing.address}/topic/1")
    before = heading(page)
    page.goto(f"{changing.address}/shape?edit=rename&topic=1")
    page.fill("#name", "A name of mine")
    page.get_by_role("button", name="Preview").click()
    assert "called A name of mine" in page.locator("table.plain").inner_text()
    page.get_by_role("button", name="Apply", exact=True).click()
    assert heading(page).startswith("A name of mine")
    assert "A name of mine" in page.locator(".tree").inner_text()
    page.get_by_role("button", name="Undo").click()
    assert heading(page) == before
    page.locator("summary", has_text="All documents").click()
    page.locator("form[action='/tag'] input[name=tag]").fill("mine")
    page.get_by_role("button", name="Tag", exact=True).click()
    page.get_by_role("button", name="“mine”").click()  # a topic has more documents than a page: it asks
    assert "mine" in page.locator(".tree").inner_text()
    assert page.problems == []


def test_a_pasted_text_finds_its_place(page, changing):
    page.goto(f"{changing.address}/new")
    page.fill("#pasted", "Crude oil: the barrel price fell, refinery output and pipeline export too, says opec")
    page.get_by_role("button", name="Preview").click()
    assert "1 document to file" in page.locator(".sentence").inner_text()
    page.get_by_role("button", name="File these").click()
    page.goto(f"{changing.address}/")
    assert heading(page).startswith("401 documents")


def test_hostile_text_does_nothing(page, hostile_served):
    paths = ["/", "/topic/0", "/search?q=window", "/tree", "/compare", "/categories"]
    paths += [addresses.document(document.id) for document in hostile_documents()[:8]]
    for path in paths:
        page.goto(hostile_served.address + path)
        settled(page)
    page.goto(f"{hostile_served.address}/topic/0")
    page.locator(".word-chips a").first.hover()
    page.wait_for_timeout(400)
    assert page.evaluate("window.hacked") is None
    assert page.problems == []
    assert all(address.startswith((hostile_served.address, "data:")) for address in page.asked)


def test_narrow_screens_and_large_letters_need_no_sideways_scroll(browser, served):
    page = browser.new_page(viewport={"width": 320, "height": 640})
    wide = []
    for path in EVERY:
        page.goto(served.address + path)
        if page.evaluate("document.documentElement.scrollWidth") > 320:
            wide.append(path)
    page.goto(f"{served.address}/topic/1")
    page.locator(".topics-button").click()
    assert page.locator("#tree").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#tree").is_visible()
    page.locator(".topics-button").click()
    page.get_by_role("button", name="Close").click()
    assert not page.locator("#tree").is_visible()
    assert page.evaluate("document.activeElement.className") == "topics-button"
    page.close()
    assert wide == []


def test_pages_work_without_scripts(browser, served):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(served.address)
    page.fill("#q", "racket")
    page.press("#q", "Enter")
    page.locator(".items h3 a").first.click()
    page.wait_for_url("**/doc/**")  # a click is over before the page that it opens is there whole
    assert page.locator("#text .tell").count()
    page.locator("#why").click()
    page.locator('.choices[aria-label="Colour words by"] a', has_text="topic").click()
    page.wait_for_url("**colour=topic**")
    assert page.locator("#text span").count() > 10
    here = page.url.partition("?")[0]
    page.locator('.around a[rel="next"]').click()
    page.wait_for_url(lambda url: not url.startswith(here))
    assert page.locator("#text").inner_text()
    context.close()


def test_a_report_opens_from_the_disk_and_asks_for_nothing(browser, folder, tmp_path):
    path = tmp_path / "report.html"
    with Collection.open(folder) as collection:
        write_report(collection, path, "all")
    context = browser.new_context(offline=True)
    page, asked, problems = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: problems.append(said.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(path.as_uri())
    assert "400 documents" in heading(page)
    page.fill("#filter", "racket")
    assert 0 < page.locator(".topic-card:visible").count() < page.locator(".topic-card").count()
    page.press("#filter", "Enter")
    assert "racket" in page.evaluate("document.activeElement.dataset.words")
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert page.locator(".topic-card:visible").count() == page.locator(".topic-card").count()
    page.locator(".topic-card .item a").nth(7).click()
    page.wait_for_selector("#reading-text span")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.wait_for_selector("#reading", state="hidden")
    assert asked == [path.as_uri()]
    assert problems == []
    assert violations(page) == []
    context.close()
