"""Fitted detectors as ONNX graphs: scaling, kernel, projection and boundary in standard operators, in double precision.

Needs the extra ``onnx``. The graph takes ``X`` of shape (n, D) and gives ``score`` and ``label`` of shape (n,), what
``decision_function`` and ``predict`` return.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.boundaries.half_space import HalfSpace
from pyod_gessvdd.boundaries.slab import Slab
from pyod_gessvdd.boundaries.sphere import Sphere
from pyod_gessvdd.description import Description
from pyod_gessvdd.detectors.pyod_contract import PyODContract
from pyod_gessvdd.kernels.algebra import InnerProduct, KernelProduct, KernelSum
from pyod_gessvdd.kernels.mixed import FARTHEST, Mixed
from pyod_gessvdd.kernels.pairwise import RBF, Exponential, LaplacianKernel, Matern, Polynomial, Sigmoid
from pyod_gessvdd.preprocessing import NormalScores, Scaling, as_it_is, signed_log
from pyod_gessvdd.whole_space import WholeSpace
from pyod_gessvdd.whole_space.known_outliers import STRENGTH

Array = np.ndarray

#: The version of ONNX's standard operators.
OPSET = 17
#: What is exported: distances are written out column by column, and a kernel's rows are constants of the graph.
MAX_COLUMNS, MAX_LANDMARKS = 1000, 10_000


def to_onnx(detector: Any) -> Any:
    """The fitted detector as an ``onnx.ModelProto``.

    Parameters
    ----------
    detector : detector of this package
        Fitted, other than ``MSSVDD``, with at most 1,000 columns (of all views together) and 10,000 landmarks, and one
        of the kernels linear, mixed, rbf, laplacian, exponential, matern, polynomial and sigmoid, or sums and products
        of these.

    Returns
    -------
    onnx.ModelProto
        With the input ``X``, double of shape (n, D), and the outputs ``score``, double, and ``label``, int64.

    Examples
    --------
    ``onnx.save(to_onnx(detector), "model.onnx")``, and then anywhere, without this package,
    ``onnxruntime.InferenceSession("model.onnx").run(None, {"X": X})``.
    """
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise ImportError("exporting to ONNX needs onnx: pip install 'pyod-gessvdd[onnx]'") from error
    if not isinstance(detector, PyODContract) or not hasattr(type(detector), "kernel_"):
        raise TypeError(f"to_onnx takes a detector of this package other than MSSVDD, got {type(detector).__name__}")
    check_is_fitted(detector, "decision_scores_")
    if detector.thresholder_ is not None:
        raise ValueError("a PyThresh object decides the labels, which has no ONNX form; fit with a number instead")
    kernel = detector.kernel_
    for part in _parts(kernel):
        if not (part.is_identity or type(part) in _KERNELS):
            raise ValueError(f"kernel {part.name!r} has no ONNX form; {', '.join(_EXPORTED)} have")
    graph = _Graph()
    score = graph.op("Identity", _score(graph, detector.description_, detector.n_features_in_), output="score")
    graph.op("Cast", graph.op("Greater", score, graph.constant(detector.threshold_)), output="label", to=_INT64)
    made = helper.make_graph(
        graph.nodes,
        type(detector).__name__,
        [helper.make_tensor_value_info("X", _DOUBLE, [None, detector.n_features_in_])],
        [
            helper.make_tensor_value_info("score", _DOUBLE, [None]),
            helper.make_tensor_value_info("label", _INT64, [None]),
        ],
        graph.initializers,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="pyod-gessvdd")
    model.ir_version = 8  # what runtimes for this version of the operators read
    checker.check_model(model)
    return model


#: ONNX's numbers for the types, which ``onnx`` would only say once it is imported.
_DOUBLE, _INT64 = 11, 7


class _Graph:
    """Nodes and constants; every operation returns the name of what it computes."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def constant(self, value: Any, dtype: type = np.float64) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.initializers)}"
        self.initializers.append(
            numpy_helper.from_array(np.ascontiguousarray(value, dtype=dtype).reshape(np.shape(value)), name)
        )
        return name

    def op(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def add(self, left: str, right: Any) -> str:
        return self.op("Add", left, right if isinstance(right, str) else self.constant(right))

    def subtract(self, left: str, right: Any) -> str:
        return self.op("Sub", left, right if isinstance(right, str) else self.constant(right))

    def times(self, left: str, right: Any) -> str:
        return self.op("Mul", left, right if isinstance(right, str) else self.constant(right))

    def product(self, left: str, right: Array) -> str:
        """The matrix product with a constant."""
        return self.op("MatMul", left, self.constant(right))

    def clip(self, value: str, farthest: float) -> str:
        return self.op("Clip", value, self.constant(-farthest), self.constant(farthest))

    def row_sums(self, value: str, keep: bool = False) -> str:
        return self.op("ReduceSum", value, self.constant([1], np.int64), keepdims=int(keep))

    def squares(self, value: str, keep: bool = False) -> str:
        """The squared length of each row."""
        return self.row_sums(self.op("Mul", value, value), keep)

    def column(self, value: str, j: int) -> str:
        """Column j, of shape (n, 1)."""
        return self.op("Gather", value, self.constant([j], np.int64), axis=1)

    def columns(self, value: str, start: int, stop: int) -> str:
        return self.op("Gather", value, self.constant(np.arange(start, stop), np.int64), axis=1)


def _score(graph: _Graph, description: Any, n_columns: int) -> str:
    n_columns *= description.scaling.n_views
    if n_columns > MAX_COLUMNS:
        raise ValueError(f"to_onnx takes at most {MAX_COLUMNS} columns of all views together, got {n_columns}")
    write = _whole_space if isinstance(description, WholeSpace) else _subspace
    return write(graph, description, _scaled(graph, description.scaling))


# Scaling --------------------------------------------------------------------------------------------------------------


def _scaled(graph: _Graph, scaling: Scaling) -> str:
    value = "X"
    if scaling.mean is not None:
        value = graph.subtract(value, scaling.mean)
    if scaling.scale is not None:
        value = graph.op("Div", value, graph.constant(scaling.scale))
    if not scaling.views:
        return value
    views = [_view(graph, view, value) for view in scaling.views]
    return views[0] if len(views) == 1 else graph.op("Concat", *views, axis=1)


def _view(graph: _Graph, view: Any, value: str) -> str:
    """One view of the scaled rows: themselves, their signed logarithms, or their normal scores."""
    if view is as_it_is:
        return value
    if view is signed_log:
        logarithm = graph.op("Log", graph.add(graph.op("Abs", value), 1.0))
        return graph.op("Mul", graph.op("Sign", value), logarithm)
    return graph.op("Concat", *(_ranks(graph, view, value, j) for j in range(len(view.values))), axis=1)


def _ranks(graph: _Graph, view: NormalScores, value: str, j: int) -> str:
    """Column j's values by the straight lines between its knots: which line, and then a + b·x."""
    knots, scores = view.values[j], view.scores[j]
    slopes = np.diff(scores) / np.diff(knots)
    # One more knot just after the last: on it the score is the last one's, beyond it that of everything beyond.
    b = np.concatenate([[0.0], slopes, [0.0, 0.0]])
    a = np.concatenate([[-view.beyond], scores[:-1] - slopes * knots[:-1], [scores[-1], view.beyond]])
    ends = np.append(knots, np.nextafter(knots[-1], np.inf))
    x = graph.column(value, j)
    passed = graph.op("Cast", graph.op("GreaterOrEqual", x, graph.constant(ends[None])), to=_INT64)
    line = graph.row_sums(passed, keep=True)
    return graph.add(
        graph.times(x, graph.op("Gather", graph.constant(b), line)), graph.op("Gather", graph.constant(a), line)
    )


# Kernels --------------------------------------------------------------------------------------------------------------


def _gram(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    """k(x, y) for all rows y, of shape (n, m), and k(x, x), of shape (n,) or one number."""
    write = _KERNELS[type(kernel)]
    if len(Y) > MAX_LANDMARKS:
        raise ValueError(f"to_onnx takes at most {MAX_LANDMARKS} landmarks, got {len(Y)}")
    return write(graph, kernel, x, Y)


def _squared_distances(graph: _Graph, x: str, Y: Array) -> str:
    """‖x‖² + ‖y‖² − 2xᵀy, not below zero."""
    squares = graph.add(graph.squares(x, keep=True), np.einsum("ij,ij->i", Y, Y)[None])
    return graph.op("Max", graph.subtract(squares, graph.product(x, 2.0 * Y.T)), graph.constant(0.0))


def _summed(graph: _Graph, x: str, Y: Array, kind: str) -> str:
    """Σ_j |x_j − y_j| or its square, column by column: no array of n × m × D, and no digits lost near zero."""
    total = ""
    for j in range(Y.shape[1]):
        difference = graph.subtract(graph.column(x, j), Y[None, :, j])
        part = graph.op("Abs", difference) if kind == "Abs" else graph.op("Mul", difference, difference)
        total = part if not total else graph.op("Add", total, part)
    return total


def _exp(graph: _Graph, value: str, factor: float) -> str:
    return graph.op("Exp", graph.times(value, factor))


def _rbf(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    return _exp(graph, _squared_distances(graph, x, Y), -kernel.gamma_), graph.constant(1.0)


def _laplacian(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    return _exp(graph, _summed(graph, x, Y, "Abs"), -kernel.gamma_), graph.constant(1.0)


def _mixed(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    total, width = "", Y.shape[1] // kernel.n_views_
    diagonal = graph.constant(float((kernel.view_weights_ + kernel.decorrelated_).sum()))
    for view in range(kernel.n_views_):
        start, stop = view * width, (view + 1) * width
        rows, part = graph.columns(x, start, stop), np.ascontiguousarray(Y[:, start:stop])
        weight, smooth, turn = kernel.view_weights_[view], kernel.smooth_[view], kernel.turns_[view]
        terms = []
        if weight * (1.0 - smooth) > 0:
            cusped = _exp(graph, _summed(graph, rows, part, "Abs"), -kernel.gamma_ / 2)
            terms.append(graph.times(cusped, weight * (1.0 - smooth)))
        if weight * smooth > 0:
            plain = _exp(graph, _squared_distances(graph, rows, part), -kernel.gamma_)
            terms.append(graph.times(plain, weight * smooth))
        if turn is not None:
            distances = _squared_distances(graph, graph.product(rows, turn), part @ turn)
            terms.append(graph.times(_exp(graph, distances, -kernel.gamma_), kernel.decorrelated_[view]))
        if kernel.linear_[view] > 0:
            scale, near = kernel.linear_[view] / width, graph.clip(rows, FARTHEST)
            terms.append(graph.product(near, scale * np.clip(part, -FARTHEST, FARTHEST).T))
            diagonal = graph.add(graph.times(graph.squares(near), scale), diagonal)
        for term in terms:
            total = term if not total else graph.op("Add", total, term)
    return total, diagonal


def _distances(graph: _Graph, kernel: Any, x: str, Y: Array, factor: float) -> str:
    return graph.times(graph.op("Sqrt", _summed(graph, x, Y, "Mul")), factor * kernel.gamma_)


def _exponential(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    return _exp(graph, _distances(graph, kernel, x, Y, 1.0), -1.0), graph.constant(1.0)


def _matern(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    distances = _distances(graph, kernel, x, Y, np.sqrt(3.0))
    return graph.op("Mul", graph.add(distances, 1.0), _exp(graph, distances, -1.0)), graph.constant(1.0)


def _polynomial(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    def power(products: str) -> str:
        return graph.op(
            "Pow", graph.add(graph.times(products, kernel.gamma_), kernel.coef0), graph.constant(kernel.degree)
        )

    return power(graph.product(x, Y.T)), power(graph.squares(x))


def _sigmoid(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    def bent(products: str) -> str:
        return graph.op("Tanh", graph.add(graph.times(products, kernel.gamma_), kernel.coef0))

    return bent(graph.product(x, Y.T)), bent(graph.squares(x))


def _inner_product(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    return graph.product(x, Y.T), graph.squares(x)


def _sum(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    K = diagonal = ""
    for weight, part in zip(kernel.weights_, kernel.parts_, strict=True):
        values, own = (graph.times(value, float(weight)) for value in _gram(graph, part, x, Y))
        K, diagonal = (graph.add(K, values), graph.add(diagonal, own)) if K else (values, own)
    return K, diagonal


def _product(graph: _Graph, kernel: Any, x: str, Y: Array) -> tuple[str, str]:
    K = diagonal = ""
    for part in kernel.parts_:
        values, own = _gram(graph, part, x, Y)
        K, diagonal = (graph.times(K, values), graph.times(diagonal, own)) if K else (values, own)
    return K, diagonal


_KERNELS: dict[type, Callable[[_Graph, Any, str, Array], tuple[str, str]]] = {
    RBF: _rbf,
    LaplacianKernel: _laplacian,
    Mixed: _mixed,
    Exponential: _exponential,
    Matern: _matern,
    Polynomial: _polynomial,
    Sigmoid: _sigmoid,
    InnerProduct: _inner_product,
    KernelSum: _sum,
    KernelProduct: _product,
}


def _parts(kernel: Any) -> list[Any]:
    """The kernel, or what a sum or product of kernels consists of."""
    if not isinstance(kernel, KernelSum | KernelProduct):
        return [kernel]
    return [part for inner in kernel.parts_ for part in _parts(inner)]


#: The kernels that have an ONNX form, by name.
_EXPORTED = ("linear", "mixed", "rbf", "laplacian", "exponential", "matern", "polynomial", "sigmoid")


# Descriptions ---------------------------------------------------------------------------------------------------------


def _whole_space(graph: _Graph, description: WholeSpace, scaled: str) -> str:
    """[scale · k(x, x) − ‖T k(x, landmarks)‖² − 2 k(x, landmarks)·b + ‖u‖²] / R², not below zero."""
    K, diagonal = _gram(graph, description.kernel, scaled, description.landmarks)
    squares = graph.add(graph.times(diagonal, description.scale), description.center_norm2)
    squares = graph.subtract(squares, graph.product(K, 2.0 * description.pull))
    if description.factor is not None:
        squares = graph.subtract(squares, graph.squares(graph.product(K, description.factor.T)))
    scores = graph.times(graph.op("Max", squares, graph.constant(0.0)), 1.0 / description.unit)
    known = description.known
    if known is None:
        return scores
    near, _ = _gram(graph, description.kernel, scaled, known.rows)
    m = graph.subtract(graph.product(near, description.scale * known.weights), graph.product(K, known.along))
    return graph.times(scores, graph.op("Exp", graph.times(graph.op("Max", m, graph.constant(0.0)), STRENGTH)))


def _subspace(graph: _Graph, description: Description, scaled: str) -> str:
    """Features, their projection, what it discards, and the boundary."""
    feature_map, subspace, boundary = description.feature_map, description.subspace, description.boundary
    Phi, missed = _features(graph, feature_map.kernel, scaled)
    if feature_map.mean is not None:
        Phi = graph.subtract(Phi, feature_map.mean)
    if isinstance(boundary, HalfSpace):
        margin = graph.product(Phi, subspace.projection.T @ boundary.normal / -boundary.rho)
        return graph.add(margin, 2.0)
    if isinstance(boundary, Slab):
        deviation = graph.subtract(graph.product(Phi, subspace.projection.T @ boundary.normal), 1.0)
        return graph.times(graph.op("Mul", deviation, deviation), 1.0 / boundary.unit)
    if not isinstance(boundary, Sphere):
        raise ValueError(f"a {type(boundary).__name__} has no ONNX form")
    center = boundary.center
    squares = graph.squares(graph.subtract(graph.product(Phi, subspace.projection.T), center))
    if subspace.residual_scale is not None and feature_map.counts_missed:
        outside = graph.subtract(Phi, graph.product(graph.product(Phi, subspace.Q.T), subspace.Q))
        residual2 = graph.squares(outside)
        if missed:
            residual2 = graph.op("Add", residual2, missed)
        squares = graph.op("Add", squares, graph.times(residual2, subspace.residual_scale))
    return graph.times(squares, 1.0 / boundary.unit)


def _features(graph: _Graph, kernel: Any, scaled: str) -> tuple[str, str]:
    """The features, and what they miss of each row; an empty name if that is nothing."""
    if kernel.is_identity:
        return scaled, ""
    K, diagonal = _gram(graph, kernel, scaled, kernel.landmarks_)
    Phi = graph.subtract(graph.product(K, kernel.map_), kernel.offset_)
    centred = graph.add(graph.subtract(diagonal, graph.product(K, 2.0 * kernel.mean_map_)), kernel.mean_norm2_)
    missed = graph.op("Sub", centred, graph.squares(Phi))
    seen = graph.op("Greater", missed, graph.constant(kernel.rounding_))
    return Phi, graph.op("Where", seen, missed, graph.constant(0.0))
