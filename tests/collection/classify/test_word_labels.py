"""Labels of words and mixtures of labels: planted documents, stored models, and the commands that print them."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.estimators import zoo
from topiarist import PMM
from topiarist.cli.commands import app
from topiarist.collection.classify.label_mixture import learn_mixture
from topiarist.collection.classify.predictions import Categories
from topiarist.collection.classify.word_labels import find_word_labels
from topiarist.collection.collection import Collection
from topiarist.collection.contents import read_categories, write_categories
from topiarist.collection.grow.recipe import Recipe
from topiarist.errors import DamagedError, UsageError
from topiarist.text.documents import Document

SUBJECTS = {
    "sea": "ship harbour sail wind wave captain anchor deck",
    "kitchen": "bread oven flour butter salt baker dough cake",
    "court": "judge law trial lawyer verdict jury appeal prison",
}
GENERAL = ["people", "day", "time", "year", "thing", "place"]
NAMES, HALVES = list(SUBJECTS), {name: (words.split()[:4], words.split()[4:]) for name, words in SUBJECTS.items()}
N_DOCS = 180


def make_documents():
    """Return documents of one or two subjects; each subject has two halves with few common words."""
    rng = np.random.default_rng(0)
    documents = []
    for number in range(N_DOCS):
        labels = sorted({NAMES[number % 3], NAMES[number // 3 % 3]})
        words = list(rng.choice(GENERAL, 6))
        for name in labels:
            common, own = SUBJECTS[name].split(), HALVES[name][number % 2]
            words += [*rng.choice(own, 8), *rng.choice(common, 2)]
        documents.append(Document(f"d{number}", " ".join(rng.permutation(words)), labels=tuple(labels)))
    return documents


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "notes.topiary"
    Collection.grow(make_documents(), path, Recipe(topics=3, headings=False)).close()
    return path


@pytest.fixture(scope="module")
def learned(path):
    with Collection.open(path) as collection:
        return collection.learn(several=True)


def run(path, command, *arguments, code=0):
    result = CliRunner().invoke(app, [command, str(path), *map(str, arguments)])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout) if "--json" in arguments else result.stdout


def test_label_given_word_matches_written_out_shares():
    counts = np.array([[4, 0, 1, 0], [0, 3, 1, 0], [2, 2, 2, 0]])
    labels = np.array([[1, 0], [0, 1], [1, 1]])
    for order in (1, 2):
        model = PMM(order).fit(counts, labels)
        weights = np.array([1.0, 1.0])
        if order == 2:
            weights = 2 * model.label_bias_.sum(axis=1) / 4
        joint = weights[:, None] * model.word_given_label_
        expected = joint / joint.sum(axis=0) * [1, 1, 1, 0]  # the last word is unknown
        np.testing.assert_allclose(model.label_given_word([0, 1]), expected, rtol=1e-12)
        np.testing.assert_array_equal(model.label_given_word([1]), [[1, 1, 1, 0]])
    with pytest.raises(UsageError, match="there is no label 7"):
        model.label_given_word([7])


def test_words_get_labels_of_planted_subjects(path, learned):
    assert learned.several
    for name in NAMES:
        assert len(set(learned.words[name]) & set(SUBJECTS[name].split())) >= 6
    right = total = 0
    with Collection.open(path) as collection:
        for row, document in enumerate(make_documents()):
            labels = find_word_labels(collection, row)
            if len(document.labels) < 2:
                continue
            assert [label.name for label in labels.labels] == list(document.labels)
            assert not labels.predicted
            assert sum(label.share for label in labels.labels) == pytest.approx(1)
            for word in labels.words:
                assert document.text[word.start : word.end].lower() == word.word
                if word.word not in GENERAL:
                    total += 1
                    right += word.word in SUBJECTS[labels.labels[word.label].name].split()
    assert total > 1000
    assert right / total > 0.98


def test_show_marks_words_by_label(path, learned):
    document = next(document for document in make_documents() if len(document.labels) == 2)
    body = run(path, "show", document.id, "--json")["word_labels"]
    assert [label["name"] for label in body["labels"]] == list(document.labels)
    assert set(body["words"][0]) == {"start", "end", "word", "label", "probability"}
    text = run(path, "show", document.id, "--labels")
    assert "words by label" in text.lower()
    first = next(word for word in body["words"] if word["probability"] > 0.9)
    assert f"{first['word']}{'¹²'[first['label']]}" in text
    assert "words by level" not in text.lower()
    assert "words by level" in run(path, "show", document.id).lower()
    alone = next(document for document in make_documents() if len(document.labels) == 1)
    with Collection.open(path) as collection:
        labels = find_word_labels(collection, int(alone.id[1:]))
        assert labels is None or labels.predicted


def test_mixture_has_components_of_planted_halves(path):
    documents = [document for document in make_documents() if len(document.labels) == 1]
    table = {document.id: document.labels for document in documents[:40]}
    with Collection.open(path) as collection:
        mixture = learn_mixture(collection, table)
        again = learn_mixture(collection, table)
        assert mixture == again
        assert collection.state.parts.get("categories") is None or collection.categories is not None
    assert (mixture.n_labelled, mixture.n_unlabelled) == (40, N_DOCS - 40)
    assert mixture.accuracy_between[1] > 0.9
    assert mixture.features == "latent dimensions"
    assert {label.name for label in mixture.labels} == set(NAMES)
    for label in mixture.labels:
        assert sum(label.components.values()) == pytest.approx(1, abs=0.02)
        best = mixture.components[next(iter(label.components))]
        assert max(best.labels, key=best.labels.get) == label.name
        assert len(set(best.words) & set(SUBJECTS[label.name].split())) >= 3
        assert best.typical
    assert sum(component.share for component in mixture.components) == pytest.approx(1, abs=0.01)


def test_learn_prints_mixture_and_stores_nothing(path, learned, tmp_path):
    table = tmp_path / "labels.csv"
    rows = [f"{document.id},{document.labels[0]}" for document in make_documents() if len(document.labels) == 1]
    table.write_text("\n".join(["id,label", *rows]))
    with Collection.open(path) as collection:
        before = collection.state
    text = run(path, "learn", "--model", "ggm", "--labels", table)
    assert "of latent dimensions, learned from 60 labelled and 120 unlabelled documents" in text
    assert "component 0: " in text
    assert "Only the first label" not in text
    body = run(path, "learn", "--model", "ggm", "--labels", table, "--json")
    assert {"features", "labels", "components", "accuracy", "unknown_ids"} <= set(body)
    assert run(path, "learn", "--model", "ggm", "--several", code=2) == ""
    with Collection.open(path) as collection:
        assert collection.state == before


def test_learn_reports_unreadable_rows(path, tmp_path):
    table = tmp_path / "labels.csv"
    rows = [f"{document.id},{document.labels[0]}" for document in make_documents() if len(document.labels) == 1]
    table.write_text("\n".join(["id,label", *rows, "d3,a,extra"]))
    result = CliRunner().invoke(app, ["learn", str(path), "--model", "ggm", "--labels", str(table)])
    assert result.exit_code == 0, result.output
    assert f"1 row of {table} cannot be read: " in result.stderr
    assert f"(line {len(rows) + 2})" in result.stderr


def test_mixture_states_use_of_first_labels(path):
    text = run(path, "learn", "--model", "ggm")
    assert "Only the first label of a document is used." in text
    n_several = sum(len(document.labels) > 1 for document in make_documents())
    assert run(path, "learn", "--model", "ggm", "--json")["n_several"] == n_several


def test_mixture_uses_vectors(tmp_path):
    documents = make_documents()
    rng = np.random.default_rng(0)
    classes = np.arange(N_DOCS) % 3
    vectors = (np.eye(3, 80)[classes] * 5 + rng.normal(size=(N_DOCS, 80))).astype(np.float32)
    table = {documents[row].id: (NAMES[classes[row]],) for row in range(60)}
    with Collection.grow(
        documents, tmp_path / "n.topiary", Recipe(topics=3, headings=False), vectors=vectors
    ) as collection:
        mixture = learn_mixture(collection, table, holdout=0.5)
    assert mixture.features == "vectors"
    assert mixture.accuracy > 0.9


def test_word_labels_remain_after_removal_and_damage_is_an_error(path, learned, tmp_path):
    copy = tmp_path / "copy.topiary"
    shutil.copytree(path, copy)
    with Collection.open(copy) as collection:
        row = collection.documents.row_of("d1")
        before = find_word_labels(collection, row)
        collection.remove(["d0"])
        assert find_word_labels(collection, collection.documents.row_of("d1")) == before
    folder = tmp_path / "part"
    write_categories(folder, Categories(zoo.fitted("CategoryLearner"), True, word_model=zoo.fitted("PLC")))
    with pytest.raises(DamagedError, match="expected a PMM, got a PLC"):
        read_categories(folder)


def test_read_categories_names_different_numbers_of_words(tmp_path):
    learner = zoo.fitted("CategoryLearner")
    n_words = learner.n_features_in_
    model = PMM().fit(np.ones((2, n_words + 1), int), np.eye(2, dtype=int))
    write_categories(tmp_path, Categories(learner, True, word_model=model))
    with pytest.raises(DamagedError, match=f"expected {n_words:,} words, got {n_words + 1:,}"):
        read_categories(tmp_path)
