"""Tests of the segmenters of scripts without spaces."""

import pytest

from topiarist.collection.grow.recipe import Recipe
from topiarist.counts import CountSettings
from topiarist.errors import ResourceError
from topiarist.text import segmenters
from topiarist.text.language import Language
from topiarist.text.tokens import Tokenizer


@pytest.mark.parametrize(
    ("extra", "text", "words"),
    [
        ("chinese", "2010年考研成绩今日公布", ["年", "考研", "成绩", "今日", "公布"]),
        ("chinese", "总决赛", ["总决", "决赛", "总决赛"]),
        ("japanese", "東京大学の研究 ok", ["東京大学", "の", "研究", "ok"]),
        ("thai", "เรียนภาษาไทย", ["เรียน", "ภาษาไทย"]),
    ],
)
def test_segmenters_split_words(extra, text, words):
    pytest.importorskip(segmenters.PACKAGES[extra])
    tokenizer = Tokenizer(words=extra)
    assert tokenizer(text) == words
    assert [word for word, *_ in tokenizer.offsets(text)] == words
    assert all(text[start:end].lower() == word for word, start, end in tokenizer.offsets(text))
    assert tokenizer("plain words") == ["plain", "words"]


def test_thai_segmenter_accepts_normalised_text():
    pytest.importorskip("pythainlp")
    assert len(Tokenizer(words="thai")("กำลังเรียน")) == 2


def test_find_installed_extra_requires_package(monkeypatch):
    monkeypatch.setattr(segmenters, "find_spec", lambda name: None)
    assert Recipe().counting(Language("zh", 1.0, 10)).segmenter == ""
    monkeypatch.setattr(segmenters, "find_spec", lambda name: name)
    assert Recipe().counting(Language("zh", 1.0, 10)).segmenter == "chinese"
    assert Recipe().counting(Language("en", 1.0, 10)).segmenter == ""


def test_get_segmenter_reports_missing_package(monkeypatch):
    monkeypatch.setattr(segmenters, "find_spec", lambda name: None)
    segmenters.get_segmenter.cache_clear()
    with pytest.raises(ResourceError, match="rjieba") as refused:
        CountSettings(segmenter="chinese").tokenizer("考研成绩")
    assert "topiarist[chinese]" in refused.value.hint
    segmenters.get_segmenter.cache_clear()


def test_tokenizer_ignores_segmenters_that_change_text(monkeypatch):
    monkeypatch.setattr("topiarist.text.tokens.get_segmenter", lambda extra: lambda run: ["x"])
    assert Tokenizer(words="chinese")("考研成绩") == ["考研", "研成", "成绩"]
