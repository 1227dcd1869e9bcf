"""The map of the source: a floor plan in every package's docstring, and ``docs/design/the-house.md``.

Both are made from the first lines of the modules' docstrings. ``python docs/generate.py`` writes them; a test fails
when they are not what this would write.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "topiarist"
PAGE = Path(__file__).parent / "design" / "the-house.md"
WIDTH, MARK = 120, "Floor plan:"
ROOMS = (  # from the top down: each imports only from those below it
    "app", "collection", "estimators", "measures", "hierarchy", "models", "scale", "store", "counts", "text",
)  # fmt: skip
BESIDE = ("kernels",)  # the arithmetic, which knows arrays only


def packages() -> list[Path]:
    """Every package, the root first."""
    return sorted(path.parent for path in SOURCE.rglob("__init__.py"))


def first_line(path: Path) -> str:
    """What a module says of itself in one line."""
    source = path / "__init__.py" if path.is_dir() else path
    said = (ast.get_docstring(ast.parse(source.read_text("utf-8"))) or "").split("\n\n")[0]
    return " ".join(said.split())


def rooms_of(package: Path) -> list[Path]:
    """The modules and rooms of a package: rooms first, then modules by name."""
    inner = sorted(path for path in package.iterdir() if (path / "__init__.py").is_file())
    return inner + sorted(path for path in package.glob("*.py") if path.name not in ("__init__.py", "__main__.py"))


def name_of(path: Path) -> str:
    """As it stands in a plan."""
    return f"{path.name}/" if path.is_dir() else path.stem


def floor_plan(package: Path) -> str:
    """The modules of a package, one after the other, as they describe themselves."""
    entries = [(name_of(path), first_line(path)) for path in rooms_of(package)]
    if not entries:
        return ""
    width = max(len(name) for name, _ in entries) + 2
    lines = [MARK, ""]
    for name, said in entries:
        start = f"    {name:<{width}}"
        lines += textwrap.wrap(
            said, WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False
        )
    return "\n".join(lines)


def with_floor_plan(source: str, plan: str) -> str:
    """The source of an ``__init__`` whose docstring has this plan after its first paragraph."""
    found = re.match(r'(""")(.*?)(""")', source, re.DOTALL)
    if found is None:
        raise ValueError("a package without a docstring")
    text = re.sub(rf"{MARK}\n\n(?:(?: {{4}}.*)?\n)*", "", found[2].rstrip() + "\n")
    first, _, rest = text.strip().partition("\n\n")
    parts = [part for part in (first, plan, rest.strip()) if part]
    docstring = "\n\n".join(parts)
    closed = f'"""{docstring}\n"""' if "\n" in docstring else f'"""{docstring}"""'
    return closed + source[found.end() :]


def page() -> str:
    """The text of ``design/the-house.md``."""
    parts = [
        "# The house",
        "*Written by `python docs/generate.py` from the first lines of docstrings; edit those instead.*",
        "Data flows from texts to pages, and imports point back: a room imports only from rooms below it. `kernels` "
        "stands beside them, knows arrays and nothing else, and is entered by `scale` and `models`; `errors` and "
        "`arrays` are known everywhere. The contracts are in `pyproject.toml` and checked by `make test`.",
        "```text\n" + " -> ".join(reversed(ROOMS)) + "\n```",
        "To add a model, a reader, a page or a command: [add a model](add-a-model.md).",
        "## topiarist/\n\n" + _table(SOURCE),
    ]
    for room in (*ROOMS, *BESIDE):
        for package in [SOURCE / room, *(path for path in packages() if SOURCE / room in path.parents)]:
            title = package.relative_to(SOURCE).as_posix()
            parts.append(f"## {title}/\n\n{first_line(package)}\n\n{_table(package)}".rstrip())
    return "\n\n".join(parts) + "\n"


def _table(package: Path) -> str:
    rows = [f"| `{name_of(path)}` | {_cell(first_line(path))} |" for path in rooms_of(package)]
    return "\n".join(["| module | what it holds |", "|---|---|", *rows]) if rows else ""


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def write() -> None:
    """Write the floor plans, then the page."""
    for package in packages():
        path = package / "__init__.py"
        before = path.read_text("utf-8")
        after = with_floor_plan(before, floor_plan(package))
        if after != before:
            path.write_text(after, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote design/{PAGE.name}, and the floor plans of {len(packages())} packages")
