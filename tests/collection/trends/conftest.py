"""A collection whose truth is known."""

from tests.grown import collection, grown_once, path  # noqa: F401
from tests.planted import planted, planted_path  # noqa: F401
