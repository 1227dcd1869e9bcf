"""Arrays in files: handles open them, and files go with the last who needs them; a lack is no damage."""

import errno
import gc
import os
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from topiarist.errors import InputError, ResourceError, SystemLimitError
from topiarist.storage import array_files
from topiarist.storage.array_files import (
    EmptyRows,
    EvenRows,
    RowFile,
    Scratch,
    find_handles,
    map_array,
    open_handles,
    save,
)


class Pair(NamedTuple):
    rows: object
    more: object


def test_scratch_deletes_unused_files_and_folder(tmp_path):
    scratch = Scratch(tmp_path)
    first, second = scratch.rows(), scratch.rows()
    for rows in (first, second):
        rows.save(np.eye(3))
    folder, path = scratch.folder, first.path
    assert (first.folder, first.nbytes, first.load().tolist()) == (folder, 72, np.eye(3).tolist())
    elsewhere = pickle.loads(pickle.dumps(first))  # as another process has it
    assert (elsewhere.path, elsewhere.owner) == (path, None)
    del elsewhere
    gc.collect()
    assert os.path.exists(path)
    del first, rows
    gc.collect()
    assert not os.path.exists(path)
    assert folder.is_dir()
    del scratch, second
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_scratch_array_file_is_deleted_after_use(tmp_path):
    array = Scratch(tmp_path).array((4, 2), np.float32, [np.ones((1, 2)), np.full((2, 2), 2)])
    gc.collect()
    assert array.tolist() == [[1, 1], [2, 2], [2, 2], [0, 0]]
    array[3] = 5
    (file,) = tmp_path.rglob("*.npy")
    assert np.load(file)[3].tolist() == [5, 5]
    assert file.stat().st_size == array_files.HEADER_BYTES + array.nbytes
    del array
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_scratch_array_reserves_space_if_possible(tmp_path, monkeypatch):
    def refuses(code):
        def refuse(*_):
            raise OSError(code, "no")

        return refuse

    for code in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        monkeypatch.setattr(os, "posix_fallocate", refuses(code))
        with pytest.raises(ResourceError):
            Scratch(tmp_path).array((4,), float)
    monkeypatch.setattr(os, "posix_fallocate", refuses(errno.EOPNOTSUPP))
    assert Scratch(tmp_path).array((4,), float).tolist() == [0, 0, 0, 0]


def test_find_and_open_handles_in_tuples(tmp_path):
    even, new = EvenRows(2, 4, "float32"), EmptyRows(2, 4, "float64")
    assert (even.nbytes, new.nbytes, new.load()) == (32, 64, None)
    assert even.load().tolist() == [[0.25] * 4] * 2
    assert even.load().dtype == np.float32
    thing = Pair((even, 3), new)
    assert list(find_handles(thing)) == [even, new]
    assert list(find_handles(3)) == []
    found = open_handles(thing)
    assert isinstance(found, Pair)
    assert (found.rows[0].shape, found.rows[1], found.more) == ((2, 4), 3, None)
    scratch = Scratch(tmp_path)
    assert Scratch.find_or_create([(even, scratch.rows())], tmp_path) is scratch
    assert Scratch.find_or_create([even, RowFile("x.npy")], tmp_path) is not scratch


def test_map_array_distinguishes_damage_and_limits(tmp_path, monkeypatch):
    save(tmp_path / "a.npy", np.arange(3))
    assert map_array(tmp_path / "a.npy").tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"b\.npy does not exist"):
        map_array(tmp_path / "b.npy")
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{{{{")
    with pytest.raises(InputError, match="is not an array that can be read"):
        map_array(tmp_path / "b.npy")
    with pytest.raises(ResourceError, match="folder for row parameters"):
        Scratch(tmp_path / "a.npy")

    def few(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(array_files.np, "load", few)
    with pytest.raises(SystemLimitError):
        map_array(tmp_path / "a.npy")
