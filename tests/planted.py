"""A small collection whose truth is known: what was spoken of when, and by whom. Grown once a session."""

import random

import pytest

from tests.web.words import GENERAL, TOPICS
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.documents import Document

BAIL, FOOTBALL, OIL = PLANTED = ("law/bail", "sport/football", "energy/oil")
USUAL, BURST = (0.2, 0.4, 0.4), (0.7, 0.15, 0.15)  # bail has its burst in June and July
MONTHS, EACH = 12, 50
UNDATED, YEAR_ONLY, NO_DESK = 7, 5, 20


def _topic(month, rng):
    return rng.choices(PLANTED, BURST if month in (6, 7) else USUAL)[0]


def _text(topic, month, rng):
    words = [rng.choice(TOPICS[topic].split()) for _ in range(16)] + [rng.choice(GENERAL) for _ in range(8)]
    if topic == FOOTBALL and month in (2, 3):
        words += ["boycott"] * 2
    if topic == FOOTBALL and month >= 9:
        words += ["sponsor"] * 2
    rng.shuffle(words)
    return " ".join(words)


def _desk(topic, rng):
    return rng.choices(("north", "south"), (0.8, 0.2) if topic == FOOTBALL else (0.4, 0.6))[0]


def planted_documents():
    rng, found = random.Random(0), []
    for number in range(MONTHS * EACH):
        month = number % MONTHS + 1
        topic = _topic(month, rng)
        columns = (("desk", _desk(topic, rng)),) if number >= NO_DESK else ()
        date = f"2014-{month:02d}-{number % 28 + 1:02d}"
        found.append(Document(f"{topic}/{number}", _text(topic, month, rng), f"Note {number}", (topic,), "", date, "",
                              columns))  # fmt: skip
    for number in range(UNDATED + YEAR_ONLY):
        text = _text(OIL, 1, rng)
        found.append(Document(f"odd/{number}", text, f"Odd {number}", date="2014" if number >= UNDATED else ""))
    return found


@pytest.fixture(scope="session")
def planted_path(tmp_path_factory):
    """Not to be changed."""
    path = tmp_path_factory.mktemp("planted") / "desk.topiary"
    Collection.grow(planted_documents(), path, Recipe(topics=3, headings=False)).close()
    return path


@pytest.fixture(scope="session")
def planted(planted_path):
    with Collection.open(planted_path) as opened:
        yield opened


def topic_with(collection, word):
    """The topic that a word is at home in."""
    names = collection.tree.words
    return next(collection.outline.topics[node] for node in collection.outline.tree.leaves if word in names[node])
