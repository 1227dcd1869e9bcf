"""The commands that use a collection, once it has grown."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add them to the command line."""
