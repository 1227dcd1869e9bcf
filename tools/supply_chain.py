"""What topiarist is made of: an SBOM, the licences, sizes and wholeness of what is installed. Asks nobody.

    python tools/supply_chain.py [--extras dev] [--sbom sbom.json]

Walks the requirements from topiarist's own metadata through everything that they require here. Told: licences that are
not among those that go with ours, or are not told; packages that call themselves inactive or were yanked to be built
from a file or a repository; files that are not what the wheel's own list says; how much a default install takes. Known
vulnerabilities are not looked up: that needs a list from the network (``pip-audit`` reads the SBOM).
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

# What goes with BSD-3-Clause when it is installed beside. Weak copyleft is for extras, and named in dependencies.md.
FREE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Zlib|0BSD|Unlicense|CC0|HPND|Public Domain|BlueOak)\b", re.I
)
WEAK = re.compile(r"\b(MPL|Mozilla|LGPL|Lesser General Public)\b", re.I)
STRONG = re.compile(r"\b(AGPL|GPL|Affero|SSPL|proprietary|commercial)\b", re.I)
INACTIVE = "Development Status :: 7 - Inactive"


@dataclass(frozen=True)
class Package:
    """An installed package, and how far it is from topiarist."""

    name: str
    version: str
    licence: str
    size: int
    requires: tuple[str, ...]
    said: tuple[str, ...]  # what is odd about it

    @property
    def address(self) -> str:
        """As SBOMs name it."""
        return f"pkg:pypi/{self.name}@{self.version}"


def packages(extras: frozenset[str], check: bool) -> dict[str, Package]:
    """topiarist and everything that it requires here, by name."""
    found: dict[str, Package] = {}
    waiting = [("topiarist", extras)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            known = distribution(name)
        except PackageNotFoundError:
            continue
        own = [
            (plain(one.name), frozenset(one.extras))
            for one in map(Requirement, known.requires or ())
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (wanted or {""}))
        ]
        waiting += own
        before = found.get(name)
        requires = {*(before.requires if before else ()), *(one for one, _ in own)}
        if before is None:
            found[name] = _package(name, known, check)
        found[name] = Package(**{**vars(found[name]), "requires": tuple(sorted(requires))})
    return found


def plain(name: str) -> str:
    """A name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _package(name: str, known: Distribution, check: bool) -> Package:
    said = list(_odd(known, check)) if name != "topiarist" else []
    size = sum(file.size or 0 for file in known.files or ())
    return Package(name, known.version, licence_of(known), size, (), tuple(said))


def licence_of(known: Distribution) -> str:
    """As the package tells it: an expression, a field of one line, or its classifiers."""
    told = known.metadata.get("License-Expression") or ""
    classified = [
        one.rpartition(" :: ")[2] for one in known.metadata.get_all("Classifier") or () if "License ::" in one
    ]
    field = (known.metadata.get("License") or "").strip()
    files = [file for file in known.files or () if re.match(r"(?i)(licen[cs]e|copying)", Path(str(file)).name)]
    text = Path(str(known.locate_file(files[0]))).read_text(errors="replace").strip() if files else ""
    field = field or next(iter(FREE.findall(text[:400])), text.partition("\n")[0][:80])
    return told or ", ".join(one for one in classified if one != "OSI Approved") or field.partition("\n")[0][:80]


def _odd(known: Distribution, check: bool) -> Iterator[str]:
    """What somebody should know of a package."""
    if INACTIVE in (known.metadata.get_all("Classifier") or ()):
        yield "calls itself inactive"
    direct = known.read_text("direct_url.json")
    if direct:
        yield "was not installed from an index"
    wrong = [str(file) for file in known.files or () if check and file.hash and not _same(file, known)]
    if wrong:
        yield f"{len(wrong)} files are not what its list says, such as {wrong[0]}"


def _same(file: object, known: Distribution) -> bool:
    """Whether an installed file is the one of the wheel."""
    path = Path(str(known.locate_file(file)))  # type: ignore[arg-type]
    if not path.is_file():
        return False
    made = hashlib.new(file.hash.mode, path.read_bytes()).digest()  # type: ignore[attr-defined]
    same: bool = base64.urlsafe_b64encode(made).rstrip(b"=").decode() == file.hash.value  # type: ignore[attr-defined]
    return same


def sbom(found: dict[str, Package]) -> dict[str, object]:
    """As CycloneDX 1.5, sorted, without times and numbers of chance: the same for the same packages."""
    own = found["topiarist"]
    others = [one for name, one in sorted(found.items()) if name != "topiarist"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": _component(own) | {"type": "application"}},
        "components": [_component(one) for one in others],
        "dependencies": [
            {"ref": one.address, "dependsOn": [found[name].address for name in one.requires if name in found]}
            for one in (own, *others)
        ],
    }


def _component(one: Package) -> dict[str, object]:
    known = {"type": "library", "bom-ref": one.address, "name": one.name, "version": one.version, "purl": one.address}
    return known | ({"licenses": [{"license": {"name": one.licence}}]} if one.licence else {})


def faults(found: dict[str, Package], core: set[str]) -> Iterator[str]:
    """What should not be so."""
    for name, one in sorted(found.items()):
        if not one.licence:
            yield f"{name} does not tell its licence"
        elif not FREE.search(one.licence) and (STRONG.search(one.licence) or not WEAK.search(one.licence)):
            yield f"{name} has the licence {one.licence!r}"
        elif name in core and WEAK.search(one.licence) and not FREE.search(one.licence):
            yield f"{name} is needed by all and has the licence {one.licence!r}"
        yield from (f"{name}: {said}" for said in one.said)


def main() -> None:
    """Tell licences, sizes and what is odd; write the SBOM."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--extras", default="", help="such as dev, or parquet,ocr")
    parser.add_argument("--sbom", help="a file to write it into")
    parser.add_argument("--no-files", action="store_true", help="do not read every installed file")
    asked = parser.parse_args()
    extras = frozenset(filter(None, asked.extras.split(",")))
    core = packages(frozenset(), check=False)
    found = packages(extras, check=not asked.no_files)
    size = sum(one.size for one in core.values())
    largest = sorted(core.values(), key=lambda one: -one.size)[:6]
    print(f"{len(core) - 1} packages by default, {size / 1e6:.0f} MB: the largest", end=" ")
    print(", ".join(f"{one.name} {one.size / 1e6:.0f} MB" for one in largest))
    licences = sorted({one.licence for one in found.values()})
    print(f"{len(found) - 1} packages looked at, licences: {'; '.join(licences)}")
    if asked.sbom:
        Path(asked.sbom).write_text(json.dumps(sbom(found), indent=1, sort_keys=True) + "\n")
    wrong = list(faults(found, set(core)))
    for one in wrong:
        print(f"LOOK AT {one}")
    print(f"{len(wrong)} things to look at")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
