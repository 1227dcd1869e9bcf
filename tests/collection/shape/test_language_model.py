"""Asking a program and a server on loopback: answers, silence, floods, and addresses that are not of this machine."""

import contextlib
import json
import shlex
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from topiarist.collection.shape import language_model
from topiarist.collection.shape.language_model import MAX_BYTES, NamingProgram, NamingServer, UnansweredError
from topiarist.errors import UsageError

PATIENT, HASTY = 60.0, 0.5  # seconds: an answer is expected, or none


def program(source, timeout=PATIENT):
    return NamingProgram.of(shlex.join([sys.executable, "-c", source]), timeout)


def test_a_program_reads_a_prompt_and_answers():
    said = program("import sys; print(sys.stdin.buffer.read().decode()[::-1])").ask("Übung · ☃ \ud800")
    assert said == "? ☃ · gnubÜ\n"


def test_a_program_need_not_read():
    assert program("print('Sport')").ask("x" * 1_000_000) == "Sport\n"


def test_a_command_goes_through_no_shell(tmp_path):
    line = f"{shlex.quote(sys.executable)} -c 'import sys; print(sys.argv[1:])' ; touch {tmp_path}/made $HOME `id`"
    said = NamingProgram.of(line, PATIENT).ask("")
    assert "'$HOME', '`id`'" in said
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("source", "timeout", "message"),
    [
        ("import sys; print('Sport'); sys.exit(3)", PATIENT, "exit code 3"),
        ("import time; time.sleep(600)", HASTY, "longer than 0.5 seconds"),
        ("import os, time; os.close(1); time.sleep(600)", HASTY, "longer than 0.5 seconds"),
        ("import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])",
         HASTY, "longer than 0.5 seconds"),
        ("while True: print('x' * 65536)", PATIENT, "exceeds 1,048,576 bytes"),
    ],
)  # fmt: skip
def test_a_program_that_does_not_answer(source, timeout, message):
    with pytest.raises(UnansweredError, match=message):
        program(source, timeout).ask("who?")


def test_what_is_not_text_is_read_as_far_as_it_goes():
    assert program(r"import sys; sys.stdout.buffer.write(b'Sp\xffort')").ask("") == "Sp\ufffdort"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "empty command"),
        ("'", "cannot be split"),
        ("no-such-program-here --x", "no program called"),
        ("''", "empty"),
    ],
)
def test_a_command_that_is_none(line, message):
    with pytest.raises(UsageError, match=message):
        NamingProgram.of(line)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, json.loads(body)))
        with contextlib.suppress(OSError):
            self.server.answer(self)

    def log_message(self, *_):
        pass


def sends(body, status=200, **headers):
    def answer(handler):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(raw)

    return answer


def message(content):
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


@pytest.fixture
def server():
    """A server on loopback; what it answers is set by the test."""
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving.daemon_threads, serving.asked, serving.answer = True, [], sends(message("Sport"))
    serving.url = f"http://127.0.0.1:{serving.server_address[1]}"
    thread = threading.Thread(target=serving.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield serving
    serving.shutdown()
    serving.server_close()
    thread.join()


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions", ""])
def test_a_server_is_asked_with_its_interface(server, path):
    assert NamingServer.of(server.url + path, "small", PATIENT).ask("who? ☃") == "Sport"
    ((asked, body),) = server.asked
    assert asked == ("" if not path else "/v1") + "/chat/completions"
    assert body["model"] == "small"
    assert body["messages"] == [{"role": "user", "content": "who? ☃"}]


def test_localhost_and_no_model_and_no_proxy(server, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    url = server.url.replace("127.0.0.1", "localhost") + "/v1?key=a"
    assert NamingServer.of(url, timeout=PATIENT).ask("x") == "Sport"
    assert server.asked[0][0] == "/v1/chat/completions?key=a"
    assert server.asked[0][1]["model"] == ""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (sends({}, 404), "status 404"),
        (sends({}, 302, Location="http://192.0.2.1/"), "status 302"),
        (sends(b"<html>"), "not JSON"),
        (sends(b"[" * 100_000), "not JSON"),
        (sends([]), "no choices"),
        (sends({"choices": []}), "no choices"),
        (sends({"choices": [{"message": {"content": None}}]}), "no choices"),
        (sends({"choices": {"0": 1}}), "no choices"),
        (sends(b"x" * (MAX_BYTES + 10)), "exceeds"),
        (lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n"), "cannot be asked"),
        (lambda handler: None, "cannot be asked"),
    ],
)
def test_a_server_that_answers_something_else(server, answer, message):
    server.answer = answer
    with pytest.raises(UnansweredError, match=message):
        NamingServer.of(server.url, timeout=PATIENT).ask("who?")


@pytest.mark.parametrize("drips", [False, True])
def test_a_server_that_never_ends(server, drips):
    ended = threading.Event()

    def answer(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
        while drips and not ended.wait(0.05):
            handler.wfile.write(b"x")
        ended.wait()

    server.answer = answer
    try:
        with pytest.raises(UnansweredError, match=r"longer than 0\.5 seconds"):
            NamingServer.of(server.url, timeout=HASTY).ask("who?")
    finally:
        ended.set()


def test_nobody_is_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(UnansweredError, match="cannot be asked"):
            NamingServer.of(f"http://127.0.0.1:{taken.getsockname()[1]}", timeout=PATIENT).ask("who?")


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1/v1",
        "http://example.org",
        "https://127.0.0.1/v1",
        "http://127.0.0.1.example.org/",
        "http://localhost.example.org",
        "http://0.0.0.0:80",
        "http://2130706433/",
        "http://[::2]/",
    ],
)
def test_another_machine_is_refused_unless_allowed(url):
    with pytest.raises(UsageError, match="--allow-remote"):
        NamingServer.of(url)
    assert NamingServer.of(url, allow_remote=True).remote


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:80", "ftp://127.0.0.1", "file:///etc/passwd", "http://", "http://127.0.0.1:port", "http://[::1",
     "http://user:secret@127.0.0.1/", "http://127.0.0.1@example.org/", "http://127.0.0.1/a\r\nX: y", "http://a b/"],
)  # fmt: skip
@pytest.mark.parametrize("remote", [False, True])
def test_what_is_no_address_of_a_server(url, remote):
    with pytest.raises(UsageError):
        NamingServer.of(url, allow_remote=remote)


def test_a_name_that_leads_to_another_machine_gets_nothing(server, monkeypatch):
    monkeypatch.setattr(language_model, "_is_this_machine", lambda host: host == "localhost")
    with pytest.raises(UnansweredError, match="nothing was sent"):
        NamingServer.of(server.url.replace("127.0.0.1", "localhost"), timeout=PATIENT).ask("secret")
    assert server.asked == []
