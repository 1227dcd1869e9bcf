"""Copies and repeated lines on the terminal."""

import json

import pytest
from typer.testing import CliRunner

from tests.grown import documents, piled, piled_documents, piled_once  # noqa: F401
from topiarist.cli.commands import app


@pytest.fixture
def run(piled, monkeypatch):  # noqa: F811
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(piled.parent)

    def run(command, *arguments, stdin=None):
        done = CliRunner().invoke(app, [command, piled.name, *map(str, arguments)], input=stdin)
        assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
        return done

    return run


def test_duplicates_lists_each_kind_with_its_copies(run):
    shown = run("duplicates").stdout
    assert shown.startswith("18 documents are copies or near-copies of 9 others.")
    assert "  4 copies\n" in shown
    assert "  1 near-copy\n" in shown
    found = json.loads(run("duplicates", "--json").stdout)
    assert (found["copies"], found["originals"]) == (18, 9)
    assert [copy["id"] for copy in found["documents"][0]["copies"]] == [f"copy/{n}.txt" for n in range(4)]
    assert all(copy["exact"] for copy in found["documents"][0]["copies"])
    near = found["documents"][-1]["copies"][0]
    assert not near["exact"]
    assert near["shared"] >= 0.95
    assert near["only_here"] == ["other", "other"]
    assert len(near["only_original"]) == 2
    assert f"only here: other, other; only in the original: {', '.join(near['only_original'])}" in shown
    assert "and 8 more: --all" in run("duplicates", "-n", "1").stdout


def test_alike_by_meaning_needs_vectors(piled):  # noqa: F811
    done = CliRunner().invoke(app, ["duplicates", str(piled), "--by-meaning"])
    assert done.exit_code == 2
    assert "have no vectors" in done.stderr


def test_show_tells_copies_and_what_is_not_counted(run):
    first = piled_documents()[1].id
    shown = run("show", first).stdout
    assert "4 copies: copy/4.txt, copy/5.txt, copy/6.txt, copy/7.txt" in shown
    assert "5 lines of it are in many documents, and not counted" in shown
    assert "A copy of: " in run("show", "copy/4.txt").stdout
    body = json.loads(run("show", first, "--json").stdout)
    text = body["text"]
    assert [text[one["start"] : one["end"]].split()[0] for one in body["repeated"]] == ["Home", "Its"]
    assert not any(one["start"] <= mark["start"] < one["end"] for one in body["repeated"] for mark in body["words"])


def test_find_folds_copies(run):
    words = " ".join(documents()[0].text.split()[3:8])
    assert "and 4 copies" in run("find", words).stdout
    found = json.loads(run("find", words, "--by", "words", "--json").stdout)
    assert found["hits"][0]["copies"] == 4
    assert found["total"] == len(found["hits"]) + found["folded"]


def test_what_is_added_and_there_already_is_told(run):
    again, near = piled_documents()[2], documents()[20]
    text = " ".join("else" if n == 9 else word for n, word in enumerate(near.text.split()))
    lines = [json.dumps({"id": "a", "text": again.text}), json.dumps({"id": "b", "text": text})]
    done = run("file", "-", "--add", stdin="\n".join(lines))
    assert "1 copy and 1 near-copy of documents in the collection:" in done.stderr
    assert f"  a → {again.id}\n" in done.stderr
