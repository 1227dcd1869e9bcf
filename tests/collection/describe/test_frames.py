"""Tables of a collection as Arrow, pandas and polars: the same rows, named after what they are."""

import re

import pandas
import polars
import pyarrow
import pytest

from tests.planted import EACH, MONTHS, UNDATED, topic_with
from topiarist.collection.describe import tables
from topiarist.errors import ResourceError


@pytest.mark.parametrize("name", ["documents", "topics", "words", "shares"])
def test_each_table_is_the_same_in_every_library(planted, name):
    table = getattr(planted.tables, name)
    arrow, ours, theirs = table.to_arrow(), table.to_pandas(), table.to_polars()
    assert isinstance(arrow, pyarrow.Table)
    assert list(ours.columns) == theirs.columns == arrow.column_names == list(table.columns)
    assert len(ours) == len(theirs) == len(arrow) == len(table) > 0
    assert polars.DataFrame(table).shape == theirs.shape  # by the Arrow interface
    first = arrow.column_names[0]
    assert ours[first].tolist() == theirs[first].to_list() == arrow[first].to_pylist()


def test_documents_have_their_place_and_their_columns(planted):
    found = planted.tables.documents.to_pandas()
    assert len(found) == len(planted)
    assert {"id", "title", "date", "path", "leaf", "share", "labels", "topics", "desk"} <= set(found.columns)
    assert (found["date"] == "").sum() == UNDATED
    assert set(found["desk"].dropna()) == {"north", "south"}


def test_shares_are_called_like_topics(planted):
    found = planted.tables.shares.to_pandas().set_index("id")
    outline = planted.outline
    assert set(found.columns) == {outline.name(outline.topics[leaf]) for leaf in outline.tree.leaves}
    assert (found.sum(axis=1) <= 1.001).all()
    football = outline.name(topic_with(planted, "football"))
    assert found.loc[[id for id in found.index if id.startswith("sport")], football].mean() > 0.9


def test_time_and_groups_are_tables(planted):
    time = planted.tables.over_time("month").to_pandas()
    assert len(time) == len(planted.outline.tree.leaves) * MONTHS
    assert (time["documents"] == EACH).all()
    assert ((time["low"] <= time["share"]) & (time["share"] <= time["high"])).all()
    groups = planted.tables.by_group("desk").to_polars()
    assert set(groups["group"]) == {"north", "south"}
    days = planted.tables.over_time("day").to_arrow()
    assert days["share"].null_count > 0  # a day without documents has no share
    assert pandas.api.types.is_float_dtype(days.to_pandas()["share"])


def test_a_table_shows_itself(planted):
    table = planted.tables.topics
    assert re.fullmatch(r"<Table topics: 4 rows, columns id, parent, .*>", repr(table))
    assert table._repr_html_().count("<tr>") == 5
    assert "documents" in repr(planted.tables)


def test_a_library_that_is_missing_is_said(planted, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(tables, "import_module", missing)
    with pytest.raises(ResourceError, match="polars") as refused:
        planted.tables.topics.to_polars()
    assert refused.value.hint == "Run pip install polars."
