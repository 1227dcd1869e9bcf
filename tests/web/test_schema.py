"""Pages and writes, asked in every way that their schema allows and in some that it does not.

``make fuzz`` asks a few thousand times; here it is a few hundred. Writes are tried on a copy, with the token: what they
say of states, topics and documents is now and then true.
"""

import os
import shutil
import time
from itertools import count

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from topiarist.collection.classify.judgements import Judgements
from topiarist.web.http import safety
from topiarist.web.http.server import explorer
from topiarist.web.pages.registry import PAGES

EXAMPLES = int(os.environ.get("TOPIARIST_FUZZ", "20"))  # for each page
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
HERE = {"Host": "127.0.0.1"}
READS = [page.data_path for page in PAGES]
READS += ["/job.json", "/export.{kind}", "/original"]
WRITES = ["/tag", "/untag", "/read", "/undo", "/refit", "/stop", "/shape", "/new", "/keep", "/judge", "/review"]
PLACES = "/file.json"  # by POST, and changes nothing
ID = "wire/law/bail/000.txt"


@pytest.fixture(scope="session")
def api(folder):
    return schemathesis.openapi.from_asgi("/openapi.json", explorer(folder), headers=HERE)


@pytest.fixture(scope="module")
def writable(folder, tmp_path_factory):
    """A copy to be changed, and what a client has to send along."""
    copy = tmp_path_factory.mktemp("writes") / "copy.topiary"
    shutil.copytree(folder, copy)
    app = explorer(str(copy))
    headers = {**HERE, "Origin": "http://127.0.0.1", safety.TOKEN: app.state.session.token}
    return app, schemathesis.openapi.from_asgi("/openapi.json", app, headers=headers), headers


def asked(strategy, ask):
    """Ask many times; how the answers were."""
    statuses = []

    @given(case=strategy, data=st.data())
    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES < 100, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate], database=None,
    )  # fmt: skip
    def once(case, data):
        statuses.append(ask(case, data).status_code)

    once()
    return statuses


@pytest.mark.parametrize("path", READS)
def test_every_answer_is_as_the_schema_says(api, path):
    turns = count()

    def ask(case, data):
        true = {"topic": data.draw(st.integers(0, 9)), "id": ID, "other": data.draw(st.integers(0, 9))}
        every = next(turns) % 2 == 0  # draws depend on the modules that are loaded: half ask for what is there
        for values in (case.path_parameters, case.query):
            values.update({name: true[name] for name in values if name in true and (data.draw(st.booleans()) or every)})
        return case.call_and_validate(checks=CHECKS, headers=HERE)

    assert 200 in asked(api[path]["GET"].as_strategy(), ask)


@pytest.mark.parametrize("path", [*WRITES, PLACES])
def test_every_answer_to_a_write_is_as_the_schema_says(writable, path):
    app, api, headers = writable
    turns = count()

    def ask(case, data):
        while (job := app.state.session.job) is not None and not job.done:
            time.sleep(0.01)  # while the tree is fitted every change is answered by 503
        if isinstance(case.body, dict):
            view = app.state.session.view()
            topics, places = view.shape.topics, data.draw(st.tuples(st.integers(0, 99), st.integers(0, 99)))
            true = {
                "state": view.mark, "document": ID, "topic": topics[places[0] % len(topics)],
                "other": topics[places[1] % len(topics)], "refit": False,
                "words": view.collection.counting.vocabulary.words[places[0] % 20],
                "number": Judgements(view.collection.generation.database).last_number(), "label": ["law/bail"],
            }  # fmt: skip
            if path == "/refit" and data.draw(st.integers(0, 9)):
                del true["state"]  # a fit takes seconds
            every = next(turns) % 2 == 0  # see above
            known = {name: true[name] for name in case.body if name in true and (data.draw(st.integers(0, 3)) or every)}
            case.body = {**case.body, **known}
        return case.call_and_validate(checks=CHECKS, headers=headers)

    found = asked(api[path]["POST"].as_strategy(), ask)
    if path in ("/shape", "/review"):  # chance may hit no edit or answer that can be made
        client, view = TestClient(app, base_url=headers["Origin"], headers=headers), app.state.session.fresh()
        if path == "/shape":
            body = {"edit": "rename", "topic": view.shape.topics[1], "name": "Mine"}
        else:
            page = client.get("/review.json", params={"label": "wanted", "query": "bail"}).json()
            body = {"review": "wanted", "query": "bail", "does": "skip", "number": page["number"]}
            body |= {name: page[name] for name in ("target", "confidence")} | {"document": page["next"]["id"]}
        found.append(client.post(path, json={**body, "state": view.mark}).status_code)
    assert (200 in found) == (path != "/keep")  # nobody guesses the key of documents
    assert app.state.session.fresh().n_docs >= 400


def test_writes_without_the_token_are_refused_as_the_schema_says(writable):
    app, api, headers = writable
    foreign = {name: value for name, value in headers.items() if name != safety.TOKEN} | {"Accept": "application/json"}
    number = app.state.session.view().number
    for path in WRITES:
        case = api[path]["POST"].Case(body={"state": app.state.session.view().mark}, media_type="application/json")
        answer = case.call(headers={**foreign, safety.TOKEN: "no"})
        case.validate_response(answer, checks=CHECKS)
        assert answer.status_code == 403
    assert app.state.session.fresh().number == number
