"""Arrays in safetensors files: the library reads what we write, and nothing that is damaged is opened."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_array

from topiarist.errors import DamagedError, UsageError
from topiarist.storage import tensors
from topiarist.storage.tensors import TYPES, map_tensors, write_tensors

ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array([True, False, True]),
    "c": np.float32([[1.5]]),
    "d": np.arange(5, dtype=np.int32),
    "e": np.zeros((0, 7)),
    "f": np.array(3.0),
    "g": np.uint8([1, 2, 3]),
    "h": np.int64([-1]),
}

names = st.text(max_size=8).filter(lambda name: name != "__metadata__")
arrays = st.sampled_from(list(TYPES.values())).flatmap(
    lambda dtype: stn.arrays(dtype, stn.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


def same(one, other):
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert one.tobytes() == other.tobytes()


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(names, arrays, max_size=6), st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=5))
)
def test_safetensors_reads_written_tensors(tmp_path_factory, given_arrays, metadata):
    path = tmp_path_factory.mktemp("t") / "x.safetensors"
    write_tensors(path, given_arrays, metadata)
    mapped, loaded = map_tensors(path), load_file(path)
    assert mapped.keys() == loaded.keys() == given_arrays.keys()
    for name, array in given_arrays.items():
        same(mapped[name], array)
        same(mapped[name], loaded[name])
        assert mapped[name].flags.c_contiguous
        assert mapped[name].flags.aligned
        assert mapped[name].flags.writeable
    with safe_open(path, framework="numpy") as file:
        assert (file.metadata() or {}) == (metadata or {})


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(names, arrays, max_size=6))
def test_map_tensors_reads_safetensors_files(tmp_path_factory, given_arrays):
    path = tmp_path_factory.mktemp("t") / "x.safetensors"
    save_file(given_arrays, path)
    for name, array in map_tensors(path).items():
        same(array, given_arrays[name])


def test_write_tensors_in_any_memory_order(tmp_path):
    table = np.arange(12.0).reshape(3, 4)
    write_tensors(tmp_path / "x", {"f": np.asfortranarray(table), "s": table[:, ::2], "b": table.astype(">f4")})
    found = map_tensors(tmp_path / "x")
    np.testing.assert_array_equal(found["f"], table)
    np.testing.assert_array_equal(found["s"], table[:, ::2])
    same(found["b"], table.astype(np.float32))


def test_write_tensors_deterministic(tmp_path):
    write_tensors(tmp_path / "x", ARRAYS, {"one": "1", "two": "2"})
    write_tensors(tmp_path / "y", dict(reversed(ARRAYS.items())), {"two": "2", "one": "1"})
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_mapped_tensors_private(tmp_path):
    write_tensors(tmp_path / "x", ARRAYS)
    map_tensors(tmp_path / "x")["a"][:] = 7
    np.testing.assert_array_equal(map_tensors(tmp_path / "x")["a"], ARRAYS["a"])


def test_misaligned_tensors_copied(tmp_path):
    """Another program may pad its header as it likes."""
    header = json.dumps({"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}}).encode()
    header += b" " * (3 - len(header) % 8)
    (tmp_path / "x").write_bytes(len(header).to_bytes(8, "little") + header + np.float64([1, 2]).tobytes())
    array = map_tensors(tmp_path / "x")["a"]
    assert array.flags.aligned
    np.testing.assert_array_equal(array, [1, 2])


MEMORY = """
import sys, numpy as np
from topiarist.storage.tensors import map_tensors

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

before = resident()
arrays = map_tensors(sys.argv[1])
print(resident() - before)
kept = arrays["a"]
while not isinstance(kept, np.memmap):
    kept = kept.base
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="tells memory by /proc")
def test_map_tensors_takes_no_memory(tmp_path):
    write_tensors(tmp_path / "x", {"a": np.ones((25 << 10, 1 << 10))})  # 200 MB
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "x")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 10


def test_write_tensors_rejects_unsupported_types(tmp_path):
    for name, array in {"a": np.array(["text"]), "b": np.array([None]), "__metadata__": np.ones(2)}.items():
        with pytest.raises(UsageError, match="cannot write an array"):
            write_tensors(tmp_path / "x", {name: array})
    assert list(tmp_path.iterdir()) == []


def whole(tmp_path):
    write_tensors(tmp_path / "x", ARRAYS)
    return (tmp_path / "x").read_bytes()


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="not a file of arrays") as caught:
        map_tensors(path)
    assert caught.value.exit_code == 4


def test_map_tensors_rejects_wrong_file_sizes(tmp_path):
    content = whole(tmp_path)
    for size in (*range(0, len(content), 13), len(content) - 1):
        refused(tmp_path / "y", content[:size])
    refused(tmp_path / "y", content + b"\0")


def test_map_tensors_rejects_random_bytes(tmp_path):
    rng = np.random.default_rng(0)
    for size in (1, 8, 9, 100, 10_000):
        refused(tmp_path / "y", rng.bytes(size))
    with pytest.raises(DamagedError):
        map_tensors(tmp_path / "nowhere")
    with pytest.raises(DamagedError):
        map_tensors(tmp_path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [2**31], "data_offsets": [0, 2**34]},
        {"dtype": "F64", "shape": [0, 2**62], "data_offsets": [0, 0]},
        {"dtype": "F64", "shape": [0] * 100, "data_offsets": [0, 0]},
        {"dtype": "F64", "shape": [3], "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [-2], "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]},
        {"dtype": "F64", "shape": [2], "data_offsets": [16, 0]},
        {"dtype": "BF16", "shape": [8], "data_offsets": [0, 16]},
        {"dtype": "O", "shape": [2], "data_offsets": [0, 16]},
        {"dtype": "BOOL", "shape": [16], "data_offsets": [0, 16]},
        {"shape": [2], "data_offsets": [0, 16]},
        [],
    ],
    ids=str,
)
def test_map_tensors_rejects_wrong_headers(tmp_path, entry):
    header = json.dumps({"a": entry}).encode()
    refused(tmp_path / "x", len(header).to_bytes(8, "little") + header + b"\xff" * 16)


@pytest.mark.parametrize(
    ("shape", "ends"),
    [([1], [-16, -8]), ([2], [8, 24]), ([1], [0, 16]), ([3], [0, 16]), ([2], [0, 17])],
)
def test_map_array_rejects_missing_bytes(tmp_path, shape, ends):
    (path := tmp_path / "x").write_bytes(bytes(8 + 16))
    assert tensors._map_array(path, 8, 16, {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}).tolist() == [0, 0]
    with pytest.raises(ValueError, match=rf"in bytes {ends[0]} to {ends[1]} of 16"):
        tensors._map_array(path, 8, 16, {"dtype": "F64", "shape": shape, "data_offsets": ends})


def test_sparse_matrix_shares_mapped_tensors(tmp_path):
    """SciPy copies arrays that are less than half of what they are a part of."""
    matrix = csr_array(np.random.default_rng(0).poisson(0.5, (50, 20)).astype(np.float32))
    write_tensors(tmp_path / "x", {name: getattr(matrix, name) for name in ("data", "indices", "indptr")})
    arrays = map_tensors(tmp_path / "x")
    mapped = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=matrix.shape)
    assert np.shares_memory(mapped.data, arrays["data"])
    assert np.shares_memory(mapped.indices, arrays["indices"])
    np.testing.assert_array_equal(mapped.toarray(), matrix.toarray())


def test_map_tensors_rejects_deep_headers(tmp_path):
    header = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    refused(tmp_path / "x", len(header).to_bytes(8, "little") + header)
