"""``topiarist grow`` as a person meets it; what it shares with ``topics`` is tested there."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.cli.test_cli import HERE, PATIENCE, TOPIARIST, divided, hears_ctrl_c, run, texts, written
from tests.grown import documents
from topiarist import Corpus, Tree
from topiarist.cli import grow_result
from topiarist.cli.commands import app
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.describe.topic_tree import grow_tree
from topiarist.counts import CountSettings
from topiarist.storage import edit_log
from topiarist.text.documents import Document


def invoke(*arguments, **options):
    """Run in this process: as quick as it gets."""
    variables, others = divided(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        return CliRunner().invoke(app, ["grow", *others], env={"COLUMNS": "140", **variables}, **options)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder to work in, which holds notes."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "notes")
    return tmp_path


def test_a_folder_becomes_a_collection(home):
    done = run("grow", "notes", "--topics", "2", cwd=home)
    assert done.returncode == 0, done.stderr
    _, _, facts, _, root, *branches = done.stdout.splitlines()[:7]
    assert facts.startswith("notes.topiary · 60 documents · 2 topics · held-out perplexity ")
    assert root.startswith("Everything: the · ")
    assert root.endswith("  60")
    assert all(line.endswith("  30") for line in branches)
    assert not any("star" in line and "cat" in line for line in branches)
    assert "2 topics, as asked for (held-out perplexity" in done.stdout
    assert "Next:  topiarist " in done.stdout
    for said in ("Reading notes …", "60 files: 60 read", "Growing the tree …", "Describing the topics …", "Indexing …"):
        assert said in done.stderr
    assert "60 documents, by words and by meaning" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert sorted(path.name for path in (home / "notes.topiary").iterdir() if path.name != "lock") == sorted(
        ["manifest.json", *(path.name for path in (home / "notes.topiary").glob("g-*"))]
    )
    collection = Collection.open(home / "notes.topiary")
    assert len(collection) == 60
    assert collection.settings["sources"] == ["notes"]
    assert check_folder(home / "notes.topiary") == []


def test_the_number_of_topics_is_chosen_and_the_choice_explained(home):
    done = invoke("notes")
    assert done.exit_code == 0, done.output
    assert "the smallest tree within 1% of the best of 1–" in done.stdout


def test_the_bundled_collection(home):
    done = invoke("demo", "--limit", "300", "--leaves", "4", "TOPIARIST_WORDS=3", "TOPIARIST_DEPTH=1")
    assert done.exit_code == 0, done.output
    assert "demo.topiary · 300 documents · 4 topics" in done.stdout
    assert "agreement with the labels (NMI)" in done.stdout
    assert "│  │" not in done.stdout  # one level only
    assert (home / "demo.topiary").is_dir()


def test_json_is_one_document_with_events_on_standard_error(home):
    done = invoke("notes", "--topics", "2", "--json", "TOPIARIST_WORDS=4")
    found = json.loads(done.stdout)
    assert found["n_docs"] == found["reading"]["read"] == 60
    assert found["n_leaves"] == 2
    assert found["folder"] == "notes.topiary"
    assert found["tree"]["parents"] == [-1, 0, 0]
    assert len(found["nodes"][1]["words"]) == 4
    assert len(found["nodes"][1]["prototypes"]) == 3
    assert found["n_hard_to_place"] == 0
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [event["phase"] for event in events if event["event"] == "phase"] == [
        "Reading notes", "Growing the tree", "Describing the topics", "Indexing",
    ]  # fmt: skip
    assert any(event.get("topics") == 2 and event["perplexity"] > 1 for event in events)
    assert invoke("notes", "--topics", "2", "--json", "--quiet", "--force").stderr == ""


def test_several_sources_and_a_name_of_its_own(home):
    written(home / "more")
    for path in sorted((home / "more").iterdir())[:40]:
        path.unlink()
    done = invoke("notes", "more", "--topics", "2", "-o", "both.topiary")
    assert done.exit_code == 0, done.output
    assert len(Collection.open("both.topiary")) == 80
    assert not (home / "notes.topiary").exists()


def test_what_is_there_is_never_overwritten_silently(home):
    assert invoke("notes", "--topics", "2").exit_code == 0
    before = Collection.open("notes.topiary").folder.manifest
    again = invoke("notes", "--topics", "2")
    assert (again.exit_code, again.stdout) == (0, "notes.topiary: Already up to date (force with --force)\n")
    assert json.loads(invoke("notes", "--topics", "2", "--json").stdout)["up_to_date"]
    other = invoke("notes", "--topics", "3")
    assert other.exit_code == 2
    assert "there is a collection at notes.topiary already, from other files or with other settings" in other.stderr
    (home / "notes" / "new.txt").write_text("the story of a new cat")
    assert invoke("notes", "--topics", "2").exit_code == 2
    assert Collection.open("notes.topiary").folder.manifest == before
    assert invoke("notes", "--topics", "2", "--force").exit_code == 0
    assert len(Collection.open("notes.topiary")) == 61
    (home / "mine").mkdir()
    (home / "mine" / "thesis.txt").write_text("years of work")
    mine = invoke("notes", "-o", "mine", "--force")
    assert mine.exit_code == 2
    assert "mine is a folder with other files, not a collection" in mine.stderr
    assert (home / "mine" / "thesis.txt").exists()


def test_what_failed_lies_in_a_table_and_changes_the_exit_code(home):
    for number in range(10):
        (home / "notes" / f"=bad{number}.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = invoke("notes", "--topics", "2", "--quiet")
    assert done.exit_code == 1
    assert "10 files or rows failed: notes.topiary/problems.csv" in done.stdout.splitlines()[-1]
    assert "Warning: 10 of 70 could not be read (14%; max-failures allows 5%)" in done.stderr
    assert "and 5 more (problems.csv)" in done.stderr
    rows = list(csv.DictReader((home / "notes.topiary" / "problems.csv").open()))
    assert len([row for row in rows if row["source"] != "(collection)"]) == 10
    assert all(row["source"] and row["reason"] for row in rows)
    assert check_folder("notes.topiary") == []
    assert invoke("notes", "--topics", "2", "--quiet", "TOPIARIST_MAX_FAILURES=50", "--force").exit_code == 0


def test_a_failed_file_is_named_when_an_error_follows(home):
    (home / "few").mkdir()
    (home / "few" / "good.txt").write_text("a few words")
    (home / "few" / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = invoke("few")
    assert done.exit_code == 3
    assert "no word occurs in at least 3 documents" in done.stderr
    assert "Left out: few/bad.pdf: " in done.stderr
    assert not (home / "few.topiary").exists()


def test_figures_are_written_and_always_the_same(home):
    names = ("[red]tree.svg", "tree.png", "tree.pdf")
    for place in ("first", "second"):
        (home / place).mkdir()
        for name in names:
            drawing = home / place / name
            done = invoke("notes", "--topics", "2", "--figure", drawing, "--force")
            assert done.exit_code == 0, done.output
            assert name in done.stderr.replace("\n", "")  # as it is, not taken for a colour
    for drawing in (home / "first").iterdir():
        assert drawing.read_bytes() == (home / "second" / drawing.name).read_bytes()
        assert len(drawing.read_bytes()) > 1000


TABLE = "id,opened,summary,description,state\n" + "".join(
    f"{n},2020,{'a short summary of it ' * 2},{'a long description of what happened ' * 12},open\n" for n in range(5)
)


@pytest.mark.parametrize(
    ("prepare", "arguments", "code", "message"),
    [
        (
            lambda home: [(home / "in" / f"{n}.sav").write_bytes(b"\xd0") for n in range(12)],
            ["in"],
            3,
            "Error: nothing to read in in\n  Looked for text, web pages, PDF, office files, books, mail, tables and "
            "archives in 1 folder; found 12 .sav files.\n"
            "  Try: Save them as CSV, or name the files with --include '*.log'.",
        ),
        (
            lambda home: (home / "in" / "tickets.csv").write_text(TABLE),
            ["in/tickets.csv"],
            2,
            "Error: no column is known to hold the text; in/tickets.csv has: id, opened, summary, description, state\n"
            "  Try: Choose the column of the text, such as --text-column description (432 characters on average).",
        ),
        (
            lambda home: [(home / "in" / f"{n}.txt").write_text("the same words") for n in range(30)],
            ["in"],
            3,
            "no word distinguishes the 30 documents",
        ),
        (
            lambda home: [(home / "in" / f"{n}.txt").write_text(f"alpha word{n % 2}") for n in range(6)],
            ["in", "TOPIARIST_MIN_DOCUMENTS=1", "--topics", "9"],
            3,
            "9 topics need at least as many documents with words, got 2",
        ),
        (lambda home: None, ["demo", "--figure", "tree.jpg"], 2, "ends in .png, .svg or .pdf, got tree.jpg"),
        (lambda home: None, ["demo", "--topics", "0"], 2, "--topics"),
        (lambda home: None, ["demo", "--topics", "some"], 2, "or auto; got some"),
        (lambda home: None, ["demo", "--model", "lda"], 2, "cam"),
        (lambda home: None, ["demo", "TOPIARIST_LANGUAGE=klingon"], 2, "expected a language such as 'en'"),
        (lambda home: None, ["demo", "TOPIARIST_STOP_WORDS=klingon"], 2, "klingon"),
        (lambda home: None, ["demo", "TOPIARIST_STOP_WORDS=no/such.txt"], 2, "no file of stop words"),
        (lambda home: None, ["demo", "--hierarchy", "no.txt"], 2, "there is no hierarchy at no.txt"),
        (lambda home: None, ["demo", "--labels", "no.csv"], 2, "there is no file of labels at no.csv"),
        (lambda home: None, ["-", "in"], 2, "standard input cannot be combined"),
        (lambda home: None, ["nowhere"], 2, "no such file or folder: nowhere"),
        (lambda home: None, ["demo", "--ledves", "3"], 2, "--leaves"),
        (
            lambda home: (home / "demo.topiary").write_text("a file"),
            ["demo", "--limit", "50"],
            2,
            "demo.topiary is a file, not a folder for a collection",
        ),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_an_exit_code(tmp_path, monkeypatch, prepare, arguments, code, message):
    (tmp_path / "in").mkdir()
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = invoke(*arguments)
    assert done.exit_code == code, done.output
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_a_collection_of_a_newer_version(home):
    assert invoke("notes", "--topics", "2").exit_code == 0
    manifest = home / "notes.topiary" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": 7, "topiarist": "2.1"}))
    done = invoke("notes", "--topics", "2")
    assert done.exit_code == 4
    assert "this collection was written by topiarist 2.1 (format 7)" in done.stderr
    assert "pip install -U topiarist" in done.stderr


def test_a_device_that_is_not_there_is_refused_before_the_work(home, monkeypatch):
    monkeypatch.setattr("numba.cuda.is_available", lambda: False)
    done = invoke("notes", "TOPIARIST_DEVICE=cuda")
    assert done.exit_code == 5
    assert "topiarist[cuda12]" in done.stderr
    assert "device='cpu'" in done.stderr
    assert not (home / "notes.topiary").exists()


def test_memory_that_is_not_there_is_refused_before_growing(home, monkeypatch):
    monkeypatch.setattr("topiarist.collection.grow.estimate.measure_free_memory", lambda: 100e6)
    done = invoke("notes")
    assert done.exit_code == 5
    assert (
        "needs about 400 MB of memory, 100 MB are free\n"
        "  Try: Use --memory 25MB, --limit 1000 or min-documents = 10 in topiarist.toml." in done.stderr
    )
    monkeypatch.undo()
    monkeypatch.chdir(home)
    taken_up = invoke("notes", "--resume")
    assert taken_up.exit_code == 0, taken_up.output
    assert "Resuming after the count" in taken_up.stderr


def test_a_file_that_cannot_be_written(home):
    (home / "tree.svg").mkdir()
    done = invoke("notes", "--topics", "2", "--figure", "tree.svg", "--force")
    assert done.exit_code == 2
    assert "cannot write" in done.stderr


def test_without_matplotlib_a_figure_is_refused_before_the_work(home, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = invoke("demo", "--figure", "tree.svg")
    assert done.exit_code == 5
    assert "pip install matplotlib" in done.stderr
    assert "Reading" not in done.stderr


def test_few_documents_are_not_judged_by_a_perplexity(home):
    (home / "few").mkdir()
    for number, text in enumerate(["cat mat moon", "dog moon night", "star night sky"]):
        (home / "few" / f"{number}.txt").write_text(text)
    done = invoke("few", "TOPIARIST_MIN_DOCUMENTS=1")
    assert done.exit_code == 0, done.output
    assert "few.topiary · 3 documents · 1 topic · " in done.stdout
    assert "perplexity" not in done.stdout + done.stderr
    assert "3 documents are too few to judge a tree" in done.stdout
    assert "--topics 2 --force to have them divided anyway" in done.stdout


def test_one_topic_says_so(home):
    (home / "same").mkdir()
    for number in range(60):
        (home / "same" / f"{number}.txt").write_text(f"word{number % 7} word{number % 5} word{number % 3}")
    done = invoke("same", "--topics", "1")
    assert "No structure found that holds up on unseen documents." in done.stdout


def test_words_of_any_script(home):
    themes = ["猫と犬は家で飼う動物", "望遠鏡で星を観測した", "Größe der Umlaufbahn Übung Straße"]
    lines = "\n".join(json.dumps({"text": f"{themes[n % 3]} {themes[n % 3]} {n}"}) for n in range(60))
    done = invoke("-", "--topics", "3", input=lines)
    assert done.exit_code == 0, done.output
    assert "größe" in done.stdout
    assert "動物" in done.stdout
    assert len(Collection.open("stdin.topiary")) == 60
    assert invoke("-", "--topics", "3", input=lines).exit_code == 2  # nobody knows that it is the same


def labelled(home):
    rows = ["id,text,kind,day"]
    rows += [f"d{n},{text},{'pets' if n % 2 == 0 else 'sky'},2020-01-{n % 28 + 1:02}" for n, text in enumerate(texts())]
    (home / "t.csv").write_text("\n".join(rows))
    (home / "tree.txt").write_text("living/pets\nlifeless/sky\n")


def test_columns_for_labels_and_dates(home):
    labelled(home)
    done = invoke("t.csv", "--label-column", "kind", "--date-column", "day", "--topics", "2")
    assert done.exit_code == 0, done.output
    assert "agreement with the labels (NMI) 1.00" in done.stdout
    collection = Collection.open("t.topiary")
    assert collection.documents.label_counts() == {"pets": 30, "sky": 30}
    assert collection.dates.span() == ("2020-01-01", "2020-01-28")


@pytest.mark.parametrize("how", [["--label-column", "kind"], ["--labels", "labels.csv"], ["--labels", "labels.jsonl"]])
def test_a_given_hierarchy_is_learned(home, how):
    labelled(home)
    kinds = [(f"d{n}", "pets" if n % 2 == 0 else "sky") for n in range(0, 60, 3)]
    (home / "labels.csv").write_text("id,label\n" + "\n".join(f"{id},{kind}" for id, kind in kinds))
    (home / "labels.jsonl").write_text("\n".join(json.dumps({"id": id, "labels": [kind]}) for id, kind in kinds))
    done = invoke("t.csv", "--hierarchy", "tree.txt", *how)
    assert done.exit_code == 0, done.output
    assert "living: " in done.stdout
    assert "└─ pets" in done.stdout
    assert "lifeless: " in done.stdout
    assert "2 topics, as in the given tree" in done.stdout
    assert invoke("t.csv", "--hierarchy", "tree.txt", "-o", "no.topiary").exit_code == 3
    assert not (home / "no.topiary").exists()


@pytest.mark.parametrize(
    "options",
    [["--model", "hplsa"], ["--model", "hplsa", "--memory", "200MB"], ["--model", "ggm"], ["TOPIARIST_ONLINE=true"]],
)
def test_other_models(home, options):
    done = invoke("notes", "--topics", "2", *options)
    assert done.exit_code == 0, done.output
    assert "60 documents · 2 topics" in done.stdout
    assert check_folder("notes.topiary") == []


def test_lines_that_many_share_are_not_counted_unless_they_are_wanted(home):
    footer = "This message may be confidential and is meant for its recipient and nobody else in the world"
    for path in sorted((home / "notes").iterdir())[:30]:
        path.write_text(f"Home\nNews\n{path.read_text()}\n\n{footer}\n")
    done = invoke("notes", "--topics", "2", "--json")
    told = json.loads(done.stdout)
    assert told["repeated"] == {"lines": 3, "documents": 30, "words": 30 * 19, "kept": 0}
    assert not any("confidential" in node["words"] for node in told["nodes"])
    done = invoke("notes", "--topics", "2", "--force")
    said = "3 lines that documents share are not counted, in 30 documents (570 words): see problems.csv; "
    assert said + "the setting keep-repeated counts them" in done.stderr
    table = (home / "notes.topiary" / "problems.csv").read_text()
    assert 'home,"a line of 30 documents, not counted"' in table
    done = invoke("notes", "--topics", "2", "--force", "TOPIARIST_KEEP_REPEATED=true")
    assert "3 lines that documents share are counted as any other, and shape the tree, in 30 documents" in done.stderr
    assert not (home / "notes.topiary" / "problems.csv").exists()  # no line and no copy is left out


def test_a_dry_run_writes_nothing(home):
    before = sorted(home.rglob("*"))
    done = invoke("notes", "--dry-run")
    assert done.exit_code == 0, done.output
    assert "60  .txt" in done.stdout
    assert "About 60 documents; growing takes about" in done.stdout
    assert "Nothing was written." in done.stdout
    assert sorted(home.rglob("*")) == before
    found = json.loads(invoke("notes", "--dry-run", "--json").stdout)
    assert found["files"][".txt"]["number"] == found["documents"] == 60
    assert found["memory"] > 1e8


def started(home, *arguments):
    environment = os.environ | HERE | {"COLUMNS": "140", "PYTHONUNBUFFERED": "1"}
    command = [*TOPIARIST, "grow", *arguments]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env=environment,
        preexec_fn=hears_ctrl_c,
    )


def until(process, text):
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"{text} was never said")


def test_ctrl_c_once_keeps_and_publishes_the_best_tree(home):
    process = started(home, "demo", "--limit", "3000", "--json", "--topics", "60")
    until(process, '"topics": 3')
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Stopping after this step; the best tree so far is kept. Again to stop at once." in err
    assert json.loads(out)["stopped"] == "interrupted"
    assert check_folder(home / "demo.topiary") == []
    again = run("grow", "demo", "--limit", "3000", "--topics", "60", cwd=home)
    assert again.returncode == 2
    assert "holds the tree of a grow that was stopped early" in again.stderr


def test_ctrl_c_twice_stops_at_once_and_resume_goes_on(home):
    process = started(home, "demo", "--limit", "3000", "--json", "--topics", "60")
    until(process, '"topics": 3')
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    if "Stopped. The finished part is in" in err:  # unless it was done already
        assert "Run the same command with --resume to continue" in err
        refused = run("grow", "demo", "--limit", "3000", "--topics", "60", cwd=home)
        assert refused.returncode == 2
        assert "there is an unfinished grow at demo.topiary" in refused.stderr
        other = run("grow", "demo", "--limit", "3000", "--topics", "4", "--resume", cwd=home)
        assert other.returncode == 2
        assert "was begun with other settings or files" in other.stderr


def test_ctrl_c_while_reading_keeps_nothing(home):
    process = started(home, "-")
    until(process, "Reading")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Stopped. Nothing was kept." in err
    assert "Traceback" not in err
    assert not (home / "stdin.topiary").exists()


def test_a_kill_at_the_very_end_needs_no_second_growing(home, monkeypatch):
    monkeypatch.setattr(
        "topiarist.storage.collection_folder.Growing.publish", lambda self: os._exit(9) if False else 1 / 0
    )
    assert invoke("notes", "--topics", "2").exit_code == 70
    monkeypatch.undo()
    monkeypatch.chdir(home)
    done = invoke("notes", "--topics", "2", "--resume")
    assert done.exit_code == 0, done.output
    assert "Growing the tree" not in done.stderr
    assert len(edit_log.history(Collection.open("notes.topiary").generation.database)) == 1


@pytest.fixture(scope="module")
def found():
    documents = [Document(str(n), text) for n, text in enumerate(texts())]
    return grow_tree(Corpus.from_documents(documents, CountSettings()), 2)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_lines_fit_the_terminal_and_are_coloured_there(found, width):
    console = Console(width=width, force_terminal=True, color_system="standard", record=True, file=StringIO())
    grow_result.print_tree(console, found)
    text = console.export_text(clear=False)
    assert max(map(len, text.splitlines())) <= max(width, grow_result.NARROWEST)
    assert "\x1b[1m" in console.export_text(styles=True)


def test_of_a_large_tree_about_twenty_topics_are_printed_and_the_rest_is_counted(found):
    large = Tree.balanced(4, 3)  # 64 leaves under 16 headings under 4
    gains = [1.0 if large.depths[node] < 2 else 0.1 for node in range(len(large))]
    nodes = tuple(replace(found.nodes[0], size=1.0, gain=gain) for gain in gains)
    console = Console(width=80, record=True, file=StringIO())
    grow_result.print_tree(console, replace(found, tree=large, nodes=nodes))
    lines = console.export_text().splitlines()
    assert len(lines) == 1 + 4 + 16
    assert sum(line.rstrip().endswith("+4") for line in lines) == 16


def test_a_terminal_without_our_signs_gets_plain_ones(home):
    script = [sys.executable, "-m", "topiarist", "grow", "notes", "--topics", "2", "--quiet"]
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "", **HERE}
    done = subprocess.run(script, capture_output=True, env=environment, check=True, cwd=home)
    assert b"|- " in done.stdout
    assert b"`- " in done.stdout


def test_help_has_examples_and_exit_codes():
    shown = invoke("--help").stdout
    assert "TOPIARIST_STOP_WORDS=en topiarist grow ./mail" in shown
    assert "More settings are keys of topiarist.toml" in shown
    assert "Exit codes: 0 done" in shown
    for option in ("--topics", "--seed", "--json", "--figure"):
        assert option in shown
    for jargon in ("TEXT", "INTEGER", "<str>", "<int"):
        assert jargon not in shown


def test_a_tree_grows_from_blocks_in_files(home):
    done = invoke("notes", "--topics", 2, "--memory", "200MB")
    assert done.exit_code == 0, done.stderr
    assert "1 block of documents, one after the other within 200 MB" in done.stderr
    assert "notes.topiary · 60 documents · 2 topics" in done.stdout
    again = invoke("notes", "--topics", 2, "--memory", "1GB")
    assert "Already up to date" in again.stdout  # the same blocks, the same collection


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--memory", "much"), 2, "expected a size such as 2GB or 500MB"),
        (("--memory", "2GB", "--cluster", "local:2"), 2, "a limit of memory cannot be used with a cluster"),
        (("--memory", "2GB", "--model", "ggm"), 2, "a tree in blocks requires the model cam or hplsa"),
        (("--cluster", "local:none"), 2, "expected a number of workers"),
        (("--memory", "1kB"), 5, "a tree of 2 leaves takes"),
    ],
)
def test_blocks_that_cannot_be(home, options, code, message):
    done = invoke("notes", *options)
    assert done.exit_code == code
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_sizes_are_read_as_people_write_them():
    from topiarist.cli.commands.grow import memory_size

    read = [memory_size(text) for text in ("2GB", "1.5 GiB", "500m", "64", "3kB")]
    assert read == [2 * 10**9, 3 * 2**29, 5 * 10**8, 64, 3000]


def test_a_collection_from_an_address(tmp_path, monkeypatch):
    """Files elsewhere: read, known again, known to have changed."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"id": one.id, "text": one.text}) for one in documents()[:60]]
    for number in range(3):
        system.pipe(f"/grow/parts/{number}.jsonl", "\n".join(lines[20 * number : 20 * number + 20]).encode())
    address = "memory://grow/parts/*.jsonl"
    try:
        done = invoke(address, "--topics", "2")
        assert done.exit_code == 0, done.output
        with Collection.open("parts.topiary") as collection:
            assert len(collection) == 60
        assert "Already up to date" in invoke(address, "--topics", "2").stdout
        system.pipe("/grow/parts/2.jsonl", lines[40].encode())
        assert "3  .jsonl" in invoke(address, "--dry-run").stdout
        assert invoke(address, "--topics", "2").exit_code == 2  # it has changed, and is not overwritten unasked
    finally:
        system.rm("/grow", recursive=True)
