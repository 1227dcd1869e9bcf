"""SKOS in and out."""

import re
import subprocess
import sys

import pytest

from topiarist.errors import InputError
from topiarist.trees.thesaurus import FORMATS, from_skos, is_thesaurus, to_skos
from topiarist.trees.tree import Tree

HEAD = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <urn:x:> .\n"


def below(tree: Tree) -> set[tuple[str, ...]]:
    return {tree.path_names(node)[1:] for node in range(len(tree)) if node != tree.root}


@pytest.mark.parametrize("format", FORMATS)
def test_skos_round_trip_keeps_names(format):
    tree = Tree.from_paths(["/news/home", "/news/abroad & <far>", "/sport", "/日本/東京"])
    words = [["a", "b"]] * len(tree)
    text = to_skos(tree, words, [1.0] * len(tree), range(10, 10 + len(tree)), format)
    assert below(from_skos(text, f"x.{format}").tree) == below(tree)
    assert "urn:topiarist:topic:12" in text
    assert "1 documents; words: a, b" in text


def test_from_skos_counts_further_broader_concepts():
    found = from_skos(
        HEAD
        + ':b a skos:Concept ; skos:prefLabel "Birds"@en, "Vögel"@de . :a a skos:Concept ; skos:prefLabel "Animals" .\n'
        ':p a skos:Concept ; skos:prefLabel "Pets" . :c skos:prefLabel "Canary" ; skos:broader :p, :b .\n'
        ":a skos:narrower :b . :p skos:broader :a . :nameless a skos:Concept .",
        "x.ttl",
    )
    assert below(found.tree) == {
        ("Animals",), ("Animals", "Birds"), ("Animals", "Pets"), ("Animals", "Birds", "Canary"),
    }  # fmt: skip
    assert (found.n_skipped_parents, found.n_unnamed) == (1, 1)
    assert found.describe_skipped() == ("Not in the tree: 1 further broader concepts and 1 concepts without a label.")


def test_from_skos_numbers_siblings_of_one_name():
    text = HEAD + ':a a skos:Concept ; skos:prefLabel "Bank" . :b a skos:Concept ; skos:prefLabel "Bank" .'
    assert below(from_skos(text, "x.ttl").tree) == {("Bank",), ("Bank (2)",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no turtle at all {", "cannot be read"),
        (HEAD + ":a a :b .", "got none"),
        (
            HEAD + ':a skos:prefLabel "A" ; skos:broader :b . :b skos:prefLabel "B" ; skos:broader :a .',
            "cycle with 2 concepts",
        ),
    ],
)
def test_from_skos_rejects_other_rdf(text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        from_skos(text, "x.ttl")


def test_is_thesaurus_by_suffix():
    assert [name for name in ("a.TTL", "a.rdf", "a.nt", "a.txt", "a.jsonld", "ttl") if is_thesaurus(name)] == [
        "a.TTL", "a.rdf", "a.nt",
    ]  # fmt: skip


def test_from_skos_reads_no_other_file(tmp_path):
    """An external entity of RDF/XML is not followed, and no socket is opened."""
    secret = tmp_path / "secret"
    secret.write_text("hidden words")
    text = (
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}">]>'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="urn:a">'
        "<skos:prefLabel>A &e;</skos:prefLabel></skos:Concept></rdf:RDF>"
    )
    script = (
        "import socket, sys\n"
        "def refused(*a): raise SystemExit('network')\n"
        "socket.socket.connect = refused\n"
        "from topiarist.trees.thesaurus import from_skos\n"
        "print(from_skos(sys.argv[1], 'x.rdf').tree.names)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, text], capture_output=True, text=True, check=False)
    assert "hidden" not in done.stdout
    assert "network" not in done.stderr
