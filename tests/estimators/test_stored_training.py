"""Categorisers that learn from documents in files."""

import numpy as np
import pytest
import scipy.sparse as sp

from topiarist import HPLC, PLC, Tree
from topiarist.errors import InputError, ResourceError
from topiarist.estimators.category import stored_training
from topiarist.scale import BlockStore, InProcess

TREE = Tree.from_paths([["a", "a0"], ["a", "a1"], ["b", "b0"], ["b", "b1"]])
NAMES = np.array(["a0", "a1", "b0", "b1"])
GROUPS = np.arange(240) % 4
COUNTS = sp.csr_matrix(np.random.default_rng(0).poisson(0.2 + (np.arange(60) % 4 == GROUPS[:, None])).astype(float))
LABELS = np.where(np.arange(240) % 3 == 0, NAMES[GROUPS], "-1")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("blocks") / "s", COUNTS, block_size=50, dtype="float64")


@pytest.mark.parametrize("kind", [lambda **o: HPLC(TREE, **o), PLC])
def test_files_teach_what_counts_in_memory_teach(store, kind):
    stored, whole = (kind(random_state=0).fit(X, LABELS) for X in (store, COUNTS))
    np.testing.assert_array_equal(stored.word_given_topic_, whole.word_given_topic_)
    np.testing.assert_array_equal(stored.predict_proba(store), whole.predict_proba(COUNTS))
    assert stored.n_features_in_ == 60


def test_a_matrix_of_several_labels_is_read_from_files_too(store):
    several = np.stack([n == GROUPS for n in range(4)], axis=1).astype(int)
    several[::5, 0] = 1
    stored, whole = (PLC(random_state=0).fit(X, several) for X in (store, COUNTS))
    np.testing.assert_array_equal(stored.word_given_topic_, whole.word_given_topic_)


def test_all_labels_teach_and_a_sample_of_the_other_documents(store, monkeypatch):
    monkeypatch.setattr(stored_training, "MOST_UNLABELLED", 20)
    read = []
    monkeypatch.setattr(
        BlockStore, "rows", lambda self, chosen, real=BlockStore.rows: read.append(chosen) or real(self, chosen)
    )
    model = HPLC(TREE, random_state=0).fit(store, LABELS)
    (chosen,) = read
    assert len(chosen) == 80 + 20
    assert set(np.flatnonzero(LABELS != "-1")) <= set(chosen.tolist())
    same = HPLC(TREE, random_state=0).fit(COUNTS[chosen], LABELS[chosen])
    np.testing.assert_array_equal(model.word_given_topic_, same.word_given_topic_)


def test_what_does_not_fit_is_refused_before_it_is_read(store):
    with pytest.raises(ResourceError, match="learning from 240 documents takes about"):
        PLC(executor=InProcess(memory=10_000)).fit(store, LABELS)
    with pytest.raises(InputError, match="without a label"):
        PLC().fit(store, np.full(240, "-1"))
    with pytest.raises(ValueError, match="inconsistent"):
        PLC().fit(store, LABELS[:7])
