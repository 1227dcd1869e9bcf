"""A model as a folder: ``model.json`` says what it is, ``model.safetensors`` holds its arrays.

The folder is written beside its place and renamed, so that it is complete or not there. Reading it runs no code that it
brings: JSON and numbers, a fixed list of classes, and every size checked before anything is computed. Arrays are
mapped, not read: opening takes no memory, and several processes share them. See docs/how-to/save-a-model.md.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
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

POSITIVE = frozenset(("temperature_", "inverse_temperature_"))
MAY_BE_NONE = frozenset(("effective_length_",))
NUMBERS = POSITIVE | MAY_BE_NONE | {
    "component_smoothing_", "concentration_", "sharpness_", "floor_", "smoothing_", "unlabelled_weight_",
    "generative_weight_", "n_features_in_", "n_iter_", "n_batches_", "n_tokens_seen_",
}  # fmt: skip
NEEDED = {"CAM": ("temperature_", "effective_length_"), "HPLSA": ("inverse_temperature_",)}
NEEDED |= {"PLSA": ("inverse_temperature_",)}
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
        found = Reader(arrays, registry).estimator(body)
        _check_numbers(type(found).__name__, vars(found))
        return found
    except DAMAGE as error:
        raise MODEL.damaged(folder / DESCRIPTION, error) from error


def _check_numbers(kind: str, fitted: Mapping[str, Any]) -> None:
    """Refuse what was learned as a number and is none, or gone: it would be met much later, in the middle of a sum."""
    for name in NEEDED.get(kind, ()):
        if name not in fitted:
            raise ValueError(f"there is no {name}")
    for name in NUMBERS & fitted.keys():
        value = fitted[name]
        if value is None and name in MAY_BE_NONE:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value!r:.40}")
        if value == 0 and name in POSITIVE:
            raise ValueError(f"{name} is 0")


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
