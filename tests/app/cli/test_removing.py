"""``topiarist remove``: what is said, what is asked, and what is left."""

import json

import pytest

from tests.app.cli.conftest import run
