"""Detectors that PyOD does not have."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.detectors.baselines import DTENP, EIF
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors

X = np.random.default_rng(0).normal(size=(60, 3))
NEW = np.random.default_rng(1).normal(size=(20, 3)) * 2


def test_dte_np_is_the_mean_squared_distance_to_the_nearest_neighbours():
    detector = DTENP(n_neighbors=4).fit(X)
    nearest = np.sort(cdist(NEW, X) ** 2, axis=1)[:, :4]
    np.testing.assert_allclose(detector.decision_function(NEW), nearest.mean(axis=1))
    own = np.sort(cdist(X, X) ** 2, axis=1)[:, 1:5]
    np.testing.assert_allclose(detector.decision_scores_, own.mean(axis=1), atol=1e-12)
    assert detector.labels_.sum() == 6


def test_few_rows_have_fewer_neighbours():
    assert np.isfinite(DTENP().fit(X[:3]).decision_function(NEW)).all()


@pytest.mark.parametrize("spec", ["dte-np", "DTENP", "dte_np"])
def test_it_is_found_by_name(spec):
    (detector,) = resolve_detectors(spec)
    assert (detector.name, type(detector.build())) == ("DTE-NP", DTENP)


def test_without_isotree_eif_names_the_extra_and_is_left_out_of_the_group(monkeypatch):
    monkeypatch.setitem(sys.modules, "isotree", None)
    sentence = r"EIF needs isotree, .*pip install 'pyod-gessvdd\[bench\]'"
    with pytest.raises(ComparisonError, match=sentence):
        EIF()
    with pytest.raises(ComparisonError, match=sentence):
        resolve_detectors("eif")


def test_eif_scores_far_rows_higher():
    pytest.importorskip("isotree", reason="needs the extra bench")
    detector = EIF().fit(X)
    assert detector.decision_function(NEW + 9).min() > detector.decision_function(X).max()


def test_the_fields_group_has_what_recent_tables_have():
    names = [detector.name for detector in resolve_detectors("field")]
    assert {"KNN(method='mean')", "MCD", "DTE-NP", "LOF", "IForest"} <= set(names)
