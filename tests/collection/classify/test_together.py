"""Which labelled documents are held out together."""

from types import SimpleNamespace

import numpy as np
import pytest

from topiarist.collection.classify import learning


@pytest.mark.parametrize("cut", [True, False])
def test_copies_and_pages_of_one_document_belong_together_through_each_other(monkeypatch, cut):
    ids = ["a#p1", "a#p2", "b#p1", "b#p2", "c#p1"]
    copies = SimpleNamespace(rows=np.array([2]), originals=np.array([0]))  # the cover of b is that of a
    parents = [id.split("#")[0] if cut else id for id in ids]
    monkeypatch.setattr(learning, "parent_ids", lambda collection, rows: [parents[row] for row in rows])
    found = learning.group_linked_documents(SimpleNamespace(copies=copies), np.arange(5))
    wanted = [[0, 1, 2, 3], [4]] if cut else [[0, 2], [1], [3], [4]]
    assert sorted(found) == wanted
