"""Trees as thesauri and thesauri as trees: SKOS, the concept schemes of librarians, by rdflib.

A topic is a concept of a scheme: its name the preferred label, its parent the broader concept, its number the
notation. A thesaurus becomes a tree: a concept hangs below one broader concept. Where it has several, the tree takes
the one whose label comes first, and says how often. Nothing is fetched: only what the file holds is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from topiarist.errors import InputError, ResourceError
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import printable

FORMATS = {"ttl": "turtle", "rdf": "pretty-xml"}  # by the ends of names of files, as rdflib calls them
READ_FORMATS = {".ttl": "turtle", ".rdf": "xml", ".nt": "nt"}
SCHEME = "urn:topiarist:tree"
TOPIC = "urn:topiarist:topic:"
MOST_CONCEPTS = 1_000_000
PREFERRED_LANGUAGE = "en"


class Thesaurus(NamedTuple):
    """A tree of concepts, and what of the thesaurus is not in it."""

    tree: Tree
    n_elsewhere: int = 0  # further places of concepts with several broader ones
    n_unnamed: int = 0  # concepts without a label

    def told(self) -> str:
        """What was left out, in a sentence; nothing where that is nothing."""
        parts = []
        if self.n_elsewhere:
            parts.append(f"{self.n_elsewhere:,} further places of concepts with several broader ones")
        if self.n_unnamed:
            parts.append(f"{self.n_unnamed:,} concepts without a label")
        return f"Not in the tree: {' and '.join(parts)}." if parts else ""


def is_thesaurus(name: str) -> bool:
    """Whether a file is one, by the end of its name."""
    return PurePath(name).suffix.lower() in READ_FORMATS


def to_skos(
    tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[float], numbers: Sequence[int], format: str
) -> str:
    """The tree as a concept scheme, in Turtle ("ttl") or RDF/XML ("rdf").

    ``numbers`` are the lasting numbers of the topics; the root is the scheme itself.
    """
    rdflib = _rdflib()
    skos, graph = rdflib.namespace.SKOS, rdflib.Graph()
    graph.bind("skos", skos)
    scheme = rdflib.URIRef(SCHEME)
    graph.add((scheme, rdflib.RDF.type, skos.ConceptScheme))
    graph.add((scheme, skos.prefLabel, rdflib.Literal(printable(tree.names[tree.root]) or "Topics")))
    concepts = [rdflib.URIRef(f"{TOPIC}{number}") for number in numbers]
    for node in (node for node in range(len(tree)) if node != tree.root):
        concept, parent = concepts[node], tree.parents[node]
        graph.add((concept, rdflib.RDF.type, skos.Concept))
        graph.add((concept, skos.inScheme, scheme))
        graph.add((concept, skos.notation, rdflib.Literal(str(numbers[node]))))
        graph.add((concept, skos.prefLabel, rdflib.Literal(printable(tree.names[node]))))
        known = f"{sizes[node]:,.0f} documents; words: {', '.join(map(printable, words[node]))}"
        graph.add((concept, skos.note, rdflib.Literal(known)))
        if parent == tree.root:
            graph.add((concept, skos.topConceptOf, scheme))
            graph.add((scheme, skos.hasTopConcept, concept))
        else:
            graph.add((concept, skos.broader, concepts[parent]))
            graph.add((concepts[parent], skos.narrower, concept))
    text: str = graph.serialize(format=FORMATS[format])
    return text if text.endswith("\n") else f"{text}\n"


def from_skos(text: str, name: str) -> Thesaurus:
    """The tree of a thesaurus in a file of this name (``.ttl``, ``.rdf``, ``.nt``)."""
    rdflib = _rdflib()
    graph = rdflib.Graph()
    try:
        graph.parse(data=text, format=READ_FORMATS[PurePath(name).suffix.lower()])
    except Exception as error:  # rdflib's parsers raise whatever they meet
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"the thesaurus cannot be read: {reason}", hint="a SKOS file in Turtle or RDF/XML") from error
    skos = rdflib.namespace.SKOS
    concepts = set(graph.subjects(rdflib.RDF.type, skos.Concept)) | set(graph.subjects(skos.broader, None))
    concepts |= set(graph.objects(None, skos.narrower)) | set(graph.objects(None, skos.hasTopConcept))
    if len(concepts) > MOST_CONCEPTS:
        raise InputError(f"expected at most {MOST_CONCEPTS:,} concepts, got {len(concepts):,}", hint="a part of it")
    labels = {concept: label for concept in concepts if (label := _label(graph.objects(concept, skos.prefLabel)))}
    if not labels:
        raise InputError("expected SKOS concepts with preferred labels, got none", hint="skos:Concept, skos:prefLabel")
    above: dict[Any, set[Any]] = {concept: set() for concept in labels}
    for relation, down in ((skos.broader, False), (skos.narrower, True)):
        for one, other in graph.subject_objects(relation):
            child, parent = (other, one) if down else (one, other)
            if child in labels and parent in labels:
                above[child].add(parent)
    chosen = {one: min(parents, key=lambda p: (labels[p], str(p)), default=None) for one, parents in above.items()}
    elsewhere = sum(max(len(parents) - 1, 0) for parents in above.values())
    return Thesaurus(_tree(chosen, labels), elsewhere, len(concepts) - len(labels))


def _label(found: Any) -> str:
    """The preferred label: the English one, else one without a language, else the first."""
    ranked = sorted(
        found, key=lambda one: (one.language != PREFERRED_LANGUAGE, one.language is not None, one.language or "", one)
    )
    return " ".join(str(ranked[0]).split()) if ranked else ""


def _tree(parent: dict[Any, Any], labels: dict[Any, str]) -> Tree:
    """The tree of concepts below one broader concept each; siblings of one name are told apart by a number."""
    children: dict[Any, list[Any]] = {}
    for concept in sorted(parent, key=lambda one: (labels[one], str(one))):
        children.setdefault(parent[concept], []).append(concept)
    parents, names, waiting = [-1], [""], [(None, 0)]
    while waiting:
        concept, place = waiting.pop()
        taken = set[str]()
        for child in children.get(concept, []):
            name, number = labels[child], 2
            while name in taken:
                name, number = f"{labels[child]} ({number})", number + 1
            taken.add(name)
            waiting.append((child, len(parents)))
            parents.append(place)
            names.append(name)
    if len(parents) - 1 < len(parent):
        lost = len(parent) - len(parents) + 1
        raise InputError(
            f"expected broader concepts that end at the top, got {lost:,} concepts in a circle of broader ones",
            hint="open the circle in the thesaurus",
        )
    return Tree(tuple(parents), tuple(names))


def _rdflib() -> Any:
    try:
        import rdflib
    except ImportError as error:
        raise ResourceError(
            "SKOS needs rdflib, which is not installed.", hint='pip install "topiarist[skos]"'
        ) from error
    return rdflib
