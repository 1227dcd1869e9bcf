"""A small collection on disk, made anew for each test: for the tests of ``store`` and ``collection``."""

from pathlib import Path

import pytest

from topiarist.storage import edit_log
from topiarist.storage.collection_folder import Folder, begin_generation
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import new_part
from topiarist.text.documents import Document

DOCUMENTS = (
    Document(
        "a/1", "The suspect was released on bail after a hearing.", "Bail", ("law", "news"), "a/1.txt", "2004-03-02"
    ),
    Document("a/2", "A second hearing before the judge, who set no bail.", "Judge", ("law",), "a/2.pdf", "2005-01-10"),
    Document("b/1", "Crude oil fell; the price of a barrel of oil.", "Öl und Café", (), "b/1.PDF", "2006"),
    Document("b/2", "Football: the hearing-impaired team won.", "", ("sport",), "b/2.txt.gz", ""),
)


def grown(where: Path, documents=DOCUMENTS, **options) -> Folder:
    """A finished collection."""
    with begin_generation(where, **options) as growing:
        generation = growing.generation
        Documents(generation.database).load(documents)
        with new_part(generation, "tree") as part:
            (part.folder / "model.json").write_text("{}")
            (part.folder / "arrays").mkdir()
            (part.folder / "arrays" / "words.bin").write_bytes(bytes(range(256)) * 64)
        state = {"number": 0, "parts": {"tree": part.name}}
        edit_log.record(generation.database, "grow", {"source": "demo"}, state, parts=[part.part])
        return growing.publish()


@pytest.fixture(autouse=True)
def small_states(request, monkeypatch):
    """Folders of ``grown`` have states without a tree: whether parts agree with it is for whole collections to ask."""
    if request.module.__name__.endswith(("test_check", "test_kills")):
        monkeypatch.setattr("topiarist.collection.check._check_agreement", lambda folder: iter(()))


@pytest.fixture
def folder(tmp_path):
    folder = grown(tmp_path / "mail.topiary")
    yield folder
    folder.close()
