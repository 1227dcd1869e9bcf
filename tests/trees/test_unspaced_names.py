"""Names in scripts without spaces are words: no pieces of names, no overlapping pairs."""

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM, Corpus
from topiarist.collection.describe.topic_tree import describe_tree
from topiarist.counts import CountSettings
from topiarist.text.documents import Document
from topiarist.text.tokens import is_unspaced
from topiarist.trees.naming.name_test import split_items
from topiarist.trees.naming.unspaced import drop_contained_items, find_pieces, find_repeated, join_pairs

TITLES = Path(__file__).parents[2].parent / "shared/data/thucnews-titles/docs.jsonl.gz"
FILMS = ("{}章子怡主演新片", "导演称赞{}章子怡", "章子怡{}亮相电影节", "影迷等候{}章子怡")
MONEY = ("{}金融危机影响银行", "央行应对金融危机{}", "专家谈{}金融危机", "金融危机后{}股市反弹")


def describe(texts, n_topics):
    corpus = Corpus.from_documents([Document(str(n), text) for n, text in enumerate(texts)], CountSettings())
    return describe_tree(CAM(n_topics, random_state=0).fit(corpus.counts), corpus, language="zh")


def list_pieces(names, texts):
    """Return the items of names that stand beside the same character in most of their places."""
    pieces = []
    for item in {item for name in names for item in split_items(name) if is_unspaced(item)}:
        places = [(text, text.index(item)) for text in texts if item in text]
        lefts = Counter(text[place - 1] for text, place in places if place and is_unspaced(text[place - 1]))
        ends = [(text, place + len(item)) for text, place in places if place + len(item) < len(text)]
        rights = Counter(text[end] for text, end in ends if is_unspaced(text[end]))
        most = max((*lefts.values(), *rights.values()), default=0)
        if len(places) >= 3 and len(item) < 8 and most >= 0.7 * len(places):
            pieces.append(item)
    return pieces


def test_names_join_pairs_of_characters():
    rng = np.random.default_rng(0)
    letters = "东南西北春夏秋冬山水风雨花鸟天地"
    fillers = ["".join(rng.choice(list(letters), 2)) for _ in range(60)]
    texts = [form.format(filler) for filler in fillers for form in (*FILMS, *MONEY)]
    names = [name for name in describe(texts, 2).tree.names if name != "Everything"]
    assert list_pieces(names, texts) == []
    items = {item for name in names for item in split_items(name)}
    assert "章子怡" in items
    assert not items & {"章子", "子怡", "融危", "危机", "金融"}
    assert all(any(item in text for text in texts) for item in items)


def test_pieces_stand_within_longer_words():
    words = ["张柏芝", "张柏", "柏芝", "大学", "大学生", "oil"]
    counts = csr_array(np.array([[1, 1, 1, 0, 0, 1], [1, 1, 1, 1, 1, 0], [0, 0, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1]]))
    assert find_pieces(counts, words, [1, 2, 3]) == {"张柏", "柏芝"}  # most documents have 大学 alone


def test_join_pairs_ends_where_texts_differ():
    texts = ["看章子怡好", "爱章子怡的", "是章子怡吗", "大学生的家", "上大学好吗", "读大学多久"]
    joined = join_pairs(texts, ["章子", "子怡", "大学"])
    assert joined == {"章子": ("章子怡", 3), "子怡": ("章子怡", 3), "大学": ("大学", 3)}
    assert find_repeated(joined) == {"章子"}


def test_name_has_no_item_within_another():
    assert drop_contained_items(["金融", "金融危机", "star", "stars"]) == ["金融危机", "star", "stars"]
    assert drop_contained_items(["组图", "组图"]) == ["组图"]


@pytest.mark.skipif(not TITLES.exists(), reason="needs the Chinese headlines")
def test_names_of_headlines_are_words():
    with gzip.open(TITLES, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for number, line in enumerate(file) if number % 8 == 0]
    assert list_pieces(describe(texts, 16).tree.names, texts) == []
