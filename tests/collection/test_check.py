"""What check finds, and what repair can mend."""

import pytest

from tests.small import grown
from tests.storage.test_collection_folder import rewrite
from topiarist.collection.check import check_folder, repair_folder
from topiarist.errors import UsageError
from topiarist.storage import edit_log, facts
from topiarist.storage.collection_folder import Folder
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.storage.generation import new_part
from topiarist.text.documents import Document


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 0x20
    path.write_bytes(content)


def severities(path):
    return [finding.severity for finding in check_folder(path)]


def test_all_is_well(folder):
    assert check_folder(folder.path) == []
    with folder.writing() as generation:
        Documents(generation.database).append([Document("new", "text")])
    assert check_folder(folder.path) == []
    assert repair_folder(folder.path) == []


def test_a_collection_of_a_network_drive_is_whole_and_that_is_noted(tmp_path, monkeypatch):
    monkeypatch.setattr("topiarist.storage.database.is_on_network", lambda path: True)
    grown(tmp_path / "mail.topiary").close()
    (finding,) = check_folder(tmp_path / "mail.topiary")
    assert finding.severity == "note"
    assert "wait for each other" in finding.what


def test_no_collection_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="there is no collection"):
        check_folder(tmp_path)


def test_a_damaged_manifest_is_found(folder):
    flip(folder.path / "manifest.json", 60)
    (finding,) = check_folder(folder.path)
    assert finding.severity == "error"
    assert "grow it again" in finding.advice


def test_a_newer_version_is_found(folder):
    rewrite(folder.path, version=2)
    (finding,) = check_folder(folder.path)
    assert finding.advice == "Run pip install -U topiarist."


@pytest.mark.parametrize("file", ["model.json", "arrays/words.bin", "part.json"])
def test_one_bit_of_a_part(folder, file):
    flip(folder.generation.folder / "tree-1" / file, 1)
    (finding,) = check_folder(folder.path)
    assert (finding.severity, finding.where) == ("error", "tree-1")
    assert "has changed since it was written" in finding.what
    assert repair_folder(folder.path) == [finding]  # that cannot be mended


def test_damage_to_an_earlier_state_is_a_warning(folder):
    with folder.writing() as generation:
        with new_part(generation, "tree") as part:
            (part.folder / "x").write_text("y")
        edit_log.record(generation.database, "edit", {}, {"parts": {"tree": part.name}}, parts=[part.part])
    flip(folder.generation.folder / "tree-1" / "model.json", 0)
    assert [(finding.severity, finding.where) for finding in check_folder(folder.path)] == [("warning", "tree-1")]


@pytest.mark.parametrize("word", [b"released", b"Crude oil", b"a/1.txt", b"Judge"])
def test_one_bit_of_a_document(folder, word):
    """Such as SQLite does not notice: even the case of a letter."""
    folder.close()
    path = folder.generation.folder / "documents.sqlite"
    flip(path, path.read_bytes().index(word))
    findings = check_folder(folder.path)
    assert any("has changed since it was written" in finding.what for finding in findings)
    assert {finding.severity for finding in findings} == {"error"}


def test_bits_anywhere_never_break_the_check(folder):
    folder.close()
    path = folder.generation.folder / "documents.sqlite"
    whole = path.read_bytes()
    pages = len(whole) // 4096
    found = 0
    for page in range(pages):
        content = bytearray(whole)
        content[page * 4096 : page * 4096 + 16] = bytes(16)  # the head of a page
        path.write_bytes(content)
        found += bool(check_folder(folder.path))
    assert found >= pages - 2  # a page that is free, or empty, may be anything
    path.write_bytes(whole)
    assert check_folder(folder.path) == []


def test_lost_things_are_found(folder):
    with folder.writing() as generation:
        generation.database.run("PRAGMA foreign_keys = OFF")
        generation.database.run("DELETE FROM documents WHERE row = 1")
        generation.database.run("DELETE FROM parts")
    what = "\n".join(finding.what for finding in check_folder(folder.path))
    assert "3 documents have rows from 0 to 3" in what
    assert "3 documents have 4 texts" in what
    assert "texts refers to something that is not there (row 1)" in what
    assert "state 1 names tree-1, which is not there" in what


def test_a_changed_state_is_found(folder):
    with folder.writing() as generation:
        generation.database.run("UPDATE states SET body = replace(body, '0', '5')")
    assert "state 1" in check_folder(folder.path)[0].what


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE settings SET value = '7' WHERE name = 'n_words'", "the settings changed since they were written"),
        ("DELETE FROM settings WHERE name = 'n_words'", "the settings changed since they were written"),
        ("UPDATE settings SET value = 'x' WHERE name = 'checksum_of_log'", "the settings of"),
        ("UPDATE edits SET time = '2001-01-01T00:00:00' WHERE number = 2", "the edit log changed since it was written"),
        ("UPDATE edits SET body = '{}'", "the edit log changed since it was written"),
        ("DELETE FROM edits WHERE number = 2", "the edit log changed since it was written"),
    ],
)
def test_changed_settings_and_log_found(folder, change, what):
    with folder.writing() as generation:
        facts.change_settings(generation.database, {"n_words": 5})
        for kind in ("rename", "move"):
            number, _ = edit_log.current(generation.database)
            edit_log.record(generation.database, kind, {"said": "é\ud800"}, number)
    assert check_folder(folder.path) == []
    assert not set(facts.settings(folder.generation.database)) & set(facts.CHECKSUM_NAMES)
    with folder.writing() as generation:
        generation.database.run(change)
    assert any(what in finding.what for finding in check_folder(folder.path))


def test_collection_without_checksums_is_whole(folder):
    with folder.writing() as generation:
        generation.database.run("DELETE FROM settings WHERE name LIKE 'checksum%'")
    assert check_folder(folder.path) == []
    with folder.writing() as generation:
        edit_log.record(generation.database, "rename", {}, edit_log.latest(generation.database))
    assert check_folder(folder.path) == []


def test_an_index_that_lost_a_word_is_made_anew(folder):
    with folder.writing() as generation:
        text = Documents(generation.database).get(0).text
        generation.database.run(
            "INSERT INTO search (search, rowid, title, text) VALUES ('delete', 0, 'Bail', ?)", (text,)
        )
    assert Index(folder.generation.database).rows("released") == []
    (finding,) = check_folder(folder.path)
    assert finding.what == "the full-text index does not agree with the texts"
    assert finding.advice == "topiarist check --repair"
    assert repair_folder(folder.path) == []
    assert Index(Folder.open(folder.path).generation.database).rows("released") == [0]


def test_leftovers_are_noted_and_repaired(folder):
    (folder.generation.folder / "tree-5").mkdir()
    (folder.path / "g-0123456789abcdef").mkdir()
    (folder.path / "growing").mkdir()
    findings = check_folder(folder.path)
    assert {finding.severity for finding in findings} == {"note"}
    assert len(findings) == 3
    assert not any("left over" in finding.what for finding in findings)  # one of them may be what undo replaced
    assert [finding.where for finding in repair_folder(folder.path)] == ["growing"]


def test_somebody_is_writing_meanwhile(folder):
    with folder.writing():
        (finding,) = check_folder(folder.path)
    assert finding.severity == "note"
    assert "is being written by this process" in finding.what
