"""The figures of the page of reproductions: small, of the recorded tables, and the same each time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.paths import REPOSITORY
from benchmarks.reproduce.recorded import numbers, section, tables

IMAGES = REPOSITORY / "docs" / "images"
GREEN, BLUE, SOFT = "#2f7d4f", "#2b5f9e", "#999999"
mpl.rcParams |= {"svg.hashsalt": "topiarist", "svg.fonttype": "path", "font.size": 9, "axes.spines.top": False}
mpl.rcParams |= {"axes.spines.right": False}


def _of(cell: str) -> tuple[float, float]:
    """Mean and deviation."""
    found = numbers(cell)
    return found[0], found[1] if "±" in cell else 0.0


def _beside(names: Sequence[str], theirs: Sequence[float], ours: Sequence[tuple[float, float]], what: str) -> Figure:
    """Bars in pairs: theirs, ours with the deviation."""
    figure = Figure(figsize=(6.5, 2.8))
    axes = figure.subplots()
    places = range(len(names))
    axes.bar([place - 0.2 for place in places], theirs, 0.38, color=SOFT, label="paper")
    axes.bar(
        [place + 0.2 for place in places], [one[0] for one in ours], 0.38, yerr=[one[1] for one in ours], color=GREEN,
        label="here",
    )  # fmt: skip
    axes.set_xticks(list(places), names)
    axes.set_ylabel(what)
    axes.legend(frameon=False)
    return figure


def events() -> Figure:
    """Gini indices of flat and hierarchical models."""
    found = tables("events")[0]
    names = ("PLSA, plain EM", "HPLSA, annealed")
    ours = [_of(found.row(name)[1]) for name in names] + [_of(found.row(name)[2]) for name in names]
    told = ["PLSA, G_l", "HPLSA, G_l", "PLSA, G_α", "HPLSA, G_α"]
    return _beside(told, [0.34, 0.20, 0.30, 0.16], ours, "Gini index (0: the labels)")


def abstracts() -> Figure:
    """Held-out perplexity while trees grow."""
    figure = Figure(figsize=(6.5, 2.8))
    axes = figure.subplots()
    curves = re.findall(r"Held-out perplexity on the way up.*?: (\d+: .*?)\.\n", section("abstracts") + "\n")
    for name, curve, colour in zip(("LEARN", "CLUSTER"), curves, (GREEN, BLUE), strict=True):
        points = [tuple(map(float, point.split(":"))) for point in curve.split(",")]
        axes.plot(
            [one for one, _ in points], [other for _, other in points], color=colour, label=f"{name}, after arXiv"
        )
    axes.set_xscale("log")
    axes.set_xlabel("leaves")
    axes.set_ylabel("held-out perplexity")
    axes.legend(frameon=False)
    return figure


def labels() -> Figure:
    """F of the two mixture models on each problem."""
    first = tables("labels")[0]
    names, theirs, ours = [], [], []
    for model in ("PMM1", "PMM2"):
        for problem, cell in zip(first.head[1:-2], first.row(model)[1:-2], strict=True):
            mean, spread, paper = numbers(cell)
            names.append(f"{problem}\n{model}")
            theirs.append(paper)
            ours.append((mean, spread))
    figure = _beside(names, theirs, ours, "F, per cent, 2,000 pages")
    figure.axes[0].tick_params(axis="x", labelsize=5)
    figure.axes[0].set_ylim(30, 90)
    return figure


def categorisers() -> Figure:
    """Figure 5 of the HPLSA paper."""
    found = tables("categorisers")[0]
    figure = Figure(figsize=(6.5, 3.2))
    axes = figure.subplots()
    sizes = [int(size) for size in found.head[1:]]
    for row in found.rows:
        if "smoothing chosen" in row[0] or "maximum" in row[0]:
            continue
        points = [_of(cell) for cell in row[1:]]
        axes.errorbar(sizes, [one[0] for one in points], [one[1] for one in points], capsize=2, label=row[0])
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xlabel("messages of a group")
    axes.set_ylabel("micro-F1")
    axes.legend(frameon=False)
    return figure


def finding() -> Figure:
    """Table 1 of the paper on Fisher kernels."""
    found = tables("finding")[0]
    names, theirs, ours = [], [], []
    for way in ("VSM", "VSM++"):
        row = found.row(way)
        for place, name in enumerate(name for name in found.head[1:] if not name.startswith("paper")):
            names.append(f"{name}\n{way}")
            theirs.append(float(row[found.head.index(f"paper, {name}")]))
            ours.append(_of(row[1 + place].partition("/")[0]))
    return _beside(names, theirs, ours, "average precision, nine points")


def mixtures() -> Figure:
    """Figure 4 of the paper on Gaussian mixtures."""
    figure = Figure(figsize=(6.5, 2.8))
    left, right = figure.subplots(1, 2, sharey=True)
    found = [one for one in tables("mixtures") if one.head[0] == "labelled"]
    for axes, one, name in zip((left, right), found, ("three newsgroups", "Ling-Spam"), strict=True):
        sizes = [int(row[0]) for row in one.rows]
        for column, colour, told in ((1, SOFT, "λ = 0"), (3, GREEN, "best λ")):
            points = [_of(row[column]) for row in one.rows]
            axes.errorbar(sizes, [p[0] for p in points], [p[1] for p in points], color=colour, capsize=2, label=told)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.set_xlabel(f"labelled, {name}")
    left.set_ylabel("error")
    left.legend(frameon=False)
    return figure


DRAWN: dict[str, Callable[[], Figure]] = {
    one.__name__: one for one in (events, abstracts, labels, categorisers, finding, mixtures)
}


def draw() -> None:
    """Draw all of them into docs/images."""
    for name, make in DRAWN.items():
        path = IMAGES / f"reproduction-{name}.svg"
        make().savefig(path, bbox_inches="tight", metadata={"Date": None})
        print(f"written: {path.relative_to(REPOSITORY)}")
