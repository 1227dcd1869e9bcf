"""Settings by which sources are read: kept as plain data, and overridden one by one."""

import json

import pytest

from topiarist.errors import InputError, UsageError
from topiarist.text.readers import Columns, ReadingSettings
from topiarist.text.readers.columns import TableColumns, choose_columns

EARLIER = TableColumns(text="what", id="no", title="", label="team", date="opened")


def test_reading_settings_round_trip():
    settings = ReadingSettings(Columns(id="no", title="", label_separator="|"), "channel/item", True)
    assert ReadingSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    with pytest.raises(InputError, match="expected the name of the id column, got 5"):
        ReadingSettings.from_dict({**settings.to_dict(), "columns": {"id": 5}})


def test_reading_settings_override():
    settings = ReadingSettings(Columns(id="no", title="", label_separator="|", preferred=(EARLIER,)), "item", None)
    changed = settings.override(ReadingSettings(Columns(title="name"), "", True))
    assert changed == ReadingSettings(
        Columns(id="no", title="name", label_separator="|", preferred=(EARLIER,)), "item", True
    )


def test_earlier_columns_preferred():
    names = ["text", "what", "team", "id"]
    columns = Columns(preferred=(EARLIER,))
    assert choose_columns(columns, names, {}, "t.csv") == TableColumns(
        text="what", id="id", title="", label="team", date=""
    )
    assert choose_columns(Columns(text="team", preferred=(EARLIER,)), names, {}, "t.csv").label == ""
    with pytest.raises(UsageError, match=r"no column no in .*, though it holds the id in the collection; it has: text"):
        choose_columns(Columns(id="no", preferred=(EARLIER,)), names, {}, "t.csv")
