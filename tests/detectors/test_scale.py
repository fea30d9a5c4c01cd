"""No N × N array on the linear path: every graph × updater at N = 50,000 under a memory cap."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD

N, D = 50_000, 20
#: 7.5 times the input; one N × N array of float64 would be 1,000 times the input.
BYTES_PER_VALUE = 60

PAIRS = [
    (laplacian, updater)
    for laplacian in ("none", "identity", "pca", "within", "between", "knn")
    for updater in ("gradient", "spectral", "spectral_regression")
    if (laplacian, updater) != ("none", "spectral_regression")
]


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(0)
    # Ten intrinsic dimensions in twenty columns keep the neighbour search quick.
    return random.normal(size=(N, 10)) @ random.normal(size=(10, D)) + 0.1 * random.normal(size=(N, D))


@pytest.mark.parametrize("bound", [{"C": 0.02}, {"nu": 0.1}], ids=["C=0.02", "nu=0.1"])
@pytest.mark.parametrize(("laplacian", "updater"), PAIRS)
def test_no_array_grows_with_the_square_of_the_samples(X, laplacian, updater, bound):
    detector = GESSVDD(
        kernel="linear",
        laplacian=laplacian,
        updater=updater,
        n_components=3,
        n_iter=1,
        random_state=0,
        **bound,
    )
    tracemalloc.start()
    try:
        detector.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < BYTES_PER_VALUE * N * D
    assert np.isfinite(detector.decision_scores_).all()
    assert max(record["gap"] for record in detector.history_) <= 1e-8
