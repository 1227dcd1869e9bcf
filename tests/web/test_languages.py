"""The pages in other languages: every text of a template is in the catalogue, and German has all of them."""

import ast
import html
import io
import re
from gettext import GNUTranslations
from pathlib import Path
from types import SimpleNamespace

import pytest
from jinja2 import nodes
from starlette.testclient import TestClient

from tools import messages as tool
from topiarist.collection.collection import Collection
from topiarist.display import review_sentences as review_words
from topiarist.display.locale import catalogues
from topiarist.display.locale.catalogues import CountedNoun, Share, preferred_language, translate, use_language
from topiarist.display.locale.locales import LOCALES
from topiarist.errors import UsageError
from topiarist.web.http.server import explorer
from topiarist.web.pages import model as model_page
from topiarist.web.rendering import environment
from topiarist.web.report import write_report

OTHERS = [language for language in catalogues.LANGUAGES if language != catalogues.ENGLISH]
TEMPLATES = sorted((tool.WEB / "templates").glob("*.html"), key=lambda path: path.name)


def text_of(path):
    return Path(path).read_text("utf-8")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_template_text_is_in_the_catalogue(path):
    """Without values, tags and silent elements, a template has no letter but the name of the program."""
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", text_of(path), flags=re.DOTALL)
    bare = re.sub(r"<(code|kbd|style|script)\b.*?</\1>", "", bare, flags=re.DOTALL)
    read = re.findall(r'\b(?:title|aria-label|placeholder|alt|data-label|data-said)="([^"]*)"', bare)
    left = html.unescape(re.sub(r"<[^>]*>", " ", bare)).split() + [part for text in read for part in text.split()]
    assert {word for word in left if re.search(r"[^\W\d_]", word)} <= {"topiarist"}


def test_texts_in_values_of_templates_are_messages():
    """A text with a space or a capital letter in a value is for people."""
    for path in TEMPLATES:
        body = environment().parse(text_of(path))
        calls = [one for one in body.find_all(nodes.Call) if getattr(one.node, "name", "") == "_"]
        messages = {id(text) for call in calls for text in call.find_all(nodes.Const)}
        for output in body.find_all(nodes.Output):
            texts = [one.value for one in output.find_all(nodes.Const) if id(one) not in messages]
            bare = [text for text in texts if isinstance(text, str) and re.match(r"[A-Z]|\w+ \w", text)]
            assert set(bare) <= {"\u00a0", "reading list"}, path.name


def test_texts_in_statements_of_a_template_are_not_for_people():
    """A text that a statement holds would be in no message: it is a name, a key or nothing but signs."""
    for path in TEMPLATES:
        for statement in re.findall(r"\{%.*?%\}", text_of(path), re.DOTALL):
            texts = re.findall(r'"([^"]*)"', statement)
            assert not [text for text in texts if " " in text.strip() or text[:1].isupper()], (path.name, statement)


@pytest.mark.parametrize("language", OTHERS)
def test_catalogues_are_up_to_date_and_compiled(language):
    found = tool.update_catalogue(language)
    kept = (tool.FOLDER / f"{language}.po").read_bytes()
    assert tool.format_po(found) == kept, "python tools/messages.py brings it up to date"
    known = GNUTranslations(io.BytesIO((tool.FOLDER / f"{language}.mo").read_bytes()))
    assert all(known.gettext(one.id) == one.string for one in found if one.id and one.string)


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_values_of_their_messages(language):
    for one in tool.update_catalogue(language):
        if one.id and one.string:
            values = [set(re.findall(r"%\(\w+\)s|(?<!%)%%|\{\w+\}", text)) for text in (one.id, one.string)]
            assert values[0] == values[1], one.id


def test_german_is_complete_and_the_others_are_begun():
    lacking = {
        language: [one.id for one in tool.update_catalogue(language) if one.id and not one.string]
        for language in OTHERS
    }
    assert lacking["de"] == []
    assert set(catalogues.LANGUAGES) == {"en", *(language for language, texts in lacking.items() if not texts)}
    assert all(len(texts) < len(list(tool.collect_messages())) - 50 for texts in lacking.values())


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_every_template_is_one_in_every_language(language):
    for path in TEMPLATES:
        assert environment(language).get_template(path.name)


def test_messages_of_templates_escape_values_and_keep_signs():
    template = environment("de").from_string(
        '<p>{{ _("%(read)s of %(total)s read.", read=read, total=9) }} {{ _("100 %%") }}'
    )
    assert template.render(read="<b>") == "<p>&lt;b&gt; von 9 gelesen. 100 %"


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("de", "de"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("en-GB,de;q=0.5", "en"), ("fr, de;q=0.3", "de"),
     ("pl", "en"), ("de;q=0", "en"), ("de;q=x,;;,", "en"), ("en;q=0.1,de;q=0.2", "de"),
     ("de; q=0.9, en ; q=0.8", "de"), ("en; q=0.3, de ;Q=0.7", "de"), ("de; q=0", "en")],
)  # fmt: skip
def test_the_language_is_what_the_browser_asks_for(header, language):
    assert preferred_language(header) == language


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
    assert client.get("/nothing", headers={"Accept-Language": "de"}).text.count("Übersicht")
    fixed = TestClient(explorer(folder, language="de"), base_url="http://127.0.0.1")
    assert "In der Sammlung suchen" in fixed.get("/", headers={"Accept-Language": "pl"}).text
    with pytest.raises(UsageError, match="auto, en, de"):
        explorer(folder, language="tlh")


@pytest.mark.parametrize(
    ("path", "german", "english"),
    [("/model", "verschiedene Wörter", "different words"), ("/nothing", "Seite nicht gefunden", "Page not found"),
     ("/topic/987654", "Thema 987654 gab es", "Topic 987654 never"),
     ("/review", "Neue Sichtung", "New review"),
     ("/review?label=x", "beurteilt, davon 0 relevant", "documents judged"),
     ("/?view=icicle", "Zeichnung des Baums", "Drawing of the tree")],
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
    assert "Herkunft" in text
    assert "Provenance" not in text


def test_numbers_and_dates_are_written_as_the_language_does():
    german = LOCALES["de"]
    assert german.number(1_234_567) == "1.234.567"
    assert german.fine_percent(0.0123) == "1,2\u00a0%"
    assert (german.date("2024-03-05"), german.date("2024-03"), german.date("2024")) == ("05.03.2024", "03/2024", "2024")
    assert LOCALES["en"].date("2024-03-05") == "2024-03-05"
    assert german.date("soon") == "soon"
    assert re.fullmatch(r"5\. März 2024, \d\d:\d\d Uhr", german.format_time("2024-03-05T12:00:00+00:00"))
    assert LOCALES["en"].format_time("soon") == german.format_time("soon") == "soon"


def test_a_sentence_is_in_one_language_as_a_whole(monkeypatch):
    monkeypatch.setattr(catalogues, "catalogue", {"en": {}, "de": {"{n} here": "hier {n}", "leaves": "Blätter"}}.get)
    with use_language("de"):
        assert translate("{n} here", n=CountedNoun(2_000, "leaf", "leaves")) == "hier 2.000 Blätter"
        assert translate("{n} there", n=CountedNoun(2_000, "leaf", "leaves")) == "2,000 leaves there"
        assert translate("{n} here", n=Share(0.123, 1)) == "hier 12,3\u00a0%"
    assert translate("{n} here", n=CountedNoun(1, "leaf", "leaves")) == "1 leaf here"


NO_PAGES = {"report.py", "query_limits.py"}  # keys, policies
NO_PAGES |= {"http/downloads.py", "http/serving.py", "http/safety.py", "http/server.py"}
FOR_PROGRAMS = {"forms/__init__.py", "forms/bodies.py", "http/placements.py"}  # what they describe is data's
ENGLISH_STILL = {
    "Nothing is fitted now.",  # a page says nothing where nothing is fitted; data does
    "internal error; the tree is unchanged",  # the error of work beside the pages, which has no reader
    "this is not JSON",  # said to programs
}
NOT_SAID = (
    "translate",
    "CountedNoun",
    "Markup",
    "Query",
    "remembered",
    "kept",
    "compile",
)  # messages, or nothing to be read
PAGES = (*tool.WEB.rglob("*.py"), *tool.SHARED)


def has_words(text, fewest):
    return len(re.findall(r"[^\W\d_]{2,}", text)) >= fewest and " " in text.strip()


def sentences(path):
    """Texts with values in them that a module makes by itself: sentences, in one language only."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            told = "".join(one.value for one in node.values if isinstance(one, ast.Constant))
            if has_words(told, 1) and not told.startswith(("M", "<")):
                yield told


def plain_sentences(path):
    """Texts without values, of three words or more, that are neither descriptions of code nor given to a call that
    says them.

    Not seen are one or two words (a class of a style sheet and a key look the same), and what the library says: errors,
    warnings, steps of the history, reasons of a fit.
    """
    body = ast.parse(path.read_text("utf-8"))
    silent = {id(one.value) for one in ast.walk(body) if isinstance(one, ast.Expr)}
    for one in ast.walk(body):
        named = getattr(one.func, "id", getattr(one.func, "attr", "")) if isinstance(one, ast.Call) else ""
        if named in NOT_SAID or isinstance(one, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(one)}
    for one in ast.walk(body):
        text = one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else ""
        if id(one) not in silent and has_words(text, 3):
            yield text


def words_in_marks(path):
    """Words that stand in pieces of a page themselves: between marks, or read aloud."""
    for one in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "Markup":
            told = "".join(part.value for part in one.args if isinstance(part, ast.Constant))
            read = re.findall(r'\b(?:title|aria-label|alt|placeholder)="([^"]*)"', told)
            yield from (text for text in (*read, re.sub(r"<[^>]*>", " ", told)) if re.search(r"[^\W\d_]{2,}", text))


def test_sentences_of_other_modules_are_in_the_catalogue():
    made = {path: any(sentences(path)) for path in PAGES}
    assert {path.relative_to(tool.WEB).as_posix() for path, some in made.items() if some} == NO_PAGES


def test_texts_without_values_are_in_the_catalogue():
    known = {one.id for one in tool.collect_messages()}
    no_pages = {tool.WEB / name for name in NO_PAGES | FOR_PROGRAMS}
    said = {text for path in PAGES if path not in no_pages for text in plain_sentences(path)}
    assert said - known == ENGLISH_STILL
    assert {text for path in PAGES for text in words_in_marks(path)} == set()


def test_the_reason_of_a_size_is_said_in_the_language_where_it_is_a_usual_one():
    curve = {"n_leaves": [1, 1_200, 2_400], "perplexity": [3_000.4, 1_499.6, 1_490.0], "place": 1}
    usual = (
        "1,200 topics: the smallest tree within 1% of the best of 1–2,400 after a charge for size "
        "(held-out perplexity 1,500)"
    )
    assert model_page._explain_size({"reason": usual, "curve": curve}) == usual
    with use_language("de"):
        german = model_page._explain_size({"reason": usual, "curve": curve})
        assert german.startswith("1.200 Themen: der kleinste Baum, der höchstens 1\u00a0% hinter dem besten")
        other = "1,200 topics: vectors and words together ask for them"
        assert model_page._explain_size({"reason": other, "curve": curve}) == other
        assert model_page._explain_size({"reason": other}) == other


def test_a_review_speaks_the_language_and_english_where_none_is_spoken():
    done = SimpleNamespace(
        judged=1_200, documents=3_000, found=40, skipped=2, drawn_at_random=30, unfound=3, unfound_least=0,
        unfound_most=9, recall_least=0.8163, target=0.975, confidence=0.95, enough=True,
    )  # fmt: skip
    assert review_words.describe_progress(done) == (
        "1,200 of 3,000 documents judged, 40 relevant; missing: probably 3, 0 to 9 (at least 81% found); "
        "2 skipped, counted as missing."
    )
    assert review_words.describe_stopping(done) == "At least 97.5% found with 95% confidence. You can stop."
    with use_language("de"):
        assert review_words.describe_progress(done) == (
            "3.000 Dokumente, 1.200 beurteilt, davon 40 relevant; es fehlen: wahrscheinlich 3, 0 bis 9 "
            "(mindestens 81\u00a0% gefunden); übersprungen und als fehlend gezählt: 2."
        )
        assert review_words.describe_stopping(done).startswith(
            "Mindestens 97,5\u00a0% sind gefunden, mit einer Sicherheit"
        )
        assert review_words.describe_selection("control").startswith("zufällig")
