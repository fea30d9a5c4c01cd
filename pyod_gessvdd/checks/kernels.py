"""The checks of a kernel: features of training and new rows, their inner products, and the residual."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from pyod_gessvdd.checks import data
from pyod_gessvdd.checks.check import CheckFailed, CheckFunction, refuses_politely, require, same
from pyod_gessvdd.checks.common import Kind, common_checks
from pyod_gessvdd.components.validation import check_features, check_fit_features, check_residual
from pyod_gessvdd.errors import ComponentError, ModelFileError
from pyod_gessvdd.kernels.npt import PairwiseKernel
from pyod_gessvdd.saving.decoding import Decoder
from pyod_gessvdd.saving.encoding import Encoder

Array = np.ndarray

#: Features of one row found in two ways agree up to this share.
ROUNDING = 1e-6


def _input(kernel: Any, rows: Array, train: Array) -> Array:
    """What the kernel takes for these rows: themselves, not negative if it asks for that, or a kernel matrix."""
    if not kernel.input_is_rows:
        return rbf_kernel(rows, train, gamma=0.1)
    return np.abs(rows) if kernel.needs_nonnegative else rows.copy()


def _inputs(kernel: Any, seed: int) -> dict[str, Array]:
    """Training rows and new rows, as the kernel takes them."""
    train, new = data.rows(seed), data.rows(seed + 100, 15)
    return {"X": _input(kernel, train, train), "new rows": _input(kernel, new, train)}


def _answer(kernel: Any, inputs: dict[str, Array]) -> dict[str, Array]:
    """The inner products of the new rows' features, which do not depend on their signs, and the residual."""
    check_fit_features(kernel.fit_features(inputs["X"]), len(inputs["X"]), kernel)
    Phi = np.asarray(kernel.features(inputs["new rows"]))
    return {"inner products": Phi @ Phi.T, "residual": np.asarray(kernel.residual(inputs["new rows"]))}


def _detector(kernel: Any) -> tuple[dict[str, Any], Array, Array]:
    inputs = _inputs(kernel, 0)
    settings = {"laplacian": "pca", "n_components": 2, "residual": True, "standardize": not kernel.needs_nonnegative}
    return settings, inputs["X"], inputs["new rows"]


KIND = Kind(
    name="kernel",
    inputs=_inputs,
    arrays=lambda inputs: inputs,
    answer=_answer,
    tolerance=lambda kernel: ROUNDING,
    detector=_detector,
)


def _with_gram(check: CheckFunction) -> CheckFunction:
    """The check, which applies to kernels that have ``gram(X, Y)`` to compare with."""

    @wraps(check)
    def checked(kernel: Any) -> str | None:
        if not callable(getattr(kernel, "gram", None)):
            return "it has no gram(X, Y) to compare with"
        if not kernel.input_is_rows:
            return "its input is no rows but a kernel matrix (input_is_rows = False)"
        return check(kernel)

    return checked


def check_kernel_shape(kernel: Any) -> None:
    """``fit`` returns the kernel itself, and ``features`` one row of F numbers per row, F the same for all rows."""
    inputs = _inputs(kernel, 0)
    fitted = kernel.fit(inputs["X"])
    require(fitted is kernel, f"fit returned {type(fitted).__name__}; return self")
    F = None
    for rows in (inputs["X"], inputs["new rows"], inputs["new rows"][:1]):
        shape = np.shape(kernel.features(rows))
        require(
            len(shape) == 2 and shape[0] == len(rows) and shape[1] > 0,
            f"features returned shape {shape} for {len(rows)} rows; return shape ({len(rows)}, F), one row per row",
        )
        F = shape[1] if F is None else F
        require(
            shape[1] == F, f"features has {F} columns for the training rows and {shape[1]} for new rows; fix F in fit"
        )


def check_kernel_is_real_and_finite(kernel: Any) -> None:
    """Features and residual hold finite real numbers."""
    inputs = _inputs(kernel, 0)
    kernel.fit(inputs["X"])
    for name, method in (("features", kernel.features), ("residual", kernel.residual)):
        values = np.asarray(method(inputs["new rows"]))
        require(values.dtype.kind in "biuf", f"{name} returned values of type {values.dtype}; return real numbers")
        require(np.isfinite(values).all(), f"{name} returned NaN or infinite values on ordinary data")


def check_kernel_is_identity(kernel: Any) -> str | None:
    """The features are the rows themselves, if the class declares ``is_identity``."""
    if not kernel.is_identity:
        return "it declares is_identity = False"
    inputs = _inputs(kernel, 0)
    Phi = np.asarray(kernel.fit(inputs["X"]).features(inputs["new rows"]))
    require(
        np.array_equal(Phi, inputs["new rows"]),
        "it declares is_identity = True, but its features are not the rows; return X, or declare is_identity = False",
    )
    return None


def check_kernel_maps_training_and_new_rows_alike(kernel: Any) -> None:
    """What ``fit_features`` returns is what ``features`` and ``residual`` find for the same rows."""
    X = _inputs(kernel, 0)["X"]
    Phi, missed = check_fit_features(kernel.fit_features(X), len(X), kernel)
    require(
        same(Phi, np.asarray(kernel.features(X)), ROUNDING),
        "the training rows get other features as new rows than in fit; let fit_features(X) be "
        "(fit(X).features(X), None)",
    )
    # What is missed is a difference of squares: its rounding is that of the squares.
    squares = np.einsum("ij,ij->i", Phi, Phi)
    require(
        missed is None or same(missed + squares, np.asarray(kernel.residual(X)) + squares, ROUNDING),
        "fit_features says that the features miss something else of the training rows than residual says; return "
        "None in its place, and residual is asked",
    )


def check_kernel_maps_each_row_by_itself(kernel: Any) -> None:
    """Features and residual of a row do not depend on the rows that it comes with."""
    inputs = _inputs(kernel, 0)
    kernel.fit(inputs["X"])
    rows = inputs["new rows"]
    for name, method in (("features", kernel.features), ("residual", kernel.residual)):
        together = np.asarray(method(rows))
        alone = np.concatenate([np.asarray(method(rows[i : i + 1])) for i in range(len(rows))])
        require(
            same(together, alone, ROUNDING),
            f"the {name} of a row change with the rows that come with it; learn means, widths and scales in fit only",
        )


def check_kernel_residual(kernel: Any) -> None:
    """The residual is one number per row, and not negative."""
    inputs = _inputs(kernel, 0)
    kernel.fit(inputs["X"])
    for rows in (inputs["X"], inputs["new rows"]):
        missed = np.asarray(kernel.residual(rows))
        require(
            missed.shape == (len(rows),),
            f"residual returned shape {missed.shape} for {len(rows)} rows; return shape ({len(rows)},)",
        )
        smallest = float(missed.min())
        require(smallest >= 0, f"residual falls to {smallest:.3g}; it is a squared length: clip what rounding leaves")


def check_kernel_features_and_residual(kernel: Any) -> None:
    """``features_and_residual`` returns what ``features`` and ``residual`` return."""
    inputs = _inputs(kernel, 0)
    kernel.fit(inputs["X"])
    rows = inputs["new rows"]
    Phi, missed = kernel.features_and_residual(rows)
    require(
        same(np.asarray(Phi), np.asarray(kernel.features(rows)), ROUNDING)
        and same(np.asarray(missed), np.asarray(kernel.residual(rows)), ROUNDING),
        "features_and_residual disagrees with features and residual; when you override one, override the others",
    )


def check_kernel_keeps_its_own_copy(kernel: Any) -> None:
    """What was learnt does not change when the caller edits the training rows afterwards."""
    inputs = _inputs(kernel, 0)
    kernel.fit(inputs["X"])
    before = np.array(kernel.features(inputs["new rows"]))
    inputs["X"][:] = 0.0
    require(
        same(before, np.asarray(kernel.features(inputs["new rows"])), 1e-12),
        "the features change when the caller edits the training rows after fit; keep a copy, np.array(X)",
    )


def check_kernel_survives_a_model_file(kernel: Any) -> None:
    """What `saved_state` returns can be kept as arrays and JSON, and `restore_state` makes the same kernel from it."""
    inputs = _inputs(kernel, 0)
    blank = clone(kernel)
    kernel.fit_features(inputs["X"])
    encoder = Encoder()
    try:
        text = json.dumps(encoder.encode(kernel.saved_state(), "what it has learnt"))
    except (ModelFileError, TypeError) as error:
        raise CheckFailed(f"saved_state cannot be kept in a model file: {error}") from error
    blank.n_views_ = kernel.n_views_
    blank.restore_state(Decoder(encoder.arrays, {}).decode(json.loads(text)))
    require(
        np.array_equal(kernel.features(inputs["new rows"]), blank.features(inputs["new rows"])),
        "the features differ after saved_state and restore_state; save everything that fit learns",
    )


def check_kernel_ignores_the_order_of_rows(kernel: Any) -> None:
    """Training rows in another order give new rows the same inner products."""
    train, new = data.rows(0), data.rows(100, 15)
    order = np.random.default_rng(0).permutation(len(train))
    answers = [
        _answer(clone(kernel), {"X": _input(kernel, rows, rows), "new rows": _input(kernel, new, rows)})
        for rows in (train, train[order])
    ]
    for name in answers[0]:
        require(
            same(answers[0][name], answers[1][name], ROUNDING),
            f"the same training rows in another order give another {name}; let nothing depend on a row's number",
        )


@_with_gram
def check_kernel_gram(kernel: Any) -> None:
    """``gram(X, Y)`` has the shape (n, m), is the transpose of ``gram(Y, X)``, and agrees with ``gram_diagonal``."""
    inputs = _inputs(kernel, 0)
    kernel.fit(inputs["X"])
    X, Y = inputs["X"], inputs["new rows"]
    K = np.asarray(kernel.gram(X, Y))
    require(K.shape == (len(X), len(Y)), f"gram returned shape {K.shape}; return shape ({len(X)}, {len(Y)})")
    require(same(K, np.asarray(kernel.gram(Y, X)).T, ROUNDING), "gram(X, Y) is not the transpose of gram(Y, X)")
    diagonal = _diagonal(kernel, X)
    require(
        same(diagonal, np.diag(kernel.gram(X, X)), ROUNDING),
        "gram_diagonal(X) is not the diagonal of gram(X, X); correct it, or leave it out",
    )


@_with_gram
def check_kernel_inner_products(kernel: Any) -> str | None:
    """Distances between features are the kernel's, less what the residual says is missed.

    With the missed parts m, ‖φ(x) − φ(y)‖² = k(x,x) + k(y,y) − 2k(x,y) − ‖m(x) − m(y)‖², whatever the centring.
    """
    if not kernel.positive_definite:
        return "it declares positive_definite = False"
    inputs = _inputs(kernel, 0)
    X, Y = inputs["X"], inputs["new rows"]
    kernel.fit(X)
    Phi_X, Phi_Y = np.asarray(kernel.features(X)), np.asarray(kernel.features(Y))
    found = ((Phi_X[:, None, :] - Phi_Y[None, :, :]) ** 2).sum(axis=2)
    K = np.asarray(kernel.gram(X, Y))
    expected = _diagonal(kernel, X)[:, None] + _diagonal(kernel, Y) - 2.0 * K
    reach = (np.sqrt(kernel.residual(X))[:, None] + np.sqrt(kernel.residual(Y))) ** 2
    slack = _slack(kernel, K, expected)
    excess, lack = float((found - expected).max()), float((expected - reach - found).max())
    require(
        excess <= slack,
        f"two rows are farther apart in the features than k says, by {excess:.3g} in the squared distance "
        f"(allowed: {slack:.3g}); φ(x)·φ(y) must be k(x, y), or less of it with the rest in residual",
    )
    require(
        lack <= slack,
        f"two rows are nearer in the features than k says, by {lack:.3g} in the squared distance beyond what residual "
        f"admits (allowed: {slack:.3g}); return k̂(x, x) − ‖φ(x)‖² as residual, or declare inner_product_error",
    )
    return None


@_with_gram
def check_kernel_residual_completes_the_length(kernel: Any) -> str | None:
    """‖φ(x)‖² plus the residual is k(x, x), of the kernel as it is or centred by the training mean."""
    if not kernel.positive_definite:
        return "it declares positive_definite = False"
    if getattr(kernel, "approximation", None) == "nystroem":
        return "a Nyström map is centred by the mean in the span of its landmarks"
    inputs = _inputs(kernel, 0)
    X, Y = inputs["X"], inputs["new rows"]
    kernel.fit(X)
    Phi = np.asarray(kernel.features(Y))
    found = np.einsum("ij,ij->i", Phi, Phi) + kernel.residual(Y)
    plain = _diagonal(kernel, Y)
    K = np.asarray(kernel.gram(X, X))
    centred = plain - 2.0 * np.asarray(kernel.gram(Y, X)).mean(axis=1) + K.mean()
    slack = _slack(kernel, K, plain)
    distance = min(float(np.abs(found - lengths).max()) for lengths in (plain, centred))
    require(
        distance <= slack,
        f"‖φ(x)‖² + residual(x) misses k(x, x), centred or not, by {distance:.3g} (allowed: {slack:.3g}); return "
        "k̂(x, x) − ‖φ(x)‖² as residual, with k̂ centred as the features are",
    )
    return None


def _diagonal(kernel: Any, X: Array) -> Array:
    if callable(getattr(kernel, "gram_diagonal", None)):
        return np.asarray(kernel.gram_diagonal(X), dtype=float)
    return np.diag(kernel.gram(X, X)).astype(float)


def _slack(kernel: Any, K: Array, lengths: Array) -> float:
    """What features may be off: rounding, relative to the kernel's entries, and what the kernel declares."""
    size = max(float(np.abs(K).max()), float(np.abs(lengths).max()))
    return (ROUNDING + kernel.inner_product_error) * size


def check_kernel_learns_by_moments(kernel: Any) -> str | None:
    """A kernel that declares it learns the same from two rows whose columns have the same means and variances."""
    if not kernel.learns_by_moments:
        return "it declares learns_by_moments = False"
    train = _inputs(kernel, 0)["X"]
    two_rows = np.stack([train.mean(axis=0) - train.std(axis=0), train.mean(axis=0) + train.std(axis=0)])
    answers = []
    for rows in (train, two_rows):
        fitted = clone(kernel)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=0)
        if isinstance(fitted, PairwiseKernel):
            fitted.prepare_weighted(rows, None)
            answers.append(fitted.gram(train, train))
        else:
            answers.append(np.asarray(fitted.fit(rows).features(train)))
    require(
        same(answers[0], answers[1], ROUNDING),
        "two rows with the same means and variances teach it something else; set learns_by_moments = False",
    )
    return None


def _check_on(kernel: Any, on: str, change: Callable[[Array], Array]) -> None:
    train = change(data.rows(0))
    X = _input(kernel, train, train)
    if refuses_politely(lambda: kernel.fit(X), on) is None:
        return
    try:
        if np.shape(kernel.features(X))[1:] != (0,):  # the host says that no feature is left
            check_features(kernel.features(X), len(X), kernel)
        check_residual(kernel.residual(X), len(X), kernel)
    except ComponentError as error:
        raise CheckFailed(f"on {on} the host refuses it: {error}") from error


def check_kernel_on_one_column(kernel: Any) -> None:
    """Data of one column get valid features, or are refused by a sentence."""
    _check_on(kernel, "data of one column", lambda X: X[:, :1])


def check_kernel_on_duplicates(kernel: Any) -> None:
    """Data in which every row occurs six times get valid features, or are refused by a sentence."""
    _check_on(kernel, "data in which every row occurs six times", lambda X: np.tile(X[:10], (6, 1)))


def check_kernel_on_a_constant_column(kernel: Any) -> None:
    """Data with a constant column get valid features, or are refused by a sentence."""
    _check_on(kernel, "data with a constant column", lambda X: np.column_stack([X, np.zeros(len(X))]))


def check_kernel_on_few_rows(kernel: Any) -> None:
    """Two and three rows get valid features, or are refused by a sentence."""
    for N in (2, 3):
        _check_on(clone(kernel), f"{N} rows", lambda X, N=N: X[:N])  # type: ignore[misc]


CHECKS: tuple[CheckFunction, ...] = (
    *common_checks(KIND),
    check_kernel_shape,
    check_kernel_is_real_and_finite,
    check_kernel_is_identity,
    check_kernel_maps_training_and_new_rows_alike,
    check_kernel_maps_each_row_by_itself,
    check_kernel_residual,
    check_kernel_features_and_residual,
    check_kernel_keeps_its_own_copy,
    check_kernel_survives_a_model_file,
    check_kernel_ignores_the_order_of_rows,
    check_kernel_gram,
    check_kernel_inner_products,
    check_kernel_residual_completes_the_length,
    check_kernel_learns_by_moments,
    check_kernel_on_one_column,
    check_kernel_on_duplicates,
    check_kernel_on_a_constant_column,
    check_kernel_on_few_rows,
)
