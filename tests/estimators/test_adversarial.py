"""Counts that nobody has, but somebody may give: every estimator is finite and normalised, or says that it cannot."""

import warnings

import numpy as np
import pytest

from topiarist import CAM, HPLC, HPLSA, LSI, PLC, PLSA
from topiarist.errors import TopiaristError

RNG = np.random.default_rng(0)
PLAIN = RNG.integers(0, 4, (24, 16)).astype(float)
PLAIN[:, 0] += 1
LABELS = np.arange(24) % 3
ESTIMATORS = {
    "PLSA": lambda: PLSA(3, random_state=0, max_iter=8),
    "PLSA online": lambda: PLSA(3, random_state=0, max_iter=2, online=True, batch_size=7),
    "PLSA single": lambda: PLSA(3, random_state=0, max_iter=8, dtype="float32"),
    "CAM": lambda: CAM(3, random_state=0, max_iter=4),
    "HPLSA": lambda: HPLSA(3, random_state=0, max_iter=4),
    "LSI": lambda: LSI(3, random_state=0),
    "PLC": PLC,
    "HPLC": HPLC,
}


def with_zeros(rows, columns):
    found = PLAIN.copy()
    found[rows], found[:, columns] = 0, 0
    return found


COUNTS = {
    "smallest": PLAIN * 5e-324,
    "tiny": PLAIN * 1e-300,
    "small": PLAIN * 1e-18,
    "smallest allowed": PLAIN * 1e-20,
    "large": PLAIN * 1e9,
    "too large": PLAIN * 1e300,
    "uneven": np.where(RNG.random(PLAIN.shape) < 0.1, PLAIN * 1e12, PLAIN * 1e-12),
    "one word": np.where(np.arange(16) == 3, 2.0, 0.0) * np.ones((24, 1)),
    "all the same": np.ones((24, 16)),
    "empty rows": with_zeros(slice(0, 20), slice(0, 0)),
    "empty columns": with_zeros(slice(0, 0), slice(2, 16)),
    "nothing": np.zeros((24, 16)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_finite_and_normalised_or_told(name):
    for what, counts in COUNTS.items():
        model = ESTIMATORS[name]()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(counts, LABELS) if name in ("PLC", "HPLC") else model.fit(counts)
                answer = model.transform(counts) if hasattr(model, "transform") else model.predict_proba(counts)
        except TopiaristError:
            continue
        for values in (answer, getattr(model, "components_", answer), getattr(model, "history_", answer)):
            assert np.isfinite(np.asarray(values, float)).all(), what
        if name != "LSI":
            assert np.asarray(answer).min() >= 0, what
            np.testing.assert_allclose(np.asarray(answer).sum(axis=1), 1, atol=1e-4, err_msg=what)
