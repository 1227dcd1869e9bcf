"""Import paths that version 0.1 documented still work, and say where things are now."""

import subprocess
import sys
from importlib import import_module

import pytest

from topiarist.old_paths import MOVED

DOCUMENTED = {  # of docs/reference/python.md in version 0.1.0
    "topiarist.files": ("load_model", "load_vocabulary", "save_model"),
    "topiarist.files.filing": ("Filed",),
    "topiarist.files.finding": ("Found", "FoundDocument", "Place"),
    "topiarist.files.learning": ("CategoryQuality", "Quality"),
    "topiarist.files.recipe": ("Recipe",),
    "topiarist.tasks.comparing": (
        "Agreement", "Comparison", "Flow", "Match", "Placed", "Regrouped", "compare", "match_nodes",
    ),
    "topiarist.tasks.evaluating": ("Evaluation", "Labelled", "evaluate"),
    "topiarist.tasks.evidence": ("Evidence",),
    "topiarist.tasks.search": ("Answer", "Explanation", "SearchIndex"),
    "topiarist.tasks.shape": (
        "Branch", "Delete", "Describe", "Merge", "Move", "Pin", "Rename", "Shape", "Split", "Unpin",
    ),
    "topiarist.tasks.tables": ("documents", "topics", "words", "write"),
    "topiarist.tasks.topic_tree": ("NodeSummary", "TopicTree", "describe_tree", "grow_tree"),
    "topiarist.tasks.topics": ("Topic", "Topics", "distinctive", "find_topics", "set_general_words_aside"),
}  # fmt: skip


@pytest.mark.parametrize("path", DOCUMENTED)
def test_every_documented_name_is_found_by_its_old_path(path):
    old, new = import_module(path), import_module(MOVED[path])
    for name in DOCUMENTED[path]:
        with pytest.warns(DeprecationWarning, match=f"{path} has moved .* use {MOVED[path]}"):
            assert getattr(old, name) is getattr(new, name)


def test_the_warning_points_at_the_line_that_imports():
    script = "from topiarist.tasks.topics import find_topics"
    done = subprocess.run([sys.executable, "-W", "always", "-c", script], capture_output=True, text=True, check=True)
    assert "<string>:1: DeprecationWarning: topiarist.tasks.topics has moved" in done.stderr


def test_a_path_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("topiarist.tasks.nonsense")
