"""The tools of the repository as modules: a part of what they do at length is done in tests."""

import importlib.util
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[1] / "tools"


def tool(name):
    """One of them, by its name."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
