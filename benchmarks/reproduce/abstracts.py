"""Does the tree predict words better than flat clusters? The CAM paper's collections, after arXiv: LEARN and CLUSTER.

Tokens are split 80/10/10: to learn from / to fit P(a|c) and λ on and to stop by / to report on (``interpolation``).
The paper prints no perplexities; the bars are those of an independent implementation. Flat clustering gets every
chance: the paper's annealing with its stopping rule, the same with a prior strong enough to go on to hundreds of
clusters, and guided splits, all interpolated alike and chosen by the same held-out tokens.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import bars, labelled, report
from benchmarks.findings import Findings, render, spread, store
from benchmarks.paths import CACHE
from benchmarks.reproduce import exhibits
from benchmarks.reproduce.interpolation import SHARES, Task, Watching, watched
from topiarist.counts.weighting import effective_length_weights, scale_rows
from topiarist.estimators.tree import preparation
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import cam
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.annealed import AnnealedProposer, cam_schedule, critical_temperature
from topiarist.trees.growth.growing_models import CamGrowingModel, Steps
from topiarist.trees.growth.guided import GuidedProposer
from topiarist.trees.growth.loop import Stage

COLLECTIONS = ("arxiv-learn", "arxiv-cluster")
SEEDS = range(5)
LIMIT, MORE, MOST_FLAT = 200, 320, 512  # leaves
LENGTH, PRIOR = 35.0, 3.0  # of the trees: effective length, and pseudo-tokens at each node; none at the root
FLAT_PRIOR = 100.0
FIGURES = CACHE / "figures"


def ground(task: Task, seed: int, length: float | None, prior: float, *, levels: bool) -> tuple[CamGrowingModel, Any]:
    """Return the model with its tokens, and the weighted counts that it learns from."""
    rows, heldout = weighted(task.training, length, SHARES[0]), weighted(task.heldout, length, SHARES[1])
    totals = np.asarray(rows.sum(axis=0), np.float64).ravel() + 1e-3
    block = cam.Block(*(Shard.from_matrix(part, np.float32, preparation.TILE_COLUMNS) for part in (rows, heldout)))
    species = CamGrowingModel(
        task.engine, block, totals / totals.sum(), np.random.default_rng(seed),
        prior_tokens=prior, root_prior=0.0, levels=levels, steps=Steps(growing=4),
    )  # fmt: skip
    return species, rows


def weighted(counts: Any, length: float | None, share: float) -> Any:
    """Return counts in which a long document weighs as if it had ``length`` tokens, ``share`` of them here."""
    return counts if length is None else scale_rows(counts, effective_length_weights(counts, length * share))


def guided(task: Task, seed: int, *, levels: bool) -> tuple[CamGrowingModel, Watching]:
    """Grow a tree, or flat clusters, by guided splits."""
    length, prior = (LENGTH, PRIOR) if levels else (None, FLAT_PRIOR)
    species, _ = ground(task, seed, length, prior, levels=levels)
    vectors = preparation.compute_document_vectors(task.training, seed)
    limits = (LIMIT, MORE) if levels else (LIMIT,)
    proposer = GuidedProposer(vectors, species.rng, max(limits), min_documents=3.0, workers=task.engine.threads.map)
    return species, watched(task, species, proposer, limits)


def annealed(task: Task, seed: int, prior: float) -> tuple[CamGrowingModel, Watching]:
    """Grow flat clusters by annealing, with the paper's stopping rule."""
    species, rows = ground(task, seed, None, prior, levels=False)
    species = replace(species, steps=Steps(growing=40, growing_tol=-math.inf))
    schedule = cam_schedule(max(critical_temperature(rows), 1.0))
    proposer = AnnealedProposer(schedule, np.ones(rows.shape[0]), None, MOST_FLAT)
    return species, watched(task, species, proposer, (LIMIT, MOST_FLAT))


UNIGRAM, PAPER_FLAT = "unigram", "flat, annealed, the tree's prior"
FLAT, FLAT_MANY = (f"flat, annealed, prior of {FLAT_PRIOR:g}, at most {n}" for n in (LIMIT, MOST_FLAT))
GUIDED_FLAT = f"flat, guided, prior of {FLAT_PRIOR:g}, at most {LIMIT}"
CHOSEN, BEST = f"**CAM, smallest within 1% of the best up to {LIMIT}**", f"CAM, best up to {LIMIT}"
MANY = f"CAM, best up to {MORE}"


def one_seed(task: Task, seed: int, row: Callable[[str, int, float, float], None]) -> Watching:
    """Measure all models on one split; return what was seen while the tree grew."""

    def measured(name: str, species: CamGrowingModel, stage: Stage) -> None:
        last = species.fit(stage.parts, stage.inverse_temperature, last=True)
        row(name, last.parts.n_classes, *task.reported(last.parts))

    row(UNIGRAM, 0, task.unigram_perplexity(), 1.0)
    species, seen = annealed(task, seed, PRIOR)
    measured(PAPER_FLAT, species, seen.best(MOST_FLAT))
    species, seen = annealed(task, seed, FLAT_PRIOR)
    measured(FLAT, species, seen.best(LIMIT))
    measured(FLAT_MANY, species, seen.best(MOST_FLAT))
    species, seen = guided(task, seed, levels=False)
    measured(GUIDED_FLAT, species, seen.best(LIMIT))
    species, seen = guided(task, seed, levels=True)
    measured(CHOSEN, species, seen.smallest(LIMIT))
    measured(BEST, species, seen.best(LIMIT))
    measured(MANY, species, seen.best(MORE))
    return seen


def collection(found: Findings, name: str, engine: Engine) -> None:
    """All seeds of one collection: table, curve, figure and bars."""
    corpus = labelled.abstracts(name)
    rows: dict[str, list[dict]] = defaultdict(list)
    curves = []
    for seed in SEEDS:
        start = time.perf_counter()
        task = Task.of(engine, corpus.counts, seed)

        def row(model: str, leaves: int, value: float, weight: float) -> None:
            rows[model].append({"leaves": leaves, "perplexity": value, "lambda": weight})

        seen = one_seed(task, seed, row)
        curves.append((seen.curve, seen.smallest(LIMIT).parts.n_classes))
        told = ", ".join(f"{model.strip('*')} {of[-1]['perplexity']:.1f}" for model, of in rows.items())
        print(f"[abstracts] {name}, seed {seed} ({time.perf_counter() - start:.0f} s): {told}", flush=True)
    found.say(
        f"**{name}**, {corpus.n_docs:,} abstracts, {corpus.n_words:,} words, no stop list; {len(SEEDS)} splits. Test"
        " perplexity interpolated with the unigram."
    )
    found.table(
        ["model", "leaves or clusters", "λ", "test perplexity"],
        [
            [model, _range([r["leaves"] for r in of]), spread([r["lambda"] for r in of], 2), spread(_values(of), 1)]
            for model, of in rows.items()
        ],
    )
    found.say(f"Held-out perplexity on the way up (seed 0; {_picture(name, *curves[0])}): {_told(curves[0][0])}.")
    found.values[name] = {"rows": rows, "curves": curves}
    _judge(found, name, rows)


def _judge(found: Findings, name: str, rows: dict[str, list[dict]]) -> None:
    found.bar(
        f"{name}: {CHOSEN.strip('*')}, mean test perplexity",
        np.mean(_values(rows[CHOSEN])),
        bars.PERPLEXITY[name],
        form=".1f",
    )
    for ours, other in ((CHOSEN, PAPER_FLAT), (CHOSEN, FLAT), (CHOSEN, FLAT_MANY), (MANY, FLAT_MANY)):
        below = sum(a < b for a, b in zip(_values(rows[ours]), _values(rows[other]), strict=True))
        found.share(f"{name}: {ours.strip('*')}, below: {other}", below, len(SEEDS), len(SEEDS))


def _values(rows: list[dict]) -> list[float]:
    return [row["perplexity"] for row in rows]


def _range(numbers: list[int]) -> str:
    return (
        "" if not any(numbers) else f"{min(numbers)}–{max(numbers)}" if min(numbers) < max(numbers) else str(numbers[0])
    )


def _told(curve: list[tuple[int, float]]) -> str:
    """Some points of a curve, about a factor √2 apart."""
    points, after = [], 0.0
    for leaves, value in curve:
        if leaves >= after or leaves == curve[-1][0]:
            points.append(f"{leaves}: {value:.0f}")
            after = leaves * math.sqrt(2)
    return ", ".join(points)


def _picture(name: str, curve: list[tuple[int, float]], chosen: int) -> str:
    """Draw the curve, and return where it is."""
    import matplotlib

    matplotlib.use("Agg")
    from topiarist.trees.picture import draw_curve as draw

    FIGURES.mkdir(parents=True, exist_ok=True)
    path = FIGURES / f"{name}.svg"
    leaves, values = zip(*((n, value) for n, value in curve if n <= LIMIT), strict=True)
    axes = draw(None, leaves, values, leaves.index(chosen))
    axes.set_title(f"{name}: interpolated held-out perplexity", fontsize=10)
    axes.figure.savefig(path)
    return f"`{path.relative_to(CACHE.parent)}`, {path.stat().st_size // 1000} kB"


def main() -> None:
    """Print the tables, keep them and put them into the report; then show what the tree says."""
    if reason := labelled.missing(*COLLECTIONS):
        print(f"[abstracts] not run: {reason}")
        return
    found = Findings(
        "The CAM paper's experiment. Guided growth with the effective length 35, 3 pseudo-tokens of the collection at"
        " each node and none at the root, no nodes collapsed; P(a|c) from the held-out tenth. Flat clustering without"
        " an effective length, which does it harm. Held-out tokens choose the number of clusters of every model; λ is"
        " fitted on them. Mean ± deviation over seeds."
    )
    with threadpool_limits(limits=1, user_api="blas"), Threads() as threads:
        engine = Engine(load("compiled"), threads)
        for name in COLLECTIONS:
            collection(found, name, engine)
        print(render(found.result()), flush=True)
        exhibits.show(COLLECTIONS[0])
    store("abstracts", found.result())
    report.write()


if __name__ == "__main__":
    main()
