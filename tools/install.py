"""Installs topiarist into the environment of this Python: with digests where there are some, by versions elsewhere.

    python tools/install.py core|dev|docs

``core`` is topiarist with the extra ``office``, so that a checkout reads PDF and office files as it comes.

On the platform and the Pythons that a file of ``packaging/hashes/`` names, every package must have a digest in it. A
dependency of pyproject.toml without one is printed and installed in the version of ``constraints.txt``, as all packages
are on other platforms. ``TOPIARIST_HASHES=no`` turns digests off, for an index that has wheels of its own.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {"core": "office", "dev": "dev", "docs": "docs"}  # of topiarist, by what is asked for


def fits(text: str, system: str, machine: str, python: tuple[int, ...]) -> bool:
    """Whether digests are those of this platform and this Python."""
    found = re.match(r"# for (\S+), Python ([\d. ]+);", text)
    if found is None:
        return False
    return found[1] == f"{system.lower()}-{machine}" and f"{python[0]}.{python[1]}" in found[2].split()


def required(kind: str) -> set[str]:
    """The names of what pyproject.toml asks for, as the files of digests write them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"][EXTRAS[kind]]]
    found = (re.match(r"[\w.-]+", text) for text in texts if not text.startswith("topiarist"))
    return {re.sub(r"[-_.]+", "-", one[0]).lower() for one in found if one}


def main() -> int:
    """Install; the exit code of pip."""
    kind = sys.argv[1]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    own = ["-e", f"{ROOT}[{EXTRAS[kind]}]", "-c", f"{ROOT / 'constraints.txt'}"]
    file = ROOT / "packaging" / "hashes" / f"{kind}.txt"
    known = file.read_text() if file.is_file() else ""
    here = fits(known, platform.system(), platform.machine(), sys.version_info[:2])
    if here and os.environ.get("TOPIARIST_HASHES") != "no":
        done = subprocess.run([*pip, "--require-hashes", "--no-deps", "-r", str(file)], check=False).returncode  # noqa: S603
        if done:
            print("pip could not install the pinned packages; its message is above.")
            print("If your index has wheels of its own, set TOPIARIST_HASHES=no.")
            return done
        own.append("--no-build-isolation")
        if without := sorted(required(kind) - set(re.findall(r"^([\w.-]+)==", known, re.MULTILINE))):
            print(f"By their versions alone, without digests: {', '.join(without)}")
    elif here:
        print("Without digests, as TOPIARIST_HASHES=no asks.")
    else:
        print("Without digests: there are none for this platform and Python.")
    return subprocess.run([*pip, *own], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
