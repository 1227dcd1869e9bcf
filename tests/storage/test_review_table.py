"""Tables of what people say: what they answer before anybody has said something, and in what order they tell it."""

import pytest

from topiarist.errors import DamagedError
from topiarist.storage import facts
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.review_table import JudgementTable, ReviewTable
from topiarist.text.documents import Document


@pytest.fixture
def database(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    Documents(database).load(Document(str(row), f"text {row}") for row in range(10))
    yield database
    database.close()


def test_missing_review_empty(database):
    table = ReviewTable(database)
    assert (table.last_number("oil"), table.lot("oil"), table.labels(), table.entries("oil")) == (0, None, [], [])
    table.of_other_documents()
    table.begin("oil", 7)
    assert (table.last_number("oil"), table.lot("oil"), table.labels(), table.entries("oil")) == (0, 7, ["oil"], [])
    table.begin("oil", 8)  # one that has begun stays as it is
    first, second = table.append("oil", 3, "yes", "top", 40), table.append("oil", 5, "no", "random", 40)
    assert table.lot("oil") == 7
    assert table.last_number("oil") == second.number > first.number
    assert [(one.row, one.answer, one.drawn, one.documents) for one in table.entries("oil")] == [
        (3, "yes", "top", 40),
        (5, "no", "random", 40),
    ]
    assert table.last_number("gas") == 0
    table.of_other_documents()
    assert {one.documents for one in table.entries("oil")} == {0}


def test_judgements_by_number(database):
    table = JudgementTable(database)
    assert (table.last_number(), table.get(1), table.since(0), table.newest(), table.of([0])) == (0, None, [], [], {})
    first = table.append(4, "move", ("oil",), ("gas",))
    second = table.append(2, "accept", (), ())
    third = table.append(4, "move", ("gas",), ("oil", "law"))
    assert table.last_number() == third.number
    assert table.get(first.number) == first
    assert table.since(first.number) == [second, third]
    assert table.newest() == [second, third]
    assert table.of([4, 9]) == {4: third}
    assert table.all_of(4) == [first, third]


def test_languages_counts(database):
    assert facts.languages(database) == {}
    facts.add_languages(database, [(0, "en"), (1, "de"), (2, "de"), (3, "")])
    assert list(facts.languages(database).items()) == [("de", 2), ("", 1), ("en", 1)]
    assert facts.languages(database, 2) == {"de": 1, "en": 1}
    assert sorted(facts.languages_of(database, [0, 2, 9])) == ["de", "en"]


@pytest.mark.parametrize("name", ["recipe", "dates"])
def test_settings_of_wrong_type_raises_damaged_error(database, name):
    database.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, "7"))
    with pytest.raises(DamagedError, match=f"{name} has an invalid type"):
        facts.settings(database)


def test_removed_digests_distinguish_passages(database):
    assert facts.removed(database) == {}
    facts.add_removed(database, ["new"], ["part"])
    assert facts.removed(database) == {facts.compute_id_digest("new"): False, facts.compute_id_digest("part"): True}


def test_clear_removes_duplicates(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    documents = Documents(database)
    documents.load([Document("a", "one text"), Document("b", "one text")])
    assert facts.get_duplicates(database) == []
    facts.add_duplicates(database, [(1, 0, 1.0)])
    assert facts.get_duplicates(database) == [(1, 0, 1.0)]
    documents.clear()
    assert facts.get_duplicates(database) == []
    documents.load([Document("c", "another text")])
    assert len(documents) == 1
