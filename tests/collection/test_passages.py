"""A tree of passages: pages are found by their numbers, and whole documents tell the topics of all of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.grown import NoteCollector, documents
from topiarist.collection.check import check_folder
from topiarist.collection.classify.learning import split_heldout
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import build_account
from topiarist.collection.describe.documents import load_parent_details
from topiarist.collection.describe.export import make_table
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.passages import count_documents, find_parent, list_parent_documents, rows_of
from topiarist.errors import UsageError
from topiarist.text.documents import Document

PAGES, REPORTS = 8, 12
RECIPE = Recipe(topics=4, headings=False, passages=True)


def reports():
    """Reports of eight pages, three abstracts on each, and some abstracts that are short documents."""
    every = iter(documents())
    made = [
        Document(
            f"reports/{number}.pdf",
            "\n\f".join(" ".join(next(every).text for _ in range(3)) for _ in range(PAGES)),
            f"Report {number}",
            ("even" if number % 2 == 0 else "odd",),
        )
        for number in range(REPORTS)
    ]
    return [*made, *(next(every) for _ in range(40))]


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("passages") / "reports.topiary"
    with Collection.grow(reports(), folder, RECIPE) as collection:
        yield collection


def test_pages_are_documents_that_know_their_whole(grown):
    assert len(grown) == REPORTS * PAGES + 40
    assert count_documents(grown).documents == REPORTS + 40
    assert str(count_documents(grown)) == "52 documents in 136 passages"
    assert grown.documents.get(3).id == "reports/0.pdf#page=4"
    assert grown.documents.get(3).title == "Report 0, page 4"
    whole = find_parent(grown, "reports/1.pdf")
    assert whole == find_parent(grown, "reports/1.pdf#page=4")
    assert (whole.title, whole.rows) == ("Report 1", list(range(8, 16)))
    assert whole.passages[1].label == "page 2"
    assert rows_of(grown, "reports/1.pdf") == whole.rows  # and not those of reports/10.pdf
    short = grown.documents.get(len(grown) - 1).id
    assert find_parent(grown, short) is None
    assert rows_of(grown, short) == [len(grown) - 1]
    with pytest.raises(UsageError, match="no document"):
        rows_of(grown, "reports/99.pdf")
    assert [one.id for one in list_parent_documents(grown)] == [one.id for one in reports()]


def test_the_topics_of_a_whole_are_those_of_its_passages_by_their_words(grown):
    found = load_parent_details(grown, "reports/0.pdf")
    assert (found.document.id, found.document.title, found.document.labels) == ("reports/0.pdf", "Report 0", ("even",))
    assert len(found.places) > 1  # it lies in several topics
    words = np.asarray(grown.counts[:PAGES].sum(axis=1)).ravel() * grown.shares[:PAGES].toarray().any(axis=1)
    assert words.any()
    expected = (grown.shares[:PAGES].toarray() * (words / words.sum())[:, None]).sum(axis=0)
    assert [place.share for place in found.places] == pytest.approx(sorted(expected[expected > 0.01])[::-1], abs=1e-5)
    assert sum(found.passages_under(topic) for topic in grown.outline.topics) == PAGES == len(found.places_of_passages)


def test_an_export_has_passages_and_whole_documents(grown):
    rows = list(make_table(grown, "documents", n_words=5, texts=False, rho=0.5).rows)
    assert (rows[3]["whole"], rows[3]["passage"]) == ("reports/0.pdf", "page 4")
    assert (rows[-1]["whole"], rows[-1]["passage"]) == (rows[-1]["id"], "")
    whole = list(make_table(grown, "wholes", n_words=5, texts=False, rho=0.5).rows)
    assert [row["id"] for row in whole] == [one.id for one in reports()]
    assert [row["passages"] for row in whole] == [PAGES] * REPORTS + [1] * 40
    assert (whole[0]["title"], whole[0]["labels"]) == ("Report 0", ["even"])
    assert sum(one["share"] for one in whole[0]["topics"]) == pytest.approx(1, abs=0.01)
    assert whole[0]["topics"][0]["share"] == pytest.approx(load_parent_details(grown, "reports/0.pdf").places[0].share)
    json.dumps(whole)


def test_pages_of_one_document_are_held_out_together():
    given = [("a",)] * 8 + [("b",)] * 8 + [("a",), ("b",)] * 4
    together = [list(range(8)), list(range(8, 16)), *([place] for place in range(16, 24))]
    for seed in range(5):
        out, known = split_heldout(given, 0.4, seed, together)
        assert sorted([*out, *known]) == list(range(24))
        for group in together:
            assert set(group) <= set(out.tolist()) or not set(group) & set(out.tolist())


def test_a_search_finds_the_page(grown):
    text = grown.documents.get(5).text.split(". ")[0]
    best = grown.search(text, 1).hits[0]
    assert (best.id, best.title) == ("reports/0.pdf#page=6", "Report 0, page 6")


def test_what_is_like_a_whole_document_is_like_its_pages(grown):
    found = grown.search("like:reports/0.pdf", n=200)
    assert not found.remarks
    assert [hit.row for hit in found] == [hit.row for hit in grown.similar("reports/0.pdf", n=200)]
    assert not {hit.row for hit in found} & set(rows_of(grown, "reports/0.pdf"))
    other = grown.search("like:reports/0.pdf -like:reports/1.pdf#page=2 like:reports/1.pdf", n=200)
    assert other.remarks == ("A document in both like: and -like: is ignored.",)
    assert grown.search("like:reports/99.pdf").remarks == (
        "No document is called 'reports/99.pdf': its like filter is ignored.",
    )


def test_whole_documents_are_added_removed_and_grown_again(tmp_path):
    some = reports()[6:]
    with Collection.grow(some, tmp_path / "c.topiary", RECIPE) as collection:
        before, new = len(collection), reports()[0]
        added = collection.add([new])
        assert [one.document.id for one in added] == [f"reports/0.pdf#page={page}" for page in range(1, 9)]
        assert count_documents(collection).documents == len(some) + 1
        with pytest.raises(Exception, match="already"):
            collection.add([new])
        assert len(collection.remove(["reports/7.pdf"])) == PAGES
        assert len(collection) == before
        assert find_parent(collection, "reports/7.pdf") is None
        assert collection.similar("reports/0.pdf", 3).hits
        assert [one for one in check_folder(collection.folder.path) if one.severity != "note"] == []
    with Collection.grow(some[:-1], tmp_path / "c.topiary", RECIPE, force=True) as again:
        assert find_parent(again, "reports/0.pdf").rows  # that people added
        assert again.documents.ids().count("reports/0.pdf#page=1") == 1
    with Collection.grow(some, tmp_path / "plain.topiary", Recipe(topics=3, headings=False)) as plain:
        assert len(plain) == len(some)
        assert str(count_documents(plain)) == f"{len(some)} documents"
        assert [len(one.rows) for one in list_parent_documents(plain)] == [1] * len(some)


@pytest.fixture(scope="module")
def several():
    """Reports of four pages, few enough to be grown often."""
    every = iter(documents())
    return [
        Document(
            f"r/{n}.pdf", "\n\f".join(" ".join(next(every).text for _ in range(3)) for _ in range(4)), f"Number {n}"
        )
        for n in range(12)
    ]


@pytest.mark.parametrize("first", [True, False])
def test_a_removed_document_stays_out_whether_it_is_cut_or_not(tmp_path, several, first):
    collector, folder = NoteCollector(), tmp_path / "c.topiary"
    recipe = Recipe(topics=2, headings=False, passages=first)
    with Collection.grow(several, folder, recipe) as collection:
        collection.remove(["r/3.pdf"])
        collection.remove(["r/4.pdf"], forget=True)
        if first:
            collection.remove(["r/5.pdf#page=1", "r/5.pdf#page=2"])
            said = [one.said for one in build_account(collection) if one.what == "removed"]
            assert said == ["2 documents and 2 passages that were removed stay out when it is grown again"]
            collection.remove(["r/5.pdf#page=3"])
    other, options = replace(recipe, passages=not first), GrowOptions(reporter=collector)
    with grow_collection(several, folder, other, options, force=True) as again:
        assert find_parent(again, "r/3.pdf") is None
        assert not {"r/3.pdf", "r/4.pdf"} & {one.id for one in list_parent_documents(again)}
        assert count_documents(again).documents == 10
        assert any(one.startswith("2 documents that people removed stay out") for one in collector.notes)
        back = "1 document with removed passages is whole again, because documents are not cut: r/5.pdf"
        assert (back in collector.notes) == first
        again.add([several[3]])
        known = [one.number for one in build_account(again) if one.what == "removed"]
        assert known == [4 if first else 1]


def test_a_page_head_of_several_documents_is_the_title_of_none(tmp_path, several):
    def headed(one, head, title=""):
        return replace(one, title=title, text="\f".join(f"{head}\n{page}" for page in one.text.split("\f")))

    head = "ACME Corporation to its shareholders"
    made = [headed(one, head) for one in several[:8]]
    made += [headed(one, f"The annals of {one.id}", f"The annals of {one.id}") for one in several[8:10]]
    made.append(headed(several[10], head, "Its own title"))
    with Collection.grow(made, tmp_path / "c.topiary", replace(RECIPE, topics=2)) as grown:
        titles = {one.id: one.title for one in list_parent_documents(grown)}
        assert head not in titles.values()
        assert titles["r/0.pdf"].startswith(several[0].text[:20])
        assert titles["r/8.pdf"] == "The annals of r/8.pdf"  # of one document alone: it may be its title
        assert titles["r/10.pdf"] == "Its own title"
        passages = grown.documents.load_many(find_parent(grown, "r/0.pdf").rows, texts=False)
        assert [one.title for one in passages] == [f"{titles['r/0.pdf']}, page {page}" for page in (1, 2, 3, 4)]
        grown.add([headed(several[11], head)])
        assert find_parent(grown, "r/11.pdf").title.startswith(several[11].text[:20])
