"""What people come for, done as a person does it, in clicks and keys: how many acts each takes."""

import csv
import io
from pathlib import Path

import pytest

from tests.web.test_browser import heading, until


class Hands:
    """Clicks and keys on a page, counted."""

    def __init__(self, page):
        self.page, self.acts = page, 0

    def click(self, selector, place=0):
        self.acts += 1
        self.page.locator(selector).nth(place).click()

    def press(self, key):
        self.acts += 1
        self.page.keyboard.press(key)


@pytest.fixture
def hands(page):
    return Hands(page)


def ready(page):
    page.wait_for_selector('[role="tree"], .picture .name[tabindex="0"]', state="attached")


def test_from_the_overview_to_the_text_of_a_typical_document_in_two(page, hands, changing):
    page.goto(changing.address)
    hands.click(".picture .name", 1)
    page.wait_for_selector(".items.cards")
    hands.click(".items.cards h3 a")
    page.wait_for_selector("#text .tell")
    assert hands.acts <= 2


@pytest.mark.parametrize("path", ["/", "/topic/1"])
def test_a_topic_is_renamed_in_two(page, hands, changing, path):
    page.goto(changing.address + path)
    ready(page)
    if path == "/":
        page.locator(".picture li li .name").first.hover()
    hands.click(".picture li li .rename" if path == "/" else "h1 [data-rename]")
    page.wait_for_selector(".naming .chip")
    name = page.locator(".naming .chip").nth(1).inner_text()
    hands.click(".naming .chip", 1)
    page.wait_for_selector(f'.last:has-text("{name}")')
    assert name in page.locator("main").inner_text()
    assert page.url.removeprefix(changing.address) == path
    assert hands.acts <= 2


def test_three_topics_are_grouped_in_four(page, hands, changing):
    view = changing.app.state.session.view()
    some = [view.shape.topics[view.tree.leaves[place]] for place in (0, 1, -1)]
    page.goto(f"{changing.address}/?detail=all")
    ready(page)
    for topic in some:
        hands.click(f'.choose input[value="{topic}"]')
    hands.click('.acts [value="group"]')
    page.wait_for_selector(".last")
    assert "under a new heading" in page.locator(".last").inner_text()
    assert hands.acts <= 4


def test_twenty_documents_of_a_topic_are_judged_with_twenty_one_keys(page, hands, changing):
    page.goto(f"{changing.address}/topic/1")
    ready(page)
    hands.press("j")
    for number in range(20):
        hands.press("x")
        until(page, f"document.querySelectorAll('.items .item .read').length === {number + 1}")
    assert len(changing.app.state.session.view().collection.marks.read()) == 20
    assert hands.acts <= 21


def test_the_documents_of_a_topic_are_read_one_after_the_other(page, hands, changing):
    page.goto(f"{changing.address}/topic/1")
    ready(page)
    hands.click(".items.cards h3 a")
    page.wait_for_selector("#text")
    seen = set()
    for _ in range(3):
        ready(page)
        seen.add(heading(page))
        before = page.url
        hands.press("x")
        page.wait_for_url(lambda url, before=before: url != before)
        page.wait_for_selector('#text .body [tabindex="0"], #text .body', state="attached")
    assert len(seen) == 3
    assert len(changing.app.state.session.view().collection.marks.read()) == 3
    assert page.problems == []


def test_a_reading_list_is_exported_in_two(page, hands, changing):
    page.goto(f"{changing.address}/topic/1")
    ready(page)
    page.keyboard.press("j")
    for _ in range(3):
        page.keyboard.press("s")
        page.wait_for_selector(".items .item.at .chip.tag")
        page.keyboard.press("j")
    page.goto(changing.address)
    ready(page)
    hands.click(".further a:has-text('reading list')")
    page.wait_for_selector(".exports a")
    with page.expect_download() as kept:
        hands.click(".exports a:has-text('CSV')")
    rows = list(csv.reader(io.StringIO(Path(kept.value.path()).read_text("utf-8-sig"))))
    assert len(rows) == 4
    assert hands.acts <= 2
    assert page.problems == []


def test_what_was_new_in_march_is_found_in_three(page, hands, served):
    """The dates of this collection are of nine years: years come first, and months are a click away."""
    page.goto(served.address)
    ready(page)
    hands.click(".menu a:has-text('Time')")
    page.wait_for_selector(".when a")
    hands.click(".choices a:has-text('month')")
    page.wait_for_selector(".calendar")
    hands.click(".calendar tr:has(th:has-text('2003')) td:nth-child(4) a")
    page.wait_for_selector("#new h2")
    assert page.locator("#new p").first.inner_text().startswith("In 2003-03: ")
    assert page.locator(".when a[aria-current]").text_content().strip().endswith("03")
    assert hands.acts <= 3
    assert page.problems == []


def test_two_sources_are_compared_in_three(page, hands, served):
    page.goto(served.address)
    ready(page)
    hands.click(".menu a:has-text('Groups')")
    page.wait_for_selector(".against a")
    one, other = page.locator("h2.name a").first.inner_text(), page.locator(".against").first.locator("a").nth(1)
    other = other.text_content().rpartition("against ")[2]
    hands.click(".against a", 1)
    page.wait_for_selector("h1:has-text('against')")
    assert page.locator("h1").inner_text() == f"{one} against {other}"
    assert page.locator("section.group h2 a:first-child").all_inner_texts() == [one, other]
    assert page.locator("table.groups tbody tr:not(.part)").count() > 1
    assert hands.acts <= 3
    assert page.problems == []
