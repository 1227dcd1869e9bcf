"""Too few files, too little memory, a full disk: told as that, with an exit code of its own, and never as damage."""

import errno
import os
import resource
import subprocess
import sys

import pytest

from tests.faults import counted, failing
from topiarist.cli.terminal import failures
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.errors import DamagedError, SystemLimitError, to_limit_error

READING = ("open", "os.open")


def looked(path):
    """What a person does who only looks."""
    with Collection.open(path) as collection:
        assert len(collection.tree.nodes) > 1
        assert collection.search("model").hits
        assert collection.counts.shape[0] == len(collection)
    return check_folder(path)


def test_lack_found_in_causes():
    for error in (
        OSError(errno.EMFILE, "x"),
        MemoryError(),
        OSError(errno.ENOSPC, "x"),
        RuntimeError("can't start new thread"),
    ):
        assert isinstance(to_limit_error(error), SystemLimitError)
        wrapped = DamagedError("x is damaged")
        wrapped.__cause__ = error
        assert "damaged" not in str(to_limit_error(wrapped))
    assert to_limit_error(ImportError("libx.so: failed to map segment from shared object")).exit_code == 5
    assert to_limit_error(ValueError("something else")) is None
    assert to_limit_error(OSError(errno.ENOENT, "x")) is None


@pytest.mark.parametrize("fault", [errno.EMFILE, errno.EIO, MemoryError()])
def test_unopened_files_raise_no_damage(path, monkeypatch, fault):
    """One after the other of the files that are read, until the last."""
    with counted(path, monkeypatch, READING) as faulty:
        assert looked(path) == []
    number = len(faulty.calls)
    assert number > 40
    for at in range(0, number, 2 if fault == errno.EMFILE else 9):
        with (
            failing(path, monkeypatch, at, fault, READING),
            pytest.raises((SystemLimitError, OSError, MemoryError)) as met,
        ):
            looked(path)
        assert "damage" not in str(met.value)
        assert to_limit_error(met.value) is not None
    assert looked(path) == []


@pytest.mark.parametrize("files", [7, 12])
def test_command_with_few_open_files(path, files):
    done = subprocess.run(
        [sys.executable, "-m", "topiarist", "check", str(path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 5
    assert "too many files are open" in done.stderr
    assert "damage" not in done.stdout + done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no limit of memory that holds")
@pytest.mark.parametrize("megabytes", [220, 300, 500, 700])
def test_command_with_little_memory(path, megabytes):
    """It once waited for ever: libraries that find no room may do that where they start threads."""
    done = subprocess.run(
        [sys.executable, "-m", "topiarist", "check", str(path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6, megabytes * 10**6)),
        capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 5
    assert f"there is not enough memory: the limit is {megabytes} MB, and any command needs 800 MB" in done.stderr
    assert "damage" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "fault", [OSError("Could not load a library"), ImportError("no module"), MemoryError(), KeyError("a")]
)
def test_faults_near_memory_limit_exit_5(fault, monkeypatch, capsys):
    monkeypatch.setattr(failures, "_read_address_limit", lambda: 900_000_000)
    monkeypatch.setattr(failures, "_read_address_space", lambda: 850_000_000)
    failures.check_address_space()
    with pytest.raises(SystemExit) as left, failures.explain_failures(debug=False):
        raise fault
    assert left.value.code == 5
    assert "the limit is 900 MB, and this took more; growing" in capsys.readouterr().err
    monkeypatch.setattr(failures, "_read_address_space", lambda: 600_000_000)
    with pytest.raises(SystemExit) as left, failures.explain_failures(debug=False):
        raise fault
    assert left.value.code == (5 if isinstance(fault, MemoryError | ImportError) else 70)
    monkeypatch.setattr(failures, "_read_address_space", lambda: 100_000_000)
    with pytest.raises(SystemExit) as left, failures.explain_failures(debug=False):
        raise fault
    assert left.value.code == (5 if isinstance(fault, MemoryError) else 70)
