"""Collections with a planted hierarchy, and the models that grow on them."""

import math
from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_array

from tests.oracles import trees
from topiarist.counts.lsi import latent_space
from topiarist.counts.split import split_tokens
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import cam, hplsa
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.growing_models import CamGrowingModel, Steps
from topiarist.trees.growth.hplsa_growing import HplsaGrowingModel

PATIENT = Steps(
    growing=40, last=100, growing_tol=-math.inf, tol=-math.inf
)  # enough for doubles to part, and never to stop at their saddle
BRISK = Steps(growing=6, last=30, tol=1e-6)


def planted(seed=0, depth=2, n_docs=160, length=80):
    """Documents of the leaves of a balanced tree, with words of their own at every node; a fifth of tokens held out."""
    counts, classes, words = trees.planted(
        np.random.default_rng(seed), trees.balanced(depth), n_docs=n_docs, length=length
    )
    training, heldout = split_tokens(csr_array(counts.astype(float)), (0.8, 0.2), seed=seed)
    return SimpleNamespace(counts=training, heldout=heldout, classes=classes, words=words)


def shards(data, dtype=np.float64):
    return Shard.from_matrix(data.counts, dtype), Shard.from_matrix(data.heldout, dtype)


def engine(n_threads=1):
    return Engine(load(), Threads(n_threads))


def hplsa_species(data, seed=0, n_threads=1, steps=PATIENT, **options):
    options = {"topic_mix": "heldout", "word_smoothing": 0.01, **options}
    block = hplsa.Block(*shards(data, options.pop("dtype", np.float64)))
    return HplsaGrowingModel(engine(n_threads), block, np.random.default_rng(seed), steps=steps, **options)


def cam_species(data, seed=0, n_threads=1, steps=PATIENT):
    frequency = data.counts.sum(axis=0)
    rng = np.random.default_rng(seed)
    return CamGrowingModel(engine(n_threads), cam.Block(*shards(data)), frequency / frequency.sum(), rng, steps=steps)


def vectors(data, n_dims=10):
    """Documents as guided growth sees them."""
    found = latent_space(data.counts, n_dims).doc_vectors
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def same_partition(parts, classes):
    """Whether documents share a leaf exactly when they share a planted class."""
    found = parts.class_given_doc.argmax(axis=1)
    return parts.n_classes == len(set(classes)) == len(set(zip(found.tolist(), classes.tolist(), strict=True)))


def same_branches(parts, classes):
    """Whether the two branches below the root hold the planted classes 0, 1 and 2, 3."""
    branches = np.array([parts.tree.path(node)[1] for node in parts.class_nodes])
    found = branches[parts.class_given_doc.argmax(axis=1)]
    return len(set(branches)) == 2 == len(set(zip(found.tolist(), (classes // 2).tolist(), strict=True)))


def same_growth(one, other):
    """Whether two growths went the same way, to the last bit."""
    arrays = ("word_given_node", "node_given_class", "class_given_doc")
    return one.perplexity == other.perplexity and all(
        np.array_equal(getattr(one.stage.parts, name), getattr(other.stage.parts, name)) for name in arrays
    )
