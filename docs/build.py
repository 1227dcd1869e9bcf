"""Build the site: ``make docs``. Nothing is fetched, neither now nor when somebody reads it; at the end it is checked.

Pages are taken as they are. The changelog, the results of the benchmarks and how to contribute, which lie outside of
this folder, get pages of their own; links to files that are on no page (source code, the licence) become text.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).parent
ROOT = DOCS.parent
OUTSIDE = {
    ROOT / "CHANGELOG.md": "changelog.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "benchmarks" / "RESULTS.md": "results.md",
}
HOME = {ROOT / "README.md": "index.md"}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
REMOTE = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//")


def stage(target: Path) -> None:
    """Lay all pages into a folder, with links as they are in the site."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("__pycache__"))
    places = {path.resolve(): str(path.relative_to(DOCS)) for path in DOCS.rglob("*") if path.is_file()} | OUTSIDE
    for source, place in places.items():
        if place.endswith(".md"):
            text = source.read_text("utf-8")
            (target / place).write_text(_with_links(text, source, place, places | HOME), encoding="utf-8")


def _with_links(text: str, source: Path, place: str, places: dict[Path, str]) -> str:
    """A page whose links lead to where pages are in the site, or to nowhere."""

    def changed(found: re.Match[str]) -> str:
        said, aim = found.groups()
        path, mark, anchor = aim.partition("#")
        if not path or urlsplit(aim).scheme:
            return found[0]
        there = places.get((source.parent / path).resolve())
        if there is None:
            return said
        return f"[{said}]({os.path.relpath(there, os.path.dirname(place) or '.')}{mark}{anchor})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(changed, part) for part in parts)


class Page(HTMLParser):
    """What a page loads, where it leads to, and which places it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember addresses and places."""
        for name, value in attrs:
            if (tag, name) in LOADS:
                self.loads.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.leads.append(value or "")
            elif name == "id":
                self.places.add(value or "")


def faults(site: Path) -> list[str]:
    """What is wrong with a site: something is loaded from elsewhere, or a link leads nowhere."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [f"{path.name} loads {one}" for path, page in pages.items() for one in page.loads if urlsplit(one).netloc]
    for style in site.rglob("*.css"):
        found += [f"{style.name} loads {one}" for one in REMOTE.findall(style.read_text("utf-8"))]
    for path, page in pages.items():
        for aim in page.leads:
            parts = urlsplit(aim)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(there)
            if not there.exists() or (parts.fragment and known and unquote(parts.fragment) not in known.places):
                found.append(f"{path.relative_to(site)} leads to {aim}, which is not there")
    return found


def main(folder: str = "build/docs") -> int:
    """Build into a folder; how many things are wrong."""
    try:
        from sphinx.cmd.build import build_main
    except ModuleNotFoundError:
        print("The site is built by Sphinx, which is not here. Try: pip install -e '.[docs]'", file=sys.stderr)
        return 5
    staged, site = Path(folder) / "pages", Path(folder) / "site"
    stage(staged)
    shutil.rmtree(site, ignore_errors=True)
    status = build_main(["-q", "-W", "--keep-going", "-d", str(Path(folder) / "cache"), str(staged), str(site)])
    wrong = faults(site)
    print("\n".join(wrong), file=sys.stderr)
    number, size = len(list(site.rglob("*.html"))), sum(one.stat().st_size for one in site.rglob("*") if one.is_file())
    print(f"{number} pages, {size / 1e6:.1f} MB, with a search and without a network: {site / 'index.html'}")
    return status or min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
