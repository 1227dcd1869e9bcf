"""Fixed random draws for reviews, shared by tests of the command line and of the explorer."""

import itertools

import pytest


@pytest.fixture(autouse=True)
def fixed_draws(monkeypatch):
    """Draw the same orders in every run, because the bounds of a review hold with a confidence only."""
    draws = itertools.count(18)
    monkeypatch.setattr("topiarist.collection.review.review.new_lot", lambda: next(draws))
