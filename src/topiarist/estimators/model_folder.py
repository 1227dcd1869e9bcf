"""A model as a folder: ``model.json`` says what it is, ``model.safetensors`` holds its arrays.

The folder is written beside its place and renamed, so that it is complete or not there. Reading it runs no code that it
brings: JSON and numbers, a fixed list of classes, and every size checked before anything is computed. Arrays are
mapped, not read: opening takes no memory, and several processes share them. See docs/how-to/save-a-model.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.estimators import registry
from topiarist.store.encoding import Reader, Writer
from topiarist.store.sealed_folder import (
    DAMAGE,
    Format,
    checked_files,
    new_sealed_folder,
    read_manifest,
    seal,
    write_manifest,
)
from topiarist.store.tensors import map_tensors, write_tensors
from topiarist.store.vocabulary_file import VOCABULARY, read_vocabulary, write_vocabulary
from topiarist.version import __version__

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

DESCRIPTION, ARRAYS = "model.json", "model.safetensors"
MODEL_FILES = frozenset((DESCRIPTION, ARRAYS, VOCABULARY))
MODEL = Format(
    name="topiarist-model",
    versions=(1,),
    what="the folder of a model",
    hint="the folder that save_model was given",
    again="a copy of the folder, or save the model again",
    manifest=DESCRIPTION,
    absent=UsageError,
    error=DamagedError,
    damage="is damaged, or was written by a newer topiarist",
    layout={"indent": 1, "sort_keys": True, "allow_nan": False},
)


def save_model(model: BaseEstimator, folder: str | Path, *, vocabulary: Vocabulary | None = None) -> None:
    """Write a fitted estimator into a new folder, with the words of its columns if they are given.

    The same model gives the same bytes. ``executor`` is left out; an estimator that holds something else that cannot be
    kept, such as a function, is refused.
    """
    from sklearn.exceptions import NotFittedError  # a second to load, which those who only read do not need
    from sklearn.utils.validation import check_is_fitted

    writer = Writer(registry)
    try:
        body = writer.estimator(model)
        check_is_fitted(model)
    except NotFittedError as error:
        raise UsageError(
            f"{type(model).__name__} is not fitted: there is nothing to save", hint="fit it first"
        ) from error
    except RecursionError as error:
        raise UsageError("cannot save the model: a parameter is nested too deeply", hint="plain values") from error
    n_words = getattr(model, "n_features_in_", None)
    if vocabulary is not None and n_words not in (None, len(vocabulary)):
        raise UsageError(
            f"the model knows {n_words} columns, the vocabulary has {len(vocabulary)} words",
            hint="the vocabulary of the counts that the model was fitted to",
        )
    with new_sealed_folder(folder) as partial:
        write_tensors(partial / ARRAYS, writer.arrays)
        if vocabulary is not None:
            write_vocabulary(partial, vocabulary)
        write_manifest(partial, MODEL, {**body, "topiarist": __version__, "files": seal(partial)})


def load_model(folder: str | Path, *, check: bool = False) -> Any:
    """The estimator of a folder: it answers with the same bits, and a stream goes on where it was.

    ``check`` compares the checksums of all files, which reads them once; that files are complete is always made sure.
    """
    folder = Path(folder)
    body = _description(folder, check=check)
    arrays = map_tensors(folder / ARRAYS)
    try:
        return Reader(arrays, registry).estimator(body)
    except DAMAGE as error:
        raise MODEL.damaged(folder / DESCRIPTION, error) from error


def load_vocabulary(folder: str | Path, *, check: bool = False) -> Vocabulary | None:
    """The words that were saved with a model; None if there were none."""
    folder = Path(folder)
    if VOCABULARY not in _description(folder, check=check)["files"]:
        return None
    try:
        return read_vocabulary(folder)
    except (InputError, *DAMAGE) as error:
        raise MODEL.damaged(folder / VOCABULARY, error) from error


def _description(folder: Path, *, check: bool) -> dict[str, Any]:
    """What the folder says about itself, after a look at its files."""
    body = read_manifest(folder, MODEL)[0]
    try:
        if ARRAYS not in body["files"] or not set(body["files"]) <= {ARRAYS, VOCABULARY}:
            raise ValueError(f"files called {sorted(body['files'])}")
        checked_files(folder, body["files"], MODEL, contents=check)
    except DAMAGE as error:
        raise MODEL.damaged(folder / DESCRIPTION, error) from error
    return body


def replace_model(write: Callable[[Path], None], target: str) -> int:
    """Write a model beside its place and put it there; the old one goes only when the new one is complete."""
    place = Path(os.path.abspath(target))
    new, old = (place.with_name(f".{place.name}.{os.getpid()}.{which}") for which in ("new", "old"))
    try:
        write(new)
        number = sum(1 for _ in new.iterdir())
        if place.exists():
            place.rename(old)
        new.rename(place)
    except BaseException:
        _remove_model(new)
        if old.exists() and not place.exists():
            old.rename(place)
        raise
    _remove_model(old)
    return number


def _remove_model(folder: Path) -> None:
    """The files of a model and their folder; a file that came meanwhile keeps it there."""
    if not folder.is_dir():
        return
    for name in MODEL_FILES:
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
