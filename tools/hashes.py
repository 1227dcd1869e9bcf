"""The digests of the packages that ``make`` installs, from the index that pip is set to: ``make hashes``.

    python tools/hashes.py [--check]

Writes ``packaging/hashes/core.txt``, ``dev.txt`` and ``docs.txt``: what topiarist, its developers and its site need
(as installed here, in the versions of ``constraints.txt``), each with the digests of its wheels for the Pythons and the
platform that are named in the first line. ``tools/install.py`` takes them there, and versions alone elsewhere.
``--check`` writes nothing and says what is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import ssl
import tomllib
import urllib.request
from html.parser import HTMLParser
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
FOLDER, CONSTRAINTS = ROOT / "packaging" / "hashes", ROOT / "constraints.txt"
SETS = {"core": "office", "dev": "dev", "docs": "docs"}  # and the extras that they are
BUILDS = ("hatchling", "editables", "pathspec", "pluggy", "packaging", "trove-classifiers")  # what installs topiarist
PYTHONS, PLATFORM = ("3.11", "3.12", "3.13"), "linux-x86_64"
FITS = re.compile(r"any|(many)?linux.*_x86_64")


def needed(extra: str) -> set[str]:
    """The names of all that topiarist requires with an extra on any of our Pythons, of this platform.

    What it requires itself is in pyproject.toml; what others require is told by what is installed here.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting = [*project["dependencies"], f"topiarist[{extra}]", *BUILDS]
    seen, found = set[str](), set[str]()
    while waiting:
        text = waiting.pop()
        if text in seen:
            continue
        seen.add(text)
        one = Requirement(text)
        if one.name == "topiarist":
            waiting += [more for name in one.extras for more in project["optional-dependencies"][name]]
            continue
        found.add(canonicalize_name(one.name))
        for more in map(Requirement, distribution(one.name).requires or ()):
            if more.marker is None or any(
                more.marker.evaluate({"extra": name, "python_version": python, "python_full_version": f"{python}.0"})
                for name in (one.extras or {""})
                for python in PYTHONS
            ):
                more.marker = None
                waiting.append(str(more))
    return found


def pinned() -> dict[str, str]:
    """The versions of ``constraints.txt``, by name."""
    lines = (line.partition("#")[0].strip() for line in CONSTRAINTS.read_text().splitlines())
    pairs = (line.split("==") for line in lines if line)
    return {canonicalize_name(name): version for name, version in pairs}


def hashed(text: str) -> dict[str, tuple[str, list[str]]]:
    """What a file of ours says: the version and the digests of each package."""
    found = {}
    for line in text.replace("\\\n", " ").splitlines():
        if line and not line.startswith("#"):
            name, *digests = line.split()
            name, version = name.split("==")
            found[name] = (version, [one.removeprefix("--hash=sha256:") for one in digests])
    return found


class Links(HTMLParser):
    """The files that a page of an index names, with their digests."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See ``HTMLParser``."""
        address = urlsplit(dict(attrs).get("href") or "") if tag == "a" else None
        if address is not None and address.fragment.startswith("sha256="):
            self.files[unquote(address.path.rpartition("/")[2])] = address.fragment.removeprefix("sha256=")


def page(name: str) -> dict[str, str]:
    """The files of a package, by name, from the index of pip."""
    from pip._internal.models.index import PyPI

    address = f"{os.environ.get('PIP_INDEX_URL', PyPI.simple_url).rstrip('/')}/{name}/"
    trusted = ssl.create_default_context(cafile=os.environ.get("PIP_CERT"))
    asked = urllib.request.Request(address, headers={"Accept": "text/html"})  # noqa: S310
    with urllib.request.urlopen(asked, context=trusted, timeout=60) as answer:  # noqa: S310
        links = Links()
        links.feed(answer.read().decode())
        return links.files


def wheels(name: str, version: str) -> tuple[list[str], set[str]]:
    """The digests of the wheels that fit, and the Pythons that have one."""
    digests, served = set[str](), set[str]()
    for file, digest in page(name).items():
        try:
            _, number, _, tags = parse_wheel_filename(file)
        except InvalidWheelFilename:
            continue
        fitting = {python for python in PYTHONS for tag in tags if FITS.fullmatch(tag.platform) and _runs(tag, python)}
        if number == Version(version) and fitting:
            digests.add(digest)
            served |= fitting
    return sorted(digests), served


def _runs(tag, python: str) -> bool:  # type: ignore[no-untyped-def]
    """Whether a wheel with this tag runs on a Python."""
    minor = int(python.partition(".")[2])
    if tag.interpreter.startswith("py"):
        return tag.interpreter in ("py3", f"py3{minor}") and tag.abi == "none"
    own = re.fullmatch(r"cp3(\d+)", tag.interpreter)
    if own is None:
        return False
    return int(own[1]) <= minor if tag.abi == "abi3" else int(own[1]) == minor and tag.abi in (f"cp3{minor}", "none")


def main() -> None:
    """Ask the index, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    known, asked_for = pinned(), dict[str, tuple[list[str], set[str]]]()
    FOLDER.mkdir(exist_ok=True)
    for kind, extra in SETS.items():
        names = sorted(needed(extra))
        if missing := [name for name in names if name not in known]:
            raise SystemExit(f"not in constraints.txt: {', '.join(missing)}")
        if asked.check:
            here = hashed((FOLDER / f"{kind}.txt").read_text())
            odd = [name for name in names if here.get(name, ("",))[0] != known[name]]
            print(f"{kind}: {len(names)} packages, {len(odd)} without digests of their version: {', '.join(odd)}")
            continue
        for name in names:
            if name not in asked_for:
                asked_for[name] = wheels(name, known[name])
        if without := [name for name in names if not asked_for[name][0]]:
            raise SystemExit(f"no wheel of the pinned version for {PLATFORM}: {', '.join(without)}")
        pythons = [one for one in PYTHONS if all(one in asked_for[name][1] for name in names)]
        lines = [f"# for {PLATFORM}, Python {' '.join(pythons)}; written by tools/hashes.py"]
        for name in names:
            digests = " \\\n".join(f"    --hash=sha256:{digest}" for digest in asked_for[name][0])
            lines.append(f"{name}=={known[name]} \\\n{digests}")
        (FOLDER / f"{kind}.txt").write_text("\n".join(lines) + "\n")
        print(f"{kind}: {len(names)} packages, {sum(len(asked_for[one][0]) for one in names)} digests, {pythons}")


if __name__ == "__main__":
    main()
