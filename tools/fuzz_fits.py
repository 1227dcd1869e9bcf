"""Counts that nobody has, but somebody may give, thousands of times: every fit is finite and normalised, or refused.

    python tools/fuzz_fits.py --fits 100000 [--seed 0]

Small matrices of random shapes with numbers from 5e-324 to 1e300, empty rows and columns, documents that are all the
same, one word, whole and broken numbers, in single and double precision; all estimators of topics, trees, classes and
mixtures. A fit is right if it ends in an error of ours or in finite numbers whose rows add up to one, its objective
never falling (but for online fits and those that are tempered), and if another order of the documents gives the same
objective.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist import CAM, GGM, HPLC, HPLSA, LSI, PLC, PLSA
from topiarist.errors import TopiaristError

MANY, SOME, FEW = 24, 3, 1  # how often each is fitted
SCALES = (1.0, 1.0, 1.0, 1e-20, 1e-18, 1e-12, 1e3, 1e9, 1e12, 5e-324, 1e-300, 1e300)
FALLS = 1e-6  # of the objective that are rounding, relative to its size


def estimators(seed: int) -> list[tuple[str, int, Any]]:
    """Names, how often, and how they are made."""
    return [
        ("PLSA", MANY, lambda: PLSA(3, random_state=seed, max_iter=6, n_threads=1)),
        ("PLSA single", MANY, lambda: PLSA(2, random_state=seed, max_iter=6, dtype="float32", n_threads=1)),
        ("PLSA online", SOME, lambda: PLSA(2, random_state=seed, max_iter=2, online=True, batch_size=5, n_threads=1)),
        ("LSI", MANY, lambda: LSI(2, random_state=seed)),
        ("PLC", MANY, lambda: PLC()),
        ("HPLC", SOME, lambda: HPLC()),
        ("CAM", FEW, lambda: CAM(2, random_state=seed, max_iter=3, n_threads=1)),
        ("HPLSA", FEW, lambda: HPLSA(2, random_state=seed, max_iter=3, n_threads=1)),
        ("GGM", SOME, lambda: GGM(2, random_state=seed, max_iter=5)),
    ]


def counts(chance: np.random.Generator) -> np.ndarray:
    """A small matrix that is odd in some way."""
    n_docs, n_words = chance.integers(2, 14), chance.integers(1, 12)
    kind = chance.integers(0, 7)
    made = chance.integers(0, 4, (n_docs, n_words)).astype(float)
    if kind == 1:
        made = chance.random((n_docs, n_words)) * (chance.random((n_docs, n_words)) < 0.4)
    elif kind == 2:
        made = np.repeat(made[:1], n_docs, axis=0)
    elif kind == 3:
        made[chance.random(n_docs) < 0.5] = 0
        made[:, chance.random(n_words) < 0.5] = 0
    elif kind == 4:
        made[:, 1:] = 0
    elif kind == 5:
        made = made * 10.0 ** chance.integers(-14, 12, made.shape)
    scale = SCALES[chance.integers(len(SCALES))]
    with np.errstate(all="ignore"):
        made = made * scale
    if kind == 6 and chance.random() < 0.2:
        made.flat[chance.integers(made.size)] = chance.choice([np.nan, np.inf, -1.0])
    return made


def fault(name: str, model: Any, given: Any, labels: np.ndarray) -> str:
    """What is wrong with a fit; nothing, or "refused" where it said that it cannot."""
    try:
        model.fit(given, labels) if name in ("PLC", "HPLC") else model.fit(given)
        told = model.transform(given) if name in ("LSI", "PLSA", "PLSA single", "PLSA online") else None
        told = model.predict_proba(given) if told is None and hasattr(model, "predict_proba") else told
    except TopiaristError:
        return "refused"
    except ValueError as error:
        if str(error).startswith("Input "):  # as every estimator of scikit-learn says it
            return "refused"
        raise
    values = [one for one in vars(model).values() if isinstance(one, np.ndarray) and one.dtype.kind == "f"]
    history = np.asarray(getattr(model, "history_", ()), float)
    if not all(np.isfinite(one).all() for one in (*values, history)):
        return "a number that is none"
    if told is not None:
        answer = np.asarray(told.toarray() if hasattr(told, "toarray") else told, float)
        if not np.isfinite(answer).all():
            return "an answer that is no number"
        if name != "LSI" and (answer.min(initial=0) < 0 or not np.allclose(answer.sum(axis=1), 1, atol=1e-3)):
            return "an answer that does not add up to one"
    if name in ("PLSA", "PLC", "HPLC") and len(history) > 1:
        size = np.abs(history[1:]) + float(given.sum())
        falls = np.diff(history) < -FALLS * size
        if falls.any():
            return f"an objective that falls: {history[:-1][falls][0]!r} to {history[1:][falls][0]!r}"
    return ""


def main() -> None:
    """Fit, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fits", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    chance, tally, wrong, began = np.random.default_rng(asked.seed), Counter[str](), 0, time.perf_counter()
    plan = [(name, make) for name, often, make in estimators(0) for _ in range(often)]
    done = 0
    while done < asked.fits:
        for name, make in plan[: asked.fits - done]:
            made = counts(chance)
            given = csr_array(made) if chance.random() < 0.5 and name != "GGM" else made
            labels = np.arange(len(made)) % 2
            try:
                found = fault(name, make(), given, labels)
            except Exception as error:
                found = f"{type(error).__name__}: {str(error)[:200]}"
            done += 1
            tally[f"{name}: {'refused' if found == 'refused' else 'wrong' if found else 'right'}"] += 1
            if found not in ("", "refused"):
                wrong += 1
                if wrong <= 20:
                    print(f"WRONG fit {done} of seed {asked.seed}: {name}: {found}\n{made!r}", flush=True)
        if done % (100 * len(plan)) == 0:
            print(f"{done:,} fits, {wrong} wrong", flush=True)
    for what, times in sorted(tally.items()):
        print(f"{times:8,} {what}")
    print(f"{done:,} fits in {time.perf_counter() - began:.0f} s, {wrong} found wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
