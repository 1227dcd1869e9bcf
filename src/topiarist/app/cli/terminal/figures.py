"""Drawings into files: refused before the work begins if they cannot be made."""

from __future__ import annotations

import errno
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from topiarist.app.cli.terminal.console import typed_command
from topiarist.errors import ResourceError, UsageError

KINDS = (".png", ".svg", ".pdf")
RESOLUTION = 150  # dots per inch of a .png
ALWAYS_THE_SAME: Any = {"svg.hashsalt": "topiarist", "svg.fonttype": "path"}


def check(path: str | None, *, force: bool = False) -> None:
    """A file of a kind that can be drawn, in a folder that is there, and new unless forced; None is no drawing."""
    if path is None:
        return
    if Path(path).suffix.lower() not in KINDS:
        raise UsageError(f"expected a file that ends in .png, .svg or .pdf, got {path}", hint="tree.svg")
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"there is no folder {Path(path).parent} to draw into", hint=Path(path).name)
    if os.path.lexists(path) and not force:
        raise UsageError(f"there is a {path} already", hint="--force to draw it anew, or another name")
    if importlib.util.find_spec("matplotlib") is None:
        raise ResourceError("drawing needs matplotlib, which is not installed", hint=f"{_pip()} install matplotlib")


def _pip() -> str:
    """The pip that belongs to the program as it was typed."""
    folder, name = os.path.split(typed_command())
    return os.path.join(folder, "pip") if name and folder else "pip"


def save(draw: Callable[[], Any], path: str) -> None:
    """Write what ``draw`` draws (it returns matplotlib's axes); the same drawing gives the same bytes."""
    import matplotlib

    matplotlib.use("agg")  # no windows
    from matplotlib import pyplot

    date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(Path(path).suffix.lower())
    try:
        with matplotlib.rc_context(ALWAYS_THE_SAME):
            figure = draw().figure
            figure.savefig(path, dpi=RESOLUTION, metadata=date)
            pyplot.close(figure)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise UsageError(f"cannot write {path}: {error.strerror or error}", hint="another file") from None
