"""One small collection for everybody: grown once a session, copied for each test that wants to change it."""

import shutil
from dataclasses import replace
from itertools import islice

import pytest

from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.progress import NOTE, PHASE, ProgressReporter
from topiarist.text.demo import demo_documents

N_DOCS, N_NEW = 500, 40
N_WORDS = 60  # of each abstract that are kept


class NoteCollector(ProgressReporter):
    """Reporter that keeps notes and phases."""

    def __init__(self):
        self.notes, self.phases = [], []

    def report(self, event):
        if event.kind == NOTE:
            self.notes.append(event.text)
        elif event.kind == PHASE:
            self.phases.append(event.text)


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


NAVIGATION = "Home\nNews\nContact\n"
FOOTER = "\nThis message is confidential and meant for nobody but its reader."


def piled_documents():
    """Abstracts as a dirty pile has them: with navigation bars and footers, twelve copies and six near-copies."""
    some = documents()[:200]
    pile = [
        replace(
            one, title="", id=f"pile/{one.id}.txt", text=f"{NAVIGATION if n % 2 else ''}{one.text}\nIts end.{FOOTER}"
        )
        for n, one in enumerate(some)
    ]
    copies = [replace(pile[n // 4], id=f"copy/{n}.txt") for n in range(12)]
    near = [replace(pile[10 + n], id=f"near/{n}.txt", text=_otherwise(pile[10 + n].text)) for n in range(6)]
    return [*pile, *copies, *near]


def _otherwise(text):
    """Two ordinary words of a line are others."""
    lines = [line.split(" ") for line in text.split("\n")]
    for line in lines:
        for start in (11, 35):
            place = next((n for n in range(start, len(line)) if line[n].isalpha() and line[n].islower()), None)
            if place is not None:
                line[place] = "other"
    return "\n".join(map(" ".join, lines))


@pytest.fixture(scope="session")
def piled_once(tmp_path_factory):
    """Not to be changed: ``piled`` is a copy that may be."""
    path = tmp_path_factory.mktemp("piled") / "pile.topiary"
    Collection.grow(piled_documents(), path, Recipe(topics=4, headings=False)).close()
    return path


@pytest.fixture
def piled(piled_once, tmp_path):
    copied = tmp_path / "pile.topiary"
    shutil.copytree(piled_once, copied)
    return copied
