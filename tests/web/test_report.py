"""The report: one file, the same bytes for the same model, nothing in it that was not asked for."""

import base64
import html
import json
import random
import re
import zlib
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import topiarist
from tests.web.conftest import HOSTILE, made
from topiarist.cli.commands import app
from topiarist.collection.classify.learning import learn_categories
from topiarist.collection.collection import Collection
from topiarist.collection.describe.provenance import format_growing_command
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Branch, Describe, Rename
from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.storage.marks import Marks
from topiarist.text.documents import Document, Problem
from topiarist.web import report as writing
from topiarist.web.coloured_text import colour_text
from topiarist.web.report import PRIVACY_TEXTS, write_report
from topiarist.web.view import View


def unpacked(text):
    """The blocks of texts in a report: the row of the first document, looks, documents."""
    found = re.findall(r'<script type="text/plain" class="texts" data-first="(\d+)">([^<]*)</script>', text)
    return [(int(first), json.loads(zlib.decompress(base64.b64decode(packed)))) for first, packed in found]


def units(text):
    """A text as a browser counts its signs."""
    return text.encode("utf-16-le")


def between(text, start, length):
    return units(text)[2 * start : 2 * (start + length)].decode("utf-16-le")


@pytest.mark.parametrize("documents", ["typical", "all", "none"])
def test_the_same_model_gives_the_same_bytes(folder, tmp_path, documents):
    with Collection.open(folder) as one, Collection.open(folder) as two:
        size = write_report(one, tmp_path / "one.html", documents)
        write_report(two, tmp_path / "two.html", documents)
        write_report(two, tmp_path / "two.html", documents)
    text = (tmp_path / "one.html").read_bytes()
    assert text == (tmp_path / "two.html").read_bytes()
    assert len(text) == size
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.html", "two.html"]
    assert PRIVACY_TEXTS[documents] in text.decode()


def test_it_holds_what_it_says_and_no_more(folder, tmp_path):
    with Collection.open(folder) as collection:
        for documents in ("typical", "all", "none"):
            write_report(collection, tmp_path / f"{documents}.html", documents)
        every = [document.text for document in collection.documents.iterate()]
        titles = collection.documents.titles()
        words = [node.words[0] for node in collection.tree.nodes if node.words]
    none, typical, everything = ((tmp_path / f"{name}.html").read_text("utf-8") for name in ("none", "typical", "all"))
    assert not any(title in none for title in titles)
    assert all(word in none for word in words)
    assert 3 < sum(title in typical for title in titles) < len(titles)
    assert [one[3] for _, block in unpacked(everything) for one in block["documents"]] == every
    listed = html.unescape(everything)
    assert all(title in listed for title in titles)


def test_it_needs_nothing_else(folder, tmp_path):
    with Collection.open(folder) as collection:
        write_report(collection, tmp_path / "report.html")
    text = html.unescape((tmp_path / "report.html").read_text("utf-8"))
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    targets = set(re.findall(r'id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= targets
    assert "default-src 'none'" in text
    assert "unsafe-inline" not in text


def test_hostile_text_stays_text_in_a_report(hostile, tmp_path):
    with Collection.open(hostile) as collection:
        write_report(collection, tmp_path / "report.html", "all")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert not any(trick in text for trick in HOSTILE[:3])
    assert text.count("<script") == 1 + len(unpacked(text))
    assert text.count('<script type="module">') == 1


SECRETS = ("Verdant", "Kestrel", "Ptarmigan", "Osprey", "Gannet", "Fulmar", "Curlew", "Merlin")


@pytest.fixture
def confidential(tmp_path):
    """A collection in which everything that is not a word of many texts has a word of its own."""
    rng = random.Random(0)
    title, id, label, source, note, name, tag, problem = SECRETS
    found = []
    for number in range(150):
        plain = made(number, rng)
        found.append(
            Document(f"/own/{id}/{number}", plain.text, f"{title}{number}", (f"{label}{number % 3}",), f"{source}.txt")
        )
    path = tmp_path / "Plover.topiary"
    with Collection.grow(found, path, Recipe(topics=4)) as collection:
        with collection.folder.writing() as generation:
            facts.add_problems(generation.database, [Problem(problem, f"{problem} is damaged")])
            Marks(generation.database).tag([0], tag)
        learn_categories(collection)
        leaves = [collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves]
        branch = Branch(collection.outline.root, f"{name} too", tuple(one.id for one in found[:5]))
        collection.shape([Rename(leaves[0], name), Describe(leaves[0], note), branch], refit=False)
    return path


def test_without_documents_nothing_that_is_theirs_or_that_people_wrote_is_in_it(confidential, tmp_path):
    with Collection.open(confidential) as collection:
        for documents in ("none", "all"):
            write_report(collection, tmp_path / f"{documents}.html", documents)
    none = (tmp_path / "none.html").read_text("utf-8").casefold()
    everything = (tmp_path / "all.html").read_text("utf-8").casefold()
    hidden = [*SECRETS, "Plover", str(tmp_path), "/own/"]
    assert [word for word in hidden if word.casefold() in none] == []
    shown = [word for word in SECRETS if word.casefold() in everything]  # the test would see them
    assert {"Verdant", "Ptarmigan", "Gannet", "Fulmar", "Merlin"} <= set(shown)
    assert "1 file, row or date skipped or incomplete." in none
    assert "no words of its own" in none  # a topic that is not fitted yet
    assert "categories learned" in none


def test_a_command_with_paths_is_shown_only_where_documents_are(confidential, tmp_path):
    command = ["topiarist", "grow", "/own/Kestrel/mail", "--hierarchy", "/own/Kestrel/teams.txt"]
    settings = {"command": command, "recipe": {"stop_words": "/own/Kestrel/stop.txt", "topics": 4, "seed": 3}}
    assert format_growing_command(settings) == " ".join([*command, "--seed", "3"])
    said = format_growing_command(settings, paths=False)
    assert said == "env TOPIARIST_STOP_WORDS=FILE topiarist grow SOURCE --topics 4 --seed 3"
    counted = {"recipe": {"phrases": True, "headings": False, "model": "hplsa", "topic_mix": "heldout", "seed": 3}}
    assert format_growing_command({**counted, "command": command}, paths=False) == (
        "env TOPIARIST_PHRASES=true TOPIARIST_NO_HEADINGS=true TOPIARIST_TOPIC_MIX=heldout "
        "topiarist grow SOURCE --model hplsa --seed 3"
    )
    called = {"recipe": {"topics": 4, "seed": 3}}
    assert format_growing_command(called) == "Collection.grow(documents, folder, Recipe(topics=4, seed=3))"


@pytest.mark.parametrize("which", ["folder", "hostile"])
def test_packed_words_look_as_on_the_page_of_the_document(which, request, tmp_path):
    with Collection.open(request.getfixturevalue(which)) as collection:
        write_report(collection, tmp_path / "all.html", "all")
        view = View(collection)
        blocks = unpacked((tmp_path / "all.html").read_text("utf-8"))
        for row in range(0, view.n_docs, 7):
            first, block = next(one for one in reversed(blocks) if one[0] <= row)
            text, runs = block["documents"][row - first][3:5]
            here, told = 0, []
            for skip, length, look in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
                level, topic, unsure = block["looks"][look]
                told.append((between(text, here + skip, length), f"l{level}{' unsure' * unsure}", topic))
                here += skip + length
            page = colour_text(view, row, text, by="level", selected_level=None, part=1).pieces
            assert told == [(piece.text, piece.kind, piece.topic) for piece in page if piece.kind]


def test_signs_beyond_two_bytes_are_counted_as_browsers_count_them(tmp_path):
    words = "oil barrel crude tanker pipeline refinery"
    found = [Document(str(number), f"😀 {words if number % 3 else 'goal'} 𝔘𝔫 {words} {number}") for number in range(12)]
    with Collection.grow(found, tmp_path / "wide.topiary", Recipe(topics=1)) as collection:
        ((_, block),) = unpacked("".join(writing.iter_pieces(View(collection), "all")))
    _, _, _, text, runs = block["documents"][1]
    here, told = 0, []
    for skip, length in zip(runs[::3], runs[1::3], strict=True):
        told.append(between(text, here + skip, length))
        here += skip + length
    assert told == [*words.split(), "𝔘𝔫", *words.split()]


def test_blocks_are_small_and_in_order(folder, monkeypatch):
    monkeypatch.setattr(writing, "BLOCK", 2_000)
    heard = []
    with Collection.open(folder) as collection:
        blocks = list(writing.pack_texts(View(collection), lambda done, total: heard.append((done, total))))
    assert len(blocks) > 20
    assert [block.first for block in blocks[1:]] == [done for done, _ in heard[:-1]][: len(blocks) - 1]
    assert heard[-1] == (400, 400)


def test_outline_has_words_and_the_end_says_how_it_was_made(folder, tmp_path):
    with Collection.open(folder) as collection:
        topiarist.report(collection, tmp_path / "one.html")
        leaf = collection.outline.tree.leaves[0]
        words = collection.tree.nodes[leaf].words
    size = topiarist.report(folder, tmp_path / "two.html", documents="typical")
    text = (tmp_path / "one.html").read_text("utf-8")
    assert text == (tmp_path / "two.html").read_text("utf-8")
    assert size == len(text.encode())
    outline = html.unescape(re.search(r'<div class="outline">.*?<h2 id="topics">', text, re.DOTALL)[0])
    assert all(word in outline for word in words[:5])
    end = html.unescape(text[text.index('id="made"') :])
    assert "Recipe(topics=6, seed=0)" in end
    assert f"topiarist {topiarist.__version__}" in end
    assert "All files were read." in end
    categories = text[text.index('id="categories"') : text.index('id="labels"')]
    assert "accuracy 100" in categories
    assert "law/bail" in categories


def test_the_command_writes_it(folder, tmp_path):
    done = CliRunner().invoke(app, ["report", folder, "-o", str(tmp_path / "r.html"), "--documents", "none"])
    assert done.exit_code == 0, done.output
    assert "words and numbers only" in done.output
    wrong = CliRunner().invoke(app, ["report", folder, "-o", str(tmp_path / "no" / "r.html")])
    assert wrong.exit_code == 2
    with Collection.open(folder) as collection, pytest.raises(UsageError, match="got 'some'"):
        write_report(collection, tmp_path / "r.html", "some")


def test_the_command_warns_of_a_large_file(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "LARGE", 1_000)
    done = CliRunner().invoke(app, ["report", folder, "-o", str(tmp_path / "r.html")])
    assert done.exit_code == 0
    assert "Warning: a file this large is hard to send and to open." in done.output


def test_without_scripts_a_report_says_that_texts_are_missing_and_has_the_rest(browser, folder, tmp_path):
    with Collection.open(folder) as collection:
        write_report(collection, tmp_path / "all.html", "all")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "all.html").as_uri())
    assert "work without scripts" in page.locator(".notice").nth(1).inner_text()
    assert page.locator("#filter").is_hidden()
    page.locator(".every summary").first.click()
    assert page.locator(".every li:visible").count() > 0
    context.close()


def test_hostile_documents_of_a_report_open_as_text(browser, hostile, tmp_path):
    with Collection.open(hostile) as collection:
        write_report(collection, tmp_path / "all.html", "all")
        texts = [document.text for document in collection.documents.iterate(0, 8)]
    context = browser.new_context(offline=True)
    page, problems = context.new_page(), []
    page.on("dialog", lambda dialog: (problems.append("a dialog"), dialog.dismiss()))
    page.on("console", lambda said: problems.append(said.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((tmp_path / "all.html").as_uri())
    for row, text in enumerate(texts):
        page.evaluate(f"location.hash = '#doc-{row}'")
        page.wait_for_function(
            "wanted => document.getElementById('reading-text').textContent === wanted", arg=text, timeout=8_000
        )
    assert page.evaluate("window.hacked") is None
    assert problems == []
    context.close()


def test_of_a_long_text_the_legend_speaks_of_the_words_that_are_coloured(folder, tmp_path, page, monkeypatch):
    said = page.locator("#reading-levels")
    for most, of in ((5_000, "% of its counted words"), (10, "% of the counted words among the first 10")):
        monkeypatch.setattr(writing, "MAX_WORDS", most)
        with Collection.open(folder) as collection:
            write_report(collection, tmp_path / f"{most}.html", "all")
        page.goto(f"file://{tmp_path}/{most}.html#doc-3")
        page.wait_for_selector("#reading-levels li")
        assert {line.partition("% ")[2] for line in said.inner_text().splitlines()} == {of.removeprefix("% ")}


def test_it_tells_what_is_more_of_one_groups(folder, tmp_path):
    with Collection.open(folder) as collection:
        for documents in ("typical", "none"):
            write_report(collection, tmp_path / f"{documents}.html", documents)
        label = next(iter(collection.documents.label_counts()))
    typical, none = ((tmp_path / f"{name}.html").read_text("utf-8") for name in ("typical", "none"))
    told = typical.split('<h2 id="groups">')[1].split('<h2 id="categories">')[0]
    assert f"<h3>{html.escape(label)} <span" in told
    assert "More of" in told
    assert 'href="#topic-' in told
    assert '"groups"' not in none


def test_groups_are_by_label_and_the_first_columns_that_differ_and_the_others_are_counted(monkeypatch):
    columns = ["same", "author", "sender", "office", "year", "place", "label", "tag"]

    def load(view, ask):
        group = SimpleNamespace(more=(), less=() if ask.column == "same" else ("x",))
        return SimpleNamespace(
            columns=[SimpleNamespace(name=name) for name in columns], groups=[group], column=ask.column
        )

    monkeypatch.setattr(writing.groups, "load", load)
    found, left = writing._load_groups(None)
    assert [one.column for one in found] == ["label", "author", "sender", "office"]
    assert left == 2
    columns[:] = ["same", "tag"]
    assert writing._load_groups(None) == ((), 0)
