"""Killed at any moment, a folder holds the old state or the new one, and says what to do; see also ``make fuzz``."""

import importlib.util
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[3] / "tools" / "fuzz_kills.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_kills", FUZZ)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("only", "kills"), [("grow", 6), ("shape", 2), ("file", 1)])
def test_a_collection_survives_being_killed(fuzz, tmp_path, only, kills):
    assert fuzz.rounds(tmp_path, kills, 7, only, n_docs=120) == []
