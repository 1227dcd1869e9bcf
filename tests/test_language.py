"""Tests that names, docstrings, messages and documents keep to plain technical English (docs/design/language.md)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GENERATED = re.compile(r"(Written|Made|Generated) by `")
sys.path.insert(0, str(ROOT / "tools"))

import check_language  # noqa: E402
import check_readability  # noqa: E402


@pytest.fixture(scope="module")
def source():
    total = check_language.Result()
    for result in check_language.measure(ROOT / "src" / "topiarist").values():
        total.add(result)
    return total


@pytest.mark.parametrize(("figure", "limit"), check_language.TARGETS.items())
def test_source_meets_language_target(source, figure, limit):
    assert check_language.figures(source)[figure] <= limit


def test_pages_for_newcomers_are_readable():
    for path in check_readability.PAGES:
        text = check_readability.read_page(ROOT / path)
        assert check_readability.words_per_sentence(text) <= check_readability.MAX_WORDS_PER_SENTENCE, path
        assert check_readability.reading_ease(text) >= check_readability.MIN_READING_EASE, path


def test_help_texts_are_readable():
    text = check_readability.read_help()
    assert check_readability.words_per_sentence(text) <= check_readability.MAX_WORDS_PER_SENTENCE
    assert check_readability.reading_ease(text) >= check_readability.MIN_READING_EASE


def test_readme_is_short():
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 120
    assert max(map(len, lines)) <= 160
    cells = [cell for line in lines if line.startswith("|") for cell in line.strip("|").split("|")]
    assert max(len(cell.strip()) for cell in cells) <= 80


def test_lines_of_documents_are_short():
    paths = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = {path: (ROOT / path).read_text("utf-8") for path in paths.stdout.split()}
    written_by_hand = {path: text for path, text in texts.items() if not GENERATED.search(text[:500])}
    assert len(written_by_hand) > 40
    lines = [
        f"{path}:{number}"
        for path, text in written_by_hand.items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > 200 and not line.lstrip().startswith("|")
    ]
    assert lines == []
