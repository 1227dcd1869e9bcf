"""The language of every document: planted ones are found, mistakes of a few words are not, what is short is said."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.counts.corpus import Corpus
from topiarist.counts.languages import ScriptLanguages, detect_languages
from topiarist.counts.settings import CountSettings
from topiarist.text.documents import Document
from topiarist.text.language import describe_languages, detect_script_language, detect_text_language

TEXTS = {
    "en": "The committee said that it would look into the matter when there is more time for it and for the others.",
    "de": "Der Ausschuss sagte, dass er sich mit der Sache befassen werde, wenn es dafür mehr Zeit gibt als jetzt.",
    "fr": "Le comité a dit qu'il examinerait la question quand il y aurait plus de temps pour elle et pour les autres.",
    "es": "El comité dijo que examinaría el asunto cuando haya más tiempo para ello y para los otros que esperan.",
    "it": "Il comitato ha detto che esaminerà la questione quando ci sarà più tempo per essa e per gli altri.",
    "nl": "De commissie zei dat zij naar de zaak zou kijken wanneer er meer tijd is voor haar en voor de anderen.",
    "ru": "Комитет сказал, что он рассмотрит этот вопрос, когда будет больше времени для него и для других.",
    "zh": "委员会表示如果有更多的时间他们将会研究这个问题以及其他的问题",
    "ja": "委員会はもっと時間があればこの問題とほかの問題を調べると言いました",
    "ko": "위원회는 시간이 더 있으면 이 문제와 다른 문제를 조사하겠다고 말했다",
    "el": "Η επιτροπή είπε ότι θα εξετάσει το θέμα όταν θα υπάρχει περισσότερος χρόνος για αυτό και για τα άλλα.",
}


def judged(texts):
    corpus = Corpus.from_documents([Document(str(row), text) for row, text in enumerate(texts)], CountSettings())
    scripts = ScriptLanguages()
    for text in texts:
        scripts.add(text)
    return detect_languages(corpus.counts, corpus.vocabulary.words, scripts)


@pytest.mark.parametrize("code", TEXTS)
def test_each_language_is_told_from_english(code):
    texts = [TEXTS["en"]] * 30 + [TEXTS[code]] * 6
    found = judged(texts)
    assert [found.of(row) for row in range(36)] == ["en"] * 30 + [code] * 6
    assert found.codes == tuple(dict.fromkeys(["en", code]))
    assert found.n_unknown == 0


def test_all_of_them_together():
    texts = [text for text in TEXTS.values() for _ in range(5)]
    found = judged(texts)
    assert [found.of(row) for row in range(len(texts))] == [code for code in TEXTS for _ in range(5)]
    assert sum(found.sizes) == len(texts)


def test_a_language_of_two_documents_among_many_is_a_mistake_and_short_texts_are_of_none():
    texts = [TEXTS["en"]] * 400 + ["Die die, der den das"] * 2 + ["harbour"] * 3
    found = judged(texts)
    assert found.codes == ("en",)
    assert found.n_unknown >= 3
    assert found.of(404) == ""


@pytest.mark.parametrize(
    ("report", "others"),
    [("Net shr qtr net vs net", "The net sum was due."), ("Jan bank jan april", "A bank rose in April.")],
)
def test_a_repeated_word_makes_no_language(report, others):
    """English reports are not Dutch or Malay, though stop lists of these languages contain their words."""
    found = judged([f"{TEXTS['en']} {others}"] * 400 + [report] * 20 + [TEXTS["nl"]] * 4)
    assert found.codes == ("en", "nl")
    assert (found.sizes, found.n_unknown) == ((400, 4), 20)


def test_a_few_documents_of_another_language_stay_beside_words_that_both_have():
    texts = [f"{TEXTS['en']} It was in De Moines and la Salle, en route to Des Plaines."] * 300 + [TEXTS["fr"]] * 5
    assert judged(texts).codes == ("en", "fr")


SCRIPTS = {
    "zh": ("香港股市收盘", "iPhone 发布会", "日美首脑会谈"),
    "ja": ("東京株式市場、続伸へ", "スマートフォン"),
    "ko": ("서울 증시 상승", "삼성 Galaxy 출시"),
    "th": ("ตลาดหุ้นไทย",),
    "el": ("Αθήνα",),
    "he": ("שלום עולם",),
    "yi": ("ייִדיש װאָך",),
    "ka": ("თბილისი",),
    "hy": ("Երևան",),
    "ta": ("தமிழ்",),
    "": ("App Store 上架", "The α-particle", "Bail", "Москва", "", "12:30"),
}


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in SCRIPTS.items() for text in texts])
def test_script_decides_language_of_short_text(code, text):
    assert detect_script_language(text) == detect_text_language(text) == code


def test_short_headlines_in_one_script_have_its_language():
    headlines = [f"第{number}届大会开幕" for number in range(40)]  # hardly a pair of letters is in several of them
    found = judged([*headlines, *[TEXTS["en"]] * 3, "თბილისი"])
    assert (found.codes, found.sizes, found.n_unknown) == (("zh", "en", "ka"), (40, 3, 1), 0)


def test_without_words_there_is_no_language():
    found = detect_languages(csr_array((3, 0), dtype=np.int64), [])
    assert (found.codes, found.n_unknown, found.of(0)) == ((), 3, "")


def test_it_is_said_in_a_line():
    assert describe_languages(("en",), (12,), 0) == "English"
    assert describe_languages(("en", "de"), (1200, 30), 4) == "English 1,200, German 30, 4 in an unknown language"


def test_numbers_of_documents_do_not_change_what_is_judged():
    texts = [TEXTS["en"]] * 8 + [TEXTS["de"]] * 8
    order = np.random.default_rng(0).permutation(16)
    first, second = judged(texts), judged([texts[place] for place in order])
    assert [first.of(place) for place in order] == [second.of(row) for row in range(16)]


@pytest.mark.parametrize(("english", "german", "told"), [(5, 3, "en"), (3, 5, "de"), (4, 4, "")])
def test_of_languages_that_tell_as_much_the_collection_decides_and_never_the_alphabet(english, german, told):
    one, two = [2, 2, 2, 0, 0, 0], [0, 0, 0, 2, 2, 2]
    rows = [one] * english + [two] * german + [[2] * 6]
    found = detect_languages(csr_array(np.array(rows)), ["which", "because", "would", "nicht", "wurde", "durch"])
    assert found.of(english + german) == told
    assert found.n_unknown == (not told)
