"""A collection that somebody has changed by hand: check says so in words, opens nothing outside, never falls over."""

import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from topiarist.collection.check import check_folder, repair_folder
from topiarist.collection.collection import Collection
from topiarist.errors import DamagedError, TopiaristError
from topiarist.storage.edit_log import checksum

NAMES = re.compile(r"\w+Error\b|Exception|Traceback|<class|object at 0x")


def generation(path):
    return next(path.glob("g-*"))


def forged(path, *statements):
    """Statements on the database; a function makes a value of what was there."""
    with closing(sqlite3.connect(generation(path) / "documents.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.create_function("crc", 1, lambda text: checksum(text))
        for statement in statements:
            connection.execute(statement)


def resealed(path, name, change):
    """Change a part and make everything that vouches for it fit again, as somebody can who means it."""
    folder = generation(path) / name
    change(folder)
    known = json.loads((folder / "part.json").read_text())
    for file in known["files"]:
        if (folder / file).is_file():
            content = (folder / file).read_bytes()
            known["files"][file] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps(known, indent=1, sort_keys=True) + "\n"
    (folder / "part.json").write_text(text)
    forged(path, f"UPDATE parts SET digest = '{hashlib.sha256(text.encode()).hexdigest()}' WHERE name = '{name}'")


def errors(path):
    """What check says is wrong, after a look that everybody could read it."""
    found = check_folder(path)
    assert not any(NAMES.search(one.what + one.advice) for one in found), found
    return [one for one in found if one.severity == "error"]


def looked(path):
    """Look at everything; an error in words, or nothing."""
    try:
        with Collection.open(path) as collection, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers that are none make noise
            for look in (lambda c: c.tree, lambda c: c.counts, lambda c: c.model, lambda c: c.index, lambda c: c.words,
                         lambda c: c.search("model"), lambda c: c.documents.get(0), lambda c: c.settings):  # fmt: skip
                look(collection)
    except TopiaristError as error:
        told = error
    else:
        return 0
    assert not NAMES.search(str(told)), told
    return told.exit_code


GONE = object()
EMPTIED = ("DELETE FROM search_data WHERE id > 10", "DELETE FROM search_idx")


@pytest.mark.parametrize(
    "more", [(), ("DELETE FROM search_docsize",), ("INSERT INTO settings VALUES ('letters_apart', 'true')",)]
)
def test_an_emptied_index_is_found_and_made_anew(path, more):
    forged(path, *EMPTIED, *more)
    found = errors(path)
    assert found
    changed = ("full-text index", "database", "the settings changed")
    assert all(any(words in one.what for words in changed) for one in found)


def test_an_index_that_forgot_a_document_is_found_by_whoever_only_reads(path, monkeypatch):
    forged(path, "INSERT INTO search (search) VALUES ('delete-all')")
    monkeypatch.setattr(os, "access", lambda *given: False)
    assert any("full-text index" in one.what for one in errors(path))
    monkeypatch.undo()
    assert [one for one in repair_folder(path) if one.severity == "error"] == []


BODY = "UPDATE states SET body = {0}, checksum = crc({0})"
FORGED = {
    "a state that is a list": (BODY.format("'[]'"),),
    "a state that is a number": (BODY.format("'3'"),),
    "a state without a shape": (BODY.format('\'{"parts": {"tree": 3}}\''),),
    "a state of parts that are a list": (BODY.format("'{\"parts\": [1]}'"),),
    "a state nested too deeply": (BODY.format("'" + "[" * 5_000 + "'"),),
    "a setting that is no JSON": ("UPDATE settings SET value = '{'",),
    "a setting of bytes": ("UPDATE settings SET value = x'ff00'",),
    "a setting of another kind": ("UPDATE settings SET value = '0' WHERE name = 'recipe'",),
    "a log that is no JSON": ("UPDATE edits SET body = 'x'",),
    "a log of numbers": ("UPDATE edits SET body = '3'",),
    "a document of bytes": ("UPDATE texts SET text = x'ff00' WHERE row = 1",),
    "a document of nothing": ("UPDATE documents SET title = 3 WHERE row = 1",),
    "rows that are not there": ("INSERT INTO tags VALUES ('x', 99999999999)",),
    "a part elsewhere": ("UPDATE parts SET name = '../../../' || name",),
    "no log": ("DELETE FROM edits",),
    "no table of languages": ("DROP TABLE languages",),
    "another number of documents": ("DELETE FROM texts WHERE row > 10",),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_database(path, what):
    forged(path, *FORGED[what])
    assert errors(path)
    assert looked(path) in (0, 2, 4)


def part_of(path, kind):
    return next(one for one in sorted(generation(path).glob(f"{kind}-*")))


def first_array(folder):
    return min(folder.rglob("*.npy"))


HEADERS = (
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'shape': (" + b"(" * 90,
    b"\x93NUMPY\x01\x00\xff\xff",
    b"",
    b"\0" * 200,
)


@pytest.mark.parametrize("header", HEADERS)
def test_an_array_whose_beginning_is_forged(path, header):
    name = part_of(path, "search").name
    resealed(path, name, lambda folder: first_array(folder).write_bytes(header.ljust(128, b" ")))
    assert errors(path)
    assert looked(path) == 4


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "3",
        "{",
        '{"nodes": 3, "facts": []}',
        "[" * 100_000,
        '{"nodes": [{"x": 1}], "facts": {}}',
        '{"nodes": [], "facts": {}}',
    ],
)
@pytest.mark.parametrize(
    ("kind", "file"), [("tree", "topics.json"), ("counts", "counting.json"), ("tree", "model/model.json")]
)
def test_a_description_that_is_forged(path, kind, file, text):
    name = part_of(path, kind).name
    assert (generation(path) / name / file).is_file()
    resealed(path, name, lambda folder: (folder / file).write_text(text))
    assert errors(path)
    assert looked(path) == 4


def endless(path):
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("file", ["manifest.json", "g/tree/part.json", "g/tree/topics.json", "g/documents.sqlite"])
def test_a_link_to_a_device_without_an_end_is_not_opened(path, file):
    target = (
        path / file
        if "/" not in file
        else generation(path) / file.removeprefix("g/").replace("tree", part_of(path, "tree").name)
    )
    if file.endswith("topics.json"):
        resealed(path, part_of(path, "tree").name, lambda folder: endless(folder / "topics.json"))
    else:
        endless(target)
    assert errors(path)
    assert looked(path) == 4


@pytest.mark.parametrize("name", ["lock", "writer", "documents.sqlite-wal", "documents.sqlite-journal"])
def test_what_is_written_is_not_written_elsewhere(path, tmp_path, name):
    """A folder that somebody sent, with a link to a file of mine where topiarist writes."""
    mine = tmp_path / "mine.txt"
    mine.write_text("precious")
    place = (path if "." not in name else generation(path)) / name
    place.unlink(missing_ok=True)
    place.symlink_to(mine)
    with pytest.raises(DamagedError, match="is a link"), Collection.open(path) as collection:
        collection.tag([0], "x")
    assert mine.read_text() == "precious"


def test_parts_of_elsewhere_are_not_read(path, tmp_path):
    name = part_of(path, "tree").name
    shutil.move(generation(path) / name, tmp_path / "elsewhere")
    (generation(path) / name).symlink_to(tmp_path / "elsewhere")
    assert any("link" in one.what for one in errors(path))
    assert looked(path) == 4


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_zeros_anywhere(path, seed):
    """Bits, blocks and ends that are gone, anywhere: check answers, and whoever looks is told in words."""
    chance = random.Random(seed)
    files = sorted(one for one in path.rglob("*") if one.is_file() and one.stat().st_size)
    for _ in range(6):
        file = chance.choice(files)
        kept = file.read_bytes()
        content = bytearray(kept)
        at = chance.randrange(len(content))
        kind = chance.choice(("zeros", "bit", "end", "noise"))
        size = chance.choice((1, 64, 512, 4096))
        if kind == "bit":
            content[at] ^= 1 << chance.randrange(8)
        elif kind == "end":
            del content[at:]
        else:
            content[at : at + size] = bytes(size) if kind == "zeros" else chance.randbytes(size)
        file.write_bytes(content)
        try:
            errors(path)
            assert looked(path) in (0, 4, 5)
        finally:
            file.write_bytes(kept)
            for beside in Path(path).rglob("documents.sqlite-*"):
                beside.unlink()


@pytest.mark.parametrize("name", ["first", "ends", "docs"])
def test_an_index_of_words_that_leads_nowhere(path, name):
    def change(folder):
        file = folder / "words" / "segment-1" / f"{name}.npy"
        array = np.load(file)
        array[len(array) // 2 :] = 10**9
        np.save(file, array)

    resealed(path, part_of(path, "search").name, change)
    assert looked(path) == 4


@pytest.mark.parametrize("after", ["'../..'", "1e308", "'[]'", "0.5"])
def test_a_log_that_does_not_say_which_state_holds(path, after):
    forged(path, f"UPDATE edits SET after = {after}")
    assert errors(path)
    with pytest.raises(DamagedError, match="expected a number"):
        Collection.open(path)


@pytest.mark.parametrize(("name", "value"), [("stem", ["en"]), ("segmenter", 3), ("stop_words", {}), ("titles", "x")])
def test_settings_of_counting_that_are_of_another_kind(path, name, value):
    def change(folder):
        body = json.loads((folder / "counting.json").read_text())
        body["settings"][name] = value
        (folder / "counting.json").write_text(json.dumps(body))

    resealed(path, "counts-1", change)
    with Collection.open(path) as collection, pytest.raises(DamagedError, match=f"{name} has an invalid type"):
        list(collection.file(["a text"]))


@pytest.mark.parametrize(
    ("name", "value"), [("temperature_", []), ("temperature_", 0), ("concentration_", "x"), ("effective_length_", GONE)]
)
def test_a_number_of_the_model_that_is_none(path, name, value):
    """It was met when a document was filed, as an error of Python."""

    def change(folder):
        file = folder / "model" / "model.json"
        body = json.loads(file.read_text())
        assert name in body["fitted"]
        body["fitted"][name] = value
        if value is GONE:
            del body["fitted"][name]
        del body["sha256"]
        body["sha256"] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        file.write_text(json.dumps(body))

    resealed(path, part_of(path, "tree").name, change)
    assert looked(path) == 4
