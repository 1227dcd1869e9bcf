"""Files without anything usable, of every kind: a problem in words, never an exception or words of Python."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tests.text.readers.makers import reasons
from tests.text.readers.office_makers import ods, xls, xlsx
from topiarist.errors import InputError
from topiarist.text.parsers import Limits
from topiarist.text.parsers.worker import _answer_safely
from topiarist.text.readers import read
from topiarist.text.readers.kinds import KINDS
from topiarist.text.readers.lines import UnbufferedStream

OF_PYTHON = re.compile(
    r"NoneType|__\w+__|\barg\b|argument|object has|not subscriptable|iterable|Error\b|Traceback|\bint\("
)


def parquet_bytes(table):
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


ROW_WITHOUT_COLUMNS = {
    ".csv": b'""\n""\n', ".tsv": b'""\n""\n', ".json": b"[{}]", ".jsonl": b"{}\n{}\n", ".ndjson": b"{}",
    ".xml": b"<rows><row/></rows>", ".xlsx": xlsx({"One": [[""], [""]]}), ".xlsm": xlsx({"One": []}),
    ".xls": xls([[""], [""]]), ".ods": ods("One", [[""], [""]]),
    ".parquet": parquet_bytes(pyarrow.table({"n": [1]}).select([])),
}  # fmt: skip
CASES = {
    "empty": lambda suffix: b"",
    "byte": lambda suffix: b"\x80",
    "braces": lambda suffix: b"{}",
    "row": lambda suffix: ROW_WITHOUT_COLUMNS.get(suffix, b"\n"),
}


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "folder"])
@pytest.mark.parametrize("case", CASES)
def test_unusable_files_become_problems(tmp_path, case, is_named):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "good.txt").write_text("a text that is read")
    for suffix in KINDS:
        (folder / f"bad{suffix}").write_bytes(CASES[case](suffix))
    sources = sorted(map(str, folder.iterdir())) if is_named else folder
    reading = read(sources, limits=Limits(workers=1))
    documents = list(reading)
    assert any(document.text == "a text that is read" for document in documents)
    told = {Path(re.sub(r"(:\d+|/One.*)$", "", problem.source)).name for problem in reading.problems}
    left = {f"bad{suffix}" for suffix in KINDS} - {Path(document.source).name for document in documents}
    assert left <= told
    assert not [reason for reason in reasons(reading) if OF_PYTHON.search(reason)]


FAULTS = (
    TypeError("__init__() missing 1 required positional argument"),
    ValueError("chr() arg not in range(0x110000)"),
    AttributeError("'NoneType' object has no attribute 'text'"),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("suffix", KINDS)
def test_reader_exceptions_become_problems(tmp_path, monkeypatch, suffix, fault):
    def broken(file, setting):
        raise fault
        yield

    monkeypatch.setitem(KINDS, suffix, replace(KINDS[suffix], read=broken, parser=""))
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"x")
    for source in (path, tmp_path):
        with pytest.raises(InputError, match="could not be read"):
            list(read(source))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_parser_exceptions_become_problems(fault):
    def work(limits):
        raise fault

    assert _answer_safely(work, Limits()) == ({"failed": "could not be parsed: it is not as it should be"}, b"")


@pytest.mark.parametrize("data", ["{}", '{}\n{"text": ""}', "[{}]"])
def test_first_row_without_columns_not_usable(tmp_path, data):
    for suffix in (".json", ".jsonl"):
        (tmp_path / f"x{suffix}").write_text(data)
        with pytest.raises(InputError, match="no usable text"):
            list(read(tmp_path / f"x{suffix}"))


def test_rows_after_rows_without_columns_read(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("{}\n" * 1_500 + '{"text": "the first text"}\n')
    reading = read(path)
    assert [document.text for document in reading] == ["the first text"]
    assert reading.counts.empty == 1_500
    live = read("-", stdin=UnbufferedStream(io.BytesIO(b'{}\n{"text": "comes later"}\n')))
    assert [document.text for document in live] == ["comes later"]
    assert [problem.reason for problem in live.problems] == ["the row has no columns"]


def test_columns_without_text_reported(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"a": 1, "b": null}]')
    with pytest.raises(InputError, match=r"no column of .* holds text; it has the columns a, b"):
        read(path)


def test_too_long_number_reported(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"n": {"1" * 5_000}}}\n{json.dumps({"text": "a text"})}\n')
    reading = read(path)
    assert len(list(reading)) == 1
    assert reasons(reading) == ["x.jsonl:1: not JSON that can be read: a number is too long"]
