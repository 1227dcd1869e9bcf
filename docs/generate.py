"""Write the generated pages: ``python docs/generate.py``.

``reference/python.md`` comes from signatures and docstrings, ``reference/commands.md`` from ``--help`` of each command,
``reference/rest-fields.md`` from the pages of the explorer (``rest.py``), ``design/module-overview.md`` from the first
lines of docstrings (``module_overview.py``), man pages and completions in ``packaging/share/`` from the commands
(``manuals.py``). A test fails if a page differs from the output of this script.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

import topiarist
from topiarist.cli import settings_file
from topiarist.cli.commands import app
from topiarist.collection.state_cache import CachedValue

REFERENCE = Path(__file__).parent / "reference"
WIDTH = 100
GROUP: Any = typer.main.get_command(app)
COMMANDS = ((), *((name,) for name in GROUP.commands))
SETTING_COMMANDS = ("grow", "topics")  # that read topiarist.toml

# Module, what a reader finds in it, and the names to describe (None: all that the module lists as public): the public
# names, the values that their methods return, and the packages that guides use.
MODULES: tuple[tuple[str, str, tuple[str, ...] | None], ...] = (
    (
        "topiarist",
        "What most programs need. `import topiarist` itself loads nothing heavy.",
        tuple(name for name in topiarist.__all__ if name not in ("__version__", "metrics")),
    ),
    ("topiarist.metrics", "Exact definitions: [metrics](metrics.md).", None),
    ("topiarist.trees.levels", "The value of `metrics.level_curve`.", ("LevelCurve",)),
    ("topiarist.text.readers", "See [read your files](../how-to/read-your-files.md).", None),
    ("topiarist.text.documents", "Files and rows that could not be read.", ("Problem",)),
    ("topiarist.text.tokens", "See [count words](../how-to/count-words.md).", ("Tokenizer",)),
    ("topiarist.text.stems", "Languages with a stemmer.", ("list_stem_languages",)),
    ("topiarist.counts", "See [count words](../how-to/count-words.md).", None),
    ("topiarist.execution", "See [scale](../how-to/scale.md).", None),
    (
        "topiarist.collection.search.results",
        "Values of `Collection.search` and `similar`. See [shape, file, find](../how-to/shape-file-find.md).",
        ("SearchResult", "Hit", "Place"),
    ),
    ("topiarist.collection.file.arrivals", "The values of `Collection.file` and `add`.", ("FiledDocument",)),
    ("topiarist.collection.remove.removal", "The value of `Collection.remove`.", ("Removal",)),
    ("topiarist.collection.classify.learning", "The value of `Collection.learn`.", ("Quality", "CategoryQuality")),
    ("topiarist.collection.trends.over_time", "The value of `Collection.over_time`.", ("OverTime",)),
    ("topiarist.collection.trends.by_group", "The value of `Collection.by_group`.", ("ByGroup",)),
    ("topiarist.collection.trends.newer", "The value of `Collection.new_since`.", ("RecentChanges",)),
    (
        "topiarist.collection.shape",
        "Edits for `Collection.shape`.",
        (
            *("Branch", "Delete", "Describe", "Forget", "Group", "Ignore", "Merge", "Move", "Pin", "Rename", "Seed"),
            *("Split", "Unite", "Unpin"),
        ),
    ),
    ("topiarist.collection.shape.tree_state", "The tree that edits make.", ("TreeState",)),
    (
        "topiarist.collection.describe.topic_tree",
        "The value of `grow_tree` and `describe_tree`.",
        ("TopicTree", "NodeSummary"),
    ),
    ("topiarist.collection.describe.flat_topics", "The value of `find_topics`.", ("Topics", "Topic")),
    (
        "topiarist.collection.search.index",
        "Values of `SearchIndex`. See [Fisher kernels](../models/fisher.md#search).",
        None,
    ),
    (
        "topiarist.trees",
        "Functions of `Tree` values and their words.",
        ("select_node_words", "draw_tree", "draw_curve"),
    ),
    ("topiarist.trees.tree_model", "A fitted tree of any model as one value: `tree_model_`.", ("TreeModel",)),
    (
        "topiarist.models.online",
        "Figures of the batches of a stream. See [follow a stream](../how-to/follow-a-stream.md).",
        ("BatchRecord",),
    ),
    ("topiarist.estimators.category.pmm", "The value of `PMM.explain`. See [PMM](../models/pmm.md).", ("Evidence",)),
    (
        "topiarist.errors",
        "An error has a message with what was expected and found, and a hint.",
        ("TopiaristError", "UsageError", "InputError", "DamagedError", "ResourceError"),
    ),
)
WHOLE_DOCSTRING = {"PLSA", "grow_tree", "read", "Columns", "Limits", "CountSettings", "TextCounter", "report"}
MADE_ELSEWHERE = {"Reading", "Collection"}  # not by calling the class
COLOURS = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")

ASK_ALL = """
import contextlib, io, json, sys
from topiarist.cli.commands import app
found = {}
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        app([*name.split(), "--help"], prog_name="topiarist")
    found[name] = said.getvalue()
print(json.dumps(found))
"""
SETTINGS = """## Settings

Keys of `topiarist.toml`, of a file that `--config` names and, in capitals after `TOPIARIST_`, of the environment:
`stop-words = "en"` in a file is `TOPIARIST_STOP_WORDS=en` in the environment. The order is: typed, environment, file,
default. A key without an option cannot be typed. A table such as `[grow]` holds keys of one command. `--show-config`
prints each value and its origin. See [settings in a file](../how-to/grow-a-tree.md#settings-in-a-file).

The last column says whether a file that is found in or beside the source can set the key. `stop-words` of such a file
names no file. `file` and `similar` take `xml-path` and `ocr` from the environment. All commands that write take `wait`
from it.

| key | meaning | default | commands | option | in a found file |
|---|---|---|---|---|---|
{rows}

No keys are {typed_only}.
"""
EXIT_CODES = """## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | done, but more than `max-failures` percent of the documents failed to be read; or `find` found nothing |
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
    return "\n\n".join([*parts, settings_section(), EXIT_CODES])


def settings_section() -> str:
    """Return the table of all keys of ``topiarist.toml``."""
    options = {name: import_module(f"topiarist.cli.commands.{name}").Options for name in SETTING_COMMANDS}
    defaults = {name: {known.name: known.default for known in fields(declared)} for name, declared in options.items()}
    parameters = {name: {one.name: one for one in GROUP.commands[name].params} for name in SETTING_COMMANDS}
    rows = []
    for key in (*settings_file.HARMLESS_SETTINGS, *settings_file.RESTRICTED_SETTINGS):
        commands = [name for name in SETTING_COMMANDS if key in parameters[name]]
        first = parameters[commands[0]][key]
        values = {name: _default(defaults[name][key]) for name in commands}
        same = len(set(values.values())) == 1
        shown = values[commands[0]] if same else ", ".join(f"{value or 'none'} ({at})" for at, value in values.items())
        typed = "" if settings_file.is_setting_only(first) else f"`{first.opts[0]}`"
        found = "yes" if key in settings_file.HARMLESS_SETTINGS else "no"
        meaning = " ".join(first.help.split()).replace("|", "\\|")
        cells = (f"`{key.replace('_', '-')}`", meaning, shown, ", ".join(commands), typed, found)
        rows.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    typed_only = ", ".join(f"`{key.replace('_', '-')}`" for key in settings_file.ONLY_TYPED if key != "sources")
    return SETTINGS.format(rows="\n".join(rows), typed_only=typed_only)


def _default(value: Any) -> str:
    """Return a default as it is written into the file; nothing for None."""
    return "" if value is None else f"`{json.dumps(value)}`"


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
    members = [_member(key, value) for key, value in _list_members(thing).items()] if inspect.isclass(thing) else []
    if any(members):
        parts.append("\n".join(filter(None, members)))
    return "\n\n".join(parts)


def _list_members(value: type) -> dict[str, Any]:
    """Return the attributes of a class, then those that it inherits from classes of this project."""
    members: dict[str, Any] = {}
    for ancestor in value.__mro__:
        if ancestor.__module__.startswith("topiarist."):
            members = members | {name: item for name, item in vars(ancestor).items() if name not in members}
    return members


def _member(name: str, value: Any) -> str:
    """Return one line about a method or property of this project."""
    if name.startswith("_"):
        return ""
    if isinstance(value, property | cached_property | CachedValue):
        return f"- `{name}`: {_summary(value)}"
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
    import_module("module_overview").write()


if __name__ == "__main__":
    main()
