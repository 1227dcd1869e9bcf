"""The list of things to break is about the code that there is: a place that has moved would silently not be tried."""

import ast
import random

from tests.tools import tool


def test_every_mutant_of_the_list_can_be_made_and_has_its_tests():
    made = tool("mutants")
    source = made.ROOT / made.PACKAGE
    gone = [one.name for one in made.OWN if one.old not in (source / one.file).read_text()]
    gone += [test for one in made.OWN for test in one.tests if not (made.ROOT / test).exists()]
    gone += [one.file for one in made.OWN if not one.tests and one.file not in made.NEAR]
    gone += [file for file in made.NEAR if not (source / file).is_file()]
    gone += [test for tests in made.NEAR.values() for test in tests if not (made.ROOT / "tests" / test).is_file()]
    gone += [test for tests in made.FAR.values() for test in tests if not (made.ROOT / test).exists()]
    assert gone == []


def test_every_module_of_the_rooms_is_broken_or_left_out_with_a_reason():
    made = tool("mutants")
    source = made.ROOT / made.PACKAGE
    modules = [path.relative_to(source).as_posix() for room in made.ROOMS for path in (source / room).rglob("*.py")]
    forgotten = [one for one in modules if one not in made.NEAR and not one.startswith(tuple(made.LEFT_OUT))]
    assert [one for one in forgotten if made.drawn(one, 1, random.Random(0))] == []


def test_what_is_drawn_in_a_module_depends_on_the_seed_alone():
    made = tool("mutants")
    first, again, other = (made.drawn("store/facts.py", 5, random.Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    source = (made.ROOT / made.PACKAGE / "store/facts.py").read_text()
    plain = ast.unparse(ast.parse(source))
    assert all(one.applied(source) != plain for one in first)
    assert all("\n" not in one.name for one in first)
