"""The table of the family: its page is current, every line runs, and nothing public is missing in it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from pyod.models.base import BaseDetector
from pyod.models.ocsvm import OCSVM
from sklearn.datasets import load_iris

import pyod_gessvdd
from pyod_gessvdd.detectors.members import METHODS, updated

PAGE = Path(__file__).parents[2] / "docs" / "family.md"
NAMESPACE = {"OCSVM": OCSVM, **{name: getattr(pyod_gessvdd, name) for name in pyod_gessvdd.__all__}}

#: Their score measures distance inside a subspace in which, with these few rows and this kernel, far rows come near.
NOT_RANKED = ("NS-SVDD (Newton)", "MS-SVDD with composite kernels")


def test_the_page_is_what_the_table_says():
    page = PAGE.read_text(encoding="utf-8")
    assert page == updated(page), "run python -m pyod_gessvdd.detectors.members docs/family.md"
    for method in METHODS:
        assert page.count(f"| {method.name} | {method.paper} | `{method.code}` | {method.note} |\n") == 1


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_fits_and_scores(method):
    X = load_iris().data[50:100]
    labels = np.where(np.arange(50) % 17 == 3, 1, -1)
    detector = eval(method.code, dict(NAMESPACE))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(subspace has|sees no scatter)")
        detector.fit(X, labels if "use_labels" in method.code else None)
    scores = detector.decision_function(load_iris().data)
    assert np.isfinite(scores).all()
    if method.name not in NOT_RANKED:
        assert np.median(scores[:50]) > np.median(scores[50:100])  # another species


def test_every_public_detector_is_in_the_table():
    public = {name for name in pyod_gessvdd.__all__ if isinstance(NAMESPACE[name], type)}
    detectors = {name for name in public if issubclass(NAMESPACE[name], BaseDetector)}
    assert {name for name in detectors if any(method.code.startswith(name) for method in METHODS)} == detectors


def test_names_are_given_once():
    names = [method.name for method in METHODS]
    assert len(set(names)) == len(names)
    assert all(method.note.endswith(".") for method in METHODS)
