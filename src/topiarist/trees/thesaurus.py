"""Conversion between trees and SKOS thesauri, with rdflib.

A topic is a concept: its name is the preferred label, its parent the broader concept, its number the notation. In a
tree, a concept is below one broader concept. Of several broader concepts, the one with the first label is taken, and
the others are counted. Nothing is downloaded: only the content of the file is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from topiarist.errors import InputError, ResourceError
from topiarist.text.characters import clean_name
from topiarist.trees.tree import Tree
from topiarist.trees.tree_text import to_printable

FORMATS = {"ttl": "turtle", "rdf": "pretty-xml"}  # suffix: name of the format in rdflib
READ_FORMATS = {".ttl": "turtle", ".rdf": "xml", ".nt": "nt"}
SCHEME = "urn:topiarist:tree"
TOPIC = "urn:topiarist:topic:"
MAX_CONCEPTS = 1_000_000
PREFERRED_LANGUAGE = "en"


class Thesaurus(NamedTuple):
    """A tree of concepts, with the counts of what the tree leaves out."""

    tree: Tree
    n_skipped_parents: int = 0  # further broader concepts of concepts with several
    n_unnamed: int = 0  # concepts without a preferred label

    def describe_skipped(self) -> str:
        """Return a sentence about skipped concepts; empty if none was skipped."""
        parts = []
        if self.n_skipped_parents:
            parts.append(f"{self.n_skipped_parents:,} further broader concepts")
        if self.n_unnamed:
            parts.append(f"{self.n_unnamed:,} concepts without a label")
        return f"Not in the tree: {' and '.join(parts)}." if parts else ""


def is_thesaurus(name: str) -> bool:
    """Return whether a file is a thesaurus, by its suffix."""
    return PurePath(name).suffix.lower() in READ_FORMATS


def to_skos(
    tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[float], numbers: Sequence[int], format: str
) -> str:
    """Return the tree as a concept scheme in Turtle ("ttl") or RDF/XML ("rdf").

    ``numbers`` are the stable numbers of the topics. The root is the scheme itself.
    """
    rdflib = _import_rdflib()
    skos, graph = rdflib.namespace.SKOS, rdflib.Graph()
    graph.bind("skos", skos)
    scheme = rdflib.URIRef(SCHEME)
    graph.add((scheme, rdflib.RDF.type, skos.ConceptScheme))
    graph.add((scheme, skos.prefLabel, rdflib.Literal(to_printable(tree.names[tree.root]) or "Topics")))
    concepts = [rdflib.URIRef(f"{TOPIC}{number}") for number in numbers]
    for node in (node for node in range(len(tree)) if node != tree.root):
        concept, parent = concepts[node], tree.parents[node]
        graph.add((concept, rdflib.RDF.type, skos.Concept))
        graph.add((concept, skos.inScheme, scheme))
        graph.add((concept, skos.notation, rdflib.Literal(str(numbers[node]))))
        graph.add((concept, skos.prefLabel, rdflib.Literal(to_printable(tree.names[node]))))
        description = f"{sizes[node]:,.0f} documents; words: {', '.join(map(to_printable, words[node]))}"
        graph.add((concept, skos.note, rdflib.Literal(description)))
        if parent == tree.root:
            graph.add((concept, skos.topConceptOf, scheme))
            graph.add((scheme, skos.hasTopConcept, concept))
        else:
            graph.add((concept, skos.broader, concepts[parent]))
            graph.add((concepts[parent], skos.narrower, concept))
    text: str = graph.serialize(format=FORMATS[format])
    return text if text.endswith("\n") else f"{text}\n"


def from_skos(text: str, name: str) -> Thesaurus:
    """Parse the thesaurus of a file with this name (``.ttl``, ``.rdf`` or ``.nt``)."""
    rdflib = _import_rdflib()
    graph = rdflib.Graph()
    try:
        graph.parse(data=text, format=READ_FORMATS[PurePath(name).suffix.lower()])
    except Exception as error:  # rdflib's parsers raise errors of many classes
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"the thesaurus cannot be read: {reason}", hint="Pass a SKOS file in Turtle or RDF/XML."
        ) from error
    skos = rdflib.namespace.SKOS
    concepts = set(graph.subjects(rdflib.RDF.type, skos.Concept)) | set(graph.subjects(skos.broader, None))
    concepts |= set(graph.objects(None, skos.narrower)) | set(graph.objects(None, skos.hasTopConcept))
    if len(concepts) > MAX_CONCEPTS:
        raise InputError(f"expected at most {MAX_CONCEPTS:,} concepts, got {len(concepts):,}", hint="Use a part of it.")
    labels = {
        concept: label for concept in concepts if (label := _choose_label(graph.objects(concept, skos.prefLabel)))
    }
    if not labels:
        raise InputError(
            "expected SKOS concepts with preferred labels, got none", hint="Use skos:Concept and skos:prefLabel."
        )
    parents_of: dict[Any, set[Any]] = {concept: set() for concept in labels}
    for relation, down in ((skos.broader, False), (skos.narrower, True)):
        for one, object in graph.subject_objects(relation):
            child, parent = (object, one) if down else (one, object)
            if child in labels and parent in labels:
                parents_of[child].add(parent)
    parent_of = {
        one: min(parents, key=lambda p: (labels[p], str(p)), default=None) for one, parents in parents_of.items()
    }
    n_skipped = sum(max(len(parents) - 1, 0) for parents in parents_of.values())
    return Thesaurus(_build_tree(parent_of, labels), n_skipped, len(concepts) - len(labels))


def _choose_label(labels: Any) -> str:
    """Return the preferred label: the English one, else one without a language, else the first."""
    ranked = sorted(
        labels, key=lambda one: (one.language != PREFERRED_LANGUAGE, one.language is not None, one.language or "", one)
    )
    return clean_name(str(ranked[0])) if ranked else ""


def _build_tree(parent: dict[Any, Any], labels: dict[Any, str]) -> Tree:
    """Build a tree of concepts; number repeated names; raise InputError for cycles."""
    children: dict[Any, list[Any]] = {}
    for concept in sorted(parent, key=lambda one: (labels[one], str(one))):
        children.setdefault(parent[concept], []).append(concept)
    parents, names, waiting = [-1], [""], [(None, 0)]
    while waiting:
        concept, node = waiting.pop()
        used_names = set[str]()
        for child in children.get(concept, []):
            name, number = labels[child], 2
            while name in used_names:
                name, number = f"{labels[child]} ({number})", number + 1
            used_names.add(name)
            waiting.append((child, len(parents)))
            parents.append(node)
            names.append(name)
    if len(parents) - 1 < len(parent):
        n_cyclic = len(parent) - len(parents) + 1
        raise InputError(
            f"expected a hierarchy of broader concepts, got a cycle with {n_cyclic:,} concepts",
            hint="Remove one broader concept of the cycle.",
        )
    return Tree(tuple(parents), tuple(names))


def _import_rdflib() -> Any:
    """Import rdflib; raise ResourceError if it is not installed."""
    try:
        import rdflib
    except ImportError as error:
        raise ResourceError(
            "SKOS requires rdflib, which is not installed", hint='Run pip install "topiarist[skos]".'
        ) from error
    return rdflib
