"""The file that a document came from: the one that was recorded for it, as a download, or else its text."""

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import documents
from topiarist.collection.collection import Collection
from topiarist.collection.file.arrivals import add_documents
from topiarist.collection.grow import allowed_folders as module
from topiarist.collection.grow.allowed_folders import grant_originals, read_allowed_folders
from topiarist.collection.grow.recipe import Recipe
from topiarist.storage.document_table import checksum
from topiarist.text.documents import Document
from topiarist.web import addresses
from topiarist.web.http import safety
from topiarist.web.http.server import explorer

HERE = "http://127.0.0.1"
PAGE = b"<html><body><script>window.hacked = 1</script><p>bail custody release court judge</p></body></html>"


@pytest.fixture
def mail(tmp_path):
    """A folder of files, and the collection that was grown from it."""
    folder = tmp_path / "mail"
    (folder / "deep").mkdir(parents=True)
    for number, one in enumerate(documents(20)):
        (folder / "deep" / f"{number}.txt").write_text(one.text)
    (folder / "page.html").write_bytes(PAGE)
    (folder / "rows.jsonl").write_text('{"id": "row", "text": "oil barrel crude price"}\n')
    Collection.grow(str(folder), tmp_path / "mail.topiary", Recipe(min_documents=1)).close()
    return folder


@pytest.fixture
def client(mail):
    return TestClient(explorer(f"{mail}.topiary"), base_url=HERE)


def page(client, id):
    return client.get(addresses.as_json(addresses.document(id))).json()


def test_a_file_that_is_there_is_handed_out_as_it_is(client):
    for id, whole in (("mail/page.html", PAGE), ("mail/deep/3.txt", documents(20)[3].text.encode())):
        answer = client.get(addresses.original(id))
        assert answer.content == whole
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-security-policy"] == safety.DOWNLOAD_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert int(answer.headers["content-length"]) == len(whole)
        assert page(client, id)["file"] == addresses.original(id)
        text = client.get(addresses.document(id)).text
        assert "Original file" in text
        assert "Text file" in text
    text = client.get(page(client, "mail/page.html")["original"])
    assert "bail custody" in text.text
    assert "<script" not in text.text
    assert text.headers["content-type"].startswith("text/plain")


def test_a_file_that_was_written_since_is_said_to_be(client, mail):
    file = mail / "deep" / "3.txt"
    assert not page(client, "mail/deep/3.txt")["file_changed"]
    assert "changed since" not in client.get(addresses.document("mail/deep/3.txt")).text
    file.write_text("something else")
    os.utime(file, (time.time() + 60, time.time() + 60))
    assert page(client, "mail/deep/3.txt")["file_changed"]
    assert "Original file (changed since)" in client.get(addresses.document("mail/deep/3.txt")).text
    assert not page(client, "mail/deep/4.txt")["file_changed"]
    file.unlink()
    assert not page(client, "mail/deep/3.txt")["file_changed"]


def only_text(client, id):
    answer = client.get(addresses.original(id))
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"].startswith("attachment")
    return page(client, id)["file"] == "" and "Original file" not in client.get(addresses.document(id)).text


def test_what_is_not_there_is_handed_out_as_text(client, mail):
    (mail / "deep" / "3.txt").unlink()
    assert only_text(client, "mail/deep/3.txt")
    (mail / "deep" / "4.txt").unlink()
    (mail / "deep" / "4.txt").mkdir()
    assert only_text(client, "mail/deep/4.txt")


def test_a_link_that_leads_elsewhere_is_not_followed(client, mail, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (mail / "deep" / "3.txt").unlink()
    (mail / "deep" / "3.txt").symlink_to(tmp_path / "secret.txt")
    assert only_text(client, "mail/deep/3.txt")
    (mail / "deep").rename(tmp_path / "elsewhere")
    (mail / "deep").symlink_to(tmp_path / "elsewhere")
    assert only_text(client, "mail/deep/5.txt")


def test_a_table_of_many_documents_is_nobodys_original(client):
    assert only_text(client, "row")


def test_what_was_added_later_came_from_elsewhere(client, mail):
    with Collection.open(f"{mail}.topiary") as collection:
        for _ in add_documents(collection, [Document("new", "oil barrel crude price", source=str(mail / "page.html"))]):
            pass
    assert only_text(client, "new")
    assert not only_text_of(client, "mail/page.html")


def only_text_of(client, id):
    return client.get(addresses.original(id)).headers["content-type"].startswith("text/plain")


def test_others_get_the_text(mail):
    client = TestClient(explorer(f"{mail}.topiary", hosts=("*",), door="door"), base_url="http://10.0.0.7")
    answer = client.get(f"/door{addresses.original('mail/page.html')}")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "<script" not in answer.text
    assert "Original file" not in client.get("/door/doc/mail%2Fpage.html").text


def test_no_path_of_a_request_is_ever_opened(client, mail):
    for id in (str(mail / "page.html"), "mail/../mail/page.html", "mail/deep/../page.html", "page.html"):
        assert client.get(addresses.original(id)).status_code == 404


def forged(folder, place):
    """A collection that says that it was grown from elsewhere, and that a document came from a file there."""
    with closing(sqlite3.connect(next(Path(folder).glob("g-*/documents.sqlite")))) as connection, connection:
        for name, value in (("sources", [place]), ("places", [place])):
            connection.execute("UPDATE settings SET value = ? WHERE name = ?", (json.dumps(value), name))
        row, id, title, date, text = connection.execute(
            "SELECT row, id, title, date, text FROM documents JOIN texts USING (row) WHERE id = 'mail/deep/3.txt'"
        ).fetchone()
        source = f"{place}/passwords.txt"
        values = (source, checksum(id, title, text, source, date), row)
        connection.execute("UPDATE documents SET source = ?, checksum = ? WHERE row = ?", values)


@pytest.fixture
def secrets(tmp_path):
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "passwords.txt").write_text("root:x:0:0")
    return folder


def test_what_a_forged_collection_names_is_not_handed_out(mail, secrets, tmp_path):
    forged(f"{mail}.topiary", str(secrets))
    client = TestClient(explorer(f"{mail}.topiary"), base_url=HERE)
    assert only_text(client, "mail/deep/3.txt")
    assert "root:x" not in client.get(addresses.original("mail/deep/3.txt")).text
    grant_originals(f"{mail}.topiary", [str(secrets)], keep_granted=True)  # as somebody may, who knows it
    assert client.get(addresses.original("mail/deep/3.txt")).text == "root:x:0:0"
    assert {str(mail), str(secrets)} == read_allowed_folders(f"{mail}.topiary")


def test_a_collection_that_was_sent_has_no_originals(mail, tmp_path):
    sent = tmp_path / "sent.topiary"
    shutil.copytree(f"{mail}.topiary", sent)
    client = TestClient(explorer(str(sent)), base_url=HERE)
    assert only_text(client, "mail/deep/3.txt")
    grant_originals(sent, [mail])
    assert not only_text_of(client, "mail/deep/3.txt")


def test_a_grant_that_others_could_have_written_is_none(mail):
    client = TestClient(explorer(f"{mail}.topiary"), base_url=HERE)
    assert not only_text_of(client, "mail/deep/3.txt")
    path = module._file(f"{mail}.topiary")
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o666)
    assert only_text(client, "mail/deep/3.txt")
    path.chmod(0o600)
    path.write_text('{"places": 3}')
    assert only_text(client, "mail/deep/3.txt")
