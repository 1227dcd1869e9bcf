"""Tables of what people say: what they answer before anybody has said something, and in what order they tell it."""

import pytest

from topiarist.errors import DamagedError
from topiarist.store import facts
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.store.judgement_table import JudgementTable
from topiarist.store.review_table import ReviewTable
from topiarist.text.documents import Document


@pytest.fixture
def database(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    Documents(database).load(Document(str(row), f"text {row}") for row in range(10))
    yield database
    database.close()


def test_a_review_that_nobody_began_has_nothing(database):
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


def test_judgements_are_told_by_their_numbers(database):
    table = JudgementTable(database)
    assert (table.last_number(), table.get(1), table.since(0), table.newest(), table.of([0])) == (0, None, [], [], {})
    table.create()
    assert table.last_number() == 0
    first = table.append(4, "move", ("oil",), ("gas",))
    second = table.append(2, "accept", (), ())
    third = table.append(4, "move", ("gas",), ("oil", "law"))
    assert table.last_number() == third.number
    assert table.get(first.number) == first
    assert table.since(first.number) == [second, third]
    assert table.newest() == [second, third]
    assert table.of([4, 9]) == {4: third}
    assert table.all_of(4) == [first, third]


def test_languages_are_counted_where_they_were_noted(database):
    assert facts.languages(database) is None
    facts.add_languages(database, [(0, "en"), (1, "de"), (2, "de"), (3, "")])
    assert list(facts.languages(database).items()) == [("de", 2), ("", 1), ("en", 1)]
    assert facts.languages(database, 2) == {"de": 1, "en": 1}
    assert sorted(facts.languages_of(database, [0, 2, 9])) == ["de", "en"]


@pytest.mark.parametrize("name", ["recipe", "dates"])
def test_a_setting_of_another_kind_is_named(database, name):
    database.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, "7"))
    with pytest.raises(DamagedError, match=f"{name} is not what it should be"):
        facts.settings(database)


def test_what_an_earlier_version_removed_is_known_and_passages_are_told_apart_from_then_on(database):
    database.run("CREATE TABLE removed (digest TEXT PRIMARY KEY) WITHOUT ROWID")
    database.run("INSERT INTO removed VALUES (?)", (facts.digest_of("old"),))
    assert facts.removed(database) == {facts.digest_of("old"): False}
    facts.add_removed(database, ["new"], ["part"])
    assert facts.removed(database) == {
        facts.digest_of("old"): False,
        facts.digest_of("new"): False,
        facts.digest_of("part"): True,
    }
