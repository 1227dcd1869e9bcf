"""Notebooks and the README: their cells run as they stand, one after the other, and hold no results of their own."""

import ast
import json
import re
from itertools import islice
from pathlib import Path

import matplotlib as mpl
import pytest

import topiarist

mpl.use("Agg")

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
FEW = 300  # abstracts, where a text takes all


def run_cell(source, names, where):
    """Run a cell as a notebook would: the last expression is shown, as HTML where it can be."""
    body = ast.parse(source, where)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    exec(compile(body, where, "exec"), names)
    if last is None:
        return None
    shown = eval(compile(ast.Expression(last.value), where, "eval"), names)
    return shown._repr_html_() if hasattr(shown, "_repr_html_") else repr(shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path, monkeypatch, capsys):
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    body = json.loads(path.read_text("utf-8"))
    assert body["nbformat"] == 4
    names = {}
    for cell in body["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []  # what was once shown is not kept: it would grow stale
            run_cell("".join(cell["source"]), names, path.name)
    pyplot.close("all")


def test_there_are_four_notebooks():
    assert len(NOTEBOOKS) == 4


def test_five_lines_lead_from_a_frame_to_a_tree_a_table_and_a_plot(tmp_path, monkeypatch, capsys):
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    demo = topiarist.demo_documents
    monkeypatch.setattr(topiarist, "demo_documents", lambda: islice(demo(), FEW), raising=False)
    text = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"```python\n(import pandas\n.*?)```", text, re.DOTALL)[1]
    assert len([line for line in block.splitlines() if line and not line.startswith(("import", "from"))]) == 5
    names = {}
    run_cell(block, names, "README.md")
    assert "·" in capsys.readouterr().out
    assert {"name", "size", "words"} <= set(names["topics"].columns)
    assert (tmp_path / "time.svg").read_text().startswith("<?xml")
    names["collection"].close()
    pyplot.close("all")


def test_estimators_of_the_readme_work_alone(monkeypatch, capsys):
    demo = topiarist.demo_documents
    monkeypatch.setattr(topiarist, "demo_documents", lambda: islice(demo(), FEW), raising=False)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2, "a block of the README that no test runs"
    names = {}
    perplexity = float(run_cell(blocks[1], names, "README.md"))
    assert 50 < perplexity < names["corpus"].n_words
    assert "·" in capsys.readouterr().out
    tree, model = names["tree"], names["model"]
    assert tree.nodes[0].words
    assert model.components_.shape == (20, names["corpus"].counts.shape[1])
