"""Two trees side by side: the numbers of ``topiarist compare``, every document where it belongs, only ever read."""

import html
import re
import shutil

import pytest
from starlette.testclient import TestClient

from tests.app.explorer.axe import in_both_themes
from tests.app.explorer.conftest import HOSTILE, Served, documents
from tests.app.explorer.test_browser import settled
from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.trees import Block, Picture, Stream
from topiarist.app.explorer.ribbons import ribbons
from topiarist.app.explorer.web.server import explorer
from topiarist.collection.collection import Collection
from topiarist.collection.file.additions import ADDITIONS
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.state import at
from topiarist.measures.comparison import compare
from topiarist.text.documents import Document

RENAMED = "Law & <b>order</b>"


@pytest.fixture(scope="module")
def shaped(folder, tmp_path_factory):
    """A collection of which topics were renamed, merged and fitted, each a step."""
    path = str(tmp_path_factory.mktemp("shaped") / "now.topiary")
    shutil.copytree(folder, path)
    with Collection.open(path) as collection:
        leaves = [collection.outline.topics[node] for node in collection.outline.tree.leaves]
        collection.shape([{"rename": {"topic": leaves[0], "name": RENAMED}}], refit=False)
        collection.shape([{"merge": {"topics": leaves[2:4]}}], refit=True)
    return path


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Another tree of some of the same documents, and of one that is its own."""
    path = str(tmp_path_factory.mktemp("other") / "other.topiary")
    own = Document("own", "oil barrel crude tanker", "only here")
    Collection.grow([*documents()[100:], own], path, Recipe(topics=4)).close()
    return path


@pytest.fixture(scope="module")
def app(shaped, other, folder):
    return explorer(shaped, beside=(other, folder))


@pytest.fixture(scope="module")
def client(app):
    return TestClient(app, base_url="http://127.0.0.1")


def keys(client):
    return [one["key"] for one in client.get("/trees.json").json()["others"]]


def test_given_collections_come_first_then_earlier_states(client):
    page = client.get("/trees.json").json()
    assert keys(client) == ["with-1", "with-2", "state-3", "state-2", "state-1"]
    assert page["other"] == "with-1"
    names = [one["name"] for one in page["others"]]
    assert names[:2] == ["other", "news"]
    assert names[2].startswith("before: merge ")
    assert "#" not in names[2]
    assert f"to “{RENAMED}”" in names[3]
    assert names[4].startswith("before: categories learned")


@pytest.mark.parametrize("key", ["with-1", "with-2", "state-3", "state-1"])
def test_numbers_are_those_of_the_command(client, shaped, other, folder, key):
    with Collection.open(shaped) as now:
        if key.startswith("state"):
            with at(now, int(key[-1])) as was:
                found = compare(was.placed, now.placed)
        else:
            with Collection.open(other if key == "with-1" else folder) as beside:
                found = compare(now.placed, beside.placed)
    page = client.get(f"/trees.json?with={key}").json()
    assert f"{found.leaves.nmi:.3f} of 1" in page["detail"]
    assert f"adjusted Rand index {found.leaves.rand:.3f}" in page["detail"]
    assert (f"{found.moved:,} of {found.n_shared:,} documents" in page["sentence"]) == bool(found.moved)
    assert [move["documents"] for move in page["moves"]] == [flow.documents for flow in found.flows[:8]]
    first = client.get(f"/trees.json?with={key}&level=1").json()
    assert f"Agreement at this level: {found.levels[0].nmi:.3f}" in first["detail"]


def test_what_was_merged_is_joined_and_what_was_renamed_is_the_same(client):
    page = client.get("/trees.json?with=state-1").json()
    assert "2 were joined into 1 topic" in page["sentence"]
    assert sorted(row["kind"] for row in page["rows"]) == ["joined", "joined", "same", "same", "same", "same"]
    renamed = [row for row in page["rows"] if row["renamed"]]
    assert [row["partners"][0]["topic"]["name"] for row in renamed] == [RENAMED]
    changed = client.get("/trees.json?with=state-1&show=changed").json()
    assert len(changed["rows"]) == 3
    assert changed["picture"]["streams"] != page["picture"]["streams"]


def test_learning_categories_changes_no_tree(client):
    grown, learned = (client.get(f"/trees.json?with=state-{number}").json() for number in (1, 2))
    assert grown["sentence"] == learned["sentence"]
    assert [row["topic"] for row in grown["rows"]] == [row["topic"] for row in learned["rows"]]


def test_a_pair_lists_its_documents_and_no_others(client, shaped, other):
    with Collection.open(shaped) as now, Collection.open(other) as beside:
        a, b = now.placed, beside.placed
        topics_a, topics_b = now.outline.topics, beside.outline.topics
    where = dict(zip(b.ids, b.homes.tolist(), strict=True))
    expected = {}
    for name, home in zip(a.ids, a.homes.tolist(), strict=True):
        if name in where:
            expected.setdefault((topics_a[home], topics_b[where[name]]), set()).add(name)
    seen = 0
    for (left, right), names in expected.items():
        listed = []
        for number in range(1, -(-len(names) // 20) + 1):
            page = client.get(f"/trees.json?with=with-1&left={left}&right={right}&page={number}").json()
            listed += [line["id"] for line in page["pair"]["documents"]]
        assert sorted(listed) == sorted(names)
        assert page["pair"]["partner"]["documents"] == len(names)
        seen += len(names)
    assert seen == 300


def test_one_topic_has_all_its_partners(client):
    rows = client.get("/trees.json?with=with-1").json()["rows"]
    for row in rows:
        every = client.get(f"/trees.json?with=with-1&left={row['topic']['id']}").json()["rows"]
        assert sum(one["documents"] for one in every[0]["partners"]) == row["topic"]["documents"]
        shown = sum(one["documents"] for one in row["partners"])
        assert shown + row["elsewhere"] == row["topic"]["documents"]
        assert bool(row["every"]) == bool(row["elsewhere"])


def test_words_of_a_pair_are_of_both_or_of_one(client, shaped):
    with Collection.open(shaped) as now:
        words = {topic: set(now.tree.words[node][:10]) for node, topic in enumerate(now.outline.topics)}
    for row in client.get("/trees.json?with=with-1").json()["rows"]:
        for one in row["partners"]:
            assert set(one["both"]) | set(one["left_only"]) == words[row["topic"]["id"]]
            assert not set(one["both"]) & set(one["right_only"])


def test_streams_are_no_wider_than_their_topics(client):
    drawn = client.get("/trees.json?with=with-1").json()["picture"]
    assert drawn["streams"]
    for side in ("left", "right"):
        for place, block in enumerate(drawn[side]):
            assert sum(one["documents"] for one in drawn["streams"] if one[side] == place) <= block["documents"]
        assert sum(block["documents"] for block in drawn[side]) == 300


@pytest.mark.parametrize("query", ["", "?with=state-1", "?with=with-1&level=1", "?with=state-1&show=changed"])
def test_the_page_says_what_its_data_say(client, query):
    data = client.get(f"/trees.json{query}").json()
    page = client.get(f"/trees{query}")
    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())
    assert data["sentence"] in shown
    for row in data["rows"]:
        assert row["topic"]["name"] in shown
        assert all(one["topic"]["name"] in shown for one in row["partners"])
    assert "<b>order" not in page.text
    links = {html.unescape(link) for link in re.findall(r'href="(/t[^"]*)"', page.text)}
    assert [link for link in links if client.get(link).status_code != 200] == []


@pytest.mark.parametrize(
    "key", ["with-0", "with-3", "with--1", "state-99", "state-4", "state-x", "/etc/passwd", "../news.topiary", "other"]
)
def test_only_what_was_given_at_the_start_is_opened(client, key):
    assert client.get(addresses.trees(key)).status_code == 404
    assert client.get(addresses.as_json(addresses.trees(key))).status_code == 404


def test_topics_that_share_nothing_are_told(client):
    assert client.get("/trees?with=state-1&left=4711").status_code == 404
    assert client.get("/trees?with=state-1&left=1&right=4711").status_code == 404


def test_a_tree_that_was_never_changed_says_so(hostile):
    page = TestClient(explorer(hostile), base_url="http://127.0.0.1").get("/trees")
    assert page.status_code == 200
    assert "nothing to compare" in page.text
    assert "--with" in page.text


def test_collections_without_a_document_in_common(folder, hostile):
    client = TestClient(explorer(folder, beside=(hostile,)), base_url="http://127.0.0.1")
    page = client.get("/trees")
    assert page.status_code == 200
    assert "no document in common" in page.text


def test_the_other_collection_is_followed_and_never_written(copied, folder, tmp_path):
    beside = str(tmp_path / "beside.topiary")
    shutil.copytree(folder, beside)
    client = TestClient(explorer(copied, beside=(beside,)), base_url="http://127.0.0.1")

    def state():
        return {str(path): path.stat().st_mtime_ns for path in tmp_path.glob("beside.topiary/**/*") if path.is_file()
                and "sqlite-" not in path.name}  # fmt: skip

    before = state()
    assert client.get("/trees.json").json()["sentence"].startswith("All 6 topics")
    assert state() == before
    with Collection.open(beside) as collection:
        leaves = [collection.outline.topics[node] for node in collection.outline.tree.leaves]
        collection.shape([{"merge": {"topics": leaves[:2]}}], refit=False)
    assert "2 were joined into 1 topic" in client.get("/trees.json").json()["sentence"]


def test_states_that_were_forgotten_are_not_offered(copied):
    with Collection.open(copied) as collection:
        leaf = collection.outline.topics[collection.outline.tree.leaves[0]]
        for name in ("one", "two"):
            collection.shape([{"rename": {"topic": leaf, "name": name}}], refit=False)
        for number in range(ADDITIONS + 1):
            collection.add([Document(f"late {number}", "oil barrel price output market")])
    client = TestClient(explorer(copied), base_url="http://127.0.0.1")
    assert keys(client) == ["state-7", "state-6", "state-5"]  # as far back as undo leads: three additions
    page = client.get("/trees.json").json()
    assert "1 document only at the right" in page["detail"]


def test_undo_leads_back_to_a_state_and_the_undone_can_be_seen(copied):
    with Collection.open(copied) as collection:
        leaves = [collection.outline.topics[node] for node in collection.outline.tree.leaves]
        collection.shape([{"merge": {"topics": leaves[:2]}}], refit=False)
        collection.undo()
    client = TestClient(explorer(copied), base_url="http://127.0.0.1")
    page = client.get("/trees.json").json()
    assert page["others"][0]["name"].startswith("before: undo: merge ")
    assert "1 was split" in page["sentence"]


def test_the_picture_escapes_names_and_folds_the_rest():
    blocks = tuple(Block(number, text, "", 10, "/x") for number, text in enumerate(HOSTILE))
    rest = Block(None, "… 7 more", "", 3, "")
    drawn = ribbons(Picture((*blocks, rest), blocks, (Stream(0, 1, 5, True, ""),)), (HOSTILE[0], HOSTILE[1]))
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert "… 7 more" in drawn
    assert drawn.count("<path") == 1


def test_the_command_refuses_what_is_no_collection(folder, tmp_path):
    from typer.testing import CliRunner

    from topiarist.app.cli import commands

    done = CliRunner().invoke(commands.app, ["explore", folder, "--with", str(tmp_path / "none"), "--no-browser"])
    assert done.exit_code == 2
    assert "none" in done.output


PATHS = ("/trees", "/trees?with=state-1", "/trees?with=state-1&show=changed&level=1", "PAIR", "ONE")


@pytest.fixture(scope="module")
def both(app):
    found = Served(app)
    yield found
    found.stop()


def paths(client):
    row = client.get("/trees.json?with=with-1").json()["rows"][0]
    known = {"PAIR": row["partners"][0]["address"], "ONE": f"/trees?with=with-1&left={row['topic']['id']}"}
    return [known.get(path, path) for path in PATHS]


def test_axe_finds_nothing(browser, both, client):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    found = []
    for path in paths(client):
        page.goto(both.address + path)
        settled(page)
        found += [(path, *one) for one in in_both_themes(page)]
    page.close()
    assert found == []


def test_a_phone_shows_a_list_of_pairs_without_sideways_scroll(browser, both, client):
    page = browser.new_page(viewport={"width": 320, "height": 640})
    for path in paths(client):
        page.goto(both.address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
    page.goto(f"{both.address}/trees")
    assert not page.locator("svg.ribbons").is_visible()
    assert page.locator(".partner").first.is_visible()
    page.close()


def test_one_may_walk_to_the_documents_of_a_pair_without_scripts(browser, both):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{both.address}/trees")
    page.select_option("select[name=with]", "state-1")
    page.get_by_role("button", name="Compare").click()
    assert "joined into 1 topic" in page.locator(".sentence").inner_text()
    number = page.locator(".partner a.count").first
    shown = int(re.match(r"[\d,]+", number.inner_text()).group().replace(",", ""))
    number.click()
    assert page.locator("#docs").inner_text() == f"{shown} documents"
    page.locator(".items h3 a").first.click()
    assert page.locator("#text").inner_text()
    context.close()
