"""RESULTS.md from the last runs' JSON: one table a benchmark, with its bar and whether it is met."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable
from pathlib import Path

from benchmarks import findings
from benchmarks.paths import REPORT, RESULTS

OURS = "topiarist"


def write() -> None:
    """Put what has been run here into RESULTS.md; other sections stay as they were recorded."""
    results = {name: json.loads(path.read_text()) for name in SECTIONS if (path := RESULTS / f"{name}.json").exists()}
    recorded = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    REPORT.write_text(rendered(results, recorded), encoding="utf-8")
    print(f"wrote benchmarks/{REPORT.name}", flush=True)


def rendered(results: dict[str, dict], recorded: str) -> str:
    """The report: sections of these results, and of what was recorded those that are not among them."""
    known = dict(re.findall(r"^## (\w+)\n\n(.*?)(?=\n\n## |\n*\Z)", recorded, re.MULTILINE | re.DOTALL))
    told = {name: f"## {name}\n\n{text}" for name, text in known.items()}
    told |= {name: section(name, result) for name, result in results.items()}
    parts = [
        "# Benchmark results",
        "Made by `make bench` and, from `events` on, by `make reproduce`; every system in its own process on the same"
        " counts. *Ratio* is a system's time in times of ours: above 1 we are faster. Timings are the best of"
        " interleaved rounds. A section that was not run again stays as it was recorded.",
        machine(results, recorded),
        *(told[name] for name in sorted(told, key=[*known, *SECTIONS].index)),
    ]
    return "\n\n".join(parts) + "\n"


def machine(results: dict[str, dict], recorded: str = "") -> str:
    """Describe the machine of the last run and the versions in general words."""
    before = re.search(r"^Machine: .* Versions: (.*)\.$", recorded, re.MULTILINE)
    versions = dict(one.rsplit(" ", 1) for one in before[1].split(", ") if one) if before else {}
    for result in results.values():
        for holder in (result, *result.get("collections", {}).values()):
            for row in holder.get("rows", {}).values():
                versions |= row.get("versions", {})
    listed = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return (
        f"Machine: {os.cpu_count()} cores, {_processor()}; {platform.system()}, "
        f"Python {platform.python_version()}. Versions: {listed}."
    )


def section(name: str, result: dict) -> str:
    """Return one benchmark's heading, sentence and tables."""
    note = "\n\n*A partial run (some systems, or fewer iterations).*" if result.get("partial") else ""
    return f"## {name}\n\n{SECTIONS[name](result)}{note}"


def _pass_speed(result: dict) -> str:
    rows, bars = result["rows"], result["bars"]
    ours = rows.get(OURS, {}).get("seconds")
    table = []
    for name, row in sorted(rows.items(), key=lambda item: item[1].get("seconds") or 1e9):
        ratio = row["seconds"] / ours if ours and row.get("seconds") else None
        bar = bars.get(name)
        table.append(
            [
                row["title"],
                milliseconds(row.get("seconds")) if "failed" not in row else f"cannot run: {row['failed']}",
                _number(ratio, 2),
                f"≥ {bar:g}" if bar else "",
                _met(ratio, bar, least=True) if bar else "",
            ]
        )
    return f"{_setting(result)}\n\n" + _table(["system", "one pass", "ratio", "bar", "met"], table)


def _time_to_quality(result: dict) -> str:
    table = _points(result["rows"])
    text = f"{_setting(result)} Document completion, {result['test_documents']} test documents.\n\n{table}"
    goal, reached, bar = result.get("goal"), result.get("reached"), result["bar"]
    if not goal or not reached:
        return f"{text}\n\nTime to tomotopy's best perplexity: not reached (bar: {bar:g} times sooner)."
    ratio = goal["seconds"] / reached["seconds"]
    return (
        f"{text}\n\nPerplexity {goal['perplexity']:.0f} (tomotopy at its best, {goal['iterations']} sweeps, "
        f"{goal['seconds']:.1f} s) is reached by ours in {reached['seconds']:.2f} s: "
        f"**{ratio:.1f} times sooner** (bar: {bar:g}; met: {_met(ratio, bar, least=True)})."
    )


def _quality(result: dict) -> str:
    parts = []
    for name, part in result["collections"].items():
        text = f"### {name}\n\n{_setting(part)}\n\n{_points(part['rows'])}\n\n"
        if not part.get("best"):
            parts.append(text + "No comparison yet.")
            continue
        ours = min(_perplexities(part["rows"][OURS]))
        text += f"Best LDA {part['best']:.0f}, ours {ours:.0f}; met: {_met(ours, part['best'], least=False)}. "
        if part["reached"]:
            share = part["reached"]["seconds"] / part["fastest"]
            text += (
                f"As good as the best LDA after {part['reached']['seconds']:.2f} s, {share:.3f} of the "
                f"{part['fastest']:.1f} s of the fastest (bar: ≤ {result['bar']:g}; "
                f"met: {_met(share, result['bar'], least=False)})."
            )
        parts.append(text)
    return "\n\n".join(parts)


def _scaling_documents(result: dict) -> str:
    head = ["documents", "non-zeros", *(f"{name}, one pass" for name in result["rows"])]
    table = []
    for place, size in enumerate(result["sizes"]):
        times = [milliseconds(_at(row.get("seconds"), place)) for row in result["rows"].values()]
        table.append([f"{size['documents']:,}", f"{size['nonzeros']:,}", *times])
    slopes = "; ".join(
        f"{name} {row['slope']:.2f}" if row.get("slope") else f"{name} {row.get('failed', 'unknown')}"
        for name, row in result["rows"].items()
    )
    ours = result["rows"].get(OURS, {}).get("slope")
    bar = result["slope_bar"]
    text = f"{_setting(result)}\n\n{_table(head, table)}\n\nLog-log slope: {slopes} (bar: ours ≤ {bar:g}; met: "
    text += f"{_met(ours, bar, least=False)})."
    factor = result["memory_bar"]
    memory = [
        [
            f"{row['documents']:,}",
            f"{row['bytes'] / 1e6:.0f} MB" if "bytes" in row else f"cannot run: {row.get('failed')}",
            f"{row['allowance'] / 1e6:.0f} MB",
            f"≤ {factor:g}",
            _met(row["bytes"] / row["allowance"] if "bytes" in row else None, factor, least=False),
        ]
        for row in result.get("memory", [])
    ]
    head = ["documents", "peak of a fit", "counts + column index + 3 × parameters", "bar", "met"]
    return f"{text}\n\n{_table(head, memory)}" if memory else text


def _scaling_threads(result: dict) -> str:
    names = list(result["rows"])
    head = ["threads", *(f"{name}, one pass" for name in names), "speed-up of ours", "bar", "met", "bits"]
    ours = result["rows"].get(OURS, {})
    digests = ours.get("digests")
    table = []
    for place, threads in enumerate(result["threads"]):
        times = [milliseconds(_at(result["rows"][name].get("seconds"), place)) for name in names]
        seconds = ours.get("seconds")
        speed_up = seconds[0] / seconds[place] if seconds else None
        bar = result["bars"].get(str(threads))
        same = "" if not digests else "same" if digests[place] == digests[0] else "DIFFERENT"
        judged = [f"≥ {bar:g}", _met(speed_up, bar, least=True)] if bar else ["", ""]
        table.append([str(threads), *times, _number(speed_up, 2), *judged, same])
    return f"{_setting(result)}\n\n{_table(head, table)}"


def _tree_pass(result: dict) -> str:
    table = [
        [
            part["documents_from"],
            f"{part['counts']['nonzeros']:,}",
            milliseconds(part["flat"]),
            milliseconds(part["tree"]),
            _number(part["ratio"], 2),
            f"≤ {result['bar']:g}",
            _met(part["ratio"], result["bar"], least=False),
        ]
        for part in result["collections"].values()
    ]
    head = ["documents", "non-zeros", "flat, one pass", "tree, one pass", "ratio", "bar", "met"]
    text = (
        f"HPLSA on a balanced tree of {result['n_components']} leaves and {result['n_nodes']} nodes against flat PLSA "
        f"with K = {result['n_components']}, {result['n_threads']} threads, in turn; medians."
    )
    return f"{text}\n\n{_table(head, table)}"


def _dask(result: dict) -> str:
    first, second = result["seconds"]
    table = [
        ["1", milliseconds(first), "", "", ""],
        [
            "2",
            milliseconds(second),
            _number(result["speed_up"], 2),
            f"≥ {result['bar']:g}",
            _met(result["speed_up"], result["bar"], least=True),
        ],
    ]
    bits = "the same" if result["same_bits"] else "**DIFFERENT**"
    text = (
        f"{_setting(result)} {result['n_blocks']} blocks in files, worker processes of one thread on this machine, in "
        f"turn; medians of {result['n_passes']} passes. Bits of one worker, two workers and one process: {bits}."
    )
    return f"{text}\n\n{_table(['workers', 'one pass', 'speed-up', 'bar', 'met'], table)}"


def _scale_tree(result: dict) -> str:
    counts, grown = result["counts"], result["grown"]
    table = [
        [
            how, str(row["leaves"]), str(row["passes"]), f"{row['pass']:.3f} s" if "pass" in row else "–",
            f"{row['seconds']:.1f} s", f"{row['between_passes']:.1f} s", f"{row['processor_seconds']:.1f} s",
            f"{row['peak'] / 1e6:.0f} MB", f"{row['objective']:.6g}",
        ]
        for how, row in grown.items()
    ]  # fmt: skip
    bits = "the same" if result["same_bits"] else "**DIFFERENT**"
    text = (
        f"A CAM grown to {result['n_leaves']} leaves, with headings: {result['documents_from']}, "
        f"{counts['documents']:,} documents, {counts['words']:,} words, {counts['nonzeros']:,} non-zeros; "
        f"{result['n_blocks']} blocks, {result['bytes'] / 1e6:,.0f} MB in files; one thread in each process. Bits from "
        f"files, of one and of two workers: {bits}. *One pass* is the median of the last ten. *Peak* is that of "
        "the process that asks, beyond an idle one, with "
        "the pages of files that are mapped. Processor seconds are those of all processes, whatever else the machine "
        "does."
    )
    names = ["where", "leaves", "passes", "one pass", "seconds", "between passes", "processor", "peak", "objective"]
    return f"{text}\n\n{_table(names, table)}"


def _ten_million(result: dict) -> str:
    table = [
        [
            f"{row['documents']:,}", f"{row['nonzeros'] / 1e6:,.0f} M", f"{row['seconds'] / 60:.1f} min",
            f"{row['peak'] / 1e9:.2f} GB", f"{row['leaves']} of {row['planted']}", f"{row['purity']:.3f}",
        ]
        for row in result["rows"]
    ]  # fmt: skip
    text = (
        "Synthetic abstracts of the topics of a fitted tree, in blocks on disk: a tree grown as by default, its words "
        "learned from all documents, and these placed, by two threads. *Peak* is of the whole process, with mapped "
        f"pages. From the smallest to the largest time grows with the power {result['slope']:.2f} of the documents."
    )
    return f"{text}\n\n{_table(['documents', 'non-zeros', 'time', 'peak', 'leaves', 'purity'], table)}"


def _out_of_core(result: dict) -> str:
    peak, allowance = result["peak"], result["allowance"]
    cost = result["nanoseconds"]
    table = [
        [
            "peak memory of a fit beyond an idle process",
            f"{peak / 1e6:,.0f} MB",
            f"≤ {allowance / 1e6:,.0f} MB",
            _met(peak, allowance, least=False),
        ],
        [
            "a pass from files, in times of one in memory",
            _number(result["ratio"], 2),
            f"≤ {result['bar']:g}",
            _met(result["ratio"], result["bar"], least=False),
        ],
    ]
    text = (
        f"Synthetic documents: {result['documents']:,}, {result['nonzeros']:,} non-zeros, "
        f"{result['bytes'] / 1e6:,.0f} MB in {result['n_blocks']} blocks; K = {result['n_components']}, "
        f"{result['n_threads']} threads. A non-zero takes {cost['files']:.1f} ns from files, {cost['memory']:.1f} ns "
        f"in memory; the fit of {result['fit_passes']} passes with folding in {result['fit_seconds']:.0f} s."
    )
    return f"{text}\n\n{_table(['what', 'measured', 'bar', 'met'], table)}"


def _stream(result: dict) -> str:
    peak, bar = result["peak"], result["memory_bar"]
    slope, slope_bar = result["slope"], result["slope_bar"]
    table = [
        ["documents a second", f"{result['documents_a_second']:,.0f}", "", ""],
        ["peak memory of the process", f"{peak / 1e9:.2f} GB", f"≤ {bar / 1e9:g} GB", _met(peak, bar, least=False)],
        [
            f"slope of log time, {result['first']:,} to {result['documents']:,} documents",
            _number(slope, 3),
            f"≤ {slope_bar:g}",
            _met(slope, slope_bar, least=False),
        ],
    ]
    (before, after), (found, refined) = result["likelihood"], result["agreement"]
    text = (
        f"Online HPLSA on a planted tree of {result['n_leaves']} leaves, {result['n_words']:,} words: "
        f"{result['documents']:,} documents, {result['tokens']:,.0f} tokens, {result['nonzeros']:,} non-zeros in "
        f"blocks of {result['block_size']:,} on disk, made, read and removed in turn; {result['n_threads']} threads"
        f"{' of ' + result['where'] if 'where' in result else ''}. "
        f"Learning took {result['seconds']:.0f} s ({result['core_seconds']:.0f} s of the cores), making and writing "
        f"the blocks {result['writing_seconds']:.0f} s, the start on {result['sample']:,} documents "
        f"{result['sample_seconds']:.0f} s. New documents had {before:.3f} nats a token in the first tenth of the "
        f"stream and {after:.3f} in the last; agreement with the planted leaves (NMI) {found:.2f} before and "
        f"{refined:.2f} after."
    )
    return f"{text}\n\n{_table(['what', 'measured', 'bar', 'met'], table)}"


SECTIONS: dict[str, Callable[[dict], str]] = {
    "pass_speed": _pass_speed,
    "time_to_quality": _time_to_quality,
    "quality": _quality,
    "scaling_documents": _scaling_documents,
    "scaling_threads": _scaling_threads,
    "tree_pass": _tree_pass,
    "tree_quality": findings.render,
    "headings": findings.render,
    "vectors": findings.render,
    "short_texts": findings.render,
    "tree_speed": findings.render,
    "tree_stability": findings.render,
    "events": findings.render,
    "abstracts": findings.render,
    "labels": findings.render,
    "labels_speed": findings.render,
    "learn_default": findings.render,
    "calibration": findings.render,
    "learn_vectors": findings.render,
    "categorisers": findings.render,
    "finding": findings.render,
    "categorising": findings.render,
    "search": findings.render,
    "find_default": findings.render,
    "known_items": findings.render,
    "find_speed": findings.render,
    "feedback": findings.render,
    "find_vectors": findings.render,
    "review": findings.render,
    "collection": findings.render,
    "explorer": findings.render,
    "dask": _dask,
    "out_of_core": _out_of_core,
    "scale_tree": _scale_tree,
    "ten_million": _ten_million,
    "large_collection": findings.render,
    "device": findings.render,
    "stream": _stream,
    "gaussians": findings.render,
    "mixtures": findings.render,
}


def _setting(result: dict) -> str:
    counts = result.get("counts")
    size = f", {counts['documents']:,} documents, {counts['nonzeros']:,} non-zeros" if counts else ""
    threads = f", {result['n_threads']} threads" if "n_threads" in result else ""
    return f"{result['documents_from']}{size}; K = {result['n_components']}{threads}."


def _points(rows: dict[str, dict]) -> str:
    table = []
    for row in rows.values():
        table += [
            [row["title"], str(p["iterations"]), f"{p['seconds']:.1f} s", _number(p["perplexity"], 0)]
            for p in row["points"]
        ]
        if "failed" in row:
            table.append([row["title"], "", f"cannot run: {row['failed']}", ""])
    return _table(["system", "iterations", "training time", "perplexity"], table)


def _perplexities(row: dict) -> list[float]:
    return [point["perplexity"] for point in row["points"] if point["perplexity"] is not None]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _at(values: list[float] | None, place: int) -> float | None:
    return values[place] if values and place < len(values) else None


def milliseconds(seconds: float | None) -> str:
    """Return a time for people, or a dash where there is none."""
    return "–" if seconds is None else f"{1000 * seconds:,.1f} ms"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _met(value: float | None, bar: float, *, least: bool) -> str:
    if value is None:
        return "–"
    return "yes" if (value >= bar if least else value <= bar) else "**no**"


def _processor() -> str:
    """Return the processor's family as the system names it, without anything that names the host."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    write()
