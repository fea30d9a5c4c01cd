"""One trial: the search is the paper's, and the figures are those of the model that it picks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from pyod_gessvdd.experiments.data.paper import DATASETS, load
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, NONLINEAR
from pyod_gessvdd.experiments.protocols.paper_split import draw_split
from pyod_gessvdd.experiments.protocols.paper_trial import Rates, Trial, run_trial
from pyod_gessvdd.model_selection import OneClassKFold, gmean_score

TRIAL = Trial("heart", LINEAR, "GESSVDD-0-GR-max", "disease_absent", 1)


@pytest.fixture(scope="module")
def outcome(data_dir):
    return run_trial(TRIAL, data_dir, seed=5, quick=True)


def by_hand(data_dir, trial, seed):
    """The protocol in its own words: (best parameters, their mean Gmean over the folds, Gmean on the test rows)."""
    split = draw_split(DATASETS["heart"], load("heart", data_dir), trial.target, seed)
    outlier = (~split.train_positive).astype(int)
    scores = {}
    grid = METHODS[trial.method].grid(trial.description, 3, quick=True)
    for point in ParameterGrid(grid):
        gmeans = []
        for train, test in OneClassKFold(5, random_state=seed).split(split.train, outlier):
            model = METHODS[trial.method].build(trial.description, point, seed).fit(split.train[train])
            gmeans.append(gmean_score(outlier[test], model.predict(split.train[test])))
        scores[tuple(sorted(point.items()))] = np.mean(gmeans)
    best = dict(max(scores, key=scores.get))
    model = METHODS[trial.method].build(trial.description, best, seed).fit(split.train[split.train_positive])
    return scores, best, gmean_score((~split.test_positive).astype(int), model.predict(split.test))


def test_the_best_point_of_the_grid_is_fitted_to_all_positives_and_tested(data_dir, outcome):
    scores, best, gmean = by_hand(data_dir, TRIAL, seed=6)
    assert outcome.cv_gmean == pytest.approx(max(scores.values()))
    assert scores[tuple(sorted(outcome.parameters.items()))] == pytest.approx(outcome.cv_gmean)
    if outcome.parameters == best:
        assert outcome.gmean == pytest.approx(gmean)


def test_the_rates_belong_together(outcome):
    assert outcome.gmean == pytest.approx(np.sqrt(outcome.tpr * outcome.tnr))
    assert (outcome.fpr, outcome.fnr) == pytest.approx((1 - outcome.tnr, 1 - outcome.tpr))
    assert (outcome.n_train, outcome.n_test) == (42, 36)
    assert 0.5 < outcome.gmean <= 1.0


def test_the_sensitivity_curves_go_through_the_best_point(outcome):
    for name, value in outcome.parameters.items():
        (reached,) = [gmean for parameter, x, gmean in outcome.sensitivity if (parameter, x) == (name, value)]
        assert reached == outcome.gmean
    assert [x for name, x, _ in outcome.sensitivity if name == "C"] == [0.1, 0.3, 0.6]


def test_every_fit_is_counted(outcome):
    # 3 values of C, 2 of d (there are 3 features) and 3 of η in 5 folds, the best one, and 8 points of the curves.
    assert outcome.n_fits == 3 * 2 * 3 * 5 + 1 + 8
    assert (outcome.n_infeasible, outcome.n_unsolved) == (0, 0)


def test_a_trial_can_be_repeated(data_dir, outcome):
    again = run_trial(TRIAL, data_dir, seed=5, quick=True)
    assert {**again.columns(), "seconds": 0} == {**outcome.columns(), "seconds": 0}


def test_another_split_and_another_scale_give_another_trial(data_dir, outcome):
    assert run_trial(TRIAL._replace(split=0), data_dir, seed=5, quick=True).cv_gmean != outcome.cv_gmean
    assert run_trial(TRIAL._replace(split=0), data_dir, seed=6, quick=True).cv_gmean == outcome.cv_gmean
    assert run_trial(TRIAL, data_dir, seed=5, quick=True, scale="none").cv_gmean != outcome.cv_gmean


def test_points_that_do_not_exist_are_skipped_and_counted(data_dir):
    # A very wide kernel leaves fewer features than the grid's largest d.
    outcome = run_trial(Trial("heart", NONLINEAR, "GESSVDD-0-S-max", "disease_absent", 0), data_dir, quick=True)
    assert outcome.n_infeasible > 0
    assert outcome.gmean > 0.3


def test_a_grid_without_any_point_that_can_be_fitted_is_an_error(data_dir, monkeypatch):
    monkeypatch.setattr(type(METHODS[TRIAL.method]), "grid", lambda *args, **kwargs: {"n_components": [50]})
    with pytest.raises(ValueError, match="none of the 1 points of the grid could be fitted"):
        run_trial(TRIAL, data_dir)


def test_rates_count_accepted_positives_and_refused_negatives():
    positive, accepted = np.array([1, 1, 1, 1, 0, 0], bool), np.array([1, 1, 1, 0, 1, 0], bool)
    assert Rates.of(positive, accepted) == Rates(0.75, 0.5)
    assert Rates(0.75, 0.5).gmean == pytest.approx(np.sqrt(0.375))
