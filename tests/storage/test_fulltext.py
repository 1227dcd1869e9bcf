"""Search: whatever is typed is understood or left out, and never fails."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.small import DOCUMENTS
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.storage.marks import Marks
from topiarist.text.documents import Document
from topiarist.text.query import Filter, Query, Term, fold_word, parse


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    database = Database.create(tmp_path_factory.mktemp("d") / "d.sqlite")
    Documents(database).load(DOCUMENTS)
    Marks(database).tag([1, 2], "to do")
    yield Index(database)
    database.close()


@pytest.mark.parametrize(
    ("text", "items", "read_as"),
    [
        ("", (), ""),
        ("bail hearing", (Term("bail"), Term("hearing")), ""),
        ('"bail hearing" x', (Term("bail hearing", phrase=True), Term("x")), ""),
        ('say "bail  hearing', (Term("say"), Term("bail hearing", phrase=True)), 'say "bail hearing"'),
        ("“bail hearing”", (Term("bail hearing", phrase=True),), ""),
        ("hear*", (Term("hear", prefix=True),), ""),
        ('"two wor"*', (Term("two wor", phrase=True, prefix=True),), ""),
        ('-not -"not this"', (Term("not", exclude=True), Term("not this", phrase=True, exclude=True)), ""),
        ("e-mail", (Term("e-mail"),), ""),
        ("topic:oil Tag:x", (Filter("topic", "oil"), Filter("tag", "x")), ""),
        ('tag:"to do" -type:.pdf', (Filter("tag", "to do"), Filter("type", ".pdf", exclude=True)), ""),
        ('label:"open', (Filter("label", "open"),), "label:open"),
        ("before:2004 after:2004/3/2", (Filter("before", "2004"), Filter("after", "2004-03-02")), ""),
        ("since:2004 until:2004/3", (Filter("since", "2004"), Filter("until", "2004-03")), ""),
        ("before:monday x", (Term("x"),), "x"),
        ("topic: x", (Term("x"),), "x"),
        ("other:x", (Term("other:x"),), ""),
        ("x - ( ) !! *", (Term("x"),), "x"),
        ('x "" y', (Term("x"), Term("y")), "x y"),
        ("a\0b", (Term("ab"),), ""),
        ("a OR b AND or", (Term("a"), Term("b", either=True), Term("AND"), Term("or")), ""),
        ("OR a OR -b OR OR c OR", (Term("a"), Term("b", exclude=True), Term("c")), "a -b c"),
        ("C++ (a)* 'b'", (Term("C"), Term("a", prefix=True), Term("b")), "C a* b"),
        ("after:2014-13 x", (Term("x"),), "x"),
        ("before:2014-02-30 x", (Term("x"),), "x"),
    ],
)
def test_a_query_is_read(text, items, read_as):
    assert parse(text) == Query(items, read_as)


@pytest.mark.parametrize(
    ("text", "widened"),
    [
        ('"bail hearing" x', "bail hearing x"),
        ('hear* -"not this" tag:x', 'hear -"not this" tag:x'),
        ("bail OR surety", "bail surety"),
        ('"this OR that"', "this or that"),
        ('"-not topic:x 5*"', "not 5"),
    ],
)
def test_widened_query_has_no_quotes_or_operators(text, widened):
    assert str(parse(text).widened) == widened
    assert parse(widened).widened == parse(widened)


def test_what_is_not_understood_is_said():
    assert parse("bail hearing 12:30 http://x.org").notes == ()
    (said,) = parse("title:bail").notes
    assert said.startswith("“title:” is no condition")
    (said,) = parse("after:2014-13 x").notes
    assert said.startswith("“2014-13” is no date")


def test_a_query_has_an_end():
    assert len(parse("x " * 5000).items) == 100
    assert parse("x" * 5000).items == (Term("x" * 2000),)
    assert parse("x" * 5000).read_as


@given(st.text(st.sampled_from('ab *"-:()^+.\\{}topic:tag:beforé2004NEARANDORNOT\n'), max_size=40))
def test_what_was_read_is_read_the_same_again(text):
    query = parse(text)
    assert parse(str(query)).items == query.items


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("hearing", [0, 1, 3]),
        ("HEARING bail", [0, 1]),
        ('"bail hearing"', []),
        ('"second hearing"', [1]),
        ("hear*", [0, 1, 3]),
        ("bail OR ol hearing OR cafe", [0, 1, 2]),
        ("bail OR ol -cafe", [0, 1]),
        ("hearing -bail", [3]),
        ("-hearing", [2]),
        ('-hearing -"crude oil"', []),
        ("hearing-impaired", [3]),
        ("ol", [2]),
        ("öl cafe", [2]),
        ("type:pdf", [1, 2]),
        ("type:txt", [0, 3]),
        ("-type:txt", [1, 2]),
        ("type:%", []),
        ("label:LAW", [0, 1]),
        ("label:law label:news", [0]),
        ('tag:"to do"', [1, 2]),
        ('-tag:"to do" hearing', [0, 3]),
        ("before:2005", [0]),
        ("since:2005", [1, 2]),
        ("after:2004", [1, 2]),
        ("after:2005", [2]),
        ("until:2004", [0]),
        ("until:2005", [0, 1]),
        ("since:2004-03-02 before:2005-01-10", [0]),
        ("after:2004-03-02 before:2005-01-10", []),
        ("-before:2005", [1, 2, 3]),
        ("hearing topic:oil", [0, 1, 3]),  # the caller's
        ("hearing AND", []),
        ("", []),
        ("***", []),
    ],
)
def test_who_matches(index, text, rows):
    assert index.rows(text) == rows
    assert index.has_match(parse(text)) == bool(rows)


@pytest.mark.parametrize(
    "text", ["bail", "-bail", "-bail -court", "bail -hearing", "tag:x -bail", "-nothing", "-tag:x"]
)
def test_who_matches_is_told_for_each(index, text):
    query, number = parse(text), len(Documents(index.database))
    assert np.flatnonzero(index.mask_matches(query, number)).tolist() == index.rows(query)
    assert len(index.mask_matches(query, number - 1)) == number - 1, "one more may have come meanwhile"


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40) | st.text(st.sampled_from('ab*"-:()^+ \0\ud800{}\\ANDORNT'), max_size=40))
def test_nothing_that_is_typed_fails(index, text):
    assert bool(index.rows(text)) == index.has_match(parse(text))
    assert index.find_missing(parse(text)) is not None


def test_missing_words_of_a_query(index):
    query = parse('bail hearign "crude oil" -nowhere barl*')
    assert index.find_missing(query) == ["hearign", "barl"]


def test_words_are_folded_as_in_the_index(index):
    assert fold_word("ÉTALE") == "etale"


def test_what_is_appended_is_found(tmp_path):
    database = Database.create(tmp_path / "d")
    documents = Documents(database)
    documents.load(DOCUMENTS)
    documents.append([Document("new", "a bail bond")])
    assert Index(database).rows("bail") == [0, 1, 4]
    documents.index()
    assert Index(database).rows("bail") == [0, 1, 4]
