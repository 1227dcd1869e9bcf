"""Trees for other programs, and trees that people write: what is written is read again, by us or by the book."""

import json
import re
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform

from tests.strategies import trees
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.hierarchy import Tree
from topiarist.hierarchy.exchange import (
    format_of,
    path_text,
    read_tree,
    rows,
    to_graphml,
    to_json,
    to_newick,
    to_paths,
)
from topiarist.hierarchy.tree_text import printable

some = settings(max_examples=150, deadline=None)
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
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
    pool = st.one_of(st.sampled_from(HOSTILE), text.map(str.strip).filter(bool))
    names = []
    for node, parent in enumerate(tree.parents):
        taken = {names[other] for other in range(node) if tree.parents[other] == parent}
        name = draw(st.one_of(st.just(""), pool)) if parent < 0 else draw(pool)
        names.append(name if name not in taken else f"{name} {node}")
    return Tree(tree.parents, tuple(names))


def shape(tree):
    """The tree without its numbers."""
    return [tree.path_names(node) for node in tree.depth_first()]


# ---- Newick by the book: quoted labels, underscores for spaces, lengths behind colons


def parsed(text):
    tokens = re.findall(r"'(?:[^']|'')*'|[(),:;]|[^(),:;'\s]+", text)
    assert tokens[-1] == ";"
    node, rest = _branch(tokens[:-1])
    assert not rest
    return node


def _branch(tokens):
    children = []
    if tokens and tokens[0] == "(":
        while tokens[0] in "(,":
            child, tokens = _branch(tokens[1:])
            children.append(child)
        assert tokens[0] == ")"
        tokens = tokens[1:]
    name, length = "", None
    if tokens and tokens[0] not in "(),:":
        name = tokens[0][1:-1].replace("''", "'") if tokens[0][0] == "'" else tokens[0].replace("_", " ")
        tokens = tokens[1:]
    if tokens and tokens[0] == ":":
        length, tokens = float(tokens[1]), tokens[2:]
    return (name, length, children), tokens


def walked(node, above=()):
    name, _, children = node
    yield (*above, name)
    for child in children:
        yield from walked(child, (*above, name))


@given(named())
@some
def test_newick_is_read_by_the_book(tree):
    node = parsed(to_newick(tree))
    assert list(walked(node)) == [tuple(map(printable, path)) for path in shape(tree)]
    assert node[1] is None  # the root has no branch above it


def test_newick_by_hand():
    tree = Tree.from_paths(["all/a_b", "all/it's/x y", "all/it's/z"])
    assert to_newick(tree) == "('a_b':1,('x y':1,z:1)'it''s':1)all;\n"
    assert to_newick(tree, [3, 0, 2, 0, 0.5]) == "('a_b':3,('x y':2,z:1.5)'it''s':1)all;\n"
    assert to_newick(Tree.single()) == ";\n"
    assert to_newick(Tree(tuple(range(-1, 20_000)))).count("(") == 20_000


def test_newick_of_a_linkage_has_its_distances():
    points = np.random.default_rng(0).normal(size=(12, 2))
    merges = linkage(points, "average")
    tree = Tree.from_linkage(merges, [f"p{row}" for row in range(12)])
    node = parsed(to_newick(tree, [0.0] * 12 + merges[:, 2].tolist()))

    def depths(node, above, found):
        name, length, children = node
        found[name] = (*above, (above[-1][0] + (length or 0), name))
        for child in children:
            depths(child, found[name], found)
        return found

    found = depths(node, ((0.0, ""),), {})
    apart = squareform(cophenet(merges, pdist(points))[1])
    for one in range(12):
        for other in range(one):
            shared = [a for a, b in zip(found[f"p{one}"], found[f"p{other}"], strict=False) if a == b][-1][0]
            up = found[f"p{one}"][-1][0] - shared
            assert up == pytest.approx(apart[one, other])


@given(named(), st.booleans())
@some
def test_graphml_holds_every_node_and_edge(tree, known):
    words = [[f"w{node}", "<&>"] for node in range(len(tree))] if known else ()
    sizes = list(range(1, len(tree) + 1)) if known else ()
    top = ET.fromstring(to_graphml(tree, words, sizes).encode())
    keys = {key.get("id"): key.get("attr.type") for key in top.iter(f"{GRAPHML}key")}
    assert keys == {"name": "string", "level": "int"} | (
        {"size": "double", "share": "double", "words": "string"} if known else {}
    )
    for node in top.iter(f"{GRAPHML}node"):
        number = int(node.get("id")[1:])
        data = {entry.get("key"): entry.text or "" for entry in node}
        assert data["name"] == tree.names[number].replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
        assert int(data["level"]) == tree.depths[number]
        if known:
            assert (float(data["size"]), data["words"]) == (number + 1, f"w{number}, <&>")
    edges = {(edge.get("source"), edge.get("target")) for edge in top.iter(f"{GRAPHML}edge")}
    assert edges == {(f"n{parent}", f"n{node}") for node, parent in enumerate(tree.parents) if parent >= 0}


def test_graphml_survives_what_xml_cannot_hold():
    tree = Tree((-1, 0), ("", "a\x00b\ud800"))
    text = to_graphml(tree)
    assert ET.fromstring(text.encode()) is not None
    assert "a\ufffdb\ufffd" in text


@given(named())
@some
def test_nested_json_comes_back_with_its_numbers(tree):
    words = [[f"w{node}"] for node in range(len(tree))]
    text = to_json(tree, words, [float(node) for node in range(len(tree))])
    assert read_tree(text, "json") == tree
    record = json.loads(text)
    assert (record["id"], record["name"], record["words"]) == (tree.root, tree.names[tree.root], [f"w{tree.root}"])
    assert read_tree(json.dumps(tree.to_dict()), "json") == tree


@given(named())
@some
def test_paths_come_back(tree):
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
def test_categories_come_back_from_json_and_yaml(tree):
    yaml = pytest.importorskip("yaml")
    if len(tree) == 1 or (not tree.names[tree.root] and len(tree.children(tree.root)) == 1):
        return  # one name above all others is the root itself
    below = categories(tree, tree.root)
    data = {tree.names[tree.root]: below} if tree.names[tree.root] else below
    assert shape(read_tree(json.dumps(data), "json")) == shape(tree)
    written = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    assert shape(read_tree(written, "yaml")) == shape(tree)


def test_what_people_write():
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


def test_rows_of_a_table():
    tree = Tree.from_paths(["/news/home", "/news/radio"])
    found = list(rows(tree, [["the"], ["minister"], [], ["film"]], [4, 4, 1.5, 2.5]))
    assert found[0] == {
        "id": 0, "parent": None, "path": "/", "name": "", "level": 0, "size": 4, "share": 1.0, "words": ["the"]
    }  # fmt: skip
    assert found[2]["path"] == "/news/home"
    assert (found[2]["parent"], found[2]["size"], found[2]["share"], found[2]["words"]) == (1, 1.5, 0.375, [])
    assert [row["size"] for row in rows(tree)] == [None] * 4
    assert [row["share"] for row in rows(tree, sizes=[0] * 4)] == [0.0] * 4
    assert path_text(Tree((-1, 0), ("", "tv/\nradio")), 1) == "/tv\\/ radio"


def test_formats_by_the_end_of_a_name():
    assert [format_of(name) for name in ("a.json", "b.YML", "c.yaml", "d.txt")] == ["json", "yaml", "yaml", "paths"]
    with pytest.raises(UsageError, match=r"ends in \.json, \.yaml, .*, got tree\.docx"):
        format_of("tree.docx")


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        ("  \n", "paths", "got an empty text"),
        ("a//b", "paths", "a name at every step of a path"),
        ("{", "json", "is not JSON: .* in line 1, column 2"),
        ("{}", "json", "without any names"),
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
def test_what_cannot_be_read_is_explained(text, format, message):
    if format == "yaml":
        pytest.importorskip("yaml")
    with pytest.raises(InputError, match=message):
        read_tree(text, format)


def test_a_short_text_that_stands_for_too_many_is_refused(monkeypatch):
    pytest.importorskip("yaml")
    monkeypatch.setattr("topiarist.hierarchy.exchange.MOST_NODES", 1000)
    lines = ["x0: &a0 [p, q]"] + [f"x{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}" for n in range(1, 40)]
    with pytest.raises(InputError, match="at most 1,000 categories"):
        read_tree("\n".join(lines), "yaml")


def test_wrong_use_is_refused(monkeypatch):
    tree = Tree.star(2)
    with pytest.raises(UsageError, match="one of json, yaml, paths, got 'xml'"):
        read_tree("a", "xml")
    with pytest.raises(InputError, match="words for each of 3 nodes, got 2"):
        to_json(tree, [["a"], ["b"]])
    with pytest.raises(InputError, match="heights for each of 3 nodes, got 0"):
        to_newick(tree, [])
    with pytest.raises(InputError, match="no node above its parent, got node 2 at 3, its parent at 1"):
        to_newick(tree, [1, 0, 3])
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ResourceError, match="reading YAML needs PyYAML"):
        read_tree("a:", "yaml")
