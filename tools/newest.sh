#!/bin/sh
# Installs topiarist without pins in an environment of its own (.venv-newest), says which versions are newer than those
# that the tests run with, and runs the tests that would notice first. Other tests may be given. Ends with their code.
set -eu
cd "$(dirname "$0")/.."
VENV=.venv-newest
"${PYTHON:-python3}" -m venv "$VENV"
"$VENV/bin/python" -m pip --disable-pip-version-check install -q -U pip
"$VENV/bin/python" -m pip install -q --upgrade --upgrade-strategy eager -e '.[dev]'
echo "== Newer than constraints.txt"
"$VENV/bin/python" - <<'PYTHON'
import re
from importlib.metadata import distributions

plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
lines = [line.split("==") for line in open("constraints.txt") if "==" in line]
pinned = {plain(name): version.strip() for name, version in lines}
here = {plain(one.metadata["Name"]): one.version for one in distributions()}
for name in sorted(here):
    if name in pinned and pinned[name] != here[name]:
        print(f"{name}: {pinned[name]}, now {here[name]}")
    elif name not in pinned and name not in ("topiarist", "pip", "setuptools"):
        print(f"{name}: not pinned, now {here[name]}")
PYTHON
"$VENV/bin/python" -m pip check
echo "== The tests that would notice first"
if [ $# -eq 0 ]; then
    set -- tests/contracts tests/kernels tests/models/test_plsa.py tests/models/test_cam.py tests/text/readers \
        tests/storage tests/cli/test_cli.py tests/web/test_pages.py tests/web/test_safety.py
fi
exec "$VENV/bin/python" -m pytest -q -n 2 "$@"
