"""Tests of writing a store: it is complete or absent after any failure."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from topiarist.errors import ResourceError, UsageError
from topiarist.execution import BlockStore
from topiarist.storage.array_files import Scratch

COUNTS = sp.random(400, 50, 0.3, format="csr", random_state=0)


def test_write_interrupted_leaves_no_files(tmp_path):
    def chunks():
        yield COUNTS
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BlockStore.write(tmp_path / "s", chunks(), block_size=100)
    assert list(tmp_path.iterdir()) == []


def test_write_passes_on_chunk_errors(tmp_path):
    def chunks():
        yield COUNTS
        raise FileNotFoundError("the next chunk")

    with pytest.raises(FileNotFoundError, match="the next chunk"):
        BlockStore.write(tmp_path / "s", chunks())
    assert list(tmp_path.iterdir()) == []


def test_concurrent_write_keeps_first_store(tmp_path):
    def chunks():
        yield COUNTS
        BlockStore.write(tmp_path / "s", COUNTS[:10])

    with pytest.raises(UsageError, match="exists already"):
        BlockStore.write(tmp_path / "s", chunks())
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
    assert len(BlockStore.open(tmp_path / "s")) == 10


def test_write_accepts_empty_folder(tmp_path):
    (tmp_path / "s").mkdir()
    assert len(BlockStore.write(tmp_path / "s", COUNTS)) == 400
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="exists already"):
        BlockStore.write(tmp_path / "file", COUNTS)


@pytest.mark.skipif(os.name != "posix", reason="requires POSIX permissions")
@pytest.mark.parametrize("umask", [0o077, 0o022, 0o002])
def test_store_files_follow_umask(tmp_path, umask):
    old_umask = os.umask(umask)
    try:
        store = BlockStore.write(tmp_path / "s", COUNTS)
        scratch = Scratch(store.folder)
        scratch.rows().save(np.eye(2))
    finally:
        os.umask(old_umask)
    for path in (store.folder, *store.folder.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o777 if path.is_dir() else 0o666) & ~umask, path


FULL = """
import resource, sys
from pathlib import Path
import numpy as np, scipy.sparse as sp
from topiarist import PLSA
from topiarist.errors import ResourceError
from topiarist.execution import BlockStore, InProcess
from topiarist.storage.array_files import Scratch

folder = Path(sys.argv[1])
counts = sp.random(400, 50, 0.3, format="csr", random_state=0)
store = BlockStore.write(folder / "store", counts, block_size=100)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))

def print_refusal(function):
    try:
        function()
    except ResourceError as error:
        print(error.message)

print_refusal(lambda: BlockStore.write(folder / "new", counts))
print_refusal(lambda: PLSA(40, max_iter=2, random_state=0).fit(store))
print_refusal(lambda: Scratch(folder).array((1000, 1000), float, [np.eye(1000)]))
"""


@pytest.mark.skipif(os.name != "posix", reason="requires file size limits")
@pytest.mark.parametrize("limit", [0, 100, 10_000])
def test_full_disk_raises_error_without_traces(tmp_path, limit):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), str(limit)], capture_output=True, text=True, check=True
    )
    first, second, third = done.stdout.splitlines()
    assert first.startswith(f"cannot write {tmp_path}/.new-")
    assert second.startswith(f"cannot write {tmp_path}/store/scratch-")
    assert third.startswith(f"cannot write {tmp_path}/scratch-")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert not list((tmp_path / "store").glob("scratch-*"))


def test_write_ignores_unsupported_folder_sync(tmp_path, monkeypatch):
    """Some file systems cannot sync a folder."""
    import stat

    plain = os.fsync

    def refuse(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(22, "Invalid argument")
        plain(handle)

    monkeypatch.setattr(os, "fsync", refuse)
    assert len(BlockStore.write(tmp_path / "s", COUNTS)) == 400


@pytest.mark.parametrize("name", ["ids.json", "vocabulary.json", "manifest.json"])
def test_full_disk_during_metadata_write_leaves_nothing(tmp_path, monkeypatch, name):
    from topiarist.storage import sealed_folder
    from topiarist.text.documents import Document

    opened = open

    def full(path, mode="r"):
        if name in str(path) and mode == "wb":
            raise OSError(28, "No space left on device")
        return opened(path, mode)

    monkeypatch.setattr(sealed_folder, "open", full, raising=False)
    with pytest.raises(ResourceError, match=rf"cannot write .*{name}: .*No space left on device"):
        BlockStore.from_documents([Document(str(place), "tree hedge") for place in range(5)], tmp_path / "s")
    assert list(tmp_path.iterdir()) == []
