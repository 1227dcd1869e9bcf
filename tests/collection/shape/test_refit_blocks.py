"""A collection of very many documents is fitted again block by block."""

import shutil

import numpy as np
from scipy.sparse import csr_array

from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.grow import block_growth
from topiarist.collection.grow.block_growth import SCRATCH
from topiarist.collection.shape import Merge, Pin, refit
from topiarist.collection.shape.refit import refit_counts
from topiarist.execution import BlockStore


def shaped(path):
    with Collection.open(path) as collection:
        one, other, third = collection.outline.class_topics[:3]
        ids = list(collection.documents.ids())[:3]
        collection.shape([Merge((one, other)), *(Pin((document,), third) for document in ids)])
        return collection.shares.toarray(), collection.tree_model.word_given_node


def test_blocks_give_the_tree_of_counts_in_memory(path, tmp_path, monkeypatch):
    again = tmp_path / "again.topiary"
    shutil.copytree(path, again)
    shares, words = shaped(path)
    monkeypatch.setattr(refit, "MAX_IN_MEMORY", 100)
    monkeypatch.setattr(block_growth, "choose_block_size", lambda n_docs, smallest: 200)  # 3 blocks
    same, same_words = shaped(again)
    np.testing.assert_allclose(same_words, words, rtol=1e-4, atol=1e-7)  # single precision, added in another order
    np.testing.assert_allclose(same, shares, atol=1e-3)
    assert not list(again.rglob(f"{SCRATCH}*"))
    assert check_folder(again) == []


def test_only_very_many_documents_are_in_files_and_copies_are_left_out(tmp_path, monkeypatch):
    counts = csr_array(np.arange(1.0, 21.0).reshape(10, 2))
    with refit_counts(counts, None, tmp_path) as few:
        assert few is counts
    rows = np.array([0, 2, 3, 9])
    with refit_counts(counts, rows, tmp_path) as few:
        np.testing.assert_array_equal(few.toarray(), counts.toarray()[rows])
    monkeypatch.setattr(refit, "MAX_IN_MEMORY", 3)
    monkeypatch.setattr(block_growth, "choose_block_size", lambda n_docs, smallest: 3)
    left = tmp_path / f"{SCRATCH}left"  # of a process that was killed
    left.mkdir()
    with refit_counts(counts, rows, tmp_path) as many:
        assert isinstance(many, BlockStore)
        assert [block.documents for block in many.manifest.blocks] == [3, 1]
        np.testing.assert_array_equal(many.rows(np.arange(4)).toarray(), counts.toarray()[rows])
    assert not list(tmp_path.iterdir())
