"""Undocumented means failing: labels, names, options and links exist, generated pages are fresh, examples run."""

import ast
import contextlib
import importlib.util
import inspect
import json
import pkgutil
import re
import runpy
import shlex
import shutil
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import topiarist
from topiarist.cli.commands import COMMANDS, app
from topiarist.cli.settings_file import HARMLESS_SETTINGS, ONLY_TYPED, RESTRICTED_SETTINGS
from topiarist.collection.describe.account import build_account
from topiarist.estimators.tree_models import TREE_MODELS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PILE = DOCS / "tutorial" / "dirty-pile.md"  # which makes what the pages that go on with it need
GOES_ON = re.compile(r"^topiarist.* pile[./]|\"pile\.topiary\"", re.MULTILINE)
ON_THE_PILE = [page for page in PAGES if GOES_ON.search(page.read_text("utf-8"))]
EXAMPLES = [
    page
    for page in PAGES
    if page.parent.name in ("tutorial", "how-to", "models", "design", "reference")
    and page.name != "python.md"  # signatures
    and "```python" in page.read_text("utf-8")
    and page not in ON_THE_PILE
]

MAX_MODULES = 20  # of a package, so that its list fits a screen
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"\(([A-Z])(\d{1,2})\)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")

GENERATED = {"python.md", "commands.md", "rest-fields.md", "module-overview.md"}
WRITTEN = [
    page
    for page in (*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    if page.name not in GENERATED and page != DOCS / "design" / "language.md"  # which shows bad names
]
DOTTED_NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")
FILE_NAME = re.compile(
    r"\.(bin|c|css|csv|eml|html|ipynb|json|jsonl|md|mbox|npy|npz|parquet|pdf|po|py|report|safetensors|service|sqlite|svg"
    r"|toml|topiary|txt|xlsx|yaml|yml|zip)$"
)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
NOT_PYTHON = {  # a column, a path in JSON, and names of packages that are not always installed
    *("documents.date", "author.name", "client.dashboard_link", "np.random.seed", "OSA.distance"),
}
INSTANCES = {
    "collection": "Collection",
    "corpus": "Corpus",
    "counter": "StreamCounter",
    "model": "CAM",
    "reading": "Reading",
    "tree": "Tree",
    "tree_": "Tree",
}


@pytest.fixture(scope="module")
def load():
    """``load("generate")``: a script of the documentation as a module."""

    def loaded(name):
        spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return loaded


@pytest.fixture(scope="module")
def generate(load):
    return load("generate")


@pytest.fixture(scope="module")
def overview(load):
    return load("module_overview")


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


def test_every_public_name_has_an_example_that_runs():
    from topiarist import counts, metrics

    pages = [*EXAMPLES, *ON_THE_PILE]
    code = [block for page in pages for kind, block in BLOCK.findall(page.read_text("utf-8")) if kind == "python"]
    cells = [json.loads(book.read_text("utf-8"))["cells"] for book in (DOCS / "notebooks").glob("*.ipynb")]
    code += ["".join(cell["source"]) for book in cells for cell in book if cell["cell_type"] == "code"]
    used = set(re.findall(r"\w+", "\n".join(code)))
    assert not [name for name in (*topiarist.__all__, *counts.__all__, *metrics.__all__)
                if name not in used and name != "__version__"]  # fmt: skip


class PackageNames:
    """Names in the source: those of each module, and the members of each class with a module's last part."""

    def __init__(self):
        self.modules, self.classes = {}, {}
        for source in SOURCES:
            parts = source.relative_to(ROOT / "src").with_suffix("").parts
            module = ".".join(part for part in parts if part != "__init__")
            nodes = ast.parse(source.read_text("utf-8")).body
            self.modules[module] = self.modules.get(module, set()) | {name for node in nodes for name in bound(node)}
            package, _, last = module.rpartition(".")
            self.modules.setdefault(package, set()).add(last)
            for node in nodes:
                if isinstance(node, ast.ClassDef):
                    members = {name for child in ast.walk(node) for name in bound(child)}
                    bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
                    self.classes.setdefault(node.name, []).append((last, members, bases))

    def has_member(self, name, member, stem=""):
        classes = self.classes.get(name, [])
        classes = [entry for entry in classes if entry[0] == stem] or classes
        return any(
            member in members or any(self.has_member(base, member) for base in bases if base != name)
            for _, members, bases in classes
        )

    def resolves(self, name, stem):
        """Whether a dotted name is in the package, is a member of one of its classes, or can be imported."""
        first, *rest = name.split(".")
        first = INSTANCES.get(first, first)
        if first in self.classes:
            known = {member for entries in self.classes.values() for _, members, _ in entries for member in members}
            return self.has_member(first, rest[0], stem) and known.issuperset(rest[1:])
        for end in range(len(rest) + 1):
            module, below = ".".join([first, *rest[:end]]), rest[end:]
            for known, names in self.modules.items():
                if not f".{known}".endswith(f".{module}") or (below and below[0] not in names):
                    continue
                if len(below) < 2 or self.has_member(below[0], below[1], known.rpartition(".")[2]):
                    return True
        with contextlib.suppress(ImportError, AttributeError):
            return pkgutil.resolve_name(name) is not None
        return False


def bound(node):
    """Names that a statement defines, imports or assigns, also to ``self``."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.If | ast.Try):
        return {name for child in node.body for name in bound(child)}
    assigned = getattr(node, "targets", [getattr(node, "target", None)]) if isinstance(node, ASSIGNMENTS) else []
    targets = [child for target in assigned for child in ast.walk(target)]
    return {getattr(target, "id", "") or getattr(target, "attr", "") for target in targets} - {""}


@pytest.fixture(scope="module")
def package_names():
    return PackageNames()


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_dotted_names_of_pages_resolve(package_names, page):
    prose = BLOCK.sub("", page.read_text("utf-8"))
    names = {name for name in DOTTED_NAME.findall(prose) if not FILE_NAME.search(name)} - NOT_PYTHON
    assert not sorted(name for name in names if not package_names.resolves(name, page.stem))


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


def test_every_setting_is_in_the_reference(generate):
    section = generate.commands_page().split("\n## Settings\n")[1].split("\n## ")[0]
    keys = re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)
    assert keys == [name.replace("_", "-") for name in (*HARMLESS_SETTINGS, *RESTRICTED_SETTINGS)]
    assert {"growth", "topic-mix", "stop-words", "threads"} <= set(keys)
    assert not [name for name in ONLY_TYPED[1:] if f"`{name.replace('_', '-')}`" not in section]


def test_exit_codes_are_those_of_the_code():
    from topiarist import errors
    from topiarist.cli.terminal import failures

    table = (DOCS / "reference" / "commands.md").read_text("utf-8").split("## Exit codes")[1]
    codes = {error.exit_code for error in vars(errors).values() if hasattr(error, "exit_code")}
    for code in codes | {failures.INTERRUPTED_EXIT, failures.RESOURCES, failures.OUR_FAULT}:
        assert f"| {code} |" in table


@pytest.mark.parametrize("page", ["python", "commands", "rest-fields"])
def test_generated_pages_are_fresh(generate, page):
    written = (DOCS / "reference" / f"{page}.md").read_text("utf-8")
    assert words_of(written) == words_of(getattr(generate, f"{page}_page".replace("-", "_"))()), (
        "run: python docs/generate.py"
    )


def test_module_overview_is_fresh(overview):
    assert overview.PAGE.read_text("utf-8") == overview.page(), "run: python docs/generate.py"


def test_every_module_has_summary_of_one_line(overview):
    lines = {path: overview.summary(path) for package in overview.packages() for path in overview.modules(package)}
    assert not [str(path) for path, line in lines.items() if not 10 <= len(line) <= 130]
    large = {package.name for package in overview.packages() if len(overview.modules(package)) > MAX_MODULES}
    assert large <= {"commands"}  # one module for each command


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda page: str(page.relative_to(ROOT)))
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


def test_the_home_page_names_every_command():
    table = (DOCS / "index.md").read_text("utf-8").split("## Commands")[1].split("\n## ")[0]
    assert not [name for name in COMMANDS if f"`{name}`" not in table]
    assert not set(re.findall(r"`(\w+)`", table)) - set(COMMANDS)


def test_the_site_lists_every_page_once(load):
    navigation, build = load("navigation"), load("build")
    listed = [page for pages in navigation.SECTIONS.values() for page in pages]
    there = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES} - {"index"}
    outside = {place.removesuffix(".md") for place in build.OUTSIDE.values()}
    assert len(listed) == len(set(listed))
    assert there | outside == set(listed) - ({"reproduction", "comparison"} - there)  # those two are yet to come


def test_links_lead_to_where_pages_are_in_the_site(load, tmp_path):
    build = load("build")
    build.stage(tmp_path / "pages")
    for page in (tmp_path / "pages").rglob("*.md"):
        for target in LINK.findall(BLOCK.sub("", page.read_text("utf-8"))):
            path = target.partition("#")[0]
            assert target.startswith(("https://", "http://")) or (page.parent / path).resolve().exists(), (page, target)


def test_a_site_that_would_ask_the_network_is_found_out(load, tmp_path):
    build = load("build")
    (tmp_path / "one.html").write_text('<p id="here"><a href="#here">x</a><a href="https://example.org">x</a>')
    assert build.faults(tmp_path) == []
    (tmp_path / "two.html").write_text('<script src="https://cdn.example/x.js"></script><a href="one.html#there">x</a>')
    (tmp_path / "style.css").write_text("@import 'https://fonts.example/x.css';")
    assert len(build.faults(tmp_path)) == 3


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


def test_the_dirty_pile_and_the_pages_that_go_on_with_it_run(tmp_path, monkeypatch):
    """Followed once, in one test: a copy for each page. The script knows what it put there, the collection the same."""
    (tmp_path / "first").mkdir()
    monkeypatch.chdir(tmp_path / "first")
    follow(PILE, types.ModuleType("pile"))
    made = json.loads(Path("what-is-in-it.json").read_text("utf-8"))
    kinds = ("messages", "web pages", "PDF", "tickets", "texts in an archive", "texts in an old encoding")
    with topiarist.Collection.open("pile.topiary") as collection:
        number = len(collection)
        account = {one.what: one.number for one in build_account(collection)}
    assert number == sum(made[kind] for kind in kinds) + made["copies"] + made["edited copies"]
    assert account["copies"] == made["copies"] + made["edited copies"]
    assert len(ON_THE_PILE) > 4
    for page in ON_THE_PILE:
        if page != PILE:
            shutil.copytree(tmp_path / "first", tmp_path / page.stem)
            monkeypatch.chdir(tmp_path / page.stem)
            follow(page, types.ModuleType(page.stem))


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TREE_MODELS, "toy", TREE_MODELS["cam"])  # a page registers its own: it goes with the test
    module = types.ModuleType(f"example_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    follow(page, module)


def follow(page, module):
    """Do what a page says, from top to bottom, in this folder."""
    for language, block in BLOCK.findall(page.read_text("utf-8")):
        if language == "python":
            code = compile(block, str(page), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(None), ThreadPoolExecutor(1) as apart:
                if "anyio.run" in block:  # the loop of a browser that other tests drive may run in this thread
                    apart.submit(exec, code, vars(module)).result()
                else:
                    exec(code, vars(module))
        elif language == "sh":
            for line in block.splitlines():
                run_command(line)


def run_command(line):
    """Run a line of a shell block in this process: ``topiarist …``, perhaps into a file, or one of our scripts.

    Variables such as ``TOPIARIST_WORDS=5`` may come before the command.
    """
    program, *arguments = shlex.split(line)
    variables = {}
    while "=" in program:
        name, _, value = program.partition("=")
        variables[name] = value
        program, *arguments = arguments
    if program == "python":
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "argv", arguments)
            runpy.run_path(str(ROOT / arguments[0]), run_name="__main__")
        return
    assert program == "topiarist", line
    target = None
    if ">" in arguments:
        arguments, (target,) = arguments[: arguments.index(">")], arguments[arguments.index(">") + 1 :]
    done = CliRunner().invoke(app, arguments, env=variables, catch_exceptions=False)
    assert done.exit_code == 0, f"{line}\n{done.output}"
    assert done.output.strip()
    if target:
        Path(target).write_text(done.stdout, encoding="utf-8")


PROMISES = (DOCS / "design" / "reliability.md", DOCS / "design" / "security.md", ROOT / "SECURITY.md")


@pytest.mark.parametrize("page", PROMISES, ids=lambda page: page.name)
def test_tests_named_by_promises_exist(page):
    tests = {path: path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    for name in re.findall(r"`((?:tests/)?[\w/]*test_\w+(?:\.py)?(?:::\w+)?)`", page.read_text("utf-8")):
        file, _, function = name.partition("::") if ".py" in name else ("", "", name)
        found = [text for path, text in tests.items() if path.as_posix().endswith(file)]
        assert found, name
        assert not function or any(re.search(rf"def {function}\b", text) for text in found), name
