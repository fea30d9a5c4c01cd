"""The QP: whatever the points, what a backend calls solved is solved, by exact rational arithmetic on α alone."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import NotSolvedError
from pyod_gessvdd.qp import solve_svdd
from tests.fuzz.profile import fuzzed

BACKENDS = ["auto", "frank_wolfe", "interior_point", "libsvm", "osqp"]
#: The relative error that the rounding of a certificate may have: some thousand units in the last place.
ROUNDING = 1e-11

coordinates = st.one_of(
    st.integers(-3, 3).map(float),  # ties, duplicates, points on a line
    st.floats(-10, 10),
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([1e-9, -1e-9, 1e9, 1e150, 1e-150, 1e-300, 5e-324]),
)
weights = st.one_of(st.integers(0, 3).map(float), st.floats(0, 10), st.sampled_from([1e-300, 1e-12, 1e9]))


@st.composite
def problems(draw):
    """Points, bounds, and a residual or none."""
    N, d = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    small = st.integers(-3, 3).map(float) if draw(st.booleans()) else coordinates
    Z = draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=N, max_size=N))
    bounds = draw(st.one_of(st.fixed_dictionaries({"nu": st.floats(0.01, 1.0)}), st.just({"C": 1.0})))
    if draw(st.booleans()) and "nu" in bounds:
        bounds["sample_weight"] = draw(st.lists(weights, min_size=N, max_size=N).filter(any))
    if draw(st.booleans()):
        bounds["residual2"] = draw(st.lists(st.floats(0, 100, width=32), min_size=N, max_size=N))
    return Z, bounds


def exact_certificate(Z, alpha, upper, residual2):
    """P(c) and D(α) at c = Σ α_i z_i / Σ α_i, as fractions: no rounding, no code of the package."""
    points = [[Fraction(float(value)) for value in row] for row in Z]
    alpha, upper = [Fraction(float(a)) for a in alpha], [Fraction(float(u)) for u in upper]
    total = sum(alpha)
    center = [sum(a * row[j] for a, row in zip(alpha, points, strict=True)) / total for j in range(len(points[0]))]
    squares = [
        sum((value - middle) ** 2 for value, middle in zip(row, center, strict=True)) + Fraction(float(r2))
        for row, r2 in zip(points, residual2, strict=True)
    ]
    dual = sum(a * square for a, square in zip(alpha, squares, strict=True)) / total
    primal, left = Fraction(0), Fraction(1)
    for square, bound in sorted(zip(squares, upper, strict=True), reverse=True):
        primal += square * min(bound, left)
        left -= min(bound, left)
    return primal, dual


@pytest.mark.parametrize("backend", BACKENDS)
@fuzzed(examples=40)
@given(problem=problems())
def test_what_is_called_solved_is_solved(backend, problem):
    Z, parameters = problem
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sphere = solve_svdd(Z, backend=backend, **parameters)
    except ValueError as error:
        assert "range of floating point" in str(error) or "must sum to at most" in str(error), error
        return
    except NotSolvedError:
        assert not resolve("qp_backend", backend).exact, "an exact backend gave up"
        return
    exact = resolve("qp_backend", backend).exact
    warned = [str(warning.message) for warning in caught if warning.category is ConvergenceWarning]
    assert len(caught) == len(warned), [str(warning.message) for warning in caught]
    assert sphere.alpha.min() >= 0
    assert (sphere.alpha <= sphere.upper * (1 + 1e-12)).all()
    assert sphere.alpha.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite([sphere.radius2, sphere.objective, *sphere.center]).all()
    primal, dual = exact_certificate(Z, sphere.alpha, sphere.upper, parameters.get("residual2", [0.0] * len(Z)))
    if primal:
        gap = float((primal - dual) / primal)
        assert gap <= sphere.gap + _allowed(Z, primal), f"gap {gap:.1e}, certified {sphere.gap:.1e}"
        if sphere.status == "solved" and exact:
            assert not warned
    if exact:
        assert sphere.is_optimal(), sphere


def _allowed(Z, primal):
    """What rounding may hide: points that lie far from the origin have lost the digits of their differences."""
    spacing = max(float(np.spacing(np.abs(np.array(Z)).max())), 1e-300)
    return 2e-8 if float(primal) == 0 else ROUNDING + 1e3 * spacing / float(primal) ** 0.5
