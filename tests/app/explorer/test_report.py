"""The report: one file, the same bytes for the same model, nothing in it that was not asked for."""

import html
import re

import pytest
from typer.testing import CliRunner

from tests.app.explorer.conftest import HOSTILE
from topiarist.app.cli.commands import app
from topiarist.app.explorer.report import SAID, write_report
from topiarist.errors import UsageError
from topiarist.files.collection import Collection


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
    assert SAID[documents] in text.decode()


def test_it_holds_what_it_says_and_no_more(folder, tmp_path):
    with Collection.open(folder) as collection:
        for documents in ("typical", "all", "none"):
            write_report(collection, tmp_path / f"{documents}.html", documents)
        every = [document.text for document in collection.documents.iterate()]
        titles = collection.documents.titles()
        words = [name.split(" · ")[0] for name in collection.outline.tree.names]
    none, typical, everything = ((tmp_path / f"{name}.html").read_text("utf-8") for name in ("none", "typical", "all"))
    assert not any(title in none for title in titles)
    assert all(word in none for word in words)
    assert 3 < sum(title in typical for title in titles) < len(titles)
    plain = re.sub(r"<[^>]+>", "", everything)
    assert all(text in plain for text in every)


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
    assert text.count("<script") == 1


def test_the_command_writes_it(folder, tmp_path):
    done = CliRunner().invoke(app, ["report", folder, "-o", str(tmp_path / "r.html"), "--documents", "none"])
    assert done.exit_code == 0, done.output
    assert "words and numbers only" in done.output
    wrong = CliRunner().invoke(app, ["report", folder, "-o", str(tmp_path / "no" / "r.html")])
    assert wrong.exit_code == 2
    with Collection.open(folder) as collection, pytest.raises(UsageError, match="not 'some'"):
        write_report(collection, tmp_path / "r.html", "some")
