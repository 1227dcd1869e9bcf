"""A program for vectors: asked once for each text, believed only as far as its answers are vectors."""

import sys

import numpy as np
import pytest

from topiarist.counts.embeddings.program import Program
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.text.documents import Document

LENGTHS = """
import json, sys
open("asked", "a").write(".")
for line in sys.stdin:
    one = json.loads(line)
    print(json.dumps({"id": one["id"], "vector": [len(one["text"]), 1.0]}))
"""
SILENT = "import sys; sys.stdin.read()"
FAILS = "import sys; sys.exit(3)"
NONSENSE = "print('hello')"


def program(tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "embed.py").write_text(code)
    return Program.from_line(f"{sys.executable} embed.py")


def some(*texts):
    return [Document(str(number), text) for number, text in enumerate(texts)]


def test_every_text_is_asked_for_once(tmp_path, monkeypatch):
    source = program(tmp_path, monkeypatch, LENGTHS)
    found = source.load(0, some("abc", "abc", "a"))
    np.testing.assert_allclose(found[0], np.array([3, 1]) / np.sqrt(10), rtol=1e-6)
    np.testing.assert_array_equal(found[0], found[1])
    source.load(3, some("a", "abc"))
    assert (tmp_path / "asked").read_text() == "."
    source.check(5)
    assert sys.executable in source.describe()


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        (SILENT, InputError, "no vector for 1 of 1"),
        (FAILS, ResourceError, "exit code 3"),
        (NONSENSE, InputError, "not a vector"),
    ],
)
def test_what_is_no_answer_is_said(tmp_path, monkeypatch, code, error, said):
    with pytest.raises(error, match=said):
        program(tmp_path, monkeypatch, code).load(0, some("a"))


@pytest.mark.parametrize("line", ["", "'open", "no-such-program-anywhere"])
def test_a_command_that_cannot_be_is_refused_at_once(line):
    with pytest.raises(UsageError):
        Program.from_line(line)
