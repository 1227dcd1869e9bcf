"""Import paths that version 0.1 documented: they work until 0.3, with a warning that says the new one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# What the reference of 0.1 named -> where the same names are now.
MOVED = {
    "topiarist.files": "topiarist",
    "topiarist.files.filing": "topiarist.collection.file.arrivals",
    "topiarist.files.finding": "topiarist.collection.find.search",
    "topiarist.files.learning": "topiarist.collection.judge.learner",
    "topiarist.files.recipe": "topiarist.collection.grow.recipe",
    "topiarist.tasks": "topiarist.estimators",
    "topiarist.tasks.comparing": "topiarist.measures.comparison",
    "topiarist.tasks.evaluating": "topiarist.measures.evaluation",
    "topiarist.tasks.evidence": "topiarist.estimators.category.pmm",
    "topiarist.tasks.search": "topiarist.collection.find.index",
    "topiarist.tasks.shape": "topiarist.collection.shape",
    "topiarist.tasks.tables": "topiarist.collection.describe.tables",
    "topiarist.tasks.topic_tree": "topiarist.collection.describe.topic_tree",
    "topiarist.tasks.topics": "topiarist.collection.describe.flat_topics",
}


class OldPaths(MetaPathFinder, Loader):
    """Finds a module by its old path: one that hands every name on from the new one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module for an old path; None for all others."""
        if fullname not in MOVED:
            return None
        return ModuleSpec(fullname, self, is_package=fullname.count(".") == 1)

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module that has no names of its own."""
        new = MOVED[module.__name__]

        def handed_on(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            warnings.warn(
                f"{module.__name__} has moved and will be gone in version 0.3: use {new}",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(import_module(new), name)

        vars(module)["__getattr__"] = handed_on
