"""Tables of labels, as people have them."""

import json

import pytest

from topiarist.collection.classify.label_sources import read_labels
from topiarist.collection.describe.tables import guard_formula, safe_cell
from topiarist.errors import InputError, UsageError


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("a.csv", "id,label\n1,Öl;Gas\n1,Öl\n2,Öl", "utf-8"),
        ("a.csv", "id,label\n1,Öl|Gas\n2,Öl", "utf-8"),
        ("a.csv", "id,label\n1,Öl|Gas\n2,Öl", "utf-16"),
        ("a.csv", "path,id\nÖl;Gas,1\nÖl,2", "latin-1"),
        ("a.csv", "id;label\n1;Öl|Gas\n2;Öl", "utf-8-sig"),
        ("a.tsv", "id\tlabels\n1\tÖl; Gas\n2\tÖl", "utf-8"),
        ("a.jsonl", json.dumps({"id": 1, "labels": ["Öl", "Gas"]}) + '\n{"id": 2, "label": "Öl"}', "utf-8"),
        ("a.jsonl", '{"id": 1, "label": "Öl;Gas"}\n{"id": 2, "label": "Öl"}\n{"id": 3, "label": null}', "utf-8"),
    ],
)  # fmt: skip
def test_labels_are_read_from_any_table(tmp_path, name, text, encoding):
    (tmp_path / name).write_text(text, encoding)
    assert read_labels(str(tmp_path / name)) == {"1": ("Öl", "Gas"), "2": ("Öl",)}


def test_another_separator_is_the_only_one(tmp_path):
    (tmp_path / "a.csv").write_text("id,label\n1,a;b+c\n")
    assert read_labels(str(tmp_path / "a.csv"), "+") == {"1": ("a;b", "c")}
    assert read_labels(str(tmp_path / "a.csv"), "") == {"1": ("a;b+c",)}
    with pytest.raises(UsageError, match="there is no file"):
        read_labels(str(tmp_path / "none.csv"))


@pytest.mark.parametrize(("row", "place"), [("3,a,extra\n4,b", 4), ("4,b\n3,a,extra", 5)])
def test_read_labels_skips_unreadable_rows(tmp_path, row, place):
    (tmp_path / "a.csv").write_text(f"id,label\n1,a\n2,b\n{row}\n")
    failures = []
    labels = read_labels(str(tmp_path / "a.csv"), failures=failures)
    assert labels == {"1": ("a",), "2": ("b",), "4": ("b",)}
    assert [failure.place for failure in failures] == [place]
    with pytest.raises(InputError, match=f"line {place} of .* cannot be read"):
        read_labels(str(tmp_path / "a.csv"))


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\ta", "\ra", "\n=1"])
def test_all_tables_guard_the_same_cells(text):
    assert guard_formula(text) == f"'{text}"
    assert safe_cell(text) == f"'{text}".replace("\r", "\n")
