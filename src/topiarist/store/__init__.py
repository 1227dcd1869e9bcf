"""What is kept on disk: collections and models. Complete or not there, checked when read, and never any code in them.

Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.store.model_folder import load_model, load_vocabulary, save_model

_HOMES = {"load_model": "model_folder", "load_vocabulary": "model_folder", "save_model": "model_folder"}

__all__ = ["load_model", "load_vocabulary", "save_model"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
