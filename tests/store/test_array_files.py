"""Arrays in files: handles open them, and files go with the last who needs them; a lack is no damage."""

import errno
import gc
import os
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from topiarist.errors import InputError, LackError, ResourceError
from topiarist.store import array_files
from topiarist.store.array_files import EvenRows, NewRows, RowFile, Scratch, handles, mapped, opened, save


class Pair(NamedTuple):
    rows: object
    more: object


def test_rows_in_a_file_go_with_their_handle_and_the_folder_with_the_last(tmp_path):
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


def test_an_array_in_a_file_lives_as_long_as_it_is_used(tmp_path):
    array = Scratch(tmp_path).array((4, 2), np.float32, [np.ones((1, 2)), np.full((2, 2), 2)])
    gc.collect()
    assert array.tolist() == [[1, 1], [2, 2], [2, 2], [0, 0]]
    array[3] = 5
    (file,) = tmp_path.rglob("*.npy")
    assert np.load(file)[3].tolist() == [5, 5]
    assert file.stat().st_size == array_files.HEADER + array.nbytes
    del array
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_room_is_asked_for_at_once_and_where_that_cannot_be_it_is_taken_later(tmp_path, monkeypatch):
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


def test_handles_are_found_and_opened_within_tuples(tmp_path):
    even, new = EvenRows(2, 4, "float32"), NewRows(2, 4, "float64")
    assert (even.nbytes, new.nbytes, new.load()) == (32, 64, None)
    assert even.load().tolist() == [[0.25] * 4] * 2
    assert even.load().dtype == np.float32
    thing = Pair((even, 3), new)
    assert list(handles(thing)) == [even, new]
    assert list(handles(3)) == []
    found = opened(thing)
    assert isinstance(found, Pair)
    assert (found.rows[0].shape, found.rows[1], found.more) == ((2, 4), 3, None)
    scratch = Scratch(tmp_path)
    assert Scratch.beside([(even, scratch.rows())], tmp_path) is scratch
    assert Scratch.beside([even, RowFile("x.npy")], tmp_path) is not scratch


def test_what_cannot_be_read_is_damage_and_what_cannot_be_opened_a_lack(tmp_path, monkeypatch):
    save(tmp_path / "a.npy", np.arange(3))
    assert mapped(tmp_path / "a.npy").tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"b\.npy is not there"):
        mapped(tmp_path / "b.npy")
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{{{{")
    with pytest.raises(InputError, match="is not an array that can be read"):
        mapped(tmp_path / "b.npy")
    with pytest.raises(ResourceError, match="cannot make a folder for row parameters"):
        Scratch(tmp_path / "a.npy")

    def few(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(array_files.np, "load", few)
    with pytest.raises(LackError):
        mapped(tmp_path / "a.npy")
