"""A reader with little English: German reports with some English ones, on pages in German."""

import csv
import html
import re

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.collection.test_languages import LANGUAGES
from tests.grown import documents
from tests.tasks.test_library_catalogue import run
from topiarist.web.http.server import explorer

N_GERMAN, N_ENGLISH, N_UNDATED, N_SHORT = 120, 40, 10, 3
ENGLISH_WORDS = {"search", "documents", "topics", "words", "the", "and", "with", "overview", "unsorted", "help"}


def reports():
    """Rows of a table: number, title, text and day; the last rows are too short to have a language."""
    grammar, subjects = LANGUAGES["de"]
    rng, rows = np.random.default_rng(0), []
    for number in range(N_GERMAN):
        subject, own = list(subjects.items())[number % 2]
        words = [*rng.choice(grammar.split(), 20), *rng.choice(own.split(), 16)]
        rows.append((f"{subject.title()} {number}", " ".join(rng.permutation(words))))
    rows += [(one.title, one.text) for one in documents()[:N_ENGLISH]]
    rows += [(f"{number}", "4711 / 0815") for number in range(N_SHORT)]
    dates = [f"{number % 28 + 1:02}.{number % 3 + 10}.23" if number >= N_UNDATED else "" for number in range(len(rows))]
    return [(f"b{number:03}", *row, date) for number, (row, date) in enumerate(zip(rows, dates, strict=True))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("little")
    with (folder / "berichte.csv").open("w", newline="", encoding="cp1252") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(("Nummer", "Titel", "Bericht", "Datum"))
        writer.writerows(reports())
    names = ["--id-column", "Nummer", "--title-column", "Titel", "--text-column", "Bericht", "--date-column", "Datum"]
    done = run("grow", folder / "berichte.csv", "-o", folder / "berichte.topiary", *names, "--dates", "day-first",
               "--topics", 3)  # fmt: skip
    (folder / "told.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return folder / "berichte.topiary"


@pytest.fixture(scope="module")
def client(folder):
    return TestClient(
        explorer(str(folder)), base_url="http://127.0.0.1", headers={"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
    )


def text_of(answer):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text.split("<main")[1].split("</main")[0])).split())


def test_first_sentence_is_true_in_every_part(client):
    n_docs, known = len(reports()), N_GERMAN + N_ENGLISH
    sentence = text_of(client.get("/")).split(" Themen")[0]
    assert f"{n_docs} Dokumente" in sentence
    assert {n_docs - N_UNDATED, N_UNDATED, 2023} <= {int(number) for number in re.findall(r"\d+", sentence)}
    for language, number in (("Deutsch", N_GERMAN), ("Englisch", N_ENGLISH)):
        share = int(re.search(rf"{language}\s*\((\d+)\s*%", sentence)[1])
        assert min(abs(share - 100 * number / total) for total in (n_docs, known)) <= 1
    account = [line for line in client.get("/model.json").json()["account"] if line["what"] == "language"]
    assert sum(line["number"] for line in account) == n_docs


def test_two_digit_years_and_days_are_read(client, folder):
    told = (folder.parent / "told.txt").read_text(encoding="utf-8")
    assert "years of two digits read as 1950 to 2049" in told + run("show", folder).stdout
    rows = reports()
    expected = {id for id, _, _, date in rows if date.endswith(".11.23")}
    page = client.get("/search.json", params={"q": "date:2023-11"}).json()
    assert page["total"] == len(expected)
    assert {line["document"]["id"] for line in page["hits"]} <= expected


@pytest.mark.parametrize(
    "path", ["/", "/tree", "/search?q=tor", "/topic/1", "/time", "/model", "/new", "/help", "/doc/b001"]
)
def test_pages_are_in_german(client, path):
    answer = client.get(path)
    assert '<html lang="de">' in answer.text
    frame = answer.text.split('<nav class="menu"')[1].split("</nav>")[0]
    assert "Hilfe" in frame
    headings = " ".join(re.findall(r"<h2[^>]*>(.*?)</h2>|<button[^>]*>(.*?)</button>", text_of(answer)))
    assert not ENGLISH_WORDS & set(headings.lower().split())


def test_query_in_german_finds_forms_and_no_false_friends(client):
    page = client.get("/search.json", params={"q": "trainer spieler"}).json()
    texts = {id: text for id, _, text, _ in reports()}
    assert page["hits"]
    for line in page["hits"]:
        words = set(texts[line["document"]["id"]].split())
        assert "trainer" in words
        assert words & {"spieler", "spiel"}
    shown = text_of(client.get("/search", params={"q": "act"}))
    assert "Also called here" not in shown
    assert "antworten" not in shown


def test_encoder_for_english_is_declined_before_it_runs(folder, tmp_path, monkeypatch):
    from topiarist.counts.embeddings import encoder

    monkeypatch.setattr(encoder, "is_installed", lambda: True)
    german = (folder.parent / "berichte.csv").read_text(encoding="cp1252").splitlines()[: N_GERMAN + 1]
    (tmp_path / "deutsch.csv").write_text("\n".join(german), encoding="utf-8")
    done = run("grow", tmp_path / "deutsch.csv", "-o", tmp_path / "d.topiary", "--encoder", "--topics", 2)
    assert "The encoder knows English only, the documents are in other languages (German 100%)" in done.stderr
    assert "Bringing vectors" not in done.stderr
