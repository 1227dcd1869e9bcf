"""How groups join: where their merges are drawn."""

from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_array

from topiarist.collection.describe.merges import Merges


def test_a_merge_is_never_drawn_before_its_parts():
    """Heights may fall from one merge to the next; then brackets would cross."""
    linkage = np.array([[0, 1, 4.0, 2], [4, 2, 1.0, 3], [5, 3, 2.0, 4]])
    model = SimpleNamespace(hierarchy_=SimpleNamespace(linkage_=linkage))
    figures = SimpleNamespace(collection=SimpleNamespace(model=model, shares=csr_array(np.ones((3, 4)))))
    merges = Merges(figures)
    for parts, x in zip(merges.parts, merges.scale, strict=True):
        assert all(merges.scale[part - merges.n_leaves] <= x for part in parts if part >= merges.n_leaves)
    rows = merges.rows(None)
    assert sorted(rows[leaf] for leaf in range(4)) == [0.5, 1.5, 2.5, 3.5]
