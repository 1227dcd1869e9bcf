"""Tests of block stores: round trips and damaged files."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from topiarist import Corpus
from topiarist.counts import CountSettings, PhraseSettings
from topiarist.errors import InputError, UsageError
from topiarist.execution import BlockStore
from topiarist.kernels.shard import Shard
from topiarist.storage.sealed_folder import FileEntry
from topiarist.text.documents import Document

WORDS = ("tree", "hedge", "garden", "leaf", "root", "branch", "art", "shape")


def random_counts(n_docs=50, n_words=12, seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.7, (n_docs, n_words))
    dense[[0, n_docs // 2]] = 0  # documents without words
    dense[:, 3] = 0  # an absent word
    return sp.csr_matrix(dense)


def documents(number=30):
    rng = np.random.default_rng(1)
    return [
        Document(f"d{place}", " ".join(rng.choice(WORDS, rng.integers(0, 9))), title="A tree" * (place % 2))
        for place in range(number)
    ]


@pytest.fixture
def store(tmp_path):
    return BlockStore.write(tmp_path / "store", random_counts(), block_size=16)


@pytest.mark.parametrize("block_size", [1, 7, 50, 1000, None])
def test_store_returns_written_counts(tmp_path, block_size):
    counts = random_counts()
    chunks = [counts[:3], counts[3:3], counts[3:20], counts[20:]]
    store = BlockStore.write(tmp_path / "s", chunks, block_size=block_size)
    assert (store.shape, len(store), store.nnz) == (counts.shape, 50, counts.nnz)
    assert store.n_tokens == counts.sum()
    assert store.n_filled == np.count_nonzero(np.diff(counts.indptr))
    assert store.largest == counts.data.max()
    blocks = store.blocks()
    sizes = [3, 17, 30] if block_size is None else [min(block_size, 50 - at) for at in range(0, 50, block_size)]
    assert [block.shape[0] for block in blocks] == sizes
    matrix = sp.vstack([block.counts() for block in blocks])
    assert (matrix != counts).nnz == 0
    np.testing.assert_array_equal(sum(block.word_totals() for block in blocks), np.asarray(counts.sum(axis=0)).ravel())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_loaded_block_equals_shard_of_rows(store, dtype):
    start = 0
    for block in store.blocks(dtype):
        rows = random_counts()[start : start + block.shape[0]].astype(dtype)
        for array, expected in zip(_arrays(block.load()), _arrays(Shard.from_matrix(rows, dtype)), strict=True):
            np.testing.assert_array_equal(array, expected)
            assert type(array) is np.ndarray
            assert array.dtype == expected.dtype or array.dtype.kind == expected.dtype.kind == "i"
        assert block.nbytes >= sum(part.nbytes for part in _arrays(block.load())) * 0.9
        start += block.shape[0]


def _arrays(shard):
    return (shard.rows.indptr, shard.rows.indices, shard.rows.data, *vars(shard.words).values())


def test_changed_array_leaves_file_unchanged(store):
    block = store.blocks()[0]
    block.load().rows.data[:] = 99
    assert block.load().rows.data.max() < 99


def test_store_accepts_block_of_empty_documents(tmp_path):
    store = BlockStore.write(tmp_path / "s", [sp.csr_matrix((3, 4)), sp.csr_matrix(np.eye(4))], block_size=None)
    assert store.blocks()[0].load().shape == (3, 4)
    assert store.n_filled == 4


def test_write_accepts_dense_matrix(tmp_path):
    assert BlockStore.write(tmp_path / "s", np.eye(3)).shape == (3, 3)


def test_sample_keeps_document_order(store):
    counts = random_counts()
    assert (store.sample(100) != counts).nnz == 0
    rows = store.sample(20, seed=1)
    assert rows.shape == (20, 12)
    remaining = iter([tuple(row) for row in counts.toarray()])
    assert all(tuple(row) in remaining for row in rows.toarray())  # a subsequence


def test_from_documents_counts_like_corpus(tmp_path):
    settings = CountSettings(min_documents=2, stem="en")
    corpus = Corpus.from_documents(documents(), settings)
    store = BlockStore.from_documents(documents(), tmp_path / "s", settings, block_size=8)
    assert len(store.blocks()) == 4
    assert store.vocabulary == corpus.vocabulary
    assert list(store.ids()) == list(corpus.ids)
    assert (sp.vstack([block.counts() for block in store.blocks()]) != corpus.counts).nnz == 0


def test_from_documents_reads_parquet_parts(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from topiarist.text.readers import read

    texts = [document.text or "nothing" for document in documents(20)]
    for part in range(2):
        parquet.write_table(pa.table({"text": texts[part::2]}), tmp_path / f"part-{part}.parquet")
    reading = read([tmp_path / "part-0.parquet", tmp_path / "part-1.parquet"])
    store = BlockStore.from_documents(reading, tmp_path / "s", CountSettings(min_documents=1), block_size=6)
    corpus = Corpus.from_documents(reading, CountSettings(min_documents=1))
    assert store.shape == corpus.counts.shape
    assert (sp.vstack([block.counts() for block in store.blocks()]) != corpus.counts).nnz == 0


def test_from_documents_accepts_generators_and_phrases(tmp_path):
    settings = CountSettings(min_documents=2, phrases=PhraseSettings(min_count=2))
    corpus = Corpus.from_documents(documents(), settings)
    store = BlockStore.from_documents(iter(documents()), tmp_path / "s", settings, block_size=8)
    assert store.vocabulary == corpus.vocabulary
    assert (sp.vstack([block.counts() for block in store.blocks()]) != corpus.counts).nnz == 0


def test_write_rejects_invalid_counts_without_traces(tmp_path, store):
    with pytest.raises(UsageError, match="exists already"):
        BlockStore.write(store.folder, random_counts())
    with pytest.raises(InputError, match=r"one number of columns \(words\), got \[4, 12\]"):
        BlockStore.write(tmp_path / "x", [random_counts(), np.eye(4)])
    with pytest.raises(InputError, match=r"expected counts with 12 columns"):
        BlockStore.write(tmp_path / "x", [random_counts(), np.eye(4)], block_size=None)
    with pytest.raises(InputError, match="no documents to write"):
        BlockStore.write(tmp_path / "x", [])
    with pytest.raises(InputError, match="Negative values"):
        BlockStore.write(tmp_path / "x", -random_counts())
    with pytest.raises(InputError, match="up to 16,777,216 exactly"):
        BlockStore.write(tmp_path / "x", np.full((2, 2), 2.0**25))
    with pytest.raises(UsageError, match="dtype must be"):
        BlockStore.write(tmp_path / "x", random_counts(), dtype="int8")
    with pytest.raises(UsageError, match="block_size must be at least 1"):
        BlockStore.write(tmp_path / "x", random_counts(), block_size=0)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert BlockStore.write(tmp_path / "x", np.full((2, 2), 2.0**25), dtype="float64").largest == 2.0**25


def test_store_reopens_unchanged(store):
    reopened = BlockStore.open(store.folder)
    assert reopened == store
    assert reopened.blocks() == store.blocks()
    assert reopened.vocabulary is None


def test_open_rejects_other_folder(tmp_path):
    with pytest.raises(InputError, match=r"is not a folder of blocks: manifest\.json cannot be read"):
        BlockStore.open(tmp_path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[: len(text) // 2], "is damaged"),
        (lambda text: "[]", "is damaged"),
        (lambda text: text.replace('"documents": 16', '"documents": 17', 1), "does not match its own checksum"),
        (lambda text: text.replace("topiarist-blocks", "other-blocks"), "is not a manifest of a folder of blocks"),
        (lambda text: text.replace('"version": 1', '"version": 9'), "has version 9 of the format"),
    ],
)
def test_open_reports_damaged_manifest(store, spoil, message):
    path = store.folder / "manifest.json"
    path.write_text(spoil(path.read_text()))
    with pytest.raises(InputError, match=message):
        BlockStore.open(store.folder)


@pytest.mark.parametrize("name", ["../../etc", ".."])
def test_manifest_rejects_names_outside_folder(store, name):
    first, *others = store.manifest.blocks
    replace(store.manifest, blocks=(replace(first, name=name), *others)).write(store.folder)
    with pytest.raises(InputError, match="is damaged"):
        BlockStore.open(store.folder)


def test_open_reports_damaged_files(store):
    path = store.folder / "block-000001" / "indices.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"\x7f")
    with pytest.raises(InputError, match=r"indices\.npy has changed since it was written"):
        BlockStore.open(store.folder)
    BlockStore.open(store.folder, check=False)  # only sizes are looked at
    path.write_bytes(content[:-4])
    with pytest.raises(InputError, match=rf"has {len(content) - 4:,} bytes, {len(content):,} were written"):
        BlockStore.open(store.folder, check=False)
    with pytest.raises(InputError, match="is not an array that can be read"):
        store.blocks()[1].load()
    path.unlink()
    with pytest.raises(InputError, match=r"indices\.npy cannot be read: No such file"):
        BlockStore.open(store.folder, check=False)
    with pytest.raises(InputError, match="does not exist"):
        store.blocks()[1].load()


@pytest.mark.parametrize(
    ("part", "spoil"),
    [
        ("indices", lambda array: array + 12),
        ("indices", lambda array: array.astype(np.int64)),
        ("indptr", lambda array: array[::-1].copy()),
        ("data", lambda array: -array),
        ("data", lambda array: array * np.float32(np.nan)),
        ("places", lambda array: array + np.uint16(16)),
        ("tile_starts", lambda array: array + 1),
        ("word_ends", lambda array: array[:, 1:].copy()),
        ("word_data", lambda array: array[:-1].copy()),
    ],
)
def test_open_rejects_invalid_arrays_with_valid_checksum(store, part, spoil):
    path = store.folder / "block-000001" / f"{part}.npy"
    np.save(path, spoil(np.load(path)))
    blocks = list(store.manifest.blocks)
    blocks[1] = replace(blocks[1], files={**blocks[1].files, path.name: vars(FileEntry.of(path))})
    replace(store.manifest, blocks=tuple(blocks)).write(store.folder)
    with pytest.raises(InputError, match="block-000001 holds arrays that are not counts"):
        BlockStore.open(store.folder)


def test_manifest_is_plain_json(store):
    body = json.loads((store.folder / "manifest.json").read_text())
    assert body["format"] == "topiarist-blocks"
    assert [block["documents"] for block in body["blocks"]] == [16, 16, 16, 2]
