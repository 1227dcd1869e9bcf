"""Changes as files of their own: gathered under the newest heading of the changelog, and taken away.

    python tools/changes.py           gather them
    python tools/changes.py --check   say which are there, and fail where one is not as it should be

A file of ``changes/`` holds lines that begin with ``- ``; what goes on is indented by two spaces.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER, CHANGELOG = ROOT / "changes", ROOT / "CHANGELOG.md"


def fragments(folder: Path = FOLDER) -> list[Path]:
    """The files of changes, in the order of their names."""
    return sorted(path for path in folder.glob("*.md") if path.name != "README.md")


def problem(text: str) -> str:
    """What is wrong with a change; nothing, if it is as it should be."""
    lines = text.strip("\n").splitlines()
    if not lines or not lines[0].startswith("- "):
        return "it should begin with “- ”"
    wrong = next((line for line in lines if not line.startswith(("- ", "  "))), "")
    return f"a line should begin with “- ” or two spaces, and not so: {wrong[:40]}" if wrong else ""


def gathered(changelog: str, texts: Iterable[str]) -> str:
    """The changelog with changes before those that stand under its newest heading; as it is, where it has none."""
    new = "".join(text.strip("\n") + "\n" for text in texts)
    heading = re.search(r"^## .*", changelog, re.MULTILINE)
    if heading is None or not new:
        return changelog
    rest = changelog[heading.end() :].lstrip("\n")
    gap = "" if not rest or rest.startswith("- ") else "\n"  # a list goes on, all else does not belong to it
    return f"{changelog[: heading.end()]}\n\n{new}{gap}{rest}"


def main(given: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Gather them, or look at them."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--check", action="store_true")
    only_check = asked.parse_args(given).check
    found = {path: path.read_text("utf-8") for path in fragments(root / FOLDER.name)}
    wrong = [f"changes/{path.name}: {said}" for path, text in found.items() if (said := problem(text))]
    print(*(wrong or [f"{len(found)} changes"]), sep="\n")
    if wrong or only_check:
        return int(bool(wrong))
    changelog = root / CHANGELOG.name
    before = changelog.read_text("utf-8")
    after = gathered(before, found.values())
    if found and after == before:
        print(f"{changelog.name} has no heading that begins with “## ”: nothing was gathered, and the files stay")
        return 1
    changelog.write_text(after, encoding="utf-8")
    for path in found:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
