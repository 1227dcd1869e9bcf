"""A reader sorts a catalogue on the pages: searching, editing in two tabs, learning categories, and exporting."""

import csv
import html
import io
import re
import time

import pytest

from tests.grown import documents
from tests.tasks.test_library_catalogue import run
from tests.web.clients import HERE, Writer
from topiarist.web.http.server import explorer

N_DOCUMENTS = 200
DOCUMENTS = documents()[:N_DOCUMENTS]
COLUMNS = ("paper", "headline", "abstract", "submitted", "category")
NAMES = [
    "--id-column",
    "paper",
    "--title-column",
    "headline",
    "--text-column",
    "abstract",
    "--date-column",
    "submitted",
]


def category_of(document):
    return document.labels[0].split(".")[0].split("-")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    with (folder / "papers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, one in enumerate(DOCUMENTS):
            date = f"2014-{number % 6 + 1:02}-{number % 28 + 1:02}" if number % 20 else ""
            writer.writerow([f"p{number:03}", one.title, one.text, date, category_of(one)])
    run("grow", folder / "papers.csv", "-o", folder / "papers.topiary", *NAMES, "--topics", 5, "--quiet")
    return folder / "papers.topiary"


@pytest.fixture(scope="module")
def client(folder):
    return Writer(explorer(str(folder)), base_url=HERE)


@pytest.fixture
def changing(client):
    """The pages, for a test that changes the tree; afterwards all edits are undone."""
    before = client.view.mark
    yield client
    while client.view.number != int(before.rpartition(":")[2]):
        assert client.put_form("/undo", sure=True).status_code < 400


def text_of(answer):
    """The text that a reader sees in the main part of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text.split("<main")[1])).split())


def having(*words):
    """Documents with all words, in any form that only adds an s."""
    texts = {f"p{number:03}": f"{one.title} {one.text}".lower() for number, one in enumerate(DOCUMENTS)}
    return {id for id, text in texts.items() if all(re.search(rf"\b{word}s?\b", text) for word in words)}


def test_search_ends_before_related_documents(client):
    page = client.get("/search.json?q=dark+matter").json()
    hits, related = ([line["document"] for line in page[name]] for name in ("hits", "related"))
    assert {hit["id"] for hit in hits} == having("dark", "matter")
    assert page["total"] == len(hits) > 0
    assert page["sentence"].startswith(f"{len(hits)} documents match “dark matter”")
    assert 0 < len(related) <= 20
    assert not {hit["id"] for hit in hits} & {hit["id"] for hit in related}
    topics = {branch["name"]: branch["matching"] for branch in page["branches"]}
    first_level = [hit["path"][0]["name"] for hit in hits]
    assert {name: number for name, number in topics.items() if number} == {
        name: first_level.count(name) for name in first_level
    }
    shown = text_of(client.get("/search?q=dark+matter"))
    assert shown.index(hits[-1]["title"]) < shown.index("Related documents") < shown.index(related[0]["title"])


def test_unknown_phrase_has_no_match_and_can_be_widened(client):
    page = client.get('/search.json?q="matter+of+darkness"').json()
    assert (page["total"], page["hits"], page["related"]) == (0, [], [])
    assert client.get(page["widened"].replace("/search", "/search.json")).json()["hits"]


def test_second_tab_sees_both_versions(changing):
    topic, old = changing.view.shape.topics[changing.view.tree.leaves[0]], changing.view.mark
    assert changing.put_form("/shape", edit="rename", topic=topic, name="First tab").status_code == 200
    answer = changing.put_form("/shape", edit="rename", topic=topic, name="Second tab", state=old)
    assert answer.status_code == 409
    for part in ("called First tab", "“Second tab”", "Apply my edit", "Keep the current version"):
        assert part in text_of(answer)


def test_deleted_topic_has_a_time_and_undo(changing):
    topic, name = 2, changing.view.shape.name(2)
    assert changing.put_form("/shape", edit="delete", topic=topic).status_code == 200
    answer = changing.get(f"/topic/{topic}")
    assert answer.status_code == 404
    assert re.search(rf"Topic “{re.escape(name)}” was removed at \d\d:\d\d \(delete", text_of(answer))
    assert 'action="/undo"' in answer.text
    assert "is not running" not in answer.text


def test_tree_has_all_words_on_one_scale(client):
    page = text_of(client.get("/tree?detail=all")).casefold()
    rows = [client.get("/tree.json?detail=all").json()["row"]]
    for row in rows:
        rows += row["below"]
    assert len(rows) == len(client.view.tree)
    for row in rows:
        assert all(word.casefold() in page for word in row["topic"]["words"])
    first = max(row["topic"]["documents"] for row in rows if row["topic"]["level"])
    for row in rows[1:]:
        assert row["bar"] == pytest.approx(row["topic"]["documents"] / first, abs=0.01)


def test_explanation_marks_few_words(client):
    text = client.get("/doc/p052?why=1").text.split('class="body"')[1].split("</div>")[0]
    assert 0 < text.count('class="decides"') <= len(DOCUMENTS[52].text.split()) / 4
    assert not re.search(r'<span class="l\d"', text)


def test_only_possible_edits_are_offered(client):
    view = client.view
    leaf, inner = view.shape.topics[view.tree.leaves[0]], 1
    assert not view.tree.is_leaf(view.shape.node(inner))
    assert client.get(f"/topic/{leaf}.json").json()["edits"] == ["merge", "group", "split"]
    assert client.get(f"/topic/{inner}.json").json()["edits"] == ["merge", "group"]
    proposals = client.get(f"/shape.json?edit=rename&topic={leaf}").json()["candidates"]
    names = [one["name"] for one in proposals]
    assert len(set(names) - set(view.names)) == len(names)
    problem = client.get(f"/shape.json?edit=group&topic={leaf}&name=Alone&ready=1").json()["problem"]
    assert problem.startswith("The other topics are missing")


def test_categories_are_learned_and_forgotten_on_the_page(changing):
    offered = changing.get("/categories")
    assert '<input type="hidden" name="column" value="category">' in offered.text
    assert changing.put_form("/learn", column="category", back="/categories").status_code == 200
    until = time.monotonic() + 120
    while (job := changing.get("/job.json").json())["running"]:
        assert (job["sentence"], job["stoppable"]) == ("Learning the categories.", False)
        assert time.monotonic() < until
        time.sleep(0.05)
    assert job["sentence"] == "The categories are learned."
    page = changing.get("/categories.json").json()
    assert {row["label"] for row in page["rows"]} <= {category_of(one) for one in DOCUMENTS}
    held_out, accuracy, low, high = map(int, re.findall(r"\d+", page["sentence"])[1:])
    assert held_out < 100
    assert low < accuracy < high
    assert sum(row["held_out"] for row in page["rows"]) == held_out
    question = changing.put_form("/undo")
    assert "Forget the learned categories" in question.text
    assert changing.put_form("/undo", sure=True).status_code == 200
    assert not changing.get("/categories.json").json()["learned"]


def test_export_opens_in_a_spreadsheet_and_explains_columns(client):
    page = client.get("/search.json?q=dark+matter").json()
    (address,) = [one["address"] for one in page["exports"] if one["name"] == "CSV"]
    content = client.get(address).content
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert {row["id"] for row in rows} == having("dark", "matter")
    assert all(row["title"] == DOCUMENTS[int(row["id"][1:])].title for row in rows)
    assert 'href="/help#columns"' in client.get("/search?q=dark+matter").text
    explained = dict(client.get("/help.json").json()["columns"])
    assert set(rows[0]) - set(explained) == {"category"}
