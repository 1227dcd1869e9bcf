"""The pages in other languages: every text of a template is in the catalogue, and German has all of them."""

import ast
import html
import io
import re
from gettext import GNUTranslations
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tools import messages as tool
from topiarist.app.explorer.rendering import environment
from topiarist.app.explorer.report import write_report
from topiarist.app.explorer.web.server import explorer
from topiarist.app.languages import catalogues, template_text
from topiarist.app.languages.catalogues import Counted, Share, speaking, wanted, worded
from topiarist.app.languages.locales import LOCALES
from topiarist.collection.collection import Collection
from topiarist.errors import UsageError

OTHERS = [language for language in catalogues.LANGUAGES if language != catalogues.ENGLISH]
TEMPLATES = sorted((tool.EXPLORER / "templates").glob("*.html"), key=lambda path: path.name)
NO_MESSAGES = {"·", "×", "✎", "−", "+", "▸", "◂"}


def text_of(path):
    return Path(path).read_text("utf-8")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_text_of_a_template_escapes_the_catalogue(path):
    """What is left of a template without its messages, tags, values and silent elements has no letter."""
    source = text_of(path)
    assert template_text.translated(source, lambda message: message) == source
    emptied = template_text.translated(source, lambda message: "§")
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", emptied, flags=re.DOTALL)
    bare = re.sub(r"<(code|kbd|style|script)\b.*?</\1>", "", bare, flags=re.DOTALL)
    read = re.findall(r'\b(?:title|aria-label|placeholder|alt)="([^"]*)"', bare)
    left = html.unescape(re.sub(r"<[^>]*>", " ", bare)).split() + [part for text in read for part in text.split()]
    assert [word for word in left if re.search(r"[^\W\d_]", word)] == []


def test_texts_in_statements_of_a_template_are_not_for_people():
    """A text that a statement holds would be in no message: it is a name, a key or nothing but signs."""
    for path in TEMPLATES:
        for statement in re.findall(r"\{%.*?%\}", text_of(path), re.DOTALL):
            texts = re.findall(r'"([^"]*)"', statement)
            assert not [text for text in texts if " " in text.strip() or text[:1].isupper()], (path.name, statement)


@pytest.mark.parametrize("language", OTHERS)
def test_catalogues_are_up_to_date_and_compiled(language):
    found = tool.updated(language)
    kept = (tool.FOLDER / f"{language}.po").read_bytes()
    assert tool.po(found) == kept, "python tools/messages.py brings it up to date"
    known = GNUTranslations(io.BytesIO((tool.FOLDER / f"{language}.mo").read_bytes()))
    assert all(known.gettext(one.id) == one.string for one in found if one.id and one.string)


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_values_of_their_messages(language):
    for one in tool.updated(language):
        if one.id and one.string:
            assert template_text.placeholders(one.string) == template_text.placeholders(one.id), one.id


def test_german_is_complete_and_the_others_are_begun():
    lacking = {language: [one.id for one in tool.updated(language) if one.id and not one.string] for language in OTHERS}
    assert lacking["de"] == []
    assert set(catalogues.COMPLETE) == {"en", *(language for language, texts in lacking.items() if not texts)}
    assert all(len(texts) < len(list(tool.template())) - 50 for texts in lacking.values())


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_every_template_is_one_in_every_language(language):
    for path in TEMPLATES:
        assert environment(language).get_template(path.name)


def test_messages_keep_values_spaces_and_marks():
    source = '<p title="of {{ n|number }}">\n{{- n|number }} of {{ all }} read. </p><b>{{ "on" if x else "off" }}</b>'
    found = list(template_text.messages(source))
    assert found == ["of {n|number}", "{n|number} of {all} read.", '{"on" if x else "off"}']
    german = {
        "of {n|number}": "von {n|number}", "{n|number} of {all} read.": "Von {all} {n|number} gelesen.",
        '{"on" if x else "off"}': '{"an" if x else "aus"}',
    }  # fmt: skip
    made = template_text.translated(source, lambda message: german[message])
    assert made == (
        '<p title="von {{ n|number }}">{{- "" }}Von {{ all }} {{ n|number }} gelesen. </p>'
        '<b>{{ "an" if x else "aus" }}</b>'
    )
    assert list(template_text.messages("<b>{{ a }} not\n{{- b -}}\n. </b>")) == ["{a} not{b}."]
    assert list(template_text.messages("<code>topiarist verify</code> <i>·</i> &middot; {{ name }}")) == []
    strange = template_text.translated("<p>{{ a }} read</p>", lambda message: "{a} {__import__} gelesen")
    assert strange == "<p>{{ a }} {__import__} gelesen</p>"  # a value that the message has not stays a text


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("de", "de"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("en-GB,de;q=0.5", "en"), ("fr, de;q=0.3", "de"),
     ("pl", "en"), ("de;q=0", "en"), ("de;q=x,;;,", "en"), ("en;q=0.1,de;q=0.2", "de"),
     ("de; q=0.9, en ; q=0.8", "de"), ("en; q=0.3, de ;Q=0.7", "de"), ("de; q=0", "en")],
)  # fmt: skip
def test_the_language_is_what_the_browser_asks_for(header, language):
    assert wanted(header) == language


def test_pages_answer_in_the_language_and_data_in_english(folder):
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    german = client.get("/", headers={"Accept-Language": "de"})
    assert german.headers["Content-Language"] == "de"
    assert "Accept-Language" in german.headers["Vary"]
    assert '<html lang="de">' in german.text
    assert "In der Sammlung suchen" in german.text
    english = client.get("/", headers={"Accept-Language": "pl"})
    assert "Search the collection" in english.text
    plain = client.get("/index.json").json()
    assert client.get("/index.json", headers={"Accept-Language": "de"}).json() == plain
    assert client.get("/nothing", headers={"Accept-Language": "de"}).text.count("Zur Übersicht")
    french = TestClient(explorer(folder, language="fr"), base_url="http://127.0.0.1")
    assert "Rechercher" in french.get("/", headers={"Accept-Language": "de"}).text
    with pytest.raises(UsageError, match="auto, en, de, fr, es"):
        explorer(folder, language="tlh")


@pytest.mark.parametrize(
    ("path", "german", "english"),
    [("/model", "verschiedene Wörter", "different words"), ("/nothing", "Diese Seite gibt es nicht", "no such page"),
     ("/topic/987654", "hatte dieses Thema (987654)", "had this topic"),
     ("/review", "Eine Sichtung beginnen", "Begin a review")],
)  # fmt: skip
def test_sentences_of_pages_are_german_where_the_page_is(folder, path, german, english):
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    page = html.unescape(client.get(path, headers={"Accept-Language": "de"}).text)
    assert german in page
    assert english not in page


def test_a_report_is_written_in_a_language(folder, tmp_path):
    with Collection.open(folder) as collection:
        write_report(collection, tmp_path / "report.html", language="de")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert '<html lang="de">' in text
    assert "Wie er entstand" in text
    assert "How it was made" not in text


def test_numbers_and_dates_are_written_as_the_language_does():
    german, french = LOCALES["de"], LOCALES["fr"]
    assert german.number(1_234_567) == "1.234.567"
    assert german.fine_percent(0.0123) == "1,2\u00a0%"
    assert french.number(12_000) == "12\u202f000"
    assert (german.date("2024-03-05"), german.date("2024-03"), german.date("2024")) == ("05.03.2024", "03/2024", "2024")
    assert LOCALES["en"].date("2024-03-05") == "2024-03-05"
    assert german.date("soon") == "soon"
    assert re.fullmatch(r"5\. März 2024, \d\d:\d\d Uhr", german.when("2024-03-05T12:00:00+00:00"))
    assert LOCALES["en"].when("soon") == german.when("soon") == "soon"


def test_a_sentence_is_in_one_language_as_a_whole(monkeypatch):
    monkeypatch.setattr(catalogues, "catalogue", {"en": {}, "de": {"{n} here": "hier {n}", "leaves": "Blätter"}}.get)
    with speaking("de"):
        assert worded("{n} here", n=Counted(2_000, "leaf", "leaves")) == "hier 2.000 Blätter"
        assert worded("{n} there", n=Counted(2_000, "leaf", "leaves")) == "2,000 leaves there"
        assert worded("{n} here", n=Share(0.123, 1)) == "hier 12,3\u00a0%"
    assert worded("{n} here", n=Counted(1, "leaf", "leaves")) == "1 leaf here"


NO_PAGES = {"report.py", "query_limits.py"}  # keys, policies
NO_PAGES |= {"web/downloads.py", "web/serving.py", "web/safety.py", "web/server.py"}


def sentences(path):
    """Texts with values in them that a module makes by itself: sentences, in one language only."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            told = "".join(one.value for one in node.values if isinstance(one, ast.Constant))
            if re.search(r"[^\W\d_]{2,}", told) and " " in told.strip() and not told.startswith(("M", "<")):
                yield told


def test_sentences_of_other_modules_are_in_the_catalogue():
    made = {path.relative_to(tool.EXPLORER).as_posix(): any(sentences(path)) for path in tool.EXPLORER.rglob("*.py")}
    assert {name for name, some in made.items() if some} == NO_PAGES
