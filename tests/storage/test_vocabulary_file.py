"""The words of columns: found again as they were written, refused where they are none, and a lack is no damage."""

import errno
import json
from pathlib import Path

import pytest

from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, SystemLimitError
from topiarist.storage.vocabulary_file import VOCABULARY, read_vocabulary, write_vocabulary


@pytest.fixture
def written(tmp_path):
    write_vocabulary(tmp_path, Vocabulary.of(["bail", "oil"]))
    return tmp_path


def test_vocabulary_round_trip(written):
    assert read_vocabulary(written) == Vocabulary.of(["bail", "oil"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("words", ["bail", 3]),
        ("phrases", ["oil"]),
        ("phrases", ["a b c"]),
        ("forms", [["oil"], [None]]),
        ("words", None),
    ],
)
def test_read_vocabulary_rejects_invalid_words(written, name, value):
    body = json.loads((written / VOCABULARY).read_text())
    (written / VOCABULARY).write_text(json.dumps(body | {name: value}))
    with pytest.raises(InputError, match=f"{VOCABULARY} cannot be read"):
        read_vocabulary(written)


def test_read_vocabulary_reports_open_file_limit(written, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "read_text", refused)
    with pytest.raises(SystemLimitError):
        read_vocabulary(written)
