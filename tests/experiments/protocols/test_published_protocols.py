"""The protocols of PyOD's benchmark and of DTE, row by row as their authors wrote them."""

from __future__ import annotations

import numpy as np
import pytest
from pyod.utils.utility import standardizer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pyod_gessvdd.experiments.data.datasets import resolve_datasets
from pyod_gessvdd.experiments.protocols import protocols_of


def dataset(n_normal, n_outliers):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_normal + n_outliers, 3)), np.repeat([0, 1], [n_normal, n_outliers])
    order = rng.permutation(len(y))
    (found,) = resolve_datasets({"toy": (X[order], y[order])})
    return found


def split(found, setting, seed):
    (protocol,) = protocols_of(setting)
    (parts,) = protocol.splits(found, seed)
    return parts


def test_pyods_split_is_its_benchmarks_and_the_true_share_is_the_contamination():
    found = dataset(150, 30)
    parts = split(found, "pyod", 3)
    train, test, _, labels = train_test_split(*found.arrays(), test_size=0.4, random_state=np.random.RandomState(3))
    expected = standardizer(train, test)
    assert np.array_equal(parts.train, expected[0])
    assert np.array_equal(parts.test, expected[1])
    assert np.array_equal(parts.labels, labels)
    assert parts.contamination == pytest.approx(30 / 180)


def test_dte_trains_on_the_first_half_of_the_normal_rows_in_the_order_of_the_file():
    found = dataset(1000, 100)
    X, y = found.arrays()
    parts = split(found, "dte_semi", 1)
    normal = X[y == 0]
    scaler = StandardScaler().fit(normal[:500])
    assert np.array_equal(parts.train, scaler.transform(normal[:500]))
    assert np.array_equal(parts.test, scaler.transform(np.vstack([normal[500:], X[y == 1]])))
    assert parts.labels.tolist() == [0] * 500 + [1] * 100
    # Nothing is drawn for sets between 1,000 and 50,000 rows.
    assert np.array_equal(split(found, "dte_semi", 2).train, parts.train)


def test_small_sets_are_drawn_up_to_a_thousand_rows_as_adbench_does():
    found = dataset(150, 30)
    rows = np.random.RandomState(4).choice(np.arange(180), 1000, replace=True)
    _, y = found.arrays()
    parts = split(found, "dte_semi", 4)
    assert len(parts.train) + len(parts.test) == 1000
    assert parts.labels.sum() == y[rows].sum()
    assert parts.duplicates > 0


def test_large_sets_are_drawn_down_to_fifty_thousand():
    parts = split(dataset(59_000, 1_500), "dte_semi", 0)
    assert len(parts.train) + len(parts.test) == 50_000


def test_unsupervised_trains_on_a_bootstrap_of_the_rows_that_are_judged():
    found = dataset(1000, 100)
    X, y = found.arrays()
    parts = split(found, "dte_unsupervised", 0)
    assert np.array_equal(parts.test, StandardScaler().fit_transform(X))
    assert np.array_equal(parts.labels, y)
    kinds = {row.tobytes() for row in parts.train}
    assert len(parts.train) == 1100
    assert 0.6 < len(kinds) / 1100 < 0.67
    assert kinds <= {row.tobytes() for row in parts.test}
