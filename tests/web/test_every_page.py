"""What holds for every page in a browser: no complaint, nothing from elsewhere, every control in reach of the keys."""

import pytest

from tests.web.axe import in_both_themes
from tests.web.test_browser import EVERY, settled

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
FOLLOWED = """() => { window.reached = [];
  document.addEventListener('focusin', (event) => window.reached.push(Number(event.target.dataset.tested ?? -2))); }"""
REACHED = "[window.reached, document.activeElement === document.body]"
AT_ONCE = 12  # presses before it is asked where they led


@pytest.mark.parametrize("part", range(3))
def test_axe_finds_nothing_and_keys_reach_every_control(page, served, part):
    """Tab goes through all of them; within a tree or a text, arrows go on from the one that Tab has reached."""
    unreached, found = [], []
    page.goto(f"{served.address}/tree")
    listed = set(page.evaluate("[...document.querySelectorAll('main a[href]')].map((one) => one.getAttribute('href'))"))
    for path in EVERY[part::3]:
        page.goto(served.address + path)
        settled(page)
        found += [(path, *one) for one in in_both_themes(page)]
        controls = page.evaluate(CONTROLS)
        page.evaluate(FOLLOWED)
        for _ in range(0, len(controls) + 5, AT_ONCE):
            for _ in range(AT_ONCE):
                page.keyboard.press("Tab")
            reached, left = page.evaluate(REACHED)
            if left or len(set(reached)) < len(reached):
                break
        reached = set(reached)
        together = {one["place"] for one in controls if one["together"]}
        alone = {one["place"] for one in controls if not (one["together"] or one["disabled"] or one["main"])}
        led = listed | {controls[place]["to"] for place in reached | together if place >= 0}
        alone -= {one["place"] for one in controls if one["drawn"] and one["to"] in led}  # a list has them too
        unreached += [(path, controls[place]["html"]) for place in sorted(alone - reached)]
        if together and not together & reached:
            unreached.append((path, "no way into the tree"))
        unreached += [(path, "without a name", one["html"]) for one in controls if not one["named"]]
    assert unreached == []
    assert found == []


def test_every_page_says_what_it_is_and_complains_of_nothing(page, served):
    titles = set()
    for path in EVERY:
        page.goto(served.address + path)
        settled(page)
        assert page.locator("h1").count() == 1, path
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.locator("main").count() == page.locator("footer").count() == 1
        assert page.locator('meta[name="viewport"]').count() == 1
        assert page.locator("img:not([alt])").count() == 0
        assert page.evaluate("document.querySelectorAll('svg:not([aria-hidden], [role], svg svg)').length") == 0, path
        titles.add(page.title())
    assert len(titles) > 10
    missing = [said for said in page.problems if "404" not in said]  # the page of a topic that no longer exists
    assert missing == []
    assert all(address.startswith((served.address, "data:")) for address in page.asked)


def test_axe_would_find_something(page):
    """It is asked in a way of our own: what is wrong in light, and what is in dark only."""
    dark = "@media (prefers-color-scheme: dark) { p { color: #777; background: #666 } }"
    page.set_content(f"<title>x</title><style>{dark}</style><main><h1>y</h1><p>words</p><img src='data:,'></main>")
    assert {one[:2] for one in in_both_themes(page)} == {
        ("light", "html-has-lang"),
        ("light", "image-alt"),
        ("dark", "color-contrast"),
    }
