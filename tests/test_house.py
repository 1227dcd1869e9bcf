"""The house itself: public names, what an import costs, and what may never be in the code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import topiarist

SOURCE = Path(topiarist.__file__).parent
MOST_ANY = 0.06  # of all parameters: lower it when there are fewer, never raise it


def test_every_public_name_is_there():
    for name in topiarist.__all__:
        assert getattr(topiarist, name) is not None
    assert set(dir(topiarist)) == set(topiarist.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = topiarist.Nonsense


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, topiarist; print(sorted({'numpy', 'numba', 'sklearn', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_unsafe_is_called():
    unsafe = re.compile(r"\bpickle\b|joblib\.(load|dump)|\beval\(|\bexec\(|allow_pickle=True|shell=True")
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in SOURCE.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if unsafe.search(line.split("#")[0])
    ]
    assert found == []


def test_sql_stands_in_store_alone():
    """Whoever needs an answer of a table asks store by name. To be added: app, when its last statements have moved."""
    sql = re.compile(r"\b(SELECT\b.*\bFROM|INSERT\b.*\bINTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE|PRAGMA)\b")
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for room in ("collection", "estimators", "measures", "hierarchy", "models", "scale")
        for path in (SOURCE / room).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if sql.search(line)
    ]
    assert found == []


def test_without_numba_the_reference_takes_over():
    script = (
        "import sys, warnings; sys.modules['numba'] = None; warnings.simplefilter('ignore')\n"
        "import numpy as np; from topiarist import PLSA\n"
        "print(PLSA(2, random_state=0, max_iter=5).fit(np.eye(4) + 1).components_.sum())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(2.0)


def parameters():
    """Every parameter of every function: where it is, its name and its annotation."""
    for path in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            given = function.args
            starred = [one for one in (given.vararg, given.kwarg) if one is not None]
            for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred):
                yield f"{path.relative_to(SOURCE)}:{one.lineno}", one.arg, one.annotation


def says_any(annotation):
    return annotation is not None and any(isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(annotation))


def test_parameters_say_what_they_are():
    """Any is for what really may be anything; a mixin declares what it needs of its estimator."""
    every = list(parameters())
    assert [place for place, name, said in every if name == "self" and says_any(said)] == []
    others = [(place, says_any(said)) for place, name, said in every if name != "self"]
    vague = [place for place, is_any in others if is_any]
    assert len(vague) <= MOST_ANY * len(others), f"{len(vague)} of {len(others)} parameters are Any"


def test_arrays_have_one_vocabulary():
    """Array, Floats and the like are declared in ``topiarist.arrays`` alone."""
    declared = re.compile(r"^\w+(: TypeAlias)? = np\.ndarray\[", re.MULTILINE)
    found = [str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if declared.search(path.read_text("utf-8"))]
    assert sorted(found) == ["arrays.py"]


MOST_POSITIONAL = 6


def positional_calls(room):
    """Calls of our own functions and classes with many arguments by position: they are read by nobody."""
    trees = {path: ast.parse(path.read_text()) for path in room.rglob("*.py")}
    every = (node for path in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text())))
    own = {node.name for node in every if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            name = getattr(node, "func", None)
            called = name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
            if isinstance(node, ast.Call) and called in own - {"format"} and len(node.args) > MOST_POSITIONAL:
                yield f"{path.relative_to(SOURCE)}:{node.lineno} {called}"


def test_the_app_passes_few_arguments_by_position():
    assert list(positional_calls(SOURCE / "app")) == []
