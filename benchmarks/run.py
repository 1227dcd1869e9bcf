"""Run benchmarks and assemble the report: ``python -m benchmarks.run [NAME ...] [--only SYSTEM ...]``."""

from __future__ import annotations

import argparse
import json
import math
from importlib import import_module

from benchmarks import pieces, report
from benchmarks.paths import RESULTS
from benchmarks.settings import Settings
from benchmarks.systems import SYSTEMS

BENCHMARKS = {
    "pass_speed": "benchmarks.bench_pass_speed",
    "time_to_quality": "benchmarks.bench_time_to_quality",
    "quality": "benchmarks.bench_quality",
    "scaling_documents": "benchmarks.bench_scaling_documents",
    "scaling_threads": "benchmarks.bench_scaling_threads",
    "tree_pass": "benchmarks.bench_tree_pass",
    "tree_quality": "benchmarks.bench_tree_quality",
    "headings": "benchmarks.bench_headings",
    "vectors": "benchmarks.bench_vectors",
    "short_texts": "benchmarks.bench_short_texts",
    "tree_speed": "benchmarks.bench_tree_speed",
    "tree_stability": "benchmarks.bench_tree_stability",
    "labels_speed": "benchmarks.bench_labels_speed",
    "learn_default": "benchmarks.bench_learn_default",
    "calibration": "benchmarks.bench_calibration",
    "dask": "benchmarks.bench_dask",
    "out_of_core": "benchmarks.bench_out_of_core",
    "scale_tree": "benchmarks.bench_scale_tree",
    "ten_million": "benchmarks.bench_ten_million",
    "large_collection": "benchmarks.bench_large_collection",
    "device": "benchmarks.bench_device",
    "stream": "benchmarks.bench_stream",
    "gaussians": "benchmarks.bench_gaussians",
    "search": "benchmarks.bench_search",
    "find_default": "benchmarks.bench_find_default",
    "known_items": "benchmarks.bench_known_items",
    "find_speed": "benchmarks.bench_find_speed",
    "feedback": "benchmarks.bench_feedback",
    "learn_vectors": "benchmarks.bench_learn_vectors",
    "find_vectors": "benchmarks.bench_find_vectors",
    "review": "benchmarks.bench_review",
    "collection": "benchmarks.bench_collection",
    "explorer": "benchmarks.bench_explorer",
}


def main(arguments: list[str] | None = None) -> None:
    """Run the named benchmarks (all by default), print their tables and write ``benchmarks/RESULTS.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(BENCHMARKS)}")
    parser.add_argument("--list", action="store_true", help="list benchmarks and systems, run nothing")
    parser.add_argument("--only", nargs="+", default=[], metavar="SYSTEM", choices=SYSTEMS, help="these systems only")
    parser.add_argument("--rounds", type=int, default=Settings.rounds, help="rounds of interleaved timing")
    parser.add_argument("--quick", action="store_true", help="two rounds and a tenth of the iterations")
    parser.add_argument("--full", action="store_true", help="a stream of ten million documents, not two")
    parser.add_argument("--collections", nargs="+", default=[], metavar="NAME", help="these collections only")
    parser.add_argument("--labels", nargs="+", default=[], type=_number, metavar="N", help="so many of a class, or all")
    parser.add_argument("--draws", type=int, metavar="N", help="draws of labels, runs of a review, or queries")
    parser.add_argument("--folder", default="", metavar="PATH", help="a large collection that is there already")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="pieces measured at once")
    parser.add_argument("--go-on", action="store_true", help="keep the pieces measured before, measure the others")
    options = parser.parse_args(arguments)
    if options.list:
        print("benchmarks:", *BENCHMARKS, sep="\n  ")
        print("systems:", *SYSTEMS, sep="\n  ")
        return
    if unknown := sorted(set(options.names) - set(BENCHMARKS)):
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    settings = Settings(
        rounds=2 if options.quick else options.rounds,
        scaling_rounds=1 if options.quick else Settings.scaling_rounds,
        only=tuple(options.only),
        quick=options.quick,
        full=options.full,
        collections=tuple(options.collections),
        labels=tuple(options.labels),
        draws=options.draws,
        folder=options.folder,
        processes=options.processes,
        go_on=options.go_on,
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in options.names or BENCHMARKS:
        print(f"=== {name}", flush=True)
        in_pieces = hasattr(import_module(BENCHMARKS[name]), "pieces")
        measure = pieces.run if in_pieces else _whole
        result = measure(BENCHMARKS[name], name, settings)
        result["partial"] = bool(settings.only or settings.quick or settings.collections or settings.labels)
        path = RESULTS / f"{name}.json"
        path.write_text(json.dumps(_finite(result), indent=1, allow_nan=False) + "\n")
        print(report.section(name, _finite(result)), flush=True)
    if not (settings.collections or settings.labels):
        report.write()


def _whole(address: str, name: str, settings: Settings) -> dict:
    return import_module(address).main(settings)


def _number(written: str) -> int | None:
    return None if written == "all" else int(written)


def _finite(value: object) -> object:
    """Return the value with infinities and NaN as null, which plain JSON can say."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    main()
