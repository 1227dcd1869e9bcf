"""Words and names by documents."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.strategies import trees
from topiarist.text.demo import demo_documents
from topiarist.trees import Tree
from topiarist.trees.naming import name_test
from topiarist.trees.naming import names as naming
from topiarist.trees.naming import presence as present
from topiarist.trees.naming import text_features as reading

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
    presence = present.compute_presence(TREE, LEAVES, shares, counts)
    usable = [words[column] for column in naming.list_usable_words(presence, words)]
    return (
        texts,
        words,
        counts,
        shares,
        presence,
        reading.extract_features(texts, reading.sample_documents(shares), usable),
    )


def test_presence_counts_documents_not_tokens():
    counts = csr_array(np.array([[9, 0], [1, 1], [0, 2]], float))
    shares = csr_array(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    presence = present.compute_presence(Tree.star(2), (1, 2), shares, counts)
    np.testing.assert_allclose(presence.documents, [3, 1.5, 1.5])
    np.testing.assert_allclose(presence.have, [[2, 2], [1.5, 0.5], [0.5, 1.5]])
    np.testing.assert_allclose(presence.compute_outside_shares(1), [(0.5 + 0.5) / 2.5, (1.5 + 0.5) / 2.5])


def test_describing_words_are_not_repeated_below():
    _, words, counts, _, presence, _ = known()
    for given_counts in (None, counts):
        chosen = present.select_describing_words(presence, 3, counts=given_counts, words=words)
        told = [{words[column] for column in columns} for columns in chosen]
        for leaf, subject in zip(LEAVES, SUBJECTS, strict=True):
            assert leaf == 3 or told[leaf] & set(subject)  # that one's documents all have an address
        assert set(HEADINGS[0]) <= told[1]
        assert set(HEADINGS[1]) <= told[4]
        for node in range(1, 7):
            for above in TREE.ancestors(node)[1:]:
                assert not told[node] & told[above]
    empty = np.array([word in SUBJECTS[0] for word in words])
    told = present.select_describing_words(presence, 3, words=words, empty=empty)[2]
    assert not {words[column] for column in told} & set(SUBJECTS[0])


def test_node_has_words_if_its_headings_have_them_all():
    counts = csr_array(np.repeat([[1, 0], [1, 1], [0, 1]], [20, 20, 40], axis=0).astype(float))
    tree = Tree((-1, 0, 1, 1, 0))
    shares = csr_array(np.repeat([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [20, 20, 40], axis=0).astype(float))
    presence = present.compute_presence(tree, (2, 3, 4), shares, counts)
    assert [columns.tolist() for columns in present.select_describing_words(presence, 2)[1:4]] == [[0], [0], [1]]


def test_names_differ_among_siblings():
    _, words, _, _, presence, readings = known()
    assert {"example", "joe"} <= readings.fragments | {w for w in words if w not in readings.forms}
    names = naming.name_nodes(presence, words, LEAVES, readings)
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


def test_names_find_their_own_nodes():
    _, words, _, _, presence, readings = known()
    names = naming.name_nodes(presence, words, LEAVES, readings)
    examiner = name_test.NameTest(presence, words)
    assert all(examiner.is_found_by_name(node, names[node].name) for node in range(1, 7))
    assert examiner.rank_nodes(2, "tennis racket")[0] == 3
    assert examiner.rank_nodes(2, "unheard") == []


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
def test_shares_word_recognises_forms(name, other, shares):
    assert naming.shares_word(name, [other, "something else"]) is naming.shares_word(other, [name]) is shares


def test_boilerplate_is_no_phrase():
    others = ["one", "two", "three", "four", "five", "six"]
    texts = [f"{word} cold war {word} best wishes from jim smith of here" for word in others]
    readings = reading.extract_features(texts, [range(6)], ["cold", "war", "jim", "smith", "wishes"])
    assert "cold war" in readings.phrases
    assert "jim smith" not in readings.phrases
    assert {"jim", "smith"} <= readings.fragments


def test_tex_commands_and_accents_are_fragments():
    text = (
        r"A{0} \left B{0} left {0} left \alpha C{0} Schr\"odinger D{0} K\"{{a}}hler E{0} K{{\"a}}bler F{0} Kähler form"
    )
    texts = [f"{text.format(number)} G{number}" for number in range(6)]
    words = ["left", "alpha", "odinger", "hler", "bler", "kähler", "form"]
    assert reading.extract_features(texts, [range(6)], words).fragments == {"alpha", "odinger", "hler", "bler"}


def test_choose_forms_by_frequency():
    texts = ["NASA GETS MONEY\nthe NASA gets Money", "NASA gets Money", "BIG NASA", "a Nasa gets"]
    readings = reading.extract_features(texts, [range(4)], ["nasa", "gets", "money", "big"])
    assert (readings.forms["nasa"], readings.forms["gets"], readings.forms["money"]) == ("NASA", "gets", "Money")


@given(trees(), st.integers(0, 10**6))
def test_names_are_unique_in_any_tree(tree, seed):
    rng = np.random.default_rng(seed)
    leaves = tree.leaves
    counts = csr_array((rng.random((3 * len(leaves), 12)) < 0.3).astype(np.float32))
    shares = csr_array(np.repeat(np.eye(len(leaves), dtype=np.float32), 3, axis=0))
    presence = present.compute_presence(tree, leaves, shares, counts)
    words = [f"word{chr(97 + number) * 3}" for number in range(12)]
    names = naming.name_nodes(presence, words, leaves)
    assert names == naming.name_nodes(presence, words, leaves)
    for node in range(len(tree)):
        said = [word for child in tree.children(node) for (word,) in name_test.split_name(names[child].name) if word]
        assert len(said) == len(set(said))


@pytest.mark.parametrize(
    ("word", "plain"), [("x11", False), ("ab", False), ("abc", True), ("自然", True), ("a_b", False)]
)
def test_is_plain(word, plain):
    assert name_test.is_plain(word) is plain


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


def test_articles_and_verbs_of_invented_language():
    texts = sentences()
    assert reading.find_articles(texts) == {"li", "lo"}
    words = ["taru", "sipo", "banak", "hurem", "ke"]
    found = reading.extract_features(texts, [list(range(0, 150)), list(range(150, 300))], words)
    assert found.verbs == {"taru", "sipo", "ke"}
    assert not any(found.verbs & set(phrase.split()) for phrase in found.phrases)


def test_verbs_of_abstracts_are_recognised():
    texts = [document.text for document in islice(demo_documents(), 400)]
    assert {"the", "a", "an"} <= reading.find_articles(texts)
    words = ["give", "prove", "consider", "obtain", "model", "theory", "system", "field", "algorithm", "results"]
    assert reading.extract_features(texts, [list(range(400))], words).verbs == {"give", "prove", "consider", "obtain"}


def test_articles_behind_full_stops_are_ignored():
    texts = [f"{text} banak. Li {text[3:]}" for text in sentences()]
    assert "banak" not in reading.extract_features(texts, [list(range(300))], ["banak", "taru"]).verbs


def presence_of_leaves(tree, leaves, each, documents=100.0):
    """Presence of words by leaf: documents that have each word (leaves × words)."""
    mask = tree.path_mask(leaves).astype(np.float64)
    return present.Presence(tree, mask.T @ each, mask.T @ np.full(len(leaves), documents))


def least_lift(presence, words, node, name):
    """The least lift of the words of a name over the children with a tenth of the node's documents."""
    tree = presence.tree
    large = [c for c in tree.children(node) if presence.documents[c] >= 0.1 * presence.documents[node]]
    columns = [words.index(word) for (word,) in name_test.split_name(name)]
    shares = presence.have[np.ix_(large, columns)] / presence.documents[large][:, None]
    return (shares / presence.compute_outside_shares(node, columns)).min()


HALVES = ["galaxy", "star", "collider", "jet", "tax"]
HALVES_BY_LEAF = np.array([[60, 55, 1, 1, 0], [1, 1, 50, 40, 0], [1, 1, 1, 1, 80]], np.float64)


def test_heading_without_true_word_joins_child_names():
    """A pair of one word for each half is not true of either half."""
    tree = Tree((-1, 0, 1, 1, 0))
    presence = presence_of_leaves(tree, (2, 3, 4), HALVES_BY_LEAF)
    names = [named.name for named in naming.name_nodes(presence, HALVES, (2, 3, 4))]
    assert names[1] == f"{names[2]}, {names[3]}" == "galaxy · star, collider · jet"


def test_heading_name_is_true_of_all_children():
    tree, words = Tree((-1, 0, 1, 1, 0)), [*HALVES, "energy", "mass"]
    each = np.hstack([HALVES_BY_LEAF, [[30, 20], [25, 30], [2, 1]]])
    presence = presence_of_leaves(tree, (2, 3, 4), each)
    name = naming.name_nodes(presence, words, (2, 3, 4))[1].name
    assert set(name.split(name_test.DOT)) == {"energy", "mass"}


@given(trees(), st.integers(0, 10**6))
def test_heading_names_are_true_or_joined(tree, seed):
    rng, leaves = np.random.default_rng(seed), tree.leaves
    each = rng.poisson(rng.choice([0.5, 3.0, 30.0], (len(leaves), 40)))
    presence = presence_of_leaves(tree, leaves, np.minimum(each, 100).astype(np.float64))
    words = [f"{chr(97 + number % 26)}{chr(97 + number // 26)}word" for number in range(40)]
    names = [named.name for named in naming.name_nodes(presence, words, leaves)]
    shown = [name.casefold() for name in names if name]
    assert len(shown) == len(set(shown))
    for node in range(len(tree)):
        if node == tree.root or tree.is_leaf(node) or not names[node]:
            continue
        if name_test.JOINT in names[node]:
            below = sorted((c for c in tree.children(node) if names[c]), key=lambda c: (-presence.documents[c], c))
            assert names[node] in naming.join_names([names[child] for child in below])
        else:
            assert least_lift(presence, words, node, names[node]) >= 2


def test_ends_of_compounds_name_nothing():
    others = ["one", "two", "three", "four", "five", "six"]
    texts = [f"{word} N-body simulations {word} two-body collapse {word} dark-matter halo {word}" for word in others]
    words = ["body", "simulations", "collapse", "dark", "matter", "halo"]
    readings = reading.extract_features(texts, [range(6)], words)
    assert readings.hyphenated == {"body", "matter"}
    assert "dark matter halo" in readings.phrases
    assert not {"body simulations", "body collapse"} & readings.phrases.keys()


def test_dates_name_nothing():
    others = ["one", "two", "three", "four", "five", "six"]
    texts = [
        f"{word} April {n} {word} {n} Mio {word} market {word} {n}. Shares {word}" for n, word in enumerate(others)
    ]
    readings = reading.extract_features(texts, [range(6)], ["april", "mio", "market", "shares"])
    assert "april" in readings.fragments
    assert readings.fragments.isdisjoint({"mio", "market", "shares"})


def test_names_hold_on_both_halves():
    """Words of one half of a topic's documents find it by all documents, but not by the other half."""
    n = 20
    counts = np.zeros((2 * n, 4), np.float32)
    counts[: n // 2, 0] = counts[: n // 2, 1] = 1  # in the first half of one topic
    counts[[0, 3, 6, 10, 13, 16], 2] = 1
    counts[n:, 3] = 1
    words, tree = ["thread", "signature", "subject", "other"], Tree.star(2)
    shares = csr_array(np.repeat(np.eye(2, dtype=np.float32), n, axis=0))
    columns = np.arange(4)
    presence = present.compute_presence(tree, (1, 2), shares, csr_array(counts))
    halves = present.compute_halves(tree, (1, 2), shares, csr_array(counts), columns)
    np.testing.assert_allclose(sum(half.have for half in halves), presence.have)
    np.testing.assert_allclose(halves[0].documents, [n, n / 2, n / 2])
    tests = [name_test.NameTest(half, words) for half in halves]
    whole = name_test.NameTest(presence, words, halves=tests)
    assert whole.is_found_by_name(1, "thread")
    assert not whole.is_accepted(1, "thread")
    assert whole.is_accepted(1, "subject")
    names = [naming.name_nodes(presence, words, (1, 2), halves=part)[1].name for part in ((), tests)]
    assert names[0].startswith("signature")
    assert names[1] == "subject"


def test_join_names_takes_third_child_of_even_ones():
    names = ["driving", "hockey", "baseball", "golf"]
    assert naming.join_names(names, [30, 30, 30, 10])[0] == "driving, hockey, baseball"
    assert naming.join_names(names, [50, 40, 5, 5])[0] == "driving, hockey"
    assert naming.join_names(["a", "b", "c · d"], [1, 1, 1])[0] == "a, b"


def test_join_names_shortens_long_names():
    long = ["dark matter halo · galaxy clusters", "quantum entanglement · decoherence", "tax"]
    assert naming.join_names(long) == [
        "dark matter halo, quantum entanglement",
        "dark matter halo · galaxy clusters, quantum entanglement · decoherence",
        "dark matter halo, quantum entanglement, tax",
    ]
    assert naming.join_names(["a, b", "c · d"]) == ["a, c"]
    assert naming.join_names(["a"]) == []


def island_texts():
    """Texts of two countries: one of two words, and a cup whose first word is frequent elsewhere in small letters."""
    rng = np.random.default_rng(0)
    fillers = [
        one + two for one in ("ba", "do", "ki", "lu", "me") for two in ("nas", "pot", "rif", "sul", "tem", "ver")
    ]
    noise = lambda: " ".join(rng.choice([*fillers, *(f"{one}o" for one in fillers)], 6))  # noqa: E731
    texts, leaves = [], []
    for number in range(120):
        leaf = number % 3
        six = "six" if number % 9 == 2 else ""
        text = [
            f"{noise()} Sri Lanka {noise()} the tea {noise()} the grower {noise()} Sri Lanka {noise()}.",
            f"{noise()} Six Nations {noise()} the match {noise()} the rugby {noise()} player.",
            f"{noise()} {six} loans {noise()} the bank {noise()}. " + 3 * f"Bank {noise()}. ",
        ][leaf]
        texts.append(text)
        leaves.append(leaf)
    return texts, np.array(leaves)


def test_phrases_keep_order_and_case():
    texts, leaves = island_texts()
    lower = [text.lower() for text in texts]
    words, counts = counted(lower)
    shares = csr_array(np.eye(3, dtype=np.float32)[leaves])
    tree = Tree.star(3)
    presence = present.compute_presence(tree, (1, 2, 3), shares, counts)
    readings = reading.extract_features(texts, reading.sample_documents(shares), words)
    assert readings.forms["six nations"] == "Six Nations"
    assert (readings.forms["six"], readings.forms["bank"]) == ("six", "bank")
    names = [named.name for named in naming.name_nodes(presence, words, (1, 2, 3), readings)]
    assert "Sri Lanka" in name_test.split_items(names[1])
    assert "Six Nations" in name_test.split_items(names[2])


def test_choose_forms_ignores_titles_and_names():
    running = "We point the telescope north. Telescope time is short. The Space Telescope and Hubble Telescope see."
    texts = [f"Telescope and Galaxy\n{running} A galaxy {number}" for number in range(4)]
    readings = reading.extract_features(texts, [range(4)], ["telescope", "galaxy", "hubble"])
    assert (readings.forms["telescope"], readings.forms["galaxy"]) == ("telescope", "galaxy")
    assert readings.forms["hubble"] == "Hubble"


def test_tex_fragments_are_in_no_name():
    """Not even where nothing else tells of a leaf."""
    texts = [
        r"a Schr\"odinger K\"ahler thing " + "".join(np.random.default_rng(n).choice(list("xyz"), 6)) for n in range(20)
    ]
    texts += [f"tax bank money loan {n}" for n in range(20)]
    words, counts = counted([text.lower() for text in texts])
    shares = csr_array(np.eye(2, dtype=np.float32)[np.repeat([0, 1], 20)])
    presence = present.compute_presence(Tree.star(2), (1, 2), shares, counts)
    readings = reading.extract_features(texts, reading.sample_documents(shares), words)
    assert {"odinger", "ahler"} <= readings.fragments
    names = naming.name_nodes(presence, words, (1, 2), readings)
    assert not any(scrap in name for named in names for name in named.candidates for scrap in ("odinger", "ahler"))


@pytest.mark.parametrize(
    ("word", "formula"),
    [("sum_", True), ("x_n", True), ("_p", True), ("delta_p", True), ("read_csv", False), ("sum", False)],
)
def test_is_formula(word, formula):
    assert name_test.is_formula(word) is formula


def test_heading_of_hundreds_of_topics_is_named():
    rng, number = np.random.default_rng(0), 300
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
    tree = Tree((-1, 0, *([1] * number), 0))
    leaves = (*range(2, 2 + number), 2 + number)
    each = rng.poisson(3.0, (number + 1, 400)).astype(np.float64)
    each[-1] = 0
    mask = tree.path_mask(leaves).astype(np.float64)
    presence = present.Presence(tree, mask.T @ each, mask.T @ np.full(number + 1, 20.0))
    assert naming.name_nodes(presence, words, leaves)[1].name


def test_find_written_forms():
    texts = [
        "At the LHC and in QCD a mass of 5 GeV was seen. Heavy ions.",
        "THE LHC REPORT: heavy quarks at 10 GeV. Let",
    ]
    words = ["lhc", "gev", "heavy", "let", "dark mass", "qcd"]
    assert reading.find_written_forms(texts, words) == {"lhc": "LHC", "gev": "GeV", "qcd": "QCD"}
    assert reading.find_written_forms(["Das Haus", "ein Haus", "im Haus"], ["haus"]) == {"haus": "Haus"}
