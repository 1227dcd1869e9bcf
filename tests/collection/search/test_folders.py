"""An index in a folder: two writers, killed writers, damage and forgeries."""

import json
import multiprocessing
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.collection.search.test_index import corpus_of
from topiarist import CAM, FisherKernel
from topiarist.collection.search.index import SearchIndex, index_folder
from topiarist.errors import InputError, UsageError
from topiarist.storage.sealed_folder import FileEntry, digest, lock_folder
from topiarist.text.documents import Document


@pytest.fixture(scope="module")
def corpus():
    return corpus_of(60)


@pytest.fixture(scope="module")
def kernel(corpus):
    return FisherKernel([*FisherKernel((1, 3), random_state=0).fit(corpus.counts).models_,
                         CAM(4, random_state=0).fit(corpus.counts)])  # fmt: skip


@pytest.fixture(scope="module")
def index(kernel, corpus):
    return SearchIndex.build(kernel, corpus)


def add_some(folder, names):
    """Add documents one by one, opening again whenever somebody else was faster; those that were said to be in."""
    done = []
    for name in names:
        while True:
            try:
                SearchIndex.open(folder, check=False, n_threads=1).add([Document(name, "bank river judge")])
            except UsageError:  # another process added to it
                continue
            done.append(name)
            break
    return done


def test_threads_that_add_lose_nothing(index, tmp_path):
    folder = index.save(tmp_path / "index").folder
    names = [[f"{worker}-{number}" for number in range(6)] for worker in range(3)]
    with ThreadPoolExecutor(3) as pool:
        done = [name for part in pool.map(lambda part: add_some(folder, part), names) for name in part]
    kept = SearchIndex.open(folder)
    assert len(kept) == 60 + len(done) == 78
    left = {path.name for path in folder.iterdir() if path.name.startswith("segment-")}
    assert left == set(kept.location.segments)


def test_processes_that_add_lose_nothing(index, tmp_path):
    folder = index.save(tmp_path / "index").folder
    names = [[f"{worker}-{number}" for number in range(3)] for worker in range(2)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        done = [name for part in pool.starmap(add_some, [(folder, part) for part in names]) for name in part]
    kept = SearchIndex.open(folder)
    assert len(kept) == 60 + len(done) == 66


def test_one_value_is_added_to_once(index, tmp_path):
    kept = index.save(tmp_path / "index")

    def add(name):
        try:
            return kept.add([Document(name, "bank")])
        except UsageError:
            return None

    with ThreadPoolExecutor(4) as pool:
        made = [one for one in pool.map(add, "abcd") if one is not None]
    assert len(made) == 1
    assert len(SearchIndex.open(kept.folder)) == len(made[0]) == 61


def test_another_index_at_the_same_place_is_not_added_to(index, kernel, corpus, tmp_path):
    kept = index.save(tmp_path / "index")
    os.rename(tmp_path / "index", tmp_path / "old")
    SearchIndex.build(kernel, corpus.subset(np.arange(10))).save(tmp_path / "index")
    with pytest.raises(UsageError, match="changed after"):
        kept.add([Document("new", "bank")])
    assert len(SearchIndex.open(tmp_path / "index")) == 10


def test_a_failed_addition_leaves_the_old_state(index, tmp_path, monkeypatch):
    kept = index.save(tmp_path / "kept")

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(index_folder, "write_manifest", fail)
    with pytest.raises(KeyboardInterrupt):
        kept.add([Document("new", "bank")])
    monkeypatch.undo()
    assert len(SearchIndex.open(tmp_path / "kept")) == 60
    assert len(list((tmp_path / "kept").glob("segment-*"))) == 1
    longer = kept.add([Document("new", "bank")])
    with pytest.raises(UsageError, match="changed after"):
        kept.add([Document("newer", "bank")])
    assert len(longer) == 61


def test_a_failure_after_the_manifest_leaves_the_new_state(index, tmp_path, monkeypatch):
    kept = index.save(tmp_path / "kept")
    whole = index_folder.write_manifest

    def fail(*given):
        whole(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(index_folder, "write_manifest", fail)
    with pytest.raises(KeyboardInterrupt):
        kept.add([Document("new", "bank")])
    assert len(SearchIndex.open(tmp_path / "kept")) == 61


def test_what_a_killed_writer_left_is_removed(index, tmp_path):
    kept = index.save(tmp_path / "kept")
    stray = kept.folder / f"segment-{'0' * 32}"
    stray.mkdir()
    (stray / "docs.npy").write_bytes(b"half")
    mine = kept.folder / "segment-notes"
    mine.mkdir()
    assert len(SearchIndex.open(kept.folder)) == 60
    kept.add([Document("new", "bank")])
    assert not stray.exists()
    assert mine.exists()


def test_names_are_on_the_disk_too(index, tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("topiarist.storage.sealed_folder.sync_folder", lambda path: synced.append(str(path)))
    kept = index.save(tmp_path / "kept")
    assert str(tmp_path) in synced
    assert any("segment-" in path for path in synced)
    synced.clear()
    kept.add([Document("new", "bank")])
    assert "segment-" in synced[0]
    assert synced[-1] == str(kept.folder)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_folder_is_open_to_whom_other_files_are(index, tmp_path):
    before = os.umask(0o077)
    try:
        folder = index.save(tmp_path / "private").folder
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_grows_while_it_is_opened_is_opened_again(index, tmp_path, monkeypatch):
    kept = index.save(tmp_path / "kept")
    look, grown = index_folder._read_index, []

    def slow(*given, **how):
        if not grown:
            grown.append(kept.add([Document(f"n{number}", "bank") for number in range(40)]))
        return look(*given, **how)

    monkeypatch.setattr(index_folder, "_read_index", slow)
    assert len(SearchIndex.open(kept.folder)) == 100


@pytest.mark.parametrize("fault", ["manifest", "checksum", "format", "version", "deep", "list"])
def test_open_reports_damaged_manifest(index, tmp_path, fault):
    folder = index.save(tmp_path / "index").folder
    manifest = folder / "manifest.json"
    body = json.loads(manifest.read_text())
    if fault in ("manifest", "deep", "list"):
        manifest.write_text({"manifest": "{", "deep": "[" * 100_000, "list": "[]"}[fault])
    elif fault == "checksum":
        manifest.write_text(json.dumps({**body, "normalise": None}))
    else:
        body.pop("sha256")
        body |= {"format": {"format": "other"}, "version": {"version": 99}}[fault]
        manifest.write_text(json.dumps({**body, "sha256": digest(body)}))
    message = {
        "format": "is not a manifest of the folder of an index",
        "version": "version 99",
        "checksum": "own checksum",
    }
    with pytest.raises(InputError, match=message.get(fault, "manifest.json is damaged")):
        SearchIndex.open(folder)
    with pytest.raises(InputError, match="is not the folder of an index"):
        SearchIndex.open(tmp_path)


@pytest.mark.parametrize("check", [True, False])
def test_a_changed_array_is_found_by_its_checksum(index, tmp_path, check):
    folder = index.save(tmp_path / "index").folder
    path = next(folder.glob("segment-*/counts.npy"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    if check:
        with pytest.raises(InputError, match=r"counts.npy has changed since it was written.*\n.*build the index again"):
            SearchIndex.open(folder)
    else:
        SearchIndex.open(folder, check=False)
    path.unlink()
    with pytest.raises(InputError, match=r"counts\.npy cannot be read"):
        SearchIndex.open(folder, check=check)


def forge(folder, change=None, **arrays):
    """Change the manifest or arrays of the first segment, with all checksums right."""
    manifest = folder / "manifest.json"
    body = json.loads(manifest.read_text())
    body.pop("sha256")
    if change is not None:
        change(body)
    for name, make in arrays.items():
        file = f"{body['segments'][0]}/{name.replace('_', '-')}.npy"
        np.save(folder / file, make(np.load(folder / file)))
        entry = FileEntry.of(folder / file)
        body["files"][file] = {"bytes": entry.bytes, "sha256": entry.sha256}
    manifest.write_text(json.dumps({**body, "sha256": digest(body)}))


def swapped(docs):
    """The first two documents of the first word, the other way round."""
    docs[[0, 1]] = docs[[1, 0]]
    return docs


ARRAYS = {
    "falling": {"docs": swapped},
    "twice": {"docs": lambda docs: np.where(np.arange(len(docs)) == 1, docs[0], docs).astype(np.int32)},
    "far": {"docs": lambda docs: docs + np.int32(1000)},
    "negative": {"docs": lambda docs: docs - np.int32(1)},
    "wide": {"docs": lambda docs: docs.astype(np.int64)},
    "ends": {"ends": lambda ends: ends[::-1].copy()},
    "short ends": {"ends": lambda ends: ends[:-1]},
    "counts": {"counts": lambda counts: counts.astype(np.float32)},
    "no counts": {"counts": lambda counts: np.where(np.arange(len(counts)) == 3, np.nan, counts)},
    "rows": {"rows_1": lambda rows: rows[:, :-1].copy()},
    "flat rows": {"rows_1": lambda rows: rows.ravel()},
    "other rows": {"rows_1": lambda rows: rows.astype(np.float32)},
    "lost rows": {"rows_1": lambda rows: np.full_like(rows, np.nan)},
    "scales": {"scales_0": lambda scales: scales[:5]},
    "lost scales": {"scales_0": lambda scales: -scales},
    "lengths": {"lengths": lambda lengths: np.full_like(lengths, np.inf)},
    "nodes": {"nodes": lambda nodes: nodes + np.int32(100)},
    "no nodes": {"nodes": lambda nodes: nodes[:0]},
    "real nodes": {"nodes": lambda nodes: nodes.astype(float)},
}


UNHARMFUL = ("no counts", "lost rows", "lost scales", "falling", "twice", "far", "negative")  # none leads out of memory


@pytest.mark.parametrize("fault", ARRAYS)
def test_arrays_that_do_not_fit_are_refused(index, tmp_path, fault):
    folder = index.save(tmp_path / "index").folder
    forge(folder, **ARRAYS[fault])
    with pytest.raises(InputError, match=r"is damaged.*\n.*build the index again"):
        SearchIndex.open(folder)
    if fault in UNHARMFUL:  # looked for if asked
        assert len(SearchIndex.open(folder, check=False).scores(np.ones(index.n_words))) == len(index)
        return
    with pytest.raises(InputError):
        SearchIndex.open(folder, check=False)


def one(key, value):
    return lambda body: body.update({key: value})


MANIFESTS = {
    "no segments": one("segments", []),
    "segments as text": one("segments", "segment"),
    "a segment twice": lambda body: body["segments"].append(body["segments"][0]),
    "a segment elsewhere": lambda body: body["segments"].append("../other"),
    "a segment of another name": lambda body: body["segments"].append("lens-0"),
    "a file elsewhere": lambda body: body["files"].update({"../x": {"bytes": 1, "sha256": ""}}),
    "a file anywhere": lambda body: body["files"].update({"/etc/passwd": {"bytes": 1, "sha256": ""}}),
    "a file in between": lambda body: body["files"].update({"a/../../x": {"bytes": 1, "sha256": ""}}),
    "files as list": one("files", []),
    "an array that is not listed": lambda body: body["files"].pop(f"{body['segments'][0]}/docs.npy"),
    "a model that is not listed": lambda body: body["files"].pop("lens-1/by_word.npy"),
    "no models": one("lenses", []),
    "fewer models": lambda body: body["lenses"].pop(),
    "models of numbers": one("lenses", [1, 2, 3]),
    "a model that reads no length": lambda body: body["lenses"][0].update(effective_length=-1.0),
    "a model without temperature": lambda body: body["lenses"][0].update(inverse_temperature=0.0),
    "a model that knows more": lambda body: body["lenses"][0].update(by_word=3),
    "normalise": one("normalise", "rows"),
    "dtype": one("dtype", "float16"),
    "parts": one("parts", [["levels"]] * 3),
    "fewer parts": one("parts", [["topical"]]),
    "no parts": one("parts", [[]] * 3),
    "settings": one("settings", {}),
    "topic words": one("topic_words", []),
    "class words": one("class_words", [[]] * 3),
    "no class words": lambda body: body.pop("class_words"),
    "no way of reading": lambda body: body["lenses"][0].pop("row_scores"),
    "words of numbers": lambda body: body["topic_words"][0].__setitem__(0, [1, 2]),
    "tree": lambda body: body["shape"].update(tree={}),
    "nodes of classes": lambda body: body["shape"].update(class_nodes=[99] * 4),
    "model of the tree": lambda body: body["shape"].update(model=7),
    "another model of the tree": lambda body: body["shape"].update(model=0),
    "rows": one("same_rows", [True]),
}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("fault", MANIFESTS)
def test_forged_manifests_are_refused(index, tmp_path, fault, check):
    folder = index.save(tmp_path / "index").folder
    forge(folder, MANIFESTS[fault])
    with pytest.raises(InputError, match=r"damaged|cannot be read"):
        SearchIndex.open(folder, check=check)


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_links_are_not_followed(index, tmp_path, what):
    folder = index.save(tmp_path / "index").folder
    path = next(folder.glob("segment-*")) if what == "folder" else next(folder.glob("segment-*/docs.npy"))
    os.rename(path, tmp_path / "outside")
    path.symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="a file called"):
        SearchIndex.open(folder)


def test_a_lock_does_not_wait_for_ever(index, tmp_path, monkeypatch):
    from topiarist.errors import ResourceError

    kept = index.save(tmp_path / "index")
    monkeypatch.setattr(index_folder, "LOCK_WAIT", 0.05)
    with lock_folder(kept.folder), pytest.raises(ResourceError, match="is being written by this process"):
        kept.add([Document("new", "bank")])
    assert len(kept.add([Document("new", "bank")])) == 61
