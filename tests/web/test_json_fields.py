"""Names of the JSON fields: programs use them, so that a change of values in Python must not change them."""

import dataclasses
import typing
from pathlib import Path

from topiarist.web import jobs
from topiarist.web.forms import posts
from topiarist.web.http import failures, placements
from topiarist.web.pages.registry import PAGES

NAMES = Path(__file__).with_name("json_fields.txt")
OTHERS = {
    "/file.json": placements.place,
    "/job.json": jobs.JobPage,
    "every write": posts.Done,
    "every failure": failures.Failure,
}


def answer_of(value):
    """The class of an answer; of a route, the class that it returns."""
    return value if isinstance(value, type) else typing.get_type_hints(value)["return"]


def list_fields(kind, above=()):
    """The fields of a class, each with the fields of its value behind a dot."""
    for name, hint in typing.get_type_hints(kind).items():
        if name in {one.name for one in dataclasses.fields(kind)}:
            yield name
            for inner in find_values(hint):
                if inner not in above:
                    yield from (f"{name}.{field}" for field in list_fields(inner, (*above, inner)))


def find_values(hint):
    if dataclasses.is_dataclass(hint):
        return [hint]
    return [kind for part in typing.get_args(hint) for kind in find_values(part)]


def test_json_fields_stay():
    answers = {page.data_path: page.value for page in PAGES} | {path: answer_of(one) for path, one in OTHERS.items()}
    lines = [f"{path} {name}" for path, kind in answers.items() for name in list_fields(kind, (kind,))]
    assert sorted(set(lines)) == NAMES.read_text("utf-8").splitlines()
