"""Undocumented means failing: labels, names, options and links exist, generated pages are fresh, examples run."""

import contextlib
import importlib.util
import inspect
import re
import shlex
import sys
import types
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import topiarist
from topiarist.app.cli.commands import app
from topiarist.estimators.tree_models import TREE_MODELS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
SOURCES = sorted((ROOT / "src").rglob("*.py"))
EXAMPLES = [
    page
    for page in PAGES
    if page.parent.name in ("tutorial", "how-to", "models", "design") and "```python" in page.read_text("utf-8")
]

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"\(([A-Z])(\d{1,2})\)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words_of(text):
    """The text without the frames that versions of the terminal library draw in their own way."""
    return re.sub(r"[─│╭╮╰╯\s]+", " ", text)


def test_every_equation_that_the_code_cites_has_a_page():
    defined = set()
    for page in (DOCS / "models").glob("*.md"):
        defined |= set(re.findall(r"\*\*\(([A-Z]\d{1,2})\)\*\*", page.read_text("utf-8")))
    cited = {}
    for source in SOURCES:
        for letter, number in LABEL.findall(source.read_text("utf-8")):
            cited.setdefault(letter + number, source.name)
    assert {"P1", "P2", "P3", "P4", "P5"} <= cited.keys()
    assert not {label: where for label, where in cited.items() if label not in defined}


def test_every_page_that_the_code_names_exists():
    named = {name for source in SOURCES for name in re.findall(r"docs/[\w/-]+\.md", source.read_text("utf-8"))}
    assert "docs/models/plsa.md" in named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_every_public_name_is_in_the_reference():
    from topiarist import counts, metrics
    from topiarist.text import readers

    reference = (DOCS / "reference" / "python.md").read_text("utf-8")
    names = {*topiarist.__all__, *counts.__all__, *metrics.__all__, *readers.__all__}
    missing = [name for name in names if not re.search(rf"(### |`(topiarist\.)?|## topiarist\.){name}\b", reference)]
    assert not missing
    definitions = (DOCS / "reference" / "metrics.md").read_text("utf-8")
    assert not [name for name in metrics.__all__ if f"## {name}(" not in definitions]


@pytest.mark.parametrize(
    "name", [name for name in topiarist.__all__ if hasattr(getattr(topiarist, name), "get_params")]
)
def test_every_setting_of_an_estimator_is_explained(name):
    estimator = getattr(topiarist, name)
    other = re.search(r"Parameters and attributes are those of ``(\w+)``", estimator.__doc__)
    explained = estimator.__doc__ + (getattr(topiarist, other[1]).__doc__ if other else "")
    settings = [known for known in inspect.signature(estimator).parameters if known != "self"]
    assert not [setting for setting in settings if not re.search(rf"\b{setting}\b", explained)]


def test_every_command_and_option_is_in_the_reference():
    reference = (DOCS / "reference" / "commands.md").read_text("utf-8")
    group = typer.main.get_command(app)
    for name, command in {"": group, **group.commands}.items():
        heading = f"## topiarist {name}".rstrip()
        assert f"{heading}\n" in reference
        section = reference.split(f"{heading}\n")[1].split("\n## ")[0]
        for option in command.params:
            if not getattr(option, "hidden", False) and option.param_type_name == "option":
                assert not [spelling for spelling in option.opts if f"{spelling} " not in section], (name, option.name)


def test_exit_codes_are_those_of_the_code():
    from topiarist import errors
    from topiarist.app.cli.terminal import failures

    table = (DOCS / "reference" / "commands.md").read_text("utf-8").split("## Exit codes")[1]
    codes = {error.exit_code for error in vars(errors).values() if hasattr(error, "exit_code")}
    for code in codes | {failures.INTERRUPTED, failures.RESOURCES, failures.OUR_FAULT}:
        assert f"| {code} |" in table


@pytest.mark.parametrize("page", ["python", "commands", "rest-fields"])
def test_generated_pages_are_fresh(generate, page):
    written = (DOCS / "reference" / f"{page}.md").read_text("utf-8")
    assert words_of(written) == words_of(getattr(generate, f"{page}_page".replace("-", "_"))()), (
        "run: python docs/generate.py"
    )


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("docs_house", DOCS / "house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_and_every_floor_plan_are_fresh(house):
    assert house.PAGE.read_text("utf-8") == house.page(), "run: python docs/generate.py"
    for package in house.packages():
        source = (package / "__init__.py").read_text("utf-8")
        assert source == house.with_floor_plan(source, house.floor_plan(package)), f"{package}: docs/generate.py"


def test_every_module_says_in_one_line_what_it_holds(house):
    lines = {path: house.first_line(path) for package in house.packages() for path in house.rooms_of(package)}
    assert not [str(path) for path, line in lines.items() if not 10 <= len(line) <= 130]
    assert not [str(package) for package in house.packages() if len(house.rooms_of(package)) > 20]


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CHANGELOG.md", ROOT / "README.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_somewhere(page):
    prose = BLOCK.sub("", page.read_text("utf-8"))
    for target in LINK.findall(prose):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", there.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}, target


def test_every_page_can_be_reached_from_the_first():
    seen, open_pages = set(), [DOCS / "index.md"]
    while open_pages:
        page = open_pages.pop()
        if page in seen:
            continue
        seen.add(page)
        links = LINK.findall(page.read_text("utf-8"))
        open_pages += [(page.parent / link.partition("#")[0]).resolve() for link in links if ".md" in link]
    assert not [str(page) for page in PAGES if page.resolve() not in seen]


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TREE_MODELS, "toy", TREE_MODELS["cam"])  # a page registers its own: it goes with the test
    module = types.ModuleType(f"example_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for language, block in BLOCK.findall(page.read_text("utf-8")):
        if language == "python":
            with contextlib.redirect_stdout(None):
                exec(compile(block, str(page), "exec", dont_inherit=True), vars(module))
        elif language == "sh":
            for line in block.splitlines():
                run_command(line)


def run_command(line):
    """Run a line of a shell block in this process: ``topiarist …``, perhaps into a file."""
    program, *arguments = shlex.split(line)
    assert program == "topiarist", line
    target = None
    if ">" in arguments:
        arguments, (target,) = arguments[: arguments.index(">")], arguments[arguments.index(">") + 1 :]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, f"{line}\n{done.output}"
    assert done.stdout.strip()
    if target:
        Path(target).write_text(done.stdout, encoding="utf-8")
