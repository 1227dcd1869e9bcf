"""Vectors from files and mappings: each kind is read, and what cannot belong to the documents is refused."""

import gzip
import json

import numpy as np
import pytest

from topiarist.counts.embeddings.vector_sources import read_vectors, to_vector_source
from topiarist.errors import InputError
from topiarist.text.documents import Document

DOCUMENTS = [Document(str(number), "text") for number in (1, 2, 3)]
ROWS = np.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])
UNIT = [[0.6, 0.8], [0.0, 1.0], [1.0, 0.0]]


def write(path, kind):
    order = [2, 0, 1]
    ids, rows = [DOCUMENTS[n].id for n in order], ROWS[order]
    lines = "".join(json.dumps({"id": id, "vector": row.tolist()}) + "\n" for id, row in zip(ids, rows, strict=True))
    if kind == "npy":
        np.save(path, ROWS)
    elif kind == "npz":
        np.savez(path, ids=np.array(ids), vectors=rows)
    elif kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table({"id": ids, "embedding": rows.tolist()})
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines)


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "jsonl", "jsonl.gz"])
def test_each_kind_of_file_gives_the_same_directions(tmp_path, kind):
    path = tmp_path / f"vectors.{kind}"
    write(path, kind)
    source = read_vectors(path)
    found = np.concatenate([source.load(0, DOCUMENTS[:2]), source.load(2, DOCUMENTS[2:])])
    source.check(3)
    np.testing.assert_allclose(found, UNIT, rtol=1e-6)
    assert str(path) in source.describe()


def test_a_document_without_a_vector_has_zeros():
    source = to_vector_source({"1": [1.0, 0.0], "other": [0.0, 1.0]})
    np.testing.assert_array_equal(source.load(0, DOCUMENTS), [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    source.check(3)
    assert source.describe() == "from vectors, which has 1 more"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", "1 2", "vectors, got .txt"),
        ("a.jsonl", "", "is empty"),
        ("a.jsonl", '{"id": "1", "vector": [1, 2]}\n{"id": "1", "vector": [1, 3]}', "two vectors for the id '1'"),
        ("a.jsonl", '{"id": "1", "vector": [1, 2]}\n{"id": "2", "vector": [1]}', "another length"),
        ("a.jsonl", '{"id": "1", "numbers": [1, 2]}', "vector or vectors"),
        ("a.jsonl", "[1, 2]", "is not an object"),
        ("a.jsonl", "{", "cannot be read"),
        ("a.npy", "nothing", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=said):
        read_vectors(tmp_path / name)


def test_pickled_arrays_are_never_opened(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(tmp_path / "a.npy")


def test_numbers_must_agree():
    source = to_vector_source(ROWS)
    with pytest.raises(InputError, match="3 vectors, and there are 2 documents"):
        source.check(2)
    with pytest.raises(InputError, match="more than 3 documents"):
        source.load(2, DOCUMENTS[:2])
    nobody = to_vector_source({"x": [1.0, 2.0]})
    nobody.load(0, DOCUMENTS)
    with pytest.raises(InputError, match="one of the 1 ids"):
        nobody.check(3)
    with pytest.raises(InputError, match="there is no file"):
        read_vectors("nowhere.npy")
