"""What a fit shows of its progress, to whom, and that nothing else depends on it."""

from __future__ import annotations

import io
import logging
import pickle

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import clone

import pyod_gessvdd
from pyod_gessvdd import GESSVDD, MSSVDD, SSVDD, SVDD, progress
from pyod_gessvdd.saving.archive import read_archive, write_archive
from pyod_gessvdd.sources import ArraySource

X = np.random.default_rng(0).normal(size=(120, 4))
SUBSPACE = {"kernel": "linear", "n_components": 2, "random_state": 0}


class Clock:
    """Goes on when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def stages(text):
    """The names of the stages in the lines of a fit."""
    return [line.partition(":")[0] for line in text.splitlines()]


@pytest.fixture
def walked(monkeypatch):
    """A source of 6,000 rows, more than are read into memory here, in blocks of 2,000."""
    monkeypatch.setattr("pyod_gessvdd.sources.SMALL_ROWS", 1000)
    return ArraySource(np.random.default_rng(1).normal(size=(6000, 4)), block_rows=2000)


@pytest.mark.parametrize(
    ("detector", "expected"),
    [
        (GESSVDD(random_state=0), ["trust", "scaling", "kernel matrix", "metric", "sphere", "training scores"]),
        (GESSVDD(**SUBSPACE), ["trust", "scaling", "kernel map", "graph", "updates", "training scores"]),
        (SVDD(), ["scaling", "kernel matrix", "sphere", "training scores"]),
        (SSVDD(kernel="linear"), ["scaling", "kernel map", "graph", "updates", "training scores"]),
        (MSSVDD([[0, 1], [2, 3]]), ["scaling", "kernel map"] * 2 + ["updates"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_verbose_fit_prints_the_steps_of_algorithm_1_to_stderr_and_any_other_fit_nothing(capfd, detector, expected):
    clone(detector).fit(X)
    assert capfd.readouterr() == ("", "")
    clone(detector).set_params(verbose=1).fit(X)
    out, err = capfd.readouterr()
    assert (out, stages(err)) == ("", expected)


def test_the_updates_are_shown_with_criterion_and_gap(capfd):
    detector = GESSVDD(**SUBSPACE, verbose=True).fit(X)
    last = detector.history_[-1]
    assert f"updates: criterion {last['criterion']:.4g}, gap {last['gap']:.1e} in " in capfd.readouterr().err


def test_a_fit_to_a_source_is_shown_and_finds_the_same(capfd, walked):
    silent = GESSVDD(**SUBSPACE).fit(walked)
    assert capfd.readouterr().err == ""
    shown = GESSVDD(**SUBSPACE, verbose=True).fit(walked)
    assert stages(capfd.readouterr().err) == ["columns", "trust", "scaling", "graph", "updates", "training scores"]
    np.testing.assert_array_equal(shown.decision_scores_, silent.decision_scores_)


def test_every_pass_over_a_source_reports_its_rows_block_by_block(walked, monkeypatch):
    heard = []
    monkeypatch.setattr(progress.Lines, "rows", lambda self, *numbers: heard.append(numbers))
    GESSVDD(**SUBSPACE, verbose=True).fit(walked)
    assert heard[:3] == [(1, 2000, 6000), (1, 4000, 6000), (1, 6000, 6000)]
    assert len({number for number, _, _ in heard}) > 10


@pytest.mark.parametrize("detector", [GESSVDD(random_state=0), GESSVDD(**SUBSPACE)], ids=["whole space", "subspace"])
def test_scores_do_not_depend_on_it(capfd, detector):
    shown = clone(detector).set_params(verbose=True).fit(X)
    np.testing.assert_array_equal(shown.decision_scores_, detector.fit(X).decision_scores_)


def test_it_survives_clone_pickle_and_a_model_file(tmp_path, capfd):
    detector = GESSVDD(random_state=0, verbose=2).fit(X)
    detector.save(tmp_path / "model.gessvdd")
    for copy in (
        clone(detector),
        pickle.loads(pickle.dumps(detector)),
        pyod_gessvdd.load(tmp_path / "model.gessvdd"),
    ):
        assert copy.get_params()["verbose"] == 2


def test_a_model_file_from_before_a_parameter_existed_loads_with_its_default(tmp_path):
    detector = GESSVDD(random_state=0).fit(X)
    detector.save(tmp_path / "old.gessvdd")
    document, arrays = read_archive(tmp_path / "old.gessvdd")
    del document["attributes"]["verbose"]
    write_archive(tmp_path / "old.gessvdd", document, arrays)
    loaded = pyod_gessvdd.load(tmp_path / "old.gessvdd")
    assert loaded.get_params()["verbose"] is False
    np.testing.assert_array_equal(loaded.decision_function(X), detector.decision_function(X))


@pytest.mark.parametrize("value", [-1, "yes", None, 0.5])
def test_it_is_a_truth_value_or_a_number(value):
    with pytest.raises(ValueError, match="verbose must be True, False or an integer of at least 0, got "):
        GESSVDD(verbose=value).fit(X)


def test_numpy_s_truth_values_will_do(capfd):
    SVDD(verbose=np.False_).fit(X)
    assert capfd.readouterr().err == ""


def test_without_it_stages_and_steps_go_to_the_log(caplog):
    with caplog.at_level(logging.DEBUG, logger="pyod_gessvdd.progress"):
        GESSVDD(**SUBSPACE, n_iter=1).fit(X)
    words = [record.getMessage() for record in caplog.records]
    assert "updates" in words
    assert any(line.startswith("1 done, criterion ") for line in words)


def test_fits_inside_a_context_are_shown_there_and_a_failure_ends_it(capfd):
    with pytest.raises(ValueError, match="n_iter"), progress.shown():
        GESSVDD(**SUBSPACE, n_iter=-1, verbose=True).fit(X)
    assert not progress.is_shown()
    with progress.shown(brief=True):
        GESSVDD(**SUBSPACE, verbose=True).fit(X)
    assert capfd.readouterr().err == "", "the outer context is brief, and this fit is short"


def test_a_long_stage_prints_a_line_now_and_then():
    console, clock = Console(file=io.StringIO(), width=200, highlight=False), Clock()
    lines = progress.Lines(console, brief=True, clock=clock)
    lines.stage("scaling")
    clock.now = 2.0
    lines.stage("updates", 5)
    clock.now = progress.EVERY + 3.0
    lines.step(1, "criterion 4")
    lines.rows(7, 1000, 20000)
    clock.now += progress.EVERY
    lines.rows(7, 9000, 20000)
    lines.close()
    assert console.file.getvalue().splitlines() == [
        "updates: 1 steps, criterion 4",
        "updates: pass 7, 9,000 of 20,000 rows",
        "updates: criterion 4 in 61.0 s",
    ]


@pytest.mark.parametrize("brief", [True, False])
def test_a_terminal_gets_bars_that_stay_unless_brief(brief):
    console = Console(file=io.StringIO(), force_terminal=True, width=100, highlight=False)
    bars = progress.Bars(console, brief=brief)
    bars.stage("trust", 20)
    bars.step(3, "90 of 100 rows trusted")
    bars.stage("updates", 5)
    bars.rows(2, 50, 100)
    bars.close()
    text = console.file.getvalue()
    assert "trust" in text
    assert "90 of 100 rows trusted" in text
    assert text.endswith("\x1b[2K") == brief, "a brief display erases its lines"
