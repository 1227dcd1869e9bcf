"""What a collection was grown with: versions, processor and device, and a digest of the texts that were read.

Equal texts, settings and edits give equal bits where these are equal; ``verify`` tells which of them are not. A grow
that was stopped may be taken up elsewhere: each stage is written down where it is not as the one before it.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from typing import Any

from topiarist.text.documents import Document
from topiarist.text.readers.making import storable
from topiarist.version import __version__

MADE_WITH = "made_with"  # among the settings of a collection; none in those of earlier versions
STAGES = "taken_up_with"  # among the settings too: what a grow was taken up with, where that was something else
BEGUN = "tree_begun"  # of a stage: whether a part of the tree was there already
IN_BLOCKS = "in_blocks"  # how large blocks may become, where a tree grows from files; also in the log of a collection
WAY = 5  # of growing: one more whenever the same texts give another tree; 1 was not written down
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")  # whose sums may come out otherwise in another version


def circumstances(device: str = "cpu") -> dict[str, Any]:
    """Everything here that may change the last bits of a tree."""
    return {
        "topiarist": __version__,
        "way of growing": WAY,
        "Python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "processor": f"{platform.machine()} {_processor()}",
        "device": device,
    }


def stages(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each stage of a grow ran on, in order; none where an earlier version wrote nothing of it."""
    later = settings.get(STAGES)
    found = [settings.get(MADE_WITH), *(later if isinstance(later, list) else ())]
    return [one for one in found if isinstance(one, dict)]


def mixed(known: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one part of a tree was grown in memory, or within another allowance, and the rest otherwise."""
    return any(after.get(BEGUN) and before.get(IN_BLOCKS) != after.get(IN_BLOCKS) for before, after in pairwise(known))


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names of what is not as it was, of what is known now."""
    return [name for name, value in now.items() if before.get(name) != value]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """What kernels are compiled for: other processors may add up in another order."""
    from llvmlite import binding

    try:
        return str(binding.get_host_cpu_name())
    except (OSError, RuntimeError):
        return "unknown"


class TextDigest:
    """A digest of documents, in their order: ids and texts, as they are kept."""

    def __init__(self) -> None:
        self._made = hashlib.sha256()

    def see(self, document: Document) -> None:
        """One document more."""
        for part in (document.id, document.text):
            content = storable(part).encode()
            self._made.update(len(content).to_bytes(8, "little"))
            self._made.update(content)

    def passing(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents, being seen."""
        for document in documents:
            self.see(document)
            yield document

    def text(self) -> str:
        """What it is so far."""
        return self._made.hexdigest()
