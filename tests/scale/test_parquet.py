"""Stores from Parquet: the same words, counts and bytes as any other way, and errors that say what to do."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet

from topiarist import Corpus
from topiarist.counts import CountSettings, PhraseSettings
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.scale import BlockStore
from topiarist.scale import parquet as making
from topiarist.text.readers import Columns, read
from topiarist.text.readers.addresses import expand, survey

WORDS = ("tree", "trees", "hedge", "garden", "leaf", "root", "branch", "art", "shape", "in", "the")
SETTINGS = CountSettings(min_documents=2, stem="en", stop_words=("the",))


def table(rows, seed=0, **more):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(rows)]  # some are empty
    ids = [f"{seed}-{row}" for row in range(rows)]
    return pa.table({"id": ids, "title": ["A tree" * (row % 2) for row in range(rows)], "text": texts, **more})


@pytest.fixture
def parts(tmp_path):
    """Three files with 40, 15 and 33 rows in row groups of 10."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for part, rows in enumerate((40, 15, 33)):
        parquet.write_table(table(rows, part), folder / f"part-{part}.parquet", row_group_size=10)
    return folder


def contents(store):
    return {
        str(path.relative_to(store.folder)): path.read_bytes()
        for path in sorted(store.folder.rglob("*"))
        if path.is_file()
    }


def counts_of(store):
    return sp.vstack([block.counts() for block in store.blocks()], format="csr")


def test_words_counts_and_ids_are_those_of_a_corpus(parts, tmp_path):
    store = BlockStore.from_parquet(parts, tmp_path / "store", SETTINGS, block_size=16)
    corpus = Corpus.from_documents(read(sorted(parts.iterdir())), SETTINGS)
    assert store.vocabulary == corpus.vocabulary
    assert list(store.ids()) == list(corpus.ids)
    assert (counts_of(store) != corpus.counts).nnz == 0
    assert BlockStore.open(store.folder) == store  # checksums and all
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["parts", "store"]


@pytest.mark.parametrize(
    "how", [str, lambda parts: f"{parts}/*.parquet", lambda parts: f"file://{parts}/part-?.parquet"]
)
def test_folders_patterns_and_addresses_are_the_same_files(parts, tmp_path, how):
    store = BlockStore.from_parquet(how(parts), tmp_path / "one", SETTINGS, block_size=16)
    again = BlockStore.from_parquet(sorted(parts.iterdir()), tmp_path / "two", SETTINGS, block_size=16)
    assert contents(store) == contents(again)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ids_that_come_again_get_numbers_wherever_they_are(tmp_path, n_jobs):
    folder = tmp_path / "parts"
    folder.mkdir()
    for part, ids in enumerate((["a", "b", "a", "c", "d", "e"], ["b", "a", "f", "b", "g"], ["h", "a"])):
        texts = [f"tree garden {number}" for number in ids]
        parquet.write_table(pa.table({"id": ids, "text": texts}), folder / f"{part}.parquet", row_group_size=3)
    store = BlockStore.from_parquet(folder, tmp_path / "store", CountSettings(), block_size=3, n_jobs=n_jobs)
    ids = list(store.ids())
    assert ids == ["a", "b", "a#2", "c", "d", "e", "b#2", "a#3", "f", "b#3", "g", "h", "a#4"]
    assert ids == list(Corpus.from_documents(read(sorted(folder.iterdir())), CountSettings()).ids)


def test_any_number_of_processes_writes_the_same_bytes(parts, tmp_path):
    one = BlockStore.from_parquet(parts, tmp_path / "one", SETTINGS, block_size=16)
    two = BlockStore.from_parquet(parts, tmp_path / "two", SETTINGS, block_size=16, n_jobs=2)
    assert contents(one) == contents(two)


def test_an_address_of_another_file_system(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for part in range(2):
        with system.open(f"/topiarist/part-{part}.parquet", "wb") as file:
            parquet.write_table(table(20, part), file)
        parquet.write_table(table(20, part), tmp_path / f"part-{part}.parquet")
    try:
        far = BlockStore.from_parquet("memory://topiarist/*.parquet", tmp_path / "far", SETTINGS)
        folder = BlockStore.from_parquet("memory://topiarist", tmp_path / "folder", SETTINGS)
        near = BlockStore.from_parquet(f"{tmp_path}/*.parquet", tmp_path / "near", SETTINGS)
        assert contents(far) == contents(near) == contents(folder)
        with pytest.raises(UsageError, match="no such file or folder: memory://topiarist/other"):
            BlockStore.from_parquet("memory://topiarist/other", tmp_path / "x")
        with pytest.raises(UsageError, match="no file matches memory://nothing"):
            BlockStore.from_parquet("memory://nothing/*.parquet", tmp_path / "x")
    finally:
        system.rm("/topiarist", recursive=True)


def test_small_files_share_a_block_and_large_row_groups_are_cut(parts, tmp_path):
    surveyed = [part for path in expand(parts) for part in survey((path, path), Columns(text="text"))]
    partitions = making.plan(surveyed, 25)
    rows = [[(os.path.basename(part.address)[5], part.first, part.rows) for part in run] for run in partitions]
    assert rows == [
        [("0", 0, (10, 10))],
        [("0", 2, (10, 10))],
        [("1", 0, (10, 5)), ("2", 0, (10,))],
        [("2", 1, (10, 10, 3))],
    ]
    store = BlockStore.from_parquet(parts, tmp_path / "store", SETTINGS, block_size=4)
    assert max(block.documents for block in store.manifest.blocks) == 4
    corpus = Corpus.from_documents(read(sorted(parts.iterdir())), SETTINGS)
    assert (counts_of(store) != corpus.counts).nnz == 0


def test_columns_are_chosen_as_the_reader_chooses_them(tmp_path):
    long = ["a text that is long enough to be taken for one"] * 3
    parquet.write_table(
        pa.table({"key": ["a", "b", "c"], "heading": ["one", "", "two"], "said": long}), tmp_path / "t.parquet"
    )
    settings = CountSettings(min_documents=1)
    chosen = BlockStore.from_parquet(tmp_path / "t.parquet", tmp_path / "1", settings, text=None)
    assert "two" not in chosen.vocabulary
    assert list(chosen.ids()) == ["t.parquet:1", "t.parquet:2", "t.parquet:3"]
    told = BlockStore.from_parquet(
        tmp_path / "t.parquet", tmp_path / "2", settings, text=Columns(text="said", title="heading"), id="key"
    )
    assert list(told.ids()) == ["a", "b", "c"]
    assert "two" in told.vocabulary
    plain = BlockStore.from_parquet(
        tmp_path / "t.parquet",
        tmp_path / "3",
        replace(settings, titles=False),
        text=Columns(text="said", title="heading"),
    )
    assert "two" not in plain.vocabulary


def test_files_of_one_name_have_ids_of_their_own(tmp_path):
    for part in "ab":
        (tmp_path / part).mkdir()
        parquet.write_table(pa.table({"text": ["tree hedge"]}), tmp_path / part / "x.parquet")
    store = BlockStore.from_parquet(
        [tmp_path / "a" / "x.parquet", tmp_path / "b"], tmp_path / "store", CountSettings(min_documents=1)
    )
    assert list(store.ids()) == [f"{tmp_path}/a/x.parquet:1", f"{tmp_path}/b/x.parquet:1"]


def test_what_cannot_be_read_is_named_and_leaves_nothing(parts, tmp_path):
    def refused(error, match, addresses=parts, **options):
        with pytest.raises(error, match=match):
            BlockStore.from_parquet(addresses, tmp_path / "x", SETTINGS, **options)
        assert [path.name for path in tmp_path.iterdir()] == ["parts"]

    (parts / "notes.txt").write_text("not a table")
    refused(UsageError, r"no column body in .*part-0\.parquet; it has: id, title, text\n  Try: text='", text="body")
    refused(UsageError, "no column key", id="key")
    refused(UsageError, "no such file or folder: nowhere.parquet", "nowhere.parquet")
    refused(UsageError, r"no file matches nowhere/\*", "nowhere/*.parquet")
    refused(UsageError, "no address was given", [])
    refused(UsageError, "an address is empty", "")
    refused(InputError, r"notes\.txt is not Parquet, or not whole", parts / "notes.txt")
    refused(UsageError, "block_size must be at least 1", block_size=0)
    refused(UsageError, "Protocol not known: nosuch", "nosuch://bucket/x.parquet")
    with pytest.raises(UsageError, match="phrases need all texts in memory"):
        BlockStore.from_parquet(parts, tmp_path / "x", CountSettings(phrases=PhraseSettings()))
    with pytest.raises(UsageError, match="exists already"):
        BlockStore.from_parquet(parts, parts, SETTINGS)


def test_a_file_system_without_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ResourceError, match=r"s3:// cannot be read here: .*s3fs"):
        BlockStore.from_parquet("s3://bucket/x.parquet", tmp_path / "x")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ResourceError, match="reading from s3:// needs the package fsspec"):
        BlockStore.from_parquet("s3://bucket/x.parquet", tmp_path / "x")


def test_no_documents(tmp_path):
    for name, texts in (("rows", []), ("texts", ["", "  ", None])):
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(pa.table({"text": pa.array(texts, pa.string())}), path)
        with pytest.raises(InputError, match="no documents to write"):
            BlockStore.from_parquet(path, tmp_path / "x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no Parquet file in"):
        BlockStore.from_parquet(tmp_path / "empty", tmp_path / "x")


def test_objects_instead_of_texts_are_refused(tmp_path):
    parquet.write_table(pa.table({"text": [{"a": 1}, {"a": 2}]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet, row 1: expected text in text, found an object"):
        BlockStore.from_parquet(tmp_path / "t.parquet", tmp_path / "x")


def test_damage_inside_a_file_is_an_error(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(table(2000), path, compression="zstd")
    whole = bytearray(path.read_bytes())
    whole[2000:4000] = bytes(2000)
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"t\.parquet cannot be read after row"):
        BlockStore.from_parquet(path, tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize("rows", [15, 14, 25])
def test_files_that_change_between_the_readings_are_noticed(parts, tmp_path, monkeypatch, rows):
    merged = making.vocabulary_of_summary

    def meanwhile(*arguments):
        parquet.write_table(table(rows, 9), parts / "part-1.parquet", row_group_size=10)
        return merged(*arguments)

    monkeypatch.setattr(making, "vocabulary_of_summary", meanwhile)
    with pytest.raises(InputError, match=r"part-1\.parquet has changed|came at the first reading"):
        BlockStore.from_parquet(parts, tmp_path / "x", SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_block_that_is_written_twice_is_there_once(parts, tmp_path, monkeypatch):
    """A task whose worker was thought dead may end after the one that replaced it."""
    once = making.count

    def twice(*arguments):
        assert once(*arguments) == once(*arguments)
        (tmp_path / "unfinished").mkdir()
        os.rename(tmp_path / "unfinished", os.path.join(arguments[1], f".block-{arguments[0].first}-unfinished"))
        return once(*arguments)

    plain = BlockStore.from_parquet(parts, tmp_path / "one", SETTINGS, block_size=16)
    monkeypatch.setattr(making, "count", twice)
    store = BlockStore.from_parquet(parts, tmp_path / "two", SETTINGS, block_size=16)
    assert contents(store) == contents(plain)
    assert not list(store.folder.glob(".*"))
