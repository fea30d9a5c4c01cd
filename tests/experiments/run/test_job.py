"""One job in this process: what is measured, and what becomes of detectors that misbehave."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from pyod_gessvdd.experiments.metrics import METRICS, Metric
from pyod_gessvdd.experiments.protocols.protocol import splits_of
from pyod_gessvdd.experiments.run.job import COUNTS, LONGEST_MESSAGE, LONGEST_TRACEBACK, TIMES, columns, run_job
from pyod_gessvdd.experiments.run.memory import Peak, _by_sampling, _kernel_can, peak_memory
from pyod_gessvdd.model_selection import gmean_score
from tests.experiments.toy import job


@pytest.fixture(autouse=True)
def keep_global_generators():
    """A job seeds them; here that is not its own process."""
    state, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002
    yield
    random.setstate(state)
    np.random.set_state(legacy)  # noqa: NPY002


def test_the_row_has_every_column_in_order_and_the_figures_of_the_scores():
    work = job("knn")
    result = run_job(work)
    assert tuple(result.row) == columns()
    assert result.row["status"] == "done"
    assert result.row["roc_auc"] == roc_auc_score(result.labels, result.scores)
    assert result.row["average_precision"] == average_precision_score(result.labels, result.scores)
    (parts,) = splits_of(work.protocol, work.dataset, work.seed)
    detector = work.detector.build(0).fit(parts.train)
    assert np.array_equal(result.scores, detector.decision_function(parts.test))
    assert result.row["gmean"] == gmean_score(parts.labels, detector.predict(parts.test))
    assert [result.row[name] for name in COUNTS] == [70, 36, 6, 3, 0]
    assert all(result.row[name] >= 0 for name in TIMES)
    assert result.row["error"] is result.row["traceback"] is None


def test_metrics_that_were_not_asked_for_stay_empty():
    row = run_job(job("Good", metrics=("gmean",))).row
    assert [name for name in METRICS if row[name] is not None] == ["gmean"]


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("Raises", "RuntimeError: no fit today"),
        ("ReturnsNaN", "BadAnswerError: decision_function returned 1 scores of 36 that are NaN or infinite"),
        ("ReturnsWrongShape", "BadAnswerError: decision_function returned the shape (36, 1) for 36 rows"),
        ("PredictsWrongLabels", "BadAnswerError: predict must return 36 labels 0 or 1, got the shape (36,)"),
        ("Leaves", "SystemExit: 3"),
    ],
)
def test_a_detector_that_misbehaves_is_a_failure_with_one_line_and_a_traceback(spec, error):
    result = run_job(job(spec))
    assert (result.row["status"], result.row["error"]) == ("failed", error)
    assert "Traceback" in result.row["traceback"]
    assert [result.row[name] for name in (*METRICS, *TIMES)] == [None] * 8
    assert result.scores is result.labels is None
    assert result.row["n_test"] == 36


def test_a_transductive_job_judges_the_scores_and_labels_of_the_fit():
    work = job("knn", setting="transductive")
    result = run_job(work)
    (parts,) = splits_of(work.protocol, work.dataset, work.seed)
    detector = work.detector.build(0).fit(parts.train)
    assert np.array_equal(result.scores, detector.decision_scores_)
    assert result.row["gmean"] == gmean_score(parts.labels, detector.labels_)
    assert (result.row["n_train"], result.row["n_test"], result.row["duplicates"]) == (120, 120, 0)


def agreement(labels, fitted):
    """Whether ``predict`` of the training rows is ``labels_``; the split has their number."""
    return float(np.mean(fitted.detector.predict(fitted.split.train) == fitted.detector.labels_))


def test_a_metric_can_be_a_record_of_the_job_and_can_ask_the_model():
    record = Metric("agreement", "Agreement", agreement, needs="model")
    row = run_job(job("knn", metrics=(record, "roc_auc"))).row
    assert 0.8 < row["agreement"] <= 1.0
    assert row["roc_auc"] > 0.9


def test_scores_are_kept_for_the_pictures_whatever_is_measured():
    assert len(run_job(job("Good", metrics=("gmean",))).scores) == 36


def test_folds_give_a_validation_by_the_first_metric():
    work = job("knn", setting="nested", metrics=("gmean", "tpr"))
    row = run_job(work).row
    (parts,) = splits_of(work.protocol, work.dataset, work.seed)
    folds = [
        gmean_score(fold.labels, work.detector.build(0).fit(fold.train).predict(fold.test)) for fold in parts.inner
    ]
    assert row["validation"] == pytest.approx(np.mean(folds))
    assert run_job(job("knn")).row["validation"] is None


def test_warnings_are_recorded_in_one_line_and_once():
    assert run_job(job("Warns")).row["warnings"] == ["RuntimeWarning: all is not well"]


def test_a_detector_that_changes_its_input_does_not_change_the_next_ones():
    before = run_job(job("Good")).scores
    run_job(job("ChangesItsInput"))
    assert np.array_equal(run_job(job("Good")).scores, before)


def test_detectors_that_draw_from_the_global_generators_repeat_themselves():
    work = job("DrawsFromGlobalGenerators", metrics=("roc_auc",))
    # The first job of a process warms the detector up; that must not show.
    first, second = run_job(work).scores, run_job(work).scores
    assert np.array_equal(first, second)
    assert not np.array_equal(first, run_job(job("DrawsFromGlobalGenerators", seed=1, metrics=("roc_auc",))).scores)


def test_the_seed_is_given_to_detectors_that_take_one():
    assert set(run_job(job("TellsItsSeed", seed=5)).scores) == {5.0}


def test_a_data_set_that_cannot_be_split_is_a_failure_of_its_jobs():
    failed = run_job(job("Good", max_rows=3))
    assert failed.row["status"] == "failed"
    assert "ValueError" in failed.row["error"]


@pytest.mark.skipif(not _kernel_can(), reason="the kernel keeps no high-water mark that can be reset (Linux does)")
def test_a_peak_that_is_over_at_the_end_is_seen():
    with peak_memory() as peak:
        block = np.ones(8 * 2**20)
        del block
    assert 60 < peak.mib < 80


def test_memory_is_sampled_where_the_kernel_keeps_no_peak():
    peak = Peak()
    with _by_sampling(peak):
        block = np.ones(8 * 2**20)
    assert 60 < peak.mib < 80
    assert block[0] == 1


def test_half_a_character_is_written_out():
    row = run_job(job("RaisesHalfACharacter")).row
    assert row["error"] == "RuntimeError: half \\ud800 a character"
    row["traceback"].encode()


def test_a_long_message_is_cut_in_the_middle():
    row = run_job(job("RaisesALongMessage")).row
    assert row["error"].startswith("RuntimeError: xxx")
    assert len(row["error"]) <= LONGEST_MESSAGE + 10
    assert len(row["traceback"]) <= LONGEST_TRACEBACK + 10


def test_an_exception_that_has_no_words_is_a_failure_all_the_same():
    row = run_job(job("CannotSayWhatIsWrong")).row
    assert row["status"] == "failed"
    assert row["error"] == "MuteError, whose message cannot be shown"


def test_complex_scores_are_a_failure():
    row = run_job(job("ReturnsComplexScores")).row
    assert row["status"] == "failed"
    assert "scores of type complex128, which are not real numbers" in row["error"]
