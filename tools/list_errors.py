"""List every error and warning of Topiarist with its hint, from the syntax trees of its modules.

    python tools/list_errors.py            write tests/errors.txt
    python tools/list_errors.py --check    exit with 1 if tests/errors.txt is out of date

A placeholder is the expression in braces, as in the source. A message that is built in a variable, or chosen by a
condition, has a line for each of its forms.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, LIST = ROOT / "src" / "topiarist", ROOT / "tests" / "errors.txt"
BUILTINS = ("ValueError", "TypeError", "AttributeError", "KeyError", "RuntimeError", "NotImplementedError")
CREATOR = re.compile(r"_?(create|make)_\w*(error|fault|failure|remark)")
TEXTS = (ast.Constant, ast.JoinedStr, ast.IfExp, ast.BinOp)  # expressions that can be followed to their text
MAX_FORMS = 12  # forms of one message that are listed


def list_errors() -> str:
    """Return the errors of all modules, sorted by module and text."""
    parts = []
    for path in sorted(SOURCE.rglob("*.py")):
        entries = sorted(set(_list_module(ast.parse(path.read_text("utf-8")))))
        if entries:
            parts.append("\n".join([path.relative_to(SOURCE).as_posix(), *entries]))
    return "\n\n".join(parts) + "\n"


def _list_module(module: ast.Module) -> Iterator[str]:
    constants = _read_assignments(module.body)
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    nested = {id(node): function for function in functions for node in ast.walk(function)}  # the innermost function
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and (kind := _get_kind(call)):
            function = nested.get(id(call))
            local = _read_assignments(ast.walk(function)) if function is not None else {}
            yield from _format_call(kind, call, {**constants, **local})


def _get_kind(call: ast.Call) -> str:
    """Return the class of an error or warning that a call creates, or the function that does; else an empty string."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name == "warn" and getattr(getattr(call.func, "value", None), "id", "") == "warnings":
        return "warning"
    is_error = name.endswith(("Error", "Warning")) and (name in BUILTINS or name[0].isupper())
    return name if is_error or CREATOR.fullmatch(name) else ""


def _format_call(kind: str, call: ast.Call, assigned: dict[str, list[ast.expr]]) -> Iterator[str]:
    hints = [
        form for word in call.keywords if word.arg in ("hint", "remedy") for form in _read_forms(word.value, assigned)
    ]
    texts = [
        form for argument in call.args for form in _read_forms(argument, assigned) if re.search(r"[a-z] [a-z{]", form)
    ]
    if not texts and any(" " in hint for hint in hints):
        texts = ["…"]
    for text in dict.fromkeys(texts):
        yield f"  {kind}: {text}" + "".join(f"\n    hint: {hint}" for hint in dict.fromkeys(hints) if hint)


def _read_forms(value: ast.expr, assigned: dict[str, list[ast.expr]], depth: int = 0) -> list[str]:
    """Return the texts that an expression can have, in one line each."""
    if isinstance(value, ast.Constant):
        return (
            [" ".join(value.value.split()) if value.value.strip() else value.value]
            if isinstance(value.value, str)
            else []
        )
    if isinstance(value, ast.JoinedStr):
        parts = [_read_part(part) for part in value.values]
        return [" ".join("".join(form).split()) for form in list(product(*parts))[:MAX_FORMS]]
    if isinstance(value, ast.IfExp):
        return [form for side in (value.body, value.orelse) for form in _read_forms(side, assigned, depth)]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = (
            _read_forms(side, assigned, depth) or [f"{{{ast.unparse(side)}}}"] for side in (value.left, value.right)
        )
        return [" ".join("".join(form).split()) for form in list(product(*sides))[:MAX_FORMS]]
    if isinstance(value, ast.Name) and value.id in assigned and depth < 2:
        return [form for one in assigned[value.id] for form in _read_forms(one, assigned, depth + 1)]
    return [f"{{{ast.unparse(value)}}}"]


def _read_part(part: ast.expr) -> list[str]:
    """Return the forms of a part of a formatted text: the text, a placeholder, or the texts of a condition."""
    if isinstance(part, ast.Constant):
        return [str(part.value)]
    value = part.value if isinstance(part, ast.FormattedValue) else part
    return [f"{{{ast.unparse(value)}}}"]


def _read_assignments(nodes: object) -> dict[str, list[ast.expr]]:
    """Return the texts that are assigned to each name."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in nodes:  # type: ignore[attr-defined]
        targets = node.targets if isinstance(node, ast.Assign) else []
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and isinstance(node.value, TEXTS):
            assigned.setdefault(targets[0].id, []).append(node.value)
    return assigned


def main() -> int:
    errors = list_errors()
    if "--check" in sys.argv[1:]:
        return int(errors != LIST.read_text("utf-8"))
    LIST.write_text(errors, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
