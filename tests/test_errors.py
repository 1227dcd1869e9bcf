"""Messages and hints of all errors: the golden list is up to date, and each hint is a sentence."""

import re

from tests.tools import tool

FLAG = re.compile(r"    hint: -")


def test_list_of_errors_is_fresh():
    errors = tool("list_errors")
    assert errors.list_errors() == errors.LIST.read_text("utf-8"), "run: python tools/list_errors.py"


def test_hints_begin_with_no_option():
    lines = tool("list_errors").LIST.read_text("utf-8").splitlines()
    assert sum(line.startswith("    hint: ") for line in lines) > 500
    assert not [line for line in lines if FLAG.match(line)]


def test_hints_are_sentences():
    hints = [
        line[10:] for line in tool("list_errors").LIST.read_text("utf-8").splitlines() if line.startswith("    hint: ")
    ]
    assert not [hint for hint in hints if hint[0] != "{" and not (hint[0].isupper() and hint[-1] in ".!…}")]
