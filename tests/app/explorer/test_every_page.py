"""What holds for every page in a browser: no complaint, nothing from elsewhere, every control in reach of the keys."""

import pytest

from tests.app.explorer.test_browser import EVERY, settled

CONTROLS = """() => {
  const seen = (one) => one.checkVisibility({checkOpacity: false, checkVisibilityCSS: true})
      && one.getClientRects().length > 0;
  const every = [...document.querySelectorAll(
      'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]')].filter(seen);
  every.forEach((one, place) => { one.dataset.tested = place; });
  return every.map((one, place) => ({
      place, html: one.outerHTML.slice(0, 90), tab: one.tabIndex, disabled: !!one.disabled,
      together: !!one.closest('[role="tree"], [data-roving]'), main: one.id === 'main',
      drawn: !!one.closest('svg[role="img"], [aria-hidden="true"]'), to: one.getAttribute('href'),
      named: !!(one.innerText || one.getAttribute('aria-label') || one.title || one.labels?.length
          || one.querySelector('img[alt], title') || one.closest('svg')) }));
}"""
REACHED = """() => { const one = document.activeElement;
  return one === document.body ? -1 : Number(one.dataset.tested ?? -2); }"""


@pytest.mark.parametrize("part", range(3))
def test_keys_reach_every_control(page, served, part):
    """Tab goes through all of them; within a tree or a text, arrows go on from the one that Tab has reached."""
    unreached = []
    page.goto(f"{served.address}/tree")
    listed = set(page.evaluate("[...document.querySelectorAll('main a[href]')].map((one) => one.getAttribute('href'))"))
    for path in EVERY[part::3]:
        page.goto(served.address + path)
        settled(page)
        controls = page.evaluate(CONTROLS)
        reached = set()
        for _ in range(len(controls) + 5):
            page.keyboard.press("Tab")
            at = page.evaluate(REACHED)
            if at == -1 or (at in reached and at == min(reached)):
                break
            reached.add(at)
        together = {one["place"] for one in controls if one["together"]}
        alone = {one["place"] for one in controls if not (one["together"] or one["disabled"] or one["main"])}
        led = listed | {controls[place]["to"] for place in reached | together if place >= 0}
        alone -= {one["place"] for one in controls if one["drawn"] and one["to"] in led}  # a list has them too
        unreached += [(path, controls[place]["html"]) for place in sorted(alone - reached)]
        if together and not together & reached:
            unreached.append((path, "no way into the tree"))
        unreached += [(path, "without a name", one["html"]) for one in controls if not one["named"]]
    assert unreached == []


def test_no_page_complains_or_asks_elsewhere(page, served):
    for path in EVERY:
        page.goto(served.address + path)
        settled(page)
    missing = [said for said in page.problems if "404" not in said]  # the page of a topic that is gone
    assert missing == []
    assert all(address.startswith((served.address, "data:")) for address in page.asked)


def test_every_page_says_what_it_is(page, served):
    titles = set()
    for path in EVERY:
        page.goto(served.address + path)
        assert page.locator("h1").count() == 1, path
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.locator("main").count() == page.locator("footer").count() == 1
        assert page.locator('meta[name="viewport"]').count() == 1
        assert page.locator("img:not([alt])").count() == 0
        assert page.evaluate("document.querySelectorAll('svg:not([aria-hidden], [role], svg svg)').length") == 0, path
        titles.add(page.title())
    assert len(titles) > 10
