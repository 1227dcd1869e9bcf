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


def _double(number):
    return 2 * number


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel as each process makes it, with a cache of its own."""
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))

    def first():
        return jit(_double)

    return first


def hits(first):
    return sum(first.stats.cache_hits.values())


def kept(folder, kind):
    return next(folder.rglob(f"*.{kind}"))


def test_compiled_kernel_reused_from_cache(kernel):
    assert kernel()(3) == 6
    second = kernel()
    assert (second(3), hits(second)) == (6, 1)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EMFILE])
def test_kernel_compiles_without_writable_cache(kernel, monkeypatch, code):
    def full(*_):
        raise OSError(code, "no room")

    with monkeypatch.context() as disk:
        disk.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
        assert kernel()(3) == 6
    second = kernel()
    assert (second(3), hits(second)) == (6, 0)


def test_unreadable_cache_counts_as_empty(kernel, tmp_path, monkeypatch):
    assert kernel()(3) == 6
    index = kept(tmp_path, "nbi").read_bytes()

    def errors(*_):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as part:
        part.setattr(caching.IndexDataCacheFile, "_load_index", errors)
        assert kernel()(3) == 6
    assert kept(tmp_path, "nbi").read_bytes() == index
    second = kernel()
    assert (second(3), hits(second)) == (6, 1)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04", pickle.dumps(7)])
def test_truncated_cache_file_rewritten(kernel, tmp_path, kind, content):
    assert kernel()(3) == 6
    kept(tmp_path, kind).write_bytes(content)
    assert kernel()(3) == 6
    second = kernel()
    assert (second(3), hits(second)) == (6, 1)


def test_truncated_cache_file_on_full_disk(kernel, tmp_path, monkeypatch):
    assert kernel()(3) == 6
    kept(tmp_path, "nbi").write_bytes(b"")

    def full(*_):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
    assert kernel()(3) == 6


def test_mark_ready_ignores_missing_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "get_ready_file", lambda dtype: tmp_path / "gone" / dtype)
    cache.mark_ready("float64")
    assert not cache.is_ready("float64")


def test_kernels_load_with_read_only_cache_folder(tmp_path):
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


def test_cache_rejects_folder_writable_by_others(tmp_path):
    tmp_path.chmod(0o700)
    assert cache.is_private(tmp_path)
    tmp_path.chmod(0o777)
    assert not cache.is_private(tmp_path)
