"""Long documents in passages, as a person meets them: on the terminal and in the browser."""

import csv
import json

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.cli.test_reading_server import asked
from tests.collection.test_passages import PAGES, REPORTS, reports
from topiarist.cli import reading_server
from topiarist.cli.commands import app
from topiarist.web.http.server import explorer


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with reports as text files whose pages end with form feeds, and the collection that was grown of it."""
    place = tmp_path_factory.mktemp("typed")
    (place / "pile").mkdir()
    for number, one in enumerate(reports()):
        (place / "pile" / f"{number:02d}.txt").write_text(f"{one.title}\n{one.text}", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def typed(place):
    def run(command, *arguments, code=0):
        done = CliRunner().invoke(app, [command, str(place / "c.topiary"), *arguments])
        assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    options = ["--topics", "4", "-o", str(place / "c.topiary")]
    variables = {"TOPIARIST_PASSAGES": "true", "TOPIARIST_NO_HEADINGS": "true"}
    done = CliRunner().invoke(app, ["grow", str(place / "pile"), *options], env=variables)
    assert done.exit_code == 0, done.stderr
    run.grown = done
    return run


def test_growing_tells_documents_and_passages(typed):
    told = " ".join((typed.grown.stdout + typed.grown.stderr).split())
    assert "12 long documents are cut into 96 passages, on which the tree is grown; 40 short ones stay whole" in told
    assert "52 documents in 136 passages" in told
    assert "52 documents in 136 passages" in typed("tree")
    assert typed("tree", "--json")["whole_documents"] == REPORTS + 40
    about = typed("show", "--json")
    assert (about["documents"], about["whole_documents"]) == (136, 52)
    assert any("cut into 96 passages" in one for one in about["said"])


def test_show_tells_the_topics_of_a_whole_document_and_of_its_passages(typed):
    shown = typed("show", "pile/00.txt")
    assert "8 passages" in shown
    assert "TOPICS, BY THE WORDS" in shown
    assert "[pile/00.txt#page=8]" in shown
    found = typed("show", "pile/00.txt", "--json")
    n_unsorted = sum(one["topic"] == 0 for one in found["passages"])
    assert len(found["passages"]) == PAGES == sum(one["passages"] for one in found["places"]) + n_unsorted
    assert sum(one["share"] for one in found["places"]) == pytest.approx(1, abs=0.05)
    assert [one["label"] for one in found["passages"]][:2] == ["page 1", "page 2"]
    passage = typed("show", "pile/00.txt#page=2")
    assert "Passage of: Report 0" in passage
    assert "[pile/00.txt], 8 passages in" in passage


def test_programs_read_a_whole_document_in_pieces(place, typed):
    server = reading_server.create_server(str(place / "c.topiary"))
    whole = asked(server, "show", id="pile/00.txt", characters=100_000)
    assert (whole["more"], whole["length"], whole["n_passages"]) == (0, len(whole["text"]), PAGES)
    second = whole["passages"][1]
    page = asked(server, "show", id=second["id"])["text"]
    assert whole["text"][second["start"] :].startswith(page)
    piece = asked(server, "show", id="pile/00.txt", start=second["start"] + 5, characters=20)
    assert piece["text"] == page[5:25]
    assert piece["more"] == whole["length"] - second["start"] - 25
    assert [one["id"] for one in piece["passages"]] == [second["id"]]
    assert piece["places"] == whole["places"]
    behind = asked(server, "show", id="pile/00.txt", start=whole["length"] + 1)
    assert (behind["text"], behind["passages"], behind["more"]) == ("", [], 0)


def test_hits_say_which_part_of_which_document_they_are(typed):
    hits = typed("find", "show", "-n", "40", "--json")["hits"]
    parts = {(hit["whole"], hit["passage"]) for hit in hits if hit["whole"]}
    assert parts
    assert all(f"{whole}#page={label.removeprefix('page ')}" in {hit["id"] for hit in hits} for whole, label in parts)
    assert all(hit["passage"] == "" for hit in hits if "#" not in hit["id"])


def test_exports_have_passages_and_wholes(typed, place):
    typed("export", "-o", str(place / "wholes.csv"), "--what", "wholes")
    with open(place / "wholes.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["passages"]) for row in rows] == [PAGES] * REPORTS + [1] * 40


def test_the_page_of_a_passage_has_the_whole_document(typed, place):
    with TestClient(explorer(str(place / "c.topiary")), base_url="http://127.0.0.1") as client:
        page = client.get("/doc", params={"id": "pile/00.txt#page=2"})
        assert page.status_code == 200
        assert "Page 2 of" in page.text
        found = client.get("/doc.json", params={"id": "pile/00.txt#page=2"}).json()["whole"]
        assert (found["id"], found["title"], found["n_passages"]) == ("pile/00.txt", "Report 0", PAGES)
        shown = typed("show", "pile/00.txt", "--json")["places"]
        assert [one["passages"] for one in found["topics"]] == [one["passages"] for one in shown]
        assert "page%3D1" in found["previous"]
        first = client.get("/doc.json", params={"id": "pile/00.txt"}).json()
        assert (first["id"], first["whole"]["previous"]) == ("pile/00.txt#page=1", "")
        assert client.get("/doc.json", params={"id": "pile/51.txt"}).json()["whole"] is None
        assert "52 documents in 136 passages" in client.get("/").text


def test_what_is_found_tagged_and_removed_is_told_in_documents_and_passages(typed, place):
    assert "1 document in 8 passages would be removed; 51 documents left" in typed("remove", "pile/00.txt", "--dry-run")
    some = typed("remove", "pile/00.txt#page=1", "pile/00.txt#page=2", "pile/51.txt", "--dry-run")
    assert "3 passages of 2 documents would be removed; 51 documents left" in some
    assert "1 document would be removed; 51 documents left" in typed("remove", "pile/51.txt", "--dry-run")
    body = typed("remove", "pile/00.txt", "--dry-run", "--json")
    assert (body["documents"], body["whole_documents"], body["said"]) == (8, 1, "1 document in 8 passages")
    found = typed("find", "the", "--by", "words", "--json")
    said = " ".join(typed("find", "the", "--by", "words").split())
    assert found["total"] > 52  # more than there are documents
    assert f"51 documents in {found['total']} passages match the" in said
    assert "of 136 passages" in typed("find", "galaxies", "--by", "meaning")
    assert "of 135 passages" in typed("similar", "pile/00.txt#page=1")
    account = {one["what"]: one for one in typed("show", "--json")["account"]}
    assert account["documents"]["number"] == 52
    languages = [one["said"] for one in typed("show", "--json")["account"] if one["what"] == "language"]
    assert languages == ["135 passages in English", "1 passage too short or too mixed to detect the language"]
    with TestClient(explorer(str(place / "c.topiary")), base_url="http://127.0.0.1") as client:
        page = client.get("/search.json", params={"q": "the", "by": "words"}).json()
        assert page["sentence"].split(" match")[0] in said
        near = client.get("/search.json", params={"q": "galaxies", "by": "meaning"}).json()["sentence"]
        assert "passages most similar" in near
