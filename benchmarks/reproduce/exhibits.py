"""What the tree says, like figures 2 and 3 of the CAM paper: a ghost writer, and the words of a branch."""

from __future__ import annotations

import numpy as np

from benchmarks import labelled
from topiarist import CAM, Corpus
from topiarist.collection.describe.flat_topics import set_general_words_aside
from topiarist.trees.words import select_node_words

N_WORDS = 8
WIDTH = 116


def show(name: str) -> None:
    """Fit the default to a collection and print two documents and a branch."""
    corpus, general = set_general_words_aside(labelled.abstracts(name))
    model = CAM(random_state=0).fit(corpus.counts)
    leaves = len(model.tree_.leaves)
    print(f"\nCAM with its defaults on {name}: {leaves} leaves. General words set aside: {' '.join(general[:12])} …")
    certain = model.cluster_given_doc_.max(axis=1) * (corpus.lengths() > 80)
    deepest = np.array(model.tree_.depths)[list(model.tree_.leaves)]
    for rank in range(2):
        cluster = np.argsort(-deepest, kind="stable")[rank]
        rows = np.flatnonzero((model.labels_ == cluster) & (certain > 0.9))
        ghost_writer(model, corpus, int(rows[0]) if len(rows) else int(certain.argmax()))
    branch(model, corpus, int(np.argsort(-deepest, kind="stable")[0]))
    print("\n  Mean idf of the five most probable words by level: P(w|a) / average over the subtree")
    for level, (own, average) in enumerate(mean_idf_by_level(model, corpus)):
        print(f"    level {level}  {own:.2f} / {average:.2f}")


def ghost_writer(model: CAM, corpus: Corpus, row: int) -> None:
    """Figure 2: the words of a document by level, and the words that each level would have added."""
    words, counts = corpus.vocabulary.words, corpus.counts[[row]]
    title = corpus.texts[row].split("\n")[0] if corpus.texts is not None else corpus.ids[row]
    print(f"\n  Ghost writer for: {title}"[: WIDTH + 2])
    own, levels, _ = model.word_levels(counts).document(0)
    ghost = model.ghost_words(counts, N_WORDS)[0]
    path = model.tree_.path(model.tree_.leaves[int(model.labels_[row])])
    for level in range(len(path)):
        said = [words[word] for word in own[levels == level]]
        added = [words[word] for word in ghost[level] if word >= 0]
        print(f"    level {level} has   {_line(said)}")
        print(f"            adds  {_line(added)}")


def branch(model: CAM, corpus: Corpus, cluster: int) -> None:
    """Figure 3: the nodes of a path, described by the model and by an average over all that lies below."""
    tree, words = model.tree_, corpus.vocabulary.words
    count = np.asarray(corpus.counts.sum(axis=0), np.float64).ravel()
    weight = model.cluster_prior_ @ model.node_given_cluster_
    labels = select_node_words(tree, model.word_given_node_, N_WORDS, node_weight=weight, count=count, words=words)
    below = tree.path_mask()
    print(f"\n  The branch down to leaf {cluster}: label / P(w|a) / average over the subtree")
    for node in tree.path(tree.leaves[cluster]):
        clusters = model.cluster_prior_ * below[:, node]
        average = (clusters / clusters.sum()) @ model.components_
        print(f"    level {tree.depths[node]} label    {_line([words[word] for word in labels[node]])}")
        for name, row in (("P(w|a)  ", model.word_given_node_[node]), ("average ", average)):
            print(f"            {name} {_line([words[word] for word in np.argsort(-row, kind='stable')[:N_WORDS]])}")


def mean_idf_by_level(model: CAM, corpus: Corpus, n: int = 5) -> list[tuple[float, float]]:
    """Figure 3 as a number: the mean idf of the words of nodes, and of the averages over what lies below them."""
    tree, below = model.tree_, model.tree_.path_mask() * model.cluster_prior_[:, None]
    documents = np.maximum(np.bincount(corpus.counts.indices, minlength=corpus.counts.shape[1]), 1)
    idf = np.log(corpus.counts.shape[0] / documents)
    averages = (below / below.sum(axis=0)).T @ model.components_
    own, average = (idf[np.argsort(-rows, axis=1)[:, :n]].mean(axis=1) for rows in (model.word_given_node_, averages))
    depths = np.array(tree.depths)
    return [(own[depths == level].mean(), average[depths == level].mean()) for level in range(depths.max() + 1)]


def _line(words: list[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= WIDTH - 18 else f"{text[: WIDTH - 20].rsplit(' ', 1)[0]} …"
