"""The explorer over 192,000 documents: how long does the server take for a page, and does it bear fifty readers?

Requests go to loopback only. The readers stop by themselves, after a minute or so many requests.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np

from benchmarks import data
from benchmarks.bars import EXPLORER_GROWTH, EXPLORER_PAGE, EXPLORER_SEARCH
from benchmarks.bench_collection import NAME, QUICK
from benchmarks.findings import Findings
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings

READERS, SECONDS, MOST = 50, 60.0, 100_000
ONE_BY_ONE = 40  # requests of each kind


def main(settings: Settings) -> dict:
    """Serve a grown collection; ask for pages one by one, then let many readers wander."""
    folder = _collection(settings)
    with Served(folder) as server:
        pages = _addresses(server)
        times = {kind: [server.seconds(choose()) for _ in range(ONE_BY_ONE)] for kind, choose in pages.items()}
        before = server.resident()
        crowd = asyncio.run(_crowd(server.address, pages, SECONDS / (6 if settings.quick else 1)))
        after = server.resident()
    found = Findings(
        f"{data.provenance(NAME)}: one server process on two cores, requests from the same machine. Times are those of"
        " the server, one request after the other."
    )
    rows = [
        [kind, *(f"{1000 * np.quantile(taken, q):.0f} ms" for q in (0.5, 0.95, 1.0))] for kind, taken in times.items()
    ]
    found.table(["page", "median", "p95", "longest"], rows)
    found.say(
        f"{READERS} readers at once for {crowd['seconds']:.0f} s: {crowd['requests']:,} pages, {crowd['errors']}"
        f" errors, median {1000 * crowd['median']:.0f} ms, p95 {1000 * crowd['p95']:.0f} ms; memory"
        f" {before / 1e6:,.0f} MB before and {after / 1e6:,.0f} MB after."
    )
    searches = [kind for kind in times if kind.startswith("search")]
    found.bar(
        "p95 of the slowest page, ms", 1000 * max(_p95(times[k]) for k in times if k not in searches), EXPLORER_PAGE
    )
    found.bar("p95 of the slower search, ms", 1000 * max(_p95(times[kind]) for kind in searches), EXPLORER_SEARCH)
    found.bar("errors for fifty readers", crowd["errors"], 0, form=".0f")
    found.bar("memory after, in times of before", after / before, EXPLORER_GROWTH, form=".2f")
    found.values |= {"pages": times, "crowd": crowd, "before": before, "after": after}
    return found.result()


def _p95(taken: list[float]) -> float:
    return float(np.quantile(taken, 0.95))


def _collection(settings: Settings) -> Path:
    """Grown once and kept: it is the same for every run."""
    folder = CACHE / f"explorer-{'quick' if settings.quick else 'full'}-labelled.topiary"
    if not (folder / "manifest.json").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        limit = ["--limit", str(QUICK)] if settings.quick else []
        sources = [str(path) for path in data.sources(NAME)]
        _topiarist("grow", *sources, "-o", str(folder), "--label-column", "label", *limit)
        _topiarist("learn", str(folder))
        _topiarist("shape", str(folder), "rename", "1", "The first heading")  # an earlier state, to compare with
    return folder


def _topiarist(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "topiarist", *words, "--quiet"], cwd=REPOSITORY, check=True)


class Served:
    """A server in a process of its own, which ends with the block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Served:
        command = [sys.executable, "-m", "topiarist", "explore", str(self.folder), "--no-browser", "--read-only"]
        self.process = subprocess.Popen(
            command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for line in self.process.stdout:
            if "http://" in line:
                self.address = "http://" + line.split("http://")[1].split()[0].rstrip("/.")
                break
        self.client = httpx.Client(base_url=self.address, timeout=60)
        self.client.get("/").raise_for_status()
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(timeout=30)

    def seconds(self, path: str) -> float:
        began = time.perf_counter()
        answer = self.client.get(path)
        taken = time.perf_counter() - began
        assert answer.status_code in (200, 404), (path, answer.status_code)
        return taken

    def worked(self) -> float:
        """Seconds that its processor has worked, on all threads."""
        ticks = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def _addresses(server: Served) -> dict:
    """Ways to draw an address of each kind, by chance."""
    from topiarist.collection.collection import Collection

    rng = random.Random(0)
    with Collection.open(server.folder) as collection:
        topics = collection.outline.topics
        rows = [rng.randrange(len(collection)) for _ in range(500)]
        documents = collection.documents.load_many(rows, texts=False)
        labels = sorted(collection.documents.label_counts()) or [""]
    ids, queries = [document.id for document in documents], [_words(document.title, rng) for document in documents]
    return {
        "overview": lambda: "/",
        "topic": lambda: f"/topic/{rng.choice(topics)}",
        "topic, newest": lambda: f"/topic/{rng.choice(topics)}?sort=newest",
        "document": lambda: f"/doc/{quote(rng.choice(ids), safe='')}",
        "word": lambda: f"/word?word={quote(rng.choice(queries).split()[0])}",
        "the whole tree": lambda: "/tree",
        "labels and tree": lambda: "/compare",
        "an edit before it is made": lambda: f"/shape?edit=split&topic={rng.choice(topics[1:])}&ready=1",
        "categories": lambda: "/categories",
        "a category": lambda: f"/categories?label={quote(rng.choice(labels), safe='')}",
        "model": lambda: "/model",
        "search by words": lambda: f"/search?q={quote(rng.choice(queries))}",
        "search by one word": lambda: f"/search?q={quote(rng.choice(queries).split()[0])}",
        "search under a topic": lambda: f"/search?q={quote(rng.choice(queries))}&topic={rng.choice(topics)}",
        "search by meaning": lambda: f"/search?q={quote(rng.choice(queries))}&by=meaning",
        "search by both": lambda: f"/search?q={quote(rng.choice(queries))}&by=both",
    }


def _words(title: str, rng: random.Random) -> str:
    """Two words of a title: queries that nobody has asked before."""
    words = re.findall(r"[a-z]{4,}", title.lower()) or ["matter"]
    return " ".join(rng.sample(words, min(2, len(words))))


async def _crowd(address: str, pages: dict, seconds: float) -> dict:
    """Readers who ask for one page after the other."""
    times: list[float] = []
    errors = 0
    end = time.monotonic() + seconds
    chooser = random.Random(1)
    kinds = list(pages)

    async def reader(client: httpx.AsyncClient) -> None:
        nonlocal errors
        while time.monotonic() < end and len(times) < MOST:
            began = time.perf_counter()
            try:
                answer = await client.get(pages[chooser.choice(kinds)]())
                errors += answer.status_code >= 400
            except httpx.HTTPError:
                errors += 1
            times.append(time.perf_counter() - began)

    limits = httpx.Limits(max_connections=READERS)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        began = time.monotonic()
        await asyncio.gather(*(reader(client) for _ in range(READERS)))
        taken = time.monotonic() - began
    return {
        "requests": len(times), "errors": int(errors), "seconds": taken,
        "median": float(np.median(times)), "p95": _p95(times),
    }  # fmt: skip


def look(folder: Path, *wanted: str) -> None:
    """Time of the server for every kind of page of a collection that is there: waited for, and of its processor."""
    with Served(folder) as server:
        pages = _addresses(server) | {
            "overview in German": lambda: "/?language-of-the-header",
            "over time": lambda: "/time",
            "by group": lambda: "/groups",
            "map": lambda: "/map",
            "points of the map": lambda: "/map.points",
            "notes": lambda: "/notes",
        }
        for kind, choose in pages.items():
            if wanted and not any(one in kind for one in wanted):
                continue
            server.client.headers["Accept-Language"] = "de" if "German" in kind else "en"
            server.seconds(choose())
            waited, worked = [], []
            for _ in range(ONE_BY_ONE):
                before = server.worked()
                waited.append(server.seconds(choose()))
                worked.append(server.worked() - before)
            told = [f"{1000 * np.quantile(waited, q):5.0f}" for q in (0.5, 0.95, 1.0)]
            print(
                f"{kind:28} {' '.join(told)} ms; of its processor {1000 * np.quantile(worked, 0.95):5.0f}", flush=True
            )


if __name__ == "__main__":  # python -m benchmarks.bench_explorer FOLDER [KIND …]: median, p95, longest
    look(Path(sys.argv[1]), *sys.argv[2:])
