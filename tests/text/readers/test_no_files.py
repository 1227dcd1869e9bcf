"""Parsers open the sources and a folder of their own, where the system has a sandbox of files.

That they need no others is shown by ``test_torture``: every kind of file is read within it.
"""

import os
import textwrap
from pathlib import Path

import pytest

from tests.text.readers.makers import only, reasons
from topiarist.text.parsers import pool, sandbox
from topiarist.text.readers import Limits, read

# A worker whose parser opens what the file says.
OPENING = textwrap.dedent("""
    import os, sys
    sys.path[:] = sys.argv[1:]
    from topiarist.text.parsers.limits import Extracted
    from topiarist.text.parsers.worker import serve

    def act(source, limits):
        how, _, path = open(source).read().partition(" ")
        if how == "list":
            return Extracted(f"saw {len(os.listdir(path))} names")
        if how == "run":
            os.execv(path, [path])
        with open(path, "r" if how == "read" else "w") as file:
            return Extracted(f"read {file.read()}" if how == "read" else f"wrote {file.write('x')}")

    serve({"pdf": act})
""")
needs_sandbox = pytest.mark.skipif(not sandbox.can_drop_file_access(), reason="this system has no Landlock")


@pytest.fixture
def opening(monkeypatch):
    plain = pool.worker_command()
    monkeypatch.setattr(pool, "worker_command", lambda: [*plain[:3], OPENING, *plain[4:]])


@needs_sandbox
@pytest.mark.parametrize(
    "does", ["read {secret}", "list {home}", "write {home}/new", "write {source}/new", "run /bin/true"]
)
def test_sandbox_blocks_other_files(tmp_path, opening, does):
    source, home = tmp_path / "source", tmp_path / "home"
    source.mkdir()
    home.mkdir()
    (home / "secret").write_text("of mine")
    told = does.format(secret=home / "secret", home=home, source=source)
    (source / "a.pdf").write_text(told)
    (source / "b.pdf").write_text(f"read {source / 'words.txt'}")
    (source / "words.txt").write_text("its own words")
    with read(source, limits=Limits(workers=1)) as reading:
        found = {Path(one.source).name: one.text for one in reading}
    assert found["b.pdf"] == "read its own words"
    assert "a.pdf" not in found
    assert any("permission denied" in one for one in reasons(reading))
    assert not (home / "new").exists()


@needs_sandbox
def test_follow_links_disables_file_sandbox(tmp_path, opening):
    source, secret = tmp_path / "source", tmp_path / "secret"
    source.mkdir()
    secret.write_text("of mine")
    (source / "a.pdf").write_text(f"read {secret}")
    assert only(read(source, follow_links=True)).text == "read of mine"


def test_scratch_folder_deleted(tmp_path):
    one = pool.Pool(Limits(), [str(tmp_path)])
    place = Path(one.scratch)
    assert place.is_dir()
    assert place.stat().st_mode & 0o77 == 0
    one.close()
    assert not place.exists()
    assert os.path.isdir(tmp_path)


def test_own_files_exclude_script_folder(tmp_path, monkeypatch):
    target, home = tmp_path / "libs", tmp_path / "home"
    (target / "some-1.0.dist-info").mkdir(parents=True)
    home.mkdir()
    monkeypatch.syspath_prepend(target)
    monkeypatch.syspath_prepend(home)
    known = set(sandbox.list_own_files())
    assert str(target) in known
    assert str(home) not in known
