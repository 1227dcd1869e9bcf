"""Collections that are grown from blocks in files: the same as in memory, within an allowance and on a cluster."""

import json
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file
from scipy.sparse import csr_array

from tests.grown import NoteCollector, documents
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.grow import block_growth
from topiarist.collection.grow.block_growth import SCRATCH, BlockGrowth
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.search.index import search_index
from topiarist.counts import scratch, workers
from topiarist.counts.validation import check_counts
from topiarist.errors import ResourceError, UsageError
from topiarist.estimators.tree import growth_data
from topiarist.execution.dask import Cluster, _name_task

N_DOCS = 160
RECIPE = Recipe(topics=3, headings=False, vectors="none")  # word vectors of short texts need memory
RECIPES = [RECIPE, replace(RECIPE, model="hplsa")]


def grow(folder, recipe=RECIPE, **options):
    Collection.grow(documents()[:N_DOCS], folder, recipe, **options).close()
    return arrays(folder)


def arrays(folder):
    """All that was learned: of the tree, and of where documents are."""
    (generation,) = folder.glob("g-*")
    parts = ("tree-1/model/model.safetensors", "shares-1/arrays.safetensors")
    found = {part: load_file(generation / part) for part in parts}
    return {f"{part}: {name}": array for part, known in found.items() for name, array in known.items()}


def index_files(folder):
    """Both indexes of a collection, byte by byte; segments by their order, because their names are chance."""
    (generation,) = folder.glob("g-*")
    search = generation / "search-1"
    names = json.loads((search / "index" / "manifest.json").read_text())["segments"]
    found = {}
    for path in sorted(path for path in search.rglob("*") if path.is_file() and path.suffix in (".npy", ".txt")):
        told = str(path.relative_to(search))
        for number, name in enumerate(names):
            told = told.replace(name, f"segment-{number}")
        found[told] = path.read_bytes()
    assert {path.name for path in (search / "index").glob("segment-*")} == set(names)
    return len(names), found


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.fixture(scope="module")
def client():
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster

    from tests.execution.clusters import QUIET

    with LocalCluster(processes=False, n_workers=2, **QUIET) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("recipe", RECIPES)
def test_documents_of_one_block_give_the_collection_that_grows_in_memory(tmp_path, recipe):
    assert_same(grow(tmp_path / "memory", recipe), grow(tmp_path / "files", recipe, memory=200_000_000))
    assert not list((tmp_path / "files").rglob(f"{SCRATCH}*"))
    assert check_folder(tmp_path / "files") == []


def test_of_copies_one_is_in_the_blocks(tmp_path):
    """Of each kind one document grows the tree, wherever the counts are; the others lie where it does."""
    some = documents()[:N_DOCS]
    again = [*some, *(replace(one, id=f"{one.id} again") for one in some[3:40:7])]
    grown = []
    for name, how in (("memory", {}), ("files", {"memory": 200_000_000})):
        with Collection.grow(again, tmp_path / name, RECIPE, **how) as collection:
            assert len(collection.copies) == 6
        grown.append(arrays(tmp_path / name))
    assert_same(*grown)


@pytest.mark.parametrize("rows", [None, [0, 3, 4, 9], [8, 9], [2]])
def test_the_blocks_of_some_documents(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(scratch, "ROWS_PER_RUN", 4)
    monkeypatch.setattr(block_growth, "SMALLEST_BLOCK", 3)
    counts = csr_array(np.random.default_rng(0).poisson(1.0, (10, 6)).astype(np.float32))
    with BlockGrowth(folder=tmp_path).blocks(counts, None if rows is None else np.array(rows)) as store:
        found = np.concatenate([block.counts().toarray() for block in store.blocks()])
    np.testing.assert_array_equal(found, counts.toarray()[slice(None) if rows is None else rows])


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_cluster_gives_the_collection_of_one_process(tmp_path, client, monkeypatch, recipe):
    monkeypatch.setattr(block_growth, "SMALLEST_BLOCK", 40)  # 4 blocks
    here = grow(tmp_path / "here", recipe, memory=200_000_000)
    there = grow(tmp_path / "there", recipe, client=client)
    assert_same(here, there)
    with Collection.open(tmp_path / "there") as collection:
        assert len(collection.outline.tree.leaves) == 3
        assert len(collection) == N_DOCS
    assert not list((tmp_path / "there").rglob(f"{SCRATCH}*"))


def test_a_cluster_counts_and_indexes_as_one_process_does(tmp_path, client, monkeypatch):
    monkeypatch.setattr(block_growth, "SMALLEST_BLOCK", 40)
    monkeypatch.setattr(search_index, "RUN", 50)  # documents of a segment: 4 of them
    monkeypatch.setattr(workers, "CHARACTERS_PER_SENT_CHUNK", 5_000)
    grow(tmp_path / "here", memory=200_000_000)
    named, sent = Counter(), Cluster._submit
    monkeypatch.setattr(
        Cluster, "_submit", lambda self, work, item: named.update([_name_task(work)]) or sent(self, work, item)
    )
    grow(tmp_path / "there", client=client)
    assert named["count_texts"] > 20  # texts, to be counted for topics and for the search
    assert named["index_run"] == 3  # the first run is written by this process
    (n_segments, here), (n_there, there) = index_files(tmp_path / "here"), index_files(tmp_path / "there")
    assert n_segments == n_there == 4
    assert here == there
    assert check_folder(tmp_path / "there") == []
    with Collection.open(tmp_path / "here") as one, Collection.open(tmp_path / "there") as other:
        for query in ("galaxy dark matter", "quantum field"):
            assert list(one.search(query).hits) == list(other.search(query).hits)


def test_two_grows_on_one_cluster_into_one_folder_do_not_meet(tmp_path, client, monkeypatch):
    """A grow has the same names of files as the one before: no worker may remember those."""
    monkeypatch.setattr(search_index, "RUN", 50)
    for start in (0, 100):
        some = documents()[start : start + N_DOCS]
        shutil.rmtree(tmp_path / "there", ignore_errors=True)
        for folder, how in ((tmp_path / f"here-{start}", {}), (tmp_path / "there", {"client": client})):
            Collection.grow(some, folder, RECIPE, **how).close()
        assert index_files(tmp_path / "there") == index_files(tmp_path / f"here-{start}")


def test_very_many_documents_grow_from_blocks_without_being_told_to(tmp_path, monkeypatch):
    monkeypatch.setattr(block_growth, "SMALLEST_BLOCK", 40)
    told = grow(tmp_path / "told", memory=200_000_000)
    few = grow(tmp_path / "few")
    monkeypatch.setattr(block_growth, "MAX_GROWTH_DOCUMENTS", N_DOCS - 1)
    assert_same(grow(tmp_path / "many"), told)
    assert any((array != told[name]).any() for name, array in few.items() if array.shape == told[name].shape)
    for recipe in (Recipe(model="ggm", topics=3), Recipe(topics=3, online=True)):
        assert BlockGrowth.for_many(recipe, None, 10**9) is None
    assert BlockGrowth.for_many(Recipe(model="hplsa"), None, 10**9) is not None
    assert BlockGrowth.for_many(RECIPE, np.ones((2, 2)), 10**9) is None


def test_an_allowance_that_is_too_small_is_told_and_the_grow_can_be_taken_up(tmp_path):
    folder = tmp_path / "small"
    with pytest.raises(ResourceError, match="a tree of 3 leaves takes"):
        grow(folder, memory=1_000_000)
    left = folder / "growing" / f"{SCRATCH}left"  # of a process that was killed
    left.mkdir()
    found = grow(folder, memory=200_000_000, resume=True)
    assert not left.exists()
    assert not list(folder.rglob(f"{SCRATCH}*"))
    assert_same(found, grow(tmp_path / "at-once", memory=200_000_000))


@pytest.mark.parametrize(
    ("recipe", "options", "message"),
    [
        (Recipe(growth="annealed"), {"memory": 10**9}, "without online, annealed or labelled growth"),
        (Recipe(model="ggm"), {"memory": 10**9}, "in blocks requires the model cam or hplsa"),
        (Recipe(online=True), {"memory": 10**9}, "without online, annealed or labelled growth"),
        (Recipe(), {"memory": 10**9, "vectors": np.ones((N_DOCS, 2))}, "vectors cannot be fitted in blocks"),
        (Recipe(), {"memory": 10**9, "client": object()}, "a limit of memory cannot be used with a cluster"),
    ],
)
def test_what_grows_in_memory_alone_is_refused_before_anything_is_read(tmp_path, recipe, options, message):
    with pytest.raises(UsageError, match=message):
        Collection.grow(documents()[:4], tmp_path / "none", recipe, **options)
    assert not (tmp_path / "none").exists()


def test_want_of_memory_is_told_in_words(tmp_path):
    collector = NoteCollector()
    options = GrowOptions(reporter=collector, blocks=BlockGrowth(memory=9_000_000))
    few = growth_data.estimate_growth_bytes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            growth_data, "estimate_growth_bytes", lambda store, leaves, dtype: few(store, 2, dtype) * leaves // 2
        )
        grow_collection(documents()[:60], tmp_path / "few", Recipe(headings=False), options).close()
    assert any("no more than" in one and "more memory may give more leaves" in one for one in collector.notes)


def test_where_it_grows_is_said(tmp_path):
    counts = check_counts(np.eye(5, dtype=np.float32))
    with BlockGrowth(memory=5_000_000, folder=tmp_path).blocks(counts) as store:
        assert BlockGrowth(memory=5_000_000).describe(store) == "1 block of documents, one after the other within 5 MB"
        assert BlockGrowth().describe(store) == "1 block of documents, one after the other"
