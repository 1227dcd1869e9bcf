"""tree, show, find, similar: what they print, where, and with which exit code."""

import csv
import json
import re
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tests.grown import N_DOCS, documents
from topiarist.cli.commands import app
from topiarist.cli.commands.tree import _describe_label as label_of
from topiarist.collection.collection import Collection


def test_the_tree_has_sizes_and_numbers_and_says_what_to_type(typed):
    done = typed("tree")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("notes.topiary: 500 documents from 2014 in English (>99%")
    n_unsorted = int(re.search(r"\), sorted into 6 topics, (\d+) unsorted\.$", lines[0])[1])
    assert n_unsorted <= 0.05 * N_DOCS
    assert lines[2].split() == ["documents", "id"]
    assert lines[3].startswith("Everything: ")
    assert lines[3].split()[-2:] == ["500", "0"]
    assert sum(int(line.split()[-2]) for line in lines[4:10]) == N_DOCS - n_unsorted
    assert "Next:  topiarist show notes.topiary " in done.stderr


def test_quiet_leaves_results_only(typed):
    assert typed("tree", "--quiet").stderr == ""


def test_the_tree_as_json_says_the_same(typed):
    found = typed("tree", "--json", "--documents", 2)
    assert found["documents"] == N_DOCS
    assert found["topics"][0]["documents"] == N_DOCS
    assert len(found["topics"]) == 7
    assert all(len(topic["typical"]) == 2 for topic in found["topics"][1:])
    assert not found["pending"]
    assert found["dates"]["first"].startswith("2014")


def test_names_notes_and_edits_that_wait_are_told(typed):
    typed("shape", "rename", 1, "Waves and surfaces")
    typed("shape", "describe", 1, "look at this again")
    typed("shape", "merge", 2, 3, "--no-refit")
    done = typed("tree")
    assert "Waves and surfaces: " in done.stdout
    assert "look at this again" in done.stdout
    assert "Edits wait for a fit" in done.stdout
    assert "names were given by users" in done.stdout
    found = typed("tree", "--json")
    assert found["pending"]
    assert {topic["name"]: topic["named_by"] for topic in found["topics"]}["Waves and surfaces"] == "person"


def test_name_with_a_comma_in_every_command(typed, tmp_path):
    name = "Waves, surfaces · matter"
    typed("shape", "rename", 1, name)
    assert f"{name}: " in typed("tree", "--topic", name).stdout
    assert typed("show", name, "--json")["name"] == name
    assert (
        typed("find", "matter", "--topic", name, "--json")["hits"]
        == typed("find", "matter", "--topic", 1, "--json")["hits"]
    )
    typed("export", "-o", tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
        assert name in {cell for row in csv.reader(file) for cell in row}
    typed("shape", "rename", name, "Waves")
    assert typed("show", "Waves", "--json")["id"] == 1


def test_words_stand_behind_a_joined_name_that_begins_with_the_first():
    tree = SimpleNamespace(names=["Everything", "oil, gas"], root=0)
    collection = SimpleNamespace(
        outline=SimpleNamespace(topics=(0, 1), tree=tree, titles={}),
        tree=SimpleNamespace(nodes=[None, SimpleNamespace(words=("oil", "barrel"))]),
    )
    assert label_of(collection, 1, 2) == ("oil, gas", "bold", ["oil", "barrel"], ": ")


def test_a_part_of_the_tree_and_its_depth(typed):
    typed("shape", "split", 1, 2)
    done = typed("tree", "--topic", 1)
    assert len([line for line in done.stdout.splitlines() if line.startswith(("├─", "└─"))]) == 2
    assert "… 2 more" in typed("tree", "--depth", 1).stdout


def test_topics_opens_headings_to_that_many_siblings(typed):
    typed("shape", "split", 1, 2)

    def count(*options):
        lines = [line for line in typed("tree", *options).stdout.splitlines() if line.startswith(("├─", "└─"))]
        assert len(typed("tree", "--json", *options)["topics"]) == 1 + len(lines)
        return [line.split()[-1] for line in lines if line.split()[-1].startswith("+")], len(lines)

    assert count("--topics", 6) == (["+2"], 6)
    assert count("--topics", 7) == count("--topics", 50) == ([], 7)
    assert "siblings:" not in typed("tree", "--topics", 7).stdout
    assert "7 siblings: there are no more than 7 topics." in typed("tree", "--topics", 50).stdout
    assert count("--topics", 5) == (["+2"], 6)
    shown = typed("tree", "--topics", 5).stdout
    assert "6 siblings: 5 need a new heading over some siblings. Try: topiarist shape" in shown
    done = typed("tree", "--topics", 6, "--detail", "fine", code=2)
    assert "--topics and --detail both set the detail" in done.stderr
    assert "both set the detail" in typed("tree", "--depth", 1, "--detail", "fine", code=2).stderr


def test_a_tree_does_not_load_the_model(path):
    with Collection.open(path) as collection:
        assert collection.tree.sizes[0] == N_DOCS
        assert not {"model", "crown", "index", "counts", "placer"} & set(collection.cache.values)


def test_a_topic_by_number_name_or_word(typed, collection):
    name = collection.outline.name(1)
    found = typed("show", 1, "--json")
    assert found["name"] == name
    assert typed("show", name, "--json") == found
    assert typed("show", name.split(" · ")[0], "--json")["id"] == 1
    assert found["words"][0]["word"] == name.split(" · ")[0]
    assert all(0 <= word["special"] <= 1 and word["documents"] > 0 for word in found["words"])
    done = typed("show", 1)
    assert "OWN WORDS" in done.stdout
    assert "TYPICAL DOCUMENTS" in done.stdout


def test_likely_words_come_by_probability(typed):
    words = [word["probability"] for word in typed("show", 1, "--likely", "--json", "--words", 20)["words"]]
    assert len(words) == 20
    assert words == sorted(words, reverse=True)


def test_a_document_word_by_word(typed):
    id = documents()[3].id
    found = typed("show", id, "--json")
    assert found["text"] == documents()[3].text
    assert sum(level["share"] for level in found["levels"]) == pytest.approx(1.0, abs=1e-4)
    assert 0.5 < found["places"][0]["share"] < 0.9996  # a certainty: other topics have less than 5% each
    assert sum(place["share"] for place in found["places"]) <= 1.0
    for word in found["words"]:
        assert found["text"][word["start"] : word["end"]].lower() == word["word"]
        assert 0 <= word["level"] < len(found["levels"])
    assert {word["level"] for word in found["words"]} > {0}
    said = set(found["text"].lower().split())
    assert found["levels"][1]["absent"]
    assert not said & set(found["levels"][1]["absent"])
    assert len(found["similar"]) == 5
    assert id not in [hit["id"] for hit in found["similar"]]
    done = typed("show", id)
    assert "¹" in done.stdout
    assert "EXPECTED BUT ABSENT" in done.stdout


def test_a_long_text_is_cut_and_whole_on_demand(typed, collection):
    from topiarist.text.documents import Document

    collection.add([Document("long", "the spin of an electron. " * 400, "Long")], learn=False)
    assert "more characters: --all" in typed("show", "long").stdout
    assert typed("show", "long", "--all").stdout.count("spin") > 390


def test_what_is_neither_proposes_the_nearest(typed, collection):
    near = documents()[3].id
    done = typed("show", near[:-1] + "x", code=2)
    assert "there is no topic and no document" in done.stderr
    word = collection.outline.name(1).split(" · ")[0]
    assert word in typed("show", word[:-1], code=2).stderr


def test_find_by_words(typed):
    done = typed("find", "magnetic", "field", "-n", 3, "--by", "words")
    found = typed("find", "magnetic", "field", "-n", 3, "--by", "words", "--json")
    assert f"{found['total']} documents match magnetic field" in done.stdout
    assert len(found["hits"]) == 3
    assert "*magnetic*" in done.stdout.lower()
    assert any(piece["match"] for piece in found["hits"][0]["snippet"])
    assert found["topics"][0]["matching"] <= found["total"]
    assert "Next:  topiarist " in done.stderr


def test_find_as_it_comes(typed):
    done = typed("find", "fields", "of", "magnets", "-n", 3)
    found = typed("find", "fields", "of", "magnets", "-n", 3, "--json")
    assert found["all_words"] == found["total"]
    assert f"{found['total']} documents match fields of magnets" in done.stdout
    assert "*field*" in done.stdout.lower()  # another form than was typed
    assert found["not_required"] == []
    none = typed("find", "fields", "xyzzyx", "galaxies", "-n", 3, "--json")
    assert (none["not_required"], none["all_words"]) == (["xyzzyx"], 0)
    assert "No document has 'xyzzyx'." in none["message"]
    assert len(none["hits"]) == 3
    done = typed("find", "fields", "xyzzyx", "galaxies", "-n", 3)
    assert "No document has all words. " in done.stdout
    assert f"{none['total']} document{'s have' if none['total'] > 1 else ' has'} some of them" in done.stdout
    assert " match " not in done.stdout.splitlines()[0]
    exact = typed("find", '"magnetic field"', "-n", 100, "--json")
    words = typed("find", '"magnetic field"', "--by", "words", "-n", 100, "--json")
    assert {hit["id"] for hit in exact["hits"]} == {hit["id"] for hit in words["hits"]}
    assert exact["total"] == words["total"]


def test_find_marks_related_documents(typed):
    found = typed("find", "dark", "matter", "-n", 100, "--json")
    related = [hit["related"] for hit in found["hits"]]
    assert related == [False] * found["total"] + [True] * 20
    done = typed("find", "dark", "matter", "-n", 100)
    assert "RELATED DOCUMENTS" in done.stdout.upper()
    assert done.stdout.upper().count("RELATED DOCUMENTS") == 1
    assert all(topic["matching"] <= found["total"] for topic in found["topics"])


def test_find_names_the_documents_that_topics_count(typed):
    first, second = [document.id for document in documents()[:2]]
    done = typed("find", "galaxies", "--like", first, "--not", second, "-n", 1)
    counted = typed("find", "galaxies", "--like", first, "--not", second, "--json")["counted"]
    assert f"TOPICS OF THE {counted} NEAREST DOCUMENTS" in done.stdout.upper()
    assert f" galaxies --like {first} --not {second} --topic" in done.stderr
    matching = typed("find", "dark", "matter", "--json")
    assert matching["counted"] == matching["total"]
    assert "TOPICS OF THE MATCHES" in typed("find", "field").stdout.upper()


def test_find_prints_no_share_of_a_topic(typed):
    assert "100%" not in typed("find", "dark", "matter").stdout


def test_find_down_lists_what_each_step_keeps(typed):
    found = typed("find", "dark", "matter", "--down", "--json")
    steps, below = found["down"]["steps"], found["down"]["steps"][-1]["below"]
    assert steps[0]["topic"] == 0
    assert steps[0]["documents"] == found["total"]
    for step, following in pairwise(steps):
        assert {"topic": following["topic"], "documents": following["documents"]}.items() <= step["below"][0].items()
        assert following["documents"] >= step["documents"] * 2 / 3
    assert found["down"]["open"] == bool(below)
    done = typed("find", "dark", "matter", "--down")
    assert "DOWN THE TREE" in done.stdout
    assert ("CHOOSE A SUBTOPIC" in done.stdout) == bool(below)
    for branch in below[:3]:
        assert f"--down --topic {branch['topic']}" in done.stderr
    only = typed("find", "dark", "matter", "--down", "--topic", steps[0]["below"][0]["topic"], "--json")["down"]
    assert only["steps"][0]["documents"] == steps[0]["below"][0]["documents"]


def test_find_down_repeats_examples_in_its_commands(typed):
    like, unlike = [hit["id"] for hit in typed("find", "dark", "matter", "--json")["hits"][:2]]
    done = typed("find", "matter", "--like", like, "--not", unlike, "--down")
    assert f"--like {like} --not {unlike}" in done.stderr


def test_find_without_a_phrase_offers_the_words(typed):
    found = typed("find", '"magnetic ideas of galaxies"', "--json", code=1)
    assert (found["total"], found["hits"], found["widened"]) == (0, [], "magnetic ideas of galaxies")
    done = typed("find", '"magnetic ideas of galaxies"', code=1)
    assert "No document contains" in done.stdout
    assert "'magnetic ideas of galaxies'" in done.stderr


def test_find_a_list_of_queries(typed, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text('# a remark\nmagnetic field\n\n"dark matter"\nxyzzyx\n', encoding="utf-8")
    done = typed("find", "--queries", queries, "-n", 2)
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert head == ["query", "rank", "score", "id", "title", "related"]
    assert [(row[0], row[1]) for row in rows] == [
        ("magnetic field", "1"), ("magnetic field", "2"), ('"dark matter"', "1"), ('"dark matter"', "2")
    ]  # fmt: skip
    assert "1 query found nothing: xyzzyx" in done.stderr
    assert rows[0][3] == typed("find", "magnetic field", "--json")["hits"][0]["id"]
    assert "no query in" in typed("find", "--queries", "/dev/null", code=2).stderr
    assert "expected a query" in typed("find", code=2).stderr


def test_find_under_a_topic(typed):
    found = typed("find", "model", "-n", 100, "--by", "words", "--json")
    topic = found["topics"][0]["id"]
    below = typed("find", "model", "-n", 100, "--by", "words", "--topic", topic, "--json")
    assert below["total"] == found["topics"][0]["matching"]
    assert {hit["id"] for hit in below["hits"]} <= {hit["id"] for hit in found["hits"]}


def test_find_nothing_says_so_and_leaves_with_one(typed):
    done = typed("find", "galaxxies", code=1)
    assert "No document contains 'galaxxies'." in done.stdout
    assert "Did you mean galaxies" in done.stdout
    assert "--by meaning" in typed("find", "galaxxies", "--by", "words", code=1).stderr
    assert typed("find", "galaxxies", "--json", code=1)["hits"] == []


def test_a_query_that_is_not_closed_is_read_somehow(typed):
    done = typed("find", '"dark matter', "-n", 1)
    assert 'Read as: "dark matter"' in done.stderr


def test_find_by_meaning_says_why(typed):
    found = typed("find", "galaxies", "--by", "meaning", "--why", "-n", 2, "--json")
    assert found["hits"][0]["why"]["topics"]
    assert "topic " in typed("find", "galaxies", "--by", "meaning", "--why", "-n", 1).stdout
    assert "Use --by meaning" in typed("find", "galaxies", "--by", "meannig", code=2).stderr


def test_similar_to_a_document_and_to_a_file(typed, path):
    id = documents()[3].id
    found = typed("similar", id, "-n", 4, "--json")
    assert len(found["hits"]) == 4
    assert id not in [hit["id"] for hit in found["hits"]]
    file = path.parent / "letter.txt"
    file.write_text(documents()[3].text)
    assert typed("similar", file.name, "-n", 4, "--json")["hits"][0]["id"] == id
    assert "word" in typed("similar", id, "--why", "-n", 1).stdout
    assert "there is no document" in typed("similar", "nonsense", code=2).stderr


@pytest.mark.parametrize("command", ["tree", "find", "shape"])
def test_no_collection_says_how_to_make_one(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [command, "missing.topiary", *(["x"] if command == "find" else [])])
    assert done.exit_code == 2
    assert "there is no collection at missing.topiary" in done.stderr
    assert "topiarist grow" in done.stderr


def test_explore_rejects_missing_collection(tmp_path):
    done = CliRunner().invoke(app, ["explore", str(tmp_path / "missing.topiary"), "--read-only", "--no-browser"])
    assert done.exit_code == 2
    assert "there is no collection at" in done.stderr


def test_help_loads_nothing_numerical():
    script = (
        "import sys\nfrom topiarist.cli.commands import app\n"
        "from typer.testing import CliRunner\n"
        "from topiarist.cli.commands import COMMANDS\n"
        "for name in COMMANDS:\n"
        "    done = CliRunner().invoke(app, [name, '--help'])\n"
        "    assert done.exit_code == 0 and f'topiarist {name} ' in done.stdout, name\n"
        "print(sorted({'numpy', 'numba', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("words", [["tree"], ["find", "magnetic", "--by", "words"]])
def test_looking_loads_no_estimators(path, words):
    command, *rest = words
    script = (
        "import sys\nfrom topiarist.cli import main\n"
        f"sys.argv = ['topiarist', {command!r}, {str(path)!r}, *{rest!r}]\n"
        "try:\n    main()\nfinally:\n    print('loaded', sorted({'numba', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded []"


def test_json_is_one_document(typed):
    assert json.dumps(typed("evaluate", "--json"))


def test_a_report_replaces_a_report_and_nothing_else(typed, path):
    target = path.parent / "out.html"
    for _ in range(2):
        typed("report", "-o", target)
    other = path.parent / "thesis.html"
    other.write_text("years of work", encoding="utf-8")
    done = typed("report", "-o", other, code=2)
    assert "exists already" in done.stderr
    assert other.read_text(encoding="utf-8") == "years of work"
    typed("report", "-o", other, "--force")
    assert "topiarist report" in other.read_text(encoding="utf-8")[:4096]
