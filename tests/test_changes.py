"""Changes as files of their own, and the changelog that they are gathered into."""

import pytest

from tools import changes


def test_changes_go_before_what_stands_under_the_newest_heading():
    before = "# Changelog\n\n## Unreleased\n\n- Old.\n\n## 0.1\n\n- Older.\n"
    after = changes.gathered(before, ["- One.\n  More.\n", "- Two."])
    assert after == "# Changelog\n\n## Unreleased\n\n- One.\n  More.\n- Two.\n- Old.\n\n## 0.1\n\n- Older.\n"
    assert changes.gathered(before, []) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [("- A line.\n  Its end.\n", ""), ("", "begin"), ("A line.\n", "begin"), ("- One.\nTwo.\n", "two spaces")],
)
def test_a_change_is_a_list(text, said):
    found = changes.problem(text)
    assert said in found
    assert bool(found) == bool(said)


def test_changes_that_wait_are_as_they_should_be():
    waiting = [path.read_text("utf-8") for path in changes.fragments()]
    assert [changes.problem(text) for text in waiting] == [""] * len(waiting)
    assert changes.gathered(changes.CHANGELOG.read_text("utf-8"), ["- §§"]).split("\n## ")[1].count("§§") == 1
