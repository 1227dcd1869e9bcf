"""Gaussian mixtures: speed beside scikit-learn's, a batched study beside a loop, errors beside logistic regression."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import bars, gaussian_study, labelled
from benchmarks.findings import Findings, spread
from benchmarks.gaussian_study import LABELLED
from benchmarks.settings import Settings
from topiarist import GGM
from topiarist.execution.threads import Threads
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian import starts
from topiarist.models.gaussian.mixture import Options

SIZES = ((400, 5, 5), (2_000, 10, 8), (20_000, 10, 10), (20_000, 20, 10), (5_000, 50, 8), (4_000, 200, 5))
N_STEPS, N_STUDY, N_LOOP, N_DRAWS = 20, 1000, 200, 30
PAPER = {
    "start": "overall",
    "components": "shared",
    "shrinkage": 0.0,
    "from_all": False,
    "n_init": 2,
    "max_components": 8,
}


def main(settings: Settings) -> dict:
    """Measure all three."""
    found = Findings(
        "Speed: one fit of so many steps from the same start, full covariances, one thread each, best of"
        f" {settings.rounds} rounds in turn, processor time."
        f" Study: {N_STUDY} fits of K = 4 to 5-dimensional samples of 250 examples."
    )
    speed(found, settings)
    study(found, settings)
    if reason := labelled.missing("20newsgroups", "reuters21578"):
        found.say(f"Errors: {reason}.")
        return found.result()
    for collection in (gaussian_study.newsgroups(), gaussian_study.reuters()):
        errors(found, collection, 5 if settings.quick else N_DRAWS)
    return found.result()


def blobs(n: int, d: int, k: int, seed: int = 0) -> np.ndarray:
    """Overlapping Gaussians, so that EM has something to do."""
    rng = np.random.default_rng(seed)
    turn = np.eye(d) + 0.3 * rng.normal(size=(k, d, d)) / np.sqrt(d)
    which = rng.integers(0, k, n)
    return 1.2 * rng.normal(size=(k, d))[which] + np.einsum("nij,nj->ni", turn[which], rng.normal(size=(n, d)))


def speed(found: Findings, settings: Settings) -> None:
    """One fit beside scikit-learn's."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    table, least = [], np.inf
    for n, d, k in SIZES:
        points = blobs(n, d, k)
        sample = starts.Sample(points[None], np.full((1, n), -1), np.zeros((1, n), bool))
        sample = sample._replace(first=fitting.draw_halves(sample.classes[0], 0.5, np.random.default_rng(0))[None])
        weight = np.ones((1, n))
        options = Options(max_iter=N_STEPS, tol=-1.0)
        overall = starts.overall_covariance(sample.points, weight)
        start = starts.random_start(sample, weight, options, k, [np.random.default_rng(0)])
        precisions = np.linalg.inv(start.component_covariance[0])
        ours, theirs = np.inf, np.inf
        with threadpool_limits(1), Threads(1) as threads, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits = fitting.fit_many(
                fitting.split_examples(sample, weight, 0.5), start, options, threads, overall_covariance=overall
            )
            steps = int(fits.n_iter[0])  # fewer than asked for if the fit settles: then both take so many
            for _ in range(settings.rounds):
                begin = time.process_time()
                fitting.fit_many(
                    fitting.split_examples(sample, weight, 0.5), start, options, threads, overall_covariance=overall
                )
                ours = min(ours, (time.process_time() - begin) / steps)
                other = GaussianMixture(
                    k, tol=0.0, max_iter=steps, weights_init=start.component_prior[0],
                    means_init=start.component_mean[0], precisions_init=precisions, init_params="random",
                )  # fmt: skip
                begin = time.process_time()
                other.fit(points)
                theirs = min(theirs, (time.process_time() - begin) / other.n_iter_)
        least = min(least, theirs / ours)
        table.append([f"{n:,}", d, k, f"{steps} / {other.n_iter_}", *(f"{1e3 * s:.2f} ms" for s in (ours, theirs)),
                      f"{theirs / ours:.1f}"])  # fmt: skip
    head = ["examples", "dimensions", "K", "steps", "a step of ours", "of GaussianMixture", "ratio"]
    found.table(head, table)
    found.bar("least ratio to scikit-learn", least, bars.MIXTURE_SPEED, least=True, form=".2f")


def study(found: Findings, settings: Settings) -> None:
    """A thousand fits at once beside one after the other."""
    pool, truth = blobs(1280, 5, 3, 1), np.random.default_rng(1).integers(0, 3, 1280)
    rows, classes = gaussian_study.draws(truth, 50, N_STUDY)
    sample = gaussian_study.sample_of(pool, rows, classes)
    weight = fitting.compute_weights(classes, 0.5)
    options = Options(n_classes=3, max_iter=50)
    overall = starts.overall_covariance(sample.points, weight)
    rngs = [np.random.default_rng(fit) for fit in range(N_STUDY)]
    start = starts.random_start(sample, weight, options, 4, rngs)
    together = alone = np.inf
    every = range(0, N_STUDY, N_STUDY // N_LOOP)
    with threadpool_limits(1), Threads(1) as threads:
        for _ in range(settings.rounds):
            begin = time.process_time()
            fits = fitting.fit_many(
                fitting.split_examples(sample, weight, 0.5), start, options, threads, overall_covariance=overall
            )
            together = min(together, (time.process_time() - begin) / N_STUDY)
            begin = time.process_time()
            for fit in every:
                one = slice(fit, fit + 1)
                blocks = fitting.split_examples(sample.of_fits(one), weight[one], 0.5)
                fitting.fit_many(blocks, start.of_fits(one), options, threads, overall_covariance=overall[one])
            alone = min(alone, (time.process_time() - begin) / len(every))
    found.say(
        f"A fit takes {1e3 * together:.2f} ms in a batch of {N_STUDY}, {1e3 * alone:.2f} ms by itself (every"
        f" {every.step}th of them); steps on average: {fits.n_iter.mean():.1f} and {fits.n_iter[every].mean():.1f}."
    )
    found.bar("time of the batched study, share of a loop", together / alone, bars.STUDY_SHARE)
    found.values["study"] = {"together": together, "alone": alone}


def errors(found: Findings, collection: gaussian_study.Collection, n_draws: int) -> None:
    """The paper's model and the default beside logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    ways: dict[str, tuple[Any, bool]] = {
        "paper, λ = 0.5": (GGM(unlabelled_weight=0.5, **PAPER), False),
        "paper, λ = 0": (GGM(unlabelled_weight=0.0, **PAPER), False),
        "own components, full, λ = 0.5": (GGM(covariance="full", unlabelled_weight=0.5), False),
        "default, same points": (GGM(), False),
        "logistic regression": (LogisticRegression(max_iter=1000), False),
        "the same, features scaled": (plain, False),
        "**default, default LSI**": (GGM(), True),
        "logistic regression, default LSI": (LogisticRegression(max_iter=1000), True),
        "the same, features scaled, default LSI": (plain, True),
    }
    points = {False: collection.points(5, unit_length=False)[1], True: collection.default_points()[1]}
    half, results, degenerate, n_fits = collection.half, {}, 0, 0
    for name, (model, default) in ways.items():
        results[name] = []
        for n_labelled in LABELLED:
            rows, classes = gaussian_study.draws(collection.labels[:half], n_labelled, n_draws)
            wrong = []
            for draw in range(n_draws):
                x, y = points[default][rows[draw]], classes[draw]
                if isinstance(model, GGM):
                    model.set_params(random_state=draw).fit(x, y)
                    if "default" in name:
                        degenerate += model.degenerate_
                        n_fits += 1
                elif len(set(y[:n_labelled])) > 1:
                    model.fit(x[:n_labelled], y[:n_labelled])
                wrong.append(float((model.predict(points[default][half:]) != collection.labels[half:]).mean()))
            results[name].append(wrong)
            print(f"[gaussians] {collection.name}, {name}, {n_labelled}: {np.mean(wrong):.3f}", flush=True)
    head = ["error on unseen documents", *(f"{n} labelled" for n in LABELLED)]
    found.say(f"**{collection.name}**, {N_DRAWS} draws, {gaussian_study.N_UNLABELLED} unlabelled documents beside.")
    found.table(head, [[name, *(spread(of) for of in row)] for name, row in results.items()])
    means = {name: [float(np.mean(of)) for of in row] for name, row in results.items()}
    limits = bars.MIXTURE_ERRORS[collection.name]
    for way in ("paper, λ = 0.5", "own components, full, λ = 0.5"):
        for n_labelled, value, limit in zip(LABELLED, means[way], limits, strict=True):
            found.bar(f"{collection.name}, {way}, {n_labelled} labelled", value, limit)
    for place in range(3):
        gain = means["paper, λ = 0"][place] - means["paper, λ = 0.5"][place]
        found.bar(f"{collection.name}, gain by unlabelled, {LABELLED[place]} labelled", gain, 0.1, least=True)
    rivals = [name for name in means if "logistic" in name or "the same" in name][2:]
    table = []
    for place, n_labelled in enumerate(LABELLED):
        best = min(rivals, key=lambda name: means[name][place])
        apart = np.subtract(results["**default, default LSI**"][place], results[best][place])
        error = float(apart.std(ddof=1) / np.sqrt(n_draws))
        table.append([n_labelled, best, f"{apart.mean():+.4f}", f"{error:.4f}"])
        what = f"{collection.name}, default beyond logistic regression, {n_labelled} labelled"
        found.bar(what, float(apart.mean()), round(bars.MIXTURE_LEVEL * error, 4), form="+.4f")
    found.say("The default less the better of the two logistic regressions on its own features, in the same draws:")
    found.table(["labelled", "the better one", "mean difference", "its standard error"], table)
    found.bar(f"{collection.name}, degenerate ones of {n_fits} default fits", degenerate, 0, form="d")
    found.values[collection.name] = means
