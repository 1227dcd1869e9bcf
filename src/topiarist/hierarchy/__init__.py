"""The tree as a value: building it, editing it, the words that describe its nodes, and showing it.

Floor plan:

    growth/     How trees grow: the one loop, what proposes splits, and the models as species that grow.
    naming/     The words and names of nodes as a person would choose them: by documents, phrases, and an exam.
    branches    New branches for a tree that a stream has outgrown: documents that fit badly, and the leaves that would
                hold them.
    edits       Changing a tree: functions that return the new tree, and where each of its nodes comes from.
    exchange    Trees for other programs (GraphML, Newick, JSON, rows, paths), and hierarchies that people write.
    levels      Filing at the right level: the deepest node that is still certain, and what that is worth.
    picture     Pictures: the tree with its words, the curve that chose the number of leaves, and the drift of a stream.
    thesaurus   Trees as thesauri and thesauri as trees: SKOS, the concept schemes of librarians, by rdflib.
    tree        The tree as a value: who is whose child, what everyone is called; trees from paths and linkages;
                look-up.
    tree_model  A fitted tree as one value: where its classes sit, the words of its nodes, the nodes of its paths.
    tree_text   A tree as text: one line per node, branches drawn, words and sizes; nothing in a label moves the cursor.
    views       Nested views of one tree: as much as somebody wants to see.
    words       The words of nodes by their probabilities, for models without documents at hand; see ``naming`` for
                those of people.
"""

from topiarist.hierarchy.edits import Edit, collapse, cut, merge, move, prune, rename, split
from topiarist.hierarchy.picture import curve, draw, draw_drift
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.words import node_scores, node_words

__all__ = [
    "Edit",
    "Tree",
    "collapse",
    "curve",
    "cut",
    "draw",
    "draw_drift",
    "merge",
    "move",
    "node_scores",
    "node_words",
    "prune",
    "rename",
    "split",
]
