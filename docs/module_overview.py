"""Write ``docs/design/module-overview.md``, a table of the modules of each package.

The rows are the first lines of the modules' docstrings. ``python docs/generate.py`` writes the page. A test fails if
the page differs from these lines.
"""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "topiarist"
PAGE = Path(__file__).parent / "design" / "module-overview.md"
LAYERS = (  # from the top down: each imports only from those below it
    "cli", "web", "display", "collection", "estimators", "metrics", "trees", "models", "execution", "storage", "counts",
    "text",
)  # fmt: skip
OUTSIDE = ("kernels",)  # imports arrays only


def packages() -> list[Path]:
    """Return the folders of all packages, the root first."""
    return sorted(path.parent for path in SOURCE.rglob("__init__.py"))


def summary(path: Path) -> str:
    """Return the first paragraph of the docstring of a module or package as one line."""
    source = path / "__init__.py" if path.is_dir() else path
    paragraph = (ast.get_docstring(ast.parse(source.read_text("utf-8"))) or "").split("\n\n")[0]
    return " ".join(paragraph.split())


def modules(package: Path) -> list[Path]:
    """Return the packages inside a package, then its modules, both by name."""
    inner = sorted(path for path in package.iterdir() if (path / "__init__.py").is_file())
    return inner + sorted(path for path in package.glob("*.py") if path.name not in ("__init__.py", "__main__.py"))


def page() -> str:
    """Return the text of ``design/module-overview.md``."""
    parts = [
        "# Module overview",
        "*Written by `python docs/generate.py` from the first lines of docstrings; edit those instead.*",
        "Data flows from texts to pages, and imports point back: a layer imports only from layers below it. `kernels` "
        "is outside the layers: it imports `arrays` only, and `execution` and `models` import it. All layers import "
        "`errors` and `arrays`. The contracts are in `pyproject.toml`; `make test` checks them.",
        "```text\n" + " -> ".join(reversed(LAYERS)) + "\n```",
        "To add a model, a reader, a page or a command: [add a model](add-a-model.md).",
        "## topiarist/\n\n" + _table(SOURCE),
    ]
    for layer in (*LAYERS, *OUTSIDE):
        for package in [SOURCE / layer, *(path for path in packages() if SOURCE / layer in path.parents)]:
            title = package.relative_to(SOURCE).as_posix()
            parts.append(f"## {title}/\n\n{summary(package)}\n\n{_table(package)}".rstrip())
    return "\n\n".join(parts) + "\n"


def write() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote design/{PAGE.name}")


def _table(package: Path) -> str:
    rows = [f"| `{_label(path)}` | {_cell(summary(path))} |" for path in modules(package)]
    return "\n".join(["| module | content |", "|---|---|", *rows]) if rows else ""


def _label(path: Path) -> str:
    return f"{path.name}/" if path.is_dir() else path.stem


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")
