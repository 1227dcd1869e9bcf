"""Figures 2, 4, 5, 6 and table 1 of the paper on Gaussian mixtures (Larsen et al. 2001), after other collections.

Figure 4 is a study of repeated fits: error against the weight λ of 200 unlabelled documents, the best λ, and the number
of components that AIC chooses. All repetitions and all λ are one batch. The paper's e-mails are not public; Ling-Spam's
labels conference / job / spam are rules on the messages' own words, good for keywords and pictures, not for accuracy.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import gaussian_study, labelled, report
from benchmarks.findings import Findings, render, spread, store
from benchmarks.gaussian_study import LABELLED, Collection
from benchmarks.paths import CACHE
from benchmarks.reproduce import mixture_pictures as pictures
from topiarist import GGM, MixtureHierarchy
from topiarist.execution.threads import Threads
from topiarist.models.gaussian import overlaps, selection, starts
from topiarist.models.gaussian.mixture import Options

N_DIMS, N_REPEATS = 5, 100
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SIZES = (2, 3, 4, 5, 6, 8)
FIGURES = CACHE / "figures"
TOY = overlaps.Mixture(
    np.array([0.3, 0.3, 0.1, 0.3]),
    np.array([[0.0, 0.0], [6.0, 0.0], [0.5, 2.0], [1.5, -0.5]]),
    np.array([1.0, 0.25, 0.06, 1.0])[:, None, None] * np.eye(2),
)


def figure_2(found: Findings) -> None:
    """The toy of four Gaussians: which clusters merge at which level."""
    rng = np.random.default_rng(0)
    chosen = rng.choice(4, 20_000, p=TOY.weight)
    points = TOY.mean[chosen] + rng.standard_normal((20_000, 2)) * np.sqrt(TOY.covariance[chosen, 0, 0])[:, None]
    away = ((points[:, None] - TOY.mean) ** 2).sum(axis=-1) / TOY.covariance[:, 0, 0]
    joint = TOY.weight * np.exp(-0.5 * away) / TOY.covariance[:, 0, 0]
    posterior = joint / joint.sum(axis=1, keepdims=True)
    ways = {
        "L2": overlaps.merge_components(4, overlaps.l2(TOY)),
        "modified L2": overlaps.merge_components(4, overlaps.modified_l2(TOY)),
        "confusion": overlaps.merge_components(4, overlaps.Confusion(posterior, TOY)),
        "KL": overlaps.merge_components(4, overlaps.Divergence(TOY)),
    }
    wanted = {"L2": ({1, 4}, {1, 2, 4}), "modified L2": ({1, 4}, {1, 3, 4}), "confusion": ({1, 4}, {1, 3, 4})}
    table = []
    for name, linkage in ways.items():
        sets = [set((np.flatnonzero(row) + 1).tolist()) for row in overlaps.node_members(linkage)[4:6]]
        table.append([name, *(f"{{{', '.join(map(str, sorted(one)))}}}" for one in sets)])
        if name in wanted:
            found.verdict(f"figure 2, {name}", str(sets), str(list(wanted[name])), met=sets == list(wanted[name]))
    found.say("**Figure 2**: what is merged at levels 2 and 3.")
    found.table(["measure", "level 2", "level 3"], table)


def figure_4(found: Findings, collection: Collection, n_repeats: int) -> None:
    """Error against λ for each number of labelled documents: means over repetitions."""
    points = collection.points(N_DIMS, unit_length=False)[1]
    points = (points - points.mean(axis=0)) / np.sqrt(points.var(axis=0).mean())
    half, curves, table = collection.half, {}, []
    options = Options(n_classes=3, max_iter=50, tol=1e-5)
    for n_labelled in LABELLED:
        begin = time.perf_counter()
        rows, classes = gaussian_study.draws(collection.labels[:half], n_labelled, n_repeats)
        sample = gaussian_study.sample_of(points[:half], rows, classes)
        repeated = starts.Sample(*(np.repeat(part, len(WEIGHTS), axis=0) for part in sample))
        search = selection.Search(options, SIZES, split=0.5)
        with Threads(None) as threads:
            result = selection.search_mixtures(repeated, np.tile(WEIGHTS, n_repeats), search, threads)
        errors = gaussian_study.errors_of(result.fits, points[half:], collection.labels[half:])
        errors = errors.reshape(n_repeats, len(WEIGHTS))
        sizes = np.array([fit.params.n_components for fit in result.fits]).reshape(errors.shape)
        curve = errors.mean(axis=0)
        best = int(curve.argmin())
        curves[n_labelled] = dict(zip(WEIGHTS, curve.tolist(), strict=True))
        gain = 1 - curve[best] / curve[0]
        table.append(
            [n_labelled, spread(errors[:, 0]), spread(errors[:, 5]), spread(errors[:, best]), f"{WEIGHTS[best]:g}",
             f"{gain:.0%}", spread(sizes[:, best], 1)]
        )  # fmt: skip
        print(f"[gaussians] {collection.name}, {n_labelled}: {time.perf_counter() - begin:.0f} s", flush=True)
    found.say(f"**Figure 4**, {collection.name}: {n_repeats} repetitions, K by AIC, 5 dimensions.")
    found.table(["labelled", "λ = 0", "λ = 0.5", "best λ", "which", "error less by", "components"], table)
    found.values[f"figure 4, {collection.name}"] = curves
    _saved(pictures.weight_curves(curves), f"weights-{collection.name}")


def table_1(found: Findings, collection: Collection) -> None:
    """Table 1 and figure 5: keywords, hierarchies and levels of each class, from one fit with all labels."""
    lsi, points = collection.points(N_DIMS, unit_length=False)
    half, words = collection.half, collection.corpus.vocabulary.words
    model = GGM(6, random_state=0).fit(points[:half], collection.labels[:half])
    whole = MixtureHierarchy().fit(model)
    plain = whole.keywords(words, lsi=lsi, n=7, plain=True)
    table, levels = [], []
    for label, name in enumerate(collection.classes):
        tree = MixtureHierarchy(of_class=label).fit(model)
        for component, weight in zip(tree.components_, tree.weight_, strict=True):
            table.append([name, component, f"{weight:.4f}", ", ".join(plain[component])])
        mine = points[half:][model.predict(points[half:]) == label]
        where = tree.assign(mine)
        levels.append([name, len(mine), *(f"{(where.level == level).mean():.2f}" for level in range(1, 5))])
        told = tree.keywords(words, lsi=lsi, n=4)
        _saved(tree.dendrogram(words=told), f"dendrogram-{collection.name}-{name}")
        _saved(pictures.level_histogram(where, len(tree.components_)), f"levels-{collection.name}-{name}")
    found.say(f"**Table 1**, {collection.name}: six components, P(k|y) and the words of their means.")
    found.table(["class", "component", "P(k\\|y)", "keywords"], table)
    found.say("**Figure 5**: share of test documents of a class that are certain at each level (modified L2, ρ = 0.9).")
    found.table(["class", "documents", *(f"level {level}" for level in range(1, 5))], levels)
    _saved(pictures.scatter(model, points[half:], np.array(collection.classes)[collection.labels[half:]]),
           f"scatter-{collection.name}")  # fmt: skip


def figure_6(found: Findings, collection: Collection) -> None:
    """Unsupervised: clusters against labels at the first level and where three clusters remain."""
    lsi, points = collection.points(N_DIMS, unit_length=False)
    half, words = collection.half, collection.corpus.vocabulary.words
    model = GGM(random_state=0).fit(points[:half])
    labels, table = collection.labels[half:], []
    n_components = len(model.component_prior_)
    for measure in ("modified_l2", "confusion"):
        tree = MixtureHierarchy(measure, random_state=0).fit(model)
        nodes = tree.node_given_example(points[half:])
        for level in (1, max(1, n_components - 2)):
            kept = tree.clusters_at(level)
            clusters = np.array(kept)[nodes[:, kept].argmax(axis=1)]
            shares, _, _ = pictures.confusion_table(clusters, labels)
            right = sum(np.bincount(labels[clusters == one]).max() for one in np.unique(clusters)) / len(labels)
            table.append([measure, level, len(kept), f"{right:.3f}",
                          "; ".join(" ".join(f"{v:.2f}" for v in row) for row in shares)])  # fmt: skip
            _saved(pictures.confusion(clusters, np.array(collection.classes)[labels]),
                   f"confusion-{collection.name}-{measure}-{level}")  # fmt: skip
        if measure == "modified_l2":
            told = tree.keywords(words, lsi=lsi, n=5)
            found.say(f"**Figure 6**, {collection.name}: AIC chooses {n_components} components. "
                      + "; ".join(f"{leaf}: {' '.join(told[leaf])}" for leaf in range(n_components)) + ".")  # fmt: skip
    several = tree.sample_clusters(points[half:])
    found.table(["measure", "level", "clusters", "purity", "share of each label in the clusters"], table)
    alone = np.mean([len(own) == 1 for own in several])
    found.say(f"Sample-dependent clusters (ρ = 0.9): {alone:.0%} of the test documents are certain in one component.")


def _saved(ax: object, name: str) -> None:
    FIGURES.mkdir(parents=True, exist_ok=True)
    figure = ax.figure  # type: ignore[attr-defined]
    figure.savefig(FIGURES / f"{name.replace(' ', '-')}.svg")
    from matplotlib import pyplot

    pyplot.close(figure)


def main() -> None:
    """Print the tables, keep them and put them into the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=N_REPEATS)
    options = parser.parse_args()
    if reason := labelled.missing("20newsgroups", "lingspam"):
        print(f"[gaussians] not run: {reason}")
        return
    import matplotlib

    matplotlib.use("svg")
    found = Findings("The paper's figures after other collections. Mean ± deviation over repetitions.")
    with threadpool_limits(limits=1, user_api="blas"):
        figure_2(found)
        for collection in (gaussian_study.newsgroups(), gaussian_study.mail()):
            figure_4(found, collection, options.repeats)
            table_1(found, collection)
            figure_6(found, collection)
    store("mixtures", found.result())
    print(render(found.result()), flush=True)
    report.write()


if __name__ == "__main__":
    main()
