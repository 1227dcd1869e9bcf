"""The models as the contracts see them: a problem with named axes, one step of EM over it, and the same by hand.

A new model is one entry of ``MODELS``. The laws in ``test_models.py`` need nothing else of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tests.oracles import clusters, gaussians, labels, textbook, trees
from tests.strategies import simplex_rows
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import CountsView, Shard
from topiarist.models import cam, categorisers, em, hplsa, plsa
from topiarist.models.directions import Directions
from topiarist.models.engine.host import Engine
from topiarist.models.gaussian import fits, starts
from topiarist.models.gaussian.covariances import Limit, shape_of
from topiarist.models.gaussian.mixture import Ggm
from topiarist.models.gaussian.mixture import Params as GaussianParams
from topiarist.models.labels import pmm
from topiarist.models.labels.label_sets import group_by_label_set
from topiarist.models.path_models import Seeds

Problem = Mapping[str, np.ndarray]
N_DOCS, N_WORDS = 30, 24
PARENTS, CLASSES = (-1, 0, 0, 1, 1, 2), (3, 4, 5)  # of a tree: nodes, and those that are classes
MASK = trees.path_mask(PARENTS, CLASSES)


@dataclass(frozen=True)
class Setup:
    """How a step is to be taken: over which blocks of documents, by which kernels, threads and precision."""

    blocks: tuple[Any, ...] = (slice(None),)
    kernels: str = "compiled"
    n_threads: int = 1
    dtype: Any = np.float64

    def engine(self) -> Engine:
        return Engine(load(self.kernels), Threads(self.n_threads))


PLAIN = Setup()


@dataclass(frozen=True)
class Case:
    """A model: its problem, what the axes of its arrays are, a step over it, and the blackboard."""

    problem: Callable[[int], Problem]
    axes: Mapping[str, str]  # of the arrays of a problem and of a step
    model: Callable[[Problem, Setup], Any]
    start: Callable[[Problem, Setup], em.State]
    block: Callable[[Problem, Any, Setup], Any]
    told: Callable[[em.State, Problem], dict[str, np.ndarray]]
    oracle: Callable[[Problem], tuple[dict[str, np.ndarray], float]]
    tokens: bool = True  # every token has a class of its own: a document of doubled counts is two documents
    has_prior: bool = False  # of words and of each document
    of_documents: frozenset[str] = field(default_factory=frozenset)  # parameters that an empty document moves
    precisions: tuple[Any, ...] = (np.float32, np.float64)
    kernels: tuple[str, ...] = ("compiled", "reference")

    def run(self, problem: Problem, setup: Setup = PLAIN, steps: int = 1) -> em.Fit:
        """EM from the start."""
        blocks = [self.block(problem, rows, setup) for rows in setup.blocks]
        rules = em.Rules(max_iter=steps, tol=-np.inf, accelerate=False)
        return em.run(self.model(problem, setup), blocks, self.start(problem, setup), rules)

    def step(self, problem: Problem, setup: Setup = PLAIN, steps: int = 1) -> dict[str, np.ndarray]:
        """The parameters after some steps."""
        return self.told(self.run(problem, setup, steps).state, problem)


def some_counts(seed: int, n_docs: int = N_DOCS, n_words: int = N_WORDS) -> np.ndarray:
    """Counts in which every document and every word occurs."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.6, (n_docs, n_words)).astype(float)
    counts[np.arange(n_docs), np.arange(n_docs) % n_words] += 1
    counts[np.arange(n_words) % n_docs, np.arange(n_words)] += 1
    return counts


def rows_of(local: tuple[Any, ...]) -> np.ndarray:
    return np.vstack([np.asarray(part, float) for part in local])


def tree_start(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed + 1)
    mix = MASK * (rng.random(MASK.shape) + 0.05)
    return {"mix": mix / mix.sum(axis=1, keepdims=True), "words": simplex_rows(rng, len(PARENTS), N_WORDS)}


def with_seeds(problem: Problem, sums: np.ndarray) -> np.ndarray:
    """P(w|a) from expected counts, and the tokens that people want there, if there are any."""
    sums = sums + problem.get("seeds", 0.0)
    return sums / sums.sum(axis=1, keepdims=True)


def seeds_prior(problem: Problem) -> float:
    return float((problem["seeds"] * np.log(problem["words"])).sum()) if "seeds" in problem else 0.0


# ---- PLSA


def plsa_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed + 1)
    words, rows = simplex_rows(rng, 3, N_WORDS), simplex_rows(rng, N_DOCS, 3)
    return {"counts": some_counts(seed), "words": words, "rows": rows}


def plsa_oracle(problem: Problem, *smoothing: float) -> tuple[dict[str, np.ndarray], float]:
    given = (problem["counts"], problem["rows"], problem["words"])
    rows, words = textbook.em_step(*given, 1.0, *smoothing)
    return {"rows": rows, "words": words}, textbook.objective(*given, 1.0, *smoothing)


PLSA = Case(
    problem=plsa_problem,
    axes={"counts": "docs words", "words": "components words", "rows": "docs components"},
    model=lambda problem, setup: plsa.Plsa(setup.engine()),
    start=lambda problem, setup: em.State(
        plsa.Params(np.ascontiguousarray(problem["words"].T, dtype=setup.dtype).T),
        tuple(np.ascontiguousarray(problem["rows"][rows], dtype=setup.dtype) for rows in setup.blocks),
    ),
    block=lambda problem, rows, setup: Shard.from_matrix(csr_array(problem["counts"][rows]), setup.dtype),
    told=lambda state, problem: {"words": state.shared.word_given_component, "rows": rows_of(state.local)},
    oracle=plsa_oracle,
)
SMOOTHING = (0.2, 0.3)  # of words and of components
SMOOTH_PLSA = replace(
    PLSA,
    model=lambda problem, setup: plsa.Plsa(setup.engine(), *SMOOTHING),
    oracle=lambda problem: plsa_oracle(problem, *SMOOTHING),
    has_prior=True,
)


# ---- HPLSA


def hplsa_problem(seed: int) -> Problem:
    rows = simplex_rows(np.random.default_rng(seed + 2), N_DOCS, len(CLASSES))
    return {"counts": some_counts(seed), "rows": rows, **tree_start(seed)}


def hplsa_oracle(problem: Problem) -> tuple[dict[str, np.ndarray], float]:
    sums = trees.sums(problem["counts"], problem["rows"], problem["mix"], problem["words"])
    return {
        "rows": sums.doc_class / sums.doc_class.sum(axis=1, keepdims=True),
        "words": with_seeds(problem, sums.topic_word),
        "mix": sums.class_topic / sums.class_topic.sum(axis=1, keepdims=True),
    }, sums.objective + seeds_prior(problem)


TREE_AXES = {"counts": "docs words", "rows": "docs classes", "mix": "classes nodes", "words": "nodes words"}
HPLSA = Case(
    problem=hplsa_problem,
    axes=TREE_AXES,
    model=lambda problem, setup: hplsa.Hplsa(setup.engine(), MASK),
    start=lambda problem, setup: em.State(
        hplsa.Params(np.ascontiguousarray(problem["words"], dtype=setup.dtype), problem["mix"]),
        tuple(np.ascontiguousarray(problem["rows"][rows], dtype=setup.dtype) for rows in setup.blocks),
    ),
    block=PLSA.block,
    told=lambda state, problem: {
        "words": state.shared.word_given_topic, "mix": state.shared.topic_given_class, "rows": rows_of(state.local),
    },
    oracle=hplsa_oracle,
)  # fmt: skip


# ---- CAM


def cam_problem(seed: int) -> Problem:
    heldout = np.random.default_rng(seed + 3).binomial(some_counts(seed).astype(int), 0.5).astype(float)
    prior = simplex_rows(np.random.default_rng(seed + 4), 1, len(CLASSES))[0]
    return {"counts": some_counts(seed), "heldout": heldout, "prior": prior, **tree_start(seed)}


def cam_oracle(problem: Problem, mixed: str = "heldout") -> tuple[dict[str, np.ndarray], float]:
    sums = clusters.sums(*(problem[name] for name in ("counts", mixed, "prior", "mix", "words")))
    return {
        "prior": sums.posterior.mean(axis=0),
        "words": with_seeds(problem, sums.node_word),
        "mix": sums.cluster_node / sums.cluster_node.sum(axis=1, keepdims=True),
    }, sums.free_energy + seeds_prior(problem)


CAM = Case(
    problem=cam_problem,
    axes={**TREE_AXES, "heldout": "docs words", "prior": "classes"},
    model=lambda problem, setup: cam.Cam(setup.engine(), MASK, node_mix="heldout"),
    start=lambda problem, setup: em.State(
        cam.Params(np.ascontiguousarray(problem["words"], dtype=setup.dtype), problem["mix"], problem["prior"]),
        (None,) * len(setup.blocks),
    ),
    block=lambda problem, rows, setup: cam.Block(
        *(Shard.from_matrix(csr_array(problem[name][rows]), setup.dtype) for name in ("counts", "heldout"))
    ),
    told=lambda state, problem: {
        "words": state.shared.word_given_node,
        "mix": state.shared.node_given_cluster,
        "prior": state.shared.cluster_prior,
    },
    oracle=cam_oracle,
    tokens=False,
    of_documents=frozenset({"prior"}),
)
TRAINING_CAM = replace(
    CAM,
    model=lambda problem, setup: cam.Cam(setup.engine(), MASK, node_mix="ml"),
    oracle=lambda problem: cam_oracle(problem, "counts"),
)


# ---- CAM with vectors: a direction for each cluster beside its words

KAPPA = 7.0


def unit_rows(rng: Any, n_rows: int, n_dims: int = 5) -> np.ndarray:
    rows = rng.standard_normal((n_rows, n_dims))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def joint_problem(seed: int) -> Problem:
    rng, known = np.random.default_rng(seed + 9), dict(cam_problem(seed))
    vectors = unit_rows(rng, N_DOCS)
    vectors[3] = 0.0  # a document that came without
    del known["heldout"]
    return {**known, "vectors": vectors, "directions": unit_rows(rng, len(CLASSES))}


def joint_oracle(problem: Problem) -> tuple[dict[str, np.ndarray], float]:
    given = [problem[name] for name in ("counts", "counts", "prior", "mix", "words")]
    sums = clusters.sums(*given, joined=(problem["vectors"], problem["directions"], KAPPA))
    return {
        "prior": sums.posterior.mean(axis=0),
        "words": with_seeds(problem, sums.node_word),
        "mix": sums.cluster_node / sums.cluster_node.sum(axis=1, keepdims=True),
        "directions": sums.direction_sum / np.linalg.norm(sums.direction_sum, axis=1, keepdims=True),
    }, sums.free_energy


JOINT = Case(
    problem=joint_problem,
    axes={**TREE_AXES, "prior": "classes", "vectors": "docs dimensions", "directions": "classes dimensions"},
    model=lambda problem, setup: cam.Cam(
        setup.engine(), MASK, node_mix="ml", vector_model=Directions(KAPPA, np.zeros(problem["vectors"].shape[1]))
    ),
    start=lambda problem, setup: em.State(
        cam.Params(
            np.ascontiguousarray(problem["words"], dtype=setup.dtype), problem["mix"], problem["prior"],
            problem["directions"],
        ),
        (None,) * len(setup.blocks),
    ),
    block=lambda problem, rows, setup: cam.Block(
        Shard.from_matrix(csr_array(problem["counts"][rows]), setup.dtype), None, problem["vectors"][rows]
    ),
    told=lambda state, problem: {**CAM.told(state, problem), "directions": state.shared.directions},
    oracle=joint_oracle,
    tokens=False,
    of_documents=frozenset({"prior", "directions"}),
)  # fmt: skip


# ---- HPLC: classes of labelled documents, and unlabelled ones with free classes, one for each document


def hplc_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed + 5)
    table = rng.poisson(1.5, (len(CLASSES), N_WORDS)).astype(float) + 1.0
    prior = np.full(len(CLASSES), 1 / len(CLASSES))
    return {"counts": some_counts(seed), "table": table, "prior": prior, **tree_start(seed)}


def hplc_oracle(problem: Problem) -> tuple[dict[str, np.ndarray], float] | None:
    """Labelled documents: each class is one of them. Unlabelled ones: the sums of (C2), at a discount."""
    table, mix, words, prior = (problem[name] for name in ("table", "mix", "words", "prior"))
    known = trees.sums(table, np.eye(len(CLASSES)), mix, words)
    free = clusters.sums(problem["counts"], problem["counts"], prior, mix, words)
    topic_word = known.topic_word + DISCOUNT * free.node_word
    class_topic = known.class_topic + DISCOUNT * free.cluster_node
    return {
        "words": with_seeds(problem, topic_word),
        "mix": class_topic / class_topic.sum(axis=1, keepdims=True),
    }, np.nan


DISCOUNT = 0.5


def hplc_block(problem: Problem, rows: Any, setup: Setup) -> categorisers.Block:
    """The first block has the labelled documents."""
    begins = rows is setup.blocks[0]
    table = problem["table"].T if begins else np.zeros_like(problem["table"].T)
    documents = np.full(len(CLASSES), 3.0) if begins else np.zeros(len(CLASSES))
    shard = Shard.from_matrix(csr_array(problem["counts"][rows]), setup.dtype)
    return categorisers.Block(CountsView.from_matrix(csr_array(table), setup.dtype), documents, shard)


HPLC = Case(
    problem=hplc_problem,
    axes={**TREE_AXES, "table": "classes words", "prior": "classes"},
    model=lambda problem, setup: categorisers.Hplc(setup.engine(), MASK, "ml", 0.0, DISCOUNT, None),
    start=lambda problem, setup: em.State(
        categorisers.Params(
            np.ascontiguousarray(problem["words"], dtype=setup.dtype), problem["mix"], problem["prior"]
        ),
        (None,) * len(setup.blocks),
    ),
    block=hplc_block,
    told=lambda state, problem: {"words": state.shared.word_given_topic, "mix": state.shared.topic_given_class},
    oracle=hplc_oracle,
    tokens=False,
)


# ---- PMM


def pmm_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed + 6)
    given = np.zeros((N_DOCS, 4))
    for row in given:
        row[rng.choice(4, rng.integers(1, 4), replace=False)] = 1
    return {"counts": some_counts(seed), "labels": given}


def pmm_case(order: int) -> Case:
    def data_of(problem: Problem, setup: Setup) -> Any:
        pairs = [(csr_array(problem["counts"][rows]), csr_array(problem["labels"][rows])) for rows in setup.blocks]
        return group_by_label_set(pairs, problem["counts"].shape[1])

    def model(problem: Problem, setup: Setup) -> Any:
        data = data_of(problem, setup)
        return pmm.Pmm(setup.engine(), data.pattern, data.single_label_counts, order, 1.0, 1.0)

    class Pmm(Case):
        def run(self, problem: Problem, setup: Setup = PLAIN, steps: int = 1) -> em.Fit:
            """Blocks are made by the collection of label sets, which groups documents."""
            data, rules = data_of(problem, setup), em.Rules(max_iter=steps, tol=-np.inf, accelerate=False)
            return em.run(model(problem, setup), data.blocks, self.start(problem, setup), rules)

    def start(problem: Problem, setup: Setup) -> em.State:
        return pmm.create_start(model(problem, setup), data_of(problem, setup))

    def told(state: em.State, problem: Problem) -> dict[str, np.ndarray]:
        found = {"words": state.shared.by_word(data_of(problem, PLAIN).pattern).T}
        return found | ({"bias": state.shared.bias} if order == 2 else {})

    def oracle(problem: Problem) -> tuple[dict[str, np.ndarray], float]:
        theta, bias = told(start(problem, PLAIN), problem)["words"], np.full((4, 4), 0.5)
        zeta = 2.0 if order == 2 else None
        before = labels.objective(problem["counts"], problem["labels"].astype(int), theta, bias, 2.0, zeta)
        words, bias = labels.step(problem["counts"], problem["labels"].astype(int), theta, bias, 2.0, zeta)
        return {"words": words, **({"bias": bias} if order == 2 else {})}, before

    return Pmm(
        problem=pmm_problem,
        axes={"counts": "docs words", "labels": "docs labels", "words": "labels words", "bias": "labels labels"},
        model=model, start=start, block=lambda *_: None, told=told, oracle=oracle, precisions=(np.float64,),
    )  # fmt: skip


# ---- GGM


def ggm_problem(seed: int) -> Problem:
    rng, n_components = np.random.default_rng(seed), 3
    points = rng.normal(size=(60, 4)) + 2 * rng.integers(0, 2, (60, 1))
    given = np.where(rng.random(60) < 0.4, rng.integers(0, 2, 60), -1)
    given[:2] = (0, 1)
    spread = rng.normal(size=(n_components, 4, 4)) * 0.3
    return {
        "points": points,
        "labels": given,
        "prior": rng.dirichlet(np.ones(n_components)),
        "mean": points[rng.choice(60, n_components, replace=False)],
        "covariance": spread @ spread.swapaxes(1, 2) + np.eye(4),
        "classes": rng.dirichlet(np.ones(2), n_components),
    }


GAUSSIANS = ("prior", "mean", "covariance", "classes")


def ggm_start(problem: Problem, setup: Setup) -> em.State:
    parts = [problem[name][None] for name in GAUSSIANS]
    nothing = np.zeros(parts[0].shape)
    shared = GaussianParams(
        *parts, np.zeros(1, bool), np.full(1, -np.inf), nothing, np.zeros(1, int), nothing.astype(bool)
    )
    local = tuple(np.zeros((1, 3, len(problem["points"][rows])), bool) for rows in setup.blocks)
    return em.State(shared, local)


def ggm_block(problem: Problem, rows: Any, setup: Setup) -> Any:
    sample = starts.Sample(
        problem["points"][rows][None], problem["labels"][rows][None], np.ones((1, len(problem["points"][rows])), bool)
    )
    weight = fits.compute_weights(problem["labels"][None], 0.5)[
        :, rows
    ]  # of all examples: blocks are parts of one sample
    return fits.split_examples(sample, weight, None)[0]


def ggm_told(state: em.State, problem: Problem) -> dict[str, np.ndarray]:
    names = ("component_prior", "component_mean", "component_covariance", "class_given_component")
    return {short: getattr(state.shared, name)[0] for short, name in zip(GAUSSIANS, names, strict=True)}


def ggm_oracle(problem: Problem) -> tuple[dict[str, np.ndarray], float]:
    start = [problem[name] for name in GAUSSIANS]
    points, given = problem["points"], problem["labels"]
    found = gaussians.step(points, given, np.ones(len(points), bool), 0.5, *start, split=False)
    return dict(zip(GAUSSIANS, found, strict=True)), gaussians.log_likelihood(points, given, 0.5, *start)


GGM = Case(
    problem=ggm_problem,
    axes={
        "points": "docs words", "labels": "docs", "prior": "components", "mean": "components words",
        "covariance": "components words words", "classes": "components classes",
    },
    model=lambda problem, setup: Ggm(
        shape_of("full", problem["points"].shape[1]), Limit(np.eye(problem["points"].shape[1])[None], 1e12),
        Threads(setup.n_threads), 2,
    ),
    start=ggm_start, block=ggm_block, told=ggm_told, oracle=ggm_oracle,
    tokens=False, precisions=(np.float64,), kernels=("compiled",),
)  # fmt: skip

# ---- Words that people want at nodes: prior tokens of (C3), whatever the model


def seeded(case: Case, *, fixed: bool = False) -> Case:
    """A model with seeds: some tokens more in every M-step, and their log-prior in the objective."""

    def problem(seed: int) -> Problem:
        rng, seeds = np.random.default_rng(seed + 8), np.zeros((len(PARENTS), N_WORDS))
        seeds[rng.integers(len(PARENTS), size=5), rng.integers(N_WORDS, size=5)] = rng.uniform(0.5, 20, 5)
        return {**case.problem(seed), "seeds": seeds}

    def model(given: Problem, setup: Setup) -> Any:
        nodes, columns = np.nonzero(given["seeds"])
        found = Seeds(nodes, columns, given["seeds"][nodes, columns])
        return replace(
            case.model(given, setup), seeds=found, **({"node_mix": "fixed", "fixed_mix": given["mix"]} if fixed else {})
        )

    def oracle(given: Problem) -> tuple[dict[str, np.ndarray], float]:
        wanted, objective = case.oracle(given)
        return wanted | ({"mix": given["mix"]} if fixed else {}), objective

    return replace(case, problem=problem, model=model, oracle=oracle, axes={**case.axes, "seeds": "nodes words"})


MODELS = {
    "PLSA": PLSA,
    "PLSA with smoothing": SMOOTH_PLSA,
    "HPLSA": HPLSA,
    "CAM": CAM,
    "CAM of training tokens": TRAINING_CAM,
    "CAM with vectors": JOINT,
    "HPLC": HPLC,
    "PMM1": pmm_case(1),
    "PMM2": pmm_case(2),
    "GGM": GGM,
    "HPLSA with seeds": seeded(HPLSA),
    "CAM with seeds": seeded(CAM),
    "CAM with seeds and fixed levels": seeded(CAM, fixed=True),
    "HPLC with seeds": seeded(HPLC),
}
