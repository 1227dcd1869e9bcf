"""Documents that lie farther than those before: told as certain as seldom as promised where nothing has changed."""

import numpy as np
import pytest

from topiarist.collection.trends.newer import MIN_DOCUMENTS_WITH_VECTORS, measure_distance_shift

RUNS = 300


@pytest.mark.parametrize(("before", "since"), [(100, 2_000), (300, 2_000), (1_000, 2_000), (1_000, 100)])
def test_no_drift_is_told_where_there_is_none(before, since):
    rng = np.random.default_rng(before + since)
    told = [measure_distance_shift(rng.normal(size=before), rng.normal(size=since)).certain for _ in range(RUNS)]
    assert np.mean(told) <= 0.08


def test_drift_is_found():
    rng = np.random.default_rng(0)
    told = [measure_distance_shift(rng.normal(size=300), rng.normal(-0.7, size=1_000)).certain for _ in range(50)]
    assert np.mean(told) >= 0.95


def test_of_too_few_before_nothing_is_said():
    rng = np.random.default_rng(0)
    assert measure_distance_shift(rng.normal(size=MIN_DOCUMENTS_WITH_VECTORS - 1), rng.normal(size=100)) is None
    told = measure_distance_shift(rng.normal(size=MIN_DOCUMENTS_WITH_VECTORS), rng.normal(size=50), 7)
    assert (told.documents, told.known, told.unfitted) == (50, MIN_DOCUMENTS_WITH_VECTORS, 7)
