"""The pictures: what is drawn where, that nothing is shown, and what is said about wrong arguments."""

import pickle
import subprocess
import sys
from io import BytesIO

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from PIL import Image

from pyod_gessvdd import GESSVDD, GESVM, SVDD

matplotlib.use("agg")
NAMES = ["width", "height", "weight", "colour"]


@pytest.fixture(scope="module")
def X():
    rows = np.random.default_rng(0).normal(size=(120, 4)) * [1, 2, 3, 4]
    rows[7, 2] = 40.0
    return rows


@pytest.fixture(scope="module")
def detector(X):
    return GESSVDD(kernel="linear", laplacian="pca", residual=True, n_components=2, random_state=0).fit(X)


@pytest.fixture(autouse=True)
def nothing_is_shown(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("plt.show() was called"))
    yield
    assert plt.get_fignums() == [], "a figure is left in pyplot's hands"


def ticks(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def dots(axes, label):
    """The offsets of the markers that the legend calls so."""
    (found,) = [
        collection for collection in axes.collections if str(collection.get_label()).partition(" (")[0] == label
    ]
    return np.asarray(found.get_offsets())


# explain_outlier ------------------------------------------------------------------------------------------------------


def test_the_features_of_a_row_are_drawn_largest_contribution_first(detector, X):
    figure = detector.explain_outlier(7, feature_names=NAMES)
    assert isinstance(figure, Figure)
    expected = detector.explain(X[[7]])[0]
    order = np.argsort(-expected)
    assert ticks(figure) == [f"{NAMES[j]} = {X[7, j]:.4g}" for j in order]
    assert ticks(figure)[0] == "weight = 40"
    assert_allclose(dots(figure.axes[0], "this row")[:, 0], expected[order])
    score = detector.decision_function(X[[7]])[0]
    assert figure.axes[0].get_title(loc="left") == f"Row 7: score {score:.4g}, outlier"


def test_the_bands_are_the_training_rows_quantiles(detector, X):
    figure = detector.explain_outlier(0, columns=[0, 3])
    axes = figure.axes[0]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["this row", "up to the 0.9 quantile", "up to the 0.99 quantile"]
    # The contributions to the scores that the labels come from: those of trusted rows are as if left out.
    grown = detector.decision_scores_ / detector.decision_function(X)
    assert grown.max() > 1
    quantiles = np.quantile((grown[:, None] * detector.explain(X))[:, [0, 3]], [0.9, 0.99], axis=0)
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert_allclose(ends, quantiles.ravel())


def test_columns_are_chosen_by_place_or_by_name_and_the_rest_is_summed(detector, X):
    figure = detector.explain_outlier(-113, columns=["colour", 0], feature_names=NAMES)
    assert [tick.partition(" = ")[0] for tick in ticks(figure)] == ["colour", "width"]
    rest = detector.explain(X[[7]])[0][[1, 2]].sum()
    assert figure.axes[0].get_title(loc="left").endswith(f"\n2 more features, not drawn: {rest:+.3g} together")


def test_only_the_leading_features_of_many_are_drawn():
    X = np.random.default_rng(0).normal(size=(60, 50))
    detector = GESSVDD(kernel="linear", n_components=5, random_state=0).fit(X)
    assert len(ticks(detector.explain_outlier(3))) == 20
    assert len(ticks(detector.explain_outlier(3, max_features=4))) == 4


def test_names_come_from_the_data_frame(X):
    detector = GESSVDD(kernel="linear", random_state=0).fit(pd.DataFrame(X, columns=NAMES))
    assert {tick.partition(" = ")[0] for tick in ticks(detector.explain_outlier(0))} == set(NAMES)


def test_features_without_a_name_have_a_place(detector):
    assert {tick.partition(" = ")[0] for tick in ticks(detector.explain_outlier(0))} == {
        f"feature {j}" for j in range(4)
    }


@pytest.mark.parametrize(("name", "saved", "kind"), [("row", "row.png", "PNG"), ("row.jpg", "row.jpg", "JPEG")])
def test_the_picture_is_saved_where_asked(detector, tmp_path, name, saved, kind):
    detector.explain_outlier(0, file_name=tmp_path / name)
    with Image.open(tmp_path / saved) as image:
        assert image.format == kind


def test_a_kernels_training_rows_are_compared_with_others_and_not_with_themselves(X):
    detector = GESSVDD(kernel="rbf(gamma='scale')", residual=True, random_state=0).fit(X)
    bars = detector.explain_outlier(7).axes[0].patches
    assert all(bar.get_width() > 0 for bar in bars)


def test_a_thresholding_object_has_its_own_share_as_the_band(X):
    class Cut:
        def fit(self, scores):
            self.labels_, self.thresh_ = self.predict(scores), 0.5

        def predict(self, scores):
            return (scores > np.quantile(scores, 0.8)).astype(int)

    detector = GESSVDD(kernel="linear", contamination=Cut(), random_state=0).fit(X)
    assert detector._cutoffs(None) == [0.8, 0.99]


def test_a_loaded_model_draws_rows_that_are_given(detector, X):
    loaded = pickle.loads(pickle.dumps(detector))
    assert ticks(loaded.explain_outlier(7, X=X)) == ticks(detector.explain_outlier(7))
    with pytest.raises(ValueError, match=r"^the training rows are not saved with a model; pass them as X$"):
        loaded.explain_outlier(7)
    with pytest.raises(ValueError, match=r"^X must hold the 120 rows of the training data, got 119$"):
        loaded.explain_outlier(7, X=X[1:])
    with pytest.raises(ValueError, match=r"^these are not the rows that the detector was fitted on: row 0 scored \S+ "):
        loaded.explain_outlier(7, X=X[::-1])


def test_rows_changed_after_fit_are_noticed(X):
    rows = X.copy()
    detector = GESSVDD(kernel="linear", random_state=0).fit(rows)
    rows[3] += 10
    with pytest.raises(ValueError, match=r"fitted on: row 3 scored \S+ then and \S+ now; pass the training rows as X$"):
        detector.explain_outlier(0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"ind": 120}, "ind must be the position of a training row, from 0 to 119, got 120"),
        ({"ind": -121}, "ind must be the position of a training row, from 0 to 119, got -121"),
        ({"ind": 1.5}, "ind must be the position of a training row, from 0 to 119, got 1.5"),
        ({"ind": True}, "ind must be the position of a training row, from 0 to 119, got True"),
        ({"columns": [4]}, "columns must be features from 0 to 3 or their names, got 4"),
        ({"columns": [1.0]}, "columns must be features from 0 to 3 or their names, got 1.0"),
        ({"columns": []}, "columns must be a list of features, by position or by name, got []"),
        ({"columns": "width"}, "columns must be a list of features, by position or by name, got 'width'"),
        (
            {"columns": ["depth"], "feature_names": NAMES},
            "columns names 'depth', which is none of the features width, height, weight, colour",
        ),
        ({"feature_names": ["a"]}, "feature_names must hold a name for each of the 4 features, got 1"),
        ({"feature_names": "abcd"}, "feature_names must hold a name for each of the 4 features, got 'abcd'"),
        ({"cutoffs": [0.5, 1.0]}, "cutoffs must be quantiles between 0 and 1, got [0.5, 1.0]"),
        ({"cutoffs": []}, "cutoffs must be quantiles between 0 and 1, got []"),
        ({"max_features": 0}, "max_features must be at least 1, got 0"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_one_sentence(detector, arguments, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        detector.explain_outlier(**{"ind": 0, **arguments})
    assert str(caught.value) == sentence


@pytest.mark.parametrize("kernel", ["linear", "mixed"])
def test_a_waterfall_goes_from_the_reference_to_the_score(X, kernel):
    detector = GESSVDD(kernel=kernel, random_state=0).fit(X)
    figure = detector.explain_outlier(7, kind="waterfall", max_features=2, feature_names=NAMES)
    axes = figure.axes[0]
    first, *steps, last = axes.patches
    assert last.get_width() == pytest.approx(detector.decision_scores_[7])
    assert first.get_width() + sum(step.get_width() for step in steps) == pytest.approx(last.get_width())
    assert len(steps) == 3
    labels = ticks(figure)
    assert labels[0] == ("centre" if kernel == "linear" else "nearest normal row")
    assert labels[1] == "weight = 40"
    assert labels[-2:] == ["all others", "score"]


def test_several_rows_are_a_heat_map(detector, X):
    rows = [7, 3, 0]
    figure = detector.explain_outlier(rows, columns=["feature 2", "feature 0"])
    axes = figure.axes[0]
    (image,) = axes.images
    grown = detector.decision_scores_[rows] / detector.decision_function(X[rows])
    assert_allclose(image.get_array(), detector.explain(X[rows])[:, [2, 0]] * grown[:, None])
    assert ticks(figure)[0] == f"Row 7: score {detector.decision_scores_[7]:.4g}, outlier"
    assert axes.get_title(loc="left") == "Contributions to the scores of 3 rows; 2 more features are not drawn"
    assert len(axes.texts) == 6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"ind": 0, "kind": "bars"}, "kind must be 'bands' or 'waterfall', got 'bars'"),
        ({"ind": []}, "ind must hold at least one training row, got none"),
        ({"ind": [0, 120]}, "ind must be the position of a training row, from 0 to 119, got 120"),
    ],
)
def test_another_kind_of_picture_is_refused(detector, arguments, sentence):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        detector.explain_outlier(**arguments)
    assert str(refused.value) == sentence


# plot_outlier_map -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"novelty": True}, {"kernel": "linear", "n_components": 2}])
def test_distances_inside_and_outside_make_the_score(X, params):
    detector = GESSVDD(random_state=0, **params).fit(X)
    axes = detector.plot_outlier_map(X[:9] + 1).axes[0]
    for kind, label in (("training row", 0), ("outlier", 1)):
        found = np.sort((dots(axes, kind) ** 2).sum(axis=1))
        assert_allclose(found, np.sort(detector.decision_scores_[detector.labels_ == label]), rtol=1e-9)
    assert_allclose((dots(axes, "new row") ** 2).sum(axis=1), detector.decision_function(X[:9] + 1), rtol=1e-9)


def test_the_sphere_and_the_threshold_are_circles(detector):
    sphere, threshold, *_ = detector.plot_outlier_map().axes[0].lines
    assert_allclose(np.hypot(*sphere.get_data()), 1.0)
    assert_allclose(np.hypot(*threshold.get_data()) ** 2, detector.threshold_)


def test_a_subspaces_distances_are_those_of_transform(detector, X):
    drawn = dots(detector.plot_outlier_map(X[:4]).axes[0], "new row")
    Z = detector.transform(X[:4])
    assert_allclose(drawn[:, 0], np.linalg.norm(Z[:, :-1] - detector.center_, axis=1) / detector.radius_)
    assert_allclose(drawn[:, 1], Z[:, -1] / detector.radius_, rtol=1e-9)


def test_the_strongest_outliers_are_named_by_their_place(detector):
    axes = detector.plot_outlier_map(n_named=3).axes[0]
    strongest = np.argsort(-detector.decision_scores_)[:3]
    assert [text.get_text() for text in axes.texts] == [str(i) for i in strongest]
    assert axes.texts[0].get_text() == "7"


def test_far_rows_are_drawn_on_logarithmic_axes(detector, X):
    axes = detector.plot_outlier_map(X[:3] + 1e4).axes[0]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert axes.get_ylim()[0] > 0


def test_more_directions_take_more_inside(X):
    detector = GESSVDD(random_state=0).fit(X)
    few, many = (dots(detector.plot_outlier_map(n_directions=d).axes[0], "training row")[:, 0] for d in (2, 40))
    assert (many >= few).all()
    assert (many > few).any()


def test_a_loaded_model_maps_rows_that_are_given(detector, X):
    loaded = pickle.loads(pickle.dumps(detector))
    axes = loaded.plot_outlier_map(X).axes[0]
    assert [str(c.get_label()) for c in axes.collections] == ["new row (120)"]
    with pytest.raises(ValueError, match=r"^the training rows are not saved with a model; pass rows to draw as X$"):
        loaded.plot_outlier_map()


@pytest.mark.parametrize(
    ("made", "arguments", "sentence"),
    [
        (
            GESVM(kernel="rbf"),
            {},
            "the outlier map shows distances from a sphere's centre; a half-space has none",
        ),
        (
            GESSVDD(kernel="linear", residual=False),
            {},
            "the outlier map needs the distance outside the subspace, which residual=False leaves out; "
            "use plot_subspace",
        ),
        (GESSVDD(), {"n_directions": 0}, "n_directions must be between 1 and 115, got 0"),
        (
            GESSVDD(kernel="linear", n_components=2),
            {"n_directions": 2},
            "n_directions is for a whole space; all 2 dimensions of this subspace are inside",
        ),
    ],
)
def test_what_has_no_outlier_map_says_why(X, made, arguments, sentence):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        made.fit(X).plot_outlier_map(**arguments)
    assert str(refused.value) == sentence


# plot_subspace --------------------------------------------------------------------------------------------------------


def test_rows_support_vectors_and_outliers_are_where_transform_puts_them(detector, X):
    axes = detector.plot_subspace(components=(0, 1)).axes[0]
    Z = detector.transform(X)
    outlier = detector.labels_ == 1
    assert_allclose(dots(axes, "training row"), Z[~outlier, :2])
    assert_allclose(dots(axes, "outlier"), Z[outlier, :2])
    assert_allclose(dots(axes, "support vector"), Z[np.sort(detector.support_), :2])


@pytest.mark.parametrize("pair", [(0, 1), (1, -1)])
def test_the_circle_is_the_spheres_projection(detector, pair):
    axes = detector.plot_subspace(components=pair).axes[0]
    (circle,) = axes.lines
    center = np.append(detector.center_, 0.0)[list(pair)]  # in the residual's coordinate the centre is zero
    distances = np.hypot(*(circle.get_xydata() - center).T)
    assert_allclose(distances, detector.radius_)
    assert axes.get_aspect() == 1
    assert axes.get_ylabel() == ("residual r/√ρ" if pair[1] == -1 else "z2")


def test_new_rows_are_drawn_beside_the_training_rows_or_alone(detector, X):
    both = detector.plot_subspace(X[:5] + 1, components=(0, 1)).axes[0]
    assert_allclose(dots(both, "new row"), detector.transform(X[:5] + 1)[:, :2])
    loaded = pickle.loads(pickle.dumps(detector))
    alone = loaded.plot_subspace(X[:5]).axes[0]
    assert [collection.get_label() for collection in alone.collections] == ["new row (5)"]
    with pytest.raises(ValueError, match=r"^the training rows are not saved with a model; pass rows to draw as X$"):
        loaded.plot_subspace()


def test_one_coordinate_is_drawn_with_the_score(X):
    detector = GESSVDD(kernel="linear", n_components=1, residual=False, random_state=0).fit(X)
    axes = detector.plot_subspace().axes[0]
    inlier = detector.labels_ == 0
    expected = np.column_stack([detector.transform(X)[inlier, 0], detector.decision_scores_[inlier]])
    assert_allclose(dots(axes, "training row"), expected)
    crossed = sorted(line.get_xdata()[0] for line in axes.lines[:2])
    assert_allclose(crossed, detector.center_[0] + detector.radius_ * np.array([-1, 1]))


def test_a_half_space_is_cut_by_a_line(X):
    detector = GESVM(kernel="linear", standardize=False, random_state=0).fit(X + 100)
    (line,) = detector.plot_subspace(components=(0, 1)).axes[0].lines
    # On the line, with the other coordinates those of w, the score is 1.
    points = np.tile(detector.coef_, (2, 1))
    points[:, :2] = line.get_xydata()
    assert_allclose(points @ detector.coef_, detector.rho_, rtol=1e-9)


def test_the_coordinates_are_those_in_which_outliers_stand_out():
    rows = np.random.default_rng(0).normal(size=(300, 6)) * [6, 5, 4, 3, 2, 1]
    rows[:10, 4] += 25.0
    detector = GESSVDD(kernel="linear", n_components=6, contamination=1 / 30, random_state=0).fit(rows)
    assert detector.labels_[:10].all()
    axes = detector.plot_subspace().axes[0]
    Z = detector.transform(rows)
    away = np.abs(np.median(Z[:10], axis=0) - np.median(Z, axis=0))[:-1] / Z.std(axis=0)[:-1]
    assert f"z{away.argmax() + 1}" in (axes.get_xlabel(), axes.get_ylabel())


def test_many_rows_are_thinned_out(detector):
    axes = detector.plot_subspace(max_rows=30).axes[0]
    assert len(dots(axes, "training row")) + len(dots(axes, "outlier")) == 30


def test_a_given_axes_is_drawn_on(detector):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert detector.plot_subspace(ax=right) is figure
    assert right.collections
    assert not left.collections


@pytest.mark.parametrize("components", [(0, 3), (0, 0), (0, -3), (0,), 0, (0, 1, 2), ("a", "b")])
def test_coordinates_that_are_not_there_are_refused(detector, components):
    with pytest.raises(ValueError, match=r"^components must be two different coordinates from 0 to 2, got "):
        detector.plot_subspace(components=components)


# plot_history ---------------------------------------------------------------------------------------------------------


def test_the_history_is_drawn_in_three_panels_with_the_model_circled(X):
    detector = GESSVDD(kernel="linear", n_components=2, n_iter=4, keep="best", criterion="min", random_state=0).fit(X)
    figure = detector.plot_history()
    assert [axes.get_ylabel() for axes in figure.axes] == ["criterion", "radius", "duality gap"]
    for axes, name in zip(figure.axes[:2], ("criterion", "radius"), strict=True):
        curve, circle = axes.lines
        assert_allclose(curve.get_ydata(), [record[name] for record in detector.history_])
        assert circle.get_xdata()[0] == detector.best_iteration_
    assert figure.axes[2].get_yscale() == "log"


def test_one_axes_gets_criterion_and_radius(detector):
    figure = Figure()
    assert detector.plot_history(figure.subplots()) is figure
    assert [axes.get_ylabel() for axes in figure.axes] == ["criterion", "radius"]


def test_a_single_iterate_without_a_gap_is_drawn(X):
    SVDD(kernel="linear", C=1.0).fit(X).plot_history().savefig(BytesIO())


def test_another_number_of_axes_is_refused(detector):
    with pytest.raises(ValueError, match=r"^ax must be one Axes or three, for criterion, radius and gap, got 2$"):
        detector.plot_history(Figure().subplots(1, 2))


# Imports --------------------------------------------------------------------------------------------------------------


def test_fitting_and_explaining_do_not_import_matplotlib():
    code = (
        "import sys, pyod.models.base, numpy as np; before = set(sys.modules); from pyod_gessvdd import GESSVDD; "
        "X = np.random.default_rng(0).normal(size=(30, 2)); GESSVDD(kernel='linear').fit(X).explain(X); "
        "print('matplotlib' in set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
