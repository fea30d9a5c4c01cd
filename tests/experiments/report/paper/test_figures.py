"""The sensitivity plots show the store's points."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd.experiments.report.paper.figures import sensitivity_figure


def points(parameter, value, gmeans, target="disease_present"):
    base = {"dataset": "heart", "description": "linear", "method": "GESSVDD-I-GR-min", "target": target}
    return [
        {**base, "split": i, "parameter": parameter, "value": value, "gmean": gmean} for i, gmean in enumerate(gmeans)
    ]


@pytest.fixture
def figure():
    return sensitivity_figure(
        [
            *points("step_size", 0.1, [0.2, 0.4]),
            *points("step_size", 10.0, [0.6, None]),
            *points("C", 0.2, [0.5]),
            *points("C", 0.1, [0.3]),
            *points("C", 0.1, [0.9], "disease_absent"),
        ]
    )


def test_there_is_a_panel_for_each_hyperparameter_in_the_papers_order(figure):
    assert [panel.get_xlabel() for panel in figure.axes] == ["C", "η"]
    assert [panel.get_xscale() for panel in figure.axes] == ["linear", "log"]


def test_lines_are_means_over_the_splits_that_have_a_figure(figure):
    (line,) = figure.axes[1].get_lines()
    np.testing.assert_allclose(line.get_xydata(), [[0.1, 0.3], [10.0, 0.6]])


def test_each_target_has_a_line_under_the_papers_abbreviation(figure):
    present, absent = figure.axes[0].get_lines()
    np.testing.assert_allclose(present.get_xydata(), [[0.1, 0.3], [0.2, 0.5]])
    np.testing.assert_allclose(absent.get_xydata(), [[0.1, 0.9]])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["DP", "DA"]


def test_the_figure_can_be_drawn(figure, tmp_path):
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000
