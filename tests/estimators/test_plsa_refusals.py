"""What PLSA refuses, and how it says so."""

import numpy as np
import pytest

from tests.oracles import textbook
from topiarist import PLSA
from topiarist.errors import InputError, ResourceError, UsageError


@pytest.fixture(scope="module")
def data():
    return textbook.planted(np.random.default_rng(0), 200, 50, 4, length=80)[0]


def test_holding_out_too_much_is_refused():
    with pytest.raises(InputError, match="came without the held-out tokens"):
        PLSA(3, heldout_fraction=0.9, random_state=0).fit(np.eye(3))
    with pytest.raises(InputError, match="leaves no held-out token of a word that the rest holds"):
        PLSA(1, heldout_fraction=0.1, random_state=0).fit(np.eye(30))


def test_counts_too_large_for_the_precision(data):
    with pytest.raises(InputError, match="in single precision a count may be 1e"):
        PLSA(2, dtype="float32").fit(data * 1e9)
    large = PLSA(4, random_state=0).fit(data * 1e9)
    np.testing.assert_allclose(large.components_.sum(axis=1), 1)
    with pytest.raises(InputError, match="too large to be a count"):
        PLSA(2).fit(data * 1e30)


def test_a_wrong_executor_is_named(data):
    with pytest.raises(UsageError, match="executor must be None or an object with a method total"):
        PLSA(2, executor="dask").fit(data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_components": 2.5}, "n_components must be a whole number of at least 1, got 2.5"),
        ({"inverse_temperature": 0}, "inverse_temperature must be a number between 0.01 and 1, got 0"),
        (
            {"inverse_temperature": "cold"},
            "inverse_temperature must be a number between 0.01 and 1, got 'cold'",
        ),
        ({"word_smoothing": -1}, "word_smoothing must be a number of at least 0, got -1"),
        (
            {"component_smoothing": float("nan")},
            "component_smoothing must be a number of at least 0, got nan",
        ),
        ({"heldout_fraction": 1.5}, "heldout_fraction must be a number between 0.001 and 0.9, got 1.5"),
        ({"n_threads": 0}, "n_threads must be a whole number of at least 1, got 0"),
        ({"dtype": "int8"}, "dtype must be 'float32', 'float64' or None, got 'int8'"),
        ({"device": "tpu"}, "device must be one of 'cpu', 'cuda'; got 'tpu'"),
    ],
)
def test_wrong_options_say_what_was_expected(data, options, message):
    with pytest.raises(UsageError) as caught:
        PLSA(**{"n_components": 2, **options}).fit(data)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: x * np.nan, "contains NaN"),
        (lambda x: np.where(x > 3, np.inf, x), "contains infinity"),
        (lambda x: x - 1, "Negative values in data"),
        (lambda x: x.astype(str), "cannot be used as counts"),
        (lambda x: x[0], "cannot be used as counts"),
        (lambda x: x[:3], "n_components=4 needs at least as many documents with words; 3 came (n_samples=3)"),
        (
            lambda x: x * 0,
            "n_components=4 needs at least as many documents with words; 0 came (n_samples=200)",
        ),
    ],
)
def test_what_is_not_counts_is_refused(data, spoil, message):
    with pytest.raises(InputError) as caught:
        PLSA(4).fit(spoil(data.astype(float)))
    assert message in caught.value.message
    assert caught.value.hint


def test_a_device_that_is_not_there(monkeypatch):
    monkeypatch.setattr("numba.cuda.is_available", lambda: False)
    with pytest.raises(ResourceError, match="device='cuda' needs an NVIDIA GPU"):
        PLSA(2, device="cuda").fit(np.eye(3))
