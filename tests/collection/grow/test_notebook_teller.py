"""What a notebook's card says is done."""

import pytest

from topiarist.cards import LiveCard
from topiarist.collection.grow import notebook_teller
from topiarist.collection.grow.notebook_teller import told_in_notebook


def test_a_phase_that_an_error_has_stopped_is_not_said_to_be_done(monkeypatch):
    monkeypatch.setattr(notebook_teller, "in_notebook", lambda: True)
    monkeypatch.setattr(LiveCard, "_display", lambda self, html: None)

    def grow(fails):
        with told_in_notebook(None) as teller:
            cards.append(teller.card)
            teller.phase("Reading")
            teller.phase("Growing")
            if fails:
                raise ValueError("no memory")

    cards = []
    grow(fails=False)
    with pytest.raises(ValueError, match="no memory"):
        grow(fails=True)
    assert [[one.text for one in card.done] for card in cards] == [["Reading", "Growing"], ["Reading"]]
