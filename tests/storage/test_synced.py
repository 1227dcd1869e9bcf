"""Every file that a commit names is on the disk before the commit: the order of syncs and renames, recorded."""

import os
import re
from pathlib import Path

import pytest

from tests.faults import counted
from tests.small import DOCUMENTS, grown
from topiarist.storage import edit_log
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import new_part

HALF = re.compile(r"\.[0-9a-f]{32}$")  # of a file that has not got its own name yet
RECORDED = ("fsync", "replace", "rename")


def unsynced(calls):
    """Names that were given to something before it was on the disk, or that were not brought to the disk themselves."""
    wrong = []
    for place, (kind, source) in enumerate(calls):
        if kind == "fsync":
            continue
        before = {HALF.sub("", path) for done, path in calls[:place] if done == "fsync"}
        after = [path for done, path in calls[place:] if done == "fsync"]
        missing = [path for path in files_of[source] if HALF.sub("", path) not in before]
        wrong += [f"{path} when {source} got its name" for path in missing]
        if str(Path(source).parent) not in after:
            wrong.append(f"the folder of {source} after that")
    return wrong


files_of: dict[str, list[str]] = {}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """What is renamed is looked at before it is: which files are in it."""
    files_of.clear()
    with counted(tmp_path, monkeypatch, RECORDED) as faulty:
        plain = faulty.met

        def met(kind, path):
            if kind in ("replace", "rename"):
                inside = sorted(Path(path).rglob("*")) if Path(path).is_dir() else [Path(path)]
                files_of[os.fspath(path)] = [str(one) for one in inside if one.is_file() and one.stat().st_size]
            plain(kind, path)

        faulty.met = met
        yield faulty


def test_publish_synchronises_before_manifest(tmp_path, recorded):
    grown(tmp_path / "mail.topiary").close()
    names = [Path(path).name for kind, path in recorded.calls if kind != "fsync"]
    assert any(name.startswith(".tree-1-") for name in names)  # the part, then the generation, then the manifest
    assert "growing" in names
    assert names[-1].startswith("manifest.json.")
    assert any(path.endswith("documents.sqlite") for path in files_of[str(tmp_path / "mail.topiary" / "growing")])
    assert unsynced(recorded.calls) == []


def test_part_synchronised_before_rename(tmp_path, recorded):
    folder = grown(tmp_path / "mail.topiary", DOCUMENTS)
    recorded.calls.clear()
    with folder.writing() as generation:
        with new_part(generation, "tree") as part:
            (part.folder / "deep").mkdir()
            (part.folder / "deep" / "model.json").write_text("{}")
        assert unsynced(recorded.calls) == []
        synced = {path for kind, path in recorded.calls if kind == "fsync"}
        assert any(path.endswith("/deep") for path in synced)  # folders as well: they hold the names
        edit_log.record(generation.database, "edit", {}, {"parts": {"tree": part.name}}, parts=[part.part])
    folder.close()


@pytest.mark.parametrize("write", [False, True])
def test_connections_distrust_schemas(tmp_path, write):
    """Functions of ours and those that reach out are not run by what stands in a file."""
    Database.create(tmp_path / "d.sqlite").close()
    database = Database(tmp_path / "d.sqlite", write=write)
    assert database.fetch_one("PRAGMA trusted_schema") == (0,)
    assert database.fetch_one("PRAGMA cell_size_check") == (1,)
    assert len(Documents(database)) == 0
    database.close()
