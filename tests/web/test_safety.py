"""Who may ask, who may write, what a browser may do with an answer; and text that would like to be more than text."""

import html
import re
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient

from tests.web.conftest import HOSTILE, ODD, hostile_documents
from topiarist.web import addresses
from topiarist.web.http import safety
from topiarist.web.http.server import explorer
from topiarist.web.pages import overview

HERE = "http://127.0.0.1"


@pytest.fixture(scope="module")
def client(hostile):
    return TestClient(explorer(hostile), base_url=HERE)


PATHS = ("/", "/topic/0", "/search?q=court", "/tree", "/model", "/index.json", "/assets/style.css", "/nothing", "/new")


@pytest.mark.parametrize("path", [*PATHS, "a fault"])
def test_every_answer_says_what_a_browser_may_do(client, path, monkeypatch):
    if path == "a fault":
        monkeypatch.setattr(overview, "write_sentence", lambda view: 1 / 0)
        answer = client.get("/")  # the client raises whatever would reach the server, which prints it
        assert answer.status_code == 500
        assert client.app.state.session.token not in answer.text
        headers = answer.headers
    else:
        headers = client.get(path).headers
    assert headers["content-security-policy"] == safety.POLICY
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in headers
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", ""])
def test_another_host_gets_nothing(client, host):
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 400
    assert "court" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "localhost"])
def test_our_own_names_are_answered(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


def test_documentation_pages_of_the_framework_are_off(client):
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404


FOREIGN = (
    {}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site", "Origin": HERE},
)  # fmt: skip
WRITES = (
    "/tag", "/untag", "/read", "/undo", "/refit", "/steadiness", "/learn", "/stop", "/shape", "/remove", "/new",
    "/keep",
)  # fmt: skip


@pytest.mark.parametrize("path", WRITES)
def test_nobody_else_may_write(client, path):
    token = client.app.state.session.token
    for headers in FOREIGN:
        assert client.post(path, data={"token": token}, headers=headers).status_code == 403
    own = {"Origin": HERE}
    assert client.post(path, data={}, headers=own).status_code == 403
    assert client.post(path, data={"token": token[:-1]}, headers=own).status_code == 403
    assert client.post(path, data={"token": "é"}, headers=own).status_code == 403
    assert client.get(path).status_code == {"/new": 200, "/shape": 422}.get(path, 405)
    assert client.put(path, headers=own).status_code == 405
    assert client.options(path, headers={"Origin": "http://evil.example"}).status_code == 403


def test_a_form_with_the_token_may_write_and_goes_back_to_our_own_pages_only(copied):
    client = TestClient(explorer(copied), base_url=HERE, follow_redirects=False)
    session = client.app.state.session
    form = {"token": session.token, "state": session.view().mark, "document": "wire/law/bail/000.txt"}
    for headers in ({"Origin": HERE}, {"Sec-Fetch-Site": "same-origin"}):
        for back in ("http://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/model"):
            answer = client.post("/read", data={**form, "back": back}, headers=headers)
            assert answer.status_code == 303
            assert answer.headers["location"] == ("/model" if back == "/model" else "/")
    answer = client.post("/read", data=form, headers={"Origin": HERE, safety.TOKEN: client.app.state.session.token})
    assert answer.json()["done"]


def test_read_only_lets_nobody_write_and_shows_no_forms(folder):
    client = TestClient(explorer(folder, read_only=True), base_url=HERE)
    token = client.app.state.session.token
    for path in WRITES:
        assert client.post(path, data={"token": token}, headers={"Origin": HERE}).status_code == 403
    for path in ("/", "/topic/0", "/new", "/doc/wire%2Flaw%2Fbail%2F000.txt"):
        text = client.get(path).text
        assert 'method="post"' not in text
        assert token not in text


def test_a_number_may_not_be_endless(client):
    form = {"token": client.app.state.session.token, "topic": "9" * 5_000, "tag": "x"}
    for path in ("/tag", "/read", "/untag"):
        assert client.post(path, data=form, headers={"Origin": HERE}).status_code == 422


def test_a_request_may_not_be_huge(client):
    answer = client.post("/new", headers={"Origin": HERE, "Content-Length": str(1 << 40)}, content=b"x")
    assert answer.status_code == 413


def test_open_to_others_every_address_needs_the_token(folder):
    client = TestClient(explorer(folder, hosts=("*",), door="secret-door"), base_url="http://10.0.0.7")
    for path in ("/", "/index.json", "/topic/0", "/assets/style.css", "/secret-doo/", "/openapi.json", "/%00"):
        assert client.get(path).status_code == 403
    text = client.get("/secret-door/").text
    links = re.findall(r'(?:href|src|action)="([^"#]*)"', text)
    assert links
    assert all(link.startswith("/secret-door/") for link in links)
    for path in ("/topic/0", "/search?q=court", "/doc/wire%2Flaw%2Fbail%2F000.txt", "/model", "/tree", "/new"):
        text = client.get(f"/secret-door{path}").text
        found = re.findall(r'(?:href|src|action)="([^"#]+)"', text)
        assert all(link.startswith(("/secret-door/", "?")) for link in found), [x for x in found if x[0] == "/"][:3]
    answer = client.post(
        "/secret-door/read", follow_redirects=False, headers={"Origin": "http://10.0.0.7"},
        data={"token": client.app.state.session.token, "state": client.app.state.session.view().mark, "document": "x"},
    )  # fmt: skip
    assert answer.status_code == 404


EVERYWHERE = (
    "/", "/topic/0", "/search?q=window", "/search?q=court&by=meaning", "/tree", "/compare", "/categories", "/model",
)  # fmt: skip


def active(text):
    """Tags and attributes that would run something, outside of what our own templates write."""
    for own in (
        '<script src="/assets/scripted.js"></script>',
        '<script type="module" src="/assets/explorer.js"></script>',
    ):
        text = text.replace(own, "")
    return re.findall(r"<script|<img src=x|<svg onload|onerror\s*=\s*\"?window|href=\"javascript:", text)


@pytest.mark.parametrize("path", EVERYWHERE)
def test_hostile_text_stays_text(client, path):
    assert not active(client.get(path).text)


def test_hostile_documents_stay_text(client):
    for document in hostile_documents()[:24]:
        for values in ({}, {"colour": "topic"}, {"q": document.title}):
            text = client.get(addresses.document(document.id, **values))
            assert text.status_code == 200
            assert not active(text.text)
            assert "49 {%" not in text.text


def test_hostile_queries_and_values_stay_text(client):
    for trick in HOSTILE:
        for address in (addresses.search(trick), addresses.word(trick), addresses.category(trick),
                        addresses.shape("rename", 1, name=trick, ready=1)):  # fmt: skip
            answer = client.get(address)
            assert answer.status_code == 200
            assert not active(answer.text)
        name = quote(trick, safe="")
        for address, status in ((f"/topic/{name}", 404 if "/" in trick else 422), (f"/{name}", 404),
                                (f"/topic/0?sort={name}", 422), (addresses.document(trick), 404)):  # fmt: skip
            answer = client.get(address)
            assert answer.status_code == status
            assert not active(answer.text)


def test_direction_marks_are_taken_out_of_titles(client):
    page = client.get("/search?q=gnp").text
    assert "\u202e" not in re.search(r"<h3>.*?</h3>", page, re.DOTALL)[0]


def test_a_text_to_keep_is_never_opened(client):
    document = hostile_documents()[1]
    answer = client.get(addresses.original(document.id))
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["content-type"].startswith("text/plain")


def test_a_table_to_keep_holds_no_formulas(client):
    lines = client.get("/export.csv?topic=0").text
    assert "'=HYPERLINK" in lines
    assert not re.search(r"(^|,)=HYPERLINK", lines, re.MULTILINE)


def test_odd_ids_have_addresses(client):
    for id in ("..", "some.json", "long"):
        assert client.get(addresses.document(id)).status_code == 200
        assert client.get(addresses.as_json(addresses.document(id))).json()["id"] == id


@pytest.mark.parametrize("id", ODD)
def test_pages_of_odd_ids_lead_back_to_themselves(hostile_served, id):
    with httpx.Client(base_url=hostile_served.address) as client:  # a real one: the test client decodes twice
        text = client.get(addresses.document(id)).text
        data, here = (html.unescape(re.search(wanted, text)[1]) for wanted in
                      (r'href="([^"]+)">This page as JSON', r'class="copy" href="([^"]+)"'))  # fmt: skip
        assert client.get(data).json()["id"] == id
        assert here == addresses.document(id)
        session = hostile_served.app.state.session
        form = {"token": session.token, "state": session.view().mark, "document": id, "back": here}
        answer = client.post("/read", data=form, headers={"Origin": hostile_served.address})
        assert client.get(answer.headers["location"]).status_code == 200


def test_a_long_document_comes_in_parts(client):
    page = client.get(addresses.as_json(addresses.document("long"))).json()
    assert len(page["parts"]) == 2
    whole = "".join(
        piece["text"]
        for number in (1, 2)
        for piece in client.get(addresses.as_json(addresses.document("long", part=number))).json()["pieces"]
    )
    assert whole == hostile_documents()[-3].text


def test_a_request_that_does_not_say_how_long_it_is_is_refused(client):
    """Two servers in a row may disagree where such a request ends."""
    for coding in ("chunked", "gzip, chunked", "identity"):
        head = {"Origin": HERE, "Transfer-Encoding": coding}
        answer = client.post("/tag", content=iter([b"token=x"]), headers=head)
        assert answer.status_code == 411
        assert "Content-Length" in answer.text


def test_a_page_of_another_site_may_lead_here_and_ask_for_nothing(client):
    """A picture or a script of a foreign page would tell whether somebody has a collection, and how large it is."""
    foreign = {"Sec-Fetch-Site": "cross-site"}
    for more in ({}, {"Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}):
        assert client.get("/", headers=foreign | more).status_code == 403
    going = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert client.get("/", headers=foreign | going).status_code == 200
