"""Write the generated pages: ``python docs/generate.py``.

``reference/python.md`` comes from signatures and docstrings, ``reference/commands.md`` from ``--help`` of each command,
``reference/rest-fields.md`` from the pages of the explorer (``rest.py``), ``design/the-house.md`` and the floor plans
of packages from the first lines of docstrings (``house.py``), man pages and completions in ``share/`` from the commands
(``manuals.py``). A test fails when a page differs from what this script would write.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

import topiarist
from topiarist.app.cli.commands import app

REFERENCE = Path(__file__).parent / "reference"
WIDTH = 100
COMMANDS = ((), *((name,) for name in typer.main.get_command(app).commands))  # type: ignore[attr-defined]

# Module, what a reader finds in it, and the names to describe (None: all that the module lists as public).
MODULES: tuple[tuple[str, str, tuple[str, ...] | None], ...] = (
    (
        "topiarist",
        "What most programs need. `import topiarist` itself loads nothing heavy.",
        tuple(name for name in topiarist.__all__ if name not in ("__version__", "metrics")),
    ),
    ("topiarist.metrics", "Exact definitions: [metrics](metrics.md).", None),
    ("topiarist.text.readers", "See [read your files](../how-to/read-your-files.md).", None),
    ("topiarist.text.documents", "What readers yield and report.", ("Document", "Problem")),
    ("topiarist.text.demo", "The bundled collection.", ("demo_documents",)),
    ("topiarist.counts", "See [count words](../how-to/count-words.md).", None),
    ("topiarist.scale", "See [scale](../how-to/scale.md).", None),
    (
        "topiarist.collection.grow.recipe",
        "How a collection is grown.",
        ("Recipe",),
    ),
    (
        "topiarist.collection.find.search",
        "What `Collection.search` and `similar` give. See [shape, file, find](../how-to/shape-file-find.md).",
        ("Found", "FoundDocument", "Place"),
    ),
    ("topiarist.collection.file.arrivals", "What `Collection.file` and `add` give.", ("Filed",)),
    ("topiarist.collection.judge.learner", "What `Collection.learn` gives.", ("Quality", "CategoryQuality")),
    (
        "topiarist.collection.shape",
        "Edits for `Collection.shape`, and the tree that they make.",
        ("Rename", "Describe", "Merge", "Group", "Split", "Move", "Delete", "Pin", "Unpin", "Branch", "Shape"),
    ),
    (
        "topiarist.models.drift",
        "Has a stream changed? See [follow a stream](../how-to/follow-a-stream.md).",
        ("find_drift", "Drift", "BatchRecord"),
    ),
    ("topiarist.hierarchy", "Pictures.", ("draw", "curve", "draw_drift")),
    (
        "topiarist.hierarchy.branches",
        "New branches for a tree that a stream has outgrown.",
        ("propose_branches", "grafted", "BranchProposal", "Wanted"),
    ),
    ("topiarist.hierarchy.tree_model", "A fitted tree of any model as one value.", ("TreeModel",)),
    ("topiarist.text.tokens", "Texts to words.", ("Tokenizer",)),
    ("topiarist.text.stop_words", "Stop lists, for those who ask for them.", ("stop_words", "stop_words_from_file")),
    ("topiarist.text.stems", "Stemmers.", ("stem_languages",)),
    ("topiarist.text.language", "The language of a collection.", ("detect_language", "Language")),
    (
        "topiarist.collection.describe.topic_tree",
        "What `topiarist grow` calls. See [grow a tree](../how-to/grow-a-tree.md).",
        ("grow_tree", "describe_tree", "TopicTree", "NodeSummary"),
    ),
    (
        "topiarist.measures.comparison",
        "Two trees over the same documents; which node of one is which of the other.",
        ("compare", "Comparison", "Agreement", "Flow", "Regrouped", "match_nodes", "Match", "Placed"),
    ),
    (
        "topiarist.measures.evaluation",
        "A tree judged by labels and by itself. Definitions: [metrics](metrics.md).",
        ("evaluate", "Evaluation", "Labelled"),
    ),
    (
        "topiarist.collection.describe.tables",
        "Rows to take away, and files of them.",
        ("documents", "topics", "words", "write"),
    ),
    (
        "topiarist.hierarchy.exchange",
        "Trees for other programs, and hierarchies that people write.",
        ("read_tree", "to_graphml", "to_newick", "to_json", "to_paths", "rows"),
    ),
    (
        "topiarist.estimators.category.pmm",
        "What `PMM.explain` tells. See [PMM](../models/pmm.md).",
        ("Evidence",),
    ),
    (
        "topiarist.collection.describe.flat_topics",
        "What `topiarist topics` calls.",
        ("find_topics", "Topics", "Topic", "set_general_words_aside", "distinctive"),
    ),
    (
        "topiarist.collection.find.index",
        "See [Fisher kernels](../models/fisher.md#search).",
        None,
    ),
    (
        "topiarist.errors",
        "Every error raised on purpose says what was expected, what came and what to try.",
        ("TopiaristError", "UsageError", "InputError", "DamagedError", "ResourceError"),
    ),
)
WHOLE_DOCSTRING = {"PLSA", "grow_tree", "read", "Columns", "Limits", "CountSettings", "TextCounter", "report"}
MADE_ELSEWHERE = {"Reading", "Collection"}  # not by calling the class
COLOURS = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")

ASK_ALL = """
import contextlib, io, json, sys
from topiarist.app.cli.commands import app
found = {}
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        app([*name.split(), "--help"], prog_name="topiarist")
    found[name] = said.getvalue()
print(json.dumps(found))
"""
EXIT_CODES = """## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | done, but more than `--max-failures` percent of the documents failed to be read; or `find` found nothing |
| 2 | wrong use: an option, a path, a column or a format |
| 3 | the input holds no usable text |
| 4 | a collection or model is damaged, or from a newer version |
| 5 | memory, disk, device, or an optional package that is not installed |
| 70 | a fault of ours; the message names a log file that holds places in our code and no document text |
| 130 | stopped by Ctrl-C; what was found by then is kept and printed |

An error is one sentence on standard error and, where there is one, a line that begins with `Try:`. `--debug` adds the
trace. Results go to standard output, everything else to standard error.
"""


def python_page() -> str:
    """The text of ``reference/python.md``."""
    parts = [
        "# Python reference",
        _generated(),
        "`X` is any array-like, data frame or sparse matrix of counts, documents × words. Estimators follow "
        "scikit-learn's contract: `get_params`, `set_params`, `clone`, pipelines and grid search work. "
        "`topiarist.__version__` is the version as a string.",
    ]
    described: set[str] = set()
    for name, sentence, chosen in MODULES:
        module = import_module(name)
        parts += [f"## {name}", sentence]
        names = [public for public in chosen or module.__all__ if public not in described]
        described.update(names)
        entries = [_entry(public, getattr(module, public)) for public in names]
        lines = [entry for entry in entries if entry.startswith("- ")]
        parts += [*(["\n".join(lines)] if lines else []), *(entry for entry in entries if entry not in lines)]
    return "\n\n".join(parts) + "\n"


def commands_page() -> str:
    """The text of ``reference/commands.md``."""
    parts = ["# Commands", _generated()]
    for command in COMMANDS:
        title = " ".join(("topiarist", *command))
        parts.append(f"## {title}\n\n```text\n{_helps()[' '.join(command)]}\n```")
    return "\n\n".join([*parts, EXIT_CODES])


def rest_fields_page() -> str:
    """The text of ``reference/rest-fields.md``."""
    sys.path.insert(0, str(Path(__file__).parent))
    text: str = import_module("rest").page()
    return text


def _generated() -> str:
    return "*Written by `python docs/generate.py` from the code; edit the docstrings instead.*"


def _entry(name: str, thing: Any) -> str:
    """A line about a function; a section about a class or a function of many options."""
    docstring = inspect.getdoc(thing) or ""
    if not inspect.isclass(thing) and name not in WHOLE_DOCSTRING:
        return _line(name, thing)
    parts = [f"### {name}"]
    if name not in MADE_ELSEWHERE:
        parts.append(f"```python\n{_signature(name, thing)}\n```")
    if "----------" in docstring:
        summary, sections = docstring.split("\n\n", 1)
        parts += [_flowing(summary), f"```text\n{sections}\n```"]
    else:
        paragraphs = docstring.split("\n\n")
        parts += map(_flowing, paragraphs if name in WHOLE_DOCSTRING else paragraphs[:1])
    members = [_member(key, value) for key, value in vars(thing).items()] if inspect.isclass(thing) else []
    if any(members):
        parts.append("\n".join(filter(None, members)))
    return "\n\n".join(parts)


def _member(name: str, value: Any) -> str:
    """One line about a method or property of our own."""
    if name.startswith("_"):
        return ""
    if isinstance(value, property | cached_property):
        return f"- `{name}`: {_summary(getattr(value, 'func', None) or getattr(value, 'fget', None))}"
    value = getattr(value, "__func__", value)
    return _line(name, value) if inspect.isfunction(value) else ""


def _line(name: str, thing: Any) -> str:
    return f"- `{_signature(name, thing, types=False)}`: {_summary(thing)}"


def _summary(thing: Any) -> str:
    return _code(" ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split()))


def _signature(name: str, thing: Any, *, types: bool = True) -> str:
    """A signature that reads the same under every version of Python."""
    shown, star = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        shown.append(_parameter(parameter, types))
    line = f"{name}({', '.join(shown)})"
    if not types or len(line) <= WIDTH:
        return line
    lines, indent = [""], "    "
    for part in shown:
        if len(indent + lines[-1]) + len(part) + 1 > WIDTH:
            lines.append("")
        lines[-1] += f"{part}, "
    return "\n".join([f"{name}(", *(f"{indent}{line.rstrip()}" for line in lines), ")"])


def _parameter(parameter: inspect.Parameter, types: bool) -> str:
    text, annotation = parameter.name, parameter.annotation
    typed = types and annotation is not parameter.empty and annotation != "Any"
    if typed:
        text += f": {annotation}"
    if parameter.default is not parameter.empty:
        default = "…" if repr(parameter.default) == "<factory>" else repr(parameter.default)
        text += f" = {default}" if typed else f"={default}"
    return text


def _flowing(paragraph: str) -> str:
    return _code("\n".join(line.strip() for line in paragraph.splitlines()))


def _code(text: str) -> str:
    """Docstrings mark code with two backticks, Markdown with one."""
    return text.replace("``", "`")


@cache
def _helps() -> dict[str, str]:
    """What ``--help`` of each command prints into 100 columns without colour, whatever terminal this runs in."""
    kept = {key: value for key, value in os.environ.items() if key not in COLOURS}
    fixed = {"TERMINAL_WIDTH": str(WIDTH), "COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
    done = subprocess.run(  # noqa: S603 - our own interpreter, our own command
        [sys.executable, "-c", ASK_ALL, *(" ".join(command) for command in COMMANDS)],
        env=kept | fixed,
        capture_output=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout.decode("utf-8"))
    return {name: re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip("\n") for name, text in found.items()}


def main() -> None:
    """Write all pages."""
    pages = {"python.md": python_page(), "commands.md": commands_page(), "rest-fields.md": rest_fields_page()}
    for name, text in pages.items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
        print(f"wrote reference/{name}: {len(text.splitlines())} lines")
    sys.path.insert(0, str(Path(__file__).parent))
    import_module("manuals").write()
    import_module("house").write()


if __name__ == "__main__":
    main()
