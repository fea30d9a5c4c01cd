"""What the robust description promises: outliers do not hide, predict agrees with the labels, far rows are flagged."""

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from pyod.models.knn import KNN
from pyod.utils.data import generate_data
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score

from pyod_gessvdd import GESSVDD


def gessvdd(**params):
    return GESSVDD(**{"random_state": 0, **params})


def contaminated(n_rows=120, n_columns=6, n_outliers=8, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    X[:n_outliers] += 5
    return X


def with_duplicates():
    """250 copies of 60 rows, and ten outliers."""
    random = np.random.default_rng(0)
    return np.vstack([random.normal(size=(60, 4))[random.integers(0, 60, 250)], random.normal(5, 1, size=(10, 4))])


def by_pyod(seed=0):
    return generate_data(n_train=300, n_test=10, contamination=0.1, random_state=seed)[0]


# predict and labels_ --------------------------------------------------------------------------------------------------

DATA = {
    "PyOD's example": by_pyod,
    "PyOD's example, another seed": lambda: by_pyod(7),
    "many duplicates": with_duplicates,
    "integers": lambda: np.random.default_rng(0).integers(0, 4, size=(300, 3)).astype(float),
    "wine": lambda: load_wine().data,
    "breast cancer": lambda: load_breast_cancer().data[:300],
    "heavy tails": lambda: np.random.default_rng(0).standard_t(2, size=(250, 8)),
    "more columns than rows": lambda: np.random.default_rng(0).normal(size=(100, 150)),
}


@pytest.mark.parametrize("rows", DATA.values(), ids=DATA)
def test_predict_on_the_training_rows_gives_their_labels(rows):
    X = rows()
    detector = gessvdd().fit(X)
    assert_array_equal(detector.predict(X), detector.labels_)
    assert detector.labels_.sum() >= 0.07 * len(X)  # equal rows are labelled together: a group may be too large
    assert not detector.labels_[detector.trusted_].any()


def test_a_row_that_is_not_trusted_scores_as_the_new_row_that_it_is():
    X = contaminated()
    detector = gessvdd().fit(X)
    others = ~detector.trusted_
    assert_array_equal(detector.decision_scores_[others], detector.decision_function(X[others]))
    assert (detector.decision_scores_[~others] > detector.decision_function(X[~others])).all()


# Planted groups -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_columns", "n_planted", "shift"),
    [(5, 2, 5), (5, 10, 10), (20, 5, 5), (100, 2, 10), (100, 10, 100), (300, 2, 5), (300, 10, 30)],
)
def test_a_planted_group_is_found_as_well_as_by_neighbours(n_columns, n_planted, shift):
    X = np.random.default_rng(0).normal(size=(150, n_columns))
    X[:n_planted] += shift
    is_outlier = np.arange(150) < n_planted
    found = roc_auc_score(is_outlier, gessvdd().fit(X).decision_scores_)
    assert found >= roc_auc_score(is_outlier, KNN().fit(X).decision_scores_) - 0.02


# Many columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("novelty", [False, True])
@pytest.mark.parametrize(("n_rows", "n_columns"), [(50, 100), (100, 300)])
def test_about_a_tenth_of_fresh_normal_rows_is_flagged(n_rows, n_columns, novelty):
    shares = []
    for seed in range(20):
        random = np.random.default_rng(1000 + seed)
        detector = gessvdd(novelty=novelty).fit(random.normal(size=(n_rows, n_columns)))
        shares.append(detector.predict(random.normal(size=(200, n_columns))).mean())
    assert 0.05 <= np.mean(shares) <= 0.15


@pytest.mark.parametrize("novelty", [False, True])
@pytest.mark.parametrize("threshold", ["contamination", "radius"])
def test_far_rows_are_flagged_in_every_column_and_in_one(threshold, novelty):
    random = np.random.default_rng(0)
    detector = gessvdd(threshold=threshold, novelty=novelty).fit(random.normal(size=(200, 50)))
    rows = random.normal(size=(20, 50))
    for distance in (1e2, 1e6):
        for sign in (-1, 1):
            assert detector.predict(rows + sign * distance).all()
            assert detector.predict(rows + sign * distance * np.eye(50)[3]).all()


# Clean rows -----------------------------------------------------------------------------------------------------------


def test_declared_clean_all_rows_are_trusted():
    detector = gessvdd(novelty=True).fit(contaminated())
    assert detector.trusted_.all()
    assert detector.trust_history_ == []


def test_by_default_a_tenth_or_more_is_not_trusted_and_the_history_tells_how():
    detector = gessvdd().fit(contaminated())
    assert not detector.trusted_[:8].any()
    assert 0.8 <= detector.trusted_.mean() <= 0.9
    assert detector.trust_history_[-1]["n_trusted"] >= detector.trusted_.sum()


def test_a_narrower_description_of_clean_rows_scores_far_rows_higher():
    X = np.random.default_rng(0).normal(size=(200, 5))
    far = {novelty: gessvdd(novelty=novelty).fit(X) for novelty in (False, True)}
    ratio = {novelty: d.decision_function(np.full((1, 5), 20.0)) / d.threshold_ for novelty, d in far.items()}
    assert ratio[True] > ratio[False]


@pytest.mark.parametrize("trim", [0.05, 0.2, 0.4])
def test_a_share_that_is_trimmed_is_at_least_left_out(trim):
    assert (~gessvdd(trim=trim).fit(contaminated()).trusted_).mean() >= trim


@pytest.mark.parametrize("trim", [None, 0, 0.0])
def test_without_trimming_all_rows_are_trusted(trim):
    assert gessvdd(trim=trim).fit(contaminated()).trusted_.all()


def test_rows_that_are_not_trusted_hardly_matter_to_the_others():
    # Neither a scaling nor a width that is learnt from all rows.
    X = contaminated()
    moved = X.copy()
    moved[:8] *= 10  # the planted ones, farther still
    first, second = (gessvdd(kernel="rbf", gamma=0.1, standardize=False).fit(rows) for rows in (X, moved))
    assert not first.trusted_[:8].any()
    assert_array_equal(first.trusted_, second.trusted_)
    trusted = first.trusted_
    assert_allclose(second.decision_function(X[trusted]), first.decision_function(X[trusted]), rtol=0.01)
    # Where they were they count a little, and less than would make them inliers.
    assert (first.decision_function(X[:8]) < second.decision_function(X[:8])).all()
    assert (first.decision_function(X[:8]) > first.threshold_).all()


# Labels, scores and the sphere ----------------------------------------------------------------------------------------

SETTINGS = list(product(["contamination", "radius"], [True, False], [False, True], ["all", 2]))


@pytest.mark.parametrize(("threshold", "residual", "novelty", "n_components"), SETTINGS)
def test_labels_are_the_scores_above_the_threshold(threshold, residual, novelty, n_components):
    detector = gessvdd(threshold=threshold, residual=residual, novelty=novelty, n_components=n_components)
    detector.fit(contaminated())
    assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)


@pytest.mark.parametrize("nu", [0.05, 0.1, 0.23, 0.5, 1.0])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"novelty": True},
        {"n_components": 2},
        {"kernel": "linear"},
        {"n_components": 2, "residual": False, "kernel": "linear"},
        {"laplacian": "none"},
        {"trim": 0.3},
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [contaminated, with_duplicates])
def test_nu_lies_between_the_rows_outside_and_the_support(rows, params, nu):
    detector = gessvdd(nu=nu, **params).fit(rows())
    share = nu * detector.trusted_.sum()
    assert len(detector.outside_) <= share * (1 + 1e-9)
    assert share * (1 - 1e-9) <= len(detector.support_)
    assert detector.trusted_[detector.support_].all()
    assert np.isin(detector.outside_, detector.support_).all()
    assert detector.alpha_.sum() == pytest.approx(1.0)


# Explanations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["mixed", "rbf", "linear", "laplacian"])
def test_the_explanation_of_a_training_row_adds_up_to_its_score(kernel):
    X = contaminated()
    detector = gessvdd(kernel=kernel).fit(X)
    rows = np.r_[0:12]
    assert detector.trusted_[rows].any()
    assert not detector.trusted_[rows].all()
    contributions, base = detector.explain(X[rows], return_base=True)
    assert_allclose(contributions.sum(axis=1) + base, detector.decision_function(X[rows]), rtol=1e-9)


# The criterion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("laplacian", ["identity", "pca", "knn"])
@pytest.mark.parametrize("updater", ["riemannian", "newton", "spectral"])
@pytest.mark.parametrize("ridge", [0.0, 1e-6])
def test_without_residual_and_ridge_the_criterion_does_not_fall(updater, laplacian, ridge):
    random = np.random.default_rng(0)
    X = contaminated() @ random.normal(size=(6, 6))
    detector = gessvdd(
        residual=False,
        criterion="max",
        updater=updater,
        laplacian=laplacian,
        n_components=3,
        kernel="linear",
        ridge=ridge,
        n_iter=8,
    ).fit(X)
    criterion = np.array([entry["criterion"] for entry in detector.history_])
    assert len(criterion) == 9
    # What the update does not know of the ridge is as small as the ridge squared.
    assert (np.diff(criterion) >= -1e-9 * criterion[1:]).all()
    assert criterion[-1] > criterion[0]


# A given laplacian ----------------------------------------------------------------------------------------------------


def chain(n_rows):
    """The Laplacian of a chain of rows, each linked to the next."""
    W = sp.diags_array([np.ones(n_rows - 1)] * 2, offsets=[-1, 1])
    return (sp.diags_array(W.sum(axis=1)) - W).tocsr()


@pytest.mark.parametrize("dense", [True, False])
def test_a_given_laplacian_loses_the_rows_that_are_not_trusted(dense):
    X = contaminated()
    L = chain(len(X)).toarray() if dense else chain(len(X))
    detector = gessvdd(laplacian=L, n_components=3, kernel="linear", trim=0.2).fit(X)
    assert (~detector.trusted_).mean() >= 0.2
    assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    assert np.isfinite(detector.decision_scores_).all()
    assert_array_equal(detector.decision_scores_[~detector.trusted_], detector.decision_function(X[~detector.trusted_]))


def test_a_given_laplacian_of_rows_without_weight_is_that_of_the_others():
    X = contaminated()
    # Two chains: rows of weight zero have no edge to the others, and can be left out of the matrix.
    weights = np.r_[np.zeros(20), np.ones(100)]
    L = sp.block_diag([chain(20), chain(100)]).tocsr()
    params = {"n_components": 3, "kernel": "linear", "trim": None}
    whole = gessvdd(laplacian=L, **params).fit(X, sample_weight=weights)
    part = gessvdd(laplacian=chain(100), **params).fit(X[20:])
    assert_array_equal(whole.trusted_, weights > 0)
    assert_allclose(whole.decision_scores_[20:], part.decision_scores_, rtol=1e-9)
    assert_allclose(whole.decision_scores_[:20], part.decision_function(X[:20]), rtol=1e-9)


# Weights --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [1.0, 12.0, 60.0])
@pytest.mark.parametrize("n_components", ["all", 2])
def test_relative_weights_that_are_all_equal_say_nothing(total, n_components):
    X = contaminated()
    plain = gessvdd(n_components=n_components).fit(X)
    weighted = gessvdd(n_components=n_components).fit(X, sample_weight=np.full(len(X), total / len(X)))
    assert_array_equal(weighted.trusted_, plain.trusted_)
    assert_allclose(weighted.decision_scores_, plain.decision_scores_, rtol=1e-7)
    assert_array_equal(weighted.labels_, plain.labels_)


def test_half_weights_and_double_weights_leave_no_score_without_bounds():
    X = contaminated()
    weights = np.where(np.arange(len(X)) % 2, 0.5, 2.0)
    detector = gessvdd().fit(X, sample_weight=weights)
    assert not detector.trusted_[:8].any()
    inside = detector.decision_scores_[detector.trusted_]
    assert inside.max() < 10 * np.median(inside)


# Order, batches, copies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"novelty": True}, {"threshold": "radius"}, {"kernel": "linear"}], ids=str)
@pytest.mark.parametrize("rows", [contaminated, with_duplicates])
def test_the_order_of_the_rows_does_not_matter(rows, params):
    X = rows()
    order = np.random.default_rng(1).permutation(len(X))
    first, second = gessvdd(**params).fit(X), gessvdd(**params).fit(X[order])
    assert_array_equal(second.trusted_, first.trusted_[order])
    assert_allclose(second.decision_scores_, first.decision_scores_[order], rtol=1e-8)
    assert_allclose(second.decision_function(X), first.decision_function(X), rtol=1e-8)
    assert_array_equal(second.labels_, first.labels_[order])


def test_the_order_of_the_columns_does_not_matter():
    X = contaminated()
    order = np.random.default_rng(1).permutation(6)
    first, second = gessvdd().fit(X), gessvdd().fit(X[:, order])
    assert_allclose(second.decision_scores_, first.decision_scores_, rtol=1e-9)


def test_columns_that_are_all_doubled_change_nothing():
    X = contaminated(n_columns=3)  # few enough for the training rows to stay in the scaling either way
    first, second = gessvdd(standardize="signed_log").fit(X), gessvdd(standardize="signed_log").fit(np.hstack([X, X]))
    assert_allclose(second.decision_scores_, first.decision_scores_, rtol=1e-9)


@pytest.mark.parametrize("rows", [contaminated, with_duplicates])
def test_equal_rows_have_equal_scores_and_labels(rows):
    X = np.vstack([rows(), rows()[::3]])
    detector = gessvdd().fit(X)
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    for values in (detector.decision_scores_, detector.labels_, detector.trusted_):
        assert_array_equal(values, values[first][place.ravel()])


@pytest.mark.parametrize("params", [{}, {"novelty": True}, {"laplacian": "none"}, {"n_components": 3}], ids=str)
def test_a_rows_score_does_not_depend_on_its_batch(params):
    X = contaminated()
    detector = gessvdd(**params).fit(X)
    rows = np.random.default_rng(1).normal(size=(1200, 6))
    whole = detector.decision_function(rows)
    for batch in (slice(0, 1), slice(5, 40), slice(900, 1200)):
        assert_array_equal(detector.decision_function(rows[batch]), whole[batch])


@pytest.mark.parametrize("params", [{}, {"novelty": True}, {"laplacian": "none"}, {"n_components": 3}], ids=str)
def test_a_copy_by_pickle_gives_the_same_bits(params):
    X = contaminated()
    detector = gessvdd(**params).fit(X)
    copy = pickle.loads(pickle.dumps(detector))
    assert_array_equal(copy.decision_function(X), detector.decision_function(X))
    assert_array_equal(copy.predict(X), detector.predict(X))
    assert_array_equal(copy.transform(X[:5]), detector.transform(X[:5]))
    assert_array_equal(copy.trusted_, detector.trusted_)
    assert copy.trust_history_ == detector.trust_history_
