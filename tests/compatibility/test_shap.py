"""SHAP: its model-free explainer finds the contributions that we compute in closed form for the linear kernel."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD, SVDD
from tests.compatibility.packages import real


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "detector",
    [
        SVDD(kernel="linear"),
        GESSVDD(kernel="linear", standardize=True, residual=False, n_components=3, novelty=True, random_state=0),
    ],
    ids=["SVDD", "GESSVDD"],
)
def test_shap_agrees_with_our_contributions_of_a_linear_kernel(detector, X):
    shap = real("shap")
    detector.fit(X)
    new = 2 * np.random.default_rng(1).normal(size=(5, X.shape[1]))
    # Our reference is the sphere's centre, the mean of the rows weighted by α.
    explainer = shap.KernelExplainer(detector.decision_function, detector.alpha_[None] @ X)
    np.testing.assert_allclose(explainer.shap_values(new, silent=True), detector.explain(new), atol=1e-10)
