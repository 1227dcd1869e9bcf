"""What version 0.1.0 wrote opens, answers as it did then, and can be changed."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.estimators.zoo import counts, points
from topiarist import Collection, load_model
from topiarist.collection.find.index import SearchIndex
from topiarist.scale import BlockStore

WRITTEN = Path(__file__).parents[1] / "fixtures" / "version-0.1.0.zip"
with zipfile.ZipFile(WRITTEN) as _packed:
    ANSWERS = json.loads(_packed.read("answers.json"))
MODELS = sorted(set(ANSWERS) - {"index", "store", "collection"})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    with zipfile.ZipFile(WRITTEN) as packed:
        packed.extractall(folder)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_models_answer_as_they_did(written, name):
    model, asked = load_model(written / "models" / name, check=True), ANSWERS[name]
    new = points()[:40] if name in ("GGM", "MixtureHierarchy") else counts(5, 40)
    if getattr(model, "n_features_in_", 0) > new.shape[1]:
        new = csr_array((new.data, new.indices, new.indptr), shape=(new.shape[0], model.n_features_in_))
    said = getattr(model, asked["question"])(new)
    said = said[0] if isinstance(said, tuple) else said
    said = said.toarray() if hasattr(said, "toarray") else np.asarray(said)
    wanted = np.asarray(asked["answer"])
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(said[:5], wanted, rtol=1e-6, atol=1e-9)
    else:
        assert said[:5].tolist() == wanted.tolist()


def test_the_index_finds_what_it_found(written):
    hits = SearchIndex.open(written / "index").search(counts(5, 40)[[0]], 5).hits
    assert [hit.number for hit in hits] == [number for number, _ in ANSWERS["index"]]
    np.testing.assert_allclose([hit.score for hit in hits], [score for _, score in ANSWERS["index"]], rtol=1e-6)


def test_the_blocks_hold_the_same_counts(written):
    store = BlockStore.open(written / "blocks")
    assert sum(block.counts().sum() for block in store.blocks()) == ANSWERS["store"]


def test_the_collection_is_seen_over_time_by_group_and_as_tables(written):
    """Asked before the collection is changed: nothing is written for it."""
    from topiarist.collection import Figures, document_map, groupings

    with Collection.open(written / "collection") as collection:
        spread = collection.over_time()
        known = spread.periods
        assert known.documents.sum() + known.undated + known.coarse + known.outside == len(collection)
        for column in groupings(Figures(collection)):
            assert collection.by_group(column).documents
        assert len(collection.tables.documents) == len(collection)
        assert len(collection.tables.topics) == len(collection.outline.tree)
        assert len(document_map(Figures(collection)).to_bytes()) == 5 * len(collection)
        assert "documents" in collection._repr_html_()


def test_the_collection_is_as_it_was_and_can_be_changed(written):
    asked = ANSWERS["collection"]
    with Collection.open(written / "collection") as collection:
        assert list(collection.outline.tree.names) == asked["names"]
        assert len(collection) == asked["documents"]
        assert [hit.id for hit in collection.search("field", 5, by="words")] == asked["words"]
        assert [hit.id for hit in collection.search("dark matter", 5, by="meaning")] == asked["meaning"]
        assert collection.categories is not None
        collection.shape(["rename 'A name by hand' Another"])
        assert "Another" in collection.outline.tree.names
        collection.undo()
        assert list(collection.outline.tree.names) == asked["names"]
