"""A pile of everything at once, grown; asserted row by row."""

import pytest

from tests.collection.torture_pile import build
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import build_account
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.passages import find_parent
from topiarist.text.language import LANGUAGE
from topiarist.text.repeated import spans


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("torture") / "pile"
    rows = build(folder)
    recipe = Recipe(topics=3, headings=False, passages=True)
    with Collection.grow(folder, folder.parent / "c.topiary", recipe) as collection:
        yield collection, rows


@pytest.fixture(scope="module")
def known(grown):
    """Of each document what came out: date, language, copy, whether lines are not counted."""
    collection, _ = grown
    forms, ids = collection.counting.repeated.forms, collection.documents.ids()
    cells = collection.columns.of(range(len(ids)))
    originals = dict(zip(collection.copies.rows.tolist(), collection.copies.originals.tolist(), strict=True))
    found = {}
    for row, document in enumerate(collection.documents.iterate()):
        copy = ids[originals[row]] if row in originals else ""
        language = cells.get(row, {}).get(LANGUAGE, [""])[0]
        found[document.id] = (document.date[:10], language, copy, bool(spans(document.text, forms)))
    return found


def test_every_document_is_there_and_no_other(grown, known):
    _, rows = grown
    expected = {row.id for row in rows if not row.pages} | {
        f"{row.id}#page={page}" for row in rows for page in range(1, row.pages + 1)
    }
    assert set(known) == expected


def test_dates_languages_copies_and_bars_row_by_row(grown, known):
    wanted = {row.id: (row.date, row.language, row.copy_of, row.bars) for row in grown[1] if not row.pages}
    wrong = {id: (known[id], row) for id, row in wanted.items() if known[id] != row}
    assert wrong == {}


def test_pages_are_passages_of_one_document(grown):
    collection, rows = grown
    (report,) = [row for row in rows if row.pages]
    whole = find_parent(collection, report.id)
    assert [one.label for one in whole.passages] == [f"page {number}" for number in range(1, report.pages + 1)]


def test_the_account_tells_it(grown):
    collection, rows = grown
    told = {one.what: one.number for one in build_account(collection) if one.what != "language"}
    languages = {one.query: one.number for one in build_account(collection) if one.what == "language"}
    assert told["copies"] == sum(bool(row.copy_of) for row in rows)
    assert told["repeated"] == sum(row.bars for row in rows)
    undated = [row for row in rows if not row.date]
    assert told["undated"] == len(undated) + sum(row.pages - 1 for row in rows if row.pages)
    for name in ("German", "French", "Spanish", "Italian"):
        assert languages[f'language:"{name}"'] == 8
    assert collection.search("date:2025-01-22", 50).total == 6  # one of each style
    assert collection.search("date:none", 50).total == told["undated"]
