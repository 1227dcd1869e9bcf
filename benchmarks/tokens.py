"""Tokens per second from texts to counts, against scikit-learn's CountVectorizer.

    python benchmarks/tokens.py [--data FILE.jsonl.gz] [--rounds 5] [--jobs 2]

Single process: processor time, the contestants taking turns, best of several rounds. Several processes: wall
time, workers already started. Without --data: 20 Newsgroups beside the repository, or our own abstracts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer

from topiarist.counts import CountSettings, PhraseSettings, count
from topiarist.text.demo import demo_documents

NEWS = Path(__file__).resolve().parents[2] / "shared" / "data" / "20newsgroups" / "docs.jsonl.gz"
SAME = CountSettings(min_documents=1, numbers=True)


def load(path: Path) -> list[str]:
    if not path.exists():
        return [f"{document.title}\n{document.text}" for document in demo_documents()]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def best(contestants: dict[str, Callable[[], object]], rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    times = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, run in contestants.items():
            start = clock()
            run()
            times[name] = min(times[name], clock() - start)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens per second from texts to counts.")
    parser.add_argument("--data", type=Path, default=NEWS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    texts = load(options.data)
    n_tokens = int(count(texts, SAME)[0].sum())
    print(f"{len(texts)} texts, {n_tokens / 1e6:.2f} M tokens; load {os.getloadavg()[0]:.1f}")
    single = best(
        {
            "CountVectorizer": lambda: CountVectorizer().fit_transform(texts),
            "ours, same tokens": lambda: count(texts, SAME),
            "ours, default": lambda: count(texts),
            "ours, phrases": lambda: count(texts, CountSettings(phrases=PhraseSettings())),
            "ours, English stems": lambda: count(texts, CountSettings(stem="en")),
        },
        options.rounds,
        time.process_time,
    )
    print("one process, processor time")
    for name, seconds in single.items():
        ratio = single["CountVectorizer"] / seconds
        print(f"  {name:20} {seconds:6.2f} s  {n_tokens / seconds / 1e6:5.2f} Mtok/s  {ratio:5.2f} x")
    many = texts * 4
    processes = {f"{n} process(es)": lambda n=n: count(iter(many), SAME, n_jobs=n) for n in (1, options.jobs)}
    wall = best(processes, max(2, options.rounds // 2), time.perf_counter)
    print("wall time, the collection four times over")
    for name, seconds in wall.items():
        print(f"  {name:20} {seconds:6.2f} s  {4 * n_tokens / seconds / 1e6:5.2f} Mtok/s")


if __name__ == "__main__":
    main()
