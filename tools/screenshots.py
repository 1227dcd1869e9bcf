"""Pictures of the explorer for the documentation, taken in a real browser.

python tools/screenshots.py FOLDER docs/images           those that the documentation shows
python tools/screenshots.py FOLDER /tmp/shots --all      every page, on a desktop, a phone and enlarged, light and dark

Those of categories and of two trees want a collection that was learned and shaped: ``topiarist learn FOLDER --single``,
``topiarist shape FOLDER merge 5 6``.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import threading
from pathlib import Path
from urllib.parse import quote

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from topiarist.collection.trends.by_group import find_topics_by_group, list_groupings
from topiarist.web import addresses
from topiarist.web.http.server import explorer
from topiarist.web.view import View

SIZES = {"session": (1280, 800, 1.0), "phone": (390, 844, 1.0), "zoomed": (640, 400, 2.0)}
SHOWN = {
    "explore-overview": "/", "explore-topic": "TOPIC", "explore-document": "DOCUMENT",
    "explore-search": "/search?q=dark+matter", "explore-compare": "/compare",
    "explore-categories": "/categories?rho=0.5",
}  # fmt: skip


def main() -> None:
    """Serve a collection, and take the pictures."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("folder")
    given.add_argument("out", type=Path)
    given.add_argument("--all", action="store_true")
    given.add_argument("--only", default="")
    given.add_argument("--language", default="en")
    options = given.parse_args()
    app = explorer(options.folder, language=options.language)
    address = served(app)
    view = app.state.session.view()
    topic = view.children(view.tree.root)[0]
    rows = view.list_rows(view.tree.leaves[0], "typical", "all")
    ids = [view.collection.documents.load_many([int(row)], texts=False)[0].id for row in rows[:1]]
    known = {"TOPIC": f"/topic/{view.shape.topics[topic]}", "DOCUMENT": f"/doc/{quote(ids[0], safe='')}"}
    if options.all:
        pages = {
            "overview": "/", "topic": known["TOPIC"], "leaf": f"/topic/{view.shape.topics[view.tree.leaves[0]]}",
            "search": "/search?q=graphene", "meaning": "/search?q=black+hole+entropy&by=meaning",
            "document": known["DOCUMENT"], "document-topic": known["DOCUMENT"] + "?colour=topic",
            "tree": "/tree", "model": "/model", "new": "/new", "categories": "/categories", "compare": "/compare",
            "rename": f"/shape?edit=rename&topic={view.shape.topics[topic]}",
            "time": "/time", "groups": "/groups", "map": "/map", "notes": "/notes", "help": "/help",
            "review": "/review", "copies": "/duplicates", "word": "/word?word=matter",
            "why": known["DOCUMENT"] + "?why=1",
            "pair": _pair(view), "days": "/time?by=day",
            "missing": "/topic/4711", "nothing": "/search?q=graphenne",
        }  # fmt: skip
        every = [(f"{name}-{size}-{theme}", path, size, theme) for name, path in pages.items() for size in SIZES
                 for theme in ("light", "dark")]  # fmt: skip
    else:
        every = [(name, known.get(path, path), "session", "light") for name, path in SHOWN.items()]
    options.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, path, size, theme in every:
            if options.only and options.only not in name:
                continue
            width, height, scale = SIZES[size]
            page = browser.new_page(
                viewport={"width": width, "height": height}, device_scale_factor=scale, color_scheme=theme
            )
            page.goto(address + path)
            if page.locator("[data-map]").count():
                page.wait_for_selector("canvas[data-drawn]")
            page.screenshot(path=options.out / f"{name}.png")
            page.close()
            if not options.all:
                picture = options.out / f"{name}.png"
                Image.open(picture).quantize(128).save(picture, optimize=True)  # a third of the bytes
        browser.close()


def _pair(view: View) -> str:
    """The first two groups of the first column, compared with each other."""
    column = next(iter(list_groupings(view)), "")
    names = find_topics_by_group(view, column).names[:2] if column else ("", "")
    return addresses.groups(column=column, group=names[0], against=names[1])


def served(app: object) -> str:
    """A server in a thread; its address."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))  # type: ignore[arg-type]
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


if __name__ == "__main__":
    main()
