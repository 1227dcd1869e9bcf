"""What a command must not do: take what is not its own, write where it should not, obey what a document says."""

import json
import os

import pytest

from tests.grown import new_documents


@pytest.fixture
def arrived(path):
    file = path.parent / "new.jsonl"
    rows = [{"id": one.id, "title": one.title, "text": one.text} for one in new_documents(10)]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_a_model_replaces_a_model_and_nothing_else(typed, path):
    model = path.parent / "model"
    typed("export", "-o", "model", "--what", "model")
    typed("export", "-o", "model", "--what", "model", "--force")
    assert sorted(os.listdir(model)) == ["model.json", "model.safetensors", "vocabulary.json"]
    (model / "thesis.txt").write_text("years of work")
    done = typed("export", "-o", "model", "--what", "model", "--force", code=2)
    assert "thesis.txt" in done.stderr
    assert (model / "thesis.txt").read_text() == "years of work"
    assert (model / "model.json").exists()
    assert [name for name in os.listdir(path.parent) if name.startswith(".")] == []


def test_a_model_that_cannot_be_written_leaves_the_old_one(typed, path, monkeypatch):
    typed("export", "-o", "model", "--what", "model")
    before = (path.parent / "model" / "model.json").read_bytes()

    def fails(*_, **__):
        raise OSError(28, "No space left on device", "model")

    monkeypatch.setattr("topiarist.app.cli.using.exporting.save_model", fails)
    typed("export", "-o", "model", "--what", "model", "--force", code=5)
    assert (path.parent / "model" / "model.json").read_bytes() == before


@pytest.mark.parametrize("target", ["notes.topiary/rows.csv", "notes.topiary/sub/../rows.csv"])
def test_nothing_is_exported_into_a_collection(typed, path, target):
    assert "a collection" in typed("export", "-o", target, "--force", code=2).stderr
    assert not (path / "rows.csv").exists()
    typed("export", "-o", "notes.topiary", "--what", "model", "--force", code=2)
    typed("export", "-o", "notes.topiary/model", "--what", "model", code=2)
    typed("tree")


def test_a_folder_is_no_file_and_json_needs_one(typed, path):
    (path.parent / "dd").mkdir()
    assert "dd is a folder" in typed("export", "-o", "dd", "--format", "csv", "--force", code=2).stderr
    assert "--format jsonl" in typed("export", "-o", "-", "--json", code=2).stderr
