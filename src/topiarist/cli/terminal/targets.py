"""Target files of commands: outside of collections, and replaced only with ``--force``."""

from __future__ import annotations

import errno
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from topiarist.cli.terminal.console import typed_command
from topiarist.errors import ResourceError, UsageError
from topiarist.estimators.model_folder import DESCRIPTION, MODEL_FILES
from topiarist.storage.collection_folder import GENERATION, GROWING
from topiarist.storage.sealed_folder import LOCK

FIGURE_KINDS = (".png", ".svg", ".pdf")
RESOLUTION = 150  # dots per inch of a .png
ALWAYS_THE_SAME: Any = {"svg.hashsalt": "topiarist", "svg.fonttype": "path"}
REPORT, HEAD = b'<meta name="generator" content="topiarist report">', 4096  # what a report has in its first bytes


def check_file(target: str, *, force: bool) -> None:
    """Raise UsageError if the target is a folder, in a collection, or exists without ``force``."""
    _refuse_collection_folder(target)
    if os.path.isdir(target):
        raise UsageError(
            f"{target} is a folder, and a file is to be written",
            hint=f"Write to a file in it, such as {os.path.join(target, 'NAME.csv')}.",
        )
    _refuse_existing(target, force=force)


def check_report(target: str, *, force: bool) -> None:
    """A file that may be written, as others are; an earlier report may be replaced without a word."""
    check_file(target, force=force or _is_report(target))


def _is_report(target: str) -> bool:
    """Return whether a file is a report of topiarist; reads its beginning."""
    if not os.path.isfile(target):
        return False
    with open(target, "rb") as file:
        return REPORT in file.read(HEAD)


def check_model(target: str, *, force: bool) -> None:
    """Raise UsageError if the target folder exists and is no model that may be replaced."""
    _refuse_collection_folder(target)
    _refuse_existing(target, force=force)
    if not os.path.lexists(target):
        return
    if os.path.islink(target) or not Path(target, DESCRIPTION).is_file():
        raise UsageError(f"{target} is not a model that could be replaced", hint="Choose another name.")
    strangers = sorted(set(os.listdir(target)) - MODEL_FILES)
    if strangers:
        raise UsageError(f"{target} holds more than a model: {strangers[0]}", hint="Choose another name.")


def _refuse_collection_folder(target: str) -> None:
    """Raise UsageError if the target is a collection or in one."""
    place = Path(os.path.realpath(target))
    for folder in (place, *place.parents):
        if _holds_a_collection(folder):
            relation = "is" if folder == place else "lies in"
            problem = f"{target} {relation} a collection, which only topiarist writes"
            raise UsageError(problem, hint="Choose a place outside of it.")


def _holds_a_collection(folder: Path) -> bool:
    """Return whether a folder is a collection: by its generations or an unfinished grow, not by its manifest alone."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return False
    return {GROWING, LOCK} <= names or any(map(GENERATION.fullmatch, names))


def _refuse_existing(target: str, *, force: bool) -> None:
    if os.path.lexists(target) and not force:
        raise UsageError(f"{target} exists already", hint="Use --force to replace it, or choose another name.")


def check_figure(path: str | None, *, force: bool = False) -> None:
    """Raise an error for a wrong format, folder or existing file, or without matplotlib. None is valid."""
    if path is None:
        return
    if Path(path).suffix.lower() not in FIGURE_KINDS:
        raise UsageError(
            f"expected a file that ends in .png, .svg or .pdf, got {path}", hint="Write to a file such as tree.svg."
        )
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"the folder {Path(path).parent} does not exist", hint=f"Write it to {Path(path).name}.")
    _refuse_existing(path, force=force)
    if importlib.util.find_spec("matplotlib") is None:
        folder, name = os.path.split(typed_command())
        pip = os.path.join(folder, "pip") if name and folder else "pip"
        raise ResourceError("drawing needs matplotlib, which is not installed", hint=f"Run {pip} install matplotlib.")


def save_figure(draw: Callable[[], Any], path: str) -> None:
    """Write the drawing of ``draw`` to a file. Equal drawings give equal bytes. Raise UsageError."""
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
        raise UsageError(f"cannot write {path}: {error.strerror or error}", hint="Choose another file.") from None
