"""Rows to take away: what they say, that they come one at a time, and that files hold what was written."""

import csv
import io
import itertools
import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from tests.collection.placements import at, placements
from tests.planted import planted, planted_path  # noqa: F401
from topiarist.collection.describe import tables
from topiarist.collection.describe.export import make_table
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.text.characters import remove_controls
from topiarist.trees import Tree, exchange
from topiarist.trees.levels import deepest_certain, node_posterior

some = settings(max_examples=60, deadline=None)
TREE = Tree.from_paths(["all/news/home", "all/news/abroad", "all/sport"])


def placed():
    shares = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0, 0, 0], [0, 0, 1]])
    return DocumentAssignments(
        TREE, tuple(TREE.find(name) for name in ("home", "abroad", "sport")), shares, list("abcd")
    )


def in_csv(rows, **options):
    file = io.BytesIO()
    tables.write_table(rows, file, "csv", **options)
    return file.getvalue().decode()


def test_where_documents_are():
    found = list(
        tables.iter_document_rows(placed(), [("x", "y"), (), (), "z"], ({"title": f"T{row}"} for row in range(4)))
    )
    assert found[0] == {
        "id": "a", "title": "T0", "path": "all/news/home", "leaf": "home", "share": 0.7, "level": 2,
        "certain": "all/news/home", "labels": ["x", "y"],
        "topics": [
            {"path": "all/news/home", "share": 0.7}, {"path": "all/news/abroad", "share": 0.2},
            {"path": "all/sport", "share": 0.1},
        ],
    }  # fmt: skip
    assert (found[1]["leaf"], found[1]["level"], found[1]["certain"]) == ("abroad", 1, "all/news")  # a tie, by name
    assert (found[2]["leaf"], found[2]["share"], found[2]["level"], found[2]["topics"]) == ("all", 0, 0, [])
    assert (found[3]["labels"], found[3]["topics"]) == (["z"], [{"path": "all/sport", "share": 1.0}])
    assert [row["level"] for row in tables.iter_document_rows(placed(), rho=0.9)] == [0, 0, 0, 1]
    assert len(next(tables.iter_document_rows(placed(), n_topics=1))["topics"]) == 1
    assert next(tables.iter_document_rows(placed(), facts=[{"id": "other"}] * 4))["id"] == "a"
    assert tuple(next(tables.iter_document_rows(placed()))) == tables.DOCUMENT_FIELDS


@given(placements(), st.sampled_from([0.0, 0.5, 0.9]), st.sampled_from([1, 30, 1 << 22]))
@some
def test_documents_in_blocks_of_any_size(placed, rho, cells):
    nodes = node_posterior(placed.tree, placed.class_nodes, placed.shares.toarray())
    nodes[:, placed.tree.root] = 1
    sure = deepest_certain(placed.tree, nodes, rho)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_CELLS", cells)
        found = list(tables.iter_document_rows(placed, rho=rho))
    assert [row["id"] for row in found] == list(placed.ids)
    assert [row["level"] for row in found] == [placed.tree.depths[node] for node in sure]
    assert [row["leaf"] for row in found] == [placed.tree.names[home] for home in placed.assigned_nodes]


def test_topics_and_words():
    found = list(exchange.iter_rows(TREE, [["a"]] * 5, [9, 6, 4, 2, 3]))
    assert [row["name"] for row in found] == ["all", "news", "home", "abroad", "sport"]
    assert tuple(found[0]) == tables.TOPIC_FIELDS
    probabilities = np.array([[0.2, 0.5, 0.3], [0, 1, 0], [0.5, 0.5, 0], [0, 0, 1], [0.1, 0.2, 0.7]])
    words = list(tables.iter_word_rows(TREE, probabilities, ["x", "y", "z"], n_words=2))
    assert words[0] == {"topic": 0, "path": "all", "rank": 1, "word": "y", "probability": 0.5}
    assert [(row["topic"], row["word"]) for row in words[2:5]] == [(1, "y"), (2, "x"), (2, "y")]
    assert len(list(tables.iter_word_rows(TREE, probabilities, "xyz", n_words=None))) == 10
    with pytest.raises(InputError, match=r"of shape \(5, 2\), got \(5, 3\)"):
        next(tables.iter_word_rows(TREE, probabilities, "xy"))


def test_rows_come_when_they_are_asked_for():
    asked = []

    def facts():
        for row in itertools.count():
            asked.append(row)
            yield {"title": str(row)}

    rows = tables.iter_document_rows(at(TREE, [1] * 1000), facts=facts())
    next(rows)
    next(rows)
    assert asked == [0, 1]
    assert len(list(rows)) == 998
    with pytest.raises(InputError, match="labels of each of 1000 documents, got 2"):
        list(tables.iter_document_rows(at(TREE, [1] * 1000), [(), ()]))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠"])
def test_export_escapes_formulas(start):
    hostile = f"{start}HYPERLINK(1)"
    text = in_csv([{hostile: hostile, "list": [hostile, "b"], "n": -1, "x": -0.5, "deep": [{"path": hostile}]}])
    header, row = csv.reader(io.StringIO(text, newline=""))
    assert header[0] == row[0] == f"'{hostile}"
    assert row[1:4] == [f"'{hostile} | b", "-1", "-0.5"]
    assert row[4] == f"'{hostile}"
    assert tables.guard_formula("a=b") == "a=b"


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=2, max_size=2), min_size=1))
@some
def test_csv_holds_every_text(cells):
    text = in_csv([{"one": one, "two": two} for one, two in cells])
    found = list(csv.reader(io.StringIO(text, newline="")))
    assert found[0] == ["one", "two"]
    assert found[1:] == [[tables.guard_formula(remove_controls(cell)) for cell in row] for row in cells]


CONTROLS = [*map(chr, [*range(9), *range(11, 32), *range(127, 160)]), *"\u061c\u200e\u200f\u202a\u202e\u2066\u2069"]


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_exports_hold_no_control_characters(format, tmp_path):
    hostile = f"a{''.join(CONTROLS)}b\n\tc"
    row = {"id": hostile, hostile: "x", "labels": [hostile], "topics": [{"path": hostile, "share": 0.5}]}
    target = tmp_path / f"rows.{format}"
    tables.write_table([row], target)
    data = target.read_bytes() if format != "parquet" else repr(parquet.read_table(target).to_pylist()).encode()
    text = data.decode().replace("\r\n", "\n")
    assert not [control for control in CONTROLS if control in text or json.dumps(control)[1:-1] in text]
    assert "\u200d" in remove_controls("\u200d")  # joiners shape letters


@pytest.mark.parametrize("start", ["\x1b=", "\u202e=", "\x85＝", "\r=", " ="])
def test_formula_after_control_characters_escaped(start):
    assert tables.safe_cell(f"{start}HYPERLINK(1)").startswith("'")


def test_cells_that_are_not_texts():
    row = {"none": None, "nan": float("nan"), "third": 1 / 3, "topics": [{"path": "a/b", "share": 0.5}], "labels": []}
    assert in_csv([row]) == "none,nan,third,topics,labels\r\n,,0.333333,a/b 0.5,\r\n"
    assert in_csv([], fields=tables.WORD_FIELDS) == "topic,path,rank,word,probability\r\n"
    assert in_csv([{"a": "\ud800"}]) == "a\r\n?\r\n"
    with pytest.raises(InputError, match="got 'b' in a later row"):
        in_csv([{"a": 1}, {"b": 1}])
    assert in_csv([{"a": 1, "b": 2}, {"b": 3}]) == "a,b\r\n1,2\r\n,3\r\n"


def test_json_lines(tmp_path):
    target = tmp_path / "rows.jsonl"
    rows = [{"id": "=1", "x": float("inf"), "labels": ["ä"]}, {"id": "\ud800", "x": 0.5, "labels": []}]
    assert tables.write_table(rows, target) == 2
    assert [json.loads(line) for line in target.read_text("utf-8").splitlines()] == [rows[0] | {"x": None}, rows[1]]


@pytest.mark.parametrize("batch", [1, 3, 10_000])
def test_parquet(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(tables, "BATCH", batch)
    target = tmp_path / "rows.parquet"
    rows = list(tables.iter_document_rows(placed(), facts=[{"title": None, "year": n} for n in range(4)]))
    assert tables.write_table(iter(rows), target) == 4
    assert parquet.read_table(target).to_pylist() == rows
    assert tables.write_table(exchange.iter_rows(TREE), target) == 5
    assert parquet.read_table(target).to_pylist() == list(exchange.iter_rows(TREE))
    assert tables.write_table([], target, fields=tables.TOPIC_FIELDS) == 0
    assert parquet.read_table(target).column_names == list(tables.TOPIC_FIELDS)
    stream = io.BytesIO()
    tables.write_table(rows, stream, "parquet")
    assert parquet.read_table(io.BytesIO(stream.getvalue())).num_rows == 4


def test_parquet_values_that_do_not_fit(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(tables, "BATCH", 1)
    with pytest.raises(InputError, match="a value does not fit its column"):
        tables.write_table([{"a": 1}, {"a": "x"}], tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="got 'b' in a later row"):
        tables.write_table([{"a": 1}, {"b": "x"}], tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_there_when_it_is_complete(tmp_path):
    target = tmp_path / "rows.csv"
    target.write_text("old")

    def broken():
        yield {"a": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tables.write_table(broken(), target)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
    assert tables.write_table([{"a": 1}], str(target)) == 1
    assert target.read_text() == "a\n1\n"
    with pytest.raises(ResourceError, match="cannot write"):
        tables.write_table([{"a": 1}], tmp_path / "no" / "rows.csv")


def test_standard_output_stays_open(capfdbinary):
    assert tables.write_table([{"a": "ä"}], sys.stdout.buffer) == 1
    assert tables.write_table([{"a": "ä"}], sys.stdout.buffer, "jsonl") == 1
    assert capfdbinary.readouterr().out == 'a\r\nä\r\n{"a": "ä"}\n'.encode()


def test_wrong_use_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"ends in \.csv, \.jsonl, \.parquet, got rows\.xls"):
        tables.write_table([], "rows.xls")
    with pytest.raises(UsageError, match="one of csv, excel, jsonl, parquet, got 'xls'"):
        tables.write_table([], "rows.csv", "xls")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ResourceError, match=r"(?s)writing Parquet needs pyarrow.*topiarist\[parquet\]"):
        tables.write_table([{"a": 1}], tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["documents", "wholes", "topics", "words", "searches"])
def test_each_exported_column_is_explained(planted, kind):  # noqa: F811
    explained = {row["column"] for row in make_table(planted, "columns", n_words=5, texts=True, rho=0.5).rows
                 if row["table"] == kind}  # fmt: skip
    table = make_table(planted, kind, n_words=5, texts=True, rho=0.5)
    columns = {*table.fields, *next(iter(table.rows), {})}
    assert columns <= explained
    if kind == "documents":
        assert "desk" in columns
