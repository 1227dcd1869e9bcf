"""Which labelled documents are held out together."""

from types import SimpleNamespace

import numpy as np
import pytest

from topiarist.collection.judge import learner


@pytest.mark.parametrize("cut", [True, False])
def test_copies_and_pages_of_one_document_belong_together_through_each_other(monkeypatch, cut):
    ids = ["a#p1", "a#p2", "b#p1", "b#p2", "c#p1"]
    documents = SimpleNamespace(many=lambda rows, texts: [SimpleNamespace(id=ids[row]) for row in rows])
    copies = SimpleNamespace(rows=np.array([2]), originals=np.array([0]))  # the cover of b is that of a
    monkeypatch.setattr(learner, "is_cut", lambda collection: cut)
    monkeypatch.setattr(learner, "whole_id", lambda id: id.split("#")[0])
    found = learner._together(SimpleNamespace(copies=copies, documents=documents), np.arange(5))
    wanted = [[0, 1, 2, 3], [4]] if cut else [[0, 2], [1], [3], [4]]
    assert sorted(found) == wanted
