"""Words and names by documents."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.strategies import trees
from topiarist.hierarchy import Tree
from topiarist.hierarchy.naming import exam
from topiarist.hierarchy.naming import names as naming
from topiarist.hierarchy.naming import presence as present
from topiarist.hierarchy.naming import readings as reading
from topiarist.text.demo import demo_documents

TREE = Tree((-1, 0, 1, 1, 0, 4, 4))
LEAVES = (2, 3, 5, 6)
SUBJECTS = [
    ["hockey", "goal", "rink"],
    ["tennis", "racket", "serve"],
    ["market", "share", "bank"],
    ["trade", "tariff", "export"],
]
HEADINGS = [["match", "season"], ["money", "price"]]
FILLING = ["the", "of", "said", "was", "mr"]
ADDRESS = "mail joe@example.com now"


def collection(seed=0, each=40):
    """Texts of four subjects under two headings, with function words, addresses and a phrase; and their leaves."""
    rng = np.random.default_rng(seed)
    texts, leaves = [], []
    for number in range(each * 4):
        leaf = number % 4
        others = ["".join(rng.choice(list("aeiou"), 6)) for _ in range(8)]
        said = [*rng.choice(SUBJECTS[leaf], 3), *rng.choice(HEADINGS[leaf // 2], 2), *rng.choice(FILLING, 4), *others]
        said += ["ice age"] if leaf == 0 and rng.random() < 0.6 else []
        rng.shuffle(said)
        texts.append(" ".join(said) + (f". {ADDRESS}" if leaf == 1 else ""))
        leaves.append(leaf)
    return texts, np.array(leaves)


def counted(texts):
    words = sorted({word for text in texts for word in reading.WORD.findall(text)})
    column = {word: place for place, word in enumerate(words)}
    counts = np.zeros((len(texts), len(words)), np.float32)
    for row, text in enumerate(texts):
        for word in reading.WORD.findall(text):
            counts[row, column[word]] += 1
    return words, csr_array(counts)


def known(seed=0):
    texts, leaves = collection(seed)
    words, counts = counted(texts)
    shares = csr_array(np.eye(4, dtype=np.float32)[leaves])
    presence = present.presence_of(TREE, LEAVES, shares, counts)
    usable = [words[column] for column in naming.usable_words(presence, words)]
    return texts, words, counts, shares, presence, reading.read(texts, reading.sample_of(shares), usable)


def test_presence_counts_documents_not_tokens():
    counts = csr_array(np.array([[9, 0], [1, 1], [0, 2]], float))
    shares = csr_array(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    presence = present.presence_of(Tree.star(2), (1, 2), shares, counts)
    np.testing.assert_allclose(presence.documents, [3, 1.5, 1.5])
    np.testing.assert_allclose(presence.have, [[2, 2], [1.5, 0.5], [0.5, 1.5]])
    np.testing.assert_allclose(presence.elsewhere(1), [(0.5 + 0.5) / 2.5, (1.5 + 0.5) / 2.5])


def test_words_describe_leaves_and_headings_and_are_not_said_again():
    _, words, counts, _, presence, _ = known()
    for given_counts in (None, counts):
        chosen = present.describing_words(presence, 3, counts=given_counts, words=words)
        told = [{words[column] for column in columns} for columns in chosen]
        for leaf, subject in zip(LEAVES, SUBJECTS, strict=True):
            assert leaf == 3 or told[leaf] & set(subject)  # that one's documents all have an address
        assert set(HEADINGS[0]) <= told[1]
        assert set(HEADINGS[1]) <= told[4]
        for node in range(1, 7):
            for above in TREE.ancestors(node)[1:]:
                assert not told[node] & told[above]
    empty = np.array([word in SUBJECTS[0] for word in words])
    told = present.describing_words(presence, 3, words=words, empty=empty)[2]
    assert not {words[column] for column in told} & set(SUBJECTS[0])


def test_names_differ_among_siblings_and_say_nothing_empty():
    _, words, _, _, presence, readings = known()
    assert {"example", "joe"} <= readings.glued | {w for w in words if w not in readings.written}
    names = naming.node_names(presence, words, LEAVES, readings)
    assert names[TREE.root].candidates == ()
    for node in range(1, 7):
        assert len(names[node].candidates) >= 2
        said = {word.lower() for word in reading.WORD.findall(names[node].name)}
        assert not said & {*FILLING, "joe", "example", "com"}
        for sibling in TREE.children(TREE.parents[node]):
            if sibling != node:
                assert not said & {word.lower() for word in reading.WORD.findall(names[sibling].name)}
    assert set(reading.WORD.findall(names[1].name)) <= set(HEADINGS[0])
    assert "ice age" in readings.phrases


def test_a_name_leads_to_its_own_node():
    _, words, _, _, presence, readings = known()
    names = naming.node_names(presence, words, LEAVES, readings)
    examiner = exam.Examiner(presence, words)
    assert all(examiner.leads_home(node, names[node].name) for node in range(1, 7))
    assert examiner.ranking(2, "tennis racket")[0] == 3
    assert examiner.ranking(2, "unheard") == []


@pytest.mark.parametrize(
    ("name", "other", "shares"),
    [
        ("dark matter · halo", "Halos · galaxies", True), ("Dark energy", "dark matter", True),
        ("market", "marker", False), ("theory", "theories · string", True), ("cup final", "football · goal", False),
        ("superconducting", "superconductivity", True), ("cosmological", "dark · cosmology", True),
        ("transformation", "transformer", False), ("Wirtschaftspolitik", "Wirtschaftswachstum", False),
        ("international", "internet", False), ("information", "informal", False),
    ],
)  # fmt: skip
def test_names_that_share_a_word_or_a_form_of_it(name, other, shares):
    assert naming.shares_word(name, [other, "something else"]) is naming.shares_word(other, [name]) is shares


def test_boilerplate_is_no_phrase():
    others = ["one", "two", "three", "four", "five", "six"]
    texts = [f"{word} cold war {word} best wishes from jim smith of here" for word in others]
    readings = reading.read(texts, [range(6)], ["cold", "war", "jim", "smith", "wishes"])
    assert "cold war" in readings.phrases
    assert "jim smith" not in readings.phrases
    assert {"jim", "smith"} <= readings.glued


def test_commands_of_tex_and_what_accents_cut_off_are_no_names():
    text = (
        r"A{0} \left B{0} left {0} left \alpha C{0} Schr\"odinger D{0} K\"{{a}}hler E{0} K{{\"a}}bler F{0} Kähler form"
    )
    texts = [f"{text.format(number)} G{number}" for number in range(6)]
    words = ["left", "alpha", "odinger", "hler", "bler", "kähler", "form"]
    assert reading.read(texts, [range(6)], words).glued == {"alpha", "odinger", "hler", "bler"}


def test_words_are_written_as_they_mostly_are():
    texts = ["NASA GETS MONEY\nthe NASA gets Money", "NASA gets Money", "BIG NASA", "a Nasa gets"]
    readings = reading.read(texts, [range(4)], ["nasa", "gets", "money", "big"])
    assert (readings.written["nasa"], readings.written["gets"], readings.written["money"]) == ("NASA", "gets", "Money")


@given(trees(), st.integers(0, 10**6))
def test_any_tree_gets_different_names_or_none(tree, seed):
    rng = np.random.default_rng(seed)
    leaves = tree.leaves
    counts = csr_array((rng.random((3 * len(leaves), 12)) < 0.3).astype(np.float32))
    shares = csr_array(np.repeat(np.eye(len(leaves), dtype=np.float32), 3, axis=0))
    presence = present.presence_of(tree, leaves, shares, counts)
    words = [f"word{chr(97 + number) * 3}" for number in range(12)]
    names = naming.node_names(presence, words, leaves)
    assert names == naming.node_names(presence, words, leaves)
    for node in range(len(tree)):
        said = [word for child in tree.children(node) for (word,) in exam.said(names[child].name) if word]
        assert len(said) == len(set(said))


@pytest.mark.parametrize(
    ("word", "plain"), [("x11", False), ("ab", False), ("abc", True), ("自然", True), ("a_b", False)]
)
def test_numbers_and_scraps_are_no_names(word, plain):
    assert exam.is_plain(word) is plain


def sentences(number=300):
    """A language of its own: prepositions (ke, mu), verbs (taru, sipo), articles (li, lo) and many nouns."""
    rng = np.random.default_rng(0)
    nouns = [
        f"{one}{two}" for one in ("ba", "de", "fi", "go", "hu", "ja") for two in ("nak", "rem", "sil", "tov", "vun")
    ]
    word = lambda *of: of[rng.integers(len(of))]  # noqa: E731
    noun = lambda: word(*nouns) + word("", "a", "e", "i", "o", "u")  # noqa: E731
    return [
        " ".join(
            f"{word('li', 'lo')} {noun()} ke {word('li', 'lo')} {noun()} {word('taru', 'sipo')} {word('li', 'lo')} "
            f"{noun()} mu {noun()}."
            for _ in range(6)
        )
        for _ in range(number)
    ]


def test_articles_and_verbs_are_heard_in_a_language_that_nobody_knows():
    texts = sentences()
    assert reading.articles(texts) == {"li", "lo"}
    words = ["taru", "sipo", "banak", "hurem", "ke"]
    found = reading.read(texts, [list(range(0, 150)), list(range(150, 300))], words)
    assert found.verbs == {"taru", "sipo", "ke"}
    assert not any(found.verbs & set(phrase.split()) for phrase in found.phrases)


def test_verbs_of_abstracts_are_no_names():
    texts = [document.text for document in islice(demo_documents(), 400)]
    assert {"the", "a", "an"} <= reading.articles(texts)
    words = ["give", "prove", "consider", "obtain", "model", "theory", "system", "field", "algorithm", "results"]
    assert reading.read(texts, [list(range(400))], words).verbs == {"give", "prove", "consider", "obtain"}


def test_an_article_behind_a_full_stop_says_nothing():
    texts = [f"{text} banak. Li {text[3:]}" for text in sentences()]
    assert "banak" not in reading.read(texts, [list(range(300))], ["banak", "taru"]).verbs


def test_a_heading_is_called_by_words_that_tell_of_all_its_children_together():
    """A word of one child, however frequent there, is no name of three; two of different children are."""
    words = ["galaxy", "star", "collider", "jet", "tax"]
    each = np.array(  # documents of 100 that have each word, for two leaves under a heading and one beside it
        [[60, 55, 1, 1, 0], [1, 1, 50, 40, 0], [1, 1, 1, 1, 80]], np.float64
    )
    tree = Tree((-1, 0, 1, 1, 0))
    mask = tree.path_mask((2, 3, 4)).astype(np.float64)
    presence = present.Presence(tree, mask.T @ each, mask.T @ np.full(3, 100.0))
    name = naming.node_names(presence, words, (2, 3, 4))[1].name
    assert set(name.split(" · ")) == {"galaxy", "collider"}


@pytest.mark.parametrize(
    ("word", "formula"),
    [("sum_", True), ("x_n", True), ("_p", True), ("delta_p", True), ("read_csv", False), ("sum", False)],
)
def test_scraps_of_formulas_describe_nothing(word, formula):
    assert exam.is_formula(word) is formula


def test_a_heading_of_hundreds_of_topics_is_named_too():
    rng, number = np.random.default_rng(0), 300
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
    tree = Tree((-1, 0, *([1] * number), 0))
    leaves = (*range(2, 2 + number), 2 + number)
    each = rng.poisson(3.0, (number + 1, 400)).astype(np.float64)
    each[-1] = 0
    mask = tree.path_mask(leaves).astype(np.float64)
    presence = present.Presence(tree, mask.T @ each, mask.T @ np.full(number + 1, 20.0))
    assert naming.node_names(presence, words, leaves)[1].name


def test_words_are_written_as_they_are_most_often():
    texts = [
        "At the LHC and in QCD a mass of 5 GeV was seen. Heavy ions.",
        "THE LHC REPORT: heavy quarks at 10 GeV. Let",
    ]
    words = ["lhc", "gev", "heavy", "let", "dark mass", "qcd"]
    assert reading.written_forms(texts, words) == {"lhc": "LHC", "gev": "GeV", "qcd": "QCD"}
    assert reading.written_forms(["Das Haus", "ein Haus", "im Haus"], ["haus"]) == {"haus": "Haus"}
