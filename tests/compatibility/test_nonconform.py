"""nonconform: its conformal wrapper takes the detector, which is frozen after ``fit`` as it asks."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD
from tests.compatibility.packages import real


def normal(count, seed):
    return np.random.default_rng(seed).normal(size=(count, 4))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="nonconform needs Python 3.12")
def test_nonconform_wraps_the_detector():
    nonconform = real("nonconform")
    new = np.vstack([normal(90, 1), 7.0 + normal(10, 2)])
    wrapped = nonconform.ConformalDetector(
        detector=GESSVDD(kernel="linear", novelty=True), strategy=nonconform.Split(n_calib=0.3), seed=0
    )
    wrapped.fit(normal(300, 0))
    p = np.asarray(wrapped.compute_p_values(new))
    assert p[90:].max() <= 0.05
    assert (p[:90] <= 0.05).mean() <= 0.15
    called = np.asarray(wrapped.select(new, alpha=0.1))
    assert called[90:].mean() >= 0.9
