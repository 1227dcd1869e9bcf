"""A document without a mouse, without colours, without scripts: words that keys reach, a list of them, a legend."""

import html
import re

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.web.test_hands import said, until
from tests.web.words import TOPICS
from topiarist.web import addresses, coloured_text
from topiarist.web.http.server import explorer

ID = "wire/law/bail/000.txt"
FOCUSED = "document.activeElement"
PLACE = "[...document.querySelectorAll('#text .body span')].indexOf(document.activeElement)"


def test_a_document_that_was_found_shows_what_was_found(client):
    hit = client.get("/search.json?q=court*+bail&by=words").json()["hits"][0]["document"]
    text = client.get(hit["address"]).text
    body = text.split('<div class="body"')[1].split("</article>")[0]
    assert {word.lower() for word in re.findall("<mark>(.*?)</mark>", body)} >= {"bail"}
    assert re.search('<span class="tell [^>]*><mark>', body)
    assert re.search('<span class="l[1-5][^>]*><mark>', client.get(f"{hit['address']}&colour=level").text)
    assert 'name="q" type="search" value="court* bail"' in text
    assert "matching / all" in text
    page = client.get(addresses.as_json(hit["address"])).json()
    plain = client.get(addresses.as_json(addresses.document(hit["id"]))).json()
    assert not any(piece["hits"] for piece in plain["pieces"])
    assert all("".join(text for text, _ in one["hits"]) == one["text"] for one in page["pieces"] if one["hits"])


def test_a_long_document_opens_at_the_first_part_with_a_hit(client, monkeypatch):
    words = client.get(addresses.as_json(addresses.document(ID))).json()
    monkeypatch.setattr(coloured_text, "MAX_WORDS", 3)
    *_, last = dict.fromkeys(piece["word"] for piece in words["pieces"] if piece["word"])  # the last new one
    page = client.get(addresses.as_json(addresses.document(ID, q=last))).json()
    assert any(piece["hits"] for piece in page["pieces"])
    assert [one["chosen"] for one in page["parts"]].index(True) > 0
    first = client.get(addresses.as_json(addresses.document(ID, q=last, part=1))).json()
    assert first["parts"][0]["chosen"]


def opened(page, served, **values):
    page.goto(served.address + addresses.document(ID, **values))
    page.wait_for_selector('#text .body [tabindex="0"]')


def test_words_are_reached_by_keys_and_their_cards_opened_and_closed(page, served):
    opened(page, served)
    assert page.locator("#text .body [tabindex]").count() == 1
    page.keyboard.press("n")
    first = page.evaluate(f"{FOCUSED}.dataset.word")
    assert first
    assert page.evaluate(f"{FOCUSED}.getAttribute('role')") == "button"
    assert "level" in page.evaluate(f"{FOCUSED}.title")
    assert "Arrow keys" in said(page)
    page.keyboard.press("Enter")
    page.wait_for_selector('.card[role="dialog"]')
    until(page, "document.querySelector('.card').contains(document.activeElement)")
    assert "on this page" in page.locator(".card").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".card").count() == 0
    assert page.evaluate(f"{FOCUSED}.dataset.word") == first
    page.keyboard.press("Space")
    page.wait_for_selector(".card")
    until(page, "document.querySelector('.card').contains(document.activeElement)")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")  # past the beginning of the card one is back in the text
    assert page.evaluate(f"{FOCUSED}.dataset.word") == first
    assert page.locator("#text .body [role=button]").count() == 1
    assert not page.problems


def test_arrows_go_from_word_to_word_and_line_to_line(page, served):
    opened(page, served)
    page.focus('#text .body [tabindex="0"]')
    page.keyboard.press("Home")
    assert page.evaluate(PLACE) == 0
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(PLACE) == 1
    top = page.evaluate(f"{FOCUSED}.getBoundingClientRect().top")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{FOCUSED}.getBoundingClientRect().top") > top + 10
    page.keyboard.press("ArrowUp")
    assert page.evaluate(f"{FOCUSED}.getBoundingClientRect().top") == top
    page.keyboard.press("End")
    assert page.evaluate(PLACE) == page.locator("#text .body span").count() - 1
    for key, by in (("n", 1), ("p", -1)):
        page.keyboard.press("Home" if by > 0 else "End")
        before = page.evaluate(PLACE)
        page.keyboard.press(key)
        assert (page.evaluate(PLACE) - before) * by > 0
        assert not page.evaluate(f"{FOCUSED}.classList.contains('l0')")


def test_lines_and_numbers_can_be_taken_away_and_that_is_in_the_address(page, served):
    style = (
        "getComputedStyle(document.querySelector('#text .l1:not(.unsure), #text .l2:not(.unsure)')).textDecorationLine"
    )
    opened(page, served, colour="level")
    box = page.get_by_role("checkbox", name="underline")
    assert box.is_checked()
    assert page.evaluate(style) == "underline"
    box.focus()
    page.keyboard.press("Space")
    page.wait_for_url("**underline=no**")
    until(page, "document.querySelector('#underline').getAttribute('aria-checked') === 'false'")
    assert page.evaluate("document.activeElement.id") == "underline"
    assert page.evaluate(style) == "none"
    page.reload()
    page.wait_for_selector('#underline[aria-checked="false"]')
    assert page.evaluate(style) == "none"
    page.locator('.choices[aria-label="Colour words by"] a', has_text="topic").click()
    page.wait_for_url("**colour=topic**")
    assert "underline=no" in page.url
    mark = "getComputedStyle(document.querySelector('#text .t1'), '::after').content"
    assert page.evaluate(mark) == "none"
    page.get_by_role("checkbox", name="numbers").click()
    page.wait_for_url(lambda url: "underline=no" not in url)
    until(page, f"{mark}.startsWith('\"1\"')")


def test_without_scripts_a_list_leads_to_the_words(client):
    text = client.get(addresses.document(ID, why=1)).text
    told = re.search(r'<details class="spoken">.*?</details>', text, re.S)[0]
    page = client.get(addresses.as_json(addresses.document(ID))).json()
    pieces = [piece for piece in page["pieces"] if piece["kind"]]
    listed = {one["level"]: {said["word"]: said["times"] for said in one["words"]} for one in page["listed"]}
    assert sum(sum(words.values()) for words in listed.values()) == len(pieces)
    for piece in pieces:
        assert piece["word"] in listed[piece["level"]]
        assert html.escape(addresses.word(piece["word"])) in told
    assert client.get(addresses.word(pieces[0]["word"])).status_code == 200


@pytest.mark.parametrize("colour", ["level", "topic"])
def test_the_legend_is_complete(client, colour):
    address = addresses.document(ID, colour=colour, why=1)
    page, text = client.get(addresses.as_json(address)).json(), client.get(address).text
    legend = re.search(r'<ul class="legend.*?</ul>', text, re.S)[0]
    kinds = {piece["kind"].split()[0] for piece in page["pieces"] if piece["kind"]}
    assert kinds <= {level["kind"] for level in page["levels"]}
    assert sum(level["share"] for level in page["levels"]) == pytest.approx(1.0)
    for level in page["levels"]:
        assert f'class="{level["kind"]} swatch"' in legend
        assert html.escape(level["name"]) in legend
        assert (level["sign"] in legend) or level["sign"] == "none"
    signs = [level["sign"] for level in page["levels"]]
    assert len(set(signs)) == len(signs)


def test_a_long_document_leads_to_the_part_with_most_of_a_level(client, monkeypatch):
    monkeypatch.setattr(coloured_text, "MAX_WORDS", 12)
    page = client.get(addresses.as_json(addresses.document(ID, colour="level"))).json()
    assert len(page["parts"]) > 2
    view = client.app.state.session.view()
    told = coloured_text.compute_word_posterior(view, view.collection.documents.row_of(ID))
    general = np.eye(told.levels.shape[1])[0]
    shares = []
    for part in page["parts"]:  # word by word, what the page adds up
        pieces = client.get(addresses.as_json(part["address"])).json()["pieces"]
        columns = [view.columns.get(piece["word"]) for piece in pieces if piece["kind"]]
        shares.append(np.mean([general if c is None else told.levels[told.rows[c]] for c in columns], axis=0))
    text = client.get(addresses.document(ID, colour="level")).text
    for level in page["levels"]:
        if not level["share"]:
            continue
        assert level["densest"] == addresses.document(ID, colour="level", part=level["part"])
        assert html.escape(level["densest"]) in text
        assert f'<a href="{html.escape(level["densest"])}" tabindex="-1"><rect class="{level["kind"]}"' in text
        assert level["part"] - 1 == np.argmax([share[level["level"]] for share in shares])
    whole = [level["share"] for level in page["levels"]]
    other = client.get(addresses.as_json(page["parts"][1]["address"])).json()
    assert [level["share"] for level in other["levels"]] == whole  # the bar stays that of the whole document


def test_a_short_document_leads_nowhere(client):
    page = client.get(addresses.as_json(addresses.document(ID))).json()
    assert {level["densest"] for level in page["levels"]} == {""}


def test_who_reads_sees_the_text_and_only_its_telling_words_marked(client):
    text = client.get(addresses.document(ID)).text
    main = text.split('<main id="main"')[1]
    for gone in ('class="decision', 'class="decides', "Absent words", "Colour words by", 'class="spoken"'):
        assert gone not in main
    page = client.get(addresses.as_json(addresses.document(ID))).json()
    view = client.app.state.session.view()
    path = view.tree.path(view.largest_class(view.collection.documents.row_of(ID)))[1:]
    own = {word for node in path for word, _ in view.own_words(node, coloured_text.TELLING)}
    told = [piece for piece in page["pieces"] if piece["telling"]]
    assert told
    assert {piece["word"] for piece in told} <= own
    assert len(told) < len([piece for piece in page["pieces"] if piece["kind"]])
    assert main.count('class="tell ') == len(told)
    assert not page["why"]["chosen"]
    more = client.get(page["why"]["address"]).text
    assert all(now in more for now in ('class="decision', 'class="decides', "Absent words", "Colour words by"))


def test_reasons_stay_for_the_next_document_of_a_list(client):
    page = client.get(addresses.as_json(addresses.document(ID, why=1))).json()
    near = page["next"] or page["previous"]
    assert "why=1" in near
    assert "why=1" not in page["why"]["address"]
    assert "why=1" not in page["up"]


def test_why_here_colours_the_words_that_decide(client, view):
    for row in range(0, 400, 40):
        id = view.collection.documents.get(row).id
        page = client.get(addresses.as_json(addresses.document(id, why=1))).json()
        words = [one["word"] for one in page["decision"]["words"]]
        assert 1 <= len(words) <= coloured_text.MAX_DECIDING
        assert {piece["word"] for piece in page["pieces"] if piece["decides"]} == set(words)
        text = client.get(addresses.document(id, why=1)).text
        assert text.count('class="decides"') == sum(piece["decides"] for piece in page["pieces"])
        placer, counts = view.collection.placer, view.collection.counts[[row]]
        shares = view.collection.shares[[row]].toarray()[0]
        best = int(shares.argmax())
        logs = np.log(placer.by_word[counts.indices].astype(float))
        evidence = [
            dict(zip(counts.indices.tolist(), counts.data * (logs[:, best] - logs[:, other]), strict=True))
            for other in range(len(shares))
            if view.shape.class_nodes[other] != view.shape.class_nodes[best]
        ]
        told = {view.columns[word] for word in words}
        sums = [sum(one[column] for column in told) for one in evidence]
        halves = [0.5 * sum(max(part, 0.0) for part in one.values()) for one in evidence]
        totals = [sum(one.values()) for one in evidence]
        full = len(words) == coloured_text.MAX_DECIDING
        assert full or any(a >= min(b, c) - 1e-6 for a, b, c in zip(sums, halves, totals, strict=True))


def test_words_of_several_labels_have_the_colour_of_their_label(several):
    client = TestClient(explorer(several[0]), base_url="http://127.0.0.1")
    view = client.app.state.session.view()
    right = wrong = 0
    for row in range(1, 41, 2):  # of two labels
        document = view.collection.documents.get(row)
        page = client.get(addresses.as_json(addresses.document(document.id, colour="label"))).json()
        labels = [level["name"] for level in page["levels"]]
        assert set(labels) == set(document.labels)
        assert sum(level["share"] for level in page["levels"]) == pytest.approx(1.0)
        for piece in page["pieces"]:
            own = [label for label in document.labels if piece["word"] in TOPICS[label].split()]
            if piece["kind"] and len(own) == 1:
                is_right = piece["kind"].split()[0] == f"t{labels.index(own[0]) + 1}"
                right, wrong = right + is_right, wrong + (not is_right)
    assert right > 9 * wrong


def test_without_learned_labels_no_word_is_coloured_by_label(client):
    assert "colour=label" not in client.get(addresses.document(ID, why=1)).text
    address = addresses.document(ID, colour="label")
    assert client.get(addresses.as_json(address)).json()["colour"] == "decided"
    text = client.get(address).text
    assert "plain words speak for no label" not in text
    assert 'data-on="yes"' in text.split('id="why"')[1].split(">")[0]
