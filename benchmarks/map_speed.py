"""How soon is the map there, and how fast does it pan? ``python -m benchmarks.map_speed FOLDER``: in Chromium.

Frames are counted by the clock, which other work on the machine slows down; the time of the page's own thread for each
frame is that of the processor.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks.bench_explorer import Served

SECONDS = 5
PAN = """(seconds) => new Promise((done) => {
    const canvas = document.querySelector("canvas[data-drawn]"), box = canvas.getBoundingClientRect();
    const send = (kind, x) => canvas.dispatchEvent(new PointerEvent(kind, {
        pointerId: 1, clientX: x, clientY: box.top + box.height / 2, bubbles: true }));
    canvas.setPointerCapture = () => {};
    const first = Number(canvas.dataset.drawn), began = performance.now(), middle = box.left + box.width / 2;
    send("pointerdown", middle);
    const step = (now) => {
        if (now - began > 1000 * seconds) {
            return done([Number(canvas.dataset.drawn) - first, (now - began) / 1000]);
        }
        send("pointermove", middle + 120 * Math.sin((now - began) / 300));
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})"""


def look(folder: Path) -> None:
    """Print when the points are drawn, and how many frames a second panning has, from afar and from near."""
    with Served(folder) as server, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(180_000)  # right after its start a server works out what pages need
        for visit in ("first", "second", "third"):
            began = time.perf_counter()
            page.goto(f"{server.address}/map")
            page.wait_for_selector("canvas[data-drawn]")
            print(f"the map is there, {visit} visit: {time.perf_counter() - began:.2f} s", flush=True)
        told = page.context.new_cdp_session(page)
        told.send("Performance.enable", {"timeDomain": "threadTicks"})
        for name, closer in (("from afar", 0), ("from near", 2)):
            for _ in range(closer):
                page.click('[data-zoom="2"]')
            _pan(page, told, name)
        browser.close()


def _pan(page: Page, told: CDPSession, name: str) -> None:
    before = _worked(told)
    frames, seconds = page.evaluate(PAN, SECONDS)
    each = 1000 * (_worked(told) - before) / max(frames, 1)
    print(f"panning {name}: {frames / seconds:.0f} frames a second; {each:.1f} ms of the page's thread for each")


def _worked(told: CDPSession) -> float:
    """Seconds that the page's thread has worked."""
    found = told.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in found if one["name"] == "TaskDuration")


if __name__ == "__main__":
    look(Path(sys.argv[1]))
