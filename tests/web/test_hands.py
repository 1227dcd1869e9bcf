"""What keys, sliders and links do in a browser: with the chosen document only, and without losing one's place."""


def until(page, condition):
    """Wait without the browser's own way, which the policy of the pages forbids."""
    for _ in range(160):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def said(page):
    return page.locator("#said").text_content()


def test_r_marks_the_chosen_document_and_takes_it_back(page, changing):
    page.goto(f"{changing.address}/topic/0")
    marks = changing.app.state.session.view().collection.marks
    page.keyboard.press("r")
    until(page, "document.getElementById('said').textContent.includes('Choose')")
    assert not marks.read()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.wait_for_selector(".items .item .read")
    assert len(marks.read()) == 1
    page.keyboard.press("t")
    page.fill("dialog input", "to do")
    page.keyboard.press("Enter")
    page.wait_for_selector(".items .chip.tag")
    assert marks.tags() == {"to do": 1}
    page.keyboard.press("r")
    page.wait_for_selector(".items .item .read", state="detached")
    assert not marks.read()
    assert not page.problems


def test_many_documents_are_marked_after_a_question_only(page, changing):
    page.goto(f"{changing.address}/topic/0")
    page.click("summary:has-text('All documents')")
    page.click("text=Mark all 400 read")
    page.wait_for_selector("h1:has-text('Mark all 400 read?')")
    assert not changing.app.state.session.view().collection.marks.read()
    page.click("main button.main")
    page.wait_for_selector("text=400 of 400 read")
    page.click("text=Mark all unread")
    page.click("main button.main")
    page.wait_for_selector("text=Mark all 400 read", state="attached")
    assert not changing.app.state.session.view().collection.marks.read()


def test_a_slider_can_be_dragged(page, served):
    page.goto(f"{served.address}/topic/1")
    page.click("#why > summary")
    assert not page.locator("form.special button").is_visible()  # a slider needs no button
    page.evaluate("window.slider = document.getElementById('special')")
    box = page.locator("#special").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.6, y)
    page.mouse.down()
    for step in range(6):
        page.mouse.move(box["x"] + box["width"] * (0.5 - 0.08 * step), y)
        page.wait_for_timeout(200)
    page.mouse.up()
    until(page, "new URL(location.href).searchParams.get('special') < 0.3")
    assert page.evaluate("window.slider === document.getElementById('special')")
    assert page.locator("table.words tbody tr").count()
    assert not page.problems


def test_after_a_page_of_a_list_one_is_at_the_list(page, served):
    page.goto(f"{served.address}/topic/0")
    page.click(".pager a[rel=next]")
    until(page, "document.activeElement.id === 'docs'")
    assert said(page) == "Page 2 of 20"


def test_menus_and_buttons_answer_the_keys_that_they_should(page, changing):
    page.goto(f"{changing.address}/topic/1")
    page.click("summary:has-text('Shape')")
    page.keyboard.press("Escape")
    assert page.locator(".menu-details[open]").count() == 0
    page.set_viewport_size({"width": 500, "height": 800})
    page.focus(".topics-button")
    page.keyboard.press("Space")
    assert page.get_attribute(".topics-button", "aria-expanded") == "true"
    assert not page.problems


def test_keys_go_through_topics_where_there_are_no_documents(page, served):
    for path, rows in (
        ("/?view=list", ".branches tbody th a"),
        ("/tree", ".outline a"),
        ("/categories", "#rows tbody th a"),
    ):
        page.goto(served.address + path)
        for place in (0, 1, 0):
            page.keyboard.press("k" if place == 0 else "j")
            until(page, f"document.activeElement === document.querySelectorAll('main :is({rows})')[{place}]")
    assert not page.problems


def test_who_comes_back_from_a_document_is_where_it_was(page, served):
    for path in ("/topic/0?page=2", "/search?q=court&page=2"):
        page.goto(served.address + path)
        page.locator(".items h3 a").nth(7).click()
        page.wait_for_selector('#text .body [tabindex="0"]')  # keys are listened to
        title = page.locator("main h1").inner_text()
        page.keyboard.press("u")
        page.wait_for_selector(".item:target")
        assert title.split("\n")[0] in page.locator(".item:target h3").inner_text()
        until(page, "document.activeElement === document.querySelector('.item:target h3 a')")
        assert page.evaluate("document.querySelector('.item:target').getBoundingClientRect().top < innerHeight")
        page.keyboard.press("j")
        until(page, "document.activeElement === document.querySelectorAll('.items h3 a')[8]")
    assert not page.problems


def test_after_a_judgement_one_is_at_what_it_did(page, changing):
    page.goto(f"{changing.address}/categories")
    page.locator("#rows tbody th a").first.click()
    page.locator('button[value="leave"]').first.click()
    page.wait_for_selector('main .notice[role="status"]')
    until(page, "document.activeElement.matches('main .notice[role=status]')")
    assert not page.problems


def test_a_topic_that_is_dropped_on_another_hangs_below_it(page, changing):
    page.goto(f"{changing.address}/")
    page.wait_for_selector('.picture .name[tabindex="0"]')
    session = changing.app.state.session
    shape = session.view().shape
    first, second = (shape.topics[node] for node in shape.tree.children(shape.tree.root)[:2])
    page.drag_and_drop(f"#n{second}", f"#n{first}")
    until(page, "document.getElementById('said').textContent.includes('hangs below')")
    now = session.fresh().shape
    assert now.tree.parents[now.node(second)] == now.node(first)
    page.locator("#strips, main, footer").get_by_role("button", name="Undo").first.click()
    page.wait_for_selector('.picture .name[tabindex="0"]')
    until(page, f"!document.getElementById('n{first}').closest('li').querySelector('#n{second}')")
    now = session.fresh().shape
    assert now.tree.parents[now.node(second)] == now.tree.root
    page.drag_and_drop(f"#n{first}", f"#n{shape.topics[shape.tree.root]}")  # where it is already
    assert session.fresh().shape.tree == now.tree
    assert not page.problems
