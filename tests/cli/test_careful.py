"""What a command must not do: take what is not its own, write where it should not, obey what a document says."""

import contextlib
import errno
import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

import topiarist
from tests.cli.test_cli import PATIENCE
from tests.grown import N_DOCS, new_documents
from topiarist.cli.commands import app
from topiarist.collection.collection import Collection
from topiarist.collection.file.arrivals import collect_batches
from topiarist.text.documents import Document


@pytest.fixture
def arrived(path):
    file = path.parent / "new.jsonl"
    rows = [{"id": one.id, "title": one.title, "text": one.text} for one in new_documents(10)]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_a_model_replaces_a_model_and_nothing_else(typed, path):
    model = path.parent / "model"
    typed("export", "-o", "model", "--what", "model")
    typed("export", "-o", "model", "--what", "model", "--force")
    assert sorted(os.listdir(model)) == ["model.json", "model.safetensors", "vocabulary.json"]
    (model / "thesis.txt").write_text("years of work")
    done = typed("export", "-o", "model", "--what", "model", "--force", code=2)
    assert "thesis.txt" in done.stderr
    assert (model / "thesis.txt").read_text() == "years of work"
    assert (model / "model.json").exists()
    assert [name for name in os.listdir(path.parent) if name.startswith(".")] == []


def test_a_model_that_cannot_be_written_leaves_the_old_one(typed, path, monkeypatch):
    typed("export", "-o", "model", "--what", "model")
    before = (path.parent / "model" / "model.json").read_bytes()

    def fails(*_, **__):
        raise OSError(28, "No space left on device", "model")

    monkeypatch.setattr("topiarist.estimators.model_folder.save_model", fails)
    typed("export", "-o", "model", "--what", "model", "--force", code=5)
    assert (path.parent / "model" / "model.json").read_bytes() == before


@pytest.mark.parametrize("target", ["notes.topiary/rows.csv", "notes.topiary/sub/../rows.csv"])
def test_nothing_is_exported_into_a_collection(typed, path, target):
    assert "a collection" in typed("export", "-o", target, "--force", code=2).stderr
    assert not (path / "rows.csv").exists()
    typed("export", "-o", "notes.topiary", "--what", "model", "--force", code=2)
    typed("export", "-o", "notes.topiary/model", "--what", "model", code=2)
    typed("tree")


def test_a_folder_is_no_file_and_json_needs_one(typed, path):
    (path.parent / "dd").mkdir()
    assert "dd is a folder" in typed("export", "-o", "dd", "--format", "csv", "--force", code=2).stderr
    assert "--format jsonl" in typed("export", "-o", "-", "--json", code=2).stderr


HERE = str(Path(topiarist.__file__).parents[1])
TRICKS = "\x1b[5m \x1b]0;owned\x07 \x9b5m \u202egnp.exe $(touch owned)"


@pytest.fixture
def tricky(path, collection):
    """A document and a topic that try to steer the terminal and the shell."""
    id = f"id {TRICKS}"
    document = Document(id, "galaxies and the dark matter halo " * 5, f"Title {TRICKS}", labels=(f"Label {TRICKS}",))
    collection.add([document], learn=False)
    return id


@pytest.mark.parametrize(
    "words",
    [("tree", "--documents", 3), ("find", "dark", "halo"), ("find", "halo", "--json"), ("show", "{id}"),
     ("similar", "{id}", "--why"), ("show", "{id}", "--json"), ("file", "new.jsonl"), ("show", "{id}x"),
     ("shape", "pin", "{id}", "to", "1"), ("shape", "rename", "1", "{id}"), ("export", "-o", "-")],
)  # fmt: skip
def test_documents_steer_neither_terminal_nor_shell(tricky, path, words):
    row = {"id": tricky + "2", "title": TRICKS, "text": "zzyzx qwerty flurb grault"}
    (path.parent / "new.jsonl").write_text(json.dumps(row))
    command, *rest = (str(word).replace("{id}", tricky) for word in words)
    shown, code = on_a_terminal(path.parent, command, path.name, *rest)
    assert code in (0, 2)
    plain = STYLES.sub("", shown)
    assert not [sign for sign in plain if not sign.isprintable() and sign not in "\r\n"], repr(plain)
    commands = [line for line in plain.splitlines() if line.lstrip("Next: ").startswith("topiarist ")]
    assert all("$(" not in line or "'" in line.split("$(")[0] for line in commands)


STYLES = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[12]?K|\x1b\[1A")


def environment():
    """As it is now, for a process that finds the same topiarist from any folder."""
    return {**os.environ, "PYTHONPATH": HERE, "TERM": "xterm-256color"}


def on_a_terminal(home, *words):
    """What a command shows on a terminal, and its exit code."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "topiarist", *words]
    with subprocess.Popen(
        line,
        cwd=home,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as running:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 4096):
                shown += piece
        os.close(ours)
        return shown.decode(), running.wait(PATIENCE)


def piped(home, words, lines):
    """The exit code of a command whose reader leaves after so many lines, and what it says of it."""
    line = [sys.executable, "-m", "topiarist", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, cwd=home, env=environment(), **pipes) as running:
        for _ in range(lines):
            running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read().decode()
        return running.wait(PATIENCE), said


@pytest.mark.parametrize("words", [("tree",), ("export", "-o", "-"), ("show", "1"), ("tree", "--json")])
def test_a_reader_may_leave(path, words):
    code, said = piped(path.parent, (words[0], path.name, *words[1:]), 0)
    assert code == 0
    assert "Error" not in said


@pytest.mark.parametrize("format", ["table", "csv", "jsonl"])
def test_a_reader_who_leaves_does_not_end_the_work(path, arrived, format, typed):
    code, _ = piped(path.parent, ("file", path.name, arrived.name, "--add", "--format", format), 1)
    assert code == 0
    assert typed("tree", "--json")["documents"] == N_DOCS + 10


def test_no_color_is_no_style_at_all(path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_a_terminal(path.parent, "tree", path.name)[0]


@pytest.mark.parametrize(
    "words",
    [("rename", 1, "A", "--undo"), ("--undo", "--log"), ("--undo", "--interactive"), ("--interactive", "--dry-run"),
     ("--log", "--dry-run"), ("--undo", "--no-refit"), ("--no-refit",), ("rename", 1, "A", "--refit")],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(typed, words):
    before = typed("tree", "--json")
    assert "Try: " in typed("shape", *words, code=2).stderr
    assert typed("tree", "--json") == before


def test_an_undo_can_be_looked_at_first(typed):
    typed("shape", "rename", 1, "Waves")
    done = typed("shape", "--undo", "--dry-run")
    assert "Would be undone: rename 1 Waves" in done.stdout
    assert typed("show", 1, "--json")["name"] == "Waves"
    planned = typed("shape", "--undo", "--dry-run", "--json")
    assert planned["changes"] == typed("shape", "--undo", "--json")["changes"]
    assert typed("show", 1, "--json")["name"] != "Waves"


def test_paths_in_rows_are_those_of_an_export(typed, arrived):
    typed("shape", "rename", 1, "Waves / surfaces")
    rows = [
        json.loads(line) for line in typed("file", arrived.name, "--rho", 0, "--format", "jsonl").stdout.splitlines()
    ]
    known = {row["path"] for row in map(json.loads, typed("export", "-o", "-", "--what", "topics", "--format", "jsonl")
                                        .stdout.splitlines())}  # fmt: skip
    assert {row["path"] for row in rows} <= known
    assert any("\\/" in path for path in known)


def test_a_stream_is_kept_batch_by_batch(typed, arrived, monkeypatch):
    monkeypatch.setattr("topiarist.cli.commands.file.BATCH", 4)
    done = typed("file", "-", "--add", "--no-learn", stdin=arrived.read_text())
    assert "4 documents added so far" in done.stderr
    assert typed("tree", "--json")["documents"] == N_DOCS + 10
    again = "\n".join(
        [*(json.dumps({"id": f"n{number}", "text": "dark halo"}) for number in range(4)), arrived.read_text()]
    )
    done = typed("file", "-", "--add", "--no-learn", stdin=again, code=3)
    assert "4 documents before are kept" in done.stderr
    assert typed("tree", "--json")["documents"] == N_DOCS + 14


def test_documents_gather_by_number_or_by_time():
    received = threading.Event()

    def documents(first):
        yield from (Document(str(number), "text") for number in range(first))
        assert received.wait(PATIENCE)
        yield Document("last", "text")

    for first, patience in ((3, PATIENCE), (1, 0.01)):  # full, and not full when nobody wants to wait any longer
        received.clear()
        batches = collect_batches(documents(first), 3, patience)
        assert len(next(batches)) == first
        received.set()
        assert [[document.id for document in batch] for batch in batches] == [["last"]]


@pytest.mark.parametrize("number", [errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_system_that_refuses_is_no_fault_of_ours(typed, monkeypatch, number):
    def refuses(*_, **__):
        raise OSError(number, os.strerror(number), "rows.csv")

    monkeypatch.setattr("topiarist.collection.describe.tables.write_table", refuses)
    done = typed("export", "-o", "rows.csv", code=5)
    assert "rows.csv" in done.stderr
    assert "Try: " in done.stderr


def test_arguments_are_utf8_whatever_the_locale(path):
    quiet = {**environment(), "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for words in (("shape", path.name, "rename", "1", "Größe"), ("show", path.name, "1")):
        line = [sys.executable, "-m", "topiarist", *words]
        done = subprocess.run(line, cwd=path.parent, env=quiet, capture_output=True, check=True)
    assert done.stdout.isascii()
    assert b"####" in done.stdout
    with Collection.open(path) as collection:
        assert collection.outline.name(1) == "Größe"


def test_doctor_as_json():
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert found["topiarist"] == topiarist.__version__


def test_verbose_everywhere(typed):
    assert typed("tree", "-v").stdout == typed("tree", "-q").stdout
