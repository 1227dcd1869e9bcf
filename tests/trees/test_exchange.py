"""Trees for other programs, and trees that people write: what is written is read again, by us or by the book."""

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import trees
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.text.characters import remove_controls
from topiarist.trees import Tree
from topiarist.trees.exchange import (
    detect_format,
    format_path,
    iter_rows,
    read_tree,
    to_json,
    to_paths,
)

some = settings(max_examples=150, deadline=None)
HOSTILE = [
    "a/b",
    "back\\slash",
    "it's",
    "(x)",
    "a,b:c;",
    "under_score",
    "<b>&amp;",
    "[note]",
    '"q"',
    "日本",
    "\\/",
    "=1",
]


@st.composite
def named(draw):
    """A tree with names that other formats give a meaning to."""
    tree = draw(trees())
    text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=6)
    pool = st.one_of(st.sampled_from(HOSTILE), text.map(remove_controls).map(str.strip).filter(bool))
    names = []
    for node, parent in enumerate(tree.parents):
        taken = {names[other] for other in range(node) if tree.parents[other] == parent}
        name = draw(st.one_of(st.just(""), pool)) if parent < 0 else draw(pool)
        names.append(name if name not in taken else f"{name} {node}")
    return Tree(tree.parents, tuple(names))


def shape(tree):
    """The tree without its numbers."""
    return [tree.path_names(node) for node in tree.depth_first()]


@given(named())
@some
def test_json_round_trip_keeps_numbers(tree):
    words = [[f"w{node}"] for node in range(len(tree))]
    text = to_json(tree, words, [float(node) for node in range(len(tree))])
    assert read_tree(text, "json") == tree
    record = json.loads(text)
    assert (record["id"], record["name"], record["words"]) == (tree.root, tree.names[tree.root], [f"w{tree.root}"])
    assert read_tree(json.dumps(tree.to_dict()), "json") == tree


@given(named())
@some
def test_paths_round_trip(tree):
    assert shape(read_tree(to_paths(tree), "paths")) == shape(tree)


def categories(tree, node):
    """What a person would write: a mapping of names to what is below, a list where nothing is."""
    below = tree.children(node)
    if not below:
        return None
    if all(tree.is_leaf(child) for child in below):
        return [tree.names[child] for child in below]
    return {tree.names[child]: categories(tree, child) for child in below}


@given(named())
@some
def test_categories_round_trip_in_json_and_yaml(tree):
    yaml = pytest.importorskip("yaml")
    if len(tree) == 1 or (not tree.names[tree.root] and len(tree.children(tree.root)) == 1):
        return  # one name above all others is the root itself
    below = categories(tree, tree.root)
    data = {tree.names[tree.root]: below} if tree.names[tree.root] else below
    assert shape(read_tree(json.dumps(data), "json")) == shape(tree)
    written = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    assert shape(read_tree(written, "yaml")) == shape(tree)


def test_read_tree_accepts_variants():
    expected = Tree.from_paths(["/news/home", "/news/abroad", "/sport"])
    assert read_tree('{"news": ["home", "abroad"], "sport": null}', "json") == expected
    assert read_tree('["news", {"sport": {}}, 7]', "json").names == ("", "news", "sport", "7")
    assert read_tree('{"news": "home"}', "json") == Tree.from_paths(["news/home"])
    assert read_tree("\ufeffnews/home\r\n\r\n news / abroad \r\nsport", "paths") == expected
    assert read_tree("/", "paths") == Tree.single()
    assert read_tree(r"TCP\/IP/a\b/c\\d", "paths").names == ("TCP/IP", "a\\b", "c\\d")
    pytest.importorskip("yaml")
    assert read_tree("news:\n  - home\n  - abroad\nsport:\n", "yaml") == expected
    assert read_tree("world:\n  - no\n  - 1984\n  - 007\n  - yes: [on]\n", "yaml").names == (
        "world", "no", "1984", "007", "yes", "on"
    )  # fmt: skip
    assert read_tree("name: all\nchildren:\n- {name: a, id: 0}\nid: 1\n", "yaml") == Tree((1, -1), ("a", "all"))
    assert read_tree("parents: [1, -1]\nnames: [a, all]", "yaml") == Tree((1, -1), ("a", "all"))
    assert read_tree('{"name": "all", "children": [{"name": "a"}]}', "json") == Tree.from_paths(["all/a"])


def test_names_hold_no_control_characters():
    hostile = "ne\x1bws\u202e"
    for text, format in ((f"{hostile}/a\u2066", "paths"), (json.dumps({hostile: ["a\u2066"]}), "json")):
        assert read_tree(text, format).names == ("ne ws", "a")
    record = {"name": hostile, "children": [{"name": "a\x85"}]}
    assert read_tree(json.dumps(record), "json").names == ("ne ws", "a ")
    tree = Tree((-1, 0), ("", hostile))
    assert (to_paths(tree), json.loads(to_json(tree))["children"][0]["name"]) == ("/ne ws\n", "ne ws")
    assert [row["name"] for row in iter_rows(tree)] == ["", "ne ws"]


def test_iter_rows_yields_flat_records():
    tree = Tree.from_paths(["/news/home", "/news/radio"])
    found = list(iter_rows(tree, [["the"], ["minister"], [], ["film"]], [4, 4, 1.5, 2.5]))
    assert found[0] == {
        "id": 0, "parent": None, "path": "/", "name": "", "level": 0, "size": 4, "share": 1.0, "words": ["the"]
    }  # fmt: skip
    assert found[2]["path"] == "/news/home"
    assert (found[2]["parent"], found[2]["size"], found[2]["share"], found[2]["words"]) == (1, 1.5, 0.375, [])
    assert [row["size"] for row in iter_rows(tree)] == [None] * 4
    assert [row["share"] for row in iter_rows(tree, sizes=[0] * 4)] == [0.0] * 4
    assert format_path(Tree((-1, 0), ("", "tv/\nradio")), 1) == "/tv\\/ radio"


def test_detect_format_by_suffix():
    assert [detect_format(name) for name in ("a.json", "b.YML", "c.yaml", "d.txt")] == ["json", "yaml", "yaml", "paths"]
    with pytest.raises(UsageError, match=r"ends in \.json, \.yaml, .*, got tree\.docx"):
        detect_format("tree.docx")


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        ("  \n", "paths", "got an empty text"),
        ("a//b", "paths", "a name at every step of a path"),
        ("{", "json", "is not JSON: .* in line 1, column 2"),
        ("{}", "json", "without names"),
        ('{"a": {"b": [true]}}', "json", "names of categories, got True below 'a/b'"),
        ('[["a"]]', "json", "got .* at the top"),
        ('{"a": null, "b": [], "a": ["c"]}', "json", "every category once, got 'a' twice"),
        ('["a", "a"]', "json", "every category once, got 'a' twice"),
        ('{"name": "all", "children": [{"children": []}]}', "json", "a name and children for every node"),
        ('{"parents": [-1, 5]}', "json", "parents from 0 to 1"),
        ("[" * 100_000, "json", "nested too deeply"),
        ("a: [", "yaml", "is not YAML: .* in line 1"),
        ("a: &x [*x]", "yaml", "nested too deeply"),
        ("a: 1\na: 2", "yaml", "every category once, got 'a' twice"),
    ],
)
def test_read_tree_explains_errors(text, format, message):
    if format == "yaml":
        pytest.importorskip("yaml")
    with pytest.raises(InputError, match=message):
        read_tree(text, format)


def test_read_tree_rejects_expanding_aliases(monkeypatch):
    pytest.importorskip("yaml")
    monkeypatch.setattr("topiarist.trees.exchange.MAX_NODES", 1000)
    lines = ["x0: &a0 [p, q]"] + [f"x{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}" for n in range(1, 40)]
    with pytest.raises(InputError, match="at most 1,000 categories"):
        read_tree("\n".join(lines), "yaml")


def test_exchange_rejects_invalid_arguments(monkeypatch):
    tree = Tree.star(2)
    with pytest.raises(UsageError, match="got 'xml'"):
        read_tree("a", "xml")
    with pytest.raises(InputError, match="words for each of 3 nodes, got 2"):
        to_json(tree, [["a"], ["b"]])
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ResourceError, match="reading YAML requires PyYAML"):
        read_tree("a:", "yaml")
