"""The language of every document: planted ones are found, mistakes of a few words are not, what is short is said."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.counts.corpus import Corpus
from topiarist.counts.languages import languages_of
from topiarist.counts.settings import CountSettings
from topiarist.text.documents import Document
from topiarist.text.language import languages_in_words

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
    return languages_of(corpus.counts, corpus.vocabulary.words)


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


def test_without_words_there_is_no_language():
    found = languages_of(csr_array((3, 0), dtype=np.int64), [])
    assert (found.codes, found.n_unknown, found.of(0)) == ((), 3, "")


def test_it_is_said_in_a_line():
    assert languages_in_words(("en",), (12,), 0) == "English"
    assert (
        languages_in_words(("en", "de"), (1200, 30), 4) == "English 1,200, German 30, 4 too short or too mixed to tell"
    )


def test_numbers_of_documents_do_not_change_what_is_judged():
    texts = [TEXTS["en"]] * 8 + [TEXTS["de"]] * 8
    order = np.random.default_rng(0).permutation(16)
    first, second = judged(texts), judged([texts[place] for place in order])
    assert [first.of(place) for place in order] == [second.of(row) for row in range(16)]


@pytest.mark.parametrize(("english", "german", "told"), [(5, 3, "en"), (3, 5, "de"), (4, 4, "")])
def test_of_languages_that_tell_as_much_the_collection_decides_and_never_the_alphabet(english, german, told):
    rows = [[6, 0]] * english + [[0, 6]] * german + [[6, 6]]
    found = languages_of(csr_array(np.array(rows)), ["which", "nicht"])
    assert found.of(english + german) == told
    assert found.n_unknown == (not told)
