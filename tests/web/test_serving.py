"""Open to others: an address that can be opened, this machine as well, and the token on every way; by real sockets."""

import re
import socket
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest
import uvicorn
from starlette.testclient import TestClient
from uvicorn.server import ServerState

from topiarist.errors import UsageError
from topiarist.web.forms import posts
from topiarist.web.http import serving
from topiarist.web.http.server import explorer


@pytest.fixture
def remote(copied):
    """A server for everybody, as the command starts one."""
    found = serving.open_server("0.0.0.0", 0)
    app = explorer(copied, hosts=found.hosts, door=found.door)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": list(found.sockets)}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    found_by = next(address for address in found.addresses if "127.0.0.1" in address)
    yield app, found_by
    server.should_exit = True
    thread.join(10)


def test_addresses_that_are_printed_can_be_opened():
    found = serving.open_server("0.0.0.0", 0)
    for one in found.sockets:
        one.listen()
    try:
        for address in found.addresses:
            assert "0.0.0.0" not in address
            assert address.endswith(f"/{found.door}/")
            host, port = re.match(r"http://([\d.]+):(\d+)/", address).groups()
            socket.create_connection((host, int(port)), timeout=5).close()
        assert found.addresses[-1].startswith("http://127.0.0.1:")
        assert found.addresses[0] in serving.format_startup_message("x.topiary", found)
    finally:
        for one in found.sockets:
            one.close()


@pytest.mark.parametrize(("outside", "said"), [("10.1.2.3", "a guess"), ("", "no other address was found")])
def test_what_is_a_guess_is_called_one(monkeypatch, outside, said):
    monkeypatch.setattr(serving, "find_reachable_address", lambda family: outside)
    found = serving.open_server("0.0.0.0", 0)
    found.sockets[0].close()
    assert [address.split(":")[1][2:] for address in found.addresses] == [*([outside] if outside else []), "127.0.0.1"]
    assert f"is open at {found.addresses[0]} ({said}" in serving.format_startup_message("x.topiary", found)


def test_another_address_is_named_and_this_machine_is_served_too():
    found = serving.open_server("127.0.0.2", 0)
    try:
        assert [one.getsockname()[0] for one in found.sockets] == ["127.0.0.2", "127.0.0.1"]
        assert len({one.getsockname()[1] for one in found.sockets}) == 1
        assert [address.split(":")[1] for address in found.addresses] == ["//127.0.0.2", "//127.0.0.1"]
        assert found.hosts == ("127.0.0.1", "localhost", "127.0.0.2")
        assert found.note == ""
    finally:
        for one in found.sockets:
            one.close()


def test_nobody_else_is_let_in_by_default():
    found = serving.open_server(None, 0)
    try:
        assert [one.getsockname()[0] for one in found.sockets] == ["127.0.0.1"]
        assert (found.local, found.hosts) == (True, ("127.0.0.1", "localhost"))
        assert len(found.door) >= 32
        assert found.addresses == (f"http://127.0.0.1:{found.sockets[0].getsockname()[1]}/{found.door}/",)
        found.sockets[0].listen()
        with pytest.raises(UsageError, match="cannot listen"):
            serving.bind_socket("127.0.0.1", found.sockets[0].getsockname()[1])
    finally:
        found.sockets[0].close()


def test_who_else_is_on_this_machine_needs_the_token(copied):
    found = serving.open_server(None, 0)
    found.sockets[0].close()
    app = explorer(copied, hosts=found.hosts, door=found.door, local=found.local)
    client = TestClient(app, base_url="http://127.0.0.1")
    for path in ("/", "/index.json", "/assets/style.css", "/openapi.json", "/x/", f"/{found.door[:-1]}/", "//", "/tag"):
        answer = client.get(path)
        assert answer.status_code == 403, path
        assert app.state.session.token not in answer.text
        assert found.door not in answer.text
    assert client.post("/tag", headers={"Origin": "http://127.0.0.1"}).status_code == 403
    assert client.get(f"/{found.door}/").status_code == 200


def test_the_token_is_in_no_list_of_processes():
    """A browser is started with a file, which is gone when the server is."""
    found = serving.open_server(None, 0)
    found.sockets[0].close()
    with serving.write_launch_file(found) as address:
        assert found.door not in address
        page = Path(address.removeprefix("file://"))
        assert found.addresses[0] in page.read_text()
        assert page.parent.stat().st_mode & 0o077 == 0
    assert not page.exists()


def test_without_a_token_only_this_machine_is_let_in():
    found = serving.open_server(None, 0, token=False)
    found.sockets[0].close()
    assert (found.door, found.local) == ("", True)
    with serving.write_launch_file(found) as address:
        assert address == found.addresses[0]
    with pytest.raises(UsageError, match="requires a token"):
        serving.open_server("0.0.0.0", 0, token=False)


def test_what_leads_elsewhere_keeps_the_token(remote):
    app, address = remote
    root, session = app.state.root, app.state.session
    base = address.removesuffix(f"{root}/")
    with httpx.Client(base_url=base) as client:
        assert client.get("/").status_code == 403
        for path, to in (
            (root, f"{root}/"),
            (f"{root}/model/", f"{root}/model"),
            (f"{root}/tree/?a=b", f"{root}/tree?a=b"),
        ):
            answer = client.get(path)
            assert answer.status_code == 307
            assert answer.headers["location"] == f"{base}{to}"
            assert client.get(to).status_code == 200
        form = {"token": session.token, "state": session.view().mark, "document": "wire/law/bail/000.txt"}
        for back, to in ((f"{root}/model", "/model"), ("/model", "/model"), (root, "/"), ("", "/"), ("//evil", "/")):
            answer = client.post(f"{root}/read", data={**form, "back": back}, headers={"Origin": base})
            assert answer.status_code == 303
            assert answer.headers["location"] == f"{root}{to}"
        text = client.get(f"{root}/doc/wire%2Flaw%2Fbail%2F000.txt").text
        assert re.search(r'class="copy" href="([^"]+)"', text)[1] == f"{root}/doc/wire%2Flaw%2Fbail%2F000.txt"
        assert client.get(re.search(r'href="([^"]+)">This page as JSON', text)[1]).json()["read"]
        assert client.get(f"{root}/assets/style.css").status_code == 200
        assert client.get(f"{root}/openapi.json").json()["servers"] == [{"url": root}]


@pytest.mark.parametrize("path", ["/", "/topic/0", "/index.json", "/search?q=court", "/export.csv?topic=0", "/job.json",
                                  "/assets/style.css", "/openapi.json", "/nothing", "/topic/4711"])  # fmt: skip
def test_a_question_for_the_head_is_answered_as_one_for_the_page(served, path):
    with httpx.Client(base_url=served.address) as client:
        head, whole = client.head(path), client.get(path)
        assert head.status_code == whole.status_code
        assert head.headers["content-type"] == whole.headers["content-type"]
        assert head.headers["content-security-policy"] == whole.headers["content-security-policy"]
        assert head.content == b""
        assert client.head("/tag").status_code == client.get("/tag").status_code == 405


@pytest.fixture
def hurried(folder, monkeypatch):
    """A server as the command starts one, that has no patience at all."""
    monkeypatch.setattr(serving, "HEADER_TIMEOUT", 0.3)
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 8)
    app, listening = explorer(folder), serving.bind_socket("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", http=serving.TimeoutProtocol))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()
    server.should_exit = True
    thread.join(10)


def hung_up(connection):
    """Whether the other side ends a connection before a long while."""
    connection.settimeout(20)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("said", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_who_says_nothing_is_not_waited_for(hurried, said):
    with socket.create_connection(hurried) as one:
        one.sendall(said)
        assert hung_up(one)
    with httpx.Client(base_url=f"http://127.0.0.1:{hurried[1]}") as client:
        assert client.get("/").status_code == 200


def test_who_says_nothing_more_after_an_answer_is_not_waited_for(hurried, monkeypatch):
    monkeypatch.setattr(serving, "HEADER_TIMEOUT", 60.0)
    with socket.create_connection(hurried) as one, one.makefile("rb") as answer:
        one.sendall(b"HEAD /help HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"200" in answer.readline()
        while answer.readline().strip():
            pass
        monkeypatch.setattr(serving, "HEADER_TIMEOUT", 0.05)
        one.sendall(b"GET")
        assert hung_up(one)


class Loop:
    """A loop without time: which clocks run, and the tasks that were begun."""

    def __init__(self):
        self.clocks, self.tasks = [], []

    def call_later(self, seconds, function, *args):
        clock = Mock(seconds=seconds)
        clock.cancel.side_effect = lambda: self.clocks.remove(clock)
        self.clocks.append(clock)
        return clock

    def create_task(self, coroutine, **_):
        coroutine.close()
        self.tasks.append(Mock())
        return self.tasks[-1]


def test_the_clock_stops_when_a_request_has_said_what_it_wants():
    config = uvicorn.Config(explorer, log_level="critical")
    config.load()
    loop, transport = Loop(), Mock()
    transport.get_extra_info.return_value = None
    one = serving.TimeoutProtocol(config=config, server_state=ServerState(), app_state={}, _loop=loop)
    one.connection_made(transport)
    (clock,) = loop.clocks
    assert clock.seconds == serving.HEADER_TIMEOUT
    one.data_received(b"GET / HTTP/1.1\r\n")
    assert loop.clocks == [clock]  # a word now and then does not set it back
    one.data_received(b"Host: 127.0.0.1\r\n\r\n")
    assert len(loop.tasks) == 1
    assert loop.clocks == []
    one.data_received(b"GET /help HTTP/1.1\r\n")  # while the first is being answered
    assert loop.clocks == []
    one.connection_lost(None)


def test_not_more_connections_than_the_server_can_hold(hurried):
    opened = [socket.create_connection(hurried) for _ in range(30)]
    try:
        assert all(hung_up(one) for one in opened)  # the first for their silence, the others at once
    finally:
        for one in opened:
            one.close()


def test_a_form_is_not_read_before_its_token(copied, monkeypatch):
    """Megabytes without a token are not even parsed, whichever way they come."""
    app = explorer(copied)
    client = TestClient(app, base_url="http://127.0.0.1")
    parsed = []
    plain = posts.bodies.parse_form
    monkeypatch.setattr(posts.bodies, "parse_form", lambda form: parsed.append(form) or plain(form))
    head = {"Origin": "http://127.0.0.1"}
    large = "x" * 3_000_000
    for token in ({}, {"token": "wrong"}, {"token": ""}):
        for files in (None, {"files": ("a.txt", b"words")}):
            answer = client.post("/new", data={**token, "text": large}, files=files, headers=head)
            assert answer.status_code == 403
    late = {"text": large, "token": app.state.session.token}  # as no page of ours tells it
    assert client.post("/new", data=late, headers=head).status_code == 403
    assert parsed == []
    told = {"token": app.state.session.token, "text": "court judge bail"}
    for files in (None, {"files": ("a.txt", b"oil barrel price")}):
        assert client.post("/new", data=told, files=files, headers=head).status_code == 200
    assert len(parsed) == 2


def test_a_text_that_is_too_long_to_be_pasted_is_refused(copied):
    app = explorer(copied)
    client = TestClient(app, base_url="http://127.0.0.1")
    told = {"token": app.state.session.token, "text": "word " * 500_000}
    answer = client.post("/new", data=told, headers={"Origin": "http://127.0.0.1"})
    assert answer.status_code == 400
    assert "Expected at most" in answer.text
