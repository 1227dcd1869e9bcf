"""Requests of somebody who should not be let in, thousands of them, to an explorer that runs as people run it.

    python tools/fuzz_requests.py --requests 10000 [--seed 0]

Raw bytes on loopback: paths that climb, that are cut in the middle of a letter or miles long, doors that are wrong or
missing, foreign hosts and origins, lengths that lie, bodies in pieces, forms without or with a wrong token, and lines
that are no HTTP. Every answer comes within ten seconds, none is a 500, none has the contents of a file that is not
ours, none repeats markup that was sent, and none but those through the door has anything of the collection. Afterwards
the explorer still answers, nothing was written, and ``check`` finds nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import socket
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from soak import PAGES, Explorer, grown  # noqa: E402
from trials import finish  # noqa: E402

LONGEST = 10.0  # seconds for an answer
SECRET = "the secret of the house"  # noqa: S105
MARKUP = '<script>window.hacked=1</script>"><img src=x onerror=hacked()>'
METHODS = (
    "GET",
    "GET",
    "GET",
    "HEAD",
    "POST",
    "POST",
    "PUT",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "get",
    "X" * 300,
)
WRITES = (
    "/tag",
    "/untag",
    "/read",
    "/undo",
    "/refit",
    "/stop",
    "/shape",
    "/new",
    "/keep",
    "/judge",
    "/review",
    "/remove",
)
DATA = ("/search.json", "/topic/0.json", "/tree.json", "/original", "/export.csv", "/openapi.json", "/job.json")
CLIMBS = (
    "../" * 8,
    "..%2f" * 8,
    "..%5c" * 8,
    "%2e%2e/" * 8,
    "....//" * 8,
    "%c0%ae%c0%ae/" * 6,
    "/",
    "%00",
    "\\\\host\\share\\",
)
QUERIES = ("q=", "query=", "topic=", "id=", "page=", "with=", "label=", "document=", "since=", "n=", "view=", "left=")
VALUES = (
    MARKUP, "9" * 400, "-1", "NaN", "1e999", "\x00", "%", "%zz", "%ff%fe", "'; DROP TABLE documents; --", '"' * 50,
    "(" * 300, "a* " * 200, "NEAR(a b, 9999999)", "../../etc/passwd", "like:" * 40, "\u202e", "{{7*7}}", "[]", "",
)  # fmt: skip
HOSTS = ("evil.example", "127.0.0.1.evil.example", "localhost:1", "[::1]", "10.0.0.1", "", "127.0.0.1\t", "a" * 2000)
SITES = ("cross-site", "same-site", "same-origin", "none", "odd")


class Attacker:
    """Somebody with a source of chance; knows the door for half of what they ask."""

    def __init__(self, explorer: Explorer, secret: Path, seed: int) -> None:
        self.explorer, self.secret, self.chance = explorer, secret, random.Random(seed)  # noqa: S311

    def request(self) -> tuple[bytes, bool]:
        """The bytes of a request, and whether they come through the door."""
        chance = self.chance
        if chance.random() < 0.03:
            return chance.randbytes(chance.choice((1, 20, 3000))) + b"\r\n\r\n", False
        method, through = chance.choice(METHODS), chance.random() < 0.6
        path = (
            self.explorer.door if through else chance.choice(("", "/wrong", self.explorer.door[:-1]))
        ) + self._path()
        line = f"{method} {path} HTTP/1.{chance.choice('0111')}"
        body = self._body() if method in ("POST", "PUT") or chance.random() < 0.05 else b""
        lines = [line, f"Host: {self._host()}", *self._headers(body), "Connection: close"]
        return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body, through

    def _path(self) -> str:
        chance = self.chance
        path = chance.choice((*PAGES, *WRITES, *DATA, "/topic/", "/doc/", "/assets/", "/word?word=x", "/search"))
        if chance.random() < 0.4:
            climb = chance.choice(CLIMBS)
            path += climb + chance.choice((str(self.secret), str(self.secret).lstrip("/"), "etc/passwd", "x"))
        if chance.random() < 0.5:
            odd = "&".join(chance.choice(QUERIES) + self._value() for _ in range(chance.choice((1, 1, 3, 40))))
            path += ("&" if "?" in path else "?") + odd
        return path.replace("\n", "%0a").replace(" ", "%20") or "/"

    def _value(self) -> str:
        value = self.chance.choice(VALUES)
        return value if self.chance.random() < 0.2 else quote(value)

    def _host(self) -> str:
        own = f"{self.explorer.host}:{self.explorer.port}"
        return own if self.chance.random() < 0.8 else self.chance.choice(HOSTS)

    def _headers(self, body: bytes) -> list[str]:
        chance, found = self.chance, list[str]()
        own = f"http://{self.explorer.host}:{self.explorer.port}"
        if chance.random() < 0.5:
            found.append(f"Origin: {chance.choice((own, 'http://evil.example', 'null', ''))}")
        if chance.random() < 0.3:
            found.append(f"Sec-Fetch-Site: {chance.choice(SITES)}")
        if chance.random() < 0.2:
            found.append(
                f"{chance.choice(('X-Token', 'Cookie', 'Authorization', 'Range'))}: {chance.choice(VALUES)[:99]}"
            )
        if chance.random() < 0.05:
            found.append(f"X-Long: {'a' * chance.choice((9000, 70_000))}")
        if chance.random() < 0.1:
            found.append("Transfer-Encoding: chunked")
        if body:
            length = chance.choice((len(body), len(body), len(body), 0, len(body) + 5, 10**12, -1, "x"))
            found += [f"Content-Length: {length}"]
            found += [
                f"Content-Type: {chance.choice(('application/x-www-form-urlencoded', 'application/json', 'text/html'))}"
            ]
        return [one.replace("\r", "").replace("\n", "") for one in found]

    def _body(self) -> bytes:
        chance = self.chance
        form = {
            "token": chance.choice(("", "x" * 43, MARKUP)),
            "state": "1",
            "document": "x",
            "tag": "stolen",
            "topic": "1",
        }
        form |= {"edit": "rename", "name": "Stolen", "text": chance.choice(VALUES)}
        kinds = (
            "&".join(f"{name}={quote(value)}" for name, value in form.items()).encode(),
            str(form).replace("'", '"').encode(), chance.randbytes(500), b"[" * 5000, b"5\r\nstole\r\n0\r\n\r\n",
        )  # fmt: skip
        return chance.choice(kinds)

    def answer(self, content: bytes) -> tuple[bytes, float]:
        """What comes back, and after how long."""
        began = time.monotonic()
        with socket.create_connection((self.explorer.host, self.explorer.port), timeout=LONGEST) as connection:
            got = b""
            try:
                connection.sendall(content)
                if lies(content):
                    connection.shutdown(socket.SHUT_WR)  # it would wait for the rest, as it should
                while len(got) < 3_000_000 and (more := connection.recv(65536)):
                    got += more
            except ConnectionError:
                pass  # it hung up on us: that is an answer
        return got, time.monotonic() - began


def lies(content: bytes) -> bool:
    """Whether a request promises more than it sends."""
    head, _, body = content.partition(b"\r\n\r\n")
    told = re.search(rb"Content-Length: (\d+)", head)
    return (
        b"chunked" in head or (told is not None and int(told[1]) > len(body)) or not re.match(rb"\S+ \S+ HTTP/", head)
    )


def fault(answer: bytes, seconds: float, *, through: bool) -> str:
    """What is wrong with an answer."""
    if seconds > LONGEST:
        return f"took {seconds:.1f} s"
    status = re.match(rb"HTTP/1\.\d (\d+)", answer)
    if status and status[1] == b"500":
        return "500"
    head, _, body = answer.partition(b"\r\n\r\n")
    if SECRET.encode() in answer or b"root:x:0" in answer:
        return "the contents of a file that is not ours"
    if MARKUP.encode() in body and b"html" in head.lower():
        return "markup that was sent"
    if not through and status and status[1] == b"200":
        return "something without the door"
    return ""


def main() -> None:
    """Ask, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--documents", type=int, default=150)
    asked = parser.parse_args()
    from tests.digests import digest_of

    from topiarist.collection.check import check_folder
    from topiarist.collection.collection import Collection

    where = Path(tempfile.mkdtemp(prefix="topiarist-requests-"))
    folder, secret = where / "asked.topiary", where / "secret.txt"
    secret.write_text(SECRET)
    grown(folder, asked.documents, 4)
    with Collection.open(folder) as collection:
        before = digest_of(collection), collection.marks.coded_tags().pairs(), len(collection)
    explorer = Explorer(folder, where / "explorer.log")
    attacker, tally, wrong = Attacker(explorer, secret, asked.seed), Counter[str](), list[str]()
    began, slowest = time.perf_counter(), 0.0
    for number in range(asked.requests):
        content, through = attacker.request()
        try:
            answer, seconds = attacker.answer(content)
        except OSError as error:
            answer, seconds = b"", LONGEST + 1 if isinstance(error, TimeoutError) else 0.0
            wrong.append(f"request {number}: {error}")
        slowest = max(slowest, seconds)
        status = re.match(rb"HTTP/1\.\d (\d+)", answer)
        tally[status[1].decode() if status else "hung up"] += 1
        if found := fault(answer, seconds, through=through):
            wrong.append(f"request {number} of seed {asked.seed}: {found}: {content[:300]!r} -> {answer[:200]!r}")
        if (number + 1) % 1000 == 0:
            print(f"{number + 1:,} requests, {len(wrong)} wrong", flush=True)
    if explorer.process.poll() is not None or explorer.ask("/")[0] != 200:
        wrong.append("the explorer does not answer any more")
    if (code := explorer.stop()) not in (0, 130, -2):
        wrong.append(f"stopped, the explorer left with {code}")
    wrong += [f"check: {one.what}" for one in check_folder(folder) if one.severity == "error"]
    with Collection.open(folder) as collection:
        if (digest_of(collection), collection.marks.coded_tags().pairs(), len(collection)) != before:
            wrong.append("somebody without a token has written")
    took = time.perf_counter() - began
    told = ", ".join(f"{name}: {times:,}" for name, times in sorted(tally.items()))
    print(f"{asked.requests:,} requests in {took:.0f} s, the slowest {slowest:.1f} s; {told}")
    finish(wrong, where)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
