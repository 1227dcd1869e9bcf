"""An analyst works in a notebook: data frames with a footer become a collection that learns and grows."""

from collections import Counter

import pandas as pd
import pytest

from tests.grown import documents
from tests.tasks.test_library_catalogue import run
from topiarist import Collection, Recipe
from topiarist.errors import TopiaristError

N_SEPTEMBER, N_OCTOBER = 200, 6
COLUMNS = {"id": "key", "title": "subject line", "text": "body", "date": "sent"}
FOOTER = "Sent by the preprint server. Do not reply to this message."


def subject_of(document):
    return "mathematics" if "math" in document.labels[0] else "physics"


def rows_of(month):
    every = documents()
    return every[:N_SEPTEMBER] if month == 9 else every[-N_OCTOBER:]


def frame(month, key="key"):
    """Mails with a footer."""
    rows = rows_of(month)
    return pd.DataFrame({
        key: [f"{month}/{number:03}" for number in range(len(rows))],
        "subject line": [one.title for one in rows],
        "body": [f"{one.text}\n{FOOTER}" for one in rows],
        "sent": [f"2023-{month:02}-{number % 28 + 1:02}" for number in range(len(rows))],
        "category": [subject_of(one) for one in rows],
    })  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook") / "mails.topiary"
    Collection.grow(frame(9), folder, Recipe(topics=3, headings=False), columns=COLUMNS).close()
    return folder


@pytest.fixture
def collection(folder):
    with Collection.open(folder) as opened:
        yield opened


def ids_of(result):
    return {hit.id for hit in result}


def test_footer_is_left_out_and_told(collection):
    assert [line for line, _ in collection.counting.repeated.lines] == [FOOTER.casefold()]
    assert not {"preprint", "reply"} & {*collection.counting.vocabulary.words, *collection.counting.general}
    assert collection.settings["repeated"]["documents"] == N_SEPTEMBER


def test_column_of_categories_is_grouped_and_learned(collection):
    sizes = Counter(map(subject_of, rows_of(9)))
    groups = collection.by_group("category").to_dict()["groups"]
    assert {group["name"]: group["documents"] for group in groups} == sizes
    quality = collection.learn()
    assert (quality.column, quality.n_labelled) == ("category", N_SEPTEMBER)
    low, high = quality.accuracy_between
    assert low < quality.accuracy <= high
    assert quality.accuracy > 0.7
    collection.undo()
    assert collection.categories is None


def test_few_labels_give_an_interval(collection):
    some = {f"9/{number:03}": [subject_of(one)] for number, one in enumerate(rows_of(9)[:20])}
    quality = collection.learn(some)
    assert quality.n_held_out < 10
    if quality.accuracy is not None:
        low, high = quality.accuracy_between
        assert high - low > 0.3
    collection.undo()


def test_next_month_has_ids_titles_dates_and_categories(collection):
    october = rows_of(10)
    added = collection.add(frame(10))
    assert [(one.document.id, one.document.title) for one in added] == [
        (f"10/{number:03}", one.title) for number, one in enumerate(october)
    ]
    mathematics = {f"10/{number:03}" for number, one in enumerate(october) if subject_of(one) == "mathematics"}
    assert ids_of(collection.search("category:mathematics since:2023-10", 50)) == mathematics
    assert ids_of(collection.search("date:2023-10-03", 50)) == {"10/002"}
    assert collection.settings["repeated"]["documents"] == N_SEPTEMBER + N_OCTOBER
    collection.undo()
    assert len(collection) == N_SEPTEMBER


@pytest.mark.parametrize("missing", ["body", "sent", "key"])
def test_missing_column_is_named_and_nothing_is_added(collection, missing):
    with pytest.raises(TopiaristError, match=missing):
        collection.add(frame(10).drop(columns=missing))
    assert len(collection) == N_SEPTEMBER


def test_known_mail_is_first(collection):
    ranks = []
    for number, one in enumerate(rows_of(9)[:40]):
        words = " ".join(one.text.split()[3:11])
        hits = [hit.id for hit in collection.search(words, 20)]
        ranks.append(1 / (1 + hits.index(f"9/{number:03}")) if f"9/{number:03}" in hits else 0.0)
    assert sum(ranks) / len(ranks) > 0.95


def test_new_ids_of_the_same_mails_are_no_alarm(tmp_path):
    path, names = tmp_path / "again.topiary", [f"--{role}-column={column}" for role, column in COLUMNS.items()]
    frame(9)[:60].to_csv(tmp_path / "mails.csv", index=False)
    run("grow", tmp_path / "mails.csv", "-o", path, *names, "--topics", 2, "--quiet")
    frame(9)[:60].assign(key=[f"new/{number}" for number in range(60)]).to_csv(tmp_path / "mails.csv", index=False)
    told = run("grow", tmp_path / "mails.csv", "-o", path, *names, "--topics", 2, "--force").stderr
    assert "60 documents of before have another id now" in told
    assert "missing from the sources" not in told
