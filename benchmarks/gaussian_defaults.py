"""How the defaults of GGM and LSI were chosen: on collections that no bar is measured on.

Triples of other newsgroups and of other topics of Reuters, each with a half to learn from and a half to test on, as in
``bench_gaussians``. Prints, for each way, the mean error over collections and how far it is from the better of two
logistic regressions on the same features. ``python -m benchmarks.gaussian_defaults``
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks import gaussian_study
from topiarist import GGM

NEWSGROUPS = (
    ("comp.graphics", "comp.sys.mac.hardware", "comp.windows.x"),
    ("rec.autos", "sci.space", "soc.religion.christian"),
    ("comp.os.ms-windows.misc", "rec.sport.baseball", "talk.politics.guns"),
    ("alt.atheism", "sci.med", "misc.forsale"),
    ("rec.motorcycles", "sci.electronics", "talk.politics.misc"),
)
TOPICS = (("trade", "money-fx", "interest"), ("money-supply", "interest", "trade"))
FEATURES = {
    "8, counts": {"n_dims": 8},
    "16, counts": {"n_dims": 16},
    "16, idf": {"n_dims": 16, "weighting": "idf"},
    "32, idf": {"n_dims": 32, "weighting": "idf"},
}
WAYS = {
    "full, λ = 1": {"covariance": "full", "unlabelled_weight": 1.0},
    "full, λ = 0.1, shrinkage 150": {"covariance": "full", "unlabelled_weight": 0.1, "shrinkage": 150.0},
    "shared, λ = 0.03": {"covariance": "shared", "unlabelled_weight": 0.03},
    "shared, λ = 0.1": {"covariance": "shared", "unlabelled_weight": 0.1},
    "shared, λ = 0.5": {"covariance": "shared", "unlabelled_weight": 0.5},
}


def rivals() -> dict:
    """Logistic regression on features as they are and on scaled ones."""
    scaled = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return {"logistic": LogisticRegression(max_iter=1000), "logistic, scaled": scaled}


def errors(collection: gaussian_study.Collection, points: np.ndarray, n_labelled: int, n_draws: int) -> dict:
    """The error of every way in every draw."""
    half = collection.half
    rows, classes = gaussian_study.draws(collection.labels[:half], n_labelled, n_draws)
    wrong: dict[str, list[float]] = {}
    for draw in range(n_draws):
        x, y = points[rows[draw]], classes[draw]
        ways = {name: GGM(random_state=draw, **options).fit(x, y) for name, options in WAYS.items()}
        ways |= {name: model.fit(x[:n_labelled], y[:n_labelled]) for name, model in rivals().items()}
        for name, model in ways.items():
            share = float((model.predict(points[half:]) != collection.labels[half:]).mean())
            wrong.setdefault(name, []).append(share)
    return {name: np.array(values) for name, values in wrong.items()}


def main() -> None:
    """Print a table for every kind of features."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    n_draws = parser.parse_args().draws
    collections = [gaussian_study.newsgroups(groups) for groups in NEWSGROUPS]
    collections += [gaussian_study.reuters(topics) for topics in TOPICS]
    for features, options in FEATURES.items():
        print(f"\n{features}: mean error (mean difference to logistic regression, the worst collection's)")
        for n_labelled in gaussian_study.LABELLED:
            found: dict[str, list[tuple[float, float]]] = {}
            for collection in collections:
                wrong = errors(collection, collection.points(unit_length=True, **options)[1], n_labelled, n_draws)
                best = min((wrong[name] for name in rivals()), key=np.mean)
                for name, values in wrong.items():
                    found.setdefault(name, []).append((float(values.mean()), float((values - best).mean())))
            for name in WAYS:
                error, apart = np.array(found[name]).T
                print(
                    f"{n_labelled:4} {name:30} {error.mean():.4f} ({apart.mean():+.4f}, {apart.max():+.4f})", flush=True
                )


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
