"""The edges of a command: streams that are closed, a writer that is waited for, messages without names of our code."""

import re
import subprocess
import sys
import threading

import pytest
from typer.testing import CliRunner

from tests.text.readers.test_nothing_usable import CASES, OF_PYTHON
from topiarist.cli.commands import app
from topiarist.errors import InputError, describe_error
from topiarist.storage.sealed_folder import lock_folder, set_patience
from topiarist.text.parsers import Limits
from topiarist.text.readers import read

ABSURD = (
    "Mon, 99 Foo 99999999999999999999 99:99:99 +9999999999", "Fri, 31 Dec 9999 23:59:59 -9999", "1" * 5_000,
    "Mon, 1 Jan 2024 00:00:00 +99999999999999999999", "0",
)  # fmt: skip
CODE = (
    KeyError("x"), TypeError("'int' object is not iterable"), IndexError(), RecursionError("maximum"), ValueError(),
    UnicodeDecodeError("utf-8", b"", 0, 1, "x"), ZeroDivisionError("division"),
)  # fmt: skip
LONG = {"a.csv": "text\n{}\n", "b.csv": "{}\n", "c.tsv": "text\n{}\n", "d.jsonl": '{{"text": "{}"}}\n'}


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_streams_that_are_closed(closed):
    done = subprocess.run(
        f"{sys.executable} -m topiarist --version {closed}", shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_command_without_standard_output(path):
    done = subprocess.run(
        f"{sys.executable} -m topiarist tree {path} >&-", shell=True, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "Error" not in done.stderr


def test_a_writer_is_waited_for_if_that_is_asked(tmp_path):
    held, release_pages = threading.Event(), threading.Event()

    def hold():
        with lock_folder(tmp_path):
            held.set()
            release_pages.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    with pytest.raises(Exception, match="is being written by") as told, lock_folder(tmp_path):
        pass
    assert "TOPIARIST_WAIT=60" in told.value.hint
    threading.Timer(0.2, release_pages.set).start()
    with set_patience(30), lock_folder(tmp_path):
        assert release_pages.is_set()
    thread.join()


@pytest.mark.parametrize(
    "command", ["grow a", "shape a", "file a b", "remove a b", "learn a", "find a b", "name a", "check a", "review a"]
)
def test_environment_sets_the_wait_of_a_writer(command):
    done = CliRunner().invoke(app, command.split(), env={"TOPIARIST_WAIT": "long"})
    assert done.exit_code == 2
    assert "TOPIARIST_WAIT: " in done.stderr


def test_no_name_of_an_exception_is_told():
    for error in CODE:
        assert not re.search(r"Error|Exception|object is|codec", describe_error(error))
    assert describe_error(ValueError("a file called x")) == "a file called x"


@pytest.mark.parametrize("date", ABSURD)
def test_an_absurd_date_costs_the_date_and_not_the_message(tmp_path, date):
    letter = f"From: a@b.c\nSubject: one\nDate: {date}\n\nwords of a letter\n"
    (tmp_path / "a.eml").write_text(letter)
    (tmp_path / "b.mbox").write_text(f"From a@b.c Mon Jan  1 00:00:00 2024\n{letter}\n")
    reading = read(tmp_path)
    assert [one.text.strip() for one in reading] == ["words of a letter"] * 2
    assert reading.problems == []


@pytest.mark.parametrize("name", LONG)
def test_a_field_that_is_too_long_is_told_as_that(tmp_path, name):
    (tmp_path / name).write_text(LONG[name].format("x" * 200_000))
    with pytest.raises(InputError, match=r":\d: the line is too long"):
        list(read(tmp_path, limits=Limits(characters=1_000)))


@pytest.mark.parametrize(("name", "data"), [("x.jsonl", "{}\n"), ("x.json", "[{}]"), ("x.csv", ""), ("y.json", "{")])
def test_named_file_without_text_exits_with_3(path, tmp_path, name, data):
    file = tmp_path / name
    file.write_text(data)
    for command in (["grow", file, "-o", tmp_path / "new.topiary"], ["file", path, file], ["similar", path, file]):
        done = CliRunner().invoke(app, [*map(str, command)])
        assert isinstance(done.exception, SystemExit), done.exception
        assert done.exit_code == 3
        assert "no usable text" in done.stderr


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("command", ["grow", "file", "similar"])
def test_unusable_files_end_commands_in_words(path, monkeypatch, tmp_path, command, case):
    monkeypatch.chdir(tmp_path)
    for suffix in (".jsonl", ".csv", ".xml"):
        (tmp_path / f"bad{suffix}").write_bytes(CASES[case](suffix))
    sources = [f"bad{suffix}" for suffix in (".jsonl", ".csv", ".xml")] + ["."] * (command != "similar")
    for source in sources:
        before = ["grow"] if command == "grow" else [command, str(path)]
        done = CliRunner().invoke(app, [*before, source, *(["-o", "new.topiary"] if command == "grow" else [])])
        assert done.exit_code == 3, (source, done.output)
        assert not OF_PYTHON.search(done.output.replace("Error: ", "")), done.output
