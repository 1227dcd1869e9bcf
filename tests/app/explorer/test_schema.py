"""The data of the pages, asked in every way that their schema allows and in some that it does not.

``make fuzz`` asks a few thousand times; here it is a few hundred.
"""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from topiarist.app.explorer.server import PAGES, explorer

EXAMPLES = int(os.environ.get("TOPIARIST_FUZZ", "20"))  # for each page
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


HERE = {"Host": "127.0.0.1"}


@pytest.fixture(scope="session")
def api(folder):
    return schemathesis.openapi.from_asgi("/openapi.json", explorer(folder), headers=HERE)


@pytest.mark.parametrize("path", [("/index" if page.path == "/" else page.path) + ".json" for page in PAGES])
def test_every_answer_is_as_the_schema_says(api, path):
    found = api[path]["GET"].as_strategy()
    asked = []

    @given(case=found)
    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES < 100, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate], database=None,
    )  # fmt: skip
    def ask(case):
        asked.append(case)
        case.call_and_validate(checks=CHECKS, headers=HERE)

    ask()
    assert asked
