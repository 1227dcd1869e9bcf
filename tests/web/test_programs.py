"""What programs may ask, with the token in a header: the examples of the documentation, and what stays closed."""

import json
import os
import random
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import Served, made
from topiarist.errors import UsageError
from topiarist.web.http import serving
from topiarist.web.http.placements import MAX_TEXTS
from topiarist.web.http.server import explorer

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rest.md"
HERE, DOOR = "http://127.0.0.1", "a-token-for-programs"
BEARER = {"Authorization": f"Bearer {DOOR}"}
TEXTS = {"texts": [made(0, random.Random(0)).text, "zzz qqq"], "rho": 0.5}


@pytest.fixture(scope="module")
def client(folder):
    return TestClient(explorer(folder, door=DOOR, local=True, read_only=True), base_url=HERE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples of the page are of curl")
def test_the_examples_of_the_page_run(folder, tmp_path):
    token = serving.load_token(str(tmp_path / "token"))
    served = Served(explorer(folder, door=token, local=True, read_only=True))
    lines = [line for block in re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
             for line in block.splitlines()]  # fmt: skip
    try:
        for line in lines:
            typed = line.replace("http://127.0.0.1:8000", served.address)
            done = subprocess.run(["sh", "-c", typed], capture_output=True, text=True, cwd=tmp_path, check=True)
            if "-o " in line:
                assert (tmp_path / "topic-1.csv").read_text("utf-8").startswith("\ufeffid,title")
            else:
                answer = json.loads(done.stdout)
                assert "status" not in answer, line
                assert next(iter(answer.values())), line
    finally:
        served.stop()
    assert len(lines) == 7


def test_the_token_may_be_in_a_header_and_nothing_else_is_one(client):
    assert client.get("/index.json", headers=BEARER).status_code == 200
    assert client.get(f"/{DOOR}/index.json").status_code == 200
    for given in ("", "Bearer", "Bearer x", f"Basic {DOOR}", f"Bearer {DOOR}x", DOOR):
        assert client.get("/index.json", headers={"Authorization": given}).status_code == 403
        assert client.post("/file.json", json=TEXTS, headers={"Authorization": given}).status_code == 403


def test_texts_are_placed_and_nothing_is_kept(client):
    before = client.get("/index.json", headers=BEARER).json()["documents"]
    sure, strange = client.post("/file.json", json=TEXTS, headers=BEARER).json()["filed"]
    assert len(sure["path"]) == len(sure["certainty"])
    assert sure["path"]
    assert sure["words"]
    assert not sure["unusual"]
    assert strange["misfit"]
    assert client.post(f"/{DOOR}/file.json", json=TEXTS).json()["filed"][0] == sure
    assert client.get("/index.json", headers=BEARER).json()["documents"] == before


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"texts": []},
        {"texts": "one"},
        {"texts": ["x"] * (MAX_TEXTS + 1)},
        {"texts": ["x"], "rho": 1},
        {"texts": [None]},
    ],
)
def test_what_makes_no_sense_is_said_in_words(client, body):
    answer = client.post("/file.json", json=body, headers=BEARER)
    assert answer.status_code == 422
    assert answer.json()["message"]


def test_pages_of_other_sites_place_nothing_and_programs_change_nothing(client):
    for foreign in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        assert client.post(f"/{DOOR}/file.json", json=TEXTS, headers=foreign).status_code == 403
    for path in ("/tag", "/shape", "/undo", "/new", "/remove", "/read"):
        assert client.post(path, json={}, headers=BEARER).status_code == 403
    assert client.options("/file.json", headers={"Origin": "http://evil.example"}).status_code == 403


def test_a_token_is_made_once_and_only_its_owner_reads_it(tmp_path):
    path = tmp_path / "token"
    token = serving.load_token(str(path))
    assert len(token) >= 32
    assert serving.load_token(str(path)) == token
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = serving.open_server(None, 0, previous_token=token)
    found.sockets[0].close()
    assert found.addresses[0].endswith(f"/{token}/")


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [("short", 0o600, "expected a token"), ("a/../b" * 9, 0o600, "expected a token"), ("x" * 32, 0o644, "can read")],
)
def test_a_token_that_is_none_is_refused(tmp_path, text, mode, said):
    path = tmp_path / "token"
    path.write_text(text)
    os.chmod(path, mode)
    with pytest.raises(UsageError, match=said):
        serving.load_token(str(path))
    with pytest.raises(UsageError, match="exclude each other"):
        serving.serve("x.topiary", token=False, token_file=str(path))
