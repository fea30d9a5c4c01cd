"""The trials: the search is the paper's, and the figures are those of the point that it picks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from pyod_gessvdd.cli.bench_paper import METRICS, plan
from pyod_gessvdd.compare import ComparisonResult
from pyod_gessvdd.experiments.data.paper import DATASETS, choose_datasets, targets
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, NONLINEAR, choose_methods
from pyod_gessvdd.experiments.protocols.nested import Nested
from pyod_gessvdd.experiments.report.paper.trials import trials_of
from pyod_gessvdd.experiments.run.job import failure, run_job
from pyod_gessvdd.experiments.store import Store
from pyod_gessvdd.model_selection import gmean_score

METHOD = "GESSVDD-0-GR-max"
SEED = 6


def jobs_of(data_dir, method, description=LINEAR, datasets=("heart",), seeds=range(SEED, SEED + 1), **how):
    chosen = choose_datasets(datasets), choose_methods([method])
    return plan(*chosen, (description,), seeds, data_dir, **{"quick": True, "scale": "minmax", **how})


def found(folder, jobs, run=run_job, quick=True):
    """The trials and curves of jobs that are run in this process."""
    store = Store.create(folder, {"metrics": METRICS, "quick": quick, "seed": SEED, "scale": "minmax"})
    store.add([job.dataset for job in jobs], [job.detector for job in jobs])
    for job in jobs:
        store.record(run(job))
    store.close()
    return trials_of(ComparisonResult(folder))


@pytest.fixture(scope="module")
def trial(data_dir, tmp_path_factory):
    """One trial: a target of Heart, one method, one split."""
    jobs = [job for job in jobs_of(data_dir, METHOD) if job.dataset.name == "heart:disease_absent"]
    trials, sensitivity = found(tmp_path_factory.mktemp("run"), jobs)
    return *trials, sensitivity


def by_hand(data_dir, target, seed):
    """The protocol in its own words: the mean Gmean over the folds of each point, and a test of any point."""
    (dataset,) = [one for one in targets(DATASETS["heart"], data_dir) if one.name.endswith(target)]
    (split,) = Nested().splits(dataset, seed)
    scores = {}
    for point in ParameterGrid(METHODS[METHOD].grid(LINEAR, 3, quick=True)):
        gmeans = []
        for fold in split.inner:
            model = METHODS[METHOD].build(LINEAR, point, seed).fit(fold.train)
            gmeans.append(gmean_score(fold.labels, model.predict(fold.test)))
        scores[tuple(sorted(point.items()))] = np.mean(gmeans)

    def test(point):
        model = METHODS[METHOD].build(LINEAR, point, seed).fit(split.train)
        return gmean_score(split.labels, model.predict(split.test))

    return scores, test


def test_the_best_point_of_the_grid_is_fitted_to_all_positives_and_tested(data_dir, trial):
    scores, test = by_hand(data_dir, "disease_absent", SEED)
    assert trial[0]["cv_gmean"] == pytest.approx(max(scores.values()))
    assert scores[tuple(sorted(trial[0]["parameters"].items()))] == pytest.approx(trial[0]["cv_gmean"])
    assert trial[0]["gmean"] == pytest.approx(test(trial[0]["parameters"]))


def test_the_rates_belong_together(trial):
    row = trial[0]
    assert row["gmean"] == pytest.approx(np.sqrt(row["tpr"] * row["tnr"]))
    assert (row["fpr"], row["fnr"]) == pytest.approx((1 - row["tnr"], 1 - row["tpr"]))
    assert (row["n_train"], row["n_test"], row["split"]) == (42, 36, 0)
    assert 0.5 < row["gmean"] <= 1.0


def test_the_sensitivity_curves_go_through_the_best_point(trial):
    row, sensitivity = trial
    for name, value in row["parameters"].items():
        (reached,) = [line["gmean"] for line in sensitivity if (line["parameter"], line["value"]) == (name, value)]
        assert reached == row["gmean"]
    assert [line["value"] for line in sensitivity if line["parameter"] == "C"] == [0.1, 0.3, 0.6]


def test_every_point_is_counted(trial):
    # 3 values of C, 2 of d (there are 3 features) and 3 of η.
    assert [trial[0][name] for name in ("n_points", "n_infeasible", "n_unsolved")] == [3 * 2 * 3, 0, 0]


def test_points_that_do_not_exist_are_skipped_and_counted(data_dir, tmp_path):
    # A very wide kernel leaves fewer features than the grid's largest d.
    (absent, _), _ = found(tmp_path, jobs_of(data_dir, "GESSVDD-0-S-max", NONLINEAR))
    assert absent["n_infeasible"] > 0
    assert absent["gmean"] > 0.3


def test_a_trial_whose_points_are_not_all_run_is_left_out(data_dir, tmp_path):
    trials, _ = found(tmp_path, jobs_of(data_dir, "ESVDD")[:-1])
    assert [trial["target"] for trial in trials] == ["disease_present"]


def test_a_trial_without_a_point_that_was_fitted_failed_and_says_why(data_dir, tmp_path):
    trials, sensitivity = found(tmp_path, jobs_of(data_dir, "ESVDD"), lambda job: failure(job, "timeout", "too long"))
    assert [(trial["status"], trial["error"]) for trial in trials] == [("failed", "too long")] * 2
    assert sensitivity == []


# The plan -------------------------------------------------------------------------------------------------------------


def test_the_plan_has_every_class_split_and_method_that_the_paper_has(data_dir):
    chosen = choose_datasets(("heart",)), choose_methods(["SVDD", "GESVM-Sw"])
    jobs = plan(*chosen, (LINEAR, NONLINEAR), range(5), data_dir, scale="minmax")
    trials = {(job.dataset.name, job.detector.family, job.seed) for job in jobs}
    assert len(trials) == 2 * 5 * (1 + 2)
    assert {job.detector.description for job in jobs if job.detector.spec == "GESVM-Sw"} == {NONLINEAR}
    assert len({job.key for job in jobs}) == len(jobs)


def test_mnist_has_one_split(tmp_path):
    from tests.experiments.paper_data import write_mnist

    jobs = jobs_of(write_mnist(tmp_path), "SVDD", datasets=("mnist",), seeds=range(5))
    assert {job.seed for job in jobs} == {0}
    assert len({job.dataset.name for job in jobs}) == 10


def test_the_full_plan_of_heart_linear_is_34_variants_and_3_methods(data_dir):
    jobs = jobs_of(data_dir, "all", quick=False)
    assert len({(job.dataset.name, job.detector.spec) for job in jobs}) == 37 * 2
