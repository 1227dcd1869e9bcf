"""Killed at any moment, a folder holds the old state or the new one, and says what to do; see also ``make fuzz``."""

import pytest

from tests.tools import tool


@pytest.fixture(scope="module")
def fuzz():
    return tool("fuzz_kills")


@pytest.mark.parametrize(("only", "kills"), [("grow", 6), ("shape", 2), ("file", 1)])
def test_a_collection_survives_being_killed(fuzz, tmp_path, only, kills):
    assert fuzz.rounds(tmp_path, kills, 7, only, n_docs=120) == []
