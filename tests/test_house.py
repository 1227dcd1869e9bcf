"""The house itself: public names, what an import costs, and what may never be in the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import topiarist

SOURCE = Path(topiarist.__file__).parent


def test_every_public_name_is_there():
    for name in topiarist.__all__:
        assert getattr(topiarist, name) is not None
    assert set(dir(topiarist)) == set(topiarist.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = topiarist.Nonsense


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, topiarist; print(sorted({'numpy', 'numba', 'sklearn', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_unsafe_is_called():
    unsafe = re.compile(r"\bpickle\b|joblib\.(load|dump)|\beval\(|\bexec\(|allow_pickle=True|shell=True")
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in SOURCE.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if unsafe.search(line.split("#")[0])
    ]
    assert found == []


def test_sql_stands_in_store_alone():
    """Whoever needs an answer of a table asks store by name. To be added: app, when its last statements have moved."""
    sql = re.compile(r"\b(SELECT\b.*\bFROM|INSERT\b.*\bINTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE|PRAGMA)\b")
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for room in ("collection", "estimators", "measures", "hierarchy", "models", "scale")
        for path in (SOURCE / room).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if sql.search(line)
    ]
    assert found == []


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
    from topiarist.kernels import cache

    tmp_path.chmod(0o700)
    assert cache.is_ours(tmp_path)
    tmp_path.chmod(0o777)
    assert not cache.is_ours(tmp_path)


def test_without_numba_the_reference_takes_over():
    script = (
        "import sys, warnings; sys.modules['numba'] = None; warnings.simplefilter('ignore')\n"
        "import numpy as np; from topiarist import PLSA\n"
        "print(PLSA(2, random_state=0, max_iter=5).fit(np.eye(4) + 1).components_.sum())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(2.0)
