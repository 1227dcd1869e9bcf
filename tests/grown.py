"""One small collection for everybody: grown once a session, copied for each test that wants to change it."""

import shutil
from dataclasses import replace
from itertools import islice

import pytest

from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.demo import demo_documents

N_DOCS, N_NEW = 500, 40
N_WORDS = 60  # of each abstract that are kept


def documents():
    """Abstracts, cut short: those of the collection, then some that are not in it."""
    every = islice(demo_documents(), N_DOCS + N_NEW)
    return [replace(one, text=" ".join(one.text.split()[:N_WORDS])) for one in every]


def new_documents(number=N_NEW):
    return documents()[N_DOCS : N_DOCS + number]


@pytest.fixture(scope="session")
def grown_once(tmp_path_factory):
    """Not to be changed: ``path`` is a copy that may be."""
    path = tmp_path_factory.mktemp("grown") / "notes.topiary"
    Collection.grow(documents()[:N_DOCS], path, Recipe(topics=6, headings=False)).close()
    return path


@pytest.fixture
def path(grown_once, tmp_path):
    copied = tmp_path / "notes.topiary"
    shutil.copytree(grown_once, copied)
    return copied


@pytest.fixture
def collection(path):
    with Collection.open(path) as opened:
        yield opened
