"""Small screens, large letters, fingers: nothing to scroll sideways, nothing too small to hit, in both themes."""

import pytest

from tests.web.axe import in_both_themes
from tests.web.conftest import chromium
from tests.web.test_browser import settled
from topiarist.web import addresses

ID = "wire/law/bail/000.txt"
MAIN = (
    "/",
    "/topic/1",
    addresses.document(ID),
    addresses.document(ID, colour="topic"),
    "/search?q=court",
    "/tree",
    "/compare",
)
SMALL = """() => [...document.querySelectorAll(
  '.tree a, .tree .twist, .pager a, .choices a, .items h3 a, .picture .twist, .picture .rename, .picture .choose, ' +
  '.further a, .outline a, .legend a, .similar a, ' +
  '.neighbours a, .branches a, table.words a, .agree a, ' +
  '.bottom a, .menu a, .around a, .crumbs a, .tick, button, summary')]
  .filter((one) => one.offsetParent !== null && one.getClientRects().length)
  .filter((one) => !one.closest('details:not([open]) > :not(summary)'))
  .filter((one) => one.getBoundingClientRect().height < 24)
  .map((one) => one.outerHTML.slice(0, 90))"""


def sized(browser, width):
    return browser.new_page(viewport={"width": width, "height": 800})


def test_axe_finds_nothing_on_a_small_screen(browser, served):
    """On a large one, the test of all pages looks."""
    page = browser.new_page(viewport={"width": 320, "height": 800})
    found = []
    for path in MAIN:
        page.goto(served.address + path)
        settled(page)
        found += [(path, *one) for one in in_both_themes(page)]
    page.close()
    assert found == []


@pytest.mark.parametrize("width", [320, 1280])
def test_what_one_has_to_hit_is_24_pixels_high(browser, served, width):
    page = sized(browser, width)
    small = {}
    for path in MAIN:
        page.goto(served.address + path)
        settled(page)
        if page.locator(".topics-button").is_visible():
            page.locator(".topics-button").click()
        found = page.evaluate(SMALL)
        if found:
            small[path] = found[:4]
    page.close()
    assert small == {}


@pytest.fixture(scope="module")
def enlarged(browser):
    """The browser of somebody who reads with letters twice as large."""
    args = ["--no-sandbox", "--blink-settings=defaultFontSize=32"]
    found = browser.browser_type.launch(executable_path=chromium(), args=args)
    yield found
    found.close()


@pytest.mark.parametrize(
    ("which", "width"), [("browser", 320), ("browser", 390), ("enlarged", 640), ("enlarged", 1280)]
)
def test_nothing_is_to_be_scrolled_sideways(request, served, which, width):
    """Zoom of 400% leaves 320 pixels of 1280."""
    page = sized(request.getfixturevalue(which), width)
    wide = []
    for path in (*MAIN, "/?view=list", "/model", "/new", "/compare", "/word?word=court"):
        page.goto(served.address + path, wait_until="domcontentloaded")
        letters = "32px" if which == "enlarged" else "16px"
        assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == letters
        if page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") > 0:
            wide.append(path)
    page.close()
    assert wide == []


def test_letters_of_the_whole_page_grow(browser, served):
    page = sized(browser, 1280)
    page.goto(served.address)
    sizes = "[...document.querySelectorAll('h1, .picture .name, .picture .count, input, button, .bottom a')]" \
            ".map((one) => parseFloat(getComputedStyle(one).fontSize))"  # fmt: skip
    before = page.evaluate(sizes)
    page.evaluate("document.documentElement.style.fontSize = '150%'")
    assert page.evaluate(sizes) == [pytest.approx(1.5 * size) for size in before]
    page.close()


def test_results_have_the_width_and_filters_stand_beside_them(browser, served):
    """On a phone, filters are a drawer; without scripts they stand before the results."""
    for width in (390, 1280):
        page = sized(browser, width)
        page.goto(f"{served.address}/search?q=court")
        settled(page)
        box, filters = page.locator(".hits").bounding_box(), page.locator("#narrow")
        assert box["width"] > 0.7 * min(width, 960)
        assert filters.is_visible() == (width == 1280)
        if width == 390:
            page.locator(".topics-button").click()
            assert filters.is_visible()
        else:
            assert filters.bounding_box()["x"] < box["x"]
        page.close()
