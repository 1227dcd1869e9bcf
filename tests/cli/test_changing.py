"""file, learn, shape, export, compare, evaluate, check."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.cli.test_cli import PATIENCE
from tests.grown import N_DOCS, documents, new_documents
from topiarist.collection.collection import Collection
from topiarist.estimators.model_folder import load_model


@pytest.fixture
def arrived(path):
    """Ten new documents as JSON lines."""
    file = path.parent / "new.jsonl"
    rows = [{"id": one.id, "title": one.title, "text": one.text, "labels": one.labels} for one in new_documents(10)]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_filing_tells_and_keeps_nothing(typed, arrived):
    found = typed("file", arrived.name, "--json")
    assert [row["id"] for row in found["filed"]] == [one.id for one in new_documents(10)]
    for row in found["filed"]:
        assert len(row["path"]) == len(row["certainty"])
        assert all(0.5 < share < 0.9996 for share in row["certainty"])
    assert typed("tree", "--json")["documents"] == N_DOCS
    done = typed("file", arrived.name)
    assert done.stdout.count("Everything") == 10
    assert "10 documents filed" in done.stderr
    assert "--add" in done.stderr


def test_rho_is_how_sure_one_must_be(typed, arrived):
    shallow = typed("file", arrived.name, "--rho", 1, "--json")["filed"]
    assert all(row["path"] == [] for row in shallow)
    deep = typed("file", arrived.name, "--rho", 0, "--json")["filed"]
    assert all(row["path"] for row in deep)


def test_several_topics_of_a_document(typed, arrived):
    found = typed("file", arrived.name, "--several", "--json")["filed"]
    assert all(row["places"] and all(place["share"] >= 0.1 for place in row["places"]) for row in found)


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_rows_into_a_file(typed, arrived, path, format):
    typed("file", arrived.name, "-o", f"filed.{format}")
    file = path.parent / f"filed.{format}"
    if format == "csv":
        rows = list(csv.DictReader(file.open(newline="")))
    elif format == "jsonl":
        rows = [json.loads(line) for line in file.read_text().splitlines()]
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(file).to_pylist()
    assert [row["id"] for row in rows] == [one.id for one in new_documents(10)]


def test_rows_come_out_as_documents_come_in(path, arrived):
    first, second = arrived.read_text().splitlines()[:2]
    line = [sys.executable, "-m", "topiarist", "file", str(path), "-", "--format", "jsonl", "--quiet"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, **pipes) as running:
        for sent in (first, second):
            running.stdin.write(sent + "\n")
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["id"] == json.loads(sent)["id"]
        running.stdin.close()
        assert running.wait(PATIENCE) == 0


def test_add_keeps_and_refuses_twice(typed, arrived):
    assert "10 documents added" in typed("file", arrived.name, "--add").stderr
    assert typed("tree", "--json")["documents"] == N_DOCS + 10
    done = typed("file", arrived.name, "--add", code=3)
    assert "already" in done.stderr
    assert "--rename" in done.stderr
    assert typed("tree", "--json")["documents"] == N_DOCS + 10
    typed("file", arrived.name, "--add", "--rename", "--no-learn")
    assert typed("show", f"{new_documents(1)[0].id}#2", "--json")["text"] == new_documents(1)[0].text


def test_dry_run_adds_nothing(typed, arrived):
    assert "Nothing was kept" in typed("file", arrived.name, "--add", "--dry-run").stderr
    assert typed("tree", "--json")["documents"] == N_DOCS


def test_unusual_documents_and_the_command_that_grows_them(typed, path):
    strange = path.parent / "strange"
    strange.mkdir()
    for number in range(3):
        (strange / f"{number}.txt").write_text("zzyzx qwerty flurb grault " * 5)
    done = typed("file", "strange", "--add", "--no-learn")
    assert "3 documents unusual" in done.stderr
    command = next(line for line in done.stderr.splitlines() if " branch NAME under " in line)
    assert "strange/0.txt" in command
    topic = command.split(" under ")[1].split()[0]
    found = typed("file", "strange", "--branch", "--json")
    assert found["new_topics"][0]["documents"] == found["unusual"]
    typed("shape", "branch", "Strange", "under", topic, "with", *(f"strange/{number}.txt" for number in range(3)))
    assert typed("show", "Strange", "--json")["documents"] >= 3


def test_files_into_folders(typed, path):
    box = path.parent / "box"
    box.mkdir()
    for number, one in enumerate(new_documents(4)):
        (box / f"{number}.txt").write_text(one.text)
    planned = typed("file", "box", "--move-to", "sorted", "--dry-run", "--json")["moved"]
    assert len(planned) == 4
    assert len(list(box.iterdir())) == 4
    moved = typed("file", "box", "--move-to", "sorted", "--json")["moved"]
    assert moved == planned
    assert not list(box.iterdir())
    assert all((path.parent / target).is_file() for target in moved.values())


def test_rows_of_a_table_are_not_moved(typed, arrived):
    done = typed("file", arrived.name, "--move-to", "sorted")
    assert "10 documents stay where they are" in done.stderr
    assert arrived.exists()


def test_what_cannot_be_filed(typed, arrived, path):
    assert "csv" in typed("file", arrived.name, "--format", "cvs", code=2).stderr
    assert "missing.txt" in typed("file", "missing.txt", code=2).stderr
    (path.parent / "empty.txt").write_text("")
    typed("file", "empty.txt", code=3)


def test_learning_from_the_documents_labels(typed, arrived):
    found = typed("learn", "--single", "--json")
    assert found["n_held_out"] > 0
    assert 0 < found["accuracy"] <= 1
    assert sum(one["documents"] for one in found["categories"]) == found["n_held_out"]
    filed = typed("file", arrived.name, "--json")["filed"]
    assert all(len(row["labels"]) == len(row["label_certainty"]) == 1 for row in filed)
    typed("file", arrived.name, "-o", "rows.csv")
    with open(arrived.parent / "rows.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["label_certainty"]) for row in rows] == [row["label_certainty"][0] for row in filed]
    assert all(0 < float(row["certainty"]) <= 1 for row in rows)
    said = typed("learn", "--single").stdout
    assert "% to " in said
    assert "label right" in said
    assert "precision" in said
    typed("shape", "--undo")
    typed("export", "-o", "excel.csv", "--format", "excel")
    assert (arrived.parent / "excel.csv").read_bytes().startswith(b"\xef\xbb\xbfid,")
    assert "Undone: categories learned" in typed("shape", "--undo").stdout
    assert all(not row["labels"] for row in typed("file", arrived.name, "--json")["filed"])


@pytest.mark.parametrize("kind", ["rows", "separator", "jsonl"])
def test_labels_from_a_table(typed, path, kind):
    every = [(one.id, one.labels) for one in documents()[:N_DOCS]]
    if kind == "rows":
        text = "id,label\n" + "\n".join(f"{id},{label}" for id, labels in every for label in labels)
    elif kind == "separator":
        text = "label;id\n" + "\n".join(f"{'+'.join(labels)};{id}" for id, labels in every)
    else:
        text = "\n".join(json.dumps({"id": id, "labels": labels}) for id, labels in every)
    file = path.parent / f"labels.{'jsonl' if kind == 'jsonl' else 'csv'}"
    file.write_text(text + ("\nnobody,x" if kind == "rows" else ""))
    options = ["--separator", "+"] if kind == "separator" else []
    found = typed("learn", "--labels", file.name, *options, "--json")
    assert found["several"]
    assert found["n_labelled"] > 400
    assert found["unknown_ids"] == (["nobody"] if kind == "rows" else [])
    assert found["f1"] > 0.1


def test_labels_that_are_paths(typed, path, arrived):
    rows = "\n".join(f"{one.id},{one.labels[0].replace('.', '/')}" for one in documents()[:N_DOCS])
    (path.parent / "labels.csv").write_text(f"id,label\n{rows}\n")
    assert typed("learn", "--labels", "labels.csv", "--json")["accuracy"] > 0.1
    labels = [label for row in typed("file", arrived.name, "--json")["filed"] for label in row["labels"]]
    assert any("/" in label for label in labels)


def test_labels_that_fit_nothing(typed, path):
    (path.parent / "labels.csv").write_text("id,label\n14010,x\n")
    assert "is in the collection, such as" in typed("learn", "--labels", "labels.csv", code=3).stderr
    (path.parent / "labels.csv").write_text("name_of,kind\na,b\n")
    assert "labels.csv has no column" in typed("learn", "--labels", "labels.csv", code=2).stderr


def test_edits_from_words_and_from_a_file(typed, path):
    done = typed("shape", "rename", 1, "Waves")
    assert "→ Waves" in done.stdout
    (path.parent / "edits.yaml").write_text(
        "- merge: {topics: [2, 3], name: Both}\n- split: {topic: 4, into: 2}\n"
        "- pin: {documents: ['1401.0276'], topic: 5}\n"
    )
    dry = typed("shape", "edits.yaml", "--dry-run", "--json")
    assert dry["topics"] == {"before": 6, "after": 6}
    assert typed("tree", "--json")["topics"][1]["name"] == "Waves"
    assert len(typed("tree", "--json")["topics"]) == 7
    done = typed("shape", "edits.yaml")
    assert "3 edits: 6 topics before, 6 after" in done.stdout
    found = typed("tree", "--json")
    assert not found["pending"]
    assert {"Waves", "Both"} <= {topic["name"] for topic in found["topics"]}
    assert typed("show", "1401.0276", "--json")["places"][0]["topic"] == 5


def test_topics_get_a_heading_in_one_step(typed, collection):
    outline = collection.outline
    topics = [outline.topics[leaf] for leaf in outline.tree.leaves[:3]]
    before = typed("tree", "--json")
    dry = typed("shape", "group", *topics, "as", "Our own", "--dry-run", "--json")
    new = next(one for one in dry["changes"] if one["before"] is None)
    sizes = {one["id"]: one["documents"] for one in before["topics"]}
    assert new["after"]["name"] == "Our own"
    assert new["after"]["documents"] == pytest.approx(sum(sizes[topic] for topic in topics), abs=2)
    assert typed("tree", "--json") == before
    assert "Our own" in typed("shape", "group", *topics, "as", "Our own", "--no-refit").stdout
    shown = next(one for one in typed("tree", "--json")["topics"] if one["name"] == "Our own")
    assert shown["words"]
    assert shown["documents"] == pytest.approx(new["after"]["documents"], abs=1)
    typed("shape", "--refit")
    after = {one["id"]: one for one in typed("tree", "--json")["topics"]}
    assert [after[topic]["parent"] for topic in topics] == [shown["id"]] * 3
    assert f"group {' '.join(map(str, topics))} as 'Our own'" in typed("shape", "--log").stdout
    typed("shape", "--undo")
    typed("shape", "--undo")
    assert typed("tree", "--json") == before
    assert "group TOPIC TOPIC… as NAME" in typed("shape", "group", *topics, code=2).stderr


def test_words_belong_are_ignored_and_are_one(typed, collection):
    before = typed("tree", "--json")
    dry = typed("shape", "seed", 3, "with", "Laser", "optical", "--dry-run", "--json")
    assert dry["pending"]
    assert [(one["word"], one["what"], one["topic"]) for one in dry["words"]] == [
        (word, "seed", collection.outline.name(3)) for word in ("laser", "optical")
    ]
    told = typed("shape", "seed", 3, "with", "Laser", "optical", "--dry-run").stdout
    assert "“laser” is in" in told
    assert "is explained by" in told
    assert "would be fitted again" in told
    assert typed("tree", "--json") == before
    done = " ".join(typed("shape", "seed", 3, "with", "laser").stdout.split())
    assert re.search(r"explained by .* and below: \d+% before, \d+% now", done)
    typed("shape", "ignore", "networks", "dark", "--no-refit")
    typed("shape", "unite", "behaviour", "=", "behavior", "--no-refit")
    assert "networks" not in typed("tree").stdout
    told = typed("shape", "--words")
    for said in (": laser", "Ignored: networks, dark", "behaviour = behavior"):
        assert said in told.stdout
    assert typed("shape", "--words", "--json") == {
        "seeds": [{"topic": 3, "name": collection.outline.name(3), "words": ["laser"]}],
        "ignored": ["networks", "dark"],
        "united": {"behaviour": ["behavior"]},
    }
    assert "Seed words: laser" in typed("show", 3).stdout
    assert "'laser' is a seed word of" in typed("shape", "ignore", "laser", code=2).stderr
    assert "'laser'" in typed("shape", "ignore", "lasar", code=2).stderr
    typed("shape", "forget", "laser", "dark", "networks", "behaviour", "--no-refit")
    assert "There are no word edits." in typed("shape", "--words").stdout
    for _ in range(4):
        typed("shape", "--undo")
    assert typed("tree", "--json") == before


def test_several_topics_are_split_at_once(typed, collection):
    outline = collection.outline
    one, two = (outline.topics[leaf] for leaf in outline.tree.leaves[:2])
    done = typed("shape", "split", one, two, "into", 3, "--no-refit", "--json")
    assert done["edits"] == [f"split {one} {two} into 3"]
    assert done["topics"]["after"] == done["topics"]["before"] + 4  # the two are headings then
    assert "split TOPIC… [into NUMBER]" in typed("shape", "split", one, two, 3, code=2).stderr


def test_undo_and_log(typed):
    before = typed("tree", "--json")
    typed("shape", "merge", 1, 2, "as", "Both")
    typed("shape", "--undo")
    assert typed("tree", "--json") == before
    done = typed("shape", "--log")
    assert "merge 1 2 as Both  (undone)" in done.stdout
    assert [entry["kind"] for entry in typed("shape", "--log", "--json")] == ["grow", "edit", "undo"]
    assert "there is nothing to undo" in typed("shape", "--undo", code=2).stderr


def test_what_cannot_be_done_says_what_can(typed, collection):
    assert "rename TOPIC NAME" in typed("shape", code=2).stderr
    assert "'merge'" in typed("shape", "merg", 1, 2, code=2).stderr
    word = collection.outline.name(1).split(" · ")[0]
    assert word in typed("shape", "rename", word[:-2] + "xx", "A", code=2).stderr
    assert "cannot read missing.yaml" in typed("shape", "missing.yaml", code=2).stderr


def test_a_conversation_without_a_terminal(typed):
    lines = "tree\n# a remark\nrename 1 Waves\nmerge 2 3\nundo\nmerge 4 5 as Both\nrefit\nquit\nrename 1 Never\n"
    done = typed("shape", "--interactive", stdin=lines)
    assert "Undone: merge 2 3" in done.stdout
    names = {topic["name"] for topic in typed("tree", "--json")["topics"]}
    assert {"Waves", "Both"} <= names
    assert "Never" not in names
    assert not typed("tree", "--json")["pending"]
    done = typed("shape", "-i", stdin="renam 1 X\nrename 1 Y\n", code=1)
    assert "'rename'" in done.stderr
    assert typed("show", 1, "--json")["name"] == "Y"


def test_export_of_everything(typed, path):
    typed("shape", "rename", 1, "Waves")
    typed("export", "-o", "documents.csv")
    rows = list(csv.DictReader((path.parent / "documents.csv").open(newline="")))
    assert len(rows) == N_DOCS
    assert rows[0]["title"] == documents()[0].title
    assert "Everything/Waves" in {row["path"] for row in rows}
    topics = list(csv.DictReader(io.StringIO(typed("export", "-o", "-", "--what", "topics").stdout)))
    assert {row["name"]: row["named_by"] for row in topics}["Waves"] == "person"
    words = list(csv.DictReader(io.StringIO(typed("export", "-o", "-", "--what", "words", "--words", 3).stdout)))
    assert len(words) == 3 * len(topics)
    assert {row["path"] for row in words} == {row["path"] for row in topics}
    for name in ("tree.json", "tree.paths", "tree.ttl", "tree.rdf"):
        typed("export", "-o", name)
        assert "Waves" in (path.parent / name).read_text()
    typed("export", "-o", "model", "--what", "model")
    assert load_model(path.parent / "model", check=True).n_features_in_ > 100


def test_export_never_replaces_silently(typed, path):
    (path.parent / "a.csv").write_text("mine")
    assert "--force" in typed("export", "-o", "a.csv", code=2).stderr
    assert (path.parent / "a.csv").read_text() == "mine"
    typed("export", "-o", "a.csv", "--force")
    assert "no format is known" in typed("export", "-o", "a.xyz", code=2).stderr
    assert "documents" in typed("export", "-o", "b.csv", "--what", "docments", code=2).stderr


def test_compare_with_before_and_with_another(typed, path):
    typed("shape", "merge", 1, 2, "as", "Both")
    done = typed("compare", "--before")
    assert "merged: 1" in done.stdout
    assert "→  Both" in " ".join(done.stdout.split("\n")).replace("   ", "  ")
    shutil.copytree(path, path.parent / "other.topiary")
    found = typed("compare", "other.topiary", "--json")
    assert found["agreement"]["leaves"]["nmi"] == pytest.approx(1.0)
    assert "expected another collection" in typed("compare", code=2).stderr


def test_evaluate(typed):
    found = typed("evaluate", "--json")
    assert found["n_leaves"] == 6
    assert found["perplexity_of_seen_documents"] > 10
    assert 0 < found["labelled"]["nmi"] < 1
    assert "dendrogram purity" in typed("evaluate").stdout


def test_how_sure_topics_are_is_told_where_they_are_shown(typed):
    assert typed("evaluate", "--json")["steadiness"] is None
    said = typed("evaluate", "--stability").stdout
    assert "came back in 5 trees grown from other halves" in said
    known = typed("evaluate", "--json")["steadiness"]
    topic, share = next(iter(known["shares"].items()))
    assert f"{share:.0%} came back in 5 other trees" in typed("show", topic).stdout


def test_check_is_content_with_what_is_whole(typed):
    typed("shape", "merge", 1, 2)
    typed("learn", "--single")
    assert "is whole" in typed("check").stdout
    assert typed("check", "--json") == {"whole": True, "findings": []}


def test_check_finds_damage_and_parts_of_others(typed, path, tmp_path):
    generation = next(path.glob("g-*"))
    file = generation / "shares-1" / "arrays.safetensors"
    data = bytearray(file.read_bytes())
    data[-3] ^= 255
    file.write_bytes(data)
    found = typed("check", "--json", code=4)
    assert "checksum" in found["findings"][0]["what"]
    assert "is damaged" in typed("check", code=4).stdout


def test_check_finds_a_state_that_does_not_fit(typed, path):
    from topiarist.storage import edit_log

    with Collection.open(path) as collection, collection.folder.writing() as generation:
        body = collection.state.to_dict() | {"n_docs": N_DOCS - 1}
        edit_log.record(generation.database, "edit", {"edits": []}, body)
    found = typed("check", "--json", code=4)
    assert any("500" in one["what"] and "499" in one["what"] for one in found["findings"])
    with Collection.open(path) as collection, collection.folder.writing() as generation:
        edit_log.record(generation.database, "edit", {"edits": []}, {"parts": {}})
    assert any("is damaged" in one["what"] for one in typed("check", "--json", code=4)["findings"])


def test_check_repairs_what_it_can(typed, path):
    left = next(path.glob("g-*")) / "tree-9"
    left.mkdir()
    assert typed("check", "--json")["findings"][0]["severity"] == "note"
    typed("check", "--repair")
    assert not left.exists()
    assert os.path.isdir(path)
