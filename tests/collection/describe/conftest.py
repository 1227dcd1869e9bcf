"""A collection whose truth is known."""

from tests.planted import planted, planted_path  # noqa: F401
