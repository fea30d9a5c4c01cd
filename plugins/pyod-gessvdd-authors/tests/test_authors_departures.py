"""Each departure is what the list says, compared with the paper's own component."""

import re

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.experiments.detectors.paper.fitted import AS_WRITTEN, fit_grid
from pyod_gessvdd.experiments.detectors.paper.spheres import solve_spheres
from pyod_gessvdd_authors import AuthorsBetween, AuthorsKNN, AuthorsRBF
from pyod_gessvdd_authors.departures import DEPARTURES, setup
from pyod_gessvdd_authors.spheres import solve_until_libsvm_stops

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 4)) @ RANDOM.normal(size=(4, 4)) + 2.0
TEST = RANDOM.normal(size=(30, 4)) + 2.0
POINTS = [{"C": C, "n_components": d} for C in (0.1, 0.3) for d in (1, 2)]


def test_authors_knn_links_farthest_points():
    Phi = np.array([[0.0], [1.0], [2.5], [10.0]])
    L = AuthorsKNN(n_neighbors=1).build(Phi, 0).toarray()
    # The farthest point is the last one for all others, and the first one for the last.
    assert (L == [[1, 0, 0, -1], [0, 1, 0, -1], [0, 0, 1, -1], [-1, -1, -1, 3]]).all()


def test_authors_between_is_n_times_the_scatter_between_clusters():
    groups = np.repeat([0, 1, 2], [10, 6, 4])
    Phi = RANDOM.normal(scale=0.01, size=(20, 2)) + 10.0 * np.eye(3)[groups][:, :2]
    scatter = AuthorsBetween(n_clusters=3).build(Phi, 0).scatter(Phi)
    means = np.array([Phi[groups == group].mean(axis=0) - Phi.mean(axis=0) for group in range(3)])
    expected = (means.T * [10, 6, 4]) @ means
    np.testing.assert_allclose(scatter, 20 * expected)


def test_authors_rbf_has_a_width_in_mean_squared_distances():
    kernel = AuthorsRBF(sigma=3.0)
    kernel.fit(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel.gram(X, X), np.exp(-squares / (2 * 9.0 * squares.mean())))


def test_eigenvalues_below_an_absolute_1e_6_are_dropped():
    points = [{"C": 0.3, "n_components": 2}]
    for factor, left in ((1.0, 2), (1e-5, 0)):
        # In a unit where all eigenvalues of S_α are below 1e-6, no update is possible, and the start stays.
        found = fit_grid("0-S-max", factor * X, points, 0, setup(["eigenvalues"]))
        as_written = fit_grid("0-S-max", factor * X, points, 0)
        assert [len(part.projection[0]) for part in as_written.fits.iterates[-1]] == [2]
        start, end = found.fits.iterates[0][0], found.fits.iterates[-1][0]
        assert np.allclose(start.projection, end.projection) == (left == 0)


@pytest.mark.parametrize("variant", ["kNN-GR-min", "Sb-S-max", "kNN-SR-max", "PCA-GR-max"])
def test_a_grid_with_departures_is_the_detector_with_their_components(variant):
    names = ["farthest", "sb_times_n", "uncentred", "thrown_away", "eigenvalues"]
    found = fit_grid(variant, X, POINTS, 5, setup(names))
    accepted = found.accept(TEST)
    parts = GESSVDD.from_variant(variant).get_params(deep=False)
    ours = {
        "knn": "authors_knn",
        "between": "authors_between",
        "spectral": "authors_spectral",
        "spectral_regression": "authors_spectral_regression",
    }
    given = {name: ours.get(parts[name], parts[name]) for name in ("laplacian", "updater")}
    for place, point in enumerate(POINTS):
        alone = GESSVDD.from_variant(variant, center=False, n_iter=4, random_state=5, **given, **point).fit(X)
        assert (accepted[place] == (alone.predict(TEST) == 0)).all()


def test_libsvm_ends_at_the_solution_when_it_may_go_on():
    stack, C = RANDOM.normal(size=(5, 30, 3)), np.array([0.1, 0.15, 0.2, 0.5, 1.0])
    solved, left = solve_spheres(stack, C), solve_until_libsvm_stops(stack, C, stops_at=1e-12)
    np.testing.assert_allclose(left.center, solved.center, atol=1e-8)
    has_free = ((left.alpha > 0) & (left.alpha < C[:, None])).any(axis=1)
    np.testing.assert_allclose(left.radius2[has_free], solved.radius2[has_free], rtol=1e-8)


def test_libsvm_stops_where_it_begins_if_the_points_are_small():
    Z = 1e-2 * RANDOM.normal(size=(1, 20, 2))
    left = solve_until_libsvm_stops(Z, np.array([0.3]))
    np.testing.assert_allclose(left.alpha[0], [0.3, 0.3, 0.3, 0.1, *np.zeros(16)], atol=1e-12)
    np.testing.assert_allclose(left.center[0], left.alpha[0] @ Z[0])
    assert left.radius2[0] == pytest.approx(((Z[0, 3] - left.center[0]) ** 2).sum())
    whole = solve_until_libsvm_stops(Z, np.array([0.25]))
    distances = ((Z[0] - whole.center[0]) ** 2).sum(axis=1)
    assert whole.radius2[0] == pytest.approx(distances[4:].max()), "no α is free: the interval's lower end"
    middle = solve_until_libsvm_stops(Z, np.array([0.25]), middle=True)
    assert middle.radius2[0] == pytest.approx((distances[4:].max() + distances[:4].min()) / 2)


def test_nothing_departs_unless_it_is_named():
    assert setup([]) == AS_WRITTEN
    whole = setup(["all"])
    assert (whole.init, whole.center, whole.n_iter) == ("random", False, 4)
    assert whole.components.keys() == {"knn", "between", "spectral", "spectral_regression"}
    names = re.escape(f"unknown departure 'nearest'; there are {', '.join(DEPARTURES)} and all")
    with pytest.raises(ValueError, match=names):
        setup(["nearest"])


@pytest.mark.parametrize(
    ("component", "rows", "sentence"),
    [
        (AuthorsKNN(n_neighbors=9), X[:5], "authors_knn needs 1 ≤ n_neighbors < 5 samples, got 9"),
        (AuthorsKNN(), np.zeros((5001, 1)), "authors_knn holds all distances at once and is limited to 5000 rows"),
        (AuthorsBetween(n_clusters=1), X, "authors_between needs 2 ≤ n_clusters ≤ 40 samples, got 1"),
        (AuthorsBetween(), np.ones((9, 2)), "authors_between needs at least 2 distinct samples"),
    ],
)
def test_what_cannot_be_is_said(component, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        component.build(rows, 0)


def test_a_width_must_be_positive_and_the_regression_knows_no_weights():
    with pytest.raises(ValueError, match="sigma must be positive, got -1"):
        AuthorsRBF(sigma=-1).fit(X)
    regression = GESSVDD(laplacian="knn", updater="authors_spectral_regression", kernel="linear", n_components=2)
    with pytest.raises(ValueError, match="knows no sample weights"):
        regression.fit(X, sample_weight=np.arange(1.0, 41.0))
