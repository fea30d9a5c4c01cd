"""The figures: what is drawn, and that nothing else is touched."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.figure import Figure
from scipy.integrate import trapezoid
from sklearn.metrics import average_precision_score, roc_auc_score

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.report import curves as points
from pyod_gessvdd.experiments.report import figures, style
from pyod_gessvdd.experiments.report.labels import place_labels
from pyod_gessvdd.experiments.report.svg import inline_svg
from tests.experiments.runs import NASTY, run

DRAW = {
    "plot_heatmap": (),
    "plot_critical_difference": (),
    "plot_quality_against_time": (),
    "plot_curves": (NASTY,),
    "plot_scores": (NASTY,),
}


def texts(figure):
    figure.canvas.draw()
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_text()]


@pytest.mark.parametrize("method", DRAW)
def test_a_figure_is_the_callers_and_changes_no_setting_of_matplotlib(reported, method):
    before = dict(matplotlib.rcParams)
    figure = getattr(reported, method)(*DRAW[method], setting="novelty")
    assert isinstance(figure, Figure)
    assert texts(figure)
    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("method", ["plot_heatmap", "plot_critical_difference", "plot_quality_against_time"])
def test_every_detector_is_named(reported, method):
    shown = " ".join(texts(getattr(reported, method)(setting="unsupervised")))
    for name in reported.detectors["name"]:
        assert name in shown


def test_the_heat_map_shows_the_means_and_marks_what_failed(reported):
    shown = texts(reported.plot_heatmap(setting="novelty"))
    table = reported.table.query("setting == 'novelty' and dataset == 'iris' and detector == 'KNN'")
    assert f"{table['roc_auc'].mean():.2f}" in shown
    assert shown.count("×") == 1


def test_a_name_with_dollars_is_not_taken_for_a_formula(reported):
    assert any("bold" in text and r"\$x_1\$" in text for text in texts(reported.plot_heatmap(setting="novelty")))
    assert style.plain("x" * 50) == "x" * 35 + "…"


def test_lines_differ_for_as_many_detectors_as_there_are_colours_and_dashes():
    n = len(style.COLOURS) * len(style.DASHES)
    assert len(set(style.lines(map(str, range(n))).values())) == n


def test_a_critical_difference_diagram_of_too_few_is_one_sentence(tmp_path):
    result = run(tmp_path, {"a": toy(0)}, ["hbos", "pca"], {"novelty": (0,)})
    with pytest.raises(ComparisonError, match=r"needs at least 3 detectors and 2 data sets .* here are 2 and 1\."):
        result.plot_critical_difference()


def test_a_data_set_that_is_not_there_or_that_nobody_finished_is_one_sentence(tmp_path):
    result = run(tmp_path, {"a": toy(0)}, ["tests.experiments.bad_detectors:Raises"], {"novelty": (0,)})
    with pytest.raises(ComparisonError, match="unknown data set 'b'; the run holds 'a'"):
        result.plot_curves("b")
    for draw in (result.plot_curves, result.plot_scores):
        with pytest.raises(ComparisonError, match="no detector finished the data set 'a'; there is nothing to draw"):
            draw("a")
    with pytest.raises(ComparisonError, match="no detector finished a data set with a value of roc_auc; there is noth"):
        result.plot_quality_against_time()


def toy(seed):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(60, 2)), rng.normal(3, 1, size=(12, 2))]), np.repeat([0, 1], [60, 12])


def test_the_label_of_a_narrow_list_of_ranks_stays_on_the_page():
    found = SimpleNamespace(
        critical_difference=2.73,
        reason="",
        mean_ranks=pd.Series({"GESSVDD(kernel='precomputed', novelty=True)": 1.0, "KNN": 2.0, "LOF": 3.0}),
    )
    figure = figures.rank_list(found)
    figure.draw_without_rendering()
    box = figure.axes[0].xaxis.label.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


# Quality against time -------------------------------------------------------------------------------------------------

points_of = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8)


@settings(deadline=None)
@given(points_of)
def test_the_front_is_what_nothing_beats(pairs):
    cost, quality = np.array(pairs, dtype=float).T
    front = figures.pareto_front(cost, quality)

    def beaten(i):
        return any(
            (c <= cost[i] and q >= quality[i]) and (c < cost[i] or q > quality[i])
            for c, q in zip(cost, quality, strict=True)
        )

    assert {pairs[i] for i in front} == {pairs[i] for i in range(len(pairs)) if not beaten(i)}
    assert np.all(np.diff(cost[front]) > 0)


def test_labels_of_close_points_do_not_cover_each_other():
    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    x, y = np.full(6, 0.5), 0.5 + 0.01 * np.arange(6)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    place_labels(axes, x, y, [f"detector {i}" for i in range(6)])
    labels = [text for text in axes.texts if text.get_text()]
    boxes = [text.get_window_extent() for text in labels]
    assert len(boxes) == 6
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


# Curves ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def jobs():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [400, 100])
    return [(labels, rng.normal(size=500) + labels) for _ in range(3)]


def test_the_mean_roc_curve_encloses_the_mean_area(jobs):
    area = trapezoid(points.mean_roc(jobs), points.GRID)
    assert area == pytest.approx(np.mean([roc_auc_score(*job) for job in jobs]), abs=2e-3)


def test_the_mean_precision_curve_encloses_the_mean_average_precision(jobs):
    area = points.mean_precision(jobs)[1:].mean()
    assert area == pytest.approx(np.mean([average_precision_score(*job) for job in jobs]), abs=1e-2)


def test_perfect_scores_give_perfect_curves():
    labels = np.array([0, 0, 0, 1, 1])
    perfect = [(labels, labels.astype(float))]
    assert (points.mean_roc(perfect) == 1).all()
    assert (points.mean_precision(perfect) == 1).all()


@settings(deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_the_distribution_does_not_depend_on_the_unit_of_the_scores(scale, shift):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [50, 10])
    scores = rng.normal(size=60) + 3 * labels
    one, other = points.distribution([(labels, scores)]), points.distribution([(labels, scale * scores + shift)])
    # A score on the edge of a bin may fall on either side.
    assert np.abs(one.normal - other.normal).max() <= 0.05
    assert one.normal.sum() == pytest.approx(1)
    assert one.outliers.sum() == pytest.approx(1)


def test_constant_scores_have_a_distribution_too():
    shape = points.distribution([(np.array([0, 0, 1]), np.ones(3))])
    assert np.isfinite(shape.normal).all()


# SVG ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawing(reported):
    figure = reported.plot_curves(NASTY, setting="novelty")
    return inline_svg(figure, "here", 'curves of "a" <b>')


def test_an_inline_drawing_is_wellformed_and_says_what_it_shows(drawing):
    root = ET.fromstring(drawing)
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'curves of "a" <b>'
    shown = [element.text for element in root.iter("text")]
    assert {"recall", "KNN"} <= set(shown)


def test_an_inline_drawing_has_the_pages_colours_and_fonts_and_no_ids_of_others(drawing):
    assert not set(re.findall(r"#[0-9a-fA-F]{6}\b", drawing)) - {"#000000"}
    assert "font-family" not in drawing
    assert all(name.startswith("here-") for name in re.findall(r' id="([^"]*)"', drawing))
    assert all(name.startswith("here-") for name in re.findall(r'(?:url\(|href=")#([^")]*)', drawing))
    assert 'data-series="0"' in drawing


def test_coordinates_are_short(drawing):
    assert not re.search(r'd="[^"]*\.\d{3}', drawing)
