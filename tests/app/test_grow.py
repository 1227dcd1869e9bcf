"""``topiarist grow`` as a person meets it; what it shares with ``topics`` is tested there."""

import json
import subprocess
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.app.test_cli import run, texts, written
from topiarist import Corpus, Tree
from topiarist.app.cli import grow as command
from topiarist.app.cli.commands import app
from topiarist.counts import CountSettings
from topiarist.tasks.topic_tree import grow_tree
from topiarist.text.documents import Document


def invoke(*arguments, **options):
    """Run in this process: as quick as it gets."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        return CliRunner().invoke(app, ["grow", *map(str, arguments)], env={"COLUMNS": "140"}, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(tmp_path_factory.mktemp("here") / "notes")


def test_the_tree_of_a_folder(folder):
    done = run("grow", folder, "--leaves", "2")
    assert done.returncode == 0, done.stderr
    _, header, _, root, *branches = done.stdout.splitlines()[:6]
    assert header.startswith("60 documents, 2 leaves, 1 level; coherence ")
    assert root.startswith("Everything: the · ")
    assert root.endswith("  60")
    assert all(line.endswith("  30") for line in branches)
    assert not any("star" in line and "cat" in line for line in branches)
    assert "2 leaves, as asked for (held-out perplexity" in done.stdout
    assert "Next: the same with --figure" in done.stdout
    assert "60 files: 60 read" in done.stderr
    assert "Growing the tree …" in done.stderr
    assert "\x1b" not in done.stdout


def test_the_number_of_leaves_is_chosen_and_the_choice_explained(folder):
    done = invoke(folder)
    assert done.exit_code == 0, done.output
    assert "the smallest tree within 1 % of the best of 1–" in done.stdout


def test_the_bundled_collection():
    done = invoke("demo", "--limit", "300", "--leaves", "4", "--words", "3", "--depth", "1")
    assert done.exit_code == 0, done.output
    assert "300 documents, 4 leaves" in done.stdout
    assert "agreement with the documents' labels (NMI)" in done.stdout
    assert "grow YOUR-FOLDER" in done.stdout
    assert "│  │" not in done.stdout  # one level only


def test_json_is_one_document_and_says_the_same(folder):
    done = invoke(folder, "--leaves", "2", "--json", "--quiet", "--words", "4")
    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert found["n_docs"] == found["reading"]["read"] == 60
    assert found["n_leaves"] == 2
    assert found["tree"]["parents"] == [-1, 0, 0]
    assert len(found["nodes"][1]["words"]) == 4
    assert len(found["nodes"][1]["prototypes"]) == 3


def test_figures_are_written_and_always_the_same(folder, tmp_path):
    names = ("[red]tree.svg", "tree.png", "tree.pdf")
    for name in names:
        for place in ("first", "second"):
            (tmp_path / place).mkdir(exist_ok=True)
            drawing, curve = tmp_path / place / name, tmp_path / place / f"curve-{name}"
            done = invoke(folder, "--leaves", "2", "--figure", drawing, "--curve", curve)
            assert done.exit_code == 0, done.output
            assert name in done.stderr.replace("\n", "")  # as it is, not taken for a colour
    for drawing in (tmp_path / "first").iterdir():
        assert drawing.read_bytes() == (tmp_path / "second" / drawing.name).read_bytes()
        assert len(drawing.read_bytes()) > 1000


@pytest.mark.parametrize(
    ("prepare", "arguments", "code", "message"),
    [
        (lambda home: None, ["."], 3, "nothing to read in ."),
        (lambda home: (home / "a.txt").write_text("one two"), ["."], 3, "no word occurs in at least 3 documents"),
        (
            lambda home: [(home / f"{n}.txt").write_text("the same words") for n in range(30)],
            ["."],
            3,
            "nothing to tell 30 documents apart by",
        ),
        (
            lambda home: [(home / f"{n}.txt").write_text(f"alpha word{n % 2}") for n in range(6)],
            [".", "--min-documents", "1", "--leaves", "9"],
            3,
            "9 leaves need at least as many documents with words; 6 came",
        ),
        (lambda home: None, ["demo", "--figure", "tree.jpg"], 2, "ends in .png, .svg or .pdf, got tree.jpg"),
        (lambda home: None, ["demo", "--curve", "no/such/curve.svg"], 2, "there is no folder no/such"),
        (lambda home: None, ["demo", "--leaves", "0"], 2, "--leaves"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_an_exit_code(tmp_path, monkeypatch, prepare, arguments, code, message):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = invoke(*arguments)
    assert done.exit_code == code, done.output
    assert message in done.stderr
    assert done.stdout == ""


def test_a_file_that_cannot_be_written(folder, tmp_path):
    (tmp_path / "tree.svg").mkdir()
    done = invoke(folder, "--leaves", "2", "--figure", tmp_path / "tree.svg")
    assert done.exit_code == 2
    assert "cannot write" in done.stderr


def test_without_matplotlib_a_figure_is_refused_before_the_work(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = invoke("demo", "--figure", "tree.svg")
    assert done.exit_code == 5
    assert "pip install 'topiarist[plot]'" in done.stderr
    assert "Reading" not in done.stderr


def test_few_and_odd_documents(tmp_path):
    for number, text in enumerate(["cat mat moon", "dog moon night", "star night sky"]):
        (tmp_path / f"{number}.txt").write_text(text)
    done = invoke(tmp_path, "--min-documents", "1")
    assert done.exit_code == 0, done.output
    assert "3 documents, 1 leaf;" in done.stdout
    assert "with --leaves 2 to have them divided anyway" in done.stdout


def test_words_of_any_script():
    themes = ["猫と犬は家で飼う動物", "望遠鏡で星を観測した", "Größe der Umlaufbahn Übung Straße"]
    lines = "\n".join(json.dumps({"text": f"{themes[n % 3]} {themes[n % 3]} {n}"}) for n in range(60))
    done = invoke("-", "--leaves", "3", input=lines)
    assert done.exit_code == 0, done.output
    assert "größe" in done.stdout
    assert "動物" in done.stdout


def test_ctrl_c_keeps_the_best_tree_so_far(folder, monkeypatch):
    @contextmanager
    def impatient(title, *, show):
        def watch(record):
            if record.n_leaves[-1] == 3:
                raise KeyboardInterrupt

        yield watch

    monkeypatch.setattr("topiarist.tasks.cam.growing_tree", impatient)
    done = invoke(folder, "--leaves", "8")
    assert done.exit_code == 130
    assert "3 leaves when growing was stopped" in done.stdout
    assert "Stopped before the end: this is the best tree so far." in done.stderr


@pytest.fixture(scope="module")
def found():
    documents = [Document(str(n), text) for n, text in enumerate(texts())]
    return grow_tree(Corpus.from_documents(documents, CountSettings()), 2)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_lines_fit_the_terminal_and_are_coloured_there(found, width):
    console = Console(width=width, force_terminal=True, color_system="standard", record=True, file=StringIO())
    command.show(found, console, 1.0)
    text = console.export_text(clear=False)
    assert max(map(len, text.splitlines())) <= max(width, command.NARROWEST)
    assert "\x1b[1m" in console.export_text(styles=True)


def test_of_a_large_tree_as_many_levels_as_can_be_read(found, monkeypatch):
    monkeypatch.setattr(command, "MOST_LINES", 2)
    deep = replace(found, tree=Tree((-1, 0, 0, 1, 1)), nodes=found.nodes[:1] * 5)
    console = Console(width=80, record=True, file=StringIO())
    command.show(deep, console, 1.0)
    assert "   └─ … 2 more" in console.export_text().replace("│", " ")


def test_a_terminal_without_our_signs_gets_plain_ones(folder):
    script = [sys.executable, "-m", "topiarist", "grow", str(folder), "--leaves", "2", "--quiet"]
    done = subprocess.run(script, capture_output=True, env={"PYTHONIOENCODING": "ascii", "PATH": ""}, check=True)
    assert b"|- " in done.stdout
    assert b"`- " in done.stdout


def test_help_has_examples():
    shown = invoke("--help").stdout
    assert "topiarist grow ./mail --stop-words en --phrases" in shown
    for option in ("--leaves", "--words", "--seed", "--threads", "--json", "--figure", "--curve", "--depth"):
        assert option in shown
