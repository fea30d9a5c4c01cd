"""Checks of the detectors' parameters: one sentence with the value given and what would be right."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Laplacian
from pyod_gessvdd.preprocessing import SCALINGS
from pyod_gessvdd.updaters.parameters import check_regulariser


def check_parameters(params: dict[str, Any]) -> None:
    """Raise a ``ValueError`` for the first parameter of :class:`~pyod_gessvdd.GESSVDD` that cannot be used.

    Components are checked when they are resolved, C and nu together with the number of samples.
    """
    _one_of(params, "criterion", "min", "max")
    _one_of(params, "threshold", "contamination", "radius")
    _one_of(params, "keep", "last", "best")
    if isinstance(params["init"], str) and params["init"] not in ("pca", "random"):
        _refuse("init must be 'pca', 'random' or an array of shape (d, F)", params["init"])
    n_components, n_iter = params["n_components"], params["n_iter"]
    if not _is_dimension(n_components):
        _refuse("n_components must be a positive integer or None, or 'all' for no subspace", n_components)
    if not (n_iter is None or (_is_integer(n_iter) and n_iter >= 0)):
        _refuse("n_iter must be an integer of at least 0, or None", n_iter)
    tol, ridge, trim = params["tol"], params["ridge"], params["trim"]
    if not (_is_real(tol) and 0 <= tol < np.inf):
        _refuse("tol must be a number of at least 0", tol)
    if not (ridge is None or (_is_real(ridge) and 0 <= ridge < np.inf)):
        _refuse("ridge must be a number of at least 0, or None", ridge)
    if not (trim is None or (isinstance(trim, str) and trim == "auto") or (_is_real(trim) and 0 <= trim <= 0.5)):
        _refuse("trim must be 'auto', None or a share of the rows from 0 to 0.5", trim)
    for name in ("step_size", "qp_tol"):
        if not (_is_real(params[name]) and 0 < params[name] < np.inf):
            _refuse(f"{name} must be a positive number", params[name])
    if not (_is_real(params["feature_beta"]) and 0 <= params["feature_beta"] < np.inf):
        _refuse("feature_beta must be a number of at least 0", params["feature_beta"])
    for name in ("C", "nu"):
        if not (params[name] is None or _is_real(params[name])):
            _refuse(f"{name} must be a number or None", params[name])
    for name in ("novelty", "residual", "use_labels"):
        if not isinstance(params[name], bool | np.bool_):
            _refuse(f"{name} must be True or False", params[name])
    if not (params["center"] is None or isinstance(params["center"], bool | np.bool_)):
        _refuse("center must be True, False or None", params["center"])
    standardize, names = params["standardize"], (*SCALINGS, "auto")
    if not (isinstance(standardize, bool | np.bool_) or (isinstance(standardize, str) and standardize in names)):
        _refuse(f"standardize must be True, False, {', '.join(map(repr, names[:-1]))} or {names[-1]!r}", standardize)
    calibration = params["calibration"]
    if not (calibration is None or (_is_real(calibration) and 0 < calibration < 1)):
        _refuse("calibration must be None or a share of the rows between 0 and 1", calibration)
    if "psi" in params:
        check_regulariser(params["psi"], params["beta"])


def _is_dimension(value: Any) -> bool:
    if isinstance(value, str):
        return value == "all"
    return value is None or (_is_integer(value) and value >= 1)


def check_multimodal_parameters(params: dict[str, Any]) -> None:
    """The same for what only :class:`~pyod_gessvdd.MSSVDD` has, or must have set.

    ``modalities`` and ``decision`` need the columns.
    """
    if not (_is_integer(params["n_iter"]) and params["n_iter"] >= 0):
        _refuse("n_iter must be an integer of at least 0", params["n_iter"])
    if not isinstance(params["center"], bool | np.bool_):
        _refuse("center must be True or False", params["center"])
    if isinstance(params["n_components"], str) and params["n_components"] == "all":
        _refuse("n_components must be a positive integer or None, modalities differ in what 'all' would be", "all")
    number, graphs = params["regularizer"], str | Laplacian | np.ndarray | list | tuple | dict
    if not (isinstance(number, graphs) or sp.issparse(number) or (_is_integer(number) and 0 <= number <= 6)):
        _refuse("regularizer must be an integer from 0 to 6, a graph or a graph for each modality", number)
    if not isinstance(params["cross_modal"], bool | np.bool_):
        _refuse("cross_modal must be True or False", params["cross_modal"])
    if not (_is_real(params["beta"]) and 0 <= params["beta"] < np.inf):
        _refuse("beta must be a number of at least 0", params["beta"])


def _one_of(params: dict[str, Any], name: str, *values: str) -> None:
    # A value such as an array has no single truth value when compared.
    if not (isinstance(params[name], str) and params[name] in values):
        _refuse(f"{name} must be {' or '.join(map(repr, values))}", params[name])


def _refuse(expected: str, value: Any) -> None:
    raise ValueError(f"{expected}, got {value!r}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
