"""The growth loop with a toy that grows as told; splitting and joining by their laws; guided growth on planted data."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from tests.strategies import simplex_rows, trees
from tests.trees import makers
from topiarist.models.halves import split_in_two_means
from topiarist.trees import Tree
from topiarist.trees.growth.growing_models import Steps, compute_charge, flatten_paths
from topiarist.trees.growth.guided import GuidedProposer
from topiarist.trees.growth.loop import Proposal, Record, Rules, Stage, Trial, compute_standard_error, grow
from topiarist.trees.growth.parts import (
    GrowthState,
    Split,
    collapse_negligible,
    create_single_node,
    divide,
    join,
    remove_empty_leaves,
    sort_by_tree,
)

CURVE = {1: 100.0, 2: 50.0, 3: 40.3, 4: 40.0, 5: 41.0}
ONE_BY_ONE = [Proposal((Split(0),))] * 4


class Toy:
    """A species whose held-out perplexity depends on the number of leaves alone."""

    collection = np.full(3, 1 / 3)

    def __init__(self, curve=None, interrupt_at=None, stop_at=None, empty_at=(), charge=0.0):
        self.curve, self.interrupt_at, self.stop_at, self.calls = curve or CURVE, interrupt_at, stop_at, []
        self.empty_at, self.charge, self.judgements = empty_at, charge, []

    def create_single_node(self):
        return create_single_node(np.full(3, 1 / 3), 8)

    def split(self, parts, splits):
        words = np.repeat(parts.word_given_node[[parts.class_nodes[split.index] for split in splits]], 2, axis=0)
        return divide(parts, splits, words)

    def fit(self, parts, inverse_temperature, *, last=False):
        self.calls.append((parts.n_classes, inverse_temperature, last))
        if len(self.calls) == self.interrupt_at:
            raise KeyboardInterrupt
        stopped = "interrupted" if len(self.calls) == self.stop_at else "max_iter"
        parts = self.emptied(parts)
        return replace(self.evaluate(parts, inverse_temperature), stopped=stopped, objectives=(1.0,))

    def evaluate(self, parts, inverse_temperature):
        self.judgements.append(parts.n_classes)
        return Stage(parts, -math.log(self.curve[parts.n_classes]), self.charge, inverse_temperature)

    def emptied(self, parts):
        """EM takes all documents from the last leaf where it is told to."""
        if parts.n_classes not in self.empty_at:
            return parts
        shares = parts.class_given_doc.copy()
        shares[:, 0] += shares[:, -1]
        shares[:, -1] = 0
        return replace(parts, class_given_doc=shares)


class Scripted:
    """A proposer that reads from a list, and takes back what another list says."""

    def __init__(self, proposals, refused=(), interrupt_at=None):
        self.proposals, self.taken_back, self.interrupt_at = list(proposals), list(refused), interrupt_at
        self.reason, self.stages, self.trials = "", [], []

    def propose(self, stage):
        self.stages.append(stage)
        if len(self.stages) == self.interrupt_at:
            raise KeyboardInterrupt
        if not self.proposals:
            self.reason = "script over"
            return None
        return self.proposals.pop(0)

    def find_rejected_splits(self, trial):
        self.trials.append(trial)
        return self.taken_back.pop(0) if self.taken_back else ()


def test_grow_selects_smallest_tree_within_tolerance():
    toy, seen = Toy(), []
    growth = grow(toy, Scripted(ONE_BY_ONE), Rules(), seen.append)
    assert growth.n_leaves == (1, 2, 3, 4, 5)
    assert growth.perplexity == pytest.approx(tuple(CURVE.values()))
    assert growth.chosen == growth.stage.parts.n_classes == 3
    assert growth.reason == "script over"
    assert [len(record.n_leaves) for record in seen] == [2, 3, 4, 5]
    assert toy.calls[-1] == (3, 1.0, True)
    assert not any(last for *_, last in toy.calls[:-1])


@pytest.mark.parametrize(("tolerance", "chosen"), [(0.0, 4), (0.5, 2), (5.0, 1)])
def test_grow_tolerance_decides_size(tolerance, chosen):
    assert grow(Toy(), Scripted(ONE_BY_ONE), Rules(tolerance=tolerance)).chosen == chosen


def test_grow_with_requested_leaves_takes_last_tree():
    assert grow(Toy(), Scripted(ONE_BY_ONE), Rules(n_classes=5)).chosen == 5


def test_record_keeps_selectable_trees_only():
    parts = Toy().create_single_node()
    record = Record()
    for perplexity in (100.0, 50.0, 50.4, 49.8, 51.0):
        record = record.with_stage(Stage(parts, -math.log(perplexity)), Rules())
    assert [(place, round(stage.perplexity, 1)) for place, stage in record.candidates] == [(3, 49.8), (4, 51.0)]
    place, stage = record.smallest(0.01)
    assert (place, round(stage.perplexity, 1)) == (3, 49.8)  # as many leaves, but better
    assert len(record.perplexity) == 5


def test_record_keeps_larger_better_tree():
    parts = Toy().create_single_node()
    larger = Toy().split(parts, (Split(0),))
    record = Record().with_stage(Stage(parts, -1.0), Rules()).with_stage(Stage(larger, -0.995), Rules())
    assert [place for place, _ in record.candidates] == [0, 1]
    assert record.smallest(0.01)[0] == 0
    assert record.smallest(0.001)[0] == 1
    worse = Record().with_stage(Stage(larger, -1.0), Rules()).with_stage(Stage(parts, -0.995), Rules())
    assert [place for place, _ in worse.candidates] == [1]  # smaller, and better


def test_record_with_requested_leaves_keeps_last_tree():
    parts, record = Toy().create_single_node(), Record()
    for heldout in (-1.0, -2.0, -3.0):
        record = record.with_stage(Stage(parts, heldout), Rules(n_classes=1))
    assert [(place, stage.heldout) for place, stage in record.candidates] == [(2, -3.0)]


def test_score_includes_charge():
    stage = Stage(Toy().create_single_node(), -2.0, 0.5)
    assert stage.score == -2.5
    assert stage.perplexity == pytest.approx(math.exp(2.0))
    assert stage.criterion == pytest.approx(math.exp(2.5))
    assert Stage(stage.parts, -math.inf).score == -math.inf
    record = Record().with_stage(stage, Rules()).with_stage(Stage(stage.parts, -2.4), Rules())
    assert record.criterion == pytest.approx((math.exp(2.5), math.exp(2.4)))
    assert record.perplexity == pytest.approx((math.exp(2.0), math.exp(2.4)))
    assert record.smallest(0.01)[0] == 1


def test_grow_removes_emptied_leaves():
    toy = Toy(empty_at=(3,))
    growth = grow(toy, Scripted(ONE_BY_ONE[:2]), Rules(n_classes=3, negligible=0.0))
    assert growth.n_leaves == (1, 2, 2)
    assert growth.perplexity[2] == pytest.approx(CURVE[2])
    assert toy.judgements == [1, 2, 3, 2, 2]
    assert growth.stage.objectives == (1.0,)
    kept = grow(Toy(empty_at=(3,)), Scripted(ONE_BY_ONE[:2]), Rules(n_classes=3, negligible=0.0, min_documents=0.0))
    assert kept.n_leaves == (1, 2, 3)


def test_grow_removes_leaves_emptied_by_last_fit():
    class Late(Toy):
        def fit(self, parts, inverse_temperature, *, last=False):
            self.empty_at = (3,) if last else ()
            return super().fit(parts, inverse_temperature, last=last)

    growth = grow(Late(), Scripted(ONE_BY_ONE[:2]), Rules(n_classes=3, negligible=0.0))
    assert (growth.chosen, growth.stage.parts.n_classes) == (3, 2)
    assert growth.stage.perplexity == pytest.approx(CURVE[2])
    assert growth.stage.parts.class_nodes == growth.stage.parts.tree.leaves


def test_grow_joins_rejected_splits():
    proposals = [Proposal((Split(0),)), Proposal((Split(0), Split(1)))]
    proposer = Scripted(proposals, [(), (1,)])
    growth = grow(Toy(), proposer, Rules(n_classes=3, negligible=0.0))
    assert growth.n_leaves == (1, 2, 3)
    assert proposer.trials[1].pairs == ((0, 2), (1, 3))
    assert growth.stage.parts.tree.parents == (-1, 0, 1, 1, 0)
    np.testing.assert_allclose(growth.stage.parts.sizes(), [2, 2, 4])
    assert growth.perplexity == pytest.approx([CURVE[number] for number in (1, 2, 3)])  # judged again without them


def test_grow_without_accepted_splits_keeps_tree():
    for beta, kept in ((1.0, True), (0.5, False)):
        proposer = Scripted([Proposal((Split(0),), beta)], [(0,)])
        grow(Toy(), proposer, Rules(n_classes=1))
        first, second = proposer.stages
        assert second.parts.n_classes == 1
        assert (second.parts is first.parts) == kept
        assert second.inverse_temperature == beta


def test_proposal_without_splits_changes_temperature():
    toy = Toy()
    growth = grow(toy, Scripted([Proposal((), 0.5), Proposal((), 0.25)]), Rules())
    assert [beta for _, beta, _ in toy.calls[:-1]] == [1.0, 0.5, 0.25]
    assert growth.n_leaves == (1, 1, 1)


@pytest.mark.parametrize(
    ("toy", "script"),
    [
        (Toy(interrupt_at=5), {}),  # at five leaves
        (Toy(stop_at=5), {}),  # EM itself kept what it had
        (Toy(), {"interrupt_at": 5}),
    ],
)
def test_interrupted_growth_keeps_best_tree(toy, script):
    growth = grow(toy, Scripted([*ONE_BY_ONE, Proposal((Split(0),))], **script), Rules())
    assert growth.reason == growth.stage.stopped == "interrupted"
    assert growth.chosen == growth.stage.parts.n_classes == 3
    assert growth.stage.parts.class_nodes == growth.stage.parts.tree.leaves
    assert not any(last for *_, last in toy.calls)


@pytest.mark.parametrize("toy", [Toy(interrupt_at=1), Toy(stop_at=1)])
def test_interrupted_first_fit_keeps_one_node(toy):
    growth = grow(toy, Scripted(ONE_BY_ONE), Rules())
    assert growth.reason == growth.stage.stopped == "interrupted"
    assert growth.n_leaves == (1,)
    assert len(toy.calls) == 1


def test_interrupted_last_fit_keeps_selected_tree():
    growth = grow(Toy(interrupt_at=6), Scripted(ONE_BY_ONE), Rules())
    assert growth.reason == "interrupted"
    assert growth.chosen == growth.stage.parts.n_classes == 3


def test_interrupted_growth_with_requested_leaves():
    growth = grow(Toy(interrupt_at=5), Scripted(ONE_BY_ONE), Rules(n_classes=5))
    assert growth.chosen == 4


def random_parts(tree, seed, n_docs=6, n_words=5):
    """Any parameters on a tree, classes in any order."""
    rng = np.random.default_rng(seed)
    nodes = tuple(rng.permutation(tree.leaves).tolist())
    mix = tree.path_mask(nodes) * (rng.random((len(nodes), len(tree))) + 0.01)
    words, rows = simplex_rows(rng, len(tree), n_words), simplex_rows(rng, n_docs, len(nodes))
    return GrowthState(tree, nodes, words, mix / mix.sum(axis=1, keepdims=True), rows)


def some_splits(parts, seed):
    """Some classes, some with halves."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(parts.n_classes)[: int(rng.integers(1, parts.n_classes + 1))]
    halves = [None, (np.array([0, 2]), np.array([1, 4]))]
    return tuple(Split(int(index), halves[int(rng.integers(2))]) for index in chosen)


def split_up(parts, splits, words):
    return divide(parts, splits, words)


def is_sound(parts):
    np.testing.assert_allclose(parts.class_given_doc.sum(axis=1), 1)
    np.testing.assert_allclose(parts.node_given_class.sum(axis=1), 1)
    np.testing.assert_allclose(parts.word_given_node.sum(axis=1), 1)
    assert not parts.node_given_class[~parts.path_mask].any()
    assert sorted(parts.class_nodes) == sorted(parts.tree.leaves)
    assert parts.word_given_node.shape[0] == parts.node_given_class.shape[1] == len(parts.tree)
    assert parts.class_given_doc.shape[1] == len(parts.node_given_class) == parts.n_classes


def predictions(parts):
    """Σ_c P(c|d) Σ_a P(a|c) P(w|a)."""
    return parts.class_given_doc @ parts.node_given_class @ parts.word_given_node


PARTS = st.builds(random_parts, trees().map(lambda tree: Tree(tree.parents)), st.integers(0, 10**6))
SEEDS = st.integers(0, 10**6)


@given(PARTS, SEEDS)
def test_join_undoes_divide(parts, seed):
    splits = some_splits(parts, seed)
    words = simplex_rows(np.random.default_rng(seed), 2 * len(splits), parts.word_given_node.shape[1])
    divided = split_up(parts, splits, words)
    is_sound(divided)
    assert divided.n_classes == parts.n_classes + len(splits)
    pairs = [(split.index, parts.n_classes + number) for number, split in enumerate(splits)]
    joined = join(divided, pairs)
    is_sound(joined)
    assert joined.tree == parts.tree
    assert joined.class_nodes == parts.class_nodes
    np.testing.assert_allclose(joined.sizes(), parts.sizes())
    np.testing.assert_allclose(joined.class_given_doc, parts.class_given_doc)
    np.testing.assert_allclose(joined.node_given_class, parts.node_given_class)


@given(PARTS, SEEDS)
def test_identical_halves_predict_like_parent(parts, seed):
    splits = some_splits(parts, seed)
    words = np.repeat(parts.word_given_node[[parts.class_nodes[split.index] for split in splits]], 2, axis=0)
    divided = split_up(parts, splits, words)
    np.testing.assert_allclose(predictions(divided), predictions(parts))
    some = [(split.index, parts.n_classes + number) for number, split in enumerate(splits)][: 1 + len(splits) // 2]
    joined = join(divided, some)
    is_sound(joined)
    np.testing.assert_allclose(predictions(joined), predictions(parts))


@given(PARTS)
def test_sort_by_tree_changes_no_prediction(parts):
    ordered = sort_by_tree(parts)
    is_sound(ordered)
    np.testing.assert_allclose(predictions(ordered), predictions(parts))
    assert ordered.class_nodes == ordered.tree.leaves
    assert ordered.tree.depth_first() == tuple(range(len(parts.tree)))


@given(PARTS, SEEDS)
def test_collapse_negligible_removes_inner_nodes_only(parts, seed):
    rng = np.random.default_rng(seed)
    inner = [node for node in range(len(parts.tree)) if node != parts.tree.root and not parts.tree.is_leaf(node)]
    assume(inner)
    empty = [node for node in inner if rng.random() < 0.5]
    mix = parts.node_given_class.copy()
    mix[:, empty] = 0
    parts = replace(parts, node_given_class=mix / mix.sum(axis=1, keepdims=True))
    collapsed = collapse_negligible(parts, 1e-9)
    is_sound(collapsed)
    assert len(collapsed.tree) == len(parts.tree) - len(empty)
    assert collapsed.n_classes == parts.n_classes
    np.testing.assert_allclose(predictions(collapsed), predictions(parts))
    assert collapse_negligible(parts, 0.0).tree == parts.tree
    assert collapse_negligible(parts, 1.1).tree.depth <= 1


def one_left_out(parts, seed):
    """The same with a class that has no documents, and which class that is."""
    gone = int(np.random.default_rng(seed).integers(parts.n_classes))
    shares = parts.class_given_doc.copy()
    shares[:, gone] = 0
    return replace(parts, class_given_doc=shares / shares.sum(axis=1, keepdims=True)), gone


@given(PARTS, SEEDS)
def test_remove_empty_leaves_changes_nothing_else(parts, seed):
    assume(parts.n_classes > 1)
    parts, gone = one_left_out(parts, seed)
    fewer = remove_empty_leaves(parts, 1e-9)
    is_sound(fewer)
    assert fewer.n_classes == parts.n_classes - 1
    np.testing.assert_allclose(fewer.class_given_doc, np.delete(parts.class_given_doc, gone, axis=1))
    left = [parts.word_given_node[parts.class_nodes[c]] for c in range(parts.n_classes) if c != gone]
    np.testing.assert_array_equal(fewer.word_given_node[list(fewer.class_nodes)], left)
    inner = [node for node in range(len(fewer.tree)) if node != fewer.tree.root]
    assert all(len(fewer.tree.children(node)) != 1 for node in inner)
    assert remove_empty_leaves(fewer, 1e-9) is fewer


def test_siblings_of_removed_leaves_predict_the_same():
    tree = Tree((-1, 0, 0, 0))
    parts, _ = one_left_out(random_parts(tree, 0), 3)
    np.testing.assert_allclose(predictions(remove_empty_leaves(parts, 0.5)), predictions(parts))


def test_remove_empty_leaves_keeps_largest_leaf():
    parts = replace(
        random_parts(Tree.star(3), 0), class_given_doc=np.array([[0.0, 0, 1]] + [[0.6, 0.3, 0.1]] * 4)
    )  # expected documents: 2.4, 1.2, 1.4
    fewer = remove_empty_leaves(parts, 1.3)
    is_sound(fewer)
    np.testing.assert_allclose(fewer.class_given_doc, [[0, 1]] + [[6 / 7, 1 / 7]] * 4)
    alone = remove_empty_leaves(parts, 2.0)
    assert alone.n_classes == 1
    np.testing.assert_allclose(alone.class_given_doc, 1)  # also the document that had no share in it
    assert remove_empty_leaves(parts, 100.0).n_classes == 1


@given(PARTS)
def test_flatten_paths_puts_weight_at_leaves(parts):
    flat = flatten_paths(parts)
    is_sound(flat)
    assert (flat.node_given_class.max(axis=1) == 1).all()
    np.testing.assert_array_equal(
        flat.node_given_class @ flat.word_given_node, parts.word_given_node[list(parts.class_nodes)]
    )


def test_charge_counts_free_weights():
    parts = random_parts(Tree((-1, 0, 0, 1, 1)), 0)  # three paths of 2, 3 and 3 nodes: five free weights
    assert compute_charge(10.0, parts) == pytest.approx(5 / 10)
    assert compute_charge(10.0, create_single_node(np.full(3, 1 / 3), 2)) == 0
    assert compute_charge(0.0, parts) == 0


@pytest.mark.parametrize("make", [makers.cam_species, makers.hplsa_species])
def test_heldout_levels_are_charged(make):
    data = makers.planted(n_docs=40)
    species = make(data)
    parts = species.split(species.create_single_node(), (Split(0),))
    stage = species.evaluate(parts, 1.0)
    assert stage.charge == pytest.approx(2 / data.heldout.sum()) == pytest.approx(stage.heldout - stage.score)
    assert species.fit(parts, 1.0).charge == pytest.approx(stage.charge)
    free = {"levels": False} if make is makers.cam_species else {"topic_mix": "ml"}
    assert replace(species, **free).evaluate(parts, 1.0).charge == 0


@pytest.mark.parametrize("make", [makers.cam_species, makers.hplsa_species])
def test_evaluate_is_repeatable(make):
    species = make(makers.planted(n_docs=40), steps=Steps(60, 60, -math.inf))
    stage = species.fit(species.split(species.create_single_node(), (Split(0),)), 1.0)
    again = species.evaluate(stage.parts, 1.0)
    assert again.heldout == pytest.approx(stage.heldout, rel=1e-4)
    assert again.objectives == ()


def cloud(seed, gap=6.0):
    rng = np.random.default_rng(seed)
    sides = np.arange(60) % 3 == 0
    return rng.standard_normal((60, 4)) + gap * np.outer(np.where(sides, 1, -1), rng.dirichlet(np.ones(4))), sides


@pytest.mark.parametrize("seed", range(5))
def test_two_means_matches_kmeans(seed):
    vectors, sides = cloud(seed)
    gain, side = split_in_two_means(vectors, seed)
    model = KMeans(2, n_init=10, random_state=0).fit(vectors)
    assert (side == sides).all() or (side == ~sides).all()
    error = ((vectors - vectors.mean(axis=0)) ** 2).sum()
    assert gain == pytest.approx(error - model.inertia_)


def test_two_means_requires_two_groups():
    assert split_in_two_means(np.ones((10, 3)), 0)[1] is None
    assert split_in_two_means(np.eye(3), 0, min_size=2)[1] is None
    vectors, _ = cloud(0)  # twenty and forty
    assert split_in_two_means(vectors, 0, min_size=20)[1] is not None
    assert split_in_two_means(vectors, 0, min_size=21)[1] is None
    assert split_in_two_means(vectors[:0], 0)[1] is None


def hplsa_ml(data, **options):
    return makers.hplsa_species(data, topic_mix="ml", **options)


@pytest.mark.parametrize("species", [makers.cam_species, makers.hplsa_species, hplsa_ml])
@pytest.mark.parametrize("n_classes", [None, 4])
def test_guided_growth_recovers_planted_hierarchy(species, n_classes):
    data = makers.planted()
    proposer = GuidedProposer(makers.vectors(data), np.random.default_rng(0), n_classes)
    growth = grow(species(data, steps=makers.BRISK), proposer, Rules(n_classes, negligible=0.0))
    assert makers.same_partition(growth.stage.parts, data.classes)
    assert makers.same_branches(growth.stage.parts, data.classes)
    assert growth.reason == ("heldout" if n_classes is None else "reached")
    is_sound(growth.stage.parts)


def test_heldout_weights_keep_general_words_at_root():
    data = makers.planted()
    proposer = GuidedProposer(makers.vectors(data), np.random.default_rng(0), 4)
    parts = grow(makers.hplsa_species(data, steps=makers.BRISK), proposer, Rules(4, negligible=0.0)).stage.parts
    assert parts.word_given_node[0, :8].sum() > 0.75  # the planted root's own eight words
    leaves = parts.word_given_node[list(parts.tree.leaves)]
    assert leaves[:, :8].sum(axis=1).max() < 0.2


@pytest.mark.parametrize("species", [makers.cam_species, makers.hplsa_species])
def test_shuffled_words_yield_one_leaf(species):
    data = makers.planted()
    rng = np.random.default_rng(1)
    for counts in (data.counts, data.heldout):
        words = rng.permutation(np.repeat(counts.indices, counts.data.astype(int)))
        rows = np.repeat(np.arange(counts.shape[0]), counts.sum(axis=1).astype(int))
        shuffled = csr_array((np.ones(len(words)), (rows, words)), shape=counts.shape)
        data = SimpleNamespace(**{**vars(data), "counts" if counts is data.counts else "heldout": shuffled})
    proposer = GuidedProposer(makers.vectors(data), np.random.default_rng(0))
    growth = grow(species(data, steps=makers.BRISK), proposer, Rules())
    assert (growth.chosen, growth.reason) == (1, "heldout")
    assert max(growth.n_leaves) <= 5


def star(n_leaves, n_docs):
    """Leaves with as many documents each."""
    tree = Tree.star(n_leaves)
    rows = np.eye(n_leaves)[np.arange(n_docs) % n_leaves]
    return GrowthState(tree, tree.leaves, np.full((len(tree), 3), 1 / 3), np.zeros((n_leaves, len(tree))), rows)


def judged(n_leaves, by_document):
    return Stage(star(n_leaves, len(by_document)), float(by_document.sum()), by_document=by_document)


def test_standard_error_is_paired_over_documents():
    rng = np.random.default_rng(0)
    documents = rng.normal(size=400)
    gains = rng.normal(size=400)
    assert compute_standard_error(documents + gains, documents) == pytest.approx(gains.std() * 20)
    assert compute_standard_error(documents + 1, documents) == pytest.approx(0, abs=1e-12)
    assert compute_standard_error(np.zeros(0), np.zeros(0)) == 0


@pytest.mark.parametrize(("gain", "last"), [(0.05, 5), (2.0, 12)])
def test_guided_growth_ends_without_significant_gain(gain, last):
    rng = np.random.default_rng(0)
    proposer = GuidedProposer(rng.standard_normal((240, 4)), rng, max_classes=12)
    for leaves in range(1, 13):
        noise = rng.standard_normal(240) / np.sqrt(240)  # between two trees a standard error of 1.4
        if proposer.propose(judged(leaves, gain * leaves / 240 + noise - noise.mean())) is None:
            break
    assert leaves == last
    assert proposer.reason == ("heldout" if last == 5 else "reached")


def test_guided_growth_adds_up_small_gains():
    vectors = np.random.default_rng(0).standard_normal((240, 4))
    for gain, last in ((0.0004, 12), (0.0002, 5)):  # of which three, or five, are more than a thousandth
        proposer = GuidedProposer(vectors, np.random.default_rng(0), max_classes=12)
        stages = (judged(leaves, np.full(240, gain * leaves / 240)) for leaves in range(1, 13))
        ended = next(stage for stage in stages if proposer.propose(stage) is None)
        assert ended.parts.n_classes == last


def test_guided_growth_ends_after_vain_rounds():
    proposer = GuidedProposer(np.random.default_rng(0).standard_normal((240, 4)), np.random.default_rng(0))
    rounds = 0
    while proposer.propose(judged(3, np.zeros(240))) is not None:
        rounds += 1
    assert (rounds, proposer.reason) == (8, "heldout")


@pytest.mark.parametrize(
    ("leaves", "room", "number"), [(1, 512, 1), (31, 512, 1), (32, 512, 8), (60, 512, 15), (60, 63, 3)]
)
def test_guided_growth_splits_several_of_many_leaves(leaves, room, number):
    vectors = np.random.default_rng(0).standard_normal((10 * leaves, 4))
    proposal = GuidedProposer(vectors, np.random.default_rng(0), room).propose(judged(leaves, np.zeros(10 * leaves)))
    assert len(proposal.splits) == len({split.index for split in proposal.splits}) == number


def test_steps_are_few_in_large_trees():
    steps = Steps(8, 20, 1e-3, 1e-5)
    assert steps.get_limits(32) == (8, 1e-3)
    assert steps.get_limits(33) == (2, 1e-3)
    assert steps.get_limits(33, last=True) == (20, 1e-5)


@pytest.mark.parametrize("make", [makers.cam_species, makers.hplsa_species])
def test_stage_documents_sum_to_heldout_likelihood(make):
    data = makers.planted(n_docs=40)
    data.heldout.data[data.heldout.indptr[5] : data.heldout.indptr[6]] = 0  # a document without held-out tokens
    species = make(data)
    stage = species.fit(species.split(species.create_single_node(), (Split(0),)), 1.0)
    expected = np.log(predictions(stage.parts)) * data.heldout.toarray()
    np.testing.assert_allclose(stage.by_document, expected.sum(axis=1) / data.heldout.sum(), rtol=1e-6)
    assert stage.by_document[5] == 0
    assert stage.heldout == pytest.approx(stage.by_document.sum())


def test_guided_growth_does_not_retry_rejected_leaves():
    parts = create_single_node(np.full(3, 1 / 3), 60)
    vectors, _ = cloud(0)
    proposer = GuidedProposer(vectors, np.random.default_rng(0), 4)
    before = Stage(parts, -3.0)
    proposal = proposer.propose(before)
    emptied = split_up(parts, proposal.splits, np.full((2, 3), 1 / 3))
    shares = np.zeros_like(emptied.class_given_doc)
    shares[:, 0] = 1
    trial = Trial(before, Stage(replace(emptied, class_given_doc=shares), -3.0), ((0, 1),))
    assert proposer.find_rejected_splits(trial) == (0,)
    assert proposer.propose(before) is None
    assert proposer.reason == "exhausted"


@pytest.mark.parametrize("options", [{"variant": "cem"}, {"variant": "sem"}, {"topic_mix": "uniform"}, {}])
def test_hplsa_growth_is_deterministic_in_all_variants(options, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.shard.MIN_SLICE_NONZEROS", 200)  # something for every thread
    data = makers.planted(n_docs=80)

    def grown(n_threads):
        species = makers.hplsa_species(data, n_threads=n_threads, steps=Steps(6, 12, 1e-6), **options)
        return grow(species, GuidedProposer(makers.vectors(data), np.random.default_rng(0), 4), Rules(4))

    one = grown(1)
    assert one.stage.parts.n_classes == 4
    assert makers.same_growth(one, grown(2))
    is_sound(one.stage.parts)


def test_hplsa_extrapolates_in_monotone_last_fit_only():
    data = makers.planted(n_docs=60)
    strides = {}
    for mix in ("ml", "heldout"):
        species = makers.hplsa_species(data, topic_mix=mix, steps=Steps(3, 6, 1e-9))
        strides[mix] = seen = []
        species = replace(species, watch=lambda loop, seen=seen: seen.append((loop.steps, loop.stride)))
        grow(species, GuidedProposer(makers.vectors(data), np.random.default_rng(0), 2), Rules(2))
    growing, last = strides["ml"][:8], strides["ml"][8:]
    assert [steps for steps, _ in growing] == [0, 1, 2, 3] * 2
    assert {stride for _, stride in growing} == {stride for _, stride in strides["heldout"]} == {1.0}
    assert max(stride for _, stride in last) > 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hplsa_random_halves_perturb_documents_only(dtype):
    data = makers.planted(n_docs=60)
    data.counts.data[data.counts.indptr[5] : data.counts.indptr[6]] = 0  # a document without words
    species = makers.hplsa_species(data, topic_mix="ml", dtype=dtype)
    parts = species.fit(species.create_single_node(), 1.0).parts
    divided = species.split(parts, (Split(0),))
    assert divided.class_given_doc.dtype == divided.word_given_node.dtype == dtype
    np.testing.assert_array_equal(divided.word_given_node[1:], parts.word_given_node[[0, 0]])
    np.testing.assert_array_equal(divided.node_given_class, [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    np.testing.assert_allclose(divided.class_given_doc.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(species.lengths, data.counts.sum(axis=1))
    share = species.lengths @ divided.class_given_doc / species.lengths.sum()
    np.testing.assert_allclose(share, 0.5, atol=0.02)  # P(α)/2, up to the normalisation of documents
    log_ratio = np.log(divided.class_given_doc[:, 0] / divided.class_given_doc[:, 1])
    assert 0.1 < log_ratio.std() < 0.2  # 0.1 √2
    assert math.isfinite(species.fit(divided, 1.0).heldout)


def test_vectors_restrict_tolerance_to_standard_error():
    """The smaller tree is half a per cent behind: within one per cent, and certainly worse where all agree."""
    larger = np.full(100, -0.05)
    certain, chance = larger - 5e-5, larger - 5e-5 + 2e-3 * np.resize([1.0, -1.0], 100)

    def taken(by_document, vectors):
        stages = [replace(judged(2, by_document), vectors=vectors), replace(judged(4, larger), vectors=vectors)]
        record = Record()
        for stage in stages:
            record = record.with_stage(stage, Rules())
        return record.smallest(0.01)[1].parts.n_classes

    assert taken(certain, 0.0) == 2  # words alone: one per cent, as ever
    assert taken(certain, 1.0) == 4
    assert taken(chance, 1.0) == 2
    far = larger - 2e-4 + 0.1 * np.resize([1.0, -1.0], 100)
    assert taken(far, 1.0) == 4  # and never by more than one per cent
