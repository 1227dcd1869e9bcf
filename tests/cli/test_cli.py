"""The command line as a person meets it: what it prints, where, and with which exit code."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import topiarist
from topiarist.cli.terminal.failures import explain_failures

TOPIARIST = [sys.executable, "-m", "topiarist"]
PATIENCE = 600  # seconds for one command, on a machine that may have other things to do
HERE = {"PYTHONPATH": str(Path(topiarist.__file__).parents[1])}  # in whatever folder a command runs


def divided(arguments):
    """Return the variables among the arguments, such as ``TOPIARIST_WORDS=4``, and the other arguments."""
    variables = [one for one in map(str, arguments) if one.startswith("TOPIARIST_")]
    return dict(one.split("=", 1) for one in variables), [one for one in map(str, arguments) if one not in variables]


def run(*arguments, stdin="", **options):
    variables, others = divided(arguments)
    environment = os.environ | HERE | {"COLUMNS": "140", "NO_COLOR": "1"} | variables
    return subprocess.run(
        [*TOPIARIST, *others],
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        timeout=PATIENCE,
        check=False,
        **options,
    )


def hears_ctrl_c():
    """In a new process, before the command: Ctrl-C is heard even where a job in the background would ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def texts():
    """Two subjects with a common language, no two texts the same."""
    themes = ["cat dog mouse fur paw tail whisker", "star moon planet orbit comet sky telescope"]
    for number in range(60):
        words = themes[number % 2].split()
        picked = " ".join(words[(number + step) % 7] for step in range(5))
        yield f"the story of {picked} and the {words[number % 7]} no{number}"


def written(home):
    """The texts as files of a new folder."""
    home.mkdir()
    for number, text in enumerate(texts()):
        (home / f"{number:02}.txt").write_text(text)
    return home


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "notes")


def test_topics_of_a_folder(folder):
    done = run("topics", folder, "--topics", "2")
    assert done.returncode == 0, done.stderr
    assert "star" in done.stdout
    assert "cat" in done.stdout
    rows = [line for line in done.stdout.splitlines() if "▇" in line]
    assert len(rows) == 2
    assert not any("star" in row and "cat" in row for row in rows)
    assert "General language: the" in done.stdout
    assert "Next: topiarist topics" in done.stdout
    assert "60 files: 60 read" in done.stderr
    assert "\x1b" not in done.stdout


def test_json_is_one_document_and_says_the_same(folder):
    done = run("topics", folder, "--topics", "2", "--json", "TOPIARIST_WORDS=4", "--quiet")
    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert found["n_docs"] == 60
    assert [len(topic["words"]) for topic in found["topics"]] == [4, 4]
    assert sum(topic["share"] for topic in found["topics"]) == pytest.approx(1.0, abs=1e-5)
    assert found["reading"]["read"] == 60


def test_same_seed_same_topics_for_any_number_of_threads(folder):
    first, second = (
        json.loads(
            run("topics", folder, "-k", "3", "--json", "--quiet", "--seed", "5", f"TOPIARIST_THREADS={n}").stdout
        )["topics"]
        for n in (1, 2)
    )
    assert first == second


def test_options_reach_the_counter(folder, tmp_path):
    stop = tmp_path / "stop.txt"
    stop.write_text("cat\nstar\n")
    done = run("topics", folder, "-k", "2", f"TOPIARIST_STOP_WORDS={stop}", "TOPIARIST_WORDS=7", "--json", "--quiet")
    words = {word for topic in json.loads(done.stdout)["topics"] for word in topic["words"]}
    assert "moon" in words
    assert not words & {"cat", "star"}


def test_auto_falls_back_to_nothing_where_no_language_is_found(tmp_path):
    lines = "\n".join(json.dumps({"text": f"{'xq' * (n % 3 + 1)} {'zz' * (n % 2 + 1)}"}) for n in range(20))
    done = run("topics", "-", "-k", "2", "TOPIARIST_STOP_WORDS=auto", "TOPIARIST_STEM=auto", stdin=lines)
    assert done.returncode == 0, done.stderr


def test_the_bundled_collection():
    done = run("topics", "demo", "--limit", "400", "--topics", "4")
    assert done.returncode == 0, done.stderr
    assert "abstracts of arXiv" in done.stderr
    assert "English" in done.stderr
    assert done.stdout.count("▇") >= 4


def test_standard_input():
    lines = "\n".join(json.dumps({"text": text}) for text in texts())
    done = run("topics", "-", "-k", "2", stdin=lines)
    assert done.returncode == 0, done.stderr
    assert "star" in done.stdout


@pytest.mark.parametrize(
    ("prepare", "arguments", "code", "message"),
    [
        (lambda home: None, ["missing"], 2, "missing"),
        (lambda home: (home / "a.xyz").write_bytes(b"\xd0\xcf"), ["."], 3, "nothing to read in ."),
        (lambda home: (home / "a.txt").write_text(""), ["."], 3, "no usable text"),
        (lambda home: (home / "a.txt").write_bytes(bytes(range(256)) * 40), ["."], 3, "not text"),
        (lambda home: (home / "a.txt").write_text("one two"), ["."], 3, "no word occurs in at least 3 documents"),
        (
            lambda home: [(home / f"{n}.txt").write_text(f"alpha word{n % 2}") for n in range(6)],
            [".", "TOPIARIST_MIN_DOCUMENTS=1"],
            3,
            "20 topics need at least as many documents with words, got 6",
        ),
        (
            lambda home: [(home / f"{n}.txt").write_text("same words here") for n in range(30)],
            ["."],
            3,
            "occurs in more than half of the documents",
        ),
        (
            lambda home: (home / "t.csv").write_text("id,summary,description\n1,abc def,ghi jkl\n"),
            ["t.csv"],
            2,
            "no column is known to hold the text",
        ),
        (
            lambda home: (home / "t.csv").write_text("id,body\n1,abc def\n"),
            ["t.csv", "--text-column", "bdy"],
            2,
            "body",
        ),
        (lambda home: (home / "a.txt").write_text("x"), [".", "TOPIARIST_STOP_WORDS=klingon"], 2, "klingon"),
        (
            lambda home: (home / "a.txt").write_text("x"),
            [".", "TOPIARIST_STOP_WORDS=no/such.txt"],
            2,
            "no file of stop words",
        ),
        (lambda home: None, [".", "--topics", "0"], 2, "--topics"),
        (lambda home: None, [".", "--topcis", "3"], 2, "--topics"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_an_exit_code(tmp_path, prepare, arguments, code, message):
    prepare(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = run("topics", *arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before


def test_a_gzip_that_ends_early_keeps_what_came_before(tmp_path):
    lines = "\n".join(json.dumps({"text": text}) for text in [*texts()] * 20)
    whole = gzip.compress(lines.encode())
    (tmp_path / "news.jsonl.gz").write_bytes(whole[: len(whole) * 3 // 4])
    done = run("topics", "news.jsonl.gz", "-k", "2", cwd=tmp_path)
    assert done.returncode == 0  # one file of many lines: what came before the break is far more than was lost
    assert "news.jsonl.gz" in done.stderr
    assert "Left out (1)" in done.stderr
    assert "star" in done.stdout


def test_too_many_failures_change_the_exit_code_not_the_answer(folder):
    for number in range(10):
        (folder / f"bad{number}.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = run("topics", folder, "-k", "2", "--quiet")
    assert done.returncode == 1
    assert "Left out (10):" in done.stderr
    assert "and 5 more" in done.stderr
    assert "star" in done.stdout
    assert run("topics", folder, "-k", "2", "--quiet", "TOPIARIST_MAX_FAILURES=50").returncode == 0


def test_ctrl_c_while_reading_says_stopped(tmp_path):
    environment = os.environ | {"COLUMNS": "140"}
    process = subprocess.Popen(
        [*TOPIARIST, "topics", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        preexec_fn=hears_ctrl_c,
    )
    assert "Reading" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Stopped." in err
    assert "Traceback" not in err


def test_a_title_cannot_move_the_cursor(tmp_path):
    records = [{"text": text, "title": f"\x1b[2J\x07[red]title[/red] {n}"} for n, text in enumerate(texts())]
    lines = "\n".join(map(json.dumps, records))
    done = run("topics", "-", "-k", "2", stdin=lines)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "[red]title" in done.stdout  # shown as it is, not taken for a colour


def test_help_is_quick_to_load_and_has_examples():
    script = "import sys, topiarist.cli.commands; print([m for m in ('numpy', 'numba', 'sklearn') if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
    shown = run("topics", "--help")
    assert shown.returncode == 0
    assert "TOPIARIST_STOP_WORDS=en topiarist topics ./mail --topics 30" in shown.stdout
    assert "More settings are keys of topiarist.toml" in shown.stdout
    for option in ("--text-column", "--seed", "--json"):
        assert option in shown.stdout


def test_doctor_and_version():
    assert run("--version").stdout.startswith("topiarist 0.")
    found = run("doctor")
    assert found.returncode == 0
    for part in ("numpy", "numba", "kernels", "SQLite"):
        assert part in found.stdout


def test_doctor_says_what_would_bring_the_readers_that_are_missing(monkeypatch):
    from topiarist.cli.commands import doctor

    assert doctor._describe_readers() == f"text, mail, tables, zip and tar; {', '.join(doctor.READERS)}"
    missing = {"pypdfium2", "lxml", "ijson"}
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None if name in missing else name)
    assert doctor._describe_readers() == (
        "text, mail, tables, zip and tar; web pages, spreadsheets, RTF, LaTeX, Outlook; "
        "NOT PDF (pypdfium2), Word, slides, OpenDocument, books and XML (lxml): pip install 'topiarist[office]'; "
        "NOT JSON (ijson): install topiarist again"
    )


ONE_SET = """
import sys
from topiarist.cli import main
from topiarist.cli.commands import doctor
from topiarist.kernels.counts import compiled

doctor.SETS = {"float64": ("search",)}
compiled.prepare = lambda dtype: None
sys.argv = ["topiarist", "doctor", *sys.argv[1:]]
main()
"""


def test_doctor_knows_whether_the_kernels_are_there(tmp_path):
    """Asked about one set of kernels: all of them are half a minute of compiling, and every fit compiles its own."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | HERE
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path), "COLUMNS": "140"}
    home = tmp_path / "here"
    home.mkdir()

    def doctor(*options):
        command = [sys.executable, "-c", ONE_SET, *options]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=home, check=True).stdout

    assert "not compiled yet" in doctor()
    assert not list(tmp_path.rglob("*.nbc"))
    assert "compiled just now" in doctor("--warm")
    assert list((tmp_path / "cache").rglob("*.nbc"))  # code, and not only the note that it is there
    assert "ready" in doctor()
    assert list(home.iterdir()) == []  # nothing is left where the user happens to be


def test_a_terminal_without_our_signs_is_no_error(folder):
    environment = os.environ | {"PYTHONIOENCODING": "latin-1", "COLUMNS": "140"}
    command = [*TOPIARIST, "topics", str(folder), "-k", "2"]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0
    assert b"star" in done.stdout


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), 5, "not enough memory"),
        (OSError(28, "No space left on device", "x.json"), 5, "the disk is full (x.json)"),
        (OSError(5, "Input/output error"), 5, "the disk reports an input/output error"),
        (ZeroDivisionError(), 70, "failed where it should not have.\n"),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
def test_every_exception_is_explained(error, code, message, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as left, explain_failures(debug=False):
        raise error
    assert left.value.code == code
    assert message in capsys.readouterr().err
