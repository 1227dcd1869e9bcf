"""Judging where documents are filed, in a browser."""

import pytest

from tests.web.axe import in_both_themes
from tests.web.conftest import Served
from tests.web.test_browser import until


@pytest.fixture
def judging(annotator):
    found = Served(annotator.app)
    yield found
    found.stop()


@pytest.fixture
def judging_many(many):
    found = Served(many.app)
    yield found
    found.stop()


def test_the_numbers_follow_the_slider(page, judging):
    page.goto(f"{judging.address}/categories")
    page.wait_for_selector('[role="tree"]', state="attached")
    page.locator("#rho").fill("0.6")
    row = page.locator('[data-thresholds] tr[data-at="0.60"]')
    for name in ("filed", "correct"):
        shown = page.locator(f'[data-figure="{name}"]').inner_text()
        assert shown == row.locator(f'[data-is="{name}"]').text_content()
        assert shown.endswith("%")
    page.wait_for_url("**rho=0.6**")
    until(page, "document.querySelectorAll('#places .own a').length > 0")
    before = page.locator("main").aria_snapshot()
    page.reload()
    assert page.locator("main").aria_snapshot() == before
    assert page.problems == []


@pytest.mark.parametrize("script", [True, False])
def test_documents_are_judged_in_the_browser(browser, judging, script):
    context = browser.new_context(java_script_enabled=script)
    page = context.new_page()
    page.goto(f"{judging.address}/categories")
    page.locator("#rows th a", has_text="law/bail").click()
    first = page.locator(".items h3 a").first.inner_text()
    page.locator(".item").first.get_by_role("button", name="Accept law/bail").click()
    assert first in page.locator(".notice").inner_text()
    second = page.locator(".items h3 a").first.inner_text()
    assert second != first
    page.locator(".item select").first.select_option("sport/tennis")
    page.locator(".item").first.get_by_role("button", name="Move").click()
    assert "sport/tennis" in page.locator(".notice").inner_text()
    page.locator(".notice").get_by_role("button", name="Undo").click()
    assert page.locator(".items h3 a").first.inner_text() == second
    page.locator(".item").first.get_by_role("button", name="Leave").click()
    page.locator(".choices a", has_text="all").click()
    page.wait_for_url("**show=all**")
    assert page.locator(".judged").count() == 2
    context.close()


@pytest.mark.parametrize("which", ["judging", "judging_many"])
def test_the_lists_are_accessible_and_fit_a_phone(request, browser, which):
    served = request.getfixturevalue(which)
    context = browser.new_context(viewport={"width": 320, "height": 700})
    page = context.new_page()
    for path in ("/categories", "/categories?rho=0.6", "/categories?label=law/bail", "/categories?left=1&rho=0.7"):
        page.goto(f"{served.address}{path}")
        page.wait_for_selector('[role="tree"]', state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
        assert in_both_themes(page) == [], path
        outside = page.evaluate("document.querySelectorAll('main ol > :not(li.item)').length")
        assert outside == 0
    page.goto(f"{served.address}/categories?label=law/bail")
    certain = page.locator("ol.items > li.item .share")
    assert certain.count() == page.locator("ol.items > li").count() > 5
    context.close()
