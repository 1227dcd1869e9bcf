"""Growth that was killed goes on from its last checkpoint to the same tree."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM, HPLSA


class KilledError(Exception):
    pass


class Diary:
    """Keeps every checkpoint; the process dies after some."""

    def __init__(self, lives=10**9):
        self.lives, self.kept, self.recalled = lives, None, 0

    def recall(self):
        self.recalled += self.kept is not None
        return self.kept

    def note(self, checkpoint):
        self.kept = checkpoint()
        self.lives -= 1
        if self.lives == 0:
            raise KilledError


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(1)
    words = np.repeat(np.arange(8), 60)[:, None] * 10 + rng.integers(10, size=(480, 15))
    rows = np.repeat(np.arange(480), 15)
    return csr_array((np.ones(480 * 15, int), (rows, words.ravel())), shape=(480, 80))


@pytest.mark.parametrize(("growth", "wanted"), [("guided", 4), ("annealed", 4), ("guided", None)])
@pytest.mark.parametrize("kind", [CAM, HPLSA])
def test_resumed_growth_yields_same_tree(kind, growth, wanted, counts):
    whole = kind(wanted, growth=growth, random_state=3).fit(counts)
    diary = Diary(lives=3)
    with pytest.raises(KilledError):
        kind(wanted, growth=growth, random_state=3).fit(counts, journal=diary)
    second = kind(wanted, growth=growth, random_state=3).fit(counts, journal=diary)
    assert diary.recalled == 1
    assert second.tree_ == whole.tree_
    np.testing.assert_array_equal(second.transform(counts), whole.transform(counts))
    np.testing.assert_array_equal(second.curve_.n_leaves, whole.curve_.n_leaves)
    np.testing.assert_array_equal(second.curve_.criterion, whole.curve_.criterion)
