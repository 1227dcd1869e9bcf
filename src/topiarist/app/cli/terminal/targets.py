"""Where a command writes what it was asked for: never into a collection, never over what nobody meant to give up."""

from __future__ import annotations

import os
from pathlib import Path

from topiarist.errors import UsageError
from topiarist.estimators.model_folder import DESCRIPTION, MODEL_FILES
from topiarist.store.collection_folder import GENERATION, GROWING
from topiarist.store.sealed_folder import LOCK

REPORT, HEAD = b'<meta name="generator" content="topiarist report">', 4096  # what a report has in its first bytes


def check_file(target: str, *, force: bool) -> None:
    """A file that may be written: not a folder, not in a collection, and not there unless it may be replaced."""
    _outside(target)
    if os.path.isdir(target):
        raise UsageError(f"{target} is a folder, and a file is to be written", hint=os.path.join(target, "NAME.csv"))
    _new(target, force=force)


def check_report(target: str, *, force: bool) -> None:
    """A file that may be written, as others are; an earlier report may be replaced without a word."""
    check_file(target, force=force or _is_report(target))


def _is_report(target: str) -> bool:
    if not os.path.isfile(target):
        return False
    with open(target, "rb") as file:
        return REPORT in file.read(HEAD)


def check_model(target: str, *, force: bool) -> None:
    """A folder that may be written: a new one, or one in which there is a model and nothing else."""
    _outside(target)
    _new(target, force=force)
    if not os.path.lexists(target):
        return
    if os.path.islink(target) or not Path(target, DESCRIPTION).is_file():
        raise UsageError(f"{target} is not a model that could be replaced", hint="another name")
    strangers = sorted(set(os.listdir(target)) - MODEL_FILES)
    if strangers:
        raise UsageError(f"{target} holds more than a model: {strangers[0]}", hint="another name")


def _outside(target: str) -> None:
    place = Path(os.path.realpath(target))
    for above in (place, *place.parents):
        if _holds_a_collection(above):
            what = "is" if above == place else "lies in"
            raise UsageError(f"{target} {what} a collection, which only topiarist writes", hint="a place outside of it")


def _holds_a_collection(folder: Path) -> bool:
    """By its generations, or an unfinished grow: a manifest.json alone may be anybody's."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return False
    return {GROWING, LOCK} <= names or any(map(GENERATION.fullmatch, names))


def _new(target: str, *, force: bool) -> None:
    if os.path.lexists(target) and not force:
        raise UsageError(f"there is a {target} already", hint="--force to replace it, or another name")
