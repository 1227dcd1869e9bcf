"""What do sparse rows gain? PLSA whole and sparse, at many components: a pass, a fit, and the quality at the end."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks import data, ours, report
from benchmarks.bars import SPARSE_PASS
from benchmarks.findings import Findings
from benchmarks.settings import Settings

COLLECTION = "arxiv-demo"
SIZES = (128, 512, 1024, 2048)
N_THREADS = 2
STEPS = 60
PAIRS = 3
HELDOUT = 0.1


def main(settings: Settings) -> dict:
    """Fit both ways from one start, then time passes in turn from where the sparse fit ended."""
    from topiarist.models.engine.compilation import prepare_kernels

    counts = data.load(data.completion(COLLECTION)["train"])
    found = Findings(
        f"{data.provenance(COLLECTION)}, {counts.shape[0]:,} documents, {counts.nnz:,} non-zeros; {N_THREADS} threads, "
        f"single precision, word smoothing {ours.WORD_SMOOTHING:g}. Seconds are those of the processor, of all threads "
        "together, so that neighbours on the machine do not count. Passes in turn from the same state, medians; fits "
        f"of {STEPS} steps from the same start."
    )
    prepare_kernels("float32", "active")
    rows, quality = [], []
    for n_components in SIZES[:2] if settings.quick else SIZES:
        one = _compared(counts, n_components, settings)
        found.values[str(n_components)] = one
        passes = [report.milliseconds(one[f"{kind}_pass"]) for kind in ("whole", "sparse")]
        rows.append(
            [n_components, f"{one['used']:.0f}", *passes, f"{one['whole_pass'] / one['sparse_pass']:.2f}"]
            + [f"{one[name]:.1f} s" for name in ("whole_fit", "sparse_fit")]
            + [_times(one["whole_fit"], one["sparse_fit"]), _times(one["whole_fit"], one["reached"])]
            + [f"{one['difference']:+.4f}"]
        )
        quality.append([n_components, *_early(n_components)])
        print(f"[sparse] K = {n_components}: {one}; stopped early {quality[-1][1:]}", flush=True)
    head = ["components", "in use", "pass, whole", "pass, sparse", "ratio", f"{STEPS} steps, whole"]
    head += [f"{STEPS} steps, sparse", "ratio", "ratio to the same objective", "objective a token, sparse − whole"]
    found.table(head, rows)
    found.say(f"Test perplexity (document completion) and seconds when held-out tokens ({HELDOUT:.0%}) stop the fit:")
    found.table(["components", "whole", "sparse", "whole", "sparse"], quality)
    for n_components, least in SPARSE_PASS.items():
        if one := found.values.get(str(n_components)):
            ratio = one["whole_pass"] / one["sparse_pass"]
            found.bar(
                f"a whole pass in times of a sparse one, K = {n_components:,}", ratio, least, least=True, form=".2f"
            )
    return found.result()


def _compared(counts: object, n_components: int, settings: Settings) -> dict:
    from topiarist.kernels.shard import Shard
    from topiarist.models import em, plsa, sparse_plsa

    engine, tokens = ours._engine(N_THREADS), float(counts.sum())
    shard = Shard.of(counts, np.float32, n_components)
    whole = plsa.Plsa(engine, ours.WORD_SMOOTHING)
    sparse = sparse_plsa.SparsePlsa(engine, ours.WORD_SMOOTHING).of([shard], n_components)

    def fit(model: object, steps: int) -> tuple[object, list[float]]:
        began, clock = time.process_time(), []
        rules = em.Rules(steps, 0.0, tokens)
        start = lambda: plsa.initial([shard], n_components, np.random.default_rng(0), ours.WORD_SMOOTHING)  # noqa: E731
        watch = lambda _: clock.append(time.process_time() - began)  # noqa: E731
        return em.run(model, [shard], start, rules, watch=watch), clock

    warm = fit(sparse, 16)[0].state  # compiles what is needed
    steps = STEPS // 3 if settings.quick else STEPS
    (first, first_clock), (second, second_clock) = fit(whole, steps), fit(sparse, steps)
    reached = next((t for t, o in zip(second_clock, second.objectives, strict=True) if o >= first.objectives[-1]), None)
    rows = second.state.local[0]
    lists = rows if isinstance(rows, sparse_plsa.Lists) else warm.local[0]
    spread = sparse_plsa.spread(lists.active, n_components) if isinstance(lists, sparse_plsa.Lists) else lists
    shared = second.state.shared
    pairs = [
        (
            _seconds(lambda: whole.m_step(whole.e_step(shared, shard, spread)[0])),
            _seconds(lambda: sparse.m_step(sparse.e_step(shared, shard, _settled(lists))[0])),
        )
        for _ in range(PAIRS * settings.rounds)
    ]
    return {
        "used": float(sparse_plsa.mean_used((lists,))),
        "whole_pass": statistics.median(pair[0] for pair in pairs),
        "sparse_pass": statistics.median(pair[1] for pair in pairs),
        "whole_fit": first_clock[-1],
        "sparse_fit": second_clock[-1],
        "reached": reached,
        "difference": (second.objectives[-1] - first.objectives[-1]) / tokens,
        "bound": sparse.bound(second.state, [shard]) / tokens,
    }


def _settled(lists: object) -> object:
    """The same lists at an age at which nothing looks at all components; that is counted in the fits."""
    return lists._replace(age=1) if hasattr(lists, "age") else lists


def _early(n_components: int) -> list[str]:
    """Perplexity and seconds of both estimators when held-out tokens stop them."""
    from topiarist import PLSA
    from topiarist.kernels.shard import Side
    from topiarist.models import plsa

    plain = plsa.Plsa(ours._engine(N_THREADS))
    files = {part: data.load(path) for part, path in data.completion(COLLECTION).items()}
    perplexities, seconds = [], []
    for sparse in (False, True):
        model = PLSA(
            n_components, sparse=sparse, word_smoothing=ours.WORD_SMOOTHING, heldout_fraction=HELDOUT, random_state=0,
            dtype="float32", n_threads=N_THREADS,
        )  # fmt: skip
        seconds.append(f"{_seconds(lambda model=model: model.fit(files['train'])):.1f} s")
        rows = model.transform(files["observed"])
        total = plain.log_likelihood(plsa.Params.of(model.components_), Side.of(files["scored"], np.float32), rows)
        perplexities.append(f"{np.exp(-total / files['scored'].sum()):.0f}")
    return [*perplexities, *seconds]


def _seconds(function: Callable[[], object]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began


def _times(one: float, other: float | None) -> str:
    return "not reached" if other is None else f"{one / other:.2f}"
