"""Compiled kernels are kept where that can be done; where not, they are compiled, and nothing else changes."""

import errno
import pickle
import subprocess
import sys
from pathlib import Path

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


def test_a_file_that_was_cut_short_on_a_disk_that_is_full(kernel, tmp_path, monkeypatch):
    assert kernel()(3) == 6
    kept(tmp_path, "nbi").write_bytes(b"")

    def full(*_):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
    assert kernel()(3) == 6


def test_kernels_that_cannot_be_noted_are_not_ready(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "marker", lambda dtype: tmp_path / "gone" / dtype)
    cache.keep("float64")
    assert not cache.is_ready("float64")


def test_kernels_load_where_the_cache_folder_cannot_be_written(tmp_path):
    """Import must not fail on a machine whose home and package folders are read-only."""
    script = (
        "import platformdirs; platformdirs.user_cache_dir = lambda *a: '/proc/no/such/place'\n"
        "import numba; from topiarist.kernels.counts import compiled\n"
        "print(numba.config.CACHE_DIR)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"TMPDIR": str(tmp_path), "PATH": "", "HOME": str(tmp_path)},
    )
    folder = Path(done.stdout.strip())
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o077 == 0


def test_a_cache_folder_that_others_may_write_is_not_trusted(tmp_path):
    tmp_path.chmod(0o700)
    assert cache.is_ours(tmp_path)
    tmp_path.chmod(0o777)
    assert not cache.is_ours(tmp_path)
