"""Compiled kernels are kept where that can be done; where not, they are compiled, and nothing else changes."""

import errno
import pickle

import pytest
from numba.core import caching

from topiarist.kernels import cache
from topiarist.kernels.jit import jit


def _twice(number):
    return 2 * number


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel as each process makes it, with a cache of its own."""
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))

    def made():
        return jit(_twice)

    return made


def hits(made):
    return sum(made.stats.cache_hits.values())


def kept(folder, kind):
    return next(folder.rglob(f"*.{kind}"))


def test_what_was_compiled_is_kept(kernel):
    assert kernel()(3) == 6
    again = kernel()
    assert (again(3), hits(again)) == (6, 1)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EMFILE])
def test_a_kernel_that_cannot_be_kept_is_compiled_all_the_same(kernel, monkeypatch, code):
    def full(*_):
        raise OSError(code, "no room")

    with monkeypatch.context() as disk:
        disk.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
        assert kernel()(3) == 6
    again = kernel()
    assert (again(3), hits(again)) == (6, 0)


def test_a_cache_that_cannot_be_opened_is_none(kernel, tmp_path, monkeypatch):
    assert kernel()(3) == 6
    index = kept(tmp_path, "nbi").read_bytes()

    def refused(*_):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as few:
        few.setattr(caching.IndexDataCacheFile, "_load_index", refused)
        assert kernel()(3) == 6
    assert kept(tmp_path, "nbi").read_bytes() == index
    again = kernel()
    assert (again(3), hits(again)) == (6, 1)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04", pickle.dumps(7)])
def test_a_file_that_was_cut_short_is_written_anew(kernel, tmp_path, kind, content):
    assert kernel()(3) == 6
    kept(tmp_path, kind).write_bytes(content)
    assert kernel()(3) == 6
    again = kernel()
    assert (again(3), hits(again)) == (6, 1)


def test_kernels_that_cannot_be_noted_are_not_ready(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "marker", lambda dtype: tmp_path / "gone" / dtype)
    cache.keep("float64")
    assert not cache.is_ready("float64")
