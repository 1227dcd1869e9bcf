"""The list of things to break is about the code that there is: a place that has moved would silently not be tried."""

from tests.tools import tool


def test_every_mutant_of_the_list_can_be_made_and_has_its_tests():
    made = tool("mutants")
    source = made.ROOT / made.PACKAGE
    gone = [one.name for one in made.OWN if one.old not in (source / one.file).read_text()]
    gone += [test for one in made.OWN for test in one.tests if not (made.ROOT / test).exists()]
    gone += [one.file for one in made.OWN if not one.tests and one.file not in made.NEAR]
    gone += [file for file in made.NEAR if not (source / file).is_file()]
    gone += [test for test in made.NEAR.values() if not (made.ROOT / "tests" / test).is_file()]
    assert gone == []
