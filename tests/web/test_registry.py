"""What a page consists of: a module with its value, a template, and a line of the registry; and nothing else."""

import dataclasses
from pathlib import Path

import pytest

from topiarist.web import pages, rendering
from topiarist.web.pages.registry import PAGES

TEMPLATES = Path(rendering.__file__).with_name("templates")
OF_WRITES = {"conflict", "failure", "sure"}  # answers to what was posted, and to what went wrong
OF_ALL = {"base", "report"}
ANNEXES = {"registry"}


def name_of(page):
    return page.module.__name__.rpartition(".")[2]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_has_summary_value_and_template(page):
    assert page.module.__doc__.partition("\n")[0].endswith(".")
    assert page.value.__module__ == page.module.__name__
    assert page.value.__name__ == f"{name_of(page).title()}Page"
    for kind in (page.value, page.module.Ask):
        assert kind.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(page.value))
    assert (TEMPLATES / page.template).is_file()


def test_no_module_and_no_template_is_left_without_a_page():
    modules = {path.stem for path in Path(pages.__file__).parent.rglob("*.py")} - {"__init__"}
    templates = {path.stem for path in TEMPLATES.glob("*.html") if not path.stem.startswith("_")}
    listed = {name_of(page) for page in PAGES}
    assert modules == listed | ANNEXES
    assert templates == listed | OF_WRITES | OF_ALL
    assert len({page.path for page in PAGES}) == len(PAGES)
