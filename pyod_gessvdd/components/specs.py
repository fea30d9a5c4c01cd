"""From what a user writes to a component: a name, a spec string, an instance, a matrix or a function.

``"knn"``, ``"knn(n_neighbors=7)"``, ``"0.7*knn + 0.3*pca"``, ``"auto*(knn + pca)"``, ``KNN(n_neighbors=7)``; and of
kernels ``"0.5*rbf + 0.5*laplacian"``, ``"rbf*linear"``.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import scipy.sparse as sp

from pyod_gessvdd.components.contracts import Component
from pyod_gessvdd.components.registry import KINDS, NAME, parameters, registry
from pyod_gessvdd.errors import SpecError
from pyod_gessvdd.feature_laplacians.given import GivenFeatureLaplacian
from pyod_gessvdd.kernels.algebra import KernelProduct, KernelSum
from pyod_gessvdd.kernels.pairwise import FunctionKernel
from pyod_gessvdd.laplacians.given import GivenLaplacian
from pyod_gessvdd.laplacians.weighted_sum import WeightedSum

#: The longest text that is read as a spec string.
LONGEST = 2000
#: The deepest expression that is read: Python's functions on its trees are recursive.
DEEPEST = 100

#: What a matrix is.
GIVEN: dict[str, type[Component]] = {"laplacian": GivenLaplacian, "feature_laplacian": GivenFeatureLaplacian}


def resolve(kind: str, value: Any) -> Any:
    """The component that ``value`` stands for.

    Parameters
    ----------
    kind : {"laplacian", "updater", "qp_backend", "kernel", "feature_laplacian"}
        The kind of component, which is also the detector's parameter name.
    value : str, instance, and for a graph a matrix, for a kernel a function
        What the user gave.
    """
    if isinstance(value, KINDS[kind]):
        return value
    if isinstance(value, str):
        return _from_text(kind, value)
    if kind in GIVEN and (sp.issparse(value) or isinstance(value, np.ndarray)):
        return GIVEN[kind](value)
    if kind == "kernel" and callable(value) and not isinstance(value, type):
        return FunctionKernel(function=value)
    hint = f", write {value.__name__}()" if isinstance(value, type) else ""
    contract = KINDS[kind].__name__
    raise TypeError(f"{kind} must be a name, a spec string or an instance of {contract}, got {value!r}{hint}")


def _from_text(kind: str, text: str) -> Component:
    text = text.strip()
    if NAME.fullmatch(text):
        # Before any parsing: the paper's "0" is not a Python name, and "far-knn" no difference of two graphs.
        return registry().find(kind, text).component()
    try:
        tree = parsed(text)
    except SyntaxError as error:
        raise SpecError(
            f"cannot read the {kind} {text!r}; write a name, 'name(parameter=value)' or, for graphs and kernels, "
            "'0.7*name + 0.3*name'"
        ) from error
    return _from_tree(kind, tree, text)


def parsed(text: str) -> ast.expr:
    """The expression that a spec string is; a ``SyntaxError`` if it is none, a ``SpecError`` if it is too long or deep.

    Parameters
    ----------
    text : str
        What the user wrote.
    """
    if len(text) > LONGEST:
        raise SpecError(f"a spec string must have at most {LONGEST} characters, got {len(text)}: {text[:40]!r} …")
    try:
        tree = ast.parse(text, mode="eval").body
        if _depth(tree) <= DEEPEST:
            return tree
    except ValueError as error:  # a null byte before Python 3.12, half of a surrogate pair, a number of 5,000 digits
        raise SyntaxError(str(error)) from error
    except (RecursionError, MemoryError):  # Python's own parser goes one level deeper for each bracket
        pass
    raise SpecError(
        f"a spec string must have at most {DEEPEST} brackets, signs or sums inside each other, got {text!r}"
    )


def _depth(tree: ast.expr) -> int:
    """How many levels the expression has, counted without recursion."""
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _from_tree(kind: str, tree: ast.expr, text: str) -> Component:
    if isinstance(tree, ast.Name):
        return registry().find(kind, tree.id).component()
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
        return _from_call(kind, tree.func.id, tree.keywords, text)
    if kind == "laplacian" and isinstance(tree, ast.BinOp):
        if isinstance(tree.op, ast.Mult) and isinstance(tree.left, ast.Name) and tree.left.id == "auto":
            return _learned_sum(tree.right, text)
        terms = _terms(tree, text)
        return WeightedSum([term for _, term in terms], [weight for weight, _ in terms])
    if kind == "kernel" and isinstance(tree, ast.BinOp):
        weight, kernel = _weighted_kernel(tree, text)
        return kernel if weight == 1.0 else KernelSum([kernel], [weight])
    raise SpecError(f"cannot read {ast.unparse(tree)!r} in the {kind} {text!r}; write 'name(parameter=value)'")


def _from_call(kind: str, name: str, keywords: list[ast.keyword], text: str) -> Component:
    component = registry().find(kind, name).component
    return component(**keyword_values(f"{kind} {component.name!r}", keywords, list(parameters(component)), text))


def keyword_values(owner: str, keywords: list[ast.keyword], known: list[str], text: str) -> dict[str, Any]:
    """The literals in ``name(parameter=value)``.

    Parameters
    ----------
    owner : str
        Whose parameters these are, for messages.
    keywords : list of ast.keyword
        The call's arguments.
    known : list of str
        The parameters there are.
    text : str
        The whole spec string, for messages.
    """
    values: dict[str, Any] = {}
    for keyword in keywords:
        if keyword.arg is None:
            raise SpecError(f"cannot read {'**' + ast.unparse(keyword.value)!r} in the {owner.split()[0]} {text!r}")
        if keyword.arg not in known:
            raise SpecError(f"{owner} has no parameter {keyword.arg!r}; it takes {', '.join(known) or 'none'}")
        if keyword.arg in values:
            raise SpecError(f"{keyword.arg} is given twice in the {owner.split()[0]} {text!r}")
        try:
            values[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError) as error:
            raise SpecError(
                f"{keyword.arg} in {text!r} must be a number, a string or another literal, "
                f"got {ast.unparse(keyword.value)!r}"
            ) from error
    return values


def _terms(tree: ast.expr, text: str) -> list[tuple[float, Component]]:
    """The weighted graphs of a sum."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        return _terms(tree.left, text) + _terms(tree.right, text)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        for factor, graph in ((tree.left, tree.right), (tree.right, tree.left)):
            weight = _number(factor)
            if weight is not None:
                return [(weight, _from_tree("laplacian", graph, text))]
    if isinstance(tree, ast.Name | ast.Call):
        return [(1.0, _from_tree("laplacian", tree, text))]
    raise SpecError(
        f"cannot read {ast.unparse(tree)!r} in the laplacian {text!r}; a sum is written '0.7*knn + 0.3*pca'"
    )


def _learned_sum(tree: ast.expr, text: str) -> WeightedSum:
    """The sum behind ``auto*``: its weights are learnt, so none may be given."""
    terms = _terms(tree, text)
    if any(weight != 1.0 for weight, _ in terms):
        raise SpecError(f"the laplacian {text!r} has 'auto' and explicit weights; write 'auto*(knn + pca)'")
    return WeightedSum([term for _, term in terms], "auto")


def _weighted_kernel(tree: ast.expr, text: str) -> tuple[float, Any]:
    """A kernel of a sum or a product, and the number before it."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        sides = [_weighted_kernel(side, text) for side in (tree.left, tree.right)]
        terms = [term for weight, kernel in sides for term in _flat_terms(weight, kernel)]
        return 1.0, KernelSum([kernel for _, kernel in terms], [weight for weight, _ in terms])
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        for factor, other in ((tree.left, tree.right), (tree.right, tree.left)):
            number = _number(factor)
            if number is not None:
                weight, kernel = _weighted_kernel(other, text)
                return number * weight, kernel
        (left, first), (right, second) = (_weighted_kernel(side, text) for side in (tree.left, tree.right))
        factors = [part for kernel in (first, second) for part in _flat_factors(kernel)]
        return left * right, KernelProduct(factors)
    if isinstance(tree, ast.Name | ast.Call):
        return 1.0, _from_tree("kernel", tree, text)
    raise SpecError(
        f"cannot read {ast.unparse(tree)!r} in the kernel {text!r}; sums and products are written "
        "'0.5*rbf + 0.5*laplacian' and 'rbf*linear'"
    )


def _flat_terms(weight: float, kernel: Any) -> list[tuple[float, Any]]:
    if isinstance(kernel, KernelSum) and kernel.weights is not None:
        return [(weight * inner, part) for inner, part in zip(kernel.weights, kernel.kernels, strict=True)]
    return [(weight, kernel)]


def _flat_factors(kernel: Any) -> list[Any]:
    return list(kernel.kernels) if isinstance(kernel, KernelProduct) else [kernel]


def _number(tree: ast.expr) -> float | None:
    """The number that is written there, with its sign, or None."""
    try:
        value = ast.literal_eval(tree)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except (ValueError, TypeError, OverflowError):  # OverflowError: a whole number beyond the largest float
        return None
