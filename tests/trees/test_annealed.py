"""Annealing: its schedules, its judgement of doubles, and growth on planted data."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.trees import makers
from topiarist.trees.growth.annealed import (
    AnnealedProposer,
    cam_schedule,
    critical_inverse_temperature,
    critical_temperature,
    hplsa_schedule,
)
from topiarist.trees.growth.loop import Rules, Stage, Trial, grow
from topiarist.trees.growth.parts import create_single_node


def annealed(data, kind, n_classes=None, schedule=None, **options):
    """A tree grown by annealing, and the proposer that has grown it."""
    if kind == "cam":
        species, weights = makers.cam_species(data, **options), np.ones(data.counts.shape[0])
        schedule = schedule or cam_schedule(critical_temperature(data.counts), factor=0.8, coldest=2.0)
    else:
        species = makers.hplsa_species(data, topic_mix=kind, **options)
        schedule, weights = schedule or hplsa_schedule(), species.lengths
    proposer = AnnealedProposer(schedule, weights, n_classes)
    return grow(species, proposer, Rules(n_classes, negligible=0.0)), proposer


def test_hplsa_schedule_matches_published_values():
    assert hplsa_schedule() == (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
    assert hplsa_schedule(0.55) == (0.55, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
    assert hplsa_schedule(0.8) == (0.8, 0.85, 0.9, 0.95, 1.0)
    assert hplsa_schedule(0.1 + 0.2)[1] == 0.4  # 0.30000000000000004
    assert hplsa_schedule(1.0) == (1.0,)
    for wrong in (0.0, 1.2, math.nan):
        with pytest.raises(ValueError, match="inverse temperature"):
            hplsa_schedule(wrong)


def test_cam_schedule_falls_from_critical_temperature():
    temperatures = 1 / np.array(cam_schedule(20.0))
    assert 20 < temperatures[0] < 20.5
    np.testing.assert_allclose(temperatures[1:-1] / temperatures[:-2], 0.9)
    assert temperatures[-1] == 1.0
    assert 0.9 <= temperatures[-1] / temperatures[-2] < 1
    assert len(cam_schedule(20.0, factor=0.5, coldest=4.0)) == 4
    assert cam_schedule(0.5) == (1.0,)
    for wrong in ({"factor": 1.0}, {"factor": 0.0}, {"coldest": 0.0}):
        with pytest.raises(ValueError, match="temperatures fall"):
            cam_schedule(20.0, **wrong)


def trial_of(columns, n_before=1):
    """Splits of the first classes, with these P(c|d) as the outcome."""
    columns = np.array(columns, float).T
    before = create_single_node(np.full(3, 1 / 3), len(columns))
    n_splits = columns.shape[1] - n_before
    parts = replace(before, class_nodes=(0,) * columns.shape[1], class_given_doc=columns)
    pairs = tuple((number, n_before + number) for number in range(n_splits))
    return Trial(Stage(replace(before, class_nodes=(0,) * n_before), 0.0), Stage(parts, 0.0), pairs)


def test_annealed_proposer_rejects_identical_or_empty_doubles():
    half, ten = np.full(20, 0.5), np.arange(20) < 10
    apart = trial_of([np.where(ten, 0.9, 0.1), np.where(ten, 0.1, 0.9)])
    assert AnnealedProposer((1.0,), np.ones(20)).find_rejected_splits(apart) == ()
    alike = trial_of([np.where(ten, 0.54, 0.46), np.where(ten, 0.46, 0.54)])  # total variation 0.08
    assert AnnealedProposer((1.0,), np.ones(20)).find_rejected_splits(alike) == (0,)
    assert AnnealedProposer((1.0,), np.ones(20), min_divergence=0.05).find_rejected_splits(alike) == ()
    small = trial_of([np.arange(20) < 2, np.arange(20) >= 2])
    assert AnnealedProposer((1.0,), np.ones(20)).find_rejected_splits(small) == (0,)
    assert AnnealedProposer((1.0,), np.ones(20), min_documents=2).find_rejected_splits(small) == ()
    assert AnnealedProposer((1.0,), np.ones(20)).find_rejected_splits(trial_of([half, half])) == (0,)


def test_annealed_proposer_weights_documents():
    """Halves that differ in one document only: alike if it is short, parted if it is long."""
    columns = [np.full(20, 0.5), np.full(20, 0.5)]
    columns[0][0], columns[1][0] = 0.95, 0.05
    weights = np.ones(20)
    assert AnnealedProposer((1.0,), weights).find_rejected_splits(trial_of(columns)) == (0,)
    weights[0] = 20
    assert AnnealedProposer((1.0,), weights).find_rejected_splits(trial_of(columns)) == ()


def test_annealed_proposer_keeps_most_valuable_splits():
    four = np.arange(40) // 10  # classes of ten, ten and twenty documents, which part by halves
    one = [np.where(four == 0, 0.4, 0.0), np.where(four == 1, 0.8, 0.0), np.where(four >= 2, 0.7, 0.0)]
    one = [np.where(np.arange(40) % 2, column, (column > 0) - column) for column in one]
    trial = trial_of([*one, *((column > 0) - column for column in one)], n_before=3)
    assert AnnealedProposer((1.0,), np.ones(40), 6).find_rejected_splits(trial) == ()
    assert AnnealedProposer((1.0,), np.ones(40), 5).find_rejected_splits(trial) == (0,)
    assert AnnealedProposer((1.0,), np.ones(40), 4).find_rejected_splits(trial) == (0, 1)  # 20 · 0.4 before 10 · 0.6
    assert AnnealedProposer((1.0,), np.ones(40), max_classes=4).find_rejected_splits(trial) == (0, 1)


def test_annealed_growth_visits_every_temperature():
    proposer = AnnealedProposer((0.5, 0.7, 1.0), np.ones(20), 2)
    stage = trial_of([np.ones(20)]).before_stage
    alike, half = trial_of([np.full(20, 0.5)] * 2), np.arange(20) < 10
    apart = trial_of([half, ~half])
    seen = []
    for trial in (alike, apart, replace(apart, pairs=())):
        seen.append(proposer.propose(stage))
        proposer.find_rejected_splits(trial)
        stage = apart.after_stage if trial is not alike else stage
    assert [(len(proposal.splits), proposal.inverse_temperature) for proposal in seen] == [(1, 0.5), (1, 0.7), (0, 1.0)]
    assert proposer.propose(stage) is None
    assert proposer.reason == "reached"


@pytest.mark.parametrize(("n_classes", "reason", "n_proposals"), [(None, "heldout", 5), (9, "exhausted", 6)])
def test_annealed_growth_ends_after_two_heldout_rises(n_classes, reason, n_proposals):
    proposer = AnnealedProposer((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), np.ones(20), n_classes)
    alike = trial_of([np.full(20, 0.5)] * 2)
    made = 0
    for perplexity in (50.0, 40.0, 39.0, 39.03, 39.1, 39.2, 39.3):  # at last +0.08, +0.18, +0.26 per cent
        if proposer.propose(replace(alike.before_stage, heldout=-math.log(perplexity))) is None:
            break
        made += 1
        proposer.find_rejected_splits(alike)
    assert (proposer.reason, made) == (reason, n_proposals)


def test_annealed_growth_pauses_after_heldout_rise():
    half = np.arange(20) < 10
    apart = trial_of([half, ~half])
    worse = replace(apart, after_stage=replace(apart.after_stage, heldout=-1.0))
    for n_classes, trial, following in ((None, apart, 0.5), (None, worse, 0.7), (9, worse, 0.5)):
        proposer = AnnealedProposer((0.5, 0.7), np.ones(20), n_classes)
        proposer.propose(trial.before_stage)
        assert proposer.find_rejected_splits(trial) == ()
        assert proposer.propose(trial.after_stage).inverse_temperature == following


def test_annealed_proposer_skips_small_classes():
    parts = trial_of([np.arange(20) < 5, np.arange(20) >= 5]).after_stage.parts
    proposal = AnnealedProposer((0.5,), np.ones(20)).propose(Stage(parts, 0.0))
    assert [split.index for split in proposal.splits] == [1]
    assert proposal.splits[0].halves is None


@pytest.mark.parametrize("kind", ["ml", "heldout", "cam"])
@pytest.mark.parametrize("seed", [0, 1])
def test_annealed_growth_finds_planted_leaves(kind, seed):
    data = makers.planted(seed)
    schedule = cam_schedule(critical_temperature(data.counts)) if kind == "cam" else hplsa_schedule()
    growth, _ = annealed(data, kind, schedule=schedule)
    assert makers.same_partition(growth.stage.parts, data.classes)
    assert makers.same_branches(growth.stage.parts, data.classes)
    assert growth.chosen == 4
    assert growth.reason in ("heldout", "exhausted")


@pytest.mark.parametrize("kind", ["ml", "cam"])
def test_annealed_growth_reaches_requested_leaves(kind):
    data = makers.planted()
    for wanted in (1, 3, 4, 6):
        growth, _ = annealed(data, kind, wanted)
        assert growth.stage.parts.n_classes == growth.chosen == wanted
        assert max(growth.n_leaves) == wanted
        assert growth.reason == "reached"
        assert growth.stage.inverse_temperature == (0.5 if kind == "cam" else 1.0)  # to the end of the schedule


@pytest.mark.parametrize("kind", ["ml", "cam"])
def test_annealed_growth_keeps_one_class_when_warm(kind):
    data = makers.planted()
    critical = 1 / critical_temperature(data.counts) if kind == "cam" else critical_inverse_temperature(data.counts)
    warm = tuple(critical * np.array([0.5, 0.9, 0.99]))
    growth, _ = annealed(data, kind, schedule=warm)
    assert growth.reason == "exhausted"
    assert growth.n_leaves == (1, 1, 1, 1)
    growth, _ = annealed(data, kind, schedule=(*warm, 3 * critical if kind == "cam" else 0.9))
    assert growth.n_leaves[:4] == (1, 1, 1, 1)
    assert growth.n_leaves[-1] > 1


def test_hplsa_schedule_starts_at_critical_temperature():
    data = makers.planted()
    late, proposer = annealed(data, "ml", 4, hplsa_schedule(critical_inverse_temperature(data.counts)))
    early, _ = annealed(data, "ml", 4)
    assert len(late.n_leaves) < len(early.n_leaves)
    assert makers.same_partition(late.stage.parts, data.classes)
    assert proposer.reason == "reached"


@pytest.mark.parametrize("kind", ["heldout", "cam"])
def test_annealed_growth_depends_on_seed_only(kind, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.shard.MIN_SLICE_NONZEROS", 500)  # something for every thread
    data = makers.planted(n_docs=60)
    first, _ = annealed(data, kind, 4)
    assert makers.same_growth(first, annealed(data, kind, 4)[0])
    assert makers.same_growth(first, annealed(data, kind, 4, n_threads=2)[0])
    assert not makers.same_growth(first, annealed(data, kind, 4, seed=1)[0])


def test_interrupted_annealed_growth_keeps_tree():
    data = makers.planted(n_docs=60)
    species = makers.hplsa_species(data)
    loops = []

    def watch(loop):
        loops.append(loop.steps)
        if len(loops) == 400:
            raise KeyboardInterrupt

    growth = grow(replace(species, watch=watch), AnnealedProposer(hplsa_schedule(), species.lengths), Rules())
    assert growth.reason == "interrupted"
    assert len(loops) == 400
    np.testing.assert_allclose(growth.stage.parts.class_given_doc.sum(axis=1), 1)


def test_doubles_predict_like_their_class():
    """A temperature at which nothing parts changes nothing: doubles that are joined are the class again."""
    data = makers.planted(n_docs=60)
    species = makers.hplsa_species(data, topic_mix="ml", word_smoothing=0.0)
    growth = grow(species, AnnealedProposer((0.3,), species.lengths), Rules())
    assert growth.perplexity[1] == pytest.approx(growth.perplexity[0], rel=1e-4)
    assert growth.stage.parts.tree.parents == (-1,)
    words = data.counts.sum(axis=0) / data.counts.sum()
    np.testing.assert_allclose(growth.stage.parts.word_given_node[0], words, atol=1e-6)
