"""Pages that name a test for each promise name tests that there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMED = re.compile(r"`(tests/[\w/]+(?:\.py)?|tools/\w+\.py)(?:::(\w+))?`|`(test_\w+)(\.py)?`")


@pytest.mark.parametrize("page", ["reliability.md", "security.md", "collection-folder.md"])
def test_every_test_that_a_page_names_is_there(page):
    gone, named, file = [], 0, ROOT
    for path, test, bare, suffix in NAMED.findall((ROOT / "docs" / "design" / page).read_text()):
        if path or suffix:  # a file alone lies beside the one before it
            file, named = (ROOT / path if path else file.parent / f"{bare}.py"), named + 1
        test = test or ("" if suffix else bare)
        if not file.exists() or (test and f"def {test}(" not in file.read_text()):
            gone.append(f"{path or bare} {test}")
    assert gone == []
    assert named > 0
