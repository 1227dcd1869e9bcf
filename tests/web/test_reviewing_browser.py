"""A review in a browser: by keys alone, without scripts, on a phone."""

from tests.web.axe import in_both_themes
from tests.web.test_browser import settled, until

TITLE = "document.getElementById('proposed').innerText"


def test_keys_alone_are_enough(page, changing):
    page.goto(f"{changing.address}/")
    settled(page)
    page.get_by_role("link", name="Review", exact=True).first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#label")
    page.locator("#label").focus()
    page.keyboard.type("wanted")
    page.keyboard.press("Tab")
    page.keyboard.type("bail")
    page.keyboard.press("Enter")
    page.wait_for_selector("#proposed")
    settled(page)
    titles = []
    for key in "ynys":
        titles.append(page.evaluate(TITLE))
        page.keyboard.press(key)
        until(page, f"{TITLE} !== {titles[-1]!r}")
        assert page.evaluate("document.activeElement.id") == "proposed"
        assert page.evaluate("scrollY") == 0
        assert titles[-1] in page.locator("#said").text_content()
    assert len(set(titles)) == 4
    tally = page.locator(".tally").inner_text()
    assert "3 of 400" in " ".join(tally.split())
    page.keyboard.press("u")
    until(page, f"{TITLE} === {titles[-1]!r}")
    page.locator("#q").focus()
    page.keyboard.type("y")  # in a field, a letter is a letter
    assert page.evaluate(TITLE) == titles[-1]
    before = page.locator("main").aria_snapshot()
    page.reload()
    assert page.locator("main").aria_snapshot() == before
    assert page.problems == []


def test_a_key_that_is_held_down_judges_once(page, changing):
    page.goto(f"{changing.address}/review?label=wanted&query=bail")
    settled(page)
    first = page.evaluate(TITLE)
    page.evaluate("""() => { for (let n = 0; n < 5; n++) document.body.dispatchEvent(
        new KeyboardEvent("keydown", { key: "y", bubbles: true, repeat: n > 0 })); }""")
    until(page, f"{TITLE} !== {first!r}")
    page.wait_for_timeout(300)
    assert "1 of 400" in " ".join(page.locator(".tally").inner_text().split())


def test_without_scripts_the_buttons_do_it(browser, changing):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{changing.address}/review?label=wanted&query=bail")
    first = page.locator("#proposed").inner_text()
    page.get_by_role("button", name="Relevant", exact=True).click()
    assert page.locator("#proposed").inner_text() != first
    assert first in page.locator("main").inner_text()
    page.locator(".answers").get_by_role("button", name="Undo").click()
    assert page.locator("#proposed").inner_text() == first
    context.close()


def test_it_is_accessible_and_fits_a_phone(browser, changing):
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(f"{changing.address}/review?label=wanted&query=bail")
    settled(page)
    page.get_by_role("button", name="Skip").click()
    until(page, "document.querySelectorAll('details.inline').length === 1")
    for path in ("", "?label=wanted&query=bail"):
        page.goto(f"{changing.address}/review{path}")
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert in_both_themes(page) == []
    bottom = page.locator(".answers").bounding_box()
    assert bottom["y"] + bottom["height"] <= 641  # in reach, however long the text
    context.close()
