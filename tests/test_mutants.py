"""The list of things to break is about the code that there is: a place that has moved would silently not be tried."""

import ast
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

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


def judged_by(made, *verdicts):
    """What is said of a mutant whose tests end so, one round after the other."""
    answers = iter(verdicts)
    tree = SimpleNamespace(broken=lambda *_: next(answers))
    trees = SimpleNamespace(plain=lambda tests: made.Verdict(True, "passed", 1.0), do=lambda work: work(tree))
    return made.judged(made.OWN[0], trees, [(f"tests/{number}",) for number in range(len(verdicts))])


def test_tests_without_an_end_neither_kill_a_mutant_nor_let_it_live(tmp_path):
    made = tool("mutants")
    (tmp_path / "test_long.py").write_text("import time\n\ndef test_long():\n    time.sleep(600)\n")
    tree = made.Tree.__new__(made.Tree)  # without a copy of the sources
    tree.where = tmp_path
    endless = tree.tested(("test_long.py",), 0.5)
    assert (endless.passed, endless.ended) == (False, False)
    passed, failed = made.Verdict(True, "1 passed", 1.0), made.Verdict(False, "FAILED tests/a.py", 1.0)
    assert judged_by(made, passed, endless) == "no end: tests/1 (no end after 0 s)"
    assert judged_by(made, endless, failed) == "killed by tests/1 (FAILED tests/a.py)"
    assert judged_by(made, passed, passed) == "SURVIVED"


def test_only_the_dead_and_the_living_are_counted():
    made = tool("mutants")
    answers = [("store/a.py", "killed by tests/a.py (FAILED)"), ("store/a.py", "no end: tests/a.py (no end after 9 s)")]
    answers += [("store/a.py", "untold: no such place"), ("models/b.py", "known: the same")]
    said, all_dead = made.tallied(answers)
    assert said.splitlines() == [
        "models known: 1, store killed: 1, store no end: 1, store untold: 1",
        "1 of 1 mutants killed (100%), 1 of no end",
    ]
    assert all_dead
    said, all_dead = made.tallied([*answers, ("models/b.py", "SURVIVED")])
    assert said.endswith("1 of 2 mutants killed (50%), 1 of no end")
    assert not all_dead


def test_survivors_and_those_of_no_end_are_tried_again(tmp_path):
    made = tool("mutants")
    said = ("killed by tests/a.py (FAILED)", "SURVIVED", "no end: tests/a.py (no end after 9 s)", "known: the same")
    log = [f"{at}/4 {one.name}: {answer}" for at, (one, answer) in enumerate(zip(made.OWN, said, strict=False), 1)]
    (tmp_path / "log").write_text("\n".join(log))
    asked = SimpleNamespace(only="", own=True, drawn=False, again=tmp_path / "log", skip=0)
    assert {one.name for one in made.wanted(asked)} == {one.name for one in made.OWN[1:3]}


def test_mutants_of_some_files_are_as_many_as_of_each(tmp_path):
    made = tool("mutants")

    def names(only):
        asked = SimpleNamespace(only=only, own=False, drawn=False, again=None, skip=0, each=1, seed=0)
        return {one.name for one in made.wanted(asked)}

    both = names("store/facts.py,counts/validation.py")
    assert both == names("store/facts.py") | names("counts/validation.py")
    assert len(both) == 2


def test_who_waits_for_an_answer_hears_that_there_is_none(tmp_path, monkeypatch):
    made = tool("mutants")
    trees = made.Trees(tmp_path, 0)

    def full(work):
        raise OSError("no room")

    monkeypatch.setattr(trees, "do", full)
    with pytest.raises(OSError, match="no room"):
        trees.plain(("tests/a.py",))
    assert isinstance(trees.known[("tests/a.py",)].exception(timeout=0), OSError)
    with pytest.raises(OSError, match="no room"):
        trees.plain(("tests/a.py",))


def test_after_an_error_no_other_mutant_is_begun(monkeypatch):
    made = tool("mutants")
    begun, ended = [], threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            ended.set()
            super().shutdown(wait=wait)

    def verdict(mutant):
        begun.append(mutant)
        if len(begun) == 1:
            raise OSError("no room")
        ended.wait(60)  # the second may have been begun before the error was seen, and no further one
        return "SURVIVED"

    monkeypatch.setattr(made, "ThreadPoolExecutor", Pool)
    with pytest.raises(OSError, match="no room"):
        made.answered(list(made.OWN), verdict, 1)
    assert len(begun) <= 2


def test_the_tests_of_paths_are_near_the_pieces_that_they_are_counted_in():
    assert "kernels/test_paths.py" in tool("mutants").NEAR["models/engine/host.py"]
