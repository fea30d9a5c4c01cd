"""The plan of a run, and running it in one process and in two."""

from __future__ import annotations

import pytest

from pyod_gessvdd.experiments.data.paper import choose_datasets
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, NONLINEAR, choose_methods
from pyod_gessvdd.experiments.run.paper import plan, run
from pyod_gessvdd.experiments.run.paper_store import Store


def test_the_plan_has_every_class_split_and_method_that_the_paper_has():
    trials = plan(choose_datasets(("heart",)), choose_methods(["SVDD", "GESVM-Sw"]), (LINEAR, NONLINEAR), 5)
    assert len(trials) == len(set(trials)) == 2 * 5 * (1 + 2)
    assert {trial.description for trial in trials if trial.method == "GESVM-Sw"} == {NONLINEAR}


def test_mnist_has_one_split():
    assert len(plan(choose_datasets(("mnist",)), choose_methods(["SVDD"]), (LINEAR,), 5)) == 10


def test_the_full_plan_of_heart_linear_is_34_variants_and_3_methods():
    assert len(plan(choose_datasets(("heart",)), choose_methods(["all"]), (LINEAR,), 5)) == 37 * 2 * 5


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_trial_is_stored_and_reported_whatever_the_number_of_processes(jobs, data_dir, tmp_path):
    trials = plan(choose_datasets(("heart",)), choose_methods(["ESVDD"]), (LINEAR,), 2)
    store, seen = Store(tmp_path, {}), []
    run(trials, store, data_dir, quick=True, jobs=jobs, progress=seen.append)
    assert store.finished() == set(seen) == set(trials)
    assert {row["status"] for row in store.trials()} == {"done"}


def test_a_trial_that_fails_is_stored_with_its_traceback_and_the_run_goes_on(data_dir, tmp_path):
    trials = plan(choose_datasets(("heart",)), choose_methods(["ESVDD"]), (LINEAR,), 1)
    store = Store(tmp_path, {})
    run([trials[0]._replace(target="nobody"), trials[1]], store, data_dir, quick=True)
    failed, done = store.trials()
    assert (failed["status"], done["status"]) == ("failed", "done")
    assert failed["error"].startswith("ValueError: ")
    assert "Traceback" in failed["traceback"]
