"""Documents that no topic explains: they are in no topic, are counted and listed, and can be grown."""

import json
import random
import string
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

from tests.grown import N_DOCS, new_documents
from tests.planted import planted, planted_documents, planted_path  # noqa: F401
from topiarist.cli.commands import app
from topiarist.collection import unsorted
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.describe.collection_facts import load_facts
from topiarist.collection.grow import fit_description
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.unsorted import explain_unsorted, find_foreign, list_unsorted
from topiarist.display.first_sentence import first_sentence
from topiarist.text.documents import Document

N_RANDOM, N_CHINESE = 25, 40


def make_pile():
    """Return planted documents, random strings and Chinese headlines whose words occur once."""
    rng = random.Random(0)

    def word():
        return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 11)))

    def headline():
        return "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(12))

    strings = [Document(f"random/{n}", " ".join(word() for _ in range(rng.randint(5, 60)))) for n in range(N_RANDOM)]
    chinese = [Document(f"zh/{n}", headline() + "市场上涨" * (n % 2)) for n in range(N_CHINESE)]
    return [*planted_documents(), *strings, *chinese]


@pytest.fixture(scope="module")
def pile(tmp_path_factory):
    with Collection.grow(make_pile(), tmp_path_factory.mktemp("pile") / "pile.topiary", Recipe(topics=4)) as collection:
        yield collection


def kinds(collection, rows):
    return {collection.documents.get(int(row)).id.split("/")[0] for row in rows}


def test_random_strings_are_unsorted(pile):
    rows = np.flatnonzero(pile.hard_to_place)
    assert kinds(pile, rows) == {"random"}
    assert len(rows) == N_RANDOM
    assert set(explain_unsorted(pile, rows.tolist())) <= {"unknown", "short"}
    assert pile.tree.sizes[pile.outline.tree.root] == len(pile)
    assert not pile.certainties(rows).any()


def test_unsorted_documents_are_counted_and_found(pile):
    assert first_sentence(load_facts(pile)).endswith(f", {N_RANDOM} unsorted.")
    assert pile.search("topic:unsorted", by="words").total == N_RANDOM
    assert [document.id for document, _ in list_unsorted(pile, 2)] == ["random/0", "random/1"]
    assert check_folder(pile.folder.path) == []


def test_topic_named_unsorted_is_found_by_its_name(pile):
    topic = pile.outline.topics[pile.outline.tree.leaves[0]]
    pile.shape([f"rename {topic} Unsorted"])
    found, expected = pile.search("topic:unsorted", by="words"), pile.search(f"topic:{topic}", by="words")
    pile.undo()
    assert found.total == expected.total != N_RANDOM


def test_language_of_script_keeps_its_topics(pile):
    nodes = pile.assignments.assigned_nodes
    chinese = {int(nodes[row]) for row in range(len(pile)) if pile.documents.get(row).id.startswith("zh/")}
    others = {int(nodes[row]) for row in range(len(pile)) if not pile.documents.get(row).id.startswith("zh/")}
    assert not chinese & others
    assert pile.outline.tree.root not in chinese


def test_unsorted_documents_grow_into_a_branch(pile):
    pile.shape(["branch Strings under 0 with unsorted"])
    topic = pile.outline.find("Strings")
    assert kinds(pile, np.flatnonzero(pile.shares_under(topic) > 0.5)) == {"random"}
    assert not pile.hard_to_place.any()
    pile.undo()
    assert pile.hard_to_place.sum() == N_RANDOM


def test_ordinary_documents_stay_sorted(planted):  # noqa: F811
    assert planted.hard_to_place.sum() <= 0.02 * len(planted)


def test_few_documents_in_another_language_are_foreign():
    codes, places = ["de", "en"], np.array([0] * 4 + [1] * 96)
    np.testing.assert_array_equal(find_foreign(codes, places, {1: [0]}), places == 0)


def test_many_small_languages_together_stay_sorted():
    codes, places = [f"l{number}" for number in range(25)], np.repeat(np.arange(25), 24)
    assert not find_foreign(codes, places, {}).any()


def test_tree_lists_some_unsorted_documents(pile):
    def run(*options):
        return CliRunner().invoke(app, ["tree", str(pile.folder.path), *options]).stdout

    body = json.loads(run("--json"))
    assert body["hard_to_place"] == N_RANDOM
    assert [one["id"] for one in body["unsorted"]] == [f"random/{number}" for number in range(5)]
    assert f"{N_RANDOM} documents are unsorted: no topic holds more than half of any." in run()


def test_only_rare_languages_are_a_reason(monkeypatch):
    codes = ["en"] * 50 + ["de"] * 48 + ["fr"] * 2
    monkeypatch.setattr(unsorted, "language_codes", lambda _, rows: [codes[row] for row in rows])
    monkeypatch.setattr(unsorted, "languages", lambda _: {code: codes.count(code) for code in codes})
    counts = np.full((100, 2), 10.0)
    counts[99] = 0
    bilingual = SimpleNamespace(
        shares=csr_array((100, 2)), counts=csr_array(counts), languages=("en", "de", "fr"),
        generation=SimpleNamespace(database=None),
    )  # fmt: skip
    assert explain_unsorted(bilingual, [0, 50, 98, 99]) == ["nowhere", "nowhere", "language", "unknown"]


def test_additions_are_sorted_by_their_languages(collection, monkeypatch):
    seen = []
    remove = fit_description.remove_unsorted
    monkeypatch.setattr(
        fit_description, "remove_unsorted", lambda *given, **options: seen.append(given[5]) or remove(*given, **options)
    )
    collection.add(new_documents(5), learn=True)
    assert seen[0][N_DOCS:] == ["en"] * 5
