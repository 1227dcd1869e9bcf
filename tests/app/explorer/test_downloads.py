"""Documents as a file to keep."""

import csv
import io

from starlette.testclient import TestClient

from tests.app.explorer.conftest import documents
from topiarist.app.explorer.web.server import explorer
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.documents import Document


def test_labels_with_commas_stay_apart_in_a_table(tmp_path):
    labels = ("law, and order", "bail")
    given = [Document(one.id, one.text, one.title, labels[: 1 + number % 2]) for number, one in
             enumerate(documents(30))]  # fmt: skip
    Collection.grow(given, tmp_path / "commas.topiary", Recipe(topics=1)).close()
    client = TestClient(explorer(str(tmp_path / "commas.topiary")), base_url="http://127.0.0.1")
    rows = csv.DictReader(io.StringIO(client.get("/export.csv?topic=0").text.lstrip("\ufeff")))
    found = {row["id"]: tuple(row["labels"].split(" | ")) for row in rows}
    assert found == {one.id: one.labels for one in given}
