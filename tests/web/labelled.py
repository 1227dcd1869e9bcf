"""Two collections with labels of which categories were learned: of one label each, and of several; and who judges."""

import random
import shutil

import pytest
from starlette.testclient import TestClient

from tests.web.words import GENERAL, HEADINGS, TOPICS
from topiarist.collection.classify.learning import learn_categories
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.documents import Document
from topiarist.web.http.server import explorer

HERE = "http://127.0.0.1"
LABELS = list(TOPICS)


def text_of(labels, rng, own, strange):
    """Words of the labels and of their headings, and some of any other label."""
    words = [rng.choice(GENERAL) for _ in range(12)]
    for label in labels:
        words += [rng.choice(TOPICS[label].split()) for _ in range(own)]
        words += [rng.choice(HEADINGS[label.split("/")[0]].split()) for _ in range(4)]
    words += [rng.choice(TOPICS[rng.choice(LABELS)].split()) for _ in range(strange)]
    rng.shuffle(words)
    return " ".join(words)


def muddled(n=360):
    """Short documents with one label, some of them wrong, some without."""
    rng = random.Random(3)
    found = []
    for number in range(n):
        label = LABELS[number % len(LABELS)]
        told = () if number % 5 == 4 else (rng.choice(LABELS),) if number % 12 == 0 else (label,)
        found.append(Document(f"n{number:03d}", text_of([label], rng, 1, 2), f"Note {number}", told))
    return found


def mixed(n=360):
    """Documents of one or two labels."""
    rng = random.Random(4)
    found = []
    for number in range(n):
        labels = rng.sample(LABELS, 1 + number % 2)
        found.append(Document(f"m{number:03d}", text_of(labels, rng, 2, 3), f"Mix {number}", tuple(labels)))
    return found


def grown(path, documents):
    with Collection.grow(documents, path, Recipe(topics=6)) as collection:
        quality = learn_categories(collection, holdout=0.4)
    return str(path), quality


@pytest.fixture(scope="session")
def single(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("single") / "notes.topiary", muddled())


@pytest.fixture(scope="session")
def several(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("several") / "mixed.topiary", mixed())


class Writer(TestClient):
    def judge(self, does, item, **form):
        token, state = self.app.state.session.token, form.pop("state", self.app.state.session.view().mark)
        values = {"token": token, "state": state, "does": does, "document": item["line"]["id"],
                  "number": item["number"], "label": item["label"], "back": "/categories", **form}  # fmt: skip
        return self.post("/judge", data=values, headers={"Origin": HERE})

    def list(self, label, **values):
        return self.get("/categories.json", params={"label": label, **values}).json()["filed"]

    def labels(self, id):
        documents = self.app.state.session.view().collection.documents
        return documents.labels_of([documents.row_of(id)])[0]


@pytest.fixture
def annotator(single, tmp_path):
    shutil.copytree(single[0], tmp_path / "copy.topiary")
    return Writer(explorer(str(tmp_path / "copy.topiary")), base_url=HERE)


@pytest.fixture
def many(several, tmp_path):
    shutil.copytree(several[0], tmp_path / "copy.topiary")
    return Writer(explorer(str(tmp_path / "copy.topiary")), base_url=HERE)


@pytest.fixture
def folder_of():
    return lambda annotator: annotator.app.state.session.folder
