"""Warnings point at the line that called into the package, however deep inside the reason was found."""

import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd import GESSVDD, GESVM, MSSVDD, errors
from pyod_gessvdd.boundaries import half_space

X = np.random.default_rng(0).normal(size=(60, 4))
DEPENDENT = np.column_stack([X[:, :2], X[:, :2], X[:, 2:]])


def warned(function, *args, **kwargs):
    """The one warning of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args, **kwargs)
    (warning,) = caught
    return warning


def test_a_warning_of_the_helper_is_about_the_line_that_calls_the_package():
    warning = warned(errors.warn, "look", ConvergenceWarning)
    assert warning.filename == __file__
    assert warning.category is ConvergenceWarning
    assert str(warning.message) == "look"


def test_a_detectors_warning_is_about_the_line_that_fits_it():
    # The reason is found in the start of Algorithm 1, three calls inside.
    detector = GESSVDD(kernel="linear", n_components=5)
    warning = warned(detector.fit, DEPENDENT)
    assert "n_components=5, but the features vary in only 4 of 6 directions" in str(warning.message)
    assert warning.filename == __file__
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert source[warning.lineno - 1] == "        function(*args, **kwargs)"


def test_a_warning_of_a_boundary_is_about_the_line_that_fits(monkeypatch):
    monkeypatch.setattr(half_space, "ALLOWED_GAP", -1.0)
    warning = warned(GESVM().fit, X + 9.0)
    assert "LIBSVM stopped at a relative duality gap" in str(warning.message)
    assert warning.filename == __file__


def test_a_multimodal_detectors_warning_is_about_the_line_that_fits_it():
    detector = MSSVDD(modalities=[[0, 1, 2], [3, 4, 5]], n_components=3, n_iter=0)
    warning = warned(detector.fit, np.column_stack([DEPENDENT[:, :3], X[:, :3]]))
    assert "the features of modality 0 vary in only 2 of 3 directions" in str(warning.message)
    assert warning.filename == __file__


def test_a_clones_warning_is_about_the_line_that_fits_it_too():
    assert warned(clone(GESSVDD(kernel="linear", n_components=5)).fit, DEPENDENT).filename == __file__


def test_a_package_whose_name_begins_like_ours_is_no_part_of_it():
    path = str(Path(errors.__file__).parent.with_name("pyod_gessvdd_graphs") / "module.py")
    namespace = {}
    exec(compile("def call(function, *args):\n    function(*args)\n", path, "exec"), namespace)
    assert warned(namespace["call"], GESSVDD(kernel="linear", n_components=5).fit, DEPENDENT).filename == path
