"""Are the intervals of shares over time right, and are bursts found? ``python -m benchmarks.spread`` prints both.

Collections are simulated with known topics: what the topics themselves get wrong is not in these figures. With
``--grown`` some collections are also grown from simulated texts, and their shares set against the truth.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from topiarist.metrics.bursts import find_bursts
from topiarist.metrics.share_intervals import compute_group_shares

CLASSES, PERIODS, WORDS = 8, 12, 60


def simulated(rng: np.random.Generator, documents: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(class | document) by their own model, the period of each, and the true shares."""
    words = rng.dirichlet(np.full(WORDS, 0.2), CLASSES)
    truth = rng.dirichlet(20 * rng.dirichlet(np.full(CLASSES, 2.0)), PERIODS)
    periods = rng.integers(0, PERIODS, documents)
    classes = (rng.random(documents)[:, None] > truth[periods].cumsum(axis=1)[:, :-1]).sum(axis=1)
    likelihood = rng.multinomial(length, words[classes]) @ np.log(np.maximum(words.T, 1e-30))
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    prior = np.full(CLASSES, 1 / CLASSES)
    for _ in range(300):
        posterior = likelihood * prior / (likelihood @ prior)[:, None]
        prior = posterior.mean(axis=0)
    return posterior, periods, truth


def coverage(collections: int) -> Iterator[tuple[int, int, float]]:
    for length in (1, 2, 4, 10, 40):
        for documents in (120, 1_200):
            rng, held = np.random.default_rng(0), []
            for _ in range(collections):
                posterior, periods, truth = simulated(rng, documents, length)
                found = compute_group_shares(csr_array(posterior), periods, PERIODS, np.eye(CLASSES))
                held.append((found.low <= truth) & (truth <= found.high))
            yield length, documents, float(np.mean(held))


def bursts(
    collections: int,
    topics: int = 20,
    periods: int = 24,
    sizes: tuple[int, ...] = (2_400, 5_000, 12_000, 100_000),
    wavers: tuple[float, ...] = (0.0, 0.1, 0.2),
) -> Iterator[tuple[int, float, float, float]]:
    """Documents, how much topics go up and down anyway, precision, recall of bursts of three times the usual share."""
    for documents in sizes:
        for waver in wavers:
            rng, right, told, again, every = np.random.default_rng(0), 0, 0, 0, 0
            for _ in range(collections):
                rates = np.tile(rng.dirichlet(np.full(topics, 3.0)), (periods, 1))
                rates = rates * np.exp(rng.normal(0, waver, rates.shape))
                planted = []
                for topic in rng.choice(topics, 5, replace=False).tolist():
                    long = int(rng.integers(1, 5))
                    first = int(rng.integers(0, periods - long + 1))
                    rates[first : first + long, topic] *= 3
                    planted.append((topic, first, first + long - 1))
                total = rng.multinomial(documents, np.full(periods, 1 / periods))
                counts = np.stack([rng.multinomial(n, row / row.sum()) for n, row in zip(total, rates, strict=True)])
                found = find_bursts(counts, total[:, None])
                meets = [
                    [one.thing == topic and one.first <= last and one.last >= first for topic, first, last in planted]
                    for one in found
                ]
                right, told = right + sum(map(any, meets)), told + len(found)
                again += sum(map(any, zip(*meets, strict=True))) if meets else 0
                every += len(planted)
            yield documents, waver, right / max(told, 1), again / every


def grown(collections: int, documents: int = 600, length: int = 30) -> float:
    """How often intervals of collections that were grown from texts hold the true share; topics are found by it too."""
    from topiarist import Collection, Document, Recipe

    held = []
    for seed in range(collections):
        rng = np.random.default_rng(seed)
        words = rng.dirichlet(np.full(200, 0.1), 4)
        truth = rng.dirichlet(8 * np.full(4, 0.25), 6)
        periods = rng.integers(0, 6, documents)
        classes = (rng.random(documents)[:, None] > truth[periods].cumsum(axis=1)[:, :-1]).sum(axis=1)
        made = [
            Document(
                str(row), " ".join(f"w{word}" for word in rng.choice(200, length, p=words[topic])),
                date=f"2014-{period + 1:02d}-01",
            )
            for row, (period, topic) in enumerate(zip(periods.tolist(), classes.tolist(), strict=True))
        ]  # fmt: skip
        recipe = Recipe(topics=4, headings=False, numbers=True)
        with tempfile.TemporaryDirectory() as place, Collection.grow(made, f"{place}/c.topiary", recipe) as collection:
            found = collection.over_time("month")
            leaves = [found.topics.index(collection.outline.topics[node]) for node in collection.outline.tree.leaves]
            labels = np.eye(4)[classes]
            shares = collection.shares.toarray()
            match = (shares.T @ labels).argmax(axis=1)  # the topic that each leaf is of
            if len(set(match.tolist())) < 4:
                continue  # two leaves of one topic: there is no truth to compare with
            for leaf, topic in zip(leaves, match.tolist(), strict=True):
                own = truth[:, topic]
                held.append((found.table.low[:, leaf] <= own) & (own <= found.table.high[:, leaf]))
    return float(np.mean(held))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--collections", type=int, default=100)
    asked.add_argument("--grown", type=int, default=0, help="collections to grow from texts")
    options = asked.parse_args()
    print("intervals of 95%: words a document, documents in 12 periods, true shares held")
    for length, documents, share in coverage(options.collections):
        print(f"  {length:>3} {documents:>6} {share:.3f}")
    print("bursts of three times, 20 topics, 24 periods: documents, waver, precision, recall")
    for documents, waver, precision, recall in bursts(options.collections):
        print(f"  {documents:>7,} {waver:.1f} {precision:.3f} {recall:.3f}")
    print("the same five among 60 topics, 36 periods")
    for documents, waver, precision, recall in bursts(options.collections, 60, 36, (60_000,), (0.2,)):
        print(f"  {documents:>7,} {waver:.1f} {precision:.3f} {recall:.3f}")
    if options.grown:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"grown from texts, {options.grown} collections: true shares held {grown(options.grown):.3f}")


if __name__ == "__main__":
    main()
