"""An index in a folder: segments that are appended, damage and forgeries."""

import json
import os
import stat

import numpy as np
import pytest

from tests.collection.search.test_index import corpus_of
from topiarist import CAM, FisherKernel
from topiarist.collection.search.index import SearchIndex, index_folder
from topiarist.errors import InputError
from topiarist.storage.sealed_folder import FileEntry, digest
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


def test_append_segment_replaces_those_that_it_absorbs(index, tmp_path):
    kept = index.save(tmp_path / "index")
    stray, mine = kept.folder / f"segment-{'0' * 32}", kept.folder / "segment-notes"
    stray.mkdir()
    mine.mkdir()
    for number in (1, 40, 1):
        longer = kept.add([Document("new", "bank river judge")] * number)
        assert len(SearchIndex.open(kept.folder)) == len(kept)
        index_folder.append_segment(kept, longer)
        kept = SearchIndex.open(kept.folder)
        np.testing.assert_array_equal(kept.scores("bank"), longer.scores("bank"))
        assert not stray.exists()
        assert mine.exists()
        assert {path.name for path in kept.folder.glob("segment-?*")} == {*kept.location.segments, mine.name}
    assert len(kept) == 102
    assert len(kept.segments) == 2


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_folder_is_open_to_whom_other_files_are(index, tmp_path):
    before = os.umask(0o077)
    try:
        folder = index.save(tmp_path / "private").folder
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


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
        with pytest.raises(InputError, match=r"counts.npy has changed since it was written.*\n.*uild the index again"):
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
    with pytest.raises(InputError, match=r"is damaged.*\n.*uild the index again"):
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
