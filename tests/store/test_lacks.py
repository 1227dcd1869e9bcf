"""Too few files, too little memory, a full disk: told as that, with an exit code of its own, and never as damage."""

import errno
import os
import resource
import subprocess
import sys

import pytest

from tests.faults import counted, failing
from topiarist.collection.check import check
from topiarist.collection.collection import Collection
from topiarist.errors import DamagedError, LackError, lack

READING = ("open", "os.open")


def looked(path):
    """What a person does who only looks."""
    with Collection.open(path) as collection:
        assert len(collection.tree.nodes) > 1
        assert collection.search("model").hits
        assert collection.counts.shape[0] == len(collection)
    return check(path)


def test_a_lack_is_known_whatever_came_of_it():
    for error in (
        OSError(errno.EMFILE, "x"),
        MemoryError(),
        OSError(errno.ENOSPC, "x"),
        RuntimeError("can't start new thread"),
    ):
        assert isinstance(lack(error), LackError)
        wrapped = DamagedError("x is damaged")
        wrapped.__cause__ = error
        assert "damaged" not in str(lack(wrapped))
    assert lack(ImportError("libx.so: failed to map segment from shared object")).exit_code == 5
    assert lack(ValueError("something else")) is None
    assert lack(OSError(errno.ENOENT, "x")) is None


@pytest.mark.parametrize("fault", [errno.EMFILE, errno.EIO, MemoryError()])
def test_no_file_that_cannot_be_opened_is_told_as_damage(path, monkeypatch, fault):
    """One after the other of the files that are read, until the last."""
    with counted(path, monkeypatch, READING) as faulty:
        assert looked(path) == []
    number = len(faulty.calls)
    assert number > 40
    for at in range(0, number, 2 if fault == errno.EMFILE else 9):
        with failing(path, monkeypatch, at, fault, READING), pytest.raises((LackError, OSError, MemoryError)) as met:
            looked(path)
        assert "damage" not in str(met.value)
        assert lack(met.value) is not None
    assert looked(path) == []


@pytest.mark.parametrize("files", [7, 12])
def test_few_files_for_the_command(path, files):
    done = subprocess.run(
        [sys.executable, "-m", "topiarist", "check", str(path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 5
    assert "too many files are open" in done.stderr
    assert "damage" not in done.stdout + done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no limit of memory that holds")
def test_little_memory_for_the_command(path):
    """It once waited for ever: libraries that find no room may do that where they start threads."""
    done = subprocess.run(
        [sys.executable, "-m", "topiarist", "check", str(path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (220 << 20, 220 << 20)),
        capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 5
    assert "there is not enough memory" in done.stderr
    assert "damage" not in done.stdout + done.stderr
