"""A small collection for each test."""

from tests.grown import collection, grown_once, path  # noqa: F401
from tests.small import folder, small_states  # noqa: F401
