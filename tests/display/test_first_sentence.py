"""The first sentence about a collection: true of a planted collection in three languages, and the same everywhere."""

import csv
import json
import random
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from tests.text.readers.makers import pdf
from tests.web.labelled import HERE, Writer
from topiarist.cli.commands import app
from topiarist.collection.collection import Collection
from topiarist.collection.describe.collection_facts import CollectionFacts, LanguageShare, load_facts
from topiarist.collection.describe.documents import load_document_details
from topiarist.display.first_sentence import first_sentence
from topiarist.web import addresses
from topiarist.web.http.server import explorer
from topiarist.web.report import report

GERMAN = (
    "Sehr geehrte Damen und Herren, wir haben Ihre Rechnung über {} erhalten und werden sie nicht vor dem {} bezahlen.",
    "Liebe Familie, das Wetter an der See ist schön, und die Kinder spielen mit {} im Garten bei {} am Haus.",
)
ENGLISH = (
    "The government said that it would not raise the price of {} before the election, which is due in {} this year.",
    "The team from the north has won the match with {} against the south, and it was the best game of {} for them.",
)
HEADLINES = "股市收盘上涨球队夺得冠军政府发布新规手机降价促销电影票房大卖城市地铁开通学生高考成绩公布"
SENTENCE = (
    "120 documents, 80 dated from 2011 to 2014, 10 with a file date only and 30 undated, in English (42%), "
    "German (33%) and Chinese (25%), sorted into 3 topics, 30 unsorted."
)


def words(rng):
    return ["".join(rng.choices("abdegiklmnorstu", k=6)).title() for _ in range(2)]


def invoke(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """The folder of the collection, and what ``grow`` has printed."""
    folder, rng = tmp_path_factory.mktemp("mixed"), random.Random(4)
    pile = folder / "pile"
    pile.mkdir()
    for number in range(40):
        text = GERMAN[number % 2].format(*words(rng))
        (pile / f"2011-03-{number % 28 + 1:02}-{number}.txt").write_text(text, "utf-8")
    with open(pile / "news.csv", "w", newline="") as file:
        rows = [[f"2014-05-{number % 28 + 1:02}", ENGLISH[number % 2].format(*words(rng))] for number in range(40)]
        csv.writer(file).writerows([["date", "text"], *rows])
    for number in range(10):
        pdf(pile / f"scan {number}.pdf", ENGLISH[number % 2].format(*words(rng)))
    with open(pile / "headlines.csv", "w", newline="", encoding="utf-8") as file:
        rows = [["".join(rng.choices(HEADLINES, k=9))] for _ in range(30)]
        csv.writer(file).writerows([["text"], *rows])
    path = folder / "mixed.topiary"
    return path, invoke("grow", pile, "-o", path, "--topics", 3)


def test_every_part_is_true_of_planted_collection(mixed):
    with Collection.open(mixed[0]) as collection:
        facts = load_facts(collection)
        assert [(one.name, one.documents) for one in facts.languages] == [
            ("English", 50),
            ("German", 40),
            ("Chinese", 30),
        ]
        assert (facts.documents, facts.undetected) == (120, 0)
        assert (facts.dated, facts.file_dated, facts.undated) == (80, 10, 30)
        assert (facts.first, facts.last, facts.topics) == ("2011-03-01", "2014-05-28", 3)
        assert (facts.headings, facts.first_level, facts.topics_without_heading) == (0, 3, 3)
        assert first_sentence(facts) == SENTENCE


def test_sentence_is_same_everywhere(mixed, tmp_path):
    path, grown = mixed
    assert SENTENCE in grown
    assert invoke("tree", path).startswith(f"{path}: {SENTENCE}\n")
    body = json.loads(invoke("tree", path, "--json"))
    assert (body["sentence"], body["facts"]["file_dated"]) == (SENTENCE, 10)
    report(path, tmp_path / "report.html")
    assert SENTENCE in (tmp_path / "report.html").read_text("utf-8")
    assert SENTENCE in Writer(explorer(str(path)), base_url=HERE).get("/").text


def test_file_dates_are_shown_and_left_out_of_time(mixed):
    path = mixed[0]
    with Collection.open(path) as collection:
        known = collection.over_time().periods
        assert (known.file_dated, known.n_undated, int(known.documents.sum())) == (10, 30, 80)
        assert (
            "10 documents have only the date of the file, which can differ from the date of the text." in known.left_out
        )
        assert collection.new_since("2013").undated == 40
        assert load_document_details(collection, "pile/scan 1.pdf").has_file_date
    shown = invoke("show", path, "pile/scan 1.pdf")
    assert "2020-01-02 (file date)" in shown
    assert json.loads(invoke("show", path, "pile/scan 1.pdf", "--json"))["file_date"]
    assert not json.loads(invoke("show", path, "pile/2011-03-01-0.txt", "--json"))["file_date"]
    assert "10 documents have only the date of the file" in invoke("show", path)
    page = Writer(explorer(str(path)), base_url=HERE).get(addresses.document("pile/scan 1.pdf"))
    assert "(file date)" in page.text


ONE = CollectionFacts(
    documents=1, passages=1, languages=(LanguageShare("English", 1, 1.0),), undetected=0, dated=1, file_dated=0,
    undated=0, first="2014-01-02", last="2014-01-02", topics=1, headings=0, first_level=0,
    topics_without_heading=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "1 document from 2014 in English."),
        ({"dated": 0, "undated": 1}, "1 document, all undated, in English."),
        ({"dated": 0, "file_dated": 1}, "1 document, 1 with a file date only, in English."),
        ({"languages": (), "undetected": 1}, "1 document from 2014."),
        ({"topics": 6, "topics_without_heading": 6}, "1 document from 2014 in English, sorted into 6 topics."),
        ({"topics": 6, "headings": 2, "first_level": 2, "passages": 9, "undetected": 1},
         "1 document in 9 passages from 2014 in English "
         "(100%; 1 passage without a detected language), sorted into 6 topics under 2 headings."),
        ({"documents": 12000, "passages": 12000, "dated": 12000, "undetected": 6, "topics": 187, "headings": 9, "first_level": 9,
          "languages": (LanguageShare("English", 11994, 0.9995),)},
         "12,000 documents from 2014 in English (>99%; 6 without a detected language), sorted into 187 topics under 9 "
         "headings."),
        ({"documents": 1000, "passages": 1000, "dated": 1000, "undetected": 4, "languages": (
            LanguageShare("German", 990, 0.99), LanguageShare("English", 4, 0.004), LanguageShare("Thai", 2, 0.002))},
         "1,000 documents from 2014 in German (99%) and 2 other languages (0.6%), 4 without a detected language."),
    ],
)  # fmt: skip
def test_sentence_of_other_collections(changed, sentence):
    assert first_sentence(replace(ONE, **changed)) == sentence
