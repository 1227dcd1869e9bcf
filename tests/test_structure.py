"""Tests of the source tree: public names, cost of the import, and constructs that are not allowed."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import topiarist

SOURCE = Path(topiarist.__file__).parent
PACKAGES = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
MAX_SHARE_OF_ANY = 0.06  # of all parameters; lower it when there are fewer, never raise it
MAX_POSITIONAL = 6  # arguments of a call; more cannot be read without the definition


def run_python(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def search_lines(pattern, packages):
    """Return the places of lines that match, without comments."""
    folders = [SOURCE / package for package in packages]
    assert all(folder.is_dir() for folder in folders)
    return [
        f"{path.relative_to(SOURCE)}:{number}"
        for folder in folders
        for path in folder.rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line.split("#")[0])
    ]


def test_public_names_exist():
    for name in topiarist.__all__:
        assert getattr(topiarist, name) is not None
    assert set(dir(topiarist)) == set(topiarist.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = topiarist.Nonsense


def test_import_loads_no_heavy_package():
    script = "import sys, topiarist; print(sorted({'numpy', 'numba', 'sklearn', 'rich'} & set(sys.modules)))"
    assert run_python(script) == "[]"


def test_source_has_no_unsafe_call():
    unsafe = re.compile(r"\bpickle\b|joblib\.(load|dump)|\beval\(|\bexec\(|allow_pickle=True|shell=True")
    assert search_lines(unsafe, ["."]) == []


def test_sql_is_in_storage_only():
    sql = re.compile(r"\b(SELECT\b.*\bFROM|INSERT\b.*\bINTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE|PRAGMA)\b")
    assert search_lines(sql, PACKAGES - {"storage", "text"}) == []
    assert search_lines(sql, ["storage"])  # the pattern finds statements where they are


def test_reference_kernels_replace_numba():
    script = (
        "import sys, warnings; sys.modules['numba'] = None; warnings.simplefilter('ignore')\n"
        "import numpy as np; from topiarist import PLSA\n"
        "print(PLSA(2, random_state=0, max_iter=5).fit(np.eye(4) + 1).components_.sum())\n"
    )
    assert float(run_python(script)) == pytest.approx(2.0)


def list_parameters():
    """Yield every parameter of every function: its place, name and annotation."""
    for path in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = function.args
                starred = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
                for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred):
                    yield f"{path.relative_to(SOURCE)}:{argument.lineno}", argument.arg, argument.annotation


def has_any(annotation):
    return annotation is not None and any(isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(annotation))


def test_few_parameters_have_type_any():
    parameters = list(list_parameters())
    assert [place for place, name, annotation in parameters if name == "self" and has_any(annotation)] == []
    vague = [place for place, name, annotation in parameters if name != "self" and has_any(annotation)]
    assert len(vague) <= MAX_SHARE_OF_ANY * len(parameters), f"{len(vague)} of {len(parameters)} parameters are Any"


def test_array_types_are_declared_once():
    declared = re.compile(r"^\w+(: TypeAlias)? = np\.ndarray\[", re.MULTILINE)
    paths = [str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if declared.search(path.read_text("utf-8"))]
    assert paths == ["arrays.py"]


@pytest.mark.parametrize("package", ["cli", "web"])
def test_calls_pass_few_arguments_by_position(package):
    trees = {path: ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    defined = {
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    } - {"format"}
    paths = [path for path in trees if path.is_relative_to(SOURCE / package)]
    assert paths
    calls = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in paths
        for node in ast.walk(trees[path])
        if isinstance(node, ast.Call) and len(node.args) > MAX_POSITIONAL
        if getattr(node.func, "id", getattr(node.func, "attr", "")) in defined
    ]
    assert calls == []
