"""The sphere of a source is the sphere of its points, whatever the bound, the unit and the shape of the points."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd.qp.frank_wolfe import FrankWolfe
from pyod_gessvdd.sources import ArraySource
from pyod_gessvdd.streamed import sphere

N = 30_000


def solved(X, C, points_of=lambda block: (block, None), **params):
    source = ArraySource(X, 5000)
    return sphere.solve(source, points_of, C, sphere.sample_of(source), FrankWolfe(**params), 1e-8)


def points(kind):
    random = np.random.default_rng(0)
    return {
        "normal": random.normal(size=(N, 5)),
        "skewed and far": 1e3 + random.exponential(size=(N, 5)),
        "two groups": random.normal(size=(N, 5)) + 4 * random.integers(0, 2, size=(N, 1)),
        "few distinct": random.integers(0, 4, size=(N, 3)).astype(float),
        "sorted": np.sort(random.normal(size=(N, 5)), axis=0),
        "heavy tails": random.standard_cauchy(size=(N, 2)),
    }[kind]


@pytest.mark.parametrize("n_outside", [1, 20, 300, N // 10, N - 1])
@pytest.mark.parametrize("kind", ["normal", "skewed and far", "two groups", "few distinct", "sorted", "heavy tails"])
def test_the_sphere_is_that_of_all_points(kind, n_outside):
    X = points(kind)
    found, expected = solved(X, 1 / n_outside), solve_svdd(X, C=1 / n_outside)
    scale = np.sqrt(expected.radius2)
    np.testing.assert_allclose(found.center, expected.center, atol=1e-7 * scale)
    assert found.radius2_interval == pytest.approx(expected.radius2_interval, rel=1e-7)
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    assert found.gap <= 1e-8


def test_residuals_are_part_of_the_distance():
    X = points("normal")
    residual2 = X[:, 4] ** 2
    found = solved(X, 1e-3, lambda block: (block[:, :4], block[:, 4] ** 2))
    expected = solve_svdd(X[:, :4], C=1e-3, residual2=residual2)
    assert found.radius2 == pytest.approx(expected.radius2, rel=1e-9)
    distances = ((X[:, :4] - found.center) ** 2).sum(axis=1) + residual2
    alpha = np.concatenate([found.alpha_of(distances[rows], rows) for rows in np.split(np.arange(N), 30)])
    np.testing.assert_allclose(alpha, expected.alpha, atol=1e-10)
    assert found.n_support == len(expected.support)


def test_few_points_leave_their_blocks():
    random = np.random.default_rng(0)
    found = solved(random.normal(size=(400_000, 5)), 1 / 40_000)
    assert found.extras["n_shell"] <= 50_000
    # The sample's centre, the centre that the difference from it gives, and the certificate.
    assert found.extras["n_passes"] == 3


def test_a_gap_that_is_too_large_is_told():
    with pytest.warns(
        ConvergenceWarning, match="the sphere of a source was found to a relative duality gap of .*, abov"
    ):
        solved(points("two groups"), 1 / 20, max_iter=1)
