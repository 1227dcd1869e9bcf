"""Growing from what people have in Python: frames of any library, series, lists of texts or paths."""

import datetime
import os

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from topiarist import Collection, Document, Recipe
from topiarist.collection.grow.data_frames import open_documents
from topiarist.errors import InputError, UsageError
from topiarist.storage import facts

RECIPE = Recipe(topics=2, headings=False)


def columns(n=40):
    words = ("oil barrel tanker opec crude refinery", "goal league striker coach keeper penalty")
    rng = np.random.default_rng(0)
    return {
        "code": [f"c{number}" for number in range(n)],
        "body": [" ".join(rng.choice(words[number % 2].split(), 12)) for number in range(n)],
        "sent": [datetime.date(2014, number % 12 + 1, 5) for number in range(n)],
        "desk": ["north" if number % 3 else "south" for number in range(n)],
        "pages": [float(number) for number in range(n)],
    }


ASKED = {"text": "body", "id": "code", "date": "sent"}
FRAMES = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "lazy": lambda known: polars.DataFrame(known).lazy(),
    "arrow": pyarrow.table,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_library_are_the_same_documents(kind):
    from topiarist.text.readers import Columns, ReadingSettings

    found = list(open_documents(FRAMES[kind](columns()), ReadingSettings(Columns(**ASKED))))
    assert len(found) == 40
    assert found[3].id == "c3"
    assert found[3].date == "2014-04-05"
    assert dict(found[3].columns) == {"desk": "south", "pages": "3.0"}
    assert found[3].text == columns()["body"][3]


def test_a_frame_grows_into_a_collection_with_its_columns(tmp_path):
    with Collection.grow(pandas.DataFrame(columns()), tmp_path / "f.topiary", RECIPE, columns=ASKED) as collection:
        assert len(collection) == 40
        assert [field.name for field in collection.fields] == ["desk", "pages"]
        assert collection.documents.get(5).id == "c5"
        assert len(collection.over_time("month").periods) == 12
        assert collection.by_group("desk").names == ("north", "south")


def test_the_text_is_found_by_its_length():
    found = list(open_documents(polars.DataFrame(columns())))
    assert found[0].text == columns()["body"][0]
    assert [one.id for one in found[:2]] == ["1", "2"]  # no column is called id
    with pytest.raises(UsageError, match="bodi"):
        Collection.grow(pandas.DataFrame(columns()), columns={"text": "bodi"})


def test_missing_cells_are_missing():
    known = columns()
    known["body"][1] = None
    known["desk"][2] = None
    frame = pandas.DataFrame(known)
    frame["sent"] = pandas.to_datetime(frame["sent"])
    frame.loc[3, "sent"] = pandas.NaT
    frame["pages"] = frame["pages"].astype("Int64")
    frame.loc[4, "pages"] = pandas.NA
    from topiarist.text.readers import Columns, ReadingSettings

    read = open_documents(frame, ReadingSettings(Columns(**ASKED)))
    found = {one.id: one for one in read}
    assert "c1" not in found
    assert [(one.source, one.reason) for one in read.problems] == [("row 2", "no text")]
    assert "desk" not in dict(found["c2"].columns)
    assert found["c3"].date == ""
    assert found["c5"].date == "2014-06-05"
    assert "pages" not in dict(found["c4"].columns)


@pytest.mark.parametrize("kind", [pandas.Series, polars.Series, pyarrow.chunked_array, list, tuple])
def test_texts_of_every_kind_are_documents(kind):
    texts = columns()["body"]
    given = kind([texts]) if kind is pyarrow.chunked_array else kind(texts)
    assert [(one.id, one.text) for one in open_documents(given)] == [(str(n), text) for n, text in enumerate(texts, 1)]


def test_rows_without_a_text_are_told_in_the_collection(tmp_path):
    texts = [*columns()["body"], None, ""]
    with Collection.grow(pandas.Series(texts), tmp_path / "s.topiary", RECIPE) as collection:
        assert len(collection) == 40
        assert facts.n_problems(collection.generation.database) == 2


def test_numbers_are_no_texts():
    with pytest.raises(InputError, match="expected texts, got float in row 1"):
        list(open_documents(pandas.Series([1.5, 2.5])))


def test_paths_are_read_and_documents_stay(tmp_path):
    for number, text in enumerate(columns()["body"][:3]):
        (tmp_path / f"{number}.txt").write_text(text)
    with open_documents([tmp_path / "0.txt", tmp_path / "2.txt"]) as reading:
        assert [one.text for one in reading] == [columns()["body"][0], columns()["body"][2]]
    assert open_documents(tmp_path).sources == (str(tmp_path),)
    given = [Document("a", "b")]
    assert list(open_documents(given)) == given


def test_without_a_folder_it_is_there_as_long_as_it_is_open():
    collection = Collection.grow(columns()["body"], recipe=RECIPE)
    place = str(collection.folder.path)
    assert os.path.isdir(place)
    assert collection.search("oil").total > 0
    collection.close()
    assert not os.path.exists(os.path.dirname(place))
