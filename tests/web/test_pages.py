"""Every page as HTML and as data: complete without a script, and the same facts in both."""

import html
import re
from pathlib import Path

import numpy as np
import pytest

from topiarist.collection.describe import statistics
from topiarist.web import addresses, rendering
from topiarist.web.pages.registry import PAGES
from topiarist.web.rendering import environment
from topiarist.web.values import PER_PAGE

ID = "wire/law/bail/000.txt"
EVERY = (
    "/", "/?view=list", "/topic/{leaf}", "/topic/{inner}", "/topic/{root}", "/topic/{leaf}?special=1&n=30",
    "/topic/{inner}?words=below&sort=newest", "/topic/{leaf}?show=here&sort=longest", "/topic/{root}?show=hard",
    "/topic/{leaf}?show=tagged", "/topic/{leaf}?page=2&sort=name", "/search", "/search?q=bail",
    "/search?q=bail+hearing",
    "/search?q=bial", "/search?q=%22open", "/search?q=label%3A%22law%2Fbail%22", "/search?q=court&by=meaning",
    "/search?q=court&by=both&topic={inner}", "/search?q=topic%3Anothing", "/search?q=-court", "/doc/{id}",
    "/doc/{id}?colour=topic", "/doc/{id}?colour=none", "/doc/{id}?level=1", "/doc/{id}?topic={leaf}",
    "/doc/{id}?q=bail&at=2", "/word?word=court", "/word?word=nonsense", "/tree", "/tree?topic={inner}&depth=1",
    "/categories", "/categories?label=law/bail", "/compare", "/compare?level=1", "/time",
    "/time?by=month&topic={inner}&since=2004", "/groups", "/groups?column=label&group=law/bail",
    "/map", "/model", "/new",
    "/shape?edit=rename&topic={leaf}", "/shape?edit=merge&topic={leaf}&other={other}&ready=1",
    "/shape?edit=group&topic={leaf}&others={other}&name=Ours&ready=1",
    "/shape?edit=split&topic={leaf}&into=3&ready=1", "/shape?edit=delete&topic={inner}&below=1&ready=1",
    "/shape?edit=pin&document={id}&other={leaf}&ready=1",
)  # fmt: skip


def filled(path, view):
    tree, topics = view.tree, view.shape.topics
    inner = next(node for node in tree.depth_first() if not tree.is_leaf(node) and node != tree.root)
    return path.format(
        leaf=topics[tree.leaves[0]], other=topics[tree.leaves[-1]], inner=topics[inner], root=topics[tree.root],
        id=addresses.document(ID).removeprefix("/doc/"),
    )  # fmt: skip


def told(text):
    """The words of a page, as a reader sees them."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.parametrize("path", EVERY)
def test_a_page_is_complete_and_its_data_say_the_same(client, view, path):
    address = filled(path, view)
    page = client.get(address)
    assert page.status_code == 200, page.text[:500]
    assert page.text.count("<h1") == 1
    assert ('id="tree"' in page.text) == (path.partition("?")[0] != "/")  # the overview is the tree itself
    data = client.get(addresses.as_json(address))
    assert data.status_code == 200, data.text[:500]
    known, shown = data.json(), told(page.text)
    if known.get("sentence"):
        assert " ".join(known["sentence"].split()) in shown
    for line in known.get("documents", []) if isinstance(known.get("documents"), list) else []:
        assert " ".join(line["title"].split()) in shown
    for word in known.get("words", []) if isinstance(known.get("words"), list) else []:
        assert word["word"] in shown


def test_every_link_of_every_page_leads_somewhere(client, view):
    seen, broken = set(), []
    for path in EVERY:
        text = client.get(filled(path, view)).text
        for link in set(re.findall(r'href="(/[^"]*)"', text)):
            address = html.unescape(link)
            kind = re.sub(r"=[^&]*", "=", re.sub(r"\d+", "0", re.sub(r"^/doc/[^?]*", "/doc/", address)))
            if kind in seen:
                continue
            seen.add(kind)
            if client.get(address).status_code != 200:
                broken.append(address)
    assert not broken
    assert len(seen) > 40


def test_pages_are_in_the_schema(client):
    schema = client.get("/openapi.json").json()
    pages = {("/index" if page.path == "/" else page.path) + ".json" for page in PAGES}
    files = {"/export.{kind}", "/original", "/job.json"}
    writes = {
        "/tag", "/untag", "/read", "/undo", "/refit", "/steadiness", "/learn", "/stop", "/shape", "/remove", "/new",
        "/keep",
        "/save_search", "/delete_search", "/note",
        "/judge", "/review", "/file.json",
    }  # fmt: skip
    assert {(path, method) for path, methods in schema["paths"].items() for method in methods} == {
        *((path, "get") for path in pages | files), *((path, "post") for path in writes),
    }  # fmt: skip


def test_the_overview_answers_what_is_in_here(client, view):
    page = client.get("/index.json").json()
    assert page["sentence"].startswith("400 documents from 2001 to 2009 in English (98%")
    assert page["sentence"].endswith(", sorted into 6 topics under 3 headings.")
    assert sum(heading["topic"]["documents"] for heading in page["headings"]) == 400
    assert all(heading["typical"] for heading in page["headings"])
    top = [block for block in page["blocks"] if block["level"] == 1]
    assert sum(block["width"] for block in top) == pytest.approx(1.0, abs=1e-6)
    assert all(block["name"] for block in page["blocks"])


def test_words_are_reranked_and_bars_keep_one_scale(client, view):
    leaf = view.shape.topics[view.tree.leaves[0]]
    general = client.get(f"/topic/{leaf}.json?special=0").json()["words"]
    special = client.get(f"/topic/{leaf}.json?special=1").json()["words"]
    shares = [word["probability"] for word in general]
    assert shares == sorted(shares, reverse=True)
    assert [word["word"] for word in general] != [word["word"] for word in special]
    assert max(word["bar"] for word in general) == 1.0


def test_lists_are_sorted_filtered_and_paged(client, view):
    leaf = view.shape.topics[view.tree.leaves[0]]
    newest = client.get(f"/topic/{leaf}.json?sort=newest").json()
    dates = [line["date"] for line in newest["documents"]]
    assert dates == sorted(dates, reverse=True)
    typical = client.get(f"/topic/{leaf}.json?show=here").json()
    assert all(line["share"] >= 0.5 for line in typical["documents"])
    ids = [line["id"] for number in range(1, typical["paging"]["pages"] + 1)
           for line in client.get(f"/topic/{leaf}.json?show=here&page={number}").json()["documents"]]  # fmt: skip
    assert len(ids) == len(set(ids)) == typical["paging"]["total"]


def test_every_word_of_a_document_stays_as_it_was(client, view):
    original = view.collection.documents.get(view.collection.documents.row_of(ID))
    for colour in ("level", "topic", "none"):
        page = client.get(addresses.as_json(addresses.document(ID, colour=colour))).json()
        assert "".join(piece["text"] for piece in page["pieces"]) == original.text
    page = client.get(addresses.as_json(addresses.document(ID))).json()
    assert sum(level["share"] for level in page["levels"]) == pytest.approx(1.0)
    assert sum(place["share"] for place in page["places"]) + page["rest"] == pytest.approx(1.0, abs=1e-3)
    coloured = [piece for piece in page["pieces"] if piece["kind"]]
    assert coloured
    assert all(f"level {piece['level']}" in piece["title"] for piece in coloured)
    assert page["similar"]
    assert all(one["why"] for one in page["similar"])


def test_a_level_can_be_shown_alone(client):
    page = client.get(addresses.as_json(addresses.document(ID, level=1))).json()
    assert {piece["level"] for piece in page["pieces"] if piece["kind"]} <= {1}


def test_the_next_document_of_a_list_is_a_key_away(client, view):
    leaf = view.shape.topics[view.tree.leaves[0]]
    lines = client.get(f"/topic/{leaf}.json").json()["documents"]
    page = client.get(addresses.as_json(lines[0]["address"])).json()
    assert page["next"] == lines[1]["address"]
    assert client.get(addresses.as_json(page["next"])).json()["previous"] == lines[0]["address"]
    hits = client.get("/search.json?q=court").json()["hits"]
    page = client.get(addresses.as_json(hits[1]["document"]["address"])).json()
    assert (page["previous"], page["next"]) == (hits[0]["document"]["address"], hits[2]["document"]["address"])


@pytest.mark.parametrize(
    ("by", "said"), [("words", "2 of {} that match “court”"), ("both", "2 of {} that match “court”")]
)
def test_a_document_says_how_long_the_list_is_as_the_list_does(client, by, said):
    found = client.get(f"/search.json?q=court&by={by}").json()
    page = client.get(addresses.as_json(found["hits"][1]["document"]["address"])).json()
    assert page["position"] == said.format(found["total"])


def test_a_search_lights_up_the_tree(client, view):
    text = client.get("/search?q=racket&by=words").text
    assert re.search(r'class="[^"]*\bunmatched"', text)
    page = client.get("/search.json?q=racket&by=words").json()
    assert sum(line["matching"] for line in page["branches"] if line["level"] == 1) <= page["total"]
    assert "also" not in page


def test_a_search_by_meaning_lights_up_the_tree_by_its_best_hits(client, view):
    text = client.get("/search?q=racket&by=meaning").text
    assert "200 most similar / all" in text
    below = client.get("/tree.json?q=racket&by=meaning").json()["row"]
    assert below["topic"]["matching"] == 200
    nothing = client.get("/search?q=zzzzzz").text
    assert nothing.count(' unmatched"') == nothing.count("data-topic=")


def test_search_page_says_that_no_document_has_all_words(client):
    page = client.get("/search.json?q=court+zzzzzz").json()
    assert page["sentence"].startswith(f"No document has all words. {page['total']} documents have some of them")


def test_search_page_has_one_number_of_matches(client):
    page = client.get("/search.json?q=court").json()
    total = page["total"]
    assert page["sentence"].startswith(f"{total} documents match “court”")
    assert client.get("/tree.json?q=court").json()["row"]["topic"]["matching"] == total
    assert not page["related"]
    last = client.get("/search.json", params={"q": "court", "page": -(-total // PER_PAGE)}).json()
    assert [hit["number"] for hit in last["hits"]][-1] == total
    assert [hit["number"] for hit in last["related"]] == list(range(total + 1, total + 21))
    assert client.get("/search.json", params={"q": "court", "page": 99}).json()["related"] == last["related"]
    address = last["related"][1]["document"]["address"]
    document = client.get(addresses.as_json(address)).json()
    assert document["position"] == "related to “court”"
    assert document["previous"] == last["related"][0]["document"]["address"]
    exported = client.get("/export.jsonl?q=court").text.splitlines()
    assert len(exported) == total


def test_search_page_offers_query_without_quotes(client):
    page = client.get("/search.json", params={"q": '"court of green ideas"'}).json()
    assert (page["total"], page["hits"], page["related"]) == (0, [], [])
    assert page["widened"] == addresses.search("court of green ideas")
    assert "Search without quotes" in client.get("/search", params={"q": '"court of green ideas"'}).text


def test_a_misspelt_word_is_proposed(client):
    page = client.get("/search.json?q=footbal&by=words").json()
    assert page["total"] == 0
    assert "football" in [one["name"] for one in page["suggestions"]]
    assert page["meaning"]
    page = client.get("/search.json?q=cuort bail").json()
    assert page["message"] == "No document has 'cuort'."
    assert "court bail" in [one["name"] for one in page["suggestions"]]
    assert page["hits"]


def test_what_was_meant_keeps_the_rest_of_the_query(client):
    page = client.get("/search.json?q=label:sport cuort footbal -opera&by=words").json()
    (one,) = page["suggestions"]
    assert one["name"] == "label:sport court football -opera"
    assert one["address"] == addresses.search(one["name"], by="words")


@pytest.mark.parametrize(
    ("query", "said", "without", "meant"),
    [
        ("label:law/bial court", "No document has the label “law/bial”.", "court", ["label:law/bail court"]),
        ("court type:html", "None of the documents that match the rest is of type “html”.", "court", []),
        ("court after:2999", "None of the documents that match the rest is from after 2999.", "court", []),
        ("label:nosuchthing", "No document has the label “nosuchthing”.", "", []),
    ],
)
def test_the_condition_that_left_nothing_is_named(client, query, said, without, meant):
    page = client.get("/search.json", params={"q": query}).json()
    assert page["total"] == 0
    assert page["message"].startswith(said)
    assert page["without"] == (addresses.search(without) if without else "")
    assert [one["name"] for one in page["suggestions"]] == meant


def test_what_a_query_did_not_say_is_told(client):
    page = client.get("/search.json", params={"q": "court++ after:2014-13"}).json()
    assert page["read_as"] == "court"
    assert "“2014-13” is no date" in client.get("/search", params={"q": "court after:2014-13"}).text

    def total(query):
        return client.get("/search.json", params={"q": query, "by": "words"}).json()["total"]

    assert total("racket OR bail") > max(total("racket"), total("bail"))
    assert client.get("/search.json", params={"q": "racket OR bail"}).json()["total"] == total("racket OR bail")


def test_an_open_quote_is_closed_and_that_is_said(client):
    assert client.get('/search.json?q="court').json()["read_as"] == '"court"'


def test_nearly_all_is_not_all():
    shown = environment().filters["percent"]
    assert [shown(value) for value in (0.5, 0.994, 0.996, 0.9999, 1.0)] == ["50%", "99%", ">99%", ">99%", "100%"]


def test_documents_that_lie_wholly_in_a_topic_are_ordered_by_their_words(view):
    leaf = view.tree.leaves[0]
    rows = view.list_rows(leaf, "typical", "all")
    tied = rows[view.shares_under(leaf)[rows].round(4) == 1]
    assert len(tied) > 10
    likely = view.word_shares(leaf)
    words = np.argsort(-likely * np.log(np.maximum(likely, 1e-12) / view.word_probabilities))[
        :8
    ]  # the most telling of the topic's
    own = view.collection.counts[tied][:, words].sum(axis=1) / view.lengths[tied]
    half = len(tied) // 2
    assert own[:half].mean() > own[half:].mean()


def test_labels_and_tree_are_compared(client):
    page = client.get("/compare.json").json()
    assert len(page["rows"]) == 6
    assert all(len(row["shares"]) == len(page["topics"]) for row in page["rows"])


def test_categories_tell_their_quality(client):
    page = client.get("/categories.json").json()
    assert page["learned"]
    assert all(row["agreement"] > 0.8 for row in page["rows"])
    filed = [one["filed"] for one in page["thresholds"]]
    assert filed == sorted(filed, reverse=True)


def test_exports_hold_the_list(client, view):
    leaf = view.shape.topics[view.tree.leaves[0]]
    total = client.get(f"/topic/{leaf}.json").json()["paging"]["total"]
    for kind, extra in (("csv", 1), ("jsonl", 0), ("txt", 0)):
        answer = client.get(f"/export.{kind}?topic={leaf}")
        assert len(answer.text.splitlines()) == total + extra
        assert answer.headers["content-disposition"].startswith("attachment")
    total = client.get("/search.json?q=racket").json()["total"]
    assert len(client.get("/export.txt?q=racket").text.splitlines()) == total


def test_the_tree_folds_and_opens(client, view):
    page = client.get("/tree.json").json()
    assert page["row"]["topic"]["documents"] == 400
    assert len(page["row"]["below"]) == len(view.tree.children(view.tree.root))
    assert client.get("/tree.json?depth=0").json()["row"]["below"] == []


def test_lines_of_templates_can_be_read():
    long = [
        f"{path.name}:{number}"
        for path in Path(rendering.__file__).with_name("templates").glob("*.html")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 160
    ]
    assert long == []


def test_a_topic_begins_with_what_one_reads(client, view):
    leaf = view.shape.topics[view.tree.leaves[0]]
    page, text = client.get(f"/topic/{leaf}.json").json(), client.get(f"/topic/{leaf}").text
    assert [one["id"] for one in page["typical"]] == [one["id"] for one in page["documents"][:3]]
    assert all(any(match for _, match in one["snippet"]) for one in page["typical"])
    order = [text.index(part) for part in ('class="sentence"', 'class="word-chips"', 'class="items cards"', 'id="why"')]
    assert order == sorted(order)
    assert text.index('<table class="words"') > text.index('<details class="why-topic" id="why">')
    for line in page["documents"]:
        assert text.count(f'id="{addresses.anchor(line["id"])}"') == 1  # none stands twice
    assert client.get(f"/topic/{leaf}.json?page=2").json()["typical"] == []
    assert '<details class="why-topic" id="why" open>' in client.get(f"/topic/{leaf}?special=1").text


def test_one_number_for_one_thing_on_a_topic(client, view):
    for node in range(1, len(view.tree)):
        text = client.get(f"/topic/{view.shape.topics[node]}").text
        main = re.sub(r"<details.*?</details>", "", text.split('<main id="main"')[1], flags=re.S)
        said = {int(one.replace(",", "")) for one in re.findall(r"([\d,]+) documents", told(main))}
        assert said <= {view.sizes[node]}


def test_neighbours_speak_of_something_alike(client, view, monkeypatch):
    leaf = view.tree.leaves[0]
    if len(view.tree.leaves) <= statistics.MIN_COMPARED_TOPICS:
        assert view.nearest_topics(leaf, 3) == []  # of a few topics none stands out
    monkeypatch.setattr(statistics, "MIN_COMPARED_TOPICS", 1)
    monkeypatch.setattr(statistics, "MIN_DEVIATIONS", 0.0)
    near = view.nearest_topics(leaf, 3)
    mine = view.word_shares(leaf)
    alike = {node: float(np.sqrt(mine * view.word_shares(node)).sum()) for node in view.tree.leaves if node != leaf}
    assert near[0] == max(alike, key=alike.get)
    assert not {leaf, *view.tree.path(leaf)} & set(view.nearest_topics(leaf, 100))
    page = client.get(f"/topic/{view.shape.topics[leaf]}.json").json()
    assert [one["id"] for one in page["neighbours"]][:3] == [view.shape.topics[node] for node in near]


def test_what_is_typical_of_a_heading_comes_from_all_its_children(view):
    for node in range(len(view.tree)):
        children = [child for child in view.tree.children(node) if view.sizes[child] > 2]
        if len(children) < 2:
            continue
        first = view.assigned_nodes[view.list_rows(node, "typical", "all")[: len(children) + 1]]
        assert len({child for child in children for home in first if child in view.tree.path(int(home))}) > 1
        assert sorted(view.list_rows(node, "typical", "all")) == sorted(view.list_rows(node, "name", "all"))


def test_the_tree_beside_a_search_narrows_it(client, view):
    leaf = view.shape.topics[view.tree.leaves[0]]
    text = client.get("/search?q=court&by=words").text
    row = re.search(rf'<a href="([^"]*)" data-topic="{leaf}"', text)[1]
    assert html.unescape(row) == f"/search?q=court&by=words&topic={leaf}"
    root = view.shape.topics[view.tree.root]
    assert html.unescape(re.search(rf'<a href="([^"]*)" data-topic="{root}"', text)[1]) == "/search?q=court&by=words"
    found = client.get(f"/search.json?q=court&by=words&topic={leaf}").json()
    assert found["total"] <= client.get("/search.json?q=court&by=words").json()["total"]
    assert f'href="/topic/{leaf}" data-topic="{leaf}"' in client.get("/model").text
