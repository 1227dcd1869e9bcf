"""Scripts without spaces: every run of letters is found where it stands, in the texts and by the index alike."""

import numpy as np
import pytest

from topiarist.storage import facts
from topiarist.storage.database import Database
from topiarist.storage.document_table import LETTERS_SETTING, Documents, has_separate_letters
from topiarist.storage.fulltext import Index, count_documents_with
from topiarist.text.documents import Document
from topiarist.text.query import parse

TEXTS = [
    "2010年考研成绩今日公布", "考研英语复习方法", "股市今日大涨 Apple 领涨", "研究生考试与考研", "plain words and 1984",
    "東京大学の研究", "กำลังเรียนภาษาไทย", "カタカナとひらがな",
]  # fmt: skip


@pytest.fixture
def documents(tmp_path):
    with_rows = Documents(Database.create(tmp_path / "documents.sqlite"))
    with_rows.load(Document(str(row), text) for row, text in enumerate(TEXTS))
    yield with_rows
    with_rows.database.close()


def test_unspaced_search_matches_substrings(documents):
    index, rng = Index(documents.database), np.random.default_rng(0)
    for _ in range(200):
        text = TEXTS[rng.choice([0, 1, 2, 3, 5, 7])]
        start, length = rng.integers(len(text)), rng.integers(1, 5)
        query = text[start : start + length]
        if not query.isascii() and " " not in query and not any(sign.isascii() for sign in query):
            assert index.rows(f'"{query}"') == [row for row, one in enumerate(TEXTS) if query in one], query
    assert index.rows("考研") == [0, 1, 3]
    assert index.rows("考研 -英语") == [0, 3]
    assert index.rows("ภาษา") == [6]
    assert index.rows("apple 今日") == [2]
    assert count_documents_with(documents.database, "考研") == 3
    assert index.find_missing(parse("考古 考研")) == ["考古"]


def test_unspaced_index_passes_check(documents):
    Index(documents.database).check()


def test_append_first_unspaced_text(tmp_path):
    documents = Documents(Database.create(tmp_path / "documents.sqlite"))
    documents.load([Document("latin", "nothing of that kind")])
    documents.append([Document("more", "and nothing of that kind")])
    assert not has_separate_letters(documents.database)
    assert Index(documents.database).rows("考研") == []
    documents.append([Document("new", "考研之后")])
    assert facts.settings(documents.database)[LETTERS_SETTING] is True
    assert Index(documents.database).rows("考研") == [2]
    assert Index(documents.database).rows("kind") == [0, 1]
    Index(documents.database).check()
    documents.database.close()
