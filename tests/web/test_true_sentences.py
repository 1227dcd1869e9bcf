"""Numbers and claims of pages, compared with those of a planted collection, computed from its documents."""

import re
from collections import Counter

import pytest
from starlette.testclient import TestClient

from tests.planted import BAIL, FOOTBALL, OIL, planted_documents, planted_path  # noqa: F401
from tests.web.words import TOPICS
from topiarist.web import addresses
from topiarist.web.http.server import explorer

DOCUMENTS = planted_documents()
SOURCE_OF = {item.id: item.labels[0] if item.labels else OIL for item in DOCUMENTS}
DATED = [item for item in DOCUMENTS if item.date]
WITH_MONTH = [item for item in DATED if len(item.date) > 4]


@pytest.fixture(scope="module")
def client(planted_path):  # noqa: F811
    return TestClient(explorer(str(planted_path)), base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def topics(client):
    """The planted source of each topic, by the words that the topic page lists."""
    view = client.app.state.session.view()
    found = {}
    for node in view.tree.leaves:
        topic = view.shape.topics[node]
        words = [line["word"] for line in client.get(f"/topic/{topic}.json").json()["words"][:5]]
        (found[topic],) = {source for source in TOPICS if set(words) <= set(TOPICS[source].split())}
    return found


def numbers(text):
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def test_overview_counts_documents_dates_and_topics(client):
    sentence = client.get("/index.json").json()["sentence"]
    n_undated = len(DOCUMENTS) - len(DATED)
    assert f"{len(DOCUMENTS)} documents, {len(DATED)} dated from 2014 and {n_undated} undated" in sentence
    share, unknown = numbers(re.search(r"in English \((.*?)\)", sentence)[1])
    assert share == round(100 * (len(DOCUMENTS) - unknown) / len(DOCUMENTS))
    assert sentence.endswith("sorted into 3 topics.")


def test_topic_pages_count_their_documents(client, topics):
    assert sorted(topics.values()) == sorted((BAIL, FOOTBALL, OIL))
    expected = Counter(SOURCE_OF.values())
    for topic, source in topics.items():
        page = client.get(f"/topic/{topic}.json").json()
        number, whole, part = numbers(page["sentence"])[:3]
        assert number == page["total"] == expected[source]
        assert abs(float(f"{whole}.{part}") - 100 * expected[source] / len(DOCUMENTS)) <= 0.05
        words = re.search(r"Typical words: (.*)\.", page["sentence"])[1]
        assert set(re.split(r", | and ", words)) <= set(TOPICS[source].split())


@pytest.mark.parametrize("query", ["boycott", "sponsor", "boycott date:2014-02", "date:none", "label:law/bail"])
def test_search_counts_what_matches(client, topics, query):
    words = [word for word in query.split() if ":" not in word]
    ids = {item.id for item in DOCUMENTS if set(words) <= set(item.text.split())}
    if "date:2014-02" in query:
        ids &= {item.id for item in DOCUMENTS if item.date.startswith("2014-02")}
    if "date:none" in query:
        ids = {item.id for item in DOCUMENTS if not item.date}
    if "label:" in query:
        ids = {item.id for item in DOCUMENTS if BAIL in item.labels}
    page = client.get("/search.json", params={"q": query}).json()
    assert numbers(page["sentence"])[0] == page["total"] == len(ids)
    assert " of none" not in page["sentence"]
    sources = Counter(SOURCE_OF[id] for id in ids)
    for branch in page["branches"]:
        assert branch["matching"] == sources[topics[branch["id"]]]
    most = re.search(r"most of them under (.*)\.", page["sentence"])
    if most:
        (branch,) = [one for one in page["branches"] if one["name"] == most[1]]
        assert 2 * sources[topics[branch["id"]]] > len(ids)
    hits = [line["document"]["id"] for line in page["hits"]]
    assert set(hits) <= ids
    assert len(hits) == min(len(ids), 20)
    related = [line["document"]["id"] for line in page["related"]]
    assert len(related) <= 20
    assert not set(related) & ids


def test_search_for_an_unknown_phrase_matches_nothing(client):
    page = client.get("/search.json", params={"q": '"boycott refinery sponsor"'}).json()
    assert (page["total"], page["hits"], page["related"]) == (0, [], [])
    assert page["sentence"].startswith("No document matches")
    assert "q=boycott+refinery+sponsor" in page["widened"].replace("%20", "+")


def test_time_counts_months_and_what_is_left_out(client):
    page = client.get("/time.json").json()
    months = sorted({item.date[:7] for item in WITH_MONTH})
    assert page["sentence"].startswith(
        f"{len(WITH_MONTH)} documents from {months[0]} to {months[-1]}, by month: {len(months)} months, 1 burst"
    )
    assert [numbers(line)[0] for line in page["left_out"]] == [
        len(DOCUMENTS) - len(DATED), len(DATED) - len(WITH_MONTH)
    ]  # fmt: skip


def test_groups_and_categories_count_values(client):
    desks = [dict(item.columns).get("desk") for item in DOCUMENTS]
    page = client.get("/groups.json").json()
    assert page["sentence"].startswith(f"{len(set(desks) - {None})} groups by desk")
    assert numbers(page["notes"][0]) == [desks.count(None)]
    labels = {label for item in DOCUMENTS for label in item.labels}
    assert f"The documents have {len(labels)} labels." in client.get("/categories.json").json()["sentence"]


def test_model_page_counts_words_and_documents(client):
    page = client.get("/model.json").json()
    figures = {figure["name"]: figure for figure in page["figures"]}
    assert figures["documents"]["value"] == str(len(DOCUMENTS))
    account = {(one["what"], one["said"]): one["number"] for one in page["account"]}
    assert sum(number for (what, _), number in account.items() if what == "language") == len(DOCUMENTS)
    assert all(numbers(said)[0] == number for (_, said), number in account.items())
    assert f"{len(DOCUMENTS) - len(DATED)} documents have no date." in page["known"]
    assert "3 topics and 0 headings" in page["sentence"]


def test_document_page_has_its_topic_date_and_label(client, topics):
    for item in (DOCUMENTS[30], DOCUMENTS[100]):
        text = client.get(addresses.document(item.id)).text
        (topic,) = [number for number, source in topics.items() if source == SOURCE_OF[item.id]]
        assert f'/topic/{topic}"' in text
        assert item.labels[0] in text
        assert f'datetime="{item.date}"' in text
