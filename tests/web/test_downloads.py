"""Documents as a file to keep."""

import csv
import io

from starlette.testclient import TestClient

from tests.web.conftest import documents
from topiarist.collection.classify.judgements import Judgements
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.documents import Document
from topiarist.web.http import downloads
from topiarist.web.http.server import explorer


def test_csv_begins_with_a_byte_order_mark(client):
    assert client.get("/export.csv?topic=0").content.startswith(b"\xef\xbb\xbfid,title")


def test_labels_with_commas_stay_apart_in_a_table(tmp_path):
    labels = ("law, and order", "bail")
    given = [Document(one.id, one.text, one.title, labels[: 1 + number % 2]) for number, one in
             enumerate(documents(30))]  # fmt: skip
    Collection.grow(given, tmp_path / "commas.topiary", Recipe(topics=1)).close()
    client = TestClient(explorer(str(tmp_path / "commas.topiary")), base_url="http://127.0.0.1")
    rows = csv.DictReader(io.StringIO(client.get("/export.csv?topic=0").text.lstrip("\ufeff")))
    found = {row["id"]: tuple(row["labels"].split(" | ")) for row in rows}
    assert found == {one.id: one.labels for one in given}


def test_the_report_is_made_anew_when_somebody_has_judged(copied, monkeypatch):
    made = []
    monkeypatch.setattr(downloads.report, "iter_pieces", lambda view, documents: made.append(documents) or ["x"])
    client = TestClient(explorer(str(copied)), base_url="http://127.0.0.1")
    assert [client.get("/report.html").status_code for _ in range(2)] == [200, 200]
    assert made == ["typical"]
    with Collection.open(copied) as collection, collection.folder.writing() as generation:
        Judgements(generation.database).judge(0, "move", ["another"], expected=0)
    client.get("/report.html")
    assert made == ["typical"] * 2
