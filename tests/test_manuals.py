"""Man pages and completions are those of the commands; what a release says of itself is said once."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import topiarist
from topiarist.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def manuals():
    spec = importlib.util.spec_from_file_location("docs_manuals", ROOT / "docs" / "manuals.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_they_are_fresh(manuals):
    written = {str(path.relative_to(manuals.SHARE)): path for path in manuals.SHARE.rglob("*") if path.is_file()}
    made = manuals.files()
    assert written.keys() == made.keys()
    assert not [place for place, text in made.items() if written[place].read_text("utf-8") != text], "docs/generate.py"


def test_every_command_and_option_is_in_them(manuals):
    made = manuals.files()
    for name in COMMANDS:
        page = made[f"man/man1/topiarist-{name}.1"].replace("\\-", "-")
        command = manuals.GROUP.commands[name]
        spelled = [each for one in manuals.options(command) for each in manuals.spellings(one)]
        assert spelled or name == "mcp"
        assert not [each for each in spelled if each not in page]
        for place in made:
            if "completions" in place or "zsh" in place:
                assert not [each for each in spelled if each.lstrip("-") not in made[place]]
                assert name in made[place]


def test_man_pages_hold_no_request_that_is_not_ours(manuals):
    for text in manuals.files().values():
        if text.startswith(".TH"):
            requests = set(re.findall(r"^\.(\w*)", text, re.MULTILINE))
            assert requests <= {"TH", "SH", "TP", "B", "BR", "I", "nf", "fi", ""}
            assert text.isascii()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["fi"], ["file", "find"]),
        (["tree", "x.topiary", "--det"], ["--detail"]),
        (["tree", "x.topiary", "--detail", "f"], ["fine"]),
        (["report", "--documents", ""], ["typical", "all", "none"]),
        (["tree", ""], []),
    ],
)
def test_bash_completes(manuals, typed, offered):
    script = manuals.SHARE / "bash-completion" / "completions" / "topiarist"
    words = shlex.join(["topiarist", *typed])
    asked = f"COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _topiarist"
    done = subprocess.run(
        ["bash", "-c", f'source "{script}"; {asked}; printf "%s\\n" "${{COMPREPLY[@]}}"'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == offered


def test_the_version_is_told_once_and_quickly():
    script = "import sys, topiarist.cli as cli; sys.argv = ['topiarist', '--version']; cli.main(); "
    script += "print(sorted({'typer', 'rich', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"topiarist {topiarist.__version__}", "[]"]
    for name in ("pyproject.toml", "CITATION.cff", "Containerfile", "Makefile"):
        assert topiarist.__version__ not in (ROOT / name).read_text("utf-8")


def test_the_container_runs_as_nobody_and_fetches_no_more_than_it_says():
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    assert "USER 10001" in lines
    assert lines.index("USER 10001") > max(n for n, line in enumerate(lines) if line.startswith(("RUN", "COPY")))
    assert not [line for line in lines if line.startswith(("ADD", "EXPOSE"))]
    copied = [part for line in lines if line.startswith("COPY") and "--from" not in line for part in line.split()[1:-1]]
    assert not [name for name in copied if not (ROOT / name).exists()]
