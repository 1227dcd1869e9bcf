"""PLC, HPLC and the hierarchical mixture as scikit-learn classifiers: documents into the classes of a given tree."""

from __future__ import annotations

from typing import Any

from topiarist.estimators.category.categoriser import DocumentCategoriser


class HPLC(DocumentCategoriser):
    """Hierarchical probabilistic latent categorisation: classes at the nodes of a given tree share words along it.

    Parameters
    ----------
    tree : Tree or None
        Names of nodes (or paths to them) are the labels; classes may sit at any node. None: no hierarchy, as ``PLC``.
    topic_mix : "heldout", "uniform" or "ml", default "heldout"
        Where P(topic | class) comes from: documents held out in turn, nowhere (even on the path), or the training
        documents themselves, which puts all weight on the classes' own words and is then no better than ``PLC``.
    smoothing : float or "cv", default 0.01
        Pseudo-count for each known word of a topic. "cv": chosen by cross-validation.
    effective_length : float or None, default 40
        A longer document weighs as if it had so many tokens. None: every token counts.
    unlabelled_weight : float or "cv", default 0.2
        What a token of a document without a label counts. 0 leaves them out. "cv": chosen by cross-validation.
    calibrate : bool, default False
        Sharpen or flatten P(class | document) as cross-validation says, so that 0.9 means nine in ten. Takes five
        more fits. The predicted classes stay the same.
    inverse_temperature : float, default 1.0
        Below 1: tempered training.
    dtype : "float32", "float64" or None
        Precision. None: double for small problems, single for large ones.
    max_iter : int, default 30
        EM steps at most.
    tol : float, default 1e-4
        Stop when two successive steps each gain less than this, in nats a token.
    random_state : int, RandomState or None, default 0
        Seed of the folds. The result does not depend on the number of threads.
    device : "cpu"
        Where to compute.
    n_threads : int or None
        Threads; None uses every core.
    executor : InProcess, DaskExecutor or None
        Where blocks of a ``BlockStore`` are categorised; training needs one table and stays in this process.
    verbose : int or bool, default 0
        Draw a progress bar.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels, sorted.
    class_nodes_ : tuple
        The node of each class.
    class_prior_ : array (n_classes,)
        P(class), by tokens; the answer for a document without known words.
    topic_given_class_ : array (n_classes, n_nodes)
        P(topic | class), zero off the path; rows sum to one.
    word_given_topic_ : array (n_nodes, n_words)
        P(word | topic); rows sum to one, and words that no training document has are zero.
    tree_ : Tree
        The tree; without one a root and a leaf for each class.
    class_tokens_ : array (n_classes,)
        #α: the tokens of each class as training weighs them, after ``effective_length`` and ``unlabelled_weight``.
    smoothing_, unlabelled_weight_ : float
        What was given or chosen.
    sharpness_, floor_ : float
        What ``calibrate`` found: P(class | document) is ∝ (P + floor) to the power of sharpness. 1 and 0 without it.
    history_ : array
        The objective of the last EM run: of its start and after every step.
    n_iter_, converged_, stopped_
        Steps of that run, whether there was nothing more to gain, and the reason it ended.
    """

    _shares = True

    def __init__(
        self,
        tree: Any = None,
        *,
        topic_mix: str = "heldout",
        smoothing: float | str = 0.01,
        effective_length: float | None = 40.0,
        unlabelled_weight: float | str = 0.2,
        calibrate: bool = False,
        inverse_temperature: float = 1.0,
        dtype: Any = None,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: Any = 0,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Any = None,
        verbose: int = 0,
    ) -> None:
        self.tree = tree
        self.topic_mix = topic_mix
        self.smoothing = smoothing
        self.effective_length = effective_length
        self.unlabelled_weight = unlabelled_weight
        self.calibrate = calibrate
        self.inverse_temperature = inverse_temperature
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose


class HierarchicalMixture(HPLC):
    """Hierarchical naive Bayes: trained as ``HPLC``, but a document has one class, which all its words tell together.

    Parameters and attributes are those of ``HPLC``. P(class | document) is the product over all words, so that it is
    nearly always close to 0 or 1: an effective length or ``calibrate`` makes it say how certain the class is.
    """

    _shares = False


class PLC(DocumentCategoriser):
    """Probabilistic latent categorisation: ``HPLC`` without a hierarchy.

    Nothing is iterated in training, unless there are unlabelled documents.

    Parameters
    ----------
    smoothing, effective_length, unlabelled_weight, calibrate, inverse_temperature, dtype, max_iter, tol
        As those of ``HPLC``.
    random_state, device, n_threads, executor, verbose
        As those of ``HPLC``.

    Attributes
    ----------
    classes_, class_prior_, topic_given_class_, word_given_topic_, tree_ and the others of ``HPLC``
        The tree is a root, which says nothing, and a leaf for each class.
    """

    _shares = True
    tree = None
    topic_mix = "ml"

    def __init__(
        self,
        *,
        smoothing: float | str = 0.01,
        effective_length: float | None = 40.0,
        unlabelled_weight: float | str = 0.2,
        calibrate: bool = False,
        inverse_temperature: float = 1.0,
        dtype: Any = None,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: Any = 0,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Any = None,
        verbose: int = 0,
    ) -> None:
        self.smoothing = smoothing
        self.effective_length = effective_length
        self.unlabelled_weight = unlabelled_weight
        self.calibrate = calibrate
        self.inverse_temperature = inverse_temperature
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose
